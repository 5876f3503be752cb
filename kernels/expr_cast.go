package kernels

import (
	"errors"
	"math"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// castStep is the code of a conversion. Between numbers, and between dates and
// timestamps, there are loops; every
// other pair goes value by value through sqltype.CastDatum, which also says
// what is wrong with a value that a loop refuses.
func castStep(from, to sqltype.Type) stepFunc {
	if f := castNumberStep(from, to); f != nil {
		return f
	}
	stamp := func(k sqltype.Kind) bool { return k == sqltype.KindTimestamp || k == sqltype.KindTimestampTZ }
	switch {
	case from.Kind == sqltype.KindDate && stamp(to.Kind):
		return mapStep(sqltype.DateToTimestamp)
	case stamp(from.Kind) && to.Kind == sqltype.KindDate:
		return mapStep(sqltype.TimestampToDate)
	case stamp(from.Kind) && to.Kind == sqltype.KindTime:
		return mapStep(sqltype.TimestampToTime)
	case stamp(from.Kind) && stamp(to.Kind):
		return convertStep[int64, int64]
	}
	return castDatumStep
}

// castNumberStep finds a loop, nil where there is none: to or from a DECIMAL
// with a change of scale, or where digits would have to be counted.
func castNumberStep(from, to sqltype.Type) stepFunc {
	f, t := from.Kind, to.Kind
	if !f.IsNumeric() && f != sqltype.KindBool || !t.IsNumeric() {
		return nil
	}
	switch {
	case f == sqltype.KindDecimal && t.IsFloat():
		if from.Phys() == sqltype.PhysI64 && t == sqltype.KindFloat64 {
			return castDecimalFloatStep
		}
		return nil
	case t == sqltype.KindDecimal && f.IsFloat(), from.Scale != to.Scale:
		return nil
	case t == sqltype.KindDecimal:
		return castDecimalStep(from, to)
	case from.Phys() == sqltype.PhysI128:
		if t == sqltype.KindInt64 {
			return narrowI128Step
		}
		return nil
	}
	switch to.Phys() {
	case sqltype.PhysI8:
		return castFromNumber[int8](from.Phys())
	case sqltype.PhysI16:
		return castFromNumber[int16](from.Phys())
	case sqltype.PhysI32:
		return castFromNumber[int32](from.Phys())
	case sqltype.PhysI64:
		return castFromNumber[int64](from.Phys())
	case sqltype.PhysU8:
		return castFromNumber[uint8](from.Phys())
	case sqltype.PhysU16:
		return castFromNumber[uint16](from.Phys())
	case sqltype.PhysU32:
		return castFromNumber[uint32](from.Phys())
	case sqltype.PhysU64:
		return castFromNumber[uint64](from.Phys())
	case sqltype.PhysF32:
		return castToFloat[float32](from.Phys())
	case sqltype.PhysF64:
		return castToFloat[float64](from.Phys())
	}
	return nil
}

// castDecimalStep finds the loop from an integer or DECIMAL to a DECIMAL of the
// same scale.
func castDecimalStep(from, to sqltype.Type) stepFunc {
	exact, ok := sqltype.DecimalFor(from)
	switch {
	case !ok:
		return nil
	case to.Precision >= exact.Precision && to.Phys() == sqltype.PhysI128:
		return widenFrom(from.Phys())
	case to.Precision >= exact.Precision:
		return castFromNumber[int64](from.Phys())
	case from.Phys() == sqltype.PhysI128 && to.Phys() == sqltype.PhysI64:
		return narrowI128Step
	}
	return nil
}

// castFromNumber finds the loop to integer type T.
func castFromNumber[T integer](from sqltype.Phys) stepFunc {
	switch from {
	case sqltype.PhysBool, sqltype.PhysU8:
		return castIntStep[uint8, T]
	case sqltype.PhysI8:
		return castIntStep[int8, T]
	case sqltype.PhysI16:
		return castIntStep[int16, T]
	case sqltype.PhysI32:
		return castIntStep[int32, T]
	case sqltype.PhysI64:
		return castIntStep[int64, T]
	case sqltype.PhysU16:
		return castIntStep[uint16, T]
	case sqltype.PhysU32:
		return castIntStep[uint32, T]
	case sqltype.PhysU64:
		return castIntStep[uint64, T]
	case sqltype.PhysF32:
		return castFloatIntStep[float32, T]
	case sqltype.PhysF64:
		return castFloatIntStep[float64, T]
	}
	return nil
}

// castToFloat finds the loop to floating type T.
func castToFloat[T float](from sqltype.Phys) stepFunc {
	switch from {
	case sqltype.PhysBool, sqltype.PhysU8:
		return convertStep[uint8, T]
	case sqltype.PhysI8:
		return convertStep[int8, T]
	case sqltype.PhysI16:
		return convertStep[int16, T]
	case sqltype.PhysI32:
		return convertStep[int32, T]
	case sqltype.PhysI64:
		return convertStep[int64, T]
	case sqltype.PhysU16:
		return convertStep[uint16, T]
	case sqltype.PhysU32:
		return convertStep[uint32, T]
	case sqltype.PhysU64:
		return convertStep[uint64, T]
	case sqltype.PhysF32:
		return convertStep[float32, T]
	case sqltype.PhysF64:
		return narrowFloatStep[T]
	}
	return nil
}

// widenFrom finds the loop to 128 bits.
func widenFrom(from sqltype.Phys) stepFunc {
	switch from {
	case sqltype.PhysBool, sqltype.PhysU8:
		return widenStep[uint8]
	case sqltype.PhysI8:
		return widenStep[int8]
	case sqltype.PhysI16:
		return widenStep[int16]
	case sqltype.PhysI32:
		return widenStep[int32]
	case sqltype.PhysI64:
		return widenStep[int64]
	case sqltype.PhysU16:
		return widenStep[uint16]
	case sqltype.PhysU32:
		return widenStep[uint32]
	case sqltype.PhysU64:
		return widenUnsignedStep
	}
	return nil
}

// convertStep is a conversion that cannot fail.
func convertStep[F integer | float, T integer | float](x *frame, in *Instr) error {
	a := vals[F](x, in.Args[0])
	d := results[T](x, in)[:len(a)]
	x.strictValid(in)
	for i, v := range a {
		d[i] = T(v)
	}
	return nil
}

// mapStep applies a function that cannot fail, under a NULL either.
func mapStep[F, T any](f func(F) T) stepFunc {
	return func(x *frame, in *Instr) error {
		a := vals[F](x, in.Args[0])
		d := results[T](x, in)[:len(a)]
		x.strictValid(in)
		for i, v := range a {
			d[i] = f(v)
		}
		return nil
	}
}

// castIntStep goes from integer to integer: what does not come back the same,
// or changes its sign, does not fit.
func castIntStep[F, T integer](x *frame, in *Instr) error {
	a := vals[F](x, in.Args[0])
	d := results[T](x, in)[:len(a)]
	x.strictValid(in)
	var bad F
	var sign int64
	for i, v := range a {
		r := T(v)
		d[i] = r
		bad |= F(r) ^ v
		sign |= int64(b2u(v < 0) ^ b2u(r < 0))
	}
	if bad == 0 && sign == 0 {
		return nil
	}
	return x.refuse(in, func(i int) bool { r := T(a[i]); return F(r) != a[i] || (r < 0) != (a[i] < 0) })
}

// castFloatIntStep rounds halves to even, as PostgreSQL does.
func castFloatIntStep[F float, T integer](x *frame, in *Instr) error {
	a := vals[F](x, in.Args[0])
	d := results[T](x, in)[:len(a)]
	x.strictValid(in)
	// The ends of T as floats: the upper one is the first value beyond it.
	hi := math.Ldexp(1, int(unsafe.Sizeof(d[0])*8))
	lo := 0.0
	if ^T(0) < 0 {
		hi /= 2
		lo = -hi
	}
	bad := false
	for i, v := range a {
		f := math.RoundToEven(float64(v))
		if !(f >= lo && f < hi) {
			bad = true
			d[i] = 0
			continue
		}
		d[i] = T(f)
	}
	if !bad {
		return nil
	}
	return x.refuse(in, func(i int) bool {
		f := math.RoundToEven(float64(a[i]))
		return !(f >= lo && f < hi)
	})
}

// narrowFloatStep takes DOUBLE to T, which may be too small for it.
func narrowFloatStep[T float](x *frame, in *Instr) error {
	a := vals[float64](x, in.Args[0])
	d := results[T](x, in)[:len(a)]
	x.strictValid(in)
	var special uint64
	for i, v := range a {
		d[i] = T(v)
		special |= notFinite(d[i])
	}
	if special < 1<<63 {
		return nil
	}
	return x.refuse(in, func(i int) bool { return math.IsInf(float64(d[i]), 0) && !math.IsInf(a[i], 0) })
}

func castDecimalFloatStep(x *frame, in *Instr) error {
	a := vals[int64](x, in.Args[0])
	d := results[float64](x, in)[:len(a)]
	x.strictValid(in)
	// To 15 digits both numbers are exact, and the quotient is the nearest.
	const exact = 1 << 53
	scale := int(x.prog.Types[in.Args[0]].Scale)
	p := sqltype.Pow10(scale).Float64()
	for i, v := range a {
		if v < exact && v > -exact {
			d[i] = float64(v) / p
		} else {
			d[i] = sqltype.DecimalFloat(sqltype.Int128Of(v), scale)
		}
	}
	return nil
}

func widenStep[F integer](x *frame, in *Instr) error {
	a := vals[F](x, in.Args[0])
	d := results[sqltype.Int128](x, in)[:len(a)]
	x.strictValid(in)
	for i, v := range a {
		d[i] = sqltype.Int128Of(int64(v))
	}
	return nil
}

func widenUnsignedStep(x *frame, in *Instr) error {
	a := vals[uint64](x, in.Args[0])
	d := results[sqltype.Int128](x, in)[:len(a)]
	x.strictValid(in)
	for i, v := range a {
		d[i] = sqltype.Int128OfUint(v)
	}
	return nil
}

// narrowI128Step takes a DECIMAL of 128 bits to 64 without a change of scale:
// to a BIGINT, or a DECIMAL of fewer digits.
func narrowI128Step(x *frame, in *Instr) error {
	a := vals[sqltype.Int128](x, in.Args[0])
	d := results[int64](x, in)[:len(a)]
	x.strictValid(in)
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if t := x.prog.Types[in.Dst]; t.Kind == sqltype.KindDecimal {
		hi = int64(sqltype.Pow10(int(t.Precision)).Lo) - 1
		lo = -hi
	}
	bad := false
	for i := range a {
		v := int64(a[i].Lo)
		d[i] = v
		bad = bad || a[i].Hi != v>>63 || v < lo || v > hi
	}
	if !bad {
		return nil
	}
	return x.refuse(in, func(i int) bool { v, ok := a[i].Int64(); return !ok || v < lo || v > hi })
}

// refuse makes the rows that are bad an error, or with Try NULL. What the
// error says is CastDatum's business.
func (x *frame) refuse(in *Instr, bad func(i int) bool) error {
	if in.Flag&Try != 0 {
		return x.unfit(in, bad)
	}
	to := x.prog.Types[in.Dst]
	return x.check(in, bad, func(i int) *sqltype.Error {
		_, err := sqltype.CastDatum(x.datum(in.Args[0], i), to)
		var e *sqltype.Error
		if errors.As(err, &e) {
			return e
		}
		return outOfRange(to)
	})
}

// datum is a register's value at row i, which is not NULL.
func (x *frame) datum(r Reg, i int) sqltype.Datum {
	t := x.prog.Types[r]
	if x.prog.IsConst(r) {
		i = 0
	}
	p := x.reg[r].Data + device.Ptr(i*t.Phys().Width())
	return loadDatum(unsafe.Pointer(&device.View[byte](p, 1)[0]), t)
}

// castDatumStep converts value by value.
func castDatumStep(x *frame, in *Instr) error {
	r := in.Args[0]
	if x.reg[r].Dict != 0 {
		flattenWidth(x, r, x.prog.Types[r].Phys().Width())
	}
	to := x.prog.Types[in.Dst]
	width := to.Phys().Width()
	x.reg[in.Dst] = Vec{Data: x.data[in.Dst]}
	out := device.View[uint8](x.data[in.Dst], x.n*width)
	x.strictValid(in)
	rows := x.rows(in)
	for i := range x.n {
		cell := out[i*width : (i+1)*width]
		clear(cell)
		if rows != nil && rows[i>>6]>>(i&63)&1 == 0 {
			continue
		}
		d, err := sqltype.CastDatum(x.datum(r, i), to)
		if err != nil {
			if in.Flag&Try == 0 {
				return x.failed(in, err)
			}
			x.takeValid(in.Dst)[i>>6] &^= 1 << (i & 63)
			continue
		}
		var v View
		if to.Phys() == sqltype.PhysStr {
			if v, err = x.heap.String(d.S); err != nil {
				return err
			}
		}
		storeDatum(unsafe.Pointer(&cell[0]), d, v)
	}
	return nil
}
