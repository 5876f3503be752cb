package exec

import (
	"context"
	"errors"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
)

// folding is an aggregate over a scan, on a device that runs both as one launch
// a morsel: the rows that pass the filter are added to their groups where they
// are read.
type folding struct {
	o     *aggregate
	scan  *scan
	reads []int // offsets in the scan's columns that the program reads
	fold  *kernels.Fold
	table *aggTable
	vecs  []kernels.Vec
}

// foldScan aggregates a scan that way. False: it cannot, or a row of it has no
// value, and nothing was done.
func (o *aggregate) foldScan(ctx context.Context) (done bool, err error) {
	n, ok := o.n.Input.(*planner.Scan)
	spec := o.state.spec
	if !ok || o.w.q.env.Mirror == nil || n.Access != nil || n.AsOf != nil || len(spec.sets) != 1 || len(spec.collects) > 0 {
		return false, nil
	}
	for _, st := range spec.states {
		if st.distinct || st.second >= 0 {
			return false, nil
		}
	}
	f, err := newFolding(o, n)
	if f == nil || err != nil {
		return false, err
	}
	defer f.close()
	rows, err := f.run(ctx)
	if err == nil && f.fold.Failed() {
		err = kernels.ErrNotFolded
	}
	if err != nil {
		f.table.release()
		if errors.Is(err, kernels.ErrNotFolded) {
			err = nil
		}
		return false, err
	}
	if s := o.w.q.env.Stats; s != nil {
		s.Node(n).Rows.Add(int64(rows))
	}
	o.w.q.onClose(f.table.release)
	o.state.tables = append(o.state.tables, f.table)
	return true, f.table.settle(ctx, o.w.stream)
}

func newFolding(o *aggregate, n *planner.Scan) (*folding, error) {
	w, spec := o.w, o.state.spec
	snap, err := w.snap(n)
	if err != nil {
		return nil, err
	}
	s := scanOf(w, n)
	s.state = s.newState(snap)
	if len(s.joins.from.all) > 0 {
		return nil, s.Close()
	}
	exprs, cond := spec.exprs, -1
	p, err := w.q.env.compileWhere(n.Filter, exprs, s.all)
	if err != nil {
		return nil, s.Close() // whoever runs it row by row says so
	}
	if n.Filter != nil {
		cond = len(exprs)
	}
	states := make([]kernels.FoldState, len(spec.states))
	for i, st := range spec.states {
		states[i] = kernels.FoldState{Agg: st.agg, Arg: st.arg, Filter: st.filter}
	}
	fold, err := kernels.NewFold(p, cond, spec.sets[0], states, w.q.env.Memory)
	if err != nil {
		if errors.Is(err, kernels.ErrNotFolded) {
			err = nil
		}
		return nil, errors.Join(err, s.Close())
	}
	f := &folding{o: o, scan: s, fold: fold, table: newAggTable(w.q.env, spec, spec.sets[0]), vecs: make([]kernels.Vec, len(s.all))}
	for _, in := range p.Inputs {
		f.reads = append(f.reads, in.Column)
	}
	return f, nil
}

// run folds all morsels, and gives how many rows passed.
func (f *folding) run(ctx context.Context) (rows int, err error) {
	stream := f.o.w.stream
	for {
		if err := ctx.Err(); err != nil {
			return rows, err
		}
		r, lo, hi := f.scan.state.take(f.o.w.q.batchRows)
		if r == nil {
			n, err := f.fold.Flush(stream, f.add)
			return rows + n, err
		}
		bits, seen, err := f.scan.seen(r, lo, hi)
		if err != nil {
			return rows, err
		}
		if seen == 0 {
			continue
		}
		if seen == hi-lo {
			bits = 0
		}
		for _, i := range f.reads {
			c, err := f.scan.column(r, i, lo, hi-lo)
			if err != nil {
				return rows, err
			}
			f.vecs[i] = c.Vec
		}
		if f.fold.Changes(f.vecs) {
			n, err := f.fold.Flush(stream, f.add)
			if err != nil {
				return rows, err
			}
			rows += n
		}
		if err := f.fold.Run(stream, f.vecs, hi-lo, bits); err != nil {
			return rows, err
		}
	}
}

// add takes groups over into the table.
func (f *folding) add(keys []kernels.Vec, n int, states []device.Ptr, rows device.Ptr) error {
	s, t := f.o.w.stream, f.table
	ids, err := t.find(s, keys, n)
	if err != nil {
		return err
	}
	for i, from := range states {
		if err := t.spec.states[i].agg.Merge(s, t.states[i].Ptr(), from, rows, ids, n, t.heap); err != nil {
			return err
		}
	}
	return nil
}

func (f *folding) close() {
	f.fold.Release()
	f.scan.Close() //nolint:errcheck // it has memory alone
}

// compileWhere is Compile for expressions that are only needed where cond is
// true, which is the last result; nil: everywhere.
func (env *Env) compileWhere(cond planner.Expr, exprs []planner.Expr, input []planner.ColDef) (*kernels.Program, error) {
	c := env.compiler(input)
	c.where = cond
	return compileAll(c, exprs)
}
