package kernels

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// isNull reports that row i is NULL.
func (v *Vec) isNull(i int) bool {
	return v.Valid != 0 && device.View[uint64](v.Valid, i>>6+1)[i>>6]>>(i&63)&1 == 0
}

// str is the string at row i, flat or through the dictionary.
func (v *Vec) str(i int) *View {
	if v.Dict != 0 {
		return &device.View[View](v.Dict, int(v.DictLen))[device.View[uint32](v.Data, i+1)[i]]
	}
	return &device.View[View](v.Data, i+1)[i]
}

// atRow is value i of the flat column at p.
func atRow[T any](p device.Ptr, i int) T { return device.View[T](p, i+1)[i] }

// sameValue compares row i of a with row j of b, neither NULL, by equality of SQL.
func sameValue(p sqltype.Phys, a *Vec, i int, b *Vec, j int) bool {
	switch p {
	case sqltype.PhysBool, sqltype.PhysI8, sqltype.PhysU8:
		return atRow[uint8](a.Data, i) == atRow[uint8](b.Data, j)
	case sqltype.PhysI16, sqltype.PhysU16:
		return atRow[uint16](a.Data, i) == atRow[uint16](b.Data, j)
	case sqltype.PhysI32, sqltype.PhysU32:
		return atRow[uint32](a.Data, i) == atRow[uint32](b.Data, j)
	case sqltype.PhysI64, sqltype.PhysU64:
		return atRow[uint64](a.Data, i) == atRow[uint64](b.Data, j)
	case sqltype.PhysF32:
		return float32Bits(atRow[float32](a.Data, i)) == float32Bits(atRow[float32](b.Data, j))
	case sqltype.PhysF64:
		return FloatBits(atRow[float64](a.Data, i)) == FloatBits(atRow[float64](b.Data, j))
	case sqltype.PhysI128:
		return atRow[[2]uint64](a.Data, i) == atRow[[2]uint64](b.Data, j)
	case sqltype.PhysStr:
		return sameString(a.str(i), b.str(j))
	case sqltype.PhysSpan:
		x, y := atRow[Span](a.Data, i), atRow[Span](b.Data, j)
		xl, xh := x.total()
		yl, yh := y.total()
		return xl == yl && xh == yh
	default:
		panic(fmt.Sprintf("kernels: no comparison of form %s", p))
	}
}

func sameString(a, b *View) bool {
	if a.Lo != b.Lo {
		return false
	}
	if uint32(a.Lo) <= InlineLen {
		return a.Hi == b.Hi
	}
	return a.Hi == b.Hi || a.Str() == b.Str()
}

// compareCell orders two values as loadCell gives them.
func compareCell(p sqltype.Phys, a, b [2]uint64) int {
	switch p {
	case sqltype.PhysF32, sqltype.PhysF64:
		return compareFloat(math.Float64frombits(a[0]), math.Float64frombits(b[0]))
	case sqltype.PhysI128:
		return cmp.Or(cmp.Compare(int64(a[1]), int64(b[1])), cmp.Compare(a[0], b[0]))
	case sqltype.PhysStr:
		// Most are settled by their first bytes, and need no copies in the heap.
		if x, y := stringHead(a[0]), stringHead(b[0]); x != y {
			return cmp.Compare(x, y)
		}
		x, y := View{a[0], a[1]}, View{b[0], b[1]}
		return compareString(&x, &y)
	case sqltype.PhysSpan:
		al, ah := spanOf(a).total()
		bl, bh := spanOf(b).total()
		return cmp.Or(cmp.Compare(int64(ah), int64(bh)), cmp.Compare(al, bl))
	case sqltype.PhysU64:
		return cmp.Compare(a[0], b[0])
	default:
		return cmp.Compare(int64(a[0]), int64(b[0]))
	}
}

func spanOf(v [2]uint64) Span {
	return Span{Months: int32(v[0]), Days: int32(v[0] >> 32), Micros: int64(v[1])}
}

// compareFloat orders NaN above all numbers and -0 like 0.
func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a != a && b != b:
		return 0
	case a != a:
		return 1
	default:
		return -1
	}
}

// compareString orders by bytes.
func compareString(a, b *View) int {
	if x, y := stringHead(a.Lo), stringHead(b.Lo); x != y {
		return cmp.Compare(x, y)
	}
	return strings.Compare(a.Str(), b.Str())
}

// stringHead is the first four bytes of the string with that View.Lo, as a
// number that compares as they do.
func stringHead(lo uint64) uint32 { return bits.ReverseBytes32(uint32(lo >> 32)) }
