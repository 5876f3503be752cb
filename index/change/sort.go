package change

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

// item is a change on its way to its place: a word to order by, and which it is.
type item struct {
	word uint64
	at   uint64
}

// word is word w of key i; the row comes after the last.
func (a *args) word(i uint64, w uint32) uint64 {
	switch {
	case w == a.Format.Words:
		return device.View[uint64](a.Rows, int(i)+1)[i]
	case a.Format.Narrow != 0:
		return uint64(device.View[uint32](a.Keys, int(i)+1)[i])
	default:
		p := a.Keys + device.Ptr(i)*device.Ptr(a.Format.Size) + device.Ptr(8*w)
		return device.View[uint64](p, 1)[0]
	}
}

// tail is the address of key i's tail.
func (a *args) tail(i uint64) uint64 {
	if a.Format.Long == 0 {
		return 0
	}
	return device.View[uint64](a.Keys+device.Ptr(i)*device.Ptr(a.Format.Size)+device.Ptr(8*a.Format.Words), 1)[0]
}

func (a *args) compareKeys(i, j uint64) int {
	for w := range a.Format.Words {
		if c := cmp.Compare(a.word(i, w), a.word(j, w)); c != 0 {
			return c
		}
	}
	return index.CompareTails(a.tail(i), a.tail(j))
}

// op is what change i does.
func (a *args) op(i uint64) index.Op {
	if a.Ops == 0 {
		return index.Op(a.Op)
	}
	return device.View[index.Op](a.Ops, int(i)+1)[i]
}

var mark = &device.Kernel[args]{Name: "change_mark", Split: 1 << 20, Host: func(a *args, lo, hi int) {
	to := device.View[uint8](a.ToOps, hi)
	for i := lo; i < hi; i++ {
		to[i] = Delete
	}
}}

// look says whether changes lo to hi are in order after those before, each entry
// once and each key that has an upsert once; if so it writes what they do.
func (a *args) look(out *outcome, lo, hi int) {
	to := device.View[uint8](a.ToOps, hi)
	for i := uint64(lo); i < uint64(hi) && out.Ordered != 0; i++ {
		op := a.op(i)
		if i > 0 {
			c := a.compareKeys(i-1, i)
			if c == 0 && (op == index.Upsert || a.op(i-1) == index.Upsert) {
				c = 1
			}
			if c == 0 {
				c = cmp.Compare(a.word(i-1, a.Format.Words), a.word(i, a.Format.Words))
			}
			if c >= 0 {
				out.Ordered = 0
				return
			}
		}
		switch to[i] = 0; op {
		case index.Delete:
			to[i] = Delete
		case index.Upsert:
			to[i] = Clear
			out.Clears++
		}
	}
}

// sortHost orders the changes of a small batch and writes each entry's last.
func sortHost(a *args, _, hi int) {
	room := device.View[item](a.Items, 2*hi)
	items, other := room[:hi:hi], room[hi:]
	for i := range items {
		items[i].at = uint64(i)
	}
	a.order(items, other, 0)
	w := newWriter(a, items)
	w.write(hi)
	w.end()
}

// order sorts items whose words before w are equal. Equal ones stay as they came.
func (a *args) order(items, room []item, w uint32) {
	for i := range items {
		items[i].word = a.word(items[i].at, w)
	}
	spread(items, room)
	if w == a.Format.Words {
		return
	}
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && items[to].word == items[from].word {
			to++
		}
		switch equal := items[from:to]; {
		case len(equal) == 1:
		case w+1 == a.Format.Words && a.Format.Long != 0:
			a.orderTails(equal, room[from:to])
		default:
			a.order(equal, room[from:to], w+1)
		}
		from = to
	}
}

// orderTails sorts items whose words are equal, by tail and then row.
func (a *args) orderTails(items, room []item) {
	slices.SortStableFunc(items, func(x, y item) int { return index.CompareTails(a.tail(x.at), a.tail(y.at)) })
	for from := 0; from < len(items); {
		to := from + 1
		for to < len(items) && index.CompareTails(a.tail(items[from].at), a.tail(items[to].at)) == 0 {
			to++
		}
		if to > from+1 {
			a.order(items[from:to], room[from:to], a.Format.Words)
		}
		from = to
	}
}

const (
	insertMost = 24      // items that are sorted by insertion
	cacheMost  = 1 << 15 // items, twice, that stay in a core's cache
)

// spread sorts by word, and leaves equal words as they came. Many items are
// dealt out by eight leading bits until the parts fit in the cache; those are
// sorted from the lowest bit up, by no more bits than tell most of them apart,
// and what then is out of order is inserted.
func spread(items, room []item) {
	if len(items) <= insertMost {
		insert(items, len(items)*len(items))
		return
	}
	or, and, ascending := uint64(0), ^uint64(0), true
	last := uint64(0)
	for i := range items {
		v := items[i].word
		or, and, ascending = or|v, and&v, ascending && v >= last
		last = v
	}
	if ascending {
		return
	}
	high := 64 - bits.LeadingZeros64(or&^and) // bits from here on are equal
	if len(items) > cacheMost {
		deal(items, room, max(high-8, 0))
		return
	}
	low := max(high-bits.Len(uint(len(items)))-6, 0)
	if pass(items, room, low, high); !insert(items, 4*len(items)) {
		pass(items, room, 0, high)
	}
}

// pass sorts by the bits low to high, a byte at a time.
func pass(items, room []item, low, high int) {
	from, to := items, room[:len(items)]
	for shift := low; shift < high; shift += 8 {
		var start [256]int32
		for i := range from {
			start[byte(from[i].word>>shift)]++
		}
		sum := int32(0)
		for b, n := range start {
			start[b], sum = sum, sum+n
		}
		for _, x := range from {
			b := byte(x.word >> shift)
			to[start[b]] = x
			start[b]++
		}
		from, to = to, from
	}
	if len(from) > 0 && &from[0] != &items[0] {
		copy(items, from)
	}
}

// deal splits items by eight bits and sorts the parts.
func deal(items, room []item, shift int) {
	var start, end [256]int
	for i := range items {
		end[byte(items[i].word>>shift)]++
	}
	sum := 0
	for b, n := range end {
		start[b], sum = sum, sum+n
		end[b] = sum
	}
	at := start
	for _, x := range items {
		b := byte(x.word >> shift)
		room[at[b]] = x
		at[b]++
	}
	copy(items, room[:len(items)])
	if shift == 0 {
		return
	}
	for b := range start {
		spread(items[start[b]:end[b]], room[start[b]:end[b]])
	}
}

// insert sorts by insertion, unless that takes more than most moves: then the
// items are left in some order in which equal ones are as they came.
func insert(items []item, most int) bool {
	for i := 1; i < len(items); i++ {
		x := items[i]
		j := i
		for ; j > 0 && items[j-1].word > x.word; j-- {
			items[j] = items[j-1]
		}
		items[j] = x
		if most -= i - j; most < 0 {
			return false
		}
	}
	return true
}

// writer writes the outcome.
type writer struct {
	*args
	items     []item
	toRows    []uint64
	toOps     []uint8
	at        int // the items that are done
	n, clears int
}

func newWriter(a *args, items []item) *writer {
	n := len(items)
	return &writer{args: a, items: items, toRows: device.View[uint64](a.ToRows, n), toOps: device.View[uint8](a.ToOps, n)}
}

// write writes the changes of keys until item hi is done.
func (w *writer) write(hi int) {
	for w.at < hi {
		to := w.at + 1
		for to < len(w.items) && w.compareKeys(w.items[w.at].at, w.items[to].at) == 0 {
			to++
		}
		if to == w.at+1 {
			w.alone(w.items[w.at].at)
		} else {
			w.group(w.items[w.at:to])
		}
		w.at = to
	}
}

func (w *writer) end() {
	device.View[outcome](w.ToOutcome, 1)[0] = outcome{N: uint64(w.n), Clears: uint64(w.clears)}
}

func (w *writer) put(at uint64, op uint8) {
	size := int(w.Format.Size)
	switch {
	case w.Format.Narrow != 0:
		device.View[uint32](w.ToKeys, w.n+1)[w.n] = device.View[uint32](w.Keys, int(at)+1)[at]
	case size == 8:
		device.View[uint64](w.ToKeys, w.n+1)[w.n] = device.View[uint64](w.Keys, int(at)+1)[at]
	default:
		copy(device.View[byte](w.ToKeys+device.Ptr(w.n*size), size), device.View[byte](w.Keys+device.Ptr(int(at)*size), size))
	}
	w.toRows[w.n], w.toOps[w.n] = device.View[uint64](w.Rows, int(at)+1)[at], op
	w.n++
}

// alone writes the only change of a key.
func (w *writer) alone(at uint64) {
	switch w.op(at) {
	case index.Delete:
		w.put(at, Delete)
	case index.Upsert:
		w.put(at, Clear)
		w.clears++
	default:
		w.put(at, 0)
	}
}

// group writes the changes of one key, which are ordered by row and then as
// they came.
func (w *writer) group(items []item) {
	clear, after := uint8(0), uint64(0)
	for _, x := range items {
		if w.op(x.at) == index.Upsert {
			clear, after = Clear, max(after, x.at)
		}
	}
	if clear != 0 {
		w.clears++
	}
	for i, x := range items {
		if i+1 < len(items) && w.word(items[i+1].at, w.Format.Words) == w.word(x.at, w.Format.Words) || clear != 0 && x.at < after {
			continue
		}
		op := clear
		if w.op(x.at) == index.Delete {
			op |= Delete
		}
		w.put(x.at, op)
	}
}
