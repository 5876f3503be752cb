package exec

import (
	"context"
	"sync/atomic"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
	"github.com/gpusql/gpusql/storage/mirror"
)

// scan reads a base table: morsels of its segments, taken in turn by the
// workers. The filter sees only the columns it needs; the others are fetched
// for the rows that are left.
type scan struct {
	w     *worker
	n     *planner.Scan
	state *scanState
	test  scanTest // of the filter; without a predicate there is none
	top   []topTest
	begun bool
	all   []planner.ColDef // n.Columns + n.Fetch
	ids   []int            // table column of each of all, RowIDColumn for the row id
	types []sqltype.Type   // of the same

	rowIDs  arrow.Slab
	bitmap  arrow.Slab
	visible arrow.Slab // numbers of visible rows
	view    slicer
	flat    flattener
	joins   keyPicker
	out     gathered
	copies  copies
}

// scanState is what the workers' scans of a node share: where the next morsel is.
type scanState struct {
	snap   arrow.Snap
	ranges []scanRange
	next   atomic.Int64
}

// scanRange is rows that a scan reads: of a segment, or of a run of them where
// the device has mirrors of columns.
type scanRange struct {
	seg    *arrow.Segment
	run    *mirror.Run
	lo, hi int
	end    int64 // morsels up to here
}

func (s *scan) newState(snap arrow.Snap) *scanState {
	w, zone := s.w, zoneTests(s.n.Filter, s.all, s.ids, s.w.q.env.Params)
	st := &scanState{snap: snap}
	if w.q.env.Mirror != nil {
		st.mirrored(w, zone)
	} else {
		for _, g := range snap.Segments {
			n := g.Rows()
			if skipped(zone, g) {
				n = 0
			}
			st.ranges = append(st.ranges, scanRange{seg: g, hi: n})
		}
		s.sooner(st.ranges)
	}
	morsel, end := w.q.batchRows, int64(0)
	for i := range st.ranges {
		r := &st.ranges[i]
		end += int64((r.hi - r.lo + morsel - 1) / morsel)
		r.end = end
	}
	return st
}

// mirrored makes a range of all segments of a run that follow each other and may
// have rows.
func (s *scanState) mirrored(w *worker, zone []zoneTest) {
	runs := mirror.Runs(&s.snap, w.q.env.Device.Traits().BatchRows)
	for i := range runs {
		r := &runs[i]
		open := false
		for j, g := range r.Segments {
			if skipped(zone, g) {
				open = false
				continue
			}
			if !open {
				s.ranges = append(s.ranges, scanRange{run: r, lo: r.Starts[j]})
				open = true
			}
			s.ranges[len(s.ranges)-1].hi = r.Starts[j+1]
		}
	}
}

// take is the next morsel: rows lo to hi of a range; nil at the end.
func (s *scanState) take(morsel int) (r *scanRange, lo, hi int) {
	m := s.next.Add(1) - 1
	before := int64(0)
	for i := range s.ranges {
		r = &s.ranges[i]
		if m < r.end {
			lo = r.lo + int(m-before)*morsel
			return r, lo, min(lo+morsel, r.hi)
		}
		before = r.end
	}
	return nil, 0, 0
}

func newScan(w *worker, n *planner.Scan) (Operator, error) {
	snap, err := w.snap(n)
	if err != nil {
		return nil, err
	}
	s := scanOf(w, n)
	s.state = shared(w.q, n, func() *scanState { return s.newState(snap) })
	if n.Filter == nil {
		return s, nil
	}
	var need []int
	var cols []planner.ColDef
	for i, c := range s.all {
		if planner.Uses(n.Filter, c.ID) {
			need = append(need, i)
			cols = append(cols, c)
		}
	}
	s.test = newScanTest(w, need)
	if s.test.pred, err = w.compilePredicate(n.Filter, cols); err != nil {
		return nil, err
	}
	return s, nil
}

// snap is the table that a scan reads.
func (w *worker) snap(n *planner.Scan) (snap arrow.Snap, err error) {
	data, err := w.data(n)
	if err != nil {
		return snap, err
	}
	return data.Snap(n.Table)
}

// scanOf is a scan that has nothing to read yet, and no predicate.
func scanOf(w *worker, n *planner.Scan) *scan {
	mem := w.q.env.Memory
	s := &scan{w: w, n: n, view: slicer{mem: mem}, flat: flattener{w: w}, out: gathered{mem: mem}}
	s.all = append(append([]planner.ColDef{}, n.Columns...), n.Fetch...)
	for i, src := range append(append([]int{}, n.Source...), n.FetchSource...) {
		s.types = append(s.types, s.all[i].Type)
		if src != planner.RowIDColumn {
			src = n.Table.Columns[src].ID
		}
		s.ids = append(s.ids, src)
	}
	s.joins.from = w.q.scanFilters(n)
	return s
}

// Next implements Operator.
func (s *scan) Next(ctx context.Context) (*arrow.Batch, error) {
	if !s.begun {
		s.begun, s.top = true, s.tests()
	}
	s.joins.begin()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, lo, hi := s.state.take(s.w.q.batchRows)
		if r == nil {
			return nil, nil
		}
		if r.seg != nil && s.beyond(r.seg) {
			continue
		}
		b, err := s.morsel(r, lo, hi)
		if b != nil || err != nil {
			return b, err
		}
	}
}

// morsel reads rows lo to hi of a range; nil when none is left.
func (s *scan) morsel(r *scanRange, lo, hi int) (*arrow.Batch, error) {
	n := hi - lo
	mem := s.w.q.env.Memory
	bits, seen, err := s.seen(r, lo, hi)
	if seen == 0 || err != nil {
		return nil, err
	}
	var idx device.Ptr // rows of the morsel, 0 for all
	if seen < n {
		if idx, err = s.visible.Reserve(mem, kernels.SelectBytes(n)); err != nil {
			return nil, err
		}
		if _, err = kernels.SelectBits(s.w.stream, bits, 0, n, idx); err != nil {
			return nil, err
		}
	}
	if idx, seen, err = s.within(r, lo, n, idx, seen); err != nil || seen == 0 {
		return nil, err
	}
	if s.test.pred != nil {
		if idx, seen, err = s.test.pick(s, r, lo, n, idx, seen); err != nil || seen == 0 {
			return nil, err
		}
	}
	column := func(i int) (arrow.Column, error) { return s.column(r, i, lo, n) }
	if idx, seen, err = s.joins.pick(s.w, column, idx, n, seen); err != nil || seen == 0 {
		return nil, err
	}
	return s.emit(r, lo, n, idx, seen)
}

// seen is which of rows lo to hi of a range are visible, and how many; the bitmap
// may be anything where all are.
func (s *scan) seen(r *scanRange, lo, hi int) (bits device.Ptr, n int, err error) {
	if bits, err = s.bitmap.Reserve(s.w.q.env.Memory, kernels.BitmapBytes(hi-lo)); err != nil {
		return 0, 0, err
	}
	if r.run == nil {
		return bits, r.seg.Visible(s.state.snap, lo, hi, bits), nil
	}
	s.copies.unpin(r.run)
	n, err = s.copies.visible(s.w.stream, r.run, s.state.snap, lo, hi, bits)
	return bits, n, err
}

// emit makes the result of the rows at idx of a morsel, all of them for 0.
func (s *scan) emit(r *scanRange, lo, n int, idx device.Ptr, rows int) (*arrow.Batch, error) {
	width := len(s.n.Columns)
	s.out.reset(width, rows)
	for i := range width {
		c, err := s.column(r, i, lo, n)
		if err != nil {
			return nil, err
		}
		if idx == 0 {
			s.out.out.Columns[i] = c
			continue
		}
		if err := s.out.pick(s.w.stream, i, c, idx, rows); err != nil {
			return nil, err
		}
	}
	return &s.out.out, nil
}

// column is a morsel of a column.
func (s *scan) column(r *scanRange, i, lo, n int) (arrow.Column, error) {
	if s.ids[i] == planner.RowIDColumn {
		p, err := s.rowIDs.Reserve(s.w.q.env.Memory, 8*n)
		if err != nil {
			return arrow.Column{}, err
		}
		err = s.numbers(r, lo, n, p)
		return arrow.Column{Type: sqltype.Int64, Vec: kernels.Vec{Data: p}}, err
	}
	var c arrow.Column
	if r.run != nil {
		var err error
		if c, err = s.copies.column(s.w, r.run, s.ids[i], s.name(i)); err != nil {
			return c, err
		}
	} else {
		c = r.seg.Column(s.ids[i])
	}
	c.Type = s.types[i]
	c, err := s.view.column(s.w.stream, i, c, lo, lo+n)
	if err != nil || c.Vec.Dict == 0 || c.Type.Phys() == sqltype.PhysStr {
		return c, err
	}
	return s.flat.column(i, c, n)
}

// numbers writes the ids of n rows.
func (s *scan) numbers(r *scanRange, lo, n int, out device.Ptr) error {
	if r.run == nil {
		return kernels.Sequence(s.w.stream, out, arrow.RowID(r.seg.ID(), lo), 1, n)
	}
	for i, g := range r.run.Segments {
		from, to := max(lo, r.run.Starts[i]), min(lo+n, r.run.Starts[i+1])
		if from >= to {
			continue
		}
		at := out + device.Ptr(8*(from-lo))
		if err := kernels.Sequence(s.w.stream, at, arrow.RowID(g.ID(), from-r.run.Starts[i]), 1, to-from); err != nil {
			return err
		}
	}
	return nil
}

// name is what column i is called where copies of it are listed.
func (s *scan) name(i int) mirror.Name {
	src := s.n.Source
	if i >= len(src) {
		i, src = i-len(src), s.n.FetchSource
	}
	return mirror.Name{Table: s.n.Table.Name, Column: s.n.Table.Columns[src[i]].Name}
}

// Close implements Operator.
func (s *scan) Close() error {
	s.copies.unpin(nil)
	s.test.release()
	for i := range s.top {
		s.top[i].test.release()
	}
	s.rowIDs.Release()
	s.bitmap.Release()
	s.visible.Release()
	s.view.release()
	s.flat.release()
	s.joins.index.Release()
	s.out.release()
	return nil
}
