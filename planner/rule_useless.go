package planner

import (
	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// remove_useless drops what changes nothing: a filter that is TRUE, DISTINCT of
// rows that differ by a key or that a UNION makes distinct anyway, an order that
// an aggregate forgets; and it does
// not compute what has no rows: under a filter that is FALSE, under LIMIT 0, in
// an inner join with such an input.
//
// It pays little by itself, but programs write WHERE 1 = 0 to ask for column
// names, and views bring DISTINCT and ORDER BY along.
//
// It would be wrong to drop an aggregate without groups over no rows
// (SELECT count(*) FROM t WHERE FALSE has a row), an order below
// string_agg, or a DISTINCT over a UNIQUE column that can be NULL more than once.
func (o *optimizer) removeUseless(n Node) Node {
	return transform(n, func(n Node) Node {
		x := o.useful(n)
		if x != n {
			o.fired()
		}
		return x
	})
}

func (o *optimizer) useful(n Node) Node {
	switch n := n.(type) {
	case *Filter:
		if isTrue(n.Pred) {
			return n.Input
		}
		if neverTrue(n.Pred) || isEmpty(n.Input) {
			return empty(n)
		}
	case *Scan:
		if neverTrue(n.Filter) {
			return empty(n)
		}
	case *FileScan:
		if neverTrue(n.Filter) {
			return empty(n)
		}
	case *Limit:
		if most, ok := constInt(n.Limit); ok && most == 0 || isEmpty(n.Input) {
			return empty(n)
		}
		if (n.Limit == nil || isNullConst(n.Limit)) && n.Offset == nil {
			return n.Input
		}
	case *Project, *Window:
		if isEmpty(n.Inputs()[0]) {
			return empty(n)
		}
	case *Sort:
		if isEmpty(n.Input) {
			return empty(n)
		}
		if s, ok := n.Input.(*Sort); ok {
			return &Sort{Input: s.Input, Keys: n.Keys}
		}
		if maxOneRow(n.Input) {
			return n.Input
		}
	case *DistinctOn:
		var on colSet
		for _, e := range n.On {
			if c, ok := e.(*Col); ok {
				on = on.add(c.ID)
			}
		}
		if isEmpty(n.Input) {
			return empty(n)
		}
		if uniqueOn(n.Input, notNull(n.Input, on)) {
			return n.Input
		}
	case *Aggregate:
		return o.usefulAggregate(n)
	case *SetOp:
		return usefulSetOp(n)
	case *Join:
		return usefulJoin(n)
	}
	return n
}

// neverTrue reports a condition that is FALSE or NULL, or has such a conjunct.
func neverTrue(e Expr) bool {
	for _, c := range conjuncts(e) {
		if isFalse(c) || isNullConst(c) {
			return true
		}
	}
	return false
}

// empty is no rows with the columns of n.
func empty(n Node) Node { return &Values{Columns: n.Cols()} }

func isEmpty(n Node) bool {
	v, ok := n.(*Values)
	return ok && len(v.Rows) == 0
}

// notNull are the columns of cols that cannot be NULL in n.
func notNull(n Node, cols colSet) colSet {
	var out colSet
	for _, c := range n.Cols() {
		if c.NotNull && cols.has(c.ID) {
			out = out.add(c.ID)
		}
	}
	return out
}

func (o *optimizer) usefulAggregate(n *Aggregate) Node {
	grouped := len(n.Groups) > 0 && n.Sets == nil
	if grouped && isEmpty(n.Input) {
		return empty(n)
	}
	if grouped && len(n.Aggs) == 0 {
		var keys colSet
		for _, g := range n.Groups {
			if c, ok := g.Expr.(*Col); ok {
				keys = keys.add(c.ID)
			}
		}
		if uniqueOn(n.Input, notNull(n.Input, keys)) {
			return &Project{Input: n.Input, Exprs: n.Groups}
		}
	}
	for _, a := range n.Aggs {
		if len(a.OrderBy) == 0 && usesOrder(a.Func.ID) {
			return n
		}
	}
	if in := withoutSort(n.Input); in != n.Input {
		c := *n
		c.Input = in
		return &c
	}
	return n
}

// usesOrder reports an aggregate whose result depends on the order of its rows.
func usesOrder(f catalog.FuncID) bool {
	switch f {
	case catalog.FuncCount, catalog.FuncCountIf, catalog.FuncMin, catalog.FuncMax, catalog.FuncSum,
		catalog.FuncAvg, catalog.FuncBoolAnd, catalog.FuncBoolOr, catalog.FuncMedian:
		return false
	}
	return true
}

// withoutSort drops a sort at the top of a plan.
func withoutSort(n Node) Node {
	switch n := n.(type) {
	case *Sort:
		return n.Input
	case *Project:
		return mapInputs(n, withoutSort)
	case *Filter:
		return mapInputs(n, withoutSort)
	}
	return n
}

func usefulSetOp(n *SetOp) Node {
	l, r := isEmpty(n.Left), isEmpty(n.Right)
	switch {
	case l && r, l && n.Op != Union, r && n.Op == Intersect:
		return empty(n)
	case r && n.All:
		return renamedTo(n.Left, n.Columns)
	case l && n.All && n.Op == Union:
		return renamedTo(n.Right, n.Columns)
	case n.Op == Union && !n.All:
		return mapInputs(n, withoutUnionDistinct)
	}
	return n
}

// withoutUnionDistinct is an input of a UNION that may repeat rows: in a long
// chain of UNIONs each would look at the rows of all before it.
func withoutUnionDistinct(n Node) Node {
	u, ok := n.(*SetOp)
	if !ok || u.Op != Union || u.All {
		return n
	}
	c := *u
	c.All = true
	return &c
}

// renamedTo is n with its columns, by place, called cols.
func renamedTo(n Node, cols []ColDef) Node {
	exprs := make([]NamedExpr, len(cols))
	for i, c := range n.Cols() {
		exprs[i] = NamedExpr{Col: cols[i], Expr: colRef(c)}
	}
	return &Project{Input: n, Exprs: exprs}
}

func usefulJoin(n *Join) Node {
	l, r := isEmpty(n.Left), isEmpty(n.Right)
	never := n.On != nil && neverTrue(n.On) && !n.NullAware
	switch n.Kind {
	case Inner, Semi:
		if l || r || never {
			return empty(n)
		}
	case Left, Single:
		if l {
			return empty(n)
		}
		if r || never {
			return withNulls(n.Left, n.Right.Cols(), n.Cols())
		}
	case Right:
		if r {
			return empty(n)
		}
		if l || never {
			return withNulls(n.Right, n.Left.Cols(), n.Cols())
		}
	case Anti:
		if l {
			return empty(n)
		}
		if r || never {
			return n.Left
		}
	case Mark:
		if l {
			return empty(n)
		}
		if r {
			exprs := append(passed(n.Left.Cols()), NamedExpr{Col: n.Mark, Expr: boolConst(false)})
			return &Project{Input: n.Left, Exprs: exprs}
		}
	}
	return n
}

// withNulls is n with NULL for the columns of missing, all in the order of cols.
func withNulls(n Node, missing, cols []ColDef) Node {
	gone := colSet(nil).addCols(missing)
	exprs := passed(cols)
	for i, c := range cols {
		if gone.has(c.ID) {
			exprs[i].Expr = &Const{sqltype.NullOf(c.Type)}
		}
	}
	return &Project{Input: n, Exprs: exprs}
}
