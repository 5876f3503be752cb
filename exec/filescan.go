package exec

import (
	"context"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// fileScan reads a file: each worker with a cursor of its own.
type fileScan struct {
	w     *worker
	n     *planner.FileScan
	state *fileState
	cur   FileCursor
	pred  *predicate
	joins keyPicker
	flat  flattener
	out   gathered
}

// fileState is the open file that the workers share.
type fileState struct {
	open once
	r    FileReader
}

func newFileScan(w *worker, n *planner.FileScan) (Operator, error) {
	f := &fileScan{w: w, n: n, flat: flattener{w: w}, out: gathered{mem: w.q.env.Memory}}
	f.joins.from = w.q.scanFilters(n)
	f.state = shared(w.q, n, func() *fileState { return &fileState{} })
	if n.Filter != nil {
		var err error
		cols := append(append([]planner.ColDef{}, n.Columns...), n.Fetch...)
		if f.pred, err = w.compilePredicate(n.Filter, cols); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// open opens the file, for the first worker, and a cursor.
func (f *fileScan) open(ctx context.Context) error {
	q := f.w.q
	err := f.state.open.do(func() error {
		r, err := q.env.Data.File(ctx, f.n, q.batchRows)
		if err == nil {
			f.state.r = r
			if b, ok := r.(BoundedReader); ok {
				f.sooner(b)
			}
			q.onClose(func() { r.Close() }) //nolint:errcheck // it was only read
		}
		return err
	})
	if err == nil {
		f.cur, err = f.state.r.Cursor(q.env.Memory, f.w.stream)
	}
	return err
}

// Next implements Operator.
func (f *fileScan) Next(ctx context.Context) (*arrow.Batch, error) {
	if f.cur == nil {
		if err := f.open(ctx); err != nil {
			return nil, err
		}
	}
	f.joins.begin()
	for {
		b, err := f.cur.Next(ctx)
		if b == nil || err != nil {
			return nil, err
		}
		if err := f.flat.fixed(b); err != nil {
			return nil, err
		}
		idx, n, err := f.passing(b)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			continue
		}
		width := len(f.n.Columns)
		f.out.reset(width, n)
		for i := range width {
			c := b.Columns[i]
			c.Type = f.n.Columns[i].Type
			if idx == 0 {
				f.out.out.Columns[i] = c
			} else if err := f.out.pick(f.w.stream, i, c, idx, n); err != nil {
				return nil, err
			}
		}
		return &f.out.out, nil
	}
}

// passing gives the numbers of the rows that pass the filter and the joins
// above, 0 for all rows, and how many they are.
func (f *fileScan) passing(b *arrow.Batch) (idx device.Ptr, n int, err error) {
	n = b.Rows
	if f.pred != nil {
		if n, err = f.pred.pick(b); err != nil || n == 0 {
			return 0, 0, err
		}
		if n < b.Rows {
			idx = f.pred.index.Ptr()
		}
	}
	return f.joins.pick(f.w, func(i int) (arrow.Column, error) {
		c := b.Columns[i]
		c.Type = f.n.Columns[i].Type
		return c, nil
	}, idx, b.Rows, n)
}

// Close implements Operator.
func (f *fileScan) Close() error {
	f.pred.close()
	f.flat.release()
	f.out.release()
	f.joins.index.Release()
	if f.cur == nil {
		return nil
	}
	err := f.cur.Close()
	f.cur = nil
	return err
}
