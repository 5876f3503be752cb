package planner

import "fmt"

// exprEditor applies f to the expressions of one node. It is the one place
// that knows where nodes hold them; changed says whether f made a new one.
type exprEditor struct {
	f       func(Expr) Expr
	changed bool
}

// node is n with f applied, n itself if nothing changed.
func (x *exprEditor) node(n Node) Node {
	c := x.copyOf(n)
	if !x.changed {
		return n
	}
	return c
}

// copyOf may give n for a node without expressions.
func (x *exprEditor) copyOf(n Node) Node {
	switch n := n.(type) {
	case *CTEScan, *SetOp, *With:
		return n
	case *Scan:
		return x.scan(n)
	case *FileScan:
		c := *n
		c.Filter = x.expr(n.Filter)
		return &c
	case *Values:
		c := *n
		c.Rows = make([][]Expr, len(n.Rows))
		for i := range n.Rows {
			c.Rows[i] = x.list(n.Rows[i])
		}
		return &c
	case *TableFunc:
		c := *n
		c.Args = x.list(n.Args)
		return &c
	case *Unnest:
		c := *n
		c.Lists = x.list(n.Lists)
		return &c
	case *Filter:
		return &Filter{Input: n.Input, Pred: x.expr(n.Pred)}
	case *Project:
		return &Project{Input: n.Input, Exprs: x.named(n.Exprs)}
	case *Join:
		return x.join(n)
	case *Aggregate:
		return x.aggregate(n)
	case *DistinctOn:
		return &DistinctOn{Input: n.Input, On: x.list(n.On)}
	case *Sort:
		return &Sort{Input: n.Input, Keys: x.keys(n.Keys)}
	case *Limit:
		return &Limit{Input: n.Input, Limit: x.expr(n.Limit), Offset: x.expr(n.Offset)}
	case *TopN:
		return &TopN{Input: n.Input, Keys: x.keys(n.Keys), Limit: x.expr(n.Limit), Offset: x.expr(n.Offset)}
	case *Window:
		return x.window(n)
	case *Insert:
		return x.insert(n)
	case *Update:
		c := *n
		c.Checks, c.Returning = x.checks(n.Checks), x.named(n.Returning)
		return &c
	case *Delete:
		c := *n
		c.Returning = x.named(n.Returning)
		return &c
	case *Merge:
		c := *n
		c.Checks, c.Returning = x.checks(n.Checks), x.named(n.Returning)
		return &c
	}
	panic(fmt.Sprintf("planner: no expressions for %T", n))
}

func (x *exprEditor) expr(e Expr) Expr {
	if e == nil {
		return nil
	}
	r := x.f(e)
	x.changed = x.changed || r != e
	return r
}

func (x *exprEditor) list(es []Expr) []Expr {
	out, _ := mapList(es, x.expr)
	return out
}

func (x *exprEditor) named(es []NamedExpr) []NamedExpr {
	if es == nil {
		return nil
	}
	out := make([]NamedExpr, len(es))
	for i, e := range es {
		out[i] = NamedExpr{Col: e.Col, Expr: x.expr(e.Expr)}
	}
	return out
}

func (x *exprEditor) keys(keys []SortKey) []SortKey {
	out := make([]SortKey, len(keys))
	for i, k := range keys {
		out[i] = k
		out[i].Expr = x.expr(k.Expr)
	}
	return out
}

func (x *exprEditor) checks(checks []Check) []Check {
	out := make([]Check, len(checks))
	for i, c := range checks {
		out[i] = Check{Name: c.Name, Pred: x.expr(c.Pred)}
	}
	return out
}

func (x *exprEditor) scan(n *Scan) Node {
	c := *n
	c.Filter = x.expr(n.Filter)
	if n.AsOf != nil {
		c.AsOf = &AsOf{Time: n.AsOf.Time, At: x.expr(n.AsOf.At)}
	}
	if n.Access == nil {
		return &c
	}
	c.Access = x.access(n.Access)
	return &c
}

func (x *exprEditor) access(a *Access) *Access {
	c := *a
	c.Ranges = make([]KeyRange, len(a.Ranges))
	for i, r := range a.Ranges {
		r.Prefix = x.list(r.Prefix)
		r.Lo, r.Hi = x.expr(r.Lo), x.expr(r.Hi)
		c.Ranges[i] = r
	}
	parts := func(in []*Access) (out []*Access) {
		for _, p := range in {
			out = append(out, x.access(p))
		}
		return out
	}
	c.Union, c.Both = parts(a.Union), parts(a.Both)
	return &c
}

func (x *exprEditor) join(n *Join) Node {
	c := *n
	c.On = x.expr(n.On)
	c.Keys = make([]JoinKey, len(n.Keys))
	for i, k := range n.Keys {
		c.Keys[i] = JoinKey{Left: x.expr(k.Left), Right: x.expr(k.Right), NullSafe: k.NullSafe}
	}
	return &c
}

func (x *exprEditor) aggregate(n *Aggregate) Node {
	c := *n
	c.Groups = x.named(n.Groups)
	c.Aggs = make([]Agg, len(n.Aggs))
	for i, a := range n.Aggs {
		a.Args, a.Filter, a.OrderBy = x.list(a.Args), x.expr(a.Filter), x.keys(a.OrderBy)
		c.Aggs[i] = a
	}
	return &c
}

func (x *exprEditor) window(n *Window) Node {
	c := *n
	c.Partition, c.Order = x.list(n.Partition), x.keys(n.Order)
	c.Funcs = make([]WindowFunc, len(n.Funcs))
	for i, w := range n.Funcs {
		w.Args, w.Filter = x.list(w.Args), x.expr(w.Filter)
		w.Frame.StartOffset, w.Frame.EndOffset = x.expr(w.Frame.StartOffset), x.expr(w.Frame.EndOffset)
		c.Funcs[i] = w
	}
	return &c
}

func (x *exprEditor) insert(n *Insert) Node {
	c := *n
	c.Checks, c.Returning = x.checks(n.Checks), x.named(n.Returning)
	if n.Conflict == nil {
		return &c
	}
	k := *n.Conflict
	k.Where = x.expr(k.Where)
	k.Set = make([]SetColumn, len(n.Conflict.Set))
	for i, s := range n.Conflict.Set {
		k.Set[i] = SetColumn{Column: s.Column, Expr: x.expr(s.Expr)}
	}
	c.Conflict = &k
	return &c
}
