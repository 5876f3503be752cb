//go:build unix

package spill

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gpusql/gpusql/device"
)

// Map implements Handle. The disk's room is taken first: a page that has none
// would be a signal, not an error.
func (h handle) Map(n int) (device.Ptr, error) {
	if err := allocate(h.File, n); err != nil {
		return 0, err
	}
	p, err := unix.MmapPtr(int(h.Fd()), 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return device.Ptr(uintptr(p)), err
}

// Unmap implements FS.
func (system) Unmap(p device.Ptr, n int) {
	if err := unix.MunmapPtr(*(*unsafe.Pointer)(unsafe.Pointer(&p)), uintptr(n)); err != nil {
		panic("spill: munmap: " + err.Error())
	}
}
