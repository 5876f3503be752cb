package wide

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
)

// slots is the memory of leaves, of one size, and the queue of those that are
// free or will be.
//
//	ring    │ free, nobody reads them │ given back, a state may read them │
//	      head                    oldest state's tail                   tail
//
// A batch takes slots at the head and gives back at the tail. It changes numbers
// here when all that it launched is done: until then nothing has happened.
type slots struct {
	mem   device.Allocator
	block int          // bytes of a slot
	units []device.Ptr // addresses of runs of slots

	mu     sync.Mutex // of the buffers: Stats looks at them
	chunks []*device.Buffer
	table  *device.Buffer // addresses of units
	old    []*device.Buffer
	ring   *device.Buffer // 32 bits each, a power of two of them
	count  int            // slots

	head, tail uint64
	refs       int // states
}

const ringStart = 1 << 40 // heads go back when slots are added

func newSlots(mem device.Allocator, block int) *slots {
	return &slots{mem: mem, block: block, head: ringStart, tail: ringStart}
}

func (x *slots) mask() uint64 {
	if x.ring == nil {
		return 0
	}
	return uint64(x.ring.Len()/4) - 1
}

func (x *slots) bytes() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := 0
	for _, b := range append(append([]*device.Buffer{x.table, x.ring}, x.chunks...), x.old...) {
		if b != nil {
			n += b.Len()
		}
	}
	return int64(n)
}

func (x *slots) unref() {
	if x.refs--; x.refs == 0 {
		x.free()
	}
}

func (x *slots) free() {
	for _, b := range append(append([]*device.Buffer{x.table, x.ring}, x.chunks...), x.old...) {
		b.Release()
	}
	x.chunks, x.old, x.table, x.ring = nil, nil, nil, nil
}

// grow adds n slots, in front of the queue.
func (x *slots) grow(s device.Stream, n int) error {
	unit := 1 << kernels.TreeUnit
	first := len(x.units) * unit
	units := (n + unit - 1) / unit
	if (first+units*unit)*kernels.TreeLeaf > 1<<32 {
		return tooLarge()
	}
	chunk, err := x.mem.Alloc(n * x.block)
	if err != nil {
		return err
	}
	table, all := x.table, append([]device.Ptr(nil), x.units...)
	for i := range units {
		all = append(all, chunk.Ptr()+device.Ptr(i*unit*x.block))
	}
	undo := []*device.Buffer{chunk}
	fail := func(err error) error {
		for _, b := range undo {
			b.Release()
		}
		return err
	}
	if table == nil || table.Len() < 8*len(all) {
		if table, err = x.mem.Alloc(8 << bits.Len(uint(len(all)))); err != nil {
			return fail(err)
		}
		undo = append(undo, table)
		err = s.Upload(table.Ptr(), bytesOf(all))
	} else {
		err = s.Upload(table.Ptr()+device.Ptr(8*len(x.units)), bytesOf(all[len(x.units):]))
	}
	if err != nil {
		return fail(err)
	}
	ring := x.ring
	if ring == nil || ring.Len() < 4*(x.count+n) {
		if ring, err = x.mem.Alloc(4 << bits.Len(uint(x.count+n-1))); err != nil {
			return fail(err)
		}
		undo = append(undo, ring)
	}
	move := kernels.TreeRing{To: ring.Ptr(), ToMask: uint64(ring.Len()/4) - 1, Head: x.head, N: uint64(n), First: uint64(first)}
	moved := n
	if ring != x.ring && x.ring != nil {
		move.From, move.FromMask = x.ring.Ptr(), x.mask()
		moved += int(x.tail - x.head)
	}
	if err := move.Move(s, moved); err != nil {
		return fail(err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if ring != x.ring {
		x.ring.Release()
	}
	if table != x.table && x.table != nil {
		x.old = append(x.old, x.table) // states know it
	}
	x.chunks, x.units, x.table, x.ring = append(x.chunks, chunk), all, table, ring
	x.count += n
	x.head -= uint64(n)
	return nil
}

func bytesOf[T any](v []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(one)))
}
