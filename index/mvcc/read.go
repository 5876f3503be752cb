package mvcc

import (
	"sort"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index/page"
	"github.com/gpusql/gpusql/kernels"
)

// readArgs are what the kernels of a snapshot are told.
type readArgs struct {
	Form    form
	Table   device.Ptr
	Root    page.Number
	Height  uint32
	Entries uint64

	Keys           device.Ptr // of lookups
	Order          device.Ptr // pairs of words and questions, by which many are gone through; 0: as they are
	LoKeys, LoRows device.Ptr // of ranges, see index.Bound
	HiKeys, HiRows device.Ptr

	Found    device.Ptr // a found for each question
	Offsets  device.Ptr // of the answer
	Rows     device.Ptr
	ToKeys   device.Ptr // 0: not asked for
	N        uint64     // questions
	Limit    uint64     // 0: none
	Backward uint32
	_        uint32
}

// found is what a question finds: Count entries.
type found struct {
	// At is the row of a lookup that finds one in a leaf; the leaf and the place
	// in it if more are found there; the first entry's place among all entries
	// otherwise.
	At    uint64
	Count uint32
	Where uint32
}

// What found.At says.
const (
	atRow = iota
	atLeaf
	atRank
)

var (
	order     = &device.Kernel[readArgs]{Name: "mvcc_order", Split: 1 << 16, Host: orderHost}
	find      = &device.Kernel[readArgs]{Name: "mvcc_find", Split: 1024, Host: findHost}
	takeFound = &device.Kernel[readArgs]{Name: "mvcc_take_found", Split: 4096, Host: takeFoundHost}
	bound     = &device.Kernel[readArgs]{Name: "mvcc_bound", Split: 1024, Host: boundHost}
	offsets   = &device.Kernel[readArgs]{Name: "mvcc_offsets", Host: offsetsHost}
	collect   = &device.Kernel[readArgs]{Name: "mvcc_collect", Split: 64, Host: collectHost}
	each      = &device.Kernel[readArgs]{Name: "mvcc_collect_each", Split: 512, Host: collectEachHost}
)

// reader is what the kernels share.
type reader struct {
	*readArgs
	slots pageTable
}

func newReader(a *readArgs) *reader { return &reader{a, page.Slots(a.Table)} }

// findHost looks up keys.
func findHost(a *readArgs, lo, hi int) {
	r := newReader(a)
	if a.Root == 0 {
		clear(device.View[found](a.Found, hi)[lo:])
		return
	}
	out := device.View[found](a.Found, int(a.N))
	var ts [block]target
	var at [block]device.Ptr
	var which [block]int
	for ; lo < hi; lo += block {
		n := min(block, hi-lo)
		r.questions(&which, lo, n)
		for i := range n {
			ts[i] = a.Form.target(a.Keys, which[i], 0)
		}
		r.down(&ts, &at, nil, n)
		var fs [block]found
		for i := range n {
			fs[i] = r.inLeaf(at[i], &ts[i])
		}
		for i, q := range which[:n] {
			if fs[i].Where == atRow && fs[i].Count == 1 {
				fs[i].At = *(*uint64)(pointer(device.Ptr(fs[i].At)))
			}
			out[q] = fs[i]
		}
	}
}

// orderHost writes pairs of first words and questions.
func orderHost(a *readArgs, lo, hi int) {
	pairs := device.View[kernels.Pair](a.Order, hi)
	keys := a.Keys
	if keys == 0 {
		keys = a.LoKeys
	}
	for i := lo; i < hi; i++ {
		pairs[i] = kernels.Pair{Key: a.Form.target(keys, i, 0).word, Value: uint64(i)}
	}
}

// questions are the n questions from lo on, in the order in which they are gone
// through.
func (r *reader) questions(which *[block]int, lo, n int) {
	if r.Order == 0 {
		for i := range n {
			which[i] = lo + i
		}
		return
	}
	for i, p := range device.View[kernels.Pair](r.Order, lo+n)[lo:] {
		which[i] = int(p.Value)
	}
}

// down finds the leaves where targets belong, and the numbers of entries before
// these leaves if ranks is not nil.
func (r *reader) down(ts *[block]target, at *[block]device.Ptr, ranks *[block]uint32, n int) {
	root := page.At(r.slots, r.Root)
	for i := range n {
		at[i] = root
	}
	if ranks != nil {
		clear(ranks[:n])
	}
	var kids [block]int
	for range r.Height - 1 {
		last, kid := device.Ptr(0), 0
		for i := range n {
			p := at[i]
			kid = r.Form.kidNear(p, int(headOf(p).n), kid, p == last && r.Order != 0, &ts[i])
			last, kids[i] = p, kid
		}
		for i, kid := range kids[:n] {
			p := at[i]
			items := int(headOf(p).n)
			if ranks != nil && kid > 0 {
				ranks[i] += r.Form.sumsOf(p, items)[kid-1]
			}
			at[i] = page.At(r.slots, r.Form.kidsOf(p, items)[kid])
		}
		touch(&r.Form, at, n)
	}
}

// inLeaf is what a key finds, which is nowhere left of this leaf.
func (r *reader) inLeaf(p device.Ptr, t *target) found {
	n := int(headOf(p).n)
	lo, hi := r.Form.keyRange(p, n, t)
	switch {
	case hi == n && r.goesOn(t):
		return r.across(t)
	case hi == lo+1:
		return found{At: uint64(p) + uint64(headBytes+r.Form.keyBytes(n)+8*lo), Count: 1, Where: atRow}
	default:
		return found{At: uint64(p) + uint64(headBytes+r.Form.keyBytes(n)+8*lo), Count: uint32(hi - lo), Where: atLeaf}
	}
}

// goesOn reports that a key may be in more leaves than the first where it belongs.
func (r *reader) goesOn(t *target) (more bool) {
	p := page.At(r.slots, r.Root)
	for range r.Height - 1 {
		n := int(headOf(p).n)
		kid := r.Form.kid(p, n, t)
		if kid+1 < n {
			more = r.Form.compare(p, kid+1, t) == 0
		}
		p = page.At(r.slots, r.Form.kidsOf(p, n)[kid])
	}
	return more
}

// across is what a key finds that goes on in the next leaf.
func (r *reader) across(t *target) found {
	from := r.rank(t)
	t.row = 1<<64 - 1
	to := r.rank(t)
	if r.has(t) {
		to++
	}
	t.row = 0
	return found{At: uint64(from), Count: to - from, Where: atRank}
}

// leafOf is the leaf where a target belongs, and the number of entries before it.
func (r *reader) leafOf(t *target) (p device.Ptr, before uint32) {
	p = page.At(r.slots, r.Root)
	for range r.Height - 1 {
		n := int(headOf(p).n)
		kid := r.Form.kid(p, n, t)
		if kid > 0 {
			before += r.Form.sumsOf(p, n)[kid-1]
		}
		p = page.At(r.slots, r.Form.kidsOf(p, n)[kid])
	}
	return p, before
}

// rank is the number of entries before the target's place.
func (r *reader) rank(t *target) uint32 {
	p, before := r.leafOf(t)
	at, _ := r.Form.place(p, int(headOf(p).n), t)
	return before + uint32(at)
}

func (r *reader) has(t *target) bool {
	p, _ := r.leafOf(t)
	_, hit := r.Form.place(p, int(headOf(p).n), t)
	return hit
}

// boundHost finds ranges: the rank of the first entry, and how many there are.
func boundHost(a *readArgs, lo, hi int) {
	r := newReader(a)
	out := device.View[found](a.Found, int(a.N))
	var from, to [block]uint32
	var which [block]int
	for ; lo < hi; lo += block {
		n := min(block, hi-lo)
		r.questions(&which, lo, n)
		r.ends(a.LoKeys, a.LoRows, 0, which[:n], &from)
		r.ends(a.HiKeys, a.HiRows, uint32(a.Entries), which[:n], &to)
		for i := range n {
			f := found{At: uint64(from[i]), Where: atRank}
			if to[i] > from[i] {
				f.Count = to[i] - from[i]
			}
			if a.Limit > 0 && uint64(f.Count) > a.Limit {
				f.Count = uint32(a.Limit)
			}
			if a.Backward != 0 {
				f.At = uint64(to[i]) - uint64(f.Count)
			}
			out[which[i]] = f
		}
	}
}

// ends finds the ranks of one end of some ranges.
func (r *reader) ends(keys, rows device.Ptr, open uint32, which []int, ranks *[block]uint32) {
	n := len(which)
	if keys == 0 || r.Root == 0 {
		if r.Root == 0 {
			open = 0
		}
		for i := range n {
			ranks[i] = open
		}
		return
	}
	var ts [block]target
	var at [block]device.Ptr
	for i, q := range which {
		ts[i] = r.Form.target(keys, q, rowAt(rows, q, 0))
	}
	r.down(&ts, &at, ranks, n)
	for i := range n {
		place, _ := r.Form.place(at[i], int(headOf(at[i]).n), &ts[i])
		ranks[i] += uint32(place)
	}
}

// offsetsHost adds up what was found.
func offsetsHost(a *readArgs, _, hi int) {
	found := device.View[found](a.Found, hi)
	out := device.View[uint64](a.Offsets, hi+1)
	sum := uint64(0)
	for i := range found {
		out[i] = sum
		sum += uint64(found[i].Count)
	}
	out[hi] = sum
}

// counted writes how much was found.
var counted = &device.Kernel[readArgs]{Name: "mvcc_counted", Host: func(a *readArgs, lo, hi int) {
	found, out := device.View[found](a.Found, hi), device.View[uint64](a.Offsets, hi)
	for i := lo; i < hi; i++ {
		out[i] = uint64(found[i].Count)
	}
}}

// takeFoundHost writes the rows of lookups.
func takeFoundHost(a *readArgs, lo, hi int) {
	r := newReader(a)
	found, offsets := device.View[found](a.Found, hi), device.View[uint64](a.Offsets, hi)
	rows := device.View[uint64](a.Rows, int(device.View[uint64](a.Offsets, int(a.N)+1)[a.N]))
	for i := lo; i < hi; i++ {
		switch f := &found[i]; {
		case f.Count == 0:
		case f.Where == atRow:
			rows[offsets[i]] = f.At
		case f.Where == atLeaf:
			copy(rows[offsets[i]:], device.View[uint64](device.Ptr(f.At), int(f.Count)))
		default:
			r.copyEntries(uint32(f.At), int(f.Count), int(offsets[i]))
		}
	}
}

// collectEachHost writes the entries of many ranges, range by range, in the
// order of their keys.
func collectEachHost(a *readArgs, lo, hi int) {
	r := newReader(a)
	offsets := device.View[uint64](a.Offsets, int(a.N)+1)
	found := device.View[found](a.Found, int(a.N))
	var which [block]int
	var ranks [block]uint32
	var cursors [block]cursor
	for ; lo < hi; lo += block {
		n := min(block, hi-lo)
		r.questions(&which, lo, n)
		some := which[:0]
		for _, q := range which[:n] {
			if found[q].Count > 0 {
				ranks[len(some)] = uint32(found[q].At)
				some = append(some, q)
			}
		}
		r.seek(cursors[:len(some)], ranks[:len(some)])
		for i, q := range some {
			at, k := int(offsets[q]), int(found[q].Count)
			r.copyFrom(&cursors[i], k, at)
			if a.Backward != 0 {
				r.reverse(at, k)
			}
		}
	}
}

// collectStep is the entries of an answer that one item of collect writes.
const collectStep = 256

// collectHost writes the entries of ranges: item i those of a stretch of the
// answer, whatever range they are of.
func collectHost(a *readArgs, lo, hi int) {
	r := newReader(a)
	n := int(a.N)
	offsets := device.View[uint64](a.Offsets, n+1)
	found := device.View[found](a.Found, n)
	at, end := uint64(lo*collectStep), min(uint64(hi*collectStep), offsets[n])
	q := sort.Search(n, func(i int) bool { return offsets[i+1] > at })
	for ; at < end; q++ {
		to := min(offsets[q+1], end)
		if to <= at {
			continue
		}
		skip, k := uint32(at-offsets[q]), int(to-at)
		if a.Backward == 0 {
			r.copyEntries(uint32(found[q].At)+skip, k, int(at))
		} else {
			last := uint32(found[q].At) + found[q].Count - skip
			r.copyEntries(last-uint32(k), k, int(at))
			r.reverse(int(at), k)
		}
		at = to
	}
}

// copyEntries writes n entries from a rank on to the answer, from its place at on.
func (r *reader) copyEntries(rank uint32, n, at int) {
	var c [1]cursor
	r.seek(c[:], []uint32{rank})
	r.copyFrom(&c[0], n, at)
}

// copyFrom writes the n entries from a cursor's place on.
func (r *reader) copyFrom(c *cursor, n, at int) {
	rows := device.View[uint64](r.Rows, at+n)[at:]
	for ; ; c.next(r) {
		items := int(headOf(c.leaf).n)
		k := min(n, items-c.at)
		copy(rows[:k], r.Form.rowsOf(c.leaf, items)[c.at:])
		if r.ToKeys != 0 {
			r.copyKeys(c.leaf, c.at, k, at)
		}
		rows, n, at = rows[k:], n-k, at+k
		if n == 0 {
			return
		}
	}
}

func (r *reader) copyKeys(p device.Ptr, from, n, at int) {
	f := &r.Form
	if f.kind != long {
		copyBytes(f.keyAt(r.ToKeys, at), f.keyAt(p+headBytes, from), n*int(f.size))
		return
	}
	for i := range n {
		f.copyItem(r.ToKeys, at+i, p, from+i)
	}
}

// reverse turns n entries of the answer about.
func (r *reader) reverse(at, n int) {
	rows := device.View[uint64](r.Rows, at+n)[at:]
	for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	if r.ToKeys == 0 {
		return
	}
	for i, j := at, at+n-1; i < j; i, j = i+1, j-1 {
		a := device.View[byte](r.Form.keyAt(r.ToKeys, i), int(r.Form.size))
		b := device.View[byte](r.Form.keyAt(r.ToKeys, j), int(r.Form.size))
		for k := range a {
			a[k], b[k] = b[k], a[k]
		}
	}
}
