package kernels

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/sqltype"
)

// TestPickBest compares what is picked, batch by batch, with the rows that have
// fewer than keep rows of their group before them.
func TestPickBest(t *testing.T) {
	for _, keep := range []int{1, 2, 7} {
		for _, ties := range []bool{false, true} {
			for _, desc := range []bool{false, true} {
				t.Run(fmt.Sprint("keep ", keep, ", ties ", ties, ", desc ", desc), func(t *testing.T) {
					testPickBest(t, keep, ties, desc)
				})
			}
		}
	}
}

func testPickBest(t *testing.T, keep int, ties, desc bool) {
	const groups, batch, batches = 37, 700, 4
	m := newMemory(t, devicetest.CPU(t), uint64(keep))
	best := upload(m, make([]uint64, groups*keep))
	type row struct {
		word int64
		null bool
	}
	// before reports that x comes before y; NULLs are last.
	before := func(x, y row) bool {
		if x.null || y.null {
			return !x.null
		}
		return x.word != y.word && (x.word > y.word) == desc
	}
	seen := make([][]row, groups)
	for range batches {
		ids, values := make([]uint32, batch), make([]int64, batch)
		valid := make([]uint64, BitmapBytes(batch)/8)
		var want []uint32
		for i := range batch {
			ids[i], values[i] = uint32(m.IntN(groups)), int64(m.IntN(60)-30)
			r := row{values[i], m.IntN(9) == 0}
			if !r.null {
				valid[i/64] |= 1 << (i % 64)
			}
			g := &seen[ids[i]]
			ahead := 0
			for _, o := range *g {
				if before(o, r) || !ties && !before(r, o) {
					ahead++
				}
			}
			*g = append(*g, r)
			if ahead < keep {
				want = append(want, uint32(i))
			}
		}
		out := m.room(SelectBytes(batch))
		by := SortColumn{Vec: Vec{Data: upload(m, values), Valid: upload(m, valid)}, Phys: sqltype.PhysI64, Desc: desc}
		n, err := PickBest(m.s, by, upload(m, ids), batch, best, keep, ties, out)
		m.ok(err)
		got := slices.Clone(device.View[uint32](out, n))
		require.Subset(t, got, want)
		// A NULL is last: it is picked as long as a NULL is the last that is kept.
		got = slices.DeleteFunc(got, func(i uint32) bool {
			return valid[i/64]>>(i%64)&1 == 0 && !slices.Contains(want, i)
		})
		require.Equal(t, want, got)
	}
}
