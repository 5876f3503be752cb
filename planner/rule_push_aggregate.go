package planner

import (
	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// push_aggregate groups the larger side of a join before it, by what the join
// and the groups above need of it, and adds up the parts above:
//
//	aggregate by: c_name  sum(s_price)        aggregate by: c_name  sum(part)
//	  join s_customer = c_customer      ─▶      join s_customer = c_customer
//	    scan sales                                aggregate by: s_customer  part := sum(s_price)
//	    scan customer                               scan sales
//	                                              scan customer
//
// It pays where the join drops few rows and many have the same key: less is
// looked up and carried through the join, and keys of text, which come from
// the other side, are compared once for each part instead of for each row.
//
// It would be wrong for an average, which is none of averages, for a DISTINCT, and
// for an aggregate whose argument comes from the other side. That a row of the
// side finds several partners does no harm: the sum of its part comes as often
// as each of its rows would have come.
func (o *optimizer) pushAggregate(n Node) Node {
	return transform(n, func(n Node) Node {
		a, ok := n.(*Aggregate)
		if !ok || a.Sets != nil || len(a.Groups) == 0 || len(a.Aggs) == 0 {
			return n
		}
		for _, g := range a.Aggs {
			if _, ok := partOf(g.Func.ID); !ok || g.Distinct || g.Filter != nil || len(g.OrderBy) > 0 {
				return n
			}
		}
		x := o.groupedBefore(a)
		if x == nil {
			return n
		}
		o.fired()
		return x
	})
}

// partOf is the aggregate that puts together the parts of another.
func partOf(f catalog.FuncID) (string, bool) {
	switch f {
	case catalog.FuncCount, catalog.FuncSum:
		return "sum", true
	case catalog.FuncMin:
		return "min", true
	case catalog.FuncMax:
		return "max", true
	}
	return "", false
}

// The grouping must leave a small share of the side's rows, of which the join
// must not have left few by itself; and there must be enough of them.
const (
	pushedShare = 1.0 / 8
	joinedShare = 1.0 / 2
	minPushed   = 10000
)

// groupedBefore is n with a side of its join grouped; nil if it cannot or
// should not be.
func (o *optimizer) groupedBefore(n *Aggregate) Node {
	defs, in := replacement{}, n.Input
	for {
		p, ok := in.(*Project)
		if !ok {
			break
		}
		below := definitions(p.Exprs)
		for id, e := range defs {
			defs[id] = below.in(e)
		}
		for id, e := range below {
			defs[id] = e
		}
		in = p.Input
	}
	j, ok := in.(*Join)
	if !ok || j.Kind != Inner || j.Dependent || j.Lookup {
		return nil
	}
	groups := make([]NamedExpr, len(n.Groups))
	for i, g := range n.Groups {
		groups[i] = NamedExpr{Col: g.Col, Expr: defs.in(g.Expr)}
		if isVolatile(groups[i].Expr) {
			return nil
		}
	}
	m := o.costs()
	side, right := j.Left, m.rows(j.Right) > m.rows(j.Left)
	if right {
		side = j.Right
	}
	cols := colsOf(side)
	var need colSet
	for _, g := range groups {
		need = need.addExpr(g.Expr)
	}
	for _, c := range j.conditions() {
		if isVolatile(c) {
			return nil
		}
		need = need.addExpr(c)
	}
	before := &Aggregate{Input: side}
	for _, c := range side.Cols() {
		if need.has(c.ID) {
			before.Groups = append(before.Groups, NamedExpr{Col: c, Expr: colRef(c)})
		}
	}
	for _, a := range n.Aggs {
		part := a
		part.Args = make([]Expr, len(a.Args))
		for i, e := range a.Args {
			part.Args[i] = defs.in(e)
			if !exprCols(part.Args[i]).within(cols) || !harmless(part.Args[i]) {
				return nil
			}
		}
		part.Col = o.freshCols([]ColDef{a.Col})[0]
		before.Aggs = append(before.Aggs, part)
	}
	rows := m.rows(side)
	if len(before.Groups) == 0 || rows < minPushed || m.rows(before) > pushedShare*rows || m.rows(j) < joinedShare*rows {
		return nil
	}
	sides := []Node{before, j.Right}
	if right {
		sides = []Node{j.Left, before}
	}
	return o.parts(n, groups, before.Aggs, j.WithInputs(sides))
}

// harmless reports an argument that can be computed for rows that the join
// drops, where a division by zero or a number without room would be an error that
// the query has not: of arithmetic, decimals whose type has room for any result.
func harmless(e Expr) bool {
	ok := true
	walkExpr(e, func(e Expr) bool {
		switch e := e.(type) {
		case *Col, *Const:
		case *Cast:
			t, common := sqltype.CommonType(e.X.Type(), e.To)
			ok = ok && common && t == e.To
		case *Call:
			ok = ok && (e.Func.ID == catalog.FuncAdd || e.Func.ID == catalog.FuncSub || e.Func.ID == catalog.FuncMul) &&
				e.Type().Kind == sqltype.KindDecimal && e.Type().Precision < sqltype.MaxPrecision
		default:
			ok = false
		}
		return ok
	})
	return ok
}

// parts groups a join whose rows have parts of n's aggregates, and gives these
// their types again: a sum of counts is wider than a count.
func (o *optimizer) parts(n *Aggregate, groups []NamedExpr, parts []Agg, in Node) Node {
	out := &Aggregate{Input: in, Groups: groups}
	exprs := make([]NamedExpr, 0, len(n.Groups)+len(n.Aggs))
	for _, g := range groups {
		exprs = append(exprs, NamedExpr{Col: g.Col, Expr: colRef(g.Col)})
	}
	for i, a := range n.Aggs {
		name, _ := partOf(a.Func.ID)
		r, err := catalog.ResolveAggregate(name, []sqltype.Type{parts[i].Col.Type})
		if err != nil {
			return nil
		}
		whole := Agg{Col: o.newColumn(a.Col.Name, r.Result, mayBeNull), Func: r.Func, Args: []Expr{colRef(parts[i].Col)}}
		out.Aggs = append(out.Aggs, whole)
		var e Expr = colRef(whole.Col)
		if r.Result != a.Col.Type {
			e = &Cast{X: e, To: a.Col.Type}
		}
		exprs = append(exprs, NamedExpr{Col: a.Col, Expr: e})
	}
	return &Project{Input: out, Exprs: exprs}
}
