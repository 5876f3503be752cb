package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gpusql/gpusql"
)

// cancelQuery is a statement that is cancelled at random moments.
type cancelQuery struct {
	name, text string
	undo       string // what takes back an execution that came to its end
}

// cancelQueries work on t and u, of n rows each whose keys are all different,
// and on files in dir. Each goes through long work of a kind: a sort, the
// building of a table, merging, writing.
func cancelQueries(dir string) []cancelQuery {
	file := func(name string) string { return "'" + filepath.Join(dir, name) + "'" }
	return []cancelQuery{
		{"sort int", "SELECT k, v FROM t ORDER BY k", ""},
		{"sort text", "SELECT s, v FROM t ORDER BY s", ""},
		{"sort two", "SELECT k % 100 AS c, s FROM t ORDER BY c, s DESC", ""},
		{"join int", "SELECT count(*), sum(t.v + u.v) FROM t JOIN u ON t.k = u.k", ""},
		{"join sparse", "SELECT count(*), sum(t.v + u.v) FROM t JOIN u ON t.k * 1000003 = u.k * 1000003", ""},
		{"join text", "SELECT count(*), sum(t.v + u.v) FROM t JOIN u ON t.s = u.s", ""},
		{"full join", "SELECT count(*), sum(u.v) FROM t FULL JOIN u ON t.k = u.k + 1000", ""},
		{"group int", "SELECT k, sum(v), count(*) FROM t GROUP BY k", ""},
		{"group sparse", "SELECT k * 1000003 AS g, sum(v) FROM t GROUP BY g", ""},
		{"group pair", "SELECT k, v, count(*) FROM t GROUP BY k, v", ""},
		{"group text", "SELECT s, sum(v) FROM t GROUP BY s", ""},
		{"count distinct", "SELECT count(DISTINCT s), count(DISTINCT v) FROM t", ""},
		{"median", "SELECT k % 1000 AS g, median(v) FROM t GROUP BY g", ""},
		{"string_agg", "SELECT length(string_agg(s, ',' ORDER BY k)) FROM t", ""},
		{"distinct", "SELECT DISTINCT k, s FROM t", ""},
		{"window rank", "SELECT k, row_number() OVER (ORDER BY k), lag(v) OVER (ORDER BY k) FROM t", ""},
		{"window sum", "SELECT sum(v) OVER (PARTITION BY k % 1000 ORDER BY k ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) FROM t", ""},
		{"window max", "SELECT max(s) OVER (PARTITION BY k % 10 ORDER BY k) FROM t", ""},
		{"union", "SELECT k FROM t UNION SELECT k + 1 FROM u", ""},
		{"except", "SELECT s FROM t EXCEPT SELECT s FROM u", ""},
		{"create table as", "CREATE TABLE made AS SELECT * FROM t", "DROP TABLE made"},
		{"insert select", "INSERT INTO sink SELECT * FROM t", "TRUNCATE sink"},
		{"update", "UPDATE u SET v = v + 0 WHERE k % 5 = 0", ""},
		{"create index", "CREATE INDEX made ON t (k)", "DROP INDEX made"},
		{"unique index", "CREATE UNIQUE INDEX made ON t (s)", "DROP INDEX made"},
		{"copy to csv", "COPY t TO " + file("out.csv"), ""},
		{"copy to parquet", "COPY t TO " + file("out.parquet"), ""},
		{"copy from csv", "COPY sink FROM " + file("t.csv"), "TRUNCATE sink"},
		{"copy from parquet", "COPY sink FROM " + file("t.parquet"), "TRUNCATE sink"},
	}
}

// cancel prints how long a query lives on after its context was cancelled, to
// the error that its user gets: the median and the worst of c.runs moments, and
// the most that was worked meanwhile on all cores, which others on the machine
// do not make longer.
func (c *config) cancel(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "gpusql-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	db, err := gpusql.Open(":memory:")
	if err != nil {
		return err
	}
	defer db.Close()
	n := int64(c.rows)
	for _, q := range []string{
		"CREATE TABLE t (k BIGINT, s VARCHAR, v DOUBLE)",
		fmt.Sprintf("INSERT INTO t SELECT k, 'the key number ' || k, k * 0.5::DOUBLE FROM (SELECT i * 7919 %% %d AS k FROM generate_series(1, %d) AS g(i)) AS x", n, n),
		"CREATE TABLE u AS SELECT * FROM t",
		"CREATE TABLE sink (k BIGINT, s VARCHAR, v DOUBLE)",
		"COPY t TO '" + filepath.Join(dir, "t.csv") + "'",
		"COPY t TO '" + filepath.Join(dir, "t.parquet") + "'",
	} {
		if _, err := db.Exec(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	fmt.Printf("%d rows; from the cancellation to the error, at %d random moments\n", n, c.runs)
	fmt.Printf("%-18s %9s %9s %9s %9s\n", "", "uncut", "median", "worst", "work")
	random := rand.New(rand.NewPCG(1, 2))
	for _, q := range cancelQueries(dir) {
		if len(c.only) > 0 && !slices.ContainsFunc(c.only, func(o string) bool { return strings.Contains(q.name, o) }) {
			continue
		}
		if err := c.cancelOne(ctx, db, q, random); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return nil
}

func (c *config) cancelOne(ctx context.Context, db *gpusql.DB, q cancelQuery, random *rand.Rand) error {
	whole, err := cancelAfter(ctx, db, q, time.Hour)
	if err != nil {
		return err
	}
	var times []time.Duration
	var work time.Duration
	for tries := 0; len(times) < c.runs && tries < 3*c.runs; tries++ {
		t, err := cancelAfter(ctx, db, q, time.Duration(random.Int64N(int64(whole.took))))
		switch {
		case errors.Is(err, context.Canceled):
			times, work = append(times, t.late), max(work, t.work)
		case err != nil:
			return err
		}
	}
	if len(times) == 0 {
		return fmt.Errorf("it always came to its end before it was cancelled")
	}
	slices.Sort(times)
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
	fmt.Printf("%-18s %9s %9s %9s %9s\n", q.name, whole.took.Round(time.Millisecond),
		round(times[len(times)/2]), round(times[len(times)-1]), round(work))
	return ctx.Err()
}

// cancelTimes are how long a statement took, and how much of that was after its
// cancellation, on the clock and on the cores.
type cancelTimes struct{ took, late, work time.Duration }

// cancelAfter runs a statement that is cancelled after a time.
func cancelAfter(ctx context.Context, db *gpusql.DB, q cancelQuery, after time.Duration) (t cancelTimes, err error) {
	sub, cancel := context.WithCancel(ctx)
	defer cancel()
	var at time.Time
	var used time.Duration
	done := make(chan struct{})
	timer := time.AfterFunc(after, func() {
		at, used = time.Now(), processorTime()
		cancel()
		close(done)
	})
	start := time.Now()
	rows, err := db.Query(sub, q.text)
	if err == nil {
		for rows.Next() {
		}
		err = rows.Close()
	}
	end, worked := time.Now(), processorTime()
	if !timer.Stop() {
		<-done
		t.late, t.work = end.Sub(at), worked-used
	}
	if err == nil && q.undo != "" {
		_, err = db.Exec(ctx, q.undo)
	}
	t.took = end.Sub(start)
	return t, err
}
