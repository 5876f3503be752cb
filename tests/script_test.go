package tests

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzParse: a script is read, or refused with its place, and no record lies
// before the one that it follows.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("sql/*/*.test")
	require.NoError(f, err)
	for _, p := range paths {
		text, err := os.ReadFile(p)
		require.NoError(f, err)
		f.Add(string(text))
	}
	for _, text := range []string{"query", "query I\n", "query error (\nSELECT 1\n", "onlyif\n", "include \x00\n", "hash-threshold x\n", "statement count -1\n\n", "query T label-\xff\nSELECT 1\n----\n9 values hashing to 0\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		records, err := parse("a.test", text, maxInclude)
		if err != nil {
			require.Contains(t, err.Error(), ":")
			return
		}
		line := 0
		for _, r := range records {
			require.Greater(t, r.Line, line)
			line = r.Line
		}
	})
}
