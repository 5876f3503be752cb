package kernels

import (
	"fmt"

	"github.com/gpusql/gpusql/device"
)

// Missing in an index vector of Gather stands for no row: the result is NULL.
const Missing = ^uint32(0)

// maxRows bounds the views of sources whose length a step is not told.
const maxRows = 1 << 31

type gatherArgs struct {
	Dst, Src Vec
	Idx      device.Ptr
}

func gatherKernel[T any](name string) *device.Kernel[gatherArgs] {
	return &device.Kernel[gatherArgs]{Name: name, Host: gatherHost[T]}
}

var (
	gather1  = gatherKernel[uint8]("gather1")
	gather2  = gatherKernel[uint16]("gather2")
	gather4  = gatherKernel[uint32]("gather4")
	gather8  = gatherKernel[uint64]("gather8")
	gather16 = gatherKernel[View]("gather16")

	gatherMissing1  = &device.Kernel[gatherArgs]{Name: "gather_missing1", Host: gatherMissingHost[uint8]}
	gatherMissing2  = &device.Kernel[gatherArgs]{Name: "gather_missing2", Host: gatherMissingHost[uint16]}
	gatherMissing4  = &device.Kernel[gatherArgs]{Name: "gather_missing4", Host: gatherMissingHost[uint32]}
	gatherMissing8  = &device.Kernel[gatherArgs]{Name: "gather_missing8", Host: gatherMissingHost[uint64]}
	gatherMissing16 = &device.Kernel[gatherArgs]{Name: "gather_missing16", Host: gatherMissingHost[View]}

	gatherValid = &device.Kernel[gatherArgs]{Name: "gather_valid", Host: gatherValidHost}
	gatherDict  = &device.Kernel[gatherArgs]{Name: "gather_dict", Host: gatherDictHost}
)

// Gather sets row i of dst to row idx[i] of src, for n rows. dst has room for
// n values of width bytes, and a bitmap when src has one. dst takes over src's
// dictionary, so that codes are gathered: width is then 4.
func Gather(s device.Stream, width int, dst *Vec, src Vec, idx device.Ptr, n int) error {
	dst.Dict, dst.DictLen = src.Dict, src.DictLen
	if src.Dict != 0 {
		width = 4
	}
	a := gatherArgs{Dst: *dst, Src: src, Idx: idx}
	if src.Valid != 0 {
		if err := device.Launch(s, gatherValid, n, a); err != nil {
			return err
		}
	} else {
		dst.Valid = 0
	}
	switch width {
	case 1:
		return device.Launch(s, gather1, n, a)
	case 2:
		return device.Launch(s, gather2, n, a)
	case 4:
		return device.Launch(s, gather4, n, a)
	case 8:
		return device.Launch(s, gather8, n, a)
	case 16:
		return device.Launch(s, gather16, n, a)
	default:
		panic(fmt.Sprintf("kernels: gather of width %d", width))
	}
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
	switch width {
	case 1:
		return device.Launch(s, gatherMissing1, n, a)
	case 2:
		return device.Launch(s, gatherMissing2, n, a)
	case 4:
		return device.Launch(s, gatherMissing4, n, a)
	case 8:
		return device.Launch(s, gatherMissing8, n, a)
	case 16:
		return device.Launch(s, gatherMissing16, n, a)
	default:
		panic(fmt.Sprintf("kernels: gather of width %d", width))
	}
}

// Flatten sets dst to the n values of src without a dictionary.
func Flatten(s device.Stream, dst Vec, src Vec, n int) error {
	return device.Launch(s, gatherDict, n, gatherArgs{Dst: dst, Src: src})
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

func gatherDictHost(a *gatherArgs, lo, hi int) {
	dst := device.View[View](a.Dst.Data, hi)[lo:hi]
	codes := device.View[uint32](a.Src.Data, hi)[lo:hi]
	dict := device.View[View](a.Src.Dict, int(a.Src.DictLen))
	if len(dict) == 0 { // every value is NULL
		clear(dst)
		return
	}
	for i, c := range codes {
		if int(c) < len(dict) {
			dst[i] = dict[c]
		} else { // under a NULL
			dst[i] = View{}
		}
	}
}
