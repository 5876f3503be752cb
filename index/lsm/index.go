package lsm

import (
	"sync"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/change"
	"github.com/gpusql/gpusql/index/page"
)

// Kind is what USING lsm means.
func Kind() index.Kind { return index.Kind{Name: "lsm", New: New} }

// Index is an ordered set of entries in levels of sorted runs.
type Index struct {
	mem      device.Allocator
	format   index.Format
	shape    shape
	steps    *steps
	capacity int // entries of a full segment
	store    *page.Store
	sorter   *change.Sorter
	maxRow   uint64 // no entry that ever was has a greater row
	applying int    // entries that were applied since the last Prune
	credit   int    // what pruning beside writes may write

	mu      sync.Mutex // of what follows
	current *state
	applied index.Version
	sorting int64 // bytes that the sorter holds
}

// New returns an empty index.
func New(mem device.Allocator, f index.Format) (index.Index, error) {
	x := &Index{mem: mem, format: f, shape: shapeOf(f), steps: &wordSteps, store: page.New(mem), sorter: change.NewSorter(mem, f)}
	if f.Narrow {
		x.steps = &narrowSteps
	}
	x.capacity = x.capacityOf()
	x.current = &state{}
	x.current.refs.Store(1)
	return x, nil
}

// steps are the kernels for a width of leads.
type steps struct {
	lead   int // bytes
	merge  *device.Kernel[mergeArgs]
	seal   *device.Kernel[sealArgs]
	tails  *device.Kernel[sealArgs]
	split  *device.Kernel[splitArgs]
	ends   *device.Kernel[endsArgs]
	firsts *device.Kernel[firstsArgs]
	look   *device.Kernel[resolveArgs]
	probe  *device.Kernel[resolveArgs]
	clears *device.Kernel[resolveArgs]
	delta  *device.Kernel[resolveArgs]
	lookup *device.Kernel[lookupArgs]
	fetch  *device.Kernel[lookupArgs]
	seek   *device.Kernel[scanArgs]
	scan   *device.Kernel[scanArgs]
	sum    *device.Kernel[sumArgs]
	check  *device.Kernel[checkArgs]
}

var wordSteps, narrowSteps = stepsOf[uint64](), stepsOf[uint32]()

func stepsOf[W lead]() steps {
	return steps{
		lead:   int(unsafe.Sizeof(W(0))),
		merge:  &device.Kernel[mergeArgs]{Name: "lsm_merge", Split: lanes, Host: mergeHost[W]},
		seal:   &device.Kernel[sealArgs]{Name: "lsm_seal", Split: lanes, Host: sealHost[W]},
		tails:  &device.Kernel[sealArgs]{Name: "lsm_tails", Split: lanes, Host: tailsHost},
		split:  &device.Kernel[splitArgs]{Name: "lsm_split", Host: splitHost[W]},
		ends:   &device.Kernel[endsArgs]{Name: "lsm_ends", Host: endsHost},
		firsts: &device.Kernel[firstsArgs]{Name: "lsm_firsts", Host: firstsHost[W]},
		look:   &device.Kernel[resolveArgs]{Name: "lsm_look", Host: lookHost},
		probe:  &device.Kernel[resolveArgs]{Name: "lsm_probe", Split: 1 << 12, Host: probeHost[W]},
		clears: &device.Kernel[resolveArgs]{Name: "lsm_clears", Host: clearsHost[W]},
		delta:  &device.Kernel[resolveArgs]{Name: "lsm_delta", Host: deltaHost[W]},
		lookup: &device.Kernel[lookupArgs]{Name: "lsm_lookup", Split: 1 << 11, Host: lookupHost[W]},
		fetch:  &device.Kernel[lookupArgs]{Name: "lsm_fetch", Split: 1 << 12, Host: fetchHost[W]},
		seek:   &device.Kernel[scanArgs]{Name: "lsm_seek", Split: 1 << 10, Host: seekHost[W]},
		scan:   &device.Kernel[scanArgs]{Name: "lsm_scan", Split: 1 << 8, Host: scanHost[W]},
		sum:    &device.Kernel[sumArgs]{Name: "lsm_sum", Host: sumHost},
		check:  &device.Kernel[checkArgs]{Name: "lsm_check", Host: checkHost[W]},
	}
}

// Apply changes the index by a batch: its changes become entries that are new,
// or that take others away, and these go to a level of their size (invariants 2
// and 4). Nothing is seen before publish, and nothing can fail after it.
func (x *Index) Apply(s device.Stream, v index.Version, e index.Entries) error {
	if v < x.applied {
		return index.ErrVersion
	}
	if e.Keys.N > 0 {
		c := x.draft(s)
		d, err := c.apply(e)
		if err = c.end(err); err != nil {
			return err
		}
		x.maxRow = max(x.maxRow, d.maxRow)
		x.applying += d.n
	}
	x.applyDone(v)
	return nil
}

func (c *draft) apply(e index.Entries) (deltas, error) {
	d, err := c.resolve(e)
	if err != nil || d.n == 0 {
		return d, err
	}
	if err := c.put(d.parts, d.n); err != nil {
		return d, err
	}
	return d, c.publish(c.x.current.entries + int64(d.n) - 2*int64(d.gone))
}

// applyDone notes what Stats say. A sorter that grew large for a large batch is
// not kept so.
func (x *Index) applyDone(v index.Version) {
	if held, _ := x.store.Bytes(); x.sorter.Bytes() > max(sorterKeep, held/16) {
		x.sorter.Release()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.applied, x.sorting = v, x.sorter.Bytes()
}

// sorterKeep is the memory that a sorter may have in any case.
const sorterKeep = 256 << 10

// Snapshot is the index as it is now.
func (x *Index) Snapshot(index.Version) (index.Snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.current.refs.Add(1)
	return &snapshot{x, x.current}, nil
}

// Stats say how large the index is.
func (x *Index) Stats() index.Stats {
	held, _ := x.store.Bytes()
	x.mu.Lock()
	defer x.mu.Unlock()
	return index.Stats{Entries: x.current.entries, Bytes: held + x.sorting, Height: x.current.n,
		Applied: x.applied, Oldest: x.applied}
}

// Close gives all memory back.
func (x *Index) Close() error {
	x.sorter.Release()
	x.store.Close()
	return nil
}
