package cuda

import (
	"errors"
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// replay is a graph of the driver's: launches that were recorded, and are
// submitted again by one call.
type replay struct {
	s    *Stream
	exec uintptr
}

// Record keeps what f launches on s instead of submitting it. Modules that are
// met for the first time are loaded now.
func (s *Stream) Record(f func() error) (device.Replay, error) {
	if err := s.beginCopy(); err != nil {
		return nil, err
	}
	defer s.dev.leave()
	d, q := s.dev, s.q
	// Who has to wait for q meanwhile waits for what it was given before.
	if err := d.do(fnEventRecord, q.event, q.handle); err != nil {
		return nil, err
	}
	graph, err := q.capture(f)
	if graph != 0 {
		defer d.drv.call(fnGraphDestroy, graph)
	}
	if err != nil {
		return nil, err
	}
	var exec uintptr
	if err := d.ask(fnGraphInstantiate, uintptr(unsafe.Pointer(&exec)), graph, 0); err != nil {
		return nil, err
	}
	return &replay{s: s, exec: exec}, nil
}

// capture has the driver keep what f submits. It ends however f does.
func (q *queue) capture(f func() error) (graph uintptr, err error) {
	if err := q.beginCapture(); err != nil {
		return 0, err
	}
	defer func() {
		var end error
		graph, end = q.endCapture()
		err = errors.Join(err, end)
	}()
	return 0, f()
}

func (q *queue) beginCapture() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.dev.do(fnStreamBeginCapture, q.handle, captureRelaxed); err != nil {
		return err
	}
	q.recording = true
	return nil
}

func (q *queue) endCapture() (graph uintptr, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.recording = false
	r := q.dev.drv.ask(fnStreamEndCapture, q.handle, uintptr(unsafe.Pointer(&graph)))
	return graph, q.dev.check(fnStreamEndCapture, r)
}

// Run submits the launches.
func (r *replay) Run() error {
	if err := r.s.beginCopy(); err != nil {
		return err
	}
	d := r.s.dev
	defer d.leave()
	if err := r.s.q.submit(); err != nil {
		return err
	}
	return d.do(fnGraphLaunch, r.exec, r.s.q.handle)
}

// Close forgets the launches. The driver lets those that are under way end.
func (r *replay) Close() error {
	d, exec := r.s.dev, r.exec
	r.exec = 0
	if exec == 0 || d.enter() != nil {
		return nil // the end of a lost device frees it
	}
	defer d.leave()
	return d.do(fnGraphExecDestroy, exec)
}
