package btree

import (
	"slices"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

// snapshot is a tree at one moment. Its nodes are not changed and not given back
// while its epoch is held.
type snapshot[W word] struct {
	t     *tree[W]
	root  root
	pages table
	epoch *epoch
}

// Release ends the snapshot.
func (sn *snapshot[W]) Release() { sn.t.release(sn.epoch) }

// places are keys with rows as a device has them.
type places struct {
	l    *layout
	keys unsafe.Pointer
	rows []uint64
}

func (t *tree[W]) placesAt(keys, rows device.Ptr, n int) places {
	return places{t.layout, *(*unsafe.Pointer)(unsafe.Pointer(&keys)), device.View[uint64](rows, n)}
}

func (p *places) word(i int) uint64 {
	if p.l.format.Narrow {
		return uint64(*(*uint32)(unsafe.Add(p.keys, 4*i)))
	}
	return *(*uint64)(unsafe.Add(p.keys, (8+8*p.l.x)*i))
}

func (p *places) place(i int) (q place) {
	q.word = p.word(i)
	if p.l.x > 0 {
		q.rest = unsafe.Slice((*uint64)(unsafe.Add(p.keys, (8+8*p.l.x)*i+8)), p.l.x)
	}
	if p.rows != nil {
		q.row = p.rows[i]
	}
	return q
}

// Lookup finds the rows of each key.
func (sn *snapshot[W]) Lookup(s device.Stream, k index.Keys, a *index.Answer) error {
	if err := a.Ask(k.N); err != nil {
		return err
	}
	// Mostly a key has one row, and the rows come out where they belong.
	if err := a.Room(k.N, 0); err != nil {
		return err
	}
	offsets := device.View[uint64](a.Offsets(), k.N+1)
	rows := device.View[uint64](a.Rows(), k.N)
	keys := sn.t.placesAt(k.Data, 0, k.N)
	offsets[0] = 0
	if sn.root.height == 0 {
		clear(offsets)
		a.Total = 0
		return nil
	}
	if err := spread(s, k.N, func(lo, hi int) { sn.find(&keys, lo, hi, offsets[1:], rows) }); err != nil {
		return err
	}
	if k.N > 0 && slices.Max(offsets[1:]) > 1 {
		return sn.several(s, &keys, k.N, a)
	}
	total := uint64(0)
	for i, n := range offsets[1:] {
		if n > 0 && int(total) < i {
			rows[total] = rows[i]
		}
		total += n
		offsets[i+1] = total
	}
	a.Total = int(total)
	return nil
}

// several finds the rows of n keys of which some have more than one. The answer has the
// numbers of rows, and the first row of each.
func (sn *snapshot[W]) several(s device.Stream, keys *places, n int, a *index.Answer) error {
	firsts, err := sn.t.mem.Alloc(8 * n)
	if err != nil {
		return err
	}
	defer firsts.Release()
	offsets, first := device.View[uint64](a.Offsets(), n+1), device.View[uint64](firsts.Ptr(), n)
	copy(first, device.View[uint64](a.Rows(), n))
	for i := range n {
		offsets[i+1] += offsets[i]
	}
	if err := a.Room(int(offsets[n]), 0); err != nil {
		return err
	}
	rows := device.View[uint64](a.Rows(), int(offsets[n]))
	return spread(s, n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			switch of := rows[offsets[i]:offsets[i+1]]; len(of) {
			case 0:
			case 1:
				of[0] = first[i]
			default:
				q := keys.place(i)
				sn.rowsOf(&q, of)
			}
		}
	})
}

// find counts the rows of keys lo to hi, and gives the first of each.
func (sn *snapshot[W]) find(keys *places, lo, hi int, counts, rows []uint64) {
	l := sn.t.layout
	var d descent
	for ; lo < hi; lo += lanes {
		m := min(lanes, hi-lo)
		sn.descend(keys, lo, m, &d)
		for i := range m { // what most keys need of the leaf's rows, a line in all of them
			if d.at[i] == inLineOf(*d.n[i].counts(), d.line[i]) && d.line[i]+1 < l.lines {
				d.line[i], d.at[i] = d.line[i]+1, 0
			}
			slot := min(d.line[i]*perLine+d.at[i], l.leaf.cap-1)
			rows[lo+i] = *(*uint64)(unsafe.Add(d.n[i].p, l.at[1].rows+8*slot))
		}
		for i := range m {
			n, line, at := d.n[i], d.line[i], d.at[i]
			c := *n.counts()
			switch inside := at < inLineOf(c, line); {
			case inside && uint64(words[W](l, n)[line*perLine+at]) != d.words[i]:
				counts[lo+i] = 0
			case inside && l.x == 0 && !mayGoOn[W](l, &d, i):
				counts[lo+i] = 1
			default:
				q := keys.place(lo + i)
				counts[lo+i], rows[lo+i] = sn.count(&q)
			}
		}
	}
}

// mayGoOn reports whether the entry behind the one that lane i found may have its word
// too. Where the leaf ends, its parent knows what comes.
func mayGoOn[W word](l *layout, d *descent, i int) bool {
	n, parent := d.n[i], d.parent[i]
	if before(*n.counts(), d.line[i])+d.at[i]+1 < n.len() {
		return wordFrom[W](l, n, d.line[i], d.at[i]+1) == d.words[i]
	}
	if next := d.slot[i] + 1; parent.p != nil && next < parent.len() {
		return uint64(words[W](l, parent)[next]) == d.words[i]
	}
	return true
}

// descent is where some keys went: a lane each.
type descent struct {
	words  [lanes]uint64
	n      [lanes]node
	line   [lanes]int // of the leaf
	at     [lanes]int // how many of its words are below
	parent [lanes]node
	slot   [lanes]int
}

// entry is the number of the entry where lane i went.
func (d *descent) entry(i int) int { return before(*d.n[i].counts(), d.line[i]) + d.at[i] }

// descend goes to the leaves of m keys, a line in all of them at a time, so that
// their cache misses overlap.
func (sn *snapshot[W]) descend(keys *places, from, m int, d *descent) {
	l := sn.t.layout
	top := nodeAt(sn.pages, sn.root.top)
	for i := range m {
		d.words[i], d.n[i] = keys.word(from+i), top
	}
	for range sn.root.height - 1 {
		touchNodes(d.n[:m])
		for i := range m {
			d.line[i] = lineOf(d.n[i], W(d.words[i]))
		}
		touchLines(l, d.n[:m], &d.line)
		for i := range m {
			n, w := d.n[i], d.words[i]
			c := max(1, inLine(l, n, d.line[i], W(w)))
			if count := n.len(); c < count && uint64(words[W](l, n)[c]) == w {
				q := keys.place(from + i)
				c = refine[W](l, n, c, count, &q, 1)
			}
			d.parent[i], d.slot[i] = n, c-1
			d.n[i] = nodeAt(sn.pages, l.kids(n)[c-1])
		}
	}
	touchLeaves(l, d.n[:m])
	for i := range m {
		d.line[i] = leafLine(l, d.n[i], W(d.words[i]))
	}
	touchWords(l, d.n[:m], &d.line)
	for i := range m {
		d.at[i] = inLeafLine(l, d.n[i], d.line[i], W(d.words[i]))
	}
}

// touchLines reads the lines of words and of children of each of some inner nodes.
//
//go:noinline
func touchLines(l *layout, n []node, line *[lanes]int) (sum uint64) {
	kids := l.at[0].kids
	for i := range n {
		at := line[i&(lanes-1)]
		sum += *(*uint64)(unsafe.Add(n[i].p, lineBytes*(1+at)))
		sum += uint64(*(*uint32)(unsafe.Add(n[i].p, kids+4*l.per*at)))
	}
	return sum
}

// count is the number of rows of a key, and the first of them.
func (sn *snapshot[W]) count(q *place) (n, first uint64) {
	c := cursor[W]{l: sn.t.layout, pages: sn.pages}
	for c.seek(sn.root, q); c.valid() && c.sameKey(q); c.next() {
		if n == 0 {
			first = c.row()
		}
		n++
	}
	return n, first
}

// rowsOf writes the rows of a key, which are so many.
func (sn *snapshot[W]) rowsOf(q *place, rows []uint64) {
	c := cursor[W]{l: sn.t.layout, pages: sn.pages}
	c.seek(sn.root, q)
	for len(rows) > 0 {
		s := c.leaf()
		rows = rows[sn.t.layout.copyRows(rows, s.n, s.at):]
		if len(rows) > 0 {
			c.nextLeaf()
		}
	}
}
