package kernels

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// deviceEval is what an Evaluator has on a device with memory of its own.
type deviceEval struct {
	prog    *deviceProgram
	kernel  *device.Kernel[evalLaunch]
	static  *device.Buffer // code, constants, lists, and the bytes of their long strings
	args    evalLaunch
	columns []evalColumn
	scratch *device.Buffer
	results *device.Buffer // values and bitmaps
	room    int            // rows that results has room for
	text    *device.Buffer // the bytes of strings that were made
	known   []bool         // by register, in this batch: it has no NULL

	made      *device.Kernel[compiledLaunch] // the program as code of its own; nil: there is none
	madeFor   inputShape
	madeArgs  compiledLaunch
	key       []byte
	constants bool // madeArgs has them
}

// evalBad is the bytes of evalLaunch.Bad.
const evalBad = 24

// scratchBlocks is how many blocks work at a time when slots are in memory.
const scratchBlocks = 1024

func (d *deviceEval) close() {
	for _, b := range []*device.Buffer{d.static, d.scratch, d.results, d.text} {
		b.Release()
	}
	*d = deviceEval{}
}

// runDevice is Run where the host cannot read the device's memory.
func (e *Evaluator) runDevice(s device.Stream, cols []Vec, n int) ([]Vec, error) {
	d := &e.dev
	if d.prog == nil {
		if err := d.begin(e.prog, e.mem, s); err != nil {
			return nil, err
		}
	}
	if err := d.reserve(e.prog, e.mem, n); err != nil {
		return nil, err
	}
	d.place(e.prog, cols)
	if len(d.prog.outs) > 0 {
		if err := e.launch(s, cols, n); err != nil {
			if err == errSpill {
				return e.runWide(s, cols, n)
			}
			return nil, err
		}
	}
	next := len(d.prog.inputs)
	for i, r := range e.prog.Out {
		switch {
		case e.first[i] != i:
			e.outs[i] = e.outs[e.first[i]]
		case int(r) < len(e.prog.Inputs):
			e.outs[i] = cols[e.prog.Inputs[r].Column]
		default:
			e.outs[i] = d.columns[next].Col
			next++
		}
	}
	return e.outs, nil
}

// launch runs the program, and finds out whether a row was bad.
func (e *Evaluator) launch(s device.Stream, cols []Vec, n int) error {
	d := &e.dev
	if d.prog.makes {
		if err := d.reserveText(e.mem, 16*n); err != nil {
			return err
		}
	}
	for {
		if d.prog.fails {
			if err := Zero(s, d.args.Bad, evalBad); err != nil {
				return err
			}
		}
		if err := d.submit(e.prog, s, n); err != nil || !d.prog.fails {
			return err
		}
		var bad [evalBad]byte
		if err := s.Download(bad[:], d.args.Bad); err != nil {
			return err
		}
		if row := binary.LittleEndian.Uint64(bad[:]); row != 0 {
			return e.explain(s, cols, int(^row))
		}
		if binary.LittleEndian.Uint64(bad[8:]) != 0 {
			return errSpill
		}
		made := binary.LittleEndian.Uint64(bad[16:])
		if made <= d.args.Room {
			return nil
		}
		// What the strings need is known only when they have been looked at.
		if err := d.reserveText(e.mem, int(made)); err != nil {
			return err
		}
	}
}

// reserveText sees that strings of so many bytes have room.
func (d *deviceEval) reserveText(m device.Allocator, n int) error {
	if uint64(n) <= d.args.Room {
		return nil
	}
	d.text.Release()
	d.text, d.args.Room = nil, 0
	b, err := m.Alloc(align(n + n/8))
	if err != nil {
		return err
	}
	d.text = b
	d.args.Text, d.args.Room = b.Ptr(), uint64(b.Len())
	return nil
}

// submit launches the code made of the program, or else the interpreter.
func (d *deviceEval) submit(p *Program, s device.Stream, n int) error {
	known := !slices.Contains(d.known[:len(p.Inputs)], false)
	if d.make(p, s, n, known) {
		copy(d.madeArgs.Columns[:], d.vecs())
		return device.Launch(s, d.made, n, d.madeArgs)
	}
	if err := s.Upload(d.args.Columns, rawOf(d.columns)); err != nil {
		return err
	}
	d.args.Status = s.Status()
	return device.Launch(s, d.kernel, n, d.args)
}

// explain runs a row that the device found bad here: the error is the host's.
func (e *Evaluator) explain(s device.Stream, cols []Vec, row int) error {
	host := device.NewCPU(device.CPUOptions{})
	defer host.Close() //nolint:errcheck // it has memory alone
	scope := device.NewScope(host, device.ScopeOptions{})
	defer scope.Close()
	one := make([]Vec, len(cols))
	for _, in := range e.prog.Inputs {
		v, err := fetchRow(s, scope, cols[in.Column], in.Type.Phys(), row)
		if err != nil {
			return err
		}
		one[in.Column] = v
	}
	h := NewEvaluator(e.prog, scope)
	defer h.Close()
	if err := h.reserve(1); err != nil {
		return err
	}
	h.in = one
	err := h.batch(1)
	if err == nil {
		return fmt.Errorf("kernels: %s refused row %d, which has a value:\n%s", s.Device().Name(), row, e.prog)
	}
	return err
}

// fetchRow is a row of a column, in the host's memory.
func fetchRow(s device.Stream, m device.Allocator, v Vec, p sqltype.Phys, row int) (Vec, error) {
	b, err := m.Alloc(64)
	if err != nil {
		return Vec{}, err
	}
	room := device.View[byte](b.Ptr(), 64)
	clear(room)
	out := Vec{Data: b.Ptr()}
	if v.Valid != 0 {
		out.Valid = b.Ptr() + 32
		if err := s.Download(room[32:40], v.Valid+device.Ptr(row/64*8)); err != nil {
			return out, err
		}
		word := binary.LittleEndian.Uint64(room[32:]) >> (row % 64)
		binary.LittleEndian.PutUint64(room[32:], word)
		if word&1 == 0 {
			return out, nil
		}
	}
	from, at := v.Data, row
	if v.Dict != 0 {
		var code [4]byte
		if err := s.Download(code[:], v.Data+device.Ptr(row*4)); err != nil {
			return out, err
		}
		from, at = v.Dict, int(binary.LittleEndian.Uint32(code[:]))
	}
	if err := s.Download(room[:p.Width()], from+device.Ptr(at*p.Width())); err != nil {
		return out, err
	}
	if view := (*View)(unsafe.Pointer(&room[0])); p == sqltype.PhysStr && view.Len() > InlineLen {
		long, err := m.Alloc(view.Len())
		if err != nil {
			return out, err
		}
		if err := s.Download(device.View[byte](long.Ptr(), view.Len()), device.Ptr(view.Hi)); err != nil {
			return out, err
		}
		view.Hi = uint64(long.Ptr())
	}
	return out, nil
}

// begin takes the program to the device.
func (d *deviceEval) begin(p *Program, m device.Allocator, s device.Stream) error {
	prog, err := p.lower()
	if err != nil {
		return err
	}
	text := 0
	for _, t := range prog.texts {
		text += len(t.text)
	}
	code := rawOf(prog.code)
	columns := (len(prog.inputs) + len(prog.outs)) * int(unsafe.Sizeof(evalColumn{}))
	sizes := []int{len(code), 8 * len(prog.consts), 8 * len(prog.lists), columns, evalBad, text + 8}
	at := make([]int, len(sizes)+1)
	for i, n := range sizes {
		at[i+1] = align(at[i] + n)
	}
	if d.static, err = m.Alloc(at[len(sizes)]); err != nil {
		return err
	}
	base := d.static.Ptr()
	image := make([]byte, at[len(sizes)])
	next := at[5]
	for _, t := range prog.texts {
		*t.word = uint64(base) + uint64(next)
		next += copy(image[next:], t.text)
	}
	copy(image, code)
	copy(image[at[1]:], rawOf(prog.consts))
	copy(image[at[2]:], rawOf(prog.lists))
	if err := s.Upload(base, image); err != nil {
		return err
	}
	d.args = evalLaunch{
		Code: base, Consts: base + device.Ptr(at[1]), Lists: base + device.Ptr(at[2]),
		Columns: base + device.Ptr(at[3]), Bad: base + device.Ptr(at[4]),
		Instrs: uint32(len(prog.code)), Slots: uint32(prog.slots),
		Inputs: uint32(len(prog.inputs)), Outs: uint32(len(prog.outs)),
	}
	general := *codeEval
	if prog.slots <= evalSlots {
		general.Shared = prog.slots * evalBlock * 8
	} else {
		if d.scratch, err = m.Alloc(prog.slots * evalBlock * 8 * scratchBlocks); err != nil {
			return err
		}
		d.args.Scratch = d.scratch.Ptr()
		general.MaxGrid = scratchBlocks
	}
	d.kernel = &device.Kernel[evalLaunch]{Name: "eval", Code: &general}
	d.columns = slices.Concat(prog.inputs, prog.outs)
	d.prog = prog
	return nil
}

// reserve sees that the results of n rows have room.
func (d *deviceEval) reserve(p *Program, m device.Allocator, n int) error {
	if n <= d.room || len(d.prog.outs) == 0 {
		return nil
	}
	rows := align(max(n, min(2*d.room, n+n/4)))
	size := 0
	for _, c := range d.prog.outs {
		size += align(rows*c.Form.Width()) + align(BitmapBytes(rows))
	}
	d.results.Release()
	d.results, d.room = nil, 0
	b, err := m.Alloc(size)
	if err != nil {
		return err
	}
	d.results, d.room = b, rows
	return nil
}

// place says where this batch's columns are. A result that cannot be NULL has no bitmap.
func (d *deviceEval) place(p *Program, cols []Vec) {
	d.findKnown(p, cols)
	for i, in := range p.Inputs {
		d.columns[i].Col = cols[in.Column]
	}
	at := device.Ptr(0)
	next := len(p.Inputs)
	for i, r := range p.Out {
		if !p.isResult(i, r) {
			continue
		}
		c := &d.columns[next]
		c.Col = Vec{Data: d.results.Ptr() + at}
		at += device.Ptr(align(d.room * c.Form.Width()))
		if !d.known[r] {
			c.Col.Valid = d.results.Ptr() + at
		}
		at += device.Ptr(align(BitmapBytes(d.room)))
		next++
	}
}

// findKnown finds the registers that have no NULL in this batch.
func (d *deviceEval) findKnown(p *Program, cols []Vec) {
	if d.known == nil {
		d.known = make([]bool, len(p.Types))
	}
	for i, in := range p.Inputs {
		d.known[i] = cols[in.Column].Valid == 0
	}
	p.known(d.known)
}

// known goes on from the inputs: which registers have no NULL when these have none.
func (p *Program) known(known []bool) {
	for i, c := range p.Consts {
		known[len(p.Inputs)+i] = !c.Null
	}
	for i := range p.Code {
		in := &p.Code[i]
		is := in.Flag&Try == 0
		for k, a := range in.Args {
			if in.Op != OpCase || k&1 == 1 || k == len(in.Args)-1 { // not an arm's mask
				is = is && known[a]
			}
		}
		switch in.Op {
		case OpIsNull, OpDistinct, OpNotDistinct:
			is = true
		case OpIn:
			is = is && !p.Sets[in.Imm].HasNull
		}
		known[in.Dst] = is
	}
}

// plain reports a register that has no NULL when no input has.
func (p *Program) plain(r Reg) bool {
	known := make([]bool, len(p.Types))
	for i := range p.Inputs {
		known[i] = true
	}
	p.known(known)
	return known[r]
}

// rawOf is values as bytes.
func rawOf[T any](values []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(zero)))
}
