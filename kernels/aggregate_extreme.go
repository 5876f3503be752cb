package kernels

import (
	"cmp"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// extremeRow is the row of n that has the least or greatest value of all, -1
// when all are NULL: what min and max of one group need to look at. False: the
// form is not covered here.
func extremeRow(a *aggArgs, n int) (row int, ok bool) {
	if a.Src.Dict != 0 && a.Phys != sqltype.PhysStr {
		return 0, false
	}
	switch a.Phys {
	case sqltype.PhysI8:
		return bestRow[int8](a, n), true
	case sqltype.PhysI16:
		return bestRow[int16](a, n), true
	case sqltype.PhysI32:
		return bestRow[int32](a, n), true
	case sqltype.PhysI64:
		return bestRow[int64](a, n), true
	case sqltype.PhysU8, sqltype.PhysBool:
		return bestRow[uint8](a, n), true
	case sqltype.PhysU16:
		return bestRow[uint16](a, n), true
	case sqltype.PhysU32:
		return bestRow[uint32](a, n), true
	case sqltype.PhysU64:
		return bestRow[uint64](a, n), true
	case sqltype.PhysStr:
		return extremeString(a, n), true
	}
	return 0, false
}

func bestRow[T cmp.Ordered](a *aggArgs, n int) int {
	src := device.View[T](a.Src.Data, n)
	row := -1
	var best T
	for i, v := range src {
		if row >= 0 && (a.Op == AggMin && v >= best || a.Op == AggMax && v <= best) || a.Src.Valid != 0 && a.Src.isNull(i) {
			continue
		}
		row, best = i, v
	}
	return row
}

// extremeString looks at each code of a dictionary once.
func extremeString(a *aggArgs, n int) int {
	var seen []uint64
	var codes []uint32
	if a.Src.Dict != 0 && int(a.Src.DictLen) <= n {
		seen = make([]uint64, a.Src.DictLen/64+1)
		codes = device.View[uint32](a.Src.Data, n)
	}
	row := -1
	var best *View
	for i := range n {
		if a.Src.Valid != 0 && a.Src.isNull(i) {
			continue
		}
		if seen != nil {
			c := codes[i]
			if seen[c/64]>>(c%64)&1 != 0 {
				continue
			}
			seen[c/64] |= 1 << (c % 64)
		}
		v := a.Src.str(i)
		if row >= 0 {
			order := compareString(v, best)
			if a.Op == AggMin && order >= 0 || a.Op == AggMax && order <= 0 {
				continue
			}
		}
		row, best = i, v
	}
	return row
}
