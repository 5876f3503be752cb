package gpusql

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpusql/gpusql/sqltype"
)

// Value is one SQL value; String is its SQL text.
type Value = sqltype.Datum

// Type is an SQL type.
type Type = sqltype.Type

// Kind is a family of SQL types: Type.Kind.
type Kind = sqltype.Kind

// The kinds. KindNull is the type of a bare NULL.
const (
	KindNull        = sqltype.KindNull
	KindBool        = sqltype.KindBool
	KindInt8        = sqltype.KindInt8
	KindInt16       = sqltype.KindInt16
	KindInt32       = sqltype.KindInt32
	KindInt64       = sqltype.KindInt64
	KindUint8       = sqltype.KindUint8
	KindUint16      = sqltype.KindUint16
	KindUint32      = sqltype.KindUint32
	KindUint64      = sqltype.KindUint64
	KindDecimal     = sqltype.KindDecimal
	KindFloat32     = sqltype.KindFloat32
	KindFloat64     = sqltype.KindFloat64
	KindVarchar     = sqltype.KindVarchar
	KindBlob        = sqltype.KindBlob
	KindDate        = sqltype.KindDate
	KindTime        = sqltype.KindTime
	KindTimestamp   = sqltype.KindTimestamp
	KindTimestampTZ = sqltype.KindTimestampTZ
	KindInterval    = sqltype.KindInterval
	KindUUID        = sqltype.KindUUID
	KindTimeTZ      = sqltype.KindTimeTZ
	KindBit         = sqltype.KindBit
	KindEnum        = sqltype.KindEnum
	KindJSON        = sqltype.KindJSON
	KindList        = sqltype.KindList
	KindStruct      = sqltype.KindStruct
	KindMap         = sqltype.KindMap
)

// toValue makes an argument's value: nil, booleans, integers, floats, strings,
// []byte, time.Time, a Value, or a pointer to or named form of one of these.
func toValue(arg any) (Value, error) {
	switch v := arg.(type) {
	case nil:
		return sqltype.NullOf(sqltype.Null), nil
	case Value:
		return v, nil
	case bool:
		return sqltype.NewBool(v), nil
	case int:
		return integerValue(int64(v)), nil
	case int64:
		return integerValue(v), nil
	case int32:
		return sqltype.NewInt32(v), nil
	case float64:
		return sqltype.NewFloat64(v), nil
	case float32:
		return Value{Type: sqltype.Float32, F: float64(v)}, nil
	case string:
		return sqltype.NewString(v), nil
	case []byte:
		return Value{Type: sqltype.Blob, S: string(v)}, nil
	case time.Time:
		return Value{Type: sqltype.TimestampTZ, I: v.UnixMicro()}, nil
	}
	return reflectValue(arg)
}

// integerValue is an INTEGER when that holds v, as a literal is: the type of
// an expression must not depend on where its number comes from.
func integerValue(v int64) Value {
	if v == int64(int32(v)) {
		return sqltype.NewInt32(int32(v))
	}
	return sqltype.NewInt64(v)
}

func reflectValue(arg any) (Value, error) {
	v := reflect.ValueOf(arg)
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return sqltype.NullOf(sqltype.Null), nil
		}
		return toValue(v.Elem().Interface())
	case reflect.Bool:
		return sqltype.NewBool(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return integerValue(v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if u := v.Uint(); u > math.MaxInt64 {
			return Value{Type: sqltype.Uint64, I: int64(u)}, nil
		}
		return integerValue(int64(v.Uint())), nil
	case reflect.Float32, reflect.Float64:
		return sqltype.NewFloat64(v.Float()), nil
	case reflect.String:
		return sqltype.NewString(v.String()), nil
	case reflect.Slice, reflect.Array:
		return listValue(v)
	}
	return Value{}, sqltype.Errorf(sqltype.CodeInvalidParameter, "an argument of Go type %T has no SQL type", arg)
}

// listValue makes a list of a Go slice, of the type in which its elements meet.
func listValue(v reflect.Value) (Value, error) {
	parts := make([]Value, v.Len())
	elem := sqltype.Null
	for i := range parts {
		p, err := toValue(v.Index(i).Interface())
		if err != nil {
			return Value{}, err
		}
		t, ok := sqltype.CommonType(elem, p.Type)
		if !ok {
			return Value{}, sqltype.Errorf(sqltype.CodeInvalidParameter, "a list of %s and %s has no SQL type", elem, p.Type)
		}
		parts[i], elem = p, t
	}
	for i, p := range parts {
		var err error
		if parts[i], err = sqltype.CastDatum(p, elem); err != nil {
			return Value{}, err
		}
	}
	return sqltype.NewNested(sqltype.ListOf(elem), parts), nil
}

// Named is an argument for the parameter $name of a statement whose parameters have
// names. Without it, they take their arguments in the order of their first appearances.
type Named struct {
	Name  string // in either case
	Value any
}

// toValues makes the values of the arguments of a statement, whose parameters may
// have names.
func toValues(names []string, args []any) ([]Value, error) {
	if len(args) == 0 {
		return nil, nil
	}
	values := make([]Value, max(len(args), len(names)))
	given := make([]bool, len(names))
	for i, a := range args {
		at, what := i, strconv.Itoa(i+1)
		if n, ok := a.(Named); ok {
			at, what, a = slices.Index(names, strings.ToLower(n.Name)), "$"+n.Name, n.Value
			if at < 0 {
				return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "the statement has no parameter %s", what)
			}
		}
		if at < len(given) {
			if given[at] {
				return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "two arguments are given for parameter $%s", names[at])
			}
			given[at] = true
		}
		v, err := toValue(a)
		if err != nil {
			return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "argument %s: %v", what, err)
		}
		values[at] = v
	}
	if i := slices.Index(given, false); i >= 0 {
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "parameter $%s has no argument", names[i])
	}
	return values, nil
}

// goValue is a value as the Go type that suits it: what Scan gives to an *any
// and the database/sql driver returns.
func goValue(v Value) any {
	if v.Null {
		return nil
	}
	switch k := v.Type.Kind; k {
	case sqltype.KindNull:
		return nil
	case sqltype.KindBool:
		return v.I != 0
	case sqltype.KindInt8, sqltype.KindInt16, sqltype.KindInt32, sqltype.KindInt64,
		sqltype.KindUint8, sqltype.KindUint16, sqltype.KindUint32:
		return v.I
	case sqltype.KindUint64:
		return uint64(v.I)
	case sqltype.KindFloat32, sqltype.KindFloat64:
		return v.F
	case sqltype.KindVarchar:
		return v.S
	case sqltype.KindBlob:
		return []byte(v.S)
	case sqltype.KindDate:
		return time.Unix(v.I*86400, 0).UTC()
	case sqltype.KindTimestamp, sqltype.KindTimestampTZ:
		return time.UnixMicro(v.I).UTC()
	case sqltype.KindDecimal, sqltype.KindTime, sqltype.KindInterval, sqltype.KindUUID, sqltype.KindTimeTZ, sqltype.KindBit, sqltype.KindEnum, sqltype.KindJSON:
		return v.String()
	case sqltype.KindMap: // by the keys' text
		entries := map[string]any{}
		for e := v.Elements(); e.Next(); {
			entry := e.Datum().Elements()
			entry.Next()
			key := entry.Datum().String()
			entry.Next()
			entries[key] = goValue(entry.Datum())
		}
		return entries
	case sqltype.KindList:
		list := []any{}
		for e := v.Elements(); e.Next(); {
			list = append(list, goValue(e.Datum()))
		}
		return list
	case sqltype.KindStruct:
		fields := map[string]any{}
		for e := v.Elements(); e.Next(); {
			name := e.Name()
			if name == "" { // of ROW(...): by place
				name = strconv.Itoa(len(fields) + 1)
			}
			fields[name] = goValue(e.Datum())
		}
		return fields
	default:
		panic(fmt.Sprintf("gpusql: no Go type for %s", k))
	}
}

// scanInto stores a value in *dest.
func scanInto(dest any, v Value) error {
	switch d := dest.(type) {
	case *Value:
		*d = v
		return nil
	case *any:
		*d = goValue(v)
		return nil
	}
	if v.Null {
		return scanNull(dest)
	}
	switch d := dest.(type) {
	case *string:
		*d = v.String()
		return nil
	case *[]byte:
		if v.Type.Kind.IsString() {
			*d = []byte(v.S)
		} else {
			*d = []byte(v.String())
		}
		return nil
	case *bool:
		if v.Type.Kind == sqltype.KindBool {
			*d = v.I != 0
			return nil
		}
	case *int64:
		if v.Type.Kind.IsSigned() {
			*d = v.I
			return nil
		}
	case *int:
		if v.Type.Kind.IsSigned() {
			*d = int(v.I)
			return nil
		}
	case *float64:
		if v.Type.Kind.IsFloat() {
			*d = v.F
			return nil
		}
	case *time.Time:
		if t, ok := goValue(v).(time.Time); ok {
			*d = t
			return nil
		}
	}
	return scanReflect(dest, v)
}

// scanNull stores NULL: in pointers to pointers only, as anything else would
// lose it.
func scanNull(dest any) error {
	if p := reflect.ValueOf(dest); p.Kind() == reflect.Pointer && !p.IsNil() {
		switch p.Elem().Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Interface, reflect.Map:
			p.Elem().SetZero()
			return nil
		}
	}
	if s, ok := dest.(interface{ Scan(any) error }); ok {
		return s.Scan(nil)
	}
	return sqltype.Errorf(sqltype.CodeTypeMismatch, "NULL cannot be scanned into %T; a pointer to a pointer takes it", dest)
}

// scanReflect stores a value in a Go type that it has to be converted to; a
// number that does not fit is an error.
func scanReflect(dest any, v Value) error {
	if s, ok := dest.(interface{ Scan(any) error }); ok {
		return s.Scan(goValue(v))
	}
	p := reflect.ValueOf(dest)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return sqltype.Errorf(sqltype.CodeInvalidParameter, "cannot scan into %T: a pointer is needed", dest)
	}
	e := p.Elem()
	if e.Kind() == reflect.Pointer {
		n := reflect.New(e.Type().Elem())
		if err := scanInto(n.Interface(), v); err != nil {
			return err
		}
		e.Set(n)
		return nil
	}
	var ok bool
	switch e.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		var n int64
		if n, ok = wholeNumber(v); ok && !e.OverflowInt(n) {
			e.SetInt(n)
			return nil
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		var n int64
		if n, ok = wholeNumber(v); ok && (n >= 0 || v.Type.Kind == sqltype.KindUint64) && !e.OverflowUint(uint64(n)) {
			e.SetUint(uint64(n))
			return nil
		}
	case reflect.Float32, reflect.Float64:
		if f, err := strconv.ParseFloat(v.String(), 64); err == nil && v.Type.Kind.IsNumeric() {
			e.SetFloat(f)
			return nil
		}
	case reflect.Bool:
		if v.Type.Kind == sqltype.KindBool {
			e.SetBool(v.I != 0)
			return nil
		}
	case reflect.String:
		e.SetString(v.String())
		return nil
	}
	return sqltype.Errorf(sqltype.CodeTypeMismatch, "%s of type %s cannot be scanned into %T", v, v.Type, dest)
}

// wholeNumber is a value as an integer, when it is one or a DECIMAL without a fraction.
func wholeNumber(v Value) (int64, bool) {
	if v.Type.Kind.IsInteger() {
		return v.I, v.Type.Kind != sqltype.KindUint64 || v.I >= 0
	}
	if v.Type.Kind != sqltype.KindDecimal {
		return 0, false
	}
	d, err := sqltype.CastDatum(v, sqltype.Int64)
	if err != nil {
		return 0, false
	}
	back, err := sqltype.CastDatum(d, v.Type)
	return d.I, err == nil && sqltype.Compare(back, v) == 0
}
