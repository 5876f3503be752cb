package exec

import (
	"context"
	"sync"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// aggregate groups its input. Every worker that reads fills tables of its own,
// which are merged; the groups are then given out in runs, to the operators of
// all workers.
type aggregate struct {
	w     *worker
	n     *planner.Aggregate
	state *aggShared
	keys  keyBatch
	data  []arrow.Slab
	valid []arrow.Slab
	out   arrow.Batch

	own   *aggTable // of what was spilled: a part, of which rows up to at were given
	at    int
	claim claim
}

// aggShared is what the aggregates of all workers share.
type aggShared struct {
	once once
	spec *aggSpec

	mu     sync.Mutex
	tables []*aggTable // by grouping set, of each one or several with different groups
	table  int         // what is given out next
	at     int
	spilt  aggSpilt
}

func newAggregate(w *worker, n *planner.Aggregate) (Operator, error) {
	spec, err := newAggSpec(n)
	if err != nil {
		return nil, err
	}
	state := shared(w.q, n, func() *aggShared { return &aggShared{spec: spec} })
	return &aggregate{w: w, n: n, state: state, claim: w.claim()}, nil
}

// Next implements Operator.
func (o *aggregate) Next(ctx context.Context) (*arrow.Batch, error) {
	if err := o.state.once.do(func() error { return o.build(ctx) }); err != nil {
		return nil, err
	}
	rows := max(64, o.w.q.batchRows&^63)
	if o.state.spilt.any {
		return o.nextSpilt(ctx, rows)
	}
	table, lo, hi := o.state.take(rows)
	if lo == hi {
		return nil, nil
	}
	return o.give(o.state.tables[table], lo, hi)
}

// build reads the input.
func (o *aggregate) build(ctx context.Context) error {
	st := o.state
	if done, err := o.foldScan(ctx); done || err != nil {
		return err
	}
	var parts [][]*aggTable
	o.w.q.onClose(func() {
		for _, tables := range parts {
			for _, t := range tables {
				t.release()
			}
		}
		st.spilt.files.release()
	})
	width := o.w.q.width(o.n.Input)
	if st.spec.inOrder {
		width = 1
	}
	err := o.w.runWide(ctx, o.n.Input, width, func(ctx context.Context, w *worker, op Operator) error {
		tables := make([]*aggTable, len(st.spec.sets))
		for i, set := range st.spec.sets {
			tables[i] = newAggTable(w.q.env, st.spec, set)
		}
		st.mu.Lock()
		parts = append(parts, tables)
		st.mu.Unlock()
		return o.fill(ctx, w, op, tables)
	})
	if err != nil {
		return err
	}
	if st.spilt.any {
		return o.spillRest(ctx, parts)
	}
	for i := range st.spec.sets {
		var of []*aggTable
		for _, p := range parts {
			of = append(of, p[i])
		}
		tables, err := o.merge(ctx, of, func(t *aggTable) { parts = append(parts, []*aggTable{t}) })
		if err != nil {
			return err
		}
		st.tables = append(st.tables, tables...)
	}
	for _, t := range st.tables {
		if err := t.settle(ctx, o.w.stream); err != nil {
			return err
		}
	}
	return nil
}

// merge makes one table of those that the workers filled, or several that have
// the groups of a part of all hashes each, and are told to made.
func (o *aggregate) merge(ctx context.Context, tables []*aggTable, made func(*aggTable)) ([]*aggTable, error) {
	spec, all := o.state.spec, 0
	for _, t := range tables {
		all += t.len()
	}
	if done, err := o.mergeDistinct(ctx, tables); done || err != nil {
		return tables[:1], err
	}
	// Two workers would read each other's groups for what one does as soon.
	if len(tables) <= 2 || all < 2*kernels.PieceItems(o.w.stream) || !tables[0].splits() {
		for _, t := range tables[1:] {
			if err := tables[0].merge(o.w.stream, t, 0, 1); err != nil {
				return nil, err
			}
			t.release()
		}
		return tables[:1], nil
	}
	out := make([]*aggTable, len(tables))
	for i := range out {
		out[i] = newAggTable(o.w.q.env, spec, tables[0].set)
		made(out[i])
	}
	err := o.w.share(ctx, len(out), func(_ context.Context, w *worker, i int) error {
		for _, t := range tables {
			if err := out[i].merge(w.stream, t, i, len(out)); err != nil {
				return err
			}
		}
		return nil
	})
	for _, t := range tables {
		t.release()
	}
	return out, err
}

// fill is one worker's reading.
func (o *aggregate) fill(ctx context.Context, w *worker, op Operator, tables []*aggTable) error {
	exprs, err := w.compile(o.state.spec.exprs, o.n.Input.Cols())
	if err != nil {
		return err
	}
	defer exprs.close()
	over := o.overflow(w, 0)
	defer over.close()
	for {
		b, err := op.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			return over.finish()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		x, err := exprs.run(b)
		if err != nil {
			return err
		}
		for _, t := range tables {
			if err := t.add(w.stream, x); err != nil {
				return err
			}
		}
		if over != nil {
			if err := over.check(ctx, tables); err != nil {
				return err
			}
		}
	}
}

// take gives out the next run of groups.
func (st *aggShared) take(rows int) (table, lo, hi int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for st.table < len(st.tables) {
		n := st.tables[st.table].len()
		if st.at < n {
			table, lo, hi = st.table, st.at, min(n, st.at+rows)
			st.at = hi
			return table, lo, hi
		}
		st.table, st.at = st.table+1, 0
	}
	return 0, 0, 0
}

// give makes the batch of groups lo to hi of a table.
func (o *aggregate) give(t *aggTable, lo, hi int) (*arrow.Batch, error) {
	s, mem, n := o.w.stream, o.w.q.env.Memory, hi-lo
	o.out.Rows, o.out.Columns = n, o.out.Columns[:0]
	for i := range o.n.Groups {
		c := arrow.Column{Type: o.n.Groups[i].Col.Type}
		var err error
		if c.Vec, err = o.room(i, c.Type.Phys(), n); err != nil {
			return nil, err
		}
		at := -1
		for k, g := range t.set {
			if g == i {
				at = k
			}
		}
		if at >= 0 {
			err = t.groups.Key(s, at, lo, hi, c.Vec)
		} else { // not in this set: NULL
			if err = kernels.Zero(s, c.Vec.Data, n*c.Type.Phys().Width()); err == nil {
				err = kernels.Zero(s, c.Vec.Valid, kernels.BitmapBytes(n))
			}
		}
		if err != nil {
			return nil, err
		}
		o.out.Columns = append(o.out.Columns, c)
	}
	for i, f := range o.state.spec.finals {
		c := arrow.Column{Type: o.n.Aggs[i].Col.Type}
		if f.state < 0 {
			o.out.Columns = append(o.out.Columns, t.kept[f.collect].column(lo))
			continue
		}
		var err error
		if c.Vec, err = o.room(len(o.n.Groups)+i, c.Type.Phys(), n); err != nil {
			return nil, err
		}
		a := o.state.spec.states[f.state].agg
		if err := a.Final(s, t.states[f.state].Ptr()+device.Ptr(lo*a.Bytes()), f.final, n, c.Vec); err != nil {
			return nil, err
		}
		o.out.Columns = append(o.out.Columns, c)
	}
	if o.n.Grouping.ID != 0 {
		if err := o.grouping(mem, t.set, n); err != nil {
			return nil, err
		}
	}
	return &o.out, nil
}

// grouping adds the column that says which group columns are not in the set.
func (o *aggregate) grouping(mem device.Allocator, set []int, n int) error {
	var bits int64
	for range o.n.Groups {
		bits = bits<<1 | 1
	}
	for _, g := range set {
		bits &^= 1 << (len(o.n.Groups) - 1 - g)
	}
	vec, err := o.room(len(o.out.Columns), sqltype.PhysI64, n)
	if err != nil {
		return err
	}
	vec.Valid = 0
	o.out.Columns = append(o.out.Columns, arrow.Column{Type: sqltype.Int64, Vec: vec})
	return kernels.Sequence(o.w.stream, vec.Data, bits, 0, n)
}

func (o *aggregate) room(i int, p sqltype.Phys, n int) (v kernels.Vec, err error) {
	for len(o.data) <= i {
		o.data, o.valid = append(o.data, arrow.Slab{}), append(o.valid, arrow.Slab{})
	}
	if v.Data, err = o.data[i].Reserve(o.w.q.env.Memory, n*p.Width()); err != nil {
		return v, err
	}
	v.Valid, err = o.valid[i].Reserve(o.w.q.env.Memory, kernels.BitmapBytes(n))
	return v, err
}

// Close implements Operator.
func (o *aggregate) Close() error {
	for i := range o.data {
		o.data[i].Release()
		o.valid[i].Release()
	}
	o.keys.release()
	o.dropOwn()
	return nil
}
