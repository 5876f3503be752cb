package kernels

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// layout is where the registers lie in an evaluator's one buffer.
//
//	consts     one value each, 16 bytes; those that are spread out over rows
//	outputs    whole batches, with their bitmaps
//	the rest   a chunk each; values share room when they do not live together
//	zeros      a bitmap for NULL constants
type layout struct {
	place   []place
	outputs []Reg // temporaries that are results
	slots   []int // width of each slot of a chunk
	bitmaps int   // bitmaps of a chunk
}

// place is a register's room.
type place struct {
	live   bool // it is read or written at all
	output bool
	width  int
	slot   int // of slots, -1 none
	bitmap int // of the chunk's bitmaps, -1 none
	data   int // offsets in the buffer
	bits   int
}

// newLayout decides which registers share room. A register's room is free
// after the last instruction that reads it.
func newLayout(p *Program) layout {
	l := layout{place: make([]place, len(p.Types))}
	last := make([]int, len(p.Types))
	for r := range l.place {
		l.place[r].slot, l.place[r].bitmap = -1, -1
		l.place[r].width = p.Types[r].Phys().Width()
		last[r] = -1
	}
	for i := range p.Code {
		for _, a := range p.Code[i].Args {
			l.place[a].live = true
			last[a] = i
		}
	}
	for _, r := range p.Out {
		at := &l.place[r]
		if !at.output && int(r) >= len(p.Inputs)+len(p.Consts) {
			l.outputs = append(l.outputs, r)
		}
		at.live, at.output = true, true
	}
	// The inputs' room is for values taken out of a dictionary, which may
	// happen at any use.
	for r := range p.Inputs {
		if l.place[r].live && last[r] >= 0 {
			l.place[r].slot = l.newSlot(l.place[r].width)
		}
	}
	for r := len(p.Inputs); r < len(p.Inputs)+len(p.Consts); r++ {
		if l.place[r].live && !l.place[r].output {
			l.place[r].slot = l.newSlot(l.place[r].width)
		}
	}
	var free [17][]int // slots to use again, by width
	for i := range p.Code {
		in := &p.Code[i]
		at := &l.place[in.Dst]
		at.live = true
		if !at.output {
			at.bitmap = l.bitmaps
			l.bitmaps++
		}
		if !at.output && !in.Op.IsMask() {
			if f := free[at.width]; len(f) > 0 {
				at.slot, free[at.width] = f[len(f)-1], f[:len(f)-1]
			} else {
				at.slot = l.newSlot(at.width)
			}
		}
		for _, a := range in.Args {
			if from := &l.place[a]; last[a] == i && from.slot >= 0 && int(a) >= len(p.Inputs)+len(p.Consts) {
				free[from.width] = append(free[from.width], from.slot)
				last[a] = -1 // an argument may stand twice
			}
		}
	}
	return l
}

func (l *layout) newSlot(width int) int {
	l.slots = append(l.slots, width)
	return len(l.slots) - 1
}

// align is the start of a run of values.
func align(n int) int { return (n + 63) &^ 63 }

// size places everything for so many rows and returns the bytes needed.
func (l *layout) size(p *Program, rows int) int {
	chunk := min(rows, chunkRows)
	n := align(16 * len(p.Consts))
	slots := make([]int, len(l.slots))
	for i, w := range l.slots {
		slots[i] = n
		n += align(chunk * w)
	}
	bits := n
	n += align(l.bitmaps * BitmapBytes(chunk))
	for r := range l.place {
		at := &l.place[r]
		switch {
		case at.output && r >= len(p.Inputs):
			at.data = n
			n += align(rows * at.width)
			at.bits = n
			n += align(BitmapBytes(rows))
		case at.slot >= 0:
			at.data = slots[at.slot]
		}
		if at.bitmap >= 0 {
			at.bits = bits + at.bitmap*BitmapBytes(chunk)
		}
	}
	return n
}

// reserve sees that a batch of n rows has room.
func (e *Evaluator) reserve(n int) error {
	if n <= e.room {
		return nil
	}
	rows := align(max(n, min(2*e.room, n+n/4)))
	size := e.layout.size(e.prog, rows)
	zeros := size
	size += align(BitmapBytes(rows))
	e.buf.Release()
	e.buf, e.room = nil, 0
	b, err := e.mem.Alloc(size)
	if err != nil {
		return err
	}
	e.buf = b
	// Nothing reads a value before it is written, but an unwritten one may be
	// computed with where a mask leaves rows out: it must be the same each time.
	clear(device.View[byte](b.Ptr(), size))
	if len(e.steps) > 0 {
		words := BitmapBytes(min(rows, chunkRows)) / 8
		room := make([]uint64, 2*words)
		e.tmp, e.call.room = room[:words:words], room[words:]
	}
	for r := range e.layout.place {
		at := &e.layout.place[r]
		e.data[r] = b.Ptr() + device.Ptr(at.data)
		e.own[r] = b.Ptr() + device.Ptr(at.bits)
	}
	if err := e.placeConsts(b.Ptr() + device.Ptr(zeros)); err != nil {
		return err
	}
	e.room = rows
	return nil
}

// placeConsts writes the constants to the start of the buffer.
func (e *Evaluator) placeConsts(zeros device.Ptr) error {
	if e.consts != nil {
		e.consts.Reset()
	}
	for i, d := range e.prog.Consts {
		r := len(e.prog.Inputs) + i
		p := e.buf.Ptr() + device.Ptr(16*i)
		e.reg[r] = Vec{Data: p}
		e.spread[r] = 0
		if d.Null {
			e.reg[r].Valid = zeros
			continue
		}
		var v View
		if d.Type.Phys() == sqltype.PhysStr {
			if e.consts == nil {
				e.consts = NewHeap(e.mem)
			}
			var err error
			if v, err = e.consts.String(d.S); err != nil {
				return err
			}
		}
		storeDatum(unsafe.Pointer(&device.View[View](p, 1)[0]), d, v)
	}
	return nil
}

// spreadConst repeats a constant n times at its room.
func (x *frame) spreadConst(r Reg, n int) device.Ptr {
	if x.spread[r] >= n {
		return x.data[r]
	}
	switch x.prog.Types[r].Phys().Width() {
	case 1:
		spread[uint8](x, r, n)
	case 2:
		spread[uint16](x, r, n)
	case 4:
		spread[uint32](x, r, n)
	case 8:
		spread[uint64](x, r, n)
	default:
		spread[View](x, r, n)
	}
	x.spread[r] = n
	return x.data[r]
}

func spread[T any](x *frame, r Reg, n int) {
	d := device.View[T](x.data[r], n)
	v := device.View[T](x.reg[r].Data, 1)[0]
	for i := range d {
		d[i] = v
	}
}

// storeDatum writes a value that is not NULL; v is the view of a string.
func storeDatum(p unsafe.Pointer, d sqltype.Datum, v View) {
	switch d.Type.Phys() {
	case sqltype.PhysBool, sqltype.PhysI8, sqltype.PhysU8:
		*(*uint8)(p) = uint8(d.I)
	case sqltype.PhysI16, sqltype.PhysU16:
		*(*uint16)(p) = uint16(d.I)
	case sqltype.PhysI32, sqltype.PhysU32:
		*(*uint32)(p) = uint32(d.I)
	case sqltype.PhysI64, sqltype.PhysU64:
		*(*int64)(p) = d.I
	case sqltype.PhysF32:
		*(*float32)(p) = float32(d.F)
	case sqltype.PhysF64:
		*(*float64)(p) = d.F
	case sqltype.PhysI128:
		*(*sqltype.Int128)(p) = d.Int128()
	case sqltype.PhysStr:
		*(*View)(p) = v
	case sqltype.PhysSpan:
		*(*sqltype.Span)(p) = d.Span()
	default:
		panic("kernels: no datum of form " + d.Type.Phys().String())
	}
}

// loadDatum reads a value that is not NULL. A string is not copied.
func loadDatum(p unsafe.Pointer, t sqltype.Type) sqltype.Datum {
	d := sqltype.Datum{Type: t}
	switch t.Phys() {
	case sqltype.PhysBool, sqltype.PhysU8:
		d.I = int64(*(*uint8)(p))
	case sqltype.PhysI8:
		d.I = int64(*(*int8)(p))
	case sqltype.PhysI16:
		d.I = int64(*(*int16)(p))
	case sqltype.PhysU16:
		d.I = int64(*(*uint16)(p))
	case sqltype.PhysI32:
		d.I = int64(*(*int32)(p))
	case sqltype.PhysU32:
		d.I = int64(*(*uint32)(p))
	case sqltype.PhysI64, sqltype.PhysU64:
		d.I = *(*int64)(p)
	case sqltype.PhysF32:
		d.F = float64(*(*float32)(p))
	case sqltype.PhysF64:
		d.F = *(*float64)(p)
	case sqltype.PhysI128:
		d = sqltype.NewDecimal(*(*sqltype.Int128)(p), t)
	case sqltype.PhysStr:
		d.S = (*View)(p).Str()
	case sqltype.PhysSpan:
		d = sqltype.NewInterval(*(*sqltype.Span)(p))
	default:
		panic("kernels: no datum of form " + t.Phys().String())
	}
	return d
}
