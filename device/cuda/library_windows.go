//go:build windows && (amd64 || arm64)

package cuda

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/windows"
)

const libraryName = "nvcuda.dll"

// loadLibrary loads a library and returns how to find its symbols, 0 for those
// that it has not. The system's directory alone is searched for a bare name.
func loadLibrary(path string) (symbol func(name string) uintptr, err error) {
	load := windows.LoadLibrary
	if path == libraryName {
		load = func(name string) (windows.Handle, error) {
			return windows.LoadLibraryEx(name, 0, windows.LOAD_LIBRARY_SEARCH_SYSTEM32)
		}
	}
	lib, err := load(path)
	if err != nil {
		return nil, fmt.Errorf("no NVIDIA driver: %s: %w", path, err)
	}
	return func(name string) uintptr {
		p, err := windows.GetProcAddress(lib, name)
		if err != nil {
			return 0
		}
		return p
	}, nil
}

//go:uintptrescapes
func callLibrary(fn uintptr, args ...uintptr) uint32 {
	r, _, _ := syscall.SyscallN(fn, args...)
	return uint32(r)
}
