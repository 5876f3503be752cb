package gpusql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql"
)

// open makes a database that ends with the test.
func open(t testing.TB, opts ...gpusql.Option) *gpusql.DB {
	t.Helper()
	db, err := gpusql.Open("", opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func exec(t testing.TB, db interface {
	Exec(context.Context, string, ...any) (gpusql.Result, error)
}, sql string, args ...any) gpusql.Result {
	t.Helper()
	r, err := db.Exec(t.Context(), sql, args...)
	require.NoError(t, err, sql)
	return r
}

// all reads a result as text, a string a row.
func all(t testing.TB, db interface {
	Query(context.Context, string, ...any) (*gpusql.Rows, error)
}, sql string, args ...any) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), sql, args...)
	require.NoError(t, err, sql)
	defer rows.Close()
	lines := []string{}
	for rows.Next() {
		line := ""
		for i := range rows.Columns() {
			if i > 0 {
				line += " "
			}
			line += rows.Value(i).String()
		}
		lines = append(lines, line)
	}
	require.NoError(t, rows.Err(), sql)
	return lines
}

func code(t testing.TB, err error) string {
	t.Helper()
	var e *gpusql.Error
	require.ErrorAs(t, err, &e)
	return e.Code
}

func TestQuery(t *testing.T) {
	db := open(t)
	require.Equal(t, []string{"1"}, all(t, db, "SELECT 1"))
	require.Equal(t, []string{"3"}, all(t, db, "SELECT 1; SELECT 2; SELECT $1 + 1;"[20:], 2))
	exec(t, db, "CREATE TABLE t (a INTEGER, b VARCHAR)")
	require.EqualValues(t, 2, exec(t, db, "INSERT INTO t VALUES (1, 'x'), (2, $1)", "y").RowsAffected)
	require.Equal(t, []string{"1 x", "2 y"}, all(t, db, "SELECT * FROM t ORDER BY a"))
	require.Empty(t, all(t, db, ""))
	require.Empty(t, all(t, db, "-- nothing"))
	_, err := db.Exec(t.Context(), "SELECT 1; SELECT $1", 1)
	require.ErrorContains(t, err, "only one statement can have arguments")
	_, err = db.Exec(t.Context(), "SELECT $1")
	require.ErrorContains(t, err, "takes 1 arguments, 0 were given")
	_, err = db.Exec(t.Context(), "SELECT $1 + 1", "x")
	require.Error(t, err)
}

func TestScanOutOfPlace(t *testing.T) {
	db := open(t)
	rows, err := db.Query(t.Context(), "SELECT 1")
	require.NoError(t, err)
	var i int
	require.True(t, rows.Next())
	require.ErrorContains(t, rows.Scan(), "Scan got 0 places for 1 columns")
	require.NoError(t, rows.Scan(&i))
	require.False(t, rows.Next())
	require.ErrorIs(t, rows.Scan(&i), gpusql.ErrNoRows)
	require.NoError(t, rows.Close())
	require.NoError(t, rows.Close())
}

// A failed statement in a text ends it; those before it stay.
func TestStatementsOfAText(t *testing.T) {
	db := open(t)
	exec(t, db, "CREATE TABLE t (i INTEGER PRIMARY KEY)")
	_, err := db.Exec(t.Context(), "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2), (1); INSERT INTO t VALUES (3)")
	require.Equal(t, "23505", code(t, err))
	require.Equal(t, []string{"1"}, all(t, db, "SELECT i FROM t"))
	_, err = db.Exec(t.Context(), "INSERT INTO t VALUES (4); SELEKT")
	require.Equal(t, "42601", code(t, err))
	require.Equal(t, []string{"1"}, all(t, db, "SELECT i FROM t"), "a text that does not parse is not begun")
}

// Positions in errors are those of the whole text.
func TestErrorPosition(t *testing.T) {
	db := open(t)
	_, err := db.Exec(t.Context(), "SELECT 1;\nSELECT x")
	var e *gpusql.Error
	require.ErrorAs(t, err, &e)
	line, column, ok := e.Position()
	require.True(t, ok)
	require.Equal(t, []int{2, 8}, []int{line, column})
}

func TestTransactions(t *testing.T) {
	db := open(t)
	exec(t, db, "CREATE TABLE t (i INTEGER)")
	tx, err := db.Begin(t.Context())
	require.NoError(t, err)
	exec(t, tx, "INSERT INTO t VALUES (1)")
	require.Equal(t, []string{"1"}, all(t, tx, "SELECT count(*) FROM t"))
	require.Equal(t, []string{"0"}, all(t, db, "SELECT count(*) FROM t"), "not seen outside")
	require.NoError(t, tx.Commit())
	require.Error(t, tx.Commit())
	require.NoError(t, tx.Rollback(), "after Commit it does nothing")
	require.Equal(t, []string{"1"}, all(t, db, "SELECT count(*) FROM t"))

	_, err = db.Exec(t.Context(), "BEGIN; INSERT INTO t VALUES (2)")
	require.ErrorContains(t, err, "BEGIN without COMMIT was rolled back")
	require.Equal(t, []string{"1"}, all(t, db, "SELECT count(*) FROM t"))
}

// Of two transactions that change the same row the second fails.
func TestFirstToWriteWins(t *testing.T) {
	db := open(t)
	exec(t, db, "CREATE TABLE t (i INTEGER PRIMARY KEY, n INTEGER); INSERT INTO t VALUES (1, 0)")
	one, err := db.Begin(t.Context())
	require.NoError(t, err)
	two, err := db.Begin(t.Context())
	require.NoError(t, err)
	exec(t, one, "UPDATE t SET n = n + 1")
	require.NoError(t, one.Commit())
	_, err = two.Exec(t.Context(), "UPDATE t SET n = n + 10")
	require.Equal(t, "40001", code(t, err))
	_, err = two.Query(t.Context(), "SELECT 1")
	require.Equal(t, "25P02", code(t, err))
	require.Error(t, two.Commit())
	require.Equal(t, []string{"1 1"}, all(t, db, "SELECT * FROM t"))
}

// A query that is read slowly sees its snapshot, whatever happens meanwhile.
func TestRowsKeepTheirSnapshot(t *testing.T) {
	db := open(t, gpusql.WithSetting("morsel", "3"))
	exec(t, db, "CREATE TABLE t AS SELECT i FROM generate_series(1, 1000) AS g(i)")
	rows, err := db.Query(t.Context(), "SELECT i FROM t")
	require.NoError(t, err)
	require.True(t, rows.Next())
	exec(t, db, "DELETE FROM t; INSERT INTO t VALUES (-1); DROP TABLE t")
	n := 1
	for rows.Next() {
		require.Positive(t, rows.Value(0).I)
		n++
	}
	require.NoError(t, rows.Err())
	require.Equal(t, 1000, n)
}

// A prepared statement is planned again when what it names has changed.
func TestPreparedAfterDefinition(t *testing.T) {
	db := open(t)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	exec(t, conn, "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)")
	s, err := conn.Prepare(t.Context(), "SELECT * FROM t")
	require.NoError(t, err)
	columns := func() int {
		rows, err := s.Query(t.Context())
		require.NoError(t, err)
		defer rows.Close()
		return len(rows.Columns())
	}
	require.Equal(t, 1, columns())
	exec(t, conn, "ALTER TABLE t ADD COLUMN b INTEGER")
	require.Equal(t, 2, columns())
	exec(t, conn, "DROP TABLE t")
	_, err = s.Query(t.Context())
	require.Equal(t, "42P01", code(t, err))
	require.NoError(t, s.Close())
	_, err = s.Query(t.Context())
	require.ErrorIs(t, err, gpusql.ErrClosed)
}

func TestCancel(t *testing.T) {
	db := open(t)
	exec(t, db, "CREATE TABLE t AS SELECT i FROM generate_series(1, 20000) AS g(i)")
	for _, query := range []string{
		"SELECT count(*) FROM t a, t b WHERE a.i * b.i % 7 = 3",
		"SELECT sum(i) FROM generate_series(1, 1000000000000) AS g(i)",
		"WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT max(i) FROM r",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		_, err := db.Exec(ctx, query)
		require.ErrorIs(t, err, context.Canceled, query)
		require.Equal(t, "57014", code(t, err))
	}
	require.Equal(t, []string{"20000"}, all(t, db, "SELECT count(*) FROM t"), "the database goes on")
}

func TestMemoryLimit(t *testing.T) {
	db := open(t)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	exec(t, conn, "SET memory_limit = '4MB'; SET temp_directory = ''")
	_, err = conn.Exec(t.Context(), "SELECT count(*) FROM (SELECT DISTINCT i FROM generate_series(1, 10000000) AS g(i)) d")
	require.Equal(t, "53200", code(t, err))
	require.ErrorContains(t, err, "memory_limit")
	exec(t, conn, "RESET memory_limit")
	require.Equal(t, []string{"1"}, all(t, conn, "SELECT 1"))
}

func TestClose(t *testing.T) {
	db, err := gpusql.Open("")
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	exec(t, conn, "CREATE TABLE t AS SELECT 1 AS i; BEGIN; INSERT INTO t VALUES (2)")
	rows, err := conn.Query(t.Context(), "SELECT * FROM t")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.NoError(t, db.Close())
	require.False(t, rows.Next())
	_, err = conn.Query(t.Context(), "SELECT 1")
	require.ErrorIs(t, err, gpusql.ErrClosed)
	_, err = db.Query(t.Context(), "SELECT 1")
	require.ErrorIs(t, err, gpusql.ErrClosed)
	_, err = gpusql.Open("some/file.db")
	require.ErrorContains(t, err, "a database lives in memory")
}

func TestConcurrentUse(t *testing.T) {
	db := open(t)
	exec(t, db, "CREATE TABLE t (i INTEGER, n INTEGER)")
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 20 {
				if _, err := db.Exec(t.Context(), "INSERT INTO t VALUES (?, ?)", w, i); err != nil {
					t.Error(err)
				}
				rows, err := db.Query(t.Context(), "SELECT count(*) FROM t WHERE i = ?", w)
				if err != nil {
					t.Error(err)
					return
				}
				for rows.Next() {
					if n := rows.Value(0).I; n != int64(i+1) {
						t.Errorf("worker %d: %d rows after %d inserts", w, n, i+1)
					}
				}
				rows.Close()
			}
		}()
	}
	wg.Wait()
	require.Equal(t, []string{"160"}, all(t, db, "SELECT count(*) FROM t"))
}

func TestRecords(t *testing.T) {
	db := open(t, gpusql.WithSetting("morsel", "64"))
	rows, err := db.Query(t.Context(), `SELECT i, i % 2 = 0 AS b, CASE WHEN i % 3 = 0 THEN NULL ELSE 'row ' || i END AS s,
		i::DECIMAL(10,2) AS d, i::DECIMAL(30,2) AS w, DATE '2024-01-01' + i::INTEGER AS day
		FROM generate_series(1, 200) AS g(i)`)
	require.NoError(t, err)
	r := rows.Records()
	defer r.Release()
	n := int64(0)
	for r.Next() {
		rec := r.RecordBatch()
		for i := range int(rec.NumRows()) {
			n++
			require.Equal(t, fmt.Sprint(n), rec.Column(0).ValueStr(i))
			require.Equal(t, fmt.Sprint(n%2 == 0), rec.Column(1).ValueStr(i))
			require.Equal(t, n%3 == 0, rec.Column(2).IsNull(i))
			if n%3 != 0 {
				require.Equal(t, fmt.Sprint("row ", n), rec.Column(2).ValueStr(i))
			}
			require.Equal(t, fmt.Sprint(n), rec.Column(3).ValueStr(i))
			require.Equal(t, fmt.Sprint(n), rec.Column(4).ValueStr(i))
		}
	}
	require.NoError(t, r.Err())
	require.EqualValues(t, 200, n)
}

// A record that is held over the next one is an error, not garbage.
func TestRecordHeldTooLong(t *testing.T) {
	db := open(t, gpusql.WithSetting("morsel", "64"))
	rows, err := db.Query(t.Context(), "SELECT i FROM generate_series(1, 200) AS g(i)")
	require.NoError(t, err)
	r := rows.Records()
	defer r.Release()
	require.True(t, r.Next())
	held := r.RecordBatch()
	held.Retain()
	require.False(t, r.Next())
	require.ErrorContains(t, r.Err(), "still held")
	held.Release()
}

func TestAppender(t *testing.T) {
	db := open(t)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	exec(t, conn, "CREATE TABLE t (i INTEGER PRIMARY KEY, s VARCHAR DEFAULT 'none', d DECIMAL(8,2))")
	a, err := conn.Appender("t")
	require.NoError(t, err)
	for i := range 40000 {
		require.NoError(t, a.Append(i, fmt.Sprint(i), "1.25"))
	}
	require.Error(t, a.Append(1))
	require.Error(t, a.Append("x", "y", 1))
	require.Error(t, a.Append(int64(1)<<40, "y", 1))
	n, err := a.Flush(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 40000, n)
	require.Equal(t, []string{"40000 50000.00"}, all(t, conn, "SELECT count(*), sum(d) FROM t"))
	require.NoError(t, a.Append(50000, nil, nil))
	require.NoError(t, a.Append(7, nil, nil))
	_, err = a.Flush(t.Context())
	require.Equal(t, "23505", code(t, err))
	require.Equal(t, []string{"40000"}, all(t, conn, "SELECT count(*) FROM t"), "all or nothing")
	require.NoError(t, a.Close())

	a, err = conn.Appender("t", "d", "i")
	require.NoError(t, err)
	require.NoError(t, a.Append(3, 60000))
	_, err = a.Flush(t.Context())
	require.NoError(t, err)
	require.NoError(t, a.Close())
	require.Equal(t, []string{"60000 none 3.00"}, all(t, conn, "SELECT * FROM t WHERE i = 60000"))
	_, err = conn.Appender("nowhere")
	require.Equal(t, "42P01", code(t, err))
	_, err = conn.Appender("t", "x")
	require.Equal(t, "42703", code(t, err))
}

func TestCopyRoundTrip(t *testing.T) {
	db := open(t)
	dir := t.TempDir()
	exec(t, db, `CREATE TABLE t AS SELECT i, 'text ' || i AS s, i / 4.0 AS d, i % 2 = 0 AS b,
		CASE WHEN i % 5 = 0 THEN NULL ELSE DATE '2024-01-01' + i::INTEGER END AS day FROM generate_series(1, 1000) AS g(i)`)
	want := all(t, db, "SELECT * FROM t ORDER BY i")
	for _, name := range []string{"x.parquet", "x.csv", "x.json", "x.ndjson", "x.arrow"} {
		file := filepath.Join(dir, name)
		require.EqualValues(t, 1000, exec(t, db, "COPY t TO '"+file+"'").RowsAffected)
		exec(t, db, "CREATE TABLE u AS SELECT * FROM t LIMIT 0")
		require.EqualValues(t, 1000, exec(t, db, "COPY u FROM '"+file+"'").RowsAffected)
		require.Equal(t, want, all(t, db, "SELECT * FROM u ORDER BY i"), name)
		require.Equal(t, []string{"1000"}, all(t, db, "SELECT count(*) FROM '"+file+"'"))
		exec(t, db, "DROP TABLE u")
	}
	// A query that fails leaves no file behind.
	file := filepath.Join(dir, "none.csv")
	_, err := db.Exec(t.Context(), "COPY (SELECT 1 / (i - 500) FROM t) TO '"+file+"'")
	require.Equal(t, "22012", code(t, err))
	_, err = os.Stat(file)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestDatabaseSQL(t *testing.T) {
	connector, err := gpusql.NewConnector("", gpusql.WithThreads(2))
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	defer db.Close()
	_, err = db.Exec("CREATE TABLE t (i INTEGER, s VARCHAR, f DOUBLE, d DECIMAL(6,2))")
	require.NoError(t, err)
	stmt, err := db.Prepare("INSERT INTO t VALUES (?, ?, ?, ?)")
	require.NoError(t, err)
	for i := range 3 {
		r, err := stmt.Exec(i, sql.NullString{String: fmt.Sprint(i), Valid: i > 0}, 0.5, "2.50")
		require.NoError(t, err)
		n, err := r.RowsAffected()
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
		_, err = r.LastInsertId()
		require.Error(t, err)
	}
	require.NoError(t, stmt.Close())
	rows, err := db.Query("SELECT * FROM t ORDER BY i")
	require.NoError(t, err)
	types, err := rows.ColumnTypes()
	require.NoError(t, err)
	require.Equal(t, "DECIMAL", types[3].DatabaseTypeName())
	p, s, ok := types[3].DecimalSize()
	require.Equal(t, []any{int64(6), int64(2), true}, []any{p, s, ok})
	require.True(t, rows.Next())
	var i int
	var text sql.NullString
	var f float64
	var d string
	require.NoError(t, rows.Scan(&i, &text, &f, &d))
	require.Equal(t, []any{0, false, 0.5, "2.50"}, []any{i, text.Valid, f, d})
	require.NoError(t, rows.Close())
	tx, err := db.Begin()
	require.NoError(t, err)
	_, err = tx.Exec("DELETE FROM t")
	require.NoError(t, err)
	require.NoError(t, tx.Rollback())
	var n int
	require.NoError(t, db.QueryRow("SELECT count(*) FROM t WHERE i >= $1", 1).Scan(&n))
	require.Equal(t, 2, n)
	require.NoError(t, db.QueryRow("SELECT i FROM t WHERE i > $low AND f < $high", sql.Named("high", 1), sql.Named("low", 1)).Scan(&n))
	require.Equal(t, 2, n)
	reads, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	require.NoError(t, err)
	_, err = reads.Exec("DELETE FROM t")
	require.ErrorContains(t, err, "read-only")
	require.NoError(t, reads.Rollback())
	_, err = db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelSerializable})
	require.ErrorContains(t, err, "snapshot isolation")
}

func TestShow(t *testing.T) {
	db := open(t)
	exec(t, db, "CREATE TABLE t (a INTEGER PRIMARY KEY, b VARCHAR NOT NULL DEFAULT 'x'); CREATE INDEX tb ON t (b DESC); CREATE VIEW v AS SELECT b, count(*) AS n FROM t GROUP BY b")
	require.Equal(t, []string{"t table 0 2", "v view NULL NULL"}, all(t, db, "SHOW TABLES"))
	require.Equal(t, []string{"a INTEGER NO primary ", "b VARCHAR NO index 'x'"}, all(t, db, "DESCRIBE t"))
	require.Equal(t, []string{"b VARCHAR YES  ", "n BIGINT YES  "}, all(t, db, "DESCRIBE v"))
	require.Equal(t, []string{"t t_pkey primary key btree a  cpu", "t tb index btree b DESC  cpu"}, all(t, db, "SHOW INDEXES"))
	require.NotEmpty(t, all(t, db, "SHOW DEVICES"))
	require.Contains(t, all(t, db, "SHOW ALL")[0], "device auto")
	_, err := db.Query(t.Context(), "DESCRIBE u")
	require.Equal(t, "42P01", code(t, err))
	require.NotEmpty(t, all(t, db, "EXPLAIN SELECT b FROM t WHERE a = 1"))
	require.NotEmpty(t, all(t, db, "EXPLAIN ANALYZE SELECT b FROM t WHERE a = 1"))
	require.Empty(t, all(t, db, "SELECT * FROM t"))
	exec(t, db, "EXPLAIN INSERT INTO t VALUES (1, 'y')")
	require.Equal(t, []string{"0"}, all(t, db, "SELECT count(*) FROM t"), "EXPLAIN changes nothing")
	exec(t, db, "EXPLAIN ANALYZE INSERT INTO t VALUES (1, 'y')")
	require.Equal(t, []string{"1"}, all(t, db, "SELECT count(*) FROM t"), "EXPLAIN ANALYZE runs")
}

func BenchmarkSelect1(b *testing.B) {
	conn, err := open(b).Conn(b.Context())
	require.NoError(b, err)
	for b.Loop() {
		rows, err := conn.Query(b.Context(), "SELECT 1")
		if err != nil || !rows.Next() || rows.Value(0).I != 1 {
			b.Fatal(errors.Join(err, rows.Err()))
		}
		rows.Close()
	}
}

func BenchmarkPreparedLookup(b *testing.B) {
	const n = 1_000_000
	conn, err := open(b).Conn(b.Context())
	require.NoError(b, err)
	exec(b, conn, "CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT)")
	exec(b, conn, "INSERT INTO t SELECT i, i * 2 FROM generate_series(1, $1) AS g(i)", n)
	s, err := conn.Prepare(b.Context(), "SELECT v FROM t WHERE id = $1")
	require.NoError(b, err)
	id := int64(1)
	for b.Loop() {
		id = id*1103515245%n + 1
		rows, err := s.Query(b.Context(), id)
		if err != nil || !rows.Next() || rows.Value(0).I != id*2 {
			b.Fatal(errors.Join(err, rows.Err()))
		}
		rows.Close()
	}
}

// A parameter has the type of what it meets, unless that would change the argument.
func TestParameterTypes(t *testing.T) {
	db := open(t)
	exec(t, db, "CREATE TABLE t (id BIGINT PRIMARY KEY, s VARCHAR, d DATE); INSERT INTO t VALUES (1, 'x', '2024-02-29')")
	s, err := db.Prepare(t.Context(), "SELECT $1 + 1")
	require.NoError(t, err)
	defer s.Close()
	for _, tt := range []struct {
		arg  any
		want string
	}{{2, "3"}, {2.5, "3.5"}, {int64(1) << 40, "1099511627777"}, {"7", "8"}, {nil, "NULL"}, {3, "4"}} {
		rows, err := s.Query(t.Context(), tt.arg)
		require.NoError(t, err)
		require.True(t, rows.Next())
		require.Equal(t, tt.want, rows.Value(0).String())
		require.NoError(t, rows.Close())
	}
	require.Equal(t, []string{"7 x"}, all(t, db, "SELECT $1, $2", 7, "x"))
	require.Equal(t, []string{"x"}, all(t, db, "SELECT s FROM t WHERE id = $1", 1))
	require.Empty(t, all(t, db, "SELECT s FROM t WHERE id = $1", 1.5), "1.5 is no BIGINT, and is not rounded to one")
	require.Equal(t, []string{"x"}, all(t, db, "SELECT s FROM t WHERE d = $1", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)))
	require.Contains(t, fmt.Sprint(all(t, db, "EXPLAIN SELECT s FROM t WHERE id = $1", 1)), "index_scan")
}
