package mvcc

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index/page"
)

// A tree is written anew as a whole when the store holds compactShare times what
// its pages take, and compactLeast more: pages that many versions have left
// behind, here and there, keep blocks of memory that are almost empty. It is not
// done before as many pages were given back as there are, so that it costs each
// of these no more than its own writing did.
const (
	compactShare = 2
	compactLeast = 256 << 10
)

// compact packs the latest state's tree, if that pays.
func (x *tree) compact(s device.Stream) error {
	held, inUse := x.store.Bytes()
	if held < compactShare*inUse+compactLeast {
		return nil
	}
	x.mu.Lock()
	base := x.history.latest()
	due := x.garbage >= x.store.Pages() && base.root != 0
	x.mu.Unlock()
	if !due {
		return nil
	}
	x.store.Leave()
	defer x.store.Return()
	b := &batch{tree: x, s: s, base: base, number: x.number + 1, scratch: &x.scratch}
	defer x.rest()
	next, err := b.packed()
	if err != nil {
		x.store.Give(b.fresh)
		return err
	}
	x.number++
	x.publish(next, b.left, b.unused)
	x.mu.Lock()
	x.garbage = 0
	x.mu.Unlock()
	return nil
}

type walkArgs struct {
	Form    form
	Table   device.Ptr
	Root    page.Number
	_       uint32
	Spans   device.Ptr
	Retired device.Ptr
	Births  device.Ptr
	Counts  device.Ptr
}

// walk lists the leaves of a tree as spans, and all of its nodes.
var walk = &device.Kernel[walkArgs]{Name: "mvcc_walk", Host: func(a *walkArgs, _, hi int) {
	w := walker{
		walkArgs: a,
		table:    page.Slots(a.Table),
		spans:    device.View[span](a.Spans, hi),
		retired:  device.View[page.Number](a.Retired, hi),
		births:   device.View[uint64](a.Births, hi),
	}
	w.node(a.Root)
	device.View[counts](a.Counts, 1)[0] = w.c
}}

type walker struct {
	*walkArgs
	table   pageTable
	spans   []span
	retired []page.Number
	births  []uint64
	c       counts
}

func (w *walker) node(number page.Number) {
	p := page.At(w.table, number)
	h := headOf(p)
	w.retired[w.c.Retired], w.births[w.c.Retired] = number, h.birth
	w.c.Retired++
	if h.level == 0 {
		w.spans[w.c.Spans] = span{At: w.c.Items, Len: h.n, Page: number}
		w.c.Spans++
		w.c.Items += h.n
		w.c.Added += int64(h.tails)
		return
	}
	for _, kid := range w.Form.kidsOf(p, int(h.n)) {
		w.node(kid)
	}
}

// packed makes a tree of the same entries.
func (b *batch) packed() (*state, error) {
	n := b.store.Pages()
	a := walkArgs{Form: b.form, Table: b.store.Table(), Root: b.base.root}
	l := &level{writeArgs: writeArgs{Form: b.form, Table: a.Table, Birth: b.number}}
	err := b.scratch.takeAll(
		want{&a.Spans, n * int(unsafe.Sizeof(span{}))},
		want{&a.Retired, 4 * n},
		want{&a.Births, 8 * n},
		want{&a.Counts, int(unsafe.Sizeof(counts{}))},
	)
	if err != nil {
		return nil, err
	}
	if err := device.Launch(b.s, walk, n, a); err != nil {
		return nil, err
	}
	if err := download(b.s, unsafe.Slice(&l.counts, 1), a.Counts); err != nil {
		return nil, err
	}
	if err := b.retire(int(l.counts.Retired), a.Retired, a.Births); err != nil {
		return nil, err
	}
	l.Spans = a.Spans
	g := group{Spans: l.counts.Spans, Items: l.counts.Items, Tails: uint64(l.counts.Added)}
	if err := b.oneGroup(l, g); err != nil {
		return nil, err
	}
	next := &state{number: b.number, version: b.base.version, entries: b.base.entries}
	next.root, next.height, err = b.raise(l, 1)
	return next, err
}
