package wide

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// spell puts what upserts remove from the tree before the batch, as deletions. A
// batch without upserts, or whose keys are new, stays as it is.
func (t *tree) spell(s device.Stream, room *room, last *state, e index.Entries) (index.Entries, error) {
	if last.tree.Entries == 0 || e.Ops == 0 && e.Op != index.Upsert {
		return e, nil
	}
	n := e.Keys.N
	r := kernels.TreeRead{T: last.tree, N: uint64(n), LoKeys: e.Keys.Data, HiKeys: e.Keys.Data, HiAfter: 1,
		Ops: e.Ops, Only: uint32(index.Upsert)}
	offsets, err := room.one(8 * (n + 1))
	if err != nil {
		return e, err
	}
	r.Offsets = offsets
	gone, err := count(s, room, &r)
	if err != nil || gone == 0 {
		return e, err
	}
	size, all := t.format.Size(), gone+n
	out := index.Entries{Keys: index.Keys{N: all}}
	var p places
	p.add(&out.Keys.Data, size*all)
	p.add(&out.Rows, 8*all)
	p.add(&out.Ops, all)
	if err := room.take(&p); err != nil {
		return e, err
	}
	r.Keys, r.Rows = out.Keys.Data, out.Rows
	if err := r.Fill(s, gone); err != nil {
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
