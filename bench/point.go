package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// point times the smallest queries: SELECT 1, and a row by its primary key
// through a prepared statement.
func (c *config) point(ctx context.Context) error {
	n := int64(c.rows)
	for _, e := range c.engines {
		db, err := sql.Open(e.driver, e.dsn)
		if err != nil {
			return err
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		series := fmt.Sprintf("SELECT i, i * 7 FROM generate_series(1, %d) AS s(i)", n)
		if e.name == "sqlite" {
			series = fmt.Sprintf("WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < %d) SELECT i, i * 7 FROM s", n)
		}
		start := time.Now()
		for _, q := range []string{"CREATE TABLE points (k BIGINT PRIMARY KEY, v BIGINT)", "INSERT INTO points " + series} {
			if _, err := db.ExecContext(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
		}
		fmt.Printf("%s: %d rows in %s, peak memory of the process %d MB\n",
			e.name, n, time.Since(start).Round(time.Millisecond), peakMemory()>>20)
		one, err := median(2000, func(int) error {
			var v int64
			if err := db.QueryRowContext(ctx, "SELECT 1").Scan(&v); err != nil || v != 1 {
				return fmt.Errorf("SELECT 1 gave %d, %v", v, err)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		stmt, err := db.PrepareContext(ctx, "SELECT v FROM points WHERE k = ?")
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		defer stmt.Close()
		lookup, err := median(20000, func(i int) error {
			k := int64(i)*7919%n + 1
			var v int64
			if err := stmt.QueryRowContext(ctx, k).Scan(&v); err != nil || v != 7*k {
				return fmt.Errorf("key %d gave %d, %v", k, v, err)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		fmt.Printf("%-8s SELECT 1 %10s   lookup %10s   (medians, through database/sql)\n", e.name, one, lookup)
	}
	return nil
}

// median is the median time of n calls of f.
func median(n int, f func(i int) error) (time.Duration, error) {
	times := make([]time.Duration, n)
	for i := range times {
		start := time.Now()
		if err := f(i); err != nil {
			return 0, err
		}
		times[i] = time.Since(start)
	}
	slices.Sort(times)
	return times[n/2], nil
}
