package storage

import (
	"context"
	"errors"
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
	"github.com/gpusql/gpusql/txn"
)

// bulkRows is a batch whose index entries wait for the end of the statement, to
// be sorted, checked and added all at once.
const bulkRows = 4096

// Insert appends a batch, whose columns are the table's, and returns the id of
// the first row; the others follow. Nothing is changed when it fails. Of large
// batches the uniqueness is checked by End.
func (s *Statement) Insert(ctx context.Context, _ device.Stream, t *catalog.Table, b *arrow.Batch) (int64, error) {
	d, err := s.changes(ctx, t)
	if err != nil || b.Rows == 0 {
		return 0, err
	}
	if err := checkNotNull(t, b); err != nil {
		return 0, err
	}
	mark := s.tx.tx.Mark()
	span, err := s.append(ctx, d, t, b)
	if err != nil {
		s.tx.tx.UndoTo(mark)
		return 0, err
	}
	return span.FirstRow(), nil
}

// changes is the storage of a table that is about to be changed. Whoever changes
// things waits for the sweep of what earlier changes left: the memory that they
// need may be there, and sweeps keep up.
func (s *Statement) changes(ctx context.Context, t *catalog.Table) (*table, error) {
	if err := s.tx.MayChange(t); err != nil {
		return nil, err
	}
	if err := s.tx.store.Settle(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.data(t)
}

// append adds rows and, unless they are many, their index entries. What it did
// before it fails is logged.
func (s *Statement) append(ctx context.Context, d *table, t *catalog.Table, b *arrow.Batch) (arrow.Span, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	span, err := d.rows.Append(d.place(t, b), s.snap.Own)
	if err != nil {
		return span, err
	}
	s.changed = true
	rows := &inserted{d, s.tx.tx, span, slices.Clone(d.list())}
	s.tx.tx.Log(rows)
	s.noteAdded(d, t, span)
	if !slices.Contains(s.grown, d) {
		s.grown = append(s.grown, d)
	}
	if len(rows.lacks) == 0 {
		return span, nil
	}
	if i := s.waiting(d); i >= 0 || b.Rows >= bulkRows {
		if i < 0 {
			i = len(s.pending)
			s.pending = append(s.pending, pending{data: d, def: t})
		}
		s.pending[i].rows = append(s.pending[i].rows, rows)
		return span, nil
	}
	return span, s.enter(ctx, d, t, []*inserted{rows})
}

// waiting is the place in pending of a table, or -1.
func (s *Statement) waiting(d *table) int {
	return slices.IndexFunc(s.pending, func(p pending) bool { return p.data == d })
}

// place puts a batch's columns where the storage has them. Columns that the
// definition does not have are NULL, or their default.
func (t *table) place(def *catalog.Table, b *arrow.Batch) *arrow.Batch {
	types := t.rows.Types()
	out := &arrow.Batch{Rows: b.Rows, Columns: make([]arrow.Column, len(types))}
	for i, typ := range types {
		out.Columns[i] = arrow.Column{Type: typ}
	}
	for i := range def.Columns {
		out.Columns[def.Columns[i].ID] = b.Columns[i]
	}
	return out
}

func checkNotNull(t *catalog.Table, b *arrow.Batch) error {
	for i := range t.Columns {
		if t.Columns[i].NotNull && b.Columns[i].Nulls(b.Rows) > 0 {
			return sqltype.Errorf(sqltype.CodeNotNull,
				"null value in column \"%s\" of relation \"%s\" violates not-null constraint", t.Columns[i].Name, t.Name)
		}
	}
	return nil
}

// Delete removes rows by id, and returns how many were there.
func (s *Statement) Delete(ctx context.Context, _ device.Stream, t *catalog.Table, rows []int64) (int64, error) {
	d, err := s.changes(ctx, t)
	if err != nil {
		return 0, err
	}
	mark := s.tx.tx.Mark()
	gone, err := s.remove(ctx, d, t, rows)
	if err != nil {
		s.tx.tx.UndoTo(mark)
		return 0, err
	}
	s.noteRemoved(d, t, picked(rows, gone), nil)
	return int64(len(gone)), nil
}

// rowsOf are the ids of a span's rows.
func rowsOf(span arrow.Span) []int64 {
	rows := make([]int64, span.Hi-span.Lo)
	for i := range rows {
		rows[i] = span.FirstRow() + int64(i)
	}
	return rows
}

// picked are the rows at some places.
func picked(rows []int64, at []int) []int64 {
	out := make([]int64, len(at))
	for i, k := range at {
		out[i] = rows[k]
	}
	return out
}

// remove stamps deaths, and returns the places in rows of those that were alive.
func (s *Statement) remove(ctx context.Context, d *table, t *catalog.Table, rows []int64) ([]int, error) {
	snap := d.rows.Snap(s.snap.Version, s.snap.Own)
	change := &deleted{data: d, tx: s.tx.tx}
	s.changed = true
	s.tx.tx.Log(change)
	gone := make([]int, 0, len(rows))
	for i, id := range rows {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		ok, err := d.rows.Delete(&snap, id, s.snap.Own)
		if errors.Is(err, arrow.ErrConflict) {
			return nil, errConflict(t)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			change.rows = append(change.rows, id)
			gone = append(gone, i)
		}
	}
	return gone, nil
}

// Update replaces rows[i] by row i of b. A row that is not there any more, or
// was given before, is passed over.
func (s *Statement) Update(ctx context.Context, _ device.Stream, t *catalog.Table, rows []int64, b *arrow.Batch) (int64, error) {
	d, err := s.changes(ctx, t)
	if err != nil || b.Rows == 0 {
		return 0, err
	}
	if err := checkNotNull(t, b); err != nil {
		return 0, err
	}
	mark := s.tx.tx.Mark()
	gone, err := s.remove(ctx, d, t, rows)
	by := make([]int64, 0, len(gone))
	for piece := range slices.Chunk(gone, replacedRows) {
		if err == nil {
			by, err = s.replace(ctx, d, t, b, piece, by)
		}
	}
	if err != nil {
		s.tx.tx.UndoTo(mark)
		return 0, err
	}
	if len(gone) > 0 {
		s.noteRemoved(d, t, picked(rows, gone), by)
	}
	return int64(len(gone)), nil
}

// replacedRows is how many rows are copied without a look at the context.
const replacedRows = 1 << 16

// replace appends the rows at some places of b, and their ids to by.
func (s *Statement) replace(ctx context.Context, d *table, t *catalog.Table, b *arrow.Batch, at []int, by []int64) ([]int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(at) < b.Rows {
		kept, err := arrow.Keep(s.tx.store.memory, b, at)
		if err != nil {
			return nil, err
		}
		defer kept.Release()
		b = &kept.Batch
	}
	span, err := s.append(ctx, d, t, b)
	if err != nil {
		return nil, err
	}
	return append(by, rowsOf(span)...), nil
}

// inserted is rows that a transaction appended.
type inserted struct {
	data *table
	tx   *txn.Tx
	span arrow.Span
	// lacks are the indexes of then that did not get the entries yet: they have
	// nothing to be taken out of, which a statement that is cancelled must not wait for.
	lacks []*tableIndex
}

// Commit gives the rows their version.
func (c *inserted) Commit(version uint64) {
	c.data.rows.Commit(c.span, version)
	if r := c.data.rows.Retired(); len(r) > 0 {
		c.tx.RetireAt(version, func() {
			for _, b := range r {
				b.Release()
			}
		})
	}
}

// Undo takes the rows back, and their entries out of all indexes: of one that
// another transaction made meanwhile too, for it has all rows.
func (c *inserted) Undo() {
	c.data.mu.Lock()
	defer c.data.mu.Unlock()
	for _, x := range c.data.list() {
		if !slices.Contains(c.lacks, x) {
			x.erase([]arrow.Span{c.span})
		}
	}
	c.data.rows.Undo(c.span)
	r := c.data.rows.Retired()
	if len(r) == 0 {
		return
	}
	c.data.store.manager.Retire(func() {
		for _, b := range r {
			b.Release()
		}
	})
}

// deleted is rows that a transaction deleted.
type deleted struct {
	data *table
	tx   *txn.Tx
	rows []int64
}

// Commit gives the deaths their version. When no one can see the rows any more
// their index entries go.
func (c *deleted) Commit(version uint64) {
	c.data.rows.CommitDeletes(c.rows, version)
	if len(c.rows) > 0 {
		c.tx.RetireAt(version, func() { c.data.forget(c.rows, version) })
	}
}

// Undo makes the rows live.
func (c *deleted) Undo() {
	c.data.rows.UndoDeletes(c.rows)
}

// fadingPart is the part of a table's rows that may be dead and in its indexes:
// a batch that deletes one entry of a leaf costs as much as one that deletes
// several, so that waiting for more makes each of them cheaper. fadingWalks is how
// often readers may meet each of them before that: then walking over them has
// cost what sweeping them does, as where one key's row is changed all the time.
const (
	fadingPart  = 16
	fadingWalks = 8
)

// forgetRows is how many rows' entries go while nobody else may change the table.
const forgetRows = 1 << 14

// forget deletes the index entries of rows that no one can see, and gives back
// segments of nothing else; both when there are enough of them.
func (t *table) forget(rows []int64, horizon uint64) {
	total := 0
	for _, s := range t.rows.Segments() {
		total += s.Rows()
	}
	t.fading = append(t.fading, rows...)
	t.faded.Store(int64(len(t.fading)))
	if len(t.fading)*fadingPart >= total || t.tired() {
		t.sweep(horizon)
	}
}

// tired reports that readers have met rows that no one can see often enough.
func (t *table) tired() bool {
	n := t.faded.Load()
	return n > 0 && t.walked.Load() >= n*fadingWalks
}

// met notes that a reader met entries of rows that it does not see. The reader
// that has met the last of too many has them swept.
func (t *table) met(unseen int) {
	if unseen == 0 {
		return
	}
	before := t.tired()
	t.walked.Add(int64(unseen))
	if !before && t.tired() {
		m := t.store.manager
		m.Retire(func() { t.sweep(m.Horizon()) })
	}
}

// sweep does what forget is for.
func (t *table) sweep(horizon uint64) {
	rows := t.fading
	t.fading = nil
	t.faded.Store(0)
	t.walked.Store(0)
	slices.Sort(rows) // neighbours in memory, and one span
	for part := range slices.Chunk(rows, forgetRows) {
		t.mu.Lock()
		if all := t.list(); len(all) > 0 {
			spans := t.spansOf(part)
			for _, x := range all {
				x.erase(spans)
			}
		}
		t.mu.Unlock()
	}
	t.mu.Lock()
	gone := t.rows.DropDead(horizon)
	t.mu.Unlock()
	t.rows.Recount(horizon)
	if t.firstThin() != nil {
		t.gather()
	}
	if len(gone) == 0 {
		return
	}
	t.store.manager.Retire(func() {
		for _, s := range gone {
			s.Release()
		}
	})
}
