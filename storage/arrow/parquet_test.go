package arrow

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/sqltype"
)

// randomRows are rows of the types of samples: of few different values when
// few, and a NULL in nulls of 100.
func randomRows(r *rand.Rand, schema sqltype.Schema, n int, few bool, nulls int) [][]sqltype.Datum {
	_, edges := samples()
	rows := make([][]sqltype.Datum, n)
	for i := range rows {
		for j, c := range schema {
			v := edges[r.IntN(4)][j]
			if bits := r.Uint64(); !few && c.Type.Kind != sqltype.KindBool {
				switch k := c.Type.Kind; {
				case k == sqltype.KindFloat64:
					v.F = float64(bits)
				case k == sqltype.KindVarchar:
					v.S = strings.Repeat(fmt.Sprint(bits%1000, "é"), r.IntN(6))
				case k == sqltype.KindDecimal && c.Type.Phys() == sqltype.PhysI128:
					v.Hi, v.I = int64(bits>>20)-1<<40, int64(bits)
				case k == sqltype.KindDecimal:
					v.I = int64(bits%1e15) - 5e14
				case k == sqltype.KindInt8:
					v.I = int64(int8(bits))
				case k == sqltype.KindInt32 || k == sqltype.KindDate:
					v.I = int64(int32(bits)) / 2
				case k == sqltype.KindTimestamp:
					v.I = int64(bits) >> 8
				default:
					v.I = int64(bits)
				}
			}
			if r.IntN(100) < nulls {
				v = sqltype.NullOf(c.Type)
			}
			rows[i] = append(rows[i], v)
		}
	}
	return rows
}

// writeParquet writes rows as another program might; required columns have no levels.
func writeParquet(t testing.TB, name string, schema sqltype.Schema, rows [][]sqltype.Datum, required bool, props ...parquet.WriterProperty) {
	t.Helper()
	var fields []arrow.Field
	for _, f := range ArrowSchema(schema).Fields() {
		f.Nullable = !required
		fields = append(fields, f)
	}
	s := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for _, r := range rows {
		for i, d := range r {
			AppendDatum(b.Field(i), d)
		}
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	f, err := os.Create(name)
	require.NoError(t, err)
	w, err := pqarrow.NewFileWriter(s, f, parquet.NewWriterProperties(props...), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.WriteBuffered(rec))
	require.NoError(t, w.Close())
}

// TestParquetForms reads what can be written down in many ways.
func TestParquetForms(t *testing.T) {
	schema, _ := samples()
	type form struct {
		name  string
		props []parquet.WriterProperty
	}
	enc := func(e parquet.Encoding, columns ...string) []parquet.WriterProperty {
		out := []parquet.WriterProperty{parquet.WithDictionaryDefault(false)}
		for _, c := range columns {
			out = append(out, parquet.WithEncodingFor(c, e))
		}
		return out
	}
	forms := []form{
		{"dictionary", nil},
		{"plain", []parquet.WriterProperty{parquet.WithDictionaryDefault(false)}},
		{"dictionary that overflows", []parquet.WriterProperty{parquet.WithDictionaryPageSizeLimit(200)}},
		{"deltas", enc(parquet.Encodings.DeltaBinaryPacked, "i8", "i32", "i64", "u64", "day", "ts")},
		{"delta lengths", enc(parquet.Encodings.DeltaLengthByteArray, "s")},
		{"delta bytes", enc(parquet.Encodings.DeltaByteArray, "s")},
		{"streams", enc(parquet.Encodings.ByteStreamSplit, "f", "i32", "i64", "d", "w")},
		{"runs", enc(parquet.Encodings.RLE, "b")},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i, f := range forms {
		for _, v := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for k, n := range []int{1, 7, 64, 1000, 3001} {
				codec := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd}[(k+i)%3]
				few, nulls := k%2 == 0 || f.props == nil, []int{0, 10, 100, 0, 60}[k]
				name := filepath.Join(t.TempDir(), "t.parquet")
				rows := randomRows(r, schema, n, few, nulls)
				writeParquet(t, name, schema, rows, nulls == 0 && n != 1000, append([]parquet.WriterProperty{
					parquet.WithCompression(codec), parquet.WithDataPageVersion(v), parquet.WithDataPageSize(2000),
					parquet.WithBatchSize(130), parquet.WithMaxRowGroupLength(2000)}, f.props...)...)
				file, err := OpenFile(name, FileOptions{})
				require.NoError(t, err)
				for _, batch := range []int{1, 129, 10000} {
					if batch == 1 && n > 64 {
						continue
					}
					got, err := readAll(t, file, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, batch)
					require.NoError(t, err, f.name)
					require.Equal(t, len(rows), len(got))
					for i := range rows {
						if !slices.Equal(rows[i], got[i]) {
							require.Equal(t, rows[i], got[i], "%s, version %d, %s: row %d of %d, %d a batch", f.name, v, codec, i, n, batch)
						}
					}
				}
				require.NoError(t, file.Close())
			}
		}
	}
}

// TestParquetBroken changes bytes of good files: what is read then is another
// value or an error that names the file, never a panic that gets out.
func TestParquetBroken(t *testing.T) {
	schema, _ := samples()
	r := rand.New(rand.NewPCG(3, 4))
	failed := 0
	for k, props := range [][]parquet.WriterProperty{
		nil,
		{parquet.WithDictionaryDefault(false), parquet.WithCompression(compress.Codecs.Snappy)},
		{parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Zstd)},
		{parquet.WithDictionaryDefault(false), parquet.WithEncodingFor("i64", parquet.Encodings.DeltaBinaryPacked),
			parquet.WithEncodingFor("s", parquet.Encodings.DeltaByteArray), parquet.WithEncodingFor("f", parquet.Encodings.ByteStreamSplit)},
	} {
		name := filepath.Join(t.TempDir(), "broken.parquet")
		writeParquet(t, name, schema, randomRows(r, schema, 100, k%2 == 0, 20), false, props...)
		failed += breakFile(t, r, name, 300)
	}
	require.Greater(t, failed, 200)
}

// breakFile reads a file n times with bits of it changed, and counts the errors.
func breakFile(t *testing.T, r *rand.Rand, name string, n int) (failed int) {
	good, err := os.ReadFile(name)
	require.NoError(t, err)
	for range n {
		bad := append([]byte{}, good...)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] ^= byte(1 << r.IntN(8))
		}
		require.NoError(t, os.WriteFile(name, bad, 0o644))
		if !readsOrFails(t, name) {
			failed++
		}
	}
	return failed
}

// TestIPCBroken is TestParquetBroken for Arrow IPC files.
func TestIPCBroken(t *testing.T) {
	schema, _ := samples()
	r := rand.New(rand.NewPCG(13, 14))
	rows := randomRows(r, schema, 50, false, 20)
	name := filepath.Join(t.TempDir(), "broken.arrow")
	w, err := CreateFile(name, schema, FileOptions{})
	require.NoError(t, err)
	rec := record(schema, rows)
	defer rec.Release()
	require.NoError(t, w.Write(rec))
	require.NoError(t, w.Close())
	good, err := os.ReadFile(name)
	require.NoError(t, err)
	require.True(t, readsOrFails(t, name))
	failed := 0
	for range 1500 {
		bad := append([]byte{}, good...)
		for range 1 + r.IntN(3) { // mostly in the footer
			at := r.IntN(len(bad))
			if r.IntN(3) > 0 {
				at = len(bad) - 1 - r.IntN(min(1500, len(bad)))
			}
			bad[at] = byte(r.IntN(256))
		}
		require.NoError(t, os.WriteFile(name, bad, 0o644))
		if !readsOrFails(t, name) {
			failed++
		}
	}
	require.Greater(t, failed, 100)
}

// readsOrFails reads every column by itself, and reports that all could be read.
func readsOrFails(t *testing.T, name string) bool {
	t.Helper()
	good := true
	check := func(err error) {
		if err != nil {
			good = false
			var e *sqltype.Error
			require.ErrorAs(t, err, &e)
			require.ErrorContains(t, err, filepath.Base(name))
		}
	}
	f, err := OpenFile(name, FileOptions{})
	if err != nil {
		check(err)
		return false
	}
	defer f.Close()
	for i := range f.Schema() {
		_, err := readAll(t, f, []int{i}, 64)
		check(err)
		for p := range f.Parts() {
			f.Bounds(p, i)
		}
	}
	return good
}

func TestParquetErrorsNameTheColumn(t *testing.T) {
	schema, _ := samples()
	name := filepath.Join(t.TempDir(), "t.parquet")
	r := rand.New(rand.NewPCG(5, 6))
	writeParquet(t, name, schema, randomRows(r, schema, 3000, false, 0), true, parquet.WithDictionaryDefault(false),
		parquet.WithMaxRowGroupLength(1000), parquet.WithCompression(compress.Codecs.Snappy))
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	f, err := OpenFile(name, FileOptions{})
	require.NoError(t, err)
	chunk, err := f.(*parquetFile).pf.MetaData().RowGroup(1).ColumnChunk(3)
	require.NoError(t, err)
	at := chunk.DataPageOffset()
	require.NoError(t, f.Close())
	copy(b[at+40:], make([]byte, 400))
	require.NoError(t, os.WriteFile(name, b, 0o644))
	f, err = OpenFile(name, FileOptions{})
	require.NoError(t, err)
	defer f.Close()
	_, err = readAll(t, f, []int{2, 3}, 100)
	require.ErrorContains(t, err, name+`: row group 1: column "i64": `)
}

func TestHybrid(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for width := 0; width <= 32; width++ {
		var src []byte
		var want []uint32
		for range 6 {
			if r.IntN(2) == 0 { // a value repeated
				n, v := r.IntN(50), uint32(r.Uint64()&(1<<width-1))
				src = append(src, byte(n<<1))
				for i := range (width + 7) / 8 {
					src = append(src, byte(v>>(8*i)))
				}
				for range n {
					want = append(want, v)
				}
				continue
			}
			groups := 1 + r.IntN(9)
			src = append(src, byte(groups<<1|1))
			bits := make([]byte, groups*width)
			for i := range groups * 8 {
				v := uint32(r.Uint64() & (1<<width - 1))
				want = append(want, v)
				for b := range width {
					at := i*width + b
					bits[at/8] |= byte(v>>b&1) << (at % 8)
				}
			}
			src = append(src, bits...)
		}
		for _, step := range []int{1, 3, 8, 17, 1000} {
			h := hybrid{src: src, width: width}
			var got []uint32
			for len(got) < len(want) {
				part := make([]uint32, min(step, len(want)-len(got)))
				require.NoError(t, h.read(part))
				got = append(got, part...)
			}
			require.Equal(t, want, got, "width %d, %d at a time", width, step)
			require.ErrorIs(t, h.read(make([]uint32, 1)), errCodes)
		}
	}
}

// TestParquetStats: what a file's metadata and dictionaries tell about columns.
func TestParquetStats(t *testing.T) {
	schema := sqltype.Schema{{Name: "sorted", Type: sqltype.Int64}, {Name: "few", Type: sqltype.Varchar},
		{Name: "dense", Type: sqltype.Int32}, {Name: "unique", Type: sqltype.Varchar}, {Name: "f", Type: sqltype.Float64}}
	var rows [][]sqltype.Datum
	for i := range 10_000 {
		row := []sqltype.Datum{sqltype.NewInt64(int64(i/4) * 1000), sqltype.NewString(fmt.Sprint("value ", i*7%13)),
			{Type: sqltype.Int32, I: int64(i * 7919 % 500)}, sqltype.NewString(fmt.Sprint(i * 7919 % 10_007)), sqltype.NewFloat64(float64(i))}
		if i%10 == 0 {
			row[1] = sqltype.NullOf(sqltype.Varchar)
		}
		rows = append(rows, row)
	}
	name := filepath.Join(t.TempDir(), "t.parquet")
	writeParquet(t, name, schema, rows, false, parquet.WithMaxRowGroupLength(1000))
	f, err := OpenFile(name, FileOptions{})
	require.NoError(t, err)
	require.NoError(t, f.Close()) // the planner asks afterwards
	for i, c := range []struct {
		distinct float64
		nulls    int
		min, max string
	}{{2500, 0, "0", "2499000"}, {13, 1000, "value 0", "value 9"}, {500, 0, "0", "499"}, {10_000, 0, "0", "9999"}, {10_000, 0, "NULL", "NULL"}} {
		s := f.Stats(i)
		require.InEpsilon(t, c.distinct, s.Distinct, 0.1, schema[i].Name)
		require.Equal(t, c.nulls, s.Nulls, schema[i].Name)
		require.Equal(t, c.min, s.Min.String(), schema[i].Name)
		require.Equal(t, c.max, s.Max.String(), schema[i].Name)
	}
}
