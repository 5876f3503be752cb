package sqltype

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// CanCast reports that CAST converts from one type to another, though not
// every value of it.
//
//	NULL                         to everything
//	everything                   to VARCHAR, and back
//	numbers, BOOLEAN             to each other
//	DATE, TIMESTAMP, TIMESTAMPTZ to each other; the last two to TIME
//	TIME, INTERVAL               to each other
//	TIME, TIMETZ                 to each other; TIMESTAMP, TIMESTAMPTZ to TIMETZ
//	integers, BOOLEAN, BLOB      to BIT, and back
//	LIST, STRUCT, MAP            to one of the same kind, if their parts can be cast
//	JSON                         to everything, and back
func CanCast(from, to Type) bool {
	f, t := from.Kind, to.Kind
	switch {
	case f == KindEnum && t == KindEnum:
		return from.Enum == to.Enum
	case f.IsNested() && f == t:
		_, ok := castPlaces(from, to)
		return ok
	case f == KindJSON || t == KindJSON:
		return t != KindNull
	case f == t, f == KindNull, t == KindVarchar, f == KindVarchar && t != KindNull:
		return true
	case f == KindBit:
		return t.IsInteger() || t == KindBool || t == KindBlob
	case t == KindBit:
		return f.IsInteger() || f == KindBool || f == KindBlob
	case f.IsNumeric() || f == KindBool:
		return t.IsNumeric() || t == KindBool
	case f == KindDate:
		return t == KindTimestamp || t == KindTimestampTZ
	case f == KindTimestamp || f == KindTimestampTZ:
		return t.IsTemporal() || t == KindTimeTZ
	case f == KindTime:
		return t == KindInterval || t == KindTimeTZ
	case f == KindInterval, f == KindTimeTZ:
		return t == KindTime
	}
	return false
}

// CastDatum converts a value to another type, as CAST does.
func CastDatum(d Datum, t Type) (Datum, error) {
	if !CanCast(d.Type, t) {
		return Datum{}, Errorf(CodeCannotCast, "cannot cast type %s to %s", typeWord(d.Type), typeWord(t))
	}
	if d.Null {
		return NullOf(t), nil
	}
	switch {
	case d.Type.Kind.IsNested() && d.Type.Kind == t.Kind && d.Type != t:
		return castNested(d, t)
	case d.Type.Kind == t.Kind && t.Kind != KindDecimal:
		d.Type = t
		return d, nil
	case d.Type.Kind == KindJSON && t.Kind != KindVarchar:
		return DecodeJSON(d.S, t)
	case t.Kind == KindJSON && d.Type.Kind != KindVarchar:
		return Datum{Type: t, S: string(AppendJSON(nil, d))}, nil
	case d.Type.Kind == KindVarchar:
		return parseDatum(d.S, t)
	case t.Kind == KindVarchar:
		return Datum{Type: t, S: d.String()}, nil
	case d.Type.Kind == KindBit || t.Kind == KindBit:
		return castBit(d, t)
	case t.Kind.IsTemporal() || t.Kind == KindInterval || t.Kind == KindTimeTZ:
		return castTemporal(d, t), nil
	}
	return castNumber(d, t)
}

// castNumber converts between numbers and BOOLEAN.
func castNumber(d Datum, t Type) (Datum, error) {
	r := Datum{Type: t}
	var err error
	switch {
	case t.Kind == KindBool:
		zero := d.I|d.Hi == 0
		if d.Type.Kind.IsFloat() {
			zero = d.F == 0
		}
		if !zero {
			r.I = 1
		}
	case t.Kind == KindFloat64:
		r.F = d.Float64()
	case t.Kind == KindFloat32:
		r.F, err = NarrowFloat(d.Float64())
	case t.Kind == KindDecimal:
		var v Int128
		switch {
		case d.Type.Kind.IsFloat():
			v, err = DecimalFromFloat(d.F, int(t.Precision), int(t.Scale))
		default:
			v, err = DecimalRescale(d.Int128(), int(d.Type.Scale), int(t.Precision), int(t.Scale))
		}
		r = NewDecimal(v, t)
	case d.Type.Kind.IsFloat():
		r.I, err = FloatToInt(d.F, t.Kind)
	default: // an integer or a decimal to an integer
		r.I, err = DecimalToInt(d.Int128(), int(d.Type.Scale), t.Kind)
	}
	if err != nil {
		return Datum{}, err
	}
	return r, nil
}

// castTemporal converts between dates and times. A timestamp without a zone is
// taken for UTC.
func castTemporal(d Datum, t Type) Datum {
	r := Datum{Type: t}
	switch {
	case d.Type.Kind == KindDate:
		r.I = DateToTimestamp(int32(d.I))
	case d.Type.Kind == KindInterval:
		r.I = AddTime(0, d.Span())
	case d.Type.Kind == KindTimeTZ:
		r.I, _ = SplitTimeTZ(d.I)
	case t.Kind == KindTimeTZ && d.Type.Kind == KindTime:
		r.I = MakeTimeTZ(d.I, 0)
	case t.Kind == KindTimeTZ:
		r.I = MakeTimeTZ(TimestampToTime(d.I), 0)
	case t.Kind == KindDate:
		r.I = int64(TimestampToDate(d.I))
	case t.Kind == KindTime:
		r.I = TimestampToTime(d.I)
	default: // the same number in another sense
		r.I = d.I
	}
	return r
}

// ParseDatum reads SQL text as a value of type t, as CAST of a VARCHAR does.
func ParseDatum(text string, t Type) (Datum, error) {
	return parseDatum(text, t)
}

func parseDatum(text string, t Type) (Datum, error) {
	d := Datum{Type: t}
	var err error
	switch {
	case t.Kind == KindNull:
		return Datum{}, Errorf(CodeCannotCast, "cannot cast text to %s", t)
	case t.Kind == KindBool:
		var b bool
		if b, err = ParseBool(text); b {
			d.I = 1
		}
	case t.Kind.IsInteger():
		d.I, err = ParseInt(text, t.Kind)
	case t.Kind.IsFloat():
		d.F, err = ParseFloat(text, t.Kind)
	case t.Kind == KindDecimal:
		var v Int128
		v, err = ParseDecimal(text, int(t.Precision), int(t.Scale))
		d = NewDecimal(v, t)
	case t.Kind == KindVarchar:
		d.S = text
	case t.Kind == KindBlob:
		d.S, err = ParseBlob(text)
	case t.Kind == KindDate:
		var day int32
		day, err = ParseDate(text)
		d.I = int64(day)
	case t.Kind == KindTime:
		d.I, err = ParseTime(text)
	case t.Kind == KindTimeTZ:
		d.I, err = ParseTimeTZ(text)
	case t.Kind == KindBit:
		d.S, err = ParseBit(text)
	case t.Kind == KindJSON:
		if d.S = trimBlanks(text); !ValidJSON(text) {
			err = invalidText(t, text)
		}
	case t.Kind == KindTimestamp:
		d.I, err = ParseTimestamp(text)
	case t.Kind == KindTimestampTZ:
		d.I, err = ParseTimestampTZ(text)
	case t.Kind == KindInterval:
		var s Span
		s, err = ParseInterval(text)
		d.Months, d.Days, d.I = s.Months, s.Days, s.Micros
	case t.Kind == KindUUID:
		d.Hi, d.I, err = ParseUUID(text)
	case t.Kind == KindEnum:
		d.I, err = t.Enum.parse(text)
	case t.Kind.IsNested():
		return parseNested(text, t)
	default:
		panic(fmt.Sprintf("sqltype: no text form for %s", t))
	}
	if err != nil {
		return Datum{}, err
	}
	return d, nil
}

// String is the value as SQL text: what a cast to VARCHAR gives; NULL for NULL.
func (d Datum) String() string {
	if d.Null || d.Type.Kind == KindNull {
		return "NULL"
	}
	if d.Type.Kind == KindVarchar {
		return d.S
	}
	var buf [64]byte
	return string(d.Append(buf[:0]))
}

// Append appends the text of String.
func (d Datum) Append(dst []byte) []byte {
	if d.Null {
		return append(dst, "NULL"...)
	}
	switch k := d.Type.Kind; {
	case k == KindNull:
		return append(dst, "NULL"...)
	case k == KindBool:
		return strconv.AppendBool(dst, d.I != 0)
	case k == KindUint64:
		return strconv.AppendUint(dst, uint64(d.I), 10)
	case k.IsInteger():
		return strconv.AppendInt(dst, d.I, 10)
	case k == KindDecimal:
		return AppendDecimal(dst, d.Int128(), int(d.Type.Scale))
	case k == KindFloat32:
		return AppendFloat(dst, d.F, 32)
	case k == KindFloat64:
		return AppendFloat(dst, d.F, 64)
	case k == KindVarchar:
		return append(dst, d.S...)
	case k == KindBlob:
		return AppendBlob(dst, d.S)
	case k == KindDate:
		return AppendDate(dst, int32(d.I))
	case k == KindTime:
		return AppendTime(dst, d.I)
	case k == KindTimeTZ:
		return AppendTimeTZ(dst, d.I)
	case k == KindBit || k == KindJSON:
		return append(dst, d.S...)
	case k == KindTimestamp:
		return AppendTimestamp(dst, d.I)
	case k == KindTimestampTZ:
		return AppendTimestampTZ(dst, d.I)
	case k == KindInterval:
		return AppendInterval(dst, d.Span())
	case k == KindUUID:
		return AppendUUID(dst, d.Hi, d.I)
	case k == KindEnum:
		return append(dst, d.Type.Enum.Label(int(d.I))...)
	case k.IsNested():
		return appendNested(dst, d)
	}
	panic(fmt.Sprintf("sqltype: no text form for %s", d.Type))
}

// AppendBlob appends bytes as PostgreSQL shows them: \x and hexadecimal digits.
func AppendBlob(dst []byte, blob string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, `\x`...)
	for i := 0; i < len(blob); i++ {
		dst = append(dst, digits[blob[i]>>4], digits[blob[i]&15])
	}
	return dst
}

// ParseBlob reads bytes: \x and hexadecimal digits, or text in which \\ is a
// backslash and \ooo the byte of an octal number.
func ParseBlob(text string) (string, error) {
	if digits, ok := strings.CutPrefix(text, `\x`); ok {
		b, err := hex.DecodeString(strings.Map(dropBlank, digits))
		if err != nil {
			return "", invalidText(Blob, text)
		}
		return string(b), nil
	}
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\':
			out = append(out, text[i])
		case strings.HasPrefix(text[i+1:], `\`):
			out = append(out, '\\')
			i++
		default:
			octal := text[i+1 : min(i+4, len(text))]
			v, err := strconv.ParseUint(octal, 8, 8)
			if err != nil || len(octal) != 3 {
				return "", invalidText(Blob, text)
			}
			out = append(out, byte(v))
			i += 3
		}
	}
	return string(out), nil
}

func dropBlank(r rune) rune {
	if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
		return -1
	}
	return r
}
