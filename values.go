package gpusql

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// valueRows is a result made of values: what SHOW and EXPLAIN give.
func (c *Conn) valueRows(schema sqltype.Schema, rows [][]Value) (*Rows, error) {
	memory := device.NewScope(c.db.memory, device.ScopeOptions{Name: "values"})
	b, err := valueBatch(memory, schema, rows)
	if err != nil {
		memory.Close()
		return nil, err
	}
	r := &Rows{columns: schema, close: func(err error) error { memory.Close(); return err }}
	r.pull = func() (*arrow.Batch, error) { return nil, nil }
	if b.Rows > 0 {
		r.hold(b)
	}
	return r, nil
}

// valueBatch writes rows of values to memory.
func valueBatch(m device.Allocator, schema sqltype.Schema, rows [][]Value) (*arrow.Batch, error) {
	b := &arrow.Batch{Rows: len(rows), Columns: make([]arrow.Column, len(schema))}
	for i, col := range schema {
		long := 0
		for _, row := range rows {
			long += len(row[i].S)
		}
		width := col.Type.Phys().Width()
		buf, err := m.Alloc(max(1, len(rows)*width) + kernels.BitmapBytes(len(rows)) + long + 64)
		if err != nil {
			return nil, err
		}
		bytes := device.View[byte](buf.Ptr(), buf.Len())
		clear(bytes)
		// Data, then the bitmap at a whole word, then the bytes of strings.
		valid := buf.Ptr() + device.Ptr((len(rows)*width+63)/64*64)
		heap := valid + device.Ptr(kernels.BitmapBytes(len(rows)))
		bits := device.View[byte](valid, kernels.BitmapBytes(len(rows)))
		for j, row := range rows {
			if row[i].Null {
				continue
			}
			bits[j/8] |= 1 << (j % 8)
			arrow.PutDatum(col.Type, buf.Ptr(), j, row[i], heap)
			heap += device.Ptr(len(row[i].S))
		}
		b.Columns[i] = arrow.Column{Type: col.Type, Vec: kernels.Vec{Data: buf.Ptr(), Valid: valid}}
	}
	return b, nil
}
