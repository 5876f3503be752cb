package kernels

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// perSecond times step over n rows.
func (m *memory) perSecond(b *testing.B, n int, step func()) {
	b.Helper()
	b.ReportMetric(float64(n)/m.timed(b, step)/1e9, "Grows/s")
}

// benchBatch is what a step gets at a time.
const benchBatch = 1 << 22

// spreadKeys is n integers of many values, in no order.
func (m *memory) spreadKeys(n, many int) device.Ptr {
	keys := make([]int64, n)
	for i := range keys {
		keys[i] = int64(HashWord(uint64(i)%uint64(many))) >> 8 // far apart, so that nothing is found by value
	}
	for i := range keys {
		j := m.IntN(i + 1)
		keys[i], keys[j] = keys[j], keys[i]
	}
	return upload(m, keys)
}

// BenchmarkGroup numbers the groups of BIGINT keys and sums a column by group.
func BenchmarkGroup(b *testing.B) {
	for _, many := range []int{10, 1000, 1 << 20} {
		b.Run(fmt.Sprint(many, " groups"), func(b *testing.B) {
			m, _ := benchMemory(b)
			n := 8 * benchBatch
			if testing.Short() {
				n = 1 << 16
			}
			batch := min(n, benchBatch)
			keys, values := m.spreadKeys(n, many), m.room(8*n)
			m.ok(Sequence(m.s, values, 0, 1, n))
			ids := m.room(4 * batch)
			agg := Agg{AggSum, sqltype.PhysI64}
			var total uint64
			m.perSecond(b, n, func() {
				g := NewGroups(m.d, NewKeyLayout([]sqltype.Phys{sqltype.PhysI64}, []bool{false}), false)
				defer g.Release()
				var state Array
				defer state.Release()
				for lo := 0; lo < n; lo += batch {
					was := g.Len()
					m.ok(g.Find(m.s, []Vec{{Data: keys + device.Ptr(8*lo)}}, batch, ids))
					m.ok(state.Grow(m.d, m.s, was*agg.Bytes(), g.Len()*agg.Bytes()))
					m.ok(agg.Update(m.s, state.Ptr(), AggInput{Src: Vec{Data: values + device.Ptr(8*lo)}, IDs: ids, Groups: g.Len()}, batch))
				}
				if total == 0 {
					require.Equal(b, min(many, n), g.Len())
					for _, s := range download[sumState](m, state.Ptr(), g.Len()) {
						total += s.lo
					}
					require.Equal(b, uint64(n)*uint64(n-1)/2, total)
				}
			})
		})
	}
}

// BenchmarkSum is an aggregate without groups.
func BenchmarkSum(b *testing.B) {
	m, n := benchMemory(b)
	in, state := m.noise(n), m.room(24)
	m.rate(b, 8*n, func() {
		m.ok(Zero(m.s, state, 24))
		m.ok(Agg{AggSum, sqltype.PhysI64}.Update(m.s, state, AggInput{Src: Vec{Data: in}, Groups: 1}, n))
	})
	var want sumState
	for _, v := range download[uint64](m, in, n) {
		want.add(v, uint64(int64(v)>>63), 1)
	}
	require.Equal(b, want, download[sumState](m, state, 1)[0])
}

// BenchmarkJoin looks up keys that are all there, in a table of 2^24 rows.
func BenchmarkJoin(b *testing.B) {
	for _, dense := range []bool{true, false} {
		b.Run(fmt.Sprint("dense=", dense), func(b *testing.B) {
			m, _ := benchMemory(b)
			rows, n := 1<<24, 1<<26
			if testing.Short() {
				rows, n = 1<<14, 1<<16
			}
			key := func(i int) int64 {
				if dense {
					return int64(i)
				}
				return int64(HashWord(uint64(i))) >> 4
			}
			build, probe := make([]int64, rows), make([]int64, n)
			for i := range build {
				build[i] = key(i)
			}
			for i := range probe {
				probe[i] = build[int(HashWord(uint64(i))%uint64(rows))]
			}
			layout := NewKeyLayout([]sqltype.Phys{sqltype.PhysI64}, []bool{false})
			keys, probes := upload(m, build), upload(m, probe)
			heads := m.room(4 * n)
			var scratch Array
			defer scratch.Release()
			b.Run("build", func(b *testing.B) {
				m.perSecond(b, rows, func() {
					t := NewJoinTable(m.d, layout, false)
					m.ok(t.Build(m.s, []Vec{{Data: keys}}, rows, 0))
					t.Release()
				})
			})
			t := NewJoinTable(m.d, layout, false)
			defer t.Release()
			m.ok(t.Build(m.s, []Vec{{Data: keys}}, rows, 0))
			b.Run("probe", func(b *testing.B) {
				m.perSecond(b, n, func() { m.ok(t.Heads(m.s, []Vec{{Data: probes}}, n, 0, heads, &scratch)) })
				for i, h := range download[uint32](m, heads, n) {
					if h == 0 || build[h-1] != probe[i] {
						b.Fatalf("row %d", i)
					}
				}
			})
		})
	}
}

// BenchmarkSortRows orders rows by two columns.
func BenchmarkSortRows(b *testing.B) {
	m, n := benchMemory(b)
	n /= 4
	first, second := m.noise(n), m.noise(n)
	rows, scratch := m.room(4*n), m.room(SortBytes(n))
	cols := []SortColumn{{Vec: Vec{Data: first}, Phys: sqltype.PhysI32}, {Vec: Vec{Data: second}, Phys: sqltype.PhysI64, Desc: true}}
	m.perSecond(b, n, func() { m.ok(Sort(m.s, cols, n, rows, scratch)) })
	a, c := download[int32](m, first, n), download[int64](m, second, n)
	got := download[uint32](m, rows, n)
	for i := 1; i < n; i++ {
		x, y := got[i-1], got[i]
		if a[x] > a[y] || a[x] == a[y] && c[x] < c[y] {
			b.Fatalf("rows %d and %d", x, y)
		}
	}
}
