package spill

import (
	"os"

	"golang.org/x/sys/windows"

	"github.com/gpusql/gpusql/device"
)

// mapFile is the address of a file's first n bytes, which outlives the file's handle.
func mapFile(f *os.File, n int) (device.Ptr, error) {
	m, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READWRITE, uint32(uint64(n)>>32), uint32(n), nil)
	if err != nil {
		return 0, err
	}
	defer windows.CloseHandle(m) //nolint:errcheck // the view keeps it
	p, err := windows.MapViewOfFile(m, windows.FILE_MAP_WRITE, 0, 0, uintptr(n))
	return device.Ptr(p), err
}

func unmap(p device.Ptr, _ int) {
	if err := windows.UnmapViewOfFile(uintptr(p)); err != nil {
		panic("spill: UnmapViewOfFile: " + err.Error())
	}
}
