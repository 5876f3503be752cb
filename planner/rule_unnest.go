package planner

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// undepend makes the sides of a dependent join independent. First it tries to
// lift the conditions that name outer columns up to the join, which costs
// nothing. Where that cannot be done it computes the right side for the set of
// different outer bindings, the way of Neumann and Kemper, "Unnesting Arbitrary
// Queries": that can always be done.
func (o *optimizer) undepend(j *Join) (Node, error) {
	outer := freeCols(j.Right).and(colsOf(j.Left))
	c := *j
	c.Dependent = false
	if outer.empty() {
		return &c, nil
	}
	if n := unnestOver(&c); n != nil {
		return n, nil
	}
	// Conditions on columns from further out are lifted along, if that goes: the
	// next join outwards finds them nearer.
	if n := o.lift(&c, freeCols(j.Right)); n != nil {
		return n, nil
	}
	if n := o.lift(&c, outer); n != nil {
		return n, nil
	}
	return o.distribute(&c, outer)
}

// unnestOver is a join with lists of its left side's rows: these lists may as
// well be unnested in the row where they are.
func unnestOver(j *Join) Node {
	u, ok := j.Right.(*Unnest)
	if !ok || j.Kind != Inner || !isOneRow(u.Input) {
		return nil
	}
	var n Node = u.WithInputs([]Node{j.Left})
	if j.On != nil {
		n = &Filter{Input: n, Pred: j.On}
	}
	return n
}

// lifter takes conditions on outer columns out of a plan.
type lifter struct {
	o     *optimizer
	outer colSet
	conds []Expr // lifted, over what the plan gives and outer columns
	// agg is the aggregate without groups at the top of the plan, under nothing but
	// posts: it has got groups, and a join that finds none stands for its one row.
	agg   *Aggregate
	posts []*Project // from the top down
}

// lift is j with the conditions of its right side in On; nil if it cannot be.
func (o *optimizer) lift(j *Join, outer colSet) Node {
	l := &lifter{o: o, outer: outer}
	right, ok := l.plan(j.Right)
	if !ok {
		return nil
	}
	if l.agg != nil {
		if j.On != nil || j.Kind != Left && j.Kind != Single && j.Kind != Inner {
			return nil
		}
		return l.outerAggregate(j, right)
	}
	c := *j
	c.Right, c.On = right, allOf(append(conjuncts(j.On), l.conds...))
	if c.Kind == Single && uniqueBy(right, c.On) {
		c.Kind = Left
	}
	return keepCols(&c, j.Cols())
}

// uniqueBy reports that the equalities of on leave at most one row of n.
func uniqueBy(n Node, on Expr) bool {
	cols := colsOf(n)
	var fixed colSet
	for _, c := range conjuncts(on) {
		e, ok := c.(*Cmp)
		if !ok || e.Op != Eq && e.Op != NotDistinct {
			continue
		}
		for _, side := range [2][2]Expr{{e.L, e.R}, {e.R, e.L}} {
			col, ok := withoutWidening(side[0]).(*Col)
			if !ok || !cols.has(col.ID) || exprCols(side[1]).meets(cols) {
				continue
			}
			if e.Op == Eq || !notNull(n, colSet(nil).add(col.ID)).empty() { // a UNIQUE column may have several NULLs
				fixed = fixed.add(col.ID)
			}
		}
	}
	return uniqueOn(n, fixed)
}

// withoutWidening is e without casts that give no two values the same.
func withoutWidening(e Expr) Expr {
	for {
		x, ok := e.(*Cast)
		if !ok || x.Try || !keepsOrder(x.X.Type(), x.To) {
			return e
		}
		e = x.X
	}
}

// plan is n without the conditions; false if an outer column is left over.
func (l *lifter) plan(n Node) (Node, bool) {
	if !freeCols(n).meets(l.outer) {
		return n, true
	}
	switch n := n.(type) {
	case *Filter:
		in, ok := l.plan(n.Input)
		if !ok || l.agg != nil {
			return nil, false
		}
		rest, ok := l.take(n.Pred)
		if !ok {
			return nil, false
		}
		if rest == nil {
			return in, true
		}
		return &Filter{Input: in, Pred: rest}, true
	case *Sort:
		return l.plan(n.Input)
	case *Project:
		return l.project(n)
	case *Join:
		return l.join(n)
	case *Aggregate:
		return l.aggregate(n)
	}
	return nil, false
}

// take lifts the conjuncts that name outer columns and gives the others.
func (l *lifter) take(e Expr) (Expr, bool) {
	var rest []Expr
	for _, c := range conjuncts(e) {
		switch {
		case !exprCols(c).meets(l.outer):
			rest = append(rest, c)
		case isVolatile(c):
			return nil, false
		default:
			l.conds = append(l.conds, c)
		}
	}
	return allOf(rest), true
}

func (l *lifter) project(n *Project) (Node, bool) {
	if colSet(nil).addExprs(n.Exprs).meets(l.outer) {
		return nil, false
	}
	in, ok := l.plan(n.Input)
	if !ok {
		return nil, false
	}
	if l.agg != nil {
		l.posts = append([]*Project{n}, l.posts...)
		return in, true
	}
	return l.exposing(&Project{Input: in, Exprs: n.Exprs}), true
}

// exposing hands through the columns that the lifted conditions name.
func (l *lifter) exposing(n *Project) *Project {
	has := colSet(nil).addCols(n.Cols())
	var need colSet
	for _, c := range l.conds {
		need = need.addExpr(c)
	}
	exprs := n.Exprs
	for _, c := range n.Input.Cols() {
		if need.has(c.ID) && !has.has(c.ID) {
			exprs = append(exprs[:len(exprs):len(exprs)], NamedExpr{Col: c, Expr: colRef(c)})
		}
	}
	return &Project{Input: n.Input, Exprs: exprs}
}

func (l *lifter) join(n *Join) (Node, bool) {
	if n.Kind == Right || n.Kind == Full {
		return nil, false
	}
	left, ok := l.plan(n.Left)
	if !ok || l.agg != nil {
		return nil, false
	}
	right := n.Right
	if n.Kind == Inner {
		if right, ok = l.plan(right); !ok || l.agg != nil {
			return nil, false
		}
	} else if freeCols(right).meets(l.outer) {
		return nil, false
	}
	c := *n
	c.Left, c.Right = left, right
	if n.Kind == Inner {
		c.On, ok = l.take(n.On)
		return &c, ok
	}
	return &c, n.On == nil || !exprCols(n.On).meets(l.outer)
}

// aggregate groups by what the lifted conditions compare with, so that each
// group is what one outer row would have seen.
func (l *lifter) aggregate(n *Aggregate) (Node, bool) {
	if n.Sets != nil || l.namesOuter(n) {
		return nil, false
	}
	before := len(l.conds)
	in, ok := l.plan(n.Input)
	if !ok || l.agg != nil {
		return nil, false
	}
	c := *n
	c.Input = in
	c.Groups = slices.Clip(n.Groups)
	made := colsOf(in)
	for i := before; i < len(l.conds); i++ {
		cmp, ok := l.conds[i].(*Cmp)
		if !ok || cmp.Op != Eq && cmp.Op != NotDistinct {
			return nil, false
		}
		inner, out := cmp.L, cmp.R
		if exprCols(inner).meets(l.outer) {
			inner, out = out, inner
		}
		if exprCols(inner).meets(l.outer) || exprCols(out).meets(made) {
			return nil, false
		}
		l.conds[i] = &Cmp{Op: cmp.Op, L: l.group(&c, inner), R: out}
	}
	if len(n.Groups) == 0 {
		l.agg = &c
	}
	return &c, true
}

func (l *lifter) namesOuter(n Node) bool {
	found := false
	eachExpr(n, func(e Expr) { found = found || exprCols(e).meets(l.outer) })
	return found
}

// group is the column of e in the groups of n, added if it is not there.
func (l *lifter) group(n *Aggregate, e Expr) Expr {
	for _, g := range n.Groups {
		if equalExpr(g.Expr, e) {
			return colRef(g.Col)
		}
	}
	col := l.o.newColumn("key", e.Type(), mayBeNull)
	n.Groups = append(n.Groups, NamedExpr{Col: col, Expr: e})
	return colRef(col)
}

// outerAggregate joins to the left rows the groups of an aggregate that had
// none: a row without a group gets what an empty input gives.
func (l *lifter) outerAggregate(j *Join, right Node) Node {
	agg := right.(*Aggregate)
	fixed, exprs := l.o.emptyGroups(agg)
	var n Node = &Join{Kind: Left, Left: j.Left, Right: fixed, On: allOf(l.conds)}
	left := passed(j.Left.Cols())
	n = &Project{Input: n, Exprs: append(left[:len(left):len(left)], exprs...)}
	for i := len(l.posts) - 1; i >= 0; i-- {
		n = &Project{Input: n, Exprs: append(left[:len(left):len(left)], l.posts[i].Exprs...)}
	}
	return keepCols(n, j.Cols())
}

// emptyGroups prepares an aggregate for the right side of an outer join: counts
// get new columns, and exprs define the old ones, 0 where there is no group.
func (o *optimizer) emptyGroups(n *Aggregate) (*Aggregate, []NamedExpr) {
	c := *n
	c.Aggs = slices.Clone(n.Aggs)
	exprs := make([]NamedExpr, len(n.Aggs))
	for i, a := range n.Aggs {
		if !countsRows(a) {
			exprs[i] = NamedExpr{Col: a.Col, Expr: colRef(a.Col)}
			continue
		}
		fresh := o.newColumn(a.Col.Name, a.Col.Type, neverNull)
		c.Aggs[i].Col = fresh
		exprs[i] = NamedExpr{Col: a.Col, Expr: &Case{
			T:     a.Col.Type,
			Whens: []When{{&IsNull{colRef(fresh)}, zeroOf(a.Col.Type)}},
			Else:  colRef(fresh),
		}}
	}
	return &c, exprs
}

// countsRows reports an aggregate that is 0, and not NULL, of no rows.
func countsRows(a Agg) bool {
	switch a.Func.ID {
	case catalog.FuncCount, catalog.FuncCountIf, catalog.FuncRegrCount, catalog.FuncApproxCountDistinct, catalog.FuncTotal:
		return true
	}
	return false
}

// zeroOf is 0 as a constant of a type that counts or totals have.
func zeroOf(t sqltype.Type) Expr { return &Const{sqltype.Datum{Type: t}} }
