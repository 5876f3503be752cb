package btree

import "github.com/gpusql/gpusql/index/page"

// kid is a child with its lower bound.
type kid struct {
	page  page.Number
	bound place
}

// carry brings the units of leaves into the levels above, and returns the new
// root.
func (t *tree[W]) carry(w *work) root {
	height := t.root.height
	for d := height - 2; d >= 0; d-- {
		for _, g := range w.inPlace[d] {
			t.changeInner(w, d, &w.groups[d][g])
		}
		for i := range w.units[d] {
			t.rebuildInner(w, d, &w.units[d][i])
		}
	}
	return t.top(w)
}

// child is a child of the node that a unit of level d belongs to. That node is
// as it was: it comes after the levels below it.
func (t *tree[W]) child(w *work, d int, u *unit, slot int32) page.Number {
	if u.parent < 0 {
		return t.root.top
	}
	return t.layout.kids(nodeAt(w.pages, w.groups[d-1][u.parent].page))[slot]
}

// top is the root over the units of the first level.
func (t *tree[W]) top(w *work) root {
	r := root{top: t.root.top, height: t.root.height}
	if len(w.units[0]) > 0 {
		u := &w.units[0][0]
		w.retired = append(w.retired, t.root.top)
		for i := range w.growth {
			w.kids = t.kidsOf(w, w.kids[:0], u, place{rest: t.layout.zeros})
			u = &w.growth[i]
			t.writeInner(w, u, w.kids)
			r.height++
		}
		if u.pieces.lo == u.pieces.hi {
			return root{}
		}
		r.top = w.pieces[u.pieces.lo].page
	}
	for r.height > 1 {
		n := nodeAt(w.pages, r.top)
		if n.len() > 1 {
			break
		}
		w.retired = append(w.retired, r.top)
		t.dropBounds(w, n, 0, 1)
		r.top = t.layout.kids(n)[0]
		r.height--
	}
	return r
}

// kidsOf appends a unit's pieces as children, the first of them with a bound.
func (t *tree[W]) kidsOf(w *work, kids []kid, u *unit, bound place) []kid {
	for i := u.pieces.lo; i < u.pieces.hi; i++ {
		if i > u.pieces.lo {
			bound = w.pieces[i].bound
		}
		kids = append(kids, kid{w.pieces[i].page, bound})
	}
	return kids
}

// changeInner puts units into their node, the last first: slots of the others
// stay what they are.
func (t *tree[W]) changeInner(w *work, d int, g *group) {
	l := t.layout
	n := nodeAt(w.pages, g.page)
	keys, rest, rows, kids := words[W](l, n), l.rest(n), l.rows(n), l.kids(n)
	units := w.units[d+1][g.units.lo:g.units.hi]
	count := n.len()
	most := count
	for i := len(units) - 1; i >= 0; i-- {
		u := &units[i]
		lo, hi := int(u.lo), int(u.hi)
		w.retired = append(w.retired, kids[lo:hi]...)
		pieces := int(u.pieces.hi - u.pieces.lo)
		// The first piece takes the bound of the first child.
		from := lo + min(pieces, 1)
		t.dropBounds(w, n, from, hi)
		to := lo + pieces
		copy(keys[to:], keys[hi:count])
		copy(rest[l.x*to:], rest[l.x*hi:l.x*count])
		copy(rows[to:], rows[hi:count])
		copy(kids[to:], kids[hi:count])
		count += to - hi
		most = max(most, count)
		for j := range pieces {
			p := &w.pieces[int(u.pieces.lo)+j]
			kids[lo+j] = p.page
			if j > 0 {
				t.setBound(n, lo+j, &p.bound)
			}
		}
	}
	seal[W](l, n, int(units[0].lo), count, most)
}

// setBound writes separator i of a node, which uses its tail from now on.
func (t *tree[W]) setBound(n node, i int, b *place) {
	l := t.layout
	words[W](l, n)[i] = W(b.word)
	copy(l.restOf(n, i), b.rest)
	l.rows(n)[i] = b.row
	if l.format.Long {
		t.tails.use(b.rest[l.x-1])
	}
}

// dropBounds notes that separators lo to hi of a node are used no more.
func (t *tree[W]) dropBounds(w *work, n node, lo, hi int) {
	if !t.layout.format.Long {
		return
	}
	for i := lo; i < hi; i++ {
		if a := t.layout.restOf(n, i)[t.layout.x-1]; a != 0 {
			w.dropped = append(w.dropped, tailAt(a))
		}
	}
}

// rebuildInner writes the pieces of a unit of inner nodes.
func (t *tree[W]) rebuildInner(w *work, d int, u *unit) {
	l := t.layout
	kids := w.kids[:0]
	g := u.first
	for slot := u.lo; slot < u.hi; slot++ {
		var changes []unit
		number := t.child(w, d, u, slot)
		if g < u.last && w.groups[d][g].slot == slot {
			if x := &w.groups[d][g]; x.writes > 0 {
				changes = w.units[d+1][x.units.lo:x.units.hi]
			}
			g++
		}
		n := nodeAt(w.pages, number)
		t.dropBounds(w, n, 0, n.len())
		old := l.kids(n)
		for i := 0; i < n.len(); {
			bound := place{uint64(words[W](l, n)[i]), l.restOf(n, i), l.rows(n)[i]}
			if len(changes) > 0 && int(changes[0].lo) == i {
				w.retired = append(w.retired, old[i:changes[0].hi]...)
				kids = t.kidsOf(w, kids, &changes[0], bound)
				i = int(changes[0].hi)
				changes = changes[1:]
				continue
			}
			kids = append(kids, kid{old[i], bound})
			i++
		}
	}
	w.kids = kids
	t.writeInner(w, u, kids)
}

// writeInner writes children into the pieces of a unit.
func (t *tree[W]) writeInner(w *work, u *unit, kids []kid) {
	for i := u.pieces.lo; i < u.pieces.hi; i++ {
		p := &w.pieces[i]
		n := nodeAt(w.pages, p.page)
		n.start(w.birth)
		for j := range kids[:p.count] {
			t.layout.kids(n)[j] = kids[j].page
			t.setBound(n, j, &kids[j].bound)
		}
		seal[W](t.layout, n, 0, int(p.count), p.shape.cap)
		p.bound = kids[0].bound
		kids = kids[p.count:]
	}
}
