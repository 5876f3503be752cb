package sqltype

import (
	"fmt"
	"strings"
)

// Kind names a family of SQL types. The zero Kind is the type of a bare NULL.
type Kind uint8

// The closed set of kinds. Text forms are in kindNames; a new kind must be
// added to every switch that ends in a panic (a test walks the set).
const (
	KindNull Kind = iota
	KindBool
	KindInt8
	KindInt16
	KindInt32
	KindInt64
	KindUint8
	KindUint16
	KindUint32
	KindUint64
	KindDecimal
	KindFloat32
	KindFloat64
	KindVarchar
	KindBlob
	KindDate
	KindTime
	KindTimestamp
	KindTimestampTZ
	KindInterval
	KindUUID
	KindTimeTZ
	KindBit
	KindEnum
	KindJSON
	KindList
	KindStruct
	KindMap
	numKinds
)

var kindNames = [numKinds]string{
	"NULL", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT",
	"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "DECIMAL", "REAL", "DOUBLE",
	"VARCHAR", "BLOB", "DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "INTERVAL",
	"UUID", "TIMETZ", "BIT", "ENUM", "JSON", "LIST", "STRUCT", "MAP",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Type is an SQL type. It is a comparable value.
type Type struct {
	Kind      Kind
	Precision uint8 // DECIMAL: total digits, 1 to 38
	Scale     uint8 // DECIMAL: digits after the point, at most Precision
	Length    int32 // VARCHAR(n), CHAR(n): declared length, kept for display and never enforced; 0 none
	Enum      *Enum // ENUM: its labels
	Parts     Parts // LIST: its element; STRUCT: its fields; MAP: the struct of key and value
}

// The types that need no parameter.
var (
	Null        = Type{Kind: KindNull}
	Bool        = Type{Kind: KindBool}
	Int8        = Type{Kind: KindInt8}
	Int16       = Type{Kind: KindInt16}
	Int32       = Type{Kind: KindInt32}
	Int64       = Type{Kind: KindInt64}
	Uint8       = Type{Kind: KindUint8}
	Uint16      = Type{Kind: KindUint16}
	Uint32      = Type{Kind: KindUint32}
	Uint64      = Type{Kind: KindUint64}
	Float32     = Type{Kind: KindFloat32}
	Float64     = Type{Kind: KindFloat64}
	Varchar     = Type{Kind: KindVarchar}
	Blob        = Type{Kind: KindBlob}
	Date        = Type{Kind: KindDate}
	Time        = Type{Kind: KindTime}
	Timestamp   = Type{Kind: KindTimestamp}
	TimestampTZ = Type{Kind: KindTimestampTZ}
	Interval    = Type{Kind: KindInterval}
	UUID        = Type{Kind: KindUUID}
	TimeTZ      = Type{Kind: KindTimeTZ}
	Bit         = Type{Kind: KindBit}
	JSON        = Type{Kind: KindJSON}
)

// MaxPrecision is the most digits that a DECIMAL can have.
const MaxPrecision = 38

// Decimal returns DECIMAL(precision, scale).
func Decimal(precision, scale int) Type {
	if precision < 1 || precision > MaxPrecision || scale < 0 || scale > precision {
		panic(fmt.Sprintf("sqltype: DECIMAL(%d,%d)", precision, scale))
	}
	return Type{Kind: KindDecimal, Precision: uint8(precision), Scale: uint8(scale)}
}

func (t Type) String() string {
	switch {
	case t.Kind == KindDecimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	case t.Kind == KindVarchar && t.Length > 0:
		return fmt.Sprintf("VARCHAR(%d)", t.Length)
	case t.Kind == KindEnum && t.Enum != nil:
		return t.Enum.Name
	case t.Kind.IsNested() && t.Parts != (Parts{}):
		return t.nestedName()
	}
	return t.Kind.String()
}

// Phys is how a type's values lie in memory: the only thing a step needs to know.
//
//gpu:layout
type Phys uint8

// The closed set of physical forms.
//
//	form      bytes  holds
//	Bool        1    0 or 1
//	I8 .. I64   1-8  signed integers; DATE (I32, days since 1970-01-01);
//	                 TIME, TIMESTAMP, TIMESTAMPTZ (I64, microseconds);
//	                 TIMETZ (I64, see MakeTimeTZ);
//	                 DECIMAL to 18 digits (I64, unscaled)
//	U8 .. U64   1-8  unsigned integers; ENUM (U16, the label's place)
//	F32 F64     4,8  REAL, DOUBLE
//	I128       16    DECIMAL of 19 to 38 digits, unscaled, two's complement, low word first;
//	                 UUID, its first bit inverted so that the order is that of the bytes
//	Str        16    VARCHAR, BLOB: a View (see package kernels); LIST, STRUCT and MAP: a View
//	                 of the bytes of their elements, see AppendElement; BIT: its digits;
//	                 JSON: its text
//	Span       16    INTERVAL: months int32, days int32, microseconds int64
//
//gpu:layout
const (
	PhysBool Phys = iota
	PhysI8
	PhysI16
	PhysI32
	PhysI64
	PhysU8
	PhysU16
	PhysU32
	PhysU64
	PhysF32
	PhysF64
	PhysI128
	PhysStr
	PhysSpan
	NumPhys
)

var physWidth = [NumPhys]int{1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 16, 16, 16}

// Width is the bytes a value takes.
func (p Phys) Width() int { return physWidth[p] }

func (p Phys) String() string {
	return [NumPhys]string{"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
		"f32", "f64", "i128", "str", "span"}[p]
}

// Phys is the physical form of t. A bare NULL is held as Bool, all null.
func (t Type) Phys() Phys {
	switch t.Kind {
	case KindNull, KindBool:
		return PhysBool
	case KindInt8:
		return PhysI8
	case KindInt16:
		return PhysI16
	case KindInt32, KindDate:
		return PhysI32
	case KindInt64, KindTime, KindTimestamp, KindTimestampTZ, KindTimeTZ:
		return PhysI64
	case KindUint8:
		return PhysU8
	case KindUint16, KindEnum:
		return PhysU16
	case KindUint32:
		return PhysU32
	case KindUint64:
		return PhysU64
	case KindDecimal:
		if t.Precision <= 18 {
			return PhysI64
		}
		return PhysI128
	case KindFloat32:
		return PhysF32
	case KindFloat64:
		return PhysF64
	case KindVarchar, KindBlob, KindBit, KindJSON, KindList, KindStruct, KindMap:
		return PhysStr
	case KindInterval:
		return PhysSpan
	case KindUUID:
		return PhysI128
	}
	panic("sqltype: no physical form for " + t.String())
}

// IsInteger, IsNumeric and the like say which family a kind is of.
func (k Kind) IsInteger() bool { return k >= KindInt8 && k <= KindUint64 }

// IsSigned reports a signed integer.
func (k Kind) IsSigned() bool { return k >= KindInt8 && k <= KindInt64 }

// IsUnsigned reports an unsigned integer.
func (k Kind) IsUnsigned() bool { return k >= KindUint8 && k <= KindUint64 }

// IsFloat reports REAL or DOUBLE.
func (k Kind) IsFloat() bool { return k == KindFloat32 || k == KindFloat64 }

// IsNumeric reports an integer, DECIMAL, REAL or DOUBLE.
func (k Kind) IsNumeric() bool { return k.IsInteger() || k == KindDecimal || k.IsFloat() }

// IsString reports VARCHAR or BLOB.
func (k Kind) IsString() bool { return k == KindVarchar || k == KindBlob }

// IsNested reports LIST, STRUCT or MAP.
func (k Kind) IsNested() bool { return k >= KindList && k <= KindMap }

// IsTemporal reports DATE, TIME, TIMESTAMP or TIMESTAMPTZ.
func (k Kind) IsTemporal() bool { return k >= KindDate && k <= KindTimestampTZ }

// Column is a named, typed column of a schema.
type Column struct {
	Name    string
	Type    Type
	NotNull bool
}

// Schema is the columns of a table or a result, in order.
type Schema []Column

// Find returns the place of the column with that name, ASCII case folded, or -1.
func (s Schema) Find(name string) int {
	for i := range s {
		if strings.EqualFold(s[i].Name, name) {
			return i
		}
	}
	return -1
}
