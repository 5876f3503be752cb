package kernels

import "github.com/gpusql/gpusql/device"

//gpu:layout
type sequenceArgs struct {
	Out         device.Ptr
	First, Step int64
}

var sequence = &device.Kernel[sequenceArgs]{Name: "sequence", Code: codeSequence, Host: func(a *sequenceArgs, lo, hi int) {
	out := device.View[int64](a.Out, hi)
	for i := lo; i < hi; i++ {
		out[i] = a.First + int64(i)*a.Step
	}
}}

// Sequence writes the n integers first, first+step, first+2*step, ...
func Sequence(s device.Stream, out device.Ptr, first, step int64, n int) error {
	return device.Launch(s, sequence, n, sequenceArgs{out, first, step})
}
