package btree

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSortWords sorts words that are even, and words of which many have the same
// first bits, and compares with a stable sort.
func TestSortWords(t *testing.T) {
	inputs := map[string]func(r *rand.Rand, i int) uint64{
		"even":       func(r *rand.Rand, _ int) uint64 { return r.Uint64() },
		"small":      func(r *rand.Rand, _ int) uint64 { return r.Uint64N(1000) },
		"few":        func(r *rand.Rand, _ int) uint64 { return r.Uint64N(3) << 60 },
		"one":        func(*rand.Rand, int) uint64 { return 7 },
		"ascending":  func(_ *rand.Rand, i int) uint64 { return uint64(i) },
		"descending": func(_ *rand.Rand, i int) uint64 { return -uint64(i) },
		"two scales": func(r *rand.Rand, i int) uint64 { return r.Uint64N(1<<20) | uint64(i%50/49)<<63 },
		"skewed":     func(r *rand.Rand, _ int) uint64 { return uint64(math.Pow(r.Float64(), 30) * (1 << 62)) },
	}
	for name, word := range inputs {
		rnd := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{0, 1, 2, fewItems, fewItems + 1, 1000, 8192, 20_000} {
			a := make([]item, n)
			for i := range a {
				a[i] = item{word(rnd, i), uint64(i)}
			}
			want := slices.Clone(a)
			slices.SortStableFunc(want, func(x, y item) int { return compareWords(x.word, y.word) })
			require.Equal(t, want, sortWords(a, make([]item, n)), "%s, %d items", name, n)
		}
	}
}
