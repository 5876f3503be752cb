package cuda

import (
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// pins are runs of the host's memory that the GPU may copy from and to by
// itself: no copy through staging, at the price of the pinning, some 0.3 s a
// GiB, which pays for what is uploaded more than once.
type pins struct {
	mu   sync.RWMutex
	runs []run
}

type run struct{ lo, hi uintptr }

// Pin makes memory outside Go's heap such a run, until unpin is called. The
// memory stays mapped until then.
func (d *Device) Pin(b []byte) (unpin func() error, err error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	p := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	r := d.drv.call(fnMemHostRegister, p, uintptr(len(b)), 1)
	if r == errOutOfMemory {
		return nil, &device.NoMemoryError{Tier: "pinned host memory for " + d.info.Name, Bytes: int64(len(b))}
	}
	if r != success {
		return nil, d.failed(fnMemHostRegister, r)
	}
	d.pins.add(run{p, p + uintptr(len(b))})
	return func() error { return d.unpin(p) }, nil
}

// unpin ends a run. A lost device is asked too, for the memory may be unmapped
// after this, but what it answers says nothing.
func (d *Device) unpin(p uintptr) error {
	if !d.pins.drop(p) {
		return nil // the device has ended before
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := d.drv.call(fnCtxSetCurrent, d.ctx)
	if r == success {
		r = d.drv.call(fnMemHostUnregister, p)
	}
	if d.lost.Load() != nil {
		return nil
	}
	return d.check(fnMemHostUnregister, r)
}

// unpinAll ends all runs, with the device.
func (d *Device) unpinAll() {
	d.pins.mu.Lock()
	runs := d.pins.runs
	d.pins.mu.Unlock()
	for _, r := range slices.Clone(runs) {
		d.unpin(r.lo) //nolint:errcheck // the context's end does the same
	}
}

func (p *pins) add(r run) {
	p.mu.Lock()
	p.runs = append(p.runs, r)
	p.mu.Unlock()
}

// drop reports whether there was such a run.
func (p *pins) drop(lo uintptr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.runs)
	p.runs = slices.DeleteFunc(p.runs, func(r run) bool { return r.lo == lo })
	return len(p.runs) < n
}

// have reports whether all of b is pinned.
func (p *pins) have(b []byte) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return slices.ContainsFunc(p.runs, func(r run) bool { return r.lo <= lo && lo+uintptr(len(b)) <= r.hi })
}
