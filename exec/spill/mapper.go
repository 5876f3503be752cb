package spill

import (
	"sync"

	"github.com/gpusql/gpusql/device"
)

// mapper is memory that is files: a large buffer is a file of its own, small
// ones are cut from files of chunkSize, of which a rest may be on disk without
// being counted.
type mapper struct {
	s   *Space
	mu  sync.Mutex
	cur *mapping // small buffers come from there
}

const (
	chunkSize = 4 << 20
	smallMax  = chunkSize / 16
)

// mapping is a mapped file. It owns the buffers that lie in it.
type mapping struct {
	m    *mapper
	p    device.Ptr
	n    int
	used int
	live int // buffers
}

// Alloc implements device.Allocator.
func (m *mapper) Alloc(n int) (*device.Buffer, error) {
	room := aligned(max(n, 1))
	if room > smallMax {
		f, err := m.open(room)
		if err != nil {
			return nil, err
		}
		f.live = 1
		return device.NewBuffer(f.p, n, f), nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cur == nil || m.cur.used+room > m.cur.n {
		f, err := m.open(chunkSize)
		if err != nil {
			return nil, err
		}
		m.cur = f
	}
	f := m.cur
	p := f.p + device.Ptr(f.used)
	f.used += room
	f.live++
	return device.NewBuffer(p, n, f), nil
}

// open maps a file.
func (m *mapper) open(n int) (*mapping, error) {
	m.s.once.Do(m.s.sweep)
	p, path, err := m.s.fs.Map(m.s.dir, prefix, n)
	if err != nil {
		return nil, &Error{"map", path, err}
	}
	return &mapping{m: m, p: p, n: n}, nil
}

// Reclaim implements device.Owner.
func (f *mapping) Reclaim(*device.Buffer) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.live--; f.live > 0 {
		return
	}
	if f.m.cur == f {
		f.m.cur = nil
	}
	f.m.s.fs.Unmap(f.p, f.n)
}
