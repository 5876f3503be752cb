package exec

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// sides are the places of the probe and the build columns in a result.
func (j *hashJoin) sides() (probe, build int) {
	if j.shape.swapped {
		return j.shape.buildCols, 0
	}
	return 0, j.shape.probeCols
}

// give makes the batch of n pairs.
func (j *hashJoin) give(probes, build device.Ptr, n int) (*arrow.Batch, error) {
	j.out.reset(j.shape.probeCols+j.shape.buildCols, n)
	p, b := j.sides()
	for i := range j.shape.probeCols {
		if err := j.out.pick(j.w.stream, p+i, j.cur.Columns[i], probes, n); err != nil {
			return nil, err
		}
	}
	for i := range j.shape.buildCols {
		if err := j.out.pick(j.w.stream, b+i, j.state.rows.column(i), build, n); err != nil {
			return nil, err
		}
	}
	return &j.out.out, nil
}

// lonely gives the probe rows without a match, with NULLs for the build side.
func (j *hashJoin) lonely(cur *arrow.Batch) (*arrow.Batch, error) {
	idx, n, err := j.selected(cur.Rows, kernels.SelectNotTrue)
	if n == 0 || err != nil {
		return nil, err
	}
	j.out.reset(j.shape.probeCols+j.shape.buildCols, n)
	p, b := j.sides()
	for i := range j.shape.probeCols {
		if err := j.out.pick(j.w.stream, p+i, cur.Columns[i], idx, n); err != nil {
			return nil, err
		}
	}
	for i, c := range j.shape.build.Cols() {
		if err := j.out.nulls(j.w.stream, b+i, c.Type, n); err != nil {
			return nil, err
		}
	}
	return &j.out.out, nil
}

// nulls sets column i of the batch to n NULLs.
func (g *gathered) nulls(s device.Stream, i int, t sqltype.Type, n int) error {
	c := arrow.Column{Type: t, Vec: kernels.Vec{Valid: 1}} // any address but 0: a bitmap is wanted
	vec, err := g.room(i, c, n)
	if err != nil {
		return err
	}
	if err := kernels.Zero(s, vec.Data, n*t.Phys().Width()); err != nil {
		return err
	}
	c.Vec = vec
	g.out.Columns[i] = c
	return kernels.Zero(s, vec.Valid, kernels.BitmapBytes(n))
}

type selectStep func(s device.Stream, pred kernels.Vec, n int, out device.Ptr) (int, error)

// selected are the probe rows by their flags.
func (j *hashJoin) selected(n int, step selectStep) (device.Ptr, int, error) {
	mem := j.w.q.env.Memory
	flags := j.flags.Ptr()
	idx, err := j.index.Reserve(mem, kernels.SelectBytes(n))
	if err != nil {
		return 0, 0, err
	}
	k, err := step(j.w.stream, kernels.Vec{Data: flags}, n, idx)
	return idx, k, err
}

// filtered gives the rows of a semi or anti join.
func (j *hashJoin) filtered(cur *arrow.Batch) (*arrow.Batch, error) {
	step := kernels.SelectNotTrue
	if j.shape.kind == planner.Semi {
		step = kernels.Select
	} else if err := j.excludeUnknown(cur.Rows); err != nil {
		return nil, err
	}
	idx, n, err := j.selected(cur.Rows, step)
	if n == 0 || err != nil {
		return nil, err
	}
	j.out.reset(j.shape.probeCols, n)
	for i := range j.shape.probeCols {
		if err := j.out.pick(j.w.stream, i, cur.Columns[i], idx, n); err != nil {
			return nil, err
		}
	}
	return &j.out.out, nil
}

// excludeUnknown flags the rows of a NOT IN whose answer is NULL: they are not
// to be given, like those with a match.
func (j *hashJoin) excludeUnknown(n int) error {
	if !j.shape.n.NullAware || j.state.none() {
		return nil
	}
	known, err := j.knownBits(n)
	if err != nil || known == 0 {
		return err
	}
	mem, s := j.w.q.env.Memory, j.w.stream
	flags := j.flags.Ptr()
	idx, err := j.index.Reserve(mem, kernels.SelectBytes(n))
	if err != nil {
		return err
	}
	cursor := j.cursor.Ptr()
	// The rows that are not known: those where a column of TRUE with this
	// bitmap is not true.
	ones, err := j.match.Reserve(mem, max(n, kernels.BitmapBytes(n)))
	if err != nil {
		return err
	}
	if err := kernels.Fill(s, ones, 1, n); err != nil {
		return err
	}
	k, err := kernels.SelectNotTrue(s, kernels.Vec{Data: ones, Valid: known}, n, idx)
	if err != nil {
		return err
	}
	_, err = kernels.FlagRows(s, idx, k, flags, cursor+24)
	return err
}

// knownBits is the bitmap of the rows whose mark is not NULL; 0: all.
func (j *hashJoin) knownBits(n int) (device.Ptr, error) {
	if !j.shape.n.NullAware || j.state.none() {
		return 0, nil
	}
	mem, s := j.w.q.env.Memory, j.w.stream
	flags := j.flags.Ptr()
	var may, maybe device.Ptr
	switch {
	case j.shape.unknown:
		maybe = j.maybe.Ptr()
	case j.state.hasNull: // none is known but those with a match
	case j.may == 0:
		return 0, nil
	default:
		may = j.may
	}
	out, err := j.known.Reserve(mem, kernels.BitmapBytes(n))
	if err != nil {
		return 0, err
	}
	return out, kernels.MarkKnown(s, flags, may, maybe, n, out)
}

// marked gives all probe rows with the mark.
func (j *hashJoin) marked(cur *arrow.Batch) (*arrow.Batch, error) {
	known, err := j.knownBits(cur.Rows)
	if err != nil {
		return nil, err
	}
	flags := j.flags.Ptr()
	j.out.reset(j.shape.probeCols+1, cur.Rows)
	copy(j.out.out.Columns, cur.Columns)
	j.out.out.Columns[j.shape.probeCols] = arrow.Column{Type: sqltype.Bool, Vec: kernels.Vec{Data: flags, Valid: known}}
	return &j.out.out, nil
}

// noted are this probe's flags of build rows.
func (j *hashJoin) noted() (device.Ptr, error) {
	if j.own == nil {
		n := max(j.state.rows.n, 1)
		b, err := j.w.q.env.Memory.Alloc(n)
		if err != nil {
			return 0, err
		}
		j.own = b
		j.state.mu.Lock()
		j.state.flags = append(j.state.flags, b)
		j.state.mu.Unlock()
		if err := kernels.Zero(j.w.stream, b.Ptr(), n); err != nil {
			return 0, err
		}
	}
	return j.own.Ptr(), nil
}

// begin notes that this probe reads its input. One that never does is not
// waited for: of the operators of a LIMIT's input only one worker's are read.
// One that comes late finds no rows, for those that were ended had all.
func (j *hashJoin) begin() {
	if j.begun {
		return
	}
	j.begun = true
	j.state.mu.Lock()
	j.state.active++
	j.state.mu.Unlock()
}

// end notes that this probe's input is at its end. The last one to end gives
// the build side's rows.
func (j *hashJoin) end() {
	j.ended = true
	st := j.state
	st.mu.Lock()
	defer st.mu.Unlock()
	st.active--
	if st.active == 0 && !st.emitted && j.shape.buildFlags {
		st.emitted, j.last = true, true
	}
}

// unmatched gives the build rows that are due at the end: those without a match
// of an outer or anti join, those with one of a semi join.
func (j *hashJoin) unmatched() (*arrow.Batch, error) {
	st := j.state
	if !j.last || st.rows.n == 0 {
		return nil, nil
	}
	mem, s := j.w.q.env.Memory, j.w.stream
	if j.rest == 0 {
		own, err := j.noted()
		if err != nil {
			return nil, err
		}
		for _, f := range st.flags {
			if f != j.own {
				if err := kernels.OrFlags(s, own, f.Ptr(), st.rows.n); err != nil {
					return nil, err
				}
			}
		}
	}
	for j.rest < st.rows.n {
		lo := j.rest
		hi := min(st.rows.n, lo+j.chunk)
		j.rest = hi
		idx, err := j.index.Reserve(mem, kernels.SelectBytes(hi-lo))
		if err != nil {
			return nil, err
		}
		step := kernels.SelectNotTrue
		if j.shape.kind == planner.Semi {
			step = kernels.Select
		}
		n, err := step(s, kernels.Vec{Data: j.own.Ptr() + device.Ptr(lo)}, hi-lo, idx)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			continue
		}
		if err := kernels.AddTo(s, idx, uint32(lo), n); err != nil {
			return nil, err
		}
		return j.buildOnly(idx, n)
	}
	return nil, nil
}

func (j *hashJoin) buildOnly(idx device.Ptr, n int) (*arrow.Batch, error) {
	p, b := j.sides()
	cols := j.shape.buildCols
	if j.shape.emitPairs {
		cols += j.shape.probeCols
	}
	j.out.reset(cols, n)
	if j.shape.emitPairs {
		for i, c := range j.shape.probe.Cols() {
			if err := j.out.nulls(j.w.stream, p+i, c.Type, n); err != nil {
				return nil, err
			}
		}
	}
	for i := range j.shape.buildCols {
		if err := j.out.pick(j.w.stream, b+i, j.state.rows.column(i), idx, n); err != nil {
			return nil, err
		}
	}
	return &j.out.out, nil
}

// Close implements Operator.
func (j *hashJoin) Close() error {
	j.keys.close()
	j.on.close()
	for _, s := range []*arrow.Slab{&j.heads, &j.match, &j.flags, &j.maybe, &j.pairs, &j.cursor, &j.index, &j.known} {
		s.Release()
	}
	j.hash.Release()
	j.out.release()
	j.leavePart()
	return j.source.Close()
}

// residual is the part of a join's condition that the keys do not say.
type residual struct {
	w       *worker
	shape   *joinShape
	exprs   *expressions
	uses    []bool // by column, left columns first
	in      gathered
	index   arrow.Slab
	kept    arrow.Slab
	scratch arrow.Slab
}

func newResidual(w *worker, shape *joinShape) (*residual, error) {
	exprs := []planner.Expr{shape.on}
	if shape.unknown {
		exprs = append(exprs, &planner.IsNull{X: shape.on})
	}
	cols := append(append([]planner.ColDef{}, shape.n.Left.Cols()...), shape.n.Right.Cols()...)
	x, err := w.compile(exprs, cols)
	if err != nil {
		return nil, err
	}
	r := &residual{w: w, shape: shape, exprs: x, uses: make([]bool, len(cols)), in: gathered{mem: w.q.env.Memory}}
	for _, in := range x.eval.Program().Inputs {
		r.uses[in.Column] = true
	}
	return r, nil
}

// keep gives the pairs for which the condition is true; probe rows for which it
// is unknown are flagged in maybe, when that is asked for.
func (r *residual) keep(cur *arrow.Batch, rows *rowStore, probes, build device.Ptr, n int, maybe device.Ptr) (_, _ device.Ptr, _ int, err error) {
	s, mem := r.w.stream, r.w.q.env.Memory
	p, b := 0, r.shape.probeCols
	if r.shape.swapped {
		p, b = r.shape.buildCols, 0
	}
	r.in.reset(len(r.uses), n)
	for i := range r.shape.probeCols {
		if r.uses[p+i] {
			if err := r.in.pick(s, p+i, cur.Columns[i], probes, n); err != nil {
				return 0, 0, 0, err
			}
		}
	}
	for i := range r.shape.buildCols {
		if r.uses[b+i] {
			if err := r.in.pick(s, b+i, rows.column(i), build, n); err != nil {
				return 0, 0, 0, err
			}
		}
	}
	x, err := r.exprs.run(&r.in.out)
	if err != nil {
		return 0, 0, 0, err
	}
	idx, err := r.index.Reserve(mem, kernels.SelectBytes(n))
	if err != nil {
		return 0, 0, 0, err
	}
	if r.shape.unknown {
		if err := r.note(x.Columns[1].Vec, probes, n, idx, maybe); err != nil {
			return 0, 0, 0, err
		}
	}
	k, err := kernels.Select(s, x.Columns[0].Vec, n, idx)
	if err != nil || k == 0 || k == n {
		return probes, build, k, err
	}
	room, err := r.kept.Reserve(mem, 8*n)
	if err != nil {
		return 0, 0, 0, err
	}
	to := [2]kernels.Vec{{Data: room}, {Data: room + device.Ptr(4*n)}}
	for i, from := range []device.Ptr{probes, build} {
		if err := kernels.Gather(s, 4, &to[i], kernels.Vec{Data: from}, idx, k); err != nil {
			return 0, 0, 0, err
		}
	}
	return to[0].Data, to[1].Data, k, nil
}

// note flags the probe rows of the pairs where pred is true.
func (r *residual) note(pred kernels.Vec, probes device.Ptr, n int, idx, maybe device.Ptr) error {
	s, mem := r.w.stream, r.w.q.env.Memory
	k, err := kernels.Select(s, pred, n, idx)
	if err != nil || k == 0 {
		return err
	}
	room, err := r.kept.Reserve(mem, 8*n)
	if err != nil {
		return err
	}
	scratch, err := r.scratch.Reserve(mem, 8)
	if err != nil {
		return err
	}
	v := kernels.Vec{Data: room}
	if err := kernels.Gather(s, 4, &v, kernels.Vec{Data: probes}, idx, k); err != nil {
		return err
	}
	_, err = kernels.FlagRows(s, room, k, maybe, scratch)
	return err
}

func (r *residual) close() {
	if r == nil {
		return
	}
	r.exprs.close()
	r.in.release()
	r.index.Release()
	r.kept.Release()
	r.scratch.Release()
}
