package btree

import (
	"unsafe"

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

// locate makes the groups of all levels of a batch, the root's first.
func (t *tree[W]) locate(w *work) {
	for len(w.groups) < t.root.height {
		w.groups = append(w.groups, nil)
	}
	w.groups[0] = append(w.groups[0][:0], group{page: t.root.top, hi: int32(len(w.items)), parent: -1})
	for d := 1; d < t.root.height; d++ {
		w.groups[d] = t.children(w, w.groups[d-1], w.groups[d][:0])
	}
}

// children splits groups of inner nodes among their children.
func (t *tree[W]) children(w *work, from, out []group) []group {
	var n [lanes]node
	for lo := 0; lo < len(from); lo += lanes {
		some := from[lo:min(len(from), lo+lanes)]
		w.nodes(some, &n)
		t.touchItems(w, some, &n)
		for i := range some {
			out = t.split(w, lo+i, &some[i], n[i], out)
		}
	}
	return out
}

// touchItems reads what the items of groups need of their inner nodes: lines of
// words and of children.
//
//go:noinline
func (t *tree[W]) touchItems(w *work, some []group, n *[lanes]node) (sum uint64) {
	l := t.layout
	kids := l.at[0].kids
	for i := range some {
		x := n[i&(lanes-1)]
		for last, j := -1, some[i].lo; j < some[i].hi; j++ {
			if line := lineOf(x, W(w.items[j].word)); line != last {
				last = line
				sum += *(*uint64)(unsafe.Add(x.p, lineBytes*(1+line)))
				sum += uint64(*(*uint32)(unsafe.Add(x.p, kids+4*l.per*line)))
			}
		}
	}
	return sum
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
const lanes = 16

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
func (t *tree[W]) inLeaves(w *work, some []group) {
	var n [lanes]node
	var line [lanes]int
	for i := range some {
		n[i] = nodeAt(w.pages, some[i].page)
	}
	touchLeaves(t.layout, n[:len(some)])
	for i := range some {
		line[i] = leafLine(t.layout, n[i], W(w.items[some[i].lo].word))
	}
	touchWords(t.layout, n[:len(some)], &line)
	for i := range some {
		t.inLeaf(w, &some[i], n[i], line[i])
	}
}

// inLeaf finds the places of a group's items in its leaf, given the line where
// the first one belongs.
func (t *tree[W]) inLeaf(w *work, g *group, n node, line int) {
	l, count, counts := t.layout, n.len(), *n.counts()
	g.had, g.count = int32(count), int32(count)
	for i := g.lo; i < g.hi; i++ {
		x := w.items[i]
		if i > g.lo {
			line = leafLine(l, n, W(x.word))
		}
		inside := inLeafLine(l, n, line, W(x.word))
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
