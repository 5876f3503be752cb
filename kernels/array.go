package kernels

import (
	"encoding/binary"

	"github.com/gpusql/gpusql/device"
)

// Array is a run of device memory that grows and keeps its content.
type Array struct {
	buf *device.Buffer
}

// Ptr is the address of the first byte, 0 before the first Grow.
func (a *Array) Ptr() device.Ptr {
	if a.buf == nil {
		return 0
	}
	return a.buf.Ptr()
}

// Cap is the size in bytes.
func (a *Array) Cap() int {
	if a.buf == nil {
		return 0
	}
	return a.buf.Len()
}

// Grow makes room for need bytes and keeps the first used ones. It at least
// doubles, so that appending is linear; new bytes are zero.
func (a *Array) Grow(m device.Allocator, s device.Stream, used, need int) error {
	used, before := min(used, a.Cap()), a.Cap() // an array that is begun late has nothing yet
	if err := a.Extend(m, s, used, need); err != nil || a.Cap() == before {
		return err
	}
	return Zero(s, a.Ptr()+device.Ptr(used), a.Cap()-used)
}

// Grows is how many bytes Grow would allocate to have need.
func (a *Array) Grows(need int) int64 {
	if need <= a.Cap() {
		return 0
	}
	return int64(max(need, 2*a.Cap()))
}

// Extend is Grow, but new bytes may be anything.
func (a *Array) Extend(m device.Allocator, s device.Stream, used, need int) error {
	if need <= a.Cap() {
		return nil
	}
	b, err := m.Alloc(max(need, 2*a.Cap(), 64))
	if err != nil {
		return err
	}
	if used = min(used, a.Cap()); used > 0 {
		if err := Copy(s, b.Ptr(), a.Ptr(), used); err != nil {
			b.Release()
			return err
		}
	}
	a.buf.Release()
	a.buf = b
	return nil
}

// Release gives the memory back.
func (a *Array) Release() {
	a.buf.Release()
	a.buf = nil
}

//gpu:layout
type copyArgs struct{ Dst, Src device.Ptr }

var (
	copyBytes = &device.Kernel[copyArgs]{Name: "copy", Code: codeCopy, Split: 1 << 20, Host: func(a *copyArgs, lo, hi int) {
		copy(device.View[byte](a.Dst, hi)[lo:hi], device.View[byte](a.Src, hi)[lo:hi])
	}}
	zeroBytes = &device.Kernel[copyArgs]{Name: "zero", Code: codeZero, Split: 1 << 20, Host: func(a *copyArgs, lo, hi int) {
		clear(device.View[byte](a.Dst, hi)[lo:hi])
	}}
)

// Copy copies n bytes that do not overlap.
func Copy(s device.Stream, dst, src device.Ptr, n int) error {
	return piecesOf(pieceBytes(s), n, func(lo, hi int) error {
		return device.Launch(s, copyBytes, hi-lo, copyArgs{dst + device.Ptr(lo), src + device.Ptr(lo)})
	})
}

// Zero clears n bytes.
func Zero(s device.Stream, dst device.Ptr, n int) error {
	return piecesOf(pieceBytes(s), n, func(lo, hi int) error {
		return device.Launch(s, zeroBytes, hi-lo, copyArgs{Dst: dst + device.Ptr(lo)})
	})
}

// CopyPart is bytes to copy.
//
//gpu:layout
type CopyPart struct {
	Dst, Src device.Ptr
	Bytes    uint64
}

// copyParts is how many parts a launch copies, and copyFew how many bytes of a
// part a block does.
const (
	copyParts = 32
	copyFew   = 16 << 10
)

//gpu:layout
type partsArgs struct{ Parts [copyParts]CopyPart }

var copySome = &device.Kernel[partsArgs]{Name: "copy_parts", Code: codeCopyParts, Host: func(a *partsArgs, lo, hi int) {
	for _, p := range a.Parts[lo:hi] {
		copy(device.View[byte](p.Dst, int(p.Bytes)), device.View[byte](p.Src, int(p.Bytes)))
	}
}}

// CopyAll copies parts that do not overlap, the small ones together.
func CopyAll(s device.Stream, parts []CopyPart) error {
	var few partsArgs
	n := 0
	for _, p := range parts {
		if p.Bytes > copyFew {
			if err := Copy(s, p.Dst, p.Src, int(p.Bytes)); err != nil {
				return err
			}
			continue
		}
		few.Parts[n] = p
		if n++; n == copyParts {
			if err := device.Launch(s, copySome, n, few); err != nil {
				return err
			}
			n = 0
		}
	}
	return device.Launch(s, copySome, n, few)
}

//gpu:layout
type ownArgs struct {
	Src        Vec
	Base, Size device.Ptr // Size: where the bytes needed are written
}

var (
	ownStrings = &device.Kernel[ownArgs]{Name: "own_strings", Host: ownStringsHost, Steps: ownSteps(codeOwnStrings)}
	longBytes  = &device.Kernel[ownArgs]{Name: "long_bytes", Host: longBytesHost, Steps: ownSteps(codeLongBytes)}
)

// Own replaces the n views at v, flat, by views of copies in the heap. scratch
// is 8 bytes of device memory.
func (h *Heap) Own(s device.Stream, v Vec, n int, scratch device.Ptr) error {
	size, err := LongBytes(s, v, n, scratch)
	if size == 0 || err != nil {
		return err
	}
	base, err := h.Room(size)
	if err != nil {
		return err
	}
	return MoveStrings(s, v, n, base, scratch)
}

// LongBytes is how many bytes the strings among the n views at v have that are
// not in the views themselves. scratch is 8 bytes of device memory.
func LongBytes(s device.Stream, v Vec, n int, scratch device.Ptr) (int, error) {
	if n == 0 {
		return 0, nil
	}
	if err := device.Launch(s, longBytes, n, ownArgs{Src: v, Size: scratch}); err != nil {
		return 0, err
	}
	return readCount(s, scratch)
}

// readCount is the number that a step has written.
func readCount(s device.Stream, at device.Ptr) (int, error) {
	var c [8]byte
	err := s.Download(c[:], at)
	return int(binary.LittleEndian.Uint64(c[:])), err
}

// MoveStrings copies the LongBytes of the n views at v to base, and has the
// views name the copies. scratch is 8 bytes of device memory.
func MoveStrings(s device.Stream, v Vec, n int, base, scratch device.Ptr) error {
	return device.Launch(s, ownStrings, n, ownArgs{Src: v, Base: base, Size: scratch})
}

// ownSteps clears the size first, that blocks add to.
func ownSteps(c *device.Code) func(device.Stream, *ownArgs, int) error {
	k := &device.Kernel[ownArgs]{Name: c.Entry, Code: c}
	return func(s device.Stream, a *ownArgs, n int) error {
		if err := Zero(s, a.Size, 8); err != nil {
			return err
		}
		return device.Launch(s, k, n, *a)
	}
}

func ownStringsHost(a *ownArgs, lo, hi int) {
	data := device.View[View](a.Src.Data, hi)
	valid := device.View[uint64](a.Src.Valid, (hi+63)/64)
	next := a.Base
	for i := range data {
		v := &data[i]
		n := int(uint32(v.Lo))
		if n <= InlineLen {
			continue
		}
		if valid != nil && valid[i>>6]>>(i&63)&1 == 0 {
			*v = View{}
			continue
		}
		copy(device.View[byte](next, n), device.View[byte](device.Ptr(v.Hi), n))
		v.Hi = uint64(next)
		next += device.Ptr(n)
	}
}

func longBytesHost(a *ownArgs, lo, hi int) {
	valid := device.View[uint64](a.Src.Valid, (hi+63)/64)
	data := device.View[View](a.Src.Data, hi)
	var sum uint64
	for i := range data {
		if n := uint32(data[i].Lo); n > InlineLen && (valid == nil || valid[i>>6]>>(i&63)&1 != 0) {
			sum += uint64(n)
		}
	}
	device.View[uint64](a.Size, 1)[0] = sum
}
