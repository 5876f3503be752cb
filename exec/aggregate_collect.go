package exec

import (
	"context"
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// collectSpec is an aggregate that keeps its input: it is computed when all
// rows are there, from the rows of each group in order.
type collectSpec struct {
	collect  kernels.Collect
	cols     []int // what is kept of each row, as places of expressions: the argument first
	second   int   // which of cols is the separator or the fraction; -1: none
	keys     []collectKey
	filter   int // place of the filter, or -1
	skip     int // place of the expression whose NULLs are passed over, or -1
	distinct bool
	result   sqltype.Type
}

// collectKey orders the rows of a group by one of the collectSpec's cols.
type collectKey struct {
	col              int
	desc, nullsFirst bool
}

// collectOps are the aggregates that collect whatever is asked of them.
var collectOps = map[catalog.FuncID]kernels.CollectOp{
	catalog.FuncStringAgg:    kernels.CollectJoin,
	catalog.FuncMedian:       kernels.CollectQuantileCont,
	catalog.FuncQuantileCont: kernels.CollectQuantileCont,
	catalog.FuncQuantileDisc: kernels.CollectQuantileDisc,
	catalog.FuncMode:         kernels.CollectMode,
	catalog.FuncArgMin:       kernels.CollectFirst,
	catalog.FuncArgMax:       kernels.CollectFirst,
	catalog.FuncFirst:        kernels.CollectFirst,
	catalog.FuncLast:         kernels.CollectLast,
	catalog.FuncList:         kernels.CollectList,
}

// collecting adds an aggregate that collects its input, and reports false for
// any other.
func (s *aggSpec) collecting(a *planner.Agg) bool {
	op, ok := collectOps[a.Func.ID]
	if a.Func.ID == catalog.FuncAnyValue && len(a.OrderBy) > 0 {
		op, ok = kernels.CollectFirst, true
	}
	if !ok {
		return false
	}
	t := a.Args[0].Type()
	c := collectSpec{collect: kernels.Collect{Op: op, Phys: t.Phys()}, second: -1, filter: -1, distinct: a.Distinct, result: t}
	if op == kernels.CollectList {
		c.collect.Elem, c.result = t, sqltype.ListOf(t)
	}
	c.col(s, onlyWhere(a.Args[0], a.Filter))
	c.skip = c.cols[0]
	if a.Filter != nil {
		c.filter = s.expr(a.Filter)
	}
	switch a.Func.ID {
	case catalog.FuncArgMin, catalog.FuncArgMax:
		by := c.col(s, onlyWhere(a.Args[1], a.Filter))
		c.skip = c.cols[by]
		c.keys = append(c.keys, collectKey{col: by, desc: a.Func.ID == catalog.FuncArgMax})
	case catalog.FuncMedian:
		c.second = c.col(s, &planner.Const{Value: sqltype.NewFloat64(0.5)})
	case catalog.FuncFirst, catalog.FuncLast, catalog.FuncList: // they give a NULL that they meet
		c.skip = -1
	case catalog.FuncStringAgg, catalog.FuncQuantileCont, catalog.FuncQuantileDisc:
		if len(a.Args) > 1 {
			c.second = c.col(s, a.Args[1])
		}
	}
	for _, k := range a.OrderBy {
		c.keys = append(c.keys, collectKey{col: c.col(s, k.Expr), desc: k.Desc, nullsFirst: k.NullsFirst})
	}
	switch op {
	case kernels.CollectMode, kernels.CollectQuantileCont, kernels.CollectQuantileDisc:
		// By value, in the direction that WITHIN GROUP asks for.
		desc := len(c.keys) > 0 && c.keys[0].col == 0 && c.keys[0].desc
		c.keys = []collectKey{{col: 0, desc: desc}}
	default:
		s.inOrder = s.inOrder || len(a.OrderBy) == 0
	}
	s.collects = append(s.collects, c)
	s.finals = append(s.finals, aggFinal{state: -1, collect: len(s.collects) - 1})
	return true
}

// col is the place in c.cols of an expression, which is added to s.
func (c *collectSpec) col(s *aggSpec, e planner.Expr) int {
	p := s.expr(e)
	if i := slices.Index(c.cols, p); i >= 0 {
		return i
	}
	c.cols = append(c.cols, p)
	return len(c.cols) - 1
}

// collected is the rows of a collectSpec: the group's number, and then its cols.
// Rows are in the order in which they came.
type collected struct {
	env  *Env
	spec *collectSpec
	defs []planner.ColDef
	rows *rowStore
	most int // rows from where it pays to drop what the result does not need

	zero, mask, index arrow.Slab
	row, kept         gathered
	seen              *kernels.Groups // of DISTINCT: the pairs of group and argument
	counts            kernels.Array
	ids               arrow.Slab
	order, scratch    arrow.Slab
	data, valid       arrow.Slab // the results
	heap              *kernels.Heap
}

func newCollected(env *Env, s *aggSpec, spec *collectSpec) *collected {
	c := &collected{env: env, spec: spec, most: 1 << 16, heap: kernels.NewHeap(env.Memory),
		row: gathered{mem: env.Memory}, kept: gathered{mem: env.Memory}}
	c.defs = spec.defs(s)
	c.rows = newRowStore(env.Memory, c.defs)
	if spec.distinct {
		pair := kernels.NewKeyLayout([]sqltype.Phys{sqltype.PhysU32, spec.collect.Phys}, []bool{false, true})
		c.seen = kernels.NewGroups(env.Memory, pair, env.HashZero)
	}
	return c
}

// add takes the rows of a batch of the aggSpec's expressions, which are of
// groups ids (0: all of group 0).
func (c *collected) add(s device.Stream, ids device.Ptr, x *arrow.Batch) error {
	ids, err := c.someIDs(s, ids, x.Rows)
	if err != nil {
		return err
	}
	b := &arrow.Batch{Rows: x.Rows, Columns: []arrow.Column{{Type: sqltype.Uint32, Vec: kernels.Vec{Data: ids}}}}
	for _, p := range c.spec.cols {
		b.Columns = append(b.Columns, x.Columns[p])
	}
	var keep device.Ptr
	if c.spec.skip >= 0 {
		keep = x.Columns[c.spec.skip].Vec.Valid
	}
	if c.spec.filter >= 0 {
		mask, err := c.mask.Reserve(c.env.Memory, kernels.BitmapBytes(x.Rows))
		if err != nil {
			return err
		}
		if err := kernels.WhereTrue(s, keep, x.Columns[c.spec.filter].Vec, x.Rows, mask); err != nil {
			return err
		}
		keep = mask
	}
	if keep != 0 {
		idx, err := c.index.Reserve(c.env.Memory, kernels.SelectBytes(x.Rows))
		if err != nil {
			return err
		}
		n, err := kernels.SelectBits(s, keep, 0, x.Rows, idx)
		if err != nil {
			return err
		}
		if b, err = c.take(s, &c.row, b, idx, n); err != nil {
			return err
		}
	}
	return c.insert(s, b)
}

// someIDs are the groups of n rows where 0 stands for group 0 of all.
func (c *collected) someIDs(s device.Stream, ids device.Ptr, n int) (device.Ptr, error) {
	if ids != 0 {
		return ids, nil
	}
	ids, err := c.zero.Reserve(c.env.Memory, 4*n)
	if err != nil {
		return 0, err
	}
	return ids, kernels.Zero(s, ids, 4*n)
}

// take is n rows of a batch, by number.
func (c *collected) take(s device.Stream, g *gathered, b *arrow.Batch, idx device.Ptr, n int) (*arrow.Batch, error) {
	switch n {
	case b.Rows:
		return b, nil
	case 0:
		return &arrow.Batch{}, nil
	}
	g.reset(len(b.Columns), n)
	for i, col := range b.Columns {
		if err := g.pick(s, i, col, idx, n); err != nil {
			return nil, err
		}
	}
	return &g.out, nil
}

// insert keeps rows, with DISTINCT those that are new.
func (c *collected) insert(s device.Stream, b *arrow.Batch) (err error) {
	if b.Rows == 0 {
		return nil
	}
	if c.seen != nil {
		if b, err = c.fresh(s, b); err != nil || b.Rows == 0 {
			return err
		}
	}
	if err := c.rows.add(s, b); err != nil {
		return err
	}
	one := c.spec.collect.Op == kernels.CollectFirst || c.spec.collect.Op == kernels.CollectLast
	if one && c.rows.n > c.most {
		return c.cut(s)
	}
	return nil
}

// fresh is the rows of a batch whose pair of group and argument is new.
func (c *collected) fresh(s device.Stream, b *arrow.Batch) (*arrow.Batch, error) {
	mem, n := c.env.Memory, b.Rows
	ids, err := c.ids.Reserve(mem, 4*n)
	if err != nil {
		return nil, err
	}
	used := 4 * c.seen.Len()
	if err := c.seen.Find(s, []kernels.Vec{b.Columns[0].Vec, b.Columns[1].Vec}, n, ids); err != nil {
		return nil, err
	}
	if err := c.counts.Grow(mem, s, used, 4*c.seen.Len()); err != nil {
		return nil, err
	}
	idx, err := c.index.Reserve(mem, kernels.SelectBytes(n))
	if err != nil {
		return nil, err
	}
	m, err := kernels.Pick(s, ids, n, c.counts.Ptr(), kernels.PickFresh, idx)
	if err != nil {
		return nil, err
	}
	return c.take(s, &c.kept, b, idx, m)
}

// merge adds the rows of another worker; to maps its groups.
func (c *collected) merge(s device.Stream, o *collected, to device.Ptr) error {
	cut := slicer{mem: c.env.Memory}
	defer cut.release()
	all := o.rows.all()
	return kernels.Pieces(s, o.rows.n, func(lo, hi int) error {
		b, err := cut.batch(s, all, lo, hi)
		if err != nil {
			return err
		}
		ids, err := c.zero.Reserve(c.env.Memory, 4*b.Rows)
		if err != nil {
			return err
		}
		v := kernels.Vec{Data: ids}
		if err := kernels.Gather(s, 4, &v, kernels.Vec{Data: to}, b.Columns[0].Vec.Data, b.Rows); err != nil {
			return err
		}
		b.Columns[0].Vec = v
		return c.insert(s, b)
	})
}

// sort puts the rows in order, by group first.
func (c *collected) sort(s device.Stream) (in kernels.Collected, err error) {
	col := func(i int) kernels.SortColumn {
		a := c.rows.column(i)
		return kernels.SortColumn{Vec: a.Vec, Phys: a.Type.Phys()}
	}
	by := []kernels.SortColumn{col(0)}
	for _, k := range c.spec.keys {
		x := col(1 + k.col)
		x.Desc, x.NullsFirst = k.desc, k.nullsFirst
		by = append(by, x)
	}
	n := c.rows.n
	in = kernels.Collected{N: n, IDs: c.rows.column(0).Vec.Data, Src: c.rows.column(1).Vec}
	if c.spec.second >= 0 {
		in.Second = c.rows.column(1 + c.spec.second).Vec
	}
	if in.Rows, err = c.order.Reserve(c.env.Memory, 4*n); err != nil {
		return in, err
	}
	tmp, err := c.scratch.Reserve(c.env.Memory, kernels.SortBytes(n))
	if err != nil {
		return in, err
	}
	err = kernels.Sort(s, by, n, in.Rows, tmp)
	c.scratch.Release()
	return in, err
}

// cut keeps one row of each group.
func (c *collected) cut(s device.Stream) error {
	in, err := c.sort(s)
	if err != nil {
		return err
	}
	idx, err := c.index.Reserve(c.env.Memory, 4*in.N)
	if err != nil {
		return err
	}
	n, err := c.spec.collect.Heads(s, in, idx)
	if err != nil {
		return err
	}
	b, err := c.take(s, &c.kept, c.rows.all(), idx, n)
	if err != nil {
		return err
	}
	rows := newRowStore(c.env.Memory, c.defs)
	if err := rows.add(s, b); err != nil {
		rows.release()
		return err
	}
	c.rows.release()
	c.rows = rows
	c.most = max(1<<16, 2*n)
	return nil
}

// held is the memory that the rows have.
func (c *collected) held() int64 {
	n := c.rows.held() + c.heap.Held()
	if c.seen != nil {
		n += c.seen.Held()
	}
	return n
}

// grows is about how much memory n more rows, and sorting all, would take.
func (c *collected) grows(n int) int64 {
	more := c.rows.grows(n) + int64(kernels.SortBytes(c.rows.n+n)+4*(c.rows.n+n))
	if c.spec.collect.Op == kernels.CollectJoin || c.spec.collect.Op == kernels.CollectList {
		more += c.rows.held() // the results
	}
	if c.seen != nil {
		more += c.seen.Grows(n)
	}
	return more
}

// finish computes the results of groups; column gives them afterwards.
func (c *collected) finish(ctx context.Context, s device.Stream, groups int) error {
	var dst kernels.Vec
	var err error
	if dst.Data, err = c.data.Reserve(c.env.Memory, groups*c.spec.result.Phys().Width()); err != nil {
		return err
	}
	if dst.Valid, err = c.valid.Reserve(c.env.Memory, kernels.BitmapBytes(groups)); err != nil {
		return err
	}
	var in kernels.Collected
	if c.rows.n > 0 {
		if in, err = c.sort(s); err != nil {
			return err
		}
	}
	return c.spec.collect.Final(s, in, groups, dst, c.heap)
}

// column is the results from group lo, a multiple of 64, on.
func (c *collected) column(lo int) arrow.Column {
	t := c.spec.result
	return arrow.Column{Type: t, Vec: kernels.Vec{
		Data:  c.data.Ptr() + device.Ptr(lo*t.Phys().Width()),
		Valid: c.valid.Ptr() + device.Ptr(lo/8),
	}}
}

func (c *collected) release() {
	c.rows.release()
	c.row.release()
	c.kept.release()
	c.heap.Release()
	c.counts.Release()
	if c.seen != nil {
		c.seen.Release()
	}
	for _, s := range []*arrow.Slab{&c.zero, &c.mask, &c.index, &c.ids, &c.order, &c.scratch, &c.data, &c.valid} {
		s.Release()
	}
}
