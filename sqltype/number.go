package sqltype

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// trimBlanks drops the white space that PostgreSQL allows around a number.
func trimBlanks(s string) string { return strings.Trim(s, " \t\n\r\v\f") }

// typeWord is a type's name in messages: PostgreSQL's words, which clients and
// their tests know.
func typeWord(t Type) string {
	switch t.Kind {
	case KindFloat64:
		return "double precision"
	case KindDecimal:
		return "numeric"
	case KindEnum, KindList, KindStruct:
		return t.String()
	}
	return strings.ToLower(t.Kind.String())
}

func invalidText(t Type, text string) *Error {
	return Errorf(CodeInvalidText, "invalid input syntax for type %s: %q", typeWord(t), text)
}

func outOfRangeText(t Type, text string) *Error {
	return Errorf(CodeOutOfRange, "value %q is out of range for type %s", text, typeWord(t))
}

// intBounds are the ends of the signed integer kinds and the upper ends of the
// unsigned ones.
func intBounds(k Kind) (lo, hi int64) {
	switch k {
	case KindInt8:
		return math.MinInt8, math.MaxInt8
	case KindInt16:
		return math.MinInt16, math.MaxInt16
	case KindInt32:
		return math.MinInt32, math.MaxInt32
	case KindInt64:
		return math.MinInt64, math.MaxInt64
	case KindUint8:
		return 0, math.MaxUint8
	case KindUint16:
		return 0, math.MaxUint16
	case KindUint32:
		return 0, math.MaxUint32
	}
	panic("sqltype: no bounds for " + k.String())
}

// ParseInt reads an integer of kind k, blanks around it allowed. A UBIGINT
// comes as its bit pattern.
func ParseInt(text string, k Kind) (int64, error) {
	t := Type{Kind: k}
	s := trimBlanks(text)
	if k == KindUint64 {
		v, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, 64)
		if err != nil {
			if digits, ok := strings.CutPrefix(s, "-"); ok && isDigits(digits) {
				return 0, outOfRangeText(t, text)
			}
			return 0, numberError(t, text, err)
		}
		return int64(v), nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, numberError(t, text, err)
	}
	if lo, hi := intBounds(k); v < lo || v > hi {
		return 0, outOfRangeText(t, text)
	}
	return v, nil
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func numberError(t Type, text string, err error) *Error {
	if errors.Is(err, strconv.ErrRange) {
		return outOfRangeText(t, text)
	}
	return invalidText(t, text)
}

// ParseFloat reads a REAL or DOUBLE, with NaN, Infinity and inf in any case.
func ParseFloat(text string, k Kind) (float64, error) {
	t := Type{Kind: k}
	s := trimBlanks(text)
	if strings.ContainsAny(s, "xX_pP") { // Go's own forms
		return 0, invalidText(t, text)
	}
	bits := 64
	if k == KindFloat32 {
		bits = 32
	}
	f, err := strconv.ParseFloat(s, bits)
	if err != nil {
		return 0, numberError(t, text, err)
	}
	return f, nil
}

// ParseBool reads a truth value by any of PostgreSQL's words and their
// beginnings.
func ParseBool(text string) (bool, error) {
	s := strings.ToLower(trimBlanks(text))
	switch s {
	case "1", "on", "t", "tr", "tru", "true", "y", "ye", "yes":
		return true, nil
	case "0", "of", "off", "f", "fa", "fal", "fals", "false", "n", "no":
		return false, nil
	}
	return false, invalidText(Bool, text)
}

// AppendFloat appends the shortest text that reads back as f: 1.5, 1e+20, NaN,
// Infinity, -0. Bits is 32 for a REAL.
func AppendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	// PostgreSQL goes over to an exponent at 1e15 for doubles, 1e6 for reals,
	// and below 1e-4.
	limit := 1e15
	if bits == 32 {
		limit = 1e6
	}
	if a := math.Abs(f); a != 0 && (a >= limit || a < 1e-4) {
		return strconv.AppendFloat(dst, f, 'e', -1, bits)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}

// FormatFloat is AppendFloat as a string.
func FormatFloat(f float64, bits int) string { return string(AppendFloat(nil, f, bits)) }

// FloatToInt rounds f to an integer of kind k, halves to even as PostgreSQL
// does. A UBIGINT comes as its bit pattern.
func FloatToInt(f float64, k Kind) (int64, error) {
	r := math.RoundToEven(f)
	if k == KindUint64 {
		if r >= 0 && r < 0x1p64 {
			return int64(uint64(r)), nil
		}
		return 0, outOfRange(Type{Kind: k})
	}
	lo, hi := intBounds(k)
	// hi+1 is a power of two, exact as a double where hi is not.
	if r >= float64(lo) && r < float64(hi/2+1)*2 {
		return int64(r), nil
	}
	return 0, outOfRange(Type{Kind: k})
}

func outOfRange(t Type) *Error { return Errorf(CodeOutOfRange, "%s out of range", typeWord(t)) }

// DecimalToInt rounds v/10^scale to an integer of kind k, halves away from zero.
func DecimalToInt(v Int128, scale int, k Kind) (int64, error) {
	r, _ := v.Rescale(scale, 0)
	return NarrowInt(r, k)
}

// NarrowInt is v as an integer of kind k, or an error when it does not fit. A
// UBIGINT comes as its bit pattern.
func NarrowInt(v Int128, k Kind) (int64, error) {
	if k == KindUint64 {
		if v.Hi == 0 {
			return int64(v.Lo), nil
		}
		return 0, outOfRange(Type{Kind: k})
	}
	i, ok := v.Int64()
	if lo, hi := intBounds(k); !ok || i < lo || i > hi {
		return 0, outOfRange(Type{Kind: k})
	}
	return i, nil
}

// NarrowFloat rounds f to a REAL, or fails when a finite value becomes
// infinite.
func NarrowFloat(f float64) (float64, error) {
	r := float64(float32(f))
	if math.IsInf(r, 0) && !math.IsInf(f, 0) {
		return 0, outOfRange(Float32)
	}
	return r, nil
}
