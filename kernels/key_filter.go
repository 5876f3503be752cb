package kernels

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// KeyFilter says which integers are among a set of keys: a bit for each number
// from the lowest key to the highest. Once built it does not change.
type KeyFilter struct {
	low  int64
	span uint64
	bits *device.Buffer
}

// A filter may have filterSpan bits in any case, filterSpread for a key, and
// never more than filterMost: what does not stay in a cache is no help.
const (
	filterSpan   = 8 << 20
	filterSpread = 512
	filterMost   = 64 << 20
)

type keyFilterArgs struct {
	Key   Vec
	Idx   device.Ptr // rows, 0: all
	Bits  device.Ptr
	Low   int64
	Span  uint64
	Out   device.Ptr
	Count device.Ptr
}

var (
	keyFilterSet  = keyFilterKernels("key_filter_set", keyFilterSetHost[int8], keyFilterSetHost[int16], keyFilterSetHost[int32], keyFilterSetHost[int64])
	keyFilterPick = keyFilterKernels("key_filter_pick", keyFilterPickHost[int8], keyFilterPickHost[int16], keyFilterPickHost[int32], keyFilterPickHost[int64])
)

func keyFilterKernels(name string, i8, i16, i32, i64 func(*keyFilterArgs, int, int)) [sqltype.NumPhys]*device.Kernel[keyFilterArgs] {
	return [sqltype.NumPhys]*device.Kernel[keyFilterArgs]{
		sqltype.PhysI8:  {Name: name, Host: i8},
		sqltype.PhysI16: {Name: name, Host: i16},
		sqltype.PhysI32: {Name: name, Host: i32},
		sqltype.PhysI64: {Name: name, Host: i64},
	}
}

// CanFilterKeys reports a form that has filters.
func CanFilterKeys(p sqltype.Phys) bool { return keyFilterSet[p] != nil }

// NewKeyFilter makes a filter of n keys, a flat column; NULLs are left out. It
// is nil when the keys are too far apart.
func NewKeyFilter(m device.Allocator, s device.Stream, key Vec, p sqltype.Phys, n int) (*KeyFilter, error) {
	if !s.Device().Traits().HostBytes {
		return nil, nil // a GPU asks the join's own table as fast
	}
	scratch, err := m.Alloc(64)
	if err != nil {
		return nil, err
	}
	defer scratch.Release()
	low, high, err := keyRange(s, key, p, n, key.Valid, scratch.Ptr())
	if err != nil {
		return nil, err
	}
	if low > high { // no key at all: no number is among them
		low, high = 0, 0
	}
	span := uint64(high) - uint64(low)
	if span >= min(filterMost, max(filterSpan, filterSpread*uint64(n))) {
		return nil, nil
	}
	f := &KeyFilter{low: low, span: span + 1}
	if f.bits, err = m.Alloc(BitmapBytes(int(f.span))); err != nil {
		return nil, err
	}
	if err = Zero(s, f.bits.Ptr(), BitmapBytes(int(f.span))); err == nil {
		err = Pieces(s, n, func(lo, hi int) error {
			a := keyFilterArgs{Key: key.from(lo, p.Width()), Bits: f.bits.Ptr(), Low: low, Span: f.span}
			return device.Launch(s, keyFilterSet[p], hi-lo, a)
		})
	}
	if err != nil {
		f.Release()
		return nil, err
	}
	return f, nil
}

// Pick writes to out, which has SelectBytes(n), those of the n rows at idx (0:
// rows 0 to n-1) whose key is in the filter, and returns how many they are. A
// NULL is not. out may be idx.
func (f *KeyFilter) Pick(s device.Stream, key Vec, p sqltype.Phys, idx device.Ptr, n int, out device.Ptr) (int, error) {
	a := keyFilterArgs{Key: key, Idx: idx, Bits: f.bits.Ptr(), Low: f.low, Span: f.span, Out: out, Count: out + device.Ptr(SelectBytes(n)-8)}
	if err := device.Launch(s, keyFilterPick[p], n, a); err != nil {
		return 0, err
	}
	return readCount(s, a.Count)
}

// Release gives the memory back.
func (f *KeyFilter) Release() {
	if f != nil {
		f.bits.Release()
	}
}

func keyFilterSetHost[T int8 | int16 | int32 | int64](a *keyFilterArgs, lo, hi int) {
	keys := device.View[T](a.Key.Data, hi)
	bits := device.View[uint64](a.Bits, int(a.Span+63)/64)
	valid := device.View[uint64](a.Key.Valid, (hi+63)/64)
	for i, k := range keys {
		if valid == nil || valid[i>>6]>>(i&63)&1 != 0 {
			d := uint64(int64(k) - a.Low)
			bits[d>>6] |= 1 << (d & 63)
		}
	}
}

func keyFilterPickHost[T int8 | int16 | int32 | int64](a *keyFilterArgs, lo, hi int) {
	bits := device.View[uint64](a.Bits, int(a.Span+63)/64)
	valid := device.View[uint64](a.Key.Valid, maxRows/64)
	out := device.View[uint32](a.Out, hi)
	low, span := a.Low, a.Span
	k := 0
	if a.Idx == 0 {
		for i, key := range device.View[T](a.Key.Data, hi) {
			out[k] = uint32(i)
			d := uint64(int64(key) - low)
			if d >= span || valid != nil && valid[i>>6]>>(i&63)&1 == 0 {
				continue
			}
			k += int(bits[d>>6] >> (d & 63) & 1)
		}
	} else {
		keys := device.View[T](a.Key.Data, maxRows)
		for _, i := range device.View[uint32](a.Idx, hi) {
			out[k] = i
			d := uint64(int64(keys[i]) - low)
			if d >= span || valid != nil && valid[i>>6]>>(i&63)&1 == 0 {
				continue
			}
			k += int(bits[d>>6] >> (d & 63) & 1)
		}
	}
	device.View[uint64](a.Count, 1)[0] = uint64(k)
}
