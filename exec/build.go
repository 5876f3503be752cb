package exec

import (
	"fmt"

	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// buildTop makes the operator of a whole plan: one that gathers what several
// workers give when the input is large and its order does not matter.
func (w *worker) buildTop(n planner.Node) (Operator, error) {
	if w.q.crosses(n) || ordered(n) || w.q.width(n) <= 1 {
		return w.build(n)
	}
	return newExchange(w, n), nil
}

// ordered reports a node whose rows come in an order that must be kept, or
// that one worker gives whatever happens.
func ordered(n planner.Node) bool {
	switch n := n.(type) {
	case *planner.Sort, *planner.TopN, *planner.Limit, *planner.Values, *planner.TableFunc,
		*planner.Insert, *planner.Update, *planner.Delete, *planner.Merge, *planner.DistinctOn, *planner.Window:
		return true
	case *planner.Scan:
		return n.Access != nil
	case *planner.Project, *planner.Filter, *planner.Unnest:
		return ordered(n.Inputs()[0])
	case *planner.With:
		return ordered(n.Body)
	}
	return false
}

// build makes a worker's operator for a node.
func (w *worker) build(n planner.Node) (Operator, error) {
	if w.q.crosses(n) {
		return w.crossing(n)
	}
	op, err := w.operator(n)
	if err != nil {
		return nil, err
	}
	if s := w.q.env.Stats; s != nil {
		op = &counted{op, s.Node(n)}
	}
	return op, nil
}

// operator is the closed set of nodes.
func (w *worker) operator(n planner.Node) (Operator, error) {
	switch n := n.(type) {
	case *planner.Scan:
		if n.Access != nil {
			return newIndexScan(w, n)
		}
		return newScan(w, n)
	case *planner.FileScan:
		return newFileScan(w, n)
	case *planner.Values:
		return newValues(w, n)
	case *planner.TableFunc:
		return newTableFunc(w, n)
	case *planner.Unnest:
		return newUnnest(w, n)
	case *planner.Filter:
		return newFilter(w, n)
	case *planner.Project:
		return newProject(w, n)
	case *planner.Limit:
		return newLimit(w, n)
	case *planner.With:
		return newWith(w, n)
	case *planner.CTEScan:
		return newCTEScan(w, n)
	case *planner.Join:
		return newJoin(w, n)
	case *planner.Aggregate:
		return newAggregate(w, n)
	case *planner.DistinctOn:
		return newDistinctOn(w, n)
	case *planner.Sort:
		return newSort(w, n)
	case *planner.TopN:
		return newTopN(w, n)
	case *planner.SetOp:
		return newSetOp(w, n)
	case *planner.Window:
		return newWindow(w, n)
	case *planner.Insert:
		return newInsert(w, n)
	case *planner.Update:
		return newUpdate(w, n)
	case *planner.Delete:
		return newDelete(w, n)
	case *planner.Merge:
		return newMerge(w, n)
	default:
		panic(fmt.Sprintf("exec: no operator for %T", n))
	}
}

// width is how many workers pay for reading n: one for every few batches that
// its tables have.
func (q *query) width(n planner.Node) int {
	if q.workers == 1 || q.crosses(n) {
		return 1
	}
	rows := q.rows(n)
	perWorker := 4 * int64(q.batchRows)
	return int(min(int64(q.workers), max(1, (rows+perWorker-1)/perWorker)))
}

// rows is about how many rows are read below n.
func (q *query) rows(n planner.Node) int64 {
	if rows, ok := q.env.sourceRows(n); ok {
		return rows
	}
	switch n := n.(type) {
	case *planner.CTEScan:
		if with := q.with(n.CTE); with != nil {
			return q.withRows(with)
		}
		return 1
	case *planner.Values:
		return int64(len(n.Rows))
	case *planner.Insert, *planner.Update, *planner.Delete, *planner.Merge:
		return 1 // one worker changes
	}
	var most int64 = 1
	for _, in := range n.Inputs() {
		most = max(most, q.rows(in))
	}
	return most
}

// withRows is rows of a CTE, found once: many may read it, and themselves be read by many.
func (q *query) withRows(n *planner.With) int64 {
	top := q.top()
	top.mu.Lock()
	rows, ok := top.cteRows[n]
	top.mu.Unlock()
	if ok {
		return rows
	}
	rows = q.rows(n.Def)
	top.mu.Lock()
	defer top.mu.Unlock()
	if top.cteRows == nil {
		top.cteRows = map[*planner.With]int64{}
	}
	top.cteRows[n] = rows
	return rows
}

// sourceRows is about how many rows a node reads of a table or a file; not ok
// for any other node.
func (env *Env) sourceRows(n planner.Node) (rows int64, ok bool) {
	switch n := n.(type) {
	case *planner.Scan:
		if n.Access != nil {
			return 1, true
		}
		snap, err := env.Data.Snap(n.Table)
		if err != nil {
			return 1, true // newScan will say so
		}
		return snapRows(&snap), true
	case *planner.FileScan:
		return max(int64(n.Rows), 1<<20), true
	}
	return 0, false
}

func snapRows(s *arrow.Snap) int64 {
	var n int64
	for _, g := range s.Segments {
		n += int64(g.Rows())
	}
	return n
}

// with finds the definition of a CTE.
func (q *query) with(id int) *planner.With {
	for q = q.whole(); q != nil; q = q.parent {
		q.mu.Lock()
		n := q.ctes[id]
		q.mu.Unlock()
		if n != nil {
			return n
		}
	}
	return nil
}

// unshared is a plan in which every node stands once, so that a node can stand
// for its state. A rule may have used a part of a plan twice.
func unshared(n planner.Node, seen map[planner.Node]bool) planner.Node {
	ins := n.Inputs()
	changed := seen[n]
	if len(ins) > 0 {
		ins = append([]planner.Node{}, ins...)
		for i, in := range ins {
			if ins[i] = unshared(in, seen); ins[i] != in {
				changed = true
			}
		}
	}
	if changed {
		n = copyNode(n, ins)
	}
	seen[n] = true
	return n
}

// copyNode is a node like n of its own over other inputs.
func copyNode(n planner.Node, ins []planner.Node) planner.Node {
	switch n := n.(type) {
	case *planner.Scan:
		c := *n
		return &c
	case *planner.FileScan:
		c := *n
		return &c
	case *planner.Values:
		c := *n
		return &c
	case *planner.TableFunc:
		c := *n
		return &c
	case *planner.CTEScan:
		c := *n
		return &c
	}
	return n.WithInputs(ins)
}
