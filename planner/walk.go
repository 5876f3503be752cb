package planner

import "fmt"

// The walks over expressions stop at a Subquery: its X is visited, its Plan is
// not. Whoever needs the plan asks for it at the Subquery.

// operands calls f with each operand of e, in order.
func operands(e Expr, f func(Expr)) {
	switch e := e.(type) {
	case *Const, *Param, *Col, *literal:
	case *Call:
		each(e.Args, f)
	case *Cast:
		f(e.X)
	case *Cmp:
		f(e.L)
		f(e.R)
	case *And:
		each(e.Args, f)
	case *Or:
		each(e.Args, f)
	case *Not:
		f(e.X)
	case *IsNull:
		f(e.X)
	case *In:
		f(e.X)
		each(e.List, f)
	case *Case:
		for i := range e.Whens {
			f(e.Whens[i].Cond)
			f(e.Whens[i].Then)
		}
		f(e.Else)
	case *Subquery:
		each(e.X, f)
	case *groupingCall: // it and literal are there only while a statement is bound
		each(e.args, f)
	default:
		panic(fmt.Sprintf("planner: no operands for %T", e))
	}
}

func each(es []Expr, f func(Expr)) {
	for _, e := range es {
		f(e)
	}
}

// walkExpr calls f with e and, where f says so, with what is below it. A nil
// expression has nothing to visit.
func walkExpr(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	operands(e, func(x Expr) { walkExpr(x, f) })
}

// mapExpr is e with f applied to it and all below, operands first. What f does
// not change is shared with e; nil stays nil.
func mapExpr(e Expr, f func(Expr) Expr) Expr {
	if e == nil {
		return nil
	}
	return f(mapOperands(e, func(x Expr) Expr { return mapExpr(x, f) }))
}

// mapOperands is e with f applied to each operand; e itself if none changes.
func mapOperands(e Expr, f func(Expr) Expr) Expr {
	switch e := e.(type) {
	case *Const, *Param, *Col:
	case *Call:
		if args, changed := mapList(e.Args, f); changed {
			c := *e
			c.Args = args
			return &c
		}
	case *Cast:
		if x := f(e.X); x != e.X {
			c := *e
			c.X = x
			return &c
		}
	case *Cmp:
		if l, r := f(e.L), f(e.R); l != e.L || r != e.R {
			return &Cmp{Op: e.Op, L: l, R: r}
		}
	case *And:
		if args, changed := mapList(e.Args, f); changed {
			return &And{Args: args}
		}
	case *Or:
		if args, changed := mapList(e.Args, f); changed {
			return &Or{Args: args}
		}
	case *Not:
		if x := f(e.X); x != e.X {
			return &Not{X: x}
		}
	case *IsNull:
		if x := f(e.X); x != e.X {
			return &IsNull{X: x}
		}
	case *In:
		x := f(e.X)
		if list, changed := mapList(e.List, f); changed || x != e.X {
			return &In{X: x, List: list}
		}
	case *Case:
		return mapCase(e, f)
	case *Subquery:
		if xs, changed := mapList(e.X, f); changed {
			c := *e
			c.X = xs
			return &c
		}
	default:
		panic(fmt.Sprintf("planner: no operands for %T", e))
	}
	return e
}

func mapCase(e *Case, f func(Expr) Expr) Expr {
	changed := false
	whens := make([]When, len(e.Whens))
	for i, w := range e.Whens {
		whens[i] = When{Cond: f(w.Cond), Then: f(w.Then)}
		changed = changed || whens[i] != w
	}
	other := f(e.Else)
	if !changed && other == e.Else {
		return e
	}
	return &Case{Whens: whens, Else: other, T: e.T}
}

// ---- plans ----

// walk calls f with n and, where f says so, with the nodes that it reads, left
// to right. Plans in expressions are not visited.
func walk(n Node, f func(Node) bool) {
	if !f(n) {
		return
	}
	for _, in := range n.Inputs() {
		walk(in, f)
	}
}

// transform is n with f applied to it and all nodes below, inputs first. What
// f does not change is shared with n.
func transform(n Node, f func(Node) Node) Node {
	return f(mapInputs(n, func(in Node) Node { return transform(in, f) }))
}

// mapInputs is n with f applied to each input; n itself if none changes.
func mapInputs(n Node, f func(Node) Node) Node {
	in := n.Inputs()
	changed := false
	for i, old := range in {
		in[i] = f(old)
		changed = changed || in[i] != old
	}
	if !changed {
		return n
	}
	return n.WithInputs(in)
}

// eachExpr calls f with every expression that n itself holds, none nil.
func eachExpr(n Node, f func(Expr)) {
	editor := exprEditor{f: func(e Expr) Expr { f(e); return e }}
	editor.node(n)
}

// mapNodeExprs is n with f applied to every expression that n itself holds; n
// itself if none changes.
func mapNodeExprs(n Node, f func(Expr) Expr) Node {
	editor := exprEditor{f: f}
	return editor.node(n)
}
