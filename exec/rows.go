package exec

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// rowStore keeps rows: columns that grow, each in one piece, so that a row can
// be gathered by its number. It owns all it holds, but for the bytes of strings
// that last.
//
// It belongs to one worker while it grows, and may be read by all afterwards.
type rowStore struct {
	n     int
	cols  []storedColumn
	heap  *kernels.Heap
	text  int64      // the most bytes that a batch had for the heap
	bytes arrow.Slab // scratch
	mem   device.Allocator
	// lasts is set by an owner that releases the store when the query is closed.
	lasts bool
}

type storedColumn struct {
	typ   sqltype.Type
	data  kernels.Array
	valid kernels.Array
	nulls bool // valid is in use
	owns  bool // the heap has bytes of it
}

func newRowStore(mem device.Allocator, cols []planner.ColDef) *rowStore {
	r := &rowStore{mem: mem, cols: make([]storedColumn, len(cols)), heap: kernels.NewHeap(mem)}
	for i, c := range cols {
		r.cols[i].typ = c.Type
	}
	return r
}

// use has memory taken from m from now on: what there is moves when it grows.
func (r *rowStore) use(m device.Allocator) {
	r.mem = m
	r.heap.Use(m)
}

// release gives the memory back.
func (r *rowStore) release() {
	for i := range r.cols {
		r.cols[i].data.Release()
		r.cols[i].valid.Release()
	}
	r.heap.Release()
	r.bytes.Release()
}

// reset drops the rows and keeps the memory.
func (r *rowStore) reset() {
	for i := range r.cols {
		r.cols[i].nulls, r.cols[i].owns = false, false
	}
	r.n = 0
	r.heap.Release() // its blocks are as large as the batches that they were for
}

// held is the memory that the store has.
func (r *rowStore) held() int64 {
	n := r.heap.Held()
	for i := range r.cols {
		n += int64(r.cols[i].data.Cap() + r.cols[i].valid.Cap())
	}
	return n
}

// grows is about how much memory n more rows would take.
func (r *rowStore) grows(n int) int64 {
	var more int64
	for i := range r.cols {
		c := &r.cols[i]
		more += c.data.Grows((r.n + n) * c.typ.Phys().Width())
		if c.nulls {
			more += c.valid.Grows(kernels.BitmapBytes(r.n + n))
		}
	}
	return more + r.text
}

// add copies a batch to the end.
func (r *rowStore) add(s device.Stream, b *arrow.Batch) error {
	if b.Rows > kernels.PieceItems(s) {
		return r.addAll(s, b)
	}
	before := r.heap.Held()
	for i := range r.cols {
		if err := r.addColumn(s, &r.cols[i], &b.Columns[i], b.Rows); err != nil {
			return err
		}
	}
	r.n += b.Rows
	r.text = max(r.text, r.heap.Held()-before)
	return nil
}

// addAll copies many rows to the end, a piece at a time.
func (r *rowStore) addAll(s device.Stream, all *arrow.Batch) error {
	cut := slicer{mem: r.mem}
	defer cut.release()
	return kernels.Pieces(s, all.Rows, func(lo, hi int) error {
		b, err := cut.batch(s, all, lo, hi)
		if err != nil {
			return err
		}
		return r.add(s, b)
	})
}

// take moves the rows of another store to the end.
func (r *rowStore) take(s device.Stream, o *rowStore) error {
	all := o.all()
	for i := range r.cols {
		r.cols[i].owns = r.cols[i].owns || o.cols[i].owns
		all.Columns[i].Lasts = true
	}
	r.heap.Adopt(o.heap)
	err := r.add(s, all)
	o.release()
	return err
}

func (r *rowStore) addColumn(s device.Stream, c *storedColumn, src *arrow.Column, n int) error {
	width := c.typ.Phys().Width()
	if err := c.data.Extend(r.mem, s, r.n*width, (r.n+n)*width); err != nil {
		return err
	}
	at := c.data.Ptr() + device.Ptr(r.n*width)
	if src.Vec.Dict != 0 {
		if err := kernels.Flatten(s, width, kernels.Vec{Data: at}, src.Vec, n); err != nil {
			return err
		}
	} else if err := kernels.Copy(s, at, src.Vec.Data, n*width); err != nil {
		return err
	}
	if src.Vec.Valid != 0 || c.nulls {
		if err := r.addValid(s, c, src.Vec.Valid, n); err != nil {
			return err
		}
	}
	if c.typ.Phys() == sqltype.PhysStr && !src.Lasts {
		c.owns = true
		scratch, err := r.bytes.Reserve(r.mem, 64)
		if err != nil {
			return err
		}
		return r.heap.Own(s, kernels.Vec{Data: at, Valid: src.Vec.Valid}, n, scratch)
	}
	return nil
}

func (r *rowStore) addValid(s device.Stream, c *storedColumn, bits device.Ptr, n int) error {
	if err := c.valid.Grow(r.mem, s, kernels.BitmapBytes(r.n), kernels.BitmapBytes(r.n+n)); err != nil {
		return err
	}
	if !c.nulls {
		c.nulls = true
		if err := kernels.CopyBits(s, c.valid.Ptr(), 0, 0, 0, r.n); err != nil {
			return err
		}
	}
	return kernels.CopyBits(s, c.valid.Ptr(), r.n, bits, 0, n)
}

// column is all rows of column i. It is good until the next add.
func (r *rowStore) column(i int) arrow.Column {
	c := &r.cols[i]
	col := arrow.Column{Type: c.typ, Vec: kernels.Vec{Data: c.data.Ptr()}, Lasts: r.lasts || !c.owns}
	if c.nulls {
		col.Vec.Valid = c.valid.Ptr()
	}
	return col
}

// all is the rows as one batch.
func (r *rowStore) all() *arrow.Batch {
	b := &arrow.Batch{Rows: r.n, Columns: make([]arrow.Column, len(r.cols))}
	for i := range r.cols {
		b.Columns[i] = r.column(i)
	}
	return b
}

// vecs are the columns.
func (r *rowStore) vecs() []kernels.Vec { return vecsOf(r.all()) }

// vecsOf are the columns of a batch.
func vecsOf(b *arrow.Batch) []kernels.Vec {
	out := make([]kernels.Vec, len(b.Columns))
	for i := range b.Columns {
		out[i] = b.Columns[i].Vec
	}
	return out
}

// slicer gives a run of a column's rows, or a batch's, as a column of its own.
// A bitmap that does not begin at a word is moved, to memory of the slicer:
// what it gave last for the same place is then void.
type slicer struct {
	mem  device.Allocator
	bits []arrow.Slab
	out  arrow.Batch
}

// column is rows lo to hi of a column; place tells apart those in use at once.
func (v *slicer) column(s device.Stream, place int, c arrow.Column, lo, hi int) (arrow.Column, error) {
	width := c.Type.Phys().Width()
	if c.Vec.Dict != 0 {
		width = 4
	}
	c.Vec.Data += device.Ptr(lo * width)
	if c.Vec.Valid == 0 {
		return c, nil
	}
	if lo%64 == 0 {
		c.Vec.Valid += device.Ptr(lo / 8)
		return c, nil
	}
	for len(v.bits) <= place {
		v.bits = append(v.bits, arrow.Slab{})
	}
	p, err := v.bits[place].Reserve(v.mem, kernels.BitmapBytes(hi-lo))
	if err != nil {
		return c, err
	}
	err = kernels.CopyBits(s, p, 0, c.Vec.Valid, lo, hi-lo)
	c.Vec.Valid = p
	return c, err
}

// batch is rows lo to hi of a batch.
func (v *slicer) batch(s device.Stream, b *arrow.Batch, lo, hi int) (*arrow.Batch, error) {
	v.out.Rows = hi - lo
	v.out.Columns = v.out.Columns[:0]
	for i, c := range b.Columns {
		c, err := v.column(s, i, c, lo, hi)
		if err != nil {
			return nil, err
		}
		v.out.Columns = append(v.out.Columns, c)
	}
	return &v.out, nil
}

func (v *slicer) release() {
	for i := range v.bits {
		v.bits[i].Release()
	}
}

// gathered is the memory of a batch that is picked out of others, by row.
type gathered struct {
	mem  device.Allocator
	cols []struct{ data, valid arrow.Slab }
	out  arrow.Batch
}

// pick sets column i of the batch to the rows at idx of src.
func (g *gathered) pick(s device.Stream, i int, src arrow.Column, idx device.Ptr, n int) error {
	vec, err := g.room(i, src, n)
	if err != nil {
		return err
	}
	if err := kernels.Gather(s, src.Type.Phys().Width(), &vec, src.Vec, idx, n); err != nil {
		return err
	}
	g.out.Columns[i] = arrow.Column{Type: src.Type, Vec: vec, Lasts: src.Lasts}
	return nil
}

// reset begins a batch of n rows and cols columns.
func (g *gathered) reset(cols, n int) {
	for len(g.cols) < cols { // those that are there hold memory
		g.cols = append(g.cols, struct{ data, valid arrow.Slab }{})
	}
	if cap(g.out.Columns) < cols {
		g.out.Columns = make([]arrow.Column, cols)
	}
	g.out.Columns = g.out.Columns[:cols]
	g.out.Rows = n
}

// room is memory for n values of src's type, with a bitmap if src has one.
func (g *gathered) room(i int, src arrow.Column, n int) (vec kernels.Vec, err error) {
	width := src.Type.Phys().Width()
	if src.Vec.Dict != 0 {
		width = 4
	}
	if vec.Data, err = g.cols[i].data.Reserve(g.mem, n*width); err != nil {
		return vec, err
	}
	if src.Vec.Valid != 0 {
		vec.Valid, err = g.cols[i].valid.Reserve(g.mem, kernels.BitmapBytes(n))
	}
	return vec, err
}

func (g *gathered) release() {
	for i := range g.cols {
		g.cols[i].data.Release()
		g.cols[i].valid.Release()
	}
	g.cols = nil
}
