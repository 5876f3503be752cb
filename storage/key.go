package storage

import (
	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/heap"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// newTableIndex makes an empty index by its definition.
func newTableIndex(t *catalog.Table, def *catalog.Index) *tableIndex {
	x := &tableIndex{id: def.ID, name: def.Name, unique: def.Unique}
	var keys []index.KeyColumn
	for _, k := range def.Keys {
		c := t.Columns[k.Column]
		x.columns = append(x.columns, c.ID)
		x.names = append(x.names, c.Name)
		keys = append(keys, index.KeyColumn{Type: c.Type, NotNull: c.NotNull, Desc: k.Desc, NullsFirst: k.NullsFirst,
			Fold: c.NoCase && c.Type.Kind.IsString()})
	}
	x.codec = index.NewCodec(keys)
	x.idx = heap.New(x.codec)
	return x
}

// keysOf encodes rows lo to hi of a segment.
func (x *tableIndex) keysOf(s *arrow.Segment, lo, hi int) (heap.Keys, []bool) {
	columns := make([]arrow.Column, len(x.columns))
	for i, id := range x.columns {
		columns[i] = s.Column(id)
	}
	return encode(x.codec, columns, lo, hi)
}

// encode makes keys of rows lo to hi of columns, the first key columns. nulls,
// if not nil, says which keys have a NULL.
func encode(c *index.Codec, columns []arrow.Column, lo, hi int) (keys heap.Keys, nulls []bool) {
	for i := range columns {
		if columns[i].Vec.Valid != 0 {
			nulls = make([]bool, hi-lo)
			break
		}
	}
	for i := range columns {
		if nulls == nil || columns[i].Vec.Valid == 0 {
			continue
		}
		for r := range nulls {
			nulls[r] = nulls[r] || columns[i].IsNull(lo+r)
		}
	}
	if c.Words() && len(columns) == len(c.Columns()) {
		if w, ok := packWords(c, columns, lo, hi); ok {
			return heap.Keys{Words: w}, nulls
		}
	}
	var b []byte
	for r := lo; r < hi; r++ {
		b = b[:0]
		for i := range columns {
			d := columns[i].Datum(r)
			b = c.Append(b, i, &d)
		}
		k := c.Key(b)
		if c.Words() {
			keys.Words = append(keys.Words, k.Word)
		} else {
			keys.Bytes = append(keys.Bytes, k.Bytes)
		}
	}
	return keys, nulls
}

// packWords makes word keys of integer columns a column at a time; it gives the
// same as Codec.Append.
func packWords(c *index.Codec, columns []arrow.Column, lo, hi int) ([]uint64, bool) {
	for i := range columns {
		if p := columns[i].Type.Phys(); columns[i].Vec.Dict != 0 || p > sqltype.PhysU64 {
			return nil, false
		}
	}
	out := make([]uint64, hi-lo)
	shift := 64
	for i := range columns {
		k := c.Columns()[i]
		shift -= 8 * k.Width()
		switch columns[i].Type.Phys() {
		case sqltype.PhysI8:
			pack[int8](out, &columns[i], lo, shift, k, 1<<7)
		case sqltype.PhysI16:
			pack[int16](out, &columns[i], lo, shift, k, 1<<15)
		case sqltype.PhysI32:
			pack[int32](out, &columns[i], lo, shift, k, 1<<31)
		case sqltype.PhysI64:
			pack[int64](out, &columns[i], lo, shift, k, 1<<63)
		case sqltype.PhysBool, sqltype.PhysU8:
			pack[uint8](out, &columns[i], lo, shift, k, 0)
		case sqltype.PhysU16:
			pack[uint16](out, &columns[i], lo, shift, k, 0)
		case sqltype.PhysU32:
			pack[uint32](out, &columns[i], lo, shift, k, 0)
		default:
			pack[uint64](out, &columns[i], lo, shift, k, 0)
		}
	}
	return out, true
}

// pack adds a column's part to keys. sign is the bit to invert.
func pack[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](out []uint64, c *arrow.Column, lo, shift int, k index.KeyColumn, sign uint64) {
	width := 8 * c.Type.Phys().Width()
	mask := ^uint64(0) >> (64 - width)
	flip := sign
	if k.Desc {
		flip ^= mask
	}
	var present, absent uint64
	if !k.NotNull {
		present = uint64(k.NullByte(sqltype.Datum{})) << width
		absent = uint64(k.NullByte(sqltype.Datum{Null: true})) << width
	}
	for r, v := range device.View[T](c.Vec.Data, lo+len(out))[lo:] {
		w := (uint64(v)&mask ^ flip) | present
		if c.Vec.Valid != 0 && c.IsNull(lo+r) {
			w = absent
		}
		out[r] |= w << shift
	}
}
