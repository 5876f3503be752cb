package btree

import "github.com/gpusql/gpusql/index/page"

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
	l := t.layout
	for g := range from {
		f := &from[g]
		n := nodeAt(w.pages, f.page)
		count, kids, keys := n.len(), l.kids(n), words[W](l, n)
		for i := f.lo; i < f.hi; {
			x := w.items[i]
			next := max(1, search(n, W(x.word)))
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
			out = append(out, group{page: kids[next-1], lo: lo, hi: i, parent: int32(g), slot: int32(next - 1)})
		}
	}
	return out
}

// below reports whether item i is below separator c of a node.
func (t *tree[W]) below(w *work, n node, c int, i int32) bool {
	q := w.place(w.items[i])
	return compare[W](t.layout, n, c, &q) > 0
}

// lanes is how many leaves are searched at once: their cache misses overlap.
const lanes = 16

// inLeaves finds the places of items in up to lanes leaves, and what those will
// have.
func (t *tree[W]) inLeaves(w *work, some []group) {
	var n [lanes]node
	var first [lanes]int
	t.searchFirst(w, some, &n, &first)
	for i := range some {
		t.inLeaf(w, &some[i], n[i], first[i])
	}
}

// searchFirst searches the first item of some groups, a line in all of them at
// a time.
func (t *tree[W]) searchFirst(w *work, some []group, n *[lanes]node, first *[lanes]int) {
	for i := range some {
		n[i] = nodeAt(w.pages, some[i].page)
		first[i] = lineOf(n[i], W(w.items[some[i].lo].word))
	}
	for i := range some {
		first[i] = inLine(n[i], first[i], W(w.items[some[i].lo].word))
	}
}

// inLeaf finds the places of a group's items in its leaf, given the number of
// entries whose word is below the first one's.
func (t *tree[W]) inLeaf(w *work, g *group, n node, first int) {
	l, count := t.layout, n.len()
	keys := words[W](l, n)
	g.had, g.count = int32(count), int32(count)
	for i := g.lo; i < g.hi; i++ {
		x := w.items[i]
		if i > g.lo {
			first = search(n, W(x.word))
		}
		a := at(first << 1)
		if first < count && uint64(keys[first]) == x.word {
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
