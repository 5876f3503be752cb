package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// keyTask is a statement that an index answers. Each run has other keys, the
// same for every engine.
type keyTask struct {
	name string
	text func(run int) string
	rows bool // it gives rows; otherwise what counts is how many it changed
}

// keyTasks work on points, of n rows whose keys come in no order; gone has keys
// in runs of a hundredth of n.
func keyTasks(n int64) []keyTask {
	return []keyTask{
		{"1,000 keys", func(run int) string {
			r := rand.New(rand.NewPCG(1, uint64(run)))
			keys := make([]string, 1000)
			for i := range keys {
				keys[i] = strconv.FormatInt(r.Int64N(n), 10)
			}
			return "SELECT k, a, v FROM points WHERE k IN (" + strings.Join(keys, ", ") + ")"
		}, true},
		{"100,000 joined", func(run int) string {
			return fmt.Sprintf("SELECT count(*), sum(p.a), sum(p.v) FROM asked JOIN points AS p ON p.k = asked.k WHERE asked.run = %d", run)
		}, true},
		{"0.01 % range", func(run int) string {
			from := rand.New(rand.NewPCG(2, uint64(run))).Int64N(n - n/10000)
			return fmt.Sprintf("SELECT k, a, v FROM points WHERE k BETWEEN %d AND %d", from, from+n/10000-1)
		}, true},
		{"sum of 1 %", func(run int) string {
			from := rand.New(rand.NewPCG(3, uint64(run))).Int64N(n - n/100)
			return fmt.Sprintf("SELECT count(*), sum(a), sum(v) FROM points WHERE k BETWEEN %d AND %d", from, from+n/100-1)
		}, true},
		{"top 100", func(int) string { return "SELECT a, k, v FROM points ORDER BY a LIMIT 100" }, true},
		{"top 100 backward", func(int) string { return "SELECT a, k, v FROM points ORDER BY a DESC LIMIT 100" }, true},
		{"min and max", func(int) string { return "SELECT min(a), max(a) FROM points" }, true},
		{"count of 10 %", func(run int) string {
			return fmt.Sprintf("SELECT count(*) FROM points WHERE k BETWEEN %d AND %d", run, int64(run)+n/10)
		}, true},
		{"delete 1 %", func(run int) string {
			return fmt.Sprintf("DELETE FROM points WHERE k IN (SELECT k FROM gone WHERE part = %d)", run)
		}, false},
		{"insert 1 %", func(run int) string {
			first := n + int64(run)*(n/100)
			return fmt.Sprintf("INSERT INTO points SELECT %d + (i * 7919) %% %d, i, i FROM generate_series(0, %d) AS s(i)", first, n/100, n/100-1)
		}, false},
	}
}

// keys times what indexes are for: the same table with a primary key and an
// index in each engine, the first engine once for each kind of index it has.
func (c *config) keys(ctx context.Context) error {
	n := int64(c.rows)
	tasks := keyTasks(n)
	answers := make([][][][]string, len(tasks)) // by task and run, of the first who answered
	times := map[string][]time.Duration{}
	var order []string
	for _, e := range c.engines {
		kinds := []string{""}
		if e.name == "gpusql" {
			kinds = []string{"btree", "lsm", "mvcc"}
			if c.gpu {
				kinds = append(kinds, "btree on cuda", "lsm on cuda", "mvcc on cuda")
			}
		}
		for _, kind := range kinds {
			name := strings.TrimSpace(e.name + " " + kind)
			order = append(order, name)
			took, err := c.keysOf(ctx, e, kind, tasks, answers)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			times[name] = took
		}
	}
	last := times[order[len(order)-1]]
	for i, t := range tasks {
		fmt.Printf("%-17s", t.name)
		for _, name := range order {
			d := times[name][i]
			fmt.Printf("  %s %s (%.1f)", name, d.Round(time.Microsecond), float64(last[i])/float64(d))
		}
		fmt.Println()
	}
	return nil
}

// keySetup makes the tables, of n rows, of an engine whose indexes are of that kind:
// a name, and maybe a device that they lie on.
func (c *config) keySetup(kind string, n int64) []string {
	name, device, apart := strings.Cut(kind, " on ")
	primary, using, with := " PRIMARY KEY", "", ""
	var setup []string
	if name != "" {
		setup = append(setup, "SET index = '"+name+"'")
	}
	if apart {
		primary, using, with = " NOT NULL", " USING "+name, " WITH (device = '"+device+"')"
	}
	setup = append(setup, "CREATE TABLE points (k BIGINT"+primary+", a BIGINT NOT NULL, v BIGINT)")
	if apart {
		setup = append(setup, "CREATE UNIQUE INDEX points_k ON points"+using+" (k)"+with)
	}
	return append(setup,
		fmt.Sprintf("INSERT INTO points SELECT (i * 7919) %% %d, (i * 104729) %% %d, i FROM generate_series(0, %d) AS s(i)", n, n, n-1),
		"CREATE INDEX points_a ON points"+using+" (a)"+with,
		"CREATE TABLE gone (part INTEGER, k BIGINT)",
		fmt.Sprintf("INSERT INTO gone SELECT (i - i %% %d) / %d, (i * 31337) %% %d FROM generate_series(0, %d) AS s(i)", n/100, n/100, n, int64(c.runs)*(n/100)-1),
		"CREATE TABLE asked (run INTEGER, k BIGINT)",
		fmt.Sprintf("INSERT INTO asked SELECT (i - i %% 100000) / 100000, (i * 15485863) %% %d FROM generate_series(0, %d) AS s(i)", n, int64(c.runs)*100000-1))
}

// keysOf fills an engine's table and gives the median times of the tasks.
func (c *config) keysOf(ctx context.Context, e *engine, kind string, tasks []keyTask, answers [][][][]string) ([]time.Duration, error) {
	db, err := sql.Open(e.driver, e.dsn)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	n := int64(c.rows)
	setup := c.keySetup(kind, n)
	start := time.Now()
	for _, q := range setup {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return nil, fmt.Errorf("%s: %w", q, err)
		}
	}
	fmt.Printf("%s %s: %d rows in %s\n", e.name, kind, n, time.Since(start).Round(time.Millisecond))
	took := make([]time.Duration, len(tasks))
	for i, t := range tasks {
		times := make([]time.Duration, c.runs)
		for run := range times {
			q := t.text(run)
			start := time.Now()
			answer, err := t.do(ctx, db, q)
			times[run] = time.Since(start)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
			if len(answers[i]) == run {
				answers[i] = append(answers[i], answer)
			} else if err := equal(answers[i][run], answer); err != nil {
				return nil, fmt.Errorf("%s, run %d: %w", t.name, run, err)
			}
		}
		slices.Sort(times)
		took[i] = times[len(times)/2]
	}
	return took, nil
}

// do runs a task's statement and gives its rows, or the number of those it changed.
func (t *keyTask) do(ctx context.Context, db *sql.DB, q string) ([][]string, error) {
	if t.rows {
		got, err := query(ctx, db, q)
		if err != nil {
			return nil, err
		}
		return got.rows, nil
	}
	r, err := db.ExecContext(ctx, q)
	if err != nil {
		return nil, err
	}
	n, err := r.RowsAffected()
	return [][]string{{strconv.FormatInt(n, 10)}}, err
}
