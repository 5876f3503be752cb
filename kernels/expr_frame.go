package kernels

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// results is where an instruction's values go; it also names them as the
// register's, without NULLs.
func results[T any](x *frame, in *Instr) []T {
	x.reg[in.Dst] = Vec{Data: x.data[in.Dst]}
	return device.View[T](x.data[in.Dst], x.n)
}

// vals are the n values of a register: a constant is spread out, a dictionary
// resolved.
func vals[T any](x *frame, r Reg) []T {
	v := &x.reg[r]
	switch {
	case v.Dict != 0:
		flatten[T](x, r)
	case x.prog.IsConst(r):
		return device.View[T](x.spreadConst(r, x.n), x.n)
	}
	return device.View[T](v.Data, x.n)
}

// operand is vals, but a constant is one value.
func operand[T any](x *frame, r Reg) []T {
	if x.prog.IsConst(r) {
		return device.View[T](x.reg[r].Data, 1)
	}
	return vals[T](x, r)
}

// pair is the operands of a binary instruction. At most one of them is a
// constant of length 1 where there are more rows.
func pair[T any](x *frame, in *Instr) (a, b []T) {
	a, b = operand[T](x, in.Args[0]), operand[T](x, in.Args[1])
	if len(a) == 1 && len(b) == 1 && x.n > 1 {
		a = vals[T](x, in.Args[0])
	}
	return a, b
}

// nth is a value of an operand.
func nth[T any](a []T, i int) T {
	if len(a) == 1 {
		return a[0]
	}
	return a[i]
}

// flatten replaces a register's codes by the values they stand for.
func flatten[T any](x *frame, r Reg) {
	v := x.reg[r]
	gatherCodes[T](x.data[r], v, x.n)
	x.reg[r] = Vec{Data: x.data[r], Valid: v.Valid}
}

// words is a bitmap of the chunk's rows; nil for address 0.
func (x *frame) words(p device.Ptr) []uint64 { return device.View[uint64](p, (x.n+63)/64) }

// maskWords is the rows of a mask; nil for all.
func (x *frame) maskWords(m Reg) []uint64 {
	if m == NoReg {
		return nil
	}
	return x.words(x.own[m])
}

// strictValid makes a row of the result NULL where an argument is. A single
// bitmap is shared and not copied.
func (x *frame) strictValid(in *Instr) {
	var v device.Ptr
	var own []uint64
	for _, a := range in.Args {
		b := x.reg[a].Valid
		switch {
		case b == 0 || b == v:
		case v == 0:
			v = b
		default:
			if own == nil {
				own = x.words(x.own[in.Dst])
				copy(own, x.words(v))
				v = x.own[in.Dst]
			}
			for w, bits := range x.words(b) {
				own[w] &= bits
			}
		}
	}
	x.reg[in.Dst].Valid = v
}

// rows are those that an instruction must compute: in its mask, and not NULL
// by strictValid. nil for all.
func (x *frame) rows(in *Instr) []uint64 {
	valid := x.words(x.reg[in.Dst].Valid)
	mask := x.maskWords(in.Mask)
	switch {
	case mask == nil:
		return valid
	case valid == nil:
		return mask
	}
	both := x.tmp[:len(mask)]
	for w := range both {
		both[w] = mask[w] & valid[w]
	}
	return both
}

// check looks for the first row to compute that is bad, and returns what fail
// makes of it. It is called when a quick test says that there may be one.
func (x *frame) check(in *Instr, bad func(i int) bool, fail func(i int) *sqltype.Error) error {
	rows := x.rows(in)
	for i := range x.n {
		if rows != nil && rows[i>>6]>>(i&63)&1 == 0 || !bad(i) {
			continue
		}
		if in.Flag&Speculative != 0 {
			return errSpill
		}
		return placed(fail(i), in)
	}
	return nil
}

// placed gives an error the instruction's position.
func placed(err *sqltype.Error, in *Instr) *sqltype.Error {
	if in.Pos > 0 {
		return err.At(in.Pos - 1)
	}
	return err
}

// failed gives an error of a function the instruction's position.
func (x *frame) failed(in *Instr, err error) error {
	var e *sqltype.Error
	if errors.As(err, &e) {
		return placed(e, in)
	}
	return err
}

// b2u is a BOOLEAN's byte.
func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// packBools is the bits of bytes 64*w to 64*w+63, fewer at the end.
func packBools(b []uint8, w int) uint64 {
	b = b[w*64:]
	if len(b) < 64 {
		var word uint64
		for i, v := range b {
			word |= uint64(v&1) << i
		}
		return word
	}
	var word uint64
	for k := 0; k < 64; k += 8 {
		// The product moves bit 0 of each byte to the top byte, in order.
		eight := binary.LittleEndian.Uint64(b[k:]) & 0x0101010101010101
		word |= eight * 0x0102040810204080 >> 56 << k
	}
	return word
}

// eights is bytes as words; the registers' room is a multiple of 64 bytes.
func eights(b []uint8) []uint64 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), (len(b)+7)/8)
}
