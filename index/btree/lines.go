package btree

import (
	"math/bits"
	"unsafe"
)

// A leaf's entries are in slots, some in each line of words, and behind the last
// of a line there is room for more:
//
//	words  | 3 5 8 9 . . . . | 11 12 17 . . . . . | 20 ...      counts 4, 3, ...
//	rows   | 7 1 2 4 . . . . |  6  3  9 . . . . . |  5 ...      slot 8 is entry 4
//
// So an insertion moves what is in one line of words, and what that has of rows
// and rest, and touches nothing else of the leaf but line 0. When the line is full
// an entry goes to a neighbour's room, through the lines between.
//
// Entries are counted from the leaf's first; slots are where they are. counts has
// the number of entries of each line, a byte each, and the functions below do with
// all bytes at once: none of the sums is above 127.
const (
	maxLines = 7
	ones     = 0x0101010101010101
	highs    = 0x8080808080808080
)

func (n node) counts() *uint64 { return (*uint64)(unsafe.Add(n.p, 8)) }

// firsts are the first words of lines 1 to 6, of one without entries that of the
// next line, of the last ones the greatest there is.
func firsts[W word](n node) *[maxLines - 1]W {
	return (*[maxLines - 1]W)(unsafe.Add(n.p, 16))
}

// before is the number of entries in the lines before one.
func before(counts uint64, line int) int { return int(counts * ones << 8 >> (8 * line) & 0xFF) }

// inLineOf is the number of entries of a line.
func inLineOf(counts uint64, line int) int { return int(counts >> (8 * line) & 0xFF) }

// lineWith is the line that has entry i.
func lineWith(counts uint64, i int) int {
	return bits.OnesCount64(((uint64(i)*ones | highs) - counts*ones) & highs)
}

// slotOf is where entry i is.
func slotOf(counts uint64, i, per int) int {
	line := lineWith(counts, i)
	return line*per + i - before(counts, line)
}

// stretch is the slot of entry i, and how many entries stand together from it on.
func (l *layout) stretch(n node, i int) (slot, count int) {
	counts := *n.counts()
	line := lineWith(counts, i)
	at := i - before(counts, line)
	return line*l.per + at, inLineOf(counts, line) - at
}

// searchLeaf is the number of a leaf's words that are below k. Like search it has
// no branches that depend on them.
func searchLeaf[W word](n node, k W) int { return inLeafLine(n, leafLine(n, k), k) }

// leafLine is the line of a leaf's words where k belongs, by line 0.
func leafLine[W word](n node, k W) int {
	first := unsafe.Pointer(firsts[W](n))
	at := 3 * below(first, 2, k)
	at += 2 * below(first, at+1, k)
	return at + below(first, at, k)
}

// inLeafLine is searchLeaf when the line is known.
func inLeafLine[W word](n node, line int, k W) int {
	per := lineBytes / int(unsafe.Sizeof(k))
	keys := unsafe.Add(n.p, lineBytes*(line+1))
	at := 0
	for half := per / 2; half > 0; half >>= 1 {
		at += half & -below(keys, at+half-1, k)
	}
	return before(*n.counts(), line) + at + below(keys, at, k)
}

// nextWord is the first word of the entry after that of a slot, which is not the
// last one. It looks at no other line than that and line 0.
func nextWord[W word](l *layout, n node, slot int) uint64 {
	if line := slot / l.per; slot+1 >= line*l.per+inLineOf(*n.counts(), line) {
		return uint64(firsts[W](n)[line])
	}
	return uint64(words[W](l, n)[slot+1])
}

// startLeaf makes a leaf of a page, of so many entries that are still to be
// written: evenly over the lines, or one full line after the other, as it should
// be where more comes behind the last.
func (l *layout) startLeaf(n node, birth uint64, count int, packed bool) {
	*n.head() = birth<<17 | 1<<16 | uint64(l.leaf.cap)<<8 | uint64(count)
	lines, counts := l.leaf.cap/l.per, uint64(0)
	for i, left := lines, count; i > 0; i-- {
		c := (left + i - 1) / i
		if packed {
			c = min(left, l.per)
		}
		counts |= uint64(c) << (8 * (lines - i))
		left -= c
	}
	*n.counts() = counts
}

// sealLeaf writes what searches need, after the entries were written.
func sealLeaf[W word](l *layout, n node) {
	keys, counts := words[W](l, n), *n.counts()
	first := firsts[W](n)
	for i := range first {
		first[i] = ^W(0)
	}
	for line := l.leaf.cap/l.per - 1; line >= 0; line-- {
		fillLine(keys[line*l.per:(line+1)*l.per], inLineOf(counts, line))
		setFirst[W](l, n, line)
	}
}

// fillLine makes the words behind the count first the greatest there is.
func fillLine[W word](line []W, count int) {
	for i := count; i < len(line); i++ {
		line[i] = ^W(0)
	}
}

// setFirst notes a line's first word, for those without entries before it too.
func setFirst[W word](l *layout, n node, line int) {
	first, counts, keys := firsts[W](n), *n.counts(), words[W](l, n)
	for ; line > 0; line-- {
		switch {
		case inLineOf(counts, line) > 0:
			first[line-1] = keys[line*l.per]
		case line < len(first):
			first[line-1] = first[line]
		default:
			first[line-1] = ^W(0)
		}
		if inLineOf(counts, line-1) > 0 {
			return
		}
	}
}

// edit is a leaf that is changed in place.
type edit[W word] struct {
	l          *layout
	n          node
	keys       []W
	rest, rows []uint64
}

func (t *tree[W]) edit(w *work, g *group) edit[W] {
	n := nodeAt(w.pages, g.page)
	return edit[W]{t.layout, n, words[W](t.layout, n), t.layout.rest(n), t.layout.rows(n)}
}

// count adds to the number of entries of a line, and of the leaf.
func (e *edit[W]) count(line, more int) {
	*e.n.counts() += uint64(more) << (8 * line)
}

// move moves n entries from slot from to slot to.
func (e *edit[W]) move(to, from, n int) {
	x := e.l.x
	copy(e.keys[to:to+n], e.keys[from:from+n])
	copy(e.rest[x*to:x*(to+n)], e.rest[x*from:x*(from+n)])
	copy(e.rows[to:to+n], e.rows[from:from+n])
}

// insert puts item i as entry p.
func (e *edit[W]) insert(w *work, p, i int) {
	line, at := e.gap(p)
	slot := line*e.l.per + at
	e.move(slot+1, slot, inLineOf(*e.n.counts(), line)-at)
	e.keys[slot] = W(w.items[i].word)
	w.put(slot, i, e.rest, e.rows)
	e.count(line, 1)
	*e.n.head()++
	if at == 0 {
		setFirst[W](e.l, e.n, line)
	}
}

// remove takes entry p out.
func (e *edit[W]) remove(p int) {
	counts := *e.n.counts()
	line := lineWith(counts, p)
	at := p - before(counts, line)
	e.take(line, at)
	*e.n.head()--
	if at == 0 {
		setFirst[W](e.l, e.n, line)
	}
}

// take closes the gap that the entry at a place of a line leaves.
func (e *edit[W]) take(line, at int) {
	slot, count := line*e.l.per+at, inLineOf(*e.n.counts(), line)
	e.move(slot, slot+1, count-at-1)
	e.keys[slot+count-at-1] = ^W(0)
	e.count(line, -1)
}

// gap is where a line has room for a new entry p.
func (e *edit[W]) gap(p int) (line, at int) {
	counts, per := *e.n.counts(), e.l.per
	if p > 0 {
		line = lineWith(counts, p-1)
		at = p - before(counts, line)
	}
	lines := e.l.leaf.cap / per
	if at == per && line+1 < lines {
		line, at = line+1, 0
	}
	if inLineOf(counts, line) < per {
		return line, at
	}
	lo, hi := line-1, line+1
	for {
		switch {
		case hi < lines && at < per && inLineOf(counts, hi) < per:
			e.push(line, hi)
			return line, at
		case lo >= 0 && inLineOf(counts, lo) < per:
			return e.pull(line, lo, at)
		}
		lo, hi = lo-1, hi+1
	}
}

// push moves an entry out of each line from one on into the next, up to line hi
// that has room.
func (e *edit[W]) push(line, hi int) {
	per := e.l.per
	for m := hi; m > line; m-- {
		first := m * per
		e.move(first+1, first, inLineOf(*e.n.counts(), m))
		e.move(first, first-1, 1)
		e.keys[first-1] = ^W(0)
		e.count(m, 1)
		e.count(m-1, -1)
		setFirst[W](e.l, e.n, m)
	}
}

// pull moves an entry out of each line down to one into the line before, from
// line lo on that has room, and returns where the place is then.
func (e *edit[W]) pull(line, lo, at int) (int, int) {
	if at--; at < 0 {
		line--
	}
	for m := lo; m < line; m++ {
		e.move(m*e.l.per+inLineOf(*e.n.counts(), m), (m+1)*e.l.per, 1)
		e.count(m, 1)
		e.take(m+1, 0)
	}
	for m := line; m >= lo; m-- {
		setFirst[W](e.l, e.n, m)
	}
	if at < 0 {
		at = inLineOf(*e.n.counts(), line)
	}
	return line, at
}
