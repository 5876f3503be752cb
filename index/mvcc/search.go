package mvcc

import (
	"cmp"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

// target is what is looked for: a key, by address and by its first word, and a row.
type target struct {
	word uint64
	key  device.Ptr
	row  uint64
}

// target is key i of some keys, with a row.
func (f *form) target(keys device.Ptr, i int, row uint64) target {
	p := f.keyAt(keys, i)
	if f.kind == narrow {
		return target{uint64(*(*uint32)(pointer(p))), p, row}
	}
	return target{*(*uint64)(pointer(p)), p, row}
}

// rowAt is row i of some, or what stands for all of them.
func rowAt(rows device.Ptr, i int, none uint64) uint64 {
	if rows == 0 {
		return none
	}
	return *(*uint64)(pointer(rows + device.Ptr(8*i)))
}

func pointer(p device.Ptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// below counts the leading elements that are less than x; orEqual counts the
// equal ones too. There is no branch in it that depends on the data: half
// of them would be mistaken.
func below[T uint32 | uint64](v unsafe.Pointer, n int, x T) int {
	if n == 0 {
		return 0
	}
	base := v
	for n > 1 {
		half := n >> 1
		next := unsafe.Add(base, uintptr(half)*unsafe.Sizeof(x))
		if *(*T)(unsafe.Add(next, -int(unsafe.Sizeof(x)))) < x {
			base = next
		}
		n -= half
	}
	at := int((uintptr(base) - uintptr(v)) / unsafe.Sizeof(x))
	if *(*T)(base) < x {
		at++
	}
	return at
}

func orEqual[T uint32 | uint64](v unsafe.Pointer, n int, x T) int {
	if x+1 == 0 {
		return n
	}
	return below(v, n, x+1)
}

// keyRange is the first item of node p whose key is not below the target's, and
// the first after it whose key is above.
func (f *form) keyRange(p device.Ptr, n int, t *target) (lo, hi int) {
	keys := p + headBytes
	switch f.kind {
	case oneWord:
		v := pointer(keys)
		lo = below(v, n, t.word)
		if lo == n || *(*uint64)(unsafe.Add(v, 8*lo)) != t.word {
			return lo, lo
		}
		if lo+1 == n || *(*uint64)(unsafe.Add(v, 8*lo+8)) != t.word {
			return lo, lo + 1 // as most keys are alone
		}
		return lo, lo + orEqual(unsafe.Add(v, 8*lo), n-lo, t.word)
	case narrow:
		v := pointer(keys)
		lo = below(v, n, uint32(t.word))
		return lo, lo + orEqual(unsafe.Add(v, 4*lo), n-lo, uint32(t.word))
	default:
		lo = f.search(p, 0, n, t, 0)
		if lo == n || f.compare(p, lo, t) != 0 {
			return lo, lo
		}
		return lo, f.search(p, lo, n, t, 1)
	}
}

// search is the first item from lo on whose key compares to the target's as
// least or above.
func (f *form) search(p device.Ptr, lo, hi int, t *target, least int) int {
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if f.compare(p, m, t) < least {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// compare orders key i of node p and the target's.
func (f *form) compare(p device.Ptr, i int, t *target) int {
	key := f.keyAt(p+headBytes, i)
	if f.kind == narrow {
		return cmp.Compare(uint64(*(*uint32)(pointer(key))), t.word)
	}
	if c := cmp.Compare(*(*uint64)(pointer(key)), t.word); c != 0 {
		return c
	}
	if c := f.compareWords(key, t.key); c != 0 || f.kind != long {
		return c
	}
	return index.CompareTails(f.tailIn(p, i), f.tailWord(t.key))
}

// compareWords orders the words of two keys.
func (f *form) compareWords(a, b device.Ptr) int {
	for end := a + device.Ptr(8*f.words); a < end; a, b = a+8, b+8 {
		if c := cmp.Compare(*(*uint64)(pointer(a)), *(*uint64)(pointer(b))); c != 0 {
			return c
		}
	}
	return 0
}

// place is where the target is among the items of a leaf, or belongs.
func (f *form) place(p device.Ptr, n int, t *target) (at int, hit bool) {
	lo, hi := f.keyRange(p, n, t)
	if lo == hi {
		return lo, false
	}
	rows := f.rowsOf(p, n)
	at = lo + below(unsafe.Pointer(&rows[lo]), hi-lo, t.row)
	return at, at < hi && rows[at] == t.row
}

// kid is the child of an inner node where the target belongs.
func (f *form) kid(p device.Ptr, n int, t *target) int {
	lo, hi := f.keyRange(p, n, t)
	if lo < hi {
		lo += orEqual(unsafe.Pointer(&f.rowsOf(p, n)[lo]), hi-lo, t.row)
	}
	return max(lo-1, 0)
}

// within reports that the target belongs to child i of an inner node, if it does
// not belong before it.
func (f *form) within(p device.Ptr, n, i int, t *target) bool {
	if i+1 == n {
		return true
	}
	if c := f.compare(p, i+1, t); c != 0 {
		return c > 0
	}
	return f.rowsOf(p, n)[i+1] > t.row
}

// kidNear is kid for a target that mostly belongs to the same child as the one
// before it, or to the next; near says that last is that one's in this node.
func (f *form) kidNear(p device.Ptr, n, last int, near bool, t *target) int {
	if near && f.after(p, last, t) {
		if f.within(p, n, last, t) {
			return last
		}
		if f.within(p, n, last+1, t) {
			return last + 1
		}
	}
	return f.kid(p, n, t)
}

// after reports that the target does not belong before child i.
func (f *form) after(p device.Ptr, i int, t *target) bool {
	return i == 0 || f.compare(p, i, t) < 0
}
