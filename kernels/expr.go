package kernels

import (
	"fmt"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// Program is a set of expressions made into data: a list of typed instructions
// over registers, one instruction after the other, without jumps. A Builder
// makes it, once a query; it never changes, and any number of Evaluators may
// run it at the same time.
//
// A register holds one value per row and is written once. First come the
// inputs, then the constants, then what the instructions make:
//
//	0 .. len(Inputs)-1     columns of the batch
//	.. +len(Consts)-1      constants, one value for all rows
//	.. len(Types)-1        temporaries and masks
type Program struct {
	Inputs []Input
	Consts []sqltype.Datum
	Types  []sqltype.Type // of every register; a mask's is BOOLEAN
	Code   []Instr
	Out    []Reg // the results, in order
	Sets   []*Set
	Funcs  []FuncRef
	// Wide gives the same results with all DECIMALs of more than 18 digits in
	// 128 bits. It is set when this program computes them in 64 bits and has
	// Speculative instructions, which may find that they do not fit.
	Wide *Program

	regions []region // what may be run on a dictionary, see expr_dict.go
}

// Input is a column that a program reads: its offset among the batch's columns.
type Input struct {
	Column int
	Type   sqltype.Type
}

// FuncRef is a scalar function that a program calls.
type FuncRef struct {
	Name string
	Call ScalarFunc
	// NullIn: the code sees rows where an argument is NULL. Volatile: two calls
	// with the same arguments may differ.
	NullIn, Volatile bool
}

// Reg names a register of a program.
type Reg int32

// NoReg is no register: as Instr.Mask it stands for all rows.
const NoReg Reg = -1

// Instr is one instruction: Dst = Op(Args...) for the rows of Mask.
//
// What is written for a row outside Mask is unspecified, and nothing there is
// an error. A row where a strict instruction has a NULL argument is NULL.
type Instr struct {
	Op   Op
	Phys sqltype.Phys // the form of the operands
	Flag Flag
	Dst  Reg
	Mask Reg
	Args []Reg
	Imm  int32 // by Op: a power of ten, an offset in Sets or in Funcs
	Pos  int   // for errors: byte offset in the statement plus one, 0 not known
}

// Flag refines an instruction.
//
//gpu:layout
type Flag uint8

//gpu:layout
const (
	// Unchecked: the result cannot overflow, by its type.
	Unchecked Flag = 1 << iota
	// Speculative: an overflow is no error, the rows are computed by Program.Wide.
	Speculative
	// Try: a value that cannot be converted becomes NULL.
	Try
)

// Op is what an instruction does.
//
//gpu:layout
type Op uint8

// The instructions. Masks are bitmaps of rows; they are made by the three
// OpMask instructions, which take a BOOLEAN and are within Instr.Mask.
//
//gpu:layout
const (
	OpAdd Op = iota // arithmetic on Phys; DECIMALs of one scale
	OpSub
	OpMul
	OpDiv
	OpMod
	OpNeg
	OpBitAnd
	OpBitOr
	OpBitXor
	OpBitNot
	OpShl
	OpShr
	OpMulWide // I64 * I64 giving I128
	OpDivDec  // DECIMALs in I128: a * 10^Imm / b, rounded
	OpScale   // I64, I128: a * 10^Imm, or for a negative Imm divided and rounded
	OpEq      // comparisons on Phys, giving BOOLEAN
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpDistinct
	OpNotDistinct
	OpAnd // three-valued, of two
	OpOr
	OpNot
	OpIsNull
	OpIn           // Args[0] is in Sets[Imm]
	OpCase         // Args: mask, value, mask, value, ..., value of the rest
	OpMaskTrue     // rows where Args[0] is TRUE
	OpMaskNotTrue  // rows where Args[0] is FALSE or NULL
	OpMaskNotFalse // rows where Args[0] is TRUE or NULL
	OpCast         // Args[0] to the type of Dst
	OpFits         // DECIMAL in I128 or I64: an error beyond the digits of Dst's type
	OpCall         // Funcs[Imm](Args...)
	numOps
)

var opNames = [numOps]string{
	"add", "sub", "mul", "div", "mod", "neg", "bitand", "bitor", "bitxor", "bitnot", "shl", "shr",
	"mul_wide", "div_dec", "scale", "eq", "ne", "lt", "le", "gt", "ge", "distinct", "not_distinct",
	"and", "or", "not", "is_null", "in", "case", "mask_true", "mask_not_true", "mask_not_false",
	"cast", "fits", "call",
}

func (o Op) String() string {
	if o < numOps {
		return opNames[o]
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// IsMask reports an instruction that makes a mask.
func (o Op) IsMask() bool { return o >= OpMaskTrue && o <= OpMaskNotFalse }

// IsCompare reports a comparison.
func (o Op) IsCompare() bool { return o >= OpEq && o <= OpNotDistinct }

// IsConst reports that r holds a constant.
func (p *Program) IsConst(r Reg) bool {
	return int(r) >= len(p.Inputs) && int(r) < len(p.Inputs)+len(p.Consts)
}

// Const is the value of a constant register.
func (p *Program) Const(r Reg) sqltype.Datum { return p.Consts[int(r)-len(p.Inputs)] }

// String lists the program, one instruction a line.
func (p *Program) String() string {
	var b strings.Builder
	for i := range p.Code {
		in := &p.Code[i]
		fmt.Fprintf(&b, "%-5s = %s", p.regName(in.Dst), in.Op)
		if !in.Op.IsMask() {
			fmt.Fprintf(&b, ".%s", in.Phys)
		}
		switch in.Op {
		case OpScale, OpDivDec:
			fmt.Fprintf(&b, " 10^%d", in.Imm)
		case OpCall:
			fmt.Fprintf(&b, " %s", p.Funcs[in.Imm].Name)
		}
		for j, a := range in.Args {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteByte(' ')
			b.WriteString(p.regName(a))
		}
		if in.Op == OpIn {
			fmt.Fprintf(&b, ", %s", p.Sets[in.Imm])
		}
		if !in.Op.IsMask() {
			fmt.Fprintf(&b, " -> %s", p.Types[in.Dst])
		}
		if in.Flag&Unchecked != 0 {
			b.WriteString(" unchecked")
		}
		if in.Flag&Speculative != 0 {
			b.WriteString(" speculative")
		}
		if in.Flag&Try != 0 {
			b.WriteString(" try")
		}
		if in.Mask != NoReg {
			fmt.Fprintf(&b, " where %s", p.regName(in.Mask))
		}
		b.WriteByte('\n')
	}
	b.WriteString("return")
	for i, r := range p.Out {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte(' ')
		b.WriteString(p.regName(r))
	}
	b.WriteByte('\n')
	return b.String()
}

// regName is how a listing writes a register: col3 for an input, the value of
// a constant, r7 for a temporary, m8 for a mask.
func (p *Program) regName(r Reg) string {
	switch {
	case int(r) < len(p.Inputs):
		return fmt.Sprintf("col%d", p.Inputs[r].Column)
	case p.IsConst(r):
		d := p.Const(r)
		switch {
		case d.Null:
			return "NULL"
		case d.Type.Kind.IsString():
			return fmt.Sprintf("%q", d.S)
		}
		return d.String()
	}
	for i := range p.Code {
		if p.Code[i].Dst == r && p.Code[i].Op.IsMask() {
			return fmt.Sprintf("m%d", r)
		}
	}
	return fmt.Sprintf("r%d", r)
}
