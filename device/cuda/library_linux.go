//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"runtime"

	"github.com/ebitengine/purego"
)

const libraryName = "libcuda.so.1"

// loadLibrary loads a shared library and returns how to find its symbols, 0
// for those that it has not.
func loadLibrary(path string) (symbol func(name string) uintptr, err error) {
	runtime.LockOSThread() // the loader keeps what went wrong for the thread that asked
	defer runtime.UnlockOSThread()
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("no NVIDIA driver: %w", err)
	}
	return func(name string) uintptr {
		p, err := purego.Dlsym(lib, name)
		if err != nil {
			return 0
		}
		return p
	}, nil
}

// callLibrary calls a C function. The raw call allocates nothing; purego's
// functions made by RegisterFunc go through reflection.
//
//go:uintptrescapes
func callLibrary(fn uintptr, args ...uintptr) uint32 {
	r, _, _ := purego.SyscallN(fn, args...)
	return uint32(r)
}
