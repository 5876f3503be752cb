package lsm

import (
	"cmp"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index/page"
)

// segmentBytes is the size of a full segment: what the store has in one piece.
const segmentBytes = 128 << 10

// segment is a sealed part and its memory. It never changes; runs share it.
//
//	page   | keys | rows | dead bits | fences | filter |
//	tails  | the words of long keys' tails, in order of the keys |
type segment struct {
	refs  atomic.Int32 // runs that have it
	pages []page.Number
	part  part
	first ending
	last  ending
}

// ending is the first or last entry of a segment, in the host's memory.
type ending struct {
	key []uint64 // its words, and those of the tail
	row uint64
}

func (e ending) compare(o ending) int {
	return cmp.Or(slices.Compare(e.key, o.key), cmp.Compare(e.row, o.row))
}

func (g *segment) n() int { return int(g.part.N) }

// layout is a segment's page for n entries: what its part says, for a page at
// address 0.
func (x *Index) layout(n int, dead bool) (p part, size int) {
	at := 0
	take := func(bytes int) device.Ptr {
		from := at
		at += (bytes + 7) &^ 7
		return device.Ptr(from)
	}
	low, high := fences(n)
	p.N, p.Blocks = int64(n), int64(filterBlocks(n))
	p.Keys = take(n * int(x.shape.Size))
	p.Rows = take(8 * n)
	if dead {
		p.Dead = take((n + 63) / 64 * 8)
	}
	p.Fences = take((low + high) * x.steps.lead)
	p.Filter = take(8 * int(p.Blocks))
	return p, at
}

// capacityOf is how many entries a full segment has, a multiple of 64.
func (x *Index) capacityOf() int {
	n := 64
	for {
		if _, size := x.layout(n+64, true); size > segmentBytes {
			return n
		}
		n += 64
	}
}

// sorted is a run: segments in order, no two of which overlap, and what kernels
// read of them. It never changes; states share it.
type sorted struct {
	refs     atomic.Int32
	segments []*segment
	page     page.Number
	run      run
}

func countEntries(gs []*segment) (n int) {
	for _, g := range gs {
		n += g.n()
	}
	return n
}

// state is an index at one moment: its runs, from the newest to the oldest. It
// never changes.
type state struct {
	refs    atomic.Int32
	lists   []*sorted // see draft; nil is empty
	page    page.Number
	runs    device.Ptr // of those that are not
	n       int
	entries int64
}

// drop ends a use of a state; with the last one its memory goes.
func (x *Index) drop(st *state) {
	if st.refs.Add(-1) > 0 {
		return
	}
	for _, r := range st.lists {
		x.dropRun(r)
	}
	x.give(st.page)
}

func (x *Index) dropRun(r *sorted) {
	if r == nil || r.refs.Add(-1) > 0 {
		return
	}
	for _, g := range r.segments {
		if g.refs.Add(-1) == 0 {
			x.giveSegment(g)
		}
	}
	x.give(r.page)
}

// giveSegment gives a segment's memory back. Nobody has it any more.
func (x *Index) giveSegment(g *segment) {
	x.store.Give(g.pages)
	g.pages = nil
}

// give gives a page back, 0 being none.
func (x *Index) give(p page.Number) {
	if p != 0 {
		x.store.Give([]page.Number{p})
	}
}

// bytesOf is the memory of a slice, for a device to read or write.
func bytesOf[T any](v []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(one)))
}
