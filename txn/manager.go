package txn

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Manager gives out versions and snapshots.
type Manager struct {
	mu      sync.Mutex // of what follows; held while a commit stamps
	begins  *sync.Cond // told when work that was alone has ended
	alone   alone
	clock   uint64
	nextID  uint64
	first   *Tx // the running transactions, oldest first
	last    *Tx
	retired []retired     // by version
	leaving []leaving     // by transaction
	swept   uint64        // the greatest horizon so far: nothing below it is complete
	due     []func()      // that the sweeper runs
	sweeps  chan struct{} // closed when the sweeper of now has ended; nil: there is none
	failed  error         // of the first sweep that panicked
	retain  time.Duration
	require time.Duration // the same, of what is defined; the longer one counts
	marks   []mark        // when versions became current, oldest first; never empty
}

// mark is a version and when it became current, in microseconds since 1970 UTC.
type mark struct {
	version uint64
	at      int64
}

// leaving is work for when a transaction and all older ones have ended.
type leaving struct {
	id uint64
	f  func()
}

// retired is work for when a version is out of sight.
type retired struct {
	version uint64
	f       func()
}

// ErrDone: the transaction has ended already.
var ErrDone = errors.New("txn: the transaction has ended")

// NewManager starts a clock at version 1.
func NewManager() *Manager {
	m := &Manager{clock: 1, marks: []mark{{1, time.Now().UnixMicro()}}, alone: alone{empty: make(chan struct{}, 1)}}
	m.begins = sync.NewCond(&m.mu)
	return m
}

// Change is something that a transaction did. Commit makes it part of a
// version and cannot fail; Undo takes it back.
type Change interface {
	Commit(version uint64)
	Undo()
}

// Tx is a transaction.
type Tx struct {
	m          *Manager
	id         uint64
	version    uint64
	pinned     uint64 // a lower version that it reads too; 0: none
	statement  uint64
	log        []Change
	done       bool
	prev, next *Tx
}

// Begin starts a transaction that reads at the present version.
func (m *Manager) Begin() *Tx { return m.BeginWith(func() {}) }

// BeginWith is Begin, and calls read while no commit is under way: what a
// Change's Commit publishes is then of the same version.
func (m *Manager) BeginWith(read func()) *Tx {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.alone.busy {
		m.alone.waiting++
		m.begins.Wait()
		m.alone.waiting--
	}
	read()
	return m.begin()
}

// begin puts a new transaction in the list. m.mu is held.
func (m *Manager) begin() *Tx {
	m.nextID++
	t := &Tx{m: m, id: m.nextID, version: m.clock, prev: m.last}
	if m.last != nil {
		m.last.next = t
	} else {
		m.first = t
	}
	m.last = t
	return t
}

// Version is the version that the transaction reads at.
func (t *Tx) Version() uint64 { return t.version }

// ID is the transaction's number, from 1; it is never reused.
func (t *Tx) ID() uint64 { return t.id }

// Statement starts the next statement and returns its number, from 1.
func (t *Tx) Statement() uint64 {
	t.statement++
	return t.statement
}

// Log notes a change that was made.
func (t *Tx) Log(c Change) { t.log = append(t.log, c) }

// Mark is a place to undo back to.
func (t *Tx) Mark() int { return len(t.log) }

// UndoTo takes back what was done since the mark. After the end of the
// transaction there is nothing to take back.
func (t *Tx) UndoTo(mark int) {
	if t.done {
		return
	}
	for i := len(t.log) - 1; i >= mark; i-- {
		t.log[i].Undo()
		t.log[i] = nil
	}
	t.log = t.log[:mark]
}

// Commit ends the transaction: its changes become a version, which is returned.
func (t *Tx) Commit() (uint64, error) {
	if t.done {
		return 0, ErrDone
	}
	m := t.m
	m.mu.Lock()
	version := m.clock
	if len(t.log) > 0 {
		version++
		for _, c := range t.log {
			c.Commit(version)
		}
		m.clock = version
		m.marks = append(m.marks, mark{version, max(time.Now().UnixMicro(), m.marks[len(m.marks)-1].at)})
	}
	t.end()
	m.mu.Unlock()
	return version, nil
}

// Rollback ends the transaction and takes back all that it did. It does
// nothing when the transaction has ended.
func (t *Tx) Rollback() {
	if t.done {
		return
	}
	t.UndoTo(0)
	t.m.mu.Lock()
	t.end()
	t.m.mu.Unlock()
}

// end takes t out of the list, and gives the sweeper what is due now. m.mu is held.
func (t *Tx) end() {
	m := t.m
	t.done, t.log = true, nil
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		m.first = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		m.last = t.prev
	}
	m.sweep()
	if m.first == nil && len(m.alone.work) > 0 {
		m.tellEmpty()
	}
}

// sweep gives the sweeper what is retired at or below the horizon, and what waits
// for transactions that have ended. m.mu is held.
func (m *Manager) sweep() {
	h := m.horizon()
	m.swept = max(m.swept, h)
	n := 0
	for n < len(m.retired) && m.retired[n].version <= h {
		n++
	}
	for _, r := range m.retired[:n] {
		m.due = append(m.due, r.f)
	}
	m.retired = m.retired[n:]
	for len(m.leaving) > 0 && (m.first == nil || m.first.id > m.leaving[0].id) {
		m.due = append(m.due, m.leaving[0].f)
		m.leaving = m.leaving[1:]
	}
	if len(m.due) > 0 && m.sweeps == nil {
		m.sweeps = make(chan struct{})
		go m.sweeper()
	}
}

// sweeper runs what is due, one after the other, until nothing is.
func (m *Manager) sweeper() {
	for {
		m.mu.Lock()
		due := m.due
		m.due = nil
		if len(due) == 0 {
			close(m.sweeps)
			m.sweeps = nil
			m.mu.Unlock()
			return
		}
		m.mu.Unlock()
		for _, f := range due {
			m.run(f)
		}
	}
}

// run runs f. Nobody waits for it whom a panic could reach: Settle tells.
func (m *Manager) run(f func()) {
	defer func() {
		if p := recover(); p != nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.failed == nil {
				m.failed = fmt.Errorf("txn: sweeping: %v\n%s", p, debug.Stack())
			}
		}
	}()
	f()
}

// Settle waits until nothing is due, or for the end of ctx. It fails, too, when
// work that was due has panicked.
func (m *Manager) Settle(ctx context.Context) error {
	for {
		m.mu.Lock()
		sweeps, failed := m.sweeps, m.failed
		m.mu.Unlock()
		if sweeps == nil {
			return failed
		}
		select {
		case <-sweeps:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *Manager) horizon() uint64 {
	h := m.clock
	if m.first != nil {
		h = m.first.version // versions ascend with age
	}
	for t := m.first; t != nil; t = t.next {
		if t.pinned != 0 {
			h = min(h, t.pinned)
		}
	}
	return min(h, m.kept())
}

// Horizon is the least version that is read now or will be.
func (m *Manager) Horizon() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.horizon()
}

// Clock is the present version.
func (m *Manager) Clock() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clock
}

// RetireAt has the sweeper run f when no transaction reads below version. Only a
// Change's Commit may call it, with the version it got.
func (t *Tx) RetireAt(version uint64, f func()) {
	m := t.m // m.mu is held
	m.retired = append(m.retired, retired{version, f})
}

// Retire has the sweeper run f when the transactions of now have ended.
func (m *Manager) Retire(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leaving = append(m.leaving, leaving{m.nextID, f})
	m.sweep()
}
