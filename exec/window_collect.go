package exec

import (
	"context"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/storage/arrow"
)

// windowCollect is an aggregate that keeps its input, over frames: the rows of
// each frame are listed and collected as those of a group. Neighbours whose
// frames are equal are computed once.
type windowCollect struct {
	spec    *aggSpec
	args    []stored // of spec.exprs
	frame   *windowFrame
	ids     arrow.Slab
	list    arrow.Slab
	listIDs arrow.Slab
	rows    gathered
}

// listRows is about how many rows of frames are listed at a time.
const listRows = 1 << 20

func (o *window) collecting(spec *aggSpec, frame *windowFrame) windowFunc {
	f := &windowCollect{spec: spec, frame: frame, rows: gathered{mem: o.w.q.env.Memory}}
	for _, e := range spec.exprs {
		f.args = append(f.args, o.store(e))
	}
	return f
}

func (f *windowCollect) prepare(o *window) error { return f.frame.prepare(o) }

func (f *windowCollect) compute(ctx context.Context, o *window, at, n int, dst kernels.Vec) error {
	mem, s := o.w.q.env.Memory, o.w.stream
	frames, err := f.frame.compute(o, at, n)
	if err != nil {
		return err
	}
	ids, err := f.ids.Reserve(mem, 4*n+24)
	if err != nil {
		return err
	}
	groups, rows, err := o.x.NumberFrames(s, frames, n, ids)
	if err != nil {
		return err
	}
	if half := (n/2 + 63) &^ 63; rows > listRows && groups > 1 && half < n {
		if err := f.compute(ctx, o, at, half, dst); err != nil {
			return err
		}
		dst.Data += device.Ptr(half * f.spec.collects[0].result.Phys().Width())
		dst.Valid += device.Ptr(half / 8)
		return f.compute(ctx, o, at+half, n-half, dst)
	}
	list, err := f.list.Reserve(mem, 4*rows)
	if err != nil {
		return err
	}
	listIDs, err := f.listIDs.Reserve(mem, 4*rows)
	if err != nil {
		return err
	}
	if err := o.x.ListFrames(s, frames, ids, n, list, listIDs); err != nil {
		return err
	}
	f.rows.reset(len(f.args), rows)
	for i, p := range f.args {
		if err := f.rows.pick(s, i, o.column(p), list, rows); err != nil {
			return err
		}
	}
	return f.collect(ctx, o, groups, n, listIDs, dst)
}

// collect computes the frames whose rows are listed.
func (f *windowCollect) collect(ctx context.Context, o *window, groups, n int, listIDs device.Ptr, dst kernels.Vec) error {
	s := o.w.stream
	c := newCollected(o.w.q.env, f.spec, &f.spec.collects[0])
	defer c.release()
	cut := slicer{mem: o.w.q.env.Memory}
	defer cut.release()
	err := kernels.Pieces(s, f.rows.out.Rows, func(lo, hi int) error {
		b, err := cut.batch(s, &f.rows.out, lo, hi)
		if err != nil {
			return err
		}
		return c.add(s, listIDs+device.Ptr(4*lo), b)
	})
	if err != nil {
		return err
	}
	if err := c.finish(ctx, s, groups); err != nil {
		return err
	}
	// The bytes of strings must outlive c.
	o.heaps = append(o.heaps, c.heap, c.rows.heap)
	c.heap, c.rows.heap = kernels.NewHeap(c.env.Memory), kernels.NewHeap(c.env.Memory)
	col := c.column(0)
	return kernels.Gather(s, col.Type.Phys().Width(), &dst, col.Vec, f.ids.Ptr(), n)
}

func (f *windowCollect) release() {
	f.frame.release()
	f.ids.Release()
	f.list.Release()
	f.listIDs.Release()
	f.rows.release()
}
