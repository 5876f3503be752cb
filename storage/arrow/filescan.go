package arrow

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/gpusql/gpusql/device"
)

// FileScan reads a file by any number of cursors, which share its parts.
//
// It owns the file. Cursors must be closed before it.
type FileScan struct {
	file  File
	cols  []int
	rows  int
	skip  []func(part int) bool
	next  atomic.Int64
	parts int
	order []int // of the parts; nil: as they are
}

// NewFileScan reads the given columns of f, in batches of at most rows rows.
// The same column may be asked for twice. Parts for which skip answers true
// are passed over; nil skips none.
func NewFileScan(f File, cols []int, rows int, skip func(part int) bool) *FileScan {
	s := &FileScan{file: f, cols: cols, rows: rows, parts: f.Parts()}
	if skip != nil {
		s.skip = append(s.skip, skip)
	}
	return s
}

// Bounds say what values column i of the scan has in a part; false when they are
// not known.
func (s *FileScan) Bounds(part, i int) (Bounds, bool) { return s.file.Bounds(part, s.cols[i]) }

// Order has the parts read in an order, less those for which skip answers true
// when their turn comes. It comes before the first Cursor.
func (s *FileScan) Order(parts []int, skip func(part int) bool) {
	s.order = parts
	s.skip = append(s.skip, skip)
}

// Parts is how many parts there are to share.
func (s *FileScan) Parts() int { return s.parts }

// Close closes the file.
func (s *FileScan) Close() error { return s.file.Close() }

// take is the next part, false when there is none left.
func (s *FileScan) take() (int, bool) {
	for {
		p := int(s.next.Add(1)) - 1
		if p >= s.parts {
			return 0, false
		}
		if s.order != nil {
			p = s.order[p]
		}
		if !slices.ContainsFunc(s.skip, func(skip func(int) bool) bool { return skip(p) }) {
			return p, true
		}
	}
}

// Cursor makes a cursor with batches in the memory of st's device.
func (s *FileScan) Cursor(m device.Allocator, st device.Stream) *FileCursor {
	c := &FileCursor{scan: s, im: NewImporter(st, m)}
	at := map[int]int{}
	for _, col := range s.cols {
		if _, ok := at[col]; !ok {
			at[col] = len(c.read)
			c.read = append(c.read, col)
		}
		c.order = append(c.order, at[col])
	}
	return c
}

// FileCursor reads one part after the other. It belongs to one goroutine.
type FileCursor struct {
	scan  *FileScan
	im    *Importer
	read  []int // the columns to read, each once
	order []int // order[i] is where column i of a batch is among them
	r     BatchReader
	out   Batch
}

// Next gives the next batch, nil at the end. It is valid until the next call.
func (c *FileCursor) Next(ctx context.Context) (*Batch, error) {
	for {
		if c.r == nil {
			part, ok := c.scan.take()
			if !ok {
				return nil, ctx.Err()
			}
			r, err := c.scan.file.Read(part, c.read, c.scan.rows, c.im)
			if err != nil {
				return nil, err
			}
			c.r = r
		}
		b, err := c.r.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			if err := c.closeReader(); err != nil {
				return nil, err
			}
			continue
		}
		c.out.Rows = b.Rows
		c.out.Columns = c.out.Columns[:0]
		for _, i := range c.order {
			c.out.Columns = append(c.out.Columns, b.Columns[i])
		}
		return &c.out, nil
	}
}

func (c *FileCursor) closeReader() error {
	if c.r == nil {
		return nil
	}
	err := c.r.Close()
	c.r = nil
	return err
}

// Close gives the cursor's memory back.
func (c *FileCursor) Close() error {
	err := c.closeReader()
	c.im.Release()
	return err
}
