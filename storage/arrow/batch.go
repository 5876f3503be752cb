package arrow

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// Column is a run of values of one type in a device's memory.
type Column struct {
	Type sqltype.Type
	Vec  kernels.Vec
	// Lasts says that the bytes behind the column's views stay where they are
	// until the statement ends: who keeps the views need not copy the bytes.
	// The views themselves, codes and dictionary have the batch's life.
	Lasts bool
}

// Batch is a horizontal slice of a result: some rows of several columns.
//
// It owns no memory. A batch that an operator returns is valid until the next
// call of that operator; a batch of a table is valid while its snapshot is held.
type Batch struct {
	Rows    int
	Columns []Column
}

// Slab is a growable buffer that an operator reuses from batch to batch.
type Slab struct {
	buf *device.Buffer
}

// Reserve returns the address of at least n bytes; what was there is lost when
// the slab has to grow.
func (s *Slab) Reserve(m device.Allocator, n int) (device.Ptr, error) {
	if s.buf == nil || s.buf.Len() < n {
		s.buf.Release()
		s.buf = nil
		b, err := m.Alloc(n)
		if err != nil {
			return 0, err
		}
		s.buf = b
	}
	return s.buf.Ptr(), nil
}

// Ptr is the address of what was reserved last, 0 for nothing.
func (s *Slab) Ptr() device.Ptr {
	if s.buf == nil {
		return 0
	}
	return s.buf.Ptr()
}

// Release gives the slab's memory back.
func (s *Slab) Release() {
	s.buf.Release()
	s.buf = nil
}
