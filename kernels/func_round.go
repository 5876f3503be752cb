package kernels

import (
	"math"

	"github.com/gpusql/gpusql/sqltype"
)

// rounding is a way to drop digits.
type rounding uint8

const (
	roundNearest rounding = iota // DECIMAL: halves away from zero; DOUBLE: halves to even
	roundTrunc
	roundCeil
	roundFloor
)

// rounded is round, trunc, ceil and floor, of one number or of a number and
// the digits to keep.
func rounded(name string, args []sqltype.Type, result sqltype.Type) (ScalarFunc, bool) {
	how := map[string]rounding{"round": roundNearest, "trunc": roundTrunc, "ceil": roundCeil, "floor": roundFloor}[name]
	switch t := args[0]; {
	case t.Kind == sqltype.KindDecimal:
		return roundedDecimal(how, t, result, len(args) == 2), true
	case t.Kind.IsFloat():
		if len(args) == 2 {
			return Pure2(func(f float64, n int64) float64 { return roundDigits(how, f, n) }), true
		}
		return Pure1(how.float), true
	case len(args) == 1:
		return sameInt(t.Phys())
	}
	return roundedInt(how, args[0].Phys())
}

// float rounds to a whole number.
func (how rounding) float(f float64) float64 {
	switch how {
	case roundTrunc:
		return math.Trunc(f)
	case roundCeil:
		return math.Ceil(f)
	case roundFloor:
		return math.Floor(f)
	}
	return math.RoundToEven(f)
}

// roundDigits rounds a double to n digits after the point, halves away from
// zero.
func roundDigits(how rounding, f float64, n int64) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) || n > 300 {
		return f
	}
	if n < -300 {
		return 0
	}
	shift := math.Pow(10, math.Abs(float64(n)))
	whole := math.Round
	if how == roundTrunc {
		whole = math.Trunc
	}
	if n < 0 {
		return whole(f/shift) * shift
	}
	r := f * shift
	if math.IsInf(r, 0) {
		return f // it has no digits there
	}
	return whole(r) / shift
}

// decimal takes an unscaled decimal from one scale to a smaller one.
func (how rounding) decimal(v sqltype.Int128, from, to int) sqltype.Int128 {
	if how == roundNearest {
		v, _ = v.Rescale(from, to)
		return v
	}
	if from-to > sqltype.MaxPrecision { // more than all digits
		return how.unit(v.Sign())
	}
	q, r, _ := v.QuoRem(sqltype.Pow10(from - to))
	if !r.IsZero() {
		q, _ = q.Add(how.unit(r.Sign()))
	}
	return q
}

// unit is what a lost fraction of that sign adds to the whole.
func (how rounding) unit(sign int) sqltype.Int128 {
	if how == roundCeil && sign > 0 || how == roundFloor && sign < 0 {
		return sqltype.Int128Of(int64(sign))
	}
	return sqltype.Int128{}
}

// roundedDecimal keeps so many digits, or none after the point, and gives the
// value at the result's scale.
func roundedDecimal(how rounding, t, result sqltype.Type, withDigits bool) ScalarFunc {
	from, to := int(t.Scale), int(result.Scale)
	return decimals(t.Phys(), result.Phys(), func(c *Call, i int, v sqltype.Int128) (sqltype.Int128, error) {
		keep := 0
		if withDigits {
			keep = int(max(min(ArgAt[int64](c, 1, i), sqltype.MaxPrecision), -sqltype.MaxPrecision-1))
		}
		at := from
		if keep < from {
			v, at = how.decimal(v, from, keep), keep
		}
		return sqltype.DecimalRescale(v, at, int(result.Precision), to)
	})
}

// decimals makes a function of one over unscaled decimals, in and out of
// either form.
func decimals(in, out sqltype.Phys, f func(c *Call, i int, v sqltype.Int128) (sqltype.Int128, error)) ScalarFunc {
	return func(c *Call) error {
		var narrow Reader[int64]
		var wide Reader[sqltype.Int128]
		if in == sqltype.PhysI64 {
			narrow = Read[int64](c, 0)
		} else {
			wide = Read[sqltype.Int128](c, 0)
		}
		at := func(i int) (sqltype.Int128, error) {
			if in == sqltype.PhysI64 {
				return f(c, i, sqltype.Int128Of(narrow.At(i)))
			}
			return f(c, i, wide.At(i))
		}
		if out == sqltype.PhysI128 {
			return funcRows(c, at)
		}
		return funcRows(c, func(i int) (int64, error) {
			v, err := at(i)
			return int64(v.Lo), err // the result's precision has been checked
		})
	}
}

// sameInt is the rounding of an integer to a whole number.
func sameInt(p sqltype.Phys) (ScalarFunc, bool) {
	switch p {
	case sqltype.PhysI8, sqltype.PhysU8:
		return Pure1(same[uint8]), true
	case sqltype.PhysI16, sqltype.PhysU16:
		return Pure1(same[uint16]), true
	case sqltype.PhysI32, sqltype.PhysU32:
		return Pure1(same[uint32]), true
	case sqltype.PhysI64, sqltype.PhysU64:
		return Pure1(same[uint64]), true
	}
	return nil, false
}

func roundedInt(how rounding, p sqltype.Phys) (ScalarFunc, bool) {
	switch p {
	case sqltype.PhysI8:
		return intDigits[int8](how, sqltype.KindInt8), true
	case sqltype.PhysI16:
		return intDigits[int16](how, sqltype.KindInt16), true
	case sqltype.PhysI32:
		return intDigits[int32](how, sqltype.KindInt32), true
	case sqltype.PhysI64:
		return intDigits[int64](how, sqltype.KindInt64), true
	case sqltype.PhysU8:
		return intDigits[uint8](how, sqltype.KindUint8), true
	case sqltype.PhysU16:
		return intDigits[uint16](how, sqltype.KindUint16), true
	case sqltype.PhysU32:
		return intDigits[uint32](how, sqltype.KindUint32), true
	case sqltype.PhysU64:
		return intDigits[uint64](how, sqltype.KindUint64), true
	}
	return nil, false
}

// intDigits rounds an integer to n digits: only a negative n changes it.
func intDigits[T signedInt | uint8 | uint16 | uint32 | uint64](how rounding, k sqltype.Kind) ScalarFunc {
	return Func2(func(_ *Heap, v T, n int64) (T, error) {
		if n >= 0 {
			return v, nil
		}
		n = max(n, -sqltype.MaxPrecision)
		wide := sqltype.Int128Of(int64(v))
		if k == sqltype.KindUint64 {
			wide = sqltype.Int128OfUint(uint64(v))
		}
		r, _ := how.decimal(wide, 0, int(n)).Rescale(int(n), 0)
		i, err := sqltype.NarrowInt(r, k)
		return T(i), err
	})
}
