package heap

// builder writes new nodes for one Apply. r counts what comes and goes.
type builder[K key] struct {
	r    *root[K]
	dead bool // the run is of deletions
}

func (b *builder[K]) count(e run[K]) {
	b.r.entries += len(e.keys)
	b.r.bytes += stringBytes(e.keys)
}

func stringBytes[K key](keys []K) int64 {
	s, ok := any(keys).([]string)
	if !ok {
		return 0
	}
	n := int64(0)
	for _, k := range s {
		n += int64(len(k))
	}
	return n
}

// change writes the nodes that stand in the place of n when run e, which is not
// empty and all falls into n's part of the order, is applied: none, one or more
// of n's height.
func (b *builder[K]) change(n *node[K], e run[K]) []*node[K] {
	b.r.nodes--
	if n.kids == nil {
		return b.changeLeaf(n, e)
	}
	kids := make([]*node[K], 0, len(n.kids)+4)
	for i, kid := range n.kids {
		hi := len(e.keys)
		if i < len(n.keys) {
			hi = e.before(n.keys[i], n.rows[i])
		}
		if hi == 0 {
			kids = append(kids, kid)
			continue
		}
		kids = append(kids, b.change(kid, e.slice(0, hi))...)
		e = e.slice(hi, len(e.keys))
	}
	if b.dead {
		kids = b.joinSmall(kids)
	}
	return b.inners(kids)
}

// before is the number of entries below (k, row).
func (r run[K]) before(k K, row int64) int {
	lo, hi := 0, len(r.keys)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if less(r.keys[m], r.rows[m], k, row) {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

func (b *builder[K]) changeLeaf(n *node[K], e run[K]) []*node[K] {
	size := len(n.keys)
	if !b.dead {
		size += len(e.keys)
	}
	out := run[K]{make([]K, 0, size), make([]int64, 0, size)}
	old := run[K]{n.keys, n.rows}
	was := stringBytes(n.keys)
	for i := range e.keys {
		k, row := e.keys[i], e.rows[i]
		at := old.before(k, row)
		out.keys, out.rows = append(out.keys, old.keys[:at]...), append(out.rows, old.rows[:at]...)
		old = old.slice(at, len(old.keys))
		if len(old.keys) > 0 && old.keys[0] == k && old.rows[0] == row {
			old = old.slice(1, len(old.keys)) // to be deleted, or there already
		}
		if !b.dead {
			out.keys, out.rows = append(out.keys, k), append(out.rows, row)
		}
	}
	out.keys, out.rows = append(out.keys, old.keys...), append(out.rows, old.rows...)
	b.r.entries += len(out.keys) - len(n.keys)
	b.r.bytes += stringBytes(out.keys) - was
	return b.leaves(out.keys, out.rows)
}

// leaves cuts sorted entries into leaves of like size. A batch that only goes
// over by a little, as ascending keys do, leaves the first one full.
func (b *builder[K]) leaves(keys []K, rows []int64) []*node[K] {
	var out []*node[K]
	for _, n := range pieces(len(keys)) {
		out = append(out, &node[K]{keys: keys[:n:n], rows: rows[:n:n]})
		keys, rows = keys[n:], rows[n:]
	}
	b.r.nodes += len(out)
	return out
}

// inners groups nodes of one height under inner nodes. A single node that is
// left alone is still given a parent only by raise, so the height stays equal.
func (b *builder[K]) inners(kids []*node[K]) []*node[K] {
	var out []*node[K]
	for _, n := range pieces(len(kids)) {
		p := &node[K]{kids: kids[:n:n], keys: make([]K, n-1), rows: make([]int64, n-1)}
		for i := 1; i < n; i++ {
			p.keys[i-1], p.rows[i-1] = kids[i].first()
		}
		out = append(out, p)
		kids = kids[n:]
	}
	b.r.nodes += len(out)
	return out
}

// pieces cuts n things into the fewest pieces of at most maxWidth, of like size
// when they are two and full but for the last two otherwise.
func pieces(n int) []int {
	if n == 0 {
		return nil
	}
	out := make([]int, 0, (n+maxWidth-1)/maxWidth)
	for n > 2*maxWidth {
		out = append(out, maxWidth)
		n -= maxWidth
	}
	if n > maxWidth {
		out = append(out, (n+1)/2)
		n -= (n + 1) / 2
	}
	return append(out, n)
}

// joinSmall puts nodes that deletions made small together with a neighbour.
func (b *builder[K]) joinSmall(kids []*node[K]) []*node[K] {
	out := kids[:0]
	for _, k := range kids {
		if len(out) == 0 {
			out = append(out, k)
			continue
		}
		last := out[len(out)-1]
		if last.width() >= minWidth && k.width() >= minWidth {
			out = append(out, k)
			continue
		}
		b.r.nodes -= 2
		if k.kids == nil {
			out = append(out[:len(out)-1], b.leaves(
				append(last.keys[:len(last.keys):len(last.keys)], k.keys...),
				append(last.rows[:len(last.rows):len(last.rows)], k.rows...))...)
		} else {
			out = append(out[:len(out)-1], b.inners(append(last.kids[:len(last.kids):len(last.kids)], k.kids...))...)
		}
	}
	return out
}

func (n *node[K]) width() int {
	if n.kids == nil {
		return len(n.keys)
	}
	return len(n.kids)
}

// raise puts a root over nodes of one height, and takes away roots of one kid.
func (b *builder[K]) raise(nodes []*node[K]) *node[K] {
	for len(nodes) > 1 {
		nodes = b.inners(nodes)
	}
	if len(nodes) == 0 {
		return nil
	}
	n := nodes[0]
	for len(n.kids) == 1 {
		n = n.kids[0]
		b.r.nodes--
	}
	return n
}
