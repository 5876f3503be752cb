package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// tenSteps reads two tables, filters, builds, probes, computes, groups, filters
// groups, sorts and takes the first.
const tenSteps = `SELECT b.g, count(*) AS n, sum(a.v * b.w) AS s FROM a JOIN b ON a.k = b.k
	WHERE a.v > 10 GROUP BY b.g HAVING count(*) > 1 ORDER BY s DESC LIMIT 5`

// steps times a query of ten steps over 1,000 rows of each table, on engines as
// they are and, with -gpu, on gpusql with everything on the GPU.
func (c *config) steps(ctx context.Context) error {
	if c.gpu {
		c.engines = append([]*engine{engines()["gpusql-cuda"]}, c.engines...)
	}
	dbs := make([]*sql.DB, len(c.engines))
	for i, e := range c.engines {
		var err error
		if dbs[i], err = sql.Open(e.driver, e.dsn); err != nil {
			return err
		}
		defer dbs[i].Close()
		dbs[i].SetMaxOpenConns(1)
		for _, q := range []string{"CREATE TABLE a (k BIGINT, v BIGINT)", "CREATE TABLE b (k BIGINT, g BIGINT, w BIGINT)"} {
			if _, err := dbs[i].ExecContext(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
		}
		for k := range 1000 {
			if _, err := dbs[i].ExecContext(ctx, fmt.Sprintf("INSERT INTO a VALUES (%d, %d)", k, k*7919%101)); err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			if _, err := dbs[i].ExecContext(ctx, fmt.Sprintf("INSERT INTO b VALUES (%d, %d, %d)", k, k%40, k%13)); err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
		}
	}
	first, err := query(ctx, dbs[0], tenSteps)
	if err != nil {
		return err
	}
	for i, e := range c.engines {
		got, err := query(ctx, dbs[i], tenSteps)
		if err == nil {
			err = equal(first.rows, got.rows)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		stmt, err := dbs[i].PrepareContext(ctx, tenSteps)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		defer stmt.Close()
		took, err := median(2000, func(int) error {
			rows, err := stmt.QueryContext(ctx)
			if err != nil {
				return err
			}
			defer rows.Close()
			n := 0
			for ; rows.Next(); n++ {
				var g, count, sum any
				if err := rows.Scan(&g, &count, &sum); err != nil {
					return err
				}
			}
			if n != len(first.rows) {
				return fmt.Errorf("%d rows", n)
			}
			return rows.Err()
		})
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		fmt.Printf("%-12s ten steps %10s   (median of 2000, prepared, through database/sql)\n", e.name, took.Round(100*time.Nanosecond))
	}
	return nil
}

// cold times the first query that an engine is asked at all, on one file.
func (c *config) cold(ctx context.Context) error {
	path, err := c.large(ctx)
	if err != nil {
		return err
	}
	const text = `SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice * (1 - l_discount)), count(*)
		FROM '%s' WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus`
	var first *answer
	for _, e := range c.engines {
		start := time.Now()
		db, err := sql.Open(e.driver, e.dsn)
		if err != nil {
			return err
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		got, err := query(ctx, db, fmt.Sprintf(text, path))
		took := time.Since(start)
		if first == nil {
			first = got
		}
		if err == nil {
			err = equal(first.rows, got.rows)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		again, err := query(ctx, db, fmt.Sprintf(text, path))
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		fmt.Printf("%-12s first %10s   again %10s\n", e.name, took.Round(time.Millisecond), again.took.Round(time.Millisecond))
	}
	return nil
}

// large is a file that DuckDB writes: lineitem, as often as asked for.
func (c *config) large(ctx context.Context) (string, error) {
	paths, err := tpchSuite(runtime.GOMAXPROCS(0)).parquet(c.scale)
	if err != nil {
		return "", err
	}
	files := paths["lineitem"]
	path := filepath.Join(filepath.Dir(files[0]), fmt.Sprintf("lineitem-times-%d.parquet", c.copies))
	if _, err := os.Stat(path); err != nil {
		db, err := sql.Open("duckdb", "")
		if err != nil {
			return "", err
		}
		defer db.Close()
		_, err = db.ExecContext(ctx, fmt.Sprintf("SET preserve_insertion_order = false; COPY (SELECT l.* FROM read_parquet(['%s']) AS l, range(%d)) TO '%s'",
			strings.Join(files, "', '"), c.copies, path))
		if err != nil {
			return "", err
		}
	}
	info, err := os.Stat(path)
	if err == nil {
		fmt.Printf("%.1f GB\n", float64(info.Size())/1e9)
	}
	return path, err
}
