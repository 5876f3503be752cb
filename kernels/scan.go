package kernels

import (
	"fmt"

	"github.com/gpusql/gpusql/device"
)

//gpu:layout
type scanArgs struct {
	In, Out device.Ptr
	Total   device.Ptr
	State   device.Ptr // a counter, from 16 on two words a tile
}

var (
	scan4 = &device.Kernel[scanArgs]{Name: "scan4", Host: scanHost[uint32], Steps: scanSteps(codeScan4)}
	scan8 = &device.Kernel[scanArgs]{Name: "scan8", Host: scanHost[uint64], Steps: scanSteps(codeScan8)}
)

// ScanBytes is the scratch that Scan needs for n values.
func ScanBytes(n int) int { return 16 + 16*codeScan8.Grid(max(n, 1), 0) }

// Scan writes the sum of the values before it for each of n unsigned integers
// of width 4 or 8 bytes, and the sum of all, which may be more than one of them
// holds, as a uint64 to total. out may be in. scratch has ScanBytes.
func Scan(s device.Stream, width int, in, out device.Ptr, n int, total, scratch device.Ptr) error {
	if n == 0 {
		return Zero(s, total, 8)
	}
	a := scanArgs{In: in, Out: out, Total: total, State: scratch}
	switch width {
	case 4:
		return device.Launch(s, scan4, n, a)
	case 8:
		return device.Launch(s, scan8, n, a)
	default:
		panic(fmt.Sprintf("kernels: a scan of values of %d bytes", width))
	}
}

// scanSteps clears the state first, unless one block does it all.
func scanSteps(c *device.Code) func(device.Stream, *scanArgs, int) error {
	k := &device.Kernel[scanArgs]{Name: c.Entry, Code: c}
	return func(s device.Stream, a *scanArgs, n int) error {
		if n > c.Items {
			if err := Zero(s, a.State, ScanBytes(n)); err != nil {
				return err
			}
		}
		return device.Launch(s, k, n, *a)
	}
}

func scanHost[T uint32 | uint64](a *scanArgs, _, n int) {
	in, out := device.View[T](a.In, n), device.View[T](a.Out, n)
	var sum uint64
	for i, v := range in {
		out[i] = T(sum)
		sum += uint64(v)
	}
	device.View[uint64](a.Total, 1)[0] = sum
}
