package mvcc

import "github.com/gpusql/gpusql/device"

// scratch is memory for one batch, all of it given up at once. What a batch
// needed is kept for the next one if that is little.
type scratch struct {
	mem     device.Allocator
	buffers []*device.Buffer
	at      device.Ptr // in the last buffer
	left    int
	used    int
}

const (
	scratchStep = 64 << 10
	scratchKeep = 16 << 20
)

// take returns n bytes.
func (s *scratch) take(n int) (device.Ptr, error) {
	n = (n + 63) &^ 63
	if n > s.left {
		b, err := s.mem.Alloc(max(n, scratchStep, s.used))
		if err != nil {
			return 0, err
		}
		s.buffers = append(s.buffers, b)
		s.at, s.left = b.Ptr(), b.Len()
	}
	p := s.at
	s.at += device.Ptr(n)
	s.left -= n
	s.used += n
	return p, nil
}

// takeAll takes memory for several things.
func (s *scratch) takeAll(things ...want) error {
	for _, t := range things {
		p, err := s.take(t.n)
		if err != nil {
			return err
		}
		*t.at = p
	}
	return nil
}

// want is a thing that needs n bytes.
type want struct {
	at *device.Ptr
	n  int
}

// reset gives all up, but for the largest buffer, which is the last one.
func (s *scratch) reset() {
	n := len(s.buffers)
	if n == 0 {
		return
	}
	last := s.buffers[n-1]
	for _, b := range s.buffers[:n-1] {
		b.Release()
	}
	s.buffers = append(s.buffers[:0], last)
	s.at, s.left, s.used = last.Ptr(), last.Len(), 0
	if last.Len() > scratchKeep {
		s.release()
	}
}

// release gives all memory back.
func (s *scratch) release() {
	for _, b := range s.buffers {
		b.Release()
	}
	*s = scratch{mem: s.mem}
}

func (s *scratch) bytes() (n int64) {
	for _, b := range s.buffers {
		n += int64(b.Len())
	}
	return n
}
