package kernels

import (
	"fmt"
	"unsafe"

	"github.com/gpusql/gpusql/sqltype"
)

// compiled writes a deviceProgram as instructions of the machine: registers for
// slots, predicates for bits, and no more than the rows at hand. What it has no
// code for stays with the interpreter (eval.cu), which says what all of it means.
//
//	text     the same for all programs of one shape: constants are in the argument
//	rows     several a thread, so that many reads are under way
//	bits     known when the text is made, where inputs have no NULLs
type compiled struct {
	ptx
	p *deviceProgram
	inputShape
	row   *compiledRow
	rows  []compiledRow
	none  bool // something has no code
	words map[[2]int]string
	base  string // the number of the first row
	items string // how many there are
	bad   [2]string
}

// compiledRow is what is known of one row where the text has come to.
type compiledRow struct {
	k     int
	in    pred // there is such a row
	slots []string
	truth []pred // of a slot that holds a BOOLEAN; "": not at hand
	bits  []pred
	codes map[int]string // by input: its place in the dictionary, or a BOOLEAN
}

// compiledLaunch is the argument: constants, and inputs before results.
type compiledLaunch struct {
	Bad     [2]uint64 // where ^row of the first bad row goes: its address; see evalLaunch
	Lists   uint64
	Consts  [2 * compiledConsts]uint64
	Columns [compiledColumns]Vec
}

const (
	compiledConsts  = 64
	compiledColumns = 48
	compiledBlock   = 256
	compiledRows    = 4
	compiledMost    = 200 // instructions: the driver takes milliseconds for each hundred
)

// param reads 8 bytes of the argument.
func (c *compiled) param(at uintptr) string { return c.op("ld.param.b64", fmt.Sprintf("[a+%d]", at)) }

func (c *compiled) column(j int, field uintptr) string {
	return c.param(unsafe.Offsetof(compiledLaunch{}.Columns) + uintptr(j)*unsafe.Sizeof(Vec{}) + field)
}

// begin makes the rows of a thread, the first of which has the number base.
func (c *compiled) begin(n int) {
	c.rows = make([]compiledRow, n)
	for k := range c.rows {
		r := &c.rows[k]
		r.k = k
		at := c.base
		if k > 0 {
			at = c.op("add.u64", c.base, k*compiledBlock)
		}
		r.in = c.test("setp.lt.u64", at, c.items)
		r.slots, r.truth, r.bits = make([]string, c.p.slots), make([]pred, c.p.slots), make([]pred, evalBits)
		r.bits[0], r.bits[1] = always, never
		r.codes = map[int]string{}
	}
}

// load reads the inputs: all of them before anything is computed, so that the
// reads overlap.
func (c *compiled) load() {
	for j := range c.p.inputs {
		in := &c.p.inputs[j]
		data := c.column(j, unsafe.Offsetof(Vec{}.Data))
		width := in.Form.Width()
		if c.dicts>>j&1 != 0 {
			width = 4
		}
		from := c.op("mad.lo.u64", c.base, width, data)
		var valid string
		var some pred
		if !c.plain {
			valid = c.column(j, unsafe.Offsetof(Vec{}.Valid))
			some = c.test("setp.ne.u64", valid, 0)
			valid = c.op("mad.lo.u64", c.op("shr.u64", c.base, 5), 4, valid)
		}
		for k := range c.rows {
			r := &c.rows[k]
			known := always
			if !c.plain {
				word := c.half()
				c.do("mov.b32 %s, -1", word)
				c.when(c.and(r.in, some), "ld.global.nc.u32 %s, [%s+%d]", word, valid, k*compiledBlock/8)
				lane := c.op32("and.b32", c.op32("cvt.u32.u64", c.base), 31)
				known = c.test("setp.ne.u32", c.op32("and.b32", c.op32("shr.u32", word, lane), 1), 0)
			}
			r.bits[in.Bit] = known
			at, off, there := from, k*compiledBlock*width, r.in
			if c.dicts>>j&1 != 0 {
				there = c.and(there, known)
				code := c.wide()
				c.do("mov.b64 %s, 0", code)
				c.when(there, "ld.global.nc.u32 %s, [%s+%d]", code, from, off)
				r.codes[j] = code
				at, off = c.op("mad.lo.u64", code, in.Form.Width(), c.column(j, unsafe.Offsetof(Vec{}.Dict))), 0
			}
			lo := c.wide()
			r.slots[in.Slot] = lo
			if in.Form >= sqltype.PhysI128 {
				hi := c.wide()
				r.slots[in.Slot+1] = hi
				c.when(there, "ld.global.nc.v2.u64 {%s, %s}, [%s+%d]", lo, hi, at, off)
				continue
			}
			c.when(there, "ld.global.nc.%s %s, [%s+%d]", loadForm(in.Form), lo, at, off)
			if in.Form == sqltype.PhysBool {
				r.codes[j] = lo
			}
		}
	}
}

// loadForm is the type of a form in memory.
func loadForm(p sqltype.Phys) string {
	kind := "s"
	if isUnsigned(p) || p == sqltype.PhysF32 || p == sqltype.PhysF64 {
		kind = "u"
	}
	return fmt.Sprint(kind, 8*p.Width())
}

func isUnsigned(p sqltype.Phys) bool {
	return p == sqltype.PhysBool || p >= sqltype.PhysU8 && p <= sqltype.PhysU64
}

// word is a word of an argument.
func (c *compiled) word(x evalArg, w int) string {
	if x.Slot < 0 {
		i := 2*int(^x.Slot) + w
		key := [2]int{0, i}
		if c.words[key] == "" {
			c.words[key] = c.param(unsafe.Offsetof(compiledLaunch{}.Consts) + uintptr(8*i))
		}
		return c.words[key]
	}
	s := int(x.Slot) + w
	if c.row.slots[s] == "" {
		c.row.slots[s] = c.number(c.row.truth[s])
	}
	return c.row.slots[s]
}

func (c *compiled) one(x evalArg) string { return c.word(x, 0) }

// lists is where the program's lists are.
func (c *compiled) lists() string {
	key := [2]int{2, 0}
	if c.words[key] == "" {
		c.words[key] = c.param(unsafe.Offsetof(compiledLaunch{}.Lists))
	}
	return c.words[key]
}

func (c *compiled) pair(x evalArg) [2]string { return [2]string{c.word(x, 0), c.word(x, 1)} }

// truth is a BOOLEAN as a predicate.
func (c *compiled) truth(x evalArg) pred {
	if x.Slot >= 0 && c.row.truth[x.Slot] != "" {
		return c.row.truth[x.Slot]
	}
	p := c.test("setp.ne.u64", c.op("and.b64", c.one(x), 1), 0)
	if x.Slot >= 0 {
		c.row.truth[x.Slot] = p
	}
	return p
}

func (c *compiled) known(x evalArg) pred { return c.row.bits[x.Bit] }

// counts are the rows that an instruction is for.
func (c *compiled) counts(in *evalInstr) pred {
	if in.Mask < 0 {
		return c.row.in
	}
	return c.and(c.row.in, c.row.bits[in.Mask])
}

func (c *compiled) put(in *evalInstr, words ...string) {
	for w, v := range words {
		c.row.slots[int(in.Dst)+w], c.row.truth[int(in.Dst)+w] = v, ""
	}
}

func (c *compiled) putTruth(in *evalInstr, p pred) {
	c.row.slots[in.Dst], c.row.truth[in.Dst] = "", p
}

// settle says whether the result is known, and reports a bad value of a row that counts.
func (c *compiled) settle(in *evalInstr, known, bad pred) {
	if bad != never {
		bad = c.and(c.and(bad, known), c.counts(in))
	}
	switch {
	case bad == never:
	case in.Flags&Try != 0:
		known = c.and(known, c.not(bad))
	default:
		which := 0
		if in.Flags&Speculative != 0 {
			which = 1
		}
		row := c.op("not.b64", c.op("add.u64", c.base, c.row.k*compiledBlock))
		c.when(bad, "max.u64 %s, %s, %s", c.bad[which], c.bad[which], row)
	}
	c.row.bits[in.Bit] = known
}

// report tells of the bad rows, at the end.
func (c *compiled) report() {
	for i, bad := range c.bad {
		at := c.param(unsafe.Offsetof(compiledLaunch{}.Bad) + uintptr(8*i))
		c.when(c.test("setp.ne.u64", bad, 0), "red.global.max.u64 [%s], %s", at, bad)
	}
}

// store writes the results, and their bitmaps by warps.
func (c *compiled) store(bitmaps []bool) {
	end := c.op("and.b64", c.op("add.u64", c.items, 63), -64)
	lane := c.op32("mov.u32", "%laneid")
	first := c.test("setp.eq.u32", lane, 0)
	for j := range c.p.outs {
		out := &c.p.outs[j]
		to := c.op("mad.lo.u64", c.base, out.Form.Width(), c.column(len(c.p.inputs)+j, unsafe.Offsetof(Vec{}.Data)))
		var valid string
		var some pred
		if bitmaps[j] {
			valid = c.column(len(c.p.inputs)+j, unsafe.Offsetof(Vec{}.Valid))
			some = c.and(first, c.test("setp.ne.u64", valid, 0))
			valid = c.op("mad.lo.u64", c.op("shr.u64", c.base, 5), 4, valid)
		}
		x := evalArg{Slot: out.Slot, Bit: out.Bit}
		for k := range c.rows {
			c.row = &c.rows[k]
			if bitmaps[j] {
				word := c.op32("vote.sync.ballot.b32", c.asBit(c.and(c.row.in, c.known(x))), "0xffffffff")
				there := c.test("setp.lt.u64", c.op("add.u64", c.base, k*compiledBlock), end)
				c.when(c.and(some, there), "st.global.u32 [%s+%d], %s", valid, k*compiledBlock/8, word)
			}
			off := k * compiledBlock * out.Form.Width()
			if out.Form >= sqltype.PhysI128 {
				c.when(c.row.in, "st.global.v2.u64 [%s+%d], {%s, %s}", to, off, c.word(x, 0), c.word(x, 1))
				continue
			}
			c.when(c.row.in, "st.global.u%d [%s+%d], %s", 8*out.Form.Width(), to, off, c.one(x))
		}
	}
}

// asBit is p in a register.
func (c *compiled) asBit(p pred) pred {
	if p == never {
		return c.test("setp.ne.u64", c.base, c.base)
	}
	return p
}

// compile is the text of a program that writes its results; bitmaps says which
// of them need one. False: part of it has no code.
func (p *deviceProgram) compile(shape inputShape, bitmaps []bool) (string, bool) {
	c := compiled{p: p, inputShape: shape, words: map[[2]int]string{}}
	tid := c.op("cvt.u64.u32", c.op32("mov.u32", "%tid.x"))
	block := c.op("cvt.u64.u32", c.op32("mov.u32", "%ctaid.x"))
	c.base = c.op("mad.lo.u64", block, compiledRows*compiledBlock, tid)
	c.items = c.op("ld.param.b64", "[n]")
	c.bad = [2]string{c.op("mov.b64", 0), c.op("mov.b64", 0)}
	c.begin(compiledRows)
	c.load()
	if !c.run() {
		return "", false
	}
	c.store(bitmaps)
	if p.fails {
		c.report()
	}
	return c.kernel(compiledEntry, int(unsafe.Sizeof(compiledLaunch{})), compiledBlock, 2), true
}

const compiledEntry = "expressions"

// run writes the program, for each row of the thread.
func (c *compiled) run() bool {
	for k := range c.rows {
		c.row = &c.rows[k]
		for i := range c.p.code {
			c.instr(&c.p.code[i])
			if c.none {
				return false
			}
		}
	}
	return true
}
