package device

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// CPUOptions adapt the CPU device; zero fields take what suits the machine.
type CPUOptions struct {
	Streams   int   // the cores to use
	BatchRows int   // rows of a batch
	KeepBytes int64 // released memory that is kept for reuse
}

// DefaultBatchRows keeps a batch of some ten columns within a core's cache.
const DefaultBatchRows = 16384

const defaultKeepBytes = 128 << 20

// CPU is the machine's processor: memory off Go's heap, and streams that run
// what they are given at once, on the goroutine that gives it.
type CPU struct {
	traits  Traits
	heap    *heap
	streams atomic.Int64
	closed  atomic.Bool
}

// NewCPU returns a CPU device. One that becomes unreachable without a Close
// gives its memory back when the collector finds it.
func NewCPU(o CPUOptions) *CPU {
	if o.Streams <= 0 {
		o.Streams = runtime.GOMAXPROCS(0)
	}
	if o.BatchRows <= 0 {
		o.BatchRows = DefaultBatchRows
	}
	if o.KeepBytes <= 0 {
		o.KeepBytes = defaultKeepBytes
	}
	d := &CPU{
		traits: Traits{BatchRows: o.BatchRows, Streams: o.Streams, HostBytes: true},
		heap:   &heap{keep: o.KeepBytes, blocks: map[Ptr]int{}},
	}
	runtime.AddCleanup(d, (*heap).unmap, d.heap)
	return d
}

// Name is "cpu".
func (d *CPU) Name() string { return "cpu" }

// Traits are the numbers that operators adapt to.
func (d *CPU) Traits() Traits { return d.traits }

// Alloc takes n bytes of host memory.
func (d *CPU) Alloc(n int) (*Buffer, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	p, err := d.heap.take(n)
	if err != nil {
		return nil, err
	}
	return NewBuffer(p, n, d), nil
}

// Reclaim takes a released buffer back.
func (d *CPU) Reclaim(b *Buffer) { d.heap.put(b.ptr, b.n) }

// NewStream returns a stream; on a CPU it costs nothing.
func (d *CPU) NewStream() (Stream, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	d.streams.Add(1)
	return &cpuStream{dev: d}, nil
}

// Close gives all memory back to the system. The error says what was still in use.
func (d *CPU) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	buffers, bytes := d.heap.inUse()
	streams := d.streams.Load()
	d.heap.unmap()
	if buffers > 0 || streams > 0 {
		return fmt.Errorf("device: cpu closed while %d buffers (%s) and %d streams were in use",
			buffers, FormatBytes(bytes), streams)
	}
	return nil
}

// cpuStream runs work on the goroutine that submits it.
type cpuStream struct {
	dev    *CPU
	closed bool
}

func (s *cpuStream) Device() Device { return s.dev }

func (s *cpuStream) Upload(dst Ptr, src []byte) error {
	if s.closed {
		return ErrClosed
	}
	copy(View[byte](dst, len(src)), src)
	return nil
}

func (s *cpuStream) Download(dst []byte, src Ptr) error {
	if s.closed {
		return ErrClosed
	}
	copy(dst, View[byte](src, len(dst)))
	return nil
}

func (s *cpuStream) Submit(w Work) error {
	if s.closed {
		return ErrClosed
	}
	n, split := w.Items(), w.Split()
	if split <= 0 || n < 2*split || s.dev.traits.Streams < 2 {
		return run(w, 0, n)
	}
	return s.share(w, n, min(s.dev.traits.Streams, n/split))
}

// share runs w in pieces, the first of them here.
func (s *cpuStream) share(w Work, n, pieces int) error {
	step := ((n+pieces-1)/pieces + 63) &^ 63
	errs := make([]error, pieces)
	var wg sync.WaitGroup
	for i := 1; i < pieces && i*step < n; i++ {
		wg.Go(func() { errs[i] = run(w, i*step, min(n, (i+1)*step)) })
	}
	errs[0] = run(w, 0, min(n, step))
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// run is one piece of a launch. A panic in it is an error of the launch: the
// engine lives on, and only the query that met it fails.
func run(w Work, lo, hi int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &KernelError{Kernel: w.Name(), Value: v, Stack: debug.Stack()}
		}
	}()
	w.Host(lo, hi)
	return nil
}

func (s *cpuStream) Wait(ctx context.Context) error {
	if s.closed {
		return ErrClosed
	}
	return ctx.Err()
}

func (s *cpuStream) Status() Ptr { return 0 }

func (s *cpuStream) Close() error {
	if !s.closed {
		s.closed = true
		s.dev.streams.Add(-1)
	}
	return nil
}
