package exec

import (
	"context"
	"sync"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec/spill"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// aggSpilt is what an aggregation has on disk: the groups of each grouping set by
// parts of their hashes, each group as often as a table had it.
//
//	a group's states     keys | states
//	a DISTINCT state     keys | value
//	a collect            keys | what is kept of a row
type aggSpilt struct {
	any   bool // set while workers fill, read afterwards
	files spillFiles
	mu    sync.Mutex
	parts map[int]*[numParts]aggPart // by grouping set, until the input ends
	queue []aggPart
}

// aggPart is the groups of one grouping set that are in one part.
type aggPart struct {
	set    int
	level  int
	stuck  bool // splitting made it no smaller
	states []*spill.Run
	pairs  [][]*spill.Run // by state
	kept   [][]*spill.Run // by collect
}

func (p *aggPart) rows() int64 {
	n := rowsIn(p.states)
	for _, runs := range p.pairs {
		n += rowsIn(runs)
	}
	for _, runs := range p.kept {
		n += rowsIn(runs)
	}
	return n
}

// aggOverflow writes a worker's tables to disk.
type aggOverflow struct {
	o     *aggregate
	w     *worker
	level int
	claim claim
	file  *spill.File
	out   spill.Scratch
	sets  map[int]*aggSetWriter
	keys  keyBatch
	all   gathered // the keys of all groups
	of    gathered // the keys of rows
}

// aggSetWriter writes the tables of a grouping set.
type aggSetWriter struct {
	split  splitter
	states partWriter
	pairs  []*partWriter
	kept   []*partWriter
}

// overflow is for a worker; nil where the query cannot spill.
func (o *aggregate) overflow(w *worker, level int) *aggOverflow {
	if w.q.env.Spill == nil {
		return nil
	}
	mem := w.q.env.Memory
	return &aggOverflow{o: o, w: w, level: level, claim: w.claim(), sets: map[int]*aggSetWriter{},
		all: gathered{mem: mem}, of: gathered{mem: mem}}
}

// check writes the tables of all grouping sets when there is no room for more.
func (v *aggOverflow) check(ctx context.Context, tables []*aggTable) error {
	var held, need int64
	for _, t := range tables {
		held += t.held()
		need += t.grows(v.w.q.batchRows)
		if len(t.kept) > 0 || !t.splits() {
			need += t.keyBytes()
		}
	}
	if v.file == nil {
		need += v.buffers() * int64(len(tables))
		if v.w.q.workers > 1 {
			need += held // to be merged
		}
	}
	if v.claim.ask(held, need) {
		return nil
	}
	for i, t := range tables {
		if err := v.write(ctx, i, t); err != nil {
			return err
		}
	}
	return nil
}

// buffers is what the writers of a grouping set take: a frame of rows a part,
// and one of texts.
func (v *aggOverflow) buffers() int64 {
	spec, n := v.o.state.spec, 1
	for _, s := range spec.states {
		if s.distinct {
			n++
		}
	}
	return int64(n+len(spec.collects)) * 2 * numParts * int64(v.w.q.frameBytes())
}

// keyBytes is what the keys of all groups take as columns.
func (t *aggTable) keyBytes() int64 {
	n := 0
	for _, p := range t.layout.Phys {
		n += t.len() * (p.Width() + 1)
	}
	return int64(n)
}

// set makes the writers of a grouping set.
func (v *aggOverflow) set(i int) (*aggSetWriter, error) {
	if w := v.sets[i]; w != nil {
		return w, nil
	}
	spec, st := v.o.state.spec, &v.o.state.spilt
	if v.file == nil {
		f, err := st.files.file(v.w, v.o.n)
		if err != nil {
			return nil, err
		}
		v.file = f
		st.mu.Lock()
		st.any = true
		st.mu.Unlock()
	}
	keys := spec.keyForms(spec.sets[i])
	to := func(more ...spill.Column) *partWriter {
		return &partWriter{w: v.w, file: v.file, out: &v.out, forms: append(keys[:len(keys):len(keys)], more...)}
	}
	w := &aggSetWriter{split: splitter{w: v.w, level: v.level}}
	for _, g := range spec.sets[i] {
		w.split.phys = append(w.split.phys, spec.exprs[g].Type().Phys())
	}
	var states []spill.Column
	for _, s := range spec.states {
		states = append(states, stateForm(s.agg))
		w.pairs = append(w.pairs, to(formOf(s.agg.Phys)))
	}
	w.states = *to(states...)
	for _, c := range spec.collects {
		w.kept = append(w.kept, to(forms(c.defs(spec))[1:]...))
	}
	v.sets[i] = w
	return w, nil
}

func (s *aggSpec) keyForms(set []int) []spill.Column {
	var out []spill.Column
	for _, g := range set {
		out = append(out, formOf(s.exprs[g].Type().Phys()))
	}
	return out
}

// stateForm is a state as a column: one that keeps a text begins with it.
func stateForm(a kernels.Agg) spill.Column {
	keeps := a.Kind == kernels.AggMin || a.Kind == kernels.AggMax || a.Kind == kernels.AggFirst
	return spill.Column{Width: a.Bytes(), Text: keeps && a.Phys == sqltype.PhysStr}
}

// write empties a table of grouping set i.
func (v *aggOverflow) write(ctx context.Context, i int, t *aggTable) error {
	if t.groups != nil && t.len() == 0 {
		return nil
	}
	to, err := v.set(i)
	if err != nil {
		return err
	}
	if err := t.grow(v.w.stream); err != nil {
		return err
	}
	if err := v.writeStates(ctx, to, t); err != nil {
		return err
	}
	if !t.splits() {
		if err := v.readKeys(t); err != nil {
			return err
		}
	}
	for i := range t.seen {
		if t.seen[i] != nil {
			if err := v.writePairs(ctx, to, t, i); err != nil {
				return err
			}
		}
	}
	for i := range t.kept {
		if err := v.writeKept(ctx, to, t, i); err != nil {
			return err
		}
	}
	v.all.release()
	t.release()
	*t = *newAggTable(t.env, t.spec, t.set)
	return nil
}

func (v *aggOverflow) writeStates(ctx context.Context, to *aggSetWriter, t *aggTable) error {
	s := v.w.stream
	return kernels.Pieces(s, t.len(), func(lo, hi int) (err error) {
		var cols []kernels.Vec
		if t.groups != nil {
			if cols, err = v.keys.read(s, v.w.q.env.Memory, t.groups, &t.layout, lo, hi); err != nil {
				return err
			}
		}
		rows, err := to.split.split(cols, hi-lo)
		if err != nil {
			return err
		}
		for i := range t.states {
			cols = append(cols, kernels.Vec{Data: t.states[i].Ptr() + device.Ptr(lo*t.spec.states[i].agg.Bytes())})
		}
		return to.states.add(ctx, cols, rows)
	})
}

// readKeys makes columns of the keys of all groups.
func (v *aggOverflow) readKeys(t *aggTable) error {
	if t.groups == nil {
		return nil
	}
	n := t.len()
	v.all.reset(len(t.set), n)
	for i, g := range t.set {
		c := arrow.Column{Type: t.spec.exprs[g].Type(), Vec: kernels.Vec{Valid: 1}} // a bitmap is wanted
		var err error
		if c.Vec, err = v.all.room(i, c, n); err != nil {
			return err
		}
		v.all.out.Columns[i] = c
		err = kernels.Pieces(v.w.stream, n, func(lo, hi int) error {
			to := c.Vec
			to.Data += device.Ptr(lo * c.Type.Phys().Width())
			to.Valid += device.Ptr(lo / 8)
			return t.groups.Key(v.w.stream, i, lo, hi, to)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keysOf are the keys of the groups that ids names.
func (v *aggOverflow) keysOf(t *aggTable, ids device.Ptr, n int) ([]kernels.Vec, error) {
	v.of.reset(len(t.set), n)
	for i := range t.set {
		if err := v.of.pick(v.w.stream, i, v.all.out.Columns[i], ids, n); err != nil {
			return nil, err
		}
	}
	return vecsOf(&v.of.out), nil
}

func (v *aggOverflow) writePairs(ctx context.Context, to *aggSetWriter, t *aggTable, i int) error {
	s := v.w.stream
	return kernels.Pieces(s, t.seen[i].Len(), func(lo, hi int) error {
		pair, err := v.keys.read(s, v.w.q.env.Memory, t.seen[i], &t.pairs[i], lo, hi)
		if err != nil {
			return err
		}
		keys, err := v.keysOf(t, pair[0].Data, hi-lo)
		if err != nil {
			return err
		}
		rows, err := to.split.split(keys, hi-lo)
		if err != nil {
			return err
		}
		return to.pairs[i].add(ctx, append(keys, pair[1]), rows)
	})
}

func (v *aggOverflow) writeKept(ctx context.Context, to *aggSetWriter, t *aggTable, i int) error {
	cut := slicer{mem: v.w.q.env.Memory}
	defer cut.release()
	all := t.kept[i].rows.all()
	return kernels.Pieces(v.w.stream, all.Rows, func(lo, hi int) error {
		b, err := cut.batch(v.w.stream, all, lo, hi)
		if err != nil {
			return err
		}
		keys, err := v.keysOf(t, b.Columns[0].Vec.Data, b.Rows)
		if err != nil {
			return err
		}
		rows, err := to.split.split(keys, b.Rows)
		if err != nil {
			return err
		}
		return to.kept[i].add(ctx, append(keys, vecsOf(b)[1:]...), rows)
	})
}

// finish adds what was written to the parts.
func (v *aggOverflow) finish() error {
	if v == nil || v.file == nil {
		return nil
	}
	st := &v.o.state.spilt
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.parts == nil {
		st.parts = map[int]*[numParts]aggPart{}
	}
	for i := range v.sets {
		if st.parts[i] == nil {
			st.parts[i] = &[numParts]aggPart{}
		}
		if err := v.finishSet(i, st.parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// finishSet adds the runs of grouping set i to its parts.
func (v *aggOverflow) finishSet(i int, parts *[numParts]aggPart) error {
	w := v.sets[i]
	add := func(from *partWriter, to func(p *aggPart) *[]*spill.Run) error {
		var runs [numParts][]*spill.Run
		err := from.finish(&runs)
		for n := range runs {
			r := to(&parts[n])
			*r = append(*r, runs[n]...)
		}
		return err
	}
	for n := range parts {
		p := &parts[n]
		p.set, p.level = i, v.level
		if p.pairs == nil {
			p.pairs, p.kept = make([][]*spill.Run, len(w.pairs)), make([][]*spill.Run, len(w.kept))
		}
	}
	if err := add(&w.states, func(p *aggPart) *[]*spill.Run { return &p.states }); err != nil {
		return err
	}
	for k := range w.pairs {
		if err := add(w.pairs[k], func(p *aggPart) *[]*spill.Run { return &p.pairs[k] }); err != nil {
			return err
		}
	}
	for k := range w.kept {
		if err := add(w.kept[k], func(p *aggPart) *[]*spill.Run { return &p.kept[k] }); err != nil {
			return err
		}
	}
	return nil
}

func (v *aggOverflow) close() {
	if v == nil {
		return
	}
	v.claim.drop()
	for _, w := range v.sets {
		w.split.release()
		w.states.release()
		for _, p := range append(w.pairs, w.kept...) {
			p.release()
		}
	}
	v.out.Release()
	v.keys.release()
	v.all.release()
	v.of.release()
}

// spillRest writes what the workers still have, and lists the parts.
func (o *aggregate) spillRest(ctx context.Context, tables [][]*aggTable) error {
	over := o.overflow(o.w, 0)
	defer over.close()
	for _, of := range tables {
		for i, t := range of {
			if err := over.write(ctx, i, t); err != nil {
				return err
			}
			t.release()
		}
	}
	if err := over.finish(); err != nil {
		return err
	}
	st := &o.state.spilt
	for i := range o.state.spec.sets {
		if st.parts[i] != nil {
			st.list(st.parts[i])
		}
	}
	return nil
}

// list puts parts with rows at the end of the queue.
func (s *aggSpilt) list(parts *[numParts]aggPart) {
	for i := range parts {
		if parts[i].rows() > 0 {
			s.queue = append(s.queue, parts[i])
		}
	}
}

// take gives a part that nobody has computed.
func (s *aggSpilt) take() (p aggPart, ok bool) {
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

// nextSpilt gives groups of the parts, which the operators of all workers share out.
func (o *aggregate) nextSpilt(ctx context.Context, rows int) (*arrow.Batch, error) {
	for {
		if o.own != nil && o.at < o.own.len() {
			lo := o.at
			o.at = min(o.own.len(), lo+rows)
			return o.give(o.own, lo, o.at)
		}
		o.dropOwn()
		p, ok := o.state.spilt.take()
		if !ok {
			return nil, nil
		}
		if err := o.load(ctx, p); err != nil {
			return nil, err
		}
	}
}

func (o *aggregate) dropOwn() {
	if o.own != nil {
		o.own.release()
		o.own = nil
	}
	o.claim.drop()
	o.at = 0
}

// load computes a part, or splits it when it is too large.
func (o *aggregate) load(ctx context.Context, p aggPart) error {
	spec, env := o.state.spec, o.w.q.env
	var over *aggOverflow
	if p.stuck || o.w.q.deepest(p.level) || len(spec.sets[p.set]) == 0 {
		env = env.onDisk()
	} else {
		over = o.overflow(o.w, p.level+1)
		defer over.close()
	}
	o.own = newAggTable(env, spec, spec.sets[p.set])
	err := o.read(ctx, p, func() error {
		if over == nil {
			return nil
		}
		held, need := o.own.held(), o.own.grows(o.w.q.batchRows)+o.own.keyBytes()
		if over.file == nil {
			need += over.buffers()
		}
		if o.claim.ask(held, need) {
			return nil
		}
		return over.write(ctx, p.set, o.own)
	})
	if err != nil {
		return err
	}
	if over == nil || over.file == nil {
		return o.own.settle(ctx, o.w.stream)
	}
	if err := over.write(ctx, p.set, o.own); err != nil {
		return err
	}
	o.dropOwn()
	var parts [numParts]aggPart
	if err := over.finishSet(p.set, &parts); err != nil {
		return err
	}
	for i := range parts {
		parts[i].stuck = parts[i].rows() == p.rows()
	}
	st := &o.state.spilt
	st.mu.Lock()
	defer st.mu.Unlock()
	st.list(&parts)
	return nil
}

// read adds all of a part to o.own; full is asked after each frame.
func (o *aggregate) read(ctx context.Context, p aggPart, full func() error) error {
	s, spec, k := o.w.stream, o.state.spec, len(o.state.spec.sets[p.set])
	find := func(cols []kernels.Vec, n int) (device.Ptr, error) { return o.own.find(s, cols[:k], n) }
	err := o.w.eachFrame(ctx, p.states, func(cols []kernels.Vec, n int) error {
		ids, err := find(cols, n)
		if err != nil {
			return err
		}
		t := o.own
		for i, st := range spec.states {
			if t.seen[i] != nil {
				continue
			}
			if err := st.agg.Merge(s, t.states[i].Ptr(), cols[k+i].Data, 0, ids, n, t.heap); err != nil {
				return err
			}
		}
		return full()
	})
	if err != nil {
		return err
	}
	for i, runs := range p.pairs {
		err := o.w.eachFrame(ctx, runs, func(cols []kernels.Vec, n int) error {
			ids, err := find(cols, n)
			if err != nil {
				return err
			}
			if err := o.own.note(s, i, ids, cols[k], n); err != nil {
				return err
			}
			return full()
		})
		if err != nil {
			return err
		}
	}
	for i, runs := range p.kept {
		defs := spec.collects[i].defs(spec)
		err := o.w.eachFrame(ctx, runs, func(cols []kernels.Vec, n int) error {
			ids, err := find(cols, n)
			if err != nil {
				return err
			}
			c := o.own.kept[i]
			if ids, err = c.someIDs(s, ids, n); err != nil {
				return err
			}
			if err := c.insert(s, batchOf(defs, append([]kernels.Vec{{Data: ids}}, cols[k:]...), n)); err != nil {
				return err
			}
			return full()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// defs are the columns of a collected's store: the group's number first.
func (c *collectSpec) defs(s *aggSpec) []planner.ColDef {
	defs := []planner.ColDef{{Type: sqltype.Uint32}}
	for _, p := range c.cols {
		defs = append(defs, planner.ColDef{Type: s.exprs[p].Type()})
	}
	return defs
}
