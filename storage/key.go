package storage

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// addKeys appends the keys of rows lo to hi of columns, the first key columns, to
// a batch. nulls, if not nil, says which keys have a NULL.
func addKeys(b *index.Batch, c *index.Codec, columns []arrow.Column, lo, hi int) (nulls []bool) {
	for i := range columns {
		if columns[i].Vec.Valid == 0 || c.Columns()[i].Carried {
			continue
		}
		if nulls == nil {
			nulls = make([]bool, hi-lo)
		}
		for r := range nulls {
			nulls[r] = nulls[r] || columns[i].IsNull(lo+r)
		}
	}
	if packs(c, columns) {
		packAll(b, c, columns, lo, hi)
		return nulls
	}
	var key []byte
	for r := lo; r < hi; r++ {
		key = key[:0]
		for i := range columns {
			d := columns[i].Datum(r)
			key = c.Append(key, i, &d)
		}
		b.Add(key)
	}
	return nulls
}

// packs reports whether packAll can make the keys: all of integers, and carried
// floats, which are their bits.
func packs(c *index.Codec, columns []arrow.Column) bool {
	for i := range columns {
		p := columns[i].Type.Phys()
		float := p == sqltype.PhysF32 || p == sqltype.PhysF64
		if columns[i].Vec.Dict != 0 || p > sqltype.PhysU64 && !(float && c.Columns()[i].Carried) {
			return false
		}
	}
	return !c.Format().Long && len(columns) == len(c.Columns())
}

// packAll makes keys of integer columns a column at a time; it gives the same as
// Codec.Append.
func packAll(b *index.Batch, c *index.Codec, columns []arrow.Column, lo, hi int) {
	f := c.Format()
	var out packed
	if f.Narrow {
		out = packed{make([]uint64, hi-lo), 1, 0}
	} else {
		out = packed{b.Words(hi - lo), f.Words, 0}
	}
	for i := range columns {
		k := c.Columns()[i]
		switch columns[i].Type.Phys() {
		case sqltype.PhysI8:
			pack[int8](&out, &columns[i], lo, k, 1<<7)
		case sqltype.PhysI16:
			pack[int16](&out, &columns[i], lo, k, 1<<15)
		case sqltype.PhysI32:
			pack[int32](&out, &columns[i], lo, k, 1<<31)
		case sqltype.PhysI64:
			pack[int64](&out, &columns[i], lo, k, 1<<63)
		case sqltype.PhysBool, sqltype.PhysU8:
			pack[uint8](&out, &columns[i], lo, k, 0)
		case sqltype.PhysU16:
			pack[uint16](&out, &columns[i], lo, k, 0)
		case sqltype.PhysU32, sqltype.PhysF32:
			pack[uint32](&out, &columns[i], lo, k, 0)
		default:
			pack[uint64](&out, &columns[i], lo, k, 0)
		}
	}
	if f.Narrow {
		narrow := b.Narrow(hi - lo)
		for i := range narrow {
			narrow[i] = uint32(out.words[i] >> 32)
		}
	}
}

// packed are keys that are being made, of some words each; bit at of them comes next.
type packed struct {
	words  []uint64
	stride int
	at     int
}

// pack adds a column's part to keys. sign is the bit to invert.
func pack[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](out *packed, c *arrow.Column, lo int, k index.KeyColumn, sign uint64) {
	width := 8 * c.Type.Phys().Width()
	mask := ^uint64(0) >> (64 - width)
	flip := sign
	if k.Desc {
		flip ^= mask
	}
	values := device.View[T](c.Vec.Data, lo+len(out.words)/out.stride)[lo:]
	if !k.NotNull {
		present, absent := uint64(k.NullByte(sqltype.Datum{})), uint64(k.NullByte(sqltype.Datum{Null: true}))
		word, shift := out.at/64, 64-out.at%64-8
		for r := range values {
			b := present
			if c.Vec.Valid != 0 && c.IsNull(lo+r) {
				b = absent
			}
			out.words[r*out.stride+word] |= b << shift
		}
		out.at += 8
	}
	word, shift := out.at/64, 64-out.at%64-width
	for r, v := range values {
		if c.Vec.Valid != 0 && c.IsNull(lo+r) {
			continue // zeros
		}
		w := uint64(v)&mask ^ flip
		if shift >= 0 {
			out.words[r*out.stride+word] |= w << shift
			continue
		}
		out.words[r*out.stride+word] |= w >> -shift
		out.words[r*out.stride+word+1] |= w << (64 + shift)
	}
	out.at += width
}
