package cuda

import (
	"bytes"
	"fmt"
	"unsafe"
)

// Info describes a GPU.
type Info struct {
	Name    string // "cuda:0"
	Model   string // "NVIDIA H200"
	Memory  int64  // bytes
	Compute string // its compute capability: "9.0"
	Driver  string // "CUDA 13.0"
	Reason  string // why it cannot be used; "": it can
}

// List is the GPUs of the machine. Its error says why there are none.
func List(library string) ([]Info, error) {
	if library == "" {
		library = libraryName
	}
	d, err := openDriver(library, nil)
	if err != nil {
		return nil, err
	}
	var n int32
	if r := d.ask(fnDeviceGetCount, uintptr(unsafe.Pointer(&n))); r != success {
		return nil, d.errorOf(fnDeviceGetCount, r)
	}
	all := make([]Info, n)
	for i := range all {
		if all[i], _, err = d.describe(i); err != nil {
			return nil, err
		}
	}
	if n == 0 {
		return nil, fmt.Errorf("the driver %s sees no GPU", library)
	}
	return all, nil
}

// Attributes of a GPU, by the driver's numbers.
const (
	attrMultiprocessors = 16
	attrComputeMode     = 20
	attrComputeMajor    = 75
	attrComputeMinor    = 76
	attrSharedOptin     = 97
)

// computeProhibited is the mode of a GPU that its administrator has closed.
const computeProhibited = 2

// minCompute is the compute capability that the kernels' PTX is for.
const minCompute = 8

// describe is the GPU of that ordinal and its handle.
func (d *driver) describe(ordinal int) (Info, int32, error) {
	var dev int32
	if r := d.ask(fnDeviceGet, uintptr(unsafe.Pointer(&dev)), uintptr(ordinal)); r != success {
		return Info{}, 0, fmt.Errorf("there is no GPU %d: %w", ordinal, d.errorOf(fnDeviceGet, r))
	}
	var name [256]byte
	var memory uint64
	if r := d.ask(fnDeviceGetName, uintptr(unsafe.Pointer(&name)), uintptr(len(name)), uintptr(dev)); r != success {
		return Info{}, 0, d.errorOf(fnDeviceGetName, r)
	}
	if r := d.ask(fnDeviceTotalMem, uintptr(unsafe.Pointer(&memory)), uintptr(dev)); r != success {
		return Info{}, 0, d.errorOf(fnDeviceTotalMem, r)
	}
	model, _, _ := bytes.Cut(name[:], []byte{0})
	major, minor := d.attribute(dev, attrComputeMajor), d.attribute(dev, attrComputeMinor)
	info := Info{
		Name:    fmt.Sprintf("cuda:%d", ordinal),
		Model:   string(model),
		Memory:  int64(memory),
		Compute: fmt.Sprintf("%d.%d", major, minor),
		Driver:  "CUDA " + formatVersion(d.version),
	}
	switch {
	case major < minCompute:
		info.Reason = fmt.Sprintf("its compute capability is %s; %d.0 or newer is needed", info.Compute, minCompute)
	case d.attribute(dev, attrComputeMode) == computeProhibited:
		info.Reason = "its compute mode is prohibited"
	}
	return info, dev, nil
}

// attribute is a number of a GPU, 0 when the driver does not know it.
func (d *driver) attribute(dev int32, attr uintptr) int {
	var v int32
	if d.ask(fnDeviceGetAttribute, uintptr(unsafe.Pointer(&v)), attr, uintptr(dev)) != success {
		return 0
	}
	return int(v)
}
