package txn

import "time"

// alone is the work that wants a transaction which no other one runs beside, and
// the goroutine that does it.
type alone struct {
	work    []func(*Tx)
	running chan struct{} // closed when the goroutine has ended; nil: there is none
	empty   chan struct{} // told when no transaction runs
	busy    bool          // its transaction runs; others wait to begin
	waiting int           // they
	closed  bool
}

// idlePart is how much longer than it kept others waiting the work leaves them alone.
const idlePart = 8

// Alone has f run, on a goroutine of the manager's, with a transaction that no
// other runs beside: it waits for a moment when there is none, and who wants to
// begin one meanwhile waits for f, which therefore does little, and asks again for
// more. A transaction that f leaves open is rolled back. Close takes away what has
// not begun.
func (m *Manager) Alone(f func(*Tx)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := &m.alone
	if a.closed {
		return
	}
	a.work = append(a.work, f)
	if a.running == nil {
		a.running = make(chan struct{})
		go m.runAlone(a.running)
	}
}

func (m *Manager) runAlone(ended chan struct{}) {
	defer close(ended)
	for {
		f, t := m.nextAlone()
		if f == nil {
			return
		}
		if t == nil {
			<-m.alone.empty
			continue
		}
		start := time.Now()
		m.run(func() { f(t) })
		t.Rollback()
		m.mu.Lock()
		m.alone.busy = false
		pause := m.alone.waiting > 0
		m.mu.Unlock()
		m.begins.Broadcast()
		if pause {
			time.Sleep(idlePart * time.Since(start))
		}
	}
}

// nextAlone is the next work and its transaction, without one while others run.
func (m *Manager) nextAlone() (func(*Tx), *Tx) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := &m.alone
	if len(a.work) == 0 {
		a.running = nil
		return nil, nil
	}
	f := a.work[0]
	if m.first != nil || a.waiting > 0 {
		return f, nil
	}
	a.work, a.busy = a.work[1:], true
	return f, m.begin()
}

// Close takes away the work that waits to be alone, and waits for what has begun.
func (m *Manager) Close() {
	m.mu.Lock()
	a := &m.alone
	a.closed, a.work = true, nil
	running := a.running
	m.mu.Unlock()
	m.tellEmpty()
	if running != nil {
		<-running
	}
}

// tellEmpty wakes the work that waits to be alone.
func (m *Manager) tellEmpty() {
	select {
	case m.alone.empty <- struct{}{}:
	default:
	}
}
