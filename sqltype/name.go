package sqltype

import "strings"

// TypeByName is the type that a name in SQL text stands for, whichever engine
// the name comes from: "integer", "int4" and "signed" are one. Mods are the
// numbers in parentheses after it. False means that there is no such type or
// it does not take these numbers. Words of several parts are separated by one
// blank ("double precision", "timestamp with time zone").
//
// This is the engine's only list of type names.
func TypeByName(name string, mods []int) (Type, bool) {
	name = strings.ToLower(name)
	switch name {
	case "decimal", "numeric", "dec", "number", "fixed":
		return decimalOf(mods)
	case "varchar", "char", "character", "character varying", "char varying", "bpchar", "nvarchar", "nchar",
		"varchar2", "national character", "national char", "national character varying":
		return varcharOf(mods)
	case "float":
		return floatOf(mods)
	}
	t, ok := typeNames[name]
	switch {
	case !ok, len(mods) > 1:
		return Null, false
	case len(mods) == 1:
		// A display width (INT(11)), a precision of seconds (TIMESTAMP(6)) or a
		// length says nothing about the values that are held.
		ok = mods[0] >= 0 && (t.Kind.IsInteger() || t.Kind.IsTemporal() || t.Kind.IsString() || t.Kind == KindInterval ||
			t.Kind == KindTimeTZ || t.Kind == KindBit)
	}
	return t, ok
}

var typeNames = map[string]Type{
	"json": JSON, "jsonb": JSON,
	"timestamp_s": Timestamp, "timestamp_ms": Timestamp, "timestamp_ns": Timestamp,
	"boolean": Bool, "bool": Bool, "logical": Bool,
	"bit": Bit, "bitstring": Bit, "bit varying": Bit, "varbit": Bit,
	"tinyint": Int8, "int1": Int8,
	"smallint": Int16, "int2": Int16, "short": Int16,
	"integer": Int32, "int": Int32, "int4": Int32, "signed": Int32, "mediumint": Int32,
	"bigint": Int64, "int8": Int64, "long": Int64,
	"utinyint": Uint8, "uint8": Uint8, "tinyint unsigned": Uint8,
	"usmallint": Uint16, "uint16": Uint16, "smallint unsigned": Uint16,
	"uinteger": Uint32, "uint32": Uint32, "uint": Uint32, "integer unsigned": Uint32, "int unsigned": Uint32,
	"ubigint": Uint64, "uint64": Uint64, "bigint unsigned": Uint64,
	"hugeint": Decimal(MaxPrecision, 0), "int128": Decimal(MaxPrecision, 0),
	"uhugeint": Decimal(MaxPrecision, 0), "uint128": Decimal(MaxPrecision, 0),
	"real": Float32, "float4": Float32, "float32": Float32,
	"double": Float64, "double precision": Float64, "float8": Float64, "float64": Float64,
	"text": Varchar, "string": Varchar, "clob": Varchar, "tinytext": Varchar, "mediumtext": Varchar,
	"longtext": Varchar, "name": Varchar, "utf8": Varchar, "regclass": Varchar, "regtype": Varchar,
	"blob": Blob, "bytea": Blob, "binary": Blob, "varbinary": Blob, "binary varying": Blob,
	"binary large object": Blob,
	"date":                Date, "date32": Date,
	"time": Time, "time without time zone": Time,
	"timetz": TimeTZ, "time with time zone": TimeTZ,
	"timestamp": Timestamp, "datetime": Timestamp, "timestamp without time zone": Timestamp, "timestamp_us": Timestamp,
	"timestamptz": TimestampTZ, "timestamp with time zone": TimestampTZ,
	"interval": Interval,
	"uuid":     UUID, "guid": UUID,
}

// defaultDecimal is a DECIMAL without numbers: DuckDB's choice. PostgreSQL's
// has no bounds, which no fixed form can hold.
var defaultDecimal = Decimal(18, 3)

func decimalOf(mods []int) (Type, bool) {
	switch len(mods) {
	case 0:
		return defaultDecimal, true
	case 1:
		mods = []int{mods[0], 0}
	}
	if len(mods) != 2 || mods[0] < 1 || mods[0] > MaxPrecision || mods[1] < 0 || mods[1] > mods[0] {
		return Null, false
	}
	return Decimal(mods[0], mods[1]), true
}

func varcharOf(mods []int) (Type, bool) {
	switch {
	case len(mods) == 0:
		return Varchar, true
	case len(mods) > 1 || mods[0] < 1 || mods[0] > 1<<30:
		return Null, false
	}
	return Type{Kind: KindVarchar, Length: int32(mods[0])}, true
}

// floatOf is FLOAT(n): n is a count of binary digits, as in PostgreSQL. Plain
// FLOAT is a DOUBLE there.
func floatOf(mods []int) (Type, bool) {
	switch {
	case len(mods) == 0:
		return Float64, true
	case len(mods) > 1 || mods[0] < 1 || mods[0] > 53:
		return Null, false
	case mods[0] <= 24:
		return Float32, true
	}
	return Float64, true
}

// TypeNames lists the names that TypeByName knows, for suggestions.
func TypeNames() []string {
	names := []string{"decimal", "numeric", "varchar", "char", "float"}
	for n := range typeNames {
		names = append(names, n)
	}
	return names
}
