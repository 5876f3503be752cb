package gpusql

import (
	"sync/atomic"

	goarrow "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// Records reads what is left of the rows as Arrow records. The reader takes the
// rows over: releasing it closes them.
//
// Columns of fixed width, and the bitmaps of all columns, are the query's own
// memory and are not copied; so a record is valid until the next one is asked
// for. A record that is still held then is an error of the reader, because its
// values are gone: copy what must stay. (Text, BOOLEAN and short DECIMAL are
// held differently by Arrow and are copied.)
func (r *Rows) Records() array.RecordReader {
	r2 := &recordReader{rows: r, schema: arrow.ArrowSchema(r.columns), lent: &lentMemory{}}
	r2.count.Store(1)
	return r2
}

// recordReader is an array.RecordReader over Rows.
type recordReader struct {
	rows   *Rows
	schema *goarrow.Schema
	count  atomic.Int64
	record goarrow.RecordBatch
	lent   *lentMemory
	err    error
}

func (r *recordReader) Retain() { r.count.Add(1) }

func (r *recordReader) Release() {
	if r.count.Add(-1) == 0 {
		r.drop()
		r.rows.Close() //nolint:errcheck // the error is the rows', and Err gives it
	}
}

func (r *recordReader) Schema() *goarrow.Schema          { return r.schema }
func (r *recordReader) RecordBatch() goarrow.RecordBatch { return r.record }
func (r *recordReader) Record() goarrow.RecordBatch      { return r.record }

func (r *recordReader) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.rows.Err()
}

// drop gives the record up. It reports whether the caller has too.
func (r *recordReader) drop() bool {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
	return r.lent.buffers.Load() == 0
}

func (r *recordReader) Next() bool {
	if r.err != nil {
		return false
	}
	if !r.drop() {
		r.err = wrapError(sqltype.Errorf(sqltype.CodeInvalidParameter,
			"a record is still held, but it is valid only until the next: copy what must stay"), "")
		r.rows.Close() //nolint:errcheck // there is an error already
		return false
	}
	if !r.rows.nextBatch() {
		return false
	}
	r.record = exportBatch(r.schema, r.rows.batch, r.lent)
	return true
}

// lentMemory is the allocator of buffers whose bytes are the query's: it
// counts those that are in use, and frees nothing.
type lentMemory struct{ buffers atomic.Int64 }

func (l *lentMemory) Allocate(int) []byte           { panic("gpusql: lent memory does not grow") }
func (l *lentMemory) Reallocate(int, []byte) []byte { panic("gpusql: lent memory does not grow") }
func (l *lentMemory) Free([]byte)                   { l.buffers.Add(-1) }

func (l *lentMemory) buffer(p device.Ptr, n int) *memory.Buffer {
	l.buffers.Add(1)
	return memory.NewBufferWithAllocator(device.View[byte](p, n), l)
}

// exportBatch is a batch as an Arrow record over the batch's memory.
func exportBatch(schema *goarrow.Schema, b *arrow.Batch, lent *lentMemory) goarrow.RecordBatch {
	columns := make([]goarrow.Array, len(b.Columns))
	for i := range b.Columns {
		columns[i] = exportColumn(&b.Columns[i], schema.Field(i).Type, b.Rows, lent)
	}
	record := array.NewRecordBatch(schema, columns, int64(b.Rows))
	for _, c := range columns {
		c.Release()
	}
	return record
}

func exportColumn(c *arrow.Column, t goarrow.DataType, rows int, lent *lentMemory) goarrow.Array {
	p := c.Type.Phys()
	switch {
	case c.Type.Kind == sqltype.KindNull:
		return array.NewNull(rows)
	case c.Vec.Dict != 0, p == sqltype.PhysStr, p == sqltype.PhysSpan,
		c.Type.Kind == sqltype.KindUUID, c.Type.Kind == sqltype.KindTimeTZ, c.Type.Kind == sqltype.KindEnum:
		return copyColumn(c, t, rows)
	case c.Type.Kind == sqltype.KindDecimal && p == sqltype.PhysI64:
		return widenDecimals(c, t, rows, lent)
	case p == sqltype.PhysBool:
		bits := make([]byte, bitutil.CeilByte(rows)/8)
		for i, v := range device.View[byte](c.Vec.Data, rows) {
			bits[i/8] |= v << (i % 8)
		}
		return makeArray(c, t, rows, memory.NewBufferBytes(bits), lent)
	}
	return makeArray(c, t, rows, lent.buffer(c.Vec.Data, rows*p.Width()), lent)
}

// makeArray is an array over data and the column's own bitmap.
func makeArray(c *arrow.Column, t goarrow.DataType, rows int, data *memory.Buffer, lent *lentMemory) goarrow.Array {
	var valid *memory.Buffer
	nulls := 0
	if c.Vec.Valid != 0 {
		n := kernels.BitmapBytes(rows)
		valid = lent.buffer(c.Vec.Valid, n)
		nulls = rows - kernels.CountBits(device.View[uint64](c.Vec.Valid, n/8), rows)
	}
	d := array.NewData(t, rows, []*memory.Buffer{valid, data}, nil, nulls, 0)
	data.Release()
	if valid != nil {
		valid.Release()
	}
	defer d.Release()
	return array.MakeFromData(d)
}

// widenDecimals copies DECIMALs of 64 bits to the 128 that Arrow has.
func widenDecimals(c *arrow.Column, t goarrow.DataType, rows int, lent *lentMemory) goarrow.Array {
	wide := make([]int64, 2*rows)
	for i, v := range device.View[int64](c.Vec.Data, rows) {
		wide[2*i], wide[2*i+1] = v, v>>63
	}
	return makeArray(c, t, rows, memory.NewBufferBytes(goarrow.Int64Traits.CastToBytes(wide)), lent)
}

// copyColumn builds an array value by value.
func copyColumn(c *arrow.Column, t goarrow.DataType, rows int) goarrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, t)
	defer b.Release()
	b.Reserve(rows)
	text, _ := b.(*array.StringBuilder)
	for i := range rows {
		switch {
		case c.IsNull(i):
			b.AppendNull()
		case text != nil && c.Type.Kind == sqltype.KindVarchar:
			text.BinaryBuilder.Append(c.Bytes(i))
		case text != nil:
			text.Append(c.Datum(i).String())
		default:
			arrow.AppendDatum(b, c.Datum(i))
		}
	}
	return b.NewArray()
}
