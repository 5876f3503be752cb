package arrow

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/sqltype"
)

// nestedSchema has lists and structs within each other, beside a plain column.
func nestedSchema() sqltype.Schema {
	point := sqltype.StructOf([]sqltype.Field{{Name: "x", Type: sqltype.Int32}, {Name: "tags", Type: sqltype.ListOf(sqltype.Varchar)}})
	return sqltype.Schema{
		{Name: "id", Type: sqltype.Int64},
		{Name: "l", Type: sqltype.ListOf(sqltype.Int64)},
		{Name: "s", Type: point},
		{Name: "ls", Type: sqltype.ListOf(point)},
		{Name: "ll", Type: sqltype.ListOf(sqltype.ListOf(sqltype.ListOf(sqltype.Bool)))},
		{Name: "deep", Type: sqltype.StructOf([]sqltype.Field{{Name: "in", Type: sqltype.StructOf([]sqltype.Field{
			{Name: "d", Type: sqltype.Decimal(30, 2)}, {Name: "p", Type: sqltype.ListOf(point)}})}})},
	}
}

// randomValue is a value of any type of nestedSchema, and NULL in nulls of 100.
func randomValue(r *rand.Rand, t sqltype.Type, nulls int) sqltype.Datum {
	if r.IntN(100) < nulls {
		return sqltype.NullOf(t)
	}
	d := sqltype.Datum{Type: t}
	var parts []sqltype.Datum
	switch t.Kind {
	case sqltype.KindList:
		for range r.IntN(4) * r.IntN(3) {
			parts = append(parts, randomValue(r, t.Elem(), nulls))
		}
		return sqltype.NewNested(t, parts)
	case sqltype.KindStruct:
		for _, f := range t.Fields() {
			parts = append(parts, randomValue(r, f.Type, nulls))
		}
		return sqltype.NewNested(t, parts)
	case sqltype.KindVarchar:
		d.S = fmt.Sprint("a text of any length ", r.IntN(50))[:r.IntN(23)]
	case sqltype.KindBool:
		d.I = int64(r.IntN(2))
	default:
		d.I = int64(r.IntN(100_000))
	}
	return d
}

func nestedRows(r *rand.Rand, n, nulls int) [][]sqltype.Datum {
	rows := make([][]sqltype.Datum, n)
	for i := range rows {
		for _, c := range nestedSchema() {
			rows[i] = append(rows[i], randomValue(r, c.Type, nulls))
		}
	}
	return rows
}

func TestParquetNested(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, v := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		for k, n := range []int{1, 31, 600, 3001} {
			nulls := []int{0, 30, 5, 0}[k]
			name := filepath.Join(t.TempDir(), "t.parquet")
			rows := nestedRows(r, n, nulls)
			writeParquet(t, name, nestedSchema(), rows, nulls == 0, parquet.WithDataPageVersion(v), parquet.WithDataPageSize(500),
				parquet.WithBatchSize(70), parquet.WithMaxRowGroupLength(1000), parquet.WithDictionaryDefault(k%2 == 0))
			file, err := OpenFile(name, FileOptions{})
			require.NoError(t, err)
			for i, c := range nestedSchema() {
				require.Equal(t, c.Type, file.Schema()[i].Type)
			}
			for _, batch := range []int{7, 10_000} {
				got, err := readAll(t, file, []int{0, 1, 2, 3, 4, 5}, batch)
				require.NoError(t, err)
				require.Equal(t, rows, got, "version %d, %d rows, %d a batch", v, n, batch)
			}
			require.NoError(t, file.Close())
		}
	}
}

func TestParquetNestedBroken(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	failed := 0
	for _, v := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		name := filepath.Join(t.TempDir(), "broken.parquet")
		writeParquet(t, name, nestedSchema(), nestedRows(r, 60, 20), false, parquet.WithDataPageVersion(v))
		require.True(t, readsOrFails(t, name))
		failed += breakFile(t, r, name, 500)
	}
	require.Greater(t, failed, 200)
}
