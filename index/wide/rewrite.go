package wide

import (
	"context"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
)

// tidy writes all entries anew when the latest state alone is left and takes far
// more room than it needs: leaves are half empty, or slots unused, or tails of
// entries that went. There being no memory for that is no failure of a batch: it
// is tried again after the next.
func (t *tree) tidy(s device.Stream) error {
	t.mu.Lock()
	st, alone := t.latest(), len(t.states) == 1
	t.mu.Unlock()
	if st.tree.Entries == 0 {
		t.deleted = 0
		return nil
	}
	const few = 256 // leaves that are not worth it
	leaves, entries := st.tree.Leaves(), int(st.tree.Entries)
	sparse := leaves > few && leaves*kernels.TreeLeaf > 2*entries+2*entries/8
	unused := st.slots.count > 2*leaves+few
	dead := t.format.Long && t.deleted > uint64(entries)+few
	if !alone || !sparse && !unused && !dead {
		return nil
	}
	_, err := t.rewrite(s, st, st.tree.Form.Wide != 0)
	return err
}

// rewrite is a state with the entries of the latest one, in leaves that are full,
// which takes its place.
func (t *tree) rewrite(s device.Stream, last *state, wide bool) (*state, error) {
	room := &room{mem: t.mem}
	defer room.release()
	leaves := (int(last.tree.Entries) + fill - 1) / fill
	next := &state{version: last.version, tree: kernels.Tree{Form: t.form(wide), Entries: last.tree.Entries}}
	w := &write{t: t, s: s, room: room, last: last, slots: newSlots(t.mem, int(t.form(wide).Block))}
	w.totals.Leaves = uint64(leaves)
	if err := w.rewrite(next, leaves); err != nil {
		w.undo(next)
		return nil, err
	}
	w.settle(next)
	t.publish(next)
	t.deleted = 0
	return next, nil
}

const fill = kernels.TreeLeaf - 1 // entries of a leaf when many are written

func (w *write) rewrite(next *state, leaves int) error {
	x := w.slots
	if err := x.grow(w.s, leaves); err != nil {
		return err
	}
	directory, err := w.t.mem.Alloc(next.tree.Lay(leaves, 0))
	if err != nil {
		return err
	}
	next.directory, next.slots = directory, x
	next.tree.Lay(leaves, directory.Ptr())
	next.tree.Slots = x.table.Ptr()
	a := &w.args
	a.From, a.To = w.last.tree, next.tree
	a.Ring, a.Head, a.Mask = x.ring.Ptr(), x.head, x.mask()
	if a.From.Form.Long != 0 {
		if next.tails, err = w.tails.copy(w.s, w.room, a, nil, int(a.From.Entries), a.EntryTails); err != nil {
			return err
		}
	}
	if err := a.All(w.s); err != nil {
		return err
	}
	if err := a.Upper(w.s); err != nil {
		return err
	}
	return w.s.Wait(context.Background())
}
