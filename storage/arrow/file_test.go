package arrow

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// samples are a schema of every kind of value, and rows at its edges.
func samples() (sqltype.Schema, [][]sqltype.Datum) {
	dec := sqltype.Decimal(15, 2)
	wide := sqltype.Decimal(38, 4)
	schema := sqltype.Schema{
		{Name: "b", Type: sqltype.Bool}, {Name: "i8", Type: sqltype.Int8}, {Name: "i32", Type: sqltype.Int32},
		{Name: "i64", Type: sqltype.Int64}, {Name: "u64", Type: sqltype.Uint64}, {Name: "f", Type: sqltype.Float64},
		{Name: "d", Type: dec}, {Name: "w", Type: wide}, {Name: "s", Type: sqltype.Varchar},
		{Name: "day", Type: sqltype.Date}, {Name: "ts", Type: sqltype.Timestamp},
	}
	row := func(b bool, i8, i32, i64, u64 int64, f float64, d int64, w sqltype.Int128, s string, day, ts int64) []sqltype.Datum {
		return []sqltype.Datum{sqltype.NewBool(b), {Type: sqltype.Int8, I: i8}, {Type: sqltype.Int32, I: i32},
			sqltype.NewInt64(i64), {Type: sqltype.Uint64, I: u64}, sqltype.NewFloat64(f), sqltype.NewDecimal(sqltype.Int128Of(d), dec),
			sqltype.NewDecimal(w, wide), sqltype.NewString(s), {Type: sqltype.Date, I: day}, {Type: sqltype.Timestamp, I: ts}}
	}
	rows := [][]sqltype.Datum{
		row(true, 1, 2, 3, 4, 1.5, 12345, sqltype.Int128Of(7), "plain", 8035, 1_000_000),
		row(false, -128, math.MinInt32, math.MinInt64, -1, -0.25, -1, sqltype.Int128{Lo: 5, Hi: 1 << 40}, `q"uo,te|d`, -1, -1),
		row(true, 127, math.MaxInt32, math.MaxInt64, 0, 1e300, 99999, sqltype.Int128{Lo: 5, Hi: -1}, "two\nlines", 40000, 1),
		row(true, 0, 0, 0, 0, 0, 0, sqltype.Int128{}, "", 0, 0),
	}
	nulls := make([]sqltype.Datum, len(schema))
	for i, c := range schema {
		nulls[i] = sqltype.NullOf(c.Type)
	}
	return schema, append(rows, nulls)
}

func record(schema sqltype.Schema, rows [][]sqltype.Datum) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, ArrowSchema(schema))
	defer b.Release()
	for _, r := range rows {
		for i, d := range r {
			AppendDatum(b.Field(i), d)
		}
	}
	return b.NewRecordBatch()
}

// readAll reads columns of all parts, rows rows at a time.
func readAll(t *testing.T, f File, cols []int, rows int) (out [][]sqltype.Datum, err error) {
	t.Helper()
	d := device.NewCPU(device.CPUOptions{})
	s, err := d.NewStream()
	require.NoError(t, err)
	defer s.Close()
	scan := NewFileScan(f, cols, rows, nil)
	c := scan.Cursor(d, s)
	defer c.Close()
	for {
		b, err := c.Next(context.Background())
		if b == nil || err != nil {
			return out, err
		}
		require.LessOrEqual(t, b.Rows, rows)
		out = append(out, imported(t, b)...)
	}
}

// partRows reads a part without columns, and counts its rows.
func partRows(t *testing.T, f File, part int) (n int) {
	t.Helper()
	d := device.NewCPU(device.CPUOptions{})
	s, err := d.NewStream()
	require.NoError(t, err)
	defer s.Close()
	im := NewImporter(s, d)
	defer im.Release()
	r, err := f.Read(part, nil, 1000, im)
	require.NoError(t, err)
	defer r.Close()
	for {
		b, err := r.Next(context.Background())
		require.NoError(t, err)
		if b == nil {
			return n
		}
		n += b.Rows
	}
}

func TestFileRoundTrip(t *testing.T) {
	schema, rows := samples()
	for _, format := range []string{"parquet", "arrow", "csv", "json"} {
		t.Run(format, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "t."+format)
			w, err := CreateFile(name, schema, FileOptions{})
			require.NoError(t, err)
			rec := record(schema, rows)
			defer rec.Release()
			require.NoError(t, w.Write(rec))
			require.NoFileExists(t, name)
			require.NoError(t, w.Write(rec))
			require.NoError(t, w.Close())

			o := FileOptions{}
			if format == "csv" {
				o = FileOptions{Schema: schema, CSV: CSVOptions{Header: HeaderYes}}
			}
			if format == "json" {
				o = FileOptions{Schema: schema}
			}
			f, err := OpenFile(name, o)
			require.NoError(t, err)
			defer f.Close()
			want := append(append([][]sqltype.Datum{}, rows...), rows...)
			for _, batch := range []int{1, 3, 100} {
				got, err := readAll(t, f, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, batch)
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
			// Columns in another order than the file's, one of them twice.
			got, err := readAll(t, f, []int{8, 0, 8}, 100)
			require.NoError(t, err)
			require.Equal(t, []sqltype.Datum{want[1][8], want[1][0], want[1][8]}, got[1])
			none, err := readAll(t, f, nil, 4)
			require.NoError(t, err)
			require.Len(t, none, len(want))
		})
	}
}

func TestParquetBounds(t *testing.T) {
	schema, rows := samples()
	name := filepath.Join(t.TempDir(), "t.parquet")
	w, err := CreateFile(name, schema, FileOptions{Compression: "zstd"})
	require.NoError(t, err)
	require.NoError(t, w.Write(record(schema, rows)))
	require.NoError(t, w.Close())
	f, err := OpenFile(name, FileOptions{})
	require.NoError(t, err)
	defer f.Close()
	for _, c := range []struct {
		col      int
		min, max sqltype.Datum
	}{{2, rows[1][2], rows[2][2]}, {6, rows[1][6], rows[2][6]}, {9, rows[1][9], rows[2][9]}, {8, rows[3][8], rows[2][8]}} {
		b, ok := f.Bounds(0, c.col)
		require.True(t, ok, schema[c.col].Name)
		require.Equal(t, Bounds{Min: c.min, Max: c.max, Nulls: 1, Rows: 5}, b)
	}
	_, ok := f.Bounds(0, 5)
	require.False(t, ok, "floating point has no bounds: NaN is not in them")
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	schema, rows := samples()
	for _, format := range []string{"parquet", "arrow"} {
		good := filepath.Join(dir, "good."+format)
		w, err := CreateFile(good, schema, FileOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Write(record(schema, rows)))
		require.NoError(t, w.Close())
		b, err := os.ReadFile(good)
		require.NoError(t, err)
		for _, n := range []int{0, 1, 4, len(b) / 2, len(b) - 1} {
			bad := filepath.Join(dir, "bad."+format)
			require.NoError(t, os.WriteFile(bad, b[:n], 0o644))
			_, err := OpenFile(bad, FileOptions{})
			require.ErrorContains(t, err, "bad."+format, "%d of %d bytes", n, len(b))
			var e *sqltype.Error
			require.ErrorAs(t, err, &e)
		}
	}
	_, err := OpenFile(filepath.Join(dir, "no.csv"), FileOptions{})
	require.ErrorContains(t, err, "no.csv: no such file")
	_, err = OpenFile(filepath.Join(dir, "no.xyz"), FileOptions{})
	require.ErrorContains(t, err, "cannot tell the format")
	_, err = CreateFile(filepath.Join(dir, "t.csv"), schema, FileOptions{Format: "orc"})
	require.ErrorContains(t, err, `"orc" is not known`)
}

func TestCSV(t *testing.T) {
	two := sqltype.Schema{{Name: "a", Type: sqltype.Int32}, {Name: "b", Type: sqltype.Varchar}}
	for _, c := range []struct {
		name, text string
		o          FileOptions
		want       string // rows as text, or the error behind the file's name
	}{
		{"plain", "1,x\n2,y\n", FileOptions{Schema: two}, "1 x;2 y"},
		{"no last line end", "1,x\r\n2,y", FileOptions{Schema: two}, "1 x;2 y"},
		{"nulls", ",\n3,\"\"\n", FileOptions{Schema: two}, "NULL NULL;3 "},
		{"quotes", "1,\"a \"\"b\"\" , \nc\"\n", FileOptions{Schema: two}, "1 a \"b\" , \nc"},
		{"pipes with one at the end", "1|x|\n2|y|\n", FileOptions{Schema: two, CSV: CSVOptions{Delimiter: '|'}}, "1 x;2 y"},
		{"guessed", "id,name,day\n1,x,1995-01-02\n2,,1996-01-01\n", FileOptions{}, "1 x 1995-01-02;2 NULL 1996-01-01"},
		{"guessed, no header", "1,2.5,true\n7,3,false\n", FileOptions{}, "1 2.5 true;7 3 false"},
		{"too few", "1,x\n2\n", FileOptions{Schema: two}, "line 2: expected 2 fields, found 1"},
		{"too many", "1,x,y,z\n", FileOptions{Schema: two}, "line 1: expected 2 fields, found 4"},
		{"bad value", "1,x\nq,y\n", FileOptions{Schema: two}, `line 2: column "a": invalid input syntax for type integer: "q"`},
		{"too large", "99999999999,x\n", FileOptions{Schema: two}, `line 1: column "a": value "99999999999" is out of range for type integer`},
		{"open quote", "1,\"x\n2,y\n", FileOptions{Schema: two}, "line 1: a quoted field is never closed"},
		{"behind a quote", "1,\"x\"y\n", FileOptions{Schema: two}, "line 1: unexpected 'y' behind a quoted field"},
		{"empty", "", FileOptions{}, "the file is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "t.csv")
			require.NoError(t, os.WriteFile(name, []byte(c.text), 0o644))
			var rows [][]sqltype.Datum
			f, err := OpenFile(name, c.o)
			if err == nil {
				var cols []int
				for i := range f.Schema() {
					cols = append(cols, i)
				}
				rows, err = readAll(t, f, cols, 100)
			}
			if err != nil {
				require.Equal(t, name+": "+c.want, err.Error())
				return
			}
			var lines []string
			for _, r := range rows {
				var cells []string
				for _, d := range r {
					s := d.String()
					if d.Null {
						s = "NULL"
					}
					cells = append(cells, s)
				}
				lines = append(lines, strings.Join(cells, " "))
			}
			require.Equal(t, c.want, strings.Join(lines, ";"))
		})
	}
}

// FuzzOpenFile: a broken file is an error, never a panic.
func FuzzOpenFile(f *testing.F) {
	schema, rows := samples()
	for _, format := range []string{"parquet", "arrow", "csv", "json"} {
		name := filepath.Join(f.TempDir(), "seed."+format)
		w, err := CreateFile(name, schema, FileOptions{})
		require.NoError(f, err)
		require.NoError(f, w.Write(record(schema, rows)))
		require.NoError(f, w.Close())
		b, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(format, b)
	}
	f.Fuzz(func(t *testing.T, format string, b []byte) {
		if FormatOf("f."+format) != format {
			return
		}
		name := filepath.Join(t.TempDir(), "f."+format)
		require.NoError(t, os.WriteFile(name, b, 0o644))
		file, err := OpenFile(name, FileOptions{})
		if err != nil {
			return
		}
		defer file.Close()
		for i := range file.Schema() {
			_, err := readAll(t, file, []int{i}, 100)
			if err != nil {
				var e *sqltype.Error
				require.ErrorAs(t, err, &e)
			}
		}
	})
}
