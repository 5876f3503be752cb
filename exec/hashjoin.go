package exec

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// hashJoin looks up the rows of one input, the probe side, in a table of the
// rows of the other, the build side, which is read first and by all workers.
// A join without keys is one where all rows have the same key.
type hashJoin struct {
	w     *worker
	shape *joinShape
	whole *joinShared
	state *joinShared // whole, or that of a part of what was spilled
	in    Operator    // the probe side, or that of the part
	keys  *expressions
	on    *residual

	cur    *arrow.Batch // the probe batch, nil: the next one is due
	chunk  int          // pairs at a time
	heads  arrow.Slab
	match  arrow.Slab
	flags  arrow.Slab // probe rows with a match
	maybe  arrow.Slab // probe rows where the condition was unknown
	pairs  arrow.Slab // probe rows, build rows
	cursor arrow.Slab
	index  arrow.Slab
	known  arrow.Slab
	hash   kernels.Array
	may    device.Ptr // probe rows whose keys are not NULL
	paired bool       // all pairs of cur are given
	begun  bool
	ended  bool
	rest   int // where giving the build side's rows is
	last   bool
	own    *device.Buffer // noted matches of build rows; the shared state releases it
	out    gathered

	source    Operator // the probe side
	scattered bool     // it is on disk
	claim     claim
}

// joinShape is what a Join node asks for, said by side.
type joinShape struct {
	n            *planner.Join
	build, probe planner.Node
	buildKeys    []planner.SortKey
	probeKeys    []planner.Expr
	layout       kernels.KeyLayout
	nullSafe     []bool
	on           planner.Expr
	kind         planner.JoinKind
	swapped      bool // the build side is the left one
	unknown      bool // a NULL condition matters by itself
	probeCols    int
	buildCols    int
	probeOuter   bool
	buildFlags   bool // build rows with a match are noted
	emitPairs    bool
	needFlags    bool // probe rows with a match are noted
}

// joinShared is the build side, for the probes of all workers.
type joinShared struct {
	once    once
	rows    *rowStore
	keys    []int // columns of rows
	table   *kernels.JoinTable
	match   device.Ptr
	matchOf arrow.Slab
	hasNull bool
	offered sync.Once
	filters []*joinFilter
	spilt   *joinSpilt // nil: the query cannot spill
	some    bool       // the build side has rows, though here may be none

	mu      sync.Mutex
	active  int              // probes that have begun and not ended
	flags   []*device.Buffer // noted matches, one a probe
	emitted bool
}

func newShape(n *planner.Join) *joinShape {
	s := &joinShape{n: n, build: n.Right, probe: n.Left, on: n.On, kind: n.Kind}
	switch n.Kind {
	case planner.Mark, planner.Single:
	default:
		s.swapped = n.BuildLeft && !n.NullAware
	}
	if s.swapped {
		s.build, s.probe = n.Left, n.Right
	}
	keys := n.Keys
	if n.NullAware && (len(keys) != 1 || n.On != nil) {
		s.unknown = true
		s.on = wholeCondition(n)
		keys = nil
	}
	var phys []sqltype.Phys
	for _, k := range keys {
		l, r := k.Left, k.Right
		if s.swapped {
			l, r = r, l
		}
		s.probeKeys = append(s.probeKeys, l)
		s.buildKeys = append(s.buildKeys, planner.SortKey{Expr: r})
		s.nullSafe = append(s.nullSafe, k.NullSafe)
		phys = append(phys, k.Left.Type().Phys())
	}
	if len(keys) > 0 {
		s.layout = kernels.NewKeyLayout(phys, s.nullSafe)
	}
	s.probeCols, s.buildCols = len(s.probe.Cols()), len(s.build.Cols())
	switch n.Kind {
	case planner.Inner:
		s.emitPairs = true
	case planner.Left, planner.Single:
		s.emitPairs, s.probeOuter, s.buildFlags = true, !s.swapped, s.swapped
	case planner.Right:
		s.emitPairs, s.probeOuter, s.buildFlags = true, s.swapped, !s.swapped
	case planner.Full:
		s.emitPairs, s.probeOuter, s.buildFlags = true, true, true
	case planner.Semi, planner.Anti, planner.Mark:
		s.buildFlags = s.swapped
	default:
		panic(fmt.Sprintf("exec: no join of kind %s", n.Kind))
	}
	s.needFlags = s.probeOuter || !s.emitPairs && !s.swapped
	return s
}

// wholeCondition is the join's condition with its keys as comparisons.
func wholeCondition(n *planner.Join) planner.Expr {
	var all []planner.Expr
	for _, k := range n.Keys {
		op := planner.Eq
		if k.NullSafe {
			op = planner.NotDistinct
		}
		all = append(all, &planner.Cmp{Op: op, L: k.Left, R: k.Right})
	}
	if n.On != nil {
		all = append(all, n.On)
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &planner.And{Args: all}
}

func newJoin(w *worker, n *planner.Join) (Operator, error) {
	if n.Lookup {
		return newLookupJoin(w, n)
	}
	if n.Dependent {
		return nil, notSupported("a lateral join that cannot be rewritten")
	}
	shape := newShape(n)
	in, err := w.build(shape.probe)
	if err != nil {
		return nil, err
	}
	j := &hashJoin{w: w, shape: shape, in: in, source: in, claim: w.claim(), chunk: max(w.q.batchRows, 1), out: gathered{mem: w.q.env.Memory}}
	if len(shape.probeKeys) > 0 {
		if j.keys, err = w.compile(shape.probeKeys, shape.probe.Cols()); err != nil {
			j.Close() //nolint:errcheck // nothing was read
			return nil, err
		}
	}
	if shape.on != nil {
		if j.on, err = newResidual(w, shape); err != nil {
			j.Close() //nolint:errcheck // nothing was read
			return nil, err
		}
	}
	j.state = shared(w.q, n, func() *joinShared { return &joinShared{} })
	j.whole = j.state
	j.state.offered.Do(func() { j.state.filters = j.offerFilters() })
	return j, nil
}

// build reads the build side and makes its table.
func (j *hashJoin) build(ctx context.Context) error {
	st, mem := j.state, j.w.q.env.Memory
	j.w.q.onClose(st.release)
	var to spiller
	if j.w.q.env.Spill != nil {
		st.spilt = newJoinSpilt(j.shape)
		to = st.spilt
	}
	var err error
	if st.rows, err = collect(ctx, j.w, j.shape.build, j.shape.buildKeys, allRows, to); err != nil || st.spilt.spilled() {
		return err
	}
	st.rows.lasts = j.w.q.parent == nil // a round of a recursive query ends earlier
	st.keys, _ = keyPlace(j.shape.buildKeys, j.shape.build)
	return j.table(ctx, st, mem)
}

// A table of buildBatches batches for each of buildWorkers workers is built by parts:
// two do it no faster than one alone.
const (
	buildBatches = 4
	buildWorkers = 3
)

// table makes the table of the rows that are there. Parts of what was spilled are
// made side by side, others each by all workers.
func (j *hashJoin) table(ctx context.Context, st *joinShared, mem device.Allocator) (err error) {
	s := j.w.stream
	vecs := make([]kernels.Vec, len(st.keys))
	for i, at := range st.keys {
		vecs[i] = st.rows.column(at).Vec
	}
	if st.match, err = j.matchable(vecs, st.rows.n, &st.matchOf); err != nil {
		return err
	}
	if st.match != 0 && j.shape.n.NullAware {
		if err := st.lookForNull(s, mem); err != nil {
			return err
		}
	}
	if err := st.fill(j.w, vecs, j.shape); err != nil {
		return err
	}
	st.table = kernels.NewJoinTable(mem, j.shape.layout, j.w.q.env.HashZero)
	n := min(j.w.q.workers, st.rows.n/(buildBatches*j.w.q.batchRows))
	if n >= buildWorkers && st == j.whole && s.Device().Traits().HostBytes {
		return st.table.BuildBy(s, vecs, st.rows.n, st.match, n, func(n int, f func(s device.Stream, i int) error) error {
			return j.w.share(ctx, n, func(_ context.Context, w *worker, i int) error { return f(w.stream, i) })
		})
	}
	return st.table.Build(s, vecs, st.rows.n, st.match)
}

// none reports that the build side has no rows.
func (st *joinShared) none() bool { return st.rows.n == 0 && !st.some }

func (st *joinShared) release() {
	if st.rows != nil {
		st.rows.release()
	}
	if st.table != nil {
		st.table.Release()
	}
	st.matchOf.Release()
	for _, f := range st.filters {
		f.keys.Load().Release()
	}
	for _, f := range st.flags {
		f.Release()
	}
	if st.spilt != nil {
		st.spilt.files.release()
	}
}

// lookForNull sees whether all rows may match.
func (st *joinShared) lookForNull(s device.Stream, mem device.Allocator) error {
	var idx arrow.Slab
	defer idx.Release()
	p, err := idx.Reserve(mem, kernels.SelectBytes(min(st.rows.n, kernels.PieceItems(s))))
	if err != nil {
		return err
	}
	return kernels.Pieces(s, st.rows.n, func(lo, hi int) error {
		if st.hasNull {
			return nil
		}
		some, err := kernels.SelectBits(s, st.match, lo, hi-lo, p)
		st.hasNull = some < hi-lo
		return err
	})
}

// matchable is the bitmap of the rows that may match: no key is NULL that must
// not be. 0: all.
func (j *hashJoin) matchable(keys []kernels.Vec, n int, slab *arrow.Slab) (device.Ptr, error) {
	var all device.Ptr
	for i, k := range keys {
		switch {
		case k.Valid == 0 || j.shape.nullSafe[i]:
		case all == 0:
			all = k.Valid
		default:
			to, err := slab.Reserve(j.w.q.env.Memory, kernels.BitmapBytes(n))
			if err != nil {
				return 0, err
			}
			if err := kernels.AndBits(j.w.stream, all, k.Valid, n, to); err != nil {
				return 0, err
			}
			all = to
		}
	}
	return all, nil
}

// Next implements Operator.
func (j *hashJoin) Next(ctx context.Context) (*arrow.Batch, error) {
	if err := j.whole.once.do(func() error { return j.build(ctx) }); err != nil {
		return nil, err
	}
	if j.whole.spilt.spilled() {
		return j.nextSpilt(ctx)
	}
	return j.rows(ctx)
}

// rows joins the rows of the state's build side.
func (j *hashJoin) rows(ctx context.Context) (*arrow.Batch, error) {
	j.begin()
	for !j.ended {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if j.cur == nil {
			if j.hopeless() { // before the probe side has computed anything
				j.end()
				break
			}
			b, err := j.in.Next(ctx)
			if err != nil {
				return nil, err
			}
			if b == nil {
				j.end()
				break
			}
			if err := j.probe(b); err != nil {
				return nil, err
			}
		}
		out, err := j.step(ctx)
		if out != nil || err != nil {
			return out, err
		}
	}
	return j.unmatched()
}

// hopeless reports that no probe row can give anything.
func (j *hashJoin) hopeless() bool {
	return j.state.rows.n == 0 && !j.shape.probeOuter && (j.shape.emitPairs || j.shape.kind == planner.Semi)
}

// probe begins a probe batch.
func (j *hashJoin) probe(b *arrow.Batch) (err error) {
	s, mem, n := j.w.stream, j.w.q.env.Memory, b.Rows
	j.cur, j.paired, j.may = b, false, 0
	var vecs []kernels.Vec
	if j.keys != nil {
		k, err := j.keys.run(b)
		if err != nil {
			return err
		}
		for i := range k.Columns {
			vecs = append(vecs, k.Columns[i].Vec)
		}
		if j.may, err = j.matchable(vecs, n, &j.match); err != nil {
			return err
		}
	}
	heads, err := j.heads.Reserve(mem, 4*n)
	if err != nil {
		return err
	}
	if err := j.state.table.Heads(s, vecs, n, j.may, heads, &j.hash); err != nil {
		return err
	}
	cursor, err := j.cursor.Reserve(mem, 32)
	if err != nil {
		return err
	}
	if err := kernels.Zero(s, cursor, 32); err != nil {
		return err
	}
	if j.shape.needFlags {
		flags, err := j.flags.Reserve(mem, n)
		if err != nil {
			return err
		}
		if j.on == nil && j.shape.kind != planner.Single {
			return kernels.FlagHeads(s, heads, n, flags)
		}
		if err := kernels.Zero(s, flags, n); err != nil {
			return err
		}
	}
	if j.shape.unknown {
		maybe, err := j.maybe.Reserve(mem, n)
		if err != nil {
			return err
		}
		return kernels.Zero(s, maybe, n)
	}
	return nil
}

// step gives more of the current probe batch, nil when it is done.
func (j *hashJoin) step(ctx context.Context) (*arrow.Batch, error) {
	needPairs := j.shape.emitPairs || j.on != nil || j.shape.buildFlags
	for needPairs && !j.paired {
		if err := ctx.Err(); err != nil { // a condition may refuse pairs for long
			return nil, err
		}
		probes, build, n, err := j.more()
		if err != nil {
			return nil, err
		}
		if n > 0 && j.shape.emitPairs {
			return j.give(probes, build, n)
		}
	}
	b := j.cur
	j.cur = nil
	switch {
	case j.shape.emitPairs && j.shape.probeOuter:
		return j.lonely(b)
	case j.shape.emitPairs || j.shape.swapped:
		return nil, nil
	case j.shape.kind == planner.Mark:
		return j.marked(b)
	default:
		return j.filtered(b)
	}
}

// more gets pairs of the current batch for which the condition is true, and
// notes them.
func (j *hashJoin) more() (probes, build device.Ptr, n int, err error) {
	s, mem := j.w.stream, j.w.q.env.Memory
	room, err := j.pairs.Reserve(mem, 8*j.chunk+8)
	if err != nil {
		return 0, 0, 0, err
	}
	probes, build = room, room+device.Ptr(4*j.chunk)
	heads := j.heads.Ptr()
	cursor := j.cursor.Ptr()
	c, err := j.state.table.Pairs(s, heads, j.cur.Rows, j.chunk, probes, build, cursor)
	if err != nil {
		return 0, 0, 0, err
	}
	j.paired = int(c.Row) >= j.cur.Rows
	n = int(c.N)
	flags := j.flags.Ptr()
	if j.on != nil && n > 0 {
		maybe := j.maybe.Ptr()
		if probes, build, n, err = j.on.keep(j.cur, j.state.rows, probes, build, n, maybe); err != nil {
			return 0, 0, 0, err
		}
	}
	if n == 0 {
		return probes, build, 0, nil
	}
	if j.shape.needFlags && (j.on != nil || j.shape.kind == planner.Single) {
		again, err := kernels.FlagRows(s, probes, n, flags, cursor+24)
		if err != nil {
			return 0, 0, 0, err
		}
		if again > 0 && j.shape.kind == planner.Single {
			return 0, 0, 0, twoRows()
		}
		if err := j.enough(c); err != nil {
			return 0, 0, 0, err
		}
	}
	if j.shape.buildFlags {
		own, err := j.noted()
		if err != nil {
			return 0, 0, 0, err
		}
		if _, err := kernels.FlagRows(s, build, n, own, cursor+24); err != nil {
			return 0, 0, 0, err
		}
	}
	return probes, build, n, nil
}

// enough goes on with the next probe row when a match is all that is asked of
// the one at c and it has one: the rest of its pairs would tell nothing.
func (j *hashJoin) enough(c kernels.PairCursor) error {
	if j.paired || c.Build == 0 || j.shape.emitPairs || j.shape.buildFlags {
		return nil
	}
	var flag [1]byte
	if err := j.w.stream.Download(flag[:], j.flags.Ptr()+device.Ptr(c.Row)); err != nil || flag[0] == 0 {
		return err
	}
	j.paired = int(c.Row)+1 >= j.cur.Rows
	var to [24]byte
	binary.LittleEndian.PutUint64(to[:], c.Row+1)
	return j.w.stream.Upload(j.cursor.Ptr(), to[:])
}

func twoRows() error {
	return sqltype.Errorf(sqltype.CodeCardinality, "more than one row returned by a subquery used as an expression")
}
