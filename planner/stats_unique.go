package planner

// uniqueOn reports that no two rows of n agree in all of cols, NULLs apart; no
// columns at all: n has at most one row.
func uniqueOn(n Node, cols colSet) bool {
	switch n := n.(type) {
	case *Scan:
		return scanUnique(n, cols)
	case *Values:
		return len(n.Rows) <= 1
	case *Filter:
		var fixed colSet
		for _, c := range conjuncts(n.Pred) {
			if e, ok := c.(*Cmp); ok && e.Op == Eq && isCol(e.L) && isFixed(e.R) {
				fixed = fixed.add(e.L.(*Col).ID)
			}
		}
		return uniqueOn(n.Input, fixed.addAll(cols))
	case *Project:
		below := colSet(nil)
		for _, e := range n.Exprs {
			if c, ok := e.Expr.(*Col); ok && cols.has(e.Col.ID) {
				below = below.add(c.ID)
			}
		}
		return uniqueOn(n.Input, below)
	case *Sort:
		return uniqueOn(n.Input, cols)
	case *Window:
		return uniqueOn(n.Input, cols)
	case *DistinctOn:
		on := colSet(nil)
		for _, e := range n.On {
			on = on.addExpr(e)
			if !isCol(e) {
				return uniqueOn(n.Input, cols)
			}
		}
		return on.within(cols) || uniqueOn(n.Input, cols)
	case *Limit:
		most, ok := constInt(n.Limit)
		return ok && most <= 1 || uniqueOn(n.Input, cols)
	case *TopN:
		most, ok := constInt(n.Limit)
		return ok && most <= 1 || uniqueOn(n.Input, cols)
	case *Aggregate:
		if n.Sets != nil {
			return false
		}
		for _, g := range n.Groups {
			if !cols.has(g.Col.ID) {
				return false
			}
		}
		return true
	case *SetOp:
		if n.Op == Union && n.All || n.All {
			return false
		}
		return colSet(nil).addCols(n.Columns).within(cols)
	case *Join:
		return joinUnique(n, cols)
	case *With:
		return uniqueOn(n.Body, cols)
	}
	return false
}

// maxOneRow reports a plan that cannot have two rows.
func maxOneRow(n Node) bool { return uniqueOn(n, nil) }

// scanUnique looks for a unique index whose columns are all in cols or fixed by
// the filter.
func scanUnique(n *Scan, cols colSet) bool {
	has := make([]bool, len(n.Table.Columns))
	note := func(defs []ColDef, source []int, in colSet) bool {
		for i, c := range defs {
			if in.has(c.ID) {
				if source[i] == RowIDColumn {
					return true
				}
				has[source[i]] = true
			}
		}
		return false
	}
	var fixed colSet
	for _, c := range conjuncts(n.Filter) {
		if e, ok := c.(*Cmp); ok && e.Op == Eq && isCol(e.L) && isFixed(e.R) {
			fixed = fixed.add(e.L.(*Col).ID)
		}
	}
	if note(n.Columns, n.Source, cols) || note(n.Columns, n.Source, fixed) || note(n.Fetch, n.FetchSource, fixed) {
		return true
	}
next:
	for _, ix := range n.Table.Indexes {
		if !ix.Unique {
			continue
		}
		for _, k := range ix.Keys {
			if !has[k.Column] {
				continue next
			}
		}
		return true
	}
	return false
}

// joinUnique: a row of one side that meets one row at most of the other stays
// as unique as it was.
func joinUnique(n *Join, cols colSet) bool {
	if n.Kind == Semi || n.Kind == Anti || n.Kind == Mark || n.Kind == Single {
		return uniqueOn(n.Left, cols.and(colsOf(n.Left)))
	}
	left, right := cols.and(colsOf(n.Left)), cols.and(colsOf(n.Right))
	l, r := uniqueOn(n.Left, left), uniqueOn(n.Right, right)
	if l && r {
		// A full join of a row with a row that it does not meet has two.
		return n.Kind != Full || !left.empty() || !right.empty()
	}
	on := allOf(n.conditions())
	switch n.Kind {
	case Inner:
		return l && uniqueBy(n.Right, on) || r && uniqueBy(n.Left, on)
	case Left:
		return l && uniqueBy(n.Right, on)
	case Right:
		return r && uniqueBy(n.Left, on)
	}
	return false
}

// conditions are the keys as comparisons, and the rest of the condition.
func (n *Join) conditions() []Expr {
	if len(n.Keys) == 0 {
		return conjuncts(n.On)
	}
	out := make([]Expr, 0, len(n.Keys)+1)
	for _, k := range n.Keys {
		op := Eq
		if k.NullSafe {
			op = NotDistinct
		}
		out = append(out, &Cmp{Op: op, L: k.Left, R: k.Right})
	}
	return append(out, conjuncts(n.On)...)
}
