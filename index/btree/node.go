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

// node is a page's address. A line is 64 bytes, what a cache fetches.
//
//	line 0  0  u64 birth<<17 | leaf<<16 | n
//	leaf       8  u64, the entries of each line, four bits each   16  the first word of lines 1, 2, ...
//	           at the next line: cap words   rest of keys, x u64 each   rows, u64     (lines.go)
//	inner      8  7 words: the first of lines 1 to 7
//	           64 cap words   rest, rows, of separators: entry i is the lower bound of child i
//	           then cap u32 children
//
// n counts entries of a leaf and children of an inner node. Words where there is
// no entry are the greatest there is, so that a search looks at one line of words
// besides the header, and needs no n. The rest of a key is its further words and
// its tail's address. Separator 0 is a bound of all of the node.
type node struct{ p unsafe.Pointer }

const (
	lineBytes = 64
	samples   = 7
)

func (n node) head() *uint64 { return (*uint64)(n.p) }
func (n node) len() int      { return int(*n.head() & 0xFF) }
func (n node) leaf() bool    { return *n.head()>>16&1 != 0 }
func (n node) birth() uint64 { return *n.head() >> 17 }

// start makes an empty inner node of a page.
func (n node) start(birth uint64) { *n.head() = birth << 17 }

// seal sets an inner node's length after its words were written, from place from
// on; was is the number of words that are not the greatest any more.
func seal[W word](l *layout, n node, from, count, was int) {
	*n.head() = *n.head()&^0xFF | uint64(count)
	keys := words[W](l, n)
	for i := count; i < was; i++ {
		keys[i] = ^W(0)
	}
	first := (*[samples]W)(unsafe.Add(n.p, 8))
	for i := max(0, (from+l.per-1)/l.per-1); i < samples; i++ {
		first[i] = ^W(0)
		if at := l.per * (i + 1); at < len(keys) {
			first[i] = keys[at]
		}
	}
}

// nodeAt is a page as a node.
func nodeAt(t table, n page.Number) node {
	p := page.At(t, n)
	return node{*(*unsafe.Pointer)(unsafe.Pointer(&p))}
}

// layout is what nodes of a tree have in common.
type layout struct {
	format  index.Format
	size    int // bytes of the first word
	per     int // words in a line of an inner node
	x       int // further words of a key, a tail's address among them
	lines   int // of a leaf
	at      [2]offsets
	leaf    shape
	inner   shape
	leafMin int
	zeros   []uint64 // the rest of the least key of a word
}

// offsets are where the arrays of an inner node, and of a leaf, begin.
type offsets struct{ keys, rest, rows, kids, cap int }

// shape is a page size and how much fits.
type shape struct{ bytes, cap int }

// pageUnits are the sizes of pages that package page has without slack, in 64 bytes.
var pageUnits = [...]int{4, 6, 8, 10, 12, 14, 16, 18, 21, 25, 32, 42, 64, 128}

// leafBytes and innerBytes are the most bytes of nodes of 16-byte entries: half
// as much is more levels and pages, and of a leaf that is filled to the same
// degree more that overflow, for the entries of large ones are nearer to their
// mean; twice as much is more to write for a leaf that is full. Nodes of wider
// entries are larger.
const (
	leafBytes  = 2048
	innerBytes = 1344
	leastLines = 4  // that a leaf has
	fewest     = 24 // children that an inner node has room for at least
)

func newLayout(f index.Format) *layout {
	l := &layout{format: f, size: 8, x: f.Words - 1}
	if f.Narrow {
		l.size = 4
	}
	if f.Long {
		l.x++
	}
	l.per = lineBytes / l.size
	l.shapeLeaf()
	entry := l.size + 8*l.x + 8
	for _, u := range pageUnits {
		c := (64*u - lineBytes) / (entry + 4) &^ 1
		l.inner = shape{64 * u, min(c, l.per*(samples+1))}
		if 64*u >= innerBytes && c >= fewest {
			break
		}
	}
	c := l.inner.cap
	rest := lineBytes + (l.size*c+7)&^7
	rows := rest + 8*l.x*c
	l.at[0] = offsets{lineBytes, rest, rows, rows + 8*c, c}
	l.zeros = make([]uint64, l.x)
	return l
}

// shapeLeaf decides how many lines a leaf has: as many as fill a page best.
func (l *layout) shapeLeaf() {
	best := 0.0
	for lines := leastLines; lines <= maxLines; lines++ {
		keys := (16 + l.size*(lines-1) + lineBytes - 1) &^ (lineBytes - 1)
		rest := keys + (l.size*perLine*lines+lineBytes-1)&^(lineBytes-1)
		rows := rest + 8*perLine*l.x*lines
		bytes := rows + 8*perLine*lines
		if bytes > leafBytes && lines > leastLines {
			break
		}
		if fill := float64(lines) / float64(unitsFor(bytes)); fill > best {
			best, l.lines = fill, lines
			l.leaf = shape{bytes, perLine * lines}
			l.at[1] = offsets{keys, rest, rows, bytes, perLine * lines}
		}
	}
	l.leafMin = l.leaf.cap / 4
}

// unitsFor is the size of the page that so many bytes get.
func unitsFor(bytes int) int {
	for _, u := range pageUnits {
		if lineBytes*u >= bytes {
			return u
		}
	}
	return (bytes + lineBytes - 1) / lineBytes
}

// of is where a node's arrays are.
func (l *layout) of(n node) *offsets { return &l.at[*n.head()>>16&1] }

// words, rest, rows and kids are a node's arrays, all of their capacity. A leaf's
// entries are in slots of them.
func words[W word](l *layout, n node) []W {
	o := l.of(n)
	return unsafe.Slice((*W)(unsafe.Add(n.p, o.keys)), o.cap)
}

func (l *layout) rest(n node) []uint64 {
	o := l.of(n)
	return unsafe.Slice((*uint64)(unsafe.Add(n.p, o.rest)), l.x*o.cap)
}

func (l *layout) rows(n node) []uint64 {
	o := l.of(n)
	return unsafe.Slice((*uint64)(unsafe.Add(n.p, o.rows)), o.cap)
}

func (l *layout) kids(n node) []page.Number {
	o := &l.at[0]
	return unsafe.Slice((*page.Number)(unsafe.Add(n.p, o.kids)), o.cap)
}

// restOf is the rest of the key in a slot.
func (l *layout) restOf(n node, slot int) []uint64 {
	if l.x == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Add(n.p, l.of(n).rest+8*l.x*slot)), l.x)
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

// compareAt orders the entry in a slot, whose first word is q's, against q.
func (l *layout) compareAt(n node, slot int, q *place) int {
	if l.x > 0 {
		if c := l.compareRest(l.restOf(n, slot), q.rest); c != 0 {
			return c
		}
	}
	row := *(*uint64)(unsafe.Add(n.p, l.of(n).rows+8*slot))
	switch {
	case row < q.row:
		return -1
	case row > q.row:
		return 1
	}
	return 0
}

// search is the number of an inner node's words that are below k. It has no branches
// that depend on them.
func search[W word](l *layout, n node, k W) int { return inLine(l, n, lineOf(n, k), k) }

// lineOf is the line of words where k belongs, by line 0.
func lineOf[W word](n node, k W) int {
	first := unsafe.Add(n.p, 8)
	at := below(first, 3, k) << 2
	at += below(first, at+1, k) << 1
	return at + below(first, at, k)
}

// inLine is search when the line is known.
func inLine[W word](l *layout, n node, line int, k W) int {
	per := lineBytes / int(unsafe.Sizeof(k))
	keys := unsafe.Add(n.p, lineBytes)
	// The last line may have fewer: the words before it are below k anyway.
	at := min(line*per, l.inner.cap-per)
	for half := per / 2; half > 0; half >>= 1 {
		at += half & -below(keys, at+half-1, k)
	}
	return at + below(keys, at, k)
}

// below is 1 if word i is below k, and 0 if not.
func below[W word](keys unsafe.Pointer, i int, k W) int {
	v := *(*W)(unsafe.Add(keys, i*int(unsafe.Sizeof(k))))
	_, b := bits.Sub64(uint64(v), uint64(k), 0)
	return int(b)
}

// slot is where entry i of a node is.
func (l *layout) slot(n node, i int) int {
	if !n.leaf() {
		return i
	}
	return slotOf(*n.counts(), i)
}

// wordAt is the first word of entry i of a node.
func wordAt[W word](l *layout, n node, i int) uint64 {
	return uint64(*(*W)(unsafe.Add(n.p, l.of(n).keys+l.slot(n, i)*l.size)))
}

// compare orders entry i of a node against q.
func compare[W word](l *layout, n node, i int, q *place) int {
	i = l.slot(n, i)
	w := uint64(*(*W)(unsafe.Add(n.p, l.of(n).keys+i*l.size)))
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
	if l.x == 0 && q.row == 0 && limit == 0 {
		return at // the least of its word
	}
	if at == count || wordAt[W](l, n, at) != q.word {
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
	return refine[W](l, n, searchLeaf(l, n, W(q.word)), n.len(), q, 0)
}

// childFor is the child of an inner node where q belongs.
func childFor[W word](l *layout, n node, q *place) int {
	return refine[W](l, n, max(1, search(l, n, W(q.word))), n.len(), q, 1) - 1
}
