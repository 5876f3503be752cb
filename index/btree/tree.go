package btree

import (
	"sync"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/page"
)

// Kind is USING btree.
func Kind() index.Kind { return index.Kind{Name: "btree", New: New} }

// root is a published state of a tree.
type root struct {
	top     page.Number
	height  int // levels; 0: there are no entries
	entries int64
	seq     uint64 // of the Apply that made it
}

// tree is an index whose nodes hold first words of type W.
type tree[W word] struct {
	layout *layout
	mem    device.Allocator
	store  *page.Store
	tails  tails
	work   work      // of Apply
	pool   sync.Pool // of *[]spot

	mu      sync.Mutex // of what follows; held by a small Apply while it changes nodes
	root    root
	pages   device.Ptr // the table of the store
	applied index.Version
	held    []*epoch // what snapshots hold, oldest first
}

// epoch is a state that snapshots hold.
type epoch struct {
	seq   uint64
	refs  int
	dead  []page.Number // nodes that came out of the tree since, before the next epoch
	tails []device.Ptr
}

// New returns an empty tree.
func New(mem device.Allocator, f index.Format) (index.Index, error) {
	if f.Narrow {
		return newTree[uint32](mem, f), nil
	}
	return newTree[uint64](mem, f), nil
}

func newTree[W word](mem device.Allocator, f index.Format) *tree[W] {
	t := &tree[W]{layout: newLayout(f), mem: mem, store: page.New(mem)}
	t.tails.store = t.store
	return t
}

// Snapshot is the tree as it is now.
func (t *tree[W]) Snapshot(index.Version) (index.Snapshot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var e *epoch
	if n := len(t.held); n > 0 && t.held[n-1].seq == t.root.seq {
		e = t.held[n-1]
	} else {
		e = &epoch{seq: t.root.seq}
		t.held = append(t.held, e)
	}
	e.refs++
	return &snapshot[W]{t: t, root: t.root, pages: page.Slots(t.pages), epoch: e}, nil
}

// release ends a snapshot. What only it could read is given back, what an older
// one can read passes to that.
func (t *tree[W]) release(e *epoch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.refs--; e.refs > 0 {
		return
	}
	i := 0
	for t.held[i] != e {
		i++
	}
	t.held = append(t.held[:i], t.held[i+1:]...)
	if i == 0 {
		t.store.Give(e.dead)
		t.tails.free(e.tails)
		return
	}
	older := t.held[i-1]
	older.tails = append(older.tails, e.tails...)
	pages, gone := page.Slots(t.pages), e.dead[:0]
	for _, n := range e.dead {
		if nodeAt(pages, n).birth() <= older.seq {
			older.dead = append(older.dead, n)
		} else {
			gone = append(gone, n)
		}
	}
	t.store.Give(gone)
}

// retire takes nodes and tails out of the tree. t.mu is held.
func (t *tree[W]) retire(nodes []page.Number, dead []device.Ptr) {
	n := len(t.held)
	if n == 0 {
		t.store.Give(nodes)
		t.tails.free(dead)
		return
	}
	newest := t.held[n-1]
	newest.tails = append(newest.tails, dead...)
	pages, gone := page.Slots(t.pages), nodes[:0]
	for _, n := range nodes {
		if nodeAt(pages, n).birth() <= newest.seq {
			newest.dead = append(newest.dead, n)
		} else {
			gone = append(gone, n)
		}
	}
	t.store.Give(gone)
}

// Prune has nothing to do: nodes go when the last snapshot that reads them does.
func (t *tree[W]) Prune(device.Stream, index.Version) error { return nil }

// Stats are the size.
func (t *tree[W]) Stats() index.Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	held, _ := t.store.Bytes()
	return index.Stats{Entries: t.root.entries, Bytes: held, Height: t.root.height, Applied: t.applied, Oldest: t.applied}
}

// Close gives all memory back.
func (t *tree[W]) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.work.release()
	t.store.Close()
	t.root, t.held = root{seq: t.root.seq}, nil
	return nil
}
