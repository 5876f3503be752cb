package arrow

import (
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// Importer turns Arrow records into batches. What lies in a record as a step
// wants it is used where it is; the rest is rewritten into memory that the
// importer reuses.
//
// A batch is valid until the next one or Release, and needs the importer alive.
// An Importer belongs to one goroutine.
type Importer struct {
	s      device.Stream
	mem    device.Allocator
	rec    arrow.RecordBatch // retained: batches point into it
	cols   []importColumn
	out    Batch
	pinner runtime.Pinner
}

// importColumn is the memory of a column.
type importColumn struct {
	host  []byte // rewritten values
	views []kernels.View
	valid []byte
	data  Slab // the same on a device whose memory the host's is not
	mask  Slab
	heap  Slab
}

// NewImporter makes an importer for batches in the memory of s's device.
func NewImporter(s device.Stream, mem device.Allocator) *Importer {
	return &Importer{s: s, mem: mem}
}

// Release gives the memory back.
func (im *Importer) Release() {
	im.drop()
	for i := range im.cols {
		im.cols[i].data.Release()
		im.cols[i].mask.Release()
		im.cols[i].heap.Release()
	}
	im.cols = nil
}

func (im *Importer) drop() {
	im.pinner.Unpin()
	if im.rec != nil {
		im.rec.Release()
		im.rec = nil
	}
}

// Batch is the record as a batch, with the given types: those that TypeOf
// gives, or narrower forms of them.
func (im *Importer) Batch(rec arrow.RecordBatch) (*Batch, error) {
	im.drop()
	rec.Retain()
	im.rec = rec
	n := int(rec.NumRows())
	if len(im.cols) < int(rec.NumCols()) {
		im.cols = make([]importColumn, rec.NumCols())
	}
	im.out.Rows = n
	im.out.Columns = im.out.Columns[:0]
	for i, a := range rec.Columns() {
		col, err := im.column(&im.cols[i], a, n)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", rec.ColumnName(i), err)
		}
		im.out.Columns = append(im.out.Columns, col)
	}
	return &im.out, nil
}

// column converts one array.
func (im *Importer) column(c *importColumn, a arrow.Array, n int) (Column, error) {
	t, ok := TypeOf(a.DataType())
	if !ok {
		return Column{}, sqltype.Errorf(sqltype.CodeNotSupported, "type %s is not supported", a.DataType())
	}
	col := Column{Type: t}
	if n == 0 {
		return col, nil
	}
	var err error
	if col.Vec.Valid, err = im.validity(c, a, n); err != nil {
		return col, err
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return im.dictionary(c, a, col)
	case *array.String:
		err = importStrings(im, c, &col, a.ValueOffsets(), bufferBytes(a, 2))
	case *array.Binary:
		err = importStrings(im, c, &col, a.ValueOffsets(), bufferBytes(a, 2))
	case *array.LargeString, *array.LargeBinary:
		err = importStrings(im, c, &col, largeOffsets(a.Data()), bufferBytes(a, 2))
	case *array.FixedSizeBinary:
		w := int64(a.DataType().(*arrow.FixedSizeBinaryType).ByteWidth)
		offsets := make([]int64, n+1)
		for i := range offsets {
			offsets[i] = (int64(a.Data().Offset()) + int64(i)) * w
		}
		err = importStrings(im, c, &col, offsets, bufferBytes(a, 1))
	case array.ListLike, *array.Struct:
		err = im.nested(c, &col, a, n)
	case array.ViewLike:
		err = im.viewed(c, &col, a, n)
	default:
		var raw []byte
		if raw, err = c.fixed(a, t, n); err == nil {
			col.Vec.Data, err = im.place(&c.data, raw)
		}
	}
	return col, err
}

// validity is the array's bitmap, moved to bit 0 and padded to words; 0 when
// nothing is NULL.
func (im *Importer) validity(c *importColumn, a arrow.Array, n int) (device.Ptr, error) {
	size := kernels.BitmapBytes(n)
	switch {
	case a.DataType().ID() == arrow.NULL:
		c.valid = grow(c.valid, size)
		clear(c.valid)
	case a.DataType().ID() == arrow.DICTIONARY || a.NullN() > 0:
		dict, _ := a.(*array.Dictionary)
		if a.NullN() == 0 && dict.Dictionary().NullN() == 0 {
			return 0, nil
		}
		c.valid = grow(c.valid, size)
		clear(c.valid)
		if bits := a.NullBitmapBytes(); len(bits) > 0 {
			bitutil.CopyBitmap(bits, a.Data().Offset(), n, c.valid, 0)
		} else {
			bitutil.SetBitsTo(c.valid, 0, int64(n), true)
		}
		if dict != nil && dict.Dictionary().NullN() > 0 { // a NULL in the dictionary is the row's here
			for i := range n {
				if a.IsValid(i) && dict.Dictionary().IsNull(dict.GetValueIndex(i)) {
					bitutil.ClearBit(c.valid, i)
				}
			}
		}
	default:
		return 0, nil
	}
	return im.place(&c.mask, c.valid)
}

// grow is b with length n; what was in it is lost.
func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// place gives host bytes an address on the device: their own where the host's
// memory is the device's, a copy's elsewhere.
func (im *Importer) place(slab *Slab, b []byte) (device.Ptr, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if im.s.Device().Traits().HostBytes {
		p := unsafe.Pointer(unsafe.SliceData(b))
		im.pinner.Pin(p)
		return device.Ptr(uintptr(p)), nil
	}
	p, err := slab.Reserve(im.mem, len(b))
	if err != nil {
		return 0, err
	}
	return p, im.s.Upload(p, b)
}

// fixed gives the values of a fixed-width array in the form of t.
func (c *importColumn) fixed(a arrow.Array, t sqltype.Type, n int) ([]byte, error) {
	switch a := a.(type) {
	case *array.Null:
		c.host = grow(c.host, n)
		clear(c.host)
	case *array.Boolean:
		c.host = grow(c.host, n)
		for i := range n {
			c.host[i] = 0
			if a.Value(i) {
				c.host[i] = 1
			}
		}
	case *array.Float16:
		convert(c, a.Values(), func(v float16.Num) (float32, bool) { return v.Float32(), true })
	case *array.Decimal32:
		convert(c, a.Values(), func(v decimal.Decimal32) (int64, bool) { return int64(v), true })
	case *array.Decimal64:
		if t.Phys() == sqltype.PhysI64 {
			return bytesOf(a.Values()), nil
		}
		convert(c, a.Values(), func(v decimal.Decimal64) (sqltype.Int128, bool) { return sqltype.Int128Of(int64(v)), true })
	case *array.Decimal128:
		if t.Phys() == sqltype.PhysI128 {
			return bytesOf(a.Values()), nil
		}
		convert(c, a.Values(), func(v decimal.Decimal128) (int64, bool) { return int64(v.LowBits()), true })
	case *array.Decimal256:
		return nil, sqltype.Errorf(sqltype.CodeNotSupported, "type %s is not supported", a.DataType())
	case *array.Date64:
		convert(c, a.Date64Values(), func(v arrow.Date64) (int32, bool) { return int32(floorQuo(int64(v), 86_400_000)), true })
	case *array.Time32:
		by := int64(1000)
		if a.DataType().(*arrow.Time32Type).Unit == arrow.Second {
			by = 1_000_000
		}
		convert(c, a.Time32Values(), func(v arrow.Time32) (int64, bool) { return int64(v) * by, true })
	case *array.Time64:
		if a.DataType().(*arrow.Time64Type).Unit == arrow.Microsecond {
			return bytesOf(a.Time64Values()), nil
		}
		convert(c, a.Time64Values(), func(v arrow.Time64) (int64, bool) { return int64(v) / 1000, true })
	case *array.Timestamp:
		return c.timestamps(a, n)
	case *array.MonthInterval:
		convert(c, a.MonthIntervalValues(), func(v arrow.MonthInterval) (sqltype.Span, bool) { return sqltype.Span{Months: int32(v)}, true })
	case *array.Duration:
		num, den := perMicro(a.DataType().(*arrow.DurationType).Unit)
		convert(c, a.DurationValues(), func(v arrow.Duration) (sqltype.Span, bool) {
			return sqltype.Span{Micros: int64(v) * num / den}, true
		})
	case *array.MonthDayNanoInterval:
		convert(c, a.MonthDayNanoIntervalValues(), func(v arrow.MonthDayNanoInterval) (sqltype.Span, bool) {
			return sqltype.Span{Months: v.Months, Days: v.Days, Micros: v.Nanoseconds / 1000}, true
		})
	default:
		w := t.Phys().Width()
		from := a.Data().Offset() * w
		return a.Data().Buffers()[1].Bytes()[from : from+n*w], nil
	}
	return c.host, nil
}

// timestamps gives microseconds.
func (c *importColumn) timestamps(a *array.Timestamp, n int) ([]byte, error) {
	num, den := perMicro(a.DataType().(*arrow.TimestampType).Unit)
	if num == 1 && den == 1 {
		return bytesOf(a.TimestampValues()), nil
	}
	bad := convert(c, a.TimestampValues(), func(v arrow.Timestamp) (int64, bool) {
		if den > 1 {
			return floorQuo(int64(v), den), true
		}
		return int64(v) * num, int64(v) <= math.MaxInt64/num && int64(v) >= math.MinInt64/num
	})
	if bad >= 0 && bad < n && a.IsValid(bad) {
		return nil, sqltype.Errorf(sqltype.CodeOutOfRange, "row %d: timestamp out of range", bad)
	}
	return c.host, nil
}

// perMicro says how a unit becomes microseconds: times num, by den.
func perMicro(u arrow.TimeUnit) (num, den int64) {
	switch u {
	case arrow.Second:
		return 1_000_000, 1
	case arrow.Millisecond:
		return 1000, 1
	case arrow.Microsecond:
		return 1, 1
	case arrow.Nanosecond:
		return 1, 1000
	}
	panic(fmt.Sprintf("arrow: unit %d", u))
}

func floorQuo(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// convert rewrites values into c.host, and gives the last row that f refused, or -1.
func convert[S, D any](c *importColumn, in []S, f func(S) (D, bool)) int {
	var d D
	c.host = grow(c.host, len(in)*int(unsafe.Sizeof(d)))
	out := unsafe.Slice((*D)(unsafe.Pointer(unsafe.SliceData(c.host))), len(in))
	bad := -1
	for i, v := range in {
		w, ok := f(v)
		if !ok {
			bad = i
		}
		out[i] = w
	}
	return bad
}

// bytesOf is the memory of a slice.
func bytesOf[T any](s []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(v)))
}

func largeOffsets(d arrow.ArrayData) []int64 {
	b := d.Buffers()[1].Bytes()
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)[d.Offset() : d.Offset()+d.Len()+1]
}

// importStrings makes views of strings that lie in data, string i from
// offsets[i] to offsets[i+1].
func importStrings[O int32 | int64](im *Importer, c *importColumn, col *Column, offsets []O, data []byte) error {
	base, err := im.place(&c.heap, data)
	if err != nil {
		return err
	}
	n := len(offsets) - 1
	if cap(c.views) < n {
		c.views = make([]kernels.View, n)
	}
	c.views = c.views[:n]
	for i := range c.views {
		from, to := int64(offsets[i]), int64(offsets[i+1])
		if from < 0 || to < from || to > int64(len(data)) {
			return sqltype.Errorf(sqltype.CodeBadFile, "row %d: text from %d to %d of %d bytes", i, from, to, len(data))
		}
		c.views[i] = makeView(data[from:to], base+device.Ptr(from))
	}
	col.Vec.Data, err = im.place(&c.data, bytesOf(c.views))
	return err
}

// bufferBytes is buffer k of an array, which may be missing when it is empty.
func bufferBytes(a arrow.Array, k int) []byte {
	if b := a.Data().Buffers()[k]; b != nil {
		return b.Bytes()
	}
	return nil
}

// viewed makes views of Arrow's views, whose bytes are copied together.
func (im *Importer) viewed(c *importColumn, col *Column, a array.ViewLike, n int) error {
	value := func(i int) string {
		switch a := a.(type) {
		case *array.StringView:
			return a.Value(i)
		case *array.BinaryView:
			b := a.Value(i)
			return unsafe.String(unsafe.SliceData(b), len(b))
		}
		panic(fmt.Sprintf("arrow: a view array %T", a))
	}
	c.host = c.host[:0]
	ends := make([]int64, n+1)
	for i := range n {
		if a.IsValid(i) {
			c.host = append(c.host, value(i)...)
		}
		ends[i+1] = int64(len(c.host))
	}
	return importStrings(im, c, col, ends, c.host)
}

// nested makes the bytes of lists and structs.
func (im *Importer) nested(c *importColumn, col *Column, a arrow.Array, n int) error {
	c.host = c.host[:0]
	ends := make([]int64, n+1)
	for i := range n {
		if a.IsValid(i) {
			c.host = append(c.host, DatumAt(a, i).S...)
		}
		ends[i+1] = int64(len(c.host))
	}
	return importStrings(im, c, col, ends, c.host)
}

// dictionary keeps codes as codes.
func (im *Importer) dictionary(c *importColumn, a *array.Dictionary, col Column) (Column, error) {
	n := a.Len()
	values := a.Dictionary()
	dict := importColumn{}
	inner, err := im.column(&dict, values, values.Len())
	if err != nil {
		return col, err
	}
	codes := grow(c.host, 4*n)
	c.host = codes
	out := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(codes))), n)
	for i := range out {
		out[i] = 0
		if a.IsValid(i) {
			k := a.GetValueIndex(i)
			if k < 0 || k >= values.Len() {
				return col, sqltype.Errorf(sqltype.CodeBadFile, "row %d: dictionary index %d of %d", i, k, values.Len())
			}
			out[i] = uint32(k)
		}
	}
	if values.Len() == 0 { // all rows are NULL; they still need a value to read
		w := col.Type.Phys().Width()
		dict.host = make([]byte, w)
		if inner.Vec.Data, err = im.place(&dict.data, dict.host); err != nil {
			return col, err
		}
	}
	col.Vec.Dict, col.Vec.DictLen = inner.Vec.Data, uint32(max(values.Len(), 1))
	col.Vec.Data, err = im.place(&c.data, codes)
	return col, err
}
