package gpusql_test

import (
	"context"
	"fmt"
	"os"
	exe "os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
)

// filled is a database whose GPU is the emulator, with two tables of all that
// columns may have: NULLs, long strings, encoded strings, dead rows, a column
// that came later.
func filled(t *testing.T, dsn string) *gpusql.DB {
	t.Helper()
	db := emulated(t, dsn)
	for _, sql := range []string{
		"SET device = 'cpu'",
		"CREATE TABLE t (k INT, g VARCHAR, s VARCHAR, d DOUBLE, n DECIMAL(12,2))",
		`INSERT INTO t SELECT x, 'group ' || x % 7, CASE WHEN x % 5 > 0 THEN 'a string that is long ' || x END, x / 4.0, x * 1.25
			FROM generate_series(1, 5000) AS r(x)`,
		"DELETE FROM t WHERE k % 11 = 0",
		"ALTER TABLE t ADD COLUMN late VARCHAR DEFAULT 'a default that is long'",
		"INSERT INTO t SELECT x, NULL, 'short', NULL, 0, 'now' FROM generate_series(5001, 5200) AS r(x)",
		"CREATE TABLE u (k INT, name VARCHAR)",
		"INSERT INTO u SELECT x * 3, 'name number ' || x FROM generate_series(1, 800) AS r(x)",
	} {
		_, err := db.Exec(context.Background(), sql)
		require.NoError(t, err, sql)
	}
	return db
}

// gpuQueries run on a GPU whole.
var gpuQueries = []string{
	"SELECT k, g, s, d, n, late FROM t WHERE k % 100 < 3",
	"SELECT count(*), sum(k), min(n), max(d), avg(d) FROM t WHERE g <> 'group 3'",
	"SELECT g, count(*), sum(n) FROM t GROUP BY g",
	"SELECT late, count(s) FROM t GROUP BY late",
	"SELECT u.name, t.s FROM t JOIN u ON t.k = u.k WHERE t.n > 600",
	"SELECT t.k, u.name FROM t LEFT JOIN u ON t.k = u.k WHERE t.k BETWEEN 2380 AND 2410",
	"SELECT v, t.s FROM (VALUES (1, 'one'), (5002, 'a value that is long')) AS w(k, v) JOIN t ON t.k = w.k",
	"WITH c AS (SELECT g, count(*) AS n FROM t GROUP BY g) SELECT a.g, b.n FROM c a JOIN c b ON a.g = b.g",
	"SELECT s FROM t WHERE k < 0",
	"SELECT count(*) FROM t",
	"SELECT 1 + 1, 'x'",
}

// run runs statements.
func run(t *testing.T, c *gpusql.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		_, err := c.Exec(context.Background(), sql)
		require.NoError(t, err, sql)
	}
}

// TestGPU compares what queries give on the GPU with what they give on the CPU,
// with columns that come, that are there, and that have to go for others.
func TestGPU(t *testing.T) {
	for _, dsn := range []string{"", "?gpu_memory_limit=1MB", "?morsel=100"} {
		t.Run(dsn, func(t *testing.T) {
			db := filled(t, dsn)
			cpu, gpu := session(t, db), session(t, db)
			run(t, cpu, "SET device = 'cpu'")
			run(t, gpu, "SET device = 'cuda'", "SET require_gpu = on")
			for range 2 {
				for _, sql := range gpuQueries {
					require.ElementsMatch(t, all(t, cpu, sql), all(t, gpu, sql), sql)
				}
			}
		})
	}
}

// TestGPUSeesTransactions: rows that are not committed are seen by their own
// transaction, and are not kept for others.
func TestGPUSeesTransactions(t *testing.T) {
	db := filled(t, "?device=cuda&require_gpu=on")
	a, b := session(t, db), session(t, db)
	const sum = "SELECT count(*), sum(k) FROM u"
	before := all(t, b, sum)
	run(t, a, "BEGIN", "INSERT INTO u VALUES (-1, 'x'), (-2, 'y')", "DELETE FROM u WHERE k = 3")
	require.Equal(t, []string{"801 961194"}, all(t, a, sum))
	require.Equal(t, before, all(t, b, sum))
	run(t, a, "ROLLBACK", "INSERT INTO u VALUES (-7, 'z')")
	require.Equal(t, []string{"801 961193"}, all(t, a, sum))
	require.Equal(t, []string{"801 961193"}, all(t, b, sum))
}

func TestShowResident(t *testing.T) {
	db := filled(t, "?device=cuda")
	c := session(t, db)
	const show = "SHOW RESIDENT"
	require.Empty(t, all(t, c, show))
	all(t, c, "SELECT sum(k) FROM t")
	all(t, c, "SELECT count(name) FROM u")
	rows, err := c.Query(context.Background(), show)
	require.NoError(t, err)
	require.Equal(t, []string{"device", "table", "segments", "column", "rows", "bytes", "last_use", "pinned"}, rows.Columns())
	var got []string
	for rows.Next() {
		got = append(got, fmt.Sprint(rows.Value(1), rows.Value(2), rows.Value(3), rows.Value(4), rows.Value(7)))
	}
	require.NoError(t, rows.Err())
	require.Equal(t, []string{"t 0 k 5000 false", "t 1 k 200 false", "u 0 name 800 false"}, got)
	run(t, c, "DROP TABLE t")
	require.Eventually(t, func() bool { return len(all(t, c, show)) == 1 }, time.Minute, time.Millisecond)
	run(t, c, "INSERT INTO u VALUES (1, 'one more')")
	require.Equal(t, []string{"801"}, all(t, c, "SELECT count(name) FROM u"))
	require.Len(t, all(t, c, show), 1)
}

// TestGPUMemory: copies go when a query needs their room, what does not fit at all
// is in the host's memory, and where that is short too the error names both.
func TestGPUMemory(t *testing.T) {
	db := filled(t, "?device=cuda&require_gpu=on&gpu_memory_limit=180KB")
	c := session(t, db)
	for _, column := range []string{"k", "g", "d", "n", "late", "k"} {
		require.Equal(t, []string{"4746"}, all(t, c, "SELECT count(*) FROM t WHERE "+column+" IS NOT NULL OR k > 0"))
	}
	require.Less(t, len(all(t, c, "SHOW RESIDENT")), 10, "some had to go")
	require.Len(t, all(t, c, "SELECT s FROM t"), 4746)
	require.Regexp(t, `downloads of \d+ bytes, [1-9]\d* bytes spilt to host memory$`, all(t, c, "EXPLAIN ANALYZE SELECT s FROM t")[3])
	run(t, c, "SET memory_limit = '100KB'")
	_, err := c.Exec(context.Background(), "SELECT s FROM t")
	require.ErrorIs(t, err, device.ErrNoMemory)
	require.Regexp(t, "out of GPU memory of cuda:0: .* in use .*; raise gpu_memory_limit; to spill it: out of host memory: .*; raise memory_limit", err.Error())
	require.Equal(t, []string{"4746"}, all(t, c, "SELECT count(k) FROM t"))
}

// TestGPUSpills: operators whose state a GPU's memory does not hold give the same
// as on the CPU, and leave nothing in the host's memory.
func TestGPUSpills(t *testing.T) {
	db := filled(t, "?gpu_memory_limit=100KB&device=cuda")
	cpu, gpu := session(t, db), session(t, db)
	run(t, cpu, "SET device = 'cpu'")
	run(t, gpu, "SET device = 'cuda'", "SET require_gpu = on")
	open, err := session(t, db).Query(context.Background(), "SELECT * FROM t ORDER BY s, k")
	require.NoError(t, err)
	require.True(t, open.Next())
	require.Contains(t, strings.Join(all(t, cpu, "SHOW RESIDENT"), "\n"), "spilt to host memory")
	require.NoError(t, open.Close())
	require.NotContains(t, strings.Join(all(t, cpu, "SHOW RESIDENT"), "\n"), "spilt to host memory")
	for _, sql := range []string{
		"SELECT a.s, b.n FROM t a JOIN t b ON a.k = b.k",
		"SELECT k, s, sum(n), max(s) FROM t GROUP BY k, s",
		"SELECT g, count(DISTINCT s) FROM t GROUP BY g",
		"SELECT * FROM t ORDER BY s, k",
		"SELECT k, sum(n) OVER (PARTITION BY g ORDER BY k), rank() OVER (ORDER BY s) FROM t",
		"SELECT s FROM t WHERE k % 2 = 0 EXCEPT SELECT s FROM t WHERE k % 3 = 0",
		"SELECT s, n FROM t UNION SELECT name, k FROM u",
	} {
		require.ElementsMatch(t, all(t, cpu, sql), all(t, gpu, sql), sql)
		require.Contains(t, strings.Join(all(t, gpu, "EXPLAIN ANALYZE "+sql), "\n"), "spilt to host memory", sql)
		for _, line := range all(t, gpu, "SHOW DEVICES") {
			require.NotContains(t, line, "spilt", sql)
		}
	}
}

// TestGPUResultsAreStored: what a query on the GPU gives comes into tables.
func TestGPUResultsAreStored(t *testing.T) {
	db := filled(t, "?device=cuda")
	c := session(t, db)
	require.Contains(t, all(t, c, "EXPLAIN INSERT INTO u SELECT count(*), g FROM t GROUP BY g")[0], "device: cuda:0")
	run(t, c, "CREATE TABLE made AS SELECT g, sum(n) AS n, count(s) AS c FROM t GROUP BY g")
	run(t, c, "SET device = 'cpu'")
	require.ElementsMatch(t, all(t, c, "SELECT g, sum(n), count(s) FROM t GROUP BY g"), all(t, c, "SELECT * FROM made"))
	require.Contains(t, all(t, c, "EXPLAIN INSERT INTO u VALUES (1, 'x')")[0], "device: cpu (it only changes a table")
}

func TestPlacement(t *testing.T) {
	db := filled(t, "")
	c := session(t, db)
	device := func(sql string) string { return strings.TrimPrefix(all(t, c, "EXPLAIN "+sql)[0], "device: ") }
	run(t, c, "SET device = 'auto'")
	require.Equal(t, "cpu (auto: 5200 rows are read, a GPU pays from 262144)", device("SELECT sum(k) FROM t"))
	run(t, c, "CREATE TABLE big AS SELECT x FROM generate_series(1, 300000) AS r(x)")
	require.Equal(t, "cuda:0 (auto: 300000 rows are read, a GPU pays from 262144)", device("SELECT sum(x) FROM big"))
	require.Equal(t, []string{"45000150000"}, all(t, c, "SELECT sum(x) FROM big"))

	const never = "SELECT count(*) FROM t WHERE regexp_like(s, 'a.*9$')"
	run(t, c, "SET device = 'cuda'")
	require.Regexp(t, `^cpu \("scan t .*" cannot run on a GPU: function regexp_like has no code for a GPU\)$`, device(never))
	rows, err := c.Query(context.Background(), never)
	require.NoError(t, err)
	require.Regexp(t, `^the query runs on the CPU: "scan t .* cannot run on a GPU`, rows.Warning())
	require.NoError(t, rows.Close())
	run(t, c, "SET require_gpu = on")
	_, err = c.Exec(context.Background(), never)
	require.ErrorContains(t, err, "require_gpu is on")
	require.ErrorContains(t, err, "function regexp_like has no code for a GPU")
}

// TestExplainAnalyzeSplits: where the time went, and what the GPU was given.
func TestExplainAnalyzeSplits(t *testing.T) {
	c := session(t, filled(t, "?device=cuda&require_gpu=on"))
	lines := all(t, c, "EXPLAIN ANALYZE SELECT g, sum(n) FROM t GROUP BY g")
	require.Regexp(t, `^time: \S+ \(parse \S+, plan \S+, copy \S+, kernels \S+, host \S+\)$`, lines[2])
	require.Regexp(t, `^gpu: [1-9]\d* launches, [1-9]\d* uploads of [1-9]\d* bytes, [1-9]\d* downloads of [1-9]\d* bytes$`, lines[3])
	require.Regexp(t, `scan t .*\(actual rows=4746 time=\S+ bytes=\S+ at \S+ GB/s\)`, strings.Join(lines, "\n"))
	run(t, c, "SET require_gpu = off", "SET device = 'cpu'")
	lines = all(t, c, "EXPLAIN ANALYZE SELECT g, sum(n) FROM t GROUP BY g")
	require.Regexp(t, `^time: \S+ \(parse \S+, plan \S+, host \S+\)$`, lines[2])
	require.NotContains(t, lines[3], "gpu:")
}

// TestCanary: a kernel that fails has its query fail, and no other.
func TestCanary(t *testing.T) {
	c := session(t, filled(t, "?device=cuda&require_gpu=on"))
	for _, sql := range gpuQueries {
		run(t, c, "SET gpu_canary = 'fail'")
		_, err := c.Exec(context.Background(), sql)
		var failed *device.StatusError
		require.ErrorAs(t, err, &failed, sql)
		require.Equal(t, device.StatusCanary, failed.Status.Code)
		run(t, c, "SET gpu_canary = 'none'")
		_, err = c.Exec(context.Background(), sql)
		require.NoError(t, err, sql)
	}
}

// TestLostGPU: queries on a GPU that is lost fail, and those that may choose go
// on. It is lost to a whole process: so this one's own.
func TestLostGPU(t *testing.T) {
	if os.Getenv("GPUSQL_LOSE_GPU") == "" {
		devicetest.Library(t) // or skip
		c := exe.Command(os.Args[0], "-test.run=^TestLostGPU$")
		c.Env = append(os.Environ(), "GPUSQL_LOSE_GPU=1")
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	db := filled(t, "?device=cuda")
	c := session(t, db)
	open, err := session(t, db).Query(context.Background(), "SELECT k FROM t")
	require.NoError(t, err)
	run(t, c, "SET gpu_canary = 'lose'")
	_, err = c.Exec(context.Background(), "SELECT sum(k) FROM t")
	require.ErrorIs(t, err, device.ErrLost)
	for open.Next() {
	}
	require.ErrorIs(t, open.Err(), device.ErrLost)
	run(t, c, "SET gpu_canary = 'none'")
	_, err = c.Exec(context.Background(), "SELECT sum(k) FROM t")
	require.ErrorIs(t, err, device.ErrLost)
	var e *gpusql.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "58000", e.Code)
	require.Contains(t, all(t, c, "SHOW DEVICES")[1], "lost")
	run(t, c, "SET device = 'auto'", "CREATE TABLE big AS SELECT x FROM generate_series(1, 300000) AS r(x)")
	rows, err := c.Query(context.Background(), "SELECT sum(x) FROM big")
	require.NoError(t, err)
	require.Contains(t, rows.Warning(), "cuda:0 is lost")
	require.NoError(t, rows.Close())
	require.Contains(t, all(t, c, "EXPLAIN SELECT sum(x) FROM big")[0], "cpu (auto: device: cuda:0 is lost")
}
