package exec

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// change is what INSERT, UPDATE and DELETE have in common: it reads its input
// to the end, changes the table, and gives one row with the number of rows
// changed, or the RETURNING rows.
type change struct {
	w         *worker
	input     planner.Node
	do        func(ctx context.Context, c *change) error
	count     int64
	returned  *rowStore // RETURNING rows, nil without
	under     ground    // of them
	returning *expressions
	checks    []check
	done      bool
	slab      arrow.Slab
	out       arrow.Batch
}

// changing keys the operator that makes a change, of those that several workers
// may have for it.
type changing struct{ input planner.Node }

// check is a CHECK constraint over rows to be.
type check struct {
	table, name string
	violated    *predicate // rows for which it is false
}

// newChange prepares what follows the input: cols are a row's columns.
func newChange(w *worker, input planner.Node, table string, checks []planner.Check, returning []planner.NamedExpr, cols []planner.ColDef) (*change, error) {
	c := &change{w: w, input: input}
	for _, k := range checks {
		// A CHECK holds when it is not false: TRUE or NULL.
		pred, err := w.compilePredicate(&planner.Not{X: k.Pred}, cols)
		if err != nil {
			c.Close() //nolint:errcheck // nothing was read
			return nil, err
		}
		c.checks = append(c.checks, check{table, k.Name, pred})
	}
	if returning == nil {
		return c, nil
	}
	var exprs []planner.Expr
	var outs []planner.ColDef
	for _, r := range returning {
		exprs = append(exprs, r.Expr)
		outs = append(outs, r.Col)
	}
	var err error
	if c.returning, err = w.compile(exprs, cols); err != nil {
		c.Close() //nolint:errcheck // nothing was read
		return nil, err
	}
	c.returned, c.under = newRowStore(w.q.env.Memory, outs), w.ground(input)
	return c, nil
}

// Next implements Operator.
func (c *change) Next(ctx context.Context) (*arrow.Batch, error) {
	if c.done || shared(c.w.q, changing{c.input}, func() *change { return c }) != c {
		return nil, nil
	}
	c.done = true
	if err := c.do(ctx, c); err != nil {
		return nil, err
	}
	if c.returned != nil {
		if c.returned.n == 0 {
			return nil, nil
		}
		return c.returned.all(), nil
	}
	p, err := c.slab.Reserve(c.w.q.env.Memory, 8)
	if err != nil {
		return nil, err
	}
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(c.count))
	if err := c.w.stream.Upload(p, n[:]); err != nil {
		return nil, err
	}
	c.out = arrow.Batch{Rows: 1, Columns: []arrow.Column{{Type: sqltype.Int64, Vec: kernels.Vec{Data: p}}}}
	return &c.out, nil
}

// Close implements Operator.
func (c *change) Close() error {
	for _, k := range c.checks {
		k.violated.close()
	}
	c.checks = nil
	c.returning.close()
	if c.returned != nil {
		c.returned.release()
		c.returned = nil
	}
	c.under.drop()
	c.slab.Release()
	return nil
}

// checkRows applies the CHECK constraints to rows to be.
func (c *change) checkRows(b *arrow.Batch) error {
	for _, k := range c.checks {
		n, err := k.violated.pick(b)
		if err != nil {
			return err
		}
		if n > 0 {
			return sqltype.Errorf(sqltype.CodeCheck, "new row for table %q violates check constraint %q", k.table, k.name)
		}
	}
	return nil
}

// giveBack adds rows to what RETURNING gives.
func (c *change) giveBack(b *arrow.Batch) error {
	if c.returned == nil {
		return nil
	}
	r, err := c.returning.run(b)
	if err != nil {
		return err
	}
	return c.under.keep(c.returned, r)
}

// collected is the input, read to its end: a change must not see itself.
func (c *change) collected(ctx context.Context) (*rowStore, error) {
	rows := &cteRows{}
	if err := c.w.run(ctx, c.input, rows.collect(c.input, c.input)); err != nil {
		rows.release()
		return nil, err
	}
	if len(rows.stores) == 0 {
		return newRowStore(c.w.q.env.Memory, c.input.Cols()), nil
	}
	g := c.w.ground(c.input)
	defer g.drop()
	all := rows.stores[0]
	for _, s := range rows.stores[1:] {
		if err := g.keep(all, s.all()); err != nil {
			rows.release()
			return nil, err
		}
		s.release()
	}
	return all, nil
}

// rowIDs brings the first column of rows to the host.
func (c *change) rowIDs(rows *rowStore) ([]int64, error) {
	ids := make([]int64, rows.n)
	if rows.n == 0 {
		return ids, nil
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(ids))), 8*len(ids))
	return ids, c.w.stream.Download(raw, rows.column(0).Vec.Data)
}

func newInsert(w *worker, n *planner.Insert) (Operator, error) {
	if n.Conflict != nil {
		return newUpsert(w, n)
	}
	c, err := newChange(w, n.Input, n.Table.Name, n.Checks, n.Returning, n.Columns)
	if err != nil {
		return nil, err
	}
	c.do = func(ctx context.Context, c *change) error { return c.insert(ctx, n) }
	return c, nil
}

// insert adds the input's rows batch by batch: a statement does not see what it
// inserts itself.
func (c *change) insert(ctx context.Context, n *planner.Insert) error {
	in, err := c.w.buildTop(n.Input)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was read to its end, or the error is known
	row := newTableRow(n)
	for {
		b, err := in.Next(ctx)
		if b == nil || err != nil {
			return err
		}
		b = row.of(b)
		if err := c.checkRows(b); err != nil {
			return err
		}
		if _, err := c.w.q.env.Data.Insert(ctx, c.w.stream, n.Table, b); err != nil {
			return err
		}
		c.count += int64(b.Rows)
		if err := c.giveBack(b); err != nil {
			return err
		}
	}
}

// tableRow puts an input's columns into the table's order.
type tableRow struct {
	order []int
	out   arrow.Batch
}

func newTableRow(n *planner.Insert) *tableRow {
	r := &tableRow{order: make([]int, len(n.Table.Columns)), out: arrow.Batch{Columns: make([]arrow.Column, len(n.Table.Columns))}}
	for i := range n.Table.Columns {
		at := slices.Index(n.Target, i)
		if at < 0 {
			panic(fmt.Sprintf("exec: INSERT gives no value for column %d of %s", i, n.Table.Name))
		}
		r.order[i] = at
	}
	return r
}

func (r *tableRow) of(b *arrow.Batch) *arrow.Batch {
	r.out.Rows = b.Rows
	for i, at := range r.order {
		r.out.Columns[i] = b.Columns[at]
	}
	return &r.out
}

func newUpdate(w *worker, n *planner.Update) (Operator, error) {
	c, err := newChange(w, n.Input, n.Table.Name, n.Checks, n.Returning, n.Columns)
	if err != nil {
		return nil, err
	}
	c.do = func(ctx context.Context, c *change) error { return c.update(ctx, n) }
	return c, nil
}

// update replaces rows, all at once: uniqueness holds at the statement's end.
func (c *change) update(ctx context.Context, n *planner.Update) error {
	rows, err := c.collected(ctx)
	if err != nil {
		return err
	}
	defer rows.release()
	if rows.n == 0 {
		return nil
	}
	ids, err := c.rowIDs(rows)
	if err != nil {
		return err
	}
	b := rows.all()
	b.Columns = b.Columns[1:]
	if err := c.checkRows(b); err != nil {
		return err
	}
	if c.count, err = c.w.q.env.Data.Update(ctx, c.w.stream, n.Table, ids, b); err != nil {
		return err
	}
	return c.giveBack(b)
}

func newDelete(w *worker, n *planner.Delete) (Operator, error) {
	c, err := newChange(w, n.Input, n.Table.Name, nil, n.Returning, n.Columns)
	if err != nil {
		return nil, err
	}
	c.do = func(ctx context.Context, c *change) error { return c.delete(ctx, n) }
	return c, nil
}

func (c *change) delete(ctx context.Context, n *planner.Delete) error {
	rows, err := c.collected(ctx)
	if err != nil {
		return err
	}
	defer rows.release()
	if rows.n == 0 {
		return nil
	}
	ids, err := c.rowIDs(rows)
	if err != nil {
		return err
	}
	if c.returned != nil {
		b := rows.all()
		b.Columns = b.Columns[1:]
		if err := c.giveBack(b); err != nil {
			return err
		}
	}
	c.count, err = c.w.q.env.Data.Delete(ctx, c.w.stream, n.Table, ids)
	return err
}
