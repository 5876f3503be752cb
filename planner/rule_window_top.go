package planner

import "github.com/gpusql/gpusql/catalog"

// maxWindowTop is up to how many rows of a partition are told from the others
// while they are read.
const maxWindowTop = 64

// WindowTopRows is how many times as many rows as are asked for a partition must
// have, on average.
const WindowTopRows = 8

// window_top tells a window that only the first rows of each partition are asked
// for: of
//
//	SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM t) WHERE n <= 2
//
// rows that follow two others of their k need not be sorted. The condition stays.
//
// It pays where partitions are large: most rows are dropped when they are read.
//
// It would be wrong for a window that has another function too, such as a sum,
// which needs all rows; for dense_rank(), of which the second row may be the
// hundredth; and for n > 2.
func (o *optimizer) windowTop(n Node) Node {
	return transform(n, func(n Node) Node {
		f, ok := n.(*Filter)
		if !ok {
			return n
		}
		w, ok := f.Input.(*Window)
		if !ok || len(w.Order) == 0 {
			return n
		}
		top := w.asked(conjuncts(f.Pred))
		if top.Rows <= 0 || top.Rows > maxWindowTop {
			return n
		}
		m := o.costs()
		if rows := m.rows(w.Input); rows < WindowTopRows*float64(top.Rows)*m.groups(w.Partition, w.Input) {
			return n
		}
		o.fired()
		c := *w
		c.Top = top
		return &Filter{Input: &c, Pred: f.Pred}
	})
}

// asked is how many rows of each partition meet conditions on the row's place;
// none where the functions need more rows than these.
func (n *Window) asked(conds []Expr) WindowTop {
	var best WindowTop
	for _, f := range n.Funcs {
		switch f.Func.ID {
		case catalog.FuncRowNumber, catalog.FuncRank, catalog.FuncDenseRank:
		default:
			return WindowTop{}
		}
		if f.Func.ID == catalog.FuncDenseRank {
			continue
		}
		for _, c := range conds {
			most, ok := mostOf(c, f.Col.ID)
			if ok && (best.Rows == 0 || most < best.Rows) {
				best = WindowTop{Rows: most, Ties: f.Func.ID == catalog.FuncRank}
			}
		}
	}
	return best
}

// mostOf is the largest integer that a condition lets a column have.
func mostOf(cond Expr, id ColumnID) (int64, bool) {
	c, ok := cond.(*Cmp)
	if !ok {
		return 0, false
	}
	if col, ok := c.L.(*Col); !ok || col.ID != id {
		return 0, false
	}
	most, ok := constInt(c.R)
	switch c.Op {
	case Eq, Le:
		return most, ok
	case Lt:
		return most - 1, ok
	}
	return 0, false
}
