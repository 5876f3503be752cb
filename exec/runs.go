package exec

import (
	"context"
	"slices"
	"sync"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec/spill"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// sortRuns are sorted runs of rows on disk: what a sort has that memory has no
// room for.
//
//	rows ──▶ rowStore ── full: sorted ──▶ run ┐
//	                                      run ├─ runMerger ──▶ rows in order
//	                                      run ┘
//
// Runs are in the order in which their rows came, and rows that are equal stay
// in that order.
type sortRuns struct {
	node planner.Node // on whose account
	cols []planner.ColDef
	by   []sortPlace
	// perRow is the memory that the owner takes for a row besides, when all fit.
	perRow int64

	files spillFiles
	mu    sync.Mutex
	runs  []*spill.Run
}

// newSortRuns are the runs of a sort by the first by of keys.
func newSortRuns(node planner.Node, keys []planner.SortKey, by int, in planner.Node) *sortRuns {
	places, cols := sortPlaces(keys, by, in)
	return &sortRuns{node: node, cols: cols, by: places}
}

// sortPlace is a sort key that is a column.
type sortPlace struct {
	col              int
	desc, nullsFirst bool
}

// sortPlaces are the first by of keys, as columns of a store of collect, and what
// that has for columns.
func sortPlaces(keys []planner.SortKey, by int, in planner.Node) (places []sortPlace, cols []planner.ColDef) {
	place, extra := keyPlace(keys, in)
	for i, k := range keys[:by] {
		places = append(places, sortPlace{place[i], k.Desc, k.NullsFirst})
	}
	cols = slices.Clone(in.Cols())
	for _, e := range extra {
		cols = append(cols, planner.ColDef{Type: e.Type()})
	}
	return places, cols
}

// sortColumns are the keys of a store.
func sortColumns(rows *rowStore, by []sortPlace) []kernels.SortColumn {
	cols := make([]kernels.SortColumn, len(by))
	for i, k := range by {
		c := rows.column(k.col)
		cols[i] = kernels.SortColumn{Vec: c.Vec, Phys: c.Type.Phys(), Desc: k.desc, NullsFirst: k.nullsFirst}
	}
	return cols
}

// forms are columns as files have them.
func forms(cols []planner.ColDef) []spill.Column {
	out := make([]spill.Column, len(cols))
	for i, c := range cols {
		out[i] = formOf(c.Type.Phys())
	}
	return out
}

func formOf(p sqltype.Phys) spill.Column {
	return spill.Column{Width: p.Width(), Text: p == sqltype.PhysStr}
}

// runWriter makes runs, for one worker.
type runWriter struct {
	w    *worker
	to   *sortRuns
	file *spill.File
	out  spill.Scratch
}

// begin makes the file.
func (r *runWriter) begin() (err error) {
	if r.file == nil {
		r.file, err = r.to.files.file(r.w, r.to.node)
	}
	return err
}

// writer is for one run.
func (r *runWriter) writer() *spill.Writer {
	q := r.w.q
	return spill.NewWriter(r.file, q.env.Memory, &r.out, forms(r.to.cols), 4*q.frameBytes(), q.batchRows)
}

// write implements overflow: it sorts the rows.
func (r *runWriter) write(ctx context.Context, rows *rowStore) error {
	if rows.n == 0 {
		return nil
	}
	if err := r.begin(); err != nil {
		return err
	}
	var order arrow.Slab
	defer order.Release()
	if err := sortRows(r.w, rows, r.to.by, &order); err != nil {
		return err
	}
	to := r.writer()
	defer to.Release()
	vecs := rows.vecs()
	picks := device.View[uint32](order.Ptr(), rows.n)
	err := kernels.Pieces(r.w.stream, rows.n, func(lo, hi int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return to.Add(vecs, picks[lo:hi], 0)
	})
	if err != nil {
		return err
	}
	run, err := to.Finish()
	if err != nil {
		return err
	}
	r.to.mu.Lock()
	r.to.runs = append(r.to.runs, run)
	r.to.mu.Unlock()
	rows.reset()
	return nil
}

// need implements overflow: the memory to sort n rows.
func (r *runWriter) need(n int) int64 { return int64(kernels.SortBytes(n)+4*n) + r.to.perRow*int64(n) }

// begun implements overflow.
func (r *runWriter) begun() bool { return r.file != nil }

// finish implements overflow: a run is whole when it is written.
func (r *runWriter) finish() error { return nil }

// release implements overflow.
func (r *runWriter) release() { r.out.Release() }

// overflow implements spiller.
func (t *sortRuns) overflow(w *worker) overflow { return &runWriter{w: w, to: t} }

func (t *sortRuns) release() {
	if t == nil {
		return
	}
	t.files.release()
	t.runs = nil
}

// spilled implements spiller.
func (t *sortRuns) spilled() bool { return t != nil && len(t.runs) > 0 }

// fanIn is how many runs are merged at a time: of each, up to two frames are in
// memory, in a store that may have to be copied to grow.
const fanIn = 32

// merged gives all rows in order. Runs that are too many for that are merged to
// longer ones first.
func (t *sortRuns) merged(ctx context.Context, w *worker) (*runMerger, error) {
	for len(t.runs) > fanIn {
		if err := t.shorten(ctx, w); err != nil {
			return nil, err
		}
	}
	return newRunMerger(w, t, t.runs), nil
}

// shorten merges neighbouring runs; the files that they are in are given back.
func (t *sortRuns) shorten(ctx context.Context, w *worker) error {
	next := &sortRuns{node: t.node, cols: t.cols, by: t.by}
	to := &runWriter{w: w, to: next}
	defer to.release()
	err := to.begin()
	for lo := 0; lo < len(t.runs) && err == nil; lo += fanIn {
		err = to.merge(ctx, newRunMerger(w, t, t.runs[lo:min(lo+fanIn, len(t.runs))]))
	}
	if err != nil {
		next.release()
		return err
	}
	t.files.release()
	t.files.of, t.runs = next.files.of, next.runs
	return nil
}

// merge writes what a merger gives as one run.
func (r *runWriter) merge(ctx context.Context, m *runMerger) error {
	defer m.release()
	to := r.writer()
	defer to.Release()
	for {
		b, err := m.next(ctx, r.w.q.batchRows, len(r.to.cols))
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := to.Add(vecsOf(b), nil, b.Rows); err != nil {
			return err
		}
	}
	run, err := to.Finish()
	r.to.runs = append(r.to.runs, run)
	return err
}
