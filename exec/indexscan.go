package exec

import (
	"context"
	"math"
	"slices"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// indexScan reads the rows of a table whose keys lie in the ranges of an
// Access: the index gives row ids, and the rows are fetched by id.
//
//	Ranges ─ Seek ─▶ ids ─▶ by id, unless they are Ordered ─ fetch ─▶ filter
//	Union, Both ─ Seek each ─▶ ids that one has, or all have ──┘
//	Ordered with a filter: ids some at a time, for a limit may be above
type indexScan struct {
	w     *worker
	n     *planner.Scan
	data  Data
	snap  arrow.Snap
	rows  []int64 // found and not yet given
	given int     // of an Ordered scan, found so far
	most  int     // that were asked for; 0: all
	found bool
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
			if s.rows, err = s.ids(ctx, p, s.rows); err != nil {
				return err
			}
		}
		s.rows = distinct(s.rows)
	case a.Both != nil:
		for i, p := range a.Both {
			rows, err := s.ids(ctx, p, nil)
			if err != nil {
				return err
			}
			if rows = distinct(rows); i > 0 {
				rows = common(s.rows, rows)
			}
			s.rows = rows
		}
	case a.Ordered:
		s.rows, err = s.ids(ctx, a, s.rows[:0])
		all := len(s.rows)
		s.rows = s.rows[min(s.given, all):]
		if s.given = all; all < s.most || s.most > math.MaxInt32/orderedGrowth {
			s.most = 0 // there are no more
		}
	default:
		s.rows, err = s.ids(ctx, a, s.rows)
		s.rows = distinct(s.rows)
	}
	return err
}

// ranges are the ranges of an access, those that are empty left out.
func (s *indexScan) ranges(a *planner.Access) ([]Range, error) {
	ranges := make([]Range, 0, len(a.Ranges))
	for i := range a.Ranges {
		r, empty, err := s.w.keyRange(&a.Ranges[i])
		if err != nil {
			return nil, err
		}
		if !empty {
			r.Reverse, r.Limit = a.Reverse, max(a.Limit, int64(s.most))
			ranges = append(ranges, r)
		}
	}
	return ranges, nil
}

// ids appends the ids that an index finds.
func (s *indexScan) ids(ctx context.Context, a *planner.Access, rows []int64) ([]int64, error) {
	ranges, err := s.ranges(a)
	if err != nil {
		return rows, err
	}
	return s.data.Seek(ctx, s.w.stream, s.n.Table, a.Index, ranges, rows)
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
	if !s.found {
		s.found = true
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
		if len(s.rows) == 0 {
			if s.most == 0 {
				return nil, nil
			}
			s.most *= orderedGrowth
			if err := s.seek(ctx); err != nil {
				return nil, err
			}
			continue
		}
		n := min(len(s.rows), s.w.q.batchRows)
		b, err := s.fetch.rows(&s.snap, s.rows[:n])
		if err != nil {
			return nil, err
		}
		s.rows = s.rows[n:]
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

// fetcher gets rows of a table by id, in the order of the ids.
type fetcher struct {
	w    *worker
	cols []planner.ColDef
	ids  []int // table columns, or RowIDColumn
	g    gathered
	idx  arrow.Slab
	host []uint32
}

// newFetcher fetches the columns of a scan: those it gives, then those its
// filter needs.
func newFetcher(w *worker, n *planner.Scan, cols []planner.ColDef) *fetcher {
	f := &fetcher{w: w, cols: cols, g: gathered{mem: w.q.env.Memory}}
	for _, src := range append(append([]int{}, n.Source...), n.FetchSource...) {
		if src != planner.RowIDColumn {
			src = n.Table.Columns[src].ID
		}
		f.ids = append(f.ids, src)
	}
	return f
}

// rows fetches a batch. It is valid until the next call.
func (f *fetcher) rows(snap *arrow.Snap, rows []int64) (*arrow.Batch, error) {
	n := len(rows)
	f.g.reset(len(f.cols), n)
	for i, c := range f.cols {
		vec, err := f.g.room(i, arrow.Column{Type: c.Type, Vec: kernels.Vec{Valid: 1}}, n)
		if err != nil {
			return nil, err
		}
		f.g.out.Columns[i] = arrow.Column{Type: c.Type, Vec: vec}
	}
	f.host = f.host[:0]
	for _, r := range rows {
		_, at := arrow.SplitRowID(r)
		f.host = append(f.host, uint32(at))
	}
	idx, err := f.idx.Reserve(f.w.q.env.Memory, 4*n)
	if err != nil {
		return nil, err
	}
	if err := f.w.stream.Upload(idx, wordBytes(f.host)); err != nil {
		return nil, err
	}
	for from := 0; from < n; { // a run of rows of one segment at a time
		id, _ := arrow.SplitRowID(rows[from])
		to := from + 1
		for to < n && uint32(rows[to]>>32) == id {
			to++
		}
		if err := f.run(snap.Segment(id), rows, from, to, idx); err != nil {
			return nil, err
		}
		from = to
	}
	return &f.g.out, nil
}

// run fetches rows from to to, which are of one segment.
func (f *fetcher) run(g *arrow.Segment, rows []int64, from, to int, idx device.Ptr) error {
	s := f.w.stream
	for i := range f.cols {
		dst := f.g.out.Columns[i].Vec
		if f.ids[i] == planner.RowIDColumn {
			if err := s.Upload(dst.Data+device.Ptr(8*from), wordBytes(rows[from:to])); err != nil {
				return err
			}
			if err := kernels.CopyBits(s, dst.Valid, from, 0, 0, to-from); err != nil {
				return err
			}
			continue
		}
		src := g.Column(f.ids[i])
		if err := kernels.Fetch(s, src.Type.Phys().Width(), dst, from, src.Vec, idx+device.Ptr(4*from), to-from); err != nil {
			return err
		}
	}
	return nil
}

func (f *fetcher) release() {
	f.g.release()
	f.idx.Release()
}

// wordBytes is the memory of a slice of numbers, to be uploaded.
func wordBytes[T uint32 | int64](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}
