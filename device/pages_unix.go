//go:build unix

package device

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapPages asks the system for zeroed pages.
func mapPages(n int) (Ptr, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return 0, err
	}
	hugePages(Ptr(uintptr(p)), n)
	return Ptr(uintptr(p)), nil
}

// unmapPages gives them back. That can only fail on a wrong address.
func unmapPages(p Ptr, n int) {
	if err := unix.MunmapPtr(*(*unsafe.Pointer)(unsafe.Pointer(&p)), uintptr(n)); err != nil {
		panic("device: munmap: " + err.Error())
	}
}
