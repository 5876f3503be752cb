package exec

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/storage/arrow"
)

// scanTest is a condition on the rows of a scan's morsels. It sees only the
// columns that it needs.
type scanTest struct {
	pred *predicate
	need []int // offsets in the scan's Columns and Fetch

	lead arrow.Batch
	cut  gathered // the columns without rows that are out already
	to   arrow.Slab
}

func newScanTest(w *worker, need []int) scanTest {
	return scanTest{need: need, cut: gathered{mem: w.q.env.Memory}}
}

// pick keeps those of the seen rows at idx (0: all n of the morsel) that pass,
// and gives their numbers, 0 for all rows of the morsel.
func (t *scanTest) pick(s *scan, r *scanRange, lo, n int, idx device.Ptr, seen int) (device.Ptr, int, error) {
	k, err := t.run(s, r, lo, n, idx, seen)
	if err != nil || k == 0 {
		return 0, 0, err
	}
	picked := t.pred.index.Ptr()
	if idx == 0 {
		if k == n {
			return 0, n, nil
		}
		return picked, k, nil
	}
	if k == seen {
		return idx, k, nil
	}
	// The predicate saw the rows at idx only: these are their numbers' numbers.
	to := kernels.Vec{}
	if to.Data, err = t.to.Reserve(s.w.q.env.Memory, 4*n); err != nil {
		return 0, 0, err
	}
	return to.Data, k, kernels.Gather(s.w.stream, 4, &to, kernels.Vec{Data: idx}, picked, k)
}

// run asks the predicate about the rows at idx.
func (t *scanTest) run(s *scan, r *scanRange, lo, n int, idx device.Ptr, seen int) (int, error) {
	t.lead.Columns, t.lead.Rows = t.lead.Columns[:0], n
	for _, i := range t.need {
		c, err := s.column(r, i, lo, n)
		if err != nil {
			return 0, err
		}
		t.lead.Columns = append(t.lead.Columns, c)
	}
	b := &t.lead
	if idx != 0 {
		t.cut.reset(len(b.Columns), seen)
		for i, c := range b.Columns {
			if err := t.cut.pick(s.w.stream, i, c, idx, seen); err != nil {
				return 0, err
			}
		}
		b = &t.cut.out
	}
	return t.pred.pick(b)
}

func (t *scanTest) release() {
	t.pred.close()
	t.cut.release()
	t.to.Release()
}
