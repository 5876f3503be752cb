package planner

import (
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// Aggregates that are written as one and made of others.

func callName(name string) parser.Name { return parser.Name{Parts: []parser.Ident{{Name: name}}} }

func callOf(name string, at parser.Pos, args ...parser.Expr) *parser.Call {
	return &parser.Call{Name: callName(name), Args: args, Pos: at}
}

func intLiteral(v int32, at parser.Pos) parser.Expr {
	return &parser.Literal{Value: sqltype.NewInt32(v), Pos: at}
}

// manyQuantiles is quantile_cont(x, [a, b]) as a list of a quantile for each;
// nil when it is another call.
func manyQuantiles(name string, e *parser.Call) parser.Expr {
	r, err := catalog.ResolveAggregate(name, []sqltype.Type{sqltype.Float64, sqltype.Float64})
	if err != nil || r.Func.ID != catalog.FuncQuantileCont && r.Func.ID != catalog.FuncQuantileDisc || len(e.Args) == 0 {
		return nil
	}
	last := len(e.Args) - 1
	fractions, ok := e.Args[last].(*parser.Array)
	if !ok {
		return nil
	}
	list := &parser.Array{Pos: e.Pos}
	for _, f := range fractions.Exprs {
		one := *e
		one.Args = append(append([]parser.Expr(nil), e.Args[:last]...), f)
		list.Exprs = append(list.Exprs, &one)
	}
	return list
}

// ofMany is arg_max(x, y, n), min(x, n) and the like: the first n of a list in order.
func ofMany(name string, e *parser.Call) parser.Expr {
	by, desc := 0, false
	switch name {
	case "min", "max":
		desc = name == "max"
	case "arg_min", "arg_max", "argmin", "argmax", "min_by", "max_by":
		by, desc = 1, strings.Contains(name, "max")
	default:
		return nil
	}
	if len(e.Args) != by+2 || e.OrderBy != nil || e.Distinct || e.Over != nil {
		return nil
	}
	list := *e
	list.Name, list.Args = callName("list"), e.Args[:1]
	list.OrderBy = []parser.OrderItem{{Expr: e.Args[by], Desc: desc, Nulls: parser.NullsLast}}
	some := &parser.IsExpr{X: e.Args[by], What: "NULL", Not: true}
	list.Filter = some
	if e.Filter != nil {
		list.Filter = &parser.Binary{Op: "AND", L: e.Filter, R: some, Pos: e.Pos}
	}
	return callOf("list_slice", e.Pos, &list, &parser.Literal{Value: sqltype.NewInt32(1), Text: "1", Pos: e.Pos}, e.Args[by+1])
}

// ofIntervals is sum and avg of intervals: the parts are added up each for
// itself, as the sum of two intervals does.
func ofIntervals(name string, e *parser.Call) parser.Expr {
	if name != "sum" && name != "avg" && name != "mean" || e.Distinct || len(e.Args) != 1 {
		return nil
	}
	part := func(field string) parser.Expr {
		return callOf("date_part", e.Pos, &parser.Literal{Value: sqltype.NewString(field), Untyped: true, Pos: e.Pos}, e.Args[0])
	}
	plus := func(l parser.Expr, factor int32, r parser.Expr) parser.Expr {
		r = &parser.Binary{Op: "*", L: r, R: intLiteral(factor, e.Pos), Pos: e.Pos}
		return &parser.Binary{Op: "+", L: l, R: r, Pos: e.Pos}
	}
	aggregate := func(name string, x parser.Expr) parser.Expr {
		c := *e
		c.Name, c.Args = callName(name), []parser.Expr{x}
		return &c
	}
	whole := func(x parser.Expr) parser.Expr {
		return &parser.Cast{X: aggregate("sum", x), Type: parser.TypeName{Type: sqltype.Int64}, Pos: e.Pos}
	}
	zero := intLiteral(0, e.Pos)
	total := callOf("make_interval", e.Pos, zero, whole(plus(part("month"), 12, part("year"))), zero, whole(part("day")), zero, zero,
		aggregate("sum", plus(plus(part("second"), 60, part("minute")), 3600, part("hour"))))
	if name == "sum" {
		return total
	}
	count := callOf("nullif", e.Pos, aggregate("count", e.Args[0]), zero)
	return &parser.Binary{Op: "/", L: total, R: count, Pos: e.Pos}
}

// hypothetical binds rank(v) WITHIN GROUP (ORDER BY x) and its kin: the place
// that v would have among the rows.
func (b *binder) hypothetical(s *scope, name string, e *parser.Call) Expr {
	if len(e.Args) != 1 {
		fail(sqltype.CodeUndefinedFunc, e.Pos, "%s WITHIN GROUP takes one value", name)
	}
	x, v := e.Within[0].Expr, e.Args[0]
	before, notAfter := "<", "<="
	if e.Within[0].Desc {
		before, notAfter = ">", ">="
	}
	count := func(arg parser.Expr, op string) *parser.Call {
		c := callOf("count", e.Pos)
		if arg == nil {
			c.Star = true
		} else {
			c.Args, c.Distinct = []parser.Expr{arg}, true
		}
		c.Filter = e.Filter
		if op == "" {
			return c
		}
		c.Filter = &parser.Binary{Op: op, L: x, R: v, Pos: e.Pos}
		if e.Filter != nil {
			c.Filter = &parser.Binary{Op: "AND", L: e.Filter, R: c.Filter, Pos: e.Pos}
		}
		return c
	}
	after := func(c parser.Expr) parser.Expr {
		return &parser.Binary{Op: "+", L: c, R: intLiteral(1, e.Pos), Pos: e.Pos}
	}
	ratio := func(l, r parser.Expr) parser.Expr {
		r = &parser.Cast{X: r, Type: parser.TypeName{Type: sqltype.Float64}, Pos: e.Pos}
		return &parser.Binary{Op: "/", L: l, R: r, Pos: e.Pos}
	}
	switch name {
	case "rank":
		return b.expr(s, after(count(nil, before)))
	case "dense_rank":
		return b.expr(s, after(count(x, before)))
	case "percent_rank":
		// Of no rows the place is the first.
		rows := callOf("greatest", e.Pos, count(nil, ""), intLiteral(1, e.Pos))
		return b.expr(s, ratio(count(nil, before), rows))
	case "cume_dist":
		return b.expr(s, ratio(after(count(nil, notAfter)), after(count(nil, ""))))
	}
	fail(sqltype.CodeWrongObject, e.Pos, "%s does not take WITHIN GROUP", name)
	return nil
}
