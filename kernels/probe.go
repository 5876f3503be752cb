package kernels

import (
	"encoding/binary"
	"fmt"

	"github.com/gpusql/gpusql/device"
)

// ProbeArgs is what the probing steps take.
//
//gpu:layout
type ProbeArgs struct {
	Out    device.Ptr // n uint64
	Factor uint64
	Add    uint64
	Status device.Ptr
	Code   device.StatusCode
	_      uint32
}

// ProbeFill writes i*Factor + Add for item i.
var ProbeFill = &device.Kernel[ProbeArgs]{Name: "probe_fill", Split: 1 << 16, Code: codeProbeFill,
	Host: func(a *ProbeArgs, lo, hi int) {
		out := device.View[uint64](a.Out, hi)
		for i := lo; i < hi; i++ {
			out[i] = uint64(i)*a.Factor + a.Add
		}
	}}

// ProbeFail fails with Code and Add: the canary, with which a test asks whether
// what it runs comes to a device's kernels at all.
var ProbeFail = &device.Kernel[ProbeArgs]{Name: "probe_fail", Code: codeProbeFail,
	Host: func(a *ProbeArgs, _, hi int) {
		panic(&device.StatusError{Device: "cpu", Status: device.Status{Code: a.Code, Detail: [3]uint64{a.Add, uint64(hi)}}})
	}}

// Probe asks the device for a small computation, and tells a device that cannot
// run this program's kernels, or runs them wrongly, from one that can.
func Probe(s device.Stream) error {
	const n = 1025
	b, err := device.Scratch(s, 8*n)
	if err != nil {
		return err
	}
	defer b.Release()
	a := ProbeArgs{Out: b.Ptr(), Factor: hashK0, Add: hashK1, Status: s.Status()}
	if err := device.Launch(s, ProbeFill, n, a); err != nil {
		return err
	}
	out := make([]byte, 8*n)
	if err := s.Download(out, b.Ptr()); err != nil {
		return err
	}
	for i := range uint64(n) {
		if got, want := binary.NativeEndian.Uint64(out[8*i:]), i*a.Factor+a.Add; got != want {
			return fmt.Errorf("device: %s computes wrongly: item %d of the probe is %#x and not %#x", s.Device().Name(), i, got, want)
		}
	}
	return nil
}
