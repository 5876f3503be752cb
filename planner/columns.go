package planner

import "math/bits"

// colSet is a set of columns, a bit each.
type colSet []uint64

func (s colSet) has(id ColumnID) bool {
	w := int(id >> 6)
	return w < len(s) && s[w]>>(uint(id)&63)&1 != 0
}

// add puts id in, and gives the set, which may have moved.
func (s colSet) add(id ColumnID) colSet {
	w := int(id >> 6)
	for len(s) <= w {
		s = append(s, 0)
	}
	s[w] |= 1 << (uint(id) & 63)
	return s
}

// addAll puts all of t in.
func (s colSet) addAll(t colSet) colSet {
	for len(s) < len(t) {
		s = append(s, 0)
	}
	for i, w := range t {
		s[i] |= w
	}
	return s
}

func (s colSet) addCols(cols []ColDef) colSet {
	for i := range cols {
		s = s.add(cols[i].ID)
	}
	return s
}

func (s colSet) addExprs(es []NamedExpr) colSet {
	for i := range es {
		s = s.addExpr(es[i].Expr)
	}
	return s
}

// addExpr puts in the columns that e names, in the plans of its subqueries too.
func (s colSet) addExpr(e Expr) colSet {
	if e == nil {
		return s
	}
	if c, ok := e.(*Col); ok { // most are
		return s.add(c.ID)
	}
	walkExpr(e, func(e Expr) bool {
		switch e := e.(type) {
		case *Col:
			s = s.add(e.ID)
		case *Subquery:
			s = s.addAll(freeCols(e.Plan))
		}
		return true
	})
	return s
}

func (s colSet) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

func (s colSet) meets(t colSet) bool {
	for i := range min(len(s), len(t)) {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

// within reports that all of s is in t.
func (s colSet) within(t colSet) bool {
	for i, w := range s {
		if i < len(t) {
			w &^= t[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// and and minus are new sets.
func (s colSet) and(t colSet) colSet {
	out := make(colSet, min(len(s), len(t)))
	for i := range out {
		out[i] = s[i] & t[i]
	}
	return out
}

func (s colSet) minus(t colSet) colSet {
	out := append(colSet(nil), s...)
	for i := range min(len(s), len(t)) {
		out[i] &^= t[i]
	}
	return out
}

// ids are the members in rising order.
func (s colSet) ids() []ColumnID {
	var out []ColumnID
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, ColumnID(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return out
}

func colsOf(n Node) colSet { return colSet(nil).addCols(n.Cols()) }

func exprCols(e Expr) colSet { return colSet(nil).addExpr(e) }

// freeCols are the columns that a plan names and none of its nodes makes: those
// of an outer query.
func freeCols(n Node) colSet {
	var used colSet
	var visit func(Node)
	visit = func(n Node) {
		eachExpr(n, func(e Expr) { used = used.addExpr(e) })
		for _, in := range n.Inputs() {
			visit(in)
		}
	}
	visit(n)
	return used.minus(madeCols(n))
}

// madeCols are the columns that a plan's nodes give each other.
func madeCols(n Node) colSet {
	made := colSet(nil).addCols(n.Cols()).addCols(ownCols(n))
	for _, in := range n.Inputs() {
		made = made.addAll(madeCols(in))
	}
	return made
}

// ownCols are columns that the expressions of a node may name beyond those of
// its inputs.
func ownCols(n Node) []ColDef {
	switch n := n.(type) {
	case *Scan:
		return n.Fetch
	case *FileScan:
		return n.Fetch
	case *Join:
		if n.Kind == Semi || n.Kind == Anti || n.Kind == Mark {
			return n.Right.Cols()
		}
	case *Insert:
		cols := n.Columns
		if n.Conflict != nil {
			cols = append(append(cols[:len(cols):len(cols)], n.Conflict.Columns...), n.Conflict.Excluded...)
		}
		return cols
	case *Update:
		return n.Columns
	case *Delete:
		return n.Columns
	case *Merge:
		return n.Columns
	}
	return nil
}

// passed are columns handed through as they are.
func passed(cols []ColDef) []NamedExpr {
	out := make([]NamedExpr, len(cols))
	for i, c := range cols {
		out[i] = NamedExpr{Col: c, Expr: colRef(c)}
	}
	return out
}

// colRefs name all of some columns.
func colRefs(cols []ColDef) []Expr {
	out := make([]Expr, len(cols))
	for i, c := range cols {
		out[i] = colRef(c)
	}
	return out
}

func colRef(c ColDef) *Col { return &Col{ID: c.ID, Name: c.Name, T: c.Type} }

// isPass reports that a definition hands a column through under its own number.
func isPass(e NamedExpr) bool {
	c, ok := e.Expr.(*Col)
	return ok && c.ID == e.Col.ID
}

// keepCols is n with exactly these columns, in this order.
func keepCols(n Node, cols []ColDef) Node {
	if sameCols(n.Cols(), cols) {
		return n
	}
	return &Project{Input: n, Exprs: passed(cols)}
}

func sameCols(a, b []ColDef) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].ID != b[i].ID {
			return false
		}
	}
	return true
}

// replacement says what stands for a column from now on.
type replacement map[ColumnID]Expr

// in puts the replacements into e.
func (r replacement) in(e Expr) Expr {
	if e == nil || len(r) == 0 {
		return e
	}
	return mapExpr(e, func(e Expr) Expr {
		switch e := e.(type) {
		case *Col:
			if x, ok := r[e.ID]; ok {
				return x
			}
		case *Subquery:
			if p := r.inPlan(e.Plan); p != e.Plan {
				c := *e
				c.Plan = p
				return &c
			}
		}
		return e
	})
}

// column is what a column is replaced by, under its own name.
func (r replacement) column(c ColDef) ColDef {
	if x, ok := r[c.ID].(*Col); ok {
		c.ID, c.Type = x.ID, x.T
	}
	return c
}

func (r replacement) inPlan(n Node) Node {
	return transform(n, func(n Node) Node { return mapNodeExprs(n, r.in) })
}

// definitions are what a Project's columns stand for.
func definitions(es []NamedExpr) replacement {
	r := make(replacement, len(es))
	for _, e := range es {
		if !isPass(e) {
			r[e.Col.ID] = e.Expr
		}
	}
	return r
}
