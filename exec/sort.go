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

	runs  *sortRuns // on disk
	merge *runMerger
	left  int64 // rows to be given of merge
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
	if o.merge != nil {
		return o.merged(ctx)
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
	var to spiller
	if o.w.q.env.Spill != nil {
		o.runs = newSortRuns(o.node, o.keys, len(o.keys), o.in)
		to = o.runs
	}
	rows, err := collect(ctx, o.w, o.in, o.keys, wanted{keep: keep, top: o.top}, to)
	o.rows = rows
	if err != nil {
		return err
	}
	if o.runs.spilled() {
		if o.merge, err = o.runs.merged(ctx, o.w); err != nil {
			return err
		}
		o.left = limit
		return o.merge.skip(ctx, skip)
	}
	if rows.n == 0 {
		return nil
	}
	by, _ := sortPlaces(o.keys, len(o.keys), o.in)
	if err := sortRows(o.w, rows, by, &o.order); err != nil {
		return err
	}
	o.at = int(min(skip, int64(rows.n)))
	o.end = o.at + int(min(limit, int64(rows.n-o.at)))
	return nil
}

// merged gives rows of the runs.
func (o *sorter) merged(ctx context.Context) (*arrow.Batch, error) {
	if o.left <= 0 {
		return nil, nil
	}
	b, err := o.merge.next(ctx, int(min(o.left, int64(o.w.q.batchRows))), len(o.in.Cols()))
	if b == nil || err != nil {
		return nil, err
	}
	o.left -= int64(b.Rows)
	return b, nil
}

// Close implements Operator.
func (o *sorter) Close() error {
	o.merge.release()
	o.runs.release()
	o.merge, o.runs = nil, nil
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

// wanted is which rows of a node are wanted; those that are not may be left out.
type wanted struct {
	keep int       // that may be among the first keep; negative: all
	top  *topBound // is told the last one's key, if not nil
	of   *planner.Window

	inOrder bool // one worker reads them in their order
}

// allRows wants all of them.
var allRows = wanted{keep: -1}

// collect reads n by as many workers as pay into one store: its columns, and
// after them the keys that are not among these. Unless to is nil it takes the
// rows when memory has no room for them: all of them, or none.
func collect(ctx context.Context, w *worker, n planner.Node, keys []planner.SortKey, want wanted, to spiller) (*rowStore, error) {
	_, extra := keyPlace(keys, n)
	var mu sync.Mutex
	var parts []*rowStore
	width := w.q.width(n)
	if want.inOrder {
		width = 1
	}
	err := w.runWide(ctx, n, width, func(ctx context.Context, w *worker, op Operator) error {
		c, err := newCollector(w, n, keys, extra, want)
		if err != nil {
			return err
		}
		if to != nil {
			c.over, c.claim = to.overflow(w), w.claim()
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
	if err == nil && to != nil && to.spilled() {
		over := to.overflow(w)
		defer over.release()
		for _, p := range parts {
			if err == nil {
				err = over.write(ctx, p)
			}
			p.release()
		}
		if err == nil {
			err = over.finish()
		}
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
	want  wanted
	first *partitionTop
	cols  []planner.ColDef
	exprs *expressions
	rows  *rowStore
	order arrow.Slab
	both  arrow.Batch
	over  overflow // nil: all rows are kept
	claim claim
}

func newCollector(w *worker, in planner.Node, keys []planner.SortKey, extra []planner.Expr, want wanted) (*collector, error) {
	c := &collector{w: w, in: in, keys: keys, want: want, cols: slices.Clone(in.Cols())}
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
	if want.of != nil {
		c.first = newPartitionTop(w, want.of, keys)
	}
	return c, nil
}

func (c *collector) read(ctx context.Context, op Operator) error {
	for {
		b, err := op.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			if c.over != nil {
				err = c.over.finish()
			}
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
		if all, err = c.first.pick(c.w, all); err != nil {
			return err
		}
		if err := c.rows.add(c.w.stream, all); err != nil {
			return err
		}
		if c.want.keep >= 0 && c.rows.n > 2*c.want.keep+c.spare() {
			if err := c.cut(); err != nil {
				return err
			}
		}
		if c.over != nil && !c.claim.ask(c.rows.held(), c.need()) {
			if err := c.over.write(ctx, c.rows); err != nil {
				return err
			}
		}
	}
}

// spare is how many rows are let come before a cut. The first cut is what gives a
// scan its bound, so it is soon where there is one to be told.
func (c *collector) spare() int {
	if c.want.top != nil {
		return c.w.q.batchRows / 4
	}
	return 4 * c.w.q.batchRows
}

// need is the memory for one more batch, for what is done with the rows, and for
// putting them together with those of other workers.
func (c *collector) need() int64 {
	n := c.rows.grows(c.w.q.batchRows) + c.over.need(c.rows.n)
	if c.w.q.workers > 1 && !c.over.begun() {
		n += c.rows.held()
	}
	return n
}

// cut drops all but the first keep rows.
func (c *collector) cut() error {
	by, _ := sortPlaces(c.keys, len(c.keys), c.in)
	if err := sortRows(c.w, c.rows, by, &c.order); err != nil {
		return err
	}
	idx := c.order.Ptr()
	g := gathered{mem: c.w.q.env.Memory}
	defer g.release()
	g.reset(len(c.cols), c.want.keep)
	for i := range c.cols {
		if err := g.pick(c.w.stream, i, c.rows.column(i), idx, c.want.keep); err != nil {
			return err
		}
	}
	rows := newRowStore(c.w.q.env.Memory, c.cols)
	if err := rows.add(c.w.stream, &g.out); err != nil {
		rows.release()
		return err
	}
	if c.want.top != nil {
		place, _ := keyPlace(c.keys, c.in)
		last := c.rows.column(place[0])
		g.reset(1, 1)
		if err := g.pick(c.w.stream, 0, last, idx+device.Ptr(4*(c.want.keep-1)), 1); err != nil {
			rows.release()
			return err
		}
		d, err := c.w.datum(&g.out.Columns[0])
		if err != nil {
			rows.release()
			return err
		}
		c.want.top.note(d)
	}
	c.rows.release()
	c.rows = rows
	return nil
}

func (c *collector) close() {
	c.claim.drop()
	if c.over != nil {
		c.over.release()
	}
	c.exprs.close()
	c.first.release()
	c.order.Release()
}

// sortRows writes the order of a store's rows to order.
func sortRows(w *worker, rows *rowStore, by []sortPlace, order *arrow.Slab) error {
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
	return kernels.Sort(w.stream, sortColumns(rows, by), rows.n, idx, tmp)
}
