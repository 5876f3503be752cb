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
	States  [foldStates]uint64
}

const (
	foldStates = 24
	foldGroups = 16 // most groups: each has its words in every thread
	foldWords  = 80 // most words of a thread
	foldEntry  = "fold"
	foldWarps  = compiledBlock / 32
	foldSMs    = 160 // multiprocessors that get blocks
)

// foldText writes a Fold: each thread goes through rows and adds to words of its
// own, a set for each group; at the end a warp's words are one, which its first
// lane adds to the warp's states.
type foldText struct {
	compiled
	f      *Fold
	sizes  []int // by key: how many values it has, with NULL
	groups int
	sums   [][][]string // by state and group
	alike  []bool       // by state: it has a value in every row, and its number of values is the last state's
}

// stateWords says how a state's words are added up.
func (a Agg) stateWords() int {
	switch a.Kind {
	case AggCount:
		return 1
	case AggSum:
		return 3
	default:
		return 2
	}
}

// perSM is how many blocks a multiprocessor has room for, by the words of a thread.
func foldPerSM(words int) int {
	switch {
	case words <= 16:
		return 3
	case words <= 40:
		return 2
	}
	return 1
}

func (f *Fold) text(shape inputShape, sizes []int) (string, bool) {
	t := &foldText{f: f, sizes: sizes, groups: groupsOf(sizes)}
	t.compiled = compiled{p: f.prog, inputShape: shape, words: map[[2]int]string{}}
	tid := t.op("cvt.u64.u32", t.op32("mov.u32", "%tid.x"))
	block := t.op("cvt.u64.u32", t.op32("mov.u32", "%ctaid.x"))
	t.base = t.op("mad.lo.u64", block, compiledRows*compiledBlock, tid)
	step := t.op("mul.lo.u64", t.op("cvt.u64.u32", t.op32("mov.u32", "%nctaid.x")), compiledRows*compiledBlock)
	t.items = t.op("ld.param.b64", "[n]")
	t.bad = [2]string{t.op("mov.b64", 0), t.op("mov.b64", 0)}
	t.begins()
	fmt.Fprintf(&t.compiled.text, "more:\n")
	// A block goes on together, since its lanes meet.
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
	t.ends(tid, block)
	if f.prog.fails {
		t.report()
	}
	words := f.words(t.groups, shape.plain)
	return t.kernel(foldEntry, int(unsafe.Sizeof(foldLaunch{})), compiledBlock, foldPerSM(words)), true
}

// begins makes the words.
func (t *foldText) begins() {
	for _, st := range t.f.states {
		groups := make([][]string, t.groups)
		alike := t.plain && t.f.counted(st)
		for g := range groups {
			for range st.Agg.stateWords() - b2i(alike) {
				groups[g] = append(groups[g], t.op("mov.b64", 0))
			}
		}
		t.sums, t.alike = append(t.sums, groups), append(t.alike, alike)
	}
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
	of := make([]pred, t.groups)
	if id := t.group(); id != "" {
		for g := range of {
			of[g] = t.test("setp.eq.u64", id, g)
		}
	} else {
		of[0] = always
	}
	all := make([]pred, t.groups)
	for g := range all {
		all[g] = t.and(pass, of[g])
	}
	for s, st := range t.f.states {
		only := always
		if st.Filter >= 0 {
			x := t.value(st.Filter)
			only = t.and(t.truth(x), t.known(x))
		}
		if st.Arg >= 0 {
			only = t.and(only, t.known(t.value(st.Arg)))
		}
		add := t.adding(st)
		for g := range t.groups {
			add(t.sums[s][g], t.and(all[g], only))
		}
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

// adding prepares the value of a state, and gives what adds it to words.
func (t *foldText) adding(st FoldState) func(words []string, p pred) {
	if st.Agg.Kind == AggCount {
		return func(w []string, p pred) { t.when(p, "add.u64 %s, %s, 1", w[0], w[0]) }
	}
	x := t.value(st.Arg)
	form := st.Agg.Phys
	switch st.Agg.Kind {
	case AggSum:
		v, high := t.one(x), "0"
		switch {
		case form == sqltype.PhysI128:
			high = t.word(x, 1)
		case !isUnsigned(form):
			high = t.op("shr.s64", v, 63)
		}
		return func(w []string, p pred) {
			t.when(p, "add.cc.u64 %s, %s, %s", w[0], w[0], v)
			t.when(p, "addc.u64 %s, %s, %s", w[1], w[1], high)
			t.count(w[2:], p)
		}
	case AggSumFloat:
		v := t.double(t.one(x), form)
		return func(w []string, p pred) {
			t.when(p, "add.rn.f64 %s, %s, %s", w[0], w[0], v)
			t.count(w[1:], p)
		}
	}
	v := t.rank(t.one(x), form)
	if st.Agg.Kind == AggMin {
		v = t.op("not.b64", v)
	}
	return func(w []string, p pred) {
		t.when(p, "max.u64 %s, %s, %s", w[0], w[0], v)
		t.when(p, "mov.b64 %s, 1", w[1])
	}
}

// count counts a value, where a state does so itself.
func (t *foldText) count(w []string, p pred) {
	if len(w) > 0 {
		t.when(p, "add.u64 %s, %s, 1", w[0], w[0])
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

// ends folds each warp's words, and adds them to the warp's states.
func (t *foldText) ends(tid, block string) {
	by := t.op32("mov.u32", 16)
	fmt.Fprintf(&t.compiled.text, "halve:\n")
	for s, st := range t.f.states {
		for _, w := range t.sums[s] {
			other := make([]string, len(w))
			for i := range w {
				low := t.op32("cvt.u32.u64", w[i])
				high := t.op32("cvt.u32.u64", t.op("shr.u64", w[i], 32))
				low = t.op32("shfl.sync.bfly.b32", low, by, 31, "0xffffffff")
				high = t.op32("shfl.sync.bfly.b32", high, by, 31, "0xffffffff")
				other[i] = t.op("or.b64", t.op("shl.b64", t.op("cvt.u64.u32", high), 32), t.op("cvt.u64.u32", low))
			}
			t.join(st.Agg.Kind, w, w, other)
		}
	}
	t.do("shr.u32 %s, %s, 1", by, by)
	t.do("@%s bra halve", t.test("setp.ne.u32", by, 0))
	last := t.sums[len(t.sums)-1]
	for s, alike := range t.alike {
		for g := range t.sums[s] {
			if alike {
				t.sums[s][g] = append(t.sums[s][g], last[g][0])
			}
		}
	}
	first := t.test("setp.eq.u32", t.op32("mov.u32", "%laneid"), 0)
	warp := t.op("mad.lo.u64", block, foldWarps, t.op("shr.u64", tid, 5))
	for s, st := range t.f.states {
		base := t.param(unsafe.Offsetof(foldLaunch{}.States) + uintptr(8*s))
		base = t.op("mad.lo.u64", warp, t.groups*st.Agg.Bytes(), base)
		for g, w := range t.sums[s] {
			at := g * st.Agg.Bytes()
			places := st.Agg.stateOffsets()
			was, sum := make([]string, len(w)), make([]string, len(w))
			for i := range w {
				was[i], sum[i] = t.wide(), t.wide()
				t.do("mov.b64 %s, 0", was[i])
				t.when(first, "ld.global.u64 %s, [%s+%d]", was[i], base, at+places[i])
			}
			t.join(st.Agg.Kind, sum, w, was)
			for i := range w {
				t.when(first, "st.global.u64 [%s+%d], %s", base, at+places[i], sum[i])
			}
		}
	}
}

// stateOffsets is where a state has its words.
func (a Agg) stateOffsets() []int {
	if a.Kind == AggMin || a.Kind == AggMax { // the second word is not used
		return []int{0, 16}
	}
	return []int{0, 8, 16}[:a.stateWords()]
}

// join adds the states a and b up.
func (t *foldText) join(kind AggKind, to, a, b []string) {
	switch kind {
	case AggCount:
		t.do("add.u64 %s, %s, %s", to[0], a[0], b[0])
	case AggSum:
		t.do("add.cc.u64 %s, %s, %s", to[0], a[0], b[0])
		t.do("addc.u64 %s, %s, %s", to[1], a[1], b[1])
		if len(to) > 2 {
			t.do("add.u64 %s, %s, %s", to[2], a[2], b[2])
		}
	case AggSumFloat:
		t.do("add.rn.f64 %s, %s, %s", to[0], a[0], b[0])
		if len(to) > 1 {
			t.do("add.u64 %s, %s, %s", to[1], a[1], b[1])
		}
	default:
		t.do("max.u64 %s, %s, %s", to[0], a[0], b[0])
		t.do("or.b64 %s, %s, %s", to[1], a[1], b[1])
	}
}
