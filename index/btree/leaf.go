package btree

import (
	"runtime"
	"unsafe"
)

// changeLeaves finds the places of items in leaves, for groups lo to hi, and
// changes those leaves in place that can be. What it did undoLeaves takes back.
func (t *tree[W]) changeLeaves(w *work, lo, hi int) {
	groups := w.groups[t.root.height-1]
	for ; lo < hi; lo += lanes {
		some := groups[lo:min(hi, lo+lanes)]
		if !t.layout.format.Long { // or it is done: tails had to be copied before
			t.inLeaves(w, some)
		}
		sum := uint64(0)
		for i := range some {
			if g := &some[i]; g.writes > 0 && t.fitsLeaf(w, g) {
				g.mode = inPlace
				sum += t.touch(w, g)
			}
		}
		runtime.KeepAlive(sum)
		for i := range some {
			if some[i].mode == inPlace {
				t.changeLeaf(w, &some[i])
			}
		}
	}
}

// touch reads what a change of a leaf will move, so that the cache misses of
// several leaves overlap.
func (t *tree[W]) touch(w *work, g *group) (sum uint64) {
	n := nodeAt(w.pages, g.page)
	from, count := w.places[g.lo].place(), n.len()
	rows := t.layout.rowsAt(n.cap())
	for _, r := range [2][2]int{{lineBytes + t.layout.size*from, lineBytes + t.layout.size*count}, {rows + 8*from, rows + 8*count}} {
		for at := r[0] &^ (lineBytes - 1); at < r[1]; at += lineBytes {
			sum += *(*uint64)(unsafe.Add(n.p, at))
		}
	}
	return sum
}

// edit is a leaf that is changed in place.
type edit[W word] struct {
	l           *layout
	n           node
	keys        []W
	rest, rows  []uint64
	count, most int
}

func (t *tree[W]) edit(w *work, g *group) edit[W] {
	n := nodeAt(w.pages, g.page)
	return edit[W]{t.layout, n, words[W](t.layout, n), t.layout.rest(n), t.layout.rows(n), n.len(), n.len()}
}

// insert puts item i at place p.
func (e *edit[W]) insert(w *work, p, i int) {
	x := e.l.x
	copy(e.keys[p+1:e.count+1], e.keys[p:e.count])
	copy(e.rest[x*(p+1):], e.rest[x*p:x*e.count])
	copy(e.rows[p+1:e.count+1], e.rows[p:e.count])
	e.keys[p] = W(w.items[i].word)
	w.put(p, i, e.rest, e.rows)
	e.count++
	e.most = max(e.most, e.count)
}

// remove takes the entry at place p out.
func (e *edit[W]) remove(p int) {
	x := e.l.x
	copy(e.keys[p:e.count-1], e.keys[p+1:e.count])
	copy(e.rest[x*p:], e.rest[x*(p+1):x*e.count])
	copy(e.rows[p:e.count-1], e.rows[p+1:e.count])
	e.count--
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
	seal[W](t.layout, e.n, w.places[g.lo].place(), e.count, e.most)
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
		seal[W](t.layout, e.n, w.places[g.lo].place(), e.count, e.most)
	}
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
		seal[W](o.l, o.n, 0, o.at, o.n.cap())
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
