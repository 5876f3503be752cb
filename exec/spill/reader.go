package spill

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
)

// Reader gives a run's frames, one after the other, to one goroutine.
type Reader struct {
	run  *Run
	mem  device.Allocator
	next int
	buf  *device.Buffer
	vecs []kernels.Vec
}

// NewReader reads a run from its begin, into memory from m.
func NewReader(r *Run, m device.Allocator) *Reader { return &Reader{run: r, mem: m} }

// Next gives the columns of the next frame, and how many rows they have: 0 at
// the end. They are good until the next call.
func (r *Reader) Next() ([]kernels.Vec, int, error) {
	if r.next == len(r.run.frames) {
		return nil, 0, nil
	}
	f := r.run.frames[r.next]
	r.next++
	if r.buf == nil || r.buf.Len() < f.size {
		r.Release()
		b, err := r.mem.Alloc(f.size)
		if err != nil {
			return nil, 0, err
		}
		r.buf = b
	}
	b := device.View[byte](r.buf.Ptr(), f.size)
	n, err := r.run.file.h.ReadAt(b, f.at)
	if n == len(b) {
		err = nil
	} else if err == nil || err == io.EOF {
		err = ErrDamaged
	}
	if err == nil {
		err = r.check(b, f)
	}
	if err != nil {
		return nil, 0, &Error{"read", r.run.file.path, err}
	}
	return r.columns(b, f.rows), f.rows, nil
}

// check sees that a frame is the one that was written.
func (r *Reader) check(b []byte, f frame) error {
	if binary.LittleEndian.Uint32(b) != magic ||
		binary.LittleEndian.Uint32(b[4:]) != crc32.Checksum(b[8:], castagnoli) ||
		binary.LittleEndian.Uint64(b[8:]) != uint64(f.at) {
		return ErrDamaged
	}
	return nil
}

// columns are those of a frame that is as it was written.
func (r *Reader) columns(b []byte, n int) []kernels.Vec {
	r.vecs = r.vecs[:0]
	at := aligned(headerSize + len(r.run.cols))
	base := r.buf.Ptr()
	for c, col := range r.run.cols {
		v := kernels.Vec{Data: base + device.Ptr(at)}
		at += aligned(col.Width * n)
		if b[headerSize+c] != 0 {
			v.Valid = base + device.Ptr(at)
			at += aligned(kernels.BitmapBytes(n))
		}
		r.vecs = append(r.vecs, v)
	}
	heap := uint64(base) + uint64(at)
	for c, col := range r.run.cols {
		if !col.Text {
			continue
		}
		for i := range n {
			v := &device.View[kernels.View](r.vecs[c].Data+device.Ptr(i*col.Width), 1)[0]
			if v.Len() > kernels.InlineLen {
				v.Hi += heap
			}
		}
	}
	return r.vecs
}

// Release gives the reader's memory back.
func (r *Reader) Release() {
	r.buf.Release()
	r.buf = nil
}
