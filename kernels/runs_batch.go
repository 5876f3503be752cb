package kernels

import (
	"math/bits"

	"github.com/gpusql/gpusql/device"
)

// RunsBatch is N insertions on their way to a run of their own: keys of one word,
// rows of 32 bits which ascend, so that no two are the same.
//
//	spread  each goes to the bucket of its key's highest bits, as it comes
//	place   a block a bucket: each counts those of its bucket before it
//
// It is for batches of a size that launches take longer than their work: a sort by
// digits takes six.
//
//gpu:layout
type RunsBatch struct {
	To         Tree
	Keys, Rows device.Ptr
	Counts     device.Ptr // of each bucket, 32 bits, clear
	Words, Low device.Ptr // of each bucket: keys and rows, room for batchRoom
	Facts      device.Ptr // TreeFacts: Full
	N          uint64
	Shift      uint32 // of the bits that say the bucket
	Bits       uint32 // how many
}

// batchRoom is how many changes a bucket has room for; batchEach about how many it has.
// Counts are batchApart words from each other: what adds to one sector waits for each other.
//
//gpu:layout
const (
	batchRoom  = 512
	batchEach  = 128
	batchApart = 8
)

// MostBatch is the most changes of a RunsBatch: each block sums up all buckets' counts.
const MostBatch = 1 << 18

var (
	runsSpread = treeKernels[RunsBatch](codeRunsSpread4, codeRunsSpread8)
	runsPlace  = treeKernels[RunsBatch](codeRunsPlace4, codeRunsPlace8)
)

// Room sets the places of N changes of a form in memory at p, whose keys differ in the
// lowest top bits alone, and returns the bytes that they take, and how many of these
// are clear before Spread; p may be 0 to ask for these.
func (a *RunsBatch) Room(f TreeForm, top int, p device.Ptr) (bytes, clear int) {
	a.Bits = uint32(min(top, max(0, bits.Len64(a.N-1)-bits.Len(batchEach-1))))
	a.Shift = uint32(top) - a.Bits
	buckets, from := 1<<a.Bits, p
	a.Counts = p
	p += device.Ptr(4*batchApart*buckets+255) &^ 255
	clear = int(p - from)
	a.Words = p
	p += device.Ptr(f.Word() * batchRoom * buckets)
	a.Low = p
	return int(p-from) + 4*batchRoom*buckets, clear
}

// Spread puts the changes in buckets.
func (a *RunsBatch) Spread(s device.Stream) error {
	return device.Launch(s, runsSpread[a.To.Form.Narrow], int(a.N), *a)
}

// Place writes the run but for what is above its leaves.
func (a *RunsBatch) Place(s device.Stream) error {
	return device.Launch(s, runsPlace[a.To.Form.Narrow], 1<<a.Bits, *a)
}
