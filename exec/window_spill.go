package exec

import (
	"context"

	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/storage/arrow"
)

// A window whose input memory has no room for sorts it on disk, and is computed
// for some partitions at a time, as they come in order:
//
//	runs ── merged ──▶ rows: partition │ partition │ partition begun
//	                         └────── computed ─────┘└─ kept for the next piece
//
// A partition that is too large for that is kept in mapped memory.

// piece makes o.rows the next partitions that are whole, none at the end.
func (o *window) piece(ctx context.Context) error {
	env := o.w.q.env
	o.mem, o.at = env.Memory, 0
	if o.rows != nil {
		o.rows.release()
	}
	o.rows, o.rest = o.rest, nil
	if o.rows == nil {
		o.rows = newRowStore(env.Memory, o.runs.cols)
	}
	whole, err := o.fill(ctx)
	if err != nil || o.rows.n == 0 {
		return err
	}
	if whole < o.rows.n {
		o.rest = newRowStore(env.Memory, o.runs.cols)
		if err := o.copyRows(o.rest, whole); err != nil {
			return err
		}
		o.rows.n = whole
	}
	idx, err := o.order.Reserve(o.mem, 4*whole)
	if err != nil {
		return err
	}
	o.x.Rows = idx
	if err := kernels.Numbers(o.w.stream, idx, whole); err != nil {
		return err
	}
	return o.prepare()
}

// fill reads until memory is full and a partition is whole, and gives how many
// rows are in whole ones.
func (o *window) fill(ctx context.Context) (whole int, err error) {
	env := o.w.q.env
	defer o.claim.drop()
	for {
		b, err := o.merge.next(ctx, o.w.q.batchRows, len(o.runs.cols))
		if err != nil {
			return 0, err
		}
		if b == nil {
			o.ended = true
			return o.rows.n, nil
		}
		from := o.rows.n
		if err := o.rows.add(o.w.stream, b); err != nil {
			return 0, err
		}
		start, err := o.lastStart(from)
		if err != nil {
			return 0, err
		}
		whole = max(whole, start)
		if o.mem != env.Memory {
			if whole > 0 {
				return whole, nil
			}
			continue
		}
		n := int64(o.rows.n)
		if o.claim.ask(o.rows.held(), o.rows.held()+o.rows.grows(o.w.q.batchRows)+n*(4+o.runs.perRow)) {
			continue
		}
		if whole > 0 {
			return whole, nil
		}
		o.mem = env.Spill.Area
		large := newRowStore(o.mem, o.runs.cols)
		small := o.rows
		err = o.copyRows(large, 0)
		o.rows = large
		small.release()
		if err != nil {
			return 0, err
		}
	}
}

// copyRows adds the rows from row from on to a store.
func (o *window) copyRows(to *rowStore, from int) error {
	cut := slicer{mem: o.w.q.env.Memory}
	defer cut.release()
	all := o.rows.all()
	return kernels.Pieces(o.w.stream, o.rows.n-from, func(lo, hi int) error {
		b, err := cut.batch(o.w.stream, all, from+lo, from+hi)
		if err != nil {
			return err
		}
		return to.add(o.w.stream, b)
	})
}

// lastStart is where the last partition begins that begins behind row from, 0 if
// none does.
func (o *window) lastStart(from int) (int, error) {
	mem, s := o.w.q.env.Memory, o.w.stream
	from = max(0, from-1)
	n := o.rows.n - from
	cut := slicer{mem: mem}
	defer cut.release()
	var slabs [2]arrow.Slab
	defer slabs[0].Release()
	defer slabs[1].Release()
	var x kernels.WindowIndex
	var err error
	if x.Rows, err = slabs[0].Reserve(mem, 4*n); err != nil {
		return 0, err
	}
	if x.Group, err = slabs[1].Reserve(mem, 4*n); err != nil {
		return 0, err
	}
	if err := kernels.Numbers(s, x.Rows, n); err != nil {
		return 0, err
	}
	parts := sortColumns(o.rows, o.runs.by[:len(o.n.Partition)])
	for i := range parts {
		c, err := cut.column(s, i, o.rows.column(o.runs.by[i].col), from, o.rows.n)
		if err != nil {
			return 0, err
		}
		parts[i].Vec = c.Vec
	}
	if err := x.Mark(s, parts, nil, 0, n); err != nil {
		return 0, err
	}
	at, err := x.LastStart(s, n)
	if at == 0 || err != nil {
		return 0, err
	}
	return from + at, nil
}
