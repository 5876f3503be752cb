package btree

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/page"
)

// tails is the memory of the tails of long keys: slots of a few sizes in pages,
// a page of its own for a very long one.
//
//	page   0  tailPage   64  slots of one size
//	slot   0  u32 page, u32 uses   8  the tail: u64 n, n words
//
// A tail is used by its entry, and by separators that were made of it, of the
// newest state: when the last use goes it is retired like a node.
type tails struct {
	store *page.Store
	mu    sync.Mutex
	part  [len(slotWords)]page.Number // pages with free slots, 0: none
}

// slotWords are the sizes of slots, in words.
var slotWords = [...]int{3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64}

const (
	tailPageBytes   = 4096
	tailHeaderBytes = 64
	ownPage         = 0xFFFF // the class of a page of one tail
)

type tailPage struct {
	class, used uint16
	next, prev  page.Number
	taken       [3]uint64 // a bit a slot
}

type tailHeader struct {
	page page.Number
	uses uint32
}

// tailAt is a tail's address as a pointer of the device.
func tailAt(address uint64) device.Ptr { return device.Ptr(address) }

func headerOf(tail device.Ptr) *tailHeader {
	p := tail - 8
	return *(**tailHeader)(unsafe.Pointer(&p))
}

func (t *tails) at(n page.Number) *tailPage {
	return (*tailPage)(nodeAt(page.Slots(t.store.Table()), n).p)
}

func slotsOf(class uint16) int {
	return (tailPageBytes - tailHeaderBytes) / (8 * slotWords[class])
}

// copy makes a copy of a tail, of one use.
func (t *tails) copy(s device.Stream, words []uint64) (device.Ptr, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	need := len(words) + 2
	class := 0
	for class < len(slotWords) && slotWords[class] < need {
		class++
	}
	var n [1]page.Number
	slot, size := 0, 0
	if class == len(slotWords) {
		if err := t.store.Take(s, []int32{int32(tailHeaderBytes + 8*need)}, n[:]); err != nil {
			return 0, err
		}
		*t.at(n[0]) = tailPage{class: ownPage, used: 1}
	} else {
		if t.part[class] == 0 {
			if err := t.store.Take(s, []int32{tailPageBytes}, n[:]); err != nil {
				return 0, err
			}
			*t.at(n[0]) = tailPage{class: uint16(class)}
			t.part[class] = n[0]
		}
		n[0] = t.part[class]
		p := t.at(n[0])
		slot, size = p.free(), 8*slotWords[class]
		p.taken[slot/64] |= 1 << (slot % 64)
		if p.used++; int(p.used) == slotsOf(p.class) {
			t.unlink(p)
		}
	}
	base := page.At(page.Slots(t.store.Table()), n[0]) + device.Ptr(tailHeaderBytes+slot*size) + 8
	*headerOf(base) = tailHeader{n[0], 1}
	out := device.View[uint64](base, len(words)+1)
	out[0] = uint64(len(words))
	copy(out[1:], words)
	return base, nil
}

// free is the first free slot.
func (p *tailPage) free() int {
	for i, w := range p.taken {
		if w != 1<<64-1 {
			return 64*i + bits.TrailingZeros64(^w)
		}
	}
	panic("btree: a full page of tails is on the list of those that are not")
}

// unlink takes a page off its list.
func (t *tails) unlink(p *tailPage) {
	if p.next != 0 {
		t.at(p.next).prev = p.prev
	}
	if p.prev != 0 {
		t.at(p.prev).next = p.next
	} else {
		t.part[p.class] = p.next
	}
	p.next, p.prev = 0, 0
}

// use counts a further use of a tail; address 0 is none.
func (t *tails) use(address uint64) {
	if address != 0 {
		headerOf(tailAt(address)).uses++
	}
}

// drop counts uses down, and returns the tails that have none left.
func (t *tails) drop(all []device.Ptr) []device.Ptr {
	gone := all[:0]
	for _, p := range all {
		h := headerOf(p)
		if h.uses--; h.uses == 0 {
			gone = append(gone, p)
		}
	}
	return gone
}

// free gives tails back; those at 0 are none.
func (t *tails) free(all []device.Ptr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range all {
		if a == 0 {
			continue
		}
		n := headerOf(a).page
		p := t.at(n)
		if p.class == ownPage {
			t.store.Give([]page.Number{n})
			continue
		}
		base := page.At(page.Slots(t.store.Table()), n) + tailHeaderBytes + 8
		slot := int(a-base) / (8 * slotWords[p.class])
		if int(p.used) == slotsOf(p.class) {
			p.next, p.prev = t.part[p.class], 0
			if p.next != 0 {
				t.at(p.next).prev = n
			}
			t.part[p.class] = n
		}
		p.taken[slot/64] &^= 1 << (slot % 64)
		if p.used--; p.used == 0 {
			t.unlink(p)
			t.store.Give([]page.Number{n})
		}
	}
}

// takeTails finds the places of items of long keys, copies the tails of what is
// inserted and notes those of what is deleted. When that fails there is no copy.
func (t *tree[W]) takeTails(s device.Stream, w *work) error {
	w.dropped, w.tails = w.dropped[:0], w.tails[:0]
	if !t.layout.format.Long {
		return nil
	}
	w.tails = append(w.tails, make([]device.Ptr, len(w.items))...)
	groups := w.groups[t.root.height-1]
	var lines ahead
	for lo := 0; lo < len(groups); lo += lanes {
		t.inLeaves(w, groups[lo:min(len(groups), lo+lanes)], &lines)
	}
	for g := range groups {
		n := nodeAt(w.pages, groups[g].page)
		for i := groups[g].lo; i < groups[g].hi; i++ {
			dead, a := w.dead(w.items[i]), w.places[i]
			if dead != a.there() {
				continue
			}
			if dead {
				w.tails[i] = tailAt(t.layout.restOf(n, t.layout.slot(n, a.place()))[t.layout.x-1])
				if w.tails[i] != 0 {
					w.dropped = append(w.dropped, w.tails[i])
				}
			} else if err := t.copyTail(s, w, int(i)); err != nil {
				t.freeTails(w)
				return err
			}
		}
	}
	return nil
}

// freeTails gives the copies of a batch back.
func (t *tree[W]) freeTails(w *work) {
	copies := w.tails[:0]
	for i, p := range w.tails {
		if !w.dead(w.items[i]) {
			copies = append(copies, p)
		}
	}
	t.tails.free(copies)
}

// copyTail copies the tail of item i, if it has one.
func (t *tree[W]) copyTail(s device.Stream, w *work, i int) (err error) {
	if tail := index.Tail(w.rest(w.items[i])[t.layout.x-1]); tail != nil {
		w.tails[i], err = t.tails.copy(s, tail)
	}
	return err
}
