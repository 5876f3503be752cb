package kernels

import (
	"math/bits"
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// RunsBatch is N insertions on their way to a run, together with the entries of older
// ones: keys of one word, rows of 32 bits which ascend, so that no two are the same.
//
//	spread  each goes to the bucket of its key's highest bits, as it comes; what
//	        they are like; how many are before each bucket
//	place   a block a bucket: puts it in order, with what older runs have there
//
// A sort by digits takes six launches, a look at what the batch is like and a merge
// three; for a batch of 2^16 these are longer than the work.
//
//gpu:layout
type RunsBatch struct {
	To         Tree
	Old        [batchOlds]Tree // none has dead entries or wide rows
	Keys, Rows device.Ptr
	Counts     device.Ptr // of each bucket, 32 bits; this and the next two are clear before Spread and after
	Done       device.Ptr // blocks of Spread
	Other      device.Ptr // TreeFacts of the next batch
	Facts      device.Ptr // TreeFacts, as far as RunsBatch needs them; clear before Spread
	Begins     device.Ptr // of each bucket: changes before it, and at last all, 32 bits
	Found      device.Ptr // of each bucket: keys, each with its row, with room for Room
	N          uint64
	Shift      uint32 // of the bits that say the bucket
	Bits       uint32 // how many
	Room       uint32
	Olds       uint32
}

// batchRoom is how many entries a block puts in order, batchEach about how many changes
// a bucket has at least, and batchBits the most bits that say one. Counts are batchApart
// words from each other: what adds to one sector waits for each other.
//
//gpu:layout
const (
	batchOlds  = 2
	batchRoom  = 2048
	batchEach  = 256
	batchBits  = 12
	batchApart = 8
)

// MostBatch is the most changes of a RunsBatch, and mostPlaced the most with what is
// older: blocks have half of their room left over.
const (
	MostBatch  = 1 << 20
	mostPlaced = 1 << batchBits * batchRoom / 2
)

// BatchKept is the bytes that a run of batches keeps, clear before the first: for
// batch number i they are given to Keep.
const BatchKept = 4*batchApart<<batchBits + 2*batchFacts + 64

const batchFacts = int(unsafe.Sizeof(TreeFacts{}))

var (
	runsSpread = treeKernels[RunsBatch](codeRunsSpread4, codeRunsSpread8)
	runsPlace  = treeKernels[RunsBatch](codeRunsPlace4, codeRunsPlace8)
)

// Take has the batch be merged with a run, the newest that is left, unless there is no
// room for that.
func (a *RunsBatch) Take(t Tree) bool {
	all := a.Entries() + int(t.Entries)
	if int(a.Olds) == batchOlds || all > mostPlaced || t.Dead != 0 || t.Form.Wide != 0 {
		return false
	}
	a.Old[a.Olds] = t
	a.Olds++
	return true
}

// Entries is how many the run will have.
func (a *RunsBatch) Entries() int {
	n := int(a.N)
	for _, t := range a.Old[:a.Olds] {
		n += int(t.Entries)
	}
	return n
}

// Keep sets the places of what is kept.
func (a *RunsBatch) Keep(p device.Ptr, i int) {
	a.Counts = p
	p += 4 * batchApart << batchBits
	a.Facts, a.Other = p+device.Ptr(i%2*batchFacts), p+device.Ptr((i+1)%2*batchFacts)
	a.Done = p + 2*device.Ptr(batchFacts)
}

// Lay sets the places of changes whose keys differ in the lowest top bits alone in
// memory at p, and returns the bytes that they take; p may be 0 to ask for these.
func (a *RunsBatch) Lay(top int, p device.Ptr) int {
	more := func(n, each int) int { return bits.Len(uint((n+each-1)/each - 1)) }
	n, word := int(a.N), a.To.Form.Word()
	a.Bits = uint32(min(top, max(more(n, batchEach), more(a.Entries(), batchRoom/2)), batchBits))
	a.Shift = uint32(top) - a.Bits
	a.Room = uint32(min(2*(n>>a.Bits)+64, batchRoom))
	from := p
	a.Begins = p
	p += device.Ptr(4<<a.Bits+4+255) &^ 255
	a.Found = p
	return int(p-from) + 2*word*int(a.Room)<<a.Bits
}

// Spread puts the changes in buckets.
func (a *RunsBatch) Spread(s device.Stream) error {
	return device.Launch(s, runsSpread[a.To.Form.Narrow], int(a.N), *a)
}

// Place writes the run.
func (a *RunsBatch) Place(s device.Stream) error {
	return device.Launch(s, runsPlace[a.To.Form.Narrow], 1<<a.Bits, *a)
}
