package exec

import (
	"context"

	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// filter keeps the rows for which a predicate is true.
type filter struct {
	w    *worker
	in   Operator
	pred *predicate
	out  gathered
}

func newFilter(w *worker, n *planner.Filter) (Operator, error) {
	in, err := w.build(n.Input)
	if err != nil {
		return nil, err
	}
	pred, err := w.compilePredicate(n.Pred, n.Input.Cols())
	if err != nil {
		in.Close() //nolint:errcheck // nothing was read
		return nil, err
	}
	return &filter{w: w, in: in, pred: pred, out: gathered{mem: w.q.env.Memory}}, nil
}

// Next implements Operator.
func (f *filter) Next(ctx context.Context) (*arrow.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := f.in.Next(ctx)
		if b == nil || err != nil {
			return nil, err
		}
		n, err := f.pred.pick(b)
		if err != nil {
			return nil, err
		}
		switch n {
		case 0:
			continue
		case b.Rows:
			return b, nil
		}
		f.out.reset(len(b.Columns), n)
		for i, c := range b.Columns {
			if err := f.out.pick(f.w.stream, i, c, f.pred.index.Ptr(), n); err != nil {
				return nil, err
			}
		}
		return &f.out.out, nil
	}
}

// Close implements Operator.
func (f *filter) Close() error {
	f.pred.close()
	f.out.release()
	return f.in.Close()
}
