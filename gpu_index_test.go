package gpusql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// indexedQueries go through the indexes of TestGPUIndexes.
var indexedQueries = []string{
	"SELECT k, s FROM t WHERE k = 1234",
	"SELECT k, g FROM t WHERE k IN (1, 22, 333, 4444, 5555) ORDER BY k",
	"SELECT k FROM t WHERE k BETWEEN 100 AND 160 ORDER BY k",
	"SELECT k FROM t ORDER BY k DESC LIMIT 7",
	"SELECT max(k), min(k) FROM t",
	"SELECT count(*) FROM t WHERE k > 4000",
	"SELECT k FROM t WHERE s = 'a string that is long 777'",
	"SELECT count(*) FROM t WHERE s LIKE 'a string that is long 12%'",
	"SELECT k FROM t WHERE g = 'group 3' AND n BETWEEN 100 AND 200 ORDER BY k",
	"SELECT u.name, t.s FROM u JOIN t ON t.k = u.k WHERE u.k < 60 ORDER BY u.k",
}

// TestGPUIndexes compares what indexes in a GPU's memory find with what is found
// without any, while rows come, change and go.
func TestGPUIndexes(t *testing.T) {
	db := filled(t, "")
	c := session(t, db)
	for _, kind := range []string{"btree", "lsm", "mvcc"} {
		t.Run(kind, func(t *testing.T) {
			run(t, c, fmt.Sprintf("CREATE INDEX t_k ON t USING %s (k) WITH (device = 'cuda')", kind),
				fmt.Sprintf("CREATE INDEX t_s ON t USING %s (s) WITH (device = 'cuda:0')", kind),
				fmt.Sprintf("CREATE INDEX t_gn ON t USING %s (g, n) WITH (device = 'cuda')", kind))
			plan := fmt.Sprint(all(t, c, "EXPLAIN SELECT s FROM t WHERE k = 1234"))
			require.Contains(t, plan, "by t_k ("+kind+" on cuda:0)")
			for _, change := range []string{
				"SELECT 1",
				"INSERT INTO t SELECT x, 'group ' || x % 7, 'a string that is long ' || x, x, x, NULL FROM generate_series(6000, 6900) AS r(x)",
				"UPDATE t SET k = k + 1 WHERE k % 50 = 3",
				"DELETE FROM t WHERE k BETWEEN 120 AND 3000",
			} {
				run(t, c, change)
				for _, sql := range indexedQueries {
					got := all(t, c, sql)
					run(t, c, "SET optimizer = off")
					want := all(t, c, sql)
					run(t, c, "SET optimizer = on")
					require.Equal(t, want, got, "%s after %s", sql, change)
				}
			}
			run(t, c, "DROP INDEX t_k", "DROP INDEX t_s", "DROP INDEX t_gn",
				"INSERT INTO t SELECT x, 'group ' || x % 7, 'a string that is long ' || x, x, x, NULL FROM generate_series(121, 2999) AS r(x)")
		})
	}
	run(t, c, "CREATE TABLE one (k BIGINT, v INT)", "CREATE UNIQUE INDEX one_k ON one (k) WITH (device = 'cuda')",
		"INSERT INTO one SELECT x, x FROM generate_series(1, 1000) AS r(x)")
	_, err := c.Exec(context.Background(), "INSERT INTO one VALUES (500, 0)")
	require.ErrorContains(t, err, "duplicate key")
	for _, bad := range []string{
		"CREATE INDEX x ON one (v) WITH (device = 'abacus')",
		"CREATE INDEX x ON one (v) WITH (device = 'cuda:7')",
		"CREATE INDEX x ON one (v) INCLUDE (k) WITH (device = 'cuda')",
	} {
		_, err := c.Exec(context.Background(), bad)
		require.Error(t, err, bad)
		require.NotContains(t, strings.ToLower(err.Error()), "internal")
	}
}
