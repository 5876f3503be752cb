package kernels

import (
	"math"

	"github.com/gpusql/gpusql/sqltype"
)

// Builder makes a Program. An instruction that was asked for before, for at
// least the same rows, is not repeated.
type Builder struct {
	inputs []Input
	consts []sqltype.Datum
	types  []sqltype.Type // of temporaries
	code   []Instr
	sets   []*Set
	funcs  []FuncRef
	seen   map[instrKey]Reg
	within map[Reg]Reg // the mask that a mask is part of
}

// While a program is built its registers are numbered by class from these
// bases, since it is not yet known how many of each there will be.
const (
	constBase Reg = 1 << 20
	tempBase  Reg = 1 << 24
)

type instrKey struct {
	op   Op
	phys sqltype.Phys
	flag Flag
	imm  int32
	mask Reg
	to   sqltype.Type
	args [3]Reg
	name string // of a function
}

// Input is the register of a column.
func (b *Builder) Input(column int, t sqltype.Type) Reg {
	for i, in := range b.inputs {
		if in.Column == column {
			return Reg(i)
		}
	}
	b.inputs = append(b.inputs, Input{Column: column, Type: t})
	return Reg(len(b.inputs) - 1)
}

// Const is the register of a constant.
func (b *Builder) Const(d sqltype.Datum) Reg {
	for i, c := range b.consts {
		// -0 is not 0 here, and NaN is NaN.
		if math.Float64bits(c.F) == math.Float64bits(d.F) {
			c.F, d.F = 0, 0
			if c == d {
				return constBase + Reg(i)
			}
			d.F = b.consts[i].F
		}
	}
	b.consts = append(b.consts, d)
	return constBase + Reg(len(b.consts)-1)
}

// Value is the constant in r, if it holds one.
func (b *Builder) Value(r Reg) (sqltype.Datum, bool) {
	if r < constBase || r >= tempBase {
		return sqltype.Datum{}, false
	}
	return b.consts[r-constBase], true
}

// Type is the type of a register.
func (b *Builder) Type(r Reg) sqltype.Type {
	switch {
	case r >= tempBase:
		return b.types[r-tempBase]
	case r >= constBase:
		return b.consts[r-constBase].Type
	}
	return b.inputs[r].Type
}

// Set adds a list for OpIn and returns its offset.
func (b *Builder) Set(s *Set) int32 {
	b.sets = append(b.sets, s)
	return int32(len(b.sets) - 1)
}

// Func adds a function for OpCall and returns its offset.
func (b *Builder) Func(f FuncRef) int32 {
	b.funcs = append(b.funcs, f)
	return int32(len(b.funcs) - 1)
}

// Emit adds in, with a new register of type t as its Dst, and returns that
// register. A mask that the instruction does not need is dropped.
func (b *Builder) Emit(in Instr, t sqltype.Type) Reg {
	if in.Op.IsCompare() {
		in = constRight(b, in)
	}
	if !needsMask(&in) {
		in.Mask = NoReg
	}
	key, shared := b.key(&in, t)
	if shared {
		for m := in.Mask; ; m = b.within[m] {
			key.mask = m
			if r, ok := b.seen[key]; ok {
				return r
			}
			if m == NoReg || in.Op.IsMask() { // a mask is of its own rows only
				break
			}
		}
	}
	in.Dst = tempBase + Reg(len(b.types))
	b.types = append(b.types, t)
	b.code = append(b.code, in)
	if shared {
		if b.seen == nil {
			b.seen = map[instrKey]Reg{}
		}
		key.mask = in.Mask
		b.seen[key] = in.Dst
	}
	if in.Op.IsMask() {
		if b.within == nil {
			b.within = map[Reg]Reg{}
		}
		b.within[in.Dst] = in.Mask
	}
	return in.Dst
}

// key identifies what an instruction computes; false when it is not to be
// shared: it has many arguments, a list, or differs from call to call.
func (b *Builder) key(in *Instr, t sqltype.Type) (instrKey, bool) {
	key := instrKey{op: in.Op, phys: in.Phys, flag: in.Flag, imm: in.Imm, mask: in.Mask, to: t}
	if len(in.Args) > len(key.args) || in.Op == OpIn {
		return key, false
	}
	for i := range key.args {
		key.args[i] = NoReg
	}
	copy(key.args[:], in.Args)
	if in.Op == OpCall {
		f := b.funcs[in.Imm]
		key.imm, key.name = 0, f.Name
		return key, !f.Volatile
	}
	return key, true
}

// constRight swaps a comparison with a constant on the left.
func constRight(b *Builder, in Instr) Instr {
	if _, ok := b.Value(in.Args[0]); !ok {
		return in
	}
	if _, ok := b.Value(in.Args[1]); ok {
		return in
	}
	in.Args = []Reg{in.Args[1], in.Args[0]}
	switch in.Op {
	case OpLt:
		in.Op = OpGt
	case OpLe:
		in.Op = OpGe
	case OpGt:
		in.Op = OpLt
	case OpGe:
		in.Op = OpLe
	}
	return in
}

// needsMask reports an instruction that could fail for a row outside its mask,
// would follow an address there, or costs enough for rows to be left out.
func needsMask(in *Instr) bool {
	switch in.Op {
	case OpAdd, OpSub, OpMul, OpNeg, OpScale:
		return in.Flag&Unchecked == 0
	case OpDiv, OpMod, OpDivDec, OpCast, OpFits, OpCall, OpMulWide:
		return true
	case OpEq, OpNe, OpLt, OpLe, OpGt, OpGe, OpDistinct, OpNotDistinct, OpIn:
		return in.Phys == sqltype.PhysStr
	case OpMaskTrue, OpMaskNotTrue, OpMaskNotFalse:
		return true
	}
	return false
}

// Finish makes the program of the results out. The Builder is used up.
func (b *Builder) Finish(out []Reg) *Program {
	p := &Program{Inputs: b.inputs, Consts: b.consts, Code: b.code, Sets: b.sets, Funcs: b.funcs}
	p.Types = make([]sqltype.Type, 0, len(b.inputs)+len(b.consts)+len(b.types))
	for _, in := range b.inputs {
		p.Types = append(p.Types, in.Type)
	}
	for _, c := range b.consts {
		p.Types = append(p.Types, c.Type)
	}
	p.Types = append(p.Types, b.types...)
	number := func(r Reg) Reg {
		switch {
		case r >= tempBase:
			return r - tempBase + Reg(len(b.inputs)+len(b.consts))
		case r >= constBase:
			return r - constBase + Reg(len(b.inputs))
		}
		return r // an input, or NoReg
	}
	for i := range p.Code {
		in := &p.Code[i]
		in.Dst, in.Mask = number(in.Dst), number(in.Mask)
		args := make([]Reg, len(in.Args))
		for j, a := range in.Args {
			args[j] = number(a)
		}
		in.Args = args
	}
	p.Out = make([]Reg, len(out))
	for i, r := range out {
		p.Out[i] = number(r)
	}
	if len(p.Code) > 0 && len(p.Inputs) > 0 {
		p.findRegions()
	}
	return p
}
