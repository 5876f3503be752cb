package index

import (
	"encoding/binary"
	"unsafe"

	"github.com/gpusql/gpusql/sqltype"
)

// Found is the rows that questions found, in the host's memory, and if they are
// asked for their keys: the columns of an index can then be read without its table.
type Found struct {
	Keys  bool   // are asked for
	Codec *Codec // reads them; who finds sets it
	Rows  []int64

	words []uint64 // as a Batch has them, a narrow key's in the upper half of a word
	tails []uint64
	key   []byte // scratch: a key's bytes
}

// Reset forgets what was found.
func (f *Found) Reset() { f.Rows, f.words, f.tails = f.Rows[:0], f.words[:0], f.tails[:0] }

// Add appends a row with its key, as it lies in the memory of an index that the
// host sees.
func (f *Found) Add(row int64, key unsafe.Pointer) {
	f.Rows = append(f.Rows, row)
	format := f.Codec.format
	if format.Narrow {
		f.words = append(f.words, uint64(*(*uint32)(key))<<32)
		return
	}
	words := unsafe.Slice((*uint64)(key), format.Size()/8)
	f.words = append(f.words, words...)
	if !format.Long {
		return
	}
	if end := &f.words[len(f.words)-1]; *end != 0 {
		tail := Tail(*end)
		*end = uint64(len(f.tails) + 1)
		f.tails = append(append(f.tails, uint64(len(tail))), tail...)
	}
}

// stride is the words of a key.
func (f *Found) stride() int {
	if f.Codec.format.Narrow {
		return 1
	}
	return f.Codec.format.Size() / 8
}

// bytes are those of key i; they are void with the next call.
func (f *Found) bytes(i int) []byte {
	f.key = appendKey(f.key[:0], f.Codec.format, f.words[i*f.stride():], f.tails)
	return f.key
}

// appendKey adds the bytes of the first key of words, with zeros behind them.
func appendKey(b []byte, f Format, words, tails []uint64) []byte {
	b = appendWords(b, words[:f.Words])
	if f.Long && words[f.Words] != 0 {
		tail := tails[words[f.Words]-1:]
		b = appendWords(b, tail[1:1+tail[0]])
	}
	return b
}

func appendWords(b []byte, words []uint64) []byte {
	for _, w := range words {
		b = binary.BigEndian.AppendUint64(b, w)
	}
	return b
}

// Datum is the value of a column in key i.
func (f *Found) Datum(i, column int) sqltype.Datum {
	key := f.bytes(i)
	for c := range column {
		key = key[f.Codec.extent(key, c):]
	}
	return f.Codec.datum(key, column)
}

// extent is the bytes of column i at the beginning of key.
func (c *Codec) extent(key []byte, i int) int {
	k := &c.columns[i]
	if k.Type.Phys() != sqltype.PhysStr {
		return k.Width()
	}
	n := 0
	if !k.NotNull {
		if n = 1; key[0] != k.NullByte(sqltype.Datum{}) {
			return n
		}
	}
	var end byte // twice
	if k.Desc {
		end = 0xFF
	}
	for key[n] != end || key[n+1] != end {
		n++
		if key[n-1] == end {
			n++ // what follows stands for itself
		}
	}
	return n + 2
}

// datum is the value of column i at the beginning of key.
func (c *Codec) datum(key []byte, i int) sqltype.Datum {
	k := &c.columns[i]
	key = key[:c.extent(key, i)]
	if !k.NotNull {
		if key[0] != k.NullByte(sqltype.Datum{}) {
			return sqltype.NullOf(k.Type)
		}
		key = key[1:]
	}
	if k.Carried {
		return sqltype.ReadExact(k.Type, string(key))
	}
	if k.Desc {
		for j := range key {
			key[j] = ^key[j]
		}
	}
	return sqltype.ReadOrdered(k.Type, string(key))
}

// KeyBytes are the bytes of key i without the carried columns. They are void with
// the next call.
func (f *Found) KeyBytes(i int) []byte { return f.Codec.cut(f.bytes(i)) }

// cut is a key without its carried columns.
func (c *Codec) cut(key []byte) []byte {
	n := 0
	for i := range c.keys {
		n += c.extent(key[n:], i)
	}
	return key[:n]
}

// Read writes column values from on to values, which are of its type's width, and
// clears the bits of NULLs in valid, which are ones. It reports false, and does
// nothing, for a column whose values are not numbers at one place of all keys:
// Datum reads these.
func (f *Found) Read(column, from, n int, values []byte, valid []uint64) bool {
	bit := 0
	for i := range column + 1 {
		p := f.Codec.columns[i].Type.Phys()
		if p == sqltype.PhysStr {
			return false
		}
		if i < column {
			bit += 8 * f.Codec.columns[i].Width()
		}
	}
	k := &f.Codec.columns[column]
	if p := k.Type.Phys(); p.Width() > 8 || !k.Carried && (p == sqltype.PhysF32 || p == sqltype.PhysF64) {
		return false
	}
	in := packedKeys{f.words[from*f.stride():], f.stride(), bit}
	if !k.NotNull {
		null := k.NullByte(sqltype.Datum{Null: true})
		bit += 8
		for i := range n {
			if byte(in.at(i, 8)) == null {
				valid[i/64] &^= 1 << (i % 64)
			}
		}
		in.bit = bit
	}
	var flip uint64
	switch k.Type.Phys() {
	case sqltype.PhysI8, sqltype.PhysI16, sqltype.PhysI32, sqltype.PhysI64:
		flip = 1 << (8*k.Type.Phys().Width() - 1)
	}
	if k.Desc && !k.Carried {
		flip = ^flip
	}
	switch k.Type.Phys().Width() {
	case 1:
		unpack[uint8](values, &in, n, flip)
	case 2:
		unpack[uint16](values, &in, n, flip)
	case 4:
		unpack[uint32](values, &in, n, flip)
	default:
		unpack[uint64](values, &in, n, flip)
	}
	return true
}

// packedKeys are keys of stride words each, of which bit is the first that is wanted.
type packedKeys struct {
	words  []uint64
	stride int
	bit    int
}

// at is the next width bits of key i, the low ones of the word.
func (p *packedKeys) at(i, width int) uint64 {
	words := p.words[i*p.stride+p.bit/64:]
	shift := 64 - p.bit%64 - width
	if shift >= 0 {
		return words[0] >> shift
	}
	return words[0]<<-shift | words[1]>>(64+shift)
}

func unpack[T uint8 | uint16 | uint32 | uint64](values []byte, in *packedKeys, n int, flip uint64) {
	var one T
	width := int(unsafe.Sizeof(one))
	out := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(values))), n)
	for i := range out {
		out[i] = T(in.at(i, 8*width) ^ flip)
	}
}
