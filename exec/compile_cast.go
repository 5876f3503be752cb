package exec

import (
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// castMode is how a conversion that is not possible ends: as an error at pos,
// or with try as NULL.
type castMode struct {
	try bool
	pos int
}

// cast converts r, which is of type from (perhaps narrow), to type to.
func (c *compiler) cast(r kernels.Reg, from, to sqltype.Type, m castMode) (kernels.Reg, error) {
	if d, ok := c.b.Value(r); ok {
		v, err := sqltype.CastDatum(d, to)
		switch {
		case err == nil:
			return c.constant(v), nil
		case m.try:
			return c.b.Const(sqltype.NullOf(to)), nil
		}
		// The error is for the rows that get here, if any.
		return c.castAnyhow(c.widen(r, from), to, m), nil
	}
	switch {
	case from.Kind == sqltype.KindNull:
		return c.b.Const(sqltype.NullOf(to)), nil
	case from.Kind == to.Kind && to.Kind != sqltype.KindDecimal && from.Parts == to.Parts:
		return r, nil
	case m.try && (from.Kind == sqltype.KindDecimal || to.Kind == sqltype.KindDecimal):
		return c.castAnyhow(c.widen(r, from), to, m), nil
	case to.Kind == sqltype.KindDecimal && from.Kind == sqltype.KindDecimal:
		return c.castDecimal(r, from, to, m), nil
	case to.Kind == sqltype.KindDecimal && from.Kind.IsInteger():
		return c.castToDecimal(r, from, to, m), nil
	case to.Kind.IsInteger() && from.Kind == sqltype.KindDecimal:
		return c.castFromDecimal(r, from, to, m), nil
	case to.Kind == sqltype.KindBool && (from.Kind.IsInteger() || from.Kind.IsFloat()):
		zero := c.b.Const(sqltype.Datum{Type: from})
		return c.emit(kernels.Instr{Op: kernels.OpNe, Phys: from.Phys(), Args: []kernels.Reg{r, zero}}, sqltype.Bool), nil
	}
	return c.castAnyhow(r, to, m), nil
}

// castAnyhow leaves the conversion to one instruction.
func (c *compiler) castAnyhow(r kernels.Reg, to sqltype.Type, m castMode) kernels.Reg {
	in := kernels.Instr{Op: kernels.OpCast, Phys: c.b.Type(r).Phys(), Args: []kernels.Reg{r}, Pos: m.pos}
	if m.try {
		in.Flag = kernels.Try
	}
	return c.emit(in, to)
}

// castToDecimal takes an integer as a DECIMAL without a point and goes on from
// there. A BIGINT is in the form of one already.
func (c *compiler) castToDecimal(r kernels.Reg, from, to sqltype.Type, m castMode) kernels.Reg {
	t, _ := sqltype.DecimalFor(from)
	switch {
	case from.Kind == sqltype.KindInt64 && (c.narrow && to.Scale <= narrowDigits || to.Phys() == sqltype.PhysI64):
	case t.Phys() == sqltype.PhysI64:
		r = c.castAnyhow(r, sqltype.Decimal(narrowDigits, 0), m)
	default:
		r = c.castAnyhow(r, t, m)
	}
	return c.castDecimal(r, t, to, m)
}

// castFromDecimal rounds to a whole number first.
func (c *compiler) castFromDecimal(r kernels.Reg, from, to sqltype.Type, m castMode) kernels.Reg {
	if from.Scale > 0 {
		r = c.scale(r, -int(from.Scale), 0, 0, m)
	}
	if c.b.Type(r).Phys() == sqltype.PhysI128 && to.Kind != sqltype.KindInt64 {
		if to.Kind == sqltype.KindUint64 {
			return c.castAnyhow(r, to, m)
		}
		r = c.castAnyhow(r, sqltype.Int64, m)
	}
	return c.castAnyhow(r, to, m)
}

// castDecimal changes scale, digits and form.
func (c *compiler) castDecimal(r kernels.Reg, from, to sqltype.Type, m castMode) kernels.Reg {
	shift := int(to.Scale) - int(from.Scale)
	// Digits before the point that the value may have; rounding may add one.
	whole := int(from.Precision) - int(from.Scale)
	if shift < 0 {
		whole++
	}
	wide := to.Phys() == sqltype.PhysI128
	stay := wide && c.narrow && to.Scale <= narrowDigits && c.b.Type(r).Phys() == sqltype.PhysI64
	if wide && !stay || shift > 0 && c.b.Type(r).Phys() == sqltype.PhysI128 {
		r = c.widenTo128(r, from)
	}
	if shift != 0 {
		var flag kernels.Flag
		switch {
		case shift < 0:
			flag = kernels.Unchecked
		case c.b.Type(r).Phys() == sqltype.PhysI64 && int(from.Precision)+shift <= narrowDigits:
			flag = kernels.Unchecked
		case stay:
			flag = kernels.Speculative
		}
		r = c.scale(r, shift, int(to.Scale), flag, m)
	}
	if !wide && c.b.Type(r).Phys() == sqltype.PhysI128 {
		r = c.castAnyhow(r, sqltype.Decimal(narrowDigits, int(to.Scale)), m)
	}
	if whole > int(to.Precision)-int(to.Scale) {
		if stay { // the digits are counted in 128 bits
			r = c.widen(r, to)
		}
		r = c.fits(r, to, m)
	}
	return r
}

// scale moves the point of r by shift digits, to scale after it.
func (c *compiler) scale(r kernels.Reg, shift, scale int, flag kernels.Flag, m castMode) kernels.Reg {
	phys := c.b.Type(r).Phys()
	t := sqltype.Decimal(sqltype.MaxPrecision, scale)
	if phys == sqltype.PhysI64 {
		t = sqltype.Decimal(narrowDigits, scale)
	}
	in := kernels.Instr{Op: kernels.OpScale, Phys: phys, Flag: flag, Imm: int32(shift), Args: []kernels.Reg{r}, Pos: m.pos}
	return c.emit(in, t)
}
