package arrow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/sqltype"
)

// imported gives the batch's cells as the host reads them.
func imported(t *testing.T, b *Batch) [][]sqltype.Datum {
	t.Helper()
	out := make([][]sqltype.Datum, b.Rows)
	for i := range out {
		for j := range b.Columns {
			out[i] = append(out[i], b.Columns[j].Datum(i))
		}
	}
	return out
}

func TestImport(t *testing.T) {
	devicetest.EachHost(t, func(t *testing.T, d device.Device) {
		s, err := d.NewStream()
		require.NoError(t, err)
		defer s.Close()
		im := NewImporter(s, d)
		defer im.Release()
		schema, rows := samples()
		long := strings.Repeat("a long text ", 20)
		rows = append(rows, append([]sqltype.Datum{}, rows[0]...))
		rows[5][8] = sqltype.NewString(long)
		rec := record(schema, rows)
		defer rec.Release()
		for range 2 { // the memory is used again
			b, err := im.Batch(rec)
			require.NoError(t, err)
			require.Equal(t, rows, imported(t, b))
			// A slice does not begin at bit 0.
			for from := range len(rows) {
				part := rec.NewSlice(int64(from), int64(len(rows)))
				b, err := im.Batch(part)
				require.NoError(t, err)
				require.Equal(t, rows[from:], imported(t, b))
				part.Release()
			}
		}
	})
}

// TestImportForms covers Arrow's other ways to write a value down.
func TestImportForms(t *testing.T) {
	build := func(typ arrow.DataType, json string) arrow.Array {
		a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(json))
		require.NoError(t, err)
		return a
	}
	for _, c := range []struct {
		typ        arrow.DataType
		json, want string
	}{
		{arrow.FixedWidthTypes.Date64, `["1995-01-02", null]`, "1995-01-02 NULL"},
		{arrow.FixedWidthTypes.Time32s, `["01:02:03", null]`, "01:02:03 NULL"},
		{arrow.FixedWidthTypes.Time64ns, `["01:02:03.000001", null]`, "01:02:03.000001 NULL"},
		{&arrow.TimestampType{Unit: arrow.Second}, `["1995-01-02 03:04:05", "1969-12-31 23:59:59"]`, "1995-01-02 03:04:05 1969-12-31 23:59:59"},
		{&arrow.TimestampType{Unit: arrow.Nanosecond}, `["1995-01-02 03:04:05.000001", "1969-12-31 23:59:59.999999999"]`,
			"1995-01-02 03:04:05.000001 1969-12-31 23:59:59.999999"},
		{arrow.BinaryTypes.LargeString, `["a", "", null, "something longer than a view"]`, "a  NULL something longer than a view"},
		{arrow.BinaryTypes.StringView, `["a", "", null, "something longer than a view"]`, "a  NULL something longer than a view"},
		{&arrow.Decimal128Type{Precision: 9, Scale: 2}, `["1.25", "-3.50"]`, "1.25 -3.50"},
		{&arrow.Decimal64Type{Precision: 9, Scale: 2}, `["1.25", "-3.50"]`, "1.25 -3.50"},
		{arrow.FixedWidthTypes.Float16, `[1.5, null]`, "1.5 NULL"},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
			`["x", "y", null, "x"]`, "x y NULL x"},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.PrimitiveTypes.Int64}, `[null]`, "NULL"},
		{arrow.Null, `[null, null]`, "NULL NULL"},
	} {
		t.Run(c.typ.String(), func(t *testing.T) {
			devicetest.EachHost(t, func(t *testing.T, d device.Device) {
				s, err := d.NewStream()
				require.NoError(t, err)
				defer s.Close()
				a := build(c.typ, c.json)
				rec := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "c", Type: c.typ, Nullable: true}}, nil),
					[]arrow.Array{a}, int64(a.Len()))
				im := NewImporter(s, d)
				defer im.Release()
				b, err := im.Batch(rec)
				require.NoError(t, err)
				var got []string
				for i := range b.Rows {
					d := b.Columns[0].Datum(i)
					text := d.String()
					if d.Null {
						text = "NULL"
					}
					got = append(got, text)
				}
				require.Equal(t, c.want, strings.Join(got, " "))
			})
		})
	}
}

func BenchmarkImportStrings(b *testing.B) {
	d := device.NewCPU(device.CPUOptions{})
	s, err := d.NewStream()
	require.NoError(b, err)
	sb := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range 16384 {
		sb.Append(fmt.Sprintf("string number %d", i))
	}
	a := sb.NewArray()
	rec := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "c", Type: arrow.BinaryTypes.String}}, nil), []arrow.Array{a}, int64(a.Len()))
	im := NewImporter(s, d)
	for b.Loop() {
		if _, err := im.Batch(rec); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(16384 * 16)
}
