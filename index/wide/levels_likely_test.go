package wide_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/wide"
)

// TestLikely inserts batches into an lsm that are like those before, and some that
// are not, each in another way.
func TestLikely(t *testing.T) {
	devicetest.EachGPU(t, func(t *testing.T, d device.Device) {
		for _, f := range []index.Format{{Words: 1, Narrow: true}, {Words: 1}} {
			t.Run(fmt.Sprint(f), func(t *testing.T) { testLikely(newModel(t, d, wide.Lsm(), f)) })
		}
	})
}

func testLikely(m *model) {
	row := uint64(0)
	batch := func(n int, key func(i int) uint64) []pair {
		out := make([]pair, n)
		for i := range out {
			row++
			out[i] = pair{key(i), row}
		}
		return out
	}
	random := func(bits int) func(int) uint64 { return func(int) uint64 { return m.rnd.Uint64() >> (64 - bits) } }
	for range 6 {
		m.apply(batch(700, random(20)), nil)
	}
	require.Equal(m, 5, m.s.launches["runs_place_4"]+m.s.launches["runs_place_8"])
	require.Zero(m, m.s.launches["runs_merge_4"]+m.s.launches["runs_merge_8"])
	m.apply(batch(1, random(20)), nil)
	for _, other := range [][]pair{
		batch(300, random(21)),
		batch(1200, func(i int) uint64 { return uint64(i%3 + 1<<19*(i%2)) }), // few buckets
		batch(100, func(i int) uint64 { return uint64(i) }),                  // in order
		slices.Repeat(batch(2, random(20)), 2),                               // rows fall
		{{7, 3}, {5, 4}, {9, 5}},                                             // rows that were
	} {
		m.apply(other, nil)
		m.apply(batch(300, random(20)), nil)
		m.apply(batch(300, random(20)), nil)
	}
	for _, base := range []uint64{5 << 20, 1 << 20, 9 << 20} { // keys of which older runs have none
		for range 3 {
			m.apply(batch(900, func(int) uint64 { return base + m.rnd.Uint64()>>44 }), nil)
		}
	}
	row = 1 << 33
	m.apply(batch(300, random(20)), nil)
	m.apply(batch(300, random(20)), nil)
}
