package kernels

import (
	"fmt"
	"math"

	"github.com/gpusql/gpusql/sqltype"
)

// instr writes an instruction for the row at hand; what eval.cu does with it is
// its meaning.
func (c *compiled) instr(in *evalInstr) {
	switch {
	case in.Do <= OpShr:
		switch in.Form {
		case sqltype.PhysF32, sqltype.PhysF64:
			c.floats(in)
		case sqltype.PhysI128:
			c.wideArith(in)
		default:
			c.integers(in)
		}
	case in.Do == OpMulWide:
		c.put(in, c.op("mul.lo.u64", c.one(in.A), c.one(in.B)), c.op("mul.hi.s64", c.one(in.A), c.one(in.B)))
		c.strict(in, never)
	case in.Do == OpScale, in.Do == OpFits:
		if in.Form == sqltype.PhysI128 {
			c.wideArith(in)
		} else {
			c.scale(in)
		}
	case in.Do.IsCompare():
		c.compare(in)
	case in.Do == OpAnd, in.Do == OpOr:
		u, v, ku, kv := c.truth(in.A), c.truth(in.B), c.known(in.A), c.known(in.B)
		if in.Do == OpAnd {
			c.putTruth(in, c.and(u, v))
			u, v = c.not(u), c.not(v)
		} else {
			c.putTruth(in, c.or(u, v))
		}
		c.row.bits[in.Bit] = c.or(c.and(ku, kv), c.or(c.and(ku, u), c.and(kv, v)))
	case in.Do == OpNot:
		c.putTruth(in, c.not(c.truth(in.A)))
		c.row.bits[in.Bit] = c.known(in.A)
	case in.Do == OpIsNull:
		c.putTruth(in, c.not(c.known(in.A)))
		c.row.bits[in.Bit] = always
	case in.Do.IsMask():
		c.mask(in)
	case in.Do == OpIn:
		c.inList(in)
	case in.Do == OpCase:
		c.choose(in)
	case in.Do == OpCast:
		c.cast(in)
	case in.Do == OpCall:
		c.call(in)
	default:
		c.none = true
	}
}

// strict ends an instruction whose result is known where its arguments are.
func (c *compiled) strict(in *evalInstr, bad pred) {
	c.settle(in, c.and(c.known(in.A), c.known(in.B)), bad)
}

func (c *compiled) mask(in *evalInstr) {
	v, ku := c.truth(in.A), c.known(in.A)
	m := c.and(v, ku)
	switch in.Do {
	case OpMaskNotTrue:
		m = c.not(m)
	case OpMaskNotFalse:
		m = c.or(v, c.not(ku))
	}
	if in.Mask >= 0 {
		m = c.and(m, c.row.bits[in.Mask])
	}
	c.row.bits[in.Bit] = m
}

// narrow is an integer as its form holds it, extended to 64 bits again.
func (c *compiled) narrow(v string, p sqltype.Phys) string {
	by := 64 - 8*p.Width()
	if by <= 0 {
		return v
	}
	if isUnsigned(p) {
		return c.op("and.b64", v, int64(1)<<(64-by)-1)
	}
	return c.op("shr.s64", c.op("shl.b64", v, by), by)
}

// sign is "u64" or "s64".
func sign(p sqltype.Phys) string {
	if isUnsigned(p) {
		return "u64"
	}
	return "s64"
}

// signsMeet is true where the sign bit of both a^r and b^r is set.
func (c *compiled) signsMeet(a, b, r string) pred {
	return c.test("setp.lt.s64", c.op("and.b64", c.op("xor.b64", a, r), c.op("xor.b64", b, r)), 0)
}

func (c *compiled) integers(in *evalInstr) {
	uns, wide := isUnsigned(in.Form), in.Form.Width() == 8
	checked := in.Flags&Unchecked == 0
	u := c.one(in.A)
	v := "0"
	if in.Args > 1 {
		v = c.one(in.B)
	}
	over := func(p func() pred) pred { // of 64 bits
		if wide && checked {
			return p()
		}
		return never
	}
	var r string
	bad := never
	switch in.Do {
	case OpAdd:
		r = c.op("add.u64", u, v)
		bad = over(func() pred {
			if uns {
				return c.test("setp.lt.u64", r, u)
			}
			return c.signsMeet(u, v, r)
		})
	case OpSub:
		r = c.op("sub.u64", u, v)
		bad = over(func() pred {
			if uns {
				return c.test("setp.lt.u64", u, v)
			}
			return c.test("setp.lt.s64", c.op("and.b64", c.op("xor.b64", u, v), c.op("xor.b64", u, r)), 0)
		})
	case OpMul:
		r = c.op("mul.lo.u64", u, v)
		bad = over(func() pred {
			if uns {
				return c.test("setp.ne.u64", c.op("mul.hi.u64", u, v), 0)
			}
			return c.test("setp.ne.u64", c.op("mul.hi.s64", u, v), c.op("shr.s64", r, 63))
		})
	case OpNeg:
		r = c.op("neg.s64", u)
		bad = over(func() pred {
			if uns {
				return c.test("setp.ne.u64", u, 0)
			}
			return c.test("setp.eq.s64", u, int64(-1<<63))
		})
	case OpDiv, OpMod:
		r, bad = c.divide(in, u, v)
	case OpBitAnd:
		r = c.op("and.b64", u, v)
	case OpBitOr:
		r = c.op("or.b64", u, v)
	case OpBitXor:
		r = c.op("xor.b64", u, v)
	case OpBitNot:
		r = c.op("not.b64", u)
	case OpShl, OpShr:
		by := c.op32("cvt.u32.u64", c.op("and.b64", v, 8*in.Form.Width()-1))
		if in.Do == OpShl {
			r = c.op("shl.b64", u, by)
		} else {
			r = c.op("shr."+sign(in.Form), u, by)
		}
	}
	fit := c.narrow(r, in.Form)
	if !wide && checked && in.Do <= OpNeg {
		bad = c.or(bad, c.test("setp.ne.u64", fit, r))
	}
	c.put(in, fit)
	c.strict(in, bad)
}

// divide divides by 1 where there is no quotient.
func (c *compiled) divide(in *evalInstr, u, v string) (r string, bad pred) {
	bad = c.test("setp.eq.u64", v, 0)
	by := c.pick(bad, "1", v)
	if isUnsigned(in.Form) {
		if in.Do == OpMod {
			return c.op("rem.u64", u, by), bad
		}
		return c.op("div.u64", u, by), bad
	}
	back := c.test("setp.eq.s64", v, -1) // the least number has no opposite
	by = c.pick(back, "1", by)
	if in.Do == OpMod {
		return c.pick(back, "0", c.op("rem.s64", u, by)), bad
	}
	r = c.pick(back, c.op("neg.s64", u), c.op("div.s64", u, by))
	if in.Form.Width() == 8 && in.Flags&Unchecked == 0 {
		bad = c.or(bad, c.and(back, c.test("setp.eq.s64", u, int64(-1<<63))))
	}
	return r, bad
}

func (c *compiled) floats(in *evalInstr) {
	form := "f64"
	u, v := c.one(in.A), "0"
	if in.Args > 1 {
		v = c.one(in.B)
	}
	if in.Form == sqltype.PhysF32 {
		form, u = "f32", c.op32("cvt.u32.u64", u)
		if in.Args > 1 {
			v = c.op32("cvt.u32.u64", v)
		}
	}
	name, ok := map[Op]string{OpAdd: "add.rn.", OpSub: "sub.rn.", OpMul: "mul.rn.", OpDiv: "div.rn.", OpNeg: "neg."}[in.Do]
	if !ok {
		c.none = true
		return
	}
	make := c.op
	if form == "f32" {
		make = c.op32
	}
	bad := never
	var r string
	if in.Do == OpNeg {
		r = make(name+form, u)
	} else {
		r = make(name+form, u, v)
		bad = c.and(c.infinite(r, form), c.not(c.or(c.infinite(u, form), c.infinite(v, form))))
		if in.Do == OpDiv {
			beyond := 1 // of the sign and what is above it
			if form == "f32" {
				beyond = 33
			}
			zero := c.test("setp.eq.u64", c.op("shl.b64", c.widen(v, form), beyond), 0)
			bad = c.or(bad, c.and(zero, c.test("setp.num."+form, u, u)))
		}
	}
	c.put(in, c.widen(r, form))
	c.strict(in, bad)
}

// widen is a float's bits in 64.
func (c *compiled) widen(v, form string) string {
	if form == "f64" {
		return v
	}
	return c.op("cvt.u64.u32", v)
}

func (c *compiled) infinite(v, form string) pred {
	if form == "f64" {
		return c.test("setp.eq.s64", c.op("and.b64", v, int64(math.MaxInt64)), int64(0x7ff)<<52)
	}
	return c.test("setp.eq.s32", c.op32("and.b32", v, int32(1<<31-1)), int32(0xff)<<23)
}

func (c *compiled) scale(in *evalInstr) {
	v, p := c.one(in.A), int64(in.X[0])
	switch {
	case in.Do == OpFits:
		c.put(in, v)
		c.strict(in, c.or(c.test("setp.ge.s64", v, p), c.test("setp.le.s64", v, -p)))
	case in.Imm >= 0:
		r := c.op("mul.lo.s64", v, p)
		bad := never
		if in.Flags&Unchecked == 0 {
			bad = c.test("setp.ne.s64", c.op("mul.hi.s64", v, p), c.op("shr.s64", r, 63))
		}
		c.put(in, r)
		c.strict(in, bad)
	default: // divided and rounded, halves away from zero
		q := c.op("div.s64", v, p)
		rest := c.op("sub.s64", v, c.op("mul.lo.s64", q, p))
		up := c.test("setp.ge.s64", rest, c.op("sub.s64", p, rest))
		down := c.test("setp.ge.s64", c.op("neg.s64", rest), c.op("add.s64", rest, p))
		r := c.pick(up, c.op("add.s64", q, 1), c.pick(down, c.op("sub.s64", q, 1), q))
		c.put(in, r)
		c.strict(in, never)
	}
}

// add2 and sub2 are of 128 bits.
func (c *compiled) add2(a, b [2]string) [2]string {
	return [2]string{c.op("add.cc.u64", a[0], b[0]), c.op("addc.u64", a[1], b[1])}
}

func (c *compiled) sub2(a, b [2]string) [2]string {
	return [2]string{c.op("sub.cc.u64", a[0], b[0]), c.op("subc.u64", a[1], b[1])}
}

// magnitude is |v|, unsigned.
func (c *compiled) magnitude(v [2]string) [2]string {
	s := c.op("shr.s64", v[1], 63)
	flipped := [2]string{c.op("xor.b64", v[0], s), c.op("xor.b64", v[1], s)}
	return c.sub2(flipped, [2]string{s, s})
}

func (c *compiled) wideArith(in *evalInstr) {
	u := c.pair(in.A)
	var v [2]string
	if in.Args > 1 {
		v = c.pair(in.B)
	}
	x := [2]string{fmt.Sprint(int64(in.X[0])), fmt.Sprint(int64(in.X[1]))}
	var r [2]string
	bad := never
	switch {
	case in.Do == OpAdd:
		r = c.add2(u, v)
		bad = c.signsMeet(u[1], v[1], r[1])
	case in.Do == OpSub:
		r = c.sub2(u, v)
		bad = c.test("setp.lt.s64", c.op("and.b64", c.op("xor.b64", u[1], v[1]), c.op("xor.b64", u[1], r[1])), 0)
	case in.Do == OpNeg:
		r = c.sub2([2]string{"0", "0"}, u)
		bad = c.and(c.test("setp.eq.u64", u[0], 0), c.test("setp.eq.s64", u[1], int64(-1<<63)))
	case in.Do == OpMul:
		r, bad = c.mul2(u, v)
	case in.Do == OpScale && in.Imm >= 0:
		r, bad = c.mul2(u, [2]string{c.op("mov.b64", x[0]), c.op("mov.b64", x[1])})
	case in.Do == OpFits:
		r = u
		bad = c.not(c.below2(c.magnitude(u), x, "u64"))
	default:
		c.none = true
		return
	}
	if in.Flags&Unchecked != 0 {
		bad = never
	}
	c.put(in, r[0], r[1])
	c.strict(in, bad)
}

// below2 is a < b, the high words signed or not.
func (c *compiled) below2(a, b [2]string, high string) pred {
	same := c.test("setp.eq.u64", a[1], b[1])
	return c.or(c.test("setp.lt."+high, a[1], b[1]), c.and(same, c.test("setp.lt.u64", a[0], b[0])))
}

// mul2 is a product of 128 bits, bad where it does not fit.
func (c *compiled) mul2(a, b [2]string) (r [2]string, bad pred) {
	minus := c.test("setp.lt.s64", c.op("xor.b64", a[1], b[1]), 0)
	a, b = c.magnitude(a), c.magnitude(b)
	long := c.test("setp.ne.u64", a[1], 0)
	both := c.and(long, c.test("setp.ne.u64", b[1], 0))
	// One high word is 0, or it does not fit.
	high, low := c.pick(long, a[1], b[1]), c.pick(long, b[0], a[0])
	cross := [2]string{c.op("mul.lo.u64", high, low), c.op("mul.hi.u64", high, low)}
	m := c.add2(cross, [2]string{c.op("mul.hi.u64", a[0], b[0]), "0"})
	product := [2]string{c.op("mul.lo.u64", a[0], b[0]), m[0]}
	bad = c.or(both, c.test("setp.ne.u64", m[1], 0))
	s := c.op("selp.b64", -1, 0, minus)
	r = c.sub2([2]string{c.op("xor.b64", product[0], s), c.op("xor.b64", product[1], s)}, [2]string{s, s})
	// The least number alone has a magnitude with the highest bit.
	least := c.and(minus, c.and(c.test("setp.eq.u64", product[0], 0), c.test("setp.eq.s64", product[1], int64(-1<<63))))
	return r, c.or(bad, c.and(c.test("setp.lt.s64", product[1], 0), c.not(least)))
}

// relation is less, equal of two values.
func (c *compiled) relation(in *evalInstr, equalOnly bool) (less, equal pred, ok bool) {
	switch in.Form {
	case sqltype.PhysF32, sqltype.PhysF64:
		form, u, v := "f64", c.one(in.A), c.one(in.B)
		if in.Form == sqltype.PhysF32 {
			form, u, v = "f32", c.op32("cvt.u32.u64", u), c.op32("cvt.u32.u64", v)
		}
		nu, nv := c.test("setp.nan."+form, u, u), c.test("setp.nan."+form, v, v)
		equal = c.or(c.test("setp.eq."+form, u, v), c.and(nu, nv))
		return c.or(c.test("setp.lt."+form, u, v), c.and(nv, c.not(nu))), equal, true
	case sqltype.PhysI128:
		u, v := c.pair(in.A), c.pair(in.B)
		equal = c.and(c.test("setp.eq.u64", u[0], v[0]), c.test("setp.eq.u64", u[1], v[1]))
		return c.below2(u, v, "s64"), equal, true
	case sqltype.PhysStr:
		if !equalOnly || !c.short(in.A) && !c.short(in.B) {
			return "", "", false
		}
		u, v := c.pair(in.A), c.pair(in.B)
		return never, c.and(c.test("setp.eq.u64", u[0], v[0]), c.test("setp.eq.u64", u[1], v[1])), true
	case sqltype.PhysSpan:
		return "", "", false
	}
	form := "s64"
	if in.Form == sqltype.PhysU64 {
		form = "u64"
	}
	u, v := c.one(in.A), c.one(in.B)
	return c.test("setp.lt."+form, u, v), c.test("setp.eq."+form, u, v), true
}

// short is a string constant that a View holds by itself: then two words settle
// equality with any string.
func (c *compiled) short(x evalArg) bool { return x.Slot < 0 && c.p.short[^x.Slot] }

func (c *compiled) compare(in *evalInstr) {
	var v pred
	less, equal, ok := c.relation(in, in.Do == OpEq || in.Do == OpNe || in.Do >= OpDistinct)
	if !ok {
		c.none = true
		return
	}
	switch in.Do {
	case OpEq, OpNotDistinct:
		v = equal
	case OpNe, OpDistinct:
		v = c.not(equal)
	case OpLt:
		v = less
	case OpLe:
		v = c.or(less, equal)
	case OpGt:
		v = c.not(c.or(less, equal))
	case OpGe:
		v = c.not(less)
	}
	ka, kb := c.known(in.A), c.known(in.B)
	if in.Do == OpDistinct || in.Do == OpNotDistinct {
		other := c.xor(ka, kb)
		if in.Do == OpNotDistinct {
			other = c.not(other)
		}
		c.putTruth(in, c.pickBit(c.and(ka, kb), v, other))
		c.row.bits[in.Bit] = always
		return
	}
	c.putTruth(in, v)
	c.row.bits[in.Bit] = c.and(ka, kb)
}

// listWord reads a word of the lists.
func (c *compiled) listWord(i int) string {
	key := [2]int{1, i}
	if c.words[key] == "" {
		c.words[key] = c.op("ld.global.nc.u64", fmt.Sprintf("[%s+%d]", c.lists(), 8*i))
	}
	return c.words[key]
}

func (c *compiled) inList(in *evalInstr) {
	list := c.p.lists[in.List:]
	many, mask, null := int(list[0]), list[1], list[2] != 0
	at := int(in.List) + 3
	found := never
	switch {
	case in.Form == sqltype.PhysStr:
		u := c.pair(in.A)
		for j := range many {
			if uint32(list[3+2*j]) > InlineLen {
				c.none = true
				return
			}
			same := c.test("setp.eq.u64", u[0], c.listWord(at+2*j))
			found = c.or(found, c.and(same, c.test("setp.eq.u64", u[1], c.listWord(at+2*j+1))))
		}
	case in.Form >= sqltype.PhysF32:
		c.none = true
		return
	case mask == 0:
		for j := range many {
			found = c.or(found, c.test("setp.eq.u64", c.one(in.A), c.listWord(at+j)))
		}
	default:
		found = c.inTable(c.one(in.A), at)
	}
	ka := c.known(in.A)
	c.putTruth(in, found)
	if null {
		ka = c.and(ka, found)
	}
	c.row.bits[in.Bit] = ka
}

// inTable looks a word up in an open table of words and whether they are used.
func (c *compiled) inTable(v string, at int) pred {
	mask := c.listWord(at - 2)
	k := [2]uint64{hashK0, hashK1>>1 ^ hashK1}
	a, b := c.op("xor.b64", v, int64(k[0])), int64(k[1])
	h := c.op("xor.b64", c.op("mul.hi.u64", a, b), c.op("mul.lo.u64", a, b))
	place := c.op("and.b64", h, mask)
	table := c.op("add.u64", c.lists(), 8*at)
	from, used, slot := c.wide(), c.wide(), c.wide()
	found, more := c.bit(), c.bit()
	c.labels++
	fmt.Fprintf(&c.text, "probe%d:\n", c.labels)
	c.do("mad.lo.u64 %s, %s, 16, %s", slot, place, table)
	c.do("ld.global.nc.u64 %s, [%s]", from, slot)
	c.do("ld.global.nc.u64 %s, [%s+8]", used, slot)
	c.do("setp.eq.u64 %s, %s, %s", found, from, v)
	c.do("setp.ne.u64 %s, %s, 0", more, used)
	c.do("and.pred %s, %s, %s", found, found, more)
	c.do("add.u64 %s, %s, 1", place, place)
	c.do("and.b64 %s, %s, %s", place, place, mask)
	c.do("and.pred %s, %s, %s", more, more, c.not(found))
	c.do("@%s bra probe%d", more, c.labels)
	return found
}

// choose takes the value of the rest, and over it each arm's for its mask.
func (c *compiled) choose(in *evalInstr) {
	arg := func(i int) (evalArg, int) {
		w := c.p.lists[int(in.List)+i]
		return evalArg{Slot: int16(w), Bit: int16(w >> 16)}, int(w >> 16 & 0xffff)
	}
	words := 1
	if in.Form >= sqltype.PhysI128 {
		words = 2
	}
	rest, _ := arg(int(in.Args) - 1)
	is := c.known(rest)
	var v [2]string
	for w := range words {
		v[w] = c.word(rest, w)
	}
	for j := 0; j+1 < int(in.Args); j += 2 {
		_, bit := arg(j)
		arm, _ := arg(j + 1)
		m := c.row.bits[bit]
		for w := range words {
			v[w] = c.pick(m, c.word(arm, w), v[w])
		}
		is = c.pickBit(m, c.known(arm), is)
	}
	c.put(in, v[:words]...)
	c.row.bits[in.Bit] = is
}
