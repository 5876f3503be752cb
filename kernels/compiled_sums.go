package kernels

import (
	"fmt"
	"unsafe"
)

// ends adds the block's sums to the states: warp w takes group g of state s where
// s*groups + g is w in the number of warps.
func (t *foldText) ends(thread, acc string) {
	t.do("bar.sync 0")
	lane := t.op32("and.b32", thread, 31)
	warp := t.op32("shr.u32", thread, 5)
	first := t.test("setp.eq.u32", lane, 0)
	column := [2]string{t.op32("mad.lo.u32", lane, 4, acc), t.op32("mad.lo.u32", lane, 8, acc)}
	states := t.param(unsafe.Offsetof(foldLaunch{}.States))
	for s, st := range t.f.states {
		g := t.op32("and.b32", t.op32("add.u32", warp, foldWarps-s*t.groups%foldWarps), foldWarps-1)
		fmt.Fprintf(&t.compiled.text, "groups%d:\n", s)
		t.do("@%s bra past%d", t.test("setp.ge.u32", g, t.groups), s)
		at := column
		for i := range at {
			at[i] = t.op32("mad.lo.u32", g, t.stride, at[i])
		}
		sum := t.columns(s, st.Agg, at)
		t.lanes(s, st.Agg.Kind, sum)
		t.flush(st.Agg.Kind, t.op("mad.lo.u64", t.op("cvt.u64.u32", g), st.Agg.Bytes(), states), sum, first)
		t.do("add.u32 %s, %s, %d", g, g, foldWarps)
		t.do("bra groups%d", s)
		fmt.Fprintf(&t.compiled.text, "past%d:\n", s)
		states = t.op("add.u64", states, t.groups*st.Agg.Bytes())
	}
}

// columns adds up the sums of every 32nd thread, as words of 64 bits: those of a
// state.
func (t *foldText) columns(s int, a Agg, at [2]string) []string {
	fields := t.fields[s]
	if want := a.sumWords(); len(fields) < want {
		last := t.fields[len(t.fields)-1]
		fields = append(fields[:len(fields):len(fields)], last[0]) // the rows of the group
	}
	var sum []string
	for w := range foldWarps {
		var part []string
		for i, f := range fields {
			r := t.columnWord(f, at, w)
			if f.width == 4 {
				wide := "cvt.u64.u32"
				if a.Kind == AggSum && i == 1 { // the high word is signed
					wide = "cvt.s64.s32"
				}
				r = t.op(wide, r)
			}
			part = append(part, r)
		}
		if w == 0 {
			sum = part
		} else {
			t.join(a.Kind, sum, part)
		}
	}
	return sum
}

// columnWord reads a word of the thread that is 32*w beyond the lane's.
func (t *foldText) columnWord(f foldField, at [2]string, w int) string {
	if f.width == 8 {
		return t.op("ld.shared.u64", fmt.Sprintf("[%s+%d]", at[1], f.at*compiledBlock+w*32*8))
	}
	return t.op32("ld.shared.u32", fmt.Sprintf("[%s+%d]", at[0], f.at*compiledBlock+w*32*4))
}

// lanes adds up the sums of a warp.
func (t *foldText) lanes(s int, kind AggKind, sum []string) {
	by := t.op32("mov.u32", 16)
	fmt.Fprintf(&t.compiled.text, "halve%d:\n", s)
	other := make([]string, len(sum))
	for i := range sum {
		low := t.op32("cvt.u32.u64", sum[i])
		high := t.op32("cvt.u32.u64", t.op("shr.u64", sum[i], 32))
		low = t.op32("shfl.sync.bfly.b32", low, by, 31, "0xffffffff")
		high = t.op32("shfl.sync.bfly.b32", high, by, 31, "0xffffffff")
		other[i] = t.op("or.b64", t.op("shl.b64", t.op("cvt.u64.u32", high), 32), t.op("cvt.u64.u32", low))
	}
	t.join(kind, sum, other)
	t.do("shr.u32 %s, %s, 1", by, by)
	t.do("@%s bra halve%d", t.test("setp.ne.u32", by, 0), s)
}

// sumWords are the words of 64 bits of a sum, where a state has them in order.
func (a Agg) sumWords() int {
	switch a.Kind {
	case AggCount:
		return 1
	case AggSum:
		return 3
	default:
		return 2
	}
}

// join adds a sum to another.
func (t *foldText) join(kind AggKind, to, from []string) {
	switch kind {
	case AggCount:
		t.do("add.u64 %s, %s, %s", to[0], to[0], from[0])
	case AggSum:
		t.do("add.cc.u64 %s, %s, %s", to[0], to[0], from[0])
		t.do("addc.u64 %s, %s, %s", to[1], to[1], from[1])
		t.do("add.u64 %s, %s, %s", to[2], to[2], from[2])
	case AggSumFloat:
		t.do("add.rn.f64 %s, %s, %s", to[0], to[0], from[0])
		t.do("add.u64 %s, %s, %s", to[1], to[1], from[1])
	default:
		t.do("max.u64 %s, %s, %s", to[0], to[0], from[0])
		t.do("or.b64 %s, %s, %s", to[1], to[1], from[1])
	}
}

// flush adds a sum to a state, which other blocks add to as well.
func (t *foldText) flush(kind AggKind, at string, w []string, first pred) {
	plus := func(place int, v string) { t.when(first, "red.global.add.u64 [%s+%d], %s", at, place, v) }
	switch kind {
	case AggCount:
		plus(0, w[0])
	case AggSum:
		was := t.op("mov.b64", 0)
		t.when(first, "atom.global.add.u64 %s, [%s+0], %s", was, at, w[0])
		carry := t.test("setp.lt.u64", t.op("add.u64", was, w[0]), was)
		plus(8, t.op("add.u64", w[1], t.number(carry)))
		plus(16, w[2])
	case AggSumFloat:
		t.when(first, "red.global.add.f64 [%s+0], %s", at, w[0])
		plus(8, w[1])
	default:
		t.when(first, "red.global.max.u64 [%s+0], %s", at, w[0])
		t.when(t.and(first, t.test("setp.ne.u64", w[1], 0)), "st.global.u64 [%s+16], %s", at, w[1])
	}
}
