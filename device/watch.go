package device

import (
	"context"
	"sync/atomic"
	"time"
)

// Watched is a stream whose user may have to stop: with everything that it is
// given, it asks first whether to go on. That bounds how long a user lives on
// when the work comes in launches of bounded size, as that of all steps does
// that are given rows without bound.
type Watched struct {
	Stream
	// Ask is the question; its error is that of the call. nil: go on.
	Ask func() error
	// Traffic counts what the stream is given; nil: nobody wants to know.
	Traffic *Traffic
	// Memory is where steps take what they need while they run; nil: the device.
	Memory Allocator
}

// Scratch is n bytes for a step that runs on s, of the memory that the stream's
// user may have. Who releases them behind a launch knows that it is done first.
func Scratch(s Stream, n int) (*Buffer, error) {
	if w, ok := s.(*Watched); ok && w.Memory != nil {
		return w.Memory.Alloc(n)
	}
	return s.Device().Alloc(n)
}

// Traffic is what streams were given, and how long that took. A Download and a
// Wait take as long as the work before them: kernels are in Waiting.
type Traffic struct {
	Launches           atomic.Int64
	Uploads, Downloads Transfers
	Waiting            atomic.Int64 // nanoseconds of downloads and waits
	Spilt              atomic.Int64 // bytes that memory of the host was taken for
}

// Transfers are copies in one direction.
type Transfers struct {
	Count, Bytes atomic.Int64
	Time         atomic.Int64 // nanoseconds, of uploads alone
}

func (s *Watched) ask() error {
	if s.Ask == nil {
		return nil
	}
	return s.Ask()
}

// Upload implements Stream.
func (s *Watched) Upload(dst Ptr, src []byte) error {
	if err := s.ask(); err != nil {
		return err
	}
	if s.Traffic == nil {
		return s.Stream.Upload(dst, src)
	}
	t := &s.Traffic.Uploads
	defer t.since(time.Now())
	t.Count.Add(1)
	t.Bytes.Add(int64(len(src)))
	return s.Stream.Upload(dst, src)
}

// Download implements Stream.
func (s *Watched) Download(dst []byte, src Ptr) error {
	if err := s.ask(); err != nil {
		return err
	}
	if s.Traffic == nil {
		return s.Stream.Download(dst, src)
	}
	defer s.Traffic.waited(time.Now())
	s.Traffic.Downloads.Count.Add(1)
	s.Traffic.Downloads.Bytes.Add(int64(len(dst)))
	return s.Stream.Download(dst, src)
}

// Submit implements Stream.
func (s *Watched) Submit(w Work) error {
	if err := s.ask(); err != nil {
		return err
	}
	if s.Traffic != nil {
		s.Traffic.Launches.Add(1)
	}
	return s.Stream.Submit(w)
}

// Wait implements Stream.
func (s *Watched) Wait(ctx context.Context) error {
	if err := s.ask(); err != nil {
		return err
	}
	if s.Traffic != nil {
		defer s.Traffic.waited(time.Now())
	}
	return s.Stream.Wait(ctx)
}

func (t *Transfers) since(start time.Time) { t.Time.Add(int64(time.Since(start))) }

func (t *Traffic) waited(start time.Time) { t.Waiting.Add(int64(time.Since(start))) }
