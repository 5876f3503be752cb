package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device/devicetest"
)

// TestSQL runs the project's own scripts in every configuration.
func TestSQL(t *testing.T) {
	engine, err := NewEngine("gpusql")
	require.NoError(t, err)
	files, err := Files([]string{"sql"})
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range []string{"", "optimizer=off", "morsel=3", "hash=zero", "index=none", "index=lsm", "index=mvcc", "threads=1", "optimizer=off,morsel=3,hash=zero,index=none"} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseConfig(name)
			require.NoError(t, err)
			report := Run(t.Context(), engine, c, files, 2, func(f *Failure) {
				t.Errorf("%s:%d: %s\n  expected %q\n  got %q", f.File, f.Line, f.SQL, f.Expected, f.Got)
			})
			require.Positive(t, report.Passed)
		})
	}
}

// TestSQLOnGPU runs the scripts where queries run on the emulated GPU: all that
// can. What cannot runs on the CPU; package gpusql's tests say which may not.
func TestSQLOnGPU(t *testing.T) {
	t.Setenv("GPUSQL_CUDA_LIBRARY", devicetest.Library(t))
	t.Setenv("GPUSQL_COMPILE_ROWS", "1")
	engine, err := NewEngine("gpusql")
	require.NoError(t, err)
	files, err := Files([]string{"sql"})
	require.NoError(t, err)
	for _, name := range []string{"cuda"} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseConfig(name)
			require.NoError(t, err)
			report := Run(t.Context(), engine, c, files, 2, func(f *Failure) {
				t.Errorf("%s:%d: %s\n  expected %q\n  got %q", f.File, f.Line, f.SQL, f.Expected, f.Got)
			})
			require.Positive(t, report.Passed)
		})
	}
}
