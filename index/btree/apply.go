package btree

import (
	"fmt"
	"slices"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/page"
	"github.com/gpusql/gpusql/kernels"
)

// smallBatch is the most entries of an Apply that may change nodes in place
// while new snapshots wait: some 20 ms at most. A larger one writes all it
// changes anew, which costs it little, for it changes much of a leaf at once.
const smallBatch = 1 << 16

// The fewest items or leaves that are worth a core of their own, inner nodes that a
// batch is split among, and units.
const (
	splitItems = 1024
	splitNodes = 128
	splitUnits = 16
)

// work is the state of one Apply. Its memory is used again.
type work struct {
	batch
	pages   table
	pin     uint64 // nodes born up to here may be read by snapshots
	birth   uint64 // of nodes that are made
	groups  [][]group
	parts   [][]group // of one level, a core each; the first one's is groups'
	units   [][]unit
	inPlace [][]int32
	growth  []unit
	pieces  []piece
	places  []at
	sizes   []int32
	fresh   []page.Number
	retired []page.Number
	kids    []kid
	tails   []device.Ptr // of item i, in the tree's memory, if it changes something
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
	if err := w.load(s, t.mem, t.layout, e); err != nil {
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

// spread runs f over n things, on several cores when they are many: leaves, or
// keys that are looked for, some thousand a launch and core.
func spread(s device.Stream, n int, f func(lo, hi int)) error {
	if n < 2*splitItems {
		f(0, n)
		return nil
	}
	size := max(64, kernels.PieceItems(s)/8) * max(1, s.Device().Traits().Streams)
	for lo := 0; lo < n; lo += size {
		if err := device.Launch(s, &steps, min(size, n-lo), func(from, to int) { f(lo+from, lo+to) }); err != nil {
			return err
		}
	}
	return nil
}

// spreadNodes is spread for n things of which some are worth a core, as nodes of many
// entries are: as many cores share them as have so many.
func spreadNodes(s device.Stream, n, some int, f func(part, lo, hi int)) (parts int, err error) {
	parts = max(1, min(s.Device().Traits().Streams, n/some))
	if parts == 1 {
		f(0, 0, n)
		return parts, nil
	}
	return parts, spread(s, parts*splitItems, func(lo, hi int) {
		for p := lo / splitItems; p < hi/splitItems; p++ {
			f(p, p*n/parts, (p+1)*n/parts)
		}
	})
}

// steps is the kernel of the tree's parallel parts: what they do is a function,
// for this tree is the CPU's.
var steps = device.Kernel[func(lo, hi int)]{Name: "btree", Split: splitItems, Host: func(f *func(lo, hi int), lo, hi int) { (*f)(lo, hi) }}

// change applies a batch to a tree that has entries.
//
//	locate   the leaf of each item                          reads only
//	leaves   places; in place where there is room and no    over the cores; can be
//	         snapshot: each leaf has one owner              taken back; with locate if it
//	                                                        is little and takes no memory
//	plan     units of new nodes for the others, and what
//	         that means for the levels above
//	take     memory for all of them
//	units    are written                                    over the cores; the last to fail
//	carry    into the levels above
//	publish  the new root; what came out is retired
func (t *tree[W]) change(s device.Stream, w *work) error {
	w.pages = page.Slots(t.pages)
	places, err := room[at](&w.batch, t.mem, len(w.items))
	if err != nil {
		return err
	}
	w.places = places
	small := len(w.items) <= smallBatch
	if w.pin = t.root.seq; small {
		t.mu.Lock()
		defer t.mu.Unlock()
		w.pin = 0
		if n := len(t.held); n > 0 {
			w.pin = t.held[n-1].seq
		}
	}
	if small && !t.layout.format.Long {
		err = t.locate(s, w, func(leaves []group) { t.changeLeaves(w, leaves) })
	} else {
		if err := t.locate(s, w, nil); err != nil {
			return err
		}
		if err := t.takeTails(s, w); err != nil {
			return err
		}
		leaves := w.groups[t.root.height-1]
		err = spread(s, len(leaves), func(lo, hi int) { t.changeLeaves(w, leaves[lo:hi]) })
	}
	if err == nil {
		t.planAll(w)
		err = t.writeUnits(s, w)
	}
	if err != nil {
		t.undoLeaves(w)
		t.freeTails(w)
		return err
	}
	next := t.carry(w)
	next.entries, next.seq = t.root.entries, w.birth
	for i, leaves := 0, w.groups[t.root.height-1]; i < len(leaves); i++ {
		if leaves[i].writes > 0 {
			next.entries += int64(leaves[i].count - leaves[i].had)
		}
	}
	if !small {
		t.mu.Lock()
		defer t.mu.Unlock()
	}
	t.publish(w, next)
	return nil
}

// planAll plans all levels.
func (t *tree[W]) planAll(w *work) {
	height := t.root.height
	w.pieces, w.retired = w.pieces[:0], w.retired[:0]
	for len(w.inPlace) < height {
		w.inPlace = append(w.inPlace, nil)
	}
	for d := height - 1; d >= 0; d-- {
		w.inPlace[d] = w.inPlace[d][:0]
		t.plan(w, d)
	}
	t.grow(w)
}

// writeUnits takes the pages of all units, and writes those of leaves.
func (t *tree[W]) writeUnits(s device.Stream, w *work) error {
	if err := t.take(s, w); err != nil {
		return err
	}
	units := w.units[t.root.height-1]
	_, err := spreadNodes(s, len(units), splitUnits, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			t.writeUnit(w, &units[i])
		}
	})
	if err != nil {
		t.store.Give(w.fresh)
	}
	return err
}

// take gets the pages of all pieces.
func (t *tree[W]) take(s device.Stream, w *work) error {
	w.sizes = slices.Grow(w.sizes[:0], len(w.pieces))
	for i := range w.pieces {
		w.sizes = append(w.sizes, int32(w.pieces[i].shape.bytes))
	}
	w.fresh = slices.Grow(w.fresh[:0], len(w.pieces))[:len(w.pieces)]
	if err := t.store.Take(s, w.sizes, w.fresh); err != nil {
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
