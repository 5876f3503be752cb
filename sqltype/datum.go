package sqltype

import "math"

// Datum is one value of any type: a literal, a parameter, a default, a cell of
// a result. Which field holds it follows from Type.Phys():
//
//	Bool, I*, U*   I (an unsigned 64-bit value is its bit pattern)
//	F32, F64       F
//	I128           Hi (high 64 bits, signed) and I (low 64 bits, as bits)
//	Str            S (of a LIST or STRUCT the bytes of its elements)
//	Span           Months, Days, I (microseconds)
//
// A Datum is a comparable value, but == is not SQL equality: use Compare.
type Datum struct {
	Type   Type
	Null   bool
	I      int64
	Hi     int64
	F      float64
	S      string
	Months int32
	Days   int32
}

// NullOf is the NULL of a type.
func NullOf(t Type) Datum { return Datum{Type: t, Null: true} }

// NewBool, NewInt32, NewInt64, NewFloat64 and NewString wrap Go values.
func NewBool(b bool) Datum {
	d := Datum{Type: Bool}
	if b {
		d.I = 1
	}
	return d
}

// NewInt32 is an INTEGER.
func NewInt32(v int32) Datum { return Datum{Type: Int32, I: int64(v)} }

// NewInt64 is a BIGINT.
func NewInt64(v int64) Datum { return Datum{Type: Int64, I: v} }

// NewFloat64 is a DOUBLE.
func NewFloat64(v float64) Datum { return Datum{Type: Float64, F: v} }

// NewString is a VARCHAR.
func NewString(s string) Datum { return Datum{Type: Varchar, S: s} }

// NewDecimal is the DECIMAL of type t whose digits are v: v / 10^t.Scale.
func NewDecimal(v Int128, t Type) Datum {
	d := Datum{Type: t, I: int64(v.Lo)}
	if t.Phys() == PhysI128 {
		d.Hi = v.Hi
	}
	return d
}

// NewInterval is an INTERVAL.
func NewInterval(v Span) Datum {
	return Datum{Type: Interval, Months: v.Months, Days: v.Days, I: v.Micros}
}

// Int128 is the digits of a DECIMAL, or the value of an integer.
func (d Datum) Int128() Int128 {
	switch d.Type.Phys() {
	case PhysI128:
		return Int128{Lo: uint64(d.I), Hi: d.Hi}
	case PhysU64:
		return Int128OfUint(uint64(d.I))
	}
	return Int128Of(d.I)
}

// Span is the value of an INTERVAL.
func (d Datum) Span() Span { return Span{Months: d.Months, Days: d.Days, Micros: d.I} }

// Bool is the value of a BOOLEAN.
func (d Datum) Bool() bool { return d.I != 0 }

// Float64 is the value of a number as a double.
func (d Datum) Float64() float64 {
	switch {
	case d.Type.Kind.IsFloat():
		return d.F
	case d.Type.Kind == KindDecimal:
		return DecimalFloat(d.Int128(), int(d.Type.Scale))
	}
	return d.Int128().Float64()
}

// CompareFloat orders doubles as SQL does: -0 equals 0, NaN equals NaN and is
// above every number.
func CompareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	an, bn := math.IsNaN(a), math.IsNaN(b)
	switch {
	case an && bn:
		return 0
	case an:
		return 1
	}
	return -1
}

// Compare is -1, 0 or 1 as a is below, equal to or above b in SQL's order. NULL
// is equal to NULL and above everything else, as in ORDER BY. The types must
// have a CommonType; it is a mistake of the caller otherwise, and panics.
func Compare(a, b Datum) int {
	switch {
	case a.Null && b.Null:
		return 0
	case a.Null:
		return 1
	case b.Null:
		return -1
	}
	if a.Type.Kind.IsFloat() && b.Type.Kind.IsFloat() {
		return CompareFloat(a.F, b.F) // a float32 is exact in F
	}
	if a.Type.Kind != b.Type.Kind || a.Type.Scale != b.Type.Scale || a.Type.Parts != b.Type.Parts {
		return compareMixed(a, b)
	}
	switch a.Type.Phys() {
	case PhysBool, PhysI8, PhysI16, PhysI32, PhysI64, PhysU8, PhysU16, PhysU32, PhysU64, PhysI128:
		return a.Int128().Cmp(b.Int128())
	case PhysStr:
		return compareString(a.S, b.S)
	case PhysSpan:
		return a.Span().Compare(b.Span())
	}
	panic("sqltype: cannot compare " + a.Type.String())
}

func compareString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareMixed compares values of different types. Exact numbers compare
// exactly even where the common DECIMAL could not hold them.
func compareMixed(a, b Datum) int {
	if da, ok := DecimalFor(a.Type); ok {
		if db, ok := DecimalFor(b.Type); ok {
			return CompareDecimal(a.Int128(), int(da.Scale), b.Int128(), int(db.Scale))
		}
	}
	t, ok := CommonType(a.Type, b.Type)
	if !ok {
		panic("sqltype: cannot compare " + a.Type.String() + " with " + b.Type.String())
	}
	if t.Kind.IsFloat() {
		return CompareFloat(a.Float64(), b.Float64())
	}
	x, errX := CastDatum(a, t)
	y, errY := CastDatum(b, t)
	if errX != nil || errY != nil {
		// A date that no timestamp reaches: the days decide.
		return Int128Of(daysOf(a)).Cmp(Int128Of(daysOf(b)))
	}
	return Compare(x, y)
}

// daysOf is the day of a DATE, TIMESTAMP or TIMESTAMPTZ.
func daysOf(d Datum) int64 {
	if d.Type.Kind == KindDate {
		return d.I
	}
	return floorDiv(d.I, MicrosPerDay)
}
