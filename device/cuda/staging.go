package cuda

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// staging is pinned memory on the way between ordinary memory and the GPU:
//
//	src  [ piece │ piece │ piece │ piece ]       several goroutines copy pieces
//	          ╲       ╲       ╲                  into slots, each of which leaves
//	slots  ( 2 MiB )( 2 MiB )( 2 MiB ) ──▶ GPU   by a copy of its own
//
// One core copies some 10 GB/s and the bus takes 55, so a large transfer needs
// several. Slots are taken oldest first: while one leaves the next is filled.
type staging struct {
	dev     *Device
	workers int
	mu      sync.Mutex
	back    sync.Cond // a slot was given back
	free    []*slot   // the oldest first
	made    int
}

// slot is a piece's pinned memory and the event that says when it was copied.
type slot struct {
	host  unsafe.Pointer
	event uintptr
	sent  bool // the event was recorded and not waited for
}

const (
	pieceSize  = 2 << 20
	maxWorkers = 8
)

func newStaging(d *Device) *staging {
	s := &staging{dev: d, workers: max(1, min(runtime.GOMAXPROCS(0), maxWorkers))}
	s.back.L = &s.mu
	return s
}

// take is a slot that nothing is under way with. Whoever holds one does not ask
// for a second: so there is always one that comes back.
func (s *staging) take() (*slot, error) {
	t, err := s.next()
	if err != nil {
		return nil, err
	}
	if t.sent {
		if err := s.dev.do(fnEventSynchronize, t.event); err != nil {
			s.put(t)
			return nil, err
		}
		t.sent = false
	}
	return t, nil
}

// next is the oldest slot, or a new one while there may be more and the oldest
// is still being copied.
func (s *staging) next() (*slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if n := len(s.free); n > 0 {
			t := s.free[0]
			if !t.sent || s.made == 2*s.workers || s.dev.drv.call(fnEventQuery, t.event) != notReady {
				s.free = append(s.free[:0], s.free[1:]...)
				return t, nil
			}
		}
		if s.made < 2*s.workers {
			t, err := s.make()
			if err == nil || len(s.free) == 0 && s.made == 0 {
				return t, err
			}
			// No more pinned memory: those that there are have to do.
			if len(s.free) > 0 {
				t := s.free[0]
				s.free = append(s.free[:0], s.free[1:]...)
				return t, nil
			}
		}
		s.back.Wait()
	}
}

func (s *staging) make() (*slot, error) {
	host, err := s.dev.allocHost(pieceSize)
	if err != nil {
		return nil, err
	}
	t := &slot{host: host}
	if r := s.dev.drv.ask(fnEventCreate, uintptr(unsafe.Pointer(&t.event)), eventNoTiming); r != success {
		s.dev.drv.call(fnMemFreeHost, uintptr(host))
		return nil, s.dev.failed(fnEventCreate, r)
	}
	s.made++
	return t, nil
}

func (s *staging) put(t *slot) {
	s.mu.Lock()
	s.free = append(s.free, t)
	s.mu.Unlock()
	s.back.Signal()
}

// upload copies src to dst behind what q was given. It returns when src has
// been read.
func (s *staging) upload(q *queue, dst device.Ptr, src []byte) error {
	return s.share(len(src), func(lo, hi int) error {
		t, err := s.take()
		if err != nil {
			return err
		}
		defer s.put(t)
		copy(unsafe.Slice((*byte)(t.host), hi-lo), src[lo:hi])
		return s.send(q, t, fnMemcpyHtoDAsync, uintptr(dst)+uintptr(lo), uintptr(t.host), hi-lo)
	})
}

// download copies what is at src to dst, behind what q was given.
func (s *staging) download(q *queue, dst []byte, src device.Ptr) error {
	return s.share(len(dst), func(lo, hi int) error {
		t, err := s.take()
		if err != nil {
			return err
		}
		defer s.put(t)
		if err := s.send(q, t, fnMemcpyDtoHAsync, uintptr(t.host), uintptr(src)+uintptr(lo), hi-lo); err != nil {
			return err
		}
		if err := s.dev.do(fnEventSynchronize, t.event); err != nil {
			return err
		}
		t.sent = false
		copy(dst[lo:hi], unsafe.Slice((*byte)(t.host), hi-lo))
		return nil
	})
}

// send submits a copy from or to a slot and the event behind it.
func (s *staging) send(q *queue, t *slot, f fn, dst, src uintptr, n int) error {
	if err := s.dev.do(f, dst, src, uintptr(n), q.handle); err != nil {
		return err
	}
	// Even when the event is not recorded the copy is under way; to wait for a
	// longer time is then right, and for an event of before would be wrong.
	if r := s.dev.drv.call(fnEventRecord, t.event, q.handle); r != success {
		err := s.dev.failed(fnEventRecord, r)
		s.dev.drv.call(fnStreamSynchronize, q.handle)
		return err
	}
	t.sent = true
	return nil
}

// share calls f for all pieces of n bytes, from as many goroutines as pay. The
// context is entered here, and in each of them.
func (s *staging) share(n int, f func(lo, hi int) error) error {
	pieces := (n + pieceSize - 1) / pieceSize
	var next atomic.Int64
	work := func() error {
		for {
			i := int(next.Add(1)) - 1
			if i >= pieces {
				return nil
			}
			if err := f(i*pieceSize, min(n, (i+1)*pieceSize)); err != nil {
				next.Store(int64(pieces)) // the others stop too
				return err
			}
		}
	}
	errs := make([]error, min(s.workers, pieces))
	var wg sync.WaitGroup
	for w := 1; w < len(errs); w++ {
		wg.Go(func() {
			if errs[w] = s.dev.enter(); errs[w] == nil {
				errs[w] = work()
				s.dev.leave()
			}
		})
	}
	errs[0] = work()
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// release gives the slots back; nothing is under way.
func (s *staging) release() {
	for _, t := range s.free {
		s.dev.drv.call(fnEventDestroy, t.event)
		s.dev.drv.call(fnMemFreeHost, uintptr(t.host))
	}
	s.free, s.made = nil, 0
}
