package cuda

import (
	"fmt"
	"unsafe"
)

// result is what a function of the driver returns, a CUresult.
type result uint32

// The results that mean something to this package.
const (
	success           result = 0
	errOutOfMemory    result = 2
	errNotInitialized result = 3
	errNoDevice       result = 100
	errAlreadyPinned  result = 712
	notReady          result = 600
)

// lost reports results after which nothing in the context can be relied on: the
// driver returns them from every later call too.
func (r result) lost() bool {
	switch r {
	case 4, 201, 709, // the driver or the context is gone: somebody reset it
		214, 220, 226, // memory or link errors that could not be corrected
		700, 702, 710, 714, 715, 716, 717, 718, 719, 721, // what a kernel can do wrong
		999: // unknown to the driver
		return true
	}
	return false
}

// callError is a failure of a call to the driver.
type callError struct {
	fn     fn
	result result
	text   string // "CUDA_ERROR_NOT_READY: device not ready"
}

func (e *callError) Error() string {
	return fmt.Sprintf("%s: %s (%d)", symbols[e.fn], e.text, uint32(e.result))
}

// errorOf describes a result as the driver does.
func (d *driver) errorOf(f fn, r result) error {
	name, about := d.resultText(fnGetErrorName, r), d.resultText(fnGetErrorString, r)
	return &callError{fn: f, result: r, text: name + ": " + about}
}

func (d *driver) resultText(f fn, r result) string {
	var p unsafe.Pointer
	if callLibrary(d.fns[f], uintptr(r), uintptr(unsafe.Pointer(&p))) != 0 || p == nil {
		return "unknown"
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
