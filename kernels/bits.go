package kernels

import "github.com/gpusql/gpusql/device"

//gpu:layout
type bitsArgs struct {
	Dst, Src     device.Ptr
	DstAt, SrcAt uint64
}

// copyBits writes words that its neighbours share: it runs in one piece.
var copyBits = &device.Kernel[bitsArgs]{Name: "copy_bits", Code: codeCopyBits, Host: copyBitsHost}

// CopyBits copies n bits from bit srcAt of src to bit dstAt of dst; with src 0
// they are ones. Bits of dst before dstAt are kept; the word of the last bit is
// written whole.
func CopyBits(s device.Stream, dst device.Ptr, dstAt int, src device.Ptr, srcAt, n int) error {
	return device.Launch(s, copyBits, n, bitsArgs{dst, src, uint64(dstAt), uint64(srcAt)})
}

func copyBitsHost(a *bitsArgs, lo, hi int) {
	n := uint64(hi)
	dst := device.View[uint64](a.Dst, int((a.DstAt+n+63)/64))
	var src []uint64
	if a.Src != 0 {
		src = device.View[uint64](a.Src, int((a.SrcAt+n+63)/64))
	}
	// word is the 64 source bits from bit i on; what is beyond the end is 0.
	word := func(i uint64) uint64 {
		if src == nil {
			return ^uint64(0)
		}
		w, off := (a.SrcAt+i)/64, (a.SrcAt+i)%64
		v := src[w] >> off
		if off != 0 && w+1 < uint64(len(src)) {
			v |= src[w+1] << (64 - off)
		}
		return v
	}
	for i := uint64(0); i < n; {
		w, off := (a.DstAt+i)/64, (a.DstAt+i)%64
		take := min(64-off, n-i)
		mask := ^uint64(0) >> (64 - take)
		dst[w] = dst[w]&(1<<off-1) | word(i)&mask<<off
		i += take
	}
}
