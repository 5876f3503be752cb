package exec

import (
	"context"
	"slices"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec/spill"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// runMerger merges runs. It has some rows of each run in memory, sorts them
// together, and gives those up to the first that is its run's last in memory:
// what is still on disk comes after that. The others are sorted again with more
// rows of the runs. As a run has half a frame at least in memory, a row is
// sorted three times at most, which costs less than comparing one by one.
type runMerger struct {
	w     *worker
	by    []sortPlace // the runs' keys, and then the run's number
	ins   []mergeInput
	rows  *rowStore // the runs' columns, and then the run's number
	other *rowStore
	order arrow.Slab
	at    int // in order
	safe  int // up to where rows may be given
	tag   arrow.Slab
	pick  gathered
}

// mergeInput is one of a runMerger's runs.
type mergeInput struct {
	in    *spill.Reader
	ended bool
	frame int // rows of the last frame
	left  int // rows in memory
	last  int // the last of them
}

func newRunMerger(w *worker, t *sortRuns, runs []*spill.Run) *runMerger {
	mem := w.q.env.Memory
	cols := append(slices.Clone(t.cols), planner.ColDef{Type: sqltype.Int64})
	m := &runMerger{w: w, rows: newRowStore(mem, cols), other: newRowStore(mem, cols), pick: gathered{mem: mem}}
	m.by = append(slices.Clone(t.by), sortPlace{col: len(t.cols)})
	for _, r := range runs {
		m.ins = append(m.ins, mergeInput{in: spill.NewReader(r, mem)})
	}
	return m
}

// skip passes over n rows.
func (m *runMerger) skip(ctx context.Context, n int64) error {
	for n > 0 {
		if more, err := m.more(ctx); !more || err != nil {
			return err
		}
		k := int(min(n, int64(m.safe-m.at)))
		m.at += k
		n -= int64(k)
	}
	return nil
}

// next is a batch of at most most rows of the first cols columns, nil at the end.
func (m *runMerger) next(ctx context.Context, most, cols int) (*arrow.Batch, error) {
	if more, err := m.more(ctx); !more || err != nil {
		return nil, err
	}
	n := min(most, m.safe-m.at)
	m.pick.reset(cols, n)
	for i := range cols {
		if err := m.pick.pick(m.w.stream, i, m.rows.column(i), m.order.Ptr()+device.Ptr(4*m.at), n); err != nil {
			return nil, err
		}
	}
	m.at += n
	return &m.pick.out, nil
}

// more sees to it that there is a row to be given, and reports false at the end.
func (m *runMerger) more(ctx context.Context) (bool, error) {
	if m.at < m.safe {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := m.keepRest(); err != nil {
		return false, err
	}
	for i := range m.ins {
		if err := m.load(i); err != nil {
			return false, err
		}
	}
	m.at, m.safe = 0, 0
	if m.rows.n == 0 {
		return false, nil
	}
	if err := sortRows(m.w, m.rows, m.by, &m.order); err != nil {
		return false, err
	}
	m.safe = m.bound()
	return true, nil
}

// keepRest drops the rows that were given.
func (m *runMerger) keepRest() error {
	m.other.reset()
	s, idx := m.w.stream, m.order.Ptr()
	err := kernels.Pieces(s, m.rows.n-m.safe, func(lo, hi int) error {
		m.pick.reset(len(m.rows.cols), hi-lo)
		for i := range m.rows.cols {
			if err := m.pick.pick(s, i, m.rows.column(i), idx+device.Ptr(4*(m.safe+lo)), hi-lo); err != nil {
				return err
			}
		}
		return m.other.add(s, &m.pick.out)
	})
	if err != nil {
		return err
	}
	m.rows, m.other = m.other, m.rows
	for i := range m.ins {
		m.ins[i].left = 0
	}
	tags := m.rows.column(len(m.rows.cols) - 1).Vec.Data
	for row, run := range device.View[int64](tags, m.rows.n) {
		m.ins[run].left++
		m.ins[run].last = row
	}
	return nil
}

// load reads of a run until half a frame is in memory.
func (m *runMerger) load(i int) error {
	in := &m.ins[i]
	for !in.ended && 2*in.left <= in.frame {
		vecs, n, err := in.in.Next()
		if err != nil {
			return err
		}
		if in.ended = n == 0; in.ended {
			return nil
		}
		tag, err := m.tag.Reserve(m.w.q.env.Memory, 8*n)
		if err != nil {
			return err
		}
		if err := kernels.Sequence(m.w.stream, tag, int64(i), 0, n); err != nil {
			return err
		}
		b := arrow.Batch{Rows: n}
		for c, v := range append(vecs, kernels.Vec{Data: tag}) {
			b.Columns = append(b.Columns, arrow.Column{Type: m.rows.cols[c].typ, Vec: v})
		}
		if err := m.rows.add(m.w.stream, &b); err != nil {
			return err
		}
		in.in.Release() // the next one to read is another run
		in.frame, in.left, in.last = n, in.left+n, m.rows.n-1
	}
	return nil
}

// bound is up to where rows in order come before all that is on disk.
func (m *runMerger) bound() int {
	bits := make([]uint64, (m.rows.n+63)/64)
	for i := range m.ins {
		if in := &m.ins[i]; !in.ended {
			bits[in.last/64] |= 1 << (in.last % 64)
		}
	}
	for at, row := range device.View[uint32](m.order.Ptr(), m.rows.n) {
		if bits[row/64]>>(row%64)&1 != 0 {
			return at + 1
		}
	}
	return m.rows.n
}

// release gives the memory back; the runs stay.
func (m *runMerger) release() {
	if m == nil {
		return
	}
	for i := range m.ins {
		m.ins[i].in.Release()
	}
	m.rows.release()
	m.other.release()
	m.order.Release()
	m.tag.Release()
	m.pick.release()
}
