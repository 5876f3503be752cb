package cuda

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// Stream is a worker of a GPU: a queue, and the functions that it has launched.
type Stream struct {
	dev *Device
	q   *queue // nil: closed
	fns map[*device.Code]uintptr
}

// NewStream returns a stream: a closed one's queue, or a new one.
func (d *Device) NewStream() (device.Stream, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	q := (*queue)(nil)
	if n := len(d.idle); n > 0 {
		q, d.idle = d.idle[n-1], d.idle[:n-1]
	} else {
		if err := d.enter(); err != nil {
			return nil, err
		}
		defer d.leave()
		var err error
		if q, err = d.newQueue(); err != nil {
			return nil, err
		}
		d.queues = append(d.queues, q)
	}
	d.streams.Add(1)
	return &Stream{dev: d, q: q, fns: map[*device.Code]uintptr{}}, nil
}

// Device is the GPU.
func (s *Stream) Device() device.Device { return s.dev }

// Status is where kernels of this stream report failures.
func (s *Stream) Status() device.Ptr {
	if s.q == nil {
		return 0
	}
	return s.q.status
}

var errRecording = errors.New("device: a stream that records takes launches alone")

// begin is the start of every call: the stream is open, the device there, the
// context current. The caller calls dev.leave.
func (s *Stream) begin() error {
	if s.q == nil {
		return device.ErrClosed
	}
	return s.dev.enter()
}

// beginCopy is begin for what cannot be recorded.
func (s *Stream) beginCopy() error {
	if s.q != nil && s.q.recording {
		return errRecording
	}
	return s.begin()
}

// Submit launches the kernel's code.
func (s *Stream) Submit(w device.Work) error {
	c := w.Code()
	if c == nil {
		return fmt.Errorf("device: kernel %s on %s: %w", w.Name(), s.dev.info.Name, device.ErrNoCode)
	}
	if err := s.begin(); err != nil {
		return err
	}
	defer s.dev.leave()
	f, err := s.function(c)
	if err != nil {
		return fmt.Errorf("device: kernel %s: %w", w.Name(), err)
	}
	arg := w.Arg()
	if len(arg) > maxArg {
		return fmt.Errorf("device: kernel %s: its argument has %d bytes, more than %d", w.Name(), len(arg), maxArg)
	}
	q := s.q
	if err := q.submit(); err != nil {
		return err
	}
	n := w.Items()
	copy(unsafe.Slice((*byte)(unsafe.Add(q.host, queueArg)), maxArg), arg)
	*(*uint64)(unsafe.Add(q.host, queueItems)) = uint64(n)
	err = s.dev.do(fnLaunchKernel, f, uintptr(c.Grid(n, s.dev.sms)), 1, 1, uintptr(c.Block), 1, 1,
		uintptr(c.Shared), q.handle, uintptr(q.host)+queueParams, 0)
	if err != nil {
		return fmt.Errorf("device: kernel %s: %w", w.Name(), err)
	}
	return nil
}

// function is the entry's handle. A stream remembers those it has used: it has
// one goroutine, and needs no lock.
func (s *Stream) function(c *device.Code) (uintptr, error) {
	if f, ok := s.fns[c]; ok {
		return f, nil
	}
	f, err := s.dev.function(c)
	if err == nil {
		s.fns[c] = f
	}
	return f, err
}

// Upload copies src to dst, through pinned memory: src may be reused on return.
func (s *Stream) Upload(dst device.Ptr, src []byte) error {
	if err := s.beginCopy(); err != nil || len(src) == 0 {
		if err == nil {
			s.dev.leave()
		}
		return err
	}
	defer s.dev.leave()
	if err := s.q.submit(); err != nil {
		return err
	}
	switch {
	case len(src) <= smallUp:
		return s.q.upload(dst, src)
	case s.dev.pins.have(src):
		defer runtime.KeepAlive(src)
		return s.q.direct(fnMemcpyHtoDAsync, uintptr(dst), uintptr(unsafe.Pointer(&src[0])), len(src))
	default:
		return s.dev.stage.upload(s.q, dst, src)
	}
}

// Download copies what is at src, when all before it is done. It waits.
func (s *Stream) Download(dst []byte, src device.Ptr) error {
	if err := s.beginCopy(); err != nil {
		return err
	}
	defer s.dev.leave()
	if err := s.download(dst, src); err != nil {
		return err
	}
	if err := s.q.settle(); err != nil {
		return err
	}
	return s.q.failure()
}

func (s *Stream) download(dst []byte, src device.Ptr) error {
	if len(dst) == 0 {
		return nil
	}
	if err := s.q.submit(); err != nil {
		return err
	}
	switch {
	case len(dst) <= smallDown:
		at := unsafe.Add(s.q.host, queueSmall)
		err := s.dev.do(fnMemcpyDtoHAsync, uintptr(at), uintptr(src), uintptr(len(dst)), s.q.handle)
		if err == nil {
			err = s.q.settle()
		}
		if err == nil {
			copy(dst, unsafe.Slice((*byte)(at), len(dst)))
		}
		return err
	case s.dev.pins.have(dst):
		defer runtime.KeepAlive(dst)
		return s.q.direct(fnMemcpyDtoHAsync, uintptr(unsafe.Pointer(&dst[0])), uintptr(src), len(dst))
	default:
		return s.dev.stage.download(s.q, dst, src)
	}
}

// direct copies from or to pinned memory of the caller's, and waits for it.
func (q *queue) direct(f fn, dst, src uintptr, n int) error {
	if err := q.dev.do(f, dst, src, uintptr(n), q.handle); err != nil {
		return err
	}
	return q.settle()
}

// Wait returns when all that was submitted is done. The driver's wait cannot be
// ended, but it returns within a microsecond of the work, where asking the driver
// between pauses of Go's timers would take up to a millisecond; what bounds it
// is the size of launches. A context that has ended before leaves the work to
// go on: memory that it uses may be released all the same.
func (s *Stream) Wait(ctx context.Context) error {
	if err := s.beginCopy(); err != nil {
		return err
	}
	defer s.dev.leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.q.settle(); err != nil {
		return err
	}
	return s.q.failure()
}

// Close waits for what is under way, and leaves the queue to the next stream.
// Its error is a failure that nobody has waited for.
func (s *Stream) Close() error {
	q := s.q
	if q == nil {
		return nil
	}
	s.q = nil
	s.dev.streams.Add(-1)
	if s.dev.lost.Load() != nil || s.dev.closed.Load() {
		return nil
	}
	err := s.dev.enter()
	if err != nil {
		return err
	}
	defer s.dev.leave()
	if err = q.settle(); err == nil {
		err = q.failure()
	}
	s.dev.mu.Lock()
	s.dev.idle = append(s.dev.idle, q)
	s.dev.mu.Unlock()
	return err
}
