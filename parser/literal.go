package parser

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gpusql/gpusql/sqltype"
)

// parseNumber is the value of a numeric literal: the first of INTEGER, BIGINT,
// DECIMAL that holds it when it is whole, a DECIMAL when it has a point, a
// DOUBLE when it has an exponent or more digits than a DECIMAL can hold.
func parseNumber(text string) (sqltype.Datum, bool) {
	if len(text) < 10 {
		if v, ok := smallInteger(text); ok {
			return sqltype.NewInt32(v), true
		}
	}
	if v, ok := parseRadix(text); ok {
		return integerDatum(v)
	}
	text = strings.ReplaceAll(text, "_", "")
	if strings.ContainsAny(text, "eE") {
		return doubleDatum(text)
	}
	whole, fraction, point := strings.Cut(text, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		digits = "0"
	}
	if len(digits) > sqltype.MaxPrecision || len(fraction) > sqltype.MaxPrecision {
		return doubleDatum(text)
	}
	v, ok := sqltype.ParseInt128(digits)
	if !ok {
		return sqltype.Datum{}, false
	}
	if !point {
		return integerDatum(v)
	}
	return decimalDatum(v, max(len(digits), len(fraction)), len(fraction)), true
}

// smallInteger reads up to nine plain digits: what nearly all literals are.
func smallInteger(text string) (int32, bool) {
	v := int32(0)
	for i := 0; i < len(text); i++ {
		if !isDigit(text[i]) {
			return 0, false
		}
		v = v*10 + int32(text[i]-'0')
	}
	return v, true
}

func integerDatum(v sqltype.Int128) (sqltype.Datum, bool) {
	if n, ok := v.Int64(); ok {
		if int64(int32(n)) == n {
			return sqltype.NewInt32(int32(n)), true
		}
		return sqltype.NewInt64(n), true
	}
	n := len(v.String())
	if n > sqltype.MaxPrecision {
		return sqltype.Datum{}, false
	}
	return decimalDatum(v, n, 0), true
}

func decimalDatum(v sqltype.Int128, precision, scale int) sqltype.Datum {
	t := sqltype.Decimal(precision, scale)
	d := sqltype.Datum{Type: t, I: int64(v.Lo)}
	if t.Phys() == sqltype.PhysI128 {
		d.Hi = v.Hi
	}
	return d
}

func doubleDatum(text string) (sqltype.Datum, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return sqltype.NewFloat64(f), err == nil
}

// parseRadix reads 0x1F, 0b101 and 0o17; false when text is none of them or
// has more bits than an Int128.
func parseRadix(text string) (sqltype.Int128, bool) {
	if len(text) < 3 || text[0] != '0' || isDigit(text[1]) || text[1] == '.' || text[1]|0x20 == 'e' {
		return sqltype.Int128{}, false
	}
	n, ok := new(big.Int).SetString(text, 0)
	if !ok || n.BitLen() > 127 {
		return sqltype.Int128{}, false
	}
	return sqltype.ParseInt128(n.String())
}

// unquote is the value of a string, quoted name or blob token.
func unquote(kind tokenKind, text string) (string, *sqltype.Error) {
	switch kind {
	case tokString, tokQuoted:
		quote := text[:1]
		body := text[1 : len(text)-1]
		if strings.Contains(body, quote) {
			body = strings.ReplaceAll(body, quote+quote, quote)
		}
		return body, nil
	case tokDollar:
		n := strings.IndexByte(text[1:], '$') + 2
		return text[n : len(text)-n], nil
	case tokHex:
		b, err := hex.DecodeString(text[2 : len(text)-1])
		if err != nil {
			return "", sqltype.Errorf(sqltype.CodeInvalidText, "invalid hexadecimal string %s", text)
		}
		return string(b), nil
	}
	return unescape(text[2 : len(text)-1])
}

// unescape is the value of the inside of an E” string.
func unescape(body string) (string, *sqltype.Error) {
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c == '\'' { // doubled: the lexer saw to that
			i++
		}
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++
		switch c = body[i]; c {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'x', 'u', 'U', '0', '1', '2', '3', '4', '5', '6', '7':
			var n int
			var err *sqltype.Error
			if out, n, err = escapeCode(out, body[i:]); err != nil {
				return "", err
			}
			i += n - 1
		default:
			out = append(out, c)
		}
	}
	if !utf8.Valid(out) {
		return "", sqltype.Errorf(sqltype.CodeInvalidText, "escapes in a string make invalid UTF-8")
	}
	return string(out), nil
}

// escapeCode appends what \xhh, \uhhhh, \Uhhhhhhhh or \ooo stands for; n is how
// many bytes of s it took.
func escapeCode(out []byte, s string) (_ []byte, n int, err *sqltype.Error) {
	first, least, most, base := 1, 1, 2, 16
	switch s[0] {
	case 'x':
	case 'u':
		least, most = 4, 4
	case 'U':
		least, most = 8, 8
	default:
		first, most, base = 0, 3, 8
	}
	n = first
	for n < len(s) && n-first < most {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	v, _ := strconv.ParseUint(s[first:n], base, 64)
	switch {
	case n-first < least, most < 4 && v > 0xFF, most >= 4 && (v > utf8.MaxRune || !utf8.ValidRune(rune(v))):
		return nil, 0, sqltype.Errorf(sqltype.CodeInvalidText, "invalid escape \\%s in a string", s[:n])
	case most >= 4:
		return utf8.AppendRune(out, rune(v)), n, nil
	}
	return append(out, byte(v)), n, nil
}

// fold is the lower case of an unquoted name; only ASCII letters have one.
func fold(name string) string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c-'A' <= 'Z'-'A' {
			return foldBytes(name)
		}
	}
	return name
}

func foldBytes(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c-'A' <= 'Z'-'A' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}
