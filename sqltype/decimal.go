package sqltype

import (
	"math"
	"strconv"
	"strings"
)

// CompareDecimal is -1, 0 or 1 as a/10^as is below, at or above b/10^bs. It is
// exact at every scale.
func CompareDecimal(a Int128, as int, b Int128, bs int) int {
	if as > bs {
		return -CompareDecimal(b, bs, a, as)
	}
	if x, ok := a.Rescale(as, bs); ok {
		return x.Cmp(b)
	}
	// a at b's scale is out of range and so further from zero than any b.
	return a.Sign()
}

// AppendDecimal appends v/10^scale with all its scale digits: 1.50, -0.05. A negative
// scale is zeros before the point.
func AppendDecimal(dst []byte, v Int128, scale int) []byte {
	if scale <= 0 {
		dst = v.Append(dst)
		for range -scale {
			dst = append(dst, '0')
		}
		return dst
	}
	var buf [41]byte
	digits := v.Append(buf[:0])
	if digits[0] == '-' {
		dst = append(dst, '-')
		digits = digits[1:]
	}
	if len(digits) <= scale {
		dst = append(dst, '0', '.')
		for range scale - len(digits) {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	whole := len(digits) - scale
	dst = append(dst, digits[:whole]...)
	dst = append(dst, '.')
	return append(dst, digits[whole:]...)
}

// FormatDecimal is AppendDecimal as a string.
func FormatDecimal(v Int128, scale int) string { return string(AppendDecimal(nil, v, scale)) }

// ParseDecimal reads a number into DECIMAL(precision, scale), rounding halves
// away from zero. It takes blanks around, a sign, a point and an exponent.
func ParseDecimal(text string, precision, scale int) (Int128, error) {
	v, fits, ok := scanDecimal(trimBlanks(text), scale)
	switch {
	case !ok:
		return Int128{}, invalidText(Decimal(precision, scale), text)
	case !fits || !v.Fits(precision):
		return Int128{}, Errorf(CodeOutOfRange, "value %q is out of range for DECIMAL(%d,%d)", text, precision, scale)
	}
	return v, nil
}

// scanDecimal reads number text at a scale. ok is false when it is no number,
// fits when the value has no Int128.
func scanDecimal(text string, scale int) (v Int128, fits, ok bool) {
	neg := false
	if text != "" && (text[0] == '-' || text[0] == '+') {
		neg = text[0] == '-'
		text = text[1:]
	}
	mantissa, exp, ok := cutExponent(text)
	if !ok {
		return v, false, false
	}
	whole := strings.IndexByte(mantissa, '.')
	if whole < 0 {
		whole = len(mantissa)
	}
	// Of all the digits, so many count at this scale; the next one rounds.
	keep := whole + exp + scale
	n, round := 0, false
	fits = true
	for i := 0; i < len(mantissa); i++ {
		c := mantissa[i]
		if i == whole {
			continue
		}
		if c < '0' || c > '9' {
			return v, false, false
		}
		switch {
		case n < keep && fits:
			v, fits = v.shiftIn(c - '0')
		case n == keep:
			round = c >= '5'
		}
		n++
	}
	if n == 0 {
		return v, false, false
	}
	if keep > n && fits {
		v, fits = v.Rescale(0, keep-n)
	}
	if round && fits {
		v, fits = v.Add(Int128{Lo: 1})
	}
	if neg {
		v, _ = v.Neg()
	}
	return v, fits, true
}

// shiftIn is v*10 + digit.
func (a Int128) shiftIn(digit byte) (Int128, bool) {
	if a.Hi == 0 && a.Lo < math.MaxUint64/10-1 {
		return Int128{Lo: a.Lo*10 + uint64(digit)}, true
	}
	v, ok := a.Mul(pow10[1])
	if !ok {
		return v, false
	}
	return v.Add(Int128{Lo: uint64(digit)})
}

// cutExponent splits 1.5e-3 into 1.5 and -3. An exponent beyond all use stays
// beyond all use, but small enough to calculate with.
func cutExponent(text string) (mantissa string, exp int, ok bool) {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return text, 0, true
	}
	digits := text[i+1:]
	sign := 1
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		if digits[0] == '-' {
			sign = -1
		}
		digits = digits[1:]
	}
	if digits == "" {
		return text, 0, false
	}
	for j := 0; j < len(digits); j++ {
		c := digits[j]
		if c < '0' || c > '9' {
			return text, 0, false
		}
		exp = min(exp*10+int(c-'0'), 1<<20)
	}
	return text[:i], sign * exp, true
}

// exactPow10 are the powers of ten that a double holds exactly.
var exactPow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// DecimalFloat is v/10^scale as the nearest double.
func DecimalFloat(v Int128, scale int) float64 {
	if i, ok := v.Int64(); ok && i > -1<<53 && i < 1<<53 && scale < len(exactPow10) {
		return float64(i) / exactPow10[scale] // both exact, so one rounding
	}
	var buf [48]byte
	f, err := strconv.ParseFloat(string(AppendDecimal(buf[:0], v, scale)), 64)
	if err != nil {
		panic("sqltype: a decimal that is no number: " + err.Error())
	}
	return f
}

// DecimalFromFloat is f in DECIMAL(precision, scale), rounding halves away from
// zero by f's shortest decimal form, as PostgreSQL does: 0.285 at two digits is
// 0.29 although the double lies below it.
func DecimalFromFloat(f float64, precision, scale int) (Int128, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Int128{}, Errorf(CodeOutOfRange, "cannot convert %s to DECIMAL(%d,%d)", FormatFloat(f, 64), precision, scale)
	}
	var buf [32]byte
	// 15 digits, as PostgreSQL's float8_numeric has it.
	text := strconv.AppendFloat(buf[:0], f, 'e', 14, 64)
	v, fits, ok := scanDecimal(string(text), scale)
	if !ok || !fits || !v.Fits(precision) {
		return Int128{}, Errorf(CodeOutOfRange, "value %s is out of range for DECIMAL(%d,%d)", FormatFloat(f, 64), precision, scale)
	}
	return v, nil
}

// DecimalRescale takes the digits of a decimal from one scale into
// DECIMAL(precision, scale).
func DecimalRescale(v Int128, from, precision, scale int) (Int128, error) {
	r, ok := v.Rescale(from, scale)
	if !ok || !r.Fits(precision) {
		return Int128{}, Errorf(CodeOutOfRange, "value %s is out of range for DECIMAL(%d,%d)", FormatDecimal(v, from), precision, scale)
	}
	return r, nil
}
