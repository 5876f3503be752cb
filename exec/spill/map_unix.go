//go:build unix

package spill

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gpusql/gpusql/device"
)

// mapFile is the address of a file's first n bytes, which outlives the file's handle.
func mapFile(f *os.File, n int) (device.Ptr, error) {
	p, err := unix.MmapPtr(int(f.Fd()), 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return device.Ptr(uintptr(p)), err
}

func unmap(p device.Ptr, n int) {
	if err := unix.MunmapPtr(*(*unsafe.Pointer)(unsafe.Pointer(&p)), uintptr(n)); err != nil {
		panic("spill: munmap: " + err.Error())
	}
}
