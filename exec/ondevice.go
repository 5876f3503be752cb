package exec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// Computes reports a plan with work for a device: one that does more than put
// rows into a table, or find those that it changes.
func Computes(p *planner.Plan) bool {
	return p.Kind == planner.QueryPlan && !p.Changes || p.Kind == planner.InsertPlan && computes(p.Root)
}

func computes(n planner.Node) bool {
	switch n := n.(type) {
	case *planner.Aggregate, *planner.Sort, *planner.TopN, *planner.Window, *planner.DistinctOn, *planner.SetOp:
		return true
	case *planner.Join:
		if !n.Lookup {
			return true
		}
	}
	for _, in := range n.Inputs() {
		if computes(in) {
			return true
		}
	}
	return false
}

// RowsRead is about how many rows a plan reads of tables, and of files.
func RowsRead(env *Env, p *planner.Plan) (tables, files int64) { return env.rowsBelow(p.Root) }

func (env *Env) rowsBelow(n planner.Node) (tables, files int64) {
	if rows, ok := env.sourceRows(n); ok {
		if runsOnHost(n) {
			return 0, rows
		}
		return rows, 0
	}
	for _, in := range n.Inputs() {
		t, f := env.rowsBelow(in)
		tables, files = tables+t, files+f
	}
	return tables, files
}

// CheckDevice reports what of a plan a device that does not see the host's
// memory cannot run, and in which operator. What runs on the host's side need
// not be able to.
func CheckDevice(env *Env, p *planner.Plan) error {
	c := deviceCheck{env: env}
	return c.node(p.Root)
}

type deviceCheck struct{ env *Env }

func (c *deviceCheck) node(n planner.Node) error {
	for _, in := range n.Inputs() {
		if err := c.node(in); err != nil {
			return err
		}
	}
	if runsOnHost(n) {
		return nil
	}
	err := c.operator(n)
	if err == nil {
		return nil
	}
	what := err.Error()
	var e *kernels.NotOnDeviceError
	if errors.As(err, &e) {
		what = e.What + " has no code for a GPU"
	} else if errors.Is(err, device.ErrNoCode) {
		what = "the step " + what
	}
	return sqltype.Errorf(sqltype.CodeNotSupported, "%q cannot run on a GPU: %s", planner.Line(n), what)
}

// operator is the closed set of what runs on a device.
func (c *deviceCheck) operator(n planner.Node) error {
	switch n := n.(type) {
	case *planner.Scan:
		if n.AsOf != nil {
			return &kernels.NotOnDeviceError{What: "a table as it was"}
		}
		return c.exprs(list(n.Filter), append(append([]planner.ColDef{}, n.Columns...), n.Fetch...))
	case *planner.Filter:
		return c.exprs(list(n.Pred), n.Input.Cols())
	case *planner.Project:
		if columnsOnly(n) != nil {
			return nil
		}
		var exprs []planner.Expr
		for _, e := range n.Exprs {
			exprs = append(exprs, e.Expr)
		}
		return c.exprs(exprs, n.Input.Cols())
	case *planner.Unnest:
		if err := c.exprs(n.Lists, n.Input.Cols()); err != nil {
			return err
		}
		return kernels.CheckUnnest()
	case *planner.Limit, *planner.With, *planner.CTEScan:
		return nil
	case *planner.Join:
		return c.join(n)
	case *planner.Aggregate:
		return c.aggregate(n)
	case *planner.DistinctOn:
		if err := c.exprs(n.On, n.Input.Cols()); err != nil {
			return err
		}
		return c.setOp(n.On)
	case *planner.Sort:
		return c.sort(n.Keys, n.Input)
	case *planner.TopN:
		return c.sort(n.Keys, n.Input)
	case *planner.SetOp:
		if n.Op == planner.Union && n.All {
			return nil
		}
		var keys []planner.Expr
		for _, d := range n.Columns {
			keys = append(keys, &planner.Col{ID: d.ID, T: d.Type})
		}
		return c.setOp(keys)
	case *planner.Window:
		return c.window(n)
	default:
		panic(fmt.Sprintf("exec: no check for %T", n))
	}
}

// list is an expression that may be nil, as a list.
func list(e planner.Expr) []planner.Expr {
	if e == nil {
		return nil
	}
	return []planner.Expr{e}
}

func (c *deviceCheck) exprs(exprs []planner.Expr, cols []planner.ColDef) error {
	if len(exprs) == 0 {
		return nil
	}
	p, err := c.env.Compile(exprs, cols)
	if err != nil {
		return nil // whoever runs it says so
	}
	return p.CheckDevice()
}

func (c *deviceCheck) join(n *planner.Join) error {
	if n.Dependent {
		return nil // whoever runs it says so
	}
	s := newShape(n)
	if err := c.exprs(s.probeKeys, s.probe.Cols()); err != nil {
		return err
	}
	if _, extra := keyPlace(s.buildKeys, s.build); len(extra) > 0 {
		if err := c.exprs(extra, s.build.Cols()); err != nil {
			return err
		}
	}
	if err := c.exprs(list(s.on), append(append([]planner.ColDef{}, n.Left.Cols()...), n.Right.Cols()...)); err != nil {
		return err
	}
	return kernels.CheckJoin(s.layout)
}

func (c *deviceCheck) aggregate(n *planner.Aggregate) error {
	s, err := newAggSpec(n)
	if err != nil {
		return nil // whoever runs it says so
	}
	if err := c.exprs(s.exprs, n.Input.Cols()); err != nil {
		return err
	}
	for i := range s.collects {
		if err := s.collects[i].collect.CheckDevice(); err != nil {
			return err
		}
	}
	for _, set := range s.sets {
		if len(set) == 0 {
			continue
		}
		if err := kernels.CheckGroups(s.layout(set)); err != nil {
			return err
		}
	}
	return kernels.CheckAggregates()
}

func (c *deviceCheck) window(n *planner.Window) error {
	exprs := slices.Clone(n.Partition)
	for _, k := range n.Order {
		exprs = append(exprs, k.Expr)
	}
	for i := range n.Funcs {
		f := &n.Funcs[i]
		exprs = append(append(exprs, f.Args...), list(f.Filter)...)
		for _, b := range f.Frame.Bounds() {
			if len(n.Order) != 1 || f.Frame.Unit != "RANGE" || b.Offset == nil {
				continue
			}
			key, reach, err := rangeExprs(n.Order[0], boundKinds[b.Kind], b.Offset)
			if err != nil {
				return nil // whoever runs it says so
			}
			exprs = append(exprs, key, reach)
		}
		if err := c.collects(f); err != nil {
			return err
		}
	}
	if err := c.exprs(exprs, n.Input.Cols()); err != nil {
		return err
	}
	return kernels.CheckWindow()
}

// collects checks a window function that keeps the rows of its frames.
func (c *deviceCheck) collects(f *planner.WindowFunc) error {
	_, ranks := rankOps[f.Func.ID]
	_, picks := pickOps[f.Func.ID]
	var s aggSpec
	if ranks || picks && f.Filter == nil || s.add(&planner.Agg{Col: f.Col, Func: f.Func, Args: f.Args}) != nil {
		return nil // it does not, or whoever runs it says what is wrong
	}
	for i := range s.collects {
		if err := s.collects[i].collect.CheckDevice(); err != nil {
			return err
		}
	}
	return nil
}

func (c *deviceCheck) sort(keys []planner.SortKey, in planner.Node) error {
	_, extra := keyPlace(keys, in)
	return c.exprs(extra, in.Cols())
}

// setOp checks what tells rows by keys apart.
func (c *deviceCheck) setOp(keys []planner.Expr) error {
	phys, nullable := make([]sqltype.Phys, len(keys)), make([]bool, len(keys))
	for i, k := range keys {
		phys[i], nullable[i] = k.Type().Phys(), true
	}
	if err := kernels.CheckGroups(kernels.NewKeyLayout(phys, nullable)); err != nil {
		return err
	}
	return kernels.CheckSetOps()
}
