package btree

import "github.com/gpusql/gpusql/device"

// writeLeaves writes the leaves of a planned batch: units anew, others in place.
func (t *tree[W]) writeLeaves(s device.Stream, w *work) error {
	d := t.root.height - 1
	units, inPlace := w.units[d], w.inPlace[d]
	return spread(s, len(units)+len(inPlace), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if i < len(units) {
				t.writeUnit(w, &units[i])
			} else {
				t.changeLeaf(w, &w.groups[d][inPlace[i-len(units)]])
			}
		}
	})
}

// changeLeaf applies a group to its leaf, the last item first: places of the others
// stay what they are.
func (t *tree[W]) changeLeaf(w *work, g *group) {
	l := t.layout
	n := nodeAt(w.pages, g.page)
	keys, rest, rows := words[W](l, n), l.rest(n), l.rows(n)
	count := n.len()
	most := count
	for i := g.hi - 1; i >= g.lo; i-- {
		p := w.places[i].place()
		dead := w.dead(w.items[i])
		if dead != w.places[i].there() {
			continue
		}
		if dead {
			copy(keys[p:count-1], keys[p+1:count])
			copy(rest[l.x*p:], rest[l.x*(p+1):l.x*count])
			copy(rows[p:count-1], rows[p+1:count])
			count--
			continue
		}
		copy(keys[p+1:count+1], keys[p:count])
		copy(rest[l.x*(p+1):], rest[l.x*p:l.x*count])
		copy(rows[p+1:count+1], rows[p:count])
		keys[p] = W(w.items[i].word)
		w.put(p, int(i), rest, rows)
		count++
		most = max(most, count)
	}
	seal[W](l, n, count, most)
}

// put writes item i, but for its word, as entry p of a leaf with these arrays.
func (w *work) put(p, i int, rest, rows []uint64) {
	x := w.items[i]
	rows[p] = w.row(x)
	if w.x > 0 {
		copy(rest[w.x*p:], w.rest(x))
		if w.format.Long {
			rest[w.x*(p+1)-1] = uint64(w.tails[i])
		}
	}
}

// writer fills the pieces of a unit one after the other.
type writer[W word] struct {
	l      *layout
	w      *work
	pieces []piece
	n      node
	at     int
	keys   []W
	rest   []uint64
	rows   []uint64
	next   int
}

// close ends the present piece.
func (o *writer[W]) close() {
	if o.next > 0 {
		seal[W](o.l, o.n, o.at, o.n.cap())
	}
}

func (o *writer[W]) open() {
	o.close()
	p := &o.pieces[o.next]
	o.n = nodeAt(o.w.pages, p.page)
	o.n.start(o.w.birth, p.shape.cap)
	o.keys, o.rest, o.rows = words[W](o.l, o.n), o.l.rest(o.n), o.l.rows(o.n)
	o.at = 0
	o.next++
}

// room is how many more entries fit into the present piece, at least one.
func (o *writer[W]) room() int {
	if o.next == 0 || o.at == int(o.pieces[o.next-1].count) {
		o.open()
	}
	return int(o.pieces[o.next-1].count) - o.at
}

// copy appends entries lo to hi of a leaf.
func (o *writer[W]) copy(n node, lo, hi int) {
	keys, rest, rows := words[W](o.l, n), o.l.rest(n), o.l.rows(n)
	x := o.l.x
	for lo < hi {
		c := min(o.room(), hi-lo)
		copy(o.keys[o.at:], keys[lo:lo+c])
		copy(o.rest[x*o.at:], rest[x*lo:x*(lo+c)])
		copy(o.rows[o.at:], rows[lo:lo+c])
		o.at += c
		lo += c
	}
}

// put appends item i.
func (o *writer[W]) put(i int) {
	o.room()
	o.keys[o.at] = W(o.w.items[i].word)
	o.w.put(o.at, i, o.rest, o.rows)
	o.at++
}

// writeUnit writes the pieces of a unit of leaves.
func (t *tree[W]) writeUnit(w *work, u *unit) {
	o := writer[W]{l: t.layout, w: w, pieces: w.pieces[u.pieces.lo:u.pieces.hi]}
	d := t.root.height - 1
	g := u.first
	for slot := u.lo; slot < u.hi; slot++ {
		if g < u.last && w.groups[d][g].slot == slot {
			t.merge(w, &o, &w.groups[d][g])
			g++
			continue
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
	i := a.len() - 1
	p := place{word: uint64(words[W](l, b)[0]), rest: l.restOf(b, 0)}
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
	p.row = l.rows(b)[0]
	return p
}
