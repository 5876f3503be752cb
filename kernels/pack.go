package kernels

import (
	"fmt"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// KeyForm is how the columns of a key are held in a hash table.
type KeyForm uint8

// A key of fixed-width columns is packed into one or two words, so that equal
// keys are equal words; others keep their columns, and on the host groups
// keep those row by row.
const (
	KeyColumns KeyForm = iota
	KeyWord
	KeyPair
	KeyRow
)

// KeyLayout says how the columns of a key are packed.
//
//	word 0 from bit 0: each column's value, and after it a bit that is 1 for
//	NULL when the column may be NULL; a column does not straddle words
type KeyLayout struct {
	Form    KeyForm
	Phys    []sqltype.Phys
	word    []uint8
	shift   []uint8
	nullBit []bool

	// Of KeyRow, see rows.
	words     int     // of a key
	nullAt    []int16 // the bit of a column's NULLs; -1: it has none
	addresses uint64  // the words that are addresses of texts, if those are long
}

// NewKeyLayout plans the packing of columns of these forms; nullable[i] asks
// for a NULL of column i to be a value of its own.
func NewKeyLayout(phys []sqltype.Phys, nullable []bool) KeyLayout {
	l := KeyLayout{Phys: phys, nullBit: nullable, word: make([]uint8, len(phys)), shift: make([]uint8, len(phys))}
	var used [2]int
	for i, p := range phys {
		bits := 8 * p.Width()
		if p == sqltype.PhysStr || p == sqltype.PhysI128 || p == sqltype.PhysSpan {
			return l
		}
		null := 0
		if nullable[i] {
			null = 1
		}
		switch {
		case used[0]+bits+null <= 64:
			l.word[i], l.shift[i] = 0, uint8(used[0])
			used[0] += bits + null
		case used[1]+bits+null <= 64:
			l.word[i], l.shift[i] = 1, uint8(used[1])
			used[1] += bits + null
		case bits == 64 && len(phys) == 1: // the NULL's bit is in the other word
			l.word[i], l.shift[i] = 0, 0
			used[0], used[1] = 64, 1
		default:
			return l
		}
	}
	l.Form = KeyWord
	if used[1] > 0 {
		l.Form = KeyPair
	}
	return l
}

// Width is the bytes of a packed key.
func (l *KeyLayout) Width() int {
	switch l.Form {
	case KeyWord:
		return 8
	case KeyPair:
		return 16
	case KeyRow:
		return 8 * l.words
	case KeyColumns:
		return 0
	default:
		panic(fmt.Sprintf("kernels: key form %d", l.Form))
	}
}

//gpu:layout
type packArgs struct {
	Src    Vec
	Out    device.Ptr
	Stride uint32 // words of a key
	Word   uint32
	Shift  uint8
	Null   uint8 // 1: NULL has a bit
	First  uint8 // 1: the word is set, not added to
	Bits   uint8
	N      int64
}

var packKernels = map[sqltype.Phys]*device.Kernel[packArgs]{
	sqltype.PhysBool: {Name: "pack_bool", Code: codePack1, Host: packHost[uint8]},
	sqltype.PhysI8:   {Name: "pack_i8", Code: codePack1, Host: packHost[uint8]},
	sqltype.PhysU8:   {Name: "pack_u8", Code: codePack1, Host: packHost[uint8]},
	sqltype.PhysI16:  {Name: "pack_i16", Code: codePack2, Host: packHost[uint16]},
	sqltype.PhysU16:  {Name: "pack_u16", Code: codePack2, Host: packHost[uint16]},
	sqltype.PhysI32:  {Name: "pack_i32", Code: codePack4, Host: packHost[uint32]},
	sqltype.PhysU32:  {Name: "pack_u32", Code: codePack4, Host: packHost[uint32]},
	sqltype.PhysI64:  {Name: "pack_i64", Code: codePack8, Host: packHost[uint64]},
	sqltype.PhysU64:  {Name: "pack_u64", Code: codePack8, Host: packHost[uint64]},
	sqltype.PhysF32:  {Name: "pack_f32", Code: codePackF32, Host: packF32Host},
	sqltype.PhysF64:  {Name: "pack_f64", Code: codePackF64, Host: packF64Host},
}

var unpackKernels = map[int]*device.Kernel[packArgs]{
	1: {Name: "unpack1", Code: codeUnpack1, Host: unpackHost[uint8]},
	2: {Name: "unpack2", Code: codeUnpack2, Host: unpackHost[uint16]},
	4: {Name: "unpack4", Code: codeUnpack4, Host: unpackHost[uint32]},
	8: {Name: "unpack8", Code: codeUnpack8, Host: unpackHost[uint64]},
}

func (l *KeyLayout) args(i int) packArgs {
	a := packArgs{Stride: uint32(l.Width() / 8), Word: uint32(l.word[i]), Shift: l.shift[i], Bits: uint8(8 * l.Phys[i].Width())}
	if l.nullBit[i] && l.Form != KeyRow {
		a.Null = 1
	}
	if l.shift[i] == 0 {
		a.First = 1
	}
	return a
}

// Pack writes the packed keys of n rows to out.
func (l *KeyLayout) Pack(s device.Stream, cols []Vec, n int, out device.Ptr) error {
	if l.Form == KeyRow {
		return l.packRows(s, cols, n, out)
	}
	for i, c := range cols {
		a := l.args(i)
		a.Src, a.Out = c, out
		if err := device.Launch(s, packKernels[l.Phys[i]], n, a); err != nil {
			return err
		}
	}
	return nil
}

// Unpack writes column i of n packed keys to dst, which has a bitmap when the
// column may be NULL.
func (l *KeyLayout) Unpack(s device.Stream, i int, keys device.Ptr, n int, dst Vec) error {
	if l.Form == KeyRow {
		return l.unpackRows(s, i, keys, n, dst)
	}
	a := l.args(i)
	a.Src, a.Out = dst, keys
	return device.Launch(s, unpackKernels[l.Phys[i].Width()], n, a)
}

func packLoop(a *packArgs, hi int, bits func(i int) uint64) {
	stride, at := int(a.Stride), int(a.Word)
	out := device.View[uint64](a.Out, hi*stride)
	valid := device.View[uint64](a.Src.Valid, (hi+63)/64)
	if a.Bits == 64 && a.Null != 0 { // value and NULL in two words
		for i := 0; i < hi; i++ {
			v, null := bits(i), uint64(0)
			if valid != nil && valid[i>>6]>>(i&63)&1 == 0 {
				v, null = 0, 1
			}
			out[i*stride], out[i*stride+1] = v, null
		}
		return
	}
	for i, j := 0, at; i < hi; i, j = i+1, j+stride {
		v := bits(i)
		if valid != nil && valid[i>>6]>>(i&63)&1 == 0 {
			v = 0
			if a.Null != 0 {
				v = 1 << a.Bits
			}
		}
		if a.First != 0 {
			out[j] = v
		} else {
			out[j] |= v << a.Shift
		}
	}
}

func packHost[T uint8 | uint16 | uint32 | uint64](a *packArgs, lo, hi int) {
	src := device.View[T](a.Src.Data, hi)
	if a.Src.Valid == 0 && a.Stride == 1 {
		out := device.View[uint64](a.Out, hi)[:len(src)]
		if a.First != 0 {
			for i, v := range src {
				out[i] = uint64(v)
			}
		} else {
			for i, v := range src {
				out[i] |= uint64(v) << a.Shift
			}
		}
		return
	}
	packLoop(a, hi, func(i int) uint64 { return uint64(src[i]) })
}

func packF64Host(a *packArgs, lo, hi int) {
	src := device.View[float64](a.Src.Data, hi)
	packLoop(a, hi, func(i int) uint64 { return FloatBits(src[i]) })
}

func packF32Host(a *packArgs, lo, hi int) {
	src := device.View[float32](a.Src.Data, hi)
	packLoop(a, hi, func(i int) uint64 { return uint64(float32Bits(src[i])) })
}

func unpackHost[T uint8 | uint16 | uint32 | uint64](a *packArgs, lo, hi int) {
	stride, at := int(a.Stride), int(a.Word)
	keys := device.View[uint64](a.Out, hi*stride)
	dst := device.View[T](a.Src.Data, hi)
	for i := range dst {
		dst[i] = T(keys[i*stride+at] >> a.Shift)
	}
	if a.Src.Valid == 0 {
		return
	}
	valid := device.View[uint64](a.Src.Valid, (hi+63)/64)
	clear(valid)
	for i := range dst {
		var null uint64
		switch {
		case a.Null == 0:
		case a.Bits == 64:
			null = keys[i*stride+1]
		default:
			null = keys[i*stride+at] >> (a.Shift + a.Bits) & 1
		}
		valid[i>>6] |= (null ^ 1) << (i & 63)
	}
}
