package btree_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/btree"
)

const (
	benchKeys  = 4_000_000
	benchBatch = 8192
)

// benchTree is a tree of even random keys.
func benchTree(b *testing.B) (device.Stream, index.Index, *index.Batch) {
	d := device.NewCPU(device.CPUOptions{Streams: 1})
	s := devicetest.Stream(b, d)
	x, err := btree.New(d, index.Format{Words: 1})
	require.NoError(b, err)
	keys := index.NewBatch(d, index.Format{Words: 1})
	for i, w := 0, keys.Words(benchKeys); i < benchKeys; i++ {
		w[i] = benchKey(i)
		keys.Rows = append(keys.Rows, uint64(i))
	}
	e, err := keys.Upload(s)
	require.NoError(b, err)
	require.NoError(b, x.Apply(s, 1, e))
	keys.Release()
	b.Cleanup(func() {
		keys.Release()
		require.NoError(b, x.Close())
	})
	return s, x, keys
}

func benchKey(i int) uint64 { return uint64(i+1) * 0x9E3779B97F4A7C15 }

func BenchmarkLookup(b *testing.B) {
	s, x, keys := benchTree(b)
	a := index.NewAnswer(s.Device())
	defer a.Release()
	sn, err := x.Snapshot(index.Latest)
	require.NoError(b, err)
	defer sn.Release()
	var took []time.Duration
	for b.Loop() {
		keys.Reset()
		for i, w := 0, keys.Words(benchBatch); i < benchBatch; i++ {
			w[i] = benchKey(rand.IntN(benchKeys))
		}
		e, err := keys.Upload(s)
		require.NoError(b, err)
		start := time.Now()
		require.NoError(b, sn.Lookup(s, e.Keys, a))
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/10].Nanoseconds())/benchBatch, "quiet-ns/key")
}

func BenchmarkInsert(b *testing.B) {
	s, x, keys := benchTree(b)
	n := benchKeys
	var took []time.Duration
	for b.Loop() {
		keys.Reset()
		for i, w := 0, keys.Words(benchBatch); i < benchBatch; i++ {
			w[i] = benchKey(n)
			keys.Rows = append(keys.Rows, uint64(n))
			n++
		}
		e, err := keys.Upload(s)
		require.NoError(b, err)
		start := time.Now()
		require.NoError(b, x.Apply(s, 1, e))
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/10].Nanoseconds())/benchBatch, "quiet-ns/key")
}

func BenchmarkScan(b *testing.B) {
	s, x, keys := benchTree(b)
	a := index.NewAnswer(s.Device())
	defer a.Release()
	hi := index.NewBatch(s.Device(), index.Format{Words: 1})
	defer hi.Release()
	sn, err := x.Snapshot(index.Latest)
	require.NoError(b, err)
	defer sn.Release()
	const width = 100 * (1 << 63 / benchKeys * 2)
	for b.Loop() {
		keys.Reset()
		hi.Reset()
		lo, up := keys.Words(benchBatch), hi.Words(benchBatch)
		for i := range lo {
			lo[i] = rand.Uint64N(1<<64 - 1 - width)
			up[i] = lo[i] + width
		}
		e, err := keys.Upload(s)
		require.NoError(b, err)
		f, err := hi.Upload(s)
		require.NoError(b, err)
		require.NoError(b, sn.Scan(s, index.Ranges{N: benchBatch, Lo: index.Bound{Keys: e.Keys.Data}, Hi: index.Bound{Keys: f.Keys.Data}}, index.Order{}, a))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchBatch, "ns/range")
}

func BenchmarkOne(b *testing.B) {
	s, x, keys := benchTree(b)
	a := index.NewAnswer(s.Device())
	defer a.Release()
	b.ReportAllocs()
	for b.Loop() {
		keys.Reset()
		keys.Words(1)[0] = benchKey(rand.IntN(benchKeys))
		e, err := keys.Upload(s)
		require.NoError(b, err)
		sn, err := x.Snapshot(index.Latest)
		require.NoError(b, err)
		require.NoError(b, sn.Lookup(s, e.Keys, a))
		sn.Release()
	}
}

func BenchmarkBuild(b *testing.B) {
	const n = 10_000_000
	d := device.NewCPU(device.CPUOptions{Streams: 1})
	s := devicetest.Stream(b, d)
	keys := index.NewBatch(d, index.Format{Words: 1})
	defer keys.Release()
	for i, w := 0, keys.Words(n); i < n; i++ {
		w[i] = benchKey(i)
		keys.Rows = append(keys.Rows, uint64(i))
	}
	e, err := keys.Upload(s)
	require.NoError(b, err)
	for b.Loop() {
		x, err := btree.New(d, index.Format{Words: 1})
		require.NoError(b, err)
		require.NoError(b, x.Apply(s, 1, e))
		require.NoError(b, x.Close())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
}
