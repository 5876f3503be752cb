package btree

import "github.com/gpusql/gpusql/index/page"

// unit is some children of one node, next to each other, that are written anew
// as pieces: because they have no room, or because a snapshot reads them, or
// because there is too little left in one of them.
type unit struct {
	parent int32 // group of the level above; -1: the root
	lo, hi int32 // slots of the first child and after the last
	first  int32 // groups of the children that the batch changes
	last   int32 // after them
	total  int32 // entries or children that the pieces have
	pieces span
	append bool // all that is new comes behind the tree's last entry
}

// span is lo to hi of a list.
type span struct{ lo, hi int32 }

// piece is a new node.
type piece struct {
	count int32
	shape shape
	page  page.Number
	bound place // its lower bound, but for a unit's first piece
}

// limits are what nodes of a level may have.
type limits struct{ least, most int32 }

func (t *tree[W]) limits(depth int) limits {
	if depth == t.root.height-1 {
		return limits{int32(t.layout.leafMin), int32(t.layout.leaf.cap)}
	}
	c := int32(t.layout.inner.cap)
	return limits{c / 4, c}
}

// plan decides for each group of a level whether its node is changed in place
// or rebuilt, and counts that in the level above.
func (t *tree[W]) plan(w *work, depth int) {
	groups := w.groups[depth]
	for len(w.units) <= depth {
		w.units = append(w.units, nil)
	}
	units := w.units[depth][:0]
	lim, leaves := t.limits(depth), depth == t.root.height-1
	for g := int32(0); g < int32(len(groups)); {
		x := &groups[g]
		if x.writes == 0 || x.mode != kept {
			g++
			continue
		}
		if !leaves && t.fits(w, x, depth, lim) {
			x.mode = inPlace
			w.inPlace[depth] = append(w.inPlace[depth], g)
			g++
			continue
		}
		u := unit{parent: x.parent, lo: x.slot, hi: x.slot + 1, first: g, last: g + 1, total: x.count}
		if x.parent >= 0 {
			units = t.widen(w, &u, units, depth, lim)
		}
		units = append(units, u)
		g = u.last
	}
	for i := range units {
		u := &units[i]
		for g := u.first; g < u.last; g++ {
			if groups[g].writes > 0 && (!leaves || groups[g].mode != inPlace) {
				groups[g].mode = rebuilt
			}
		}
		t.cut(w, u, depth, lim)
	}
	w.units[depth] = units
	if depth > 0 {
		t.countChildren(w, units, depth-1)
	}
}

// fits reports whether an inner node can be changed in place.
func (t *tree[W]) fits(w *work, g *group, depth int, lim limits) bool {
	n := nodeAt(w.pages, g.page)
	return n.birth() > w.pin && g.count <= lim.most && (g.count >= lim.least || depth == 0 && g.count > 1)
}

// fitsLeaf reports whether a leaf can be changed in place: all insertions find
// room whatever comes first.
func (t *tree[W]) fitsLeaf(w *work, g *group) bool {
	n := nodeAt(w.pages, g.page)
	inserts := (g.writes + g.count - g.had) / 2
	return n.birth() > w.pin && g.had+inserts <= int32(t.layout.leaf.cap) && (g.count >= int32(t.layout.leafMin) || g.parent < 0 && g.count > 0)
}

// widen takes neighbours into a unit that has too little, and one into a leaf's
// that has too much: two full leaves become three, and are fuller than if one
// had become two.
func (t *tree[W]) widen(w *work, u *unit, units []unit, depth int, lim limits) []unit {
	groups := w.groups[depth]
	parent := nodeAt(w.pages, w.groups[depth-1][u.parent].page)
	kids := t.layout.kids(parent)
	full := depth == t.root.height-1 && !t.appends(w, u, depth)
	for u.total < lim.least || full && u.hi == u.lo+1 && u.total > lim.most && u.total <= 2*lim.most {
		switch {
		case int(u.hi) < parent.len():
			if g := u.last; int(g) < len(groups) && groups[g].parent == u.parent && groups[g].slot == u.hi {
				u.total += t.countOf(w, &groups[g])
				u.last++
			} else {
				u.total += int32(nodeAt(w.pages, kids[u.hi]).len())
			}
			u.hi++
		case u.lo > 0:
			if n := len(units); n > 0 && units[n-1].parent == u.parent && units[n-1].hi == u.lo {
				p := units[n-1]
				units = units[:n-1]
				u.lo, u.first, u.total = p.lo, p.first, u.total+p.total
				continue
			}
			u.lo--
			if g := u.first - 1; g >= 0 && groups[g].parent == u.parent && groups[g].slot == u.lo {
				if groups[g].mode == inPlace && depth < t.root.height-1 {
					list := w.inPlace[depth]
					w.inPlace[depth] = list[:len(list)-1] // it was the last one
				}
				u.total += t.countOf(w, &groups[g])
				u.first--
			} else {
				u.total += int32(nodeAt(w.pages, kids[u.lo]).len())
			}
		default:
			return units // there is nothing else in the parent
		}
	}
	return units
}

// countOf is what a group's node will have.
func (t *tree[W]) countOf(w *work, g *group) int32 {
	if g.writes == 0 {
		return int32(nodeAt(w.pages, g.page).len())
	}
	return g.count
}

// cut decides what pieces a unit is written as: of like size, or full but for
// the last one when a tree grows at its end.
func (t *tree[W]) cut(w *work, u *unit, depth int, lim limits) {
	u.append = t.appends(w, u, depth)
	from := int32(len(w.pieces))
	most := lim.most
	if u.hi > u.lo+1 {
		most -= most / 8 // or they would soon be full again
	}
	n := (u.total + most - 1) / most
	s := t.layout.inner
	if depth == t.root.height-1 {
		s = t.layout.leaf
	}
	for left := u.total; n > 0; n-- {
		c := (left + n - 1) / n
		if u.append && n > 1 {
			c = lim.most
		}
		w.pieces = append(w.pieces, piece{count: c, shape: s})
		left -= c
	}
	u.pieces = span{from, int32(len(w.pieces))}
}

// grow plans the levels over a root that became more than one node.
func (t *tree[W]) grow(w *work) {
	w.growth = w.growth[:0]
	if len(w.units[0]) == 0 {
		return
	}
	top := w.units[0][0]
	for n := top.pieces.hi - top.pieces.lo; n > 1; {
		u := unit{parent: -1, total: n}
		from := int32(len(w.pieces))
		most := int32(t.layout.inner.cap)
		n = (n + most - 1) / most
		for left, k := u.total, n; k > 0; k-- {
			c := (left + k - 1) / k
			w.pieces = append(w.pieces, piece{count: c, shape: t.layout.inner})
			left -= c
		}
		u.pieces = span{from, int32(len(w.pieces))}
		w.growth = append(w.growth, u)
	}
}

// appends reports whether a unit is the tree's last node of a level, and what
// is new comes at its end.
func (t *tree[W]) appends(w *work, u *unit, depth int) bool {
	groups := w.groups[depth]
	if u.last != int32(len(groups)) || u.hi != u.lo+1 {
		return false
	}
	g := &groups[u.first]
	for d, p := depth, g; d > 0; d-- {
		up := &w.groups[d-1][p.parent]
		if int(p.slot) != nodeAt(w.pages, up.page).len()-1 {
			return false
		}
		p = up
	}
	if depth < t.root.height-1 {
		below := w.units[depth+1]
		return len(below) > 0 && below[len(below)-1].append && g.writes == 1
	}
	return w.places[g.lo].place() == nodeAt(w.pages, g.page).len()
}

// countChildren tells the groups of the level above what units do to them.
func (t *tree[W]) countChildren(w *work, units []unit, depth int) {
	groups := w.groups[depth]
	for i := range units {
		g := &groups[units[i].parent]
		if g.writes == 0 {
			g.count = int32(nodeAt(w.pages, g.page).len())
			g.units.lo = int32(i)
		}
		g.writes++
		g.units.hi = int32(i + 1)
		g.count += units[i].pieces.hi - units[i].pieces.lo - (units[i].hi - units[i].lo)
	}
}
