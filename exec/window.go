package exec

import "github.com/gpusql/gpusql/planner"

// newWindow is the error that there are no window functions yet.
func newWindow(_ *worker, n *planner.Window) (Operator, error) {
	return nil, notSupported("window function %s", n.Funcs[0].Func.Name)
}
