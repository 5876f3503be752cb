package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// runShell runs the program with a text on its standard input.
func runShell(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdin")
	require.NoError(t, os.WriteFile(path, []byte(stdin), 0o600))
	in, err := os.Open(path)
	require.NoError(t, err)
	defer in.Close()
	var out, errs bytes.Buffer
	code = run(args, in, &out, &errs)
	return code, out.String(), errs.String()
}

// TestShell runs scripts of the shell; go test -rewrite writes their results.
func TestShell(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var args []string
			for _, a := range d.CmdArgs {
				args = append(args, "--"+a.Key, a.Vals[0])
			}
			code, stdout, stderr := runShell(t, d.Input, args...)
			if stderr != "" {
				stdout += "stderr:\n" + stderr
			}
			if code != 0 {
				stdout += "exit code 1\n"
			}
			return stdout
		})
	})
}

func TestArguments(t *testing.T) {
	a, err := parseArguments([]string{"-c", "SELECT 1", ":memory:", "--format", "csv", "-f", "x.sql"}, &bytes.Buffer{})
	require.NoError(t, err)
	require.Equal(t, arguments{db: ":memory:", format: "csv", steps: []step{{text: "SELECT 1"}, {file: "x.sql"}}}, a)
	for _, bad := range [][]string{{"a", "b"}, {"--format", "xml"}, {"--nothing"}} {
		_, err := parseArguments(bad, &bytes.Buffer{})
		require.Error(t, err, bad)
	}
	code, _, stderr := runShell(t, "", "a", "b")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "one database at most")
	code, _, stderr = runShell(t, "", "--help")
	require.Zero(t, code)
	require.Contains(t, stderr, "usage: gpusql")
	code, _, stderr = runShell(t, "", "file.db")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "a database lives in memory")
	code, _, stderr = runShell(t, "", "-f", "nowhere.sql")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "nowhere.sql")
}

func TestSteps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.sql")
	require.NoError(t, os.WriteFile(file, []byte("SELECT 2 AS b;"), 0o600))
	code, stdout, _ := runShell(t, "", "-c", "SELECT 1 AS a", "-f", file, "--format", "csv")
	require.Zero(t, code)
	require.Equal(t, "a\n1\nb\n2\n", stdout)
	code, stdout, stderr := runShell(t, "", "-c", "SELEKT", "-c", "SELECT 1 AS a", "--format", "csv")
	require.Equal(t, 1, code)
	require.Empty(t, stdout, "nothing runs after an error")
	require.Contains(t, stderr, "line 1: SELEKT\n        ^\n")
}

func TestCutAtCommand(t *testing.T) {
	tests := []struct{ text, sql, rest string }{
		{"SELECT 1;", "SELECT 1;", ""},
		{"SELECT 1;\n.quit\n", "SELECT 1;\n", ".quit\n"},
		{"SELECT 1\n.quit\n;", "SELECT 1\n.quit\n;", ""},
		{"SELECT '\n.quit\n';\n.tables", "SELECT '\n.quit\n';\n", ".tables"},
		{"SELECT\n.5;", "SELECT\n.5;", ""},
	}
	for _, tt := range tests {
		sql, rest := cutAtCommand(tt.text)
		require.Equal(t, []string{tt.sql, tt.rest}, []string{sql, rest}, "%q", tt.text)
	}
}

func TestVisible(t *testing.T) {
	require.Equal(t, `a\nb\t\x1b[31m`, visible("a\nb\t\x1b[31m"))
	require.Equal(t, "héllo 世界", visible("héllo 世界"))
}

func TestCompletion(t *testing.T) {
	sh, err := newShell("", "box", &bytes.Buffer{}, &bytes.Buffer{})
	require.NoError(t, err)
	defer sh.close()
	require.True(t, sh.statements("CREATE TABLE customers (custkey INTEGER, name VARCHAR)"))
	c := &completion{shell: sh}
	require.Equal(t, []string{"custkey", "customers"}, c.complete("cust", "SELECT cust"))
	require.Equal(t, []string{"c.custkey", "c.customers"}, c.complete("c.cu", "SELECT c.cu"))
	require.Contains(t, c.complete("sel", "sel"), "select")
	require.Contains(t, c.complete("SEL", "SEL"), "SELECT")
	require.Equal(t, []string{".tables", ".timer"}, c.complete(".t", ".t"))
	require.Equal(t, []string{`\quit`}, c.complete(`\q`, `\q`))
	require.True(t, sh.statements("CREATE TABLE custom (x INTEGER)"))
	c.forget()
	require.Contains(t, c.complete("cust", "cust"), "custom")
}

func TestHistory(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AppData", t.TempDir())
	h := openHistory()
	require.Empty(t, h.texts)
	for range maxHistory {
		h.add("SELECT\n 1;")
		h.add("SELECT 2;")
	}
	h.add("SELECT 2;")
	require.Len(t, h.texts, maxHistory)
	require.NoError(t, h.save())
	require.Equal(t, h.texts, openHistory().texts)
}

func TestTestCommand(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.test"), filepath.Join(dir, "bad.test")
	require.NoError(t, os.WriteFile(good, []byte("query I\nSELECT 1\n----\n1\n\nonlyif other\nstatement ok\nx\n"), 0o600))
	require.NoError(t, os.WriteFile(bad, []byte("\nquery I\nSELECT 1\n----\n2\n"), 0o600))
	var stdout, stderr bytes.Buffer
	require.Zero(t, runTests([]string{good, "-j", "1", "-config", "morsel=3"}, &stdout, &stderr))
	require.Equal(t, "1 passed, 0 failed, 1 skipped\n", stdout.String())
	stdout.Reset()
	require.Equal(t, 1, runTests([]string{dir}, &stdout, &stderr))
	require.Equal(t, bad+":2: SELECT 1\n  expected: 2\n  got: 1\n1 passed, 1 failed, 1 skipped\n", stdout.String())
	for _, args := range [][]string{{}, {"nowhere"}, {"-config", "x", good}, {"-dialect", "x", good}} {
		require.Equal(t, 2, runTests(args, &stdout, &stderr), args)
	}
	require.Equal(t, 4, strings.Count(stderr.String(), "gpusql test:"))
}
