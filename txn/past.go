package txn

import (
	"fmt"
	"sort"
	"time"
)

// Retain has versions be readable for so long after they were replaced. What was
// swept away before does not come back.
func (m *Manager) Retain(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.retain = d
}

// Require is Retain for what a definition wants, which counts if it is longer. Only
// a Change's Commit may call it.
func (t *Tx) Require(d time.Duration) { t.m.require = d } // m.mu is held

// Ago is the version that was current so long ago, or the oldest that is kept.
func (m *Manager) Ago(d time.Duration) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	since := time.Now().Add(-d).UnixMicro()
	n := sort.Search(len(m.marks), func(i int) bool { return m.marks[i].at > since })
	return m.marks[max(n-1, 0)].version
}

// kept is the version that was current when the time of retention began, and
// forgets when older ones were. m.mu is held.
func (m *Manager) kept() uint64 {
	since := time.Now().Add(-max(m.retain, m.require)).UnixMicro()
	n := sort.Search(len(m.marks), func(i int) bool { return m.marks[i].at > since })
	if n > 1 {
		m.marks = append(m.marks[:0], m.marks[n-1:]...)
	}
	return m.marks[0].version
}

// OutsideError: a version is asked for that is kept no more, or not there yet.
type OutsideError struct{ Version, Oldest, Latest uint64 }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("version %d is not readable: there are versions %d to %d", e.Version, e.Oldest, e.Latest)
}

// Pin keeps a version readable until the transaction ends, or returns an OutsideError.
func (t *Tx) Pin(version uint64) error {
	m := t.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if version < max(m.swept, m.horizon()) || version > m.clock {
		return &OutsideError{version, max(m.swept, m.horizon()), m.clock}
	}
	if t.pinned == 0 || version < t.pinned {
		t.pinned = version
	}
	return nil
}

// VersionAt is the version that was current at a time in microseconds since 1970
// UTC; false when that is not known any more, or not yet.
func (m *Manager) VersionAt(at int64) (uint64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := sort.Search(len(m.marks), func(i int) bool { return m.marks[i].at > at })
	if n == 0 || at > time.Now().UnixMicro() {
		return 0, false
	}
	return m.marks[n-1].version, true
}
