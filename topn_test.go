package gpusql_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
)

// TestTopNReadsLittle: rows that are written in the order of a column, in a
// table or a file, are read from the end that a top-n wants.
func TestTopNReadsLittle(t *testing.T) {
	db, err := gpusql.Open(":memory:?threads=1")
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // at the end
	const rows = 1_000_000
	file := filepath.Join(t.TempDir(), "sorted.parquet")
	exec(t, db, fmt.Sprintf("CREATE TABLE t AS SELECT CASE WHEN i <> 300000 THEN i END AS k, i %% 7 AS g FROM range(%d) AS r(i)", rows))
	exec(t, db, "COPY (SELECT * FROM t ORDER BY g * 0) TO '"+file+"'")
	scanned := regexp.MustCompile(`scan .*actual rows=(\d+)`)
	for _, from := range []string{"t", "'" + file + "'"} {
		for _, c := range []struct{ order, want string }{
			{"k DESC NULLS LAST", "[999999 999998 999997]"},
			{"k NULLS LAST", "[0 1 2]"},
			{"k NULLS FIRST", "[NULL 0 1]"},
			{"k DESC NULLS FIRST", "[NULL 999999 999998]"},
		} {
			q := "SELECT k FROM " + from + " ORDER BY " + c.order + " LIMIT 3"
			require.Equal(t, c.want, fmt.Sprint(all(t, db, q)), q)
			read := -1
			for _, line := range all(t, db, "EXPLAIN ANALYZE "+q) {
				if m := scanned.FindStringSubmatch(line); m != nil {
					read, err = strconv.Atoi(m[1])
					require.NoError(t, err)
				}
			}
			require.Positive(t, read)
			require.Less(t, read, rows/3, q)
		}
	}
}
