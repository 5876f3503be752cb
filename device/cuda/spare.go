package cuda

import "github.com/gpusql/gpusql/device"

// spare is pinned memory of the host as a pool: kernels reach it by address, over
// the bus. That is a tenth of the GPU's own memory in a row, some 50 GB/s, and a
// hundredth at random places, which is what spilling costs; but every step works
// in it as it is, joins and groups as well as sorts. Pinning takes some 0.3 s a GiB,
// and takes the memory from all others: so it is given back when nobody uses it.
type spare struct{ d *Device }

// Spare is that memory, without a limit of its own.
func (d *Device) Spare() device.Allocator { return spare{d} }

func newSpare(d *Device) *pool {
	p := newPool("pinned host memory for "+d.info.Name, 0, &d.reused)
	p.apart, p.lent = d.pool.apart, true
	p.arenas[1].most = 64 << 20
	p.grow = func(n int) (device.Ptr, error) {
		if err := d.enter(); err != nil {
			return 0, err
		}
		defer d.leave()
		p, err := d.allocHost(n)
		return device.Ptr(uintptr(p)), err // one address space for both
	}
	p.shrink = func(at device.Ptr) error { return d.giveUp(fnMemFreeHost, at) }
	return p
}

// Alloc implements device.Allocator.
func (s spare) Alloc(n int) (*device.Buffer, error) {
	if err := s.d.usable(); err != nil {
		return nil, err
	}
	p, err := s.d.spare.take(n)
	if err != nil {
		return nil, err
	}
	return device.NewBuffer(p, n, s), nil
}

// Reclaim takes a released buffer back, as Device.Reclaim does.
func (s spare) Reclaim(b *device.Buffer) {
	if !s.d.closed.Load() {
		s.d.spare.put(b.Ptr(), s.d.tickets.Load())
	}
}
