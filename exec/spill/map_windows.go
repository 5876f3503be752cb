package spill

import (
	"golang.org/x/sys/windows"

	"github.com/gpusql/gpusql/device"
)

// Map implements Handle.
func (h handle) Map(n int) (device.Ptr, error) {
	if err := allocate(h.File, n); err != nil {
		return 0, err
	}
	m, err := windows.CreateFileMapping(windows.Handle(h.Fd()), nil, windows.PAGE_READWRITE, uint32(uint64(n)>>32), uint32(n), nil)
	if err != nil {
		return 0, err
	}
	defer windows.CloseHandle(m) //nolint:errcheck // the view keeps it
	p, err := windows.MapViewOfFile(m, windows.FILE_MAP_WRITE, 0, 0, uintptr(n))
	return device.Ptr(p), err
}

// Unmap implements FS.
func (system) Unmap(p device.Ptr, _ int) {
	if err := windows.UnmapViewOfFile(uintptr(p)); err != nil {
		panic("spill: UnmapViewOfFile: " + err.Error())
	}
}
