package tests

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake answers SQL texts from a map; what it does not know is an error.
type fake map[string][][]Cell

func (f fake) Open(context.Context, string) (Session, error) { return f, nil }
func (f fake) Names() []string                               { return []string{"gpusql"} }
func (f fake) Close() error                                  { return nil }

func (f fake) Exec(ctx context.Context, sql string) (int64, error) {
	rows, err := f.Query(ctx, sql)
	return int64(len(rows)), err
}

func (f fake) Query(_ context.Context, sql string) ([][]Cell, error) {
	rows, ok := f[sql]
	if !ok {
		return nil, errors.New("relation \"" + sql + "\" does not exist")
	}
	return rows, nil
}

func integer(s string) Cell { return Cell{Class: Integer, Text: s} }
func real(s string) Cell    { return Cell{Class: Real, Text: s} }
func text(s string) Cell    { return Cell{Class: Text, Text: s} }
func boolean(s string) Cell { return Cell{Class: Boolean, Text: s} }

var null = Cell{Null: true}

// runText runs a script against the fake and gives the report and the failures.
func runText(t *testing.T, script string, rows fake) (Report, []*Failure) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.test")
	require.NoError(t, os.WriteFile(path, []byte(script), 0o644))
	var failures []*Failure
	report := Run(t.Context(), rows, Config{}, []string{path}, 1, func(f *Failure) { failures = append(failures, f) })
	return report, failures
}

func TestRunRecords(t *testing.T) {
	rows := fake{
		"none": {}, "one": {{integer("1")}}, "real": {{real("2.75")}}, "neg": {{real("-0.5")}},
		"pair":  {{integer("2"), text("b c")}, {integer("1"), null}},
		"empty": {{text("")}}, "ctl": {{text("a\tb\n")}}, "bool": {{boolean("true")}, {boolean("false")}},
		"float": {{real("0.1000000001")}, {real("NaN")}},
		"stamp": {{{Class: Timestamp, Text: "2024-01-01 10:00:00"}}},
		"ten":   {{integer("9")}, {integer("10")}, {integer("1")}},
	}
	tests := []struct {
		name, script string
		passed       bool
	}{
		{"ok", "statement ok\none", true},
		{"ok fails", "statement ok\nunknown", false},
		{"error", "statement error\nunknown", true},
		{"error is missing", "statement error\none", false},
		{"error matches", "statement error relation .* does not\nunknown", true},
		{"error does not match", "statement error syntax\nunknown", false},
		{"error text", "statement error\nunknown\n----\ndoes not exist", true},
		{"error text differs", "statement error\nunknown\n----\nsyntax error", false},
		{"error regexp", "statement error\nunknown\n----\n<REGEX>:.*un.?known.*", true},
		{"query error", "query error does not exist\nunknown", true},
		{"count", "statement count 3\nten", true},
		{"count differs", "statement count 2\nten", false},
		{"no rows", "query I\nnone\n----", true},
		{"no rows at the end", "query I\nnone\n----\n", true},
		{"rows where none are wanted", "query I\none\n----\n", false},
		{"none where rows are wanted", "query I\nnone\n----\n1", false},
		{"unchecked", "query I\none\n", true},
		{"value", "query I nosort\none\n----\n1", true},
		{"wrong value", "query I nosort\none\n----\n2", false},
		{"wrong columns", "query II\none\n----\n1", false},
		{"one letter for all columns", "query T nosort\npair\n----\n2 b c\n1 NULL", true},
		{"timestamp", "query T\nstamp\n----\n2024-01-01T10:00:00", true},
		{"another timestamp", "query T\nstamp\n----\n2024-01-01T10:00:01", false},
		{"truncated", "query I\nreal\n----\n2", true},
		{"as it is", "query I\nreal\n----\n2.75", true},
		{"not rounded", "query I\nreal\n----\n3", false},
		{"minus nothing", "query I\nneg\n----\n0", true},
		{"three decimals", "query R\nreal\n----\n2.750", true},
		{"integer as real", "query R\none\n----\n1.000", true},
		{"values", "query IT nosort\npair\n----\n2\nb c\n1\nNULL", true},
		{"values in another order", "query IT nosort\npair\n----\n1\nNULL\n2\nb c", false},
		{"sorted rows", "query IT rowsort\npair\n----\n1\nNULL\n2\nb c", true},
		{"unsorted rows are sorted too", "query IT rowsort\npair\n----\n2\nb c\n1\nNULL", true},
		{"row form", "query IT nosort\npair\n----\n2 b c\n1  NULL", true},
		{"row form with tabs", "query IT nosort\npair\n----\n2\tb c\n1\tNULL", true},
		{"row form that differs", "query IT nosort\npair\n----\n2 b d\n1 NULL", false},
		{"row form with more", "query IT nosort\npair\n----\n2 b c d\n1 NULL", false},
		{"sorted values", "query IT valuesort\npair\n----\n1\n2\nNULL\nb c", true},
		{"empty", "query T\nempty\n----\n(empty)", true},
		{"control characters", "query T\nctl\n----\na@b@", true},
		{"booleans", "query I\nbool\n----\n1\n0", true},
		{"booleans in words", "query T\nbool\n----\ntrue\nfalse", true},
		{"booleans as text", "query T\nbool\n----\n1\n0", true},
		{"booleans that differ", "query T\nbool\n----\n1\n1", false},
		{"within the tolerance", "query R\nfloat\n----\n0.1\nNaN", true},
		{"outside it", "query R\nfloat\n----\n0.10001\nNaN", false},
		{"sorted as text", "query I rowsort\nten\n----\n1\n10\n9", true},
		{"hash", "query I rowsort\nten\n----\n3 values hashing to 82e9a0e8c5b09dbe7fea2aa9a0c1f1ff", false},
		{"labels", "query I rowsort a\nten\n\nquery I valuesort a\nten", true},
		{"labels that differ", "query I rowsort a\nten\n\nquery I nosort a\none", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report, failures := runText(t, tt.script, rows)
			require.Equal(t, tt.passed, report.Failed == 0, "%v", failures)
			require.Positive(t, report.Passed+report.Failed)
		})
	}
}

// The hash is SQLite's: MD5 of the values, each followed by a newline.
func TestHash(t *testing.T) {
	rows := fake{"ten": {{integer("9")}, {integer("10")}, {integer("1")}}}
	report, _ := runText(t, "query I rowsort\nten\n----\n3 values hashing to a1a5e4740c58f5b5ab22316fbc4d959b", rows)
	require.Equal(t, "1 passed, 0 failed, 0 skipped", report.String())
}

func TestConditions(t *testing.T) {
	rows := fake{"one": {{integer("1")}}}
	tests := []struct{ script, want string }{
		{"onlyif gpusql\nstatement ok\none", "1 passed, 0 failed, 0 skipped"},
		{"skipif gpusql\nstatement ok\none", "0 passed, 0 failed, 1 skipped"},
		{"onlyif mysql # why\nquery I\none\n----\n2", "0 passed, 0 failed, 1 skipped"},
		{"skipif mysql\nstatement ok\none", "1 passed, 0 failed, 0 skipped"},
		{"onlyif mysql\nhalt\n\nstatement ok\none", "1 passed, 0 failed, 0 skipped"},
		{"skipif mysql\nhalt\n\nstatement ok\none", "0 passed, 0 failed, 0 skipped"},
		{"skipif mysql\nskipif gpusql\nstatement ok\none\n\nstatement ok\none", "1 passed, 0 failed, 1 skipped"},
		{"hash-threshold 8\n\n# comment\nstatement ok\none\n", "1 passed, 0 failed, 0 skipped"},
	}
	for _, tt := range tests {
		report, _ := runText(t, tt.script, rows)
		require.Equal(t, tt.want, report.String(), tt.script)
	}
}

func TestBadScripts(t *testing.T) {
	tests := []struct{ script, want string }{
		{"\nnonsense", "a.test:2: unknown record \"nonsense\""},
		{"statement", "a.test:1: statement needs ok, error or count"},
		{"statement count x\none", "\"x\" is not a number"},
		{"statement error (\none", "missing closing"},
		{"query X\none", "query types \"X\""},
		{"query I\n----\n1", "a record without SQL"},
		{"onlyif", "onlyif needs a name"},
		{"include nowhere.slt", "nowhere.slt"},
		{"hash-threshold", "hash-threshold needs a number"},
	}
	for _, tt := range tests {
		report, failures := runText(t, tt.script, fake{})
		require.Equal(t, 1, report.Failed, tt.script)
		require.Contains(t, failures[0].Got[0], tt.want)
	}
}

func TestIncludeAndFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("a.slt", "include _b.slt\n\nstatement ok\nbad")
	write("_b.slt", "statement ok\none\n")
	write("loop.test", "include loop.test")
	write("readme.md", "nonsense")
	files, err := Files([]string{dir})
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "a.slt"), filepath.Join(dir, "loop.test")}, files)
	var failures []*Failure
	report := Run(t.Context(), fake{"one": {}}, Config{}, files[:1], 2, func(f *Failure) { failures = append(failures, f) })
	require.Equal(t, "1 passed, 1 failed, 0 skipped", report.String())
	require.Equal(t, 3, failures[0].Line)
	_, err = ParseFile(files[1])
	require.ErrorContains(t, err, "included too deeply")
}

func TestFailureText(t *testing.T) {
	var b strings.Builder
	f := &Failure{File: "x.test", Line: 7, SQL: "SELECT\n 1", Expected: []string{"2"}, Got: []string{"1", "3"}}
	_, err := f.WriteTo(&b)
	require.NoError(t, err)
	require.Equal(t, "x.test:7: SELECT 1\n  expected: 2\n  got:\n    1\n    3\n", b.String())
}

func TestParseConfig(t *testing.T) {
	c, err := ParseConfig("optimizer=off,morsel=3")
	require.NoError(t, err)
	require.Equal(t, []string{"SET optimizer = off", "SET morsel = 3"}, c.Set)
	_, err = ParseConfig("morsel=4")
	require.ErrorContains(t, err, `no configuration "morsel=4"`)
}
