package mvcc_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/indextest"
	"github.com/gpusql/gpusql/index/mvcc"
)

func TestContract(t *testing.T) { indextest.Run(t, mvcc.Kind()) }

// rig is an index of words with what a test asks it.
type rig struct {
	t       testing.TB
	s       device.Stream
	x       index.Index
	batch   *index.Batch
	answer  *index.Answer
	version index.Version
}

// newRig makes an index with memory of mem. It is closed at the test's end.
func newRig(t testing.TB, d device.Device, mem device.Allocator) *rig {
	x, err := mvcc.New(mem, index.Format{Words: 1})
	require.NoError(t, err)
	r := clientOf(t, d, x)
	t.Cleanup(func() {
		r.close()
		require.NoError(t, x.Close())
	})
	return r
}

// clientOf is a rig for one goroutine.
func clientOf(t testing.TB, d device.Device, x index.Index) *rig {
	s, err := d.NewStream()
	require.NoError(t, err)
	return &rig{t: t, s: s, x: x, batch: index.NewBatch(d, index.Format{Words: 1}), answer: index.NewAnswer(d)}
}

func (r *rig) close() {
	r.batch.Release()
	r.answer.Release()
	require.NoError(r.t, r.s.Close())
}

// apply changes entry k of row k for n numbers k, as the next version.
func (r *rig) apply(op index.Op, n int, of func(i int) (key, row uint64)) error {
	r.batch.Reset()
	words := r.batch.Words(n)
	for i := range words {
		k, row := of(i)
		words[i] = k
		r.batch.Rows = append(r.batch.Rows, row)
	}
	e, err := r.batch.Upload(r.s)
	require.NoError(r.t, err)
	e.Op = op
	if err := r.x.Apply(r.s, r.version+1, e); err != nil {
		return err
	}
	r.version++
	return nil
}

func (r *rig) snapshot(v index.Version) index.Snapshot {
	sn, err := r.x.Snapshot(v)
	require.NoError(r.t, err)
	return sn
}

// rows are all rows of a snapshot, in order of their keys.
func (r *rig) rows(sn index.Snapshot) []uint64 {
	require.NoError(r.t, sn.Scan(r.s, index.Ranges{N: 1}, index.Order{}, r.answer))
	return r.words(r.answer.Rows())
}

// words reads a number for each row of the answer.
func (r *rig) words(p device.Ptr) []uint64 {
	out := make([]uint64, r.answer.Total)
	if len(out) > 0 {
		require.NoError(r.t, r.s.Download(unsafe.Slice((*byte)(unsafe.Pointer(&out[0])), 8*len(out)), p))
	}
	return out
}

// TestHistory: every version answers until it is pruned, and pruning gives its
// memory back.
func TestHistory(t *testing.T) {
	d := devicetest.CPU(t)
	r := newRig(t, d, d)
	const keys, versions = 5000, 200
	want := make([]uint64, keys) // of each key, the version that wrote it last
	require.NoError(t, r.apply(index.Upsert, keys, func(i int) (uint64, uint64) { return uint64(i), 1 }))
	for i := range want {
		want[i] = 1
	}
	base := r.x.Stats().Bytes
	rnd := rand.New(rand.NewPCG(1, 1))
	states := map[index.Version][]uint64{1: append([]uint64{}, want...)}
	for range versions {
		require.NoError(t, r.apply(index.Upsert, 100, func(int) (uint64, uint64) {
			k := rnd.Uint64N(keys)
			want[k] = uint64(r.version + 1)
			return k, want[k]
		}))
		states[r.version] = append([]uint64{}, want...)
	}
	full := r.x.Stats().Bytes
	require.Greater(t, full, 5*base, "versions that are kept cost memory")
	check := func(from index.Version) {
		for v := index.Version(1); v <= r.version; v += 7 {
			sn, err := r.x.Snapshot(v)
			if v < from {
				require.ErrorIs(t, err, index.ErrVersion)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, states[v], r.rows(sn), "version %d", v)
			sn.Release()
		}
		require.NoError(t, r.x.Check(r.s))
		require.Equal(t, from, max(1, r.x.Stats().Oldest))
	}
	check(1)
	require.NoError(t, r.x.Prune(r.s, r.version/2))
	require.Less(t, r.x.Stats().Bytes, full*2/3)
	check(r.version / 2)
	held := r.snapshot(r.version / 2)
	require.NoError(t, r.x.Prune(r.s, r.version))
	check(r.version)
	require.Equal(t, states[r.version/2], r.rows(held), "it is held")
	held.Release()
	require.NoError(t, r.x.Prune(r.s, r.version))
	require.Less(t, r.x.Stats().Bytes, 2*base)
	check(r.version)
}

// TestHeldSnapshot: a snapshot that is held while everything changes many times
// over reads the same, and pins no more than what it sees.
func TestHeldSnapshot(t *testing.T) {
	d := devicetest.CPU(t)
	r := newRig(t, d, d)
	const keys, size, updates = 20000, 8192, 2 << 20
	require.NoError(t, r.apply(index.Insert, keys, func(i int) (uint64, uint64) { return uint64(i) * 7, uint64(i) }))
	base := r.x.Stats().Bytes
	first := r.snapshot(r.version)
	want := r.rows(first)
	rnd := rand.New(rand.NewPCG(2, 2))
	var held []index.Snapshot
	for i := range updates / size {
		op := []index.Op{index.Upsert, index.Upsert, index.Delete}[i%3]
		require.NoError(t, r.apply(op, size, func(int) (uint64, uint64) { return rnd.Uint64N(keys * 8), uint64(i) }))
		require.NoError(t, r.x.Prune(r.s, r.version))
		if i%60 == 0 {
			held = append(held, r.snapshot(index.Latest))
			require.Equal(t, want, r.rows(first))
		}
	}
	require.Equal(t, want, r.rows(first))
	require.NoError(t, r.x.Check(r.s))
	for _, i := range rnd.Perm(len(held)) {
		held[i].Release()
		require.NoError(t, r.x.Check(r.s))
	}
	require.NoError(t, r.x.Prune(r.s, r.version))
	live := r.x.Stats().Entries
	require.Less(t, r.x.Stats().Bytes, 2*base+50*live, "what is seen, twice, and no more")
	require.NoError(t, r.x.Check(r.s))
	require.Equal(t, want, r.rows(first))
	first.Release()
	require.NoError(t, r.x.Check(r.s))
}

// snapshotOnce is a snapshot that the test's end releases.
func (r *rig) snapshotOnce() index.Snapshot {
	sn := r.snapshot(index.Latest)
	r.t.Cleanup(sn.Release)
	return sn
}

// TestOutOfMemory: a batch that does not fit leaves the index as it was, at any
// limit; with more memory it goes through.
func TestOutOfMemory(t *testing.T) {
	d := devicetest.CPU(t)
	scope := device.NewScope(d, device.ScopeOptions{Name: "index", Setting: "memory_limit"})
	defer scope.Close()
	r := newRig(t, d, scope)
	rnd := rand.New(rand.NewPCG(3, 3))
	require.NoError(t, r.apply(index.Insert, 3000, func(i int) (uint64, uint64) { return rnd.Uint64N(1 << 20), uint64(i) }))
	require.NoError(t, r.x.Prune(r.s, r.version))
	sn := r.snapshot(index.Latest)
	want := r.rows(sn)
	sn.Release()
	failed := 0
	for limit := scope.Used(); ; limit += 20 << 10 {
		scope.SetLimit(limit)
		rnd := rand.New(rand.NewPCG(4, 4))
		err := r.apply(index.Insert, 6000, func(i int) (uint64, uint64) { return rnd.Uint64N(1 << 20), uint64(i) })
		scope.SetLimit(0)
		require.NoError(t, r.x.Check(r.s))
		if err == nil {
			break
		}
		failed++
		require.ErrorIs(t, err, device.ErrNoMemory)
		sn := r.snapshot(index.Latest)
		require.Equal(t, want, r.rows(sn), fmt.Sprintf("limit %d", limit))
		sn.Release()
	}
	require.Greater(t, failed, 5)
	require.Len(t, r.rows(r.snapshotOnce()), 9000)
}
