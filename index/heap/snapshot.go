package heap

import "github.com/gpusql/gpusql/index"

// snapshot is a root that was published.
type snapshot[K key] struct{ *root[K] }

// Snapshot is the tree as it is now.
func (t *tree[K]) Snapshot() Snapshot { return snapshot[K]{t.state.Load()} }

// Release does nothing: the collector keeps what is reachable.
func (s snapshot[K]) Release() {}

// Lookup finds the rows of each key.
func (s snapshot[K]) Lookup(k Keys, r Ranges) Ranges {
	r.Offsets = append(r.Offsets, len(r.Rows))
	for _, key := range keysOf[K](k) {
		r.Rows = s.rowsOf(key, r.Rows)
		r.Offsets = append(r.Offsets, len(r.Rows))
	}
	return r
}

// rowsOf appends the rows of one key. They may go on in the leaves to the right.
func (s snapshot[K]) rowsOf(k K, rows []int64) []int64 {
	if s.top == nil {
		return rows
	}
	c := cursor[K]{}
	c.seek(s.top, k)
	for c.leaf != nil {
		for c.at < len(c.leaf.keys) {
			if c.leaf.keys[c.at] != k {
				return rows
			}
			rows = append(rows, c.leaf.rows[c.at])
			c.at++
		}
		c.next()
	}
	return rows
}

// Scan gives the interval's rows, a leaf at a time.
func (s snapshot[K]) Scan(iv index.Interval, d index.Direction, yield func([]int64) bool) {
	if iv.Empty || s.top == nil {
		return
	}
	lo, hi := keyOf[K](iv.Lo), keyOf[K](iv.Hi)
	var c cursor[K]
	if d == index.Forward {
		c.seek(s.top, lo)
		for ; c.leaf != nil; c.next() {
			end := len(c.leaf.keys)
			if !iv.NoHi {
				end = lowerBound(c.leaf.keys, hi)
			}
			if c.at < end && !yield(c.leaf.rows[c.at:end:end]) || end < len(c.leaf.keys) {
				return
			}
		}
		return
	}
	if iv.NoHi {
		c.last(s.top)
	} else {
		c.seek(s.top, hi)
	}
	var back [maxWidth]int64
	for ; c.leaf != nil; c.prev() {
		from := lowerBound(c.leaf.keys, lo)
		n := 0
		for i := c.at - 1; i >= from; i-- {
			back[n] = c.leaf.rows[i]
			n++
		}
		if n > 0 && !yield(back[:n:n]) || from > 0 {
			return
		}
	}
}

// Count is the number of entries of the interval.
func (s snapshot[K]) Count(iv index.Interval) int {
	n := 0
	s.Scan(iv, index.Forward, func(rows []int64) bool {
		n += len(rows)
		return true
	})
	return n
}

// cursor is a place in a tree: a leaf, an entry of it, and the way down.
type cursor[K key] struct {
	leaf *node[K]
	at   int
	path [12]step[K]
	deep int
}

type step[K key] struct {
	n   *node[K]
	kid int
}

// seek goes to the first entry whose key is k or above. That may be one past
// the end of a leaf.
func (c *cursor[K]) seek(n *node[K], k K) {
	for n.kids != nil {
		i := lowerBound(n.keys, k)
		c.push(n, i)
		n = n.kids[i]
	}
	c.leaf, c.at = n, lowerBound(n.keys, k)
}

// last goes behind the last entry.
func (c *cursor[K]) last(n *node[K]) {
	for n.kids != nil {
		c.push(n, len(n.kids)-1)
		n = n.kids[len(n.kids)-1]
	}
	c.leaf, c.at = n, len(n.keys)
}

func (c *cursor[K]) push(n *node[K], kid int) {
	c.path[c.deep] = step[K]{n, kid}
	c.deep++
}

// next goes to the start of the next leaf; c.leaf is nil at the end.
func (c *cursor[K]) next() {
	for c.deep > 0 {
		s := c.path[c.deep-1]
		c.deep--
		if s.kid+1 == len(s.n.kids) {
			continue
		}
		c.push(s.n, s.kid+1)
		n := s.n.kids[s.kid+1]
		for n.kids != nil {
			c.push(n, 0)
			n = n.kids[0]
		}
		c.leaf, c.at = n, 0
		return
	}
	c.leaf = nil
}

// prev goes behind the end of the leaf before; c.leaf is nil at the start.
func (c *cursor[K]) prev() {
	for c.deep > 0 {
		s := c.path[c.deep-1]
		c.deep--
		if s.kid == 0 {
			continue
		}
		c.push(s.n, s.kid-1)
		c.last(s.n.kids[s.kid-1])
		return
	}
	c.leaf = nil
}

// lowerBound is the first place whose key is k or above.
func lowerBound[K key](keys []K, k K) int {
	lo, n := 0, len(keys)
	for n > 0 {
		half := n / 2
		if keys[lo+half] < k {
			lo += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	return lo
}
