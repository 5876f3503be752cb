package sqltype

import (
	"math"
	"math/bits"
)

// Int128 is a signed 128-bit integer, two's complement: what a DECIMAL of more
// than 18 digits is held as. Its memory layout is that of PhysI128.
//
// The arithmetic that can leave the range says so in a second result and never
// wraps unseen; the steps over columns use the same methods as the planner.
type Int128 struct {
	Lo uint64
	Hi int64
}

// Int128Of widens v.
func Int128Of(v int64) Int128 { return Int128{Lo: uint64(v), Hi: v >> 63} }

// Int128OfUint widens an unsigned v.
func Int128OfUint(v uint64) Int128 { return Int128{Lo: v} }

// MinInt128 and MaxInt128 are the ends of the range.
var (
	MinInt128 = Int128{Hi: math.MinInt64}
	MaxInt128 = Int128{Lo: math.MaxUint64, Hi: math.MaxInt64}
)

// pow10 holds the powers of ten that a DECIMAL can need.
var pow10 = func() (p [MaxPrecision + 1]Int128) {
	p[0].Lo = 1
	for i := 1; i < len(p); i++ {
		p[i], _ = p[i-1].Mul(Int128{Lo: 10})
	}
	return p
}()

// Pow10 is 10 to the power n, for n from 0 to 38.
func Pow10(n int) Int128 { return pow10[n] }

// IsZero reports a == 0.
func (a Int128) IsZero() bool { return a.Lo|uint64(a.Hi) == 0 }

// Sign is -1, 0 or 1.
func (a Int128) Sign() int {
	if a.Hi < 0 {
		return -1
	}
	if a.IsZero() {
		return 0
	}
	return 1
}

// Cmp is -1, 0 or 1 as a is below, at or above b.
func (a Int128) Cmp(b Int128) int {
	switch {
	case a.Hi < b.Hi:
		return -1
	case a.Hi > b.Hi:
		return 1
	case a.Lo < b.Lo:
		return -1
	case a.Lo > b.Lo:
		return 1
	}
	return 0
}

// Less reports a < b.
func (a Int128) Less(b Int128) bool {
	return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo
}

// Add is a + b; false means that it left the range.
func (a Int128) Add(b Int128) (Int128, bool) {
	lo, c := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(uint64(a.Hi), uint64(b.Hi), c)
	s := Int128{Lo: lo, Hi: int64(hi)}
	// It overflows when the operands agree in sign and the sum does not.
	return s, (a.Hi^s.Hi)&(b.Hi^s.Hi) >= 0
}

// Sub is a - b; false means that it left the range.
func (a Int128) Sub(b Int128) (Int128, bool) {
	lo, c := bits.Sub64(a.Lo, b.Lo, 0)
	hi, _ := bits.Sub64(uint64(a.Hi), uint64(b.Hi), c)
	s := Int128{Lo: lo, Hi: int64(hi)}
	return s, (a.Hi^b.Hi)&(a.Hi^s.Hi) >= 0
}

// AddInt64 is a + b for the inner loop of a sum, which adds fewer than 2^63
// values of 64 bits and so cannot leave the range.
func (a Int128) AddInt64(b int64) Int128 {
	lo, c := bits.Add64(a.Lo, uint64(b), 0)
	return Int128{Lo: lo, Hi: a.Hi + b>>63 + int64(c)}
}

// Neg is -a; false for the least value, which has no opposite.
func (a Int128) Neg() (Int128, bool) {
	n := Int128{Lo: -a.Lo, Hi: ^a.Hi}
	if a.Lo == 0 {
		n.Hi++
	}
	return n, a != MinInt128
}

// magnitude is |a|, unsigned.
func (a Int128) magnitude() (hi, lo uint64) {
	if a.Hi >= 0 {
		return uint64(a.Hi), a.Lo
	}
	lo, b := bits.Sub64(0, a.Lo, 0)
	hi, _ = bits.Sub64(0, uint64(a.Hi), b)
	return hi, lo
}

// signed puts a sign on a magnitude; false when it does not fit.
func signed(hi, lo uint64, neg bool) (Int128, bool) {
	if !neg {
		return Int128{Lo: lo, Hi: int64(hi)}, int64(hi) >= 0
	}
	lo, b := bits.Sub64(0, lo, 0)
	nhi, _ := bits.Sub64(0, hi, b)
	r := Int128{Lo: lo, Hi: int64(nhi)}
	return r, r.Hi < 0 || r.IsZero()
}

// MulInt64 is the whole product of two 64-bit integers: it cannot overflow.
func MulInt64(a, b int64) Int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// The unsigned product counts a negative factor as 2^64 more than it is.
	return Int128{Lo: lo, Hi: int64(hi) - (a>>63)&b - (b>>63)&a}
}

// Mul is a * b; false means that it left the range.
func (a Int128) Mul(b Int128) (Int128, bool) {
	if a.Hi == int64(a.Lo)>>63 && b.Hi == int64(b.Lo)>>63 {
		return MulInt64(int64(a.Lo), int64(b.Lo)), true
	}
	ahi, alo := a.magnitude()
	bhi, blo := b.magnitude()
	hi, lo := bits.Mul64(alo, blo)
	c1hi, c1 := bits.Mul64(ahi, blo)
	c2hi, c2 := bits.Mul64(alo, bhi)
	hi, o1 := bits.Add64(hi, c1, 0)
	hi, o2 := bits.Add64(hi, c2, 0)
	r, ok := signed(hi, lo, (a.Hi^b.Hi) < 0)
	return r, ok && (ahi == 0 || bhi == 0) && c1hi|c2hi|o1|o2 == 0
}

// divMagnitude divides unsigned n by unsigned d, which is not zero.
func divMagnitude(nhi, nlo, dhi, dlo uint64) (qhi, qlo, rhi, rlo uint64) {
	if dhi == 0 {
		qhi, r := nhi/dlo, nhi%dlo
		qlo, r = bits.Div64(r, nlo, dlo)
		return qhi, qlo, 0, r
	}
	// The quotient has one word. Divide by the top word of the divisor, moved
	// up so that its first bit is set: the estimate is at most one too many
	// after halving the dividend (Knuth's algorithm D with one digit).
	s := uint(bits.LeadingZeros64(dhi))
	top := dhi<<s | dlo>>1>>(63-s)
	q, _ := bits.Div64(nhi>>1, nlo>>1|nhi<<63, top)
	q = q >> (63 - s)
	if q > 0 {
		q--
	}
	hi, lo := bits.Mul64(q, dlo)
	hi += q * dhi
	rlo, b := bits.Sub64(nlo, lo, 0)
	rhi, _ = bits.Sub64(nhi, hi, b)
	if rhi > dhi || rhi == dhi && rlo >= dlo {
		q++
		rlo, b = bits.Sub64(rlo, dlo, 0)
		rhi, _ = bits.Sub64(rhi, dhi, b)
	}
	return 0, q, rhi, rlo
}

// QuoRem is a / b truncated towards zero, and the remainder, which has the
// sign of a. b must not be zero. The quotient of the least value and -1 does
// not fit: ok is false.
func (a Int128) QuoRem(b Int128) (q, r Int128, ok bool) {
	ahi, alo := a.magnitude()
	bhi, blo := b.magnitude()
	qhi, qlo, rhi, rlo := divMagnitude(ahi, alo, bhi, blo)
	q, ok = signed(qhi, qlo, (a.Hi^b.Hi) < 0)
	r, _ = signed(rhi, rlo, a.Hi < 0)
	return q, r, ok
}

// QuoRound is a / b rounded to the nearest, halves away from zero. b must not
// be zero; ok as in QuoRem.
func (a Int128) QuoRound(b Int128) (Int128, bool) {
	ahi, alo := a.magnitude()
	bhi, blo := b.magnitude()
	qhi, qlo, rhi, rlo := divMagnitude(ahi, alo, bhi, blo)
	// Up when r >= b - r, which cannot overflow as 2r can.
	dlo, borrow := bits.Sub64(blo, rlo, 0)
	dhi, _ := bits.Sub64(bhi, rhi, borrow)
	if rhi > dhi || rhi == dhi && rlo >= dlo {
		var c uint64
		qlo, c = bits.Add64(qlo, 1, 0)
		qhi += c
	}
	return signed(qhi, qlo, (a.Hi^b.Hi) < 0)
}

// Rescale takes an unscaled decimal from one scale to another, rounding halves
// away from zero when digits are lost; false means that it left the range.
func (a Int128) Rescale(from, to int) (Int128, bool) {
	switch {
	case to > from:
		if to-from > MaxPrecision {
			return a, a.IsZero()
		}
		return a.Mul(pow10[to-from])
	case to < from:
		if from-to > MaxPrecision {
			return Int128{}, true
		}
		return a.QuoRound(pow10[from-to])
	}
	return a, true
}

// Fits reports that a has at most so many decimal digits.
func (a Int128) Fits(precision int) bool {
	hi, lo := a.magnitude()
	p := pow10[precision]
	return hi < uint64(p.Hi) || hi == uint64(p.Hi) && lo < p.Lo
}

// Int64 narrows; false when a does not fit.
func (a Int128) Int64() (int64, bool) {
	return int64(a.Lo), a.Hi == int64(a.Lo)>>63
}

// Uint64 narrows; false when a does not fit.
func (a Int128) Uint64() (uint64, bool) { return a.Lo, a.Hi == 0 }

// Float64 is the nearest double.
func (a Int128) Float64() float64 {
	if v, ok := a.Int64(); ok {
		return float64(v)
	}
	hi, lo := a.magnitude()
	if hi == 0 {
		if a.Hi < 0 {
			return -float64(lo)
		}
		return float64(lo)
	}
	// Keep the top 64 bits; a bit lost below them is kept in the last, so that
	// the one rounding is that of the conversion.
	s := uint(bits.LeadingZeros64(hi))
	top, rest := hi<<s|lo>>1>>(63-s), lo<<s
	if rest != 0 {
		top |= 1
	}
	f := math.Ldexp(float64(top), 64-int(s))
	if a.Hi < 0 {
		return -f
	}
	return f
}

// Int128FromFloat is f rounded to the nearest integer, halves away from zero;
// false when it does not fit or f is not a number.
func Int128FromFloat(f float64) (Int128, bool) {
	f = math.Round(f)
	if !(f >= -0x1p127 && f < 0x1p127) {
		return Int128{}, false
	}
	m := math.Abs(f)
	hi := uint64(m * 0x1p-64)
	lo := uint64(m - float64(hi)*0x1p64)
	return signed(hi, lo, f < 0)
}

// Append appends a in decimal.
func (a Int128) Append(dst []byte) []byte {
	var buf [40]byte
	hi, lo := a.magnitude()
	i := len(buf)
	for hi != 0 {
		// Nineteen digits at a time, the most that a word holds.
		const chunk = 1e19
		qhi, qlo, _, r := divMagnitude(hi, lo, 0, chunk)
		hi, lo = qhi, qlo
		for range 19 {
			i--
			buf[i] = byte('0' + r%10)
			r /= 10
		}
	}
	for lo != 0 {
		i--
		buf[i] = byte('0' + lo%10)
		lo /= 10
	}
	if i == len(buf) {
		i--
		buf[i] = '0'
	}
	if a.Hi < 0 {
		i--
		buf[i] = '-'
	}
	return append(dst, buf[i:]...)
}

func (a Int128) String() string { return string(a.Append(nil)) }

// ParseInt128 reads an optional sign and decimal digits; false when text is
// anything else or the value does not fit.
func ParseInt128(text string) (Int128, bool) {
	neg := false
	if text != "" && (text[0] == '-' || text[0] == '+') {
		neg = text[0] == '-'
		text = text[1:]
	}
	if text == "" {
		return Int128{}, false
	}
	var hi, lo uint64
	for i := 0; i < len(text); i++ {
		c := text[i] - '0'
		if c > 9 || hi > math.MaxUint64/10-1 {
			return Int128{}, false
		}
		h, l := bits.Mul64(lo, 10)
		var carry uint64
		lo, carry = bits.Add64(l, uint64(c), 0)
		hi = hi*10 + h + carry
	}
	return signed(hi, lo, neg)
}
