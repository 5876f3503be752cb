package kernels

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/cuda"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/sqltype"
)

// benchRows is what the steps' benchmarks go through on a GPU: more than its
// cache holds.
const benchRows = 1 << 28

// timed is how long a call of step takes, by the device's clock, after one to warm up.
func (m *memory) timed(b *testing.B, step func()) (seconds float64) {
	b.Helper()
	step()
	from, err := device.NewMark(m.s)
	m.ok(err)
	rounds := 0
	for b.Loop() {
		step()
		rounds++
	}
	to, err := device.NewMark(m.s)
	m.ok(err)
	m.ok(m.s.Wait(b.Context()))
	took, err := to.Since(from)
	m.ok(err)
	from.Release()
	to.Release()
	b.ReportMetric(0, "ns/op")
	return took.Seconds() / float64(rounds)
}

// rate times step, which moves so many bytes.
func (m *memory) rate(b *testing.B, bytes int, step func()) {
	b.Helper()
	b.ReportMetric(float64(bytes)/m.timed(b, step)/1e9, "GB/s")
}

// benchMemory is that of the GPU, and how many rows to go through.
func benchMemory(b *testing.B) (*memory, int) {
	m := newMemory(b, devicetest.CUDA(b, cuda.Options{}), 1)
	if testing.Short() {
		return m, 1<<20 + 1
	}
	return m, benchRows
}

// noise is n words of which every bit is about as often 1 as 0.
func (m *memory) noise(n int) device.Ptr {
	p, first := m.room(8*n), m.room(8*n)
	m.ok(Sequence(m.s, first, 0, 1, n))
	m.ok(Hash(m.s, []Vec{{Data: first}}, []sqltype.Phys{sqltype.PhysI64}, n, p))
	return p
}

func BenchmarkCopy(b *testing.B) {
	for _, at := range []device.Ptr{0, 4, 5} {
		b.Run(fmt.Sprint("from byte ", at), func(b *testing.B) {
			m, n := benchMemory(b)
			src, dst := m.noise(n+1), m.room(8*n)
			m.rate(b, 16*n, func() { m.ok(Copy(m.s, dst, src+at, 8*n)) })
			want, got := download[byte](m, src+at, 8*n), download[byte](m, dst, 8*n)
			require.True(b, string(want) == string(got))
		})
	}
}

func BenchmarkZero(b *testing.B) {
	m, n := benchMemory(b)
	dst := m.noise(n)
	m.rate(b, 8*n, func() { m.ok(Zero(m.s, dst, 8*n)) })
	for _, v := range download[uint64](m, dst, n) {
		require.Zero(b, v)
	}
}

func BenchmarkReduce(b *testing.B) {
	m, n := benchMemory(b)
	in, out := m.noise(n), m.room(8)
	m.rate(b, 8*n, func() { m.ok(Reduce(m.s, ReduceSum, in, n, out)) })
	var want int64
	for _, v := range download[int64](m, in, n) {
		want += v
	}
	require.Equal(b, want, download[int64](m, out, 1)[0])
}

func BenchmarkScan(b *testing.B) {
	for _, width := range []int{4, 8} {
		b.Run(fmt.Sprint("width ", width), func(b *testing.B) {
			m, n := benchMemory(b)
			in, out, total, scratch := m.noise(n), m.room(8*n), m.room(8), m.room(ScanBytes(n))
			m.rate(b, 2*width*n, func() { m.ok(Scan(m.s, width, in, out, n, total, scratch)) })
			var want uint64
			if width == 8 {
				got := download[uint64](m, out, n)
				for i, v := range download[uint64](m, in, n) {
					if got[i] != want {
						b.Fatalf("sum before %d is %d and not %d", i, got[i], want)
					}
					want += v
				}
			} else {
				got := download[uint32](m, out, n)
				for i, v := range download[uint32](m, in, n) {
					if got[i] != uint32(want) {
						b.Fatalf("sum before %d is %d and not %d", i, got[i], want)
					}
					want += uint64(v)
				}
			}
			require.Equal(b, want, download[uint64](m, total, 1)[0])
		})
	}
}

// BenchmarkSelect states the bytes of the condition and of the numbers written.
func BenchmarkSelect(b *testing.B) {
	for _, percent := range []int{1, 10, 50, 90} {
		b.Run(fmt.Sprint(percent, " percent"), func(b *testing.B) {
			m, n := benchMemory(b)
			values := make([]byte, n)
			want := make([]uint32, 0, n)
			for i := range values {
				if m.IntN(100) < percent {
					values[i] = 1
					want = append(want, uint32(i))
				}
			}
			pred, out := Vec{Data: upload(m, values)}, m.room(SelectBytes(n))
			k := 0
			m.rate(b, n+4*len(want), func() {
				var err error
				k, err = Select(m.s, pred, n, out)
				m.ok(err)
			})
			require.Equal(b, len(want), k)
			for i, row := range download[uint32](m, out, k) {
				if row != want[i] {
					b.Fatalf("number %d is %d and not %d", i, row, want[i])
				}
			}
		})
	}
}

// BenchmarkGather takes rows in order, and in none.
func BenchmarkGather(b *testing.B) {
	for _, order := range []bool{true, false} {
		for _, width := range []int{4, 8, 16} {
			b.Run(fmt.Sprintf("in order=%v width %d", order, width), func(b *testing.B) {
				m, n := benchMemory(b)
				n /= 4
				src := Vec{Data: m.noise(2 * n)}
				rows := make([]uint32, n)
				for i := range rows {
					if rows[i] = uint32(i); !order {
						rows[i] = m.Uint32N(uint32(n))
					}
				}
				idx, dst := upload(m, rows), Vec{Data: m.room(width * n)}
				m.rate(b, (4+2*width)*n, func() { m.ok(Gather(m.s, width, &dst, src, idx, n)) })
				from, got := download[byte](m, src.Data, width*n), download[byte](m, dst.Data, width*n)
				for i, r := range rows {
					if string(got[i*width:][:width]) != string(from[int(r)*width:][:width]) {
						b.Fatalf("row %d is not that of %d", i, r)
					}
				}
			})
		}
	}
}

func BenchmarkHash(b *testing.B) {
	m, n := benchMemory(b)
	in, out := m.noise(n), m.room(8*n)
	m.rate(b, 16*n, func() { m.ok(Hash(m.s, []Vec{{Data: in}}, []sqltype.Phys{sqltype.PhysI64}, n, out)) })
	got := download[uint64](m, out, n)
	for i, v := range download[uint64](m, in, n) {
		if got[i] != HashWord(v) {
			b.Fatalf("hash %d", i)
		}
	}
}
