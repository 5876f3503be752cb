package mirror

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/storage/arrow"
)

// Mirror is the copies in one device's memory. It is safe for concurrent use.
type Mirror struct {
	memory *device.Scope

	mu      sync.Mutex
	copies  map[key]*held
	watched map[*arrow.Segment]bool // those whose end will be told
	clock   int64                   // counts uses
}

// key is what a copy is of. A segment that has gone never comes back, so the
// ends of a run and their number say which segments are between.
type key struct {
	first, last *arrow.Segment
	count       int
	column      int
}

// held is a copy, or one that is being made.
type held struct {
	key      key
	segments []*arrow.Segment
	name     Name
	rows     int
	ready    chan struct{} // closed when column, or err, is there
	column   *arrow.Carried
	err      error

	// Under the mirror's lock:
	size int64 // 0: it is on its way
	pins int
	gone bool  // not to be found any more: the last pin releases it
	used int64 // by the mirror's clock
	last time.Time
}

// Name is what a copy is called, to people.
type Name struct{ Table, Column string }

// New makes an empty mirror, which takes memory from m.
func New(m *device.Scope) *Mirror {
	return &Mirror{memory: m, copies: map[key]*held{}, watched: map[*arrow.Segment]bool{}}
}

// Pin is a column of a run in the device's memory, for as long as it is not
// released.
type Pin struct {
	Column arrow.Column
	m      *Mirror
	h      *held
}

// Pin gives a column of a run. What is not there is uploaded by s: to stay, where
// it may and has room; else to own, for this pin alone.
func (m *Mirror) Pin(s device.Stream, own device.Allocator, r *Run, column int, name Name) (*Pin, error) {
	k := key{r.Segments[0], r.Segments[len(r.Segments)-1], len(r.Segments), column}
	if r.settled {
		if p, err := m.shared(s, r, k, name); !errors.Is(err, device.ErrNoMemory) {
			return p, err
		}
	}
	h := &held{key: k, segments: r.Segments, name: name, rows: r.Rows(), pins: 1, gone: true}
	if err := m.upload(s, own, r, h); err != nil {
		return nil, err
	}
	return &Pin{h.column.Column, m, h}, nil
}

// shared is Pin for a copy that others find too.
func (m *Mirror) shared(s device.Stream, r *Run, k key, name Name) (*Pin, error) {
	m.mu.Lock()
	h := m.copies[k]
	if h != nil && h.rows < r.Rows() {
		m.forget(h)
		h = nil
	}
	found := h != nil
	if !found {
		h = &held{key: k, segments: r.Segments, name: name, rows: r.Rows(), ready: make(chan struct{})}
		m.copies[k] = h
		m.watch(r)
	}
	h.pins++
	m.clock++
	h.used, h.last = m.clock, time.Now()
	m.mu.Unlock()
	if found {
		<-h.ready
	} else {
		h.err = m.upload(s, m.Over(m.memory), r, h)
		close(h.ready)
	}
	if h.err != nil {
		m.mu.Lock()
		m.forget(h)
		m.unpin(h)
		m.mu.Unlock()
		return nil, h.err
	}
	return &Pin{h.column.Column, m, h}, nil
}

// upload copies what h is to be, to memory of to.
func (m *Mirror) upload(s device.Stream, to device.Allocator, r *Run, h *held) error {
	parts := make([]arrow.Part, len(r.Segments))
	for i, g := range r.Segments {
		parts[i] = arrow.Part{Column: g.Column(h.key.column), Rows: r.Starts[i+1] - r.Starts[i]}
	}
	c, err := arrow.Carry(s, to, parts)
	if err != nil {
		return err
	}
	if err := settle(s); err != nil {
		c.Release()
		return err
	}
	m.mu.Lock()
	h.column, h.size = c, c.Bytes()
	m.mu.Unlock()
	return nil
}

// settle waits for what s was given.
func settle(s device.Stream) error { return s.Download(nil, 0) }

// Release gives the pin up.
func (p *Pin) Release() {
	if p == nil || p.h == nil {
		return
	}
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	p.m.unpin(p.h)
	p.h = nil
}

// unpin takes a pin off. m.mu is held.
func (m *Mirror) unpin(h *held) {
	h.pins--
	if h.pins == 0 && h.gone {
		h.column.Release()
	}
}

// forget has a copy be found no more. m.mu is held.
func (m *Mirror) forget(h *held) {
	if h.gone {
		return
	}
	h.gone = true
	delete(m.copies, h.key)
	if h.pins == 0 {
		h.column.Release()
	}
}

// watch has the copies of a run go with its segments. m.mu is held.
func (m *Mirror) watch(r *Run) {
	for _, g := range r.Segments {
		if !m.watched[g] {
			m.watched[g] = true
			g.OnRelease(func() { m.ended(g) })
		}
	}
}

// ended forgets the copies that a segment is in.
func (m *Mirror) ended(g *arrow.Segment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.watched, g)
	for _, h := range m.copies {
		if slices.Contains(h.segments, g) {
			m.forget(h)
		}
	}
}

// Evict releases copies that nobody has pinned, the one used longest ago first,
// until n bytes have come free. It reports whether any did.
func (m *Mirror) Evict(n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	freed := int64(0)
	for freed < n {
		var oldest *held
		for _, h := range m.copies {
			if h.pins == 0 && (oldest == nil || h.used < oldest.used) {
				oldest = h
			}
		}
		if oldest == nil {
			break
		}
		freed += oldest.size
		m.forget(oldest)
	}
	return freed > 0
}

// Over is an allocator that takes memory from s, and makes room by Evict where
// that is short. What s alone does not grant is not asked for again.
func (m *Mirror) Over(s *device.Scope) device.Allocator { return &pressing{s, m} }

type pressing struct {
	*device.Scope
	m *Mirror
}

// Alloc implements device.Allocator.
func (p *pressing) Alloc(n int) (*device.Buffer, error) {
	for {
		b, err := p.Scope.Alloc(n)
		if !errors.Is(err, device.ErrNoMemory) || p.Scope.Full(int64(n)) || !p.m.Evict(int64(n)) {
			return b, err
		}
	}
}

// Resident is a copy that is there.
type Resident struct {
	Name
	First, Last uint32 // segments
	Rows        int
	Bytes       int64
	Used        time.Time
	Pinned      bool
}

// Residents are the copies that are there, by table, first segment and column.
func (m *Mirror) Residents() []Resident {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Resident
	for _, h := range m.copies {
		if h.size == 0 {
			continue
		}
		all = append(all, Resident{Name: h.name, First: h.segments[0].ID(), Last: h.segments[len(h.segments)-1].ID(),
			Rows: h.rows, Bytes: h.size, Used: h.last, Pinned: h.pins > 0})
	}
	slices.SortFunc(all, func(a, b Resident) int {
		if c := strings.Compare(a.Table, b.Table); c != 0 {
			return c
		}
		if a.First != b.First {
			return int(a.First) - int(b.First)
		}
		return strings.Compare(a.Column, b.Column)
	})
	return all
}

// Close releases all copies. Nobody has pins.
func (m *Mirror) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range m.copies {
		m.forget(h)
	}
}
