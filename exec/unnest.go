package exec

import (
	"context"
	"slices"

	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// unnest gives the rows of its input once for each element of their lists.
type unnest struct {
	w     *worker
	n     *planner.Unnest
	in    Operator
	lists *expressions
	cur   *arrow.Batch // the input's batch, of which at goes through the lists
	at    kernels.Unnest
	rows  arrow.Slab
	heap  *kernels.Heap
	out   gathered // the input's columns, the elements and their numbers
}

func newUnnest(w *worker, n *planner.Unnest) (Operator, error) {
	in, err := w.build(n.Input)
	if err != nil {
		return nil, err
	}
	u := &unnest{w: w, n: n, in: in, heap: kernels.NewHeap(w.q.env.Memory), out: gathered{mem: w.q.env.Memory}}
	if u.lists, err = w.compile(n.Lists, n.Input.Cols()); err != nil {
		in.Close() //nolint:errcheck // nothing was read
		return nil, err
	}
	return u, nil
}

// Next implements Operator.
func (u *unnest) Next(ctx context.Context) (*arrow.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if u.cur == nil {
			b, err := u.in.Next(ctx)
			if b == nil || err != nil {
				return nil, err
			}
			if err := u.begin(b); err != nil {
				return nil, err
			}
		}
		n, err := u.give()
		if err != nil {
			return nil, err
		}
		if n > 0 {
			return &u.out.out, nil
		}
		u.cur = nil
	}
}

// begin computes the lists of a batch.
func (u *unnest) begin(b *arrow.Batch) error {
	x, err := u.lists.run(b)
	if err != nil {
		return err
	}
	u.at = kernels.Unnest{N: b.Rows}
	for _, c := range x.Columns {
		u.at.Lists = append(u.at.Lists, kernels.ListColumn{Vec: c.Vec, Type: c.Type})
	}
	// The batch that an input lends may be its own and change under us.
	u.cur = &arrow.Batch{Rows: b.Rows, Columns: slices.Clone(b.Columns)}
	return nil
}

// give makes the next batch, and says how many rows it has.
func (u *unnest) give() (int, error) {
	most, mem := u.w.q.batchRows, u.w.q.env.Memory
	inputs := len(u.cur.Columns)
	u.out.reset(inputs+len(u.n.Columns)+1, most)
	rows, err := u.rows.Reserve(mem, 4*most)
	if err != nil {
		return 0, err
	}
	u.heap.Reset()
	to := kernels.Unnested{Rows: rows, Heap: u.heap}
	for i, c := range u.n.Columns {
		col := arrow.Column{Type: c.Type, Vec: kernels.Vec{Valid: 1}} // any address but 0: a bitmap is wanted
		if col.Vec, err = u.out.room(inputs+i, col, most); err != nil {
			return 0, err
		}
		to.Values = append(to.Values, col.Vec)
		u.out.out.Columns[inputs+i] = col
	}
	last := inputs + len(u.n.Columns)
	number := arrow.Column{Type: sqltype.Int64}
	if number.Vec, err = u.out.room(last, number, most); err != nil {
		return 0, err
	}
	u.out.out.Columns[last], to.Numbers = number, number.Vec.Data
	n, err := u.at.Next(u.w.stream, most, to)
	if n == 0 || err != nil {
		return 0, err
	}
	for i, c := range u.cur.Columns {
		if err := u.out.pick(u.w.stream, i, c, rows, n); err != nil {
			return 0, err
		}
	}
	u.out.out.Rows = n
	if u.n.Number == nil {
		u.out.out.Columns = u.out.out.Columns[:last]
	}
	return n, nil
}

// Close implements Operator.
func (u *unnest) Close() error {
	u.lists.close()
	u.rows.Release()
	u.heap.Release()
	u.out.release()
	return u.in.Close()
}
