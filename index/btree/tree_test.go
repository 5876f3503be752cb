package btree

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/indextest"
	"github.com/gpusql/gpusql/sqltype"
)

func TestContract(t *testing.T) { indextest.Run(t, New) }

func wordIndex() index.Index {
	return New(index.NewCodec([]index.KeyColumn{{Type: sqltype.Int64, NotNull: true}}))
}

func shuffled(n int) ([]uint64, []int64) {
	keys, rows := make([]uint64, n), make([]int64, n)
	for i := range keys {
		keys[i], rows[i] = uint64(i), int64(i)
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys, rows
}

func TestBulkBuildIsSmall(t *testing.T) {
	keys, rows := shuffled(1 << 17)
	x := wordIndex()
	require.NoError(t, x.Apply(index.Entries{Keys: index.Keys{Words: keys}, Rows: rows}))
	require.NoError(t, x.Check())
	require.Less(t, x.Stats().Bytes, int64(20*len(keys)))
}

func BenchmarkBuild(b *testing.B) {
	keys, rows := shuffled(10_000_000)
	for b.Loop() {
		x := wordIndex()
		if err := x.Apply(index.Entries{Keys: index.Keys{Words: keys}, Rows: rows}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(x.Stats().Bytes)/float64(len(keys)), "bytes/key")
	}
}

func BenchmarkLookup(b *testing.B) {
	keys, rows := shuffled(10_000_000)
	x := wordIndex()
	if err := x.Apply(index.Entries{Keys: index.Keys{Words: keys}, Rows: rows}); err != nil {
		b.Fatal(err)
	}
	s := x.Snapshot()
	var r index.Ranges
	i := 0
	for b.Loop() {
		i = (i + 7919) % len(keys)
		r = s.Lookup(index.Keys{Words: keys[i : i+1]}, index.Ranges{Offsets: r.Offsets[:0], Rows: r.Rows[:0]})
		if len(r.Rows) != 1 {
			b.Fatal("not found")
		}
	}
}
