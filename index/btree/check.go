package btree

import (
	"fmt"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index/page"
)

// Check verifies the invariants of the newest state.
func (t *tree[W]) Check(device.Stream) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := checker[W]{t: t, pages: page.Slots(t.pages)}
	if t.root.height > 0 {
		if err := c.node(t.root.top, 0, nil); err != nil {
			return err
		}
	}
	if c.entries != t.root.entries {
		return fmt.Errorf("btree: %d entries are there, %d are counted", c.entries, t.root.entries)
	}
	return nil
}

type checker[W word] struct {
	t       *tree[W]
	pages   table
	entries int64
	last    *place
}

// node checks a node at a depth, whose entries are not below low.
func (c *checker[W]) node(number page.Number, depth int, low *place) error {
	t, l := c.t, c.t.layout
	n := nodeAt(c.pages, number)
	lim := t.limits(depth)
	count := n.len()
	if count < 1 || count > int(lim.most) {
		return fmt.Errorf("btree: page %d at depth %d has %d of %d", number, depth, count, lim.most)
	}
	if n.birth() > t.root.seq {
		return fmt.Errorf("btree: page %d is of Apply %d, and the last one is %d", number, n.birth(), t.root.seq)
	}
	if n.leaf() != (depth == t.root.height-1) {
		return fmt.Errorf("btree: page %d is not at the depth that it should be at", number)
	}
	if err := c.words(n, number); err != nil {
		return err
	}
	if n.leaf() {
		return c.leaf(n, number, low)
	}
	if count < 2 {
		return fmt.Errorf("btree: inner page %d has one child", number)
	}
	for i, kid := range l.kids(n)[:count] {
		bound := low
		if i > 0 {
			bound = &place{uint64(words[W](l, n)[i]), l.restOf(n, i), l.rows(n)[i]}
			if c.last != nil && c.order(c.last, bound) >= 0 {
				return fmt.Errorf("btree: separator %d of page %d is not above the entry before it", i, number)
			}
		}
		if err := c.node(kid, depth+1, bound); err != nil {
			return err
		}
	}
	return nil
}

// words checks what searches rely on: invariant 3.
func (c *checker[W]) words(n node, number page.Number) error {
	l := c.t.layout
	keys, first, counts, per := words[W](l, n), (*[samples]W)(unsafe.Add(n.p, 8))[:], uint64(0), l.per
	if n.leaf() {
		first, counts, per = firsts[W](l, n), *n.counts(), perLine
		if sum := before(counts, maxLines); sum != n.len() {
			return fmt.Errorf("btree: the lines of page %d have %d entries, and it has %d", number, sum, n.len())
		}
	}
	next := ^W(0) // the first word of the next line
	for line := (len(keys)+per-1)/per - 1; line >= 0; line-- {
		some := keys[line*per : min(len(keys), (line+1)*per)]
		count := max(0, min(len(some), n.len()-line*per))
		if n.leaf() {
			if count = inLineOf(counts, line); count > len(some) {
				return fmt.Errorf("btree: line %d of page %d has %d entries", line, number, count)
			}
		}
		for i, w := range some[count:] {
			if w != ^W(0) {
				return fmt.Errorf("btree: word %d of line %d of page %d is behind the last, and is %d", count+i, line, number, w)
			}
		}
		if count > 0 {
			next = some[0]
		}
		if line > 0 && first[line-1] != next {
			return fmt.Errorf("btree: the header of page %d has %d for line %d, which begins with %d", number, first[line-1], line, next)
		}
	}
	for _, w := range first[(len(keys)+per-1)/per-1:] {
		if w != ^W(0) {
			return fmt.Errorf("btree: the header of page %d has %d for a line that it does not have", number, w)
		}
	}
	return nil
}

func (c *checker[W]) leaf(n node, number page.Number, low *place) error {
	l := c.t.layout
	for i := range n.len() {
		slot := l.slot(n, i)
		p := place{uint64(words[W](l, n)[slot]), l.restOf(n, slot), l.rows(n)[slot]}
		if low != nil && c.order(low, &p) > 0 {
			return fmt.Errorf("btree: entry %d of page %d is below its separator", i, number)
		}
		if c.last != nil && c.order(c.last, &p) >= 0 {
			return fmt.Errorf("btree: entry %d of page %d is out of order", i, number)
		}
		if l.format.Long && p.rest[l.x-1] != 0 && headerOf(tailAt(p.rest[l.x-1])).uses == 0 {
			return fmt.Errorf("btree: the tail of entry %d of page %d is not in use", i, number)
		}
		c.last = &p
		c.entries++
	}
	return nil
}

func (c *checker[W]) order(a, b *place) int {
	if a.word != b.word {
		return compareWords(a.word, b.word)
	}
	if c.t.layout.x > 0 {
		if o := c.t.layout.compareRest(a.rest, b.rest); o != 0 {
			return o
		}
	}
	return compareWords(a.row, b.row)
}
