package arrow

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// leaf reads a column of a row group, page by page, into host memory that is
// used again for the next batch.
type leaf interface {
	// read takes the next n values, NULLs counted.
	read(im *Importer, n int) (Column, error)
	Close() error
}

// pages is a column's reader for values of one physical type.
type pages[P any] interface {
	HasNext() bool
	Err() error
	Close() error
	ReadBatchInPage(n int64, values []P, defs, reps []int16) (levels int64, read int, err error)
}

// leafHead is what all leaves have.
type leafHead[P any] struct {
	pages[P]
	typ      sqltype.Type
	nullable bool
	defs     []int16
	valid    []uint64
	c        importColumn
}

// fill reads n levels. take(at, n) is room for up to n dense values, of which
// at were read; got(at, n) says that n arrived.
func (l *leafHead[P]) fill(n int, take func(at, n int) []P, got func(at, n int)) (values int, err error) {
	if l.nullable && cap(l.defs) < n {
		l.defs = make([]int16, n)
	}
	for levels := 0; levels < n; {
		if !l.HasNext() {
			if err := l.Err(); err != nil {
				return 0, err
			}
			return 0, fmt.Errorf("%d values where %d were promised", levels, n)
		}
		var defs []int16
		if l.nullable {
			defs = l.defs[levels:n]
		}
		k, read, err := l.ReadBatchInPage(int64(n-levels), take(values, n-levels), defs, nil)
		if err != nil {
			return 0, err
		}
		if k == 0 {
			return 0, fmt.Errorf("%d values where %d were promised", levels, n)
		}
		got(values, read)
		values += read
		levels += int(k)
	}
	return values, nil
}

// validity makes the bitmap of n rows, of which values are not NULL.
func (l *leafHead[P]) validity(im *Importer, col *Column, n, values int) (err error) {
	if values == n {
		return nil
	}
	words := kernels.BitmapBytes(n) / 8
	if cap(l.valid) < words {
		l.valid = make([]uint64, words)
	}
	l.valid = l.valid[:words]
	clear(l.valid)
	for i, d := range l.defs[:n] {
		l.valid[i>>6] |= uint64(d) << (i & 63) // a flat column's levels are 0 and 1
	}
	col.Vec.Valid, err = im.place(&l.c.mask, bytesOf(l.valid))
	return err
}

// fixedLeaf reads values of physical type P as the engine's form D.
type fixedLeaf[P, D any] struct {
	leafHead[P]
	convert func(dst []D, src []P) // nil: P is D
	raw     []P
	out     []D
}

func (l *fixedLeaf[P, D]) read(im *Importer, n int) (Column, error) {
	col := Column{Type: l.typ}
	if cap(l.out) < n {
		l.out = make([]D, n)
		if l.convert != nil {
			l.raw = make([]P, n)
		}
	}
	out := l.out[:n]
	values, err := l.fill(n, func(at, n int) []P {
		if l.convert == nil {
			return unsafe.Slice((*P)(unsafe.Pointer(unsafe.SliceData(out[at:]))), n)
		}
		return l.raw[:n]
	}, func(at, n int) {
		if l.convert != nil {
			l.convert(out[at:at+n], l.raw[:n])
		}
	})
	if err != nil {
		return col, err
	}
	if err := l.validity(im, &col, n, values); err != nil {
		return col, err
	}
	if values < n {
		spread(out, l.defs[:n], values)
	}
	col.Vec.Data, err = im.place(&l.c.data, bytesOf(out))
	return col, err
}

// spread moves dense values to their rows; a NULL's row gets a zero.
func spread[D any](out []D, defs []int16, values int) {
	var zero D
	for i := len(out) - 1; i >= 0; i-- {
		if defs[i] == 0 {
			out[i] = zero
			continue
		}
		values--
		out[i] = out[values]
	}
}

// textLeaf reads text and bytes.
type textLeaf[P ~[]byte] struct {
	leafHead[P]
	raw     []P
	bytes   []byte
	offsets []int64 // of dense values, then of rows
}

func (l *textLeaf[P]) read(im *Importer, n int) (Column, error) {
	col := Column{Type: l.typ}
	if cap(l.raw) < n {
		l.raw = make([]P, n)
		l.offsets = make([]int64, n+1)
	}
	l.bytes = l.bytes[:0]
	offsets := l.offsets[:n+1]
	values, err := l.fill(n, func(_, n int) []P { return l.raw[:n] }, func(at, n int) {
		for i, s := range l.raw[:n] { // a page's memory is good until the next page
			l.bytes = append(l.bytes, s...)
			offsets[at+i+1] = int64(len(l.bytes))
		}
	})
	if err != nil {
		return col, err
	}
	if err := l.validity(im, &col, n, values); err != nil {
		return col, err
	}
	if values < n { // a NULL's text is empty: it ends where the one before ends
		for i := n; i > 0; i-- {
			offsets[i] = offsets[values]
			values -= int(l.defs[i-1])
		}
	}
	return col, importStrings(im, &l.c, &col, offsets, l.bytes)
}

// codeLeaf reads text that the file keeps as codes, as codes.
type codeLeaf struct {
	r *pqarrow.ColumnReader
	c importColumn
	a arrow.Array // the last batch points into it
}

func (l *codeLeaf) read(im *Importer, n int) (Column, error) {
	l.drop()
	chunks, err := l.r.NextBatch(int64(n))
	if err != nil {
		return Column{}, err
	}
	if chunks.Len() != n {
		return Column{}, fmt.Errorf("%d values where %d were promised", chunks.Len(), n)
	}
	l.a, err = array.Concatenate(chunks.Chunks(), memory.DefaultAllocator)
	if err != nil {
		return Column{}, err
	}
	return im.column(&l.c, l.a, n)
}

func (l *codeLeaf) drop() {
	if l.a != nil {
		l.a.Release()
		l.a = nil
	}
}

func (l *codeLeaf) Close() error {
	l.drop()
	l.r.Release()
	return nil
}

// newLeaf makes the reader of a column of Arrow type a.
func newLeaf(chunk file.ColumnChunkReader, a arrow.DataType, t sqltype.Type) (leaf, error) {
	nullable := chunk.Descriptor().MaxDefinitionLevel() > 0
	switch c := chunk.(type) {
	case *file.BooleanColumnChunkReader:
		return newFixed[bool, bool](c, t, nullable, nil), nil
	case *file.Int32ColumnChunkReader:
		return int32Leaf(c, a, t, nullable)
	case *file.Int64ColumnChunkReader:
		return int64Leaf(c, a, t, nullable)
	case *file.Int96ColumnChunkReader:
		return newFixed(c, t, nullable, int96Micros), nil
	case *file.Float32ColumnChunkReader:
		return newFixed[float32, float32](c, t, nullable, nil), nil
	case *file.Float64ColumnChunkReader:
		return newFixed[float64, float64](c, t, nullable, nil), nil
	case *file.ByteArrayColumnChunkReader:
		return bytesLeaf(c, t, nullable), nil
	case *file.FixedLenByteArrayColumnChunkReader:
		if a.ID() == arrow.FLOAT16 {
			return newFixed(c, t, nullable, halves), nil
		}
		return bytesLeaf(c, t, nullable), nil
	}
	return nil, fmt.Errorf("physical type %s is not known", chunk.Type())
}

func newFixed[P, D any](p pages[P], t sqltype.Type, nullable bool, convert func([]D, []P)) leaf {
	return &fixedLeaf[P, D]{leafHead: leafHead[P]{pages: p, typ: t, nullable: nullable}, convert: convert}
}

// bytesLeaf reads text, or decimals written as big-endian bytes.
func bytesLeaf[P ~[]byte](p pages[P], t sqltype.Type, nullable bool) leaf {
	switch {
	case t.Kind == sqltype.KindDecimal && t.Phys() == sqltype.PhysI64:
		return newFixed(p, t, nullable, bigEndian64[P])
	case t.Kind == sqltype.KindDecimal:
		return newFixed(p, t, nullable, bigEndian128[P])
	}
	return &textLeaf[P]{leafHead: leafHead[P]{pages: p, typ: t, nullable: nullable}}
}

func int32Leaf(p pages[int32], a arrow.DataType, t sqltype.Type, nullable bool) (leaf, error) {
	switch t.Phys() {
	case sqltype.PhysI8:
		return newFixed(p, t, nullable, narrow[int8, int32]), nil
	case sqltype.PhysU8:
		return newFixed(p, t, nullable, narrow[uint8, int32]), nil
	case sqltype.PhysI16:
		return newFixed(p, t, nullable, narrow[int16, int32]), nil
	case sqltype.PhysU16:
		return newFixed(p, t, nullable, narrow[uint16, int32]), nil
	case sqltype.PhysI32, sqltype.PhysU32:
		return newFixed[int32, int32](p, t, nullable, nil), nil
	case sqltype.PhysI64: // a DECIMAL, or a TIME in milliseconds
		by := int64(1)
		if a.ID() == arrow.TIME32 {
			by = 1000
		}
		return newFixed(p, t, nullable, func(dst []int64, src []int32) {
			for i, v := range src {
				dst[i] = int64(v) * by
			}
		}), nil
	}
	return nil, fmt.Errorf("type %s in 32 bits", t)
}

func int64Leaf(p pages[int64], a arrow.DataType, t sqltype.Type, nullable bool) (leaf, error) {
	if t.Phys() == sqltype.PhysI128 {
		return newFixed(p, t, nullable, func(dst []sqltype.Int128, src []int64) {
			for i, v := range src {
				dst[i] = sqltype.Int128Of(v)
			}
		}), nil
	}
	unit := arrow.Microsecond
	switch a := a.(type) {
	case *arrow.TimestampType:
		unit = a.Unit
	case *arrow.Time64Type:
		unit = a.Unit
	}
	num, den := perMicro(unit)
	if num == 1 && den == 1 {
		return newFixed[int64, int64](p, t, nullable, nil), nil
	}
	return newFixed(p, t, nullable, func(dst, src []int64) {
		for i, v := range src {
			dst[i] = floorQuo(v*num, den)
		}
	}), nil
}

// narrow drops the high bits, which a writer filled with the sign.
func narrow[D, S int8 | int16 | int32 | uint8 | uint16](dst []D, src []S) {
	for i, v := range src {
		dst[i] = D(v)
	}
}

// int96Micros reads the old form of timestamps.
func int96Micros(dst []int64, src []parquet.Int96) {
	for i, v := range src {
		dst[i] = v.ToTime().UnixMicro()
	}
}

// halves reads 16-bit floating point.
func halves(dst []float32, src []parquet.FixedLenByteArray) {
	for i, v := range src {
		dst[i] = float16.FromLEBytes(v).Float32()
	}
}

// bigEndian64 reads two's complement of any length; what does not fit in 64
// bits cannot be a DECIMAL of up to 18 digits.
func bigEndian64[P ~[]byte](dst []int64, src []P) {
	for i, s := range src {
		if n := len(s); n >= 4 && n <= 8 { // two reads that overlap
			hi, lo := binary.BigEndian.Uint32(s), binary.BigEndian.Uint32(s[n-4:])
			more := 8 * (n - 4)
			dst[i] = int64(int32(hi))<<more | int64(lo)&(1<<more-1)
			continue
		}
		var v int64
		if len(s) > 0 {
			v = int64(int8(s[0]))
			for _, b := range s[1:] {
				v = v<<8 | int64(b)
			}
		}
		dst[i] = v
	}
}

func bigEndian128[P ~[]byte](dst []sqltype.Int128, src []P) {
	for i, s := range src {
		var v sqltype.Int128
		if len(s) > 0 {
			v = sqltype.Int128Of(int64(int8(s[0])))
			for _, b := range s[1:] {
				v = sqltype.Int128{Hi: v.Hi<<8 | int64(v.Lo>>56), Lo: v.Lo<<8 | uint64(b)}
			}
		}
		dst[i] = v
	}
}
