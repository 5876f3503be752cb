package arrow

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// FromDatums makes a batch of rows given as values, each of its column's type
// or NULL. It is for small batches: a row of INSERT, a test.
func FromDatums(m device.Allocator, types []sqltype.Type, rows [][]sqltype.Datum) (*Kept, error) {
	k := &Kept{Batch: Batch{Rows: len(rows), Columns: make([]Column, len(types))}}
	for c, t := range types {
		long, nulls := 0, false
		for _, r := range rows {
			nulls = nulls || r[c].Null
			if len(r[c].S) > kernels.InlineLen {
				long += len(r[c].S)
			}
		}
		width := t.Phys().Width()
		data, err := k.alloc(m, width*len(rows)+long)
		if err != nil {
			return nil, err
		}
		k.Columns[c] = Column{Type: t, Vec: kernels.Vec{Data: data}}
		clear(device.View[byte](data, width*len(rows)))
		var bitmap []uint64
		if nulls {
			valid, err := k.alloc(m, kernels.BitmapBytes(len(rows)))
			if err != nil {
				return nil, err
			}
			k.Columns[c].Vec.Valid = valid
			bitmap = device.View[uint64](valid, kernels.BitmapBytes(len(rows))/8)
			clear(bitmap)
		}
		heap := data + device.Ptr(width*len(rows))
		for i, r := range rows {
			if r[c].Null {
				continue
			}
			if bitmap != nil {
				bitmap[i/64] |= 1 << (i % 64)
			}
			PutDatum(t, data, i, r[c], heap)
			if len(r[c].S) > kernels.InlineLen {
				heap += device.Ptr(len(r[c].S))
			}
		}
	}
	return k, nil
}
