package arrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/gpusql/gpusql/sqltype"
)

// TypeOf is the SQL type that values of an Arrow type take, or false when
// there is none.
func TypeOf(t arrow.DataType) (sqltype.Type, bool) {
	switch t := t.(type) {
	case *arrow.NullType:
		return sqltype.Null, true
	case *arrow.BooleanType:
		return sqltype.Bool, true
	case *arrow.Int8Type:
		return sqltype.Int8, true
	case *arrow.Int16Type:
		return sqltype.Int16, true
	case *arrow.Int32Type:
		return sqltype.Int32, true
	case *arrow.Int64Type:
		return sqltype.Int64, true
	case *arrow.Uint8Type:
		return sqltype.Uint8, true
	case *arrow.Uint16Type:
		return sqltype.Uint16, true
	case *arrow.Uint32Type:
		return sqltype.Uint32, true
	case *arrow.Uint64Type:
		return sqltype.Uint64, true
	case *arrow.Float16Type, *arrow.Float32Type:
		return sqltype.Float32, true
	case *arrow.Float64Type:
		return sqltype.Float64, true
	case arrow.DecimalType:
		p, s := t.GetPrecision(), t.GetScale()
		if p < 1 || p > sqltype.MaxPrecision || s < 0 || s > p {
			return sqltype.Type{}, false
		}
		return sqltype.Decimal(int(p), int(s)), true
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return sqltype.Varchar, true
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType, *arrow.FixedSizeBinaryType:
		return sqltype.Blob, true
	case *arrow.Date32Type, *arrow.Date64Type:
		return sqltype.Date, true
	case *arrow.Time32Type, *arrow.Time64Type:
		return sqltype.Time, true
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return sqltype.TimestampTZ, true
		}
		return sqltype.Timestamp, true
	case *arrow.MonthDayNanoIntervalType, *arrow.MonthIntervalType, *arrow.DurationType:
		return sqltype.Interval, true
	case *arrow.DictionaryType:
		return TypeOf(t.ValueType)
	case *arrow.MapType:
		key, ok := TypeOf(t.KeyType())
		value, okValue := TypeOf(t.ItemType())
		return sqltype.MapOf(key, value), ok && okValue
	case arrow.ListLikeType:
		elem, ok := TypeOf(t.Elem())
		return sqltype.ListOf(elem), ok
	case *arrow.StructType:
		return structOf(t)
	}
	return sqltype.Type{}, false
}

func structOf(t *arrow.StructType) (sqltype.Type, bool) {
	fields := make([]sqltype.Field, t.NumFields())
	for i, f := range t.Fields() {
		ft, ok := TypeOf(f.Type)
		if !ok {
			return sqltype.Type{}, false
		}
		fields[i] = sqltype.Field{Name: f.Name, Type: ft}
	}
	return sqltype.StructOf(fields), len(fields) > 0
}

// ArrowType is the Arrow type that values of an SQL type are given out as.
func ArrowType(t sqltype.Type) arrow.DataType {
	switch t.Kind {
	case sqltype.KindNull:
		return arrow.Null
	case sqltype.KindBool:
		return arrow.FixedWidthTypes.Boolean
	case sqltype.KindInt8:
		return arrow.PrimitiveTypes.Int8
	case sqltype.KindInt16:
		return arrow.PrimitiveTypes.Int16
	case sqltype.KindInt32:
		return arrow.PrimitiveTypes.Int32
	case sqltype.KindInt64:
		return arrow.PrimitiveTypes.Int64
	case sqltype.KindUint8:
		return arrow.PrimitiveTypes.Uint8
	case sqltype.KindUint16:
		return arrow.PrimitiveTypes.Uint16
	case sqltype.KindUint32:
		return arrow.PrimitiveTypes.Uint32
	case sqltype.KindUint64:
		return arrow.PrimitiveTypes.Uint64
	case sqltype.KindDecimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case sqltype.KindFloat32:
		return arrow.PrimitiveTypes.Float32
	case sqltype.KindFloat64:
		return arrow.PrimitiveTypes.Float64
	case sqltype.KindVarchar:
		return arrow.BinaryTypes.String
	case sqltype.KindBlob:
		return arrow.BinaryTypes.Binary
	case sqltype.KindDate:
		return arrow.FixedWidthTypes.Date32
	case sqltype.KindTime:
		return arrow.FixedWidthTypes.Time64us
	case sqltype.KindTimestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case sqltype.KindTimestampTZ:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	case sqltype.KindInterval:
		return arrow.FixedWidthTypes.MonthDayNanoInterval
	case sqltype.KindUUID, sqltype.KindTimeTZ, sqltype.KindBit, sqltype.KindEnum, sqltype.KindJSON: // their text
		return arrow.BinaryTypes.String
	case sqltype.KindList:
		return arrow.ListOf(ArrowType(t.Elem()))
	case sqltype.KindMap:
		entry := t.Elem().Fields()
		return arrow.MapOf(ArrowType(entry[0].Type), ArrowType(entry[1].Type))
	case sqltype.KindStruct:
		fields := t.Fields()
		out := make([]arrow.Field, len(fields))
		for i, f := range fields {
			out[i] = arrow.Field{Name: f.Name, Type: ArrowType(f.Type), Nullable: true}
		}
		return arrow.StructOf(out...)
	}
	panic(fmt.Sprintf("arrow: no Arrow type for %s", t))
}

// ArrowSchema is the Arrow schema of a result.
func ArrowSchema(s sqltype.Schema) *arrow.Schema {
	fields := make([]arrow.Field, len(s))
	for i, c := range s {
		fields[i] = arrow.Field{Name: c.Name, Type: ArrowType(c.Type), Nullable: !c.NotNull}
	}
	return arrow.NewSchema(fields, nil)
}
