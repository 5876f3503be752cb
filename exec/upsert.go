package exec

import (
	"context"
	"slices"
	"unsafe"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// upsert is INSERT ... ON CONFLICT and REPLACE: it reads its input to the end,
// finds the rows that would be duplicates, of old rows or of each other, and
// then inserts, updates and deletes, each all at once.
type upsert struct {
	*change
	n    *planner.Insert
	c    *planner.Conflict
	rows *arrow.Batch // the input in the table's order
	// asked is what the input has beside, for SET and WHERE.
	asked []arrow.Column
	// old[i] is the id of the row that row i meets, noRow for none.
	old []int64
	// drop[i]: row i is not inserted, since it meets another of the statement.
	drop []bool
}

const noRow = -1

func newUpsert(w *worker, n *planner.Insert) (Operator, error) {
	c, err := newChange(w, n.Input, n.Table.Name, n.Checks, n.Returning, n.Columns)
	if err != nil {
		return nil, err
	}
	u := &upsert{change: c, n: n, c: n.Conflict}
	c.do = func(ctx context.Context, _ *change) error { return u.run(ctx) }
	return c, nil
}

func (u *upsert) run(ctx context.Context) error {
	rows, err := u.collected(ctx)
	if err != nil {
		return err
	}
	defer rows.release()
	if rows.n == 0 {
		return nil
	}
	all := rows.all()
	u.rows, u.asked = newTableRow(u.n).of(all), all.Columns[len(u.n.Target):]
	u.old = slices.Repeat([]int64{noRow}, rows.n)
	u.drop = make([]bool, rows.n)
	var keys []*batchKey
	for _, ix := range u.n.Table.Indexes {
		if !ix.Unique || u.c.Index != nil && ix.ID != u.c.Index.ID {
			continue
		}
		k, err := u.key(ix)
		if err != nil {
			return err
		}
		keys = append(keys, k)
		if err := u.meet(ctx, ix); err != nil {
			return err
		}
	}
	if err := u.among(keys); err != nil {
		return err
	}
	switch {
	case u.c.Nothing:
		return u.insertWhere(ctx, func(i int) bool { return u.old[i] == noRow && !u.drop[i] })
	case u.c.Replace:
		return u.replace(ctx)
	}
	if err := u.update(ctx); err != nil {
		return err
	}
	return u.insertWhere(ctx, func(i int) bool { return u.old[i] == noRow })
}

// batchKey is the rows' keys in an index: equal ones have the same number.
type batchKey struct {
	ids  []uint32
	null []bool // a NULL is no duplicate
	last []int  // by number: the last row that stays, noRow for none
}

func (u *upsert) key(ix *catalog.Index) (*batchKey, error) {
	var key arrow.Batch
	var cols []planner.ColDef
	var null []planner.Expr
	key.Rows = u.rows.Rows
	for _, k := range ix.Keys {
		key.Columns = append(key.Columns, u.rows.Columns[k.Column])
		cols = append(cols, u.n.Columns[k.Column])
		c := u.n.Columns[k.Column]
		null = append(null, &planner.IsNull{X: &planner.Col{ID: c.ID, Name: c.Name, T: c.Type}})
	}
	g := newRowGroups(u.w, u.n, cols)
	defer g.release()
	ptr, err := g.find(&key)
	if err != nil {
		return nil, err
	}
	k := &batchKey{ids: make([]uint32, key.Rows), last: slices.Repeat([]int{noRow}, g.groups.Len())}
	if err := u.download(k.ids, ptr); err != nil {
		return nil, err
	}
	k.null, err = u.where(null)
	return k, err
}

// among finds rows of the statement that have the key of another of its rows:
// the later one gives way, or with REPLACE the earlier. A row that is not
// inserted is in nobody's way.
func (u *upsert) among(keys []*batchKey) error {
	for i := range u.drop {
		if u.c.Nothing && u.old[i] != noRow {
			continue
		}
		for _, k := range keys {
			before := k.last[k.ids[i]]
			switch {
			case k.null[i] || before == noRow:
			case u.c.Replace:
				u.drop[before] = true
			case u.c.Nothing:
				u.drop[i] = true
			default:
				return sqltype.Errorf(sqltype.CodeCardinality, "ON CONFLICT DO UPDATE cannot affect a row a second time")
			}
		}
		for _, k := range keys {
			if !k.null[i] && !u.drop[i] {
				k.last[k.ids[i]] = i
			}
		}
	}
	return nil
}

// where says for which rows one of the conditions holds.
func (u *upsert) where(any []planner.Expr) ([]bool, error) {
	cond := any[0]
	if len(any) > 1 {
		cond = &planner.Or{Args: any}
	}
	pred, err := u.w.compilePredicate(cond, u.n.Columns)
	if err != nil {
		return nil, err
	}
	defer pred.close()
	n, err := pred.pick(u.rows)
	if err != nil {
		return nil, err
	}
	at := make([]uint32, n)
	if err := u.download(at, pred.index.Ptr()); err != nil {
		return nil, err
	}
	out := make([]bool, u.rows.Rows)
	for _, i := range at {
		out[i] = true
	}
	return out, nil
}

func (u *upsert) download(dst []uint32, p device.Ptr) error {
	if len(dst) == 0 {
		return nil
	}
	return u.w.stream.Download(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), 4*len(dst)), p)
}

// meet finds the old rows that have the key of a new one.
func (u *upsert) meet(ctx context.Context, ix *catalog.Index) error {
	var key []arrow.Column
	for _, k := range ix.Keys {
		key = append(key, u.rows.Columns[k.Column])
	}
	var found index.Found
	probe, err := u.w.q.env.Data.Probe(ctx, u.w.stream, u.n.Table, ix, key, u.rows.Rows, nil, &found)
	if err != nil {
		return err
	}
	for i, p := range probe {
		if u.old[p] != noRow && u.old[p] != found.Rows[i] && u.c.Replace {
			// Several old rows give way to one: all but the last go at once.
			if _, err := u.w.q.env.Data.Delete(ctx, u.w.stream, u.n.Table, []int64{u.old[p]}); err != nil {
				return err
			}
		}
		if u.old[p] == noRow || u.c.Replace {
			u.old[p] = found.Rows[i]
		}
	}
	return nil
}

// insertWhere inserts the rows for which keep answers true.
func (u *upsert) insertWhere(ctx context.Context, keep func(i int) bool) error {
	b, release, err := u.pick(u.rows, keep)
	if b == nil || err != nil {
		return err
	}
	defer release()
	if err := u.checkRows(b); err != nil {
		return err
	}
	if _, err := u.w.q.env.Data.Insert(ctx, u.w.stream, u.n.Table, b); err != nil {
		return err
	}
	u.count += int64(b.Rows)
	return u.giveBack(b)
}

// pick is the rows of a batch for which keep answers true, nil for none.
func (c *change) pick(b *arrow.Batch, keep func(i int) bool) (*arrow.Batch, func(), error) {
	var at []uint32
	for i := range b.Rows {
		if keep(i) {
			at = append(at, uint32(i))
		}
	}
	if len(at) == 0 {
		return nil, nil, nil
	}
	mem := c.w.q.env.Memory
	var idx arrow.Slab
	out := &gathered{mem: mem}
	release := func() {
		idx.Release()
		out.release()
	}
	p, err := idx.Reserve(mem, 4*len(at))
	if err == nil {
		err = c.w.stream.Upload(p, wordBytes(at))
	}
	out.reset(len(b.Columns), len(at))
	for i := range b.Columns {
		if err == nil {
			err = out.pick(c.w.stream, i, b.Columns[i], p, len(at))
		}
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return &out.out, release, nil
}

// replace deletes the old rows and inserts the new ones.
func (u *upsert) replace(ctx context.Context) error {
	var gone []int64
	for _, id := range u.old {
		if id != noRow {
			gone = append(gone, id)
		}
	}
	if len(gone) > 0 {
		if _, err := u.w.q.env.Data.Delete(ctx, u.w.stream, u.n.Table, gone); err != nil {
			return err
		}
	}
	return u.insertWhere(ctx, func(i int) bool { return !u.drop[i] })
}

// update sets the old rows that were met: SET and WHERE read the old row and
// the new one.
func (u *upsert) update(ctx context.Context) error {
	hit := func(i int) bool { return u.old[i] != noRow }
	input := &arrow.Batch{Rows: u.rows.Rows, Columns: slices.Concat(u.rows.Columns, u.asked)}
	fresh, release, err := u.pick(input, hit)
	if fresh == nil || err != nil {
		return err
	}
	defer release()
	var ids []int64
	for i := range u.old {
		if hit(i) {
			ids = append(ids, u.old[i])
		}
	}
	t := u.n.Table
	snap, err := u.w.q.env.Data.Snap(t)
	if err != nil {
		return err
	}
	scan := &planner.Scan{Table: t, Columns: u.c.Columns}
	for i := range t.Columns {
		scan.Source = append(scan.Source, i)
	}
	old := newFetcher(u.w, scan, u.c.Columns)
	defer old.release()
	before, err := old.rows(&snap, &index.Found{Rows: ids}, 0, len(ids))
	if err != nil {
		return err
	}
	both := &arrow.Batch{Rows: len(ids), Columns: append(slices.Clone(before.Columns), fresh.Columns...)}
	cols := slices.Concat(u.c.Columns, u.c.Excluded, u.c.Asked)
	if u.c.Where != nil {
		if both, ids, release, err = u.met(both, ids, cols); both == nil || err != nil {
			return err
		}
		defer release()
	}
	after := make([]planner.Expr, len(t.Columns))
	for i, c := range u.c.Columns {
		after[i] = &planner.Col{ID: c.ID, Name: c.Name, T: c.Type}
	}
	for _, s := range u.c.Set {
		after[s.Column] = s.Expr
	}
	x, err := u.w.compile(after, cols)
	if err != nil {
		return err
	}
	defer x.close()
	b, err := x.run(both)
	if err != nil {
		return err
	}
	if err := u.checkRows(b); err != nil {
		return err
	}
	n, err := u.w.q.env.Data.Update(ctx, u.w.stream, t, ids, b)
	u.count += n
	if err != nil {
		return err
	}
	return u.giveBack(b)
}

// met keeps the rows for which WHERE holds.
func (u *upsert) met(both *arrow.Batch, ids []int64, cols []planner.ColDef) (*arrow.Batch, []int64, func(), error) {
	pred, err := u.w.compilePredicate(u.c.Where, cols)
	if err != nil {
		return nil, nil, nil, err
	}
	defer pred.close()
	n, err := pred.pick(both)
	if n == 0 || err != nil {
		return nil, nil, nil, err
	}
	at := make([]uint32, n)
	if err := u.download(at, pred.index.Ptr()); err != nil {
		return nil, nil, nil, err
	}
	keep := make([]bool, both.Rows)
	var kept []int64
	for _, i := range at {
		keep[i] = true
		kept = append(kept, ids[i])
	}
	b, release, err := u.pick(both, func(i int) bool { return keep[i] })
	return b, kept, release, err
}
