package sqltype

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// AppendOrdered adds a value that is not NULL as bytes whose order is SQL's. No
// value's bytes are the beginning of those of another one of its type.
//
//	integer  big endian, sign bit inverted      DECIMAL  the same, of 8 or 16 bytes
//	float    sign inverted, or all bits if negative; -0 as 0; one NaN above all
//	string   00 as 00 FF, ended by 00 00
//	interval days of 24 hours and 30 a month, then microseconds of the day
func AppendOrdered(b []byte, d *Datum) []byte {
	const sign = 1 << 63
	switch d.Type.Phys() {
	case PhysBool, PhysU8:
		return append(b, byte(d.I))
	case PhysI8:
		return append(b, byte(d.I)^0x80)
	case PhysU16:
		return binary.BigEndian.AppendUint16(b, uint16(d.I))
	case PhysI16:
		return binary.BigEndian.AppendUint16(b, uint16(d.I)^0x8000)
	case PhysU32:
		return binary.BigEndian.AppendUint32(b, uint32(d.I))
	case PhysI32:
		return binary.BigEndian.AppendUint32(b, uint32(d.I)^1<<31)
	case PhysU64:
		return binary.BigEndian.AppendUint64(b, uint64(d.I))
	case PhysI64:
		return binary.BigEndian.AppendUint64(b, uint64(d.I)^sign)
	case PhysF32:
		u := math.Float32bits(float32(d.F) + 0)
		switch {
		case d.F != d.F:
			u = math.MaxUint32
		case u>>31 != 0:
			u = ^u
		default:
			u |= 1 << 31
		}
		return binary.BigEndian.AppendUint32(b, u)
	case PhysF64:
		u := math.Float64bits(d.F + 0)
		switch {
		case d.F != d.F:
			u = math.MaxUint64
		case u&sign != 0:
			u = ^u
		default:
			u |= sign
		}
		return binary.BigEndian.AppendUint64(b, u)
	case PhysI128:
		b = binary.BigEndian.AppendUint64(b, uint64(d.Hi)^sign)
		return binary.BigEndian.AppendUint64(b, uint64(d.I))
	case PhysStr:
		return appendOrderedString(b, d.S)
	case PhysSpan:
		const day = 24 * 3600 * 1e6
		days, micros := int64(d.Months)*30+int64(d.Days)+d.I/day, d.I%day
		if micros < 0 {
			days, micros = days-1, micros+day
		}
		b = binary.BigEndian.AppendUint64(b, uint64(days)^sign)
		return binary.BigEndian.AppendUint64(b, uint64(micros))
	default:
		panic(fmt.Sprintf("sqltype: no order of bytes for %v", d.Type.Phys()))
	}
}

func appendOrderedString(b []byte, s string) []byte {
	for i := range len(s) {
		b = append(b, s[i])
		if s[i] == 0 {
			b = append(b, 0xFF)
		}
	}
	return append(b, 0, 0)
}

// ReadOrdered is the value of type t that AppendOrdered made s of. An INTERVAL
// cannot be read back.
func ReadOrdered(t Type, s string) Datum {
	d := Datum{Type: t}
	p := t.Phys()
	if p == PhysStr {
		if d.S = strings.TrimSuffix(s, "\x00\x00"); strings.IndexByte(d.S, 0) >= 0 {
			d.S = strings.ReplaceAll(d.S, "\x00\xFF", "\x00")
		}
		return d
	}
	u := readWord(s[:min(8, p.Width())])
	const sign = 1 << 63
	switch p {
	case PhysBool, PhysU8, PhysU16, PhysU32, PhysU64:
		d.I = int64(u)
	case PhysI8:
		d.I = int64(int8(u ^ 0x80))
	case PhysI16:
		d.I = int64(int16(u ^ 0x8000))
	case PhysI32:
		d.I = int64(int32(u ^ 1<<31))
	case PhysI64:
		d.I = int64(u ^ sign)
	case PhysI128:
		d.Hi, d.I = int64(u^sign), int64(readWord(s[8:16]))
	case PhysF32:
		v := uint32(u)
		if v>>31 != 0 {
			v &^= 1 << 31
		} else {
			v = ^v
		}
		d.F = float64(math.Float32frombits(v))
	case PhysF64:
		if u&sign != 0 {
			u &^= sign
		} else {
			u = ^u
		}
		d.F = math.Float64frombits(u)
	default:
		panic(fmt.Sprintf("sqltype: no value of the bytes of %v", p))
	}
	return d
}

// AppendExact adds a value that is not NULL as bytes of the width of AppendOrdered's,
// that ReadExact makes the same value of: -0, NaN and INTERVAL keep what their
// order does not tell. These bytes have no order.
func AppendExact(b []byte, d *Datum) []byte {
	switch d.Type.Phys() {
	case PhysF32:
		return binary.BigEndian.AppendUint32(b, math.Float32bits(float32(d.F)))
	case PhysF64:
		return binary.BigEndian.AppendUint64(b, math.Float64bits(d.F))
	case PhysSpan:
		return appendSpan(b, d.Span())
	}
	return AppendOrdered(b, d)
}

// ReadExact is the value of type t that AppendExact made s of.
func ReadExact(t Type, s string) Datum {
	switch t.Phys() {
	case PhysF32:
		return Datum{Type: t, F: float64(math.Float32frombits(uint32(readWord(s[:4]))))}
	case PhysF64:
		return Datum{Type: t, F: math.Float64frombits(readWord(s[:8]))}
	case PhysSpan:
		v := readSpan(s)
		return Datum{Type: t, Months: v.Months, Days: v.Days, I: v.Micros}
	}
	return ReadOrdered(t, s)
}

// readWord is a big endian number.
func readWord(s string) (u uint64) {
	for i := range len(s) {
		u = u<<8 | uint64(s[i])
	}
	return u
}

func appendSpan(b []byte, v Span) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(v.Months))
	b = binary.BigEndian.AppendUint32(b, uint32(v.Days))
	return binary.BigEndian.AppendUint64(b, uint64(v.Micros))
}

func readSpan(s string) Span {
	return Span{Months: int32(readWord(s[:4])), Days: int32(readWord(s[4:8])), Micros: int64(readWord(s[8:16]))}
}
