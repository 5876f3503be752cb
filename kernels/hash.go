package kernels

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

//gpu:layout
type hashArgs struct {
	Src   Vec
	Out   device.Ptr
	First uint32 // 1: the first column sets the hash, the others mix into it
	Phys  sqltype.Phys
}

var (
	hashKernels = [sqltype.NumPhys]*device.Kernel[hashArgs]{
		sqltype.PhysBool: {Name: "hash_bool", Code: codeHashBool, Host: hashIntHost[uint8]},
		sqltype.PhysI8:   {Name: "hash_i8", Code: codeHashI8, Host: hashIntHost[int8]},
		sqltype.PhysI16:  {Name: "hash_i16", Code: codeHashI16, Host: hashIntHost[int16]},
		sqltype.PhysI32:  {Name: "hash_i32", Code: codeHashI32, Host: hashIntHost[int32]},
		sqltype.PhysI64:  {Name: "hash_i64", Code: codeHashI64, Host: hashIntHost[int64]},
		sqltype.PhysU8:   {Name: "hash_u8", Code: codeHashU8, Host: hashIntHost[uint8]},
		sqltype.PhysU16:  {Name: "hash_u16", Code: codeHashU16, Host: hashIntHost[uint16]},
		sqltype.PhysU32:  {Name: "hash_u32", Code: codeHashU32, Host: hashIntHost[uint32]},
		sqltype.PhysU64:  {Name: "hash_u64", Code: codeHashU64, Host: hashIntHost[uint64]},
		sqltype.PhysF32:  {Name: "hash_f32", Code: codeHashF32, Host: hashF32Host},
		sqltype.PhysF64:  {Name: "hash_f64", Code: codeHashF64, Host: hashF64Host},
		sqltype.PhysI128: {Name: "hash_i128", Code: codeHashI128, Host: hashI128Host},
		sqltype.PhysStr:  {Name: "hash_str", Code: codeHashStr, Host: hashStrHost},
		sqltype.PhysSpan: {Name: "hash_span", Code: codeHashSpan, Host: hashSpanHost},
	}
	hashZero = &device.Kernel[hashArgs]{Name: "hash_zero", Code: codeHashZero, Host: func(a *hashArgs, lo, hi int) {
		clear(device.View[uint64](a.Out, hi)[lo:hi])
	}}
)

// Hash writes the 64-bit hash of each of n rows of cols to out. Equal rows hash
// alike: by content whether a string is flat or in a dictionary, -0 as 0, any
// NaN as one, a NULL as a value of its own. phys[i] is the form of cols[i].
func Hash(s device.Stream, cols []Vec, phys []sqltype.Phys, n int, out device.Ptr) error {
	first := uint32(1)
	for i, c := range cols {
		if err := device.Launch(s, hashKernels[phys[i]], n, hashArgs{Src: c, Out: out, First: first, Phys: phys[i]}); err != nil {
			return err
		}
		first = 0
	}
	if len(cols) == 0 {
		return HashZero(s, n, out)
	}
	return nil
}

// HashZero writes n hashes of 0: every row collides.
func HashZero(s device.Stream, n int, out device.Ptr) error {
	return device.Launch(s, hashZero, n, hashArgs{Out: out})
}

//gpu:layout
type partArgs struct {
	Hashes, Out, State, Count device.Ptr // see selectArgs
	Part, Parts               uint32
}

var selectPart = &device.Kernel[partArgs]{Name: "select_part", Steps: selectSteps(codeSelectPart, func(a *partArgs) device.Ptr { return a.State }), Host: func(a *partArgs, _, n int) {
	out := device.View[uint32](a.Out, n)
	k := 0
	for i, h := range device.View[uint64](a.Hashes, n) {
		out[k] = uint32(i)
		if uint32(h>>32*uint64(a.Parts)>>32) == a.Part {
			k++
		}
	}
	device.View[uint64](a.Count, 1)[0] = uint64(k)
}}

// SelectPart writes the numbers of those of n rows to out, which has
// SelectBytes(n), whose hash lies in that one of some equal parts of all
// hashes, and returns how many they are.
func SelectPart(s device.Stream, hashes device.Ptr, n, part, parts int, out device.Ptr) (int, error) {
	if n == 0 {
		return 0, nil
	}
	a := partArgs{Hashes: hashes, Out: out, State: out + device.Ptr(selectState(n)), Count: out + device.Ptr(SelectBytes(n)-8), Part: uint32(part), Parts: uint32(parts)}
	if err := device.Launch(s, selectPart, n, a); err != nil {
		return 0, err
	}
	return readCount(s, a.Count)
}

//gpu:layout
const (
	hashK0   = 0x9E3779B97F4A7C15
	hashK1   = 0xD6E8FEB86659FD93
	hashNull = 0x5851F42D4C957F2D
)

// mix is a multiply and fold: every input bit reaches the high and low half.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^hashK0, b^hashK1)
	return hi ^ lo
}

// HashWord is the hash of one integer, as Hash gives it.
func HashWord(v uint64) uint64 { return mix(v, hashK1>>1) }

func hashLoop(a *hashArgs, hi int, word func(i int) uint64) {
	out := device.View[uint64](a.Out, hi)
	valid := device.View[uint64](a.Src.Valid, (hi+63)/64)
	for i := range out {
		h := uint64(hashNull)
		if valid == nil || valid[i>>6]>>(i&63)&1 != 0 {
			h = word(i)
		}
		if a.First == 0 {
			h = mix(out[i], h)
		}
		out[i] = h
	}
}

func hashIntHost[T Integer](a *hashArgs, lo, hi int) {
	src := device.View[T](a.Src.Data, hi)
	out := device.View[uint64](a.Out, hi)
	if a.Src.Valid == 0 {
		out = out[:len(src)]
		if a.First != 0 {
			for i, v := range src {
				out[i] = HashWord(uint64(v))
			}
		} else {
			for i, v := range src {
				out[i] = mix(out[i], HashWord(uint64(v)))
			}
		}
		return
	}
	hashLoop(a, hi, func(i int) uint64 { return HashWord(uint64(src[i])) })
}

// FloatBits is a float's bits with one 0 and one NaN.
func FloatBits(f float64) uint64 {
	if f == 0 {
		return 0
	}
	if f != f {
		return 0x7FF8000000000001
	}
	return math.Float64bits(f)
}

func float32Bits(f float32) uint32 {
	if f == 0 {
		return 0
	}
	if f != f {
		return 0x7FC00001
	}
	return math.Float32bits(f)
}

func hashF64Host(a *hashArgs, lo, hi int) {
	src := device.View[float64](a.Src.Data, hi)
	hashLoop(a, hi, func(i int) uint64 { return HashWord(FloatBits(src[i])) })
}

func hashF32Host(a *hashArgs, lo, hi int) {
	src := device.View[float32](a.Src.Data, hi)
	hashLoop(a, hi, func(i int) uint64 { return HashWord(FloatBits(float64(src[i]))) })
}

func hashI128Host(a *hashArgs, lo, hi int) {
	src := device.View[[2]uint64](a.Src.Data, hi)
	hashLoop(a, hi, func(i int) uint64 { return mix(src[i][0], HashWord(src[i][1])) })
}

func hashSpanHost(a *hashArgs, lo, hi int) {
	src := device.View[Span](a.Src.Data, hi)
	hashLoop(a, hi, func(i int) uint64 {
		l, h := src[i].total()
		return mix(l, HashWord(h))
	})
}

func hashStrHost(a *hashArgs, lo, hi int) {
	if a.Src.Dict == 0 {
		src := device.View[View](a.Src.Data, hi)
		hashLoop(a, hi, func(i int) uint64 { return hashView(&src[i]) })
		return
	}
	codes := device.View[uint32](a.Src.Data, hi)
	dict := device.View[View](a.Src.Dict, int(a.Src.DictLen))
	hashLoop(a, hi, func(i int) uint64 { return hashView(&dict[codes[i]]) })
}

func hashView(v *View) uint64 {
	n := uint32(v.Lo)
	if n <= InlineLen {
		return mix(v.Lo, HashWord(v.Hi))
	}
	p := device.View[byte](device.Ptr(v.Hi), int(n))
	h := uint64(n)
	for len(p) >= 16 {
		h = mix(*(*uint64)(unsafe.Pointer(&p[0]))^h, *(*uint64)(unsafe.Pointer(&p[8])))
		p = p[16:]
	}
	var x, y uint64
	if len(p) >= 8 {
		x = *(*uint64)(unsafe.Pointer(&p[0]))
		p = p[8:]
	}
	for i, b := range p {
		y |= uint64(b) << (8 * i)
	}
	return mix(x^h, y)
}

// Integer is any integer form.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Span is an INTERVAL value.
//
//gpu:layout
type Span struct {
	Months, Days int32
	Micros       int64
}

// total is the span in microseconds as a 128-bit number, a month being 30 days
// and a day 24 hours: the order and equality of intervals.
func (v Span) total() (lo, hi uint64) {
	const day = 86_400_000_000
	days := int64(v.Months)*30 + int64(v.Days)
	h, l := bits.Mul64(uint64(days), day)
	if days < 0 {
		h -= day
	}
	l, c := bits.Add64(l, uint64(v.Micros), 0)
	h, _ = bits.Add64(h, uint64(v.Micros>>63), c)
	return l, h
}
