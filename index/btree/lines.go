package btree

import (
	"math/bits"
	"unsafe"
)

// A leaf's entries are in slots, eight in a line, and behind the last of a line
// there is room for more:
//
//	words  | 3 5 8 9 . . . . | 11 12 17 . . . . . | 20 ...      counts 4, 3, ...
//	rows   | 7 1 2 4 . . . . |  6  3  9 . . . . . |  5 ...      slot 8 is entry 4
//
// So an insertion moves what is in one line of words, and what that has of rows
// and rest, and touches nothing else of the leaf but its header. When the line is
// full an entry goes to a neighbour's room, through the lines between.
//
// Entries are counted from the leaf's first; slots are where they are. counts has
// the number of entries of each line, four bits each, and the functions below do
// with all of them at once: none of the sums is above 127.
const (
	perLine  = 8
	maxLines = 15
	nibbles  = 0x0F0F0F0F0F0F0F0F
	ones     = 0x0101010101010101
	highs    = 0x8080808080808080
)

func (n node) counts() *uint64 { return (*uint64)(unsafe.Add(n.p, 8)) }

// firsts are the first words of all lines but the first, of one without entries
// that of the next line, of the last ones the greatest there is.
func firsts[W word](l *layout, n node) []W {
	return unsafe.Slice((*W)(unsafe.Add(n.p, 16)), l.lines-1)
}

// before is the number of entries in the lines before one.
func before(counts uint64, line int) int {
	return int(pairs(counts&(1<<(4*uint(line)&63)-1)) * ones >> 56)
}

// pairs are the sums of two lines each, in a byte each.
func pairs(counts uint64) uint64 { return counts&nibbles + counts>>4&nibbles }

// inLineOf is the number of entries of a line.
func inLineOf(counts uint64, line int) int { return int(counts >> (4 * uint(line) & 63) & 0xF) }

// lineWith is the line that has entry i, and which of its entries that is.
func lineWith(counts uint64, i int) (line, at int) {
	sums := pairs(counts) * ones // up to each pair of lines
	pair := bits.OnesCount64(((uint64(i)*ones | highs) - sums) & highs)
	shift := 8 * uint(pair) & 63
	at = i - int(sums<<8>>shift&0xFF)
	first := int(counts >> shift & 0xF)
	second := int(uint(first-1-at) >> 63) // 1 if it is in the second of the pair
	return 2*pair + second, at - first&-second
}

// slotOf is where entry i is.
func slotOf(counts uint64, i int) int {
	line, at := lineWith(counts, i)
	return line*perLine + at
}

// stretch is the slot of entry i, and how many entries stand together from it on.
func stretch(n node, i int) (slot, count int) {
	counts := *n.counts()
	line, at := lineWith(counts, i)
	return line*perLine + at, inLineOf(counts, line) - at
}

// leafLine is the line of a leaf's words where k belongs, by its header. Like
// search it has no branches that depend on words.
func leafLine[W word](l *layout, n node, k W) int {
	first := unsafe.Add(n.p, 16)
	at, left := 0, l.lines-1
	for left > 1 {
		half := left >> 1
		at += half & -below(first, at+half-1, k)
		left -= half
	}
	return at + below(first, at, k)
}

// inLeafLine is where k belongs in a line: the number of its words that are below.
func inLeafLine[W word](l *layout, n node, line int, k W) int {
	keys := unsafe.Add(n.p, l.at[1].keys+line*perLine*l.size)
	at := perLine / 2 & -below(keys, perLine/2-1, k)
	at += perLine / 4 & -below(keys, at+perLine/4-1, k)
	at += perLine / 8 & -below(keys, at+perLine/8-1, k)
	return at + below(keys, at, k)
}

// searchLeaf is the number of a leaf's words that are below k.
func searchLeaf[W word](l *layout, n node, k W) int {
	line := leafLine(l, n, k)
	return before(*n.counts(), line) + inLeafLine(l, n, line, k)
}

// wordFrom is the first word of the entry at a place of a line, or of the next
// line if that place is behind the line's last; the greatest there is when there
// is none. It looks at no other line than that and the header.
func wordFrom[W word](l *layout, n node, line, at int) uint64 {
	switch {
	case at < inLineOf(*n.counts(), line):
		return uint64(words[W](l, n)[line*perLine+at])
	case line < l.lines-1:
		return uint64(firsts[W](l, n)[line])
	}
	return uint64(^W(0))
}

// startLeaf makes a leaf of a page, of so many entries that are still to be
// written: evenly over the lines, or one full line after the other, as it should
// be where more comes behind the last.
func (l *layout) startLeaf(n node, birth uint64, count int, packed bool) {
	*n.head() = birth<<17 | 1<<16 | uint64(count)
	counts := uint64(0)
	for i, left := l.lines, count; i > 0; i-- {
		c := (left + i - 1) / i
		if packed {
			c = min(left, perLine)
		}
		counts |= uint64(c) << (4 * (l.lines - i))
		left -= c
	}
	*n.counts() = counts
}

// sealLeaf writes what searches need, after the entries were written.
func sealLeaf[W word](l *layout, n node) {
	keys, counts := words[W](l, n), *n.counts()
	first := firsts[W](l, n)
	next := ^W(0)
	for line := l.lines - 1; line >= 0; line-- {
		some := keys[line*perLine : (line+1)*perLine]
		count := inLineOf(counts, line)
		for i := count; i < perLine; i++ {
			some[i] = ^W(0)
		}
		if count > 0 {
			next = some[0]
		}
		if line > 0 {
			first[line-1] = next
		}
	}
}

// setFirst notes a line's first word, for those without entries before it too.
func setFirst[W word](l *layout, n node, line int) {
	first, counts, keys := firsts[W](l, n), *n.counts(), words[W](l, n)
	for ; line > 0; line-- {
		switch {
		case inLineOf(counts, line) > 0:
			first[line-1] = keys[line*perLine]
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

// count adds to the number of entries of a line.
func (e *edit[W]) count(line, more int) {
	*e.n.counts() += uint64(more) << (4 * uint(line) & 63)
}

// move moves an entry from a slot to another.
func (e *edit[W]) move(to, from int) {
	x := e.l.x
	e.keys[to] = e.keys[from]
	copy(e.rest[x*to:x*(to+1)], e.rest[x*from:x*(from+1)])
	e.rows[to] = e.rows[from]
}

// open makes room before the entry at a place of a line, which has some. A line
// is so short that moving all of it is faster than to ask what has to be.
func (e *edit[W]) open(line, at int) {
	x, slot, count := e.l.x, line*perLine+at, inLineOf(*e.n.counts(), line)
	keys, rows := e.keys[line*perLine:(line+1)*perLine], e.rows[line*perLine:(line+1)*perLine]
	for i := count; i > at; i-- {
		keys[i&(perLine-1)], rows[i&(perLine-1)] = keys[i-1], rows[i-1]
	}
	if n := count - at; x > 0 {
		copy(e.rest[x*(slot+1):x*(slot+1+n)], e.rest[x*slot:x*(slot+n)])
	}
	e.count(line, 1)
}

// close takes the entry at a place of a line out.
func (e *edit[W]) close(line, at int) {
	x, slot, count := e.l.x, line*perLine+at, inLineOf(*e.n.counts(), line)
	keys, rows := e.keys[line*perLine:(line+1)*perLine], e.rows[line*perLine:(line+1)*perLine]
	for i := at + 1; i < count; i++ {
		keys[i-1], rows[i-1] = keys[i], rows[i]
	}
	keys[count-1] = ^W(0)
	if n := count - at - 1; x > 0 {
		copy(e.rest[x*slot:x*(slot+n)], e.rest[x*(slot+1):x*(slot+1+n)])
	}
	e.count(line, -1)
}

// insert puts item i as entry p.
func (e *edit[W]) insert(w *work, p, i int) {
	line, at := e.gap(p)
	e.open(line, at)
	slot := line*perLine + at
	e.keys[slot] = W(w.items[i].word)
	w.put(slot, i, e.rest, e.rows)
	*e.n.head()++
	if at == 0 {
		setFirst[W](e.l, e.n, line)
	}
}

// remove takes entry p out.
func (e *edit[W]) remove(p int) {
	line, at := lineWith(*e.n.counts(), p)
	e.close(line, at)
	*e.n.head()--
	if at == 0 {
		setFirst[W](e.l, e.n, line)
	}
}

// placeFor is where a new entry p should go, if there is room.
func (l *layout) placeFor(counts uint64, p int) (line, at int) {
	if p == 0 {
		return 0, 0
	}
	line, at = lineWith(counts, p-1)
	if at++; at == perLine && line+1 < l.lines {
		return line + 1, 0
	}
	return line, at
}

// gap is where a line has room for a new entry p.
func (e *edit[W]) gap(p int) (line, at int) {
	counts := *e.n.counts()
	line, at = e.l.placeFor(counts, p)
	switch to := e.l.nearest(counts, line, at); {
	case to > line:
		e.push(line, to)
	case to < line:
		return e.pull(line, to, at)
	}
	return line, at
}

// nearest is the line with room that is nearest to a place of a line.
func (l *layout) nearest(counts uint64, line, at int) int {
	if inLineOf(counts, line) < perLine {
		return line
	}
	for lo, hi := line-1, line+1; ; lo, hi = lo-1, hi+1 {
		switch {
		case hi < l.lines && at < perLine && inLineOf(counts, hi) < perLine:
			return hi
		case lo >= 0 && inLineOf(counts, lo) < perLine:
			return lo
		}
	}
}

// push moves an entry out of each line from one on into the next, up to line hi
// that has room.
func (e *edit[W]) push(line, hi int) {
	for m := hi; m > line; m-- {
		first := m * perLine
		e.open(m, 0)
		e.move(first, first-1)
		e.keys[first-1] = ^W(0)
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
		e.move(m*perLine+inLineOf(*e.n.counts(), m), (m+1)*perLine)
		e.count(m, 1)
		e.close(m+1, 0)
	}
	for m := line; m >= lo; m-- {
		setFirst[W](e.l, e.n, m)
	}
	if at < 0 {
		at = inLineOf(*e.n.counts(), line)
	}
	return line, at
}
