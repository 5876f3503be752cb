package exec

import (
	"context"
	"unsafe"

	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// merge is MERGE: its input, read to the end, says what is to be done with each
// row. What goes, goes first, so that its keys are free.
type merge struct {
	*change
	n     *planner.Merge
	kinds []int32
	ids   []int64
	rows  *arrow.Batch // the table's columns, and the action's name after them
}

func newMerge(w *worker, n *planner.Merge) (Operator, error) {
	c, err := newChange(w, n.Input, n.Table.Name, n.Checks, n.Returning, n.Columns)
	if err != nil {
		return nil, err
	}
	m := &merge{change: c, n: n}
	c.do = func(ctx context.Context, _ *change) error { return m.run(ctx) }
	return c, nil
}

func (m *merge) run(ctx context.Context) error {
	rows, err := m.collected(ctx)
	if err != nil {
		return err
	}
	defer rows.release()
	if rows.n == 0 {
		return nil
	}
	m.kinds, m.ids = make([]int32, rows.n), make([]int64, rows.n)
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(m.kinds))), 4*rows.n)
	if err := m.w.stream.Download(raw, rows.column(0).Vec.Data); err != nil {
		return err
	}
	raw = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(m.ids))), 8*rows.n)
	if err := m.w.stream.Download(raw, rows.column(1).Vec.Data); err != nil {
		return err
	}
	if err := m.once(); err != nil {
		return err
	}
	m.rows = rows.all()
	m.rows.Columns = m.rows.Columns[2:]
	for _, kind := range []planner.MergeKind{planner.MergeDelete, planner.MergeUpdate, planner.MergeInsert} {
		if err := m.apply(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

// once makes sure that no row of the target is changed twice.
func (m *merge) once() error {
	seen := make(map[int64]bool, len(m.ids))
	for i, id := range m.ids {
		if planner.MergeKind(m.kinds[i]) == planner.MergeInsert {
			continue
		}
		if seen[id] {
			e := sqltype.Errorf(sqltype.CodeCardinality, "MERGE command cannot affect row a second time")
			e.Hint = "no row of the target may match more than one row of the source"
			return e
		}
		seen[id] = true
	}
	return nil
}

// apply does one kind of change, all at once.
func (m *merge) apply(ctx context.Context, kind planner.MergeKind) error {
	of := func(i int) bool { return planner.MergeKind(m.kinds[i]) == kind }
	b, release, err := m.pick(m.rows, of)
	if b == nil || err != nil {
		return err
	}
	defer release()
	var ids []int64
	for i, id := range m.ids {
		if of(i) {
			ids = append(ids, id)
		}
	}
	row := &arrow.Batch{Rows: b.Rows, Columns: b.Columns[:len(m.n.Table.Columns)]}
	if kind != planner.MergeDelete {
		if err := m.checkRows(b); err != nil {
			return err
		}
	}
	data := m.w.q.env.Data
	n := int64(b.Rows)
	switch kind {
	case planner.MergeDelete:
		n, err = data.Delete(ctx, m.w.stream, m.n.Table, ids)
	case planner.MergeUpdate:
		n, err = data.Update(ctx, m.w.stream, m.n.Table, ids, row)
	case planner.MergeInsert:
		_, err = data.Insert(ctx, m.w.stream, m.n.Table, row)
	}
	if err != nil {
		return err
	}
	m.count += n
	return m.giveBack(b)
}
