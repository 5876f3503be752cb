package wide

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// owned is a question for the entries that keys of upserts have.
type owned interface {
	// count finds them, and returns how many there are.
	count(s device.Stream, room *room) (int, error)
	// fill writes them.
	fill(s device.Stream, keys, rows device.Ptr) error
}

// spell puts what upserts remove from the index before the batch, as deletions. A
// batch without upserts, or whose keys are new, stays as it is.
func spell(s device.Stream, room *room, f index.Format, q owned, e index.Entries) (index.Entries, error) {
	gone, err := q.count(s, room)
	if err != nil || gone == 0 {
		return e, err
	}
	n := e.Keys.N
	size, all := f.Size(), gone+n
	out := index.Entries{Keys: index.Keys{N: all}}
	var p places
	p.add(&out.Keys.Data, size*all)
	p.add(&out.Rows, 8*all)
	p.add(&out.Ops, all)
	if err := room.take(&p); err != nil {
		return e, err
	}
	if err := q.fill(s, out.Keys.Data, out.Rows); err != nil {
		return e, err
	}
	if err := kernels.Copy(s, out.Keys.Data+device.Ptr(size*gone), e.Keys.Data, size*n); err != nil {
		return e, err
	}
	if err := kernels.Copy(s, out.Rows+device.Ptr(8*gone), e.Rows, 8*n); err != nil {
		return e, err
	}
	if err := kernels.Fill(s, out.Ops, uint8(index.Delete), gone); err != nil {
		return e, err
	}
	if e.Ops == 0 {
		return out, kernels.Fill(s, out.Ops+device.Ptr(gone), uint8(e.Op), n)
	}
	return out, kernels.Copy(s, out.Ops+device.Ptr(gone), e.Ops, n)
}

// treeOwned asks a tree.
type treeOwned struct {
	r    kernels.TreeRead
	gone answers
}

func (q *treeOwned) count(s device.Stream, room *room) (n int, err error) {
	q.gone, err = count(s, room, &q.r)
	return q.gone.total, err
}

func (q *treeOwned) fill(s device.Stream, keys, rows device.Ptr) error {
	q.r.Keys, q.r.Rows = keys, rows
	return q.r.Fill(s, q.gone.total, q.gone.longest)
}

// spell is for a state of a tree.
func (t *tree) spell(s device.Stream, room *room, last *state, e index.Entries) (index.Entries, error) {
	if last.tree.Entries == 0 || e.Ops == 0 && e.Op != index.Upsert {
		return e, nil
	}
	q := &treeOwned{r: kernels.TreeRead{T: last.tree, N: uint64(e.Keys.N), LoKeys: e.Keys.Data, HiKeys: e.Keys.Data, HiAfter: 1,
		Ops: e.Ops, Only: uint32(index.Upsert)}}
	var err error
	if q.r.Offsets, err = room.one(8 * (e.Keys.N + 1)); err != nil {
		return e, err
	}
	return spell(s, room, t.format, q, e)
}
