package kernels

import (
	"encoding/binary"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// inputShape is what of a batch's columns the code of a program depends on.
type inputShape struct {
	plain bool   // none has NULLs
	dicts uint64 // a bit an input: it has a dictionary
}

func (d *deviceEval) shape(known bool) inputShape {
	s := inputShape{plain: known}
	for i := range d.prog.inputs {
		if d.columns[i].Col.Dict != 0 {
			s.dicts |= 1 << i
		}
	}
	return s
}

// make sees that d.made is the code for this batch; false: there is none.
func (d *deviceEval) make(p *Program, s device.Stream, n int, known bool) bool {
	if !d.prog.compiles() {
		return false
	}
	m, ok := s.Device().(device.Maker)
	if !ok {
		return false
	}
	shape := d.shape(known)
	if d.made != nil && d.madeFor == shape {
		return true
	}
	bitmaps := d.bitmaps(p, known)
	d.key = d.prog.key(d.key[:0], shape, bitmaps)
	c := m.Made(string(d.key), n, d.kernel.Code, func() *device.Code {
		text, ok := d.prog.compile(shape, bitmaps)
		if !ok {
			return nil
		}
		return &device.Code{Module: &device.Module{Name: compiledEntry, PTX: text}, Entry: compiledEntry,
			Block: compiledBlock, Items: compiledRows * compiledBlock}
	})
	if c == nil {
		return false
	}
	if !d.constants {
		d.constants = true
		copy(d.madeArgs.Consts[:], d.prog.consts)
		d.madeArgs.Lists = uint64(d.args.Lists)
		d.madeArgs.Bad = [2]uint64{uint64(d.args.Bad), uint64(d.args.Bad) + 8}
	}
	d.made, d.madeFor = &device.Kernel[compiledLaunch]{Name: compiledEntry, Code: c}, shape
	return true
}

// bitmaps says which results may have NULLs when the inputs have none, or any.
func (d *deviceEval) bitmaps(p *Program, known bool) []bool {
	out := make([]bool, 0, len(d.prog.outs))
	for i, r := range p.Out {
		if p.isResult(i, r) {
			out = append(out, !known || !d.known[r])
		}
	}
	return out
}

// vecs are the columns as the argument has them.
func (d *deviceEval) vecs() []Vec {
	out := make([]Vec, len(d.columns))
	for i := range d.columns {
		out[i] = d.columns[i].Col
	}
	return out
}

// compiles reports a program that is small enough.
func (p *deviceProgram) compiles() bool {
	return len(p.code) <= compiledMost && len(p.consts) <= 2*compiledConsts && len(p.inputs) <= 64 &&
		len(p.inputs)+len(p.outs) <= compiledColumns
}

// key appends all that the text depends on: of constants, which are in the
// argument, whether a string is short; of lists how long they are.
func (p *deviceProgram) key(b []byte, shape inputShape, bitmaps []bool) []byte {
	b = append(b, rawOf(bitmaps)...)
	b = append(b, byte(b2u(shape.plain)))
	b = binary.LittleEndian.AppendUint64(b, shape.dicts)
	for _, columns := range [][]evalColumn{p.inputs, p.outs} {
		b = append(b, byte(len(columns)))
		for _, c := range columns {
			b = append(b, byte(c.Slot), byte(c.Slot>>8), byte(c.Bit), byte(c.Form))
		}
	}
	b = append(b, rawOf(p.short)...)
	b = append(b, rawOf(p.code)...)
	for i := range p.code {
		in := &p.code[i]
		list := p.lists[in.List:]
		switch in.Do {
		case OpCase:
			b = append(b, rawOf(list[:in.Args])...)
		case OpIn:
			b = append(b, rawOf([]uint64{list[0], uint64(b2u(list[1] != 0)), list[2]})...)
			for j := 0; in.Form == sqltype.PhysStr && j < int(list[0]); j++ {
				b = append(b, byte(b2u(uint32(list[3+2*j]) <= InlineLen)))
			}
		}
	}
	return b
}
