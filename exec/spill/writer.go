package spill

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
)

// Column is the form of a column: values of Width bytes. A Text's begin with a
// kernels.View, whose bytes are written too.
type Column struct {
	Width int
	Text  bool
}

const (
	magic      = 0x66737167 // "gqsf"
	headerSize = 32
	viewSize   = 16
	align      = 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func aligned(n int) int { return (n + align - 1) &^ (align - 1) }

// Run is the frames of one Writer, in order.
type Run struct {
	file   *File
	cols   []Column
	frames []frame
	Rows   int64
}

// frame is where a frame is in a file.
type frame struct {
	at   int64
	size int
	rows int
}

// Frames is how many frames there are.
func (r *Run) Frames() int { return len(r.frames) }

// Writer gathers rows to frames and writes them to a file, which it may share
// with others of the same goroutine.
type Writer struct {
	mem   device.Allocator
	run   Run
	bytes int // of a frame, about
	most  int // rows of a frame

	data  *device.Buffer // the columns, and then their bitmaps, of most rows
	at    []int          // where each column's values are in data
	bits  []int          // and its bitmap
	nulls []bool         // whether that is in use
	heap  *device.Buffer // the bytes of long texts
	used  int            // of heap
	n     int            // rows
	out   *Scratch
}

// Scratch is memory in which frames are put together, for the Writers of a goroutine.
type Scratch struct{ buf *device.Buffer }

// Release gives it back.
func (s *Scratch) Release() {
	s.buf.Release()
	s.buf = nil
}

func (s *Scratch) reserve(m device.Allocator, n int) ([]byte, error) {
	if s.buf == nil || s.buf.Len() < n {
		s.Release()
		b, err := m.Alloc(n)
		if err != nil {
			return nil, err
		}
		s.buf = b
	}
	return device.View[byte](s.buf.Ptr(), n), nil
}

// NewWriter is a writer of frames of about some bytes, and at most most rows.
// Its memory comes from m, with the first row.
func NewWriter(f *File, m device.Allocator, out *Scratch, cols []Column, bytes, most int) *Writer {
	width := 1
	for _, c := range cols {
		width += c.Width
	}
	w := &Writer{mem: m, run: Run{file: f, cols: cols}, bytes: bytes, out: out, nulls: make([]bool, len(cols))}
	w.most = max(1, min(most, max(64, bytes/width)))
	at := 0
	for _, c := range cols {
		w.at = append(w.at, at)
		at += aligned(c.Width * w.most)
	}
	for range cols {
		w.bits = append(w.bits, at)
		at += aligned(kernels.BitmapBytes(w.most))
	}
	w.bits = append(w.bits, at) // the end
	return w
}

// Rows is how many rows were added.
func (w *Writer) Rows() int64 { return w.run.Rows + int64(w.n) }

// Add appends rows of src: those at pick, or the first n when that is nil.
func (w *Writer) Add(src []kernels.Vec, pick []uint32, n int) error {
	if pick != nil {
		n = len(pick)
	}
	for from := 0; from < n; {
		if w.data == nil {
			b, err := w.mem.Alloc(max(w.bits[len(w.bits)-1], 1))
			if err != nil {
				return err
			}
			w.data = b
		}
		rows := rowsOf{pick, from, from + min(n-from, w.most-w.n)}
		var long int
		rows.end, long = w.fit(src, rows)
		if rows.len() == 0 {
			if w.n > 0 {
				if err := w.flush(); err != nil {
					return err
				}
			}
			if err := w.heapFor(max(long, w.bytes)); err != nil {
				return err
			}
			continue
		}
		for c := range src {
			w.addColumn(c, &src[c], rows)
		}
		w.n += rows.len()
		from = rows.end
		if w.n == w.most {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowsOf are some rows of a source: the numbers from begin to end of pick, or
// those numbers themselves.
type rowsOf struct {
	pick       []uint32
	begin, end int
}

func (r *rowsOf) len() int { return r.end - r.begin }

func (r *rowsOf) row(i int) int {
	if r.pick == nil {
		return r.begin + i
	}
	return int(r.pick[r.begin+i])
}

// fit is up to where rows can be added without more room for long texts, and how
// many bytes of them the row there has.
func (w *Writer) fit(src []kernels.Vec, rows rowsOf) (end, long int) {
	texts := false
	for _, c := range w.run.cols {
		texts = texts || c.Text
	}
	if !texts {
		return rows.end, 0
	}
	room := 0
	if w.heap != nil {
		room = w.heap.Len() - w.used
	}
	for i := range rows.len() {
		long = 0
		for c, col := range w.run.cols {
			if col.Text {
				if v := textAt(&src[c], col.Width, rows.row(i)); v != nil && v.Len() > kernels.InlineLen {
					long += v.Len()
				}
			}
		}
		if long > room {
			return rows.begin + i, long
		}
		room -= long
	}
	return rows.end, 0
}

// textAt is the view of a row, nil for a NULL.
func textAt(v *kernels.Vec, width, row int) *kernels.View {
	if v.Valid != 0 && device.View[uint64](v.Valid, row/64+1)[row/64]>>(row%64)&1 == 0 {
		return nil
	}
	at := v.Data + device.Ptr(row*width)
	if v.Dict != 0 {
		at = v.Dict + device.Ptr(viewSize*int(device.View[uint32](v.Data, row+1)[row]))
	}
	return &device.View[kernels.View](at, 1)[0]
}

// heapFor makes room for that many bytes of long texts; there are none yet.
func (w *Writer) heapFor(n int) error {
	if w.heap != nil && w.heap.Len() >= n {
		return nil
	}
	w.heap.Release()
	w.heap = nil
	b, err := w.mem.Alloc(n)
	w.heap = b
	return err
}

func (w *Writer) addColumn(c int, src *kernels.Vec, rows rowsOf) {
	col := w.run.cols[c]
	to := w.data.Ptr() + device.Ptr(w.at[c]+w.n*col.Width)
	switch {
	case src.Dict == 0:
		move(to, src.Data, col.Width, rows, src)
	case src.DictLen == 0: // all are NULL
		clear(device.View[byte](to, rows.len()*col.Width))
	default:
		move(to, src.Dict, col.Width, rows, src)
	}
	if src.Valid != 0 || w.nulls[c] {
		w.addBits(c, src.Valid, rows)
	}
	if !col.Text {
		return
	}
	bits := device.View[uint64](w.data.Ptr()+device.Ptr(w.bits[c]), (w.n+rows.len()+63)/64)
	for i := range rows.len() {
		v := &device.View[kernels.View](to+device.Ptr(i*col.Width), 1)[0]
		if at := w.n + i; w.nulls[c] && bits[at/64]>>(at%64)&1 == 0 {
			*v = kernels.View{} // may be anything, an address too
			continue
		}
		if n := v.Len(); n > kernels.InlineLen {
			copy(device.View[byte](w.heap.Ptr()+device.Ptr(w.used), n), device.View[byte](device.Ptr(v.Hi), n))
			v.Hi = uint64(w.used)
			w.used += n
		}
	}
}

// addBits adds the bits of rows; the first bitmap finds rows without NULLs.
func (w *Writer) addBits(c int, valid device.Ptr, rows rowsOf) {
	bits := device.View[uint64](w.data.Ptr()+device.Ptr(w.bits[c]), kernels.BitmapBytes(w.most)/8)
	if !w.nulls[c] {
		w.nulls[c] = true
		for i := range bits {
			bits[i] = ^uint64(0)
		}
	}
	if valid == 0 {
		return // they are ones: see flush
	}
	for i := range rows.len() {
		row, at := rows.row(i), w.n+i
		if device.View[uint64](valid, row/64+1)[row/64]>>(row%64)&1 == 0 {
			bits[at/64] &^= 1 << (at % 64)
		}
	}
}

// move copies rows of width bytes. Those of a column with a dictionary have its
// values at from.
func move(to, from device.Ptr, width int, rows rowsOf, src *kernels.Vec) {
	if src.Dict == 0 && rows.pick == nil {
		n := rows.len() * width
		copy(device.View[byte](to, n), device.View[byte](from+device.Ptr(rows.begin*width), n))
		return
	}
	switch width {
	case 1:
		moveRows[uint8](to, from, rows, src)
	case 2:
		moveRows[uint16](to, from, rows, src)
	case 4:
		moveRows[uint32](to, from, rows, src)
	case 8:
		moveRows[uint64](to, from, rows, src)
	case 16:
		moveRows[[2]uint64](to, from, rows, src)
	default:
		for i := range rows.len() {
			copy(device.View[byte](to+device.Ptr(i*width), width), device.View[byte](from+device.Ptr(rows.row(i)*width), width))
		}
	}
}

// manyRows bounds the views of columns whose length is not told.
const manyRows = 1 << 31

func moveRows[T any](to, from device.Ptr, rows rowsOf, src *kernels.Vec) {
	out, in := device.View[T](to, rows.len()), device.View[T](from, manyRows)
	switch {
	case src.Dict == 0:
		for i, row := range rows.pick[rows.begin:rows.end] {
			out[i] = in[row]
		}
	case rows.pick == nil:
		for i, code := range device.View[uint32](src.Data, rows.end)[rows.begin:] {
			out[i] = in[dictAt(code, src.DictLen)]
		}
	default:
		codes := device.View[uint32](src.Data, manyRows)
		for i, row := range rows.pick[rows.begin:rows.end] {
			out[i] = in[dictAt(codes[row], src.DictLen)]
		}
	}
}

// dictAt is a code that is there: that of a NULL may be anything.
func dictAt(code, n uint32) uint32 {
	if code >= n {
		return 0
	}
	return code
}

// flush writes the frame.
func (w *Writer) flush() error {
	if w.n == 0 {
		return nil
	}
	head := aligned(headerSize + len(w.run.cols))
	size := head
	for c, col := range w.run.cols {
		size += aligned(col.Width * w.n)
		if w.nulls[c] {
			size += aligned(kernels.BitmapBytes(w.n))
		}
	}
	size += w.used
	b, err := w.out.reserve(w.mem, size)
	if err != nil {
		return err
	}
	clear(b[:head])
	at := head
	put := func(from device.Ptr, n int) {
		copy(b[at:], device.View[byte](from, n))
		clear(b[at+n : at+aligned(n)])
		at += aligned(n)
	}
	for c, col := range w.run.cols {
		put(w.data.Ptr()+device.Ptr(w.at[c]), col.Width*w.n)
		if w.nulls[c] {
			b[headerSize+c] = 1
			put(w.data.Ptr()+device.Ptr(w.bits[c]), kernels.BitmapBytes(w.n))
		}
	}
	if w.used > 0 {
		copy(b[at:], device.View[byte](w.heap.Ptr(), w.used))
	}
	f := w.run.file
	binary.LittleEndian.PutUint32(b, magic)
	binary.LittleEndian.PutUint64(b[8:], uint64(f.size))
	binary.LittleEndian.PutUint32(b[16:], uint32(w.n))
	binary.LittleEndian.PutUint32(b[20:], uint32(len(w.run.cols)))
	binary.LittleEndian.PutUint64(b[24:], uint64(size))
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(b[8:], castagnoli))
	where, err := f.write(b)
	if err != nil {
		return err
	}
	w.run.frames = append(w.run.frames, frame{at: where, size: size, rows: w.n})
	w.run.Rows += int64(w.n)
	w.n, w.used = 0, 0
	clear(w.nulls)
	return nil
}

// Finish writes what is left and gives all that was written; the writer is
// released.
func (w *Writer) Finish() (*Run, error) {
	err := w.flush()
	w.Release()
	return &w.run, err
}

// Release gives the writer's memory back.
func (w *Writer) Release() {
	w.data.Release()
	w.heap.Release()
	w.data, w.heap = nil, nil
}
