package tpch

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
)

// suite is where the query texts and their answers are.
var suite = filepath.Join("..", "..", "..", "shared", "sql", "tpch")

// load fills a database with the tables of a scale.
func load(t testing.TB, scale float64, keyed Keyed) *gpusql.Conn {
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
		_, err := conn.Exec(ctx, table.CreateSQL(keyed))
		require.NoError(t, err)
		appenders[table], err = conn.Appender(table.Name)
		require.NoError(t, err)
	}
	require.NoError(t, Generate(scale, Compact, func(table *Table, rec arrow.RecordBatch) error {
		return appenders[table].AppendRecord(rec)
	}))
	for _, table := range Tables {
		_, err := appenders[table].Flush(ctx)
		require.NoError(t, err)
		require.NoError(t, appenders[table].Close())
	}
	return conn
}

// TestAnswers runs the 22 queries at scale 0.01 and compares them with the
// answers that the suite has.
func TestAnswers(t *testing.T) {
	if _, err := os.Stat(suite); err != nil {
		t.Skip("no queries here: ", suite)
	}
	for keyed, name := range map[Keyed]string{WithoutKeys: "no keys", WithKeys: "primary keys"} {
		t.Run(name, func(t *testing.T) {
			conn := load(t, 0.01, keyed)
			for q := 1; q <= 22; q++ {
				t.Run(fmt.Sprintf("Q%d", q), func(t *testing.T) {
					text, err := os.ReadFile(filepath.Join(suite, "queries", fmt.Sprintf("q%02d.sql", q)))
					require.NoError(t, err)
					rows, err := conn.Query(context.Background(), string(text))
					require.NoError(t, err)
					defer rows.Close()
					var got [][]string
					for rows.Next() {
						var row []string
						for i := range rows.Columns() {
							v := rows.Value(i)
							cell := v.String()
							if v.Null {
								cell = ""
							}
							row = append(row, cell)
						}
						got = append(got, row)
					}
					require.NoError(t, rows.Err())
					want := answer(t, q)
					require.Len(t, got, len(want))
					for i := range want {
						require.Len(t, got[i], len(want[i]), "row %d", i)
						for j := range want[i] {
							require.True(t, same(want[i][j], got[i][j]), "row %d: want %q, got %q", i, want[i], got[i])
						}
					}
				})
			}
		})
	}
}

// answer reads the rows of an answer.
func answer(t *testing.T, q int) [][]string {
	f, err := os.Open(filepath.Join(suite, "answers_sf0.01", fmt.Sprintf("q%02d.csv", q)))
	require.NoError(t, err)
	defer f.Close()
	var rows [][]string
	s := bufio.NewScanner(f)
	for s.Scan() {
		rows = append(rows, strings.Split(s.Text(), "|"))
	}
	require.NoError(t, s.Err())
	return rows[1:] // behind the names
}

// same compares two cells: averages were computed in floating point there.
func same(want, got string) bool {
	if want == got {
		return true
	}
	x, err1 := strconv.ParseFloat(want, 64)
	y, err2 := strconv.ParseFloat(got, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
}
