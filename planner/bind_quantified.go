package planner

import (
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// negated is the comparison that is true where op is false.
var negated = map[CmpOp]CmpOp{Eq: Ne, Ne: Eq, Lt: Ge, Ge: Lt, Gt: Le, Le: Gt}

// quantified is x op ANY|ALL (...): ALL is NOT ANY of the opposite.
func (b *binder) quantified(s *scope, e *parser.Quantified) Expr {
	if e.Query == nil {
		return b.quantifiedList(s, e)
	}
	op, ok := comparisons[e.Op]
	switch {
	case !ok:
		return b.quantifiedOther(s, e)
	case e.All:
		return &Not{b.anyOf(s, negated[op], e.X, e.Query, e.Pos)}
	}
	return b.anyOf(s, op, e.X, e.Query, e.Pos)
}

// quantifiedOther is ANY and ALL of an operator that is no comparison.
func (b *binder) quantifiedOther(s *scope, e *parser.Quantified) Expr {
	x := b.expr(s, e.X)
	q := b.query(s, s.ctes, e.Query)
	if len(q.cols) != 1 {
		fail(sqltype.CodeSyntax, e.Pos, "the subquery has %d columns, but 1 is compared with it", len(q.cols))
	}
	holds := b.quantifiedOp(e, x, colRef(q.cols[0]), e.Pos)
	if e.All {
		return &Not{b.anyHolds(q, &Not{holds})}
	}
	return b.anyHolds(q, holds)
}

// anyHolds is TRUE when a condition over a subquery's columns holds for one of
// its rows; otherwise unknown when it is unknown for one, and else FALSE.
func (b *binder) anyHolds(q bound, cond Expr) Expr {
	aggregate := func(name string, result sqltype.Type, nulls nullability, args ...Expr) Agg {
		types := make([]sqltype.Type, len(args))
		for i, a := range args {
			types[i] = a.Type()
		}
		r, err := catalog.ResolveAggregate(name, types)
		if err != nil {
			failWith(err, noPos)
		}
		return Agg{Col: b.column(name, result, nulls), Func: r.Func, Args: args}
	}
	holds := b.column("holds", sqltype.Bool, mayBeNull)
	input := &Project{Input: q.node, Exprs: []NamedExpr{{Col: holds, Expr: cond}}}
	hit := aggregate("bool_or", sqltype.Bool, mayBeNull, colRef(holds))
	known := aggregate("count", sqltype.Int64, neverNull, colRef(holds))
	all := aggregate("count", sqltype.Int64, neverNull)
	out := &Case{
		Whens: []When{
			{Cond: &Cmp{Op: NotDistinct, L: colRef(hit.Col), R: boolConst(true)}, Then: boolConst(true)},
			{Cond: &Cmp{Op: Lt, L: colRef(known.Col), R: colRef(all.Col)}, Then: nullBool()},
		},
		Else: boolConst(false), T: sqltype.Bool,
	}
	plan := &Project{
		Input: &Aggregate{Input: input, Aggs: []Agg{hit, known, all}},
		Exprs: []NamedExpr{{Col: b.column("any", sqltype.Bool, mayBeNull), Expr: out}},
	}
	return &Subquery{Kind: SubScalar, Plan: plan, T: sqltype.Bool}
}

// quantifiedList is ANY and ALL of a list, of ARRAY[...] a chain of OR or AND.
func (b *binder) quantifiedList(s *scope, e *parser.Quantified) Expr {
	x := b.expr(s, e.X)
	list, ok := e.List.(*parser.Array)
	if !ok {
		return b.quantifiedValue(s, e, x)
	}
	arms := make([]Expr, len(list.Exprs))
	for i, v := range list.Exprs {
		arms[i] = b.quantifiedOp(e, x, b.expr(s, v), v.Start())
	}
	if len(arms) == 0 {
		return boolConst(e.All)
	}
	if len(arms) == 1 {
		return arms[0]
	}
	if e.All {
		return &And{arms}
	}
	return &Or{arms}
}

// quantifiedOp applies the operator before ANY or ALL to two values.
func (b *binder) quantifiedOp(e *parser.Quantified, l, r Expr, at parser.Pos) Expr {
	if pattern, ok := likeFuncs[strings.TrimPrefix(e.Op, "NOT ")]; ok {
		out := b.function(pattern, []Expr{l, r}, at)
		if strings.HasPrefix(e.Op, "NOT ") {
			return &Not{out}
		}
		return out
	}
	x := b.infix(&parser.Binary{Op: e.Op, L: e.X, R: e.X, Pos: e.Pos}, l, r)
	if x.Type().Kind != sqltype.KindBool {
		fail(sqltype.CodeWrongObject, e.Pos, "the operator before ANY or ALL must yield %s", sqltype.Bool)
	}
	return x
}
