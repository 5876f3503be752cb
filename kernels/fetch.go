package kernels

import (
	"github.com/gpusql/gpusql/device"
)

//gpu:layout
type fetchArgs struct {
	Dst, Src Vec
	Idx      device.Ptr
	At       uint64
}

func fetchKernel[T any](name string, code *device.Code) *device.Kernel[fetchArgs] {
	return &device.Kernel[fetchArgs]{Name: name, Code: code, Host: fetchHost[T]}
}

// They write bits of a word that other calls write too: in one piece.
var fetch = byWidth[fetchArgs]{fetchKernel[uint8]("fetch1", codeFetch1), fetchKernel[uint16]("fetch2", codeFetch2),
	fetchKernel[uint32]("fetch4", codeFetch4), fetchKernel[uint64]("fetch8", codeFetch8), fetchKernel[View]("fetch16", codeFetch16)}

// Fetch sets rows at to at+n of dst to rows idx of src, without a dictionary.
// It is Gather for a destination that is put together of several sources, in
// order of at; dst has a bitmap.
func Fetch(s device.Stream, width int, dst Vec, at int, src Vec, idx device.Ptr, n int) error {
	a := fetchArgs{Dst: dst, Src: src, Idx: idx, At: uint64(at)}
	return fetch.launch(s, width, n, a)
}

func fetchHost[T any](a *fetchArgs, lo, hi int) {
	at := int(a.At)
	dst := device.View[T](a.Dst.Data, at+hi)[at:]
	valid := device.View[uint64](a.Dst.Valid, (at+hi+63)/64)
	idx := device.View[uint32](a.Idx, hi)
	srcValid := device.View[uint64](a.Src.Valid, maxRows/64)
	src := device.View[T](a.Src.Data, maxRows)
	var codes []uint32
	if a.Src.Dict != 0 {
		codes = device.View[uint32](a.Src.Data, maxRows)
		src = device.View[T](a.Src.Dict, int(a.Src.DictLen))
	}
	for i, r := range idx {
		bit := uint64(1)
		if srcValid != nil {
			bit = srcValid[r>>6] >> (r & 63) & 1
		}
		w, off := (at+i)>>6, (at+i)&63
		valid[w] = valid[w]&^(1<<off) | bit<<off
		if codes != nil {
			if r = codes[r]; int(r) >= len(src) { // under a NULL
				continue
			}
		}
		dst[i] = src[r]
	}
}

func flattenKernel[T any](name string, code *device.Code) *device.Kernel[gatherArgs] {
	return &device.Kernel[gatherArgs]{Name: name, Code: code, Host: func(a *gatherArgs, lo, hi int) {
		dst := device.View[T](a.Dst.Data, hi)[lo:hi]
		codes := device.View[uint32](a.Src.Data, hi)[lo:hi]
		dict := device.View[T](a.Src.Dict, int(a.Src.DictLen))
		var zero T
		for i, c := range codes {
			if int(c) < len(dict) {
				dst[i] = dict[c]
			} else { // under a NULL
				dst[i] = zero
			}
		}
	}}
}

var flattenWidths = byWidth[gatherArgs]{flattenKernel[uint8]("flatten1", codeFlatten1), flattenKernel[uint16]("flatten2", codeFlatten2),
	flattenKernel[uint32]("flatten4", codeFlatten4), flattenKernel[uint64]("flatten8", codeFlatten8), flattenKernel[View]("flatten16", codeFlatten16)}

// Flatten sets dst to the n values of src, of width bytes, without a
// dictionary.
func Flatten(s device.Stream, width int, dst, src Vec, n int) error {
	a := gatherArgs{Dst: dst, Src: src}
	return flattenWidths.launch(s, width, n, a)
}
