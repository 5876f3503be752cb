package gpusql_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// coveredQueries read columns of keys and included ones alone, of TestCoveringScans' table.
var coveredQueries = []string{
	"SELECT k, i, d, f, s, v, l FROM t WHERE k BETWEEN 100 AND 160 ORDER BY k",
	"SELECT k, s FROM t WHERE k IN (700, 3, 44, 3, 100000) ORDER BY k",
	"SELECT s, k, f FROM t WHERE s LIKE 'a string that is long 12%' ORDER BY s, k",
	"SELECT s FROM t WHERE s = 'short 9'",
	"SELECT g, k, d FROM t WHERE g = 3 ORDER BY k DESC LIMIT 20",
	"SELECT sum(k), count(d), min(d) FROM t WHERE g IN (1, 5, 1) AND k < 900",
	"SELECT few.k, t.i FROM few JOIN t ON t.k = few.k ORDER BY few.k",
	"SELECT few.k, t.d FROM few LEFT JOIN t ON t.g = few.k AND t.k < 600 ORDER BY few.k, t.k LIMIT 50",
}

// TestCoveringScans compares what is read of the entries of indexes with what the
// table has, while rows come, change and go, some of them in transactions that
// others do not see.
func TestCoveringScans(t *testing.T) {
	for _, kind := range []string{"btree", "lsm", "mvcc"} {
		t.Run(kind, func(t *testing.T) {
			db := open(t)
			c, other := session(t, db), session(t, db)
			run(t, c, "CREATE TABLE t (k BIGINT NOT NULL, g SMALLINT, i INTEGER, d DECIMAL(9, 2), f DOUBLE, s VARCHAR, v INTERVAL, l INTEGER[])",
				`INSERT INTO t SELECT x, CASE WHEN x % 13 = 0 THEN NULL ELSE x % 40 END, -x, x / 4.0,
					CASE WHEN x % 3 = 0 THEN '-0'::DOUBLE WHEN x % 3 = 1 THEN 'NaN'::DOUBLE ELSE x / 7.0 END,
					CASE WHEN x % 5 = 0 THEN NULL WHEN x % 2 = 0 THEN 'a string that is long ' || x ELSE 'short ' || x END,
					INTERVAL '30 days' * (x % 3), [x, NULL] FROM generate_series(1, 20000) AS r(x)`,
				fmt.Sprintf("CREATE UNIQUE INDEX t_k ON t USING %s (k) INCLUDE (i, d, f, s, v, l)", kind),
				fmt.Sprintf("CREATE INDEX t_s ON t USING %s (s DESC, k) INCLUDE (f)", kind),
				fmt.Sprintf("CREATE INDEX t_g ON t USING %s (g, k DESC) INCLUDE (d)", kind),
				"CREATE TABLE few AS SELECT x * 7 AS k FROM generate_series(0, 60) AS r(x)", "ALTER TABLE few ALTER COLUMN k TYPE BIGINT")
			same := func(after string) {
				for _, sql := range coveredQueries {
					got := all(t, c, sql)
					run(t, c, "SET optimizer = off")
					want := all(t, c, sql)
					run(t, c, "SET optimizer = on")
					require.Equal(t, want, got, "%s after %s", sql, after)
				}
			}
			for _, sql := range coveredQueries[:len(coveredQueries)-1] {
				require.Contains(t, fmt.Sprint(all(t, c, "EXPLAIN "+sql)), "covering", sql)
			}
			same("loading")
			run(t, other, "BEGIN", "DELETE FROM t WHERE k % 3 = 0", "INSERT INTO t (k, s) VALUES (50000, 'short 9')")
			same("what another transaction does")
			run(t, c, "BEGIN", "SELECT count(*) FROM t")
			run(t, other, "COMMIT")
			same("a commit that the snapshot does not see")
			run(t, c, "ROLLBACK")
			same("the commit")
			for _, sql := range []string{
				"UPDATE t SET s = 'short 9', f = 1 WHERE k % 100 = 4", "UPDATE t SET k = k + 30000 WHERE k BETWEEN 110 AND 120",
				"DELETE FROM t WHERE k > 1000", "BEGIN", "UPDATE t SET d = d + 1, l = NULL WHERE g = 3", "ROLLBACK",
				"INSERT INTO t SELECT x + 40000, x % 30, x, x, x, 'x' || x, NULL, NULL FROM generate_series(1, 6000) AS r(x)",
			} {
				run(t, c, sql)
				same(sql)
			}
			for _, again := range []string{"SELECT 40001", "SELECT x + 40000 FROM generate_series(1, 5000) AS r(x)"} {
				_, err := c.Exec(t.Context(), "INSERT INTO t (k) "+again)
				require.ErrorContains(t, err, "duplicate key", "the included columns differ")
			}
			run(t, c, "INSERT INTO t (k, s) VALUES (40001, 'new') ON CONFLICT (k) DO UPDATE SET s = excluded.s || t.s")
			require.Equal(t, []string{"newx1"}, all(t, c, "SELECT s FROM t WHERE k = 40001"))
			_, err := c.Exec(t.Context(), "INSERT INTO few VALUES (7)")
			require.NoError(t, err)
			_, err = c.Exec(t.Context(), fmt.Sprintf("CREATE UNIQUE INDEX few_k ON few USING %s (k) INCLUDE (k)", kind))
			require.ErrorContains(t, err, "duplicated")
			run(t, c, "UPDATE t SET f = 0 WHERE f IS NULL", "ALTER TABLE t ALTER COLUMN f SET NOT NULL", "ALTER TABLE t ALTER COLUMN k DROP NOT NULL",
				"ALTER TABLE t ALTER COLUMN f DROP NOT NULL", "INSERT INTO t (g, k) VALUES (3, NULL), (3, 8000)")
			same("columns that may be NULL now")
		})
	}
}
