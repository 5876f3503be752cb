package btree

import "github.com/gpusql/gpusql/index/page"

// maxHeight is more than any tree's: an inner node has 6 children at least.
const maxHeight = 32

// cursor is a place between the entries of a tree: before entry at of its leaf.
type cursor[W word] struct {
	l     *layout
	pages table
	path  [maxHeight]step // the root first
	depth int             // of the leaf
}

// step is a node on the way, and which child or entry of it.
type step struct {
	n  node
	at int
}

// seek goes to the first entry that is q or above; q nil is the first of all.
func (c *cursor[W]) seek(r root, q *place) {
	n := page.Number(r.top)
	for d := range r.height {
		x := nodeAt(c.pages, n)
		at := 0
		switch {
		case d < r.height-1:
			if q != nil {
				at = childFor[W](c.l, x, q)
			}
			n = c.l.kids(x)[at]
		case q != nil:
			at = lowerBound[W](c.l, x, q)
		}
		c.path[d] = step{x, at}
	}
	c.depth = r.height - 1
	c.over()
}

// seekEnd goes behind the last entry.
func (c *cursor[W]) seekEnd(r root) {
	n := r.top
	for d := range r.height {
		x := nodeAt(c.pages, n)
		at := x.len()
		if d < r.height-1 {
			at--
			n = c.l.kids(x)[at]
		}
		c.path[d] = step{x, at}
	}
	c.depth = r.height - 1
}

// enter goes to a place in a child of a node over leaves. There is no way out
// of that node.
func (c *cursor[W]) enter(n node, slot, at int) {
	c.path[0] = step{n, slot}
	c.path[1] = step{nodeAt(c.pages, c.l.kids(n)[slot]), at}
	c.depth = 1
}

func (c *cursor[W]) leaf() *step { return &c.path[c.depth] }

// valid reports whether there is an entry at the cursor.
func (c *cursor[W]) valid() bool { return c.depth >= 0 && c.leaf().at < c.leaf().n.len() }

// over goes from a leaf's end to the next leaf's beginning, if there is one.
func (c *cursor[W]) over() {
	if c.depth >= 0 && c.leaf().at == c.leaf().n.len() {
		c.nextLeaf()
	}
}

func (c *cursor[W]) next() {
	c.leaf().at++
	c.over()
}

// nextLeaf goes to the beginning of the next leaf. At the last one it goes to
// the end, and returns false.
func (c *cursor[W]) nextLeaf() bool {
	d := c.depth - 1
	for d >= 0 && c.path[d].at+1 == c.path[d].n.len() {
		d--
	}
	if d < 0 {
		c.leaf().at = c.leaf().n.len()
		return false
	}
	c.path[d].at++
	for ; d < c.depth; d++ {
		c.path[d+1] = step{nodeAt(c.pages, c.l.kids(c.path[d].n)[c.path[d].at]), 0}
	}
	return true
}

// previousLeaf goes to the end of the leaf before. At the first one it goes to
// the beginning, and returns false.
func (c *cursor[W]) previousLeaf() bool {
	d := c.depth - 1
	for d >= 0 && c.path[d].at == 0 {
		d--
	}
	if d < 0 {
		c.leaf().at = 0
		return false
	}
	c.path[d].at--
	for ; d < c.depth; d++ {
		n := nodeAt(c.pages, c.l.kids(c.path[d].n)[c.path[d].at])
		at := n.len()
		if d+1 < c.depth {
			at--
		}
		c.path[d+1] = step{n, at}
	}
	return true
}

func (c *cursor[W]) row() uint64 { return c.l.rows(c.leaf().n)[c.l.slot(c.leaf().n, c.leaf().at)] }

// sameKey reports whether the entry at the cursor has q's key.
func (c *cursor[W]) sameKey(q *place) bool {
	n := c.leaf().n
	slot := c.l.slot(n, c.leaf().at)
	return uint64(words[W](c.l, n)[slot]) == q.word && (c.l.x == 0 || c.l.compareRest(c.l.restOf(n, slot), q.rest) == 0)
}
