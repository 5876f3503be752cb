package exec

import (
	"context"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// window computes window functions. Its input is read whole, with what the
// functions need beside its columns, and sorted by partition and order; the
// functions are then computed batch by batch, in that order.
//
//	input ---> rowStore: columns | partition, order | arguments
//	              |
//	            order of rows ---> WindowIndex: partitions, peers
//	              |                    |
//	            batch  <--- columns, and each function over its frames
//
// The operator of one worker gives all rows.
type window struct {
	w     *worker
	n     *planner.Window
	keys  []planner.SortKey // partition, order, and then what else must be computed
	funcs []windowFunc
	rows  *rowStore
	order arrow.Slab
	index [4]arrow.Slab
	x     kernels.WindowIndex
	at    int
	begun bool
	pick  gathered
	heaps []*kernels.Heap // strings of the batch that was given

	mem   device.Allocator // of what is as large as rows
	runs  *sortRuns        // the input, when it was spilled
	merge *runMerger
	rest  *rowStore // rows behind those in rows
	ended bool      // there are no more
	claim claim
}

// windowFunc is one function of a window. prepare is called once, when all rows
// are in order; compute writes the rows at to at+n.
type windowFunc interface {
	prepare(o *window) error
	compute(ctx context.Context, o *window, at, n int, dst kernels.Vec) error
	release()
}

func newWindow(w *worker, n *planner.Window) (Operator, error) {
	o := &window{w: w, n: n, pick: gathered{mem: w.q.env.Memory}, mem: w.q.env.Memory, claim: w.claim()}
	for _, e := range n.Partition {
		o.keys = append(o.keys, planner.SortKey{Expr: e})
	}
	o.keys = append(o.keys, n.Order...)
	for i := range n.Funcs {
		f, err := o.function(&n.Funcs[i])
		if err != nil {
			return nil, err
		}
		o.funcs = append(o.funcs, f)
	}
	return o, nil
}

// function is the closed set of window functions.
func (o *window) function(f *planner.WindowFunc) (windowFunc, error) {
	if op, ok := rankOps[f.Func.ID]; ok {
		return &windowRank{op: op, arg: o.argument(f, 0)}, nil
	}
	if f.Distinct {
		return nil, notSupported("DISTINCT in window function %s", f.Func.Name)
	}
	frame, err := o.frame(&f.Frame)
	if err != nil {
		return nil, err
	}
	if op, ok := pickOps[f.Func.ID]; ok && f.Filter == nil {
		return &windowPick{op: op, skipNulls: f.IgnoreNulls, frame: frame, src: o.argument(f, 0), offset: o.argument(f, 1), other: o.argument(f, 2)}, nil
	}
	return o.aggregate(f, frame)
}

var rankOps = map[catalog.FuncID]kernels.RankOp{
	catalog.FuncRowNumber:   kernels.RankRowNumber,
	catalog.FuncRank:        kernels.RankRank,
	catalog.FuncDenseRank:   kernels.RankDense,
	catalog.FuncPercentRank: kernels.RankPercent,
	catalog.FuncCumeDist:    kernels.RankCumeDist,
	catalog.FuncNtile:       kernels.RankNtile,
}

var pickOps = map[catalog.FuncID]kernels.PickOp{
	catalog.FuncLag:        kernels.PickLag,
	catalog.FuncLead:       kernels.PickLead,
	catalog.FuncFirstValue: kernels.PickFirst,
	catalog.FuncFirst:      kernels.PickFirst,
	catalog.FuncLastValue:  kernels.PickLast,
	catalog.FuncLast:       kernels.PickLast,
	catalog.FuncNthValue:   kernels.PickNth,
}

// stored is the place of an expression among o.keys; -1 is none.
type stored int

// store asks for an expression to be computed for each row.
func (o *window) store(e planner.Expr) stored {
	o.keys = append(o.keys, planner.SortKey{Expr: e})
	return stored(len(o.keys) - 1)
}

func (o *window) argument(f *planner.WindowFunc, i int) stored {
	if i >= len(f.Args) {
		return -1
	}
	return o.store(f.Args[i])
}

// column is what was stored, by row number; of none, no column.
func (o *window) column(p stored) arrow.Column {
	if p < 0 {
		return arrow.Column{}
	}
	place, _ := keyPlace(o.keys, o.n.Input)
	return o.rows.column(place[p])
}

// sortColumn is a column of the partition or the order.
func (o *window) sortColumn(p stored) kernels.SortColumn {
	c := o.column(p)
	k := o.keys[p]
	return kernels.SortColumn{Vec: c.Vec, Phys: c.Type.Phys(), Desc: k.Desc, NullsFirst: k.NullsFirst}
}

// Next implements Operator.
func (o *window) Next(ctx context.Context) (*arrow.Batch, error) {
	if !o.begun {
		o.begun = true
		if !o.w.q.claim(o.n, o) {
			return nil, nil
		}
		if err := o.begin(ctx); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o.forget()
	if o.merge != nil && o.at >= o.rows.n && !o.ended {
		if err := o.piece(ctx); err != nil {
			return nil, err
		}
	}
	if o.rows == nil || o.at >= o.rows.n {
		return nil, nil
	}
	at := o.at
	n := min(o.w.q.batchRows, o.rows.n-at)
	o.at += n
	cols := len(o.n.Input.Cols())
	o.pick.reset(cols+len(o.funcs), n)
	for i := range cols {
		if err := o.pick.pick(o.w.stream, i, o.rows.column(i), o.x.Rows+device.Ptr(4*at), n); err != nil {
			return nil, err
		}
	}
	for i, f := range o.funcs {
		c := arrow.Column{Type: o.n.Funcs[i].Col.Type, Vec: kernels.Vec{Valid: 1}}
		var err error
		if c.Vec, err = o.pick.room(cols+i, c, n); err != nil {
			return nil, err
		}
		if r, ok := f.(*windowRank); ok && r.op != kernels.RankNtile {
			c.Vec.Valid = 0
		}
		if err := f.compute(ctx, o, at, n, c.Vec); err != nil {
			return nil, err
		}
		o.pick.out.Columns[cols+i] = c
	}
	return &o.pick.out, nil
}

// forget gives up the strings of the last batch.
func (o *window) forget() {
	for _, h := range o.heaps {
		h.Release()
	}
	o.heaps = o.heaps[:0]
}

// begin reads and sorts the input and finds the partitions.
func (o *window) begin(ctx context.Context) (err error) {
	by := len(o.n.Partition) + len(o.n.Order)
	var to spiller
	if o.w.q.env.Spill != nil {
		o.runs = newSortRuns(o.n, o.keys, by, o.n.Input)
		o.runs.perRow = int64(4 * len(o.index))
		for _, f := range o.funcs {
			if a, ok := f.(*windowAgg); ok {
				o.runs.perRow += int64(2 * a.state.agg.Bytes())
			}
		}
		to = o.runs
	}
	want := wanted{keep: -1, of: o.n}
	if top := o.n.Top; top.Rows > 0 && !top.Ties && len(o.n.Partition) == 0 {
		want.keep = int(top.Rows)
	}
	want.inOrder = o.asGiven()
	if o.rows, err = collect(ctx, o.w, o.n.Input, o.keys, want, to); err != nil {
		return err
	}
	if o.runs.spilled() {
		o.merge, err = o.runs.merged(ctx, o.w)
		return err
	}
	if o.rows.n == 0 {
		return nil
	}
	places, _ := sortPlaces(o.keys, by, o.n.Input)
	if err := sortRows(o.w, o.rows, places, &o.order); err != nil {
		return err
	}
	o.x.Rows = o.order.Ptr()
	return o.prepare()
}

// prepare finds the partitions of the rows, which are in order.
func (o *window) prepare() (err error) {
	parts := len(o.n.Partition)
	places, _ := sortPlaces(o.keys, parts+len(o.n.Order), o.n.Input)
	for i, p := range []*device.Ptr{&o.x.Start, &o.x.End, &o.x.Group, &o.x.Groups} {
		if *p, err = o.index[i].Reserve(o.mem, kernels.WindowIndexBytes(o.rows.n)); err != nil {
			return err
		}
	}
	cols := sortColumns(o.rows, places)
	err = kernels.Pieces(o.w.stream, o.rows.n, func(lo, hi int) error {
		return o.x.Mark(o.w.stream, cols[:parts], cols[parts:], lo, hi-lo)
	})
	if err != nil {
		return err
	}
	if err := o.x.Index(o.w.stream, o.rows.n); err != nil {
		return err
	}
	for _, f := range o.funcs {
		if err := f.prepare(o); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Operator.
func (o *window) Close() error {
	if o.rows != nil {
		o.rows.release()
		o.rows = nil
	}
	if o.rest != nil {
		o.rest.release()
		o.rest = nil
	}
	o.merge.release()
	o.runs.release()
	o.merge, o.runs = nil, nil
	o.order.Release()
	for i := range o.index {
		o.index[i].Release()
	}
	for _, f := range o.funcs {
		f.release()
	}
	o.forget()
	o.pick.release()
	o.begun = true
	return nil
}

// windowRank is a function of the row's place.
type windowRank struct {
	op  kernels.RankOp
	arg stored
}

func (f *windowRank) prepare(*window) error { return nil }

func (f *windowRank) compute(_ context.Context, o *window, at, n int, dst kernels.Vec) error {
	return o.x.Rank(o.w.stream, f.op, o.column(f.arg).Vec, at, n, dst)
}

func (f *windowRank) release() {}

// windowPick is a function that gives the argument of another row.
type windowPick struct {
	op                 kernels.PickOp
	skipNulls          bool
	src, offset, other stored
	frame              *windowFrame
}

func (f *windowPick) prepare(o *window) error { return f.frame.prepare(o) }

func (f *windowPick) compute(_ context.Context, o *window, at, n int, dst kernels.Vec) error {
	src := o.column(f.src)
	p := kernels.WindowPick{Op: f.op, SkipNulls: f.skipNulls, Phys: src.Type.Phys(), Src: src.Vec, Offset: o.column(f.offset).Vec, Default: o.column(f.other).Vec}
	var frames device.Ptr
	if f.op != kernels.PickLag && f.op != kernels.PickLead {
		var err error
		if frames, err = f.frame.compute(o, at, n); err != nil {
			return err
		}
	}
	return o.x.Pick(o.w.stream, p, frames, at, n, dst)
}

func (f *windowPick) release() { f.frame.release() }

// windowAgg is an aggregate over frames; see kernels.WindowIndex.Run and Tree.
type windowAgg struct {
	state  aggState
	final  kernels.Final
	args   [3]stored // the argument, the second, the filter
	frame  *windowFrame
	states arrow.Slab
	out    arrow.Slab
	base   device.Ptr // the state of position 0
}

// aggregate is an aggregate function over frames.
func (o *window) aggregate(f *planner.WindowFunc, frame *windowFrame) (windowFunc, error) {
	var spec aggSpec
	if err := spec.add(&planner.Agg{Col: f.Col, Func: f.Func, Args: f.Args, Filter: f.Filter}); err != nil {
		return nil, err
	}
	if len(spec.collects) > 0 {
		return o.collecting(&spec, frame), nil
	}
	a := &windowAgg{state: spec.states[0], final: spec.finals[0].final, frame: frame}
	for i, e := range []int{a.state.arg, a.state.second, a.state.filter} {
		a.args[i] = -1
		if e >= 0 {
			a.args[i] = o.store(spec.exprs[e])
		}
	}
	return a, nil
}

func (f *windowAgg) prepare(o *window) error {
	if err := f.frame.prepare(o); err != nil {
		return err
	}
	agg, n, s := f.state.agg, o.rows.n, o.w.stream
	size := agg.Bytes()
	all := n
	if !f.frame.f.Prefix() {
		all = 2 * n
	}
	p, err := f.states.Reserve(o.mem, all*size)
	if err != nil {
		return err
	}
	f.base = p + device.Ptr((all-n)*size)
	if err := f.leaves(o); err != nil {
		return err
	}
	if all == n {
		return kernels.Pieces(s, n, func(lo, hi int) error { return o.x.Run(s, agg, p, lo, hi-lo) })
	}
	return kernels.Pieces(s, n-1, func(lo, hi int) error { return o.x.Tree(s, agg, p, n-hi, hi-lo) })
}

// leaves makes the state of each position.
func (f *windowAgg) leaves(o *window) error {
	agg, s := f.state.agg, o.w.stream
	mem := o.w.q.env.Memory
	g := gathered{mem: mem}
	defer g.release()
	var ids, mask arrow.Slab
	defer ids.Release()
	defer mask.Release()
	each := min(o.rows.n, kernels.PieceItems(s))
	seq, err := ids.Reserve(mem, 4*each)
	if err != nil {
		return err
	}
	if err := kernels.Numbers(s, seq, each); err != nil {
		return err
	}
	return kernels.Pieces(s, o.rows.n, func(at, hi int) error {
		n := hi - at
		to := f.base + device.Ptr(at*agg.Bytes())
		if err := kernels.Zero(s, to, n*agg.Bytes()); err != nil {
			return err
		}
		var vecs [3]kernels.Vec
		g.reset(len(vecs), n)
		for i, p := range f.args {
			if p < 0 {
				continue
			}
			if err := g.pick(s, i, o.column(p), o.x.Rows+device.Ptr(4*at), n); err != nil {
				return err
			}
			vecs[i] = g.out.Columns[i].Vec
		}
		in := kernels.AggInput{Src: vecs[0], Second: vecs[1], IDs: seq, Groups: n}
		if f.args[2] >= 0 {
			bits, err := mask.Reserve(mem, kernels.BitmapBytes(n))
			if err != nil {
				return err
			}
			if err := kernels.WhereTrue(s, in.Src.Valid, vecs[2], n, bits); err != nil {
				return err
			}
			in.Src.Valid = bits
		}
		return agg.Update(s, to, in, n)
	})
}

func (f *windowAgg) compute(_ context.Context, o *window, at, n int, dst kernels.Vec) error {
	agg, s := f.state.agg, o.w.stream
	frames, err := f.frame.compute(o, at, n)
	if err != nil {
		return err
	}
	out, err := f.out.Reserve(o.w.q.env.Memory, n*agg.Bytes())
	if err != nil {
		return err
	}
	if f.frame.f.Prefix() {
		err = o.x.Last(s, agg, f.states.Ptr(), frames, n, out)
	} else {
		err = o.x.Merged(s, agg, f.states.Ptr(), frames, o.rows.n, n, out)
	}
	if err != nil {
		return err
	}
	return agg.Final(s, out, f.final, n, dst)
}

func (f *windowAgg) release() {
	f.frame.release()
	f.states.Release()
	f.out.Release()
}

// windowFrame makes the frames of a function.
type windowFrame struct {
	f      kernels.WindowFrame
	bounds [2]struct{ key, value stored } // of a RANGE with an offset
	slab   arrow.Slab
}

var frameUnits = map[string]kernels.FrameUnit{
	"ROWS": kernels.FrameRows, "GROUPS": kernels.FrameGroups, "RANGE": kernels.FrameRange,
}

var boundKinds = map[string]kernels.BoundKind{
	"UNBOUNDED PRECEDING": kernels.BoundFirst, "PRECEDING": kernels.BoundPreceding, "CURRENT ROW": kernels.BoundCurrent,
	"FOLLOWING": kernels.BoundFollowing, "UNBOUNDED FOLLOWING": kernels.BoundLast,
}

var exclusions = map[string]kernels.FrameExclude{
	"": kernels.ExcludeNone, "NO OTHERS": kernels.ExcludeNone, "CURRENT ROW": kernels.ExcludeRow,
	"GROUP": kernels.ExcludeGroup, "TIES": kernels.ExcludeTies,
}

// frame plans a frame. One that was not written is that of PostgreSQL: from the
// partition's begin to the current row's peers.
func (o *window) frame(f *planner.Frame) (*windowFrame, error) {
	fr := &windowFrame{}
	if f.Unit == "" {
		fr.f = kernels.WindowFrame{Unit: kernels.FrameRange, End: kernels.FrameBound{Kind: kernels.BoundCurrent}}
		return fr, nil
	}
	fr.f = kernels.WindowFrame{Unit: frameUnits[f.Unit], Exclude: exclusions[f.Exclude]}
	for i, b := range f.Bounds() {
		to := []*kernels.FrameBound{&fr.f.Start, &fr.f.End}[i]
		to.Kind = boundKinds[b.Kind]
		fr.bounds[i].value = -1
		if to.Kind != kernels.BoundPreceding && to.Kind != kernels.BoundFollowing {
			continue
		}
		if fr.f.Unit != kernels.FrameRange {
			d, err := o.w.constant(b.Offset)
			if err != nil {
				return nil, err
			}
			if d.Null || d.I < 0 {
				return nil, badOffset()
			}
			to.Offset = d.I
			continue
		}
		if err := o.rangeBound(&fr.bounds[i].key, &fr.bounds[i].value, to.Kind, b.Offset); err != nil {
			return nil, err
		}
	}
	return fr, nil
}

func badOffset() error {
	return sqltype.Errorf(sqltype.CodeInvalidParameter, "frame offset must not be null or negative")
}

// rangeBound stores the value that a RANGE frame reaches, key - offset or key +
// offset, and the key in the type of that.
func (o *window) rangeBound(key, reach *stored, kind kernels.BoundKind, offset planner.Expr) error {
	if len(o.n.Order) != 1 {
		return sqltype.Errorf(sqltype.CodeGrouping, "RANGE with an offset needs exactly one ORDER BY expression")
	}
	if d, ok := value(offset, o.w.q.env.Params); ok && (d.Null || negative(d)) {
		return badOffset()
	}
	k, to, err := rangeExprs(o.n.Order[0], kind, offset)
	if err != nil {
		return err
	}
	*key, *reach = o.store(k), o.store(to)
	return nil
}

// rangeExprs is the order's value, and the one that a RANGE frame reaches.
func rangeExprs(by planner.SortKey, kind kernels.BoundKind, offset planner.Expr) (key, reach planner.Expr, err error) {
	name := "+"
	if (kind == kernels.BoundPreceding) != by.Desc {
		name = "-"
	}
	r, err := catalog.ResolveScalar(name, []sqltype.Type{reachOf(by.Expr.Type()), offset.Type()})
	if err != nil {
		return nil, nil, err
	}
	args := []planner.Expr{castTo(by.Expr, r.Args[0]), castTo(offset, r.Args[1])}
	return castTo(by.Expr, r.Result), &planner.Call{Func: r.Func, Args: args, T: r.Result}, nil
}

// reachOf is the type in which an offset is added to a key: a wider one, since a
// frame may reach past the last integer.
func reachOf(t sqltype.Type) sqltype.Type {
	if !t.Kind.IsInteger() {
		return t
	}
	if t.Phys().Width() < sqltype.Int64.Phys().Width() {
		return sqltype.Int64
	}
	d, _ := sqltype.DecimalFor(t)
	return d
}

// negative reports a number or an interval below zero.
func negative(d sqltype.Datum) bool {
	switch d.Type.Phys() {
	case sqltype.PhysF32, sqltype.PhysF64:
		return d.F < 0
	case sqltype.PhysI128:
		return d.Hi < 0
	case sqltype.PhysSpan:
		return d.Span().Compare(sqltype.Span{}) < 0
	default:
		return d.I < 0
	}
}

func castTo(e planner.Expr, t sqltype.Type) planner.Expr {
	if e.Type() == t {
		return e
	}
	return &planner.Cast{X: e, To: t}
}

// prepare completes the bounds when the rows are there.
func (f *windowFrame) prepare(o *window) error {
	for i, b := range []*kernels.FrameBound{&f.f.Start, &f.f.End} {
		if v := f.bounds[i].value; f.f.Unit == kernels.FrameRange && v >= 0 &&
			(b.Kind == kernels.BoundPreceding || b.Kind == kernels.BoundFollowing) {
			b.Value = o.column(v).Vec
			b.Key = o.sortColumn(f.bounds[i].key)
			b.Key.Desc, b.Key.NullsFirst = o.n.Order[0].Desc, o.n.Order[0].NullsFirst
		}
	}
	return nil
}

// compute is the frames of the rows at to at+n.
func (f *windowFrame) compute(o *window, at, n int) (device.Ptr, error) {
	p, err := f.slab.Reserve(o.w.q.env.Memory, kernels.FrameBytes(n))
	if err != nil {
		return 0, err
	}
	return p, o.x.Frames(o.w.stream, f.f, at, n, p)
}

func (f *windowFrame) release() { f.slab.Release() }
