package arrow

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/gpusql/gpusql/device"
)

// BenchmarkParquet reads the file that GPUSQL_PARQUET names, all columns, with
// a cursor a core.
func BenchmarkParquet(b *testing.B) {
	name := os.Getenv("GPUSQL_PARQUET")
	if name == "" {
		b.Skip("GPUSQL_PARQUET names no file")
	}
	d := device.NewCPU(device.CPUOptions{})
	for b.Loop() {
		f, err := OpenFile(name, FileOptions{})
		require.NoError(b, err)
		var cols []int
		for i := range f.Schema() {
			cols = append(cols, i)
		}
		s := NewFileScan(f, cols, device.DefaultBatchRows, nil)
		var g errgroup.Group
		for range d.Traits().Streams {
			g.Go(func() error {
				st, err := d.NewStream()
				if err != nil {
					return err
				}
				defer st.Close()
				c := s.Cursor(d, st)
				defer c.Close()
				for {
					batch, err := c.Next(context.Background())
					if batch == nil {
						return err
					}
				}
			})
		}
		require.NoError(b, g.Wait())
		require.NoError(b, s.Close())
		st, err := os.Stat(name)
		require.NoError(b, err)
		b.SetBytes(st.Size())
	}
}
