package tests

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Engine makes databases for scripts to run on.
type Engine interface {
	// Open makes an empty database for the script at path, and one session of it.
	Open(ctx context.Context, path string) (Session, error)
	// Names are what onlyif and skipif may call the engine.
	Names() []string
}

// Session runs statements one after the other. Close drops the database.
type Session interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, sql string) (int64, error)
	// Query runs a statement and returns its rows.
	Query(ctx context.Context, sql string) ([][]Cell, error)
	Close() error
}

// Failure is a record that did not give what it should.
type Failure struct {
	File     string
	Line     int
	SQL      string
	Expected []string
	Got      []string
}

// shownLines is how much of a result a failure prints.
const shownLines = 12

// WriteTo prints the failure: file:line, the statement, expected and got.
func (f *Failure) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: %s\n", f.File, f.Line, strings.Join(strings.Fields(f.SQL), " "))
	writeLines(&b, "expected", f.Expected)
	writeLines(&b, "got", f.Got)
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func writeLines(b *strings.Builder, title string, lines []string) {
	fmt.Fprintf(b, "  %s:", title)
	if len(lines) == 1 {
		fmt.Fprintf(b, " %s\n", lines[0])
		return
	}
	if len(lines) == 0 {
		b.WriteString(" no rows")
	}
	b.WriteByte('\n')
	for i, l := range lines {
		if i == shownLines {
			fmt.Fprintf(b, "    ... %d more\n", len(lines)-i)
			return
		}
		fmt.Fprintf(b, "    %s\n", l)
	}
}

// Report counts records.
type Report struct {
	Passed, Failed, Skipped int
}

// Add counts the records of another report too.
func (r *Report) Add(o Report) {
	r.Passed += o.Passed
	r.Failed += o.Failed
	r.Skipped += o.Skipped
}

func (r Report) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", r.Passed, r.Failed, r.Skipped)
}

// Files finds the scripts under paths: files that are named, and in folders all
// *.test and *.slt whose names do not begin with an underscore.
func Files(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, p)
			continue
		}
		err = filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			ext := filepath.Ext(path)
			if err == nil && !d.IsDir() && (ext == ".test" || ext == ".slt") && !strings.HasPrefix(d.Name(), "_") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Run runs files on as many databases, jobs at a time, and hands each failure
// to failed, one at a time.
func Run(ctx context.Context, e Engine, c Config, files []string, jobs int, failed func(*Failure)) Report {
	var total Report
	var mu sync.Mutex
	var wg sync.WaitGroup
	queue := make(chan string)
	for range max(1, min(jobs, len(files))) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for path := range queue {
				r := runFile(ctx, e, c, path, func(f *Failure) {
					mu.Lock()
					defer mu.Unlock()
					failed(f)
				})
				mu.Lock()
				total.Add(r)
				mu.Unlock()
			}
		}()
	}
	for _, f := range files {
		queue <- f
	}
	close(queue)
	wg.Wait()
	return total
}

// runFile runs one file. What keeps it from running at all is one failure.
func runFile(ctx context.Context, e Engine, c Config, path string, failed func(*Failure)) Report {
	records, err := ParseFile(path)
	if err == nil {
		var s Session
		if s, err = e.Open(ctx, path); err == nil {
			defer s.Close()
			for _, set := range c.Set {
				if _, err = s.Exec(ctx, set); err != nil {
					break
				}
			}
			if err == nil {
				r := run{session: s, names: e.Names(), failed: failed, labels: map[string]string{}}
				return r.all(ctx, records)
			}
		}
	}
	failed(&Failure{File: path, Line: 1, SQL: "the file", Expected: []string{"to run"}, Got: []string{err.Error()}})
	return Report{Failed: 1}
}

// run is the state of one file's run.
type run struct {
	session Session
	names   []string
	failed  func(*Failure)
	labels  map[string]string // label to the hash of its first result
	report  Report
}

func (r *run) all(ctx context.Context, records []Record) Report {
	for i := range records {
		rec := &records[i]
		if !holds(rec.Conditions, r.names) {
			if rec.Kind != Halt && rec.Kind != HashThreshold {
				r.report.Skipped++
			}
			continue
		}
		switch rec.Kind {
		case Halt:
			return r.report
		case HashThreshold:
			// Long results say by their form that they are hashed.
			continue
		}
		if f := r.record(ctx, rec); f != nil {
			f.File, f.Line, f.SQL = rec.File, rec.Line, rec.SQL
			r.failed(f)
			r.report.Failed++
		} else {
			r.report.Passed++
		}
	}
	return r.report
}

// record runs one statement or query; nil means that it passed.
func (r *run) record(ctx context.Context, rec *Record) *Failure {
	switch rec.Kind {
	case StatementOK:
		if _, err := r.session.Exec(ctx, rec.SQL); err != nil {
			return &Failure{Expected: []string{"no error"}, Got: []string{"error: " + err.Error()}}
		}
	case StatementCount:
		n, err := r.session.Exec(ctx, rec.SQL)
		want := []string{fmt.Sprintf("%d rows changed", rec.Count)}
		if err != nil {
			return &Failure{Expected: want, Got: []string{"error: " + err.Error()}}
		}
		if n != rec.Count {
			return &Failure{Expected: want, Got: []string{fmt.Sprintf("%d rows changed", n)}}
		}
	case StatementError:
		_, err := r.session.Exec(ctx, rec.SQL)
		if err == nil {
			return &Failure{Expected: []string{"an error"}, Got: []string{"no error"}}
		}
		if rec.Message != nil && !rec.Message.MatchString(err.Error()) {
			return &Failure{Expected: []string{"error matching " + rec.Message.String()}, Got: []string{"error: " + err.Error()}}
		}
	case Query:
		return r.query(ctx, rec)
	default:
		panic(fmt.Sprintf("tests: no way to run a record of kind %d", rec.Kind))
	}
	return nil
}

func (r *run) query(ctx context.Context, rec *Record) *Failure {
	rows, err := r.session.Query(ctx, rec.SQL)
	if err != nil {
		return &Failure{Expected: rec.Expected, Got: []string{"error: " + err.Error()}}
	}
	got := &result{types: rec.Types, rows: rows}
	if len(rows) > 0 && len(rec.Types) > 1 && len(rec.Types) != len(rows[0]) {
		return &Failure{Expected: []string{fmt.Sprintf("%d columns", len(rec.Types))}, Got: []string{fmt.Sprintf("%d columns", len(rows[0]))}}
	}
	if rec.Checked {
		if equal, shown := compare(rec, got); !equal {
			return &Failure{Expected: rec.Expected, Got: shown}
		}
	}
	if rec.Label != "" {
		line := hashLine(got.values(rec.Sort))
		first, seen := r.labels[rec.Label]
		if seen && first != line {
			return &Failure{Expected: []string{"the result of label " + rec.Label + ": " + first}, Got: []string{line}}
		}
		r.labels[rec.Label] = line
	}
	return nil
}
