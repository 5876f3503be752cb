package mvcc_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/mvcc"
)

const benchKeys, benchBatch = 10_000_000, 8192

func key(i uint64) uint64 { return (i + 1) * 0x9E3779B97F4A7C15 }

func cpuTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkTree(b *testing.B) {
	for _, streams := range []int{1, 2} {
		d := device.NewCPU(device.CPUOptions{Streams: streams})
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) { benchTree(b, d) })
		require.NoError(b, d.Close())
	}
}

func benchTree(b *testing.B, d device.Device) {
	s, err := d.NewStream()
	require.NoError(b, err)
	defer s.Close()
	f := index.Format{Words: 1}
	batch := index.NewBatch(d, f)
	defer batch.Release()
	fill := func(n int, of func(i int) uint64) index.Entries {
		batch.Reset()
		for i, w := 0, batch.Words(n); i < n; i++ {
			k := of(i)
			w[i] = key(k)
			batch.Rows = append(batch.Rows, k)
		}
		e, err := batch.Upload(s)
		require.NoError(b, err)
		return e
	}
	var used time.Duration
	perKey := func(b *testing.B, n int) {
		b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
		b.ReportMetric(float64(used.Nanoseconds())/float64(n)/float64(b.N), "cpu-ns/key")
		used = 0
	}
	timed := func(f func()) {
		t := cpuTime()
		f()
		used += cpuTime() - t
	}
	x, err := mvcc.New(d, f)
	require.NoError(b, err)
	defer func() { require.NoError(b, x.Close()) }()
	v := uint64(1)
	b.Run("build", func(b *testing.B) {
		e := fill(benchKeys, func(i int) uint64 { return uint64(i) })
		for b.Loop() {
			require.NoError(b, x.Close())
			x, _ = mvcc.New(d, f)
			timed(func() { require.NoError(b, x.Apply(s, v, e)) })
		}
		perKey(b, benchKeys)
		batch.Release()
	})
	answer := index.NewAnswer(d)
	defer answer.Release()
	lookup := func(b *testing.B, at index.Version) {
		sn, err := x.Snapshot(at)
		require.NoError(b, err)
		defer sn.Release()
		var es [16]*index.Batch
		var ks [16]index.Keys
		for j := range es {
			es[j] = index.NewBatch(d, f)
			defer es[j].Release()
			for i, w := 0, es[j].Words(benchBatch); i < benchBatch; i++ {
				w[i] = key(benchKeys/2 + rand.Uint64N(benchKeys/2))
			}
			e, _ := es[j].Upload(s)
			ks[j] = e.Keys
		}
		i := 0
		for b.Loop() {
			timed(func() { require.NoError(b, sn.Lookup(s, ks[i%16], answer)) })
			if answer.Total != benchBatch {
				b.Fatal(answer.Total)
			}
			i++
		}
		perKey(b, benchBatch)
	}
	b.Run("lookup", func(b *testing.B) { lookup(b, index.Latest) })
	b.Run("range100", func(b *testing.B) {
		sn, err := x.Snapshot(index.Latest)
		require.NoError(b, err)
		defer sn.Release()
		lo, hi := index.NewBatch(d, f), index.NewBatch(d, f)
		defer lo.Release()
		defer hi.Release()
		l, h := lo.Words(benchBatch), hi.Words(benchBatch)
		for i := range l {
			l[i] = rand.Uint64()>>1 + 1<<62
			h[i] = l[i] + 1<<63/benchKeys*200
		}
		le, _ := lo.Upload(s)
		he, _ := hi.Upload(s)
		for b.Loop() {
			r := index.Ranges{N: benchBatch, Lo: index.Bound{Keys: le.Keys.Data}, Hi: index.Bound{Keys: he.Keys.Data}}
			timed(func() { require.NoError(b, sn.Scan(s, r, index.Order{}, answer)) })
		}
		b.ReportMetric(float64(answer.Total)/benchBatch, "rows/range")
		perKey(b, benchBatch)
	})
	next := uint64(benchKeys)
	b.Run("insert", func(b *testing.B) {
		worst := 0.0
		for b.Loop() {
			worst = max(worst, float64(x.Stats().Bytes)/float64(x.Stats().Entries))
			b.StopTimer()
			e := fill(benchBatch, func(i int) uint64 { return next + uint64(i) })
			next += benchBatch
			v++
			require.NoError(b, x.Prune(s, v-1))
			b.StartTimer()
			timed(func() { require.NoError(b, x.Apply(s, v, e)) })
		}
		perKey(b, benchBatch)
		b.ReportMetric(float64(x.Stats().Bytes)/float64(x.Stats().Entries), "bytes/key")
		b.ReportMetric(worst, "worst-bytes/key")
	})
	b.Run("delete", func(b *testing.B) {
		gone := uint64(0)
		for b.Loop() {
			b.StopTimer()
			e := fill(benchBatch, func(i int) uint64 { return gone + uint64(i) })
			e.Op = index.Delete
			gone += benchBatch
			v++
			require.NoError(b, x.Prune(s, v-1))
			b.StartTimer()
			timed(func() { require.NoError(b, x.Apply(s, v, e)) })
		}
		perKey(b, benchBatch)
		b.ReportMetric(float64(x.Stats().Bytes)/float64(x.Stats().Entries), "bytes/key")
	})
	huge, _ := os.ReadFile("/proc/self/smaps_rollup")
	fmt.Println(string(huge))
	b.Run("64 snapshots", func(b *testing.B) {
		var held []index.Snapshot
		first := v
		for range 64 {
			sn, err := x.Snapshot(index.Latest)
			require.NoError(b, err)
			held = append(held, sn)
			v++
			e := fill(benchBatch, func(i int) uint64 { return next + uint64(i) })
			next += benchBatch
			require.NoError(b, x.Apply(s, v, e))
		}
		b.Run("latest", func(b *testing.B) { lookup(b, index.Latest) })
		b.Run("oldest", func(b *testing.B) { lookup(b, first) })
		for _, sn := range held {
			sn.Release()
		}
	})
	require.NoError(b, x.Prune(s, v))
}
