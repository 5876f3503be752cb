package btree

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

// Scan finds the entries of ranges: they are counted, and then copied.
func (sn *snapshot[W]) Scan(s device.Stream, r index.Ranges, o index.Order, a *index.Answer) error {
	if err := a.Ask(r.N); err != nil {
		return err
	}
	offsets := device.View[uint64](a.Offsets(), r.N+1)
	clear(offsets)
	size := 0
	if o.Keys {
		size = sn.t.layout.format.Size()
	}
	if err := sn.countAll(s, r, o.Limit, o.Direction, offsets[1:]); err != nil {
		return err
	}
	for i := range r.N {
		offsets[i+1] += offsets[i]
	}
	total := int(offsets[r.N])
	if err := a.Room(total, size); err != nil || total == 0 {
		return err
	}
	rows := device.View[uint64](a.Rows(), total)
	var keys []byte
	if o.Keys {
		keys = device.View[byte](a.Keys(), size*total)
	}
	lo, hi := sn.t.placesAt(r.Lo.Keys, r.Lo.Rows, r.N), sn.t.placesAt(r.Hi.Keys, r.Hi.Rows, r.N)
	return spread(s, r.N, func(from, to int) {
		for i := from; i < to; i++ {
			if a, b := offsets[i], offsets[i+1]; a < b && o.Direction == index.Forward {
				sn.forward(&lo, i, rows[a:b], keys, int(a))
			} else if a < b {
				sn.backward(&hi, i, rows[a:b], keys, int(a))
			}
		}
	})
}

// Count counts the entries of ranges.
func (sn *snapshot[W]) Count(s device.Stream, r index.Ranges, counts device.Ptr) error {
	out := device.View[uint64](counts, r.N)
	clear(out)
	return sn.countAll(s, r, 0, index.Forward, out)
}

// countAll counts the entries of each range, to a limit if that is not 0.
func (sn *snapshot[W]) countAll(s device.Stream, r index.Ranges, limit int, d index.Direction, counts []uint64) error {
	if sn.root.height == 0 {
		return nil
	}
	lo, hi := sn.t.placesAt(r.Lo.Keys, r.Lo.Rows, r.N), sn.t.placesAt(r.Hi.Keys, r.Hi.Rows, r.N)
	return spread(s, r.N, func(from, to int) {
		var a, b cursor[W]
		a.l, a.pages = sn.t.layout, sn.pages
		b = a
		for i := from; i < to; i++ {
			sn.seekLo(&a, &lo, i)
			sn.seekHi(&b, &hi, i)
			n := distance(&a, &b, limit, d)
			if limit > 0 {
				n = min(n, limit)
			}
			counts[i] = uint64(n)
		}
	})
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

// forward writes the first entries of range i, as many as rows has room for, and
// their keys from number at on.
func (sn *snapshot[W]) forward(lo *places, i int, rows []uint64, keys []byte, at int) {
	c := cursor[W]{l: sn.t.layout, pages: sn.pages}
	sn.seekLo(&c, lo, i)
	for {
		s := c.leaf()
		n := copy(rows, c.l.rows(s.n)[s.at:s.n.len()])
		for j := range n {
			if keys == nil {
				break
			}
			copyKey(c.l, s.n, s.at+j, keys, at+j)
		}
		at += n
		if rows = rows[n:]; len(rows) == 0 {
			return
		}
		c.nextLeaf()
	}
}

// backward is forward from the end of the range.
func (sn *snapshot[W]) backward(hi *places, i int, rows []uint64, keys []byte, at int) {
	c := cursor[W]{l: sn.t.layout, pages: sn.pages}
	sn.seekHi(&c, hi, i)
	for {
		s := c.leaf()
		from := c.l.rows(s.n)
		n := min(len(rows), s.at)
		for j := range n {
			rows[j] = from[s.at-1-j]
			if keys != nil {
				copyKey(c.l, s.n, s.at-1-j, keys, at+j)
			}
		}
		at += n
		if rows = rows[n:]; len(rows) == 0 {
			return
		}
		c.previousLeaf()
	}
}

// copyKey writes the key of entry i of a leaf as key number to.
func copyKey(l *layout, n node, i int, keys []byte, to int) {
	size := l.size + 8*l.x
	first := unsafe.Slice((*byte)(unsafe.Add(l.keys(n), l.size*i)), l.size)
	copy(keys[size*to:], first)
	if l.x > 0 {
		rest := l.restOf(n, i)
		copy(keys[size*to+8:], unsafe.Slice((*byte)(unsafe.Pointer(&rest[0])), 8*l.x))
	}
}
