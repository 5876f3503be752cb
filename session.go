package gpusql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// runOther runs a statement that is not planned: definitions, transactions and
// what is about the session.
func (c *Conn) runOther(ctx context.Context, p parser.Parsed, text string, args []Value) (_ *Rows, err error) {
	defer caught(&err)
	if err := c.usable(ctx); err != nil && !endsTransaction(p.Statement) {
		return nil, err
	}
	if p.Params > 0 && !takesArguments(p.Statement) {
		return nil, sqltype.Errorf(sqltype.CodeSyntax, "this kind of statement takes no parameters")
	}
	switch s := p.Statement.(type) {
	case *parser.CreateTable:
		return c.createTable(ctx, s, text)
	case *parser.CreateIndex:
		return c.createIndex(ctx, s)
	case *parser.CreateView:
		return c.createView(ctx, s)
	case *parser.CreateSchema:
		return c.createSchema(ctx, s)
	case *parser.Drop:
		return c.drop(ctx, s)
	case *parser.Truncate:
		return c.truncate(ctx, s)
	case *parser.AlterTable:
		return c.alter(ctx, s)
	case *parser.CreateSequence:
		return c.createSequence(ctx, s)
	case *parser.AlterSequence:
		return c.alterSequence(ctx, s)
	case *parser.CreateType:
		return c.createType(ctx, s)
	case *parser.AlterType:
		return c.alterType(ctx, s)
	case *parser.CreateFunction:
		return c.createFunction(ctx, s)
	case *parser.DropFunction:
		return c.dropFunction(ctx, s)
	case *parser.Summarize:
		return c.summarize(ctx, s, text)
	case *parser.Begin, *parser.Commit, *parser.Rollback, *parser.Savepoint:
		return c.transaction(s)
	case *parser.Explain:
		return c.explain(ctx, s, text, args)
	case *parser.Show:
		return c.show(ctx, s)
	case *parser.Set:
		if s.Variable {
			return c.setVariable(ctx, s, text)
		}
		return c.set(ctx, s)
	case *parser.Comment:
		return c.comment(ctx, s)
	case *parser.Copy:
		return c.copy(ctx, s, text)
	case *parser.Maintain:
		return c.maintain(s)
	case *parser.Prepare:
		return c.prepare(ctx, s, p, text)
	case *parser.Execute:
		return c.execute(ctx, s)
	case *parser.Deallocate:
		return c.deallocate(s)
	default:
		panic(fmt.Sprintf("gpusql: no way to run %T", s))
	}
}

// endsTransaction reports a statement that a failed transaction accepts.
func endsTransaction(s parser.Statement) bool {
	switch s.(type) {
	case *parser.Rollback, *parser.Commit:
		return true
	}
	return false
}

func takesArguments(s parser.Statement) bool {
	switch s.(type) {
	case *parser.Explain, *parser.Prepare:
		return true
	}
	return false
}

// transaction is BEGIN, COMMIT, ROLLBACK and savepoints. A BEGIN within a
// transaction, and an end without one, change nothing, as in PostgreSQL, where
// they are warnings.
func (c *Conn) transaction(s parser.Statement) (*Rows, error) {
	switch s := s.(type) {
	case *parser.Begin:
		if c.tx == nil {
			c.begin(s.ReadOnly)
		}
		return doneRows("BEGIN", 0), nil
	case *parser.Commit:
		if c.failed {
			// As in PostgreSQL: the end of a failed transaction is a rollback.
			c.rollback()
			return doneRows("ROLLBACK", 0), nil
		}
		if err := c.commit(); err != nil {
			return nil, err
		}
		return doneRows("COMMIT", 0), nil
	case *parser.Rollback:
		if s.To != nil {
			return c.rollbackTo(s.To)
		}
		c.rollback()
		return doneRows("ROLLBACK", 0), nil
	case *parser.Savepoint:
		return c.savepoint(s)
	default:
		panic(fmt.Sprintf("gpusql: %T is not about transactions", s))
	}
}

func (c *Conn) savepoint(s *parser.Savepoint) (*Rows, error) {
	if c.tx == nil {
		return nil, sqltype.Errorf(sqltype.CodeNoActiveTx, "a savepoint needs a transaction").At(int(s.Name.Pos))
	}
	if !s.Release {
		c.endRows()
		c.points = append(c.points, savepoint{s.Name.Name, c.tx.Savepoint()})
		return doneRows("SAVEPOINT", 0), nil
	}
	i, err := c.findSavepoint(&s.Name)
	if err != nil {
		return nil, err
	}
	c.points = c.points[:i]
	return doneRows("RELEASE", 0), nil
}

// rollbackTo goes back to a savepoint, which stays; a failed transaction goes on.
func (c *Conn) rollbackTo(name *parser.Ident) (*Rows, error) {
	if c.tx == nil {
		return nil, sqltype.Errorf(sqltype.CodeNoActiveTx, "a savepoint needs a transaction").At(int(name.Pos))
	}
	i, err := c.findSavepoint(name)
	if err != nil {
		return nil, err
	}
	c.endRows()
	c.tx.RollbackTo(c.points[i].at)
	c.points, c.failed = c.points[:i+1], false
	return doneRows("ROLLBACK", 0), nil
}

func (c *Conn) findSavepoint(name *parser.Ident) (int, error) {
	for i := len(c.points) - 1; i >= 0; i-- {
		if c.points[i].name == name.Name {
			return i, nil
		}
	}
	return 0, sqltype.Errorf("3B001", "savepoint %q does not exist", name.Name).At(int(name.Pos))
}

// set is SET and RESET.
func (c *Conn) set(ctx context.Context, s *parser.Set) (*Rows, error) {
	name := s.Name.Name
	if s.Value == nil {
		if err := c.settings.reset(name, c.db.settings); err != nil {
			return nil, positioned(err, s.Pos)
		}
		c.names.SetPath(c.settings.path)
		return doneRows("RESET", 0), nil
	}
	if strings.EqualFold(name, "schema") {
		name = "search_path"
	}
	value, err := c.settingText(ctx, s.Value)
	if err == nil && strings.EqualFold(s.Name.Name, "schema") {
		value, err = c.schemaNamed(value)
	}
	if err == nil {
		err = c.change(name, value)
	}
	if err != nil {
		return nil, positioned(err, s.Pos)
	}
	return doneRows("SET", 0), nil
}

// schemaNamed is a schema that there is, for USE: the database's name is main's.
func (c *Conn) schemaNamed(name string) (string, error) {
	if slices.ContainsFunc(c.reader().Contents().Schemas, func(s string) bool { return strings.EqualFold(s, name) }) {
		return name, nil
	}
	if strings.EqualFold(name, catalog.Database) {
		return storage.Main, nil
	}
	return "", sqltype.Errorf("3F000", "schema \"%s\" does not exist", name)
}

// setVariable is SET VARIABLE and RESET VARIABLE.
func (c *Conn) setVariable(ctx context.Context, s *parser.Set, text string) (*Rows, error) {
	name := strings.ToLower(s.Name.Name)
	if s.Value == nil {
		delete(c.variables, name)
		return doneRows("RESET", 0), nil
	}
	q := &parser.Query{Body: &parser.Select{Items: []parser.SelectItem{{Expr: s.Value}}, Pos: s.Pos}, Pos: s.Pos}
	rows, err := c.runPlanned(ctx, &prepared{parsed: parser.Parsed{Statement: q}, text: text}, nil, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, rows.Err()
	}
	if c.variables == nil {
		c.variables = map[string]Value{}
	}
	c.variables[name] = rows.Value(0)
	return doneRows("SET", 0), nil
}

func (c *Conn) variable(name string) (Value, bool) {
	v, ok := c.variables[name]
	return v, ok
}

// change sets a setting. A GPU that is asked for is opened now, so that it is
// SET that fails when there is none.
func (c *Conn) change(name, value string) error {
	before := c.settings
	err := c.settings.change(name, value)
	if err == nil {
		_, err = c.db.devices.open(c.settings.device)
	}
	if err == nil && strings.EqualFold(name, "retention") {
		c.db.store.Retain(c.settings.retention)
	}
	if err != nil {
		c.settings = before
	}
	c.names.SetPath(c.settings.path)
	return err
}

func positioned(err error, pos parser.Pos) error {
	if e, ok := err.(*sqltype.Error); ok {
		return e.At(int(pos))
	}
	return err
}

// settingText is the value of a SET as text: a bare word stands for itself.
func (c *Conn) settingText(ctx context.Context, e parser.Expr) (string, error) {
	switch e := e.(type) {
	case *parser.ColumnRef:
		words := make([]string, len(e.Name.Parts))
		for i, p := range e.Name.Parts {
			words[i] = p.Name
		}
		return strings.Join(words, "."), nil
	case *parser.Literal:
		return e.Value.String(), nil
	case *parser.Default:
		return "", sqltype.Errorf(sqltype.CodeNotSupported, "SET ... TO DEFAULT is written RESET").At(int(e.Pos))
	}
	values, err := c.constants(ctx, c.reader(), []parser.Expr{e})
	if err != nil {
		return "", err
	}
	return values[0].String(), nil
}

// maintain is ANALYZE, VACUUM, CHECKPOINT and REINDEX. Statistics are kept as
// rows come and go, memory is given back by the last reader, and there is no
// log yet: only the name is checked.
func (c *Conn) maintain(s *parser.Maintain) (*Rows, error) {
	if s.Name != nil && s.Word != "REINDEX" && s.Word != "PRAGMA" {
		if _, err := findTable(c.reader(), *s.Name); err != nil {
			return nil, err
		}
	}
	return doneRows(s.Word, 0), nil
}

// prepare is PREPARE name AS statement.
func (c *Conn) prepare(ctx context.Context, s *parser.Prepare, p parser.Parsed, text string) (*Rows, error) {
	name := s.Name.Name
	if c.prepared[name] != nil {
		return nil, sqltype.Errorf(sqltype.CodeDuplicateObject, "prepared statement %q already exists", name).At(int(s.Name.Pos))
	}
	if !isPlanned(s.Statement) {
		return nil, sqltype.Errorf(sqltype.CodeNotSupported, "only queries and data changes can be prepared").At(int(s.Pos))
	}
	inner := p
	inner.Statement = s.Statement
	made := &prepared{parsed: inner, text: text}
	if err := c.planNow(ctx, made); err != nil {
		return nil, err
	}
	if c.prepared == nil {
		c.prepared = map[string]*prepared{}
	}
	c.prepared[name] = made
	return doneRows("PREPARE", 0), nil
}

// execute is EXECUTE name (arguments).
func (c *Conn) execute(ctx context.Context, s *parser.Execute) (*Rows, error) {
	p := c.prepared[s.Name.Name]
	if p == nil {
		return nil, errNoPrepared(&s.Name)
	}
	args, err := c.constants(ctx, c.reader(), s.Args)
	if err != nil {
		return nil, err
	}
	return c.runPrepared(ctx, p, args)
}

func (c *Conn) deallocate(s *parser.Deallocate) (*Rows, error) {
	name := s.Name.Name
	if strings.EqualFold(name, "all") && !s.Name.Quoted {
		c.prepared = nil
	} else if c.prepared[name] == nil {
		return nil, errNoPrepared(&s.Name)
	}
	delete(c.prepared, name)
	return doneRows("DEALLOCATE", 0), nil
}

func errNoPrepared(name *parser.Ident) error {
	return sqltype.Errorf("26000", "prepared statement %q does not exist", name.Name).At(int(name.Pos))
}

// constants computes expressions that name no table.
func (c *Conn) constants(ctx context.Context, r catalog.Reader, exprs []parser.Expr) ([]Value, error) {
	if len(exprs) == 0 {
		return nil, nil
	}
	q := &parser.Query{Body: &parser.Select{}}
	for _, e := range exprs {
		items := &q.Body.(*parser.Select).Items
		*items = append(*items, parser.SelectItem{Expr: e})
	}
	plan, err := c.bind(ctx, r, q)
	if err != nil {
		return nil, err
	}
	if plan, err = planner.Optimize(plan, r, c.optimizeOptions()); err != nil {
		return nil, err
	}
	tx := c.beginTx()
	e := &execution{conn: c, tx: tx, own: true, statement: tx.Statement(), internal: true}
	rows, err := e.start(ctx, plan, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, rows.Err()
	}
	values := make([]Value, len(exprs))
	for i := range values {
		values[i] = rows.Value(i)
	}
	return values, nil
}
