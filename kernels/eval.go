package kernels

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// A program on a device with memory of its own is run whole by one launch. It
// goes there once, as evalInstrs; a value is a word of 64 bits in a slot, or two
// in neighbouring ones, and whether it is known is a bit. A row that the device
// finds bad is fetched and run here, so that errors are made in one place.

//gpu:layout
type evalArg struct {
	Slot int16 // of the file; below 0 the constant with the number ^Slot
	Bit  int16
}

//gpu:layout
type evalInstr struct {
	Do    Op
	Form  sqltype.Phys
	Flags Flag
	To    sqltype.Phys // of the result
	Dst   int16        // slot
	Bit   int16        // of the result, or the mask that is made
	Mask  int16        // -1: all rows
	Args  int16
	A, B  evalArg
	Imm   int32
	List  uint32    // words into the lists
	X, Y  [2]uint64 // numbers by instruction: a power of ten, limits
}

//gpu:layout
type evalColumn struct {
	Col       Vec
	Slot, Bit int16
	Form      sqltype.Phys
	_         [3]uint8
}

//gpu:layout
type evalLaunch struct {
	Code, Consts, Lists device.Ptr
	Columns             device.Ptr // inputs, then results
	Bad                 device.Ptr // ^row of the first bad row, and of the first that needs the wide program; bytes of Text
	Text                device.Ptr // room for the bytes of strings that are made
	Room                uint64     // how many bytes that has
	Scratch             device.Ptr // slots, where shared memory has no room for them; else 0
	Status              device.Ptr
	Instrs, Slots       uint32
	Inputs, Outs        uint32
}

// What a cast does, in Imm.
//
//gpu:layout
const (
	castInt           = iota // X, Y unused
	castIntFloat             //
	castFloatInt             // X: the least, and the first beyond the greatest
	castFloat                //
	castDecimalFloat         // X: the power of ten, as a double and whole
	castWiden                // to 128 bits
	castNarrow               // X: the least and the greatest
	castDateTimestamp        //
	castTimestampDate        //
	castTimestampTime        //
	castSame                 //
	castWideFloat            // X: the power of ten
	castIntText              //
)

// NotOnDeviceError says what of a program has no code for a device with memory
// of its own.
type NotOnDeviceError struct{ What string }

func (e *NotOnDeviceError) Error() string { return e.What + " has no code for this device" }

const (
	evalBits  = 128     // a row's bits
	evalSlots = 24      // slots that shared memory has room for
	evalBlock = 2 * 128 // rows of a block
)

// deviceProgram is a Program as evalInstrs.
type deviceProgram struct {
	code   []evalInstr
	consts []uint64 // two a constant; those of long strings wait for their address
	lists  []uint64
	texts  []longText // long strings among consts and lists
	short  []bool     // by constant: a string that a View holds by itself
	inputs []evalColumn
	outs   []evalColumn
	values []evalArg // where each of the program's results is
	slots  int
	fails  bool // an instruction may find a bad row
	makes  bool // an instruction makes strings
}

// longText is a string whose view's second word, at consts or lists, is its address.
type longText struct {
	text string
	word *uint64
}

// lowering makes a deviceProgram.
type lowering struct {
	*deviceProgram
	p     *Program
	arg   []evalArg // by register
	free  [3][]int16
	bits  []int16  // free ones
	most  int16    // bits in use at most
	last  []int    // the last instruction that reads a register; len(Code): it is a result
	links []func() // what finds the words of long strings
}

// CheckDevice reports what of the program a device with memory of its own
// cannot run: a *NotOnDeviceError, or nil.
func (p *Program) CheckDevice() error {
	_, err := p.lower()
	return err
}

func (p *Program) lower() (*deviceProgram, error) {
	l := &lowering{deviceProgram: &deviceProgram{}, p: p, arg: make([]evalArg, len(p.Types)), last: make([]int, len(p.Types)), most: 2}
	for i := range p.Code {
		for _, a := range p.Code[i].Args {
			l.last[a] = i
		}
		if m := p.Code[i].Mask; m != NoReg {
			l.last[m] = i
		}
	}
	for _, r := range p.Out {
		l.last[r] = len(p.Code)
	}
	for i, in := range p.Inputs {
		r := Reg(i)
		l.place(r)
		l.inputs = append(l.inputs, evalColumn{Slot: l.arg[r].Slot, Bit: l.arg[r].Bit, Form: in.Type.Phys()})
	}
	for i, d := range p.Consts {
		l.constant(Reg(len(p.Inputs)+i), i, d)
	}
	for i := range p.Code {
		if err := l.instr(i, &p.Code[i]); err != nil {
			return nil, err
		}
	}
	for i, r := range p.Out {
		l.values = append(l.values, l.arg[r])
		if !p.isResult(i, r) {
			continue
		}
		l.outs = append(l.outs, evalColumn{Slot: l.arg[r].Slot, Bit: l.arg[r].Bit, Form: p.Types[r].Phys()})
	}
	if l.most > evalBits {
		return nil, &NotOnDeviceError{fmt.Sprintf("an expression with %d values at a time", l.most)}
	}
	for _, link := range l.links { // the words stay where they are now
		link()
	}
	return l.deviceProgram, nil
}

// isResult reports that result i, register r, is computed and not the same as one before.
func (p *Program) isResult(i int, r Reg) bool {
	return int(r) >= len(p.Inputs) && slices.Index(p.Out, r) == i
}

func words(p sqltype.Phys) int {
	if p.Width() > 8 {
		return 2
	}
	return 1
}

// place gives a register slots and a bit.
func (l *lowering) place(r Reg) {
	n := words(l.p.Types[r].Phys())
	a := &l.arg[r]
	if f := l.free[n]; len(f) > 0 {
		a.Slot, l.free[n] = f[len(f)-1], f[:len(f)-1]
	} else {
		a.Slot = int16(l.slots)
		l.slots += n
	}
	a.Bit = l.bit()
}

func (l *lowering) bit() int16 {
	if n := len(l.bits); n > 0 {
		b := l.bits[n-1]
		l.bits = l.bits[:n-1]
		return b
	}
	l.most++
	return l.most - 1
}

// constant gives a constant its words; its bit is one of the first two.
func (l *lowering) constant(r Reg, i int, d sqltype.Datum) {
	l.arg[r] = evalArg{Slot: int16(^i)}
	l.consts = append(l.consts, 0, 0)
	l.short = append(l.short, !d.Null && d.Type.Phys() == sqltype.PhysStr && len(d.S) <= InlineLen)
	if d.Null {
		l.arg[r].Bit = 1
		return
	}
	w := datumWords(d)
	copy(l.consts[2*i:], w[:])
	if d.Type.Phys() == sqltype.PhysStr && len(d.S) > InlineLen {
		l.links = append(l.links, func() { l.texts = append(l.texts, longText{d.S, &l.consts[2*i+1]}) })
	}
}

// datumWords are a value's two words; of a long string the second is its address.
func datumWords(d sqltype.Datum) (w [2]uint64) {
	switch p := d.Type.Phys(); p {
	case sqltype.PhysStr:
		if len(d.S) <= InlineLen {
			v := inlineView(d.S)
			return [2]uint64{v.Lo, v.Hi}
		}
		v := inlineView(d.S[:4])
		return [2]uint64{v.Lo&^0xffffffff | uint64(len(d.S)), 0}
	case sqltype.PhysF32:
		w[0] = uint64(math.Float32bits(float32(d.F)))
	case sqltype.PhysF64:
		w[0] = math.Float64bits(d.F)
	case sqltype.PhysI128, sqltype.PhysSpan:
		storeDatum(unsafe.Pointer(&w), d, View{})
	default:
		w[0] = uint64(d.I)
	}
	return w
}

// instr lowers instruction i.
func (l *lowering) instr(i int, in *Instr) error {
	p := l.p
	e := evalInstr{Do: in.Op, Form: in.Phys, Flags: in.Flag, To: p.Types[in.Dst].Phys(), Mask: -1, Imm: in.Imm, Args: int16(len(in.Args))}
	if in.Mask != NoReg {
		e.Mask = l.arg[in.Mask].Bit
	}
	known := evalArg{Slot: -1} // of an argument that is not there: the first bit
	e.A, e.B = known, known
	if len(in.Args) > 0 {
		e.A = l.arg[in.Args[0]]
	}
	if len(in.Args) > 1 {
		e.B = l.arg[in.Args[1]]
	}
	if err := l.refine(in, &e); err != nil {
		return err
	}
	if in.Op == OpCase {
		e.List = uint32(len(l.lists))
		for _, a := range in.Args {
			l.lists = append(l.lists, uint64(uint16(l.arg[a].Slot))|uint64(uint16(l.arg[a].Bit))<<16)
		}
	}
	// The result may not lie on an argument: the rows of a thread go one by one,
	// but a value of two words is written word by word.
	if in.Op.IsMask() {
		l.arg[in.Dst].Bit = l.bit()
	} else {
		l.place(in.Dst)
	}
	e.Dst, e.Bit = l.arg[in.Dst].Slot, l.arg[in.Dst].Bit
	l.code = append(l.code, e)
	l.release(i, in)
	return nil
}

// release frees what instruction i reads last.
func (l *lowering) release(i int, in *Instr) {
	regs := in.Args
	if in.Mask != NoReg {
		regs = append(slices.Clone(regs), in.Mask)
	}
	for k, r := range regs {
		if l.last[r] != i || l.p.IsConst(r) || slices.Index(regs, r) != k {
			continue
		}
		l.bits = append(l.bits, l.arg[r].Bit)
		if !l.isMask(r) {
			n := words(l.p.Types[r].Phys())
			l.free[n] = append(l.free[n], l.arg[r].Slot)
		}
	}
}

func (l *lowering) isMask(r Reg) bool {
	for i := range l.p.Code {
		if l.p.Code[i].Dst == r {
			return l.p.Code[i].Op.IsMask()
		}
	}
	return false
}

// refine fills in what an instruction needs beside its arguments.
func (l *lowering) refine(in *Instr, e *evalInstr) error {
	dst := l.p.Types[in.Dst]
	switch {
	case in.Op <= OpShr:
		l.fails = l.fails || in.Op == OpDiv || in.Op == OpMod || in.Op <= OpNeg && in.Flag&Unchecked == 0
		if in.Op == OpMod && (in.Phys == sqltype.PhysF32 || in.Phys == sqltype.PhysF64) {
			return &NotOnDeviceError{"the remainder of floating-point numbers"}
		}
		return nil
	case in.Op == OpDivDec:
		e.X, e.Y = tenTo(int(in.Imm)), tenTo(int(dst.Precision))
		l.fails = true
	case in.Op == OpScale:
		e.X = tenTo(max(int(in.Imm), -int(in.Imm)))
		l.fails = l.fails || in.Flag&Unchecked == 0
	case in.Op == OpFits:
		e.X = tenTo(int(dst.Precision))
		l.fails = true
	case in.Op == OpIn:
		e.List = l.set(l.p.Sets[in.Imm], in.Phys)
	case in.Op == OpCast:
		l.fails = true
		return l.cast(l.p.Types[in.Args[0]], dst, e)
	case in.Op == OpCall:
		l.fails = true
		return l.call(in, e)
	}
	return nil
}

// tenTo is a power of ten in two words.
func tenTo(n int) [2]uint64 {
	v := sqltype.Pow10(n)
	return [2]uint64{v.Lo, uint64(v.Hi)}
}

// set writes a list: how many, the mask of its table, whether NULL is in it.
func (l *lowering) set(s *Set, p sqltype.Phys) uint32 {
	at := len(l.lists)
	null := uint64(b2u(s.HasNull))
	if s.used != nil {
		l.lists = append(l.lists, uint64(len(s.Values)), uint64(len(s.ints)-1), null)
		for i, v := range s.ints {
			l.lists = append(l.lists, uint64(v), uint64(b2u(s.used[i])))
		}
		return uint32(at)
	}
	l.lists = append(l.lists, uint64(len(s.Values)), 0, null)
	for _, d := range s.Values {
		w := datumWords(d)
		switch p {
		case sqltype.PhysStr:
			if len(d.S) > InlineLen {
				i := len(l.lists) + 1
				l.links = append(l.links, func() { l.texts = append(l.texts, longText{d.S, &l.lists[i]}) })
			}
			l.lists = append(l.lists, w[:]...)
		case sqltype.PhysSpan:
			total := d.Span().Length()
			l.lists = append(l.lists, total.Lo, uint64(total.Hi))
		case sqltype.PhysI128:
			l.lists = append(l.lists, w[:]...)
		default:
			l.lists = append(l.lists, w[0])
		}
	}
	return uint32(at)
}

// cast chooses what a conversion does; pairs that go through text have no code.
func (l *lowering) cast(from, to sqltype.Type, e *evalInstr) error {
	f, t := from.Kind, to.Kind
	stamp := func(k sqltype.Kind) bool { return k == sqltype.KindTimestamp || k == sqltype.KindTimestampTZ }
	number := f.IsNumeric() || f == sqltype.KindBool
	wide := func(t sqltype.Type) bool { return t.Phys() == sqltype.PhysI128 }
	e.Form = from.Phys()
	switch {
	case f == sqltype.KindDate && stamp(t):
		e.Imm = castDateTimestamp
	case stamp(f) && t == sqltype.KindDate:
		e.Imm = castTimestampDate
	case stamp(f) && t == sqltype.KindTime:
		e.Imm = castTimestampTime
	case stamp(f) && stamp(t), f.IsString() && t == f && to.Length == 0:
		e.Imm = castSame
	case f == sqltype.KindDecimal && wide(from) && t == sqltype.KindFloat64:
		e.Imm, e.X = castWideFloat, tenTo(int(from.Scale))
	case f.IsInteger() && t == sqltype.KindVarchar && to.Length == 0:
		e.Imm, l.makes = castIntText, true
	case castNumberStep(from, to) == nil || !number:
		return &NotOnDeviceError{fmt.Sprintf("a cast from %s to %s", from, to)}
	case f == sqltype.KindDecimal && t.IsFloat():
		e.Imm = castDecimalFloat
		p := sqltype.Pow10(int(from.Scale))
		e.X = [2]uint64{math.Float64bits(p.Float64()), p.Lo}
	case wide(to):
		e.Imm = castWiden
	case wide(from):
		e.Imm = castNarrow
		lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
		if t == sqltype.KindDecimal {
			hi = int64(sqltype.Pow10(int(to.Precision)).Lo) - 1
			lo = -hi
		}
		e.X = [2]uint64{uint64(lo), uint64(hi)}
	case from.Kind.IsFloat() && t.IsFloat():
		e.Imm = castFloat
	case t.IsFloat():
		e.Imm = castIntFloat
	case f.IsFloat():
		e.Imm = castFloatInt
		hi := math.Ldexp(1, to.Phys().Width()*8)
		lo := 0.0
		if to.Phys() <= sqltype.PhysI64 {
			hi /= 2
			lo = -hi
		}
		e.X = [2]uint64{math.Float64bits(lo), math.Float64bits(hi)}
	default:
		e.Imm = castInt
	}
	return nil
}
