package kernels

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// directGroups are the group numbers of one integer key, by value:
//
//	slots[0]              number+1 of NULL
//	slots[1+key-base]     number+1 of key
//
// It grows with the keys' range, until that is too wide for the number of
// groups: then a hash table takes over, for good.
type directGroups struct {
	off   bool
	slots *device.Buffer
	base  int64
	span  uint64
}

// A slot is 4 bytes, and a group of a hash table costs 2 to 4 slots of 16 or
// 24: a direct table may have directSpread slots for a group, and directSpan
// in any case.
const (
	directSpread = 16
	directSpan   = 1 << 16
)

type directArgs struct {
	Key    Vec
	IDs    device.Ptr
	Slots  device.Ptr
	Base   int64
	Span   uint64
	Keys   device.Ptr // packed, by number
	Stride uint32     // words of a packed key
	Bits   uint32
	Count  device.Ptr
}

var directFind = [sqltype.NumPhys]*device.Kernel[directArgs]{
	sqltype.PhysI8:  {Name: "group_direct_i8", Host: directFindHost[int8, uint8]},
	sqltype.PhysI16: {Name: "group_direct_i16", Host: directFindHost[int16, uint16]},
	sqltype.PhysI32: {Name: "group_direct_i32", Host: directFindHost[int32, uint32]},
	sqltype.PhysI64: {Name: "group_direct_i64", Host: directFindHost[int64, uint64]},
}

// findDirect is Find by value; false when the keys are not dense.
func (g *Groups) findDirect(s device.Stream, key Vec, n int, ids device.Ptr) (bool, error) {
	p := g.layout.Phys[0]
	low, high, err := keyRange(s, key, p, n, key.Valid, g.ctl.Ptr()+16)
	if err != nil {
		return false, err
	}
	if low > high {
		low, high = g.direct.base, g.direct.base // all are NULL
	}
	if ok, err := g.cover(s, low, high, n); !ok || err != nil {
		return false, err
	}
	w := g.layout.Width()
	if err := g.packed.Extend(g.mem, s, g.n*w, (g.n+n)*w); err != nil {
		return false, err
	}
	a := directArgs{Key: key, IDs: ids, Slots: g.direct.slots.Ptr(), Base: g.direct.base, Span: g.direct.span,
		Keys: g.packed.Ptr(), Stride: uint32(w / 8), Bits: uint32(8 * p.Width()), Count: g.ctl.Ptr()}
	if err := device.Launch(s, directFind[p], n, a); err != nil {
		return false, err
	}
	return true, g.settle(s)
}

// cover makes the table reach from low to high. When that is too far it gives
// the table up, and makes the hash table of the groups so far.
func (g *Groups) cover(s device.Stream, low, high int64, n int) (bool, error) {
	d := &g.direct
	if d.slots != nil {
		if low >= d.base && uint64(high)-uint64(d.base) < d.span {
			return true, nil
		}
		low, high = min(low, d.base), max(high, d.base+int64(d.span-1))
	}
	span, most := uint64(high)-uint64(low), uint64(max(directSpan, directSpread*(g.n+n)))
	if span >= most {
		return false, g.leaveDirect(s)
	}
	span++
	if d.slots != nil { // double at least, on the side that grew
		more := min(most, 2*d.span)
		switch extra := int64(more) - int64(span); {
		case extra <= 0:
		case low < d.base && low-extra < low:
			low, span = low-extra, more
		case low >= d.base && high+extra > high:
			span = more
		}
	}
	b, err := g.mem.Alloc(int(span+1) * 4)
	if err != nil {
		return false, err
	}
	if err := Zero(s, b.Ptr(), int(span+1)*4); err != nil {
		b.Release()
		return false, err
	}
	if d.slots != nil {
		err := Copy(s, b.Ptr(), d.slots.Ptr(), 4)
		if err == nil {
			err = Copy(s, b.Ptr()+device.Ptr(4*(1+uint64(d.base)-uint64(low))), d.slots.Ptr()+4, int(d.span)*4)
		}
		if err != nil {
			b.Release()
			return false, err
		}
		d.slots.Release()
	}
	d.slots, d.base, d.span = b, low, span
	return true, nil
}

// leaveDirect goes over to hashing.
func (g *Groups) leaveDirect(s device.Stream) error {
	g.direct.off = true
	g.direct.slots.Release()
	g.direct.slots = nil
	if g.n == 0 {
		return nil
	}
	if err := g.hashes.Extend(g.mem, s, 0, g.n*8); err != nil {
		return err
	}
	return Pieces(s, g.n, func(lo, hi int) error {
		keys, hashes := g.packed.Ptr()+device.Ptr(lo*g.layout.Width()), g.hashes.Ptr()+device.Ptr(lo*8)
		return g.layout.Hash(s, nil, keys, hi-lo, hashes, false)
	})
}

func directFindHost[T int8 | int16 | int32 | int64, U uint8 | uint16 | uint32 | uint64](a *directArgs, lo, hi int) {
	keys := device.View[T](a.Key.Data, hi)
	ids := device.View[uint32](a.IDs, hi)[:len(keys)]
	slots := device.View[uint32](a.Slots, int(a.Span)+1)
	packed := device.View[uint64](a.Keys, maxRows)
	count := &device.View[uint64](a.Count, 1)[0]
	valid := device.View[uint64](a.Key.Valid, (hi+63)/64)
	stride := int(a.Stride)
	n := uint32(*count)
	for i, v := range keys {
		at, null := uint64(int64(v)-a.Base)+1, false
		if valid != nil && valid[i>>6]>>(i&63)&1 == 0 {
			at, null = 0, true
		}
		id := slots[at]
		if id == 0 {
			word, bit := uint64(U(v)), uint64(0)
			if null {
				word, bit = 0, 1
			}
			if stride == 2 {
				packed[2*n], packed[2*n+1] = word, bit
			} else {
				packed[n] = word | bit<<a.Bits
			}
			n++
			id = n
			slots[at] = id
		}
		ids[i] = id - 1
	}
	*count = uint64(n)
}
