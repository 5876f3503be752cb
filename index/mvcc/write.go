package mvcc

import (
	"sort"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index/page"
)

// out is a new node: N items of a group, from At on.
type out struct {
	Group uint32
	At    uint32
	N     uint32
	_     uint32
}

// source is the new items of a level: the batch for the leaves, for the levels
// above the items that stand for the nodes just written.
type source struct {
	Keys   device.Ptr
	Rows   device.Ptr
	Kids   device.Ptr
	Counts device.Ptr // entries in each child
}

type writeArgs struct {
	Form          form
	Table         device.Ptr
	Birth         uint64
	Level         uint32
	_             uint32
	Spans, Groups device.Ptr
	Outs          device.Ptr
	Sizes         device.Ptr // of the new nodes' pages
	Pages         device.Ptr // and their numbers
	Edits         device.Ptr // of the level above
	Source        source
	To            source // what stands for the new nodes
}

var (
	// cut deals the items of groups out to new nodes.
	cut = &device.Kernel[writeArgs]{Name: "mvcc_cut", Split: 4096, Host: cutHost}
	// write fills new nodes.
	write = &device.Kernel[writeArgs]{Name: "mvcc_write", Split: 256, Host: writeHost}
)

func cutHost(a *writeArgs, lo, hi int) {
	w := newWriter(a)
	edits := device.View[edit](a.Edits, hi)
	groups := device.View[group](a.Groups, hi)
	for i := lo; i < hi; i++ {
		g := &groups[i]
		edits[i] = edit{Rep: g.Rep, Pos: g.Slot, Del: g.Siblings, Ins: g.Outs, Src: g.Out}
		outs := device.View[out](a.Outs, int(g.Out+g.Outs))
		sizes := device.View[int32](a.Sizes, int(g.Out+g.Outs))
		for j := range g.Outs {
			from, to := g.share(j), g.share(j+1)
			o := out{Group: uint32(i), At: g.At + from, N: to - from}
			outs[g.Out+j] = o
			sizes[g.Out+j] = int32(a.Form.nodeBytes(int(o.N), a.Level) + w.tailsOf(&o))
		}
	}
}

// share is the first item of new node j.
func (g *group) share(j uint32) uint32 {
	if g.Packed != 0 && g.Tails == 0 {
		return min(j*maxItems, g.Items)
	}
	return uint32(uint64(g.Items) * uint64(j) / uint64(g.Outs))
}

// writer is what cut and write share.
type writer struct {
	*writeArgs
	table pageTable
}

func newWriter(a *writeArgs) *writer { return &writer{a, page.Slots(a.Table)} }

// each calls f for the parts of a new node that stand together.
func (w *writer) each(o *out, f func(p page.Number, from, n int)) {
	g := &device.View[group](w.Groups, int(o.Group)+1)[o.Group]
	spans := device.View[span](w.Spans, int(g.Span+g.Spans))[g.Span:]
	first := 0
	if len(spans) > 8 {
		first = sort.Search(len(spans), func(i int) bool { return spans[i].At > o.At }) - 1
	}
	for at, end := o.At, o.At+o.N; at < end; first++ {
		s := &spans[first]
		if s.At+s.Len <= at {
			continue
		}
		skip := at - s.At
		n := min(s.Len-skip, end-at)
		f(s.Page, int(s.From+skip), int(n))
		at += n
	}
}

// tailsOf is the bytes of a new node's tails.
func (w *writer) tailsOf(o *out) (bytes int) {
	if w.Form.kind != long {
		return 0
	}
	w.each(o, func(number page.Number, from, n int) {
		for i := from; i < from+n; i++ {
			bytes += tailBytes(w.tail(number, i))
		}
	})
	return bytes
}

// tail is the address of the tail of item i of a node, or of the source.
func (w *writer) tail(number page.Number, i int) uint64 {
	if number == 0 {
		return w.Form.tailWord(w.Form.keyAt(w.Source.Keys, i))
	}
	return w.Form.tailIn(page.At(w.table, number), i)
}

func writeHost(a *writeArgs, lo, hi int) {
	w := newWriter(a)
	outs := device.View[out](a.Outs, hi)
	pages := device.View[page.Number](a.Pages, hi)
	for ; lo < hi; lo += nodesAhead {
		n := min(nodesAhead, hi-lo)
		w.touch(outs[lo:lo+n], pages[lo:lo+n])
		for i := lo; i < lo+n; i++ {
			p := page.At(w.table, pages[i])
			*headOf(p) = head{birth: a.Birth, n: outs[i].N, level: a.Level}
			w.fill(p, &outs[i])
			w.standIn(p, i, &outs[i])
		}
	}
}

// nodesAhead is how many new nodes are looked at before they are written.
const nodesAhead = 16

// touch reads the lines that new nodes are written from and to, so that the
// memory brings them side by side.
//
//go:noinline
func (w *writer) touch(outs []out, pages []page.Number) (sum uint64) {
	const line = 64
	for i := range outs {
		o := &outs[i]
		p := page.At(w.table, pages[i])
		for end := p + device.Ptr(w.Form.nodeBytes(int(o.N), w.Level)); p < end; p += line {
			sum += *(*uint64)(pointer(p))
		}
		g := &device.View[group](w.Groups, int(o.Group)+1)[o.Group]
		s := &device.View[span](w.Spans, int(g.Span)+1)[g.Span]
		if s.Page == 0 {
			continue
		}
		p = page.At(w.table, s.Page)
		for end := p + device.Ptr(w.Form.nodeBytes(int(headOf(p).n), w.Level)); p < end; p += line {
			sum += *(*uint64)(pointer(p))
		}
	}
	return sum
}

// fill writes the items of a new node.
func (w *writer) fill(p device.Ptr, o *out) {
	f := &w.Form
	n, done := int(o.N), 0
	rows := f.rowsOf(p, n)
	tails := uint64(f.nodeBytes(n, w.Level))
	total := uint32(0)
	w.each(o, func(number page.Number, from, k int) {
		src := w.Source
		var old device.Ptr
		var was int
		if number != 0 {
			old = page.At(w.table, number)
			was = int(headOf(old).n)
			src.Keys, src.Rows = old+headBytes, old+headBytes+device.Ptr(f.keyBytes(was))
		}
		copyBytes(f.keyAt(p+headBytes, done), f.keyAt(src.Keys, from), k*int(f.size))
		copy(rows[done:], device.View[uint64](src.Rows+device.Ptr(8*from), k))
		if f.kind == long {
			for i := range k {
				tails = w.copyTail(p, done+i, w.tail(number, from+i), tails)
			}
		}
		if w.Level > 0 {
			kids, sums := f.kidsOf(p, n)[done:][:k], f.sumsOf(p, n)[done:][:k]
			if number != 0 {
				copy(kids, f.kidsOf(old, was)[from:])
				total = moveSums(sums, f.sumsOf(old, was), from, total)
			} else {
				copy(kids, device.View[page.Number](src.Kids, from+k)[from:])
				for i, c := range device.View[uint32](src.Counts, from+k)[from:] {
					total += c
					sums[i] = total
				}
			}
		}
		done += k
	})
	headOf(p).tails = tails - uint64(f.nodeBytes(n, w.Level))
}

// moveSums writes the sums of old's children from on, which go on from total.
func moveSums(sums, old []uint32, from int, total uint32) uint32 {
	less := uint32(0)
	if from > 0 {
		less = old[from-1]
	}
	old = old[from:]
	for i := range sums {
		sums[i] = total + old[i] - less
	}
	return sums[len(sums)-1]
}

func copyBytes(to, from device.Ptr, n int) {
	copy(device.View[byte](to, n), device.View[byte](from, n))
}

// copyTail gives item i of node p its tail, at that place in the node, and
// returns the place after it.
func (w *writer) copyTail(p device.Ptr, i int, tail, at uint64) uint64 {
	to := &device.View[uint64](w.Form.keyAt(p+headBytes, i)+device.Ptr(8*w.Form.words), 1)[0]
	if tail == 0 {
		*to = 0
		return at
	}
	n := tailBytes(tail)
	copyBytes(p+device.Ptr(at), device.Ptr(tail), n)
	*to = at
	return at + uint64(n)
}

// standIn writes the item that stands for new node i one level up. The first of
// a group takes the place of the first of the old ones.
func (w *writer) standIn(p device.Ptr, i int, o *out) {
	f := &w.Form
	n := int(o.N)
	counts := device.View[uint32](w.To.Counts, i+1)
	if counts[i] = o.N; w.Level > 0 {
		counts[i] = f.sumsOf(p, n)[n-1]
	}
	at := 0
	if g := &device.View[group](w.Groups, int(o.Group)+1)[o.Group]; g.Parent != 0 && o.At == g.At {
		p = page.At(w.table, g.Parent)
		n = int(headOf(p).n)
		at = int(g.Slot)
	}
	f.copyItem(w.To.Keys, i, p, at)
	device.View[uint64](w.To.Rows, i+1)[i] = f.rowsOf(p, n)[at]
}

// copyItem writes key at of node p as key i of some keys, whose tails are addresses.
func (f *form) copyItem(keys device.Ptr, i int, p device.Ptr, at int) {
	to := f.keyAt(keys, i)
	copyBytes(to, f.keyAt(p+headBytes, at), int(f.size))
	if f.kind == long {
		device.View[uint64](to+device.Ptr(8*f.words), 1)[0] = f.tailIn(p, at)
	}
}
