package sqltype

// Datum is one value of any type: a literal, a parameter, a default, a cell of
// a result. Which field holds it follows from Type.Phys():
//
//	Bool, I*, U*   I (an unsigned 64-bit value is its bit pattern)
//	F32, F64       F
//	I128           Hi (high 64 bits, signed) and I (low 64 bits, as bits)
//	Str            S
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
