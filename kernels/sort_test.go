package kernels

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// sortBench is device memory with a stream, for sorts.
type sortBench struct {
	t    *testing.T
	dev  *device.CPU
	s    device.Stream
	held []*device.Buffer
	heap *Heap
}

func newSortBench(t *testing.T) *sortBench {
	d := device.NewCPU(device.CPUOptions{Streams: 1})
	s, err := d.NewStream()
	require.NoError(t, err)
	b := &sortBench{t: t, dev: d, s: s, heap: NewHeap(d)}
	t.Cleanup(b.close)
	return b
}

func (b *sortBench) alloc(n int) device.Ptr {
	buf, err := b.dev.Alloc(n)
	require.NoError(b.t, err)
	b.held = append(b.held, buf)
	return buf.Ptr()
}

func (b *sortBench) close() {
	b.heap.Release()
	for _, h := range b.held {
		h.Release()
	}
	require.NoError(b.t, b.s.Close())
	require.NoError(b.t, b.dev.Close())
}

// columns are columns whose words are often equal while the values are not.
func (b *sortBench) columns(r *rand.Rand, n int) []SortColumn {
	text, wide, ints := b.alloc(16*n), b.alloc(16*n), b.alloc(8*n)
	for i := range n {
		s := strings.Repeat("prefix  ", r.IntN(12)) + fmt.Sprint(r.IntN(3)) + strings.Repeat("\x00", r.IntN(3))
		v, err := b.heap.String(s)
		require.NoError(b.t, err)
		device.View[View](text, n)[i] = v
		device.View[[2]uint64](wide, n)[i] = [2]uint64{uint64(r.IntN(5)), uint64(r.IntN(3) - 1)}
		device.View[int64](ints, n)[i] = []int64{math.MinInt64, math.MaxInt64, 0, 7}[r.IntN(4)]
	}
	cols := []SortColumn{{Vec: Vec{Data: text}, Phys: sqltype.PhysStr}, {Vec: Vec{Data: wide}, Phys: sqltype.PhysI128}, {Vec: Vec{Data: ints}, Phys: sqltype.PhysI64}}
	for i := range cols {
		cols[i].Desc, cols[i].NullsFirst = r.IntN(2) == 0, r.IntN(2) == 0
		if r.IntN(2) == 0 {
			cols[i].Vec.Valid = b.alloc(BitmapBytes(n))
			words := device.View[uint64](cols[i].Vec.Valid, BitmapBytes(n)/8)
			for w := range words {
				words[w] = r.Uint64() | r.Uint64()
			}
		}
	}
	r.Shuffle(len(cols), func(i, j int) { cols[i], cols[j] = cols[j], cols[i] })
	return cols
}

func TestSortRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 24, 25, 64, 65, 2047, 2048, 6000} {
		for range 8 {
			b := newSortBench(t)
			cols := b.columns(r, n)
			rows := b.alloc(4 * n)
			require.NoError(t, Sort(b.s, cols, n, rows, b.alloc(SortBytes(n)), nil))
			want := make([]uint32, n)
			for i := range want {
				want[i] = uint32(i)
			}
			sort.SliceStable(want, func(i, j int) bool { return compareRows(cols, int(want[i]), int(want[j])) < 0 })
			require.Equal(t, want, append([]uint32{}, device.View[uint32](rows, n)...))
		}
	}
}

// TestSortEnds has a sort given up at each of its questions.
func TestSortEnds(t *testing.T) {
	b := newSortBench(t)
	const n = 1 << 17
	cols := b.columns(rand.New(rand.NewPCG(3, 4)), n)
	rows, scratch := b.alloc(4*n), b.alloc(SortBytes(n))
	asked := 0
	require.NoError(t, Sort(b.s, cols, n, rows, scratch, func() error { asked++; return nil }))
	require.Greater(t, asked, 4)
	for stop := 1; stop <= asked; stop += asked / 2 {
		now := 0
		err := Sort(b.s, cols, n, rows, scratch, func() error {
			if now++; now >= stop {
				return context.Canceled
			}
			return nil
		})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, stop, now, "asked again after the end")
	}
}
