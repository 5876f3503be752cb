package gpusql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/exec/spill"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
	"github.com/gpusql/gpusql/storage/arrow"
)

// isPlanned reports whether a statement goes through the planner.
func isPlanned(s parser.Statement) bool {
	switch s.(type) {
	case *parser.Query, *parser.Insert, *parser.Update, *parser.Delete, *parser.Merge:
		return true
	}
	return false
}

// run runs one statement of a text.
func (c *Conn) run(ctx context.Context, s parser.Parsed, text string, args []Value) (*Rows, error) {
	if isPlanned(s.Statement) {
		p := &prepared{parsed: s, text: text}
		rows, err := c.runPrepared(ctx, p, args)
		if err == nil && blank(text[:s.Start]) && blank(text[s.End:]) {
			c.plans.put(text, p)
		}
		return rows, err
	}
	rows, err := c.runOther(ctx, s, text, args)
	if err != nil && c.tx != nil {
		c.failed = true
	}
	return rows, wrapError(err, text)
}

// blank reports that nothing stands in a part of a text beside a statement.
func blank(part string) bool { return strings.Trim(part, " \t\r\n;") == "" }

// runPrepared runs a statement that is planned, with its plan if that is still good.
func (c *Conn) runPrepared(ctx context.Context, p *prepared, args []Value) (*Rows, error) {
	if !isPlanned(p.parsed.Statement) {
		return c.run(ctx, p.parsed, p.text, args)
	}
	rows, err := c.runPlanned(ctx, p, args, nil)
	if err != nil && c.tx != nil {
		c.failed = true
	}
	return rows, wrapError(err, p.text)
}

func (c *Conn) runPlanned(ctx context.Context, p *prepared, args []Value, stats *exec.Stats) (*Rows, error) {
	if err := c.usable(ctx); err != nil {
		return nil, err
	}
	e := c.newExecution(p.text)
	if p.files.resolve == nil {
		p.files.resolve = c.db.resolve
	}
	start := time.Now()
	params, err := c.planWith(ctx, p, e.tx.Reader(), args)
	if err != nil {
		return nil, e.end(err)
	}
	if stats != nil {
		stats.Plan = time.Since(start)
	}
	e.stats, e.files = stats, p.files
	return e.start(ctx, p.plan, params)
}

// usable reports why no statement can run now.
func (c *Conn) usable(ctx context.Context) error {
	if c.closed {
		return ErrClosed
	}
	if c.failed {
		return sqltype.Errorf(sqltype.CodeInFailedTx, "the transaction has failed: only ROLLBACK is accepted")
	}
	return ctx.Err()
}

// planNow plans p at the present catalogue.
func (c *Conn) planNow(ctx context.Context, p *prepared) error {
	return c.planFor(ctx, p, c.reader(), nil)
}

// planWith gives p a plan for a version of the catalogue and for arguments,
// and returns the parameters that the arguments make.
//
// A parameter has the type of what it meets, so that a number given for a
// BIGINT key is a BIGINT, and an index can be asked. An argument that such a
// type would change, as INTEGER would 2.5, has the plan made again for its own.
func (c *Conn) planWith(ctx context.Context, p *prepared, r catalog.Reader, args []Value) ([]sqltype.Datum, error) {
	if err := c.planFor(ctx, p, r, nil); err != nil {
		return nil, err
	}
	if len(args) != len(p.plan.Params) {
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "the statement takes %d arguments, %d were given", len(p.plan.Params), len(args))
	}
	params, misfit, err := fitArguments(p.plan, args)
	if err != nil || !misfit {
		return params, err
	}
	types := make([]sqltype.Type, len(args))
	for i, a := range args {
		types[i] = a.Type
	}
	p.plan = nil
	if err := c.planFor(ctx, p, r, types); err != nil {
		return nil, err
	}
	params, _, err = fitArguments(p.plan, args)
	return params, err
}

// planFor gives p a plan for a version of the catalogue, unless it has it. A
// catalogue's Reader is a version: another one is another value. Types are of
// the parameters; nil has them inferred.
func (c *Conn) planFor(ctx context.Context, p *prepared, r catalog.Reader, types []sqltype.Type) (err error) {
	if p.plan != nil && !p.plan.Once && p.reader == r && p.settings == c.settings.plan {
		return nil
	}
	defer caught(&err)
	o := c.bindOptions(ctx, p.files)
	o.ParamTypes = types
	plan, err := planner.Bind(r, p.parsed.Statement, o)
	if err != nil {
		return err
	}
	if plan, err = planner.Optimize(plan, r, c.optimizeOptions()); err != nil {
		return err
	}
	p.plan, p.reader, p.settings = plan, r, c.settings.plan
	return nil
}

// first runs a query of one column, and gives its first values.
func (c *Conn) first(ctx context.Context, q *parser.Query, most int) ([]sqltype.Datum, error) {
	rows, err := c.runPlanned(ctx, &prepared{parsed: parser.Parsed{Statement: q}}, nil, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []sqltype.Datum
	for len(out) < most && rows.Next() {
		out = append(out, rows.Value(0))
	}
	return out, rows.Err()
}

func (c *Conn) optimizeOptions() planner.OptimizeOptions {
	o := planner.OptimizeOptions{Disable: c.settings.disabled, Off: !c.settings.optimizer, Workers: c.settings.threads, Fold: c.fold}
	if o.Workers == 0 {
		o.Workers = c.db.device.Traits().Streams
	}
	if !c.settings.useIndexes {
		o.Disable = append(o.Disable[:len(o.Disable):len(o.Disable)], indexRules()...)
	}
	return o
}

func (c *Conn) fold(e planner.Expr) (sqltype.Datum, error) { return exec.FoldConst(c.db.device, e) }

// bind binds a statement that is not run for itself.
func (c *Conn) bind(ctx context.Context, r catalog.Reader, s parser.Statement) (*planner.Plan, error) {
	return planner.Bind(r, s, c.bindOptions(ctx, files{resolve: c.db.resolve}))
}

func (c *Conn) bindOptions(ctx context.Context, f files) planner.BindOptions {
	return planner.BindOptions{FileSchema: f.describe, Files: f.glob, Fold: c.fold, Variable: c.variable, Setting: c.settings.show, Query: func(q *parser.Query, most int) ([]sqltype.Datum, error) {
		return c.first(ctx, q, most)
	}}
}

// indexRules are the rules that answer from indexes.
func indexRules() []string {
	return []string{"index_access", "index_bitmap", "index_count", "index_extreme", "index_order", "lookup_join", "semi_lookup"}
}

// fitArguments makes the parameters of a plan of a call's arguments. misfit
// reports that a parameter's type would change an argument.
func fitArguments(p *planner.Plan, args []Value) (params []sqltype.Datum, misfit bool, err error) {
	if len(args) == 0 {
		return nil, false, nil
	}
	params = make([]sqltype.Datum, len(args))
	for i, a := range args {
		t := p.Params[i]
		switch {
		case a.Null:
			params[i] = sqltype.NullOf(t)
			continue
		case a.Type == t:
			params[i] = a
			continue
		case t.Kind.IsString() && !a.Type.Kind.IsString():
			return nil, true, nil
		}
		d, err := sqltype.CastDatum(a, t)
		if err != nil {
			if a.Type.Kind.IsString() {
				return nil, false, sqltype.Errorf(sqltype.CodeTypeMismatch, "argument %d: %v", i+1, err)
			}
			return nil, true, nil
		}
		if !a.Type.Kind.IsString() {
			if back, err := sqltype.CastDatum(d, a.Type); err != nil || sqltype.Compare(back, a) != 0 {
				return nil, true, nil
			}
		}
		params[i] = d
	}
	return params, false, nil
}

// execution is one statement that runs: what has to be given back at its end.
type execution struct {
	conn      *Conn
	text      string
	tx        *storage.Tx
	own       bool // the transaction is this statement's
	statement *storage.Statement
	memory    *device.Scope
	gpuMemory *device.Scope
	gpuSpilt  *device.Scope // what has no room there
	temp      *spill.Area
	placed    placement
	internal  bool // the session's own: it runs on the CPU, whatever is set
	op        exec.Operator
	stats     *exec.Stats
	files     files
	lent      bool // the connection's stream
}

// newExecution starts a statement in the session's transaction or one of its own.
func (c *Conn) newExecution(text string) *execution {
	e := &execution{conn: c, text: text, tx: c.tx}
	if e.tx == nil {
		e.tx, e.own = c.beginTx(), true
	}
	e.statement = e.tx.Statement()
	return e
}

// end ends the statement, which stays or is taken back by err, and gives
// everything back.
func (e *execution) end(err error) error {
	if e.op != nil {
		if cerr := e.op.Close(); err == nil {
			err = cerr
		}
	}
	if err == nil {
		err = e.statement.End(context.Background())
	} else {
		e.statement.Undo()
	}
	if e.gpuMemory != nil {
		e.gpuMemory.Close()
		e.gpuSpilt.Close()
	}
	if e.memory != nil {
		e.memory.Close()
	}
	if e.temp != nil {
		e.temp.Close()
	}
	if e.lent {
		e.conn.lent = false
	}
	switch {
	case !e.own && err != nil:
		e.conn.failed = e.conn.tx != nil
	case e.own && err == nil:
		err = e.tx.Commit()
	case e.own:
		e.tx.Rollback()
	}
	return wrapError(err, e.text)
}

// start runs a plan up to its first batch: what changes data has done so then.
func (e *execution) start(ctx context.Context, p *planner.Plan, params []sqltype.Datum) (*Rows, error) {
	c := e.conn
	if p.Changes && len(c.rows) > 0 && c.tx != nil {
		return nil, e.end(sqltype.Errorf(sqltype.CodeActiveTx, "the rows of an earlier statement of the transaction are still open"))
	}
	if p.Changes { // also where no row is found
		for _, t := range planner.Targets(p.Root) {
			if err := e.tx.MayChange(t); err != nil {
				return nil, e.end(err)
			}
		}
	}
	env := e.env(params)
	if !c.lent {
		env.Stream, c.lent, e.lent = c.stream, true, true
	}
	if !e.internal {
		var err error
		if e.placed, err = c.place(p, env); err != nil {
			return nil, e.end(err)
		}
		if g := e.placed.gpu; g != nil {
			env = e.on(g, env)
		}
	}
	op, err := exec.Open(env, p)
	if err != nil {
		return nil, e.end(err)
	}
	e.op = op
	rows := &Rows{columns: schemaOf(p.Columns), close: e.end, placed: e.placed, version: e.statement.Version()}
	rows.pull = func() (*arrow.Batch, error) { return op.Next(ctx) }
	first, err := rows.pull()
	if err != nil {
		return nil, e.end(err)
	}
	if p.Changes {
		if err := e.settle(ctx); err != nil {
			return nil, e.end(err)
		}
	}
	if p.Kind != planner.QueryPlan && !returning(p.Root) {
		return e.changed(p, first)
	}
	rows.hold(first)
	if c.rows == nil {
		c.rows = map[*Rows]struct{}{}
	}
	c.rows[rows] = struct{}{}
	rows.onEnd(func() error { delete(c.rows, rows); return nil })
	return rows, nil
}

// changed ends a data change, whose one row is the number of rows changed.
func (e *execution) changed(p *planner.Plan, b *arrow.Batch) (*Rows, error) {
	n := b.Columns[0].Datum(0).I
	if err := e.end(nil); err != nil {
		return nil, err
	}
	r := doneRows(fmt.Sprintf("%s %d", kindTag(p.Kind), n), n)
	r.placed, r.version = e.placed, e.statement.Version()
	return r, nil
}

func kindTag(k planner.PlanKind) string {
	switch k {
	case planner.InsertPlan:
		return "INSERT"
	case planner.UpdatePlan:
		return "UPDATE"
	case planner.DeletePlan:
		return "DELETE"
	case planner.MergePlan:
		return "MERGE"
	default:
		panic(fmt.Sprintf("gpusql: %s changes no rows", k))
	}
}

// returning reports whether a data change gives rows.
func returning(n planner.Node) bool {
	switch n := n.(type) {
	case *planner.Insert:
		return n.Returning != nil
	case *planner.Update:
		return n.Returning != nil
	case *planner.Delete:
		return n.Returning != nil
	case *planner.Merge:
		return n.Returning != nil
	case *planner.With:
		return returning(n.Body)
	}
	return true
}

func schemaOf(cols []planner.ColDef) sqltype.Schema {
	schema := make(sqltype.Schema, len(cols))
	for i, c := range cols {
		schema[i] = sqltype.Column{Name: c.Name, Type: c.Type, NotNull: c.NotNull}
	}
	return schema
}
