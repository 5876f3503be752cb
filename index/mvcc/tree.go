package mvcc

import (
	"sync"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/change"
	"github.com/gpusql/gpusql/index/page"
)

// Kind is the kind of index that this package makes.
func Kind() index.Kind { return index.Kind{Name: "mvcc", History: true, New: New} }

// tree is an index with history.
type tree struct {
	mem    device.Allocator
	form   form
	store  *page.Store
	sorter *change.Sorter

	// The writer's, see index.Index.
	number  uint64 // of batches
	scratch scratch

	mu      sync.Mutex
	history history
	working int64 // bytes that the writer keeps for the next batch
	garbage int   // pages given back since the tree was packed
}

// New returns an empty index.
func New(mem device.Allocator, f index.Format) (index.Index, error) {
	return &tree{mem: mem, form: formOf(f), store: page.New(mem), sorter: change.NewSorter(mem, f),
		scratch: scratch{mem: mem}, history: newHistory()}, nil
}

// now is the latest state.
func (x *tree) now() *state {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.history.latest()
}

// publish makes a batch visible.
func (x *tree) publish(s *state, left dead, unused []page.Number) {
	x.mu.Lock()
	garbage := x.history.publish(s, left)
	x.garbage += len(garbage)
	x.mu.Unlock()
	x.store.Give(garbage)
	x.store.Give(unused)
}

// Prune forgets versions below the horizon, and gives memory back.
func (x *tree) Prune(s device.Stream, horizon index.Version) error {
	x.mu.Lock()
	garbage := x.history.prune(horizon, nil)
	x.garbage += len(garbage)
	x.mu.Unlock()
	x.store.Give(garbage)
	err := x.compact(s)
	x.sorter.Release()
	x.scratch.release()
	x.noteWorking()
	return err
}

// noteWorking lets Stats know what the writer keeps.
func (x *tree) noteWorking() {
	x.mu.Lock()
	x.working = x.sorter.Bytes() + x.scratch.bytes()
	x.mu.Unlock()
}

// Stats say how large the index is.
func (x *tree) Stats() index.Stats {
	held, _ := x.store.Bytes()
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.history.latest()
	return index.Stats{Entries: s.entries, Bytes: held + x.working, Height: s.height, Applied: s.version, Oldest: x.history.oldest}
}

// Close gives all memory back.
func (x *tree) Close() error {
	x.sorter.Release()
	x.scratch.release()
	x.store.Close()
	return nil
}
