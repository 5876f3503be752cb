package gpusql

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGlobPattern(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"*.csv", []string{"a.csv", ".csv"}, []string{"a/b.csv", "a.csvx", "aXcsv"}},
		{"a?é[0-9].p", []string{"axé7.p", "aöé0.p"}, []string{"aé7.p", "axéx.p", "a/é7.p"}},
		{"[!ab]x", []string{"cx"}, []string{"ax", "bx", "x"}},
		{"**/x", []string{"x", "a/x", "a/b/x"}, []string{"ax", "a/xy"}},
		{"a/**/b*", []string{"a/b", "a/c/d/bb"}, []string{"b", "a/c", "a/b/c"}},
		{"[x", []string{"[x"}, []string{"x"}},
		{"a+(b)", []string{"a+(b)"}, []string{"aab"}},
	} {
		re, err := globPattern(c.pattern)
		require.NoError(t, err, c.pattern)
		for _, s := range c.yes {
			require.Regexp(t, re, s, c.pattern)
		}
		for _, s := range c.no {
			require.NotRegexp(t, re, s, c.pattern)
		}
	}
}

// A name is a pattern only where no file has it, and files are found where the
// names of the database lead to.
func TestGlob(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a[1].csv", "a1.csv", "sub/b.csv", "sub/deep/c.csv"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	f := files{resolve: func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }}
	for pattern, want := range map[string][]string{
		"a[1].csv":   {"a[1].csv"},
		"a[12].csv":  {"a1.csv"},
		"*.csv":      {"a1.csv", "a[1].csv"},
		"sub/*.csv":  {"sub/b.csv"},
		"**/*.csv":   {"a1.csv", "a[1].csv", "sub/b.csv", "sub/deep/c.csv"},
		"none/*.csv": nil,
	} {
		names, err := f.glob(pattern)
		require.NoError(t, err, pattern)
		require.Equal(t, want, names, pattern)
	}
}
