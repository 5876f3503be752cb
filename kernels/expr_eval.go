package kernels

import (
	"errors"
	"strings"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// chunkRows is how many rows a program's instructions see at a time: few
// enough that all registers of an expression stay in the first cache, many
// enough that starting an instruction costs nothing. A multiple of 64, so that
// bitmaps are cut at whole words.
const chunkRows = 2048

// spillLimit is after how many batches that did not fit 64 bits the wide
// program is run at once.
const spillLimit = 3

// errSpill says that a speculative instruction overflowed.
var errSpill = errors.New("kernels: a value needs 128 bits")

// Evaluator runs a program over batches. It owns the memory of the results,
// taken from an Allocator at the first batch and given back by Close.
//
// It belongs to one worker: Run is not safe for concurrent use.
type Evaluator struct {
	frame
	mem   device.Allocator
	steps []stepFunc
	skip  []bool // by instruction: it was run on a dictionary
	dicts []dictionary
	outs  []Vec
	first []int   // outs[i] is the same register as outs[first[i]]
	nulls []uint8 // by output: whether its bitmap is in use in this batch
	in    []Vec
	room  int // rows that the results have room for
	err   error

	buf    *device.Buffer
	layout layout
	consts *Heap // long strings of constants

	wide   *Evaluator
	spills int

	dev deviceEval // on a device whose memory the host cannot read
}

// stepFunc runs one instruction over the frame's rows.
type stepFunc func(x *frame, in *Instr) error

// frame is the state of a chunk: n rows from row off of the batch.
type frame struct {
	prog *Program
	n    int
	off  int
	reg  []Vec        // every register's rows of the chunk; a constant's one value
	data []device.Ptr // where a register's values are written; constants: spread out
	own  []device.Ptr // room for a register's bitmap, or a mask
	any  []bool       // by register: a mask with any row
	// spread counts the copies of a constant that lie at data.
	spread []int
	tmp    []uint64 // a bitmap of a chunk, for the step that runs
	call   Call
	heap   *Heap
}

type evalArgs struct{ e *Evaluator }

// evalKernel runs a whole program over a batch in one piece.
var evalKernel = &device.Kernel[evalArgs]{Name: "eval", Host: func(a *evalArgs, lo, hi int) {
	a.e.err = a.e.batch(hi)
}}

// NewEvaluator makes an evaluator that takes its memory from m.
func NewEvaluator(p *Program, m device.Allocator) *Evaluator {
	e := &Evaluator{mem: m}
	e.prog = p
	regs := len(p.Types)
	e.reg = make([]Vec, regs)
	ptrs := make([]device.Ptr, 2*regs)
	e.data, e.own = ptrs[:regs:regs], ptrs[regs:]
	if len(p.Code) > 0 {
		e.steps = make([]stepFunc, len(p.Code))
		for i := range p.Code {
			e.steps[i] = bindStep(p, &p.Code[i])
		}
		e.skip = make([]bool, len(p.Code))
		e.any = make([]bool, regs)
		e.heap = NewHeap(m)
	}
	e.spread = make([]int, regs)
	e.outs = make([]Vec, len(p.Out))
	e.first = make([]int, len(p.Out))
	for i, r := range p.Out {
		for e.first[i] = 0; p.Out[e.first[i]] != r; {
			e.first[i]++
		}
	}
	e.nulls = make([]uint8, len(p.Out))
	e.dicts = make([]dictionary, len(p.regions))
	e.layout = newLayout(p)
	return e
}

// Run evaluates the program over n rows of cols, the batch's columns in order,
// and returns the results. They are valid until the next Run, and where a
// result is an input as it is, or made from an input's dictionary, no longer
// than the input. An error is a *sqltype.Error, or of the device.
func (e *Evaluator) Run(s device.Stream, cols []Vec, n int) ([]Vec, error) {
	if e.spills >= spillLimit {
		return e.wide.Run(s, cols, n)
	}
	if n == 0 {
		clear(e.outs)
		return e.outs, nil
	}
	if !s.Device().Traits().HostBytes {
		return e.runDevice(s, cols, n)
	}
	if err := e.reserve(n); err != nil {
		return nil, err
	}
	e.in = cols
	if err := e.prepareDicts(s, n); err != nil {
		return nil, err
	}
	if e.heap != nil {
		e.heap.Reset()
	}
	if err := device.Launch(s, evalKernel, n, evalArgs{e}); err != nil {
		return nil, err
	}
	err := e.err
	e.err, e.in = nil, nil
	if err == errSpill {
		return e.runWide(s, cols, n)
	}
	if err != nil {
		return nil, err
	}
	return e.outs, nil
}

// runWide runs a batch that does not fit 64 bits.
func (e *Evaluator) runWide(s device.Stream, cols []Vec, n int) ([]Vec, error) {
	e.spills++
	if e.wide == nil {
		e.wide = NewEvaluator(e.prog.Wide, e.mem)
	}
	return e.wide.Run(s, cols, n)
}

// Program is what the evaluator runs.
func (e *Evaluator) Program() *Program { return e.prog }

// Close gives the memory back. It may be called more than once.
func (e *Evaluator) Close() {
	e.dev.close()
	e.buf.Release()
	e.buf, e.room = nil, 0
	if e.heap != nil {
		e.heap.Release()
	}
	if e.consts != nil {
		e.consts.Release()
	}
	for i := range e.dicts {
		e.dicts[i].close()
	}
	if e.wide != nil {
		e.wide.Close()
	}
}

// batch runs the program over e.in, chunk by chunk.
func (e *Evaluator) batch(n int) error {
	clear(e.nulls)
	for off := 0; off < n; off += chunkRows {
		e.enter(off, min(chunkRows, n-off))
		for i := range e.steps {
			if e.skip[i] {
				continue
			}
			in := &e.prog.Code[i]
			if in.Mask != NoReg && !e.any[in.Mask] {
				e.skipped(in)
				continue
			}
			if err := e.steps[i](&e.frame, in); err != nil {
				return err
			}
		}
		for i, r := range e.prog.Out {
			if e.first[i] == i {
				e.keepValid(i, r)
			}
		}
	}
	e.finish(n)
	return nil
}

// enter points the registers at a chunk's rows.
func (e *Evaluator) enter(off, n int) {
	e.off, e.n = off, n
	for i := range e.prog.Inputs {
		if e.layout.place[i].live {
			e.reg[i] = slice(e.in[e.prog.Inputs[i].Column], e.prog.Types[i].Phys(), off)
		}
	}
	for _, r := range e.layout.outputs {
		at := e.layout.place[r]
		e.data[r] = e.buf.Ptr() + device.Ptr(at.data+off*at.width)
		e.own[r] = e.buf.Ptr() + device.Ptr(at.bits+off/8)
	}
	for k := range e.dicts {
		e.enterDict(k)
	}
}

// slice is v from row off, a multiple of 64.
func slice(v Vec, p sqltype.Phys, off int) Vec {
	width := p.Width()
	if v.Dict != 0 {
		width = 4
	}
	v.Data += device.Ptr(off * width)
	if v.Valid != 0 {
		v.Valid += device.Ptr(off / 8)
	}
	return v
}

// skipped makes the result of an instruction whose mask is empty readable.
func (e *Evaluator) skipped(in *Instr) {
	if in.Op.IsMask() {
		clear(device.View[uint64](e.own[in.Dst], (e.n+63)/64))
		e.any[in.Dst] = false
		return
	}
	e.reg[in.Dst] = Vec{Data: e.data[in.Dst]}
}

// keepValid puts the chunk's bitmap of output i, register r, in its place.
func (e *Evaluator) keepValid(i int, r Reg) {
	if int(r) < len(e.prog.Inputs) || e.prog.IsConst(r) {
		return
	}
	v := e.reg[r].Valid
	if v == 0 && e.nulls[i] == 0 {
		return
	}
	own := device.View[uint64](e.own[r], (e.n+63)/64)
	if e.nulls[i] == 0 {
		e.nulls[i] = 1
		before := device.View[uint64](e.buf.Ptr()+device.Ptr(e.layout.place[r].bits), e.off/64)
		for w := range before {
			before[w] = ^uint64(0)
		}
	}
	switch v {
	case 0:
		for w := range own {
			own[w] = ^uint64(0)
		}
	case e.own[r]:
	default:
		copy(own, device.View[uint64](v, len(own)))
	}
}

// finish makes the results of a batch of n rows.
func (e *Evaluator) finish(n int) {
	for i, r := range e.prog.Out {
		at := e.layout.place[r]
		switch {
		case e.first[i] != i:
			e.outs[i] = e.outs[e.first[i]]
		case int(r) < len(e.prog.Inputs):
			e.outs[i] = e.in[e.prog.Inputs[r].Column]
		case e.prog.IsConst(r):
			e.outs[i] = Vec{Data: e.spreadConst(r, n), Valid: e.reg[r].Valid}
		default:
			e.outs[i] = Vec{Data: e.buf.Ptr() + device.Ptr(at.data)}
			if k, o := e.dictOf(r); k >= 0 {
				e.outs[i] = e.dictOut(k, o, r, n)
			}
			if e.nulls[i] != 0 {
				e.outs[i].Valid = e.buf.Ptr() + device.Ptr(at.bits)
			}
		}
	}
}

// EvalRow runs a program without inputs once and returns its results. m is
// memory of the host; all of it is given back.
func EvalRow(p *Program, m device.Allocator) ([]sqltype.Datum, error) {
	e := NewEvaluator(p, m)
	defer e.Close()
	if err := e.reserve(1); err != nil {
		return nil, err
	}
	err := e.batch(1)
	if err == errSpill {
		return EvalRow(p.Wide, m)
	}
	if err != nil {
		return nil, err
	}
	row := make([]sqltype.Datum, len(p.Out))
	for i, v := range e.outs {
		t := p.Types[p.Out[i]]
		if v.isNull(0) {
			row[i] = sqltype.NullOf(t)
			continue
		}
		row[i] = loadDatum(unsafe.Pointer(&device.View[byte](v.Data, 1)[0]), t)
		row[i].S = strings.Clone(row[i].S)
	}
	return row, nil
}
