package mvcc

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/page"
)

// A node is a page:
//
//	OFFSET      SIZE  DESCRIPTION
//	0              8  birth: the number of the state that it was written for
//	8              4  n, the number of its items
//	12             4  level, 0 for a leaf
//	16             8  bytes of its tails
//	24       n*size   keys, padded to 8; the last word of a long one is where in
//	                  the node its tail is, 0 for none
//	...          8*n  rows
//	...          4*n  inner nodes: children, numbers of pages
//	...          4*n  inner nodes: entries in this child and those before it
//	...               tails, each of 1+w words
//
// Items order by (key, row). Those of an inner node are places between entries:
// a child has the entries from its own item's place to below the next one's, the
// first child all before that too.
const (
	headBytes = 24

	// maxItems is the most items of a node. Of 32, 48, 64 and 96 this is the
	// best for batches of 8,192 into 10 million: larger ones copy more for each
	// change, smaller ones need more of their parents copied.
	maxItems = 96
	// builtItems is the most of a node that is built from sorted items: it has
	// some room for more.
	builtItems = maxItems * 7 / 8
	// A node of fewer that is written anew is joined with a neighbour.
	minItems = maxItems / 4
	// maxTails keeps nodes of long keys small: beyond so many bytes of tails a
	// node is cut, if it has more than one item.
	maxTails = 4096

	// maxHeight is more than 2^32 entries can make.
	maxHeight = 16
)

// pageTable is where pages are, see page.Slots.
type pageTable = *[1 << 21]device.Ptr

type head struct {
	birth uint64
	n     uint32
	level uint32
	tails uint64
}

func headOf(p device.Ptr) *head { return &device.View[head](p, 1)[0] }

// form is an index.Format in numbers of fixed width.
type form struct {
	size  uint32 // bytes of a key
	words uint32
	kind  uint32
	_     uint32
}

// The kinds of keys: those of one word have searches of their own.
const (
	oneWord = iota
	narrow
	wide
	long
)

func formOf(f index.Format) form {
	k := form{size: uint32(f.Size()), words: uint32(f.Words), kind: wide}
	switch {
	case f.Long:
		k.kind = long
	case f.Narrow:
		k.kind = narrow
	case f.Words == 1:
		k.kind = oneWord
	}
	return k
}

// keyBytes is the room of n keys.
func (f *form) keyBytes(n int) int { return (n*int(f.size) + 7) &^ 7 }

// nodeBytes is the size of a node without its tails.
func (f *form) nodeBytes(n int, level uint32) int {
	if level == 0 {
		return headBytes + f.keyBytes(n) + 8*n
	}
	return headBytes + f.keyBytes(n) + 16*n
}

func (f *form) rowsOf(p device.Ptr, n int) []uint64 {
	return device.View[uint64](p+headBytes+device.Ptr(f.keyBytes(n)), n)
}

func (f *form) kidsOf(p device.Ptr, n int) []page.Number {
	return device.View[page.Number](p+headBytes+device.Ptr(f.keyBytes(n)+8*n), n)
}

// sumsOf are the numbers of entries up to each child.
func (f *form) sumsOf(p device.Ptr, n int) []uint32 {
	return device.View[uint32](p+headBytes+device.Ptr(f.keyBytes(n)+12*n), n)
}

// keyAt is the address of key i of some keys.
func (f *form) keyAt(keys device.Ptr, i int) device.Ptr {
	return keys + device.Ptr(i)*device.Ptr(f.size)
}

// tailIn is the address of the tail of key i of node p.
func (f *form) tailIn(p device.Ptr, i int) uint64 {
	at := f.tailWord(f.keyAt(p+headBytes, i))
	if at == 0 {
		return 0
	}
	return uint64(p) + at
}

// tailWord is the last word of a long key.
func (f *form) tailWord(key device.Ptr) uint64 {
	return device.View[uint64](key+device.Ptr(8*f.words), 1)[0]
}

// tailBytes is the room of a tail.
func tailBytes(address uint64) int {
	if address == 0 {
		return 0
	}
	return 8 + 8*len(index.Tail(address))
}
