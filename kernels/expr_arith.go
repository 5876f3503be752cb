package kernels

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/gpusql/gpusql/sqltype"
)

type signed interface{ int8 | int16 | int32 | int64 }

type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

type integer interface{ signed | unsigned }

type float interface{ float32 | float64 }

// Overflow is looked for in two steps: each loop folds a sign of it over all
// rows into one word, which costs an operation or two a row and no branch; only
// when that word says so, the rows are looked through for one that counts.

func outOfRange(t sqltype.Type) *sqltype.Error {
	switch t.Kind {
	case sqltype.KindDecimal:
		return sqltype.Errorf(sqltype.CodeOutOfRange, "numeric field overflow: the result does not fit %s", t)
	case sqltype.KindFloat32, sqltype.KindFloat64:
		return sqltype.Errorf(sqltype.CodeOutOfRange, "value out of range: overflow")
	}
	return sqltype.Errorf(sqltype.CodeOutOfRange, "%s out of range", typeName(t))
}

// typeName is a type's name in a message.
func typeName(t sqltype.Type) string {
	b := []byte(t.String())
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func divisionByZero(int) *sqltype.Error {
	return sqltype.Errorf(sqltype.CodeDivisionByZero, "division by zero")
}

// overflow is check for a result that leaves its type.
func (x *frame) overflow(in *Instr, bad func(i int) bool) error {
	return x.check(in, bad, func(int) *sqltype.Error { return outOfRange(x.prog.Types[in.Dst]) })
}

func addSignedStep[T signed](x *frame, in *Instr) error {
	a, b := pair[T](x, in)
	d := results[T](x, in)
	x.strictValid(in)
	if len(a) == 1 && len(d) > 1 {
		a, b = b, a
	}
	var bad T
	a = a[:len(d)]
	if len(b) == 1 {
		v := b[0]
		for i, u := range a {
			r := u + v
			d[i] = r
			bad |= (u ^ r) & (v ^ r)
		}
	} else {
		b = b[:len(d)]
		for i, u := range a {
			v := b[i]
			r := u + v
			d[i] = r
			bad |= (u ^ r) & (v ^ r)
		}
	}
	if bad >= 0 || in.Flag&Unchecked != 0 {
		return nil
	}
	return x.overflow(in, func(i int) bool {
		u, v := nth(a, i), nth(b, i)
		return (u^(u+v))&(v^(u+v)) < 0
	})
}

func subSignedStep[T signed](x *frame, in *Instr) error {
	a, b := pair[T](x, in)
	d := results[T](x, in)
	x.strictValid(in)
	var bad T
	switch {
	case len(b) == 1:
		v := b[0]
		a = a[:len(d)]
		for i, u := range a {
			r := u - v
			d[i] = r
			bad |= (u ^ v) & (u ^ r)
		}
	case len(a) == 1:
		u := a[0]
		b = b[:len(d)]
		for i, v := range b {
			r := u - v
			d[i] = r
			bad |= (u ^ v) & (u ^ r)
		}
	default:
		a, b = a[:len(d)], b[:len(d)]
		for i, u := range a {
			v := b[i]
			r := u - v
			d[i] = r
			bad |= (u ^ v) & (u ^ r)
		}
	}
	if bad >= 0 || in.Flag&Unchecked != 0 {
		return nil
	}
	return x.overflow(in, func(i int) bool {
		u, v := nth(a, i), nth(b, i)
		return (u^v)&(u^(u-v)) < 0
	})
}

// mulNarrowStep multiplies integers of at most 32 bits in 64.
func mulNarrowStep[T signed](x *frame, in *Instr) error {
	a, b := pair[T](x, in)
	d := results[T](x, in)
	x.strictValid(in)
	if len(a) == 1 && len(d) > 1 {
		a, b = b, a
	}
	var bad int64
	a = a[:len(d)]
	if len(b) == 1 {
		v := int64(b[0])
		for i, u := range a {
			r := int64(u) * v
			d[i] = T(r)
			bad |= r ^ int64(T(r))
		}
	} else {
		b = b[:len(d)]
		for i, u := range a {
			r := int64(u) * int64(b[i])
			d[i] = T(r)
			bad |= r ^ int64(T(r))
		}
	}
	if bad == 0 {
		return nil
	}
	return x.overflow(in, func(i int) bool {
		r := int64(nth(a, i)) * int64(nth(b, i))
		return r != int64(T(r))
	})
}

// mulI64Step multiplies and, beside it, measures the operands: when the bits
// of the largest of each side add up to 63 at most no product can overflow.
func mulI64Step(x *frame, in *Instr) error {
	a, b := pair[int64](x, in)
	d := results[int64](x, in)
	x.strictValid(in)
	if len(a) == 1 && len(d) > 1 {
		a, b = b, a
	}
	var ma, mb int64
	a = a[:len(d)]
	if len(b) == 1 {
		v := b[0]
		mb = v ^ v>>63
		for i, u := range a {
			d[i] = u * v
			ma |= u ^ u>>63
		}
	} else {
		b = b[:len(d)]
		for i, u := range a {
			v := b[i]
			d[i] = u * v
			ma |= u ^ u>>63
			mb |= v ^ v>>63
		}
	}
	if bits.Len64(uint64(ma))+bits.Len64(uint64(mb)) < 63 || in.Flag&Unchecked != 0 {
		return nil
	}
	return x.overflow(in, func(i int) bool {
		r := sqltype.MulInt64(nth(a, i), nth(b, i))
		return r.Hi != int64(r.Lo)>>63
	})
}

func addUnsignedStep[T unsigned](x *frame, in *Instr) error {
	a, b, d := spreadPair[T](x, in)
	var bad T
	for i, u := range a {
		v := b[i]
		r := u + v
		d[i] = r
		bad |= u&v | (u|v)&^r // the carry out of the top bit
	}
	if bad>>(unsafe.Sizeof(bad)*8-1) == 0 {
		return nil
	}
	return x.overflow(in, func(i int) bool { return a[i]+b[i] < a[i] })
}

func subUnsignedStep[T unsigned](x *frame, in *Instr) error {
	a, b, d := spreadPair[T](x, in)
	var bad T
	for i, u := range a {
		v := b[i]
		r := u - v
		d[i] = r
		bad |= ^u&v | (^u|v)&r // the borrow
	}
	if bad>>(unsafe.Sizeof(bad)*8-1) == 0 {
		return nil
	}
	return x.overflow(in, func(i int) bool { return a[i] < b[i] })
}

func mulUnsignedStep[T unsigned](x *frame, in *Instr) error {
	a, b, d := spreadPair[T](x, in)
	width := unsafe.Sizeof(d[0]) * 8
	over := func(u, v T) uint64 {
		hi, lo := bits.Mul64(uint64(u), uint64(v))
		return hi | lo>>(width-1)>>1
	}
	var bad uint64
	for i, u := range a {
		v := b[i]
		d[i] = u * v
		bad |= over(u, v)
	}
	if bad == 0 {
		return nil
	}
	return x.overflow(in, func(i int) bool { return over(a[i], b[i]) != 0 })
}

// spreadPair is the operands and the result, all of n rows, with validity done.
func spreadPair[T any](x *frame, in *Instr) (a, b, d []T) {
	a, b = vals[T](x, in.Args[0]), vals[T](x, in.Args[1])
	d = results[T](x, in)
	x.strictValid(in)
	return a[:len(d)], b[:len(d)], d
}

// negStep refuses the values whose opposite has the same sign bit set: the
// least signed value, and any unsigned one but 0.
func negStep[T integer](x *frame, in *Instr) error {
	a := vals[T](x, in.Args[0])
	d := results[T](x, in)
	x.strictValid(in)
	var least T
	if ^least < 0 {
		least = 1 << (unsafe.Sizeof(least)*8 - 1)
	}
	signed := ^T(0) < 0
	bad := false
	for i, v := range a {
		d[i] = -v
		if signed {
			bad = bad || v == least
		} else {
			bad = bad || v != 0
		}
	}
	if !bad || in.Flag&Unchecked != 0 {
		return nil
	}
	return x.overflow(in, func(i int) bool { return signed && a[i] == least || !signed && a[i] != 0 })
}

func divIntStep[T integer](x *frame, in *Instr) error {
	a, b, d := spreadPair[T](x, in)
	bad := false
	for i, u := range a {
		v := b[i]
		if v == 0 || v == ^T(0) {
			bad = true // by zero, or by -1 what may be the least value
			if v == 0 {
				d[i] = 0
				continue
			}
		}
		d[i] = u / v
	}
	if !bad {
		return nil
	}
	if err := x.check(in, func(i int) bool { return b[i] == 0 }, divisionByZero); err != nil {
		return err
	}
	return x.overflow(in, func(i int) bool { return ^T(0) < 0 && b[i] == ^T(0) && a[i] != 0 && a[i] == -a[i] })
}

func modIntStep[T integer](x *frame, in *Instr) error {
	a, b, d := spreadPair[T](x, in)
	bad := false
	for i, u := range a {
		if v := b[i]; v != 0 {
			d[i] = u % v
		} else {
			d[i] = 0
			bad = true
		}
	}
	if !bad {
		return nil
	}
	return x.check(in, func(i int) bool { return b[i] == 0 }, divisionByZero)
}

// bitStep takes the distance of a shift modulo the width, as PostgreSQL does.
func bitStep[T integer](x *frame, in *Instr) error {
	a, b, d := spreadPair[T](x, in)
	width := T(unsafe.Sizeof(d[0])*8 - 1)
	switch in.Op {
	case OpBitAnd:
		for i, u := range a {
			d[i] = u & b[i]
		}
	case OpBitOr:
		for i, u := range a {
			d[i] = u | b[i]
		}
	case OpBitXor:
		for i, u := range a {
			d[i] = u ^ b[i]
		}
	case OpShl:
		for i, u := range a {
			d[i] = u << (b[i] & width)
		}
	default:
		for i, u := range a {
			d[i] = u >> (b[i] & width)
		}
	}
	return nil
}

func bitNotStep[T integer](x *frame, in *Instr) error {
	a := vals[T](x, in.Args[0])
	d := results[T](x, in)
	x.strictValid(in)
	for i, v := range a {
		d[i] = ^v
	}
	return nil
}

// notFinite has its top bit set when r is an infinity or NaN: adding one to an
// exponent of all ones carries into it.
func notFinite[T float](r T) uint64 {
	return math.Float64bits(float64(r))&^(1<<63) + 1<<52
}

func floatArithStep[T float](x *frame, in *Instr) error {
	a, b, d := spreadPair[T](x, in)
	var special uint64
	switch in.Op {
	case OpAdd:
		for i, u := range a {
			r := u + b[i]
			d[i] = r
			special |= notFinite(r)
		}
	case OpSub:
		for i, u := range a {
			r := u - b[i]
			d[i] = r
			special |= notFinite(r)
		}
	default:
		for i, u := range a {
			r := u * b[i]
			d[i] = r
			special |= notFinite(r)
		}
	}
	return checkFloat(x, in, a, b, d, special)
}

// checkFloat refuses an infinity that was not among the operands.
func checkFloat[T float](x *frame, in *Instr, a, b, d []T, special uint64) error {
	if special < 1<<63 {
		return nil
	}
	return x.overflow(in, func(i int) bool {
		return math.IsInf(float64(d[i]), 0) && !math.IsInf(float64(a[i]), 0) && !math.IsInf(float64(b[i]), 0)
	})
}

func divFloatStep[T float](x *frame, in *Instr) error {
	a, b, d := spreadPair[T](x, in)
	var special uint64
	for i, u := range a {
		r := u / b[i]
		d[i] = r
		special |= notFinite(r)
	}
	if special < 1<<63 {
		return nil
	}
	if err := x.check(in, func(i int) bool { return b[i] == 0 && a[i] == a[i] }, divisionByZero); err != nil {
		return err
	}
	return checkFloat(x, in, a, b, d, special)
}

func modFloatStep[T float](x *frame, in *Instr) error {
	a, b, d := spreadPair[T](x, in)
	bad := false
	for i, u := range a {
		d[i] = T(math.Mod(float64(u), float64(b[i])))
		bad = bad || b[i] == 0
	}
	if !bad {
		return nil
	}
	return x.check(in, func(i int) bool { return b[i] == 0 && a[i] == a[i] }, divisionByZero)
}

func negFloatStep[T float](x *frame, in *Instr) error {
	a := vals[T](x, in.Args[0])
	d := results[T](x, in)
	x.strictValid(in)
	for i, v := range a {
		d[i] = -v
	}
	return nil
}
