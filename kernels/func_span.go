package kernels

import (
	"math"

	"github.com/gpusql/gpusql/sqltype"
)

// unitSpans are the functions that make an INTERVAL of a number of one unit.
var unitSpans = map[string]sqltype.Span{
	"to_millennia": {Months: 12000}, "to_centuries": {Months: 1200}, "to_decades": {Months: 120}, "to_years": {Months: 12},
	"to_quarters": {Months: 3}, "to_months": {Months: 1}, "to_weeks": {Days: 7}, "to_days": {Days: 1},
	"to_hours": {Micros: sqltype.MicrosPerHour}, "to_minutes": {Micros: sqltype.MicrosPerMinute},
	"to_seconds": {Micros: sqltype.MicrosPerSecond}, "to_milliseconds": {Micros: 1000}, "to_microseconds": {Micros: 1},
}

func spanFuncs(name string, args []sqltype.Type, _ sqltype.Type, _ []*sqltype.Datum) (ScalarFunc, bool) {
	unit, ok := unitSpans[name]
	if !ok {
		return nil, false
	}
	if args[0].Kind.IsFloat() { // of a unit of time
		return Func1(func(_ *Heap, n float64) (sqltype.Span, error) {
			micros := math.RoundToEven(n * float64(unit.Micros))
			if !(math.Abs(micros) < 1<<63) {
				return sqltype.Span{}, errIntervalRange()
			}
			return sqltype.Span{Micros: int64(micros)}, nil
		}), true
	}
	return Func1(func(_ *Heap, n int64) (sqltype.Span, error) {
		months, ok1 := sqltype.MulInt64(n, int64(unit.Months)).Int64()
		days, ok2 := sqltype.MulInt64(n, int64(unit.Days)).Int64()
		micros, ok3 := sqltype.MulInt64(n, unit.Micros).Int64()
		if !ok1 || !ok2 || !ok3 || months != int64(int32(months)) || days != int64(int32(days)) {
			return sqltype.Span{}, errIntervalRange()
		}
		return sqltype.Span{Months: int32(months), Days: int32(days), Micros: micros}, nil
	}), true
}

func errIntervalRange() error {
	return sqltype.Errorf(sqltype.CodeDatetimeOverflow, "interval out of range")
}
