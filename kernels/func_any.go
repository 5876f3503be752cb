package kernels

import (
	"math"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// anyFuncs are the functions over values of every type.
func anyFuncs(name string, args []sqltype.Type, result sqltype.Type, _ []*sqltype.Datum) (ScalarFunc, bool) {
	switch name {
	case "typeof":
		text := args[0].String()
		return Func0(func(h *Heap) (View, error) { return h.String(text) }), true
	case "hash":
		return hashRow, true
	case "num_nulls", "num_nonnulls":
		return FuncRow(func(c *Call, i int) (n int32, _ error) {
			for k := range c.Args {
				if c.Args[k].IsNull(i) == (name == "num_nulls") {
					n++
				}
			}
			return n, nil
		}), true
	case "greatest":
		return extreme(result.Phys(), 1)
	case "least":
		return extreme(result.Phys(), -1)
	}
	return nil, false
}

// extreme is greatest (sign 1) and least (-1). NULLs are left out.
func extreme(p sqltype.Phys, sign int) (ScalarFunc, bool) {
	switch p {
	case sqltype.PhysBool:
		return extremeOf(sign, func(a, b uint8) int { return int(a) - int(b) }), true
	case sqltype.PhysI8:
		return extremeOf(sign, ordered[int8]), true
	case sqltype.PhysI16:
		return extremeOf(sign, ordered[int16]), true
	case sqltype.PhysI32:
		return extremeOf(sign, ordered[int32]), true
	case sqltype.PhysI64:
		return extremeOf(sign, ordered[int64]), true
	case sqltype.PhysU8:
		return extremeOf(sign, ordered[uint8]), true
	case sqltype.PhysU16:
		return extremeOf(sign, ordered[uint16]), true
	case sqltype.PhysU32:
		return extremeOf(sign, ordered[uint32]), true
	case sqltype.PhysU64:
		return extremeOf(sign, ordered[uint64]), true
	case sqltype.PhysF32:
		return extremeOf(sign, func(a, b float32) int { return sqltype.CompareFloat(float64(a), float64(b)) }), true
	case sqltype.PhysF64:
		return extremeOf(sign, sqltype.CompareFloat), true
	case sqltype.PhysI128:
		return extremeOf(sign, sqltype.Int128.Cmp), true
	case sqltype.PhysSpan:
		return extremeOf(sign, sqltype.Span.Compare), true
	case sqltype.PhysStr:
		return extremeOf(sign, func(a, b View) int { return ordered(a.Str(), b.Str()) }), true
	}
	return nil, false
}

func ordered[T signedInt | uint8 | uint16 | uint32 | uint64 | string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func extremeOf[T Value](sign int, compare func(a, b T) int) ScalarFunc {
	return func(c *Call) error {
		readers := make([]Reader[T], len(c.Args))
		for k := range readers {
			readers[k] = Read[T](c, k)
		}
		return funcRows(c, func(i int) (T, error) {
			var best T
			some := false
			for k := range readers {
				if c.Args[k].IsNull(i) {
					continue
				}
				if v := readers[k].At(i); !some || compare(v, best)*sign > 0 {
					best, some = v, true
				}
			}
			if !some {
				return best, ErrNull
			}
			return best, nil
		})
	}
}

// hashRow is hash(...): equal arguments have one hash, in this version.
var hashRow = FuncRow(func(c *Call, i int) (uint64, error) {
	h := uint64(len(c.Args))
	for k := range c.Args {
		h = mix(h, hashArg(c, k, i))
	}
	return h, nil
})

func hashArg(c *Call, k, i int) uint64 {
	a := &c.Args[k]
	if a.IsNull(i) {
		return hashNull
	}
	p := a.Type.Phys()
	switch p {
	case sqltype.PhysStr:
		h := uint64(0)
		for _, b := range bytesOf(ArgAt[string](c, k, i)) {
			h = mix(h, uint64(b))
		}
		return h
	case sqltype.PhysF64:
		return hashFloat(ArgAt[float64](c, k, i))
	case sqltype.PhysF32:
		return hashFloat(float64(ArgAt[float32](c, k, i)))
	case sqltype.PhysSpan:
		// Equal intervals may be written differently.
		l := ArgAt[sqltype.Span](c, k, i).Length()
		return mix(l.Lo, uint64(l.Hi))
	}
	if a.Const {
		i = 0
	}
	h := uint64(0)
	for _, b := range device.View[byte](a.Data+device.Ptr(i*p.Width()), p.Width()) {
		h = mix(h, uint64(b))
	}
	return h
}

// hashFloat is one hash for 0 and -0, and one for every NaN.
func hashFloat(f float64) uint64 {
	if math.IsNaN(f) {
		f = math.NaN()
	}
	return HashWord(math.Float64bits(f + 0)) // -0 + 0 is 0
}
