package exec

import (
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// data is where the rows of a scan are read: what the statement sees, or a moment
// in the past.
func (w *worker) data(n *planner.Scan) (Data, error) {
	if n.AsOf == nil {
		return w.q.env.Data, nil
	}
	at, err := w.constant(n.AsOf.At)
	if err != nil {
		return nil, err
	}
	if at.Null {
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "AS OF cannot be NULL")
	}
	by := ByVersion
	if n.AsOf.Time {
		by = ByTime
	}
	return w.q.env.Data.AsOf(at.I, by)
}
