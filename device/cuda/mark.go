package cuda

import (
	"sync"
	"time"
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// mark is an event with the GPU's time.
type mark struct {
	dev   *Device
	event uintptr
}

// Mark records an event behind what was submitted.
func (s *Stream) Mark() (device.Mark, error) {
	if err := s.beginCopy(); err != nil {
		return nil, err
	}
	defer s.dev.leave()
	d := s.dev
	m := &mark{dev: d, event: d.marks.get()}
	if m.event == 0 {
		r := d.drv.ask(fnEventCreate, uintptr(unsafe.Pointer(&m.event)), eventDefault)
		if err := d.check(fnEventCreate, r); err != nil {
			return nil, err
		}
	}
	if err := s.q.submit(); err != nil {
		m.Release()
		return nil, err
	}
	if err := d.do(fnEventRecord, m.event, s.q.handle); err != nil {
		m.Release()
		return nil, err
	}
	return m, nil
}

// Since is the GPU's time between two marks, to half a microsecond.
func (m *mark) Since(earlier device.Mark) (time.Duration, error) {
	if err := m.dev.enter(); err != nil {
		return 0, err
	}
	defer m.dev.leave()
	var ms float32
	r := m.dev.drv.ask(fnEventElapsedTime, uintptr(unsafe.Pointer(&ms)), earlier.(*mark).event, m.event)
	return time.Duration(float64(ms) * float64(time.Millisecond)), m.dev.check(fnEventElapsedTime, r)
}

// Release keeps the event for the next mark.
func (m *mark) Release() {
	if m.event != 0 {
		m.dev.marks.put(m.event)
		m.event = 0
	}
}

// events are those that no mark has.
type events struct {
	mu   sync.Mutex
	free []uintptr
}

// get is an event, 0 when there is none.
func (e *events) get() uintptr {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.free)
	if n == 0 {
		return 0
	}
	h := e.free[n-1]
	e.free = e.free[:n-1]
	return h
}

func (e *events) put(h uintptr) {
	e.mu.Lock()
	e.free = append(e.free, h)
	e.mu.Unlock()
}

// destroy gives them back to the driver.
func (e *events) destroy(drv *driver) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range e.free {
		drv.call(fnEventDestroy, h)
	}
	e.free = nil
}
