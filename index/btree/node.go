package btree

import (
	"math/bits"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/page"
)

// word is the first word of a key as nodes hold it: what searches compare.
type word interface{ uint32 | uint64 }

// table is where pages are, see page.Slots.
type table = *[1 << 21]device.Ptr

// node is a page's address.
//
//	leaf    0  u64 birth   8  u16 n, u16 cap     16  cap words   rest of keys, x u64 each   rows, u64
//	inner   the same, of separators: entry i is the lower bound of child i; then cap u32 children
//
// n counts entries of a leaf and children of an inner node. The rest of a key is
// its further words and its tail's address. Separator 0 bounds all of the node,
// and searches leave it out.
type node struct{ p unsafe.Pointer }

type header struct {
	birth  uint64
	n, cap uint16
	_      uint32
}

const headerBytes = int(unsafe.Sizeof(header{}))

func (n node) head() *header { return (*header)(n.p) }
func (n node) len() int      { return int(n.head().n) }

// nodeAt is a page as a node.
func nodeAt(t table, n page.Number) node {
	p := page.At(t, n)
	return node{*(*unsafe.Pointer)(unsafe.Pointer(&p))}
}

// layout is what nodes of a tree have in common.
type layout struct {
	format  index.Format
	size    int     // bytes of the first word
	x       int     // further words of a key, a tail's address among them
	leaf    []shape // by ascending capacity
	inner   shape
	steps   int // of a search in the largest node
	leafMax int
	leafMin int
	zeros   []uint64 // the rest of the least key of a word
}

// shape is a page size and how much fits.
type shape struct{ bytes, cap int }

// pageUnits are the sizes of pages that package page has without slack, in 64 bytes.
var pageUnits = [...]int{2, 4, 6, 8, 10, 12, 14, 16, 18, 21, 25, 32, 42, 64, 128}

// leafBytes and innerBytes are the most bytes of nodes of 16-byte entries: half
// as much is more levels and pages, twice as much moves more for an insertion.
// Nodes of wider entries are larger, up to widest.
const (
	leafBytes  = 1024
	innerBytes = 1344
	fewest     = 24 // entries that the largest leaf has room for at least
)

func newLayout(f index.Format) *layout {
	l := &layout{format: f, size: 8, x: f.Words - 1}
	if f.Narrow {
		l.size = 4
	}
	if f.Long {
		l.x++
	}
	entry := l.size + 8*l.x + 8
	for _, u := range pageUnits {
		c := (64*u - headerBytes) / entry &^ 1
		if c < 4 {
			continue
		}
		l.leaf = append(l.leaf, shape{64 * u, c})
		if 64*u >= leafBytes && c >= fewest {
			break
		}
	}
	for _, u := range pageUnits {
		c := (64*u - headerBytes) / (entry + 4) &^ 1
		l.inner = shape{64 * u, c}
		if 64*u >= innerBytes && c >= fewest {
			break
		}
	}
	l.leafMax = l.leaf[len(l.leaf)-1].cap
	l.leafMin = l.leafMax / 4
	l.zeros = make([]uint64, l.x)
	l.steps = bits.Len(uint(max(l.leafMax, l.inner.cap) - 1))
	return l
}

// shapeFor is the smallest leaf for n entries and a few more.
func (l *layout) shapeFor(n int) shape {
	for _, s := range l.leaf {
		if s.cap >= n+2 {
			return s
		}
	}
	return l.leaf[len(l.leaf)-1]
}

func (l *layout) keys(n node) unsafe.Pointer { return unsafe.Add(n.p, headerBytes) }

func (l *layout) restAt(cap int) int { return headerBytes + (l.size*cap+7)&^7 }
func (l *layout) rowsAt(cap int) int { return l.restAt(cap) + 8*l.x*cap }

// words, rest, rows and kids are a node's arrays, all of their capacity.
func words[W word](l *layout, n node) []W {
	return unsafe.Slice((*W)(l.keys(n)), n.head().cap)
}

func (l *layout) rest(n node) []uint64 {
	c := int(n.head().cap)
	return unsafe.Slice((*uint64)(unsafe.Add(n.p, l.restAt(c))), l.x*c)
}

func (l *layout) rows(n node) []uint64 {
	c := int(n.head().cap)
	return unsafe.Slice((*uint64)(unsafe.Add(n.p, l.rowsAt(c))), c)
}

func (l *layout) kids(n node) []page.Number {
	c := int(n.head().cap)
	return unsafe.Slice((*page.Number)(unsafe.Add(n.p, l.rowsAt(c)+8*c)), c)
}

// restOf is the rest of entry i's key.
func (l *layout) restOf(n node, i int) []uint64 {
	if l.x == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Add(n.p, l.restAt(int(n.head().cap))+8*l.x*i)), l.x)
}

// place is an entry's order: a key and a row.
type place struct {
	word uint64
	rest []uint64 // nil if a key has none
	row  uint64
}

// compareRest orders keys whose first words are equal.
func (l *layout) compareRest(a, b []uint64) int {
	if c := l.compareMore(a, b); c != 0 || !l.format.Long {
		return c
	}
	return index.CompareTails(a[l.x-1], b[l.x-1])
}

// compareMore is compareRest without tails.
func (l *layout) compareMore(a, b []uint64) int {
	for i := range l.format.Words - 1 {
		if a[i] != b[i] {
			return compareWords(a[i], b[i])
		}
	}
	return 0
}

// compareAt orders entry i of a node, whose first word is q's, against q.
func (l *layout) compareAt(n node, i int, q *place) int {
	if l.x > 0 {
		if c := l.compareRest(l.restOf(n, i), q.rest); c != 0 {
			return c
		}
	}
	row := *(*uint64)(unsafe.Add(n.p, l.rowsAt(int(n.head().cap))+8*i))
	switch {
	case row < q.row:
		return -1
	case row > q.row:
		return 1
	}
	return 0
}

// search is the number of the n words at keys that are below k. It has no
// branches that depend on them.
func search[W word](keys unsafe.Pointer, n int, k W) int {
	if n == 0 {
		return 0
	}
	at := 0
	for n > 1 {
		half := n >> 1
		at += half & -below(keys, at+half-1, k)
		n -= half
	}
	return at + below(keys, at, k)
}

// below is 1 if word i is below k, and 0 if not.
func below[W word](keys unsafe.Pointer, i int, k W) int {
	v := *(*W)(unsafe.Add(keys, i*int(unsafe.Sizeof(k))))
	_, b := bits.Sub64(uint64(v), uint64(k), 0)
	return int(b)
}

// compare orders entry i of a node against q.
func compare[W word](l *layout, n node, i int, q *place) int {
	w := uint64(*(*W)(unsafe.Add(l.keys(n), i*l.size)))
	switch {
	case w < q.word:
		return -1
	case w > q.word:
		return 1
	}
	return l.compareAt(n, i, q)
}

// refine moves a place among count entries that search found behind those with
// the same first word that are below q; behind those that are q too with limit 1.
func refine[W word](l *layout, n node, at, count int, q *place, limit int) int {
	if at == count || uint64(*(*W)(unsafe.Add(l.keys(n), at*l.size))) != q.word {
		return at
	}
	step := 1 // by doubling: mostly one entry has the word
	for at+step-1 < count && compare[W](l, n, at+step-1, q) < limit {
		at += step
		step *= 2
	}
	hi := min(count, at+step-1)
	for at < hi {
		m := int(uint(at+hi) >> 1)
		if compare[W](l, n, m, q) < limit {
			at = m + 1
		} else {
			hi = m
		}
	}
	return at
}

// lowerBound is the first entry of a leaf that is q or above.
func lowerBound[W word](l *layout, n node, q *place) int {
	count := n.len()
	return refine[W](l, n, search(l.keys(n), count, W(q.word)), count, q, 0)
}

// childFor is the child of an inner node where q belongs.
func childFor[W word](l *layout, n node, q *place) int {
	count := n.len()
	at := 1 + search(unsafe.Add(l.keys(n), l.size), count-1, W(q.word))
	return refine[W](l, n, at, count, q, 1) - 1
}
