package gpusql_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMergeOfManyWorkers: what eight workers group and merge in parts is what one
// worker groups.
func TestMergeOfManyWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	db := open(t)
	exec(t, db, `CREATE TABLE t AS SELECT i AS k, i * 7919 % 1000003 AS g, i % 5 AS f,
		CASE WHEN i % 11 > 0 THEN 'text number ' || (i * 104729 % 129709) END AS s FROM range(300000) AS r(i)`)
	for _, q := range []string{
		"SELECT count(DISTINCT g), count(DISTINCT s), sum(DISTINCT k), count(*), min(s) FROM t",
		"SELECT f, count(DISTINCT s), count(DISTINCT g % 1000), sum(DISTINCT k), max(k) FROM t GROUP BY f ORDER BY f",
		"SELECT count(*), sum(c), sum(d), sum(m) FROM (SELECT s, f, count(DISTINCT g) AS c, sum(DISTINCT k) AS d, max(k) AS m FROM t GROUP BY s, f) x",
		"SELECT count(*), sum(c), sum(d), min(s), max(s) FROM (SELECT s, f, count(*) AS c, sum(k) AS d FROM t GROUP BY s, f) x",
		"SELECT count(*), sum(c), sum(g * k % 1009) FROM (SELECT g, k, count(*) AS c FROM t GROUP BY g, k) x",
		"SELECT count(*), sum(c), sum(g) FROM (SELECT g, count(*) AS c FROM t GROUP BY g) x",
	} {
		exec(t, db, "SET threads = 1")
		want := all(t, db, q)
		exec(t, db, "SET threads = 8")
		require.Equal(t, want, all(t, db, q), q)
	}
}
