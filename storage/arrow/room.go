package arrow

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// room is memory that the host writes and a device reads: the device's own
// where the host sees that, else the host's with a copy on the device.
type room struct {
	slab Slab
	host []byte // nil where the slab is seen by the host
	size int
}

// reserve gives n bytes to be written; what was there is lost.
func (r *room) reserve(im *Importer, n int) ([]byte, error) {
	r.size = n
	if !im.s.Device().Traits().HostBytes {
		r.host = grow(r.host, n)
		return r.host, nil
	}
	p, err := r.slab.Reserve(im.mem, n)
	if err != nil {
		return nil, err
	}
	return device.View[byte](p, n), nil
}

// bytes is what was reserved.
func (r *room) bytes() []byte {
	if r.host != nil {
		return r.host[:r.size]
	}
	return device.View[byte](r.slab.Ptr(), r.size)
}

// address is where the n bytes from byte at on are in the device's memory.
func (r *room) address(im *Importer, at, n int) (device.Ptr, error) {
	if r.host == nil || n == 0 {
		return r.slab.Ptr() + device.Ptr(at), nil
	}
	if _, err := r.slab.Reserve(im.mem, r.size); err != nil {
		return 0, err
	}
	p := r.slab.Ptr() + device.Ptr(at)
	return p, im.s.Upload(p, r.host[at:at+n])
}

func (r *room) release() {
	if r != nil {
		r.slab.Release()
		r.host, r.size = nil, 0
	}
}

// roomOf is room for n values.
func roomOf[T any](r *room, im *Importer, n int) ([]T, error) {
	var v T
	b, err := r.reserve(im, n*int(unsafe.Sizeof(v)))
	if err != nil || n == 0 {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}
