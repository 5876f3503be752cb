package index

import "github.com/gpusql/gpusql/device"

// Answer is where a snapshot puts what it finds: the rows that answer question
// i are Rows[Offsets[i]:Offsets[i+1]], both of 64-bit numbers.
//
// It belongs to whoever asks, for one goroutine at a time. Its memory is used
// again by the next question, so that asking often costs no allocations, and
// what was found is there until then.
type Answer struct {
	N     int // questions
	Total int // rows, of all of them

	mem                 device.Allocator
	offsets, rows, keys *device.Buffer
}

// NewAnswer returns an answer with memory of mem, which must be of the index's device.
func NewAnswer(mem device.Allocator) *Answer { return &Answer{mem: mem} }

// Offsets are N+1 64-bit numbers.
func (a *Answer) Offsets() device.Ptr { return address(a.offsets) }

// Rows are Total 64-bit row ids.
func (a *Answer) Rows() device.Ptr { return address(a.rows) }

// Keys are Total keys of the index's Format, if they were asked for.
func (a *Answer) Keys() device.Ptr { return address(a.keys) }

// Ask makes room for the offsets of n questions; an index calls it first.
func (a *Answer) Ask(n int) error {
	a.N, a.Total = n, 0
	return a.room(&a.offsets, 8*(n+1))
}

// Room makes room for total rows, and for their keys of so many bytes each (0:
// they were not asked for); an index calls it before it writes them. What was
// written before is lost.
func (a *Answer) Room(total, keySize int) error {
	a.Total = total
	if err := a.room(&a.rows, 8*total); err != nil {
		return err
	}
	return a.room(&a.keys, keySize*total)
}

// room grows a buffer, by more than it must when it has to.
func (a *Answer) room(b **device.Buffer, n int) error {
	if *b != nil && (*b).Len() >= n {
		return nil
	}
	if n == 0 {
		return nil
	}
	if *b != nil {
		n = max(n, (*b).Len()+(*b).Len()/2)
		(*b).Release()
		*b = nil
	}
	fresh, err := a.mem.Alloc(n)
	if err != nil {
		a.N, a.Total = 0, 0
		return err
	}
	*b = fresh
	return nil
}

// Release gives the memory back. The answer may be used again.
func (a *Answer) Release() {
	a.offsets.Release()
	a.rows.Release()
	a.keys.Release()
	a.offsets, a.rows, a.keys = nil, nil, nil
	a.N, a.Total = 0, 0
}

func address(b *device.Buffer) device.Ptr {
	if b == nil {
		return 0
	}
	return b.Ptr()
}
