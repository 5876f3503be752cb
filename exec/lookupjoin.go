package exec

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// lookupJoin finds the partners of each left row through an index of the right
// table, batch by batch.
type lookupJoin struct {
	w     *worker
	n     *planner.Join
	scan  *planner.Scan
	data  Data
	snap  arrow.Snap
	in    Operator
	keys  *expressions
	pred  *predicate // the scan's filter, over what is fetched
	on    *predicate // the join's condition, over both sides
	fetch *fetcher
	flat  flattener

	cur    *arrow.Batch
	at     int
	probes []uint32
	found  index.Found

	left  arrow.Slab // numbers of the left rows of the pairs
	flags arrow.Slab
	index arrow.Slab
	again arrow.Slab
	pairs gathered
	right gathered
	out   gathered
}

func newLookupJoin(w *worker, n *planner.Join) (Operator, error) {
	switch n.Kind {
	case planner.Inner, planner.Left, planner.Semi, planner.Anti:
	default:
		panic(fmt.Sprintf("exec: no lookup join of kind %s", n.Kind))
	}
	mem := w.q.env.Memory
	scan := n.Right.(*planner.Scan)
	j := &lookupJoin{w: w, n: n, scan: scan, flat: flattener{w: w}, pairs: gathered{mem: mem}, right: gathered{mem: mem}, out: gathered{mem: mem}}
	if err := j.open(); err != nil {
		j.Close() //nolint:errcheck // nothing was read
		return nil, err
	}
	return j, nil
}

func (j *lookupJoin) open() (err error) {
	w, n := j.w, j.n
	if j.data, err = w.data(j.scan); err != nil {
		return err
	}
	if j.snap, err = j.data.Snap(j.scan.Table); err != nil {
		return err
	}
	if j.in, err = w.build(n.Left); err != nil {
		return err
	}
	if j.keys, err = w.compile(j.scan.Access.Ranges[0].Prefix, n.Left.Cols()); err != nil {
		return err
	}
	fetched := append(append([]planner.ColDef{}, j.scan.Columns...), j.scan.Fetch...)
	j.fetch = newFetcher(w, j.scan, fetched)
	j.found.Keys = j.fetch.reads()
	if j.scan.Filter != nil {
		if j.pred, err = w.compilePredicate(j.scan.Filter, fetched); err != nil {
			return err
		}
	}
	if n.On != nil {
		both := append(append([]planner.ColDef{}, n.Left.Cols()...), j.scan.Columns...)
		j.on, err = w.compilePredicate(n.On, both)
	}
	return err
}

// Next implements Operator.
func (j *lookupJoin) Next(ctx context.Context) (*arrow.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if j.cur == nil {
			b, err := j.in.Next(ctx)
			if b == nil || err != nil {
				return nil, err
			}
			if err := j.probe(ctx, b); err != nil {
				return nil, err
			}
		}
		for j.at < len(j.found.Rows) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			b, err := j.step()
			if err != nil {
				return nil, err
			}
			if b != nil && (j.n.Kind == planner.Inner || j.n.Kind == planner.Left) {
				return b, nil
			}
		}
		b, err := j.finish()
		if b != nil || err != nil {
			return b, err
		}
	}
}

// probe looks up a left batch.
func (j *lookupJoin) probe(ctx context.Context, b *arrow.Batch) error {
	k, err := j.keys.run(b)
	if err != nil {
		return err
	}
	if err := j.flat.all(k); err != nil {
		return err
	}
	j.cur, j.at = b, 0
	j.found.Reset()
	j.probes, err = j.data.Probe(ctx, j.w.stream, j.scan.Table, j.scan.Access.Index, k.Columns, b.Rows, j.probes[:0], &j.found)
	if err != nil {
		return err
	}
	flags, err := j.flags.Reserve(j.w.q.env.Memory, b.Rows+16) // and a count
	if err != nil {
		return err
	}
	return kernels.Zero(j.w.stream, flags, b.Rows+16)
}

// step makes the batch of the next pairs, and notes the left rows in it.
func (j *lookupJoin) step() (*arrow.Batch, error) {
	s, mem := j.w.stream, j.w.q.env.Memory
	n := min(j.w.q.batchRows, len(j.found.Rows)-j.at)
	right, err := j.fetch.rows(&j.snap, &j.found, j.at, n)
	if err != nil {
		return nil, err
	}
	left, err := j.left.Reserve(mem, 4*n)
	if err != nil {
		return nil, err
	}
	if err := s.Upload(left, unsafe.Slice((*byte)(unsafe.Pointer(&j.probes[j.at])), 4*n)); err != nil {
		return nil, err
	}
	j.at += n
	if j.pred != nil {
		if right, left, n, err = j.picked(j.pred, &j.right, right, left); n == 0 || err != nil {
			return nil, err
		}
	}
	if s := j.w.q.env.Stats; s != nil {
		s.Node(j.scan).Rows.Add(int64(n)) // the scan has no operator of its own
	}
	nl, nr := len(j.n.Left.Cols()), len(j.scan.Columns)
	j.pairs.reset(nl+nr, n)
	for i := range nl {
		if err := j.pairs.pick(s, i, j.cur.Columns[i], left, n); err != nil {
			return nil, err
		}
	}
	copy(j.pairs.out.Columns[nl:], right.Columns[:nr])
	b := &j.pairs.out
	if j.on != nil {
		if b, left, n, err = j.picked(j.on, &j.out, b, left); n == 0 || err != nil {
			return nil, err
		}
	}
	flags := j.flags.Ptr()
	_, err = kernels.FlagRows(s, left, n, flags, flags+device.Ptr(j.cur.Rows+7)&^7)
	return b, err
}

// picked is the rows of b for which p is true, with their left rows.
func (j *lookupJoin) picked(p *predicate, to *gathered, b *arrow.Batch, left device.Ptr) (*arrow.Batch, device.Ptr, int, error) {
	s := j.w.stream
	n, err := p.pick(b)
	if n == 0 || n == b.Rows || err != nil {
		return b, left, n, err
	}
	idx := p.index.Ptr()
	to.reset(len(b.Columns), n)
	for i, c := range b.Columns {
		if err := to.pick(s, i, c, idx, n); err != nil {
			return nil, 0, 0, err
		}
	}
	slab := &j.again
	if p == j.on {
		slab = &j.index
	}
	room, err := slab.Reserve(j.w.q.env.Memory, 4*n)
	if err != nil {
		return nil, 0, 0, err
	}
	v := kernels.Vec{Data: room}
	err = kernels.Gather(s, 4, &v, kernels.Vec{Data: left}, idx, n)
	return &to.out, room, n, err
}

// finish gives what a left batch gives at its end.
func (j *lookupJoin) finish() (*arrow.Batch, error) {
	b := j.cur
	j.cur = nil
	step := kernels.SelectNotTrue
	switch j.n.Kind {
	case planner.Inner:
		return nil, nil
	case planner.Semi:
		step = kernels.Select
	}
	s, mem := j.w.stream, j.w.q.env.Memory
	idx, err := j.index.Reserve(mem, kernels.SelectBytes(b.Rows))
	if err != nil {
		return nil, err
	}
	n, err := step(s, kernels.Vec{Data: j.flags.Ptr()}, b.Rows, idx)
	if n == 0 || err != nil {
		return nil, err
	}
	cols := len(b.Columns)
	if j.n.Kind == planner.Left {
		cols += len(j.scan.Columns)
	}
	j.out.reset(cols, n)
	for i, c := range b.Columns {
		if err := j.out.pick(s, i, c, idx, n); err != nil {
			return nil, err
		}
	}
	for i := len(b.Columns); i < cols; i++ {
		if err := j.out.nulls(s, i, j.scan.Columns[i-len(b.Columns)].Type, n); err != nil {
			return nil, err
		}
	}
	return &j.out.out, nil
}

// Close implements Operator.
func (j *lookupJoin) Close() error {
	j.keys.close()
	j.pred.close()
	j.on.close()
	if j.fetch != nil {
		j.fetch.release()
	}
	j.flat.release()
	for _, s := range []*arrow.Slab{&j.left, &j.flags, &j.index, &j.again} {
		s.Release()
	}
	j.pairs.release()
	j.right.release()
	j.out.release()
	if j.in == nil {
		return nil
	}
	return j.in.Close()
}
