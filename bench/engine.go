package main

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	_ "github.com/duckdb/duckdb-go/v2"
	"golang.org/x/sync/errgroup"
	_ "modernc.org/sqlite"

	_ "github.com/gpusql/gpusql/driver"
)

// engine is a database under comparison, through database/sql.
type engine struct {
	name   string
	driver string
	dsn    string
	// dialect rewrites a query of the suite where the engine needs it.
	dialect func(string) string
	// load makes a table of a Parquet file.
	load func(ctx context.Context, db *sql.DB, t table, paths []string) error
}

func engines() map[string]*engine {
	same := func(q string) string { return q }
	return map[string]*engine{
		"gpusql":       {name: "gpusql", driver: "gpusql", dsn: ":memory:", dialect: same, load: loadByCopy},
		"gpusql-cuda":  {name: "gpusql-cuda", driver: "gpusql", dsn: ":memory:?device=cuda", dialect: same, load: loadByCopy},
		"gpusql-files": {name: "gpusql-files", driver: "gpusql", dsn: ":memory:", dialect: same, load: loadByView},
		"duckdb-files": {name: "duckdb-files", driver: "duckdb", dsn: "", dialect: same, load: loadByView},
		"duckdb":       {name: "duckdb", driver: "duckdb", dsn: "", dialect: same, load: loadByCopy},
		"sqlite":       {name: "sqlite", driver: "sqlite", dsn: ":memory:", dialect: sqliteDialect, load: loadByRows},
	}
}

func loadByCopy(ctx context.Context, db *sql.DB, t table, paths []string) error {
	if _, err := db.ExecContext(ctx, t.create); err != nil {
		return err
	}
	for _, path := range paths {
		if _, err := db.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s SELECT * FROM '%s'", t.name, path)); err != nil {
			return err
		}
	}
	return nil
}

// loadByView reads the files again for every query.
func loadByView(ctx context.Context, db *sql.DB, t table, paths []string) error {
	all := fmt.Sprintf("SELECT * FROM '%s'", strings.Join(paths, "' UNION ALL SELECT * FROM '"))
	_, err := db.ExecContext(ctx, fmt.Sprintf("CREATE VIEW %s AS %s", t.name, all))
	return err
}

// loadByRows inserts row by row; SQLite has a primary key, or its joins would
// not finish.
func loadByRows(ctx context.Context, db *sql.DB, t table, paths []string) error {
	if _, err := db.ExecContext(ctx, strings.ReplaceAll(t.keyed, "DECIMAL(15,2)", "REAL")); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	fields := t.schema.NumFields()
	stmt, err := tx.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s VALUES (?%s)", t.name, strings.Repeat(", ?", fields-1)))
	if err != nil {
		return err
	}
	for _, path := range paths {
		err = readParquet(ctx, path, func(rec arrow.RecordBatch) error {
			row := make([]any, fields)
			for i := range int(rec.NumRows()) {
				for j, col := range rec.Columns() {
					row[j] = goValue(col, i)
				}
				if _, err := stmt.ExecContext(ctx, row...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

func goValue(a arrow.Array, i int) any {
	switch a := a.(type) {
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Decimal128:
		return float64(int64(a.Value(i).LowBits())) / 100
	case *array.String:
		return a.Value(i)
	default:
		return a.ValueStr(i)
	}
}

var (
	castDate  = regexp.MustCompile(`(?i)CAST\(('[0-9-]+') AS date\)|date ('[0-9-]+')`)
	year      = regexp.MustCompile(`(?i)extract\(year FROM (\w+)\)`)
	substring = regexp.MustCompile(`(?i)substring\((\w+) FROM (\d+) FOR (\d+)\)`)
	columns   = regexp.MustCompile(`(?s)count\(o_orderkey\)(.*)AS c_orders \(c_custkey,\s*c_count\)`)
)

// sqliteDialect writes dates as text and the rest as SQLite spells it.
func sqliteDialect(q string) string {
	q = castDate.ReplaceAllString(q, "$1$2")
	q = year.ReplaceAllString(q, "CAST(substr($1, 1, 4) AS INTEGER)")
	q = substring.ReplaceAllString(q, "substr($1, $2, $3)")
	return columns.ReplaceAllString(q, "count(o_orderkey) AS c_count$1 AS c_orders")
}

// An answer is rows as text, how long they took to come, and how long all
// cores worked meanwhile.
type answer struct {
	rows       [][]string
	took, used time.Duration
}

// query runs a query to its end.
func query(ctx context.Context, db *sql.DB, q string) (*answer, error) {
	start, used := time.Now(), processorTime()
	rows, err := db.QueryContext(ctx, q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]string
	cells := make([]any, len(names))
	for i := range cells {
		cells[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return nil, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = cellText(*c.(*any))
		}
		out = append(out, row)
	}
	return &answer{out, time.Since(start), processorTime() - used}, rows.Err()
}

func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return string(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case interface{ Format(string) string }: // a time.Time
		return strings.TrimSuffix(v.Format("2006-01-02 15:04:05"), " 00:00:00")
	case interface{ Float64() float64 }: // DuckDB's decimal
		return strconv.FormatFloat(v.Float64(), 'g', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// equal compares two answers whatever the order of ties: numbers within a
// millionth, the rest to the letter.
func equal(a, b [][]string) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d rows against %d", len(a), len(b))
	}
	a, b = sorted(a), sorted(b)
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return fmt.Errorf("%d columns against %d", len(a[i]), len(b[i]))
		}
		for j := range a[i] {
			if !sameCell(a[i][j], b[i][j]) {
				return fmt.Errorf("row %d: %q against %q", i, a[i], b[i])
			}
		}
	}
	return nil
}

func sameCell(x, y string) bool {
	if x == y {
		return true
	}
	f, err1 := strconv.ParseFloat(x, 64)
	g, err2 := strconv.ParseFloat(y, 64)
	return err1 == nil && err2 == nil && math.Abs(f-g) <= 1e-6*max(1, math.Abs(f), math.Abs(g))
}

// sorted orders rows by their text columns, then by numbers rounded enough for
// two engines to agree.
func sorted(rows [][]string) [][]string {
	key := func(r []string) string {
		var b strings.Builder
		for _, c := range r {
			if f, err := strconv.ParseFloat(c, 64); err == nil {
				c = strconv.FormatFloat(f, 'e', 4, 64)
			}
			b.WriteString(c + "\x00")
		}
		return b.String()
	}
	out := append([][]string(nil), rows...)
	sort.Slice(out, func(i, j int) bool { return key(out[i]) < key(out[j]) })
	return out
}

// parquet writes the tables of a scale under data/, once, and gives their files.
func (s *suite) parquet(scale float64) (map[string][]string, error) {
	dir := filepath.Join("data", fmt.Sprintf("%s%g", s.data, scale))
	paths := map[string][]string{}
	done := filepath.Join(dir, fmt.Sprintf("done-%d", s.parts))
	for _, t := range s.tables {
		for part := range s.parts {
			path, err := filepath.Abs(filepath.Join(dir, fmt.Sprintf("%s-%d-of-%d.parquet", t.name, part+1, s.parts)))
			if err != nil {
				return nil, err
			}
			paths[t.name] = append(paths[t.name], path)
		}
	}
	if _, err := os.Stat(done); err == nil {
		return paths, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var all errgroup.Group
	for part := range s.parts {
		all.Go(func() error { return s.part(scale, part, paths) })
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return paths, os.WriteFile(done, nil, 0o644)
}

// part writes one part of the tables.
func (s *suite) part(scale float64, part int, paths map[string][]string) error {
	writers := map[string]*pqarrow.FileWriter{}
	for _, t := range s.tables {
		f, err := os.Create(paths[t.name][part])
		if err != nil {
			return err
		}
		if writers[t.name], err = pqarrow.NewFileWriter(t.schema, f, nil, pqarrow.DefaultWriterProps()); err != nil {
			return err
		}
	}
	err := s.generate(scale, part, s.parts, func(t string, rec arrow.RecordBatch) error { return writers[t].Write(rec) })
	if err != nil {
		return err
	}
	for _, w := range writers {
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

func readParquet(ctx context.Context, path string, f func(arrow.RecordBatch) error) error {
	pf, err := file.OpenParquetFile(path, false)
	if err != nil {
		return err
	}
	defer pf.Close()
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: 65536}, nil)
	if err != nil {
		return err
	}
	rr, err := fr.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return err
	}
	defer rr.Release()
	for rr.Next() {
		if err := f(rr.RecordBatch()); err != nil {
			return err
		}
	}
	return nil
}
