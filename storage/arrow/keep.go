package arrow

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
)

// Kept is some rows of another batch, in memory of its own. The bytes of long
// strings and dictionaries stay the other's.
type Kept struct {
	Batch
	memory []*device.Buffer
}

// Keep copies the rows at places of a batch in host memory.
func Keep(m device.Allocator, b *Batch, places []int) (*Kept, error) {
	k := &Kept{Batch: Batch{Rows: len(places), Columns: make([]Column, len(b.Columns))}}
	for i := range b.Columns {
		c := &b.Columns[i]
		width := c.Type.Phys().Width()
		if c.Vec.Dict != 0 {
			width = 4
		}
		data, err := k.alloc(m, width*len(places))
		if err != nil {
			return nil, err
		}
		from, to := device.View[byte](c.Vec.Data, width*b.Rows), device.View[byte](data, width*len(places))
		for j, p := range places {
			copy(to[j*width:(j+1)*width], from[p*width:])
		}
		k.Columns[i] = Column{Type: c.Type, Vec: kernels.Vec{Data: data, Dict: c.Vec.Dict, DictLen: c.Vec.DictLen}}
		if c.Vec.Valid == 0 {
			continue
		}
		valid, err := k.alloc(m, kernels.BitmapBytes(len(places)))
		if err != nil {
			return nil, err
		}
		bitmap := device.View[uint64](valid, kernels.BitmapBytes(len(places))/8)
		clear(bitmap)
		for j, p := range places {
			if !c.IsNull(p) {
				bitmap[j/64] |= 1 << (j % 64)
			}
		}
		k.Columns[i].Vec.Valid = valid
	}
	return k, nil
}

func (k *Kept) alloc(m device.Allocator, n int) (device.Ptr, error) {
	b, err := m.Alloc(n)
	if err != nil {
		k.Release()
		return 0, err
	}
	k.memory = append(k.memory, b)
	return b.Ptr(), nil
}

// Release gives the memory back.
func (k *Kept) Release() {
	for _, b := range k.memory {
		b.Release()
	}
	k.memory = nil
}
