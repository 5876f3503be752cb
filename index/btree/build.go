package btree

import (
	"slices"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/change"
	"github.com/gpusql/gpusql/index/page"
)

// build makes a tree of a batch when there is none: leaves over the cores, then
// one level of inner nodes after the other.
func (t *tree[W]) build(s device.Stream, w *work) error {
	if err := w.onlyLive(s); err != nil || len(w.items) == 0 {
		return err
	}
	live := w.items
	levels := t.planBuild(w, len(live))
	w.dropped, w.retired = w.dropped[:0], w.retired[:0]
	if err := t.takeBuild(s, w); err != nil {
		return err
	}
	if err := spread(s, int(levels[0].hi), func(lo, hi int) { t.buildLeaves(w, len(live), int(levels[0].hi), lo, hi) }); err != nil {
		t.abandon(w)
		return err
	}
	for i := int32(1); i < levels[0].hi; i++ {
		w.pieces[i].bound = between[W](t.layout, nodeAt(w.pages, w.pieces[i-1].page), nodeAt(w.pages, w.pieces[i].page))
	}
	w.pieces[0].bound = place{rest: t.layout.zeros}
	for i := 1; i < len(levels); i++ {
		below := unit{pieces: levels[i-1]}
		w.kids = t.kidsOf(w, w.kids[:0], &below, w.pieces[below.pieces.lo].bound)
		t.writeInner(w, &unit{pieces: levels[i]}, w.kids)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	top := w.pieces[len(w.pieces)-1].page
	t.publish(w, root{top: top, height: len(levels), entries: int64(len(live)), seq: w.birth})
	return nil
}

// onlyLive leaves deletions out of the items.
func (w *work) onlyLive(s device.Stream) error {
	if w.plain && w.op == index.Insert {
		return nil
	}
	live := w.items[:0]
	err := change.Pieces(s, len(w.items), func(lo, hi int) {
		for _, x := range w.items[lo:hi] {
			if !w.dead(x) {
				live = append(live, x)
			}
		}
	})
	w.items = live
	return err
}

// planBuild makes the pieces of all levels, the leaves' first. Nodes have some
// room left, for what comes later.
func (t *tree[W]) planBuild(w *work, n int) (levels []span) {
	l := t.layout
	w.pieces = slices.Grow(w.pieces[:0], n/(l.leaf.cap*3/4)+16)
	for {
		fill, s := l.leaf.cap*4/5, l.leaf
		if len(levels) > 0 {
			fill, s = l.inner.cap*7/8, l.inner
		}
		from := int32(len(w.pieces))
		k := (n + fill - 1) / fill
		for i := range k {
			w.pieces = append(w.pieces, piece{count: int32(n*(i+1)/k - n*i/k), shape: s})
		}
		levels = append(levels, span{from, int32(len(w.pieces))})
		if k == 1 {
			return levels
		}
		n = k
	}
}

// takeBuild is take, of all entries.
func (t *tree[W]) takeBuild(s device.Stream, w *work) error {
	if err := t.take(s, w); err != nil {
		return err
	}
	w.tails = w.tails[:0]
	if t.layout.format.Long {
		w.tails = append(w.tails, make([]device.Ptr, len(w.items))...)
		var failed error
		err := change.Pieces(s, len(w.items), func(lo, hi int) {
			for i := lo; i < hi && failed == nil; i++ {
				failed = t.copyTail(s, w, i)
			}
		})
		if err == nil {
			err = failed
		}
		if err != nil {
			t.abandon(w)
			return err
		}
	}
	return nil
}

// abandon takes a build back. When no snapshot has a part of the store that is
// all there is in it, and need not be given back one by one.
func (t *tree[W]) abandon(w *work) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.held) > 0 {
		t.store.Give(w.fresh)
		t.tails.free(w.tails)
		return
	}
	t.store.Close()
	t.store = page.New(t.mem)
	t.tails.store, t.tails.part = t.store, [len(slotWords)]page.Number{}
}

// buildLeaves writes leaves lo to hi of k, which share n items evenly.
func (t *tree[W]) buildLeaves(w *work, n, k, lo, hi int) {
	for i := lo; i < hi; i++ {
		o := writer[W]{l: t.layout, w: w, pieces: w.pieces[i : i+1]}
		for j, end := n*i/k, n*(i+1)/k; j < end; {
			j += o.putLine(j, end)
		}
		o.close()
	}
}
