package cuda

import (
	"fmt"
	"sync"
	"unsafe"
)

// driver is the library of NVIDIA's driver: the addresses of the functions that
// this package calls, by index. A library is never unloaded: threads of the
// driver may still run in it.
type driver struct {
	path    string
	version int // of CUDA, as the driver counts: 13000 is 13.0
	fns     [numFns]uintptr
	frames  sync.Pool       // of *frame
	fault   func(fn) result // tests: what a call returns instead of being made; nil in production
}

// openDriver loads the library and initializes it. The error is for people: it
// says why there is no GPU.
func openDriver(path string, fault func(fn) result) (*driver, error) {
	symbol, err := loadLibrary(path)
	if err != nil {
		return nil, err
	}
	d := &driver{path: path, fault: fault}
	for f, name := range symbols {
		if d.fns[f] = symbol(name); d.fns[f] == 0 {
			return nil, fmt.Errorf("the driver %s is too old: it has no %s; CUDA %s or newer is needed",
				path, name, formatVersion(minVersion))
		}
	}
	if r := d.call(fnInit, 0); r != success {
		return nil, fmt.Errorf("the driver %s does not start: %w", path, d.errorOf(fnInit, r))
	}
	var v int32
	if r := d.ask(fnDriverGetVersion, uintptr(unsafe.Pointer(&v))); r != success {
		return nil, d.errorOf(fnDriverGetVersion, r)
	}
	d.version = int(v)
	if d.version < minVersion {
		return nil, fmt.Errorf("the driver %s is too old: it is for CUDA %s; %s or newer is needed",
			path, formatVersion(d.version), formatVersion(minVersion))
	}
	return d, nil
}

// minVersion is what the kernels' PTX asks for: 7.8 came with CUDA 11.8, that is
// driver 520.
const minVersion = 11080

// formatVersion is a version of CUDA for people: 12.4.
func formatVersion(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// frame is the arguments of a call, off the stack.
type frame [11]uintptr

// call calls a function of the driver. Its arguments are numbers and addresses
// outside of Go's memory; it allocates nothing, for frames are used again.
func (d *driver) call(f fn, args ...uintptr) result {
	if d.fault != nil {
		if r := d.fault(f); r != success {
			return r
		}
	}
	a, _ := d.frames.Get().(*frame)
	if a == nil {
		a = new(frame)
	}
	n := copy(a[:], args)
	r := result(callLibrary(d.fns[f], a[:n]...))
	d.frames.Put(a)
	return r
}

// ask is call for arguments that point into Go's memory, such as where the
// driver is to put an answer. They are converted to uintptr in the call itself.
//
//go:uintptrescapes
func (d *driver) ask(f fn, args ...uintptr) result { return d.call(f, args...) }

// fn names a function of the driver.
type fn int

const (
	fnInit fn = iota
	fnDriverGetVersion
	fnGetErrorName
	fnGetErrorString
	fnDeviceGetCount
	fnDeviceGet
	fnDeviceGetName
	fnDeviceTotalMem
	fnDeviceGetAttribute
	fnPrimaryCtxRetain
	fnPrimaryCtxRelease
	fnCtxSetCurrent
	fnMemAlloc
	fnMemFree
	fnMemHostAlloc
	fnMemFreeHost
	fnMemHostGetDevicePointer
	fnMemHostRegister
	fnMemHostUnregister
	fnMemcpyHtoDAsync
	fnMemcpyDtoHAsync
	fnStreamCreate
	fnStreamDestroy
	fnStreamSynchronize
	fnStreamWaitEvent
	fnEventCreate
	fnEventDestroy
	fnEventRecord
	fnEventQuery
	fnEventSynchronize
	fnEventElapsedTime
	fnModuleLoadDataEx
	fnModuleUnload
	fnModuleGetFunction
	fnFuncSetAttribute
	fnLaunchKernel
	fnStreamBeginCapture
	fnStreamEndCapture
	fnGraphInstantiate
	fnGraphLaunch
	fnGraphDestroy
	fnGraphExecDestroy
	numFns
)

// symbols are the functions' names in the library. All are of driver 520
// (CUDA 11.8) or older; every one returns a CUresult, 0 for success.
//
// CUdevice is an int; CUdeviceptr a uint64_t; CUcontext, CUstream, CUevent,
// CUmodule, CUfunction, CUgraph and CUgraphExec are pointers.
var symbols = [numFns]string{
	fnInit:             "cuInit",             // (unsigned flags)
	fnDriverGetVersion: "cuDriverGetVersion", // (int *version): 1000*major + 10*minor of CUDA
	fnGetErrorName:     "cuGetErrorName",     // (CUresult, const char **)
	fnGetErrorString:   "cuGetErrorString",   // (CUresult, const char **)

	fnDeviceGetCount:     "cuDeviceGetCount",     // (int *)
	fnDeviceGet:          "cuDeviceGet",          // (CUdevice *, int ordinal)
	fnDeviceGetName:      "cuDeviceGetName",      // (char *name, int len, CUdevice)
	fnDeviceTotalMem:     "cuDeviceTotalMem_v2",  // (size_t *, CUdevice)
	fnDeviceGetAttribute: "cuDeviceGetAttribute", // (int *, CUdevice_attribute, CUdevice)

	fnPrimaryCtxRetain:  "cuDevicePrimaryCtxRetain",     // (CUcontext *, CUdevice)
	fnPrimaryCtxRelease: "cuDevicePrimaryCtxRelease_v2", // (CUdevice)
	fnCtxSetCurrent:     "cuCtxSetCurrent",              // (CUcontext)

	fnMemAlloc:                "cuMemAlloc_v2",                // (CUdeviceptr *, size_t)
	fnMemFree:                 "cuMemFree_v2",                 // (CUdeviceptr)
	fnMemHostAlloc:            "cuMemHostAlloc",               // (void **, size_t, unsigned flags: 1 portable, 2 mapped, 4 write-combined)
	fnMemFreeHost:             "cuMemFreeHost",                // (void *)
	fnMemHostGetDevicePointer: "cuMemHostGetDevicePointer_v2", // (CUdeviceptr *, void *, unsigned 0)
	fnMemHostRegister:         "cuMemHostRegister_v2",         // (void *, size_t, unsigned flags)
	fnMemHostUnregister:       "cuMemHostUnregister",          // (void *)
	fnMemcpyHtoDAsync:         "cuMemcpyHtoDAsync_v2",         // (CUdeviceptr dst, const void *src, size_t, CUstream)
	fnMemcpyDtoHAsync:         "cuMemcpyDtoHAsync_v2",         // (void *dst, CUdeviceptr src, size_t, CUstream)

	fnStreamCreate:      "cuStreamCreate",      // (CUstream *, unsigned flags: 1 non-blocking)
	fnStreamDestroy:     "cuStreamDestroy_v2",  // (CUstream)
	fnStreamSynchronize: "cuStreamSynchronize", // (CUstream)
	fnStreamWaitEvent:   "cuStreamWaitEvent",   // (CUstream, CUevent, unsigned 0)

	fnEventCreate:      "cuEventCreate",      // (CUevent *, unsigned flags: 0, or 2 no timing)
	fnEventDestroy:     "cuEventDestroy_v2",  // (CUevent)
	fnEventRecord:      "cuEventRecord",      // (CUevent, CUstream)
	fnEventQuery:       "cuEventQuery",       // (CUevent): 600 not ready
	fnEventSynchronize: "cuEventSynchronize", // (CUevent)
	fnEventElapsedTime: "cuEventElapsedTime", // (float *ms, CUevent start, CUevent end)

	fnModuleLoadDataEx:  "cuModuleLoadDataEx",  // (CUmodule *, const void *ptx, unsigned n, CUjit_option *, void **values)
	fnModuleUnload:      "cuModuleUnload",      // (CUmodule)
	fnModuleGetFunction: "cuModuleGetFunction", // (CUfunction *, CUmodule, const char *)
	fnFuncSetAttribute:  "cuFuncSetAttribute",  // (CUfunction, 8 max dynamic shared bytes, int)
	// (CUfunction, unsigned grid x y z, unsigned block x y z, unsigned shared, CUstream, void **params, void **extra = NULL)
	fnLaunchKernel: "cuLaunchKernel",

	fnStreamBeginCapture: "cuStreamBeginCapture_v2",     // (CUstream, mode: 1 thread local)
	fnStreamEndCapture:   "cuStreamEndCapture",          // (CUstream, CUgraph *)
	fnGraphInstantiate:   "cuGraphInstantiateWithFlags", // (CUgraphExec *, CUgraph, unsigned long long 0)
	fnGraphLaunch:        "cuGraphLaunch",               // (CUgraphExec, CUstream)
	fnGraphDestroy:       "cuGraphDestroy",              // (CUgraph)
	fnGraphExecDestroy:   "cuGraphExecDestroy",          // (CUgraphExec)
}
