package arrow

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// Bringer copies batches from a device's memory to the host's. It belongs to
// one goroutine.
//
//	columns on the device ─▶ one piece there ─ one download ─▶ one piece here
//
// A download waits for the device, and the device copies faster than anything
// else: so there is one a batch, and one more for each column of text, whose
// bytes have to be counted.
type Bringer struct {
	Stream device.Stream
	Memory device.Allocator // of the device
	Host   device.Allocator

	scratch, packed, here Slab
	flat                  []Slab // text that was encoded
	parts                 []brought
	moves                 []kernels.CopyPart
	out                   Batch
}

// brought is where a column goes: offsets from the beginning of the piece.
type brought struct {
	vec               kernels.Vec // on the device
	str               bool
	long              int // bytes of long strings
	data, valid, dict int
	heap              int
}

// Bring gives a batch as one in the host's memory. It is valid until the next
// call.
func (g *Bringer) Bring(b *Batch) (*Batch, error) {
	g.out.Rows = b.Rows
	g.out.Columns = g.out.Columns[:0]
	g.parts = g.parts[:0]
	size := 0
	for i := range b.Columns {
		p, err := g.plan(i, &b.Columns[i], b.Rows, &size)
		if err != nil {
			return nil, err
		}
		g.parts = append(g.parts, p)
	}
	if size == 0 {
		for _, c := range b.Columns {
			g.out.Columns = append(g.out.Columns, Column{Type: c.Type})
		}
		return &g.out, nil
	}
	there, err := g.packed.Reserve(g.Memory, size)
	if err != nil {
		return nil, err
	}
	if err := g.pack(b, there); err != nil {
		return nil, err
	}
	here, err := g.here.Reserve(g.Host, size)
	if err != nil {
		return nil, err
	}
	if err := g.Stream.Download(device.View[byte](here, size), there); err != nil {
		return nil, err
	}
	for i := range g.parts {
		g.out.Columns = append(g.out.Columns, g.parts[i].column(b.Columns[i].Type, b.Rows, here, there))
	}
	return &g.out, nil
}

// plan finds room for a column behind size. A dictionary with more values than
// there are rows is dissolved.
func (g *Bringer) plan(i int, c *Column, n int, size *int) (brought, error) {
	p := brought{vec: c.Vec, str: c.Type.Phys() == sqltype.PhysStr}
	width := c.Type.Phys().Width()
	for len(g.flat) <= i {
		g.flat = append(g.flat, Slab{})
	}
	if c.Vec.Dict != 0 && (!p.str || int(c.Vec.DictLen) > n) {
		to, err := g.flat[i].Reserve(g.Memory, max(1, n*width))
		if err != nil {
			return p, err
		}
		p.vec = kernels.Vec{Data: to, Valid: c.Vec.Valid}
		if err := kernels.Flatten(g.Stream, width, p.vec, c.Vec, n); err != nil {
			return p, err
		}
	}
	room := func(n int) int {
		at := *size
		*size += (n + 63) &^ 63
		return at
	}
	strings, views := p.vec, n
	if p.vec.Dict != 0 {
		p.data = room(4 * n)
		p.dict = room(int(p.vec.DictLen) * width)
		strings, views = kernels.Vec{Data: p.vec.Dict}, int(p.vec.DictLen)
	} else {
		p.data = room(n * width)
	}
	if p.vec.Valid != 0 {
		p.valid = room(kernels.BitmapBytes(n))
	}
	if !p.str {
		return p, nil
	}
	scratch, err := g.scratch.Reserve(g.Memory, 64)
	if err != nil {
		return p, err
	}
	if p.long, err = kernels.LongBytes(g.Stream, strings, views, scratch); err != nil {
		return p, err
	}
	p.heap = room(p.long)
	return p, nil
}

// pack copies the columns to their room behind there.
func (g *Bringer) pack(b *Batch, there device.Ptr) error {
	g.moves = g.moves[:0]
	move := func(to int, from device.Ptr, n int) {
		g.moves = append(g.moves, kernels.CopyPart{Dst: there + device.Ptr(to), Src: from, Bytes: uint64(n)})
	}
	for i := range g.parts {
		p, width := &g.parts[i], b.Columns[i].Type.Phys().Width()
		if p.vec.Dict != 0 {
			move(p.data, p.vec.Data, 4*b.Rows)
			move(p.dict, p.vec.Dict, int(p.vec.DictLen)*width)
		} else {
			move(p.data, p.vec.Data, b.Rows*width)
		}
		if p.vec.Valid != 0 {
			move(p.valid, p.vec.Valid, kernels.BitmapBytes(b.Rows))
		}
	}
	if err := kernels.CopyAll(g.Stream, g.moves); err != nil {
		return err
	}
	for i := range g.parts {
		p := &g.parts[i]
		if p.long == 0 {
			continue
		}
		views, count := kernels.Vec{Data: there + device.Ptr(p.data), Valid: p.vec.Valid}, b.Rows
		if p.vec.Dict != 0 {
			views, count = kernels.Vec{Data: there + device.Ptr(p.dict)}, int(p.vec.DictLen)
		}
		if err := kernels.MoveStrings(g.Stream, views, count, there+device.Ptr(p.heap), g.scratch.Ptr()); err != nil {
			return err
		}
	}
	return nil
}

// column is the column at here, whose views name bytes at there.
func (p *brought) column(t sqltype.Type, n int, here, there device.Ptr) Column {
	c := Column{Type: t, Vec: kernels.Vec{Data: here + device.Ptr(p.data), DictLen: p.vec.DictLen}}
	if p.vec.Valid != 0 {
		c.Vec.Valid = here + device.Ptr(p.valid)
	}
	views, count := c.Vec.Data, n
	if p.vec.Dict != 0 {
		c.Vec.Dict = here + device.Ptr(p.dict)
		views, count = c.Vec.Dict, int(p.vec.DictLen)
	}
	if p.long > 0 {
		all := device.View[kernels.View](views, count)
		for i := range all {
			if all[i].Len() > kernels.InlineLen {
				all[i].Hi += uint64(here) - uint64(there)
			}
		}
	}
	return c
}

// Release gives the memory back.
func (g *Bringer) Release() {
	g.scratch.Release()
	g.packed.Release()
	g.here.Release()
	for i := range g.flat {
		g.flat[i].Release()
	}
}
