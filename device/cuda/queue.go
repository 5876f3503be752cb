package cuda

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// queue is a stream of the driver's with a little pinned memory, which the GPU
// reaches over the bus:
//
//	0       device.Status, which kernels write and the host reads after a wait:
//	        a failure costs no copy, and its absence nothing
//	64      the address of the argument, and that of the number of items
//	80      the number of items
//	128     the argument of a launch, which the driver copies
//	4 KiB   where small downloads arrive
//	64 KiB  two halves from which small uploads leave
//
// Making one takes the driver some 100 µs, so a closed stream leaves its queue
// to the next.
type queue struct {
	dev    *Device
	handle uintptr
	event  uintptr        // of waits for other queues, and for others while recording
	host   unsafe.Pointer // the pinned memory
	status device.Ptr     // its first byte, as the GPU sees it
	fenced uint64         // the stamp that this queue has been ordered after
	up     ring

	// last is the newest submission, done the newest that is known to be over.
	last, done atomic.Uint64

	mu        sync.Mutex // held while others record events here, and to change recording
	recording bool
}

const (
	queueParams = 64
	queueItems  = 80
	queueArg    = 128
	queueSmall  = 4 << 10
	queueRing   = 64 << 10
	queueSize   = queueRing + 2*ringHalf

	maxArg    = queueSmall - queueArg // the driver's own limit is 4 KiB
	smallDown = queueRing - queueSmall
)

// The driver's flags.
const (
	streamNonBlocking  = 1
	eventDefault       = 0
	eventNoTiming      = 2
	hostPortableMapped = 1 | 2
	captureRelaxed     = 2
)

// newQueue makes a queue. The context is entered.
func (d *Device) newQueue() (*queue, error) {
	q := &queue{dev: d}
	err := d.ask(fnStreamCreate, uintptr(unsafe.Pointer(&q.handle)), streamNonBlocking)
	for _, e := range []*uintptr{&q.event, &q.up.events[0], &q.up.events[1]} {
		if err == nil {
			err = d.ask(fnEventCreate, uintptr(unsafe.Pointer(e)), eventNoTiming)
		}
	}
	if err == nil {
		q.host, err = d.allocHost(queueSize)
	}
	if err == nil {
		var p uint64
		err = d.check(fnMemHostGetDevicePointer, d.drv.call(fnMemHostGetDevicePointer,
			uintptr(unsafe.Pointer(&p)), uintptr(q.host), 0))
		q.status = device.Ptr(p)
	}
	if err != nil {
		q.free()
		return nil, err
	}
	clear(unsafe.Slice((*byte)(q.host), queueArg))
	*(*[2]uintptr)(unsafe.Add(q.host, queueParams)) = [2]uintptr{
		uintptr(q.host) + queueArg, uintptr(q.host) + queueItems}
	return q, nil
}

// allocHost is n bytes of pinned memory, for all contexts.
func (d *Device) allocHost(n int) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	r := d.drv.ask(fnMemHostAlloc, uintptr(unsafe.Pointer(&p)), uintptr(n), hostPortableMapped)
	if r == errOutOfMemory {
		return nil, &device.NoMemoryError{Tier: "pinned host memory for " + d.info.Name, Bytes: int64(n)}
	}
	return p, d.check(fnMemHostAlloc, r)
}

// free gives back what the driver gave; nothing is under way. What fails here
// the context's end frees.
func (q *queue) free() {
	drv := q.dev.drv
	if q.host != nil {
		drv.call(fnMemFreeHost, uintptr(q.host))
	}
	for _, e := range []uintptr{q.event, q.up.events[0], q.up.events[1]} {
		if e != 0 {
			drv.call(fnEventDestroy, e)
		}
	}
	if q.handle != 0 {
		drv.call(fnStreamDestroy, q.handle)
	}
}

// submit gives the next submission its number and orders it behind whatever
// still uses memory that was taken again since the last one. It comes before
// the call that submits. What is recorded is submitted when it is run.
func (q *queue) submit() error {
	if q.recording {
		return nil
	}
	if f := q.dev.reused.Load(); f > q.fenced {
		if err := q.fence(f); err != nil {
			return err
		}
	}
	q.last.Store(q.dev.tickets.Add(1))
	return nil
}

// fence orders what q is given from now on after all submissions up to stamp.
func (q *queue) fence(stamp uint64) error {
	d := q.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range d.queues {
		if o == q || o.done.Load() >= min(stamp, o.last.Load()) {
			continue
		}
		if err := q.after(o); err != nil {
			return err
		}
	}
	q.fenced = stamp
	return nil
}

// after orders what q is given from now on after what o was given. What o is
// recording has not been given to it: there the event is from before.
func (q *queue) after(o *queue) error {
	d := q.dev
	o.mu.Lock()
	defer o.mu.Unlock()
	event := o.event
	if !o.recording {
		event = q.event
		if err := d.do(fnEventRecord, event, o.handle); err != nil {
			return err
		}
	}
	return d.do(fnStreamWaitEvent, q.handle, event, 0)
}

// settle waits until all that q was given is over. It is for the stream's
// goroutine: another's could take a submission that has its number but not yet
// reached the driver for one that is over.
func (q *queue) settle() error {
	err := q.drain()
	if err == nil {
		q.done.Store(q.last.Load())
	}
	return err
}

// drain waits for what q was given, from any goroutine.
func (q *queue) drain() error {
	if q.done.Load() >= q.last.Load() {
		return nil
	}
	return q.dev.do(fnStreamSynchronize, q.handle)
}

// failure is what a kernel reported since the last time, as an error. Nothing
// is under way.
func (q *queue) failure() error {
	s := (*device.Status)(q.host)
	if s.Code == device.StatusOK {
		return nil
	}
	err := &device.StatusError{Device: q.dev.info.Name, Status: *s}
	*s = device.Status{}
	return err
}
