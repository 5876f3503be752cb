package exec

import "github.com/gpusql/gpusql/planner"

// newUpsert makes the operator of INSERT ... ON CONFLICT and REPLACE.
func newUpsert(_ *worker, n *planner.Insert) (Operator, error) {
	if n.Conflict.Replace {
		return nil, notSupported("REPLACE INTO")
	}
	return nil, notSupported("ON CONFLICT")
}
