package exec

import (
	"context"
	"sync"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec/spill"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// joinSpilt is a join whose build side memory has no room for. Both sides are on
// disk, in parts by a hash of the keys; the probes of all workers first write
// theirs, wait for each other, and then share out the parts, each of which is a
// join by itself.
type joinSpilt struct {
	shape *joinShape
	by    []int            // the build side's keys, as columns
	cols  []planner.ColDef // of a store of the build side

	files   spillFiles
	mu      sync.Mutex
	build   [numParts][]*spill.Run
	probe   [numParts][]*spill.Run
	any     bool // there is a row of the build side on disk
	hasNull bool // and one has a NULL key
	active  int  // probes that have begun and not written all
	written chan struct{}
	queue   []joinPart
}

// joinPart is the rows of both sides whose hashes are in one part.
type joinPart struct {
	build, probe []*spill.Run
	level        int
	stuck        bool // splitting made it no smaller
}

func newJoinSpilt(shape *joinShape) *joinSpilt {
	s := &joinSpilt{shape: shape, written: make(chan struct{})}
	s.by, _ = keyPlace(shape.buildKeys, shape.build)
	_, s.cols = sortPlaces(shape.buildKeys, 0, shape.build)
	return s
}

// spilled implements spiller.
func (s *joinSpilt) spilled() bool { return s != nil && s.any }

// overflow implements spiller.
func (s *joinSpilt) overflow(w *worker) overflow { return s.sides(w, 0) }

// joinSides writes rows of both sides to parts of a level, for one worker.
type joinSides struct {
	s            *joinSpilt
	w            *worker
	split        splitter
	file         *spill.File
	out          spill.Scratch
	build, probe partWriter
}

func (s *joinSpilt) sides(w *worker, level int) *joinSides {
	v := &joinSides{s: s, w: w}
	v.split = splitter{w: w, phys: s.shape.layout.Phys, level: level}
	v.build = partWriter{w: w, out: &v.out, forms: forms(s.cols)}
	v.probe = partWriter{w: w, out: &v.out, forms: forms(s.shape.probe.Cols())}
	return v
}

// begin makes the file.
func (v *joinSides) begin() error {
	if v.file != nil {
		return nil
	}
	f, err := v.s.files.file(v.w, v.s.shape.n)
	v.file, v.build.file, v.probe.file = f, f, f
	return err
}

// begun implements overflow.
func (v *joinSides) begun() bool { return v.file != nil }

// need implements overflow: the table, and the memory to write the rows.
func (v *joinSides) need(n int) int64 {
	need := kernels.JoinTableBytes(v.s.shape.layout, n)
	if v.file == nil {
		need += 2 * numParts * int64(v.w.q.frameBytes())
	}
	return need
}

// write implements overflow: rows of the build side.
func (v *joinSides) write(ctx context.Context, rows *rowStore) error {
	if rows.n == 0 {
		return nil
	}
	all := rows.all()
	cut := slicer{mem: v.w.q.env.Memory}
	defer cut.release()
	err := kernels.Pieces(v.w.stream, rows.n, func(lo, hi int) error {
		b, err := cut.batch(v.w.stream, all, lo, hi)
		if err != nil {
			return err
		}
		return v.addBuild(ctx, vecsOf(b), b.Rows)
	})
	rows.reset()
	return err
}

func (v *joinSides) addBuild(ctx context.Context, cols []kernels.Vec, n int) error {
	if err := v.begin(); err != nil {
		return err
	}
	keys := make([]kernels.Vec, len(v.s.by))
	null := false
	for i, at := range v.s.by {
		keys[i] = cols[at]
		if k := keys[i].Valid; k != 0 {
			null = null || kernels.CountBits(device.View[uint64](k, (n+63)/64), n) < n
		}
	}
	v.s.mu.Lock()
	v.s.any = true
	v.s.hasNull = v.s.hasNull || null
	v.s.mu.Unlock()
	rows, err := v.split.split(keys, n)
	if err != nil {
		return err
	}
	return v.build.add(ctx, cols, rows)
}

// addProbe writes rows of the probe side.
func (v *joinSides) addProbe(ctx context.Context, keys *expressions, b *arrow.Batch) error {
	if err := v.begin(); err != nil {
		return err
	}
	var by []kernels.Vec
	if keys != nil {
		k, err := keys.run(b)
		if err != nil {
			return err
		}
		by = vecsOf(k)
	}
	rows, err := v.split.split(by, b.Rows)
	if err != nil {
		return err
	}
	return v.probe.add(ctx, vecsOf(b), rows)
}

// finish implements overflow.
func (v *joinSides) finish() error {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if err := v.build.finish(&v.s.build); err != nil {
		return err
	}
	return v.probe.finish(&v.s.probe)
}

// release implements overflow.
func (v *joinSides) release() {
	v.split.release()
	v.build.release()
	v.probe.release()
	v.out.Release()
}

// list puts the parts that can give a row at the end of the queue.
func (s *joinSpilt) list(build, probe *[numParts][]*spill.Run, level int, before int64) {
	for i := range build {
		n := rowsIn(build[i])
		if n > 0 || len(probe[i]) > 0 {
			s.queue = append(s.queue, joinPart{build[i], probe[i], level, n == before})
		}
	}
}

// enter notes that a probe is going to write its rows.
func (s *joinSpilt) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active++
}

// leave notes that it has. The last one lists the parts. One that comes after
// that finds no rows: those that have left had all.
func (s *joinSpilt) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active--; s.active > 0 {
		return
	}
	select {
	case <-s.written:
	default:
		s.list(&s.build, &s.probe, 0, -1)
		close(s.written)
	}
}

func (s *joinSpilt) take() (p joinPart, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return p, false
	}
	last := len(s.queue) - 1
	p = s.queue[last]
	s.queue = s.queue[:last]
	return p, true
}

// nextSpilt gives the rows of one part after the other.
func (j *hashJoin) nextSpilt(ctx context.Context) (*arrow.Batch, error) {
	if !j.scattered {
		if err := j.scatter(ctx); err != nil {
			return nil, err
		}
		select {
		case <-j.whole.spilt.written:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for {
		if j.state != j.whole {
			b, err := j.rows(ctx)
			if b != nil || err != nil {
				return b, err
			}
			j.leavePart()
		}
		p, ok := j.whole.spilt.take()
		if !ok {
			return nil, nil
		}
		if err := j.load(ctx, p); err != nil {
			return nil, err
		}
	}
}

// scatter writes this worker's rows of the probe side.
func (j *hashJoin) scatter(ctx context.Context) error {
	s := j.whole.spilt
	j.scattered = true
	s.enter()
	defer s.leave()
	v := s.sides(j.w, 0)
	defer v.release()
	for {
		b, err := j.in.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := v.addProbe(ctx, j.keys, b); err != nil {
			return err
		}
	}
	return v.finish()
}

// load makes the table of a part, or splits the part when it is too large.
func (j *hashJoin) load(ctx context.Context, p joinPart) error {
	s, q := j.whole.spilt, j.w.q
	mem, split := q.env.Memory, true
	if p.stuck || len(s.by) == 0 || q.deepest(p.level) {
		mem, split = q.env.Spill.Area, false
	}
	st := &joinShared{once: once{done: true}, hasNull: s.hasNull, some: true, keys: s.by}
	st.rows = newRowStore(mem, s.cols)
	j.state = st
	var v *joinSides
	err := j.w.eachFrame(ctx, p.build, func(cols []kernels.Vec, n int) error {
		if v != nil {
			return v.addBuild(ctx, cols, n)
		}
		if err := st.rows.add(j.w.stream, batchOf(s.cols, cols, n)); err != nil {
			return err
		}
		need := st.rows.grows(q.batchRows) + kernels.JoinTableBytes(s.shape.layout, st.rows.n) + 2*numParts*int64(q.frameBytes())
		if !split || j.claim.ask(st.rows.held(), need) {
			return nil
		}
		v = s.sides(j.w, p.level+1)
		return v.write(ctx, st.rows)
	})
	if v != nil {
		defer v.release()
	}
	if err != nil {
		return err
	}
	if v != nil {
		return j.splitPart(ctx, p, v)
	}
	j.begun, j.ended, j.last, j.rest, j.own, j.cur = false, false, false, 0, nil, nil
	j.in = &runReader{w: j.w, cols: s.shape.probe.Cols(), runs: p.probe}
	return j.table(ctx, st, mem)
}

// splitPart writes the probe side of a part too: its parts are in the queue then.
func (j *hashJoin) splitPart(ctx context.Context, p joinPart, v *joinSides) error {
	j.leavePart()
	in := &runReader{w: j.w, cols: v.s.shape.probe.Cols(), runs: p.probe}
	defer in.Close() //nolint:errcheck // reading has no end to fail
	for {
		b, err := in.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := v.addProbe(ctx, j.keys, b); err != nil {
			return err
		}
	}
	var build, probe [numParts][]*spill.Run
	if err := v.build.finish(&build); err != nil {
		return err
	}
	if err := v.probe.finish(&probe); err != nil {
		return err
	}
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	v.s.list(&build, &probe, p.level+1, rowsIn(p.build))
	return nil
}

// leavePart gives up the part that was joined.
func (j *hashJoin) leavePart() {
	if j.state == j.whole {
		return
	}
	if j.in != j.source {
		j.in.Close() //nolint:errcheck // reading has no end to fail
	}
	j.state.release()
	j.claim.drop()
	j.state, j.in, j.own = j.whole, j.source, nil
}

// runReader gives runs as batches.
type runReader struct {
	w    *worker
	cols []planner.ColDef
	runs []*spill.Run
	in   *spill.Reader
}

// Next implements Operator.
func (r *runReader) Next(ctx context.Context) (*arrow.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.in == nil {
			if len(r.runs) == 0 {
				return nil, nil
			}
			r.in = spill.NewReader(r.runs[0], r.w.q.env.Memory)
			r.runs = r.runs[1:]
		}
		cols, n, err := r.in.Next()
		if err != nil {
			return nil, err
		}
		if n > 0 {
			return batchOf(r.cols, cols, n), nil
		}
		r.in.Release()
		r.in = nil
	}
}

// Close implements Operator.
func (r *runReader) Close() error {
	if r.in != nil {
		r.in.Release()
		r.in = nil
	}
	r.runs = nil
	return nil
}
