package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gpusql/gpusql/tests/tpch"
)

// csv times queries over a CSV file and the load of a table from one, with the
// types that are guessed and with those of the table.
func (c *config) csv(ctx context.Context) error {
	paths, err := tpchSuite(1).parquet(c.scale)
	if err != nil {
		return err
	}
	path, err := csvData(ctx, paths["lineitem"][0])
	if err != nil {
		return err
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	dbs := make([]*sql.DB, len(c.engines))
	for i, e := range c.engines {
		if dbs[i], err = sql.Open(e.driver, e.dsn); err != nil {
			return err
		}
		defer dbs[i].Close()
		dbs[i].SetMaxOpenConns(1)
	}
	line := func(name string, times []timing) {
		out := fmt.Sprintf("%-28s", name)
		for i, t := range times {
			out += fmt.Sprintf("  %s %s (%.0f MB/s)", c.engines[i].name, t.Round(time.Millisecond), float64(st.Size())/1e6/t.Seconds())
		}
		for i := 1; i < len(times); i++ {
			out += fmt.Sprintf("  rate/%s %.2f", c.engines[i].name, times[i].Seconds()/times[0].Seconds())
		}
		fmt.Println(out)
	}
	for _, q := range []struct{ name, text string }{
		{"count", "SELECT count(*) FROM '%s'"},
		{"one integer column", "SELECT sum(l_partkey) FROM '%s'"},
		{"all columns", "SELECT max(l_orderkey), max(l_partkey), max(l_suppkey), max(l_linenumber), max(l_quantity), " +
			"max(l_extendedprice), max(l_discount), max(l_tax), max(l_returnflag), max(l_linestatus), max(l_shipdate), " +
			"max(l_commitdate), max(l_receiptdate), max(l_shipinstruct), max(l_shipmode), max(l_comment) FROM '%s'"},
	} {
		times, err := c.compare(ctx, dbs, fmt.Sprintf(q.text, path), query)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		line(q.name, times)
	}
	times, err := c.loadCSV(ctx, dbs, path)
	if err != nil {
		return err
	}
	line("COPY into a table", times)
	return nil
}

// loadCSV times COPY of a file into lineitem, the best of the runs, and
// compares what is in the tables then.
func (c *config) loadCSV(ctx context.Context, dbs []*sql.DB, path string) ([]timing, error) {
	table := tpch.Tables[0]
	for _, t := range tpch.Tables {
		if t.Name == "lineitem" {
			table = t
		}
	}
	best := make([]timing, len(dbs))
	var first [][]string
	for run := range c.runs {
		for i, db := range dbs {
			for _, s := range []string{"DROP TABLE IF EXISTS lineitem", table.CreateSQL(tpch.WithoutKeys)} {
				if _, err := db.ExecContext(ctx, s); err != nil {
					return nil, err
				}
			}
			start := time.Now()
			if _, err := db.ExecContext(ctx, fmt.Sprintf("COPY lineitem FROM '%s' (HEADER true)", path)); err != nil {
				return nil, fmt.Errorf("%s: %w", c.engines[i].name, err)
			}
			if took := time.Since(start); best[i].Duration == 0 || took < best[i].Duration {
				best[i] = timing{Duration: took}
			}
			if run > 0 {
				continue
			}
			got, err := query(ctx, db, "SELECT count(*), sum(l_orderkey), sum(l_quantity), sum(l_extendedprice), max(l_comment), min(l_shipdate), max(l_receiptdate), sum(length(l_comment)) FROM lineitem")
			if err != nil {
				return nil, err
			}
			if i == 0 {
				first = got.rows
			}
			if err := equal(first, got.rows); err != nil {
				return nil, fmt.Errorf("%s and %s disagree: %w", c.engines[0].name, c.engines[i].name, err)
			}
		}
	}
	return best, nil
}

// csvData writes a Parquet file as CSV, once, by DuckDB.
func csvData(ctx context.Context, path string) (string, error) {
	out := strings.TrimSuffix(path, filepath.Ext(path)) + ".csv"
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return "", err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, fmt.Sprintf("COPY (FROM '%s') TO '%s' (FORMAT csv, HEADER true)", path, out))
	return out, err
}
