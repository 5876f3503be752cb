package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIndexKinds runs one script with every kind of index: the answers do not
// depend on it.
func TestIndexKinds(t *testing.T) {
	engine, err := NewEngine("gpusql")
	require.NoError(t, err)
	script, err := os.ReadFile("testdata/index.test")
	require.NoError(t, err)
	for _, kind := range []string{"btree", "lsm", "mvcc"} {
		for _, config := range []string{"", "optimizer=off", "morsel=3", "index=none"} {
			t.Run(kind+" "+config, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "index.test")
				require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(script), "${kind}", kind)), 0o600))
				c, err := ParseConfig(config)
				require.NoError(t, err)
				report := Run(t.Context(), engine, c, []string{file}, 1, func(f *Failure) {
					t.Errorf("line %d: %s\n  expected %q\n  got %q", f.Line, f.SQL, f.Expected, f.Got)
				})
				require.Positive(t, report.Passed)
			})
		}
	}
}
