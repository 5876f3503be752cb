package device

import (
	"cmp"
	"slices"
	"sync"
)

// Scope is an Allocator with a limit that gives everything back at Close: a
// query's memory over the database's, that over the device.
//
// Safe for concurrent use, but Close comes after its users have stopped. Every
// scope on the way down counts, and the nearest one that is full refuses.
type Scope struct {
	name    string
	setting string
	under   Allocator
	parent  *Scope // under, when that is a Scope

	mu     sync.Mutex
	limit  int64
	used   int64
	peak   int64
	live   []*Buffer
	inner  map[*Scope]struct{} // scopes over this one
	closed bool
}

// ScopeOptions describe a Scope.
type ScopeOptions struct {
	Name    string // for "largest users" in errors
	Limit   int64  // bytes; 0: none of its own
	Setting string // the setting that raises Limit
}

// NewScope returns an empty scope over a device or another scope.
func NewScope(under Allocator, o ScopeOptions) *Scope {
	s := &Scope{name: o.Name, setting: o.Setting, limit: o.Limit, under: under}
	if p, ok := under.(*Scope); ok {
		s.parent = p
		p.mu.Lock()
		if p.inner == nil {
			p.inner = map[*Scope]struct{}{}
		}
		p.inner[s] = struct{}{}
		p.mu.Unlock()
	}
	return s
}

// Alloc takes n bytes from below, unless that would pass the limit.
func (s *Scope) Alloc(n int) (*Buffer, error) {
	if err := s.count(int64(n)); err != nil {
		return nil, err
	}
	u, err := s.under.Alloc(n)
	if err != nil {
		s.uncount(int64(n))
		return nil, err
	}
	b := &Buffer{ptr: u.ptr, n: u.n, own: s, under: u}
	s.mu.Lock()
	b.slot = len(s.live)
	s.live = append(s.live, b)
	s.mu.Unlock()
	return b, nil
}

// Reserve counts n bytes that somebody holds elsewhere, such as an index in
// Go's heap; a negative n gives them back and never fails.
func (s *Scope) Reserve(n int64) error {
	if n < 0 {
		s.uncount(-n)
		if s.parent != nil {
			return s.parent.Reserve(n)
		}
		return nil
	}
	if err := s.count(n); err != nil {
		return err
	}
	if s.parent != nil {
		if err := s.parent.Reserve(n); err != nil {
			s.uncount(n)
			return err
		}
	}
	return nil
}

func (s *Scope) count(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if s.limit > 0 && s.used+n > s.limit {
		return &NoMemoryError{Tier: "host memory", Bytes: n, Used: s.used, Limit: s.limit,
			Setting: s.setting, Users: s.users()}
	}
	s.used += n
	s.peak = max(s.peak, s.used)
	return nil
}

func (s *Scope) uncount(n int64) {
	s.mu.Lock()
	s.used -= n
	s.mu.Unlock()
}

// users are the three largest scopes over s. s.mu is held; the lock order is
// from a scope to the ones over it only here, where they are tried, not waited for.
func (s *Scope) users() []Use {
	var all []Use
	for c := range s.inner {
		if c.mu.TryLock() {
			all = append(all, Use{c.name, c.used})
			c.mu.Unlock()
		}
	}
	slices.SortFunc(all, func(a, b Use) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(len(all), 3)]
}

func (s *Scope) release(b *Buffer) {
	s.mu.Lock()
	last := len(s.live) - 1
	moved := s.live[last]
	s.live[b.slot], moved.slot = moved, b.slot
	s.live[last] = nil
	s.live = s.live[:last]
	s.used -= int64(b.n)
	s.mu.Unlock()
	b.under.Release()
}

// Used is the bytes now held, Peak the most that were.
func (s *Scope) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Peak is the most bytes that were held at once.
func (s *Scope) Peak() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// SetLimit changes the limit. What is in use above it stays.
func (s *Scope) SetLimit(n int64) {
	s.mu.Lock()
	s.limit = n
	s.mu.Unlock()
}

// Close gives back all that is still held. It may be called again.
func (s *Scope) Close() {
	s.mu.Lock()
	live := s.live
	s.live, s.used, s.closed = nil, 0, true
	s.mu.Unlock()
	for _, b := range live {
		b.own = nil
		b.under.Release()
	}
	if p := s.parent; p != nil {
		p.mu.Lock()
		delete(p.inner, s)
		p.mu.Unlock()
	}
}
