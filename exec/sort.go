package exec

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// sorter reads its input whole, sorts it, and gives it in order. With keep it
// is a top-n: what cannot be among the first keep rows is dropped on the way.
type sorter struct {
	w     *worker
	node  planner.Node // which the sorters of other workers have too
	in    planner.Node
	keys  []planner.SortKey
	bound func() (skip, rows int64, err error) // nil: all rows
	top   *topBound                            // nil: nobody asks what the last of the rows is

	rows  *rowStore
	order arrow.Slab // the rows' numbers
	at    int
	end   int
	begun bool
	pick  gathered
}

func newSort(w *worker, n *planner.Sort) (Operator, error) {
	return &sorter{w: w, node: n, in: n.Input, keys: n.Keys, pick: gathered{mem: w.q.env.Memory}}, nil
}

// Next implements Operator.
func (o *sorter) Next(ctx context.Context) (*arrow.Batch, error) {
	if !o.begun {
		if err := o.begin(ctx); err != nil {
			return nil, err
		}
		o.begun = true
	}
	n := min(o.w.q.batchRows, o.end-o.at)
	if n <= 0 {
		return nil, nil
	}
	idx := device.Ptr(o.at * 4)
	base := o.order.Ptr()
	o.at += n
	cols := len(o.in.Cols())
	o.pick.reset(cols, n)
	for i := range cols {
		if err := o.pick.pick(o.w.stream, i, o.rows.column(i), base+idx, n); err != nil {
			return nil, err
		}
	}
	return &o.pick.out, nil
}

// begin reads and sorts.
func (o *sorter) begin(ctx context.Context) error {
	if !o.w.q.claim(o.node, o) {
		return nil
	}
	skip, limit := int64(0), int64(math.MaxInt64)
	if o.bound != nil {
		var err error
		if skip, limit, err = o.bound(); err != nil {
			return err
		}
	}
	keep := -1
	if limit < 1<<30 && skip < 1<<30 {
		keep = int(limit + skip)
	}
	if keep == 0 {
		return nil
	}
	rows, err := collect(ctx, o.w, o.in, o.keys, keep, o.top)
	o.rows = rows
	if err != nil || rows.n == 0 {
		return err
	}
	if err := sortStore(ctx, o.w, rows, o.keys, o.in, &o.order); err != nil {
		return err
	}
	o.at = int(min(skip, int64(rows.n)))
	o.end = o.at + int(min(limit, int64(rows.n-o.at)))
	return nil
}

// Close implements Operator.
func (o *sorter) Close() error {
	if o.rows != nil {
		o.rows.release()
		o.rows = nil
	}
	o.order.Release()
	o.pick.release()
	o.begun, o.at, o.end = true, 0, 0
	return nil
}

// keyPlace is where a sort key is in a store of collect: a column of the input,
// or one after them.
func keyPlace(keys []planner.SortKey, in planner.Node) (place []int, extra []planner.Expr) {
	cols := in.Cols()
	for _, k := range keys {
		at := -1
		if c, ok := k.Expr.(*planner.Col); ok {
			at = slices.IndexFunc(cols, func(d planner.ColDef) bool { return d.ID == c.ID })
		}
		if at < 0 {
			at = len(cols) + len(extra)
			extra = append(extra, k.Expr)
		}
		place = append(place, at)
	}
	return place, extra
}

// collect reads n by as many workers as pay into one store: its columns, and
// after them the keys that are not among these. With keep >= 0 only rows that
// may be among the first keep are sure to be there, and top, if not nil, is told
// the last one's key.
func collect(ctx context.Context, w *worker, n planner.Node, keys []planner.SortKey, keep int, top *topBound) (*rowStore, error) {
	_, extra := keyPlace(keys, n)
	var mu sync.Mutex
	var parts []*rowStore
	err := w.run(ctx, n, func(ctx context.Context, w *worker, op Operator) error {
		c, err := newCollector(w, n, keys, extra, keep, top)
		if err != nil {
			return err
		}
		defer c.close()
		mu.Lock()
		parts = append(parts, c.rows)
		at := len(parts) - 1
		mu.Unlock()
		err = c.read(ctx, op)
		mu.Lock()
		parts[at] = c.rows // a cut may have replaced it
		mu.Unlock()
		return err
	})
	if len(parts) == 0 {
		return newRowStore(w.q.env.Memory, n.Cols()), err
	}
	for _, p := range parts[1:] {
		if err == nil {
			err = parts[0].take(w.stream, p)
		}
		p.release()
	}
	return parts[0], err
}

// collector is one worker's part of collect.
type collector struct {
	w     *worker
	in    planner.Node
	keys  []planner.SortKey
	keep  int
	top   *topBound
	cols  []planner.ColDef
	exprs *expressions
	rows  *rowStore
	order arrow.Slab
	both  arrow.Batch
}

func newCollector(w *worker, in planner.Node, keys []planner.SortKey, extra []planner.Expr, keep int, top *topBound) (*collector, error) {
	c := &collector{w: w, in: in, keys: keys, keep: keep, top: top, cols: slices.Clone(in.Cols())}
	for _, e := range extra {
		c.cols = append(c.cols, planner.ColDef{Type: e.Type()})
	}
	if len(extra) > 0 {
		x, err := w.compile(extra, in.Cols())
		if err != nil {
			return nil, err
		}
		c.exprs = x
	}
	c.rows = newRowStore(w.q.env.Memory, c.cols)
	return c, nil
}

func (c *collector) read(ctx context.Context, op Operator) error {
	for {
		b, err := op.Next(ctx)
		if b == nil || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		all := b
		if c.exprs != nil {
			x, err := c.exprs.run(b)
			if err != nil {
				return err
			}
			c.both.Rows = b.Rows
			c.both.Columns = append(append(c.both.Columns[:0], b.Columns...), x.Columns...)
			all = &c.both
		}
		if err := c.rows.add(c.w.stream, all); err != nil {
			return err
		}
		if c.keep >= 0 && c.rows.n > 2*c.keep+c.spare() {
			if err := c.cut(ctx); err != nil {
				return err
			}
		}
	}
}

// spare is how many rows are let come before a cut. The first cut is what gives a
// scan its bound, so it is soon where there is one to be told.
func (c *collector) spare() int {
	if c.top != nil {
		return c.w.q.batchRows / 4
	}
	return 4 * c.w.q.batchRows
}

// cut drops all but the first keep rows.
func (c *collector) cut(ctx context.Context) error {
	if err := sortStore(ctx, c.w, c.rows, c.keys, c.in, &c.order); err != nil {
		return err
	}
	idx := c.order.Ptr()
	g := gathered{mem: c.w.q.env.Memory}
	defer g.release()
	g.reset(len(c.cols), c.keep)
	for i := range c.cols {
		if err := g.pick(c.w.stream, i, c.rows.column(i), idx, c.keep); err != nil {
			return err
		}
	}
	rows := newRowStore(c.w.q.env.Memory, c.cols)
	if err := rows.add(c.w.stream, &g.out); err != nil {
		rows.release()
		return err
	}
	if c.top != nil {
		place, _ := keyPlace(c.keys, c.in)
		last := c.rows.column(place[0])
		g.reset(1, 1)
		if err := g.pick(c.w.stream, 0, last, idx+device.Ptr(4*(c.keep-1)), 1); err != nil {
			rows.release()
			return err
		}
		d, err := c.w.datum(&g.out.Columns[0])
		if err != nil {
			rows.release()
			return err
		}
		c.top.note(d)
	}
	c.rows.release()
	c.rows = rows
	return nil
}

func (c *collector) close() {
	c.exprs.close()
	c.order.Release()
}

// sortStore writes the order of a store of collect to order.
func sortStore(ctx context.Context, w *worker, rows *rowStore, keys []planner.SortKey, in planner.Node, order *arrow.Slab) error {
	place, _ := keyPlace(keys, in)
	cols := make([]kernels.SortColumn, len(keys))
	for i, k := range keys {
		c := rows.column(place[i])
		cols[i] = kernels.SortColumn{Vec: c.Vec, Phys: c.Type.Phys(), Desc: k.Desc, NullsFirst: k.NullsFirst}
	}
	idx, err := order.Reserve(w.q.env.Memory, rows.n*4)
	if err != nil {
		return err
	}
	var scratch arrow.Slab
	defer scratch.Release()
	tmp, err := scratch.Reserve(w.q.env.Memory, kernels.SortBytes(rows.n))
	if err != nil {
		return err
	}
	return kernels.Sort(w.stream, cols, rows.n, idx, tmp)
}
