package mvcc

import (
	"slices"

	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/page"
)

// state is the tree after a batch: a root, and nothing else that is its own.
type state struct {
	number  uint64 // of batches: births of nodes are such numbers
	version index.Version
	root    page.Number // 0: no entries
	height  int
	entries int64

	refs       int  // snapshots that hold it
	kept       bool // it answers for its version
	dead       []dead
	prev, next *state
}

// dead are nodes that a later state has no use for: this one, and states before
// it that are not older than their births, are what keeps them.
type dead struct {
	pages  []page.Number
	births []uint64
}

// history is the states that can be read: those that are kept for their
// versions, oldest first, and those that only a snapshot still holds.
type history struct {
	kept        []*state
	first, last *state // all, by number
	oldest      index.Version
}

func newHistory() history {
	s := &state{kept: true}
	return history{kept: []*state{s}, first: s, last: s}
}

// latest is the state of the last batch.
func (h *history) latest() *state { return h.kept[len(h.kept)-1] }

// at is the state that answers for a version, nil if it is gone.
func (h *history) at(v index.Version) *state {
	if last := h.latest(); v >= last.version {
		return last
	}
	if v < h.oldest {
		return nil
	}
	i, found := slices.BinarySearchFunc(h.kept, v, func(s *state, v index.Version) int {
		if s.version < v {
			return -1
		}
		if s.version > v {
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	return h.kept[i]
}

// publish makes s the latest state; its batch left these nodes behind. It
// returns pages that nobody can reach any more.
func (h *history) publish(s *state, left dead) (garbage []page.Number) {
	before := h.last
	s.prev, before.next, h.last = before, s, s
	s.kept = true
	if len(left.pages) > 0 {
		before.dead = append(before.dead, left)
	}
	if last := h.latest(); last.version == s.version {
		h.kept[len(h.kept)-1] = s
		garbage = h.drop(last, garbage)
	} else {
		h.kept = append(h.kept, s)
	}
	return h.prune(h.oldest, garbage)
}

// prune forgets the states that answer for versions below the horizon only.
func (h *history) prune(horizon index.Version, garbage []page.Number) []page.Number {
	h.oldest = max(h.oldest, horizon)
	n := 0
	for n+1 < len(h.kept) && h.kept[n+1].version <= h.oldest {
		garbage = h.drop(h.kept[n], garbage)
		n++
	}
	h.kept = h.kept[n:]
	return garbage
}

// drop says that a state is not kept for its version any more.
func (h *history) drop(s *state, garbage []page.Number) []page.Number {
	s.kept = false
	return h.forget(s, garbage)
}

// forget takes a state away if nothing needs it. Of the nodes that died after
// it, those that an earlier state can reach are that state's now.
func (h *history) forget(s *state, garbage []page.Number) []page.Number {
	if s.kept || s.refs > 0 {
		return garbage
	}
	p := s.prev
	if p != nil {
		p.next = s.next
	} else {
		h.first = s.next
	}
	if s.next != nil {
		s.next.prev = p
	} else {
		h.last = p
	}
	for _, d := range s.dead {
		if p == nil {
			garbage = append(garbage, d.pages...)
		} else {
			garbage = p.inherit(d, garbage)
		}
	}
	s.dead = nil
	return garbage
}

// deadStep is when a list of dead nodes is long enough to begin another.
const deadStep = 4096

// inherit takes over those of the dead nodes that s can reach.
func (s *state) inherit(d dead, garbage []page.Number) []page.Number {
	if n := len(s.dead); n == 0 || len(s.dead[n-1].pages) >= deadStep {
		s.dead = append(s.dead, dead{})
	}
	mine := &s.dead[len(s.dead)-1]
	for i, birth := range d.births {
		if birth > s.number {
			garbage = append(garbage, d.pages[i])
			continue
		}
		mine.pages, mine.births = append(mine.pages, d.pages[i]), append(mine.births, birth)
	}
	return garbage
}
