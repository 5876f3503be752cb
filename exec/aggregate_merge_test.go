package exec

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// BenchmarkMerge merges the tables of some workers, of 2^18 groups each that the
// others have too: all by one worker, and the share of one of as many workers.
func BenchmarkMerge(b *testing.B) {
	const groups = 1 << 18
	d := device.NewCPU(device.CPUOptions{})
	env := &Env{Device: d, Memory: d}
	s, err := d.NewStream()
	require.NoError(b, err)
	key := &planner.Col{ID: 1, T: sqltype.Int64}
	spec, err := newAggSpec(&planner.Aggregate{
		Input:  &planner.Values{Columns: []planner.ColDef{{ID: 1, Type: sqltype.Int64}}},
		Groups: []planner.NamedExpr{{Col: planner.ColDef{ID: 2, Type: sqltype.Int64}, Expr: key}},
		Aggs:   []planner.Agg{{Col: planner.ColDef{ID: 3, Type: sqltype.Int64}, Func: &catalog.Func{ID: catalog.FuncCount}}},
	})
	require.NoError(b, err)
	for _, workers := range []int{2, 4, 16} {
		var tables []*aggTable
		rows, err := d.Alloc(8 * groups)
		require.NoError(b, err)
		keys := device.View[uint64](rows.Ptr(), groups)
		for i := range keys {
			keys[i] = kernels.HashWord(uint64(i))
		}
		for range workers {
			t := newAggTable(env, spec, []int{0})
			require.NoError(b, kernels.Pieces(s, groups, func(lo, hi int) error {
				col := arrow.Column{Type: sqltype.Int64, Vec: kernels.Vec{Data: rows.Ptr() + device.Ptr(8*lo)}}
				return t.add(s, &arrow.Batch{Rows: hi - lo, Columns: []arrow.Column{col}})
			}))
			tables = append(tables, t)
		}
		rows.Release()
		for _, parts := range []int{1, workers} {
			b.Run(fmt.Sprintf("workers=%d/parts=%d", workers, parts), func(b *testing.B) {
				for b.Loop() {
					// One worker merges the others' tables into its own.
					t, from := newAggTable(env, spec, []int{0}), tables
					if parts == 1 {
						from = tables[1:]
					}
					for _, o := range from {
						require.NoError(b, t.merge(s, o, 0, parts))
					}
					t.release()
				}
			})
		}
		for _, t := range tables {
			t.release()
		}
	}
	require.NoError(b, s.Close())
	require.NoError(b, d.Close())
}
