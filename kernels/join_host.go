package kernels

import (
	"math"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

var (
	joinPairs = &device.Kernel[joinArgs]{Name: "join_pairs", Steps: pairSteps, Host: joinPairsHost}

	joinBuildWord    = &device.Kernel[joinArgs]{Name: "join_build_word", Steps: joinSteps(codeJoinBuildWord, sqltype.PhysI64), Host: joinBuildHost[uint64]}
	joinBuildPair    = &device.Kernel[joinArgs]{Name: "join_build_pair", Steps: joinSteps(codeJoinBuildPair, sqltype.PhysI64), Host: joinBuildHost[[2]uint64]}
	joinBuildColumns = &device.Kernel[joinArgs]{Name: "join_build_columns", Steps: joinSteps(codeJoinBuildColumns, sqltype.PhysI64), Host: joinBuildColumnsHost}
	joinProbeWord    = &device.Kernel[joinArgs]{Name: "join_probe_word", Steps: joinSteps(codeJoinProbeWord, sqltype.PhysI64), Host: joinProbeHost[uint64]}
	joinProbePair    = &device.Kernel[joinArgs]{Name: "join_probe_pair", Steps: joinSteps(codeJoinProbePair, sqltype.PhysI64), Host: joinProbeHost[[2]uint64]}
	joinProbeColumns = &device.Kernel[joinArgs]{Name: "join_probe_columns", Steps: joinSteps(codeJoinProbeColumns, sqltype.PhysI64), Host: joinProbeColumnsHost}

	joinBuildKernels = map[KeyForm]*device.Kernel[joinArgs]{KeyWord: joinBuildWord, KeyPair: joinBuildPair, KeyColumns: joinBuildColumns}
	joinProbeKernels = map[KeyForm]*device.Kernel[joinArgs]{KeyWord: joinProbeWord, KeyPair: joinProbePair, KeyColumns: joinProbeColumns}

	rangeKernels       = joinIntKernels("join_range", rangeSteps, keyRangeHost[int8], keyRangeHost[int16], keyRangeHost[int32], keyRangeHost[int64])
	directBuildKernels = joinIntKernels("join_build_direct", joinForm(codeJoinBuildDirect), directBuildHost[int8], directBuildHost[int16], directBuildHost[int32], directBuildHost[int64])
	directProbeKernels = joinIntKernels("join_probe_direct", joinForm(codeJoinProbeDirect), directProbeHost[int8], directProbeHost[int16], directProbeHost[int32], directProbeHost[int64])
)

// joinForm makes the steps of a form.
func joinForm(c *device.Code) func(sqltype.Phys) func(device.Stream, *joinArgs, int) error {
	return func(p sqltype.Phys) func(device.Stream, *joinArgs, int) error { return joinSteps(c, p) }
}

func joinIntKernels(name string, steps func(sqltype.Phys) func(device.Stream, *joinArgs, int) error, i8, i16, i32, i64 func(*joinArgs, int, int)) [sqltype.NumPhys]*device.Kernel[joinArgs] {
	return [sqltype.NumPhys]*device.Kernel[joinArgs]{
		sqltype.PhysI8:  {Name: name, Steps: steps(sqltype.PhysI8), Host: i8},
		sqltype.PhysI16: {Name: name, Steps: steps(sqltype.PhysI16), Host: i16},
		sqltype.PhysI32: {Name: name, Steps: steps(sqltype.PhysI32), Host: i32},
		sqltype.PhysI64: {Name: name, Steps: steps(sqltype.PhysI64), Host: i64},
	}
}

// may says which rows take part.
func (a *joinArgs) may(n int) []uint64 { return device.View[uint64](a.Skip, (n+63)/64) }

func keyRangeHost[T int8 | int16 | int32 | int64](a *joinArgs, lo, hi int) {
	keys := device.View[T](a.Key.Data, hi)
	may := a.may(hi)
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i, k := range keys {
		if may == nil || may[i>>6]>>(i&63)&1 != 0 {
			low, high = min(low, int64(k)), max(high, int64(k))
		}
	}
	out := device.View[int64](a.Low, 2)
	out[0], out[1] = low, high
}

func directBuildHost[T int8 | int16 | int32 | int64](a *joinArgs, lo, hi int) {
	keys := device.View[T](a.Key.Data, hi)
	slots := device.View[uint32](a.Slots, int(a.Span))
	next := device.View[uint32](a.Next, hi)
	may := a.may(hi)
	for i := hi - 1; i >= 0; i-- {
		next[i] = 0
		if may != nil && may[i>>6]>>(i&63)&1 == 0 {
			continue
		}
		s := &slots[int64(keys[i])-a.Base]
		next[i] = *s
		*s = a.First + uint32(i) + 1
	}
}

func directProbeHost[T int8 | int16 | int32 | int64](a *joinArgs, lo, hi int) {
	keys := device.View[T](a.Key.Data, hi)
	heads := device.View[uint32](a.Heads, hi)[:len(keys)]
	slots := device.View[uint32](a.Slots, int(a.Span))
	base := a.Base
	if may := a.may(hi); may != nil {
		for i, k := range keys {
			heads[i] = 0
			if d := uint64(int64(k) - base); d < uint64(len(slots)) && may[i>>6]>>(i&63)&1 != 0 {
				heads[i] = slots[d]
			}
		}
		return
	}
	for i, k := range keys {
		h := uint32(0)
		if d := uint64(int64(k) - base); d < uint64(len(slots)) {
			h = slots[d]
		}
		heads[i] = h
	}
}

func joinBuildHost[K packed](a *joinArgs, lo, hi int) {
	keys := device.View[K](a.Keys, hi)
	hashes := device.View[uint64](a.Hashes, hi)
	slots := device.View[slot[K]](a.Slots, int(a.Mask)+1)
	next := device.View[uint32](a.Next, hi)
	may := a.may(hi)
	for i := hi - 1; i >= 0; i-- {
		if may != nil && may[i>>6]>>(i&63)&1 == 0 {
			continue
		}
		p := hashes[i] & a.Mask
		for slots[p].id != 0 && slots[p].key != keys[i] {
			p = (p + 1) & a.Mask
		}
		next[i] = uint32(slots[p].id)
		slots[p] = slot[K]{key: keys[i], id: uint64(a.First) + uint64(i) + 1}
	}
}

func joinBuildColumnsHost(a *joinArgs, lo, hi int) {
	hashes := device.View[uint64](a.Hashes, hi)
	slots := device.View[uint64](a.Slots, int(a.Mask)+1)
	next := device.View[uint32](a.Next, hi)
	may := a.may(hi)
	for i := hi - 1; i >= 0; i-- {
		if may != nil && may[i>>6]>>(i&63)&1 == 0 {
			continue
		}
		tag := hashes[i] &^ (1<<32 - 1)
		p := hashes[i] & a.Mask
		for slots[p] != 0 && (slots[p]&^(1<<32-1) != tag || !rowIsGroup(a.Columns, i, int(uint32(slots[p])-1))) {
			p = (p + 1) & a.Mask
		}
		next[i] = uint32(slots[p])
		slots[p] = tag | (uint64(a.First) + uint64(i) + 1)
	}
}

func joinProbeHost[K packed](a *joinArgs, lo, hi int) {
	keys := device.View[K](a.Keys, hi)
	hashes := device.View[uint64](a.Hashes, hi)[:len(keys)]
	heads := device.View[uint32](a.Heads, hi)[:len(keys)]
	slots := device.View[slot[K]](a.Slots, int(a.Mask)+1)
	may := a.may(hi)
	for i, key := range keys {
		p := hashes[i] & a.Mask
		for slots[p].id != 0 && slots[p].key != key {
			p = (p + 1) & a.Mask
		}
		heads[i] = uint32(slots[p].id)
		if may != nil && may[i>>6]>>(i&63)&1 == 0 {
			heads[i] = 0
		}
	}
}

func joinProbeColumnsHost(a *joinArgs, lo, hi int) {
	hashes := device.View[uint64](a.Hashes, hi)
	heads := device.View[uint32](a.Heads, hi)[:len(hashes)]
	slots := device.View[uint64](a.Slots, int(a.Mask)+1)
	may := a.may(hi)
	for i, h := range hashes {
		heads[i] = 0
		if may != nil && may[i>>6]>>(i&63)&1 == 0 {
			continue
		}
		tag := h &^ (1<<32 - 1)
		p := h & a.Mask
		for slots[p] != 0 && (slots[p]&^(1<<32-1) != tag || !rowIsGroup(a.Columns, i, int(uint32(slots[p])-1))) {
			p = (p + 1) & a.Mask
		}
		heads[i] = uint32(slots[p])
	}
}
