//go:build !((linux || windows) && (amd64 || arm64))

package cuda

import (
	"fmt"
	"runtime"
)

const libraryName = "libcuda"

func loadLibrary(string) (symbol func(name string) uintptr, err error) {
	return nil, fmt.Errorf("no NVIDIA driver: CUDA does not exist for %s on %s", runtime.GOOS, runtime.GOARCH)
}

// callLibrary is not reached: no library was loaded.
func callLibrary(uintptr, ...uintptr) uint32 { return uint32(errNotInitialized) }
