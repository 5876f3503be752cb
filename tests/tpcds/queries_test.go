package tpcds

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
)

// texts are where the query texts are: those of the suite, and here the others.
var texts = []string{filepath.Join("..", "..", "..", "shared", "sql", "tpcds", "queries"), "queries"}

// load fills a database with the tables of a scale.
func load(t testing.TB, scale float64) *gpusql.Conn {
	t.Helper()
	ctx := context.Background()
	db, err := gpusql.Open(":memory:")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	appenders := map[*Table]*gpusql.Appender{}
	for _, table := range Tables {
		_, err := conn.Exec(ctx, table.CreateSQL())
		require.NoError(t, err)
		appenders[table], err = conn.Appender(table.Name)
		require.NoError(t, err)
	}
	require.NoError(t, Generate(scale, func(table *Table, rec arrow.RecordBatch) error {
		return appenders[table].AppendRecord(rec)
	}))
	for _, table := range Tables {
		_, err := appenders[table].Flush(ctx)
		require.NoError(t, err)
		require.NoError(t, appenders[table].Close())
	}
	return conn
}

// lastLimit is a query's LIMIT, which may cut through rows that are equal in
// its order: answers are compared whole.
var lastLimit = regexp.MustCompile(`(?is)\s+LIMIT\s+\d+\s*;?\s*$`)

// TestQueries runs every query with the optimizer and without.
func TestQueries(t *testing.T) {
	var files []string
	for _, folder := range texts {
		some, err := filepath.Glob(filepath.Join(folder, "*.sql"))
		require.NoError(t, err)
		files = append(files, some...)
	}
	ctx := context.Background()
	conn := load(t, 0.01)
	empty := 0
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			whole := lastLimit.ReplaceAllString(string(text), "")
			want := answer(t, conn, whole)
			if len(want) == 0 {
				empty++
			}
			_, err = conn.Exec(ctx, "SET optimizer = off")
			require.NoError(t, err)
			got := answer(t, conn, whole)
			_, err = conn.Exec(ctx, "SET optimizer = on")
			require.NoError(t, err)
			require.Len(t, got, len(want))
			for i := range want {
				for j := range want[i] {
					if !same(want[i][j], got[i][j]) {
						require.Fail(t, "answers differ", "row %d: by all rules %q, by those alone that execution needs %q", i, want[i], got[i])
					}
				}
			}
		})
	}
	t.Log("queries without an answer: ", empty)
	require.LessOrEqual(t, empty, 30, "queries without an answer")
}

func answer(t *testing.T, conn *gpusql.Conn, text string) [][]string {
	rows, err := conn.Query(context.Background(), text)
	require.NoError(t, err)
	defer rows.Close()
	var out [][]string
	for rows.Next() {
		row := make([]string, len(rows.Columns()))
		for i := range row {
			row[i] = rows.Value(i).String()
		}
		out = append(out, row)
	}
	require.NoError(t, rows.Err())
	key := func(row []string) string {
		var b strings.Builder
		for _, c := range row {
			if f, err := strconv.ParseFloat(c, 64); err == nil {
				c = strconv.FormatFloat(f, 'e', 4, 64)
			}
			b.WriteString(c + "\x00")
		}
		return b.String()
	}
	sort.Slice(out, func(i, j int) bool { return key(out[i]) < key(out[j]) })
	return out
}

// same compares two cells: averages depend on the order of their additions.
func same(want, got string) bool {
	if want == got {
		return true
	}
	x, err1 := strconv.ParseFloat(want, 64)
	y, err2 := strconv.ParseFloat(got, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}
