package wide_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/cuda"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/wide"
	"github.com/gpusql/gpusql/kernels"
)

// The workloads are those of other GPU indexes' papers, so that figures can be set
// side by side: keys are a bijection of 1..n, all of their bits random, and a row
// is the number of its key. Rates are of the GPU's time from an operation's
// first launch to its last, the host's part between them included, medians of
// several runs; every answer is compared with a sorted array's.
//
//	go test -run x -bench . -benchtime 1x ./index/wide        GPUSQL_BENCH_KEYS=50e6

func mix32(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

func mix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// lab is a GPU with an index for one benchmark.
type lab struct {
	*testing.B
	d      device.Device
	s      device.Stream
	x      index.Index
	narrow bool
	batch  *index.Batch
	answer *index.Answer
	v      index.Version
}

func benchKeys() int {
	n := 1e7
	if text := os.Getenv("GPUSQL_BENCH_KEYS"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			panic(err)
		}
	}
	return int(n)
}

func newLab(b *testing.B, k index.Kind, narrow bool) *lab {
	d := devicetest.CUDA(b, cuda.Options{})
	f := index.Format{Words: 1, Narrow: narrow}
	x, err := k.New(d, f)
	require.NoError(b, err)
	l := &lab{B: b, d: d, s: devicetest.Stream(b, d), x: x, narrow: narrow, batch: index.NewBatch(d, f), answer: index.NewAnswer(d), v: 1}
	// The driver's memory is slow until it was written once: the pool has it before anything is timed.
	mem, err := d.Alloc(160 * benchKeys())
	require.NoError(b, err)
	require.NoError(b, kernels.Zero(l.s, mem.Ptr(), mem.Len()))
	require.NoError(b, l.s.Wait(context.Background()))
	mem.Release()
	b.Cleanup(func() {
		l.batch.Release()
		l.answer.Release()
		require.NoError(b, x.Close())
	})
	return l
}

// forms runs a benchmark with keys of 32 and of 64 bits.
func forms(b *testing.B, k index.Kind, f func(l *lab, n int)) {
	for _, narrow := range []bool{true, false} {
		b.Run(map[bool]string{true: "32 bits", false: "64 bits"}[narrow], func(b *testing.B) {
			for b.Loop() {
				f(newLab(b, k, narrow), benchKeys())
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// key is key number i.
func (l *lab) key(i int) uint64 {
	if l.narrow {
		return uint64(mix32(uint32(i + 1)))
	}
	return mix64(uint64(i + 1))
}

// upload makes a batch of n changes, of keys and rows that of names.
func (l *lab) upload(n int, key func(i int) uint64, row func(i int) uint64) index.Entries {
	l.batch.Reset()
	if l.narrow {
		for i, w := 0, l.batch.Narrow(n); i < n; i++ {
			w[i] = uint32(key(i))
		}
	} else {
		for i, w := 0, l.batch.Words(n); i < n; i++ {
			w[i] = key(i)
		}
	}
	if row != nil {
		l.batch.Rows = slices.Grow(l.batch.Rows, n)[:n]
		for i := range n {
			l.batch.Rows[i] = row(i)
		}
	}
	e, err := l.batch.Upload(l.s)
	require.NoError(l, err)
	require.NoError(l, l.s.Wait(context.Background()))
	return e
}

// entries are keys first to first+n with their rows.
func (l *lab) entries(first, n int) index.Entries {
	return l.upload(n, func(i int) uint64 { return l.key(first + i) }, func(i int) uint64 { return uint64(first + i + 1) })
}

// time is how long the GPU took for f.
func (l *lab) time(f func() error) time.Duration {
	from, err := device.NewMark(l.s)
	require.NoError(l, err)
	defer from.Release()
	require.NoError(l, f())
	to, err := device.NewMark(l.s)
	require.NoError(l, err)
	defer to.Release()
	require.NoError(l, l.s.Wait(context.Background()))
	took, err := to.Since(from)
	require.NoError(l, err)
	return took
}

func (l *lab) apply(e index.Entries) time.Duration {
	l.v++
	return l.time(func() error { return l.x.Apply(l.s, l.v, e) })
}

// rate reports the median rate of n things.
func (l *lab) rate(name string, n int, took []time.Duration) {
	slices.Sort(took)
	m := took[len(took)/2]
	l.ReportMetric(float64(n)/m.Seconds()/1e6, strings.ReplaceAll(name, " ", "_")+"-M/s")
	fmt.Printf("FIGURE %-40s %12.1f M/s   %v..%v\n", l.Name()+" "+name, float64(n)/m.Seconds()/1e6, took[0], took[len(took)-1])
}

func (l *lab) bytes(name string) {
	st := l.x.Stats()
	l.ReportMetric(float64(st.Bytes)/float64(st.Entries), strings.ReplaceAll(name, " ", "_")+"-B/key")
	fmt.Printf("FIGURE %-40s %12.2f B/key\n", l.Name()+" "+name, float64(st.Bytes)/float64(st.Entries))
}

func (l *lab) snapshot() index.Snapshot {
	sn, err := l.x.Snapshot(index.Latest)
	require.NoError(l, err)
	l.Cleanup(sn.Release)
	return sn
}

// numbers reads n numbers.
func (l *lab) numbers(p device.Ptr, n int) []uint64 {
	out := make([]uint64, n)
	require.NoError(l, l.s.Download(bytesOf(out), p))
	return out
}

// find looks all n keys up, in another order than they were put in.
func (l *lab) find(name string, sn index.Snapshot, n int, row func(i int) uint64) {
	perm := func(j int) int { return int(uint64(j) * 2654435761 % uint64(n)) }
	e := l.upload(n, func(j int) uint64 { return l.key(perm(j)) }, nil)
	var took []time.Duration
	for range 7 {
		took = append(took, l.time(func() error { return sn.Lookup(l.s, e.Keys, l.answer) }))
	}
	l.rate(name, n, took[1:])
	require.Equal(l, n, l.answer.Total)
	offsets, rows := l.numbers(l.answer.Offsets(), n+1), l.numbers(l.answer.Rows(), n)
	for j := range n {
		if offsets[j] != uint64(j) || rows[j] != row(perm(j)) {
			l.Fatalf("key %d: offset %d, row %d, want %d", j, offsets[j], rows[j], row(perm(j)))
		}
	}
}

func (l *lab) miss(sn index.Snapshot, n int) {
	e := l.upload(n, func(j int) uint64 { return l.key(n + j) }, nil)
	var took []time.Duration
	for range 7 {
		took = append(took, l.time(func() error { return sn.Lookup(l.s, e.Keys, l.answer) }))
	}
	l.rate("miss", n, took[1:])
	require.Zero(l, l.answer.Total)
}

// between are ranges over n keys of some expected length.
type between struct {
	index.Ranges
	lo, hi func(j int) uint64
}

func (l *lab) between(n, length int) (between, func()) {
	q := 1 << 22
	if length > 500 {
		q = 1 << 20
	}
	shift := 0
	if !l.narrow {
		shift = 32
	}
	width := uint64(length) * (1 << 32) / uint64(n)
	lo := func(j int) uint64 {
		return (1 + uint64(mix32(uint32(j)*0x9E3779B9+12345))%(1<<32-4-width)) << shift
	}
	// The ranges are closed: what is above hi is outside.
	hi := func(j int) uint64 { return lo(j) + width<<shift + 1 }
	low := l.upload(q, lo, nil)
	other := index.NewBatch(l.d, index.Format{Words: 1, Narrow: l.narrow})
	first := l.batch
	l.batch = other
	high := l.upload(q, hi, nil)
	l.batch = first
	r := index.Ranges{N: q, Lo: index.Bound{Keys: low.Keys.Data}, Hi: index.Bound{Keys: high.Keys.Data}}
	return between{r, lo, hi}, other.Release
}

// ranges scans and counts ranges of some expected length.
func (l *lab) ranges(sn index.Snapshot, sorted []uint64, length int) {
	r, release := l.between(len(sorted), length)
	defer release()
	q := r.N
	var took, pairs []time.Duration
	for range 6 {
		pairs = append(pairs, l.time(func() error { return sn.Scan(l.s, r.Ranges, index.Order{Keys: true}, l.answer) }))
		took = append(took, l.time(func() error { return sn.Scan(l.s, r.Ranges, index.Order{}, l.answer) }))
	}
	l.rate(fmt.Sprintf("range %d rows", length), q, took[1:])
	l.rate(fmt.Sprintf("range %d keys and rows", length), q, pairs[1:])
	counts, err := l.d.Alloc(8 * q)
	require.NoError(l, err)
	defer counts.Release()
	var counting []time.Duration
	for range 6 {
		counting = append(counting, l.time(func() error { return sn.Count(l.s, r.Ranges, counts.Ptr()) }))
	}
	l.rate(fmt.Sprintf("count %d", length), q, counting[1:])
	offsets, many := l.numbers(l.answer.Offsets(), q+1), l.numbers(counts.Ptr(), q)
	rows := l.numbers(l.answer.Rows(), min(l.answer.Total, 1<<25))
	for j := range q {
		from, _ := slices.BinarySearch(sorted, r.lo(j))
		to, _ := slices.BinarySearch(sorted, r.hi(j))
		if many[j] != uint64(to-from) || offsets[j+1]-offsets[j] != uint64(to-from) {
			l.Fatalf("range %d has %d entries, not %d", j, to-from, many[j])
		}
		for k := 0; k < to-from && int(offsets[j])+k < len(rows); k++ {
			if key := l.key(int(rows[int(offsets[j])+k]) - 1); key != sorted[from+k] {
				l.Fatalf("entry %d of range %d is %x, not %x", k, j, key, sorted[from+k])
			}
		}
	}
}

func (l *lab) sorted(n int) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = l.key(i)
	}
	slices.Sort(all)
	return all
}

// BenchmarkRead builds an index and reads it.
func BenchmarkRead(b *testing.B) {
	forms(b, wide.Btree(), func(l *lab, n int) {
		e := l.entries(0, n)
		var took []time.Duration
		for range 6 {
			require.NoError(l, l.x.Close())
			took = append(took, l.apply(e))
		}
		l.rate("build", n, took[1:])
		l.bytes("built")
		require.NoError(l, l.x.Check(l.s))
		sn := l.snapshot()
		row := func(i int) uint64 { return uint64(i + 1) }
		l.find("find", sn, n, row)
		l.miss(sn, n)
		sorted := l.sorted(n)
		for _, length := range []int{8, 32, 128, 1024} {
			l.ranges(sn, sorted, length)
		}
	})
}

// BenchmarkWrite inserts into an index and erases from it.
func BenchmarkWrite(b *testing.B) {
	forms(b, wide.Btree(), func(l *lab, n int) {
		have := n
		l.apply(l.entries(0, n))
		for _, size := range []int{1 << 20, 100_000, 10_000} {
			var took []time.Duration
			for range 6 {
				e := l.entries(have, size)
				took = append(took, l.apply(e))
				have += size
			}
			l.rate(fmt.Sprintf("insert %d", size), size, took[1:])
		}
		require.EqualValues(l, have, l.x.Stats().Entries)
		l.bytes("grown")
		require.NoError(l, l.x.Prune(l.s, l.v))
		l.bytes("grown and tidy")
		require.NoError(l, l.x.Check(l.s))
		sn, err := l.x.Snapshot(index.Latest)
		require.NoError(l, err)
		l.find("find when grown", sn, have, func(i int) uint64 { return uint64(i + 1) })
		sn.Release()
		var took []time.Duration
		for range 4 {
			e := l.entries(0, have/10)
			e.Op = index.Delete
			took = append(took, l.apply(e))
			if len(took) < 4 {
				l.apply(l.entries(0, have/10))
			}
		}
		l.rate("erase a tenth", have/10, took[1:])
		require.EqualValues(l, have-have/10, l.x.Stats().Entries)
		require.NoError(l, l.x.Check(l.s))
		l.bytes("erased")
		e := l.entries(have/10, have/2)
		e.Op = index.Delete
		l.rate("erase a half", have/2, []time.Duration{l.apply(e)})
		l.bytes("erased more")
		l.rate("tidy", have, []time.Duration{l.time(func() error { return l.x.Prune(l.s, l.v) })})
		l.bytes("tidy")
		require.NoError(l, l.x.Check(l.s))
	})
}

// BenchmarkAppend inserts ascending keys behind all others.
func BenchmarkAppend(b *testing.B) {
	forms(b, wide.Btree(), func(l *lab, n int) {
		ascending := func(first, n int) index.Entries {
			return l.upload(n, func(i int) uint64 { return uint64(first + i) }, func(i int) uint64 { return uint64(first + i + 1) })
		}
		n = min(n, 1e7)
		l.apply(ascending(0, n))
		var took []time.Duration
		for range 6 {
			took = append(took, l.apply(ascending(n, 1<<20)))
			n += 1 << 20
		}
		l.rate("append 1048576", 1<<20, took[1:])
		l.bytes("appended")
		require.EqualValues(l, n, l.x.Stats().Entries)
		require.NoError(l, l.x.Check(l.s))
	})
}

// BenchmarkVersions finds keys at the oldest and the latest of 64 snapshots,
// between which all rows changed.
func BenchmarkVersions(b *testing.B) {
	forms(b, wide.Mvcc(), func(l *lab, _ int) {
		const n, versions = 1_000_000, 64
		l.apply(l.entries(0, n))
		oldest := l.snapshot()
		row := func(v int) func(int) uint64 { return func(i int) uint64 { return uint64(i + 1 + v*n) } }
		var took []time.Duration
		for v := 1; v < versions; v++ {
			e := l.upload(n, l.key, row(v))
			e.Op = index.Upsert
			took = append(took, l.apply(e))
			l.snapshot()
		}
		l.rate("upsert", n, took)
		l.bytes("64 versions")
		l.find("find at the latest", l.snapshot(), n, row(versions-1))
		l.find("find at the oldest", oldest, n, row(0))
	})
}

// clock is a stream that notes when each launch and each wait began and ended by the
// GPU's clock, which takes the GPU some of the time that it shows.
type clock struct {
	device.Stream
	spans []span
}

type span struct {
	name     string
	from, to device.Mark
}

func (c *clock) note(name string, f func() error) error {
	from, err := device.NewMark(c.Stream)
	if err != nil {
		return err
	}
	if err = f(); err != nil {
		return err
	}
	to, err := device.NewMark(c.Stream)
	c.spans = append(c.spans, span{name, from, to})
	return err
}

func (c *clock) Submit(w device.Work) error {
	return c.note(w.Name(), func() error { return c.Stream.Submit(w) })
}

func (c *clock) Download(dst []byte, src device.Ptr) error {
	return c.note("download", func() error { return c.Stream.Download(dst, src) })
}

func (c *clock) Upload(dst device.Ptr, src []byte) error {
	return c.note("upload", func() error { return c.Stream.Upload(dst, src) })
}

// profile says what the launches of f take, and how long the GPU has none: all of
// them added up by name, and each of a few.
func (l *lab) profile(name string, f func() error) {
	s, c := l.s, &clock{Stream: l.s}
	l.s = c
	all := l.time(func() error { return c.note("all", f) })
	l.s = s
	took, begin := map[string]time.Duration{}, c.spans[len(c.spans)-1].from
	print := func(what string, d time.Duration) {
		fmt.Printf("PROFILE %-40s %-24s %v\n", l.Name()+" "+name, what, d)
	}
	for _, x := range c.spans {
		d, err := x.to.Since(x.from)
		require.NoError(l, err)
		at, err := x.from.Since(begin)
		require.NoError(l, err)
		if took[x.name] += d; len(c.spans) <= 40 {
			print(fmt.Sprintf("%v %s", at, x.name), d)
		} else if x.name != "all" {
			all -= d
		}
	}
	for _, x := range c.spans {
		x.from.Release()
		x.to.Release()
	}
	if len(c.spans) <= 40 {
		return
	}
	names := slices.SortedFunc(maps.Keys(took), func(a, b string) int { return cmp.Compare(took[b], took[a]) })
	for _, k := range names {
		print(k, took[k])
	}
	print("nothing", all)
}

// BenchmarkLaunches says what an operation's launches take.
func BenchmarkLaunches(b *testing.B) {
	forms(b, wide.Btree(), func(l *lab, n int) {
		e := l.entries(0, n)
		l.apply(e)
		require.NoError(l, l.x.Close())
		l.profile("build", func() error { return l.x.Apply(l.s, l.v, e) })
		for _, size := range []int{1 << 20, 10_000} {
			for range 2 {
				l.apply(l.entries(n, size))
				n += size
			}
			e := l.entries(n, size)
			n += size
			l.profile(fmt.Sprintf("insert %d", size), func() error { return l.x.Apply(l.s, l.v, e) })
		}
		l.reads(n)
		e = l.entries(0, n/10)
		e.Op = index.Delete
		l.profile("erase a tenth", func() error { return l.x.Apply(l.s, l.v, e) })
	})
}

// reads profiles lookups and ranges.
func (l *lab) reads(n int) {
	sn, err := l.x.Snapshot(index.Latest)
	require.NoError(l, err)
	defer sn.Release()
	e := l.upload(n, l.key, nil)
	find := func() error { return sn.Lookup(l.s, e.Keys, l.answer) }
	require.NoError(l, find())
	l.profile("find", find)
	for _, length := range []int{8, 1024} {
		r, release := l.between(n, length)
		scan := func() error { return sn.Scan(l.s, r.Ranges, index.Order{}, l.answer) }
		require.NoError(l, scan())
		l.profile(fmt.Sprintf("range %d", length), scan)
		release()
	}
}

// BenchmarkCeilings is what sorting and copying take.
func BenchmarkCeilings(b *testing.B) {
	for b.Loop() {
		l := newLab(b, wide.Btree(), true)
		n := benchKeys()
		mem, err := l.d.Alloc(16*n + kernels.WholeKey(4, 4).Bytes(n))
		require.NoError(b, err)
		defer mem.Release()
		keys := [2]device.Ptr{mem.Ptr(), mem.Ptr() + device.Ptr(4*n)}
		values := [2]device.Ptr{keys[1] + device.Ptr(4*n), keys[1] + device.Ptr(8*n)}
		e := l.entries(0, n)
		var sort, copies []time.Duration
		for range 6 {
			require.NoError(b, kernels.Copy(l.s, keys[0], e.Keys.Data, 4*n))
			sort = append(sort, l.time(func() error {
				_, err := kernels.WholeKey(4, 4).Sort(l.s, keys, values, values[1]+device.Ptr(4*n), n)
				return err
			}))
			copies = append(copies, l.time(func() error { return kernels.Copy(l.s, keys[0], values[0], 8*n) }))
		}
		l.rate("sort of pairs", n, sort[1:])
		l.rate("copy, bytes read and written", 16*n, copies[1:])
	}
	b.ReportMetric(0, "ns/op")
}

func bytesOf(v []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
}
