package arrow

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// textBlock is a run of text that fields lie in.
type textBlock struct {
	data []byte
	side []byte     // texts that had escapes
	base device.Ptr // where data lies in the device's memory
}

func (b *textBlock) text(s textSpan) []byte {
	n := s.n & spanLength
	if s.n&spanSide != 0 {
		return b.side[s.at : s.at+n]
	}
	return b.data[s.at : s.at+n]
}

// textColumn makes columns of fields.
type textColumn struct {
	typ    sqltype.Type
	parse  textParser
	values room
	mask   room
	aside  room // texts that are not in the block as they are
	spans  []textSpan
}

// textParser reads fields as values of a column in c.values. NULLs are cleared
// in valid. At an error it says which field is wrong.
type textParser func(c *textColumn, im *Importer, b *textBlock, fields []textSpan, valid []uint64) (nulls, bad int, err error)

func newTextColumn(t sqltype.Type, rows int) *textColumn {
	return &textColumn{typ: t, parse: parserOf(t), spans: make([]textSpan, rows)}
}

// read makes a column of the first n spans.
func (c *textColumn) read(im *Importer, b *textBlock, n int) (col Column, bad int, err error) {
	col.Type = c.typ
	valid, err := roomOf[uint64](&c.mask, im, kernels.BitmapBytes(n)/8)
	if err != nil {
		return col, -1, err
	}
	for i := range valid {
		valid[i] = ^uint64(0)
	}
	nulls, bad, err := c.parse(c, im, b, c.spans[:n], valid)
	if err != nil {
		return col, bad, err
	}
	if col.Vec.Data, err = c.values.address(im, 0, c.values.size); err == nil && nulls > 0 {
		col.Vec.Valid, err = c.mask.address(im, 0, len(valid)*8)
	}
	return col, -1, err
}

func (c *textColumn) release() {
	c.values.release()
	c.mask.release()
	c.aside.release()
}

// parserOf is how text is read as a type: what most files are made of by a
// quick reader for its plain form, the rest, and what that refuses, by sqltype.
func parserOf(t sqltype.Type) textParser {
	switch t.Kind {
	case sqltype.KindVarchar:
		return textViews
	case sqltype.KindBlob, sqltype.KindJSON, sqltype.KindList, sqltype.KindStruct, sqltype.KindMap:
		return parsedViews(sqltype.ParseDatum)
	case sqltype.KindDate:
		return fixedText(func(s []byte) (int32, bool) { d, ok := plainDate(s); return int32(d), ok }, intOf[int32])
	case sqltype.KindTimestamp:
		return fixedText(plainTimestamp, intOf[int64])
	case sqltype.KindFloat64:
		return fixedText(plainFloat, func(d sqltype.Datum) float64 { return d.F })
	case sqltype.KindDecimal:
		if t.Phys() == sqltype.PhysI64 {
			return fixedText(decimalReader(t), intOf[int64])
		}
	case sqltype.KindBool:
		return fixedText(plainBool, intOf[uint8])
	}
	switch t.Phys() {
	case sqltype.PhysI8:
		return wholeText[int8](t)
	case sqltype.PhysU8:
		return wholeText[uint8](t)
	case sqltype.PhysI16:
		return wholeText[int16](t)
	case sqltype.PhysU16:
		return wholeText[uint16](t)
	case sqltype.PhysI32:
		return wholeText[int32](t)
	case sqltype.PhysU32:
		return wholeText[uint32](t)
	case sqltype.PhysI64:
		return wholeText[int64](t)
	case sqltype.PhysU64:
		return wholeText[uint64](t)
	case sqltype.PhysF32:
		return fixedText(refused[float32], func(d sqltype.Datum) float32 { return float32(d.F) })
	case sqltype.PhysI128:
		return fixedText(refused[sqltype.Int128], func(d sqltype.Datum) sqltype.Int128 {
			return sqltype.Int128{Lo: uint64(d.I), Hi: d.Hi}
		})
	case sqltype.PhysSpan:
		return fixedText(refused[sqltype.Span], func(d sqltype.Datum) sqltype.Span {
			return sqltype.Span{Months: d.Months, Days: d.Days, Micros: d.I}
		})
	}
	return parsedViews(sqltype.ParseDatum)
}

func refused[T any]([]byte) (v T, ok bool) { return v, false }

func intOf[T integer](d sqltype.Datum) T { return T(d.I) }

// wholeText reads integers; other types of the same form go by sqltype.
func wholeText[T integer](t sqltype.Type) textParser {
	if !t.Kind.IsInteger() {
		return fixedText(refused[T], intOf[T])
	}
	unsigned := t.Kind == sqltype.KindUint64 // which has no -0
	return fixedText(func(s []byte) (T, bool) {
		v, ok := plainInt(s)
		return T(v), ok && int64(T(v)) == v && !(unsigned && s[0] == '-')
	}, intOf[T])
}

// fixedText reads values of a fixed width: by quick, which refuses what it does
// not know, else as a Datum.
func fixedText[T any](quick func([]byte) (T, bool), of func(sqltype.Datum) T) textParser {
	return func(c *textColumn, im *Importer, b *textBlock, fields []textSpan, valid []uint64) (nulls, bad int, err error) {
		out, err := roomOf[T](&c.values, im, len(fields))
		if err != nil {
			return 0, -1, err
		}
		for i, s := range fields {
			if s.n == noText {
				var zero T
				out[i] = zero
				valid[i/64] &^= 1 << (i % 64)
				nulls++
				continue
			}
			text := b.text(s)
			v, ok := quick(text)
			if !ok {
				d, err := sqltype.ParseDatum(string(text), c.typ)
				if err != nil {
					return 0, i, err
				}
				v = of(d)
			}
			out[i] = v
		}
		return nulls, -1, nil
	}
}

// textViews makes views of the texts where they are.
func textViews(c *textColumn, im *Importer, b *textBlock, fields []textSpan, valid []uint64) (nulls, bad int, err error) {
	out, err := roomOf[kernels.View](&c.values, im, len(fields))
	if err != nil {
		return 0, -1, err
	}
	var moved []movedText
	for i, s := range fields {
		switch {
		case s.n == noText:
			out[i] = kernels.View{}
			valid[i/64] &^= 1 << (i % 64)
			nulls++
		case s.n&spanSide != 0:
			moved = append(moved, movedText{i, b.text(s)})
		default:
			out[i] = makeView(b.data[s.at:s.at+s.n&spanLength], b.base+device.Ptr(s.at))
		}
	}
	return nulls, -1, c.viewsAside(im, out, moved)
}

// parsedViews makes views of what the texts stand for, as a BLOB.
func parsedViews(read func(string, sqltype.Type) (sqltype.Datum, error)) textParser {
	return func(c *textColumn, im *Importer, b *textBlock, fields []textSpan, valid []uint64) (nulls, bad int, err error) {
		out, err := roomOf[kernels.View](&c.values, im, len(fields))
		if err != nil {
			return 0, -1, err
		}
		moved := make([]movedText, 0, len(fields))
		for i, s := range fields {
			if s.n == noText {
				out[i] = kernels.View{}
				valid[i/64] &^= 1 << (i % 64)
				nulls++
				continue
			}
			d, err := read(string(b.text(s)), c.typ)
			if err != nil {
				return 0, i, err
			}
			moved = append(moved, movedText{i, []byte(d.S)})
		}
		return nulls, -1, c.viewsAside(im, out, moved)
	}
}

// movedText is the text of a row that does not lie in the block.
type movedText struct {
	row  int
	text []byte
}

// viewsAside copies texts and makes views of them.
func (c *textColumn) viewsAside(im *Importer, out []kernels.View, moved []movedText) error {
	size := 0
	for _, m := range moved {
		size += len(m.text)
	}
	b, err := c.aside.reserve(im, size)
	if err != nil {
		return err
	}
	at := 0
	for _, m := range moved {
		at += copy(b[at:], m.text)
	}
	base, err := c.aside.address(im, 0, size)
	if err != nil {
		return err
	}
	for _, m := range moved {
		out[m.row] = makeView(m.text, base)
		base += device.Ptr(len(m.text))
	}
	return nil
}

// decimalReader reads plain decimals that fit in the type.
func decimalReader(t sqltype.Type) func([]byte) (int64, bool) {
	scale := int(t.Scale)
	limit := int64(math.Pow10(int(t.Precision)))
	return func(s []byte) (int64, bool) {
		v, ok := plainDecimal(s, scale)
		return v, ok && v < limit && v > -limit
	}
}

// twoDigits is the number at s[0:2], more than 99 when it is none.
func twoDigits(s []byte) int {
	a, b := uint(s[0]-'0'), uint(s[1]-'0')
	if a > 9 || b > 9 {
		return 100
	}
	return int(10*a + b)
}

// plainDate reads 1995-01-31, as days.
func plainDate(s []byte) (int64, bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	century, year, month, day := twoDigits(s), twoDigits(s[2:]), twoDigits(s[5:]), twoDigits(s[8:])
	if century > 99 || year > 99 || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, false
	}
	y := 100*century + year
	if y == 0 || day > 28 && day > sqltype.DaysIn(y, month) {
		return 0, false
	}
	return int64(sqltype.DaysFromCivil(y, month, day)), true
}

// plainTimestamp reads 1995-01-31, or with 23:59:59 and perhaps up to six
// digits of a second behind it, as microseconds.
func plainTimestamp(s []byte) (int64, bool) {
	if len(s) < 10 {
		return 0, false
	}
	days, ok := plainDate(s[:10])
	if !ok || len(s) == 10 {
		return days * 86_400_000_000, ok
	}
	if len(s) < 19 || len(s) > 26 || len(s) == 20 || s[10] != ' ' && s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	hour, minute, second := twoDigits(s[11:]), twoDigits(s[14:]), twoDigits(s[17:])
	if hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	micros := 0
	if len(s) > 19 {
		if s[19] != '.' {
			return 0, false
		}
		for i := 20; i < 26; i++ {
			micros *= 10
			if i < len(s) {
				c := s[i] - '0'
				if c > 9 {
					return 0, false
				}
				micros += int(c)
			}
		}
	}
	return days*86_400_000_000 + int64(hour*3600+minute*60+second)*1_000_000 + int64(micros), true
}

// plainBool reads true and false.
func plainBool(s []byte) (uint8, bool) {
	switch string(s) {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	return 0, false
}

// tenTo are the powers of ten that a double has exactly.
var tenTo = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// plainFloat reads digits with a point among them: of up to 15 digits, number
// and power of ten are exact, and so their quotient is the nearest.
func plainFloat(s []byte) (float64, bool) {
	text := s
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	v, digits, behind := int64(0), 0, -1
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			v = v*10 + int64(c-'0')
			digits++
			if behind >= 0 {
				behind++
			}
		case c == '.' && behind < 0:
			behind = 0
		default:
			return otherFloat(text)
		}
		if digits > 15 {
			return otherFloat(text)
		}
	}
	if digits == 0 {
		return 0, false
	}
	f := float64(v) / tenTo[max(behind, 0)]
	if len(s) != len(text) {
		f = -f
	}
	return f, true
}

// otherFloat reads what begins like a number and has no letters but an e.
func otherFloat(s []byte) (float64, bool) {
	for _, c := range s {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(s), len(s)), 64)
	return f, err == nil
}
