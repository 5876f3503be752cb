package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/gpusql/gpusql/tests/tpcds"
	"github.com/gpusql/gpusql/tests/tpch"
)

// A table of a suite. Its two CREATE TABLEs are without and with a primary key.
type table struct {
	name          string
	schema        *arrow.Schema
	create, keyed string
}

// A suite is queries over generated tables.
type suite struct {
	queries  string // a folder of them or a file in shared/sql
	more     string // a folder of further ones, here
	texts    string // the queries themselves, where they are ours
	data     string // what the names of its folders of files begin with
	tables   []table
	parts    int // that are generated at the same time, each into files of its own
	generate func(scale float64, part, parts int, to func(table string, rec arrow.RecordBatch) error) error
	ask      func(ctx context.Context, db *sql.DB, text string) (*answer, error)
	narrow   func(s *suite, texts []text) // leaves out what some queries do not read; nil: all is made
}

// tpchSuite has its tables in so many files each.
func tpchSuite(parts int) *suite {
	s := &suite{queries: "tpch/queries", data: "sf", ask: query, parts: parts, generate: func(scale float64, part, parts int, to func(string, arrow.RecordBatch) error) error {
		return tpch.GeneratePart(scale, tpch.Compact, int64(part), int64(parts), func(t *tpch.Table, rec arrow.RecordBatch) error { return to(t.Name, rec) })
	}}
	for _, t := range tpch.Tables {
		s.tables = append(s.tables, table{t.Name, t.Schema(), t.CreateSQL(tpch.WithoutKeys), t.CreateSQL(tpch.WithKeys)})
	}
	return s
}

func tpcdsSuite() *suite {
	s := &suite{queries: "tpcds/queries", more: filepath.Join("..", "tests", "tpcds", "queries"), data: "tpcds-sf", ask: query, parts: 1, generate: func(scale float64, _, _ int, to func(string, arrow.RecordBatch) error) error {
		return tpcds.Generate(scale, func(t *tpcds.Table, rec arrow.RecordBatch) error { return to(t.Name, rec) })
	}}
	for _, t := range tpcds.Tables {
		s.tables = append(s.tables, table{t.Name, t.Schema(), t.CreateSQL(), t.CreateSQL()})
	}
	return s
}

// A text is a query and what it is called.
type text struct{ name, sql string }

// queriesOf are the texts of a suite: those it has itself, or of a file, or the
// files of a folder, by their numbers.
func (c *config) queriesOf(s *suite) ([]text, error) {
	path := c.queries
	if path == "" {
		path = filepath.Join("..", "..", "shared", "sql", s.queries)
	}
	var all []text
	var err error
	switch {
	case s.texts != "":
		all = split(s.texts)
	case strings.HasSuffix(path, ".sql"):
		var b []byte
		b, err = os.ReadFile(path)
		all = split(string(b))
	default:
		all, err = folder(path)
		if err == nil && c.queries == "" && s.more != "" {
			var more []text
			more, err = folder(s.more)
			all = append(all, more...)
		}
	}
	if err != nil {
		return nil, err
	}
	if len(c.only) > 0 {
		all = slices.DeleteFunc(all, func(t text) bool { return !slices.Contains(c.only, t.name) })
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no queries in %s", path)
	}
	slices.SortStableFunc(all, func(a, b text) int {
		x, _ := strconv.Atoi(a.name)
		y, _ := strconv.Atoi(b.name)
		return x - y
	})
	return all, nil
}

// folder reads the files of a folder, in order of their names.
func folder(path string) ([]text, error) {
	files, err := filepath.Glob(filepath.Join(path, "*.sql"))
	var all []text
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		all = append(all, text{strings.TrimLeft(strings.TrimSuffix(filepath.Base(f), ".sql"), "q0"), string(b)})
	}
	return all, err
}

// split cuts a text into its queries, each ended by a semicolon and a line's end.
func split(s string) []text {
	var all []text
	for _, q := range strings.Split(s+"\n", ";\n") {
		if q = strings.TrimSpace(q); q != "" {
			all = append(all, text{strconv.Itoa(len(all) + 1), q})
		}
	}
	return all
}

// suite runs the queries of a suite on every engine in turn.
func (c *config) suite(ctx context.Context, s *suite, scale float64) error {
	texts, err := c.queriesOf(s)
	if err != nil {
		return err
	}
	if s.narrow != nil && len(c.only) > 0 {
		s.narrow(s, texts)
	}
	paths, err := s.parquet(scale)
	if err != nil {
		return err
	}
	s.tables = slices.DeleteFunc(slices.Clone(s.tables), func(t table) bool {
		word := regexp.MustCompile(`(?i)\b` + t.name + `\b`)
		return !slices.ContainsFunc(texts, func(q text) bool { return word.MatchString(q.sql) })
	})
	dbs := make([]*sql.DB, len(c.engines))
	for i, e := range c.engines {
		if dbs[i], err = e.open(ctx, s, paths); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		defer dbs[i].Close()
	}
	stop, err := c.startProfile()
	if err != nil {
		return err
	}
	defer stop()
	head := fmt.Sprintf("%-5s", "query")
	for _, e := range c.engines {
		head += fmt.Sprintf("%12s", e.name)
	}
	for _, e := range c.engines[1:] {
		head += fmt.Sprintf("%12s", "/"+e.name)
	}
	fmt.Println(head)
	logs := make([]float64, len(c.engines))
	done := 0
	for _, q := range texts {
		times, err := c.compare(ctx, dbs, q.sql, s.ask)
		if err != nil {
			fmt.Printf("Q%-4s %v\n", q.name, err)
			continue
		}
		line := fmt.Sprintf("Q%-4s", q.name)
		for _, t := range times {
			line += fmt.Sprintf("%12s", t.bound(">")+t.Round(10*time.Microsecond).String())
		}
		for i := 1; i < len(times); i++ {
			ratio := float64(times[0].Duration) / float64(times[i].Duration)
			logs[i] += math.Log(ratio)
			line += fmt.Sprintf("%12s", times[i].bound("<")+fmt.Sprintf("%.2f", ratio))
		}
		fmt.Println(line)
		done++
		if c.explain {
			if err := c.whereTimeWent(ctx, dbs, q.sql, s.ask); err != nil {
				return err
			}
		}
	}
	line := fmt.Sprintf("geometric mean of %d", done)
	for i := 1; i < len(c.engines); i++ {
		line += fmt.Sprintf("   /%s %.2f", c.engines[i].name, math.Exp(logs[i]/float64(done)))
	}
	fmt.Println(line)
	return nil
}

// open makes a database of an engine, and loads the tables.
func (e *engine) open(ctx context.Context, s *suite, paths map[string][]string) (*sql.DB, error) {
	db, err := sql.Open(e.driver, e.dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	start := time.Now()
	for _, t := range s.tables {
		if err := e.load(ctx, db, t, paths[t.name]); err != nil {
			db.Close()
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	var v string
	if db.QueryRowContext(ctx, "SELECT version()").Scan(&v) != nil {
		v = ""
	}
	fmt.Printf("%s %s loaded in %s, peak memory of the process %d MB\n",
		e.name, v, time.Since(start).Round(time.Millisecond), peakMemory()>>20)
	debug.FreeOSMemory()
	return db, nil
}

// timing is the median time of a query, or a limit at which a peer was ended.
type timing struct {
	time.Duration
	ended bool
}

// bound is a sign of inequality before what is only a bound.
func (t timing) bound(sign string) string {
	if t.ended {
		return sign
	}
	return ""
}

// compare runs a query on every engine, turn by turn, and gives the medians.
// An engine that takes over ten seconds runs once, and a peer that takes longer
// than the limit is ended.
func (c *config) compare(ctx context.Context, dbs []*sql.DB, text string, ask func(context.Context, *sql.DB, string) (*answer, error)) ([]timing, error) {
	ended := make([]bool, len(dbs))
	times := make([][]time.Duration, len(dbs))
	var first [][]string
	for run := 0; run <= c.runs; run++ { // the first is the warm-up, whose answer counts
		for i, db := range dbs {
			if run > 0 && (ended[i] || times[i][0] > 10*time.Second) {
				continue
			}
			limited, stop := ctx, func() {}
			if i > 0 && c.limit > 0 {
				limited, stop = context.WithTimeout(ctx, c.limit)
			}
			got, err := ask(limited, db, c.engines[i].dialect(text))
			stop()
			if err != nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
				times[i], ended[i] = []time.Duration{c.limit}, true
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.engines[i].name, err)
			}
			if i == 0 && run == 0 {
				first = got.rows
			}
			if err := c.agree(ctx, []*sql.DB{dbs[0], db}, i, text, first, got.rows); err != nil {
				return nil, fmt.Errorf("%s and %s disagree: %w", c.engines[0].name, c.engines[i].name, err)
			}
			took := got.took
			if c.cores {
				took = got.used
			}
			times[i] = append(times[i], took)
		}
	}
	medians := make([]timing, len(dbs))
	for i, ts := range times {
		if len(ts) > 1 {
			ts = ts[1:]
		}
		slices.Sort(ts)
		medians[i] = timing{ts[len(ts)/2], ended[i]}
	}
	return medians, nil
}

// whereTimeWent asks the first engine to explain a run behind one of the others.
func (c *config) whereTimeWent(ctx context.Context, dbs []*sql.DB, text string, ask func(context.Context, *sql.DB, string) (*answer, error)) error {
	for i := len(dbs) - 1; i > 0; i-- {
		if _, err := ask(ctx, dbs[i], c.engines[i].dialect(text)); err != nil {
			return err
		}
	}
	plan, err := query(ctx, dbs[0], "EXPLAIN ANALYZE "+text)
	if err != nil {
		return err
	}
	for _, row := range plan.rows {
		if strings.HasPrefix(row[0], "time:") || strings.HasPrefix(row[0], "gpu:") {
			fmt.Println("     ", row[0])
		}
	}
	return nil
}

// startProfile writes what the processor does until stop is called, where that
// is asked for.
func (c *config) startProfile() (stop func(), err error) {
	if c.profile == "" {
		return func() {}, nil
	}
	f, err := os.Create(c.profile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}

// lastLimit is a query's LIMIT.
var lastLimit = regexp.MustCompile(`(?is)\s+LIMIT\s+\d+\s*;?\s*$`)

// agree compares the answers of the first engine and the i-th. A LIMIT may cut
// through rows that its order leaves equal, so answers that differ are
// compared again whole.
func (c *config) agree(ctx context.Context, dbs []*sql.DB, i int, text string, first, rows [][]string) error {
	err := equal(first, rows)
	whole := lastLimit.ReplaceAllString(text, "")
	if err == nil || whole == text || len(first) != len(rows) {
		return err
	}
	var answers [2]*answer
	for j, e := range []*engine{c.engines[0], c.engines[i]} {
		if answers[j], err = query(ctx, dbs[j], e.dialect(whole)); err != nil {
			return fmt.Errorf("without its LIMIT: %w", err)
		}
	}
	return equal(answers[0].rows, answers[1].rows)
}
