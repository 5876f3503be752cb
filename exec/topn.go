package exec

import "github.com/gpusql/gpusql/planner"

// newTopN is a sort that drops what cannot be among the first rows.
func newTopN(w *worker, n *planner.TopN) (Operator, error) {
	return &sorter{w: w, node: n, in: n.Input, keys: n.Keys, top: newTopBound(w, n), pick: gathered{mem: w.q.env.Memory},
		bound: func() (int64, int64, error) { return w.bounds(n.Limit, n.Offset) }}, nil
}
