package device

import (
	"fmt"
	"sync"
	"unsafe"
)

// Kernel is a step's code for every device. A device whose Traits say HostBytes
// runs Host. Any other runs Code, one launch, or Steps, several of them; a
// kernel that has neither is an error there (ErrNoCode), never a detour.
type Kernel[A any] struct {
	Name  string
	Split int // see Work.Split
	// Host is the CPU's body: it covers items lo to hi of argument a.
	Host func(a *A, lo, hi int)
	// Code is the body of a device with memory of its own. Its entry is
	//
	//	extern "C" __global__ void ENTRY(const A a, const uint64_t n)
	//
	// where A has the layout of the Go struct, whose fields are fixed-width.
	Code *Code
	// Steps is for what takes several launches there, such as a sort.
	Steps func(s Stream, a *A, n int) error

	free sync.Pool // of *launch[A]
}

// CheckCode is ErrNoCode for a kernel that only devices that see the host's
// memory can run.
func (k *Kernel[A]) CheckCode() error {
	if k.Code != nil || k.Steps != nil {
		return nil
	}
	return fmt.Errorf("kernel %s: %w", k.Name, ErrNoCode)
}

// Module is code in NVIDIA's portable assembly, loaded at the first launch of
// one of its entries.
type Module struct {
	Name string
	PTX  string
}

// Maker is a device that also runs code made while it works, of the expressions
// of a query. It keeps what was made: a driver compiles it once.
type Maker interface {
	// Made is the code of that key, made by make when it is not there. nil:
	// compiling does not pay for so many items, or the device keeps enough. It
	// pays sooner while instead, which runs then, has not been compiled itself;
	// nil: nothing does.
	Made(key string, items int, instead *Code, make func() *Code) *Code
}

// Code is one entry of a module, and the shape of its launches.
type Code struct {
	Module *Module
	Entry  string
	Block  int // threads a block
	Items  int // items that a block covers: the grid is n/Items blocks, rounded up
	Shared int // bytes of dynamic shared memory a block
	// PerSM and MaxGrid bound the grid of an entry that loops until all of its
	// n items are done: blocks for each multiprocessor, and in all. 0: no bound.
	PerSM   int
	MaxGrid int
}

// Grid is the number of blocks that cover n items on a device with sms
// multiprocessors.
func (c *Code) Grid(n, sms int) int {
	g := (n-1)/c.Items + 1
	if c.PerSM > 0 {
		g = min(g, c.PerSM*sms)
	}
	if c.MaxGrid > 0 {
		g = min(g, c.MaxGrid)
	}
	return g
}

// Work is a launch: a kernel, its argument and how many items it covers.
// Launch makes it; only devices look inside, and none keeps it.
type Work interface {
	Name() string
	Items() int
	// Split is the fewest items worth a core of its own, 0 when the items
	// must be run in one piece. Pieces begin at multiples of 64 items, so that
	// no two of them share a word of a bitmap.
	Split() int
	// Host runs items lo to hi on the calling goroutine.
	Host(lo, hi int)
	// Code is the kernel's code for a device that cannot run Host; never nil there.
	Code() *Code
	// Arg is the argument's bytes, valid until Submit returns.
	Arg() []byte
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
func (l *launch[A]) Code() *Code     { return l.k.Code }
func (l *launch[A]) Arg() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&l.a)), unsafe.Sizeof(l.a))
}

// Launch submits kernel k over n items with argument a, a struct of
// fixed-width fields passed by value.
func Launch[A any](s Stream, k *Kernel[A], n int, a A) error {
	if n == 0 {
		return nil
	}
	// A Stream is an interface, so that a launch escapes: it is used again, or
	// every step of every batch would be garbage.
	l, _ := k.free.Get().(*launch[A])
	if l == nil {
		l = &launch[A]{k: k}
	}
	l.n, l.a = n, a
	err := l.submit(s)
	k.free.Put(l)
	return err
}

func (l *launch[A]) submit(s Stream) error {
	d := s.Device()
	switch {
	case d.Traits().HostBytes, l.k.Code != nil:
		return s.Submit(l)
	case l.k.Steps != nil:
		return l.k.Steps(s, &l.a, l.n)
	default:
		return fmt.Errorf("device: kernel %s on %s: %w", l.k.Name, d.Name(), ErrNoCode)
	}
}
