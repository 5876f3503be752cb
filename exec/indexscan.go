package exec

import (
	"context"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// indexScan reads the rows of a table whose keys lie in the ranges of an
// Access: the index gives row ids, and the rows are fetched by id.
type indexScan struct {
	w     *worker
	n     *planner.Scan
	snap  arrow.Snap
	rows  []int64 // found and not yet given
	found bool
	fetch *fetcher
	pred  *predicate
	out   gathered
}

func newIndexScan(w *worker, n *planner.Scan) (Operator, error) {
	snap, err := w.q.env.Data.Snap(n.Table)
	if err != nil {
		return nil, err
	}
	s := &indexScan{w: w, n: n, snap: snap, out: gathered{mem: w.q.env.Memory}}
	cols := append(append([]planner.ColDef{}, n.Columns...), n.Fetch...)
	s.fetch = newFetcher(w, n, cols)
	if n.Filter != nil {
		if s.pred, err = w.compilePredicate(n.Filter, cols); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// seek asks the index for all ranges at once.
func (s *indexScan) seek(ctx context.Context) error {
	a := s.n.Access
	ranges := make([]Range, 0, len(a.Ranges))
	for i := range a.Ranges {
		r, empty, err := s.w.keyRange(&a.Ranges[i])
		if err != nil {
			return err
		}
		if !empty {
			r.Reverse, r.Limit = a.Reverse, a.Limit
			ranges = append(ranges, r)
		}
	}
	var err error
	s.rows, err = s.w.q.env.Data.Seek(ctx, s.w.stream, s.n.Table, a.Index, ranges, s.rows)
	if len(a.Ranges) > 1 { // ranges may overlap: IN (1, 1)
		s.rows = unseen(s.rows)
	}
	return err
}

// unseen drops rows that come a second time.
func unseen(rows []int64) []int64 {
	seen := make(map[int64]bool, len(rows))
	keep := rows[:0]
	for _, r := range rows {
		if !seen[r] {
			seen[r] = true
			keep = append(keep, r)
		}
	}
	return keep
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
			return nil, nil
		}
		if err := s.seek(ctx); err != nil {
			return nil, err
		}
	}
	for len(s.rows) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
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
	return nil, nil
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
