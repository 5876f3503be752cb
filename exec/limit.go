package exec

import (
	"context"
	"math"

	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// limit skips rows and then gives at most so many. It stops reading its input
// when it has them.
type limit struct {
	w          *worker
	n          *planner.Limit
	in         Operator
	skip, left int64
	ready      bool
	cut        slicer
}

func newLimit(w *worker, n *planner.Limit) (Operator, error) {
	in, err := w.buildTop(n.Input)
	if err != nil {
		return nil, err
	}
	return &limit{w: w, n: n, in: in, cut: slicer{mem: w.q.env.Memory}}, nil
}

// bounds computes LIMIT and OFFSET.
func (w *worker) bounds(limit, offset planner.Expr) (skip, rows int64, err error) {
	rows = math.MaxInt64
	for _, b := range []struct {
		e    planner.Expr
		to   *int64
		name string
	}{{limit, &rows, "LIMIT"}, {offset, &skip, "OFFSET"}} {
		if b.e == nil {
			continue
		}
		d, err := w.constant(b.e)
		if err != nil {
			return 0, 0, err
		}
		if d.Null { // LIMIT NULL is no limit
			continue
		}
		if d.I < 0 {
			return 0, 0, sqltype.Errorf(sqltype.CodeInvalidParameter, "%s must not be negative", b.name)
		}
		*b.to = d.I
	}
	return skip, rows, nil
}

// Next implements Operator.
func (l *limit) Next(ctx context.Context) (*arrow.Batch, error) {
	if !l.ready {
		l.ready = true
		if !l.w.q.claim(l.n, l) {
			return nil, nil
		}
		var err error
		if l.skip, l.left, err = l.w.bounds(l.n.Limit, l.n.Offset); err != nil {
			return nil, err
		}
	}
	for l.left > 0 {
		b, err := l.in.Next(ctx)
		if b == nil || err != nil {
			return nil, err
		}
		if int64(b.Rows) <= l.skip {
			l.skip -= int64(b.Rows)
			continue
		}
		lo := int(l.skip)
		hi := int(min(int64(b.Rows), l.skip+min(l.left, int64(b.Rows))))
		l.skip = 0
		l.left -= int64(hi - lo)
		if lo == 0 && hi == b.Rows {
			return b, nil
		}
		return l.cut.batch(l.w.stream, b, lo, hi)
	}
	return nil, nil
}

// Close implements Operator.
func (l *limit) Close() error {
	l.cut.release()
	return l.in.Close()
}
