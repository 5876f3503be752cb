package indextest

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/index"
)

// entry is key number n of the space, with a row.
type entry struct {
	n   int
	row uint64
}

func (e entry) compare(o entry) int {
	return cmp.Or(cmp.Compare(e.n, o.n), cmp.Compare(e.row, o.row))
}

// change is an entry and what happens to it.
type change struct {
	entry
	op index.Op
}

// rig is an index and the sorted slice that it must agree with.
type rig struct {
	t       *testing.T
	sp      space
	kind    index.Kind
	mem     device.Allocator
	s       device.Stream
	x       index.Index
	batch   *index.Batch
	entries []entry
	version index.Version
	asker   *asker
}

// newRig makes an empty index. Everything is given back at the test's end.
func newRig(t *testing.T, d device.Device, k index.Kind, sp space) *rig {
	x, err := k.New(d, sp.format)
	require.NoError(t, err)
	r := &rig{t: t, sp: sp, kind: k, mem: d, s: devicetest.Stream(t, d), x: x, batch: index.NewBatch(d, sp.format)}
	r.asker = r.newAsker(r.s)
	t.Cleanup(func() {
		r.batch.Release()
		r.asker.release()
		require.NoError(t, x.Close())
	})
	return r
}

// upload makes entries of changes.
func (r *rig) upload(all []change) (index.Entries, error) {
	r.batch.Reset()
	mixed := false
	for _, c := range all {
		r.batch.Add(r.sp.key(c.n))
		r.batch.Rows = append(r.batch.Rows, c.row)
		r.batch.Ops = append(r.batch.Ops, c.op)
		mixed = mixed || c.op != all[0].op
	}
	if !mixed {
		r.batch.Ops = r.batch.Ops[:0]
	}
	e, err := r.batch.Upload(r.s)
	if len(all) > 0 {
		e.Op = all[0].op
	}
	return e, err
}

// apply changes the index and the slice.
func (r *rig) apply(all ...change) {
	r.t.Helper()
	e, err := r.upload(all)
	require.NoError(r.t, err)
	r.version++
	require.NoError(r.t, r.x.Apply(r.s, r.version, e))
	r.entries = after(r.entries, all)
	require.NoError(r.t, r.x.Check(r.s))
	require.EqualValues(r.t, len(r.entries), r.x.Stats().Entries, "Stats().Entries")
}

// after is what a sorted slice becomes by changes, one after the other.
func after(old []entry, all []change) []entry {
	set := make(map[entry]bool, len(old))
	rows := map[int][]uint64{} // every row that a key had
	note := func(e entry) {
		if !set[e] {
			set[e] = true
			rows[e.n] = append(rows[e.n], e.row)
		}
	}
	for _, e := range old {
		note(e)
	}
	for _, c := range all {
		switch c.op {
		case index.Delete:
			delete(set, c.entry)
		case index.Upsert:
			for _, row := range rows[c.n] {
				delete(set, entry{c.n, row})
			}
			note(c.entry)
		default:
			note(c.entry)
		}
	}
	out := make([]entry, 0, len(set))
	for e := range set {
		out = append(out, e)
	}
	slices.SortFunc(out, entry.compare)
	return out
}

// random makes a batch of up to size changes about the entries that are there.
func (r *rig) random(rnd *rand.Rand, size int) []change {
	all := make([]change, rnd.IntN(size)+1)
	for i := range all {
		c := change{entry: entry{rnd.IntN(r.sp.size), randomRow(rnd)}, op: index.Op(rnd.IntN(3))}
		if c.op == index.Upsert && rnd.IntN(4) > 0 {
			c.op = index.Insert
		}
		if c.op == index.Delete && len(r.entries) > 0 && rnd.IntN(4) > 0 {
			c.entry = r.entries[rnd.IntN(len(r.entries))]
		}
		if i > 0 && rnd.IntN(8) == 0 {
			c.entry = all[i-1].entry // the last write wins
		}
		all[i] = c
	}
	return all
}

func randomRow(rnd *rand.Rand) uint64 {
	if rnd.IntN(20) == 0 {
		return 1<<64 - 1
	}
	return uint64(rnd.IntN(30))
}

// snapshot is the index now.
func (r *rig) snapshot() index.Snapshot {
	sn, err := r.x.Snapshot(index.Latest)
	require.NoError(r.t, err)
	return sn
}

// compare asks a snapshot of now every kind of question.
func (r *rig) compare(rnd *rand.Rand) {
	r.t.Helper()
	sn := r.snapshot()
	defer sn.Release()
	r.asker.all(r.t, sn, r.entries, rnd)
}

// words64 reads n numbers from the device.
func words64(s device.Stream, p device.Ptr, n int) ([]uint64, error) {
	out := make([]uint64, n)
	if n == 0 {
		return out, nil
	}
	return out, s.Download(unsafe.Slice((*byte)(unsafe.Pointer(&out[0])), 8*n), p)
}

// keyBytes reads key i at p as bytes, padded with zeros to whole words.
func keyBytes(s device.Stream, f index.Format, p device.Ptr, i int) ([]byte, error) {
	p += device.Ptr(i * f.Size())
	if f.Narrow {
		var b [4]byte
		err := s.Download(b[:], p)
		return binary.BigEndian.AppendUint32(nil, binary.NativeEndian.Uint32(b[:])), err
	}
	words, err := words64(s, p, f.Size()/8)
	if err != nil {
		return nil, err
	}
	if f.Long {
		tail := device.Ptr(words[f.Words])
		words = words[:f.Words]
		if tail != 0 {
			n, err := words64(s, tail, 1)
			if err != nil {
				return nil, err
			}
			more, err := words64(s, tail+8, int(n[0]))
			if err != nil {
				return nil, err
			}
			words = append(words, more...)
		}
	}
	var out []byte
	for _, w := range words {
		out = binary.BigEndian.AppendUint64(out, w)
	}
	return out, nil
}

// padded is a key's bytes as keyBytes has them.
func (sp space) padded(n int) []byte {
	b := slices.Clone(sp.key(n))
	if sp.format.Narrow {
		return b
	}
	for len(b) < 8*sp.format.Words || len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}
