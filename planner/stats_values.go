package planner

import "math"

// nodeColumn is a column where a node has it.
type nodeColumn struct {
	n  Node
	id ColumnID
}

// valuesOf is how many values an expression has in the rows of n, 0 if that
// is not known. One of a single column has no more than the column.
func (m *costModel) valuesOf(n Node, e Expr) float64 {
	ids := exprCols(e).ids()
	if len(ids) != 1 {
		return 0
	}
	return m.distinctIn(n, ids[0])
}

// distinctIn is how many values a column has in the rows of n, 0 if that is not
// known. What a column's statistics say holds for its table; filters and joins
// leave some of these rows, and of the values those that the rows hit.
func (m *costModel) distinctIn(n Node, id ColumnID) float64 {
	k := nodeColumn{n, id}
	d, ok := m.values[k]
	if !ok {
		d = math.Min(m.countValues(n, id), math.Max(m.rows(n), 1))
		m.values[k] = d
	}
	return d
}

func (m *costModel) countValues(n Node, id ColumnID) float64 {
	switch n := n.(type) {
	case *Scan:
		rows := m.rows(n)
		all := m.reader.Stats(n.Table.ID).Rows
		return m.filteredValues(m.column(id).distinct, id, n.Filter, all, rows)
	case *FileScan:
		rows := m.rows(n)
		return m.filteredValues(m.column(id).distinct, id, n.Filter, math.Max(n.Rows, rows), rows)
	case *CTEScan:
		m.rows(n)
		return m.column(id).distinct
	case *Filter:
		return m.filteredValues(m.distinctIn(n.Input, id), id, n.Pred, m.rows(n.Input), m.rows(n))
	case *Project:
		return m.definedValues(n.Exprs, n.Input, id)
	case *Aggregate:
		return m.definedValues(n.Groups, n.Input, id)
	case *Join:
		return m.joinedValues(n, id)
	case *SetOp:
		for i, c := range n.Columns {
			if c.ID != id {
				continue
			}
			l, r := m.distinctIn(n.Left, n.Left.Cols()[i].ID), m.distinctIn(n.Right, n.Right.Cols()[i].ID)
			if l == 0 || r == 0 {
				return 0
			}
			return l + r
		}
		return 0
	case *With:
		m.rows(n)
		return m.distinctIn(n.Body, id)
	}
	if in := n.Inputs(); len(in) == 1 {
		return m.distinctIn(in[0], id)
	}
	return 0
}

func (m *costModel) definedValues(defs []NamedExpr, in Node, id ColumnID) float64 {
	for _, d := range defs {
		if d.Col.ID == id {
			return m.valuesOf(in, d.Expr)
		}
	}
	return 0
}

// filteredValues are those that a filter leaves of d values in all rows: a
// conjunct that names only the column picks among its values, the others
// among the rows.
func (m *costModel) filteredValues(d float64, id ColumnID, filter Expr, all, rows float64) float64 {
	if d == 0 || filter == nil {
		return d
	}
	var own []Expr
	only := colSet(nil).add(id)
	for _, c := range conjuncts(filter) {
		if cols := exprCols(c); !cols.empty() && cols.within(only) {
			own = append(own, c)
		}
	}
	if len(own) > 0 {
		share := m.selectivityAll(own)
		d, all = math.Max(1, d*share), all*share
	}
	return hitValues(d, all, rows)
}

// joinedValues are those of the rows that find a partner.
func (m *costModel) joinedValues(n *Join, id ColumnID) float64 {
	side, other, kept := n.Left, n.Right, n.Kind == Inner || n.Kind == Semi || n.Kind == Right
	if !colsOf(side).has(id) {
		side, other, kept = n.Right, n.Left, n.Kind == Inner || n.Kind == Left || n.Kind == Single
		if !colsOf(side).has(id) {
			return 0 // a mark
		}
	}
	d := m.distinctIn(side, id)
	if d == 0 || !kept {
		return d
	}
	mine, theirs := colsOf(side), colsOf(other)
	share := 1.0
	for _, c := range n.conditions() {
		k, ok := joinKey(c, mine, theirs)
		if !ok {
			continue
		}
		a, b := m.valuesOf(side, k.Left), m.valuesOf(other, k.Right)
		if a > 0 && b > 0 {
			share = math.Min(share, b/a)
		}
	}
	rows := m.rows(side)
	return hitValues(d, rows, rows*share)
}

// hitValues is how many of d values some of all rows have.
func hitValues(d, all, rows float64) float64 {
	if rows >= all || d == 0 {
		return d
	}
	return math.Max(1, d*(1-math.Pow(1-rows/all, all/d)))
}

// keyShare is the share of all pairs of rows that are equal in a key which has l
// and r values in the two tables, and lnow and rnow (0: unknown) in the rows
// that are joined. The values of the side with fewer are taken to be among
// those of the other, also after that one was filtered: of a calendar of two
// centuries a query asks for days on which something was sold.
func keyShare(l, r, lnow, rnow float64) float64 {
	if lnow == 0 {
		lnow = l
	}
	if rnow == 0 {
		rnow = r
	}
	return 1 / math.Max(math.Max(math.Min(l, r), math.Max(lnow, rnow)), 1)
}
