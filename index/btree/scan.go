package btree

import (
	"slices"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

// spot is the two ends of a range, when they are in children of one node.
type spot struct {
	parent         node // none: the ends are elsewhere, or there is only one leaf
	loSlot, hiSlot uint16
	lo, hi         uint16 // places in the leaves of the slots
}

// Scan finds the entries of ranges: they are counted, and then copied.
func (sn *snapshot[W]) Scan(s device.Stream, r index.Ranges, o index.Order, a *index.Answer) error {
	if err := a.Ask(r.N); err != nil {
		return err
	}
	offsets := device.View[uint64](a.Offsets(), r.N+1)
	spots := sn.t.spots(r.N)
	defer sn.t.pool.Put(spots)
	offsets[0] = 0
	q := sn.ranges(r, o)
	if err := spread(s, r.N, func(from, to int) { q.count(from, to, offsets[1:], *spots) }); err != nil {
		return err
	}
	for i := range r.N {
		offsets[i+1] += offsets[i]
	}
	total, size := int(offsets[r.N]), 0
	if o.Keys {
		size = sn.t.layout.format.Size()
	}
	if err := a.Room(total, size); err != nil || total == 0 {
		return err
	}
	out := found{rows: device.View[uint64](a.Rows(), total)}
	if o.Keys {
		out.keys = device.View[byte](a.Keys(), size*total)
	}
	return spread(s, r.N, func(from, to int) {
		for i := from; i < to; i++ {
			if (i-from)%lanes == 0 {
				some := (*spots)[i:min(to, i+lanes)]
				q.touchLeaves(some, offsets[i:])
				q.touch(some, offsets[i:])
			}
			q.write(i, &(*spots)[i], out, int(offsets[i]), int(offsets[i+1]))
		}
	})
}

// Count counts the entries of ranges.
func (sn *snapshot[W]) Count(s device.Stream, r index.Ranges, counts device.Ptr) error {
	out := device.View[uint64](counts, r.N)
	spots := sn.t.spots(r.N)
	defer sn.t.pool.Put(spots)
	q := sn.ranges(r, index.Order{})
	return spread(s, r.N, func(from, to int) { q.count(from, to, out, *spots) })
}

// spots is memory for n spots.
func (t *tree[W]) spots(n int) *[]spot {
	p, ok := t.pool.Get().(*[]spot)
	if !ok {
		p = new([]spot)
	}
	*p = slices.Grow((*p)[:0], n)[:n]
	return p
}

// ranges are the questions of a Scan.
type ranges[W word] struct {
	sn     *snapshot[W]
	lo, hi places
	order  index.Order
}

func (sn *snapshot[W]) ranges(r index.Ranges, o index.Order) *ranges[W] {
	return &ranges[W]{sn, sn.t.placesAt(r.Lo.Keys, r.Lo.Rows, r.N), sn.t.placesAt(r.Hi.Keys, r.Hi.Rows, r.N), o}
}

// count counts the entries of ranges from to to, to the limit if there is one.
func (q *ranges[W]) count(from, to int, counts []uint64, spots []spot) {
	if q.sn.root.height == 0 {
		clear(counts[from:to])
		return
	}
	var lo, hi descent
	for ; from < to; from += lanes {
		m := min(lanes, to-from)
		some := spots[from : from+m]
		if q.lo.keys == nil || q.hi.keys == nil || q.sn.root.height == 1 {
			clear(some)
		} else {
			q.sn.descend(&q.lo, from, m, &lo)
			q.sn.descend(&q.hi, from, m, &hi)
			for i := range some {
				some[i] = q.spot(from+i, i, &lo, &hi)
			}
		}
		for i := range some {
			counts[from+i] = uint64(q.countOne(from+i, &some[i]))
		}
	}
}

// spot is where lane i of two descents went, if both went to one parent.
func (q *ranges[W]) spot(number, i int, lo, hi *descent) spot {
	if lo.parent[i] != hi.parent[i] {
		return spot{}
	}
	a, b := q.lo.place(number), q.hi.place(number)
	l := q.sn.t.layout
	return spot{lo.parent[i], uint16(lo.slot[i]), uint16(hi.slot[i]),
		uint16(refine[W](l, lo.n[i], lo.entry(i), lo.n[i].len(), &a, 0)),
		uint16(refine[W](l, hi.n[i], hi.entry(i), hi.n[i].len(), &b, 0))}
}

// countOne counts the entries of range i.
func (q *ranges[W]) countOne(i int, p *spot) int {
	limit := q.order.Limit
	if limit == 0 {
		limit = 1<<63 - 1
	}
	if p.parent.p == nil {
		a := cursor[W]{l: q.sn.t.layout, pages: q.sn.pages}
		b := a
		q.sn.seekLo(&a, &q.lo, i)
		q.sn.seekHi(&b, &q.hi, i)
		return min(limit, distance(&a, &b, limit, q.order.Direction))
	}
	n := int(p.hi) - int(p.lo)
	kids := q.sn.t.layout.kids(p.parent)
	for slot := p.loSlot; slot < p.hiSlot; slot++ {
		n += nodeAt(q.sn.pages, kids[slot]).len()
	}
	if p.loSlot > p.hiSlot {
		return 0
	}
	return min(limit, max(n, 0))
}

// touchLeaves reads line 0 of the leaves that some ranges will be copied from,
// which touch needs to know where rows are: were it to meet them one after the
// other, it would wait for each before it knows how the next loop ends.
//
//go:noinline
func (q *ranges[W]) touchLeaves(spots []spot, offsets []uint64) (sum uint64) {
	l := q.sn.t.layout
	for i := range spots {
		p := &spots[i]
		left := int(offsets[i+1] - offsets[i])
		if p.parent.p == nil || left == 0 || q.order.Direction == index.Backward {
			continue
		}
		kids := l.kids(p.parent)
		for slot, last := int(p.loSlot), min(int(p.hiSlot), int(p.loSlot)+left/l.leafMin+1); slot <= last; slot++ {
			sum += *nodeAt(q.sn.pages, kids[slot]).head()
		}
	}
	return sum
}

// touch reads the lines of rows that some ranges will be copied from, forward,
// so that their cache misses overlap.
//
//go:noinline
func (q *ranges[W]) touch(spots []spot, offsets []uint64) (sum uint64) {
	l := q.sn.t.layout
	for i := range spots {
		p := &spots[i]
		left := int(offsets[i+1] - offsets[i])
		if p.parent.p == nil || q.order.Direction == index.Backward {
			continue
		}
		kids, at := l.kids(p.parent), int(p.lo)
		for slot := int(p.loSlot); left > 0; slot, at = slot+1, 0 {
			n := nodeAt(q.sn.pages, kids[slot])
			some := min(left, n.len()-at)
			if left -= some; some == 0 {
				continue
			}
			rows := unsafe.Add(n.p, l.at[1].rows)
			for line, last := l.slot(n, at)&^(perLine-1), l.slot(n, at+some-1); line <= last; line += perLine {
				sum += *(*uint64)(unsafe.Add(rows, 8*line))
			}
		}
	}
	return sum
}

// found is where a scan's entries go.
type found struct {
	rows []uint64
	keys []byte // nil: they were not asked for
}

// write writes the entries of range i, as entries from to to of the answer.
func (q *ranges[W]) write(i int, p *spot, out found, from, to int) {
	if from == to {
		return
	}
	c := cursor[W]{l: q.sn.t.layout, pages: q.sn.pages}
	switch forward := q.order.Direction == index.Forward; {
	case p.parent.p == nil && forward:
		q.sn.seekLo(&c, &q.lo, i)
	case p.parent.p == nil:
		q.sn.seekHi(&c, &q.hi, i)
	case forward:
		c.enter(p.parent, int(p.loSlot), int(p.lo))
	default:
		c.enter(p.parent, int(p.hiSlot), int(p.hi))
	}
	if q.order.Direction == index.Forward {
		forward(out, &c, from, to)
	} else {
		backward(out, &c, from, to)
	}
}

// seekLo goes to the first entry of range i.
func (sn *snapshot[W]) seekLo(c *cursor[W], lo *places, i int) {
	if lo.keys == nil {
		c.seek(sn.root, nil)
		return
	}
	q := lo.place(i)
	c.seek(sn.root, &q)
}

// seekHi goes behind the last entry of range i.
func (sn *snapshot[W]) seekHi(c *cursor[W], hi *places, i int) {
	if hi.keys == nil {
		c.seekEnd(sn.root)
		return
	}
	q := hi.place(i)
	c.seek(sn.root, &q)
}

// distance is the number of entries from a to b, 0 when b is before a. It may
// stop at a limit. Both cursors move.
func distance[W word](a, b *cursor[W], limit int, d index.Direction) int {
	for k := 0; k <= a.depth; k++ {
		if x, y := a.path[k].at, b.path[k].at; x > y {
			return 0
		} else if x < y {
			break
		}
	}
	if limit == 0 {
		limit = 1<<63 - 1
	}
	n := 0
	if d == index.Forward {
		for a.leaf().n != b.leaf().n {
			n += a.leaf().n.len() - a.leaf().at
			if n >= limit || !a.nextLeaf() {
				return n
			}
		}
		return n + b.leaf().at - a.leaf().at
	}
	for a.leaf().n != b.leaf().n {
		n += b.leaf().at
		if n >= limit || !b.previousLeaf() {
			return n
		}
	}
	return n + b.leaf().at - a.leaf().at
}

// forward writes entries from the cursor on.
func forward[W word](out found, c *cursor[W], from, to int) {
	for {
		s := c.leaf()
		n := c.l.copyRows(out.rows[from:to], s.n, s.at)
		for j := range n {
			if out.keys == nil {
				break
			}
			copyKey(c.l, s.n, c.l.slot(s.n, s.at+j), out.keys, from+j)
		}
		if from += n; from == to {
			return
		}
		c.nextLeaf()
	}
}

// copyRows writes the rows of a leaf from entry i on, as many as there is room
// for, and returns their number.
func (l *layout) copyRows(out []uint64, n node, i int) int {
	counts, rows, done := *n.counts(), l.rows(n), 0
	most := min(len(out), n.len()-i)
	for line, at := lineWith(counts, i); done < most; line, at = line+1, 0 {
		from, k := line*perLine+at, inLineOf(counts, line)-at
		if k <= perLine && done+perLine <= len(out) && from+perLine <= len(rows) {
			// A line whole, for that is faster than just what is in it: what is
			// too much is written over.
			to, v := (*[perLine]uint64)(out[done:]), (*[perLine]uint64)(rows[from:])
			a, b, c, d := v[0], v[1], v[2], v[3]
			to[0], to[1], to[2], to[3] = a, b, c, d
			a, b, c, d = v[4], v[5], v[6], v[7]
			to[4], to[5], to[6], to[7] = a, b, c, d
		} else {
			copy(out[done:], rows[from:from+k])
		}
		done += k
	}
	return most
}

// backward writes entries before the cursor, the last one first.
func backward[W word](out found, c *cursor[W], from, to int) {
	for {
		s := c.leaf()
		rows := c.l.rows(s.n)
		n := min(to-from, s.at)
		for j := range n {
			slot := c.l.slot(s.n, s.at-1-j)
			out.rows[from+j] = rows[slot]
			if out.keys != nil {
				copyKey(c.l, s.n, slot, out.keys, from+j)
			}
		}
		if from += n; from == to {
			return
		}
		c.previousLeaf()
	}
}

// copyKey writes the key in a slot of a leaf as key number to.
func copyKey(l *layout, n node, slot int, keys []byte, to int) {
	size := l.size + 8*l.x
	first := unsafe.Slice((*byte)(unsafe.Add(n.p, l.of(n).keys+l.size*slot)), l.size)
	copy(keys[size*to:], first)
	if l.x > 0 {
		rest := l.restOf(n, slot)
		copy(keys[size*to+8:], unsafe.Slice((*byte)(unsafe.Pointer(&rest[0])), 8*l.x))
	}
}
