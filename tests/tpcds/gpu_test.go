package tpcds

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device/devicetest"
)

// TestQueriesOnGPU runs every query whole on the emulated GPU, or the one that
// is there, and on the CPU.
func TestQueriesOnGPU(t *testing.T) {
	if os.Getenv("GPUSQL_REQUIRE_CUDA") == "" {
		t.Setenv("GPUSQL_CUDA_LIBRARY", devicetest.Library(t))
	}
	ctx := context.Background()
	conn := load(t, 0.002)
	set := func(text string) {
		_, err := conn.Exec(ctx, text)
		require.NoError(t, err)
	}
	for _, folder := range texts {
		files, err := filepath.Glob(filepath.Join(folder, "*.sql"))
		require.NoError(t, err)
		for _, f := range files {
			t.Run(filepath.Base(f), func(t *testing.T) {
				text, err := os.ReadFile(f)
				require.NoError(t, err)
				whole := lastLimit.ReplaceAllString(string(text), "")
				set("SET device = 'cpu'")
				want := answer(t, conn, whole)
				set("SET device = 'cuda'")
				set("SET require_gpu = on")
				defer set("SET require_gpu = off")
				got := answer(t, conn, whole)
				require.Len(t, got, len(want))
				for i := range want {
					for j := range want[i] {
						if !same(want[i][j], got[i][j]) {
							require.Fail(t, "answers differ", "row %d: on the CPU %q, on the GPU %q", i, want[i], got[i])
						}
					}
				}
			})
		}
	}
}
