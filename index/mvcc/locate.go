package mvcc

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index/change"
	"github.com/gpusql/gpusql/index/page"
)

// edit is a change of a node's items: Del of them, from Pos on, give way to the
// Ins items of the level's source from Src on. One with neither changes nothing.
type edit struct {
	Rep      uint32 // a change of the batch whose way down leads through the node
	Pos      uint32
	Del, Ins uint32
	Src      uint32
}

type locateArgs struct {
	Form            form
	Table           device.Ptr
	Root            page.Number // 0: there are no entries
	Height          uint32
	N               uint64
	Keys, Rows, Ops device.Ptr // the batch, in order
	Pages, Slots    device.Ptr // Height times N numbers: the way down
	Edits           device.Ptr
}

// locate finds the leaf of each change, the way down to it, and what the change
// does there.
var locate = &device.Kernel[locateArgs]{Name: "mvcc_locate", Split: 1024, Host: locateHost}

// block is how many ways down go side by side, so that the memory is asked for
// the next node of each while the others wait for theirs.
const block = 64

func locateHost(a *locateArgs, lo, hi int) {
	slots := page.Slots(a.Table)
	var ts [block]target
	var at [block]device.Ptr
	edits := device.View[edit](a.Edits, hi)
	for ; lo < hi; lo += block {
		n := min(block, hi-lo)
		for i := range n {
			ts[i] = a.Form.target(a.Keys, lo+i, rowAt(a.Rows, lo+i, 0))
		}
		if a.Root == 0 {
			for i := range n {
				edits[lo+i] = a.edit(lo+i, 0, false)
			}
			continue
		}
		a.down(slots, &ts, &at, lo, n)
		for i := range n {
			p := at[i]
			pos, hit := a.Form.place(p, int(headOf(p).n), &ts[i])
			edits[lo+i] = a.edit(lo+i, pos, hit)
		}
	}
}

// edit is what change i does at its place in a leaf.
func (a *locateArgs) edit(i, pos int, hit bool) edit {
	e := edit{Rep: uint32(i), Pos: uint32(pos), Src: uint32(i)}
	switch dead := a.Ops != 0 && *(*uint8)(pointer(a.Ops + device.Ptr(i)))&change.Delete != 0; {
	case dead && hit:
		e.Del = 1
	case !dead && !hit:
		e.Ins = 1
	}
	return e
}

// down writes the ways of n changes from lo on, and their leaves' addresses to
// at. Neighbours mostly go the same way: the last one's place is tried first.
func (a *locateArgs) down(slots pageTable, ts *[block]target, at *[block]device.Ptr, lo, n int) {
	h := int(a.Height)
	path := device.View[page.Number](a.Pages, h*int(a.N))
	from := device.View[uint32](a.Slots, h*int(a.N))
	root := page.At(slots, a.Root)
	for i := range n {
		at[i] = root
		path[(h-1)*int(a.N)+lo+i], from[(h-1)*int(a.N)+lo+i] = a.Root, 0
	}
	for level := h - 1; level > 0; level-- {
		path, from := path[(level-1)*int(a.N)+lo:][:n], from[(level-1)*int(a.N)+lo:][:n]
		last, kid := device.Ptr(0), 0
		for i := range n {
			p := at[i]
			items := int(headOf(p).n)
			kid = a.Form.kidNear(p, items, kid, p == last, &ts[i])
			last, from[i] = p, uint32(kid)
		}
		for i := range n {
			p := at[i]
			number := a.Form.kidsOf(p, int(headOf(p).n))[from[i]]
			path[i], at[i] = number, page.At(slots, number)
		}
		touch(&a.Form, at, n)
	}
}

// touch reads the heads and then the keys of nodes, so that the memory brings
// them side by side.
//
//go:noinline
func touch(f *form, at *[block]device.Ptr, n int) (sum uint64) {
	const line = 64
	for i := range n {
		sum += uint64(headOf(at[i]).n)
	}
	for i := range n {
		end := at[i] + device.Ptr(f.keyBytes(int(headOf(at[i]).n)))
		for p := at[i] + line; p < end; p += line {
			sum += *(*uint64)(pointer(p))
		}
	}
	return sum
}
