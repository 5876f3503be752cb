package planner

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// windowCall is a call with OVER; a column stands for it.
type windowCall struct {
	fn        WindowFunc
	partition []Expr
	order     []SortKey
}

func (w *windowCall) mapExprs(f func(Expr) Expr) {
	mapAll := func(es []Expr) []Expr {
		out, _ := mapList(es, f)
		return out
	}
	w.fn.Args, w.partition = mapAll(w.fn.Args), mapAll(w.partition)
	if w.fn.Filter != nil {
		w.fn.Filter = f(w.fn.Filter)
	}
	for i := range w.order {
		w.order[i].Expr = f(w.order[i].Expr)
	}
}

// window binds a call with OVER.
func (b *binder) window(s *scope, name string, e *parser.Call) Expr {
	switch {
	case s.openAgg > 0:
		fail(sqltype.CodeGrouping, e.Pos, "aggregate function calls cannot contain window function calls")
	case !s.clause.takesWindows():
		fail("42P20", e.Pos, "window functions are not allowed in %s", s.clause)
	case len(e.Within) > 0 || len(e.OrderBy) > 0:
		fail(sqltype.CodeNotSupported, e.Pos, "ORDER BY in the arguments of a window function is not supported")
	}
	spec := s.windowSpec(e.Over)
	before := len(s.windows)
	w := windowCall{fn: WindowFunc{Distinct: e.Distinct, IgnoreNulls: e.IgnoreNulls}}
	args := b.exprs(s, e.Args)
	r := b.resolve(args, e.Pos, func(types []sqltype.Type, _ []*sqltype.Datum) (catalog.Resolved, error) {
		return catalog.ResolveWindow(name, types)
	})
	w.fn.Func, w.fn.Args = r.Func, args
	if e.Filter != nil {
		if r.Func.Kind != catalog.Aggregate {
			fail(sqltype.CodeWrongObject, e.Pos, "FILTER is for aggregate window functions only")
		}
		w.fn.Filter = b.truth(b.expr(s, e.Filter), "FILTER", e.Filter.Start())
	}
	w.partition = b.settleAll(b.exprs(s, spec.PartitionBy))
	for _, o := range spec.OrderBy {
		w.order = append(w.order, sortKey(o, b.value(s, o.Expr)))
	}
	w.fn.Frame = b.frame(s, &spec, w.order)
	if len(s.windows) > before {
		fail("42P20", e.Pos, "window function calls cannot be nested")
	}
	if w.fn.Distinct && r.Func.Kind == catalog.Aggregate {
		b.distinctWindow(s, &w, e)
	}
	w.fn.Col = b.column(name, r.Result, mayBeNull)
	s.windows = append(s.windows, w)
	s.made = s.made.add(w.fn.Col.ID)
	return colRef(w.fn.Col)
}

// distinctWindow makes agg(DISTINCT x) over a frame that begins with the
// partition an aggregate of those rows that are the first with their x.
func (b *binder) distinctWindow(s *scope, w *windowCall, e *parser.Call) {
	w.fn.Distinct = false
	switch w.fn.Func.ID {
	case catalog.FuncMin, catalog.FuncMax, catalog.FuncBoolAnd, catalog.FuncBoolOr, catalog.FuncBitAndAgg, catalog.FuncBitOrAgg:
		return
	}
	if f := w.fn.Frame; f.StartKind != "UNBOUNDED PRECEDING" || f.Exclude != "" && f.Exclude != "NO OTHERS" {
		fail(sqltype.CodeNotSupported, e.Pos, "DISTINCT in a window function needs a frame that begins with the partition")
	}
	number, err := catalog.ResolveWindow("row_number", nil)
	if err != nil {
		failWith(err, e.Pos)
	}
	first := windowCall{order: w.order, partition: append(slices.Clip(w.partition), w.fn.Args...)}
	if w.fn.Filter != nil {
		first.partition = append(first.partition, w.fn.Filter)
	}
	first.fn = WindowFunc{Func: number.Func, Col: b.column("row_number", number.Result, neverNull),
		Frame: Frame{Unit: "RANGE", StartKind: "UNBOUNDED PRECEDING", EndKind: "CURRENT ROW"}}
	s.windows = append(s.windows, first)
	s.made = s.made.add(first.fn.Col.ID)
	isFirst := []Expr{&Cmp{Op: Eq, L: colRef(first.fn.Col), R: bigint(1)}}
	if w.fn.Filter != nil {
		isFirst = append(isFirst, w.fn.Filter)
	}
	w.fn.Filter = allOf(isFirst)
}

// windowSpec is a window with the one that it names put in.
func (s *scope) windowSpec(w *parser.Window) parser.Window {
	spec := *w
	for seen := 0; spec.Ref != nil; seen++ {
		at := slices.IndexFunc(s.named, func(n parser.NamedWindow) bool { return sameName(n.Name.Name, spec.Ref.Name) })
		if at < 0 || seen > len(s.named) {
			fail(sqltype.CodeUndefinedObject, spec.Ref.Pos, "window %q does not exist", spec.Ref.Name)
		}
		base := s.named[at].Window
		if len(spec.PartitionBy) > 0 || len(spec.OrderBy) > 0 && len(base.OrderBy) > 0 {
			fail("42P20", spec.Ref.Pos, "cannot override the PARTITION BY or ORDER BY of window %q", spec.Ref.Name)
		}
		spec.PartitionBy, spec.Ref = base.PartitionBy, base.Ref
		if len(spec.OrderBy) == 0 {
			spec.OrderBy = base.OrderBy
		}
		if spec.Frame == nil {
			spec.Frame = base.Frame
		}
	}
	return spec
}

// frame is the frame as written, or the default: from the partition's start to
// the last row that is equal in order.
func (b *binder) frame(s *scope, spec *parser.Window, order []SortKey) Frame {
	f := spec.Frame
	if f == nil {
		return Frame{Unit: "RANGE", StartKind: "UNBOUNDED PRECEDING", EndKind: "CURRENT ROW"}
	}
	out := Frame{Unit: f.Unit, StartKind: f.Start.Kind, EndKind: f.End.Kind, Exclude: f.Exclude}
	if out.EndKind == "" {
		out.EndKind = "CURRENT ROW"
	}
	out.StartOffset = b.frameOffset(s, f.Unit, f.Start.Offset, order)
	out.EndOffset = b.frameOffset(s, f.Unit, f.End.Offset, order)
	return out
}

// frameOffset is a number of rows, or for RANGE a distance in the order.
func (b *binder) frameOffset(s *scope, unit string, e parser.Expr, order []SortKey) Expr {
	if e == nil {
		return nil
	}
	x := b.expr(s, e)
	if unit != "RANGE" {
		return b.coerce(x, sqltype.Int64, e.Start())
	}
	if len(order) != 1 {
		fail("42P20", e.Start(), "RANGE with a distance needs one ORDER BY expression")
	}
	t := order[0].Expr.Type()
	switch {
	case t.Kind.IsNumeric():
		return b.coerce(x, t, e.Start())
	case t.Kind.IsTemporal():
		return b.coerce(x, sqltype.Interval, e.Start())
	}
	fail(sqltype.CodeTypeMismatch, e.Start(), "RANGE with a distance is not supported for %s", t)
	return nil
}

// windowNodes puts the window functions above a plan, those of equal windows
// in one node.
func (s *selection) windowNodes(node Node) Node {
	var list []*Window
	for i := range s.windows {
		w := &s.windows[i]
		least := w.above(list)
		at := slices.IndexFunc(list[least:], func(n *Window) bool {
			return slices.EqualFunc(n.Partition, w.partition, equalExpr) && slices.EqualFunc(n.Order, w.order, sameKey)
		})
		if at >= 0 {
			at += least
		}
		if at < 0 {
			at = len(list)
			list = append(list, &Window{Partition: w.partition, Order: w.order})
		}
		list[at].Funcs = append(list[at].Funcs, w.fn)
	}
	for _, n := range list {
		n.Input = node
		node = n
	}
	return node
}

// above is how many of the nodes must be below w: its filter may name what
// another window function gives.
func (w *windowCall) above(list []*Window) int {
	if w.fn.Filter == nil {
		return 0
	}
	used := exprCols(w.fn.Filter)
	for i := len(list); i > 0; i-- {
		for _, f := range list[i-1].Funcs {
			if used.has(f.Col.ID) {
				return i
			}
		}
	}
	return 0
}

func sameKey(a, b SortKey) bool {
	return a.Desc == b.Desc && a.NullsFirst == b.NullsFirst && equalExpr(a.Expr, b.Expr)
}
