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
	own   owner
	under *Buffer // what a Scope's buffer stands for
	slot  int     // its place in the Scope's list
}

// owner takes a released buffer back.
type owner interface{ release(*Buffer) }

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
	o.release(b)
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
}

// Stream is one worker of a device: what is submitted runs in order.
//
// A stream belongs to one goroutine at a time. An error from any call leaves
// the stream usable unless it is ErrLost.
type Stream interface {
	Device() Device
	// Upload copies host bytes to the device; src may be reused on return.
	Upload(dst Ptr, src []byte) error
	// Download copies device bytes to the host, after all that was submitted
	// before it; dst is complete on return.
	Download(dst []byte, src Ptr) error
	// Submit runs w over its n items. On return the work may still be under
	// way, but a later Submit, Download or Wait comes after it.
	Submit(w Work) error
	// Wait returns when all submitted work is done, or failed.
	Wait(ctx context.Context) error
	Close() error
}

// Work is a launch: a kernel, its argument and how many items it covers.
// Launch makes it; only devices look inside.
type Work interface {
	Name() string
	Items() int
	// Split is the fewest items worth a core of its own, 0 when the items
	// must be run in one piece. Pieces begin at multiples of 64 items, so that
	// no two of them share a word of a bitmap.
	Split() int
	// Host runs items lo to hi on the calling goroutine.
	Host(lo, hi int)
}

// Kernel is a step's code for every device. Host is the CPU's body: it covers
// items lo to hi of argument a. (A CUDA device adds its code beside it.)
type Kernel[A any] struct {
	Name  string
	Split int // see Work.Split
	Host  func(a *A, lo, hi int)
}

type launch[A any] struct {
	k *Kernel[A]
	n int
	a A
}

func (l *launch[A]) Name() string    { return l.k.Name }
func (l *launch[A]) Items() int      { return l.n }
func (l *launch[A]) Split() int      { return l.k.Split }
func (l *launch[A]) Host(lo, hi int) { l.k.Host(&l.a, lo, hi) }

// Launch submits kernel k over n items with argument a, a struct of
// fixed-width fields passed by value.
func Launch[A any](s Stream, k *Kernel[A], n int, a A) error {
	if n == 0 {
		return nil
	}
	return s.Submit(&launch[A]{k: k, n: n, a: a})
}

// View is the n values of type T at p. It works on devices whose Traits say
// HostBytes, and is for kernels' Host bodies, which run only there.
func View[T any](p Ptr, n int) []T {
	if p == 0 {
		return nil
	}
	return unsafe.Slice((*T)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n)
}
