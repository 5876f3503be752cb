package mvcc

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index/page"
)

// A level of the tree is written anew in four steps, from the leaves up:
//
//	edits   ─ splice ─▶ groups of neighbours that are written together, each a
//	                    list of spans: items of old nodes, and of the source
//	groups  ─ cut ────▶ outs: the new nodes, how many items of what group each has
//	                    (the host takes pages for them)
//	outs    ─ write ──▶ pages, and the items that stand for them one level up
//	groups  are the edits of that level, those items its source

// span is items that stand together in a new node: of an old one, or, of page 0,
// of the source.
type span struct {
	At   uint32 // the number of items before it, of the level's groups
	Len  uint32
	Page page.Number
	From uint32
}

// group is sibling nodes that are written together.
type group struct {
	Span, Spans uint32 // its spans
	At, Items   uint32 // the items before it, of the level's groups, and its own
	Out, Outs   uint32 // its new nodes
	Parent      page.Number
	Slot        uint32 // of the first sibling in the parent
	Siblings    uint32
	Rep         uint32
	Packed      uint32 // 1: all new nodes but the last are full
	_           uint32
	Tails       uint64 // bytes
}

// counts is what splice says about its outcome.
type counts struct {
	Spans, Groups, Outs, Retired uint32
	Items                        uint32 // in all groups
	_                            uint32
	Added                        int64 // items more than before
}

type spliceArgs struct {
	Form          form
	Table         device.Ptr
	Level         uint32
	_             uint32
	Edits         device.Ptr
	Pages         device.Ptr // the nodes on the changes' ways; 0: there is none yet
	Slots         device.Ptr // and which children of their parents they are
	Parents       device.Ptr // 0: this is the root's level
	Keys          device.Ptr // of the source
	Spans, Groups device.Ptr
	Retired       device.Ptr // numbers of the old nodes
	Births        device.Ptr // and their births
	Counts        device.Ptr
}

// splice finds what nodes of a level are to be written.
var splice = &device.Kernel[spliceArgs]{Name: "mvcc_splice", Host: spliceHost}

// spansFor is the most spans that m edits make, nodesFor the most old nodes.
func spansFor(m int) int { return 4*m + 2 }
func nodesFor(m int) int { return 2 * m }

func spliceHost(a *spliceArgs, _, hi int) {
	w := splicer{
		spliceArgs: a,
		table:      page.Slots(a.Table),
		edits:      device.View[edit](a.Edits, hi),
		spans:      device.View[span](a.Spans, spansFor(hi)),
		groups:     device.View[group](a.Groups, hi),
		retired:    device.View[page.Number](a.Retired, nodesFor(hi)),
		births:     device.View[uint64](a.Births, nodesFor(hi)),
		c:          &device.View[counts](a.Counts, 1)[0],
	}
	*w.c = counts{}
	for i := 0; i < hi; {
		if w.edits[i].Del|w.edits[i].Ins == 0 {
			i++
			continue
		}
		i = w.node(i)
	}
	w.finish()
	w.countOuts()
}

// splicer is splice at work.
type splicer struct {
	*spliceArgs
	table   pageTable
	edits   []edit
	spans   []span
	groups  []group
	retired []page.Number
	births  []uint64
	c       *counts

	g    *group // the last one
	open bool   // the next node may join it
}

func (w *splicer) pageOf(rep uint32) page.Number { return numberAt(w.Pages, rep) }

func numberAt(p device.Ptr, i uint32) uint32 {
	if p == 0 {
		return 0
	}
	return *(*uint32)(pointer(p + device.Ptr(4*i)))
}

// node adds the node of edit i, with all its edits, and returns the first of
// the next node.
func (w *splicer) node(i int) int {
	rep := w.edits[i].Rep
	number, parent, slot := w.pageOf(rep), numberAt(w.Parents, rep), numberAt(w.Slots, rep)
	switch beside := w.open && w.g.Parent == parent && w.g.Slot+w.g.Siblings == slot; {
	case !beside:
		w.finish()
		w.begin(parent, slot, rep)
	case w.g.Items >= minItems:
		w.begin(parent, slot, rep) // by itself, unless it turns out small
	}
	g := w.g
	g.Siblings++
	n := uint32(0)
	if number != 0 {
		n = w.retire(number)
	}
	before := w.c.Items
	at := uint32(0)
	for ; i < len(w.edits); i++ {
		e := &w.edits[i]
		if e.Rep != rep && w.pageOf(e.Rep) != number {
			break
		}
		if e.Del|e.Ins == 0 {
			continue
		}
		w.add(number, at, e.Pos-at)
		w.add(0, e.Src, e.Ins)
		w.tails(number, e)
		at = e.Pos + e.Del
	}
	w.add(number, at, n-at)
	w.c.Added += int64(w.c.Items-before) - int64(n)
	g.Packed = 0
	if at == n && w.lastOf(parent, slot) {
		g.Packed = 1
	}
	if g.Items < minItems && w.c.Groups > 1 && g.Siblings == 1 {
		w.joinGroups()
	}
	return i
}

// begin starts a group.
func (w *splicer) begin(parent page.Number, slot, rep uint32) {
	w.g = &w.groups[w.c.Groups]
	*w.g = group{Span: w.c.Spans, At: w.c.Items, Parent: parent, Slot: slot, Rep: rep}
	w.c.Groups++
	w.open = true
}

// joinGroups puts the last group, a small node, together with the one before if
// that is its neighbour.
func (w *splicer) joinGroups() {
	p, g := &w.groups[w.c.Groups-2], w.g
	if p.Parent == 0 || p.Parent != g.Parent || p.Slot+p.Siblings != g.Slot {
		return
	}
	p.Spans += g.Spans
	p.Items += g.Items
	p.Siblings += g.Siblings
	p.Tails += g.Tails
	p.Packed = g.Packed
	w.c.Groups--
	w.g = p
}

// retire notes an old node, and returns its number of items.
func (w *splicer) retire(number page.Number) uint32 {
	h := headOf(page.At(w.table, number))
	w.retired[w.c.Retired], w.births[w.c.Retired] = number, h.birth
	w.c.Retired++
	w.g.Tails += h.tails
	return h.n
}

// add appends items to the last group.
func (w *splicer) add(number page.Number, from, n uint32) {
	if n == 0 {
		return
	}
	g := w.g
	if g.Spans > 0 {
		s := &w.spans[w.c.Spans-1]
		if s.Page == number && s.From+s.Len == from {
			s.Len += n
			g.Items += n
			w.c.Items += n
			return
		}
	}
	w.spans[w.c.Spans] = span{At: w.c.Items, Len: n, Page: number, From: from}
	w.c.Spans++
	g.Spans++
	g.Items += n
	w.c.Items += n
}

// tails counts what an edit changes in the bytes of tails.
func (w *splicer) tails(number page.Number, e *edit) {
	if w.Form.kind != long {
		return
	}
	if e.Del > 0 {
		p := page.At(w.table, number)
		for i := e.Pos; i < e.Pos+e.Del; i++ {
			w.g.Tails -= uint64(tailBytes(w.Form.tailIn(p, int(i))))
		}
	}
	for i := e.Src; i < e.Src+e.Ins; i++ {
		w.g.Tails += uint64(tailBytes(w.Form.tailWord(w.Form.keyAt(w.Keys, int(i)))))
	}
}

// lastOf reports that a child is its parent's last.
func (w *splicer) lastOf(parent page.Number, slot uint32) bool {
	return parent == 0 || headOf(page.At(w.table, parent)).n == slot+1
}

// finish ends the last group. If it is small, a neighbour that nothing else is
// done to is written with it.
func (w *splicer) finish() {
	g := w.g
	if !w.open || g.Parent == 0 || g.Items == 0 || g.Items >= minItems {
		w.open = false
		return
	}
	w.open = false
	p := page.At(w.table, g.Parent)
	kids := w.Form.kidsOf(p, int(headOf(p).n))
	if right := g.Slot + g.Siblings; int(right) < len(kids) {
		w.add(kids[right], 0, w.retire(kids[right]))
		g.Siblings++
		return
	}
	if g.Slot == 0 {
		return
	}
	left := kids[g.Slot-1]
	n := w.retire(left)
	own := w.spans[g.Span : w.c.Spans+1]
	copy(own[1:], own)
	own[0] = span{At: g.At, Len: n, Page: left}
	for i := range own[1:] {
		own[1+i].At += n
	}
	w.c.Spans++
	w.c.Items += n
	g.Spans++
	g.Items += n
	g.Slot--
	g.Siblings++
}

// countOuts says how many new nodes each group makes.
func (w *splicer) countOuts() {
	for i := range w.groups[:w.c.Groups] {
		g := &w.groups[i]
		g.Out = w.c.Outs
		g.Outs = nodesOf(g.Items, maxItems, g.Tails, w.Level)
		w.c.Outs += g.Outs
	}
}

// nodesOf is the number of nodes for some items, at most so many in each, with
// so many bytes of tails.
func nodesOf(items, most uint32, tails uint64, level uint32) uint32 {
	if items == 0 {
		return 0
	}
	n := (items + most - 1) / most
	if heavy := (tails + maxTails - 1) / maxTails; uint64(n) < heavy {
		limit := items
		if level > 0 {
			limit = max(items/2, 1)
		}
		n = uint32(min(heavy, uint64(limit)))
	}
	return n
}
