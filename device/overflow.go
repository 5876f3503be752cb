package device

import (
	"errors"
	"sync/atomic"
)

// Overflow is memory of one Allocator and, where that has no more, of another
// that costs more to reach: what does not fit in a GPU lies in the host's pinned
// memory, and the operators know nothing of it.
type Overflow struct {
	Memory Allocator
	Next   Allocator
	// Spilt counts the bytes that Next gave; nil: nobody wants to know.
	Spilt *atomic.Int64
}

// Alloc implements Allocator. An error names both memories.
func (o *Overflow) Alloc(n int) (*Buffer, error) {
	b, err := o.Memory.Alloc(n)
	if !errors.Is(err, ErrNoMemory) {
		return b, err
	}
	b, then := o.Next.Alloc(n)
	if then == nil && o.Spilt != nil {
		o.Spilt.Add(int64(n))
	}
	var short, shorter *NoMemoryError
	if errors.As(err, &short) && errors.As(then, &shorter) {
		both := *short
		both.Then = shorter
		return nil, &both
	}
	return b, then
}
