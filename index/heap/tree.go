package heap

import (
	"cmp"
	"fmt"
	"sort"
	"sync/atomic"
	"unsafe"

	"github.com/gpusql/gpusql/index"
)

// maxWidth is the most entries of a leaf and children of an inner node; what
// is written is filled to fill, which leaves room for a few insertions.
const (
	maxWidth = 128
	minWidth = 32
)

// key is what a tree can order: a word, or bytes.
type key interface{ uint64 | string }

// node is a leaf (kids == nil) of entries, or an inner node: entry i of it is
// the first of kid i+1.
type node[K key] struct {
	keys []K
	rows []int64
	kids []*node[K]
}

// root is a published state.
type root[K key] struct {
	top     *node[K]
	entries int
	nodes   int
	bytes   int64 // of string keys
}

// tree is an index over keys of type K.
type tree[K key] struct {
	words bool
	state atomic.Pointer[root[K]]
}

// New returns an empty index for the codec's keys.
func New(c *index.Codec) Index {
	if c.Words() {
		t := &tree[uint64]{words: true}
		t.state.Store(&root[uint64]{})
		return t
	}
	t := &tree[string]{}
	t.state.Store(&root[string]{})
	return t
}

// keysOf is the keys of a batch as the tree's type.
func keysOf[K key](k Keys) []K {
	var zero K
	if _, ok := any(zero).(uint64); ok {
		return any(k.Words).([]K)
	}
	return any(k.Bytes).([]K)
}

func keyOf[K key](k index.Key) K {
	var zero K
	if _, ok := any(zero).(uint64); ok {
		return any(k.Word).(K)
	}
	return any(k.Bytes).(K)
}

func less[K key](k1 K, r1 int64, k2 K, r2 int64) bool {
	return k1 < k2 || k1 == k2 && r1 < r2
}

// Apply changes the tree by a batch; it cannot fail.
func (t *tree[K]) Apply(e Entries) error {
	del, ins := split[K](e)
	r := *t.state.Load()
	b := builder[K]{r: &r}
	if len(del.keys) > 0 && r.top != nil {
		b.dead = true
		r.top = b.raise(b.change(r.top, del))
	}
	if len(ins.keys) > 0 {
		b.dead = false
		if r.top == nil {
			r.top = b.raise(b.leaves(ins.keys, ins.rows))
			b.count(ins)
		} else {
			r.top = b.raise(b.change(r.top, ins))
		}
	}
	t.state.Store(&r)
	return nil
}

// run is some entries, sorted and without repetition.
type run[K key] struct {
	keys []K
	rows []int64
}

func (r run[K]) slice(lo, hi int) run[K] { return run[K]{r.keys[lo:hi], r.rows[lo:hi]} }

// split makes sorted runs of a batch's deletions and insertions.
func split[K key](e Entries) (del, ins run[K]) {
	keys := keysOf[K](e.Keys)
	if e.Dead == nil && e.Sorted {
		return del, run[K]{keys, e.Rows}
	}
	for i, k := range keys {
		r := &ins
		if e.Dead != nil && e.Dead[i] {
			r = &del
		}
		r.keys, r.rows = append(r.keys, k), append(r.rows, e.Rows[i])
	}
	if !e.Sorted {
		del.sort()
		ins.sort()
	}
	return del, ins
}

// sort orders the run and drops repetitions.
func (r *run[K]) sort() {
	if w, ok := any(r.keys).([]uint64); ok {
		SortWords(w, r.rows)
	} else {
		sort.Sort(r)
	}
	n := 0
	for i := range r.keys {
		if i > 0 && r.keys[i] == r.keys[n-1] && r.rows[i] == r.rows[n-1] {
			continue
		}
		r.keys[n], r.rows[n] = r.keys[i], r.rows[i]
		n++
	}
	*r = r.slice(0, n)
}

func (r *run[K]) Len() int           { return len(r.keys) }
func (r *run[K]) Less(i, j int) bool { return less(r.keys[i], r.rows[i], r.keys[j], r.rows[j]) }
func (r *run[K]) Swap(i, j int) {
	r.keys[i], r.keys[j] = r.keys[j], r.keys[i]
	r.rows[i], r.rows[j] = r.rows[j], r.rows[i]
}

// Stats are the size.
func (t *tree[K]) Stats() Stats {
	r := t.state.Load()
	var k K
	height := 0
	for n := r.top; n != nil; height++ {
		if n.kids == nil {
			n = nil
		} else {
			n = n.kids[0]
		}
	}
	per := int64(unsafe.Sizeof(k)) + 8
	return Stats{Entries: r.entries, Height: height,
		Bytes: int64(r.entries)*per + int64(r.nodes)*(int64(unsafe.Sizeof(node[K]{}))+per+8) + r.bytes}
}

// Close forgets all entries. Snapshots stay as they are.
func (t *tree[K]) Close() error {
	t.state.Store(&root[K]{})
	return nil
}

// Check verifies invariants 1 to 3.
func (t *tree[K]) Check() error {
	r := t.state.Load()
	if r.top == nil {
		if r.entries != 0 {
			return fmt.Errorf("btree: no nodes, and %d entries", r.entries)
		}
		return nil
	}
	c := checker[K]{depth: -1}
	if err := c.node(r.top, 0); err != nil {
		return err
	}
	if c.entries != r.entries || c.nodes != r.nodes {
		return fmt.Errorf("btree: %d entries in %d nodes found, %d in %d counted", c.entries, c.nodes, r.entries, r.nodes)
	}
	return nil
}

type checker[K key] struct {
	depth, entries, nodes int
	key                   K
	row                   int64
}

func (c *checker[K]) node(n *node[K], depth int) error {
	c.nodes++
	if n.kids == nil {
		if c.depth >= 0 && c.depth != depth {
			return fmt.Errorf("btree: leaves at depths %d and %d", c.depth, depth)
		}
		c.depth = depth
		if len(n.keys) == 0 || len(n.keys) > maxWidth || len(n.rows) != len(n.keys) {
			return fmt.Errorf("btree: a leaf of %d keys and %d rows", len(n.keys), len(n.rows))
		}
		for i := range n.keys {
			if c.entries > 0 && !less(c.key, c.row, n.keys[i], n.rows[i]) {
				return fmt.Errorf("btree: entry %d is out of order", c.entries)
			}
			c.key, c.row = n.keys[i], n.rows[i]
			c.entries++
		}
		return nil
	}
	if len(n.kids) < 1 || len(n.kids) > maxWidth || len(n.keys) != len(n.kids)-1 || len(n.rows) != len(n.keys) {
		return fmt.Errorf("btree: an inner node of %d kids and %d keys", len(n.kids), len(n.keys))
	}
	for i, kid := range n.kids {
		if i > 0 {
			k, r := kid.first()
			if cmp.Compare(k, n.keys[i-1]) != 0 || r != n.rows[i-1] {
				return fmt.Errorf("btree: a separator is not the first entry on its right")
			}
		}
		if err := c.node(kid, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (n *node[K]) first() (K, int64) {
	for n.kids != nil {
		n = n.kids[0]
	}
	return n.keys[0], n.rows[0]
}
