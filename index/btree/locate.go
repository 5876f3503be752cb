package btree

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index/page"
)

// group is the part of a batch that falls into one node.
type group struct {
	page   page.Number
	lo, hi int32 // items
	parent int32 // number of the group of the level above
	slot   int32 // which child of that it is
	had    int32 // entries of a leaf
	count  int32 // entries or children when the batch is applied
	writes int32 // changes: items of a leaf, units of an inner node
	mode   mode
	units  span // of an inner node: those of the level below that change it
}

// mode is what becomes of a group's node.
type mode uint8

const (
	kept    mode = iota // nothing
	inPlace             // it is changed; a leaf is before others are planned
	rebuilt             // it is written anew, as part of a unit
)

// at is where an item belongs in its leaf: a place, and whether it is there.
type at uint16

const there at = 1

func (a at) place() int  { return int(a >> 1) }
func (a at) there() bool { return a&there != 0 }

// locate makes the groups of all levels of a batch, the root's first. Leaves, if there
// is a function for them, are for whoever made their groups: another launch would wait for
// other cores to wake once more.
func (t *tree[W]) locate(s device.Stream, w *work, leaves func([]group)) error {
	for len(w.groups) < t.root.height {
		w.groups = append(w.groups, nil)
	}
	for d := range w.groups { // of the batch before: what fails here must not be taken for them
		w.groups[d] = w.groups[d][:0]
	}
	w.groups[0] = append(w.groups[0], group{page: t.root.top, hi: int32(len(w.items)), parent: -1})
	if t.root.height == 1 && leaves != nil {
		leaves(w.groups[0])
	}
	for d := 1; d < t.root.height; d++ {
		then := leaves
		if d < t.root.height-1 {
			then = nil
		}
		if err := t.locateLevel(s, w, d, then); err != nil {
			return err
		}
	}
	return nil
}

// locateLevel makes the groups of a level of those above it. Each core makes those of
// a stretch of nodes, and they are put one after the other.
func (t *tree[W]) locateLevel(s device.Stream, w *work, d int, then func([]group)) error {
	from := w.groups[d-1]
	for len(w.parts) < s.Device().Traits().Streams {
		w.parts = append(w.parts, nil)
	}
	for p := range w.parts {
		w.parts[p] = w.parts[p][:0]
	}
	w.parts[0] = w.groups[d]
	parts, err := spreadNodes(s, len(from), splitNodes, func(p, lo, hi int) {
		w.parts[p] = t.children(w, from, lo, hi, w.parts[p][:0])
		if then != nil {
			then(w.parts[p])
		}
	})
	out := w.parts[0]
	for _, p := range w.parts[1:parts] {
		out = append(out, p...)
	}
	w.groups[d] = out
	return err
}

// children splits groups lo to hi of inner nodes among their children.
func (t *tree[W]) children(w *work, from []group, lo, hi int, out []group) []group {
	var n [lanes]node
	var lines ahead
	whole := len(w.items) >= wholeNodes*len(from)
	for ; lo < hi; lo += lanes {
		some := from[lo:min(hi, lo+lanes)]
		w.nodes(some, &n)
		if whole {
			touchInner(t.layout, n[:len(some)])
		} else {
			for i := range some {
				t.needs(w, &some[i], n[i], &lines)
			}
			lines.touch()
		}
		for i := range some {
			out = t.split(w, lo+i, &some[i], n[i], out)
		}
	}
	return out
}

// wholeNodes is for how many items a node all of it is read ahead: finding out which
// lines they need costs more than reading those that they do not.
const wholeNodes = 3

// touchInner reads all words and children of inner nodes.
//
//go:noinline
func touchInner(l *layout, n []node) (sum uint32) {
	kids := l.at[0].kids
	for i := range n {
		count := n[i].len()
		for at := lineBytes; at < lineBytes+l.size*count; at += lineBytes {
			sum += *(*uint32)(unsafe.Add(n[i].p, at))
		}
		for at := kids; at < kids+4*count; at += lineBytes {
			sum += *(*uint32)(unsafe.Add(n[i].p, at))
		}
	}
	return sum
}

// needs notes what the items of a group need of their inner node: lines of words
// and of children.
func (t *tree[W]) needs(w *work, g *group, n node, lines *ahead) {
	l := t.layout
	for last, i := -1, g.lo; i < g.hi; i++ {
		if line := lineOf(n, W(w.items[i].word)); line != last {
			last = line
			lines.add(n, lineBytes*(1+line))
			lines.add(n, l.at[0].kids+4*l.per*line)
		}
	}
}

// split appends the groups of the children of node n.
func (t *tree[W]) split(w *work, number int, f *group, n node, out []group) []group {
	l := t.layout
	count, kids, keys := n.len(), l.kids(n), words[W](l, n)
	for i := f.lo; i < f.hi; {
		x := w.items[i]
		next := max(1, search(l, n, W(x.word)))
		if next < count && uint64(keys[next]) == x.word {
			q := w.place(x)
			next = refine[W](l, n, next, count, &q, 1)
		}
		lo := i
		i++
		if next == count {
			i = f.hi
		} else {
			bound := uint64(keys[next])
			for i < f.hi && w.items[i].word < bound {
				i++
			}
			for i < f.hi && w.items[i].word == bound && t.below(w, n, next, i) {
				i++
			}
		}
		out = append(out, group{page: kids[next-1], lo: lo, hi: i, parent: int32(number), slot: int32(next - 1)})
	}
	return out
}

// below reports whether item i is below separator c of a node.
func (t *tree[W]) below(w *work, n node, c int, i int32) bool {
	q := w.place(w.items[i])
	return compare[W](t.layout, n, c, &q) > 0
}

// lanes is how many nodes are searched at once, a line in all of them after the
// other: functions that touch read these lines first, in loops so short that
// the processor has the cache misses of all of them under way.
const lanes = 32

// ahead is a list of lines that will be needed. Which they are is found out before
// they are read, and not on the way: what is between two misses in the program is
// between them in the processor, which looks some hundred instructions ahead.
type ahead struct {
	at [4 * lanes]unsafe.Pointer
	n  int
}

// add notes the line with a byte of a node; when there are too many, that is all.
func (a *ahead) add(n node, offset int) {
	if a.n < len(a.at) {
		a.at[a.n] = unsafe.Add(n.p, offset&^3)
		a.n++
	}
}

// touch reads all of them.
//
//go:noinline
func (a *ahead) touch() (sum uint32) {
	for _, p := range a.at[:a.n] {
		sum += *(*uint32)(p)
	}
	a.n = 0
	return sum
}

// nodes are those of up to lanes groups, with line 0 of each read.
func (w *work) nodes(some []group, n *[lanes]node) {
	for i := range some {
		n[i] = nodeAt(w.pages, some[i].page)
	}
	touchNodes(n[:len(some)])
}

// touchNodes reads line 0 of nodes.
//
//go:noinline
func touchNodes(n []node) (sum uint64) {
	for i := range n {
		sum += *n[i].head()
	}
	return sum
}

// touchLeaves reads the headers of leaves.
//
//go:noinline
func touchLeaves(l *layout, n []node) (sum uint64) {
	end := l.at[1].keys - lineBytes
	for i := range n {
		sum += *n[i].head() + *(*uint64)(unsafe.Add(n[i].p, end))
	}
	return sum
}

// touchWords reads a line of words of each of some leaves.
//
//go:noinline
func touchWords(l *layout, n []node, line *[lanes]int) (sum uint64) {
	for i := range n {
		sum += *(*uint64)(unsafe.Add(n[i].p, l.at[1].keys+perLine*l.size*line[i&(lanes-1)]))
	}
	return sum
}

// inLeaves finds the places of items in up to lanes leaves, and what those will
// have.
func (t *tree[W]) inLeaves(w *work, some []group, lines *ahead) {
	l := t.layout
	var n [lanes]node
	var line, inside [lanes]int
	for i := range some {
		n[i] = nodeAt(w.pages, some[i].page)
	}
	touchLeaves(l, n[:len(some)])
	for i := range some {
		line[i] = leafLine(l, n[i], W(w.items[some[i].lo].word))
	}
	touchWords(l, n[:len(some)], &line)
	for i := range some {
		word := w.items[some[i].lo].word
		inside[i] = inLeafLine(l, n[i], line[i], W(word))
		if wordFrom[W](l, n[i], line[i], inside[i]) == word { // whose row is to be compared
			slot := slotOf(*n[i].counts(), before(*n[i].counts(), line[i])+inside[i])
			lines.add(n[i], l.at[1].rows+8*min(slot, l.leaf.cap-1))
		}
	}
	lines.touch()
	for i := range some {
		t.inLeaf(w, &some[i], n[i], line[i], inside[i])
	}
}

// inLeaf finds the places of a group's items in its leaf, given the line where
// the first one belongs, and where in it.
func (t *tree[W]) inLeaf(w *work, g *group, n node, line, inside int) {
	l, count, counts := t.layout, n.len(), *n.counts()
	g.had, g.count = int32(count), int32(count)
	for i := g.lo; i < g.hi; i++ {
		x := w.items[i]
		if i > g.lo {
			line = leafLine(l, n, W(x.word))
			inside = inLeafLine(l, n, line, W(x.word))
		}
		first := before(counts, line) + inside
		a := at(first << 1)
		if first < count && wordFrom[W](l, n, line, inside) == x.word {
			q := w.place(x)
			p := refine[W](l, n, first, count, &q, 0)
			a = at(p << 1)
			if p < count && compare[W](l, n, p, &q) == 0 {
				a |= there
			}
		}
		w.places[i] = a
		if w.dead(x) == a.there() {
			g.writes++
			g.count += 1 - 2*int32(a&there)
		}
	}
}
