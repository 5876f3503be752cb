package exec

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// topBound is what a top-n tells the scans that its first key comes from: the
// key of the last row that it keeps. Rows behind that need not be read.
//
//	top-n: keeps 10 rows ──▶ topBound ──┐  the 10th is of May 3rd
//	  ...                               ▼
//	    scan: segments and rows that may be of May 3rd or before
//
// Segments of tables and parts of files come in the order of their bounds, those
// first that may hold the first rows: the bound is tight when the others' turn
// comes, whatever order the rows are written in. It gets tighter while the scan goes on, and one that a worker finds holds for
// all: its rows alone are enough for the result.
type topBound struct {
	key     planner.SortKey
	offered sync.Once
	last    atomic.Pointer[sqltype.Datum] // nil: not known yet
}

// newTopBound is the bound of a top-n; nil if its first key is no column of a
// kind that scans compare cheaply.
func newTopBound(w *worker, n *planner.TopN) *topBound {
	c, ok := n.Keys[0].Expr.(*planner.Col)
	if !ok || !kernels.CanFilterKeys(c.T.Phys()) || c.T.Kind.IsFloat() || c.T.Kind == sqltype.KindBool {
		return nil
	}
	t := shared(w.q, n, func() *topBound { return &topBound{key: n.Keys[0]} })
	t.offered.Do(func() {
		w.q.offer(n.Input, c.ID, func(s *scanFilters, column int) { s.addTop(column, t) })
	})
	return t
}

// note learns the key of the last row that a worker keeps. A NULL bounds
// nothing: where it is last, all values come before it.
func (t *topBound) note(d sqltype.Datum) {
	for {
		old := t.last.Load()
		if d.Null || old != nil && (sqltype.Compare(d, *old) < 0) == t.key.Desc {
			return
		}
		if t.last.CompareAndSwap(old, &d) {
			return
		}
	}
}

// condition is what rows meet that are not behind the bound.
func (t *topBound) condition(last sqltype.Datum, c planner.ColDef) planner.Expr {
	op := planner.Le
	if t.key.Desc {
		op = planner.Ge
	}
	col := &planner.Col{ID: c.ID, Name: c.Name, T: c.Type}
	cmp := &planner.Cmp{Op: op, L: col, R: &planner.Const{Value: last}}
	if t.key.NullsFirst && !c.NotNull {
		return &planner.Or{Args: []planner.Expr{&planner.IsNull{X: col}, cmp}}
	}
	return cmp
}

// zone is what is known of a column's values in some rows.
type zone struct {
	min, max sqltype.Datum // NULL: not known, or all are NULL
	nulls    bool          // there may be NULLs
}

// beyond reports rows that are all behind the bound.
func (t *topBound) beyond(z zone) bool {
	last := t.last.Load()
	if last == nil || z.min.Null || z.nulls && t.key.NullsFirst || z.min.Type != last.Type {
		return false
	}
	if t.key.Desc {
		return sqltype.Compare(z.max, *last) < 0
	}
	return sqltype.Compare(z.min, *last) > 0
}

// before compares by which of two zones may have the first row; one that may have
// any comes first.
func (t *topBound) before(a, b zone) int {
	first := func(z zone) bool { return z.min.Null || z.nulls && t.key.NullsFirst }
	switch {
	case first(a) && first(b):
		return 0
	case first(a):
		return -1
	case first(b):
		return 1
	case t.key.Desc:
		return sqltype.Compare(b.max, a.max)
	default:
		return sqltype.Compare(a.min, b.min)
	}
}

// scanTop is a bound on a column of a scan.
type scanTop struct {
	column int // offset in the scan's Columns
	*topBound
}

// topTest is a bound as a worker's scan applies it.
type topTest struct {
	scanTop
	last *sqltype.Datum // what the test was made for
	test scanTest
	gain gain
}

// bounds are those that a scan has by now; the top-n above it is there before.
func (s *scanFilters) bounds() []scanTop {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tops)
}

// tests are a worker's, for the bounds of its scan.
func (s *scan) tests() []topTest {
	var out []topTest
	for _, t := range s.joins.from.bounds() {
		out = append(out, topTest{scanTop: t, test: newScanTest(s.w, []int{t.column})})
	}
	return out
}

// zoneOf is what a bound asks of a segment.
func (s *scan) zoneOf(t scanTop, g *arrow.Segment) zone {
	b := g.Bounds(s.ids[t.column])
	return zone{b.Min, b.Max, b.Nulls > 0}
}

// beyond reports a range of rows that are all behind a bound.
func (s *scan) beyond(g *arrow.Segment) bool {
	return slices.ContainsFunc(s.top, func(t topTest) bool { return t.topBound.beyond(s.zoneOf(t.scanTop, g)) })
}

// sooner puts those segments first that may have the first rows.
func (s *scan) sooner(ranges []scanRange) {
	tops := s.joins.from.bounds()
	if len(tops) == 0 {
		return
	}
	slices.SortStableFunc(ranges, func(a, b scanRange) int {
		return tops[0].before(s.zoneOf(tops[0], a.seg), s.zoneOf(tops[0], b.seg))
	})
}

// sooner has those parts of a file come first that may have the first rows, and
// those left out that are behind a bound when their turn comes.
func (f *fileScan) sooner(r BoundedReader) {
	tops := f.joins.from.bounds()
	if len(tops) == 0 {
		return
	}
	zoneOf := func(t scanTop, part int) (z zone) {
		null := sqltype.NullOf(f.n.Columns[t.column].Type)
		if b, ok := r.Bounds(part, t.column); ok {
			return zone{b.Min, b.Max, b.Nulls != 0}
		}
		return zone{null, null, true}
	}
	parts := make([]int, r.Parts())
	for i := range parts {
		parts[i] = i
	}
	slices.SortStableFunc(parts, func(a, b int) int { return tops[0].before(zoneOf(tops[0], a), zoneOf(tops[0], b)) })
	r.Order(parts, func(part int) bool {
		return slices.ContainsFunc(tops, func(t scanTop) bool { return t.beyond(zoneOf(t, part)) })
	})
}

// within keeps those of the n rows at idx (0: all of a morsel) that are not
// behind a bound.
func (s *scan) within(r *scanRange, lo, rows int, idx device.Ptr, n int) (device.Ptr, int, error) {
	for i := range s.top {
		t := &s.top[i]
		last := t.topBound.last.Load()
		if last == nil || !t.gain.pays() {
			continue
		}
		if last != t.last {
			t.test.pred.close()
			t.last = last
			def := s.n.Columns[t.column]
			var err error
			if t.test.pred, err = s.w.compilePredicate(t.condition(*last, def), []planner.ColDef{def}); err != nil {
				return 0, 0, err
			}
		}
		before := n
		var err error
		if idx, n, err = t.test.pick(s, r, lo, rows, idx, n); err != nil || n == 0 {
			return 0, 0, err
		}
		t.gain.in += before
		t.gain.out += n
	}
	return idx, n, nil
}
