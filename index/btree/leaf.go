package btree

// changeLeaves finds the places of items in leaves, and changes those leaves in
// place that can be. What it did undoLeaves takes back.
func (t *tree[W]) changeLeaves(w *work, groups []group) {
	var lines ahead
	for len(groups) > 0 {
		some := groups[:min(lanes, len(groups))]
		groups = groups[len(some):]
		if !t.layout.format.Long { // or it is done: tails had to be copied before
			t.inLeaves(w, some, &lines)
		}
		for i := range some {
			if g := &some[i]; g.writes > 0 && t.fitsLeaf(w, g) {
				g.mode = inPlace
				t.moves(w, g, &lines)
			}
		}
		lines.touch()
		for i := range some {
			if some[i].mode == inPlace {
				t.changeLeaf(w, &some[i])
			}
		}
	}
}

// moves notes what changing a leaf in place will move and was not read yet: as much
// as its first item will.
func (t *tree[W]) moves(w *work, g *group, lines *ahead) {
	l := t.layout
	o := &l.at[1]
	n, a := nodeAt(w.pages, g.page), w.places[g.lo]
	counts := *n.counts()
	if a.there() {
		lines.add(n, o.rows+8*slotOf(counts, a.place()))
		return
	}
	line, at := l.placeFor(counts, a.place())
	to := l.nearest(counts, line, at)
	for lo, hi := min(line, to), max(line, to); lo <= hi; lo++ {
		lines.add(n, o.rows+8*perLine*lo)
		if lo != line || at == 0 {
			lines.add(n, o.keys+l.size*perLine*lo)
		}
	}
}

// changeLeaf applies a group to its leaf, the last item first: places of the
// others stay what they are.
func (t *tree[W]) changeLeaf(w *work, g *group) {
	e := t.edit(w, g)
	for i := int(g.hi) - 1; i >= int(g.lo); i-- {
		switch p, there := w.places[i].place(), w.places[i].there(); {
		case w.dead(w.items[i]) != there: // nothing to do
		case there:
			e.remove(p)
		default:
			e.insert(w, p, i)
		}
	}
}

// undoLeaves takes back what changeLeaves did, which needs no memory.
func (t *tree[W]) undoLeaves(w *work) {
	groups := w.groups[t.root.height-1]
	for k := range groups {
		g := &groups[k]
		if g.mode != inPlace {
			continue
		}
		e := t.edit(w, g)
		for i := int(g.lo); i < int(g.hi); i++ {
			switch p, there := w.places[i].place(), w.places[i].there(); {
			case w.dead(w.items[i]) != there:
			case there:
				e.insert(w, p, i)
			default:
				e.remove(p)
			}
		}
	}
}

// put writes item i, but for its word, to a slot of a leaf with these arrays.
func (w *work) put(slot, i int, rest, rows []uint64) {
	x := w.items[i]
	rows[slot] = w.row(x)
	if w.x > 0 {
		copy(rest[w.x*slot:], w.rest(x))
		if w.format.Long {
			rest[w.x*(slot+1)-1] = uint64(w.tails[i])
		}
	}
}

// writer fills the pieces of a unit one after the other, line by line.
type writer[W word] struct {
	l      *layout
	w      *work
	pieces []piece
	packed bool // see startLeaf
	n      node
	keys   []W
	rest   []uint64
	rows   []uint64
	next   int // piece
	line   int
	slot   int
	left   int // entries that the line is still to have
}

// close ends the present piece.
func (o *writer[W]) close() {
	if o.next > 0 {
		sealLeaf[W](o.l, o.n)
	}
}

func (o *writer[W]) open() {
	o.close()
	p := &o.pieces[o.next]
	o.n = nodeAt(o.w.pages, p.page)
	o.l.startLeaf(o.n, o.w.birth, int(p.count), o.packed)
	o.keys, o.rest, o.rows = words[W](o.l, o.n), o.l.rest(o.n), o.l.rows(o.n)
	o.line = -1
	o.next++
}

// room is how many more entries fit into the present line, at least one.
func (o *writer[W]) room() int {
	for o.left == 0 {
		if o.line++; o.next == 0 || o.line == o.l.lines {
			o.open()
			continue
		}
		o.slot, o.left = o.line*perLine, inLineOf(*o.n.counts(), o.line)
	}
	return o.left
}

// copy appends entries lo to hi of a leaf.
func (o *writer[W]) copy(n node, lo, hi int) {
	keys, rest, rows := words[W](o.l, n), o.l.rest(n), o.l.rows(n)
	x := o.l.x
	for lo < hi {
		from, c := stretch(n, lo)
		c = min(o.room(), c, hi-lo)
		copy(o.keys[o.slot:], keys[from:from+c])
		copy(o.rest[x*o.slot:], rest[x*from:x*(from+c)])
		copy(o.rows[o.slot:], rows[from:from+c])
		o.slot += c
		o.left -= c
		lo += c
	}
}

// put appends item i.
func (o *writer[W]) put(i int) {
	o.room()
	o.keys[o.slot] = W(o.w.items[i].word)
	o.w.put(o.slot, i, o.rest, o.rows)
	o.slot++
	o.left--
}

// putLine appends items from i on until the present line is full or item end comes,
// and returns how many.
func (o *writer[W]) putLine(i, end int) int {
	c := min(o.room(), end-i)
	items, keys := o.w.items[i:i+c], o.keys[o.slot:o.slot+c]
	for j := range keys {
		keys[j] = W(items[j].word)
	}
	if o.w.plain {
		rows := o.rows[o.slot : o.slot+c]
		for j := range rows {
			rows[j] = items[j].at
		}
	} else {
		for j := range c {
			o.w.put(o.slot+j, i+j, o.rest, o.rows)
		}
	}
	o.slot += c
	o.left -= c
	return c
}

// writeUnit writes the pieces of a unit of leaves.
func (t *tree[W]) writeUnit(w *work, u *unit) {
	o := writer[W]{l: t.layout, w: w, pieces: w.pieces[u.pieces.lo:u.pieces.hi], packed: u.append}
	d := t.root.height - 1
	g := u.first
	for slot := u.lo; slot < u.hi; slot++ {
		if g < u.last && w.groups[d][g].slot == slot {
			g++
			if w.groups[d][g-1].mode == rebuilt {
				t.merge(w, &o, &w.groups[d][g-1])
				continue
			}
		}
		n := nodeAt(w.pages, t.child(w, d, u, slot))
		o.copy(n, 0, n.len())
	}
	o.close()
	for i := 1; i < len(o.pieces); i++ {
		a, b := nodeAt(w.pages, o.pieces[i-1].page), nodeAt(w.pages, o.pieces[i].page)
		o.pieces[i].bound = between[W](t.layout, a, b)
	}
}

// merge appends a leaf with its group applied.
func (t *tree[W]) merge(w *work, o *writer[W], g *group) {
	n := nodeAt(w.pages, g.page)
	from := 0
	for i := g.lo; i < g.hi; i++ {
		dead, a := w.dead(w.items[i]), w.places[i]
		if dead != a.there() {
			continue
		}
		o.copy(n, from, a.place())
		from = a.place()
		if dead {
			from++
		} else {
			o.put(int(i))
		}
	}
	o.copy(n, from, n.len())
}

// between is the least of places, in length, that is above the last entry of
// leaf a and not above the first of leaf b.
func between[W word](l *layout, a, b node) place {
	i, j := l.slot(a, a.len()-1), l.slot(b, 0)
	p := place{word: uint64(words[W](l, b)[j]), rest: l.restOf(b, j)}
	if uint64(words[W](l, a)[i]) != p.word {
		p.rest = l.zeros
		return p
	}
	if l.x > 0 {
		last := l.restOf(a, i)
		if l.format.Long && l.compareMore(last, p.rest) != 0 {
			p.rest = append(append(make([]uint64, 0, l.x), p.rest[:l.x-1]...), 0)
			return p
		}
		if l.compareRest(last, p.rest) != 0 {
			return p
		}
	}
	p.row = l.rows(b)[j]
	return p
}
