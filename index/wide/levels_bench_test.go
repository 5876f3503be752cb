package wide_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/wide"
)

// levelsKeys is up to how many keys an lsm grows: GPUSQL_BENCH_LEVELS, a power of two.
func levelsKeys(b *testing.B) int {
	n := 1 << 22
	if text := os.Getenv("GPUSQL_BENCH_LEVELS"); text != "" {
		_, err := fmt.Sscan(text, &n)
		require.NoError(b, err)
	}
	return n
}

// fill inserts keys up to number n, some at a time, and reports the whole rate: the
// median of some times, of which the first has found the pool's memory.
func (l *lab) fill(n, size int, key func(i int) uint64) {
	var all []time.Duration
	for range 4 {
		require.NoError(l, l.x.Close())
		var took time.Duration
		for first := 0; first < n; first += size {
			m := min(size, n-first)
			e := l.upload(m, func(i int) uint64 { return key(first + i) }, func(i int) uint64 { return uint64(first + i + 1) })
			took += l.apply(e)
		}
		all = append(all, took)
	}
	l.rate(fmt.Sprintf("insert up to %d by 2^%d", n, log2(size)), n, all[1:])
	require.EqualValues(l, n, l.x.Stats().Entries)
	require.NoError(l, l.x.Check(l.s))
}

func log2(n int) int {
	k := 0
	for ; n > 1; n = (n + 1) / 2 {
		k++
	}
	return k
}

// clean merges all runs.
func (l *lab) clean() {
	var took time.Duration
	for height := 0; height != l.x.Stats().Height; {
		height = l.x.Stats().Height
		took += l.time(func() error { return l.x.Prune(l.s, l.v) })
	}
	l.rate("clean up", int(l.x.Stats().Entries), []time.Duration{took})
	l.bytes("cleaned")
	require.NoError(l, l.x.Check(l.s))
}

// BenchmarkLevels inserts, and reads where levels are full and where there is one.
func BenchmarkLevels(b *testing.B) {
	row := func(i int) uint64 { return uint64(i + 1) }
	for _, size := range []int{1 << 20, 1 << 16} {
		b.Run(fmt.Sprintf("2^%d", log2(size)), func(b *testing.B) {
			forms(b, wide.Lsm(), func(l *lab, _ int) {
				n := levelsKeys(b)
				l.fill(n, size, l.key)
				sn, err := l.x.Snapshot(index.Latest)
				require.NoError(l, err)
				l.find(fmt.Sprintf("find at 2^%d", log2(n)), sn, n, row)
				sn.Release()
				require.NoError(l, l.x.Close())

				n = min(n, 1<<24) - size
				if n <= 0 {
					return
				}
				l.fill(n, size, l.key)
				fmt.Printf("FIGURE %s %v\n", l.Name(), l.x.Stats())
				sn, err = l.x.Snapshot(index.Latest)
				require.NoError(l, err)
				l.find("find all", sn, n, row)
				l.miss(sn, n)
				sorted := l.sorted(n)
				for _, length := range []int{8, 32, 128, 1024} {
					l.ranges(sn, sorted, length)
				}
				sn.Release()
				l.reads(n)
				e := l.entries(0, min(size, n/10))
				e.Op = index.Delete
				l.rate("erase", e.Keys.N, []time.Duration{l.apply(e)})
				l.clean()
				require.NoError(l, l.x.Close())
				for first := 0; first < n; first += size {
					e := l.entries(first, size)
					add := func() error { return l.x.Apply(l.s, l.v, e) }
					if batch := first/size + 1; batch < 65 && batch&(batch-1) == 0 {
						l.profile(fmt.Sprintf("insert batch %d", batch), add)
					} else {
						require.NoError(l, add())
					}
				}
			})
		})
	}
}

// BenchmarkAscending fills an lsm with keys that ascend.
func BenchmarkAscending(b *testing.B) {
	forms(b, wide.Lsm(), func(l *lab, _ int) {
		l.fill(levelsKeys(b), 1<<20, func(i int) uint64 { return uint64(i) })
	})
}

// BenchmarkMixed inserts into an mvcc and reads ranges of 8 at once, the dense keys
// of a permutation: half of the operations each, in rounds that have a version each.
// All is done some times, of which the first has found the pool's memory.
func BenchmarkMixed(b *testing.B) {
	for _, rounds := range []int{1, 10} {
		b.Run(fmt.Sprintf("%d rounds", rounds), func(b *testing.B) {
			forms(b, wide.Mvcc(), func(l *lab, n int) {
				n = n * 4 / 5
				step := n / 8 / rounds
				l.mixed(n, rounds, step)
				var took []time.Duration
				for range 6 / min(rounds, 3) {
					took = append(took, l.mixed(n, rounds, step)...)
				}
				l.rate("half inserts, half ranges of 8", 2*step, took)
			})
		})
	}
}

// mixed is what each of some rounds takes.
func (l *lab) mixed(n, rounds, step int) (took []time.Duration) {
	require.NoError(l, l.x.Close())
	all := n + n/8
	key := func(i int) uint64 { return uint64(i)*2654435761%uint64(all) + 1 }
	l.apply(l.upload(n, key, key))
	f := index.Format{Words: 1, Narrow: l.narrow}
	lows, highs := index.NewBatch(l.d, f), index.NewBatch(l.d, f)
	defer lows.Release()
	defer highs.Release()
	ends := func(to *index.Batch, by uint64) device.Ptr {
		own := l.batch
		defer func() { l.batch = own }()
		l.batch = to
		return l.upload(step, func(i int) uint64 { return key(i*7%n) + by }, nil).Keys.Data
	}
	r := index.Ranges{N: step, Lo: index.Bound{Keys: ends(lows, 0)}, Hi: index.Bound{Keys: ends(highs, 8)}}
	for round := range rounds {
		first := n + round*step
		e := l.upload(step, func(i int) uint64 { return key(first + i) }, func(i int) uint64 { return key(first + i) })
		l.v++
		took = append(took, l.time(func() error {
			sn, err := l.x.Snapshot(index.Latest)
			require.NoError(l, err)
			defer sn.Release()
			if err := l.x.Apply(l.s, l.v, e); err != nil {
				return err
			}
			return sn.Scan(l.s, r, index.Order{Keys: true}, l.answer)
		}))
		require.NoError(l, l.x.Prune(l.s, l.v))
	}
	require.EqualValues(l, n+rounds*step, l.x.Stats().Entries)
	require.NoError(l, l.x.Check(l.s))
	return took
}

// BenchmarkZipf finds keys that are asked for as often as Zipf says.
func BenchmarkZipf(b *testing.B) {
	forms(b, wide.Btree(), func(l *lab, n int) {
		l.apply(l.entries(0, n))
		z := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.01, 1, uint64(n-1))
		want := make([]int, n)
		for i := range want {
			want[i] = int(z.Uint64())
		}
		sn := l.snapshot()
		e := l.upload(n, func(j int) uint64 { return l.key(want[j]) }, nil)
		var took []time.Duration
		for range 6 {
			took = append(took, l.time(func() error { return sn.Lookup(l.s, e.Keys, l.answer) }))
		}
		l.rate("find, Zipf", n, took[1:])
		for j, row := range l.numbers(l.answer.Rows(), n) {
			require.EqualValues(l, want[j]+1, row)
		}
		e = l.upload(1<<20, func(j int) uint64 { return l.key(want[j]) }, func(j int) uint64 { return uint64(n + j + 1) })
		l.rate("insert 2^20, Zipf", 1<<20, []time.Duration{l.apply(e)})
		require.NoError(l, l.x.Check(l.s))
	})
}
