package lsm

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/device/faulty"
	"github.com/gpusql/gpusql/index"
)

var words, long = index.Format{Words: 1}, index.Format{Words: 2, Long: true}

// rig is an index with keys that are numbers, in 8 bytes or in 40.
type rig struct {
	t      require.TestingT
	x      *Index
	s      device.Stream
	batch  *index.Batch
	answer *index.Answer
	v      index.Version
}

func newRig(t *testing.T, d device.Device, f index.Format) *rig {
	x, err := New(d, f)
	require.NoError(t, err)
	r := &rig{t: t, x: x.(*Index), s: devicetest.Stream(t, d), batch: index.NewBatch(d, f), answer: index.NewAnswer(d)}
	t.Cleanup(func() {
		r.batch.Release()
		r.answer.Release()
		require.NoError(t, x.Close())
	})
	return r
}

// upload brings entries to the device: row and key of each are numbers.
func (r *rig) upload(keys, rows []uint64, op index.Op) index.Entries {
	r.batch.Reset()
	for i, k := range keys {
		b := binary.BigEndian.AppendUint64(nil, k)
		if r.x.format.Long {
			b = append(append(make([]byte, 16), b...), slices.Repeat([]byte{byte(k) | 1}, 16)...)
		}
		r.batch.Add(b)
		r.batch.Rows = append(r.batch.Rows, rows[i])
	}
	e, err := r.batch.Upload(r.s)
	require.NoError(r.t, err)
	e.Op = op
	return e
}

func (r *rig) apply(keys, rows []uint64, op index.Op) {
	e := r.upload(keys, rows, op)
	r.v++
	require.NoError(r.t, r.x.Apply(r.s, r.v, e))
}

func (r *rig) check() { require.NoError(r.t, r.x.Check(r.s)) }

// rows are all of a snapshot, in order.
func (r *rig) rows(sn index.Snapshot) []uint64 {
	require.NoError(r.t, sn.Scan(r.s, index.Ranges{N: 1}, index.Order{}, r.answer))
	return slices.Clone(device.View[uint64](r.answer.Rows(), r.answer.Total))
}

func (r *rig) now() []uint64 {
	sn, err := r.x.Snapshot(index.Latest)
	require.NoError(r.t, err)
	defer sn.Release()
	return r.rows(sn)
}

// clean calls Prune until it changes nothing.
func (r *rig) clean() {
	for {
		before := r.x.current
		require.NoError(r.t, r.x.Prune(r.s, r.v))
		if r.x.current == before {
			return
		}
	}
}

// spread makes n keys whose order is not that of their rows from first on.
func spread(first, n int) (keys, rows []uint64) {
	for i := first; i < first+n; i++ {
		keys, rows = append(keys, uint64(i)*0x9E3779B97F4A7C15), append(rows, uint64(i))
	}
	return keys, rows
}

func byKey(rows []uint64) []uint64 {
	slices.SortFunc(rows, func(a, b uint64) int {
		x, y := a*0x9E3779B97F4A7C15, b*0x9E3779B97F4A7C15
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return rows
}

func TestCleanUp(t *testing.T) {
	for _, f := range []index.Format{words, long} {
		t.Run(f.String(), func(t *testing.T) {
			r := newRig(t, devicetest.CPU(t), f)
			var want []uint64
			for b := range 40 {
				keys, rows := spread(b*3000, 3000)
				r.apply(keys, rows, index.Insert)
				r.apply(keys[:1500], rows[:1500], index.Delete)
				want = append(want, rows[1500:]...)
			}
			r.check()
			require.Greater(t, r.x.Stats().Height, 2)
			require.Equal(t, byKey(want), r.now())
			r.clean()
			r.check()
			require.Equal(t, 1, r.x.Stats().Height)
			require.Equal(t, want, r.now())
			for _, l := range r.x.current.lists {
				if l != nil {
					require.Zero(t, l.run.Gone, "dead entries are gone")
					require.LessOrEqual(t, len(l.segments), len(want)*100/96/r.x.capacity+1, "segments are full")
				}
			}
			keys, rows := spread(0, 120_000)
			r.apply(keys, rows, index.Delete)
			r.clean()
			require.Empty(t, r.now())
			require.Less(t, r.x.Stats().Bytes, int64(1<<20))
		})
	}
}

func TestBytesOfACleanIndex(t *testing.T) {
	r := newRig(t, devicetest.CPU(t), words)
	const n = 1_000_000
	for at := 0; at < n; at += 1 << 16 {
		keys, rows := spread(at, min(1<<16, n-at))
		r.apply(keys, rows, index.Insert)
	}
	r.clean()
	require.Less(t, r.x.Stats().Bytes, int64(20*n))
}

// TestDeadMeetLive is that entries which take each other away are gone with the
// first merge that has both, however many runs there are below.
func TestDeadMeetLive(t *testing.T) {
	r := newRig(t, devicetest.CPU(t), words)
	keys, rows := spread(0, 50_000)
	r.apply(keys, rows, index.Insert)
	keys, rows = spread(50_000, 200)
	r.apply(keys, rows, index.Insert)
	before := r.x.current.entries
	r.apply(keys, rows, index.Delete)
	require.Equal(t, before-200, r.x.current.entries)
	for i, l := range r.x.current.lists {
		if l != nil && l.run.Entries < 50_000 {
			require.Zero(t, l.run.Gone, "list %d", i)
			require.LessOrEqual(t, l.run.Entries, int64(56), "list %d", i) // what had not sunk
		}
	}
	r.check()
}

// TestTheNewestRunDecides is rule 2 of package index over runs: an entry that was
// deleted and inserted again, time after time, with other entries between.
func TestTheNewestRunDecides(t *testing.T) {
	r := newRig(t, devicetest.CPU(t), words)
	keys, rows := spread(0, 3000)
	for round := range 12 {
		op := index.Op(round % 2) // insert, delete
		r.apply(keys, rows, op)
		r.apply(keys[:10], rows[:10], op) // again: nothing changes
		other, otherRows := spread(10_000*(round+1), 2000)
		r.apply(other, otherRows, index.Insert)
		r.check()
		want := 2000 * (round + 1)
		if op == index.Insert {
			want += 3000
		}
		require.EqualValues(t, want, r.x.Stats().Entries)
		require.Len(t, r.now(), want)
		e := r.upload(keys[:1], rows[:1], op)
		sn, err := r.x.Snapshot(index.Latest)
		require.NoError(t, err)
		require.NoError(t, sn.Lookup(r.s, e.Keys, r.answer))
		require.Equal(t, 1-int(op), r.answer.Total)
		sn.Release()
	}
}

func TestFilterKnowsItsKeysAndFewOthers(t *testing.T) {
	r := newRig(t, devicetest.CPU(t), words)
	keys, rows := spread(0, 20_000)
	r.apply(keys, rows, index.Insert)
	passed, asked := 0, 0
	for _, l := range r.x.current.lists {
		if l == nil {
			continue
		}
		for _, g := range l.segments {
			for _, k := range device.View[uint64](g.part.Keys, g.n()) {
				require.True(t, g.part.mayHave(hash(k)))
			}
			others, _ := spread(1<<20, 5000)
			for _, k := range others {
				asked++
				if g.part.mayHave(hash(k)) {
					passed++
				}
			}
		}
	}
	require.Less(t, float64(passed)/float64(asked), 0.045)
}

// TestFaultsOfMerges lets each device call of batches that merge segments over
// several levels fail once.
func TestFaultsOfMerges(t *testing.T) {
	for _, f := range []index.Format{words, long} {
		t.Run(f.String(), func(t *testing.T) {
			d := faulty.New(devicetest.CPU(t))
			r := newRig(t, d, f)
			keys, rows := spread(0, 25_000)
			r.apply(keys, rows, index.Insert)
			want := byKey(rows)
			keys, rows = spread(25_000, 6_000)
			e := r.upload(keys, rows, index.Insert)
			calls := r.sweep(d, func() error { return r.x.Apply(r.s, r.v, e) })
			calls += r.sweep(d, func() error { return r.x.Prune(r.s, 0) })
			e = r.upload(keys[:3000], rows[:3000], index.Delete)
			calls += r.sweep(d, func() error { return r.x.Apply(r.s, r.v, e) })
			require.Greater(t, calls, 60)
			require.Equal(t, byKey(append(want, rows[3000:]...)), r.now())
		})
	}
}

// sweep lets call 1 of f fail, then call 2 ..., until it needs no more. The index
// is as it was each time.
func (r *rig) sweep(d *faulty.Device, f func() error) (calls int) {
	before := r.now()
	for n := int64(1); ; n++ {
		d.FailAt(n)
		err := f()
		failed := d.Failed()
		d.FailAt(0)
		if !failed {
			require.NoError(r.t, err)
			r.check()
			return calls
		}
		calls++
		require.True(r.t, errors.Is(err, faulty.ErrFault), "call %d: %v", n, err)
		if n%16 == 0 {
			r.check()
			require.Equal(r.t, before, r.now(), "call %d", n)
		}
	}
}

// TestHeldSnapshots holds snapshots over merges and cleaning of all there is.
func TestHeldSnapshots(t *testing.T) {
	r := newRig(t, devicetest.CPU(t), words)
	type held struct {
		sn   index.Snapshot
		want []uint64
	}
	var all []held
	var there []uint64
	for b := range 60 {
		keys, rows := spread(b*2500, 2500)
		r.apply(keys, rows, index.Insert)
		there = append(there, rows...)
		if b%3 == 2 {
			gone := there[:2000]
			keys = keys[:0]
			for _, row := range gone {
				keys = append(keys, row*0x9E3779B97F4A7C15)
			}
			r.apply(keys, gone, index.Delete)
			there = slices.Clone(there[2000:])
		}
		if b%6 == 0 {
			sn, err := r.x.Snapshot(index.Latest)
			require.NoError(t, err)
			all = append(all, held{sn, byKey(slices.Clone(there))})
		}
	}
	r.clean()
	for _, h := range all {
		require.Equal(t, h.want, r.rows(h.sn))
		h.sn.Release()
	}
	r.check()
}

// TestReadersBesideMerges is that a snapshot counts what it scans, whatever is
// merged, cleaned and given back meanwhile.
func TestReadersBesideMerges(t *testing.T) {
	d := devicetest.CPU(t)
	r := newRig(t, d, words)
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 3 {
		s := devicetest.Stream(t, d)
		wg.Go(func() {
			a := index.NewAnswer(d)
			defer a.Release()
			counts, err := d.Alloc(8)
			if !assert.NoError(t, err) {
				return
			}
			defer counts.Release()
			for last := 0; !done.Load(); {
				sn, err := r.x.Snapshot(index.Latest)
				if !assert.NoError(t, err) || !assert.NoError(t, sn.Count(s, index.Ranges{N: 1}, counts.Ptr())) ||
					!assert.NoError(t, sn.Scan(s, index.Ranges{N: 1}, index.Order{Keys: true}, a)) {
					return
				}
				n := int(device.View[uint64](counts.Ptr(), 1)[0])
				if !assert.Equal(t, n, a.Total) || !assert.True(t, slices.IsSorted(device.View[uint64](a.Keys(), n))) ||
					!assert.GreaterOrEqual(t, n, last-500) {
					return
				}
				last = n
				sn.Release()
			}
		})
	}
	for b := range 60 {
		keys, rows := spread(b*2000, 2000)
		r.apply(keys, rows, index.Insert)
		r.apply(keys[:500], rows[:500], index.Delete)
		r.apply(keys[:500], rows[:500], index.Insert)
		if b%5 == 0 {
			assert.NoError(t, r.x.Prune(r.s, 0))
		}
	}
	done.Store(true)
	wg.Wait()
	r.check()
}

// TestWorkIsBounded is invariant 7.
func TestWorkIsBounded(t *testing.T) {
	r := newRig(t, devicetest.CPU(t), words)
	keys, rows := spread(0, 300_000)
	r.apply(keys, rows, index.Insert)
	at := 300_000
	for _, n := range []int{1, 100, 5000, 20_000} {
		for range 30 {
			keys, rows := spread(at, n)
			at += n
			c := r.x.draft(r.s)
			_, err := c.apply(r.upload(keys, rows, index.Insert))
			require.NoError(t, c.end(err))
			levels := len(c.lists) / 2
			require.Less(t, c.work, levels*8*(n+2*r.x.capacity), "a batch of %d", n)
		}
	}
	r.check()
}

// TestPruneIsBounded is that a few entries which lie between all others are not
// merged with all of them at once.
func TestPruneIsBounded(t *testing.T) {
	r := newRig(t, devicetest.CPU(t), words)
	keys, rows := spread(0, 500_000)
	r.apply(keys, rows, index.Insert)
	keys, rows = spread(500_000, 3000)
	r.apply(keys, rows, index.Insert)
	calls := 0
	for r.x.Stats().Height > 1 {
		c := r.x.draft(r.s)
		changed, err := c.clean(cleanEntries)
		require.True(t, changed)
		if err == nil {
			err = c.publish(r.x.current.entries)
		}
		require.NoError(t, c.end(err))
		require.Less(t, c.work, 3*cleanEntries)
		r.check()
		calls++
	}
	require.Greater(t, calls, 2)
	require.Len(t, r.now(), 503_000)
}

// TestAscendingBatchesAreNotRewritten is that segments which nothing overlaps
// move as they are.
func TestAscendingBatchesAreNotRewritten(t *testing.T) {
	r := newRig(t, devicetest.CPU(t), words)
	work, n := 0, 0
	for range 40 {
		keys := make([]uint64, 10_000)
		for i := range keys {
			keys[i] = uint64(n)
			n++
		}
		c := r.x.draft(r.s)
		_, err := c.apply(r.upload(keys, keys, index.Insert))
		require.NoError(t, c.end(err))
		work += c.work
	}
	require.Less(t, work, 3*n)
	r.check()
}

// TestEdges has the least and the greatest key and row, which are like any other.
func TestEdges(t *testing.T) {
	r := newRig(t, devicetest.CPU(t), words)
	keys, rows := []uint64{0, 0, math.MaxUint64, math.MaxUint64}, []uint64{0, math.MaxUint64, 0, math.MaxUint64}
	r.apply(keys, rows, index.Insert)
	r.apply(keys, rows, index.Insert)
	require.Equal(t, rows, r.now())
	r.apply(keys[1:3], rows[1:3], index.Delete)
	require.Equal(t, []uint64{0, math.MaxUint64}, r.now())
	r.check()
}
