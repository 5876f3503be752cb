package arrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/gpusql/gpusql/sqltype"
)

// AppendDatum appends a value to a builder of ArrowType(d.Type).
func AppendDatum(b array.Builder, d sqltype.Datum) {
	if d.Null {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(d.I != 0)
	case *array.Int8Builder:
		b.Append(int8(d.I))
	case *array.Int16Builder:
		b.Append(int16(d.I))
	case *array.Int32Builder:
		b.Append(int32(d.I))
	case *array.Int64Builder:
		b.Append(d.I)
	case *array.Uint8Builder:
		b.Append(uint8(d.I))
	case *array.Uint16Builder:
		b.Append(uint16(d.I))
	case *array.Uint32Builder:
		b.Append(uint32(d.I))
	case *array.Uint64Builder:
		b.Append(uint64(d.I))
	case *array.Float32Builder:
		b.Append(float32(d.F))
	case *array.Float64Builder:
		b.Append(d.F)
	case *array.Decimal128Builder:
		v := d.Int128()
		b.Append(decimal128.New(v.Hi, v.Lo))
	case *array.StringBuilder:
		if !d.Type.Kind.IsString() { // a UUID, an ENUM
			d.S = d.String()
		}
		b.Append(d.S)
	case *array.MapBuilder:
		b.Append(true)
		for e := d.Elements(); e.Next(); {
			entry := e.Datum().Elements()
			entry.Next()
			AppendDatum(b.KeyBuilder(), entry.Datum())
			entry.Next()
			AppendDatum(b.ItemBuilder(), entry.Datum())
		}
	case *array.ListBuilder:
		b.Append(true)
		for e := d.Elements(); e.Next(); {
			AppendDatum(b.ValueBuilder(), e.Datum())
		}
	case *array.StructBuilder:
		b.Append(true)
		e := d.Elements()
		for i := 0; i < b.NumField() && e.Next(); i++ {
			AppendDatum(b.FieldBuilder(i), e.Datum())
		}
	case *array.BinaryBuilder:
		b.AppendString(d.S)
	case *array.Date32Builder:
		b.Append(arrow.Date32(d.I))
	case *array.Time64Builder:
		b.Append(arrow.Time64(d.I))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(d.I))
	case *array.MonthDayNanoIntervalBuilder:
		b.Append(arrow.MonthDayNanoInterval{Months: d.Months, Days: d.Days, Nanoseconds: d.I * 1000})
	case *array.NullBuilder:
		b.AppendNull()
	default:
		panic(fmt.Sprintf("arrow: a %s for %T", d.Type, b))
	}
}

// DatumAt is value i of an array of ArrowType of some SQL type, of a dictionary
// of such, or of a list or struct of whatever TypeOf knows.
func DatumAt(a arrow.Array, i int) sqltype.Datum {
	t, ok := TypeOf(a.DataType())
	if !ok {
		panic(fmt.Sprintf("arrow: no SQL type for %s", a.DataType()))
	}
	if a.IsNull(i) {
		return sqltype.NullOf(t)
	}
	d := sqltype.Datum{Type: t}
	switch a := a.(type) {
	case *array.Boolean:
		return sqltype.NewBool(a.Value(i))
	case *array.Int8:
		d.I = int64(a.Value(i))
	case *array.Int16:
		d.I = int64(a.Value(i))
	case *array.Int32:
		d.I = int64(a.Value(i))
	case *array.Int64:
		d.I = a.Value(i)
	case *array.Uint8:
		d.I = int64(a.Value(i))
	case *array.Uint16:
		d.I = int64(a.Value(i))
	case *array.Uint32:
		d.I = int64(a.Value(i))
	case *array.Uint64:
		d.I = int64(a.Value(i))
	case *array.Float32:
		d.F = float64(a.Value(i))
	case *array.Float64:
		d.F = a.Value(i)
	case *array.Decimal128:
		v := a.Value(i)
		return sqltype.NewDecimal(sqltype.Int128{Lo: v.LowBits(), Hi: v.HighBits()}, t)
	case *array.String:
		d.S = a.Value(i)
	case array.ListLike:
		return listAt(a, t, i)
	case *array.Struct:
		parts := make([]sqltype.Datum, a.NumField())
		for k := range parts {
			parts[k] = DatumAt(a.Field(k), i)
		}
		return sqltype.NewNested(t, parts)
	case *array.Dictionary:
		return DatumAt(a.Dictionary(), a.GetValueIndex(i))
	case *array.Binary:
		d.S = a.ValueString(i)
	case *array.Date32:
		d.I = int64(a.Value(i))
	case *array.Time64:
		num, den := perMicro(a.DataType().(*arrow.Time64Type).Unit)
		d.I = int64(a.Value(i)) * num / den
	case *array.Timestamp:
		num, den := perMicro(a.DataType().(*arrow.TimestampType).Unit)
		d.I = floorQuo(int64(a.Value(i))*num, den)
	case *array.MonthDayNanoInterval:
		v := a.Value(i)
		d.Months, d.Days, d.I = v.Months, v.Days, v.Nanoseconds/1000
	default:
		return rareAt(a, t, i)
	}
	return d
}

// listAt is a list, from the part of the values that is its own.
func listAt(a array.ListLike, t sqltype.Type, i int) sqltype.Datum {
	lo, hi := a.ValueOffsets(i)
	parts := make([]sqltype.Datum, 0, hi-lo)
	for k := lo; k < hi; k++ {
		parts = append(parts, DatumAt(a.ListValues(), int(k)))
	}
	return sqltype.NewNested(t, parts)
}

// rareAt is a value of a type that ArrowType never gives.
func rareAt(a arrow.Array, t sqltype.Type, i int) sqltype.Datum {
	d := sqltype.Datum{Type: t}
	switch a := a.(type) {
	case *array.LargeString:
		d.S = a.Value(i)
	case *array.LargeBinary:
		d.S = string(a.Value(i))
	case *array.FixedSizeBinary:
		d.S = string(a.Value(i))
	case *array.StringView:
		d.S = a.Value(i)
	case *array.BinaryView:
		d.S = string(a.Value(i))
	case *array.Float16:
		d.F = float64(a.Value(i).Float32())
	case *array.Decimal32:
		return sqltype.NewDecimal(sqltype.Int128Of(int64(a.Value(i))), t)
	case *array.Decimal64:
		return sqltype.NewDecimal(sqltype.Int128Of(int64(a.Value(i))), t)
	case *array.Date64:
		d.I = floorQuo(int64(a.Value(i)), 86_400_000)
	case *array.Time32:
		num, den := perMicro(a.DataType().(*arrow.Time32Type).Unit)
		d.I = int64(a.Value(i)) * num / den
	case *array.MonthInterval:
		d.Months = int32(a.Value(i))
	case *array.Duration:
		num, den := perMicro(a.DataType().(*arrow.DurationType).Unit)
		d.I = int64(a.Value(i)) * num / den
	default:
		panic(fmt.Sprintf("arrow: a value of %T", a))
	}
	return d
}

// plainInt reads an optional minus and up to 18 digits, and nothing else.
func plainInt(text []byte) (v int64, ok bool) {
	s := text
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	if len(s) != len(text) {
		v = -v
	}
	return v, true
}

// plainDecimal reads an optional minus, digits, and a point with at most scale
// digits behind it, of at most 18 digits after scaling.
func plainDecimal(text []byte, scale int) (v int64, ok bool) {
	s := text
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	digits, behind := 0, -1
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9' && digits < 18:
			v = v*10 + int64(c-'0')
			digits++
			if behind >= 0 {
				behind++
			}
		case c == '.' && behind < 0:
			behind = 0
		default:
			return 0, false
		}
	}
	behind = max(behind, 0)
	if digits == 0 || behind > scale || digits+scale-behind > 18 {
		return 0, false
	}
	for ; behind < scale; behind++ {
		v *= 10
	}
	if len(s) != len(text) {
		v = -v
	}
	return v, true
}
