package kernels

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// Upload copies n rows of a column of the host's memory to the device of s, into
// memory of m. A dictionary stays one, and the bytes of long strings go along.
//
// The values go through one piece of host memory, so that the views of strings
// can be turned to where their bytes will be.
func Upload(s device.Stream, m device.Allocator, v Vec, p sqltype.Phys, n int) (Vec, error) {
	out := Vec{DictLen: v.DictLen}
	var err error
	if v.Valid != 0 && n > 0 {
		if out.Valid, err = uploadBytes(s, m, device.View[byte](v.Valid, BitmapBytes(n))); err != nil {
			return out, err
		}
	}
	if v.Dict == 0 {
		out.Data, err = uploadValues(s, m, v.Data, v.Valid, p, n)
		return out, err
	}
	if out.Data, err = uploadBytes(s, m, device.View[byte](v.Data, 4*n)); err != nil {
		return out, err
	}
	out.Dict, err = uploadValues(s, m, v.Dict, 0, p, int(v.DictLen))
	return out, err
}

func uploadBytes(s device.Stream, m device.Allocator, bytes []byte) (device.Ptr, error) {
	b, err := m.Alloc(max(len(bytes), 1))
	if err != nil {
		return 0, err
	}
	return b.Ptr(), s.Upload(b.Ptr(), bytes)
}

func uploadValues(s device.Stream, m device.Allocator, data, valid device.Ptr, p sqltype.Phys, n int) (device.Ptr, error) {
	if p != sqltype.PhysStr {
		return uploadBytes(s, m, device.View[byte](data, n*p.Width()))
	}
	views := device.View[View](data, n)
	known := device.View[uint64](valid, (n+63)/64)
	long := func(i int) bool {
		return views[i].Len() > InlineLen && (known == nil || known[i>>6]>>(i&63)&1 != 0)
	}
	size := 0
	for i := range views {
		if long(i) {
			size += views[i].Len()
		}
	}
	moved := make([]View, n)
	var heap []byte
	var base device.Ptr
	if size > 0 {
		b, err := m.Alloc(size)
		if err != nil {
			return 0, err
		}
		base, heap = b.Ptr(), make([]byte, 0, size)
	}
	for i, v := range views {
		switch {
		case long(i):
			moved[i] = View{Lo: v.Lo, Hi: uint64(base) + uint64(len(heap))}
			heap = append(heap, v.Str()...)
		case v.Len() <= InlineLen:
			moved[i] = v
		}
	}
	if size > 0 {
		if err := s.Upload(base, heap); err != nil {
			return 0, err
		}
	}
	return uploadBytes(s, m, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(moved))), 16*n))
}
