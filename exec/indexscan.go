package exec

import (
	"context"
	"math"
	"slices"

	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// indexScan reads the rows of a table whose keys lie in the ranges of an
// Access: the index gives row ids, and the rows are fetched by id.
//
//	Ranges ─ Seek ─▶ ids ─▶ by id, unless they are Ordered ─ fetch ─▶ filter
//	Union, Both ─ Seek each ─▶ ids that one has, or all have ──┘        │
//	Covering: keys beside the ids, of which columns are read ───────────┘
//	Ordered with a filter: ids some at a time, for a limit may be above
type indexScan struct {
	w     *worker
	n     *planner.Scan
	data  Data
	snap  arrow.Snap
	found index.Found
	at    int // of found, not yet given
	most  int // that were asked for of an Ordered scan; 0: all
	asked bool
	count int64 // of Count, not yet given
	fetch *fetcher
	pred  *predicate
	out   gathered
}

// orderedRows is how many rows an ordered scan with a filter asks for first, and
// orderedGrowth how many times more each time: the index is asked from the
// beginning, which costs it a share of the last answer.
const (
	orderedRows   = 1 << 10
	orderedGrowth = 8
)

func newIndexScan(w *worker, n *planner.Scan) (Operator, error) {
	data, err := w.data(n)
	if err != nil {
		return nil, err
	}
	snap, err := data.Snap(n.Table)
	if err != nil {
		return nil, err
	}
	s := &indexScan{w: w, n: n, data: data, snap: snap, out: gathered{mem: w.q.env.Memory}}
	if a := n.Access; a.Ordered && a.Limit == 0 && n.Filter != nil && len(a.Ranges) == 1 {
		s.most = orderedRows
	}
	cols := append(append([]planner.ColDef{}, n.Columns...), n.Fetch...)
	s.fetch = newFetcher(w, n, cols)
	s.found.Keys = s.fetch.reads()
	if n.Filter != nil {
		if s.pred, err = w.compilePredicate(n.Filter, cols); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// seek asks the index, or all of them, for all ranges at once.
func (s *indexScan) seek(ctx context.Context) (err error) {
	a := s.n.Access
	switch {
	case a.Count:
		ranges, err := s.ranges(a)
		if err != nil {
			return err
		}
		s.count, err = s.data.Count(ctx, s.w.stream, s.n.Table, a.Index, ranges)
		return err
	case a.Union != nil:
		for _, p := range a.Union {
			if err := s.look(ctx, p); err != nil {
				return err
			}
		}
		s.found.Rows = distinct(s.found.Rows)
	case a.Both != nil:
		var rows []int64
		for i, p := range a.Both {
			s.found.Reset()
			if err := s.look(ctx, p); err != nil {
				return err
			}
			some := distinct(s.found.Rows)
			if i > 0 {
				some = common(rows, some)
			}
			rows = slices.Clone(some)
		}
		s.found.Rows = rows
	case a.Ordered:
		s.found.Reset()
		if err := s.look(ctx, a); err != nil {
			return err
		}
		if len(s.found.Rows) < s.most || s.most > math.MaxInt32/orderedGrowth {
			s.most = 0 // there are no more
		}
	default:
		if err := s.look(ctx, a); err != nil {
			return err
		}
		if !a.Covering {
			s.found.Rows = distinct(s.found.Rows)
		}
	}
	return nil
}

// ranges are the ranges of an access, those that are empty left out.
func (s *indexScan) ranges(a *planner.Access) ([]Range, error) {
	ranges := make([]Range, 0, len(a.Ranges))
	var again map[string]bool // prefixes, so that of IN (1, 1) each row comes once
	if a.Covering && len(a.Ranges) > 1 {
		again = map[string]bool{}
	}
	for i := range a.Ranges {
		r, empty, err := s.w.keyRange(&a.Ranges[i])
		if err != nil {
			return nil, err
		}
		if again != nil && !empty {
			var p []byte
			for k := range r.Prefix {
				p = sqltype.AppendOrdered(p, &r.Prefix[k])
			}
			empty = again[string(p)]
			again[string(p)] = true
		}
		if !empty {
			r.Reverse, r.Limit = a.Reverse, max(a.Limit, int64(s.most))
			ranges = append(ranges, r)
		}
	}
	return ranges, nil
}

// look adds what an index finds.
func (s *indexScan) look(ctx context.Context, a *planner.Access) error {
	ranges, err := s.ranges(a)
	if err != nil {
		return err
	}
	return s.data.Seek(ctx, s.w.stream, s.n.Table, a.Index, ranges, &s.found)
}

// distinct sorts ids, so that they are fetched a segment at a time, and drops
// those that came twice: ranges may overlap, as of IN (1, 1).
func distinct(rows []int64) []int64 {
	slices.Sort(rows)
	return slices.Compact(rows)
}

// common are the ids in both of two sorted lists, in place of the first.
func common(a, b []int64) []int64 {
	out := a[:0]
	for _, x := range a {
		for len(b) > 0 && b[0] < x {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == x {
			out = append(out, x)
		}
	}
	return out
}

// keyRange computes a range's values; one with a NULL is empty.
func (w *worker) keyRange(k *planner.KeyRange) (r Range, empty bool, err error) {
	r.LoOpen, r.HiOpen = k.LoOpen, k.HiOpen
	for _, e := range k.Prefix {
		if n, ok := e.(*planner.IsNull); ok {
			r.Prefix, r.Nulls = append(r.Prefix, sqltype.NullOf(n.X.Type())), true
			continue
		}
		d, err := w.constant(e)
		if err != nil || d.Null {
			return r, true, err
		}
		r.Prefix = append(r.Prefix, d)
	}
	for _, b := range []struct {
		e  planner.Expr
		to **sqltype.Datum
	}{{k.Lo, &r.Lo}, {k.Hi, &r.Hi}} {
		if b.e == nil {
			continue
		}
		d, err := w.constant(b.e)
		if err != nil || d.Null {
			return r, true, err
		}
		*b.to = &d
	}
	return r, false, nil
}

// Next implements Operator.
func (s *indexScan) Next(ctx context.Context) (*arrow.Batch, error) {
	if !s.asked {
		s.asked = true
		if !s.w.q.claim(s.n, s) {
			s.most = 0
			return nil, nil
		}
		if err := s.seek(ctx); err != nil {
			return nil, err
		}
	}
	if n := min(s.count, int64(s.w.q.batchRows)); n > 0 {
		s.count -= n
		s.out.reset(0, int(n))
		return &s.out.out, nil
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.at >= len(s.found.Rows) {
			if s.most == 0 {
				return nil, nil
			}
			s.most *= orderedGrowth
			if err := s.seek(ctx); err != nil {
				return nil, err
			}
			continue
		}
		n := min(len(s.found.Rows)-s.at, s.w.q.batchRows)
		b, err := s.fetch.rows(&s.snap, &s.found, s.at, n)
		if err != nil {
			return nil, err
		}
		s.at += n
		if b, err = s.filter(b); b != nil || err != nil {
			return b, err
		}
	}
}

// filter applies what the index does not know, and drops the columns that only
// the filter needs.
func (s *indexScan) filter(b *arrow.Batch) (*arrow.Batch, error) {
	width := len(s.n.Columns)
	if s.pred == nil {
		return b, nil
	}
	n, err := s.pred.pick(b)
	if n == 0 || err != nil {
		return nil, err
	}
	s.out.reset(width, n)
	for i := range width {
		if n == b.Rows {
			s.out.out.Columns[i] = b.Columns[i]
		} else if err := s.out.pick(s.w.stream, i, b.Columns[i], s.pred.index.Ptr(), n); err != nil {
			return nil, err
		}
	}
	return &s.out.out, nil
}

// Close implements Operator.
func (s *indexScan) Close() error {
	s.pred.close()
	s.fetch.release()
	s.out.release()
	return nil
}
