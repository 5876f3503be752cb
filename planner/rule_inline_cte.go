package planner

// inline_cte puts the definition of a CTE where it is read, if that is in one
// place, and drops one that nobody reads.
//
// It pays because filters and unused columns then reach into the definition,
// and nothing has to be kept.
//
// It would be wrong with two readers and a volatile definition: in
// WITH w AS (SELECT random() AS r) SELECT * FROM w a, w b WHERE a.r = b.r
// both see one number; and it would not pay, as it would be computed twice. A
// recursive query's step reads again in each round.
func (o *optimizer) inlineCTE(n Node) Node {
	return transform(n, func(n Node) Node {
		w, ok := n.(*With)
		if !ok || w.Step != nil {
			return n
		}
		readers, again := 0, false
		var visit func(Node, bool)
		visit = func(n Node, inStep bool) {
			switch n := n.(type) {
			case *CTEScan:
				if n.CTE == w.CTE {
					readers++
					again = again || inStep
				}
			case *With:
				if n.Step != nil {
					visit(n.Def, inStep)
					visit(n.Step, true)
					visit(n.Body, inStep)
					return
				}
			}
			for _, in := range n.Inputs() {
				visit(in, inStep)
			}
		}
		visit(w.Body, false)
		if readers > 1 || again {
			return n
		}
		o.fired()
		return transform(w.Body, func(n Node) Node {
			if s, ok := n.(*CTEScan); ok && s.CTE == w.CTE {
				return s.over(w.Def)
			}
			return n
		})
	})
}

// over is what a CTEScan reads, computed here.
func (n *CTEScan) over(def Node) Node {
	cols := def.Cols()
	exprs := make([]NamedExpr, len(n.Columns))
	for i, c := range n.Columns {
		exprs[i] = NamedExpr{Col: c, Expr: colRef(cols[n.Source[i]])}
	}
	return &Project{Input: def, Exprs: exprs}
}
