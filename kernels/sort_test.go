package kernels

import (
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

func newSortBench(t *testing.T, batch int) *sortBench {
	d := device.NewCPU(device.CPUOptions{Streams: 2, BatchRows: batch})
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

// TestSortRows sorts on devices of small and of large pieces: rows are spread,
// and runs of equal words are long, or not.
func TestSortRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 24, 25, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 2048, 6000} {
		for i := range 16 {
			b := newSortBench(t, []int{32, 64, 300, 0}[i%4])
			cols := b.columns(r, n)
			rows := b.alloc(4 * n)
			require.NoError(t, Sort(b.s, cols, n, rows, b.alloc(SortBytes(n))))
			want := make([]uint32, n)
			for i := range want {
				want[i] = uint32(i)
			}
			sort.SliceStable(want, func(i, j int) bool { return compareRows(cols, int(want[i]), int(want[j])) < 0 })
			require.Equal(t, want, append([]uint32{}, device.View[uint32](rows, n)...))
		}
	}
}

// TestSortNothing gives the rows as they are when there is nothing to order by.
func TestSortNothing(t *testing.T) {
	b := newSortBench(t, 64)
	rows := b.alloc(4 * 300)
	require.NoError(t, Sort(b.s, nil, 300, rows, b.alloc(SortBytes(300))))
	for i, row := range device.View[uint32](rows, 300) {
		require.Equal(t, uint32(i), row)
	}
}

func BenchmarkSort(b *testing.B) {
	const n = 1 << 21
	d := device.NewCPU(device.CPUOptions{})
	s, err := d.NewStream()
	require.NoError(b, err)
	buf, err := d.Alloc(12*n + SortBytes(n))
	require.NoError(b, err)
	keys := device.View[int64](buf.Ptr(), n)
	for name, f := range map[string]func(r *rand.Rand) int64{
		"uniform": func(r *rand.Rand) int64 { return r.Int64() },
		"dense":   func(r *rand.Rand) int64 { return r.Int64N(n) },
		"few":     func(r *rand.Rand) int64 { return r.Int64N(5) },
		"outlier": func(r *rand.Rand) int64 { return r.Int64N(n) * (r.Int64N(n) / (n - 1)) << 40 },
	} {
		b.Run(name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			for i := range keys {
				keys[i] = f(r)
			}
			cols := []SortColumn{{Vec: Vec{Data: buf.Ptr()}, Phys: sqltype.PhysI64}}
			for b.Loop() {
				require.NoError(b, Sort(s, cols, n, buf.Ptr()+8*n, buf.Ptr()+12*n))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
	buf.Release()
	require.NoError(b, s.Close())
	require.NoError(b, d.Close())
}
