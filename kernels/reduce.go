package kernels

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gpusql/gpusql/device"
)

// ReduceOp is what Reduce folds by.
type ReduceOp uint8

// The closed set of them.
const (
	ReduceSum ReduceOp = iota // wraps
	ReduceMin
	ReduceMax
)

//gpu:layout
type reduceArgs struct {
	In, Out device.Ptr
}

var reduceKernels = [...]*device.Kernel[reduceArgs]{
	ReduceSum: {Name: "reduce_sum", Code: looping(codeReduceSum), Host: reduceHost(func(a, b int64) int64 { return a + b })},
	ReduceMin: {Name: "reduce_min", Code: looping(codeReduceMin), Host: reduceHost(func(a, b int64) int64 { return min(a, b) })},
	ReduceMax: {Name: "reduce_max", Code: looping(codeReduceMax), Host: reduceHost(func(a, b int64) int64 { return max(a, b) })},
}

// looping is c in a grid that fills the device, and takes its items in rounds.
func looping(c *device.Code) *device.Code {
	l := *c
	l.PerSM = 2048 / c.Block
	return &l
}

// neutral is what folding leaves alone.
func (op ReduceOp) neutral() int64 {
	switch op {
	case ReduceSum:
		return 0
	case ReduceMin:
		return math.MaxInt64
	case ReduceMax:
		return math.MinInt64
	default:
		panic(fmt.Sprintf("kernels: reduce %d", op))
	}
}

// Reduce writes one int64 of the n at in to out: their sum, least or greatest;
// of none, what folding leaves alone.
func Reduce(s device.Stream, op ReduceOp, in device.Ptr, n int, out device.Ptr) error {
	var first [8]byte
	binary.NativeEndian.PutUint64(first[:], uint64(op.neutral()))
	if err := s.Upload(out, first[:]); err != nil {
		return err
	}
	return device.Launch(s, reduceKernels[op], n, reduceArgs{In: in, Out: out})
}

func reduceHost(f func(a, b int64) int64) func(a *reduceArgs, _, n int) {
	return func(a *reduceArgs, _, n int) {
		out := device.View[int64](a.Out, 1)
		v := out[0]
		for _, x := range device.View[int64](a.In, n) {
			v = f(v, x)
		}
		out[0] = v
	}
}
