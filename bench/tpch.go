package main

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"time"

	"github.com/gpusql/gpusql/tests/tpch"
)

// tpch runs the 22 queries on every engine in turn.
func (c *config) tpch(ctx context.Context) error {
	paths, err := parquetData(c.scale)
	if err != nil {
		return err
	}
	dbs := make([]*sql.DB, len(c.engines))
	for i, e := range c.engines {
		if dbs[i], err = e.open(ctx, paths); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		defer dbs[i].Close()
	}
	var profile *os.File
	if c.profile != "" {
		if profile, err = os.Create(c.profile); err != nil {
			return err
		}
		defer profile.Close()
	}
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
	for q := 1; q <= 22; q++ {
		if len(c.only) > 0 && !slices.Contains(c.only, strconv.Itoa(q)) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.queries, fmt.Sprintf("q%02d.sql", q)))
		if err != nil {
			return err
		}
		times, err := c.compare(ctx, dbs, string(text), profile)
		if err != nil {
			fmt.Printf("Q%-4d %v\n", q, err)
			continue
		}
		line := fmt.Sprintf("Q%-4d", q)
		for _, t := range times {
			line += fmt.Sprintf("%12s", t.Round(10*time.Microsecond))
		}
		for i := 1; i < len(times); i++ {
			ratio := float64(times[0]) / float64(times[i])
			logs[i] += math.Log(ratio)
			line += fmt.Sprintf("%12.2f", ratio)
		}
		fmt.Println(line)
		done++
	}
	line := fmt.Sprintf("geometric mean of %d", done)
	for i := 1; i < len(c.engines); i++ {
		line += fmt.Sprintf("   /%s %.2f", c.engines[i].name, math.Exp(logs[i]/float64(done)))
	}
	fmt.Println(line)
	return nil
}

// open makes a database of an engine, and loads the tables.
func (e *engine) open(ctx context.Context, paths map[string]string) (*sql.DB, error) {
	db, err := sql.Open(e.driver, e.dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	start := time.Now()
	for _, t := range tpch.Tables {
		if err := e.load(ctx, db, t, paths[t.Name]); err != nil {
			db.Close()
			return nil, fmt.Errorf("%s: %w", t.Name, err)
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

// compare runs a query on every engine, turn by turn, and gives the medians.
// An engine that takes over ten seconds runs once.
func (c *config) compare(ctx context.Context, dbs []*sql.DB, text string, profile *os.File) ([]time.Duration, error) {
	times := make([][]time.Duration, len(dbs))
	var first [][]string
	for run := 0; run <= c.runs; run++ { // the first is the warm-up, whose answer counts
		for i, db := range dbs {
			if run > 0 && times[i][0] > 10*time.Second {
				continue
			}
			if profile != nil && i == 0 && run > 0 {
				if err := pprof.StartCPUProfile(profile); err != nil {
					return nil, err
				}
			}
			start := time.Now()
			rows, err := query(ctx, db, c.engines[i].dialect(text))
			took := time.Since(start)
			if profile != nil && i == 0 && run > 0 {
				pprof.StopCPUProfile()
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.engines[i].name, err)
			}
			if i == 0 && run == 0 {
				first = rows
			}
			if err := equal(first, rows); err != nil {
				return nil, fmt.Errorf("%s and %s disagree: %w", c.engines[0].name, c.engines[i].name, err)
			}
			times[i] = append(times[i], took)
		}
	}
	medians := make([]time.Duration, len(dbs))
	for i, ts := range times {
		if len(ts) > 1 {
			ts = ts[1:]
		}
		slices.Sort(ts)
		medians[i] = ts[len(ts)/2]
	}
	return medians, nil
}
