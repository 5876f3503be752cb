package kernels

import (
	"fmt"
	"math/bits"

	"github.com/gpusql/gpusql/device"
)

// Missing in an index vector of Gather stands for no row: the result is NULL.
const Missing = ^uint32(0)

// maxRows bounds the views of sources whose length a step is not told.
const maxRows = 1 << 31

//gpu:layout
type gatherArgs struct {
	Dst, Src Vec
	Idx      device.Ptr
}

// byWidth is a step's kernels for values of 1, 2, 4, 8 and 16 bytes.
type byWidth[A any] [5]*device.Kernel[A]

// launch launches the kernel for values of width bytes.
func (k *byWidth[A]) launch(s device.Stream, width, n int, a A) error {
	at := bits.TrailingZeros(uint(width))
	if bits.OnesCount(uint(width)) != 1 || at >= len(k) {
		panic(fmt.Sprintf("kernels: values of %d bytes", width))
	}
	return device.Launch(s, k[at], n, a)
}

func gatherKernel[T any](name string, code *device.Code) *device.Kernel[gatherArgs] {
	return &device.Kernel[gatherArgs]{Name: name, Code: code, Host: gatherHost[T]}
}

func gatherMissingKernel[T any](name string, code *device.Code) *device.Kernel[gatherArgs] {
	return &device.Kernel[gatherArgs]{Name: name, Code: code, Host: gatherMissingHost[T]}
}

var (
	gather = byWidth[gatherArgs]{gatherKernel[uint8]("gather1", codeGather1), gatherKernel[uint16]("gather2", codeGather2),
		gatherKernel[uint32]("gather4", codeGather4), gatherKernel[uint64]("gather8", codeGather8), gatherKernel[View]("gather16", codeGather16)}
	gatherMissing = byWidth[gatherArgs]{gatherMissingKernel[uint8]("gather_missing1", codeGatherMissing1), gatherMissingKernel[uint16]("gather_missing2", codeGatherMissing2),
		gatherMissingKernel[uint32]("gather_missing4", codeGatherMissing4), gatherMissingKernel[uint64]("gather_missing8", codeGatherMissing8), gatherMissingKernel[View]("gather_missing16", codeGatherMissing16)}

	gatherValid = &device.Kernel[gatherArgs]{Name: "gather_valid", Code: codeGatherValid, Host: gatherValidHost}
)

// Gather sets row i of dst to row idx[i] of src, for n rows. dst has room for
// n values of width bytes, and a bitmap when src has one. dst takes over src's
// dictionary, so that codes are gathered: width is then 4.
func Gather(s device.Stream, width int, dst *Vec, src Vec, idx device.Ptr, n int) error {
	dst.Dict, dst.DictLen = src.Dict, src.DictLen
	if src.Dict != 0 {
		width = 4
	}
	if src.Valid == 0 {
		dst.Valid = 0
	}
	return Pieces(s, n, func(lo, hi int) error {
		a := gatherArgs{Dst: dst.from(lo, width), Src: src, Idx: idx + device.Ptr(4*lo)}
		if src.Valid != 0 {
			if err := device.Launch(s, gatherValid, hi-lo, a); err != nil {
				return err
			}
		}
		return gather.launch(s, width, hi-lo, a)
	})
}

// GatherMissing is Gather where idx may hold Missing; dst has a bitmap.
func GatherMissing(s device.Stream, width int, dst *Vec, src Vec, idx device.Ptr, n int) error {
	dst.Dict, dst.DictLen = src.Dict, src.DictLen
	if src.Dict != 0 {
		width = 4
	}
	a := gatherArgs{Dst: *dst, Src: src, Idx: idx}
	if err := device.Launch(s, gatherValid, n, a); err != nil {
		return err
	}
	return gatherMissing.launch(s, width, n, a)
}

func gatherHost[T any](a *gatherArgs, lo, hi int) {
	dst := device.View[T](a.Dst.Data, hi)[lo:hi]
	idx := device.View[uint32](a.Idx, hi)[lo:hi]
	src := device.View[T](a.Src.Data, maxRows)
	dst = dst[:len(idx)]
	for i, r := range idx {
		dst[i] = src[r]
	}
}

func gatherMissingHost[T any](a *gatherArgs, lo, hi int) {
	var zero T
	dst := device.View[T](a.Dst.Data, hi)[lo:hi]
	idx := device.View[uint32](a.Idx, hi)[lo:hi]
	src := device.View[T](a.Src.Data, maxRows)
	dst = dst[:len(idx)]
	for i, r := range idx {
		if r == Missing {
			dst[i] = zero
		} else {
			dst[i] = src[r]
		}
	}
}

// gatherValidHost writes whole words; it runs in one piece.
func gatherValidHost(a *gatherArgs, lo, hi int) {
	idx := device.View[uint32](a.Idx, hi)
	dst := device.View[uint64](a.Dst.Valid, (hi+63)/64)
	src := device.View[uint64](a.Src.Valid, maxRows/64)
	for w := range dst {
		var word uint64
		part := idx[w*64 : min(w*64+64, hi)]
		for i, r := range part {
			if r == Missing {
				continue
			}
			bit := uint64(1)
			if src != nil {
				bit = src[r>>6] >> (r & 63) & 1
			}
			word |= bit << i
		}
		dst[w] = word
	}
}
