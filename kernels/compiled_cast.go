package kernels

import (
	"math"

	"github.com/gpusql/gpusql/sqltype"
)

// cast writes a conversion; see castInt and the others.
func (c *compiled) cast(in *evalInstr) {
	v := c.one(in.A)
	bad := never
	switch in.Imm {
	case castInt:
		r := c.narrow(v, in.To)
		bad = c.test("setp.ne.u64", c.narrow(r, in.Form), v)
		minus, becomes := c.negative(v, in.Form), c.negative(r, in.To)
		bad = c.or(bad, c.xor(minus, becomes))
		c.put(in, r)
	case castIntFloat:
		if in.To == sqltype.PhysF64 {
			c.put(in, c.op("cvt.rn.f64."+sign(in.Form), v))
		} else {
			c.put(in, c.widen(c.op32("cvt.rn.f32."+sign(in.Form), v), "f32"))
		}
	case castFloatInt:
		f := v
		if in.Form == sqltype.PhysF32 {
			f = c.op("cvt.f64.f32", c.op32("cvt.u32.u64", v))
		}
		f = c.op("cvt.rni.f64.f64", f)
		from, below := c.op("mov.b64", int64(in.X[0])), c.op("mov.b64", int64(in.X[1]))
		fits := c.and(c.test("setp.ge.f64", f, from), c.test("setp.lt.f64", f, below))
		form := "s64"
		if in.To == sqltype.PhysU64 {
			form = "u64"
		}
		f = c.pick(fits, f, c.op("mov.b64", int64(math.Float64bits(0))))
		bad = c.not(fits)
		c.put(in, c.op("cvt.rzi."+form+".f64", f))
	case castFloat:
		switch {
		case in.Form == in.To:
			c.put(in, v)
		case in.To == sqltype.PhysF64:
			c.put(in, c.op("cvt.f64.f32", c.op32("cvt.u32.u64", v)))
		default:
			r := c.op32("cvt.rn.f32.f64", v)
			bad = c.and(c.infinite(r, "f32"), c.not(c.infinite(v, "f64")))
			c.put(in, c.widen(r, "f32"))
		}
	case castWiden:
		high := c.op("shr.s64", v, 63)
		if isUnsigned(in.Form) {
			high = c.op("mov.b64", 0)
		}
		c.put(in, v, high)
	case castNarrow:
		high := c.word(in.A, 1)
		bad = c.test("setp.ne.s64", high, c.op("shr.s64", v, 63))
		bad = c.or(bad, c.or(c.test("setp.lt.s64", v, int64(in.X[0])), c.test("setp.gt.s64", v, int64(in.X[1]))))
		c.put(in, v)
	case castDateTimestamp:
		c.put(in, c.op("mul.lo.s64", v, microsPerDay))
	case castTimestampDate:
		c.put(in, c.floorDiv(v, microsPerDay))
	case castTimestampTime:
		c.put(in, c.op("sub.s64", v, c.op("mul.lo.s64", c.floorDiv(v, microsPerDay), microsPerDay)))
	case castSame:
		if in.To >= sqltype.PhysI128 {
			c.put(in, v, c.word(in.A, 1))
		} else {
			c.put(in, v)
		}
	default:
		c.none = true
		return
	}
	c.strict(in, bad)
}

// microsPerDay is of calendar.cuh.
const microsPerDay = 24 * 60 * 60 * 1000000

// negative is true below 0.
func (c *compiled) negative(v string, p sqltype.Phys) pred {
	if isUnsigned(p) {
		return never
	}
	return c.test("setp.lt.s64", v, 0)
}

// floorDiv is a / b rounded down, for b above 0.
func (c *compiled) floorDiv(a string, b int64) string {
	q := c.op("div.s64", a, b)
	rest := c.op("sub.s64", a, c.op("mul.lo.s64", q, b))
	return c.pick(c.test("setp.lt.s64", rest, 0), c.op("sub.s64", q, 1), q)
}

// call writes a function; see callYear and the others.
func (c *compiled) call(in *evalInstr) {
	v := c.one(in.A)
	bad := never
	switch in.Imm {
	case callAddDays, callSubDays:
		op := "add.s64"
		if in.Imm == callSubDays {
			op = "sub.s64"
		}
		d := c.op(op, v, c.one(in.B))
		bad = c.or(c.test("setp.lt.s64", d, int64(in.X[0])), c.test("setp.gt.s64", d, int64(in.X[1])))
		c.put(in, c.narrow(d, sqltype.PhysI32))
	case callDaysBetween:
		c.put(in, c.narrow(c.op("sub.s64", v, c.one(in.B)), sqltype.PhysI32))
	case callAbs:
		minus := c.op("neg.s64", v)
		below := c.test("setp.lt.s64", v, 0)
		bad = c.and(below, c.test("setp.eq.s64", c.narrow(minus, in.Form), v))
		c.put(in, c.pick(below, minus, v))
	case callAbsFloat:
		c.put(in, c.op("and.b64", v, int64(math.MaxInt64)))
	case callYear, callMonth, callDay, callQuarter, callDayOfWeek, callDayOfYear:
		if in.To == sqltype.PhysF64 {
			c.none = true
			return
		}
		if in.Form != sqltype.PhysI32 {
			v = c.floorDiv(v, microsPerDay)
		}
		c.put(in, c.datePart(in.Imm, v))
	default:
		c.none = true
		return
	}
	c.strict(in, bad)
}

// datePart is a part of a date, as civil in calendar.cuh has them.
func (c *compiled) datePart(part int32, days string) string {
	if part == callDayOfWeek {
		d := c.op("add.s64", days, 4)
		return c.op("sub.s64", d, c.op("mul.lo.s64", c.floorDiv(d, 7), 7))
	}
	z := c.op("add.s64", days, 719468)
	era := c.floorDiv(z, 146097)
	doe := c.op("sub.s64", z, c.op("mul.lo.s64", era, 146097))
	yoe := c.op("sub.s64", doe, c.op("div.s64", doe, 1460))
	yoe = c.op("add.s64", yoe, c.op("div.s64", doe, 36524))
	yoe = c.op("div.s64", c.op("sub.s64", yoe, c.op("div.s64", doe, 146096)), 365)
	before := c.op("sub.s64", c.op("add.s64", c.op("mul.lo.s64", yoe, 365), c.op("div.s64", yoe, 4)), c.op("div.s64", yoe, 100))
	doy := c.op("sub.s64", doe, before)
	mp := c.op("div.s64", c.op("add.s64", c.op("mul.lo.s64", doy, 5), 2), 153)
	month := c.pick(c.test("setp.lt.s64", mp, 10), c.op("add.s64", mp, 3), c.op("sub.s64", mp, 9))
	switch part {
	case callMonth:
		return month
	case callQuarter:
		return c.op("div.s64", c.op("add.s64", month, 2), 3)
	case callDay:
		first := c.op("div.s64", c.op("add.s64", c.op("mul.lo.s64", mp, 153), 2), 5)
		return c.op("add.s64", c.op("sub.s64", doy, first), 1)
	}
	year := c.op("add.s64", yoe, c.op("mul.lo.s64", era, 400))
	year = c.op("add.s64", year, c.op("selp.b64", 1, 0, c.test("setp.le.s64", month, 2)))
	if part == callYear { // there is no year 0: it is 1 BC
		return c.pick(c.test("setp.le.s64", year, 0), c.op("sub.s64", year, 1), year)
	}
	return c.op("add.s64", c.op("sub.s64", days, c.firstDay(year)), 1)
}

// firstDay is the day of a year's first of January.
func (c *compiled) firstDay(year string) string {
	y := c.op("sub.s64", year, 1)
	era := c.floorDiv(y, 400)
	yoe := c.op("sub.s64", y, c.op("mul.lo.s64", era, 400))
	d := c.op("add.s64", c.op("mul.lo.s64", era, 146097), c.op("mul.lo.s64", yoe, 365))
	d = c.op("sub.s64", c.op("add.s64", d, c.op("div.s64", yoe, 4)), c.op("div.s64", yoe, 100))
	return c.op("add.s64", d, 306-719468)
}
