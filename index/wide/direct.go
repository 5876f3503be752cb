package wide

import (
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// guess is what a tree expects of its next batch.
type guess struct {
	packed bool // changes that lie close together: lists would be long
	mixed  bool // changes of all kinds: there may be upserts
	slots  int  // that 256 changes take
}

// direct says whether a batch may be applied without being put in order: its keys
// are of one word, and leaves have few of its changes each, as far as is known.
func (t *tree) direct(last *state, e index.Entries) bool {
	x, n := &last.tree, e.Keys.N
	return x.Entries > 0 && x.Form.Rest == 0 && e.Op != index.Upsert && !(e.Ops != 0 && t.next.mixed) && !t.next.packed &&
		n <= min(x.Leaves(), kernels.TreeMostDirect) && int64(x.Entries)+int64(n) <= maxEntries
}

// direct makes the next state in three launches, and waits once. It is nil if the
// batch turns out to be none for this way.
func (w *write) direct(e index.Entries) (*state, error) {
	n := e.Keys.N
	a := kernels.TreeDirect{From: w.last.tree, N: uint64(n), Keys: e.Keys.Data, Rows: e.Rows, Ops: e.Ops, Op: uint32(e.Op)}
	bytes, clear, again := a.Room(0)
	at, err := w.room.one(bytes)
	if err != nil {
		return nil, err
	}
	a.Room(at)
	if err := kernels.Zero(w.s, at, clear); err != nil {
		return nil, err
	}
	if err := a.Meet(w.s); err != nil {
		return nil, err
	}
	likely := n*w.t.next.slots/256 + 64
	w.totals.Leaves = uint64(max(likely, w.free(w.last.slots)))
	most := w.last.tree.Leaves() + likely/2
	for {
		next, met, err := w.settled(&a, most)
		if err != nil || met.Other|met.Long != 0 {
			w.undo(next)
			w.t.next.packed, w.t.next.mixed = met.Long != 0, w.t.next.mixed || met.Other != 0
			w.totals = kernels.TreeTotals{}
			return nil, err
		}
		w.totals.Leaves, most = uint64(met.Slots()), met.Leaves()
		if met.Fits(&a) {
			w.t.next.slots = max(256, met.Slots()*(256+32)/n)
			w.totals.Groups = uint32(met.Groups())
			return w.trim(next, &met), nil
		}
		w.undo(next)
		if err := kernels.Zero(w.s, at, again); err != nil {
			return nil, err
		}
	}
}

// settled tries to write the next state with some slots and most leaves.
func (w *write) settled(a *kernels.TreeDirect, most int) (*state, kernels.TreeMet, error) {
	next, one := &state{tree: kernels.Tree{Form: w.last.tree.Form}}, make([]kernels.TreeMet, 1)
	if err := w.takeSlots(next); err != nil {
		return next, one[0], err
	}
	var err error
	if next.directory, err = w.t.mem.Alloc(next.tree.Lay(most, 0)); err != nil {
		return next, one[0], err
	}
	next.tree.Lay(most, next.directory.Ptr())
	x := w.slots
	a.To, a.Most, a.Slots = next.tree, uint32(most), uint32(w.totals.Leaves)
	a.Ring, a.Head, a.Tail, a.Mask = x.ring.Ptr(), x.head, x.tail, x.mask()
	if err := a.Settle(w.s); err != nil {
		return next, one[0], err
	}
	return next, one[0], w.s.Download(bytesOf(one), a.Totals)
}

// trim is the next state, once its size is known.
func (w *write) trim(next *state, met *kernels.TreeMet) *state {
	if met.Entries() == 0 {
		next.directory.Release()
		w.slots = nil
		return &state{tree: kernels.Tree{Form: w.t.form(false)}}
	}
	next.tree.Trim(met.Leaves(), met.Entries())
	return next
}

// free is how many slots of a ring there are to take.
func (w *write) free(x *slots) int { return int(w.t.readers(x) - x.head) }
