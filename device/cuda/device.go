package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// Options choose a GPU and adapt it; zero fields take what suits it.
type Options struct {
	Library     string // the driver's library; "": the system's
	Ordinal     int    // which GPU, from 0
	MemoryLimit int64  // bytes that may be in use; 0: all that the GPU has
	Streams     int    // workers of a query
	BatchRows   int    // rows of a batch
	// MadeItems is from how many items of a launch code is made for it, which
	// takes the driver some 10 ms. 0: a quarter of a million, and fewer where what
	// would run instead has not been compiled, which takes it seconds.
	MadeItems int
	// Apart takes every buffer from the driver and gives it back at once, which
	// is slow, for tools that see accesses outside of what the driver gave:
	// compute-sanitizer, the emulator.
	Apart bool
}

// Device is one GPU.
type Device struct {
	drv       *driver
	info      Info
	ordinal   int32
	ctx       uintptr
	traits    device.Traits
	sms       int // multiprocessors
	shared    int // most bytes of shared memory a block, when asked for
	pool      *pool
	spare     *pool         // see Spare
	reused    atomic.Uint64 // see pool
	stage     *staging
	code      modules
	madeItems int  // see Options.MadeItems
	madeSoon  bool // it was 0
	pins      pins
	marks     events

	tickets atomic.Uint64 // submissions so far, over all streams
	lost    atomic.Pointer[lostError]
	streams atomic.Int64 // open ones
	closed  atomic.Bool

	mu     sync.Mutex
	queues []*queue // all that were made
	idle   []*queue // of these, those that no stream has
}

// Open makes a device of a GPU. Its error says what is missing.
func Open(o Options) (*Device, error) { return open(o, nil) }

// open is Open, with calls to the driver that fail as fault says.
func open(o Options, fault func(fn) result) (*Device, error) {
	if o.Library == "" {
		o.Library = libraryName
	}
	drv, err := openDriver(o.Library, fault)
	if err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	d := &Device{drv: drv}
	if d.info, d.ordinal, err = drv.describe(o.Ordinal); err != nil {
		return nil, fmt.Errorf("device: %w", err)
	}
	if d.info.Reason != "" {
		return nil, fmt.Errorf("device: %s cannot be used: %s", d.info.Name, d.info.Reason)
	}
	d.sms = drv.attribute(d.ordinal, attrMultiprocessors)
	d.shared = drv.attribute(d.ordinal, attrSharedOptin)
	d.traits = traits(o, d.info.Memory)
	d.traits.Shared = d.shared
	d.pool = newPool("GPU memory of "+d.info.Name, o.MemoryLimit, &d.reused)
	d.pool.apart = o.Apart
	d.pool.grow, d.pool.shrink = d.growPool, d.shrinkPool
	d.spare = newSpare(d)
	d.stage = newStaging(d)
	d.code.loaded, d.code.made = map[entry]*module{}, map[string]*device.Code{}
	if d.madeItems = o.MadeItems; d.madeItems <= 0 {
		d.madeItems, d.madeSoon = 1<<18, true
	}
	if r := drv.ask(fnPrimaryCtxRetain, uintptr(unsafe.Pointer(&d.ctx)), uintptr(d.ordinal)); r != success {
		return nil, d.failed(fnPrimaryCtxRetain, r)
	}
	return d, nil
}

// traits are the numbers that operators adapt to. A batch of some 64 bytes a
// row takes a sixty-fourth of the memory, so that an operator may hold several;
// beyond 16 million rows launches and waits cost nothing any more. One stream keeps a GPU
// busy with such batches, and spares operators the ordering of several.
// What may be used of the memory counts, where that is less.
func traits(o Options, memory int64) device.Traits {
	t := device.Traits{BatchRows: o.BatchRows, Streams: o.Streams}
	if t.BatchRows <= 0 {
		if o.MemoryLimit > 0 {
			memory = min(memory, o.MemoryLimit)
		}
		t.BatchRows = 1 << 12
		for t.BatchRows < 1<<24 && int64(t.BatchRows)*2*64*64 <= memory {
			t.BatchRows *= 2
		}
	}
	if t.Streams <= 0 {
		t.Streams = 1
	}
	return t
}

// Name is "cuda:" and the ordinal.
func (d *Device) Name() string { return d.info.Name }

// Info describes the GPU.
func (d *Device) Info() Info { return d.info }

// Traits are the numbers that operators adapt to.
func (d *Device) Traits() device.Traits { return d.traits }

// Alloc takes n bytes of the GPU's memory. Memory that was released while a
// stream still used it is taken again only behind that.
func (d *Device) Alloc(n int) (*device.Buffer, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	p, err := d.pool.take(n)
	if err != nil {
		return nil, err
	}
	return device.NewBuffer(p, n, d), nil
}

// Reclaim takes a released buffer back. The end of the device did that before,
// if it came first.
func (d *Device) Reclaim(b *device.Buffer) {
	if !d.closed.Load() {
		d.pool.put(b.Ptr(), d.tickets.Load())
	}
}

// growPool gets a chunk from the driver.
func (d *Device) growPool(n int) (device.Ptr, error) {
	if err := d.enter(); err != nil {
		return 0, err
	}
	defer d.leave()
	var p uint64
	r := d.drv.ask(fnMemAlloc, uintptr(unsafe.Pointer(&p)), uintptr(n))
	if r == errOutOfMemory {
		return 0, d.pool.short(n)
	}
	if r != success {
		return 0, d.failed(fnMemAlloc, r)
	}
	return device.Ptr(p), nil
}

// shrinkPool returns a chunk, when nothing uses it any more.
func (d *Device) shrinkPool(p device.Ptr) error { return d.giveUp(fnMemFree, p) }

// giveUp returns a chunk to the driver by f, behind all that was submitted.
func (d *Device) giveUp(f fn, p device.Ptr) error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queues {
		if err := q.drain(); err != nil {
			return err
		}
	}
	return d.do(f, uintptr(p))
}

// enter makes the GPU's context the calling thread's, until leave. A context
// belongs to a thread and goroutines move between them: an unlocked call gets
// error 201 sooner or later.
func (d *Device) enter() error {
	if l := d.lost.Load(); l != nil {
		return l
	}
	runtime.LockOSThread()
	if r := d.drv.call(fnCtxSetCurrent, d.ctx); r != success {
		runtime.UnlockOSThread()
		return d.failed(fnCtxSetCurrent, r)
	}
	return nil
}

func (d *Device) leave() { runtime.UnlockOSThread() }

// usable is the error of a device that is closed or lost.
func (d *Device) usable() error {
	if d.closed.Load() {
		return device.ErrClosed
	}
	if l := d.lost.Load(); l != nil {
		return l
	}
	return nil
}

// do is a call to the driver, with numbers and addresses outside of Go's memory.
func (d *Device) do(f fn, args ...uintptr) error {
	return d.check(f, d.drv.call(f, args...))
}

// ask is do for arguments that point into Go's memory; see driver.ask.
//
//go:uintptrescapes
func (d *Device) ask(f fn, args ...uintptr) error {
	return d.check(f, d.drv.call(f, args...))
}

// check is nil for success, and else failed.
func (d *Device) check(f fn, r result) error {
	if r == success {
		return nil
	}
	return d.failed(f, r)
}

// failed is the error of a call to the driver. One that leaves nothing to rely
// on makes the device a lost one.
func (d *Device) failed(f fn, r result) error {
	err := d.drv.errorOf(f, r)
	switch {
	case r.lost():
		d.lost.CompareAndSwap(nil, &lostError{device: d.info.Name, cause: err})
		return d.lost.Load()
	case r == errOutOfMemory:
		return errors.Join(d.pool.short(0), fmt.Errorf("device: %s: %w", d.info.Name, err))
	default:
		return fmt.Errorf("device: %s: %w", d.info.Name, err)
	}
}

// lostError is what every call gets after the GPU was lost. It is ErrLost.
type lostError struct {
	device string
	cause  error
}

func (e *lostError) Error() string {
	return fmt.Sprintf("device: %s is lost until the process starts again: %v", e.device, e.cause)
}
func (e *lostError) Unwrap() error        { return e.cause }
func (e *lostError) Is(target error) bool { return target == device.ErrLost }

// Lost is why the device is lost; nil when it is not.
func (d *Device) Lost() error {
	if l := d.lost.Load(); l != nil {
		return l
	}
	return nil
}

// Close waits for what is under way and gives everything back to the driver.
// The error says what was still in use.
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	streams := d.streams.Load()
	count, used := d.pool.inUse()
	more, pinned := d.spare.inUse()
	d.tearDown()
	if count+more > 0 || streams > 0 {
		return fmt.Errorf("device: %s closed while %d buffers (%s) and %d streams were in use",
			d.info.Name, count+more, device.FormatBytes(used+pinned), streams)
	}
	return nil
}

// tearDown frees all that the device has of the driver. The context of a lost
// device refuses; its end frees the same.
func (d *Device) tearDown() {
	d.unpinAll()
	if d.enter() == nil {
		for _, q := range d.queues {
			q.drain() //nolint:errcheck // it has to end, whatever comes of it
			q.free()
		}
		d.queues, d.idle = nil, nil
		d.stage.release()
		d.marks.destroy(d.drv)
		d.code.free(d.drv)
		d.pool.free()
		d.spare.free()
		d.leave()
	}
	d.drv.call(fnPrimaryCtxRelease, uintptr(d.ordinal))
}
