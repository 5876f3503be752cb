package exec

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// FoldConst computes an expression that names no column, parameter or
// subquery. m is memory of the host, where it is computed; what is taken is
// given back before the return.
func FoldConst(m device.Allocator, e planner.Expr) (sqltype.Datum, error) {
	switch e := e.(type) {
	case *planner.Const:
		return e.Value, nil
	case *planner.Cast:
		if x, ok := e.X.(*planner.Const); ok && !e.Try {
			return sqltype.CastDatum(x.Value, e.To)
		}
	}
	p, err := Compile([]planner.Expr{e}, nil, nil)
	if err != nil {
		return sqltype.Datum{}, err
	}
	row, err := kernels.EvalRow(p, m)
	if err != nil {
		return sqltype.Datum{}, err
	}
	return row[0], nil
}
