package device

import (
	"context"
	"unsafe"
)

// Ptr is an address in a device's memory. It keeps nothing alive and is never
// in Go's heap: memory behind it lives as long as its Buffer.
type Ptr uintptr

// Buffer is a run of a device's memory. It is owned by whoever allocated it,
// and given back by Release, once. The bytes are not cleared by Alloc.
type Buffer struct {
	ptr   Ptr
	n     int
	own   Owner
	under *Buffer // what a Scope's buffer stands for
	slot  int     // its place in the Scope's list
}

// Owner takes a released buffer back. It is what a device is to its buffers;
// nobody else calls Reclaim.
type Owner interface{ Reclaim(*Buffer) }

// NewBuffer makes the buffer that a device hands out: n bytes at p.
func NewBuffer(p Ptr, n int, own Owner) *Buffer { return &Buffer{ptr: p, n: n, own: own} }

// Ptr is the buffer's first byte.
func (b *Buffer) Ptr() Ptr { return b.ptr }

// Len is the buffer's size in bytes.
func (b *Buffer) Len() int { return b.n }

// Release gives the memory back. Releasing a nil or a released buffer is a
// no-op, so that error paths may release all they hold.
func (b *Buffer) Release() {
	if b == nil || b.own == nil {
		return
	}
	o := b.own
	b.own = nil
	o.Reclaim(b)
}

// Allocator is where buffers come from: a Device, or a Scope over one.
type Allocator interface {
	// Alloc returns n bytes aligned to 64, or an error that errors.Is ErrNoMemory.
	Alloc(n int) (*Buffer, error)
}

// Device is a processor with its memory.
//
// Safe for concurrent use. Close comes last, after every stream is closed and
// every buffer released.
type Device interface {
	Allocator
	Name() string
	// Traits states the numbers that operators adapt to. They never change.
	Traits() Traits
	NewStream() (Stream, error)
	Close() error
}

// Traits are a device's numbers: what an operator adapts to instead of asking
// which device it runs on.
type Traits struct {
	BatchRows int  // rows that a batch should have
	Streams   int  // workers that pay
	HostBytes bool // Ptr is addressable by the host: View works
	Shared    int  // bytes of memory that the threads of a block may share
}

// Stream is one worker of a device: what is submitted runs in order.
//
// A stream belongs to one goroutine at a time. An error from any call leaves
// the stream usable unless it is ErrLost. Two streams are not ordered: who
// hands memory that one stream still writes to another calls Wait first.
type Stream interface {
	Device() Device
	// Upload copies host bytes to the device; src may be reused on return.
	Upload(dst Ptr, src []byte) error
	// Download copies device bytes to the host, after all that was submitted
	// before it; dst is complete on return. A failure that a kernel reported
	// since the last Download or Wait is its error.
	Download(dst []byte, src Ptr) error
	// Submit runs w over its n items. On return the work may still be under
	// way, but a later Submit, Download or Wait comes after it. w and its
	// argument may be reused on return.
	Submit(w Work) error
	// Wait returns when all submitted work is done, or failed.
	Wait(ctx context.Context) error
	// Status is the address of the Status that kernels of this stream report
	// failures to: kernels that can fail take it as a field of their argument.
	// It is 0 where HostBytes is set: Host bodies panic instead.
	Status() Ptr
	Close() error
}

// View is the n values of type T at p. It works on devices whose Traits say
// HostBytes, and is for kernels' Host bodies, which run only there.
func View[T any](p Ptr, n int) []T {
	if p == 0 {
		return nil
	}
	return unsafe.Slice((*T)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n)
}
