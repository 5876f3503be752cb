package gpusql

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/exec/spill/faulty"
)

// spillQueries have an operator each that keeps ten times memory_limit, or
// several. The order of their rows is known, or does not matter (unordered).
var spillQueries = []struct {
	name, sql string
	ordered   bool
	small     bool // few rows do: TestSpill passes over it
	mapped    bool // all that is on disk is mapped: nobody looks for damage
}{
	{"sort", "SELECT k, g, s, v FROM t ORDER BY s DESC, k", true, false, false},
	{"sort by an expression", "SELECT s, k FROM t ORDER BY k % 1000, v DESC, k LIMIT 100000 OFFSET 400000", true, true, false},
	{"aggregate", "SELECT g, count(*), sum(k), min(s), max(v), avg(v) FROM t GROUP BY g", false, false, false},
	{"distinct", "SELECT DISTINCT s FROM t", false, true, false},
	{"aggregate distinct values", "SELECT g % 1000, count(DISTINCT s), sum(DISTINCT k) FROM t GROUP BY g % 1000", false, true, false},
	{"aggregate one group's distinct values", "SELECT count(DISTINCT s), count(DISTINCT k) FROM t", false, true, false},
	{"collect", "SELECT g % 5000, string_agg(left(s, 30), ',' ORDER BY k), median(k), quantile_disc(v, 0.1), mode(v) FROM t GROUP BY g % 5000", false, true, false},
	{"collect one group", "SELECT median(k), quantile_cont(v, 0.3) FROM t", false, true, false},
	{"join", "SELECT a.k, b.s, b.v FROM t a JOIN t b ON a.k = b.g WHERE a.v IS NOT NULL", false, false, false},
	{"join by text", "SELECT count(*), sum(a.k), sum(b.k) FROM t a JOIN t b ON a.s = b.s AND a.k <= b.k", false, true, false},
	{"outer join", "SELECT a.k, b.s FROM (SELECT * FROM t WHERE k % 3 = 0) a FULL JOIN (SELECT * FROM t WHERE k % 2 = 0) b ON a.g = b.k AND a.v < b.v + 5000", false, true, false},
	{"join with a condition", "SELECT count(*) FROM t a WHERE NOT EXISTS (SELECT * FROM t b WHERE b.g = a.k AND b.s < a.s)", false, true, false},
	{"not in", "SELECT count(*), sum(k) FROM t WHERE g NOT IN (SELECT k * 2 FROM t WHERE k % 5 > 0)", false, true, false},
	{"window", "SELECT k, row_number() OVER (PARTITION BY g % 5000 ORDER BY s, k), sum(v) OVER (PARTITION BY g % 5000 ORDER BY s, k) FROM t", false, true, false},
	{"window of one partition", "SELECT k, rank() OVER (ORDER BY g), lag(s) OVER (ORDER BY g, k), avg(v) OVER (ORDER BY g, k ROWS BETWEEN 100 PRECEDING AND 3 FOLLOWING) FROM t", false, false, false},
	{"union", "SELECT s, k % 2 FROM t UNION SELECT s, 3 FROM t WHERE k % 4 = 0", false, false, false},
	{"intersect", "SELECT s, k FROM t INTERSECT SELECT s, k FROM t WHERE k % 4 = 0", false, true, false},
	{"except", "SELECT s, v FROM t EXCEPT SELECT s, v FROM t WHERE k % 4 = 0", false, true, false},
	{"intersect all", "SELECT s, k % 3 FROM t INTERSECT ALL SELECT s, k % 2 FROM t", false, false, false},
	{"except all", "SELECT g % 7, k % 2, left(s, 13) FROM t EXCEPT ALL SELECT g % 7, 1, left(s, 13) FROM t WHERE k % 4 = 0", false, true, false},
	{"with", "WITH w AS MATERIALIZED (SELECT s, k + 1 AS k, v FROM t) SELECT a.s, a.k, a.v FROM w a WHERE a.k >= (SELECT count(*) / 3 FROM w b)", false, false, true},
	{"distinct on", "SELECT DISTINCT ON (s) s, k FROM t ORDER BY s, k", true, false, false},
	{"recursive union", "WITH RECURSIVE r AS (SELECT k, s FROM t UNION SELECT (k + 3) % 5, s FROM r) SELECT count(*), sum(k), max(s) FROM r", false, true, true},
	{"grouping sets", "SELECT g, k % 100000, count(*), max(s) FROM t GROUP BY GROUPING SETS ((g), (k % 100000), ())", false, true, false},
}

// spillTable has more than 80 MB.
const spillTable = `CREATE TABLE t AS SELECT i AS k, i * 7919 % 1000003 AS g,
	'text number ' || (i * 104729 % 1299709) || repeat(' of many', 12) AS s, CASE WHEN i % 11 = 0 THEN NULL ELSE (i * 31 % 9973)::DOUBLE END AS v
	FROM range(600000) AS r(i)`

// digest is a checksum of a query's rows, of their order if that is fixed.
func digest(ctx context.Context, c *Conn, sql string, ordered bool) (sum uint64, rows int, err error) {
	r, err := c.Query(ctx, sql)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close() //nolint:errcheck // Err says it
	for r.Next() {
		h := fnv.New64a()
		for i := range r.Columns() {
			h.Write([]byte(r.Value(i).String())) //nolint:errcheck // never fails
			h.Write([]byte{0})                   //nolint:errcheck // never fails
		}
		if ordered {
			h.Write(binary.LittleEndian.AppendUint64(nil, sum)) //nolint:errcheck // never fails
			sum = h.Sum64()
		} else {
			sum += h.Sum64()
		}
		rows++
	}
	return sum, rows, r.Err()
}

// spilling is a database with spillTable, which is ten times the memory that the
// tests give, and a folder for what that has no room for.
func spilling(t *testing.T) (*DB, *Conn, string) {
	t.Helper()
	dir := t.TempDir()
	db, err := Open(":memory:")
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // at the end
	conn, err := db.Conn(context.Background())
	require.NoError(t, err)
	do(t, conn, spillTable)
	require.Greater(t, db.memory.Used(), int64(80<<20))
	do(t, conn, "SET temp_directory = '"+dir+"'")
	return db, conn, dir
}

// TestSpill runs each operator on ten times the memory that it may have.
func TestSpill(t *testing.T) {
	if testing.Short() {
		t.Skip("it sorts much")
	}
	db, conn, dir := spilling(t)
	ctx := context.Background()
	for _, q := range spillQueries {
		if q.small {
			continue
		}
		t.Run(q.name, func(t *testing.T) {
			do(t, conn, "RESET memory_limit")
			want, rows, err := digest(ctx, conn, q.sql, q.ordered)
			require.NoError(t, err)
			require.Zero(t, db.temp.used())
			do(t, conn, "SET memory_limit = '8MB'")
			got, n, err := digest(ctx, conn, q.sql, q.ordered)
			require.NoError(t, err)
			require.Equal(t, rows, n)
			require.Equal(t, want, got)
			clean(t, db, dir)

			// It ends in the middle.
			cancelable, cancel := context.WithCancel(ctx)
			r, err := conn.Query(cancelable, q.sql)
			require.NoError(t, err)
			require.True(t, r.Next())
			require.Greater(t, db.temp.used(), int64(100<<10))
			cancel()
			for r.Next() {
			}
			require.ErrorIs(t, r.Err(), context.Canceled)
			r.Close() //nolint:errcheck // it was canceled
			clean(t, db, dir)
			do(t, conn, "SET max_temp_size = '1MB'")
			_, _, err = digest(ctx, conn, q.sql, q.ordered)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, "53100", e.Code)
			require.Regexp(t, `out of temporary disk space: .* asked for, .* of 1.0 MiB in use .*raise max_temp_size`, e.Error())
			do(t, conn, "RESET max_temp_size")
			clean(t, db, dir)
		})
	}
}

// TestSpillChanges has changes whose rows are ten times the memory that they may have.
func TestSpillChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes much")
	}
	db, conn, dir := spilling(t)
	ctx := context.Background()
	for _, q := range []string{
		"CREATE TABLE u AS SELECT * FROM t ORDER BY s, k",
		"INSERT INTO u SELECT k + 600000, g, s, v FROM t ORDER BY g, k LIMIT 300000",
		"UPDATE u SET s = s || 'x', v = g WHERE k % 5 > 0",
		"DELETE FROM u WHERE k % 3 = 0",
		"INSERT INTO u SELECT * FROM t WHERE k % 3 = 0 RETURNING k, s, g",
		"DELETE FROM u WHERE k % 7 > 2 RETURNING *",
	} {
		answers := [2]uint64{}
		for i, limit := range []string{"RESET memory_limit", "SET memory_limit = '8MB'"} {
			do(t, conn, limit)
			do(t, conn, "BEGIN")
			sum, _, err := digest(ctx, conn, q, false)
			require.NoError(t, err, q)
			do(t, conn, "RESET memory_limit")
			rest, _, err := digest(ctx, conn, "SELECT * FROM u", false)
			require.NoError(t, err)
			answers[i] = sum + rest
			if i == 0 {
				do(t, conn, "ROLLBACK")
			} else {
				do(t, conn, "COMMIT")
			}
			clean(t, db, dir)
		}
		require.Equal(t, answers[0], answers[1], q)
		if !strings.HasPrefix(q, "UPDATE") && !strings.HasPrefix(q, "DELETE") {
			continue
		}
		// The disk is full: nothing is changed and nothing left.
		before, _, err := digest(ctx, conn, "SELECT * FROM u", false)
		require.NoError(t, err)
		do(t, conn, "SET memory_limit = '8MB'; SET max_temp_size = '1MB'")
		_, err = conn.Exec(ctx, "UPDATE u SET s = s || 'y'")
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "53100", e.Code)
		do(t, conn, "RESET memory_limit; RESET max_temp_size")
		after, _, err := digest(ctx, conn, "SELECT * FROM u", false)
		require.NoError(t, err)
		require.Equal(t, before, after)
		clean(t, db, dir)
	}
}

// spilled is how many bytes a query writes, by EXPLAIN ANALYZE.
func spilled(t *testing.T, c *Conn, sql string) (bytes int64) {
	r, err := c.Query(context.Background(), "EXPLAIN ANALYZE "+sql)
	require.NoError(t, err)
	for r.Next() {
		for _, m := range regexp.MustCompile(`spilled=(\d+)`).FindAllStringSubmatch(r.Value(0).String(), -1) {
			n, err := strconv.ParseInt(m[1], 10, 64)
			require.NoError(t, err)
			bytes += n
		}
	}
	require.NoError(t, r.Err())
	return bytes
}

// do runs statements that must not fail.
func do(t *testing.T, c *Conn, sql string) {
	t.Helper()
	_, err := c.Exec(context.Background(), sql)
	require.NoError(t, err)
}

// clean sees that no query has left anything.
func clean(t *testing.T, db *DB, dir string) {
	t.Helper()
	require.Zero(t, db.temp.used())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestSpillFaults lets each call of the file system fail, for every operator.
func TestSpillFaults(t *testing.T) {
	ctx := context.Background()
	fs := faulty.New()
	db, err := Open(":memory:")
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // at the end
	db.temp.fs = fs
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	do(t, conn, strings.Replace(spillTable, "600000", "24", 1))
	for _, q := range spillQueries {
		t.Run(q.name, func(t *testing.T) {
			do(t, conn, "SET spill = 'auto'")
			want, _, err := digest(ctx, conn, q.sql, q.ordered)
			require.NoError(t, err)
			require.Zero(t, spilled(t, conn, q.sql))
			do(t, conn, "SET spill = 'always'; SET morsel = 12")
			fs.FailAt(0, nil)
			require.Positive(t, spilled(t, conn, q.sql))
			for i := 1; ; i++ {
				fs.FailAt(i, syscall.ENOSPC)
				got, _, err := digest(ctx, conn, q.sql, q.ordered)
				require.Zero(t, db.temp.used())
				require.Zero(t, fs.Open(), "call %d", i)
				if !fs.Failed() {
					require.NoError(t, err)
					require.Equal(t, want, got)
					require.Greater(t, i, 3)
					return
				}
				var e *Error
				require.ErrorAs(t, err, &e, "call %d", i)
				require.Equal(t, "53100", e.Code)
				require.True(t, errors.Is(err, syscall.ENOSPC))
			}
		})
	}
}

// TestSpillDamage has what is read back be other than what was written.
func TestSpillDamage(t *testing.T) {
	ctx := context.Background()
	fs := faulty.New()
	db, err := Open(":memory:")
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // at the end
	db.temp.fs = fs
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	do(t, conn, strings.Replace(spillTable, "600000", "24", 1))
	do(t, conn, "SET spill = 'always'; SET morsel = 12")
	for _, q := range spillQueries {
		if q.mapped {
			continue
		}
		fs.Damage(70)
		_, _, err := digest(ctx, conn, q.sql, q.ordered)
		var e *Error
		require.ErrorAs(t, err, &e, q.name)
		require.Equal(t, "58030", e.Code)
		require.Contains(t, e.Error(), "damaged")
		fs.Damage(-1)
		require.Zero(t, fs.Open())
	}
}
