package faulty

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/gpusql/gpusql/device"
)

// ErrFault is what a call that was made to fail returns.
var ErrFault = errors.New("faulty: this call was made to fail")

// Device passes calls on to another device, except one.
type Device struct {
	device.Device
	calls  atomic.Int64
	failAt atomic.Int64
}

// New wraps d. Nothing fails until FailAt.
func New(d device.Device) *Device { return &Device{Device: d} }

// FailAt starts counting anew and makes call n fail, the first being 1; 0 is none.
func (d *Device) FailAt(n int64) {
	d.calls.Store(0)
	d.failAt.Store(n)
}

// FailingAt is what FailAt was given.
func (d *Device) FailingAt() int64 { return d.failAt.Load() }

// Calls is the number of calls since FailAt.
func (d *Device) Calls() int64 { return d.calls.Load() }

// Failed reports whether the call given to FailAt has come.
func (d *Device) Failed() bool {
	n := d.failAt.Load()
	return n > 0 && d.calls.Load() >= n
}

func (d *Device) call() error {
	if d.calls.Add(1) == d.failAt.Load() {
		return ErrFault
	}
	return nil
}

// Alloc fails as out of memory would.
func (d *Device) Alloc(n int) (*device.Buffer, error) {
	if err := d.call(); err != nil {
		return nil, errors.Join(err, &device.NoMemoryError{Tier: "memory of " + d.Name(), Bytes: int64(n)})
	}
	return d.Device.Alloc(n)
}

// NewStream returns a stream whose calls count.
func (d *Device) NewStream() (device.Stream, error) {
	if err := d.call(); err != nil {
		return nil, err
	}
	s, err := d.Device.NewStream()
	if err != nil {
		return nil, err
	}
	return &stream{s, d}, nil
}

type stream struct {
	device.Stream
	dev *Device
}

func (s *stream) Device() device.Device { return s.dev }

func (s *stream) Upload(dst device.Ptr, src []byte) error {
	if err := s.dev.call(); err != nil {
		return err
	}
	return s.Stream.Upload(dst, src)
}

func (s *stream) Download(dst []byte, src device.Ptr) error {
	if err := s.dev.call(); err != nil {
		return err
	}
	return s.Stream.Download(dst, src)
}

func (s *stream) Submit(w device.Work) error {
	if err := s.dev.call(); err != nil {
		return err
	}
	return s.Stream.Submit(w)
}

func (s *stream) Wait(ctx context.Context) error {
	if err := s.dev.call(); err != nil {
		return err
	}
	return s.Stream.Wait(ctx)
}

// Mark implements device.Timer.
func (s *stream) Mark() (device.Mark, error) {
	if err := s.dev.call(); err != nil {
		return nil, err
	}
	return device.NewMark(s.Stream)
}

// Record implements device.Recorder. What f launches counts, not what it runs
// as later.
func (s *stream) Record(f func() error) (device.Replay, error) {
	if err := s.dev.call(); err != nil {
		return nil, err
	}
	return device.Record(s.Stream, f)
}
