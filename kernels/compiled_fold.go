package kernels

import (
	"fmt"
	"unsafe"

	"github.com/gpusql/gpusql/sqltype"
)

// foldLaunch is the argument of a Fold's code.
type foldLaunch struct {
	compiledLaunch
	Visible uint64 // a bitmap of the rows to take, or 0
	States  uint64 // of all groups, one aggregate after the other
}

const (
	foldStates = 48
	foldGroups = 64
	foldEntry  = "fold"
	foldWarps  = compiledBlock / 32
)

// foldText writes a Fold: each thread goes through rows and adds to sums of its
// own; at the end each warp takes some states of some groups, adds up what the
// block's threads have of them, and adds that to the states.
//
//	shared memory: │ group 0: lo 8 x 256 │ hi 4 x 256 │ rows 4 x 256 │ group 1: ...
//
// Sums lie in shared memory, a column a thread, so that no two threads meet in a
// bank and registers do not grow with the groups: more threads find room, whose
// reads of columns overlap. (To keep one group's in registers was slower too.) A sum of many rows is 64 bits and a word above them, 32 bits where a value has
// no more than 64: a thread sees fewer than 2^31 rows.
type foldText struct {
	compiled
	f      *Fold
	fields [][]foldField // by state
	sizes  []int         // by key: how many values it has, with NULL
	groups int
	stride int       // bytes of shared memory that a group has
	at     [2]string // the thread's words of 4 bytes, and of 8, of group 0
}

// foldField is one word of a thread's sum.
type foldField struct {
	width int // bytes, 4 or 8
	place int // in the state
	at    int // bytes of a thread's sums before it
}

// layout gives each state the words of its sum in a thread. Where counted says
// so, the number of values of a sum is that of the group's rows, which are
// counted by the last state.
func (f *Fold) layout(plain bool) (fields [][]foldField, bytes int) {
	for _, st := range f.states {
		var all []foldField
		add := func(width, place int) {
			all = append(all, foldField{width, place, bytes})
			bytes += width
		}
		switch st.Agg.Kind {
		case AggCount:
			add(4, 0)
		case AggSum:
			add(8, 0)
			if st.Agg.Phys == sqltype.PhysI128 {
				add(8, 8)
			} else {
				add(4, 8)
			}
			if !plain || !f.counted(st) {
				add(4, 16)
			}
		case AggSumFloat:
			add(8, 0)
			if !plain || !f.counted(st) {
				add(4, 8)
			}
		default: // AggMin and AggMax: the rank, and whether there is one
			add(8, 0)
			add(4, 16)
		}
		fields = append(fields, all)
	}
	return fields, bytes
}

// foldPerSM is how many blocks a multiprocessor has room for.
func foldPerSM(shared int) int { return max(1, min(3, 220<<10/(shared+1024))) }

func (f *Fold) text(shape inputShape, sizes []int) (string, bool) {
	t := &foldText{f: f, sizes: sizes, groups: groupsOf(sizes)}
	var bytes int
	t.fields, bytes = f.layout(shape.plain)
	t.stride = bytes * compiledBlock
	t.compiled = compiled{p: f.prog, inputShape: shape, words: map[[2]int]string{}}
	t.shared = true
	thread := t.op32("mov.u32", "%tid.x")
	tid := t.op("cvt.u64.u32", thread)
	block := t.op("cvt.u64.u32", t.op32("mov.u32", "%ctaid.x"))
	t.base = t.op("mad.lo.u64", block, compiledRows*compiledBlock, tid)
	step := t.op("mul.lo.u64", t.op("cvt.u64.u32", t.op32("mov.u32", "%nctaid.x")), compiledRows*compiledBlock)
	t.items = t.op("ld.param.b64", "[n]")
	t.bad = [2]string{t.op("mov.b64", 0), t.op("mov.b64", 0)}
	acc := t.op32("mov.u32", "acc")
	t.at = [2]string{t.op32("mad.lo.u32", thread, 4, acc), t.op32("mad.lo.u32", thread, 8, acc)}
	t.clear(thread)
	fmt.Fprintf(&t.compiled.text, "more:\n")
	// A block goes on together, since its threads meet at the end.
	t.do("@%s bra done", t.test("setp.ge.u64", t.op("sub.u64", t.base, tid), t.items))
	t.begin(compiledRows)
	t.load()
	visible := t.visible()
	if !t.run() {
		return "", false
	}
	for k := range t.rows {
		t.row = &t.rows[k]
		t.take(visible[k])
	}
	t.do("add.u64 %s, %s, %s", t.base, t.base, step)
	t.do("bra more")
	fmt.Fprintf(&t.compiled.text, "done:\n")
	t.ends(thread, acc)
	if f.prog.fails {
		t.report()
	}
	return t.kernel(foldEntry, int(unsafe.Sizeof(foldLaunch{})), compiledBlock, foldPerSM(t.stride*t.groups)), true
}

// clear makes the block's shared memory zeros.
func (t *foldText) clear(thread string) {
	i := t.op32("shl.b32", thread, 3)
	fmt.Fprintf(&t.compiled.text, "clear:\n")
	in := t.test("setp.lt.u32", i, t.stride*t.groups)
	t.when(in, "st.shared.u64 [%s], 0", t.op32("add.u32", i, t.op32("mov.u32", "acc")))
	t.do("add.u32 %s, %s, %d", i, i, 8*compiledBlock)
	t.when(in, "bra clear")
	t.do("bar.sync 0")
}

// visible says which rows of the thread the snapshot sees.
func (t *foldText) visible() []pred {
	at := t.param(unsafe.Offsetof(foldLaunch{}.Visible))
	some := t.test("setp.ne.u64", at, 0)
	at = t.op("mad.lo.u64", t.op("shr.u64", t.base, 5), 4, at)
	lane := t.op32("and.b32", t.op32("cvt.u32.u64", t.base), 31)
	out := make([]pred, len(t.rows))
	for k := range t.rows {
		word := t.half()
		t.do("mov.b32 %s, -1", word)
		t.when(t.and(t.rows[k].in, some), "ld.global.nc.u32 %s, [%s+%d]", word, at, k*compiledBlock/8)
		out[k] = t.test("setp.ne.u32", t.op32("and.b32", t.op32("shr.u32", word, lane), 1), 0)
	}
	return out
}

// value is a result of the program, for the row at hand.
func (t *foldText) value(i int) evalArg { return t.f.prog.values[i] }

// take adds the row at hand.
func (t *foldText) take(visible pred) {
	pass := t.and(t.row.in, visible)
	if t.f.cond >= 0 {
		x := t.value(t.f.cond)
		pass = t.and(pass, t.and(t.truth(x), t.known(x)))
	}
	at := t.at
	if id := t.group(); id != "" {
		group := t.op32("cvt.u32.u64", id)
		for i := range at {
			at[i] = t.op32("mad.lo.u32", group, t.stride, at[i])
		}
	}
	for s, st := range t.f.states {
		only := pass
		if st.Filter >= 0 {
			x := t.value(st.Filter)
			only = t.and(only, t.and(t.truth(x), t.known(x)))
		}
		if st.Arg >= 0 {
			only = t.and(only, t.known(t.value(st.Arg)))
		}
		regs := make([]string, len(t.fields[s]))
		for i, f := range t.fields[s] {
			regs[i] = t.get(only, f, at)
		}
		t.add(st, regs, only)
		for i, f := range t.fields[s] {
			t.put(only, f, at, regs[i])
		}
	}
}

// get reads a word of shared memory, and put writes it.
func (t *foldText) get(p pred, f foldField, at [2]string) string {
	if f.width == 8 {
		r := t.wide()
		t.when(p, "ld.shared.u64 %s, [%s+%d]", r, at[1], f.at*compiledBlock)
		return r
	}
	r := t.half()
	t.when(p, "ld.shared.u32 %s, [%s+%d]", r, at[0], f.at*compiledBlock)
	return r
}

func (t *foldText) put(p pred, f foldField, at [2]string, r string) {
	if f.width == 8 {
		t.when(p, "st.shared.u64 [%s+%d], %s", at[1], f.at*compiledBlock, r)
	} else {
		t.when(p, "st.shared.u32 [%s+%d], %s", at[0], f.at*compiledBlock, r)
	}
}

// group is the number of the row's group; "": there is one.
func (t *foldText) group() string {
	id := ""
	for i, key := range t.f.keys {
		code := t.row.codes[key]
		if !t.plain { // NULL comes last
			code = t.pick(t.row.bits[t.f.prog.inputs[key].Bit], code, fmt.Sprint(t.sizes[i]-1))
		}
		if id == "" {
			id = code
		} else {
			id = t.op("mad.lo.u64", id, t.sizes[i], code)
		}
	}
	return id
}

// add adds the row's value of a state to a sum, where p is true.
func (t *foldText) add(st FoldState, w []string, p pred) {
	if st.Agg.Kind == AggCount {
		t.when(p, "add.u32 %s, %s, 1", w[0], w[0])
		return
	}
	x := t.value(st.Arg)
	form := st.Agg.Phys
	switch st.Agg.Kind {
	case AggSum:
		v := t.one(x)
		t.when(p, "add.cc.u64 %s, %s, %s", w[0], w[0], v)
		switch {
		case form == sqltype.PhysI128:
			t.when(p, "addc.u64 %s, %s, %s", w[1], w[1], t.word(x, 1))
		case isUnsigned(form):
			t.when(p, "addc.u32 %s, %s, 0", w[1], w[1])
		default:
			t.when(p, "addc.u32 %s, %s, %s", w[1], w[1], t.op32("cvt.u32.u64", t.op("shr.s64", v, 63)))
		}
		t.count(w[2:], p)
	case AggSumFloat:
		t.when(p, "add.rn.f64 %s, %s, %s", w[0], w[0], t.double(t.one(x), form))
		t.count(w[1:], p)
	default:
		v := t.rank(t.one(x), form)
		if st.Agg.Kind == AggMin {
			v = t.op("not.b64", v)
		}
		t.when(p, "max.u64 %s, %s, %s", w[0], w[0], v)
		t.when(p, "mov.b32 %s, 1", w[1])
	}
}

// count counts a value, where a state does so itself.
func (t *foldText) count(w []string, p pred) {
	if len(w) > 0 {
		t.when(p, "add.u32 %s, %s, 1", w[0], w[0])
	}
}

func (t *foldText) double(v string, form sqltype.Phys) string {
	if form == sqltype.PhysF32 {
		return t.op("cvt.f64.f32", t.op32("cvt.u32.u64", v))
	}
	return v
}

// rank orders the values of a form as unsigned words: rank_of of aggregate.cu.
func (t *foldText) rank(v string, form sqltype.Phys) string {
	top := t.op("mov.b64", int64(-1<<63))
	switch {
	case form == sqltype.PhysF32 || form == sqltype.PhysF64:
		v = t.double(v, form)
		zero := t.test("setp.eq.u64", t.op("shl.b64", v, 1), 0)
		nan := t.test("setp.nan.f64", v, v)
		v = t.pick(zero, t.op("mov.b64", 0), t.pick(nan, t.op("mov.b64", int64(0x7FF8000000000001)), v))
		minus := t.test("setp.lt.s64", v, 0)
		return t.pick(minus, t.op("not.b64", v), t.op("or.b64", v, top))
	case isUnsigned(form):
		return v
	}
	return t.op("xor.b64", v, top)
}
