package exec

import (
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// flattener gives columns without their dictionaries. Steps know dictionaries of
// text only, so what reads tables and files makes the others flat: a column that
// was added to a table with a default has one, and a file may.
type flattener struct {
	w     *worker
	slabs []arrow.Slab
}

// fixed replaces the columns of b of fixed width that need it.
func (f *flattener) fixed(b *arrow.Batch) (err error) {
	for i, c := range b.Columns {
		if c.Vec.Dict != 0 && c.Type.Phys() != sqltype.PhysStr {
			if b.Columns[i], err = f.column(i, c, b.Rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// all replaces every column of b that has a dictionary.
func (f *flattener) all(b *arrow.Batch) (err error) {
	for i, c := range b.Columns {
		if c.Vec.Dict != 0 {
			if b.Columns[i], err = f.column(i, c, b.Rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// column is the n values of a column with a dictionary, in memory that the
// next call for place i uses again.
func (f *flattener) column(i int, c arrow.Column, n int) (arrow.Column, error) {
	width := c.Type.Phys().Width()
	for len(f.slabs) <= i {
		f.slabs = append(f.slabs, arrow.Slab{})
	}
	to, err := f.slabs[i].Reserve(f.w.q.env.Memory, n*width)
	if err != nil {
		return c, err
	}
	err = kernels.Flatten(f.w.stream, width, kernels.Vec{Data: to}, c.Vec, n)
	c.Vec = kernels.Vec{Data: to, Valid: c.Vec.Valid}
	return c, err
}

func (f *flattener) release() {
	for i := range f.slabs {
		f.slabs[i].Release()
	}
}
