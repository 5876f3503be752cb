package kernels

import (
	"slices"
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// Heap is where the bytes of new long strings go: blocks in the device's
// memory, filled one after the other and given up all at once by Reset.
//
// It belongs to one goroutine.
type Heap struct {
	mem    device.Allocator
	blocks []*device.Buffer
	used   int // bytes of blocks[next-1]
	next   int // blocks[:next] hold strings, the last of them is being filled
}

// stringBlock is the size of a block: many strings, yet less than a batch's columns.
const stringBlock = 64 << 10

// NewHeap makes an empty heap over m.
func NewHeap(m device.Allocator) *Heap { return &Heap{mem: m} }

// Grab returns n bytes of the heap and their address; the host must see them.
func (h *Heap) Grab(n int) ([]byte, device.Ptr, error) {
	p, err := h.Room(n)
	if err != nil {
		return nil, 0, err
	}
	return device.View[byte](p, n), p, nil
}

// Room is the address of n bytes of the heap.
func (h *Heap) Room(n int) (device.Ptr, error) {
	for h.next == 0 || h.used+n > h.blocks[h.next-1].Len() {
		if h.next == len(h.blocks) {
			b, err := h.mem.Alloc(max(n, stringBlock))
			if err != nil {
				return 0, err
			}
			h.blocks = append(h.blocks, b)
		}
		h.next++
		h.used = 0
	}
	p := h.blocks[h.next-1].Ptr() + device.Ptr(h.used)
	h.used += n
	return p, nil
}

// String copies s: a short one into the view, a long one to the heap.
func (h *Heap) String(s string) (View, error) {
	if len(s) <= InlineLen {
		return inlineView(s), nil
	}
	b, p, err := h.Grab(len(s))
	if err != nil {
		return View{}, err
	}
	copy(b, s)
	return longView(b, p), nil
}

// Bytes is String for bytes.
func (h *Heap) Bytes(s []byte) (View, error) {
	return h.String(unsafe.String(unsafe.SliceData(s), len(s)))
}

// Use has the blocks to come taken from m.
func (h *Heap) Use(m device.Allocator) { h.mem = m }

// Adopt takes over all strings of o, which is then empty.
func (h *Heap) Adopt(o *Heap) {
	if h.next == 0 {
		h.used = o.used
	}
	h.blocks = slices.Insert(h.blocks, 0, o.blocks[:o.next]...)
	h.next += o.next
	o.blocks = o.blocks[o.next:]
	o.Reset()
	o.Release()
}

// Held is how much memory the heap has.
func (h *Heap) Held() int64 {
	var n int64
	for _, b := range h.blocks {
		n += int64(b.Len())
	}
	return n
}

// Reset gives up all strings. The blocks are kept for the next ones.
func (h *Heap) Reset() {
	h.next, h.used = 0, 0
}

// Release gives the memory back.
func (h *Heap) Release() {
	for _, b := range h.blocks {
		b.Release()
	}
	h.blocks, h.next, h.used = nil, 0, 0
}

// inlineView is the view of a string of at most InlineLen bytes.
func inlineView(s string) (v View) {
	v.Lo = uint64(len(s))
	for i := 0; i < len(s) && i < 4; i++ {
		v.Lo |= uint64(s[i]) << (32 + 8*i)
	}
	for i := 4; i < len(s); i++ {
		v.Hi |= uint64(s[i]) << (8 * (i - 4))
	}
	return v
}

// longView is the view of bytes b at p, more than InlineLen.
func longView(b []byte, p device.Ptr) View {
	prefix := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24
	return View{Lo: uint64(len(b)) | prefix<<32, Hi: uint64(p)}
}

// ViewAt makes the view of the n bytes at p, which must outlive it when n is
// more than InlineLen.
func ViewAt(p device.Ptr, n int) View {
	b := device.View[byte](p, n)
	if n <= InlineLen {
		return inlineView(unsafe.String(unsafe.SliceData(b), n))
	}
	return longView(b, p)
}

// Len is the string's length in bytes.
func (v *View) Len() int { return int(uint32(v.Lo)) }

// Str is the string at v without a copy: it is good for as long as v itself
// and the bytes behind it stay where they are. Only on devices with HostBytes.
func (v *View) Str() string {
	n := int(uint32(v.Lo))
	if n <= InlineLen {
		return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(v), 4)), n)
	}
	return unsafe.String(unsafe.SliceData(device.View[byte](device.Ptr(v.Hi), n)), n)
}
