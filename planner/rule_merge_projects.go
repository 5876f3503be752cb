package planner

// merge_projects makes one Project of two, and drops one that changes nothing.
//
// It pays because derived tables and views come with Projects of their own,
// which keep the rules behind from seeing the joins below.
//
// It would be wrong to repeat a volatile expression
// (SELECT x - x FROM (SELECT random() AS x) is 0) and would not pay to repeat
// one that is long, so a definition that is used twice is only carried over
// when it is a column or a constant.
func (o *optimizer) mergeProjects(n Node) Node {
	return transform(n, func(n Node) Node {
		p, ok := n.(*Project)
		if !ok {
			return n
		}
		if in, ok := p.Input.(*Project); ok && mergeable(p, in) {
			o.fired()
			p = mergeInto(p, in)
		}
		if sameProject(p) {
			o.fired()
			return p.Input
		}
		return p
	})
}

// sameProject reports a Project that hands through its input as it is.
func sameProject(p *Project) bool {
	for _, e := range p.Exprs {
		if !isPass(e) {
			return false
		}
	}
	return sameCols(p.Cols(), p.Input.Cols())
}

func mergeInto(p, in *Project) *Project {
	defs := definitions(in.Exprs)
	exprs := make([]NamedExpr, len(p.Exprs))
	for i, e := range p.Exprs {
		exprs[i] = NamedExpr{Col: e.Col, Expr: defs.in(e.Expr)}
	}
	return &Project{Input: in.Input, Exprs: exprs}
}

// mergeable reports that the definitions of in can be put into p.
func mergeable(p, in *Project) bool {
	var once, twice colSet
	for _, e := range p.Exprs {
		walkExpr(e.Expr, func(x Expr) bool {
			if c, ok := x.(*Col); ok {
				if once.has(c.ID) {
					twice = twice.add(c.ID)
				}
				once = once.add(c.ID)
			}
			return true
		})
	}
	for _, e := range in.Exprs {
		if isCol(e.Expr) || isFixed(e.Expr) || !once.has(e.Col.ID) {
			continue
		}
		if twice.has(e.Col.ID) || isVolatile(e.Expr) {
			return false
		}
	}
	return true
}
