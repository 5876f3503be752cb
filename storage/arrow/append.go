package arrow

import (
	"fmt"
	"sync/atomic"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
)

// Append copies a batch to the end of the table, its rows born at stamp. The
// batch has a column for each of the table's, in host memory; one without Data
// is all NULL. All rows come into one segment, so their ids follow each other. Nothing is changed when it
// fails.
func (t *Table) Append(b *Batch, stamp uint64) (Span, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(b.Columns) != len(t.types) {
		panic(fmt.Sprintf("arrow: %d columns appended to a table of %d", len(b.Columns), len(t.types)))
	}
	s, fresh, err := t.open(b.Rows)
	if err != nil {
		return Span{}, err
	}
	lo := s.Rows()
	if err := s.reserve(t, b, lo, stamp); err != nil {
		if fresh {
			s.Release()
		}
		return Span{}, err
	}
	l := s.columns.Load()
	s.write(b, l, lo)
	if births := s.births.Load(); births != nil {
		for i := range b.Rows {
			births.store(lo+i, stamp)
		}
	}
	s.pending.Add(int64(b.Rows))
	s.rows.Store(int64(lo + b.Rows))
	if fresh {
		all := append(t.Segments()[:len(t.Segments()):len(t.Segments())], s)
		t.segments.Store(&all)
		t.nextID++
	}
	return Span{s, lo, lo + b.Rows}, nil
}

// open returns the segment that has room for n more rows, or a fresh one, which
// is not in the table yet.
func (t *Table) open(n int) (*Segment, bool, error) {
	all := t.Segments()
	if len(all) > 0 {
		s := all[len(all)-1]
		if !s.sealed && s.Rows()+n <= s.max {
			return s, false, nil
		}
		s.sealed = true
	}
	s := &Segment{id: t.nextID, table: t, max: max(t.segmentRows, n)}
	s.deaths = make([]atomic.Pointer[words], (s.max+deathBlock-1)/deathBlock)
	s.stats = make([]columnStats, len(t.types))
	l := &layout{columns: make([]Column, len(t.types)), owned: make([]columnMemory, len(t.types))}
	for i, typ := range t.types {
		l.columns[i].Type = typ
	}
	s.columns.Store(l)
	return s, true, nil
}

// reserve makes room for b's rows at lo and for their births. What it has done
// when it fails is room that a later batch will use.
func (s *Segment) reserve(t *Table, b *Batch, lo int, stamp uint64) error {
	if lo+b.Rows > s.columns.Load().capacity {
		if err := s.grow(t, lo, lo+b.Rows); err != nil {
			return err
		}
	}
	if err := s.reserveColumns(t, b, lo); err != nil {
		return err
	}
	switch {
	case lo == 0:
		s.births.Store(nil)
		s.birth.Store(stamp)
	case s.births.Load() == nil && s.birth.Load() != stamp:
		w, err := newWords(t.mem, s.columns.Load().capacity, s.birth.Load())
		if err != nil {
			return err
		}
		s.births.Store(w)
	}
	return nil
}

// write copies a batch to l, where there is room at lo, and counts its values.
func (s *Segment) write(b *Batch, l *layout, lo int) {
	s.statMu.Lock()
	defer s.statMu.Unlock()
	s.table.columns(b, func(i int) {
		src := &b.Columns[i]
		copyColumn(&l.columns[i], &l.owned[i], lo, src, b.Rows)
		c := l.columns[i]
		c.Vec.Data += device.Ptr(lo * c.Type.Phys().Width())
		s.stats[i].add(&c, src, b.Rows)
	})
}

// bulkRows is a batch after which many more are expected.
const bulkRows = 8192

// grow moves the columns to larger room. Readers keep what they have: the old
// room is retired.
func (s *Segment) grow(t *Table, rows, need int) error {
	capacity := 256
	for capacity < need {
		capacity *= 8
	}
	if capacity = min(capacity, s.max); need >= bulkRows {
		capacity = s.max
	}
	old := s.columns.Load()
	l := &layout{capacity: capacity, columns: make([]Column, len(old.columns)), owned: make([]columnMemory, len(old.owned))}
	copy(l.columns, old.columns)
	copy(l.owned, old.owned)
	var made []*device.Buffer
	fail := func(err error) error {
		for _, b := range made {
			b.Release()
		}
		return err
	}
	for i := range l.columns {
		c, m := &l.columns[i], &l.owned[i]
		width := c.Type.Phys().Width()
		data, err := t.mem.Alloc(capacity * width)
		if err != nil {
			return fail(err)
		}
		made = append(made, data)
		copyBytes(data.Ptr(), c.Vec.Data, rows*width)
		m.data, c.Vec.Data = data, data.Ptr()
		if m.valid == nil {
			continue
		}
		valid, err := newBitmap(t.mem, capacity)
		if err != nil {
			return fail(err)
		}
		made = append(made, valid)
		copyBytes(valid.Ptr(), c.Vec.Valid, kernels.BitmapBytes(rows))
		m.valid, c.Vec.Valid = valid, valid.Ptr()
	}
	var births *words
	if b := s.births.Load(); b != nil {
		var err error
		if births, err = newWords(t.mem, capacity, Never); err != nil {
			return fail(err)
		}
		copy(births.at, b.at[:rows])
		t.retired = append(t.retired, b.buf)
		s.births.Store(births)
	}
	for _, m := range old.owned {
		for _, b := range []*device.Buffer{m.data, m.valid} {
			if b != nil {
				t.retired = append(t.retired, b)
			}
		}
	}
	s.columns.Store(l)
	return nil
}

// newBitmap is a bitmap of ones.
func newBitmap(m device.Allocator, rows int) (*device.Buffer, error) {
	b, err := m.Alloc(kernels.BitmapBytes(rows))
	if err != nil {
		return nil, err
	}
	w := device.View[uint64](b.Ptr(), b.Len()/8)
	for i := range w {
		w[i] = ^uint64(0)
	}
	return b, nil
}

func copyBytes(dst, src device.Ptr, n int) {
	if n > 0 {
		copy(device.View[byte](dst, n), device.View[byte](src, n))
	}
}

// heapChunk is the least memory taken for the bytes of long strings.
const heapChunk = 16 << 10

// reserveColumns makes validity bitmaps for the columns whose first NULL comes,
// and room for the bytes of long strings.
func (s *Segment) reserveColumns(t *Table, b *Batch, lo int) error {
	nulls, long := make([]bool, len(b.Columns)), make([]int, len(b.Columns))
	l := s.columns.Load()
	t.columns(b, func(i int) {
		nulls[i] = l.owned[i].valid == nil && b.Columns[i].Nulls(b.Rows) > 0
		if l.columns[i].Type.Phys() == sqltype.PhysStr {
			long[i] = b.Columns[i].longBytes(b.Rows)
		}
	})
	for i := range b.Columns {
		if !nulls[i] {
			continue
		}
		v, err := newBitmap(t.mem, l.capacity)
		if err != nil {
			return err
		}
		l = s.columns.Load().clone()
		l.owned[i].valid, l.columns[i].Vec.Valid = v, v.Ptr()
		s.columns.Store(l)
	}
	l = s.columns.Load()
	for i, n := range long {
		m := &l.owned[i]
		if n == 0 || len(m.heap) > 0 && m.heap[len(m.heap)-1].Len()-m.heapUsed >= n {
			continue
		}
		size := max(n, heapChunk)
		if len(m.heap) > 0 {
			size = max(n, min(2*m.heap[len(m.heap)-1].Len(), 1<<20))
		}
		h, err := t.mem.Alloc(size)
		if err != nil {
			return err
		}
		m.heap, m.heapUsed = append(m.heap, h), 0
	}
	return nil
}

func (l *layout) clone() *layout {
	return &layout{l.capacity, append([]Column(nil), l.columns...), append([]columnMemory(nil), l.owned...)}
}

// Nulls counts the NULLs among the first n values of a column in host memory.
func (c *Column) Nulls(n int) int {
	switch {
	case c.Vec.Data == 0:
		return n
	case c.Vec.Valid == 0:
		return 0
	}
	return n - kernels.CountBits(device.View[uint64](c.Vec.Valid, kernels.BitmapBytes(n)/8), n)
}

// longBytes is the bytes of long strings among the first n values.
func (c *Column) longBytes(n int) int {
	total := 0
	c.eachView(n, func(_ int, v *kernels.View) {
		if k := int(uint32(v.Lo)); k > kernels.InlineLen {
			total += k
		}
	})
	return total
}

// eachView calls f with the strings among the first n values that are not NULL.
func (c *Column) eachView(n int, f func(i int, v *kernels.View)) {
	if c.Vec.Data == 0 {
		return
	}
	var valid []byte
	if c.Vec.Valid != 0 {
		valid = device.View[byte](c.Vec.Valid, (n+7)/8)
	}
	var values []kernels.View
	var codes []uint32
	if c.Vec.Dict != 0 {
		codes = device.View[uint32](c.Vec.Data, n)
		values = device.View[kernels.View](c.Vec.Dict, int(c.Vec.DictLen))
	} else {
		values = device.View[kernels.View](c.Vec.Data, n)
	}
	for i := range n {
		if valid != nil && valid[i/8]>>(i%8)&1 == 0 {
			continue
		}
		j := i
		if codes != nil {
			j = int(codes[i])
		}
		f(i, &values[j])
	}
}

// copyColumn copies n values of src to places lo and on of dst.
func copyColumn(dst *Column, m *columnMemory, lo int, src *Column, n int) {
	width := dst.Type.Phys().Width()
	at := dst.Vec.Data + device.Ptr(lo*width)
	if m.valid != nil {
		copyBits(dst.Vec.Valid, lo, src, n)
	}
	switch {
	case src.Vec.Data == 0:
		clear(device.View[byte](at, n*width))
	case dst.Type.Phys() == sqltype.PhysStr:
		copyStrings(at, m, src, n)
	case src.Vec.Dict == 0:
		copyBytes(at, src.Vec.Data, n*width)
	case width == 1:
		decode[uint8](at, src, n)
	case width == 2:
		decode[uint16](at, src, n)
	case width == 4:
		decode[uint32](at, src, n)
	case width == 8:
		decode[uint64](at, src, n)
	default:
		decode[[2]uint64](at, src, n)
	}
}

func decode[T any](at device.Ptr, src *Column, n int) {
	out := device.View[T](at, n)
	values := device.View[T](src.Vec.Dict, int(src.Vec.DictLen))
	for i, c := range device.View[uint32](src.Vec.Data, n) {
		out[i] = values[c]
	}
}

// copyStrings copies views, and the bytes of the long ones to m's heap. A view
// under a NULL may be anything: it becomes the empty string.
func copyStrings(at device.Ptr, m *columnMemory, src *Column, n int) {
	out := device.View[kernels.View](at, n)
	if src.Vec.Valid != 0 {
		clear(out) // what is NULL stays empty
	}
	var heap device.Ptr
	var room []byte
	if len(m.heap) > 0 {
		h := m.heap[len(m.heap)-1]
		heap, room = h.Ptr()+device.Ptr(m.heapUsed), device.View[byte](h.Ptr(), h.Len())[m.heapUsed:]
	}
	m.heapUsed += moveStrings(out, room, heap, src, n)
}

// moveStrings copies n views, those under a NULL aside, and the bytes of the
// long ones to room, which readers find at heap. It returns how many these were.
func moveStrings(out []kernels.View, room []byte, heap device.Ptr, src *Column, n int) int {
	used := 0
	src.eachView(n, func(i int, v *kernels.View) {
		out[i] = *v
		if k := int(uint32(v.Lo)); k > kernels.InlineLen {
			copy(room[used:], viewBytes(v))
			out[i].Hi = uint64(heap) + uint64(used)
			used += k
		}
	})
	return used
}

// copyBits copies the validity of n values to bit lo and on of dst, a word at a
// time: a reader of earlier bits of the same word sees them unchanged.
func copyBits(dst device.Ptr, lo int, src *Column, n int) {
	out := device.View[uint64](dst, kernels.BitmapBytes(lo+n)/8)
	var in []uint64
	if src.Vec.Valid != 0 {
		in = device.View[uint64](src.Vec.Valid, kernels.BitmapBytes(n)/8)
	}
	for i := 0; i < n; {
		at := (lo + i) % 64
		k := min(64-at, n-i, 64-i%64)
		w := ^uint64(0)
		switch {
		case src.Vec.Data == 0:
			w = 0
		case in != nil:
			w = in[i/64] >> (i % 64)
		}
		mask := ^uint64(0) >> (64 - k) << at
		p := &out[(lo+i)/64]
		*p = *p&^mask | w<<at&mask
		i += k
	}
}
