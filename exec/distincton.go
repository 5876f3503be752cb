package exec

import (
	"context"

	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// distinctOn keeps the first row of each group, by the input's order: one
// worker does it.
type distinctOn struct {
	w      *worker
	n      *planner.DistinctOn
	in     Operator
	on     *expressions
	groups *rowGroups
	out    gathered
}

func newDistinctOn(w *worker, n *planner.DistinctOn) (Operator, error) {
	o := &distinctOn{w: w, n: n, out: gathered{mem: w.q.env.Memory}}
	var err error
	if o.on, err = w.compile(n.On, n.Input.Cols()); err != nil {
		return nil, err
	}
	return o, nil
}

// Next implements Operator.
func (o *distinctOn) Next(ctx context.Context) (*arrow.Batch, error) {
	if o.groups == nil {
		if !o.w.q.claim(o.n, o) {
			return nil, nil
		}
		cols := make([]planner.ColDef, len(o.n.On))
		for i, e := range o.n.On {
			cols[i].Type = e.Type()
		}
		o.groups = newRowGroups(o.w, o.n, cols)
		var err error
		if o.in, err = o.w.buildTop(o.n.Input); err != nil {
			return nil, err
		}
	}
	for {
		b, err := o.in.Next(ctx)
		if b == nil || err != nil {
			return nil, err
		}
		keys, err := o.on.run(b)
		if err != nil {
			return nil, err
		}
		n, err := o.groups.choose(keys, kernels.PickFresh)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			continue
		}
		o.out.reset(len(b.Columns), n)
		for i, c := range b.Columns {
			if err := o.out.pick(o.w.stream, i, c, o.groups.index.Ptr(), n); err != nil {
				return nil, err
			}
		}
		return &o.out.out, nil
	}
}

// Close implements Operator.
func (o *distinctOn) Close() error {
	o.on.close()
	o.out.release()
	if o.groups != nil {
		o.groups.release()
	}
	if o.in == nil {
		return nil
	}
	in := o.in
	o.in = nil
	return in.Close()
}
