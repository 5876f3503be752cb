package mvcc

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index/page"
)

type topArgs struct {
	Form   form
	Table  device.Ptr
	Root   page.Number
	_      uint32
	Answer device.Ptr // a top
}

// top is a root, and the nodes above it that have nothing else below them.
type top struct {
	Root   page.Number
	Passed uint32
	Pages  [maxHeight]page.Number
	Births [maxHeight]uint64
}

// findTop goes down from a root to the first node that has two items, or none
// below it.
var findTop = &device.Kernel[topArgs]{Name: "mvcc_top", Host: func(a *topArgs, _, _ int) {
	slots := page.Slots(a.Table)
	t := &device.View[top](a.Answer, 1)[0]
	t.Root, t.Passed = a.Root, 0
	for {
		p := page.At(slots, t.Root)
		h := headOf(p)
		if h.level == 0 || h.n > 1 {
			return
		}
		t.Pages[t.Passed], t.Births[t.Passed] = t.Root, h.birth
		t.Passed++
		t.Root = a.Form.kidsOf(p, 1)[0]
	}
}}

// top is the new tree's root and height: roots with one child are left out.
func (b *batch) top(root page.Number, height int) (page.Number, int, error) {
	a := topArgs{Form: b.form, Table: b.store.Table(), Root: root}
	if err := b.scratch.takeAll(want{&a.Answer, int(unsafe.Sizeof(top{}))}); err != nil {
		return 0, 0, err
	}
	if err := device.Launch(b.s, findTop, 1, a); err != nil {
		return 0, 0, err
	}
	var t [1]top
	if err := download(b.s, t[:], a.Answer); err != nil {
		return 0, 0, err
	}
	for i, n := range t[0].Pages[:t[0].Passed] {
		if birth := t[0].Births[i]; birth == b.number {
			b.unused = append(b.unused, n)
		} else {
			b.left.pages, b.left.births = append(b.left.pages, n), append(b.left.births, birth)
		}
	}
	return t[0].Root, height - int(t[0].Passed), nil
}
