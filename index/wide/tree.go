package wide

import (
	"fmt"
	"sync"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// Btree and Mvcc are USING btree and USING mvcc in a GPU's memory: one structure,
// whose old states the second keeps for as long as a version of theirs may be
// asked for.
func Btree() index.Kind { return kind("btree", false) }

// Mvcc has history.
func Mvcc() index.Kind { return kind("mvcc", true) }

func kind(name string, history bool) index.Kind {
	return index.Kind{Name: name, History: history, New: func(mem device.Allocator, f index.Format) (index.Index, error) {
		if f.Words < 1 || f.Words > index.MaxWords {
			return nil, fmt.Errorf("index/wide: keys of %d words", f.Words)
		}
		t := &tree{mem: mem, format: f, history: history, next: guess{slots: 256 + 32}}
		t.states = []*state{{tree: kernels.Tree{Form: t.form(false)}}}
		return t, nil
	}}
}

// maxEntries is what 32 bits count.
const maxEntries = 1<<32 - 1

// tree is an index. What it is at a moment is a state; Apply, Prune and Check
// make and look at the latest one, beside readers of all.
type tree struct {
	mem     device.Allocator
	format  index.Format
	history bool
	deleted uint64 // entries that went since all were written anew
	next    guess

	mu      sync.Mutex // of what follows
	kept    kept
	most    int      // leaves that it is for
	states  []*state // by age; the last one is the latest
	applied index.Version
	oldest  index.Version // the first that may be asked for
}

// state is what a tree was when version was applied. It never changes. It is
// released when nobody holds it and no version asks for it.
type state struct {
	version   index.Version
	refs      int // snapshots
	tree      kernels.Tree
	directory *device.Buffer
	slots     *slots // nil without entries
	tail      uint64 // of the slots' ring when this became the latest
	tails     []*chunk
}

func (t *tree) form(wide bool) kernels.TreeForm {
	return kernels.NewTreeForm(t.format.Words, t.format.Narrow, t.format.Long, wide)
}

func (t *tree) latest() *state { return t.states[len(t.states)-1] }

// Snapshot is the tree at a version, or without history as it is.
func (t *tree) Snapshot(v index.Version) (index.Snapshot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := t.latest()
	if t.history {
		if v < t.oldest {
			return nil, index.ErrVersion
		}
		for i := len(t.states) - 1; i >= 0 && t.states[i].version > v; i-- {
			st = t.states[max(i-1, 0)]
		}
	}
	st.refs++
	return &snapshot{reader{t.mem, st.tree}, t, st}, nil
}

// release lets go of a state.
func (t *tree) release(st *state) {
	t.mu.Lock()
	defer t.mu.Unlock()
	st.refs--
	t.sweep()
}

// publish makes a state the latest one.
func (t *tree) publish(st *state) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if st.slots != nil {
		st.tail = st.slots.tail
		st.slots.refs++
	}
	for _, c := range st.tails {
		c.refs++
	}
	t.states = append(t.states, st)
	t.applied = max(t.applied, st.version)
	t.sweep()
}

// sweep releases the states that nobody can ask for or holds. t.mu is held.
func (t *tree) sweep() {
	kept := t.states[:0]
	for i, st := range t.states {
		last := i == len(t.states)-1
		if last || st.refs > 0 || t.history && t.states[i+1].version > max(st.version, t.oldest) {
			kept = append(kept, st)
			continue
		}
		st.free()
	}
	clear(t.states[len(kept):])
	t.states = kept
}

// free gives back what a state alone has.
func (st *state) free() {
	st.directory.Release()
	if st.slots != nil {
		st.slots.unref()
	}
	for _, c := range st.tails {
		c.unref()
	}
}

// Prune forgets the states of versions below the horizon, and writes all entries
// anew where that gives memory back.
func (t *tree) Prune(s device.Stream, horizon index.Version) error {
	t.mu.Lock()
	t.oldest = max(t.oldest, min(horizon, t.applied))
	t.sweep()
	t.mu.Unlock()
	return t.tidy(s)
}

// Stats are the size.
func (t *tree) Stats() index.Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := t.latest()
	x := index.Stats{Entries: int64(st.tree.Entries), Applied: t.applied, Oldest: t.applied}
	if t.history {
		x.Oldest = t.oldest
	}
	if st.tree.Entries > 0 {
		x.Height = int(st.tree.Height) + 1
	}
	if t.kept.buffer != nil {
		x.Bytes += int64(t.kept.buffer.Len())
	}
	seen := map[any]bool{}
	for _, st := range t.states {
		if st.directory != nil {
			x.Bytes += int64(st.directory.Len())
		}
		if st.slots != nil && !seen[st.slots] {
			seen[st.slots] = true
			x.Bytes += st.slots.bytes()
		}
		for _, c := range st.tails {
			if !seen[c] {
				seen[c] = true
				x.Bytes += int64(c.buffer.Len())
			}
		}
	}
	return x
}

// Close gives all memory back.
func (t *tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, st := range t.states {
		st.free()
	}
	t.kept.release()
	t.states = []*state{{tree: kernels.Tree{Form: t.form(false)}}}
	return nil
}

func tooLarge() error {
	return sqltype.Errorf(sqltype.CodeTooComplex, "an index on a GPU cannot have more than %d entries", uint32(maxEntries))
}
