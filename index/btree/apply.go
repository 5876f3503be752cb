package btree

import (
	"fmt"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/page"
)

// smallBatch is the most entries of an Apply that may change nodes in place
// while new snapshots wait: some milliseconds. A larger one writes all it
// changes anew, which costs it little, for it changes much of a leaf at once.
const smallBatch = 1 << 15

// splitItems is the fewest items or leaves that are worth a core of their own.
const splitItems = 1024

// work is the state of one Apply. Its memory is used again.
type work struct {
	batch
	pages   table
	pin     uint64 // nodes born up to here may be read by snapshots
	birth   uint64 // of nodes that are made
	groups  [][]group
	units   [][]unit
	inPlace [][]int32
	growth  []unit
	pieces  []piece
	places  []at
	sizes   []int32
	fresh   []page.Number
	retired []page.Number
	kids    []kid
	tails   []device.Ptr // of item i, in the tree's memory, if it is inserted
	dropped []device.Ptr // tails that the tree has one use less of
}

// keptItems bounds the memory that is kept from one Apply to the next.
const keptItems = 1 << 16

func (w *work) release() {
	w.batch.release()
	*w = work{}
}

// end gives back what should not wait for the next Apply.
func (w *work) end() {
	if w.n > keptItems {
		w.release()
		return
	}
	w.batch.release()
}

// Apply changes the tree by a batch.
func (t *tree[W]) Apply(s device.Stream, v index.Version, e index.Entries) error {
	if v < t.applied {
		return fmt.Errorf("btree: version %d applied after %d: %w", v, t.applied, index.ErrVersion)
	}
	w := &t.work
	defer w.end()
	e, err := t.spell(w, e)
	if err != nil {
		return err
	}
	if err := w.load(t.mem, t.layout, e); err != nil {
		return err
	}
	w.birth = t.root.seq + 1
	if t.root.height == 0 {
		err = t.build(s, w)
	} else if len(w.items) > 0 {
		err = t.change(s, w)
	}
	if err == nil {
		t.mu.Lock()
		t.applied = v
		t.mu.Unlock()
	}
	return err
}

// spread runs f over n things, on several cores when they are many.
func spread(s device.Stream, n int, f func(lo, hi int)) error {
	if n < 2*splitItems {
		f(0, n)
		return nil
	}
	return device.Launch(s, &steps, n, f)
}

// steps is the kernel of the tree's parallel parts: what they do is a function,
// for this tree is the CPU's.
var steps = device.Kernel[func(lo, hi int)]{Name: "btree", Split: splitItems, Host: func(f *func(lo, hi int), lo, hi int) { (*f)(lo, hi) }}

// change applies a batch to a tree that has entries.
//
//	locate   the leaf of each item, and its place there   reads only
//	plan     in place, or units of new nodes, level by level
//	take     all memory                                    the last thing to fail
//	leaves   each has one owner                            over the cores
//	carry    units into the levels above
//	publish  the new root; what came out is retired
func (t *tree[W]) change(s device.Stream, w *work) error {
	w.pages = page.Slots(t.pages)
	places, err := room[at](&w.batch, t.mem, len(w.items))
	if err != nil {
		return err
	}
	w.places = places
	t.locate(w)
	leaves := w.groups[t.root.height-1]
	if err := spread(s, len(leaves), func(lo, hi int) { t.inLeaves(w, lo, hi) }); err != nil {
		return err
	}
	if len(w.items) > smallBatch {
		w.pin = t.root.seq
	} else {
		t.mu.Lock()
		defer t.mu.Unlock()
		w.pin = 0
		if n := len(t.held); n > 0 {
			w.pin = t.held[n-1].seq
		}
	}
	delta, writes := t.planAll(w)
	if writes == 0 {
		return nil
	}
	if err := t.take(s, w); err != nil {
		return err
	}
	if err := t.writeLeaves(s, w); err != nil {
		t.store.Give(w.fresh)
		t.tails.free(w.tails)
		return err
	}
	next := t.carry(w)
	next.entries, next.seq = t.root.entries+delta, w.birth
	if len(w.items) > smallBatch {
		t.mu.Lock()
		defer t.mu.Unlock()
	}
	t.publish(w, next)
	return nil
}

// planAll plans all levels, and returns by how much entries grow and how many
// items change anything.
func (t *tree[W]) planAll(w *work) (delta int64, writes int) {
	height := t.root.height
	leaves := w.groups[height-1]
	for i := range leaves {
		writes += int(leaves[i].writes)
		if leaves[i].writes > 0 {
			delta += int64(leaves[i].count) - int64(nodeAt(w.pages, leaves[i].page).len())
		}
	}
	w.pieces, w.retired, w.dropped = w.pieces[:0], w.retired[:0], w.dropped[:0]
	for len(w.inPlace) < height {
		w.inPlace = append(w.inPlace, nil)
	}
	for d := height - 1; d >= 0; d-- {
		w.inPlace[d] = w.inPlace[d][:0]
		t.plan(w, d)
	}
	t.grow(w)
	return delta, writes
}

// take gets the pages of all pieces and copies the tails of what is inserted.
func (t *tree[W]) take(s device.Stream, w *work) error {
	w.sizes = w.sizes[:0]
	for i := range w.pieces {
		w.sizes = append(w.sizes, int32(w.pieces[i].shape.bytes))
	}
	w.fresh = append(w.fresh[:0], make([]page.Number, len(w.pieces))...)
	if err := t.store.Take(s, w.sizes, w.fresh); err != nil {
		return err
	}
	if err := t.takeTails(s, w); err != nil {
		t.store.Give(w.fresh)
		return err
	}
	w.pages = page.Slots(t.store.Table())
	for i := range w.pieces {
		w.pieces[i].page = w.fresh[i]
	}
	return nil
}

// publish makes the new state the tree's. t.mu is held.
func (t *tree[W]) publish(w *work, next root) {
	t.root, t.pages = next, t.store.Table()
	t.retire(w.retired, t.tails.drop(w.dropped))
}
