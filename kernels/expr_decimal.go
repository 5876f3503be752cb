package kernels

import (
	"math/bits"

	"github.com/gpusql/gpusql/sqltype"
)

func addI128Step(x *frame, in *Instr) error {
	a, b, d := spreadPair[sqltype.Int128](x, in)
	var bad int64
	for i := range d {
		u, v := &a[i], &b[i]
		lo, c := bits.Add64(u.Lo, v.Lo, 0)
		hi := u.Hi + v.Hi + int64(c)
		bad |= (u.Hi ^ hi) & (v.Hi ^ hi)
		d[i] = sqltype.Int128{Lo: lo, Hi: hi}
	}
	if bad >= 0 || in.Flag&Unchecked != 0 {
		return nil
	}
	return x.overflow(in, func(i int) bool { _, ok := a[i].Add(b[i]); return !ok })
}

func subI128Step(x *frame, in *Instr) error {
	a, b, d := spreadPair[sqltype.Int128](x, in)
	var bad int64
	for i := range d {
		u, v := &a[i], &b[i]
		lo, c := bits.Sub64(u.Lo, v.Lo, 0)
		hi := u.Hi - v.Hi - int64(c)
		bad |= (u.Hi ^ v.Hi) & (u.Hi ^ hi)
		d[i] = sqltype.Int128{Lo: lo, Hi: hi}
	}
	if bad >= 0 || in.Flag&Unchecked != 0 {
		return nil
	}
	return x.overflow(in, func(i int) bool { _, ok := a[i].Sub(b[i]); return !ok })
}

// mulWideStep multiplies 64-bit integers to 128 bits, which always hold them.
func mulWideStep(x *frame, in *Instr) error {
	a, b := vals[int64](x, in.Args[0]), vals[int64](x, in.Args[1])
	d := results[sqltype.Int128](x, in)
	x.strictValid(in)
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = sqltype.MulInt64(a[i], b[i])
	}
	return nil
}

func mulI128Step(x *frame, in *Instr) error {
	a, b, d := spreadPair[sqltype.Int128](x, in)
	fine := true
	for i := range d {
		r, ok := a[i].Mul(b[i])
		d[i] = r
		fine = fine && ok
	}
	if fine {
		return nil
	}
	return x.overflow(in, func(i int) bool { _, ok := a[i].Mul(b[i]); return !ok })
}

func modI128Step(x *frame, in *Instr) error {
	a, b, d := spreadPair[sqltype.Int128](x, in)
	bad := false
	for i := range d {
		if b[i].IsZero() {
			d[i], bad = sqltype.Int128{}, true
			continue
		}
		_, d[i], _ = a[i].QuoRem(b[i])
	}
	if !bad {
		return nil
	}
	return x.check(in, func(i int) bool { return b[i].IsZero() }, divisionByZero)
}

func negI128Step(x *frame, in *Instr) error {
	a := vals[sqltype.Int128](x, in.Args[0])
	d := results[sqltype.Int128](x, in)
	x.strictValid(in)
	fine := true
	for i := range d {
		r, ok := a[i].Neg()
		d[i] = r
		fine = fine && ok
	}
	if fine {
		return nil
	}
	return x.overflow(in, func(i int) bool { return a[i] == sqltype.MinInt128 })
}

// divDecStep divides decimals: a * 10^Imm / b, halves away from zero. The
// quotient must fit; the product on the way may need 256 bits.
func divDecStep(x *frame, in *Instr) error {
	a, b, d := spreadPair[sqltype.Int128](x, in)
	digits := int(x.prog.Types[in.Dst].Precision)
	bad := false
	divide := func(i int) (sqltype.Int128, bool) {
		q, ok := mulDiv(a[i], sqltype.Pow10(int(in.Imm)), b[i])
		return q, ok && q.Fits(digits)
	}
	for i := range d {
		if b[i].IsZero() {
			d[i], bad = sqltype.Int128{}, true
			continue
		}
		r, ok := divide(i)
		d[i] = r
		bad = bad || !ok
	}
	if !bad {
		return nil
	}
	if err := x.check(in, func(i int) bool { return b[i].IsZero() }, divisionByZero); err != nil {
		return err
	}
	return x.overflow(in, func(i int) bool {
		if b[i].IsZero() {
			return false
		}
		_, ok := divide(i)
		return !ok
	})
}

// mulDiv is a * m / b rounded; false when the quotient leaves the range.
func mulDiv(a, m, b sqltype.Int128) (sqltype.Int128, bool) {
	if p, ok := a.Mul(m); ok {
		return p.QuoRound(b)
	}
	// Digit by digit: with a = q*b + r, a*10 = (q*10)*b + r*10, and what is
	// left after all of m's digits is rounded. r*10 may need a bit more than
	// b has, which is why it goes by doubling.
	q, r, ok := a.QuoRem(b)
	neg := (a.Hi ^ b.Hi) < 0
	if !ok {
		return q, false
	}
	limit := abs128(b)
	q, r = abs128(q), abs128(r)
	for ; !m.IsZero() && m != (sqltype.Int128{Lo: 1}); m, _, _ = m.QuoRem(sqltype.Int128{Lo: 10}) {
		digit := sqltype.Int128{}
		rest := sqltype.Int128{}
		for range 10 { // rest = r*10 mod b, digit = r*10 / b
			if sum, fits := rest.Add(r); fits && sum.Less(limit) {
				rest = sum
				continue
			}
			rest, _ = rest.Sub(limit)
			rest, _ = rest.Add(r)
			digit.Lo++
		}
		var fits bool
		if q, fits = q.Mul(sqltype.Int128{Lo: 10}); !fits {
			return q, false
		}
		if q, fits = q.Add(digit); !fits {
			return q, false
		}
		r = rest
	}
	if half, _ := limit.Sub(r); !r.Less(half) {
		q, ok = q.Add(sqltype.Int128{Lo: 1})
	}
	if neg {
		q, _ = q.Neg()
	}
	return q, ok
}

func abs128(v sqltype.Int128) sqltype.Int128 {
	if v.Hi < 0 {
		v, _ = v.Neg()
	}
	return v
}

// scaleI64Step moves the point of decimals held in 64 bits.
func scaleI64Step(x *frame, in *Instr) error {
	a := vals[int64](x, in.Args[0])
	d := results[int64](x, in)
	x.strictValid(in)
	if in.Imm < 0 {
		p := int64(sqltype.Pow10(int(-in.Imm)).Lo)
		for i, v := range a {
			d[i] = roundDiv(v, p)
		}
		return nil
	}
	p := int64(sqltype.Pow10(int(in.Imm)).Lo)
	var most int64
	for i, v := range a {
		d[i] = v * p
		most |= v ^ v>>63
	}
	if bits.Len64(uint64(most))+bits.Len64(uint64(p)) < 63 || in.Flag&Unchecked != 0 {
		return nil
	}
	return x.overflow(in, func(i int) bool {
		r := sqltype.MulInt64(a[i], p)
		return r.Hi != int64(r.Lo)>>63
	})
}

// roundDiv is v / p rounded, halves away from zero, for p even and positive.
func roundDiv(v, p int64) int64 {
	q, r := v/p, v%p
	switch {
	case r >= p-r:
		return q + 1
	case -r >= p+r:
		return q - 1
	}
	return q
}

func scaleI128Step(x *frame, in *Instr) error {
	a := vals[sqltype.Int128](x, in.Args[0])
	d := results[sqltype.Int128](x, in)
	x.strictValid(in)
	from, to := 0, int(in.Imm)
	if to < 0 {
		from, to = -to, 0
	}
	fine := true
	for i := range d {
		r, ok := a[i].Rescale(from, to)
		d[i] = r
		fine = fine && ok
	}
	if fine {
		return nil
	}
	return x.overflow(in, func(i int) bool { _, ok := a[i].Rescale(from, to); return !ok })
}

// fitsI64Step checks the digits of decimals held in 64 bits.
func fitsI64Step(x *frame, in *Instr) error {
	a := vals[int64](x, in.Args[0])
	d := results[int64](x, in)
	x.strictValid(in)
	limit := int64(sqltype.Pow10(int(x.prog.Types[in.Dst].Precision)).Lo)
	var bad int64
	for i, v := range a {
		d[i] = v
		bad |= (limit - 1 - v) | (limit - 1 + v)
	}
	if bad >= 0 {
		return nil
	}
	return x.unfit(in, func(i int) bool { return a[i] >= limit || a[i] <= -limit })
}

func fitsI128Step(x *frame, in *Instr) error {
	a := vals[sqltype.Int128](x, in.Args[0])
	d := results[sqltype.Int128](x, in)
	x.strictValid(in)
	digits := int(x.prog.Types[in.Dst].Precision)
	fine := true
	for i := range d {
		d[i] = a[i]
		fine = fine && a[i].Fits(digits)
	}
	if fine {
		return nil
	}
	return x.unfit(in, func(i int) bool { return !a[i].Fits(digits) })
}

// unfit refuses the rows that are bad, or with Try makes them NULL.
func (x *frame) unfit(in *Instr, bad func(i int) bool) error {
	if in.Flag&Try == 0 {
		return x.overflow(in, bad)
	}
	own := x.takeValid(in.Dst)
	for i := range x.n {
		if bad(i) {
			own[i>>6] &^= 1 << (i & 63)
		}
	}
	return nil
}

// takeValid makes a register's bitmap its own, so that bits can be cleared.
func (x *frame) takeValid(r Reg) []uint64 {
	own := x.words(x.own[r])
	switch v := x.reg[r].Valid; v {
	case 0:
		for w := range own {
			own[w] = ^uint64(0)
		}
	case x.own[r]:
	default:
		copy(own, x.words(v))
	}
	x.reg[r].Valid = x.own[r]
	return own
}
