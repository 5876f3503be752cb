package kernels

import (
	"cmp"
	"math/bits"

	"github.com/gpusql/gpusql/sqltype"
)

// compareStep is the code of a comparison.
func compareStep(in *Instr) stepFunc {
	var f stepFunc
	switch in.Phys {
	case sqltype.PhysBool, sqltype.PhysU8:
		f = compareIntStep[uint8]
	case sqltype.PhysI8:
		f = compareIntStep[int8]
	case sqltype.PhysI16:
		f = compareIntStep[int16]
	case sqltype.PhysI32:
		f = compareIntStep[int32]
	case sqltype.PhysI64:
		f = compareIntStep[int64]
	case sqltype.PhysU16:
		f = compareIntStep[uint16]
	case sqltype.PhysU32:
		f = compareIntStep[uint32]
	case sqltype.PhysU64:
		f = compareIntStep[uint64]
	case sqltype.PhysF32:
		f = compareFloatStep[float32]
	case sqltype.PhysF64:
		f = compareFloatStep[float64]
	case sqltype.PhysI128:
		f = compareWithStep(func(a, b *sqltype.Int128) int { return a.Cmp(*b) })
	case sqltype.PhysSpan:
		f = compareWithStep(func(a, b *sqltype.Span) int { return a.Compare(*b) })
	case sqltype.PhysStr:
		f = compareStringStep
	default:
		return nil
	}
	if in.Op == OpDistinct || in.Op == OpNotDistinct {
		return distinctStep(f)
	}
	return f
}

// base is the comparison of values that are not NULL.
func base(op Op) Op {
	switch op {
	case OpDistinct:
		return OpNe
	case OpNotDistinct:
		return OpEq
	}
	return op
}

// outcome has bit c+1 set when a three-way result c of -1, 0 or 1 makes op true.
func outcome(op Op) uint8 {
	switch base(op) {
	case OpEq:
		return 0b010
	case OpNe:
		return 0b101
	case OpLt:
		return 0b001
	case OpLe:
		return 0b011
	case OpGt:
		return 0b100
	}
	return 0b110 // OpGe
}

func compareIntStep[T integer](x *frame, in *Instr) error {
	a, b := pair[T](x, in)
	d := results[uint8](x, in)
	x.strictValid(in)
	op := base(in.Op)
	if len(a) == 1 && len(d) > 1 { // both were constants: a is spread, or swap
		a = vals[T](x, in.Args[0])
	}
	if len(b) == 1 {
		compareConst(op, d, a, b[0])
		return nil
	}
	switch op {
	case OpGt:
		op, a, b = OpLt, b, a
	case OpGe:
		op, a, b = OpLe, b, a
	}
	a, b = a[:len(d)], b[:len(d)]
	switch op {
	case OpEq:
		for i, u := range a {
			d[i] = b2u(u == b[i])
		}
	case OpNe:
		for i, u := range a {
			d[i] = b2u(u != b[i])
		}
	case OpLt:
		for i, u := range a {
			d[i] = b2u(u < b[i])
		}
	default:
		for i, u := range a {
			d[i] = b2u(u <= b[i])
		}
	}
	return nil
}

func compareConst[T integer](op Op, d []uint8, a []T, v T) {
	a = a[:len(d)]
	switch op {
	case OpEq:
		for i, u := range a {
			d[i] = b2u(u == v)
		}
	case OpNe:
		for i, u := range a {
			d[i] = b2u(u != v)
		}
	case OpLt:
		for i, u := range a {
			d[i] = b2u(u < v)
		}
	case OpLe:
		for i, u := range a {
			d[i] = b2u(u <= v)
		}
	case OpGt:
		for i, u := range a {
			d[i] = b2u(u > v)
		}
	default:
		for i, u := range a {
			d[i] = b2u(u >= v)
		}
	}
}

// compareFloatStep puts NaN above all numbers and equal to itself. Less(a, b)
// is a < b, or b is NaN and a is not.
func compareFloatStep[T float](x *frame, in *Instr) error {
	a, b := vals[T](x, in.Args[0]), vals[T](x, in.Args[1])
	d := results[uint8](x, in)
	x.strictValid(in)
	a, b = a[:len(d)], b[:len(d)]
	op := base(in.Op)
	flip := uint8(0)
	switch op {
	case OpNe:
		op, flip = OpEq, 1
	case OpGe: // not less
		op, flip = OpLt, 1
	case OpGt:
		op, a, b = OpLt, b, a
	case OpLe: // not (b less than a)
		op, flip, a, b = OpLt, 1, b, a
	}
	if op == OpEq {
		for i, u := range a {
			v := b[i]
			d[i] = (b2u(u == v) | b2u(u != u)&b2u(v != v)) ^ flip
		}
		return nil
	}
	for i, u := range a {
		v := b[i]
		d[i] = (b2u(u < v) | b2u(u == u)&b2u(v != v)) ^ flip
	}
	return nil
}

// compareWithStep compares by a function, for the forms of two words.
func compareWithStep[T any](order func(a, b *T) int) stepFunc {
	return func(x *frame, in *Instr) error {
		a, b := vals[T](x, in.Args[0]), vals[T](x, in.Args[1])
		d := results[uint8](x, in)
		x.strictValid(in)
		yes := outcome(in.Op)
		a, b = a[:len(d)], b[:len(d)]
		for i := range a {
			d[i] = yes >> (order(&a[i], &b[i]) + 1) & 1
		}
		return nil
	}
}

// compareStringStep leaves out the rows outside the mask, where a view may lead
// anywhere.
func compareStringStep(x *frame, in *Instr) error {
	a, b := pair[View](x, in)
	if len(a) == 1 && x.n > 1 {
		a = vals[View](x, in.Args[0])
	}
	d := results[uint8](x, in)
	x.strictValid(in)
	op, mask := base(in.Op), x.maskWords(in.Mask)
	if op == OpEq || op == OpNe {
		equalStrings(d, a, b, mask, b2u(op == OpNe))
		return nil
	}
	yes := outcome(op)
	for i := range d {
		if mask != nil && mask[i>>6]>>(i&63)&1 == 0 {
			d[i] = 0
			continue
		}
		v := &b[0]
		if len(b) > 1 {
			v = &b[i]
		}
		d[i] = yes >> (CompareViews(&a[i], v) + 1) & 1
	}
	return nil
}

// equalStrings compares first words, which hold length and prefix; the bytes
// behind are looked at only when those agree.
func equalStrings(d []uint8, a, b []View, mask []uint64, flip uint8) {
	a = a[:len(d)]
	if len(b) == 1 && b[0].Len() <= InlineLen {
		v := b[0]
		for i := range a {
			d[i] = b2u((a[i].Lo^v.Lo)|(a[i].Hi^v.Hi) == 0) ^ flip
		}
		return
	}
	for i := range a {
		v := &b[0]
		if len(b) > 1 {
			v = &b[i]
		}
		equal := false
		if a[i].Lo == v.Lo {
			equal = a[i].Hi == v.Hi || uint32(v.Lo) > InlineLen &&
				(mask == nil || mask[i>>6]>>(i&63)&1 != 0) && a[i].Str() == v.Str()
		}
		d[i] = b2u(equal) ^ flip
	}
}

// CompareViews is -1, 0 or 1 as a is below, equal to or above b by bytes.
func CompareViews(a, b *View) int {
	pa, pb := bits.ReverseBytes32(uint32(a.Lo>>32)), bits.ReverseBytes32(uint32(b.Lo>>32))
	if pa != pb {
		return cmp.Compare(pa, pb)
	}
	return cmp.Compare(a.Str(), b.Str())
}

// distinctStep makes IS [NOT] DISTINCT FROM of the comparison of values: two
// NULLs are alike, a NULL and a value are not.
func distinctStep(compare stepFunc) stepFunc {
	return func(x *frame, in *Instr) error {
		if err := compare(x, in); err != nil {
			return err
		}
		x.reg[in.Dst].Valid = 0
		va, vb := x.words(x.reg[in.Args[0]].Valid), x.words(x.reg[in.Args[1]].Valid)
		if va == nil && vb == nil {
			return nil
		}
		d := results[uint8](x, in)
		differ := b2u(in.Op == OpDistinct)
		for i := range d {
			ka, kb := known(va, i>>6)>>(i&63)&1, known(vb, i>>6)>>(i&63)&1
			switch {
			case ka != kb:
				d[i] = differ
			case ka == 0:
				d[i] = differ ^ 1
			}
		}
		return nil
	}
}
