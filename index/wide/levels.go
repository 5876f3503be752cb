package wide

import (
	"context"
	"fmt"
	"sync"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// Lsm is USING lsm in a GPU's memory.
func Lsm() index.Kind {
	return index.Kind{Name: "lsm", New: func(mem device.Allocator, f index.Format) (index.Index, error) {
		if f.Words < 1 || f.Words > index.MaxWords {
			return nil, fmt.Errorf("index/wide: keys of %d words", f.Words)
		}
		return &levels{mem: mem, format: f, current: &stack{refs: 1}}, nil
	}}
}

// levels is an index of sorted runs, each some times larger than the next newer
// one. What it is at a moment is a stack, which never changes.
type levels struct {
	mem     device.Allocator
	format  index.Format
	maxRow  uint64 // no entry that ever was has a greater row
	deleted uint64 // changes that took entries away since all was written anew
	credit  int    // entries that clean-up may write
	likely  likely // the next batch
	kept    kept
	apart   bool // runs have keys where batches have none, and are not merged with these at once

	mu      sync.Mutex // of what follows
	current *stack
	applied index.Version
}

// run is a packed tree. Stacks share it.
type run struct {
	tree   kernels.Tree
	dead   int // entries that take one away
	buffer *device.Buffer
	refs   int
}

// stack is runs, the newest first.
type stack struct {
	runs    []*run
	entries int // pairs that are there
	tails   []*chunk
	refs    int // snapshots, and one while it is the current one
}

func (x *levels) form(wide bool) kernels.TreeForm {
	return kernels.NewTreeForm(x.format.Words, x.format.Narrow, x.format.Long, wide)
}

// newRun is memory for a run, of which nothing is known but its size.
func (x *levels) newRun(wide bool, entries, dead int) (*run, error) {
	r := &run{tree: kernels.Tree{Form: x.form(wide)}, dead: dead}
	var err error
	if r.buffer, err = x.mem.Alloc(r.tree.Pack(entries, dead > 0, 0)); err != nil {
		return nil, err
	}
	r.tree.Pack(entries, dead > 0, r.buffer.Ptr())
	return r, nil
}

func (r *run) entries() int { return int(r.tree.Entries) }

// kernel is the runs as kernels see them.
func (st *stack) kernel() kernels.Runs {
	r := kernels.Runs{N: uint32(len(st.runs))}
	for i, run := range st.runs {
		r.T[i] = run.tree
	}
	return r
}

// Snapshot is the index as it is now.
func (x *levels) Snapshot(index.Version) (index.Snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.current.refs++
	return &levelsSnapshot{x, x.current}, nil
}

// publish makes a stack the current one.
func (x *levels) publish(st *stack) {
	for _, r := range st.runs {
		r.refs++
	}
	for _, c := range st.tails {
		c.refs++
	}
	st.refs++
	old := x.current
	x.current = st
	x.unref(old)
}

// unref lets go of a stack. x.mu is held.
func (x *levels) unref(st *stack) {
	if st.refs--; st.refs > 0 {
		return
	}
	for _, r := range st.runs {
		if r.refs--; r.refs == 0 {
			r.buffer.Release()
		}
	}
	for _, c := range st.tails {
		c.unref()
	}
}

// Stats are the size, of the current stack alone.
func (x *levels) Stats() index.Stats {
	x.mu.Lock()
	defer x.mu.Unlock()
	st := x.current
	out := index.Stats{Entries: int64(st.entries), Applied: x.applied, Oldest: x.applied}
	for _, r := range st.runs {
		out.Bytes += int64(r.buffer.Len())
		out.Height += int(r.tree.Height) + 1
	}
	for _, c := range st.tails {
		out.Bytes += int64(c.buffer.Len())
	}
	return out
}

// Check verifies invariants 1, 8 and 9.
func (x *levels) Check(s device.Stream) error {
	x.mu.Lock()
	st := x.current
	x.mu.Unlock()
	live := 0
	for i, r := range st.runs {
		live += r.entries() - 2*r.dead
		switch {
		case i == len(st.runs)-1 && r.dead > 0:
			return fmt.Errorf("index/wide: the oldest run has %d dead entries", r.dead)
		case i > 0 && due(st.runs[i-1].entries(), r.entries()):
			return fmt.Errorf("index/wide: a run of %d entries behind one of %d", r.entries(), st.runs[i-1].entries())
		}
		c := kernels.TreeCheck{T: r.tree, Status: s.Status()}
		if err := c.Check(s, 0); err != nil {
			return err
		}
	}
	if live != st.entries || len(st.runs) > kernels.MaxRuns {
		return fmt.Errorf("index/wide: %d runs with %d entries, of %d", len(st.runs), live, st.entries)
	}
	return s.Wait(context.Background())
}

// Close gives all memory back.
func (x *levels) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.unref(x.current)
	x.kept.release()
	x.current, x.maxRow, x.deleted, x.credit, x.apart = &stack{refs: 1}, 0, 0, 0, false
	return nil
}
