package device

import (
	"cmp"
	"math"
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
	tier    string
	base    Allocator // where memory comes from: never a Scope
	parent  *Scope    // nil: s is over the base
	also    *Scope    // of another memory, that counts the same bytes; may be nil

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
	Tier    string // which memory, for errors; "": that of what it is over, or the host's
	// Also is a Scope that counts all that is taken here, as part of what it has
	// a limit for: pinned memory of a GPU is the host's. It is closed later.
	Also *Scope
}

// NewScope returns an empty scope over a device or another scope.
func NewScope(under Allocator, o ScopeOptions) *Scope {
	s := &Scope{name: o.Name, setting: o.Setting, tier: cmp.Or(o.Tier, "host memory"), limit: o.Limit, base: under, also: o.Also}
	if p, ok := under.(*Scope); ok {
		s.parent, s.base, s.tier = p, p.base, cmp.Or(o.Tier, p.tier)
		p.mu.Lock()
		if p.inner == nil {
			p.inner = map[*Scope]struct{}{}
		}
		p.inner[s] = struct{}{}
		p.mu.Unlock()
	}
	return s
}

// Alloc takes n bytes from the device, unless that would pass a limit.
func (s *Scope) Alloc(n int) (*Buffer, error) {
	if err := s.Reserve(int64(n)); err != nil {
		return nil, err
	}
	u, err := s.base.Alloc(n)
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
		return nil
	}
	// The widest scope comes first: when it refuses, those over it show what
	// they hold, without what is asked for.
	for _, wider := range []*Scope{s.parent, s.also} {
		if wider == nil {
			continue
		}
		if err := wider.Reserve(n); err != nil {
			if wider == s.also {
				s.parent.uncount(n)
			}
			return err
		}
	}
	err := s.count(n)
	if err != nil {
		s.parent.uncount(n)
		s.also.uncount(n)
	}
	return err
}

func (s *Scope) count(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if s.limit > 0 && s.used+n > s.limit {
		return &NoMemoryError{Tier: s.tier, Bytes: n, Used: s.used, Limit: s.limit,
			Setting: s.setting, Users: s.users()}
	}
	s.used += n
	s.peak = max(s.peak, s.used)
	return nil
}

// uncount takes n bytes off s, all that it is over, and who else counts them.
func (s *Scope) uncount(n int64) {
	for ; s != nil; s = s.parent {
		s.mu.Lock()
		s.used -= n
		s.mu.Unlock()
		s.also.uncount(n)
	}
}

// users are the three largest scopes over s. s.mu is held. Only here is a lock
// taken while another is held.
func (s *Scope) users() []Use {
	var all []Use
	for c := range s.inner {
		all = append(all, Use{c.name, c.Used()})
	}
	slices.SortFunc(all, func(a, b Use) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	return all[:min(len(all), 3)]
}

// Reclaim takes a released buffer back.
func (s *Scope) Reclaim(b *Buffer) {
	s.mu.Lock()
	last := len(s.live) - 1
	moved := s.live[last]
	s.live[b.slot], moved.slot = moved, b.slot
	s.live[last] = nil
	s.live = s.live[:last]
	s.mu.Unlock()
	s.uncount(int64(b.n))
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

// Full reports that s itself would refuse n bytes more, whatever it is over.
func (s *Scope) Full(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limit > 0 && s.used+n > s.limit
}

// Room is how many bytes may still be allocated before s or a scope that it is
// over is full; without a limit, the most that an int64 holds.
func (s *Scope) Room() int64 {
	room := int64(math.MaxInt64)
	for ; s != nil; s = s.parent {
		s.mu.Lock()
		if s.limit > 0 {
			room = min(room, s.limit-s.used)
		}
		s.mu.Unlock()
	}
	return max(room, 0)
}

// SetLimit changes the limit. What is in use above it stays.
func (s *Scope) SetLimit(n int64) {
	s.mu.Lock()
	s.limit = n
	s.mu.Unlock()
}

// Close gives back all that is still held, by scopes over this one too. It may
// be called again.
func (s *Scope) Close() {
	s.mu.Lock()
	live, inner, used := s.live, s.inner, s.used
	s.live, s.inner, s.closed = nil, nil, true
	s.mu.Unlock()
	for c := range inner {
		used -= c.Used()
		c.Close()
	}
	for _, b := range live {
		b.own = nil
		b.under.Release()
	}
	s.uncount(used)
	if p := s.parent; p != nil {
		p.mu.Lock()
		delete(p.inner, s)
		p.mu.Unlock()
	}
}
