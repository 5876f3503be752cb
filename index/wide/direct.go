package wide

import (
	"github.com/gpusql/gpusql/device"
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

// kept is memory that batches count with, which is clear between them: so none has to
// clear it first. Where that is not sure it is given back.
type kept struct {
	buffer  *device.Buffer
	batches int
}

func (k *kept) release() {
	k.buffer.Release()
	*k = kept{}
}

// room sees to it that there are n bytes, and numbers the batch.
func (k *kept) room(mem device.Allocator, s device.Stream, n int) (device.Ptr, int, error) {
	if k.buffer == nil || k.buffer.Len() < n {
		b, err := mem.Alloc(n)
		if err != nil {
			return 0, 0, err
		}
		if err := kernels.Zero(s, b.Ptr(), b.Len()); err != nil {
			b.Release()
			return 0, 0, err
		}
		k.release()
		k.buffer = b
	}
	k.batches++
	return k.buffer.Ptr(), k.batches, nil
}

// direct makes the next state in two launches, and waits once. It is nil if the
// batch turns out to be none for this way.
func (w *write) direct(e index.Entries) (*state, error) {
	n := e.Keys.N
	a := kernels.TreeDirect{From: w.last.tree, N: uint64(n), Keys: e.Keys.Data, Rows: e.Rows, Ops: e.Ops, Op: uint32(e.Op)}
	var err error
	if a.Next, err = w.room.one(4 * n); err != nil {
		return nil, err
	}
	likely := n*w.t.next.slots/256 + 64
	w.totals.Leaves = uint64(max(likely, w.free(w.last.slots)))
	most := w.last.tree.Leaves() + likely/2
	for {
		next, met, err := w.settled(&a, most)
		if err == nil && met.Other|met.Long == 0 && met.Fits(&a) {
			w.t.next.slots = max(256, met.Slots()*(256+32)/n)
			w.totals.Leaves, w.totals.Groups = uint64(met.Slots()), uint32(met.Groups())
			return w.trim(next, &met), nil
		}
		w.undo(next)
		w.t.keep(func() { w.t.kept.release() })
		if err != nil || met.Other|met.Long != 0 {
			w.t.next.packed, w.t.next.mixed = met.Long != 0, w.t.next.mixed || met.Other != 0
			w.totals = kernels.TreeTotals{}
			return nil, err
		}
		w.totals.Leaves, most = uint64(met.Slots()), met.Leaves()
	}
}

// keep is for what Stats looks at, too.
func (t *tree) keep(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}

// settled tries to write the next state with some slots and most leaves.
func (w *write) settled(a *kernels.TreeDirect, most int) (next *state, met kernels.TreeMet, err error) {
	w.t.keep(func() {
		var at device.Ptr
		var batch int
		if n := w.last.tree.Leaves(); w.t.kept.buffer == nil || n > w.t.most {
			w.t.most = n + n/8
		}
		at, batch, err = w.t.kept.room(w.t.mem, w.s, kernels.DirectKept(w.t.most))
		a.Keep(at, batch, w.t.most)
	})
	next = &state{tree: kernels.Tree{Form: w.last.tree.Form}}
	if err != nil {
		return next, met, err
	}
	if err := a.Meet(w.s); err != nil {
		return next, met, err
	}
	if err := w.takeSlots(next); err != nil {
		return next, met, err
	}
	if next.directory, err = w.t.mem.Alloc(next.tree.Lay(most, 0)); err != nil {
		return next, met, err
	}
	next.tree.Lay(most, next.directory.Ptr())
	x := w.slots
	a.To, a.Most, a.Slots = next.tree, uint32(most), uint32(w.totals.Leaves)
	a.Ring, a.Head, a.Tail, a.Mask = x.ring.Ptr(), x.head, x.tail, x.mask()
	if err := a.Settle(w.s); err != nil {
		return next, met, err
	}
	one := make([]kernels.TreeMet, 1)
	err = w.s.Download(bytesOf(one), a.Totals)
	return next, one[0], err
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
