package exec

import (
	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// narrowDigits is how many digits a 64-bit DECIMAL has by its type.
const narrowDigits = 18

// narrowType is the type of a register that holds a wide DECIMAL in 64 bits.
func narrowType(t sqltype.Type) sqltype.Type { return sqltype.Decimal(narrowDigits, int(t.Scale)) }

var arithmeticOps = map[catalog.FuncID]kernels.Op{
	catalog.FuncAdd: kernels.OpAdd, catalog.FuncSub: kernels.OpSub, catalog.FuncMul: kernels.OpMul,
	catalog.FuncDiv: kernels.OpDiv, catalog.FuncMod: kernels.OpMod, catalog.FuncIntDiv: kernels.OpDiv,
	catalog.FuncNeg: kernels.OpNeg, catalog.FuncBitAnd: kernels.OpBitAnd, catalog.FuncBitOr: kernels.OpBitOr,
	catalog.FuncBitXor: kernels.OpBitXor, catalog.FuncBitNot: kernels.OpBitNot,
	catalog.FuncShiftLeft: kernels.OpShl, catalog.FuncShiftRight: kernels.OpShr,
}

// isArithmetic reports a call that is instructions: an operator over numbers.
func isArithmetic(e *planner.Call) bool {
	if _, ok := arithmeticOps[e.Func.ID]; !ok {
		return false
	}
	for _, a := range e.Args {
		if k := a.Type().Kind; !k.IsNumeric() && k != sqltype.KindNull {
			return false
		}
	}
	return e.T.Kind.IsNumeric()
}

func (c *compiler) arithmetic(e *planner.Call) (kernels.Reg, error) {
	args := make([]kernels.Reg, len(e.Args))
	decimals := false
	for i, a := range e.Args {
		r, err := c.expr(a)
		if err != nil {
			return r, err
		}
		if a.Type().Kind == sqltype.KindNull {
			return c.b.Const(sqltype.NullOf(e.T)), nil
		}
		args[i] = r
		decimals = decimals || a.Type().Kind == sqltype.KindDecimal
	}
	in := kernels.Instr{Op: arithmeticOps[e.Func.ID], Args: args, Pos: e.Pos}
	if decimals {
		return c.decimal(e, in)
	}
	in.Phys = e.Args[0].Type().Phys()
	if e.Func.ID == catalog.FuncIntDiv && e.Args[0].Type().Kind.IsFloat() {
		return c.quotient(in, e.Args[0].Type())
	}
	return c.emit(in, e.T), nil
}

// decimal compiles arithmetic over DECIMALs, by the rules in catalog's
// operatorFamilies.
func (c *compiler) decimal(e *planner.Call, in kernels.Instr) (kernels.Reg, error) {
	switch e.Func.ID {
	case catalog.FuncMul:
		return c.multiply(e, in), nil
	case catalog.FuncDiv:
		return c.divide(e, in)
	case catalog.FuncIntDiv:
		for i, a := range e.Args {
			in.Args[i] = c.widenTo128(in.Args[i], a.Type())
		}
		in.Phys = sqltype.PhysI128
		return c.quotient(in, wideType(e.Args[0].Type()))
	}
	t := e.T
	if len(in.Args) == 2 {
		in.Args[0], in.Args[1] = c.sameForm(in.Args[0], e.Args[0].Type(), in.Args[1], e.Args[1].Type())
	}
	in.Phys = c.b.Type(in.Args[0]).Phys()
	switch {
	case in.Phys == sqltype.PhysI64 && t.Phys() == sqltype.PhysI64:
		// 18 digits twice are less than 2^63.
		in.Flag |= kernels.Unchecked
		return c.emit(in, t), nil
	case in.Phys == sqltype.PhysI64 && t.Scale <= narrowDigits && c.narrow:
		if in.Op != kernels.OpMod {
			in.Flag |= kernels.Speculative
		}
		return c.emit(in, narrowType(t)), nil
	}
	for i, a := range e.Args {
		in.Args[i] = c.widenTo128(in.Args[i], a.Type())
	}
	in.Phys = sqltype.PhysI128
	r := c.emit(in, t)
	if t.Precision == sqltype.MaxPrecision && (in.Op == kernels.OpAdd || in.Op == kernels.OpSub) {
		r = c.fits(r, t, castMode{pos: e.Pos})
	}
	return r, nil
}

// wideType is t with the digits of 128 bits.
func wideType(t sqltype.Type) sqltype.Type {
	return sqltype.Decimal(sqltype.MaxPrecision, int(t.Scale))
}

// widenTo128 is a DECIMAL register in 128 bits.
func (c *compiler) widenTo128(r kernels.Reg, t sqltype.Type) kernels.Reg {
	return c.widen(r, wideType(t))
}

// multiply picks the cheapest product that is right: in 64 bits where the type
// says that it fits, or on trial; else of two 64-bit numbers in 128; else of
// two of 128.
func (c *compiler) multiply(e *planner.Call, in kernels.Instr) kernels.Reg {
	t := e.T
	both64 := c.b.Type(in.Args[0]).Phys() == sqltype.PhysI64 && c.b.Type(in.Args[1]).Phys() == sqltype.PhysI64
	switch {
	case both64 && t.Phys() == sqltype.PhysI64:
		in.Phys, in.Flag = sqltype.PhysI64, kernels.Unchecked
		return c.emit(in, t)
	case both64 && c.narrow && t.Scale <= narrowDigits:
		in.Phys, in.Flag = sqltype.PhysI64, kernels.Speculative
		return c.emit(in, narrowType(t))
	case both64:
		in.Op, in.Phys = kernels.OpMulWide, sqltype.PhysI64
		return c.emit(in, t)
	}
	for i, a := range e.Args {
		in.Args[i] = c.widenTo128(in.Args[i], a.Type())
	}
	in.Phys = sqltype.PhysI128
	r := c.emit(in, t)
	if int(e.Args[0].Type().Precision)+int(e.Args[1].Type().Precision) > sqltype.MaxPrecision {
		r = c.fits(r, t, castMode{pos: e.Pos})
	}
	return r
}

// divide scales the dividend so that the quotient's unit is that of its type.
func (c *compiler) divide(e *planner.Call, in kernels.Instr) (kernels.Reg, error) {
	shift := int(e.T.Scale) - int(e.Args[0].Type().Scale) + int(e.Args[1].Type().Scale)
	for i, a := range e.Args {
		in.Args[i] = c.widenTo128(in.Args[i], a.Type())
	}
	if over := shift - sqltype.MaxPrecision; over > 0 {
		t := wideType(e.Args[0].Type())
		in.Args[0] = c.emit(kernels.Instr{Op: kernels.OpScale, Phys: sqltype.PhysI128, Imm: int32(over), Args: []kernels.Reg{in.Args[0]}, Pos: e.Pos}, t)
		shift = sqltype.MaxPrecision
	}
	in.Op, in.Phys, in.Imm = kernels.OpDivDec, sqltype.PhysI128, int32(shift)
	return c.emit(in, e.T), nil
}

// quotient is a // b truncated, as a BIGINT: without its remainder a is a
// multiple of b, and nothing is left to round.
func (c *compiler) quotient(in kernels.Instr, t sqltype.Type) (kernels.Reg, error) {
	a, b := in.Args[0], in.Args[1]
	in.Op = kernels.OpMod
	rem := c.emit(in, t)
	in.Op, in.Args = kernels.OpSub, []kernels.Reg{a, rem}
	whole := c.emit(in, t)
	in.Op, in.Args = kernels.OpDiv, []kernels.Reg{whole, b}
	if t.Kind == sqltype.KindDecimal {
		in.Op, t = kernels.OpDivDec, sqltype.Decimal(sqltype.MaxPrecision, 0)
	}
	return c.cast(c.emit(in, t), t, sqltype.Int64, castMode{pos: in.Pos})
}

// fits checks the digits of r against t.
func (c *compiler) fits(r kernels.Reg, t sqltype.Type, m castMode) kernels.Reg {
	return c.emit(kernels.Instr{Op: kernels.OpFits, Phys: t.Phys(), Args: []kernels.Reg{r}, Pos: m.pos}, t)
}
