package mvcc

import (
	"sort"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index/page"
)

// cursor is a place in a leaf, and the way to it.
type cursor struct {
	leaf device.Ptr
	at   int
	way  [maxHeight]step
}

type step struct {
	node device.Ptr
	kid  int32
	n    int32
}

// seek takes cursors to the entries with so many before them.
func (r *reader) seek(cs []cursor, ranks []uint32) {
	root := page.At(r.slots, r.Root)
	for i := range cs {
		cs[i].leaf, cs[i].at = root, int(ranks[i])
	}
	for level := int(r.Height) - 1; level > 0; level-- {
		for i := range cs {
			c := &cs[i]
			p := c.leaf
			n := int(headOf(p).n)
			sums := r.Form.sumsOf(p, n)
			kid := sort.Search(n-1, func(i int) bool { return int(sums[i]) > c.at })
			if kid > 0 {
				c.at -= int(sums[kid-1])
			}
			c.way[level] = step{p, int32(kid), int32(n)}
			c.leaf = page.At(r.slots, r.Form.kidsOf(p, n)[kid])
		}
		touchHeads(cs)
	}
}

// touchHeads reads the heads of the nodes that cursors are at, see touch.
//
//go:noinline
func touchHeads(cs []cursor) (sum uint32) {
	for i := range cs {
		sum += headOf(cs[i].leaf).n
	}
	return sum
}

// next goes to the next leaf, which there is.
func (c *cursor) next(r *reader) {
	level := 1
	for c.way[level].kid+1 == c.way[level].n {
		level++
	}
	for c.way[level].kid++; ; c.way[level].kid = 0 {
		s := &c.way[level]
		p := page.At(r.slots, r.Form.kidsOf(s.node, int(s.n))[s.kid])
		if level--; level == 0 {
			c.leaf, c.at = p, 0
			return
		}
		c.way[level] = step{node: p, n: int32(headOf(p).n)}
	}
}
