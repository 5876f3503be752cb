package mvcc

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/change"
	"github.com/gpusql/gpusql/index/page"
	"github.com/gpusql/gpusql/sqltype"
)

// batch is one Apply: a new tree beside the old one.
type batch struct {
	*tree
	s       device.Stream
	base    *state
	number  uint64
	scratch *scratch
	sorted  change.Sorted

	pages, slots device.Ptr // the ways down, see locateArgs
	fresh        []page.Number
	left         dead
	unused       []page.Number // of fresh
	added        int64
}

// level is one level of the tree on its way from edits to pages.
type level struct {
	writeArgs
	counts counts
	pages  []page.Number // the new nodes
}

// Apply changes the index by a batch.
func (x *tree) Apply(s device.Stream, v index.Version, e index.Entries) error {
	base := x.now()
	if v < base.version {
		return index.ErrVersion
	}
	b := &batch{tree: x, s: s, base: base, number: x.number + 1, scratch: &x.scratch}
	defer x.rest()
	next, err := b.run(e)
	if err != nil {
		x.store.Give(b.fresh)
		return err
	}
	next.version = v
	x.number++
	x.publish(next, b.left, b.unused)
	return nil
}

// rest gives up what a batch worked with.
func (x *tree) rest() {
	x.scratch.reset()
	if x.sorter.Bytes() > scratchKeep {
		x.sorter.Release()
	}
	x.noteWorking()
}

// run makes the tree after the batch.
func (b *batch) run(e index.Entries) (*state, error) {
	var err error
	if b.sorted, err = b.sorter.Sort(b.s, e); err != nil {
		return nil, err
	}
	if b.sorted.Clears {
		if err := b.expand(); err != nil {
			return nil, err
		}
	}
	if uint64(b.base.entries)+uint64(b.sorted.N) > 1<<32-1 {
		return nil, sqltype.Errorf(sqltype.CodeTooComplex, "an index has at most 2^32-1 entries")
	}
	next := &state{number: b.number, root: b.base.root, height: b.base.height, entries: b.base.entries}
	if b.sorted.N == 0 {
		return next, nil
	}
	l, height, err := b.rewrite()
	if err != nil || l == nil {
		return next, err
	}
	next.entries += b.added
	next.root, next.height, err = b.raise(l, height)
	return next, err
}

// raise puts levels over the nodes of the last one until there is a root.
func (b *batch) raise(l *level, height int) (page.Number, int, error) {
	for ; l.counts.Outs > 1; height++ {
		var err error
		if l, err = b.fromSource(uint32(height), int(l.counts.Outs), l.To); err != nil {
			return 0, 0, err
		}
	}
	if l.counts.Outs == 0 {
		return 0, 0, nil
	}
	return b.top(l.pages[0], height)
}

// rewrite writes the nodes that the batch changes, from the leaves to the root's
// level, which it returns with the number of levels. It returns no level if
// nothing changes.
func (b *batch) rewrite() (*level, int, error) {
	if b.base.root == 0 && b.sorted.Ops == 0 {
		l, err := b.fromSource(0, b.sorted.N, source{Keys: b.sorted.Keys, Rows: b.sorted.Rows})
		b.added = int64(b.sorted.N)
		return l, 1, err
	}
	edits, err := b.locate()
	if err != nil {
		return nil, 0, err
	}
	m, src := b.sorted.N, source{Keys: b.sorted.Keys, Rows: b.sorted.Rows}
	height := max(b.base.height, 1)
	var l *level
	for i := range height {
		if l, err = b.splice(uint32(i), height, m, edits, src); err != nil {
			return nil, 0, err
		}
		if l.counts.Groups == 0 {
			return nil, 0, nil
		}
		if i == 0 {
			b.added = l.counts.Added
		}
		if err := b.write(l); err != nil {
			return nil, 0, err
		}
		m, edits, src = int(l.counts.Groups), l.Edits, l.To
	}
	return l, height, nil
}

// locate finds the batch's places.
func (b *batch) locate() (edits device.Ptr, err error) {
	n, h := b.sorted.N, b.base.height
	err = b.scratch.takeAll(want{&b.pages, 4 * n * h}, want{&b.slots, 4 * n * h}, want{&edits, n * int(unsafe.Sizeof(edit{}))})
	if err != nil {
		return 0, err
	}
	return edits, device.Launch(b.s, locate, n, locateArgs{
		Form: b.form, Table: b.store.Table(), Root: b.base.root, Height: uint32(h), N: uint64(n),
		Keys: b.sorted.Keys, Rows: b.sorted.Rows, Ops: b.sorted.Ops,
		Pages: b.pages, Slots: b.slots, Edits: edits,
	})
}

// splice finds what is to be written at a level, for m edits.
func (b *batch) splice(at uint32, height, m int, edits device.Ptr, src source) (*level, error) {
	l := &level{writeArgs: writeArgs{Form: b.form, Table: b.store.Table(), Birth: b.number, Level: at, Source: src}}
	a := spliceArgs{Form: b.form, Table: l.Table, Level: at, Edits: edits, Keys: src.Keys}
	err := b.scratch.takeAll(
		want{&a.Spans, spansFor(m) * int(unsafe.Sizeof(span{}))},
		want{&a.Groups, m * int(unsafe.Sizeof(group{}))},
		want{&a.Retired, 4 * nodesFor(m)},
		want{&a.Births, 8 * nodesFor(m)},
		want{&a.Counts, int(unsafe.Sizeof(counts{}))},
	)
	if err != nil {
		return nil, err
	}
	if n := b.sorted.N; b.base.root != 0 {
		a.Pages, a.Slots = b.pages+device.Ptr(4*n*int(at)), b.slots+device.Ptr(4*n*int(at))
		if int(at)+1 < height {
			a.Parents = a.Pages + device.Ptr(4*n)
		}
	}
	if err := device.Launch(b.s, splice, m, a); err != nil {
		return nil, err
	}
	l.Spans, l.Groups = a.Spans, a.Groups
	if err := download(b.s, unsafe.Slice(&l.counts, 1), a.Counts); err != nil {
		return nil, err
	}
	return l, b.retire(int(l.counts.Retired), a.Retired, a.Births)
}

// retire notes n nodes of the old tree that the new one does without.
func (b *batch) retire(n int, pages, births device.Ptr) error {
	had := len(b.left.pages)
	b.left.pages = append(b.left.pages, make([]page.Number, n)...)
	b.left.births = append(b.left.births, make([]uint64, n)...)
	if err := download(b.s, b.left.pages[had:], pages); err != nil {
		return err
	}
	return download(b.s, b.left.births[had:], births)
}

// write takes pages for a level's new nodes and fills them.
func (b *batch) write(l *level) error {
	outs, groups := int(l.counts.Outs), int(l.counts.Groups)
	err := b.scratch.takeAll(
		want{&l.Outs, outs * int(unsafe.Sizeof(out{}))},
		want{&l.Sizes, 4 * outs},
		want{&l.Pages, 4 * outs},
		want{&l.Edits, groups * int(unsafe.Sizeof(edit{}))},
		want{&l.To.Keys, b.form.keyBytes(outs)},
		want{&l.To.Rows, 8 * outs},
		want{&l.To.Counts, 4 * outs},
	)
	if err != nil {
		return err
	}
	l.To.Kids = l.Pages
	if err := device.Launch(b.s, cut, groups, l.writeArgs); err != nil {
		return err
	}
	sizes := make([]int32, outs)
	if err := download(b.s, sizes, l.Sizes); err != nil {
		return err
	}
	l.pages = make([]page.Number, outs)
	if err := b.store.Take(b.s, sizes, l.pages); err != nil {
		return err
	}
	b.fresh = append(b.fresh, l.pages...)
	if err := upload(b.s, l.Pages, l.pages); err != nil {
		return err
	}
	l.Table = b.store.Table()
	return device.Launch(b.s, write, outs, l.writeArgs)
}

// fromSource writes a level of nothing but n new items.
func (b *batch) fromSource(at uint32, n int, src source) (*level, error) {
	l := &level{writeArgs: writeArgs{Form: b.form, Table: b.store.Table(), Birth: b.number, Level: at, Source: src}}
	g := group{Spans: 1, Items: uint32(n)}
	if b.form.kind == long {
		tails, err := b.tailsOf(src.Keys, n)
		if err != nil {
			return nil, err
		}
		g.Tails = tails
	}
	err := b.scratch.takeAll(want{&l.Spans, int(unsafe.Sizeof(span{}))})
	if err == nil {
		err = upload(b.s, l.Spans, []span{{Len: uint32(n)}})
	}
	if err != nil {
		return nil, err
	}
	return l, b.oneGroup(l, g)
}

// oneGroup writes a level whose items are one group.
func (b *batch) oneGroup(l *level, g group) error {
	g.Outs = nodesOf(g.Items, builtItems, g.Tails, l.Level)
	l.counts.Groups, l.counts.Outs = 1, g.Outs
	if err := b.scratch.takeAll(want{&l.Groups, int(unsafe.Sizeof(g))}); err != nil {
		return err
	}
	if err := upload(b.s, l.Groups, []group{g}); err != nil {
		return err
	}
	return b.write(l)
}

// tailsOf adds up the bytes of n keys' tails.
func (b *batch) tailsOf(keys device.Ptr, n int) (sum uint64, err error) {
	err = change.Pieces(b.s, n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sum += uint64(tailBytes(b.form.tailWord(b.form.keyAt(keys, i))))
		}
	})
	return sum, err
}

// upload and download move values between the host and the device.
func upload[T any](s device.Stream, to device.Ptr, v []T) error { return s.Upload(to, bytesOf(v)) }

func download[T any](s device.Stream, v []T, from device.Ptr) error {
	if len(v) == 0 {
		return nil
	}
	return s.Download(bytesOf(v), from)
}

func bytesOf[T any](v []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(one)))
}
