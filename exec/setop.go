package exec

import (
	"context"
	"fmt"
	"math"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// rowGroups numbers the distinct rows of batches, NULLs being equal, and keeps
// a count for each.
type rowGroups struct {
	ground
	groups *kernels.Groups
	vecs   []kernels.Vec
	ids    arrow.Slab
	counts kernels.Array
	index  arrow.Slab
	out    gathered
}

func newRowGroups(w *worker, n planner.Node, cols []planner.ColDef) *rowGroups {
	g := &rowGroups{ground: w.ground(n), out: gathered{mem: w.q.env.Memory}}
	phys, nullable := make([]sqltype.Phys, len(cols)), make([]bool, len(cols))
	for i, c := range cols {
		phys[i] = c.Type.Phys()
		nullable[i] = true
	}
	g.groups = kernels.NewGroups(w.q.env.Memory, kernels.NewKeyLayout(phys, nullable), w.q.env.HashZero)
	return g
}

// find numbers the rows of a batch.
func (g *rowGroups) find(b *arrow.Batch) (ids device.Ptr, err error) {
	mem, s := g.w.q.env.Memory, g.w.stream
	if ids, err = g.ids.Reserve(mem, 4*b.Rows); err != nil {
		return 0, err
	}
	g.vecs = g.vecs[:0]
	for i := range b.Columns {
		g.vecs = append(g.vecs, b.Columns[i].Vec)
	}
	used := 4 * g.groups.Len()
	keep := g.under(g.groups.Held()+int64(g.counts.Cap()), g.groups.Grows(b.Rows)+g.counts.Grows(used+4*b.Rows))
	g.groups.Use(keep)
	if err := g.groups.Find(s, g.vecs, b.Rows, ids); err != nil {
		return 0, err
	}
	return ids, g.counts.Grow(keep, s, used, 4*g.groups.Len())
}

// count adds a batch to the counts, each at most most.
func (g *rowGroups) count(b *arrow.Batch, most uint32) error {
	ids, err := g.find(b)
	if err != nil {
		return err
	}
	return kernels.CountGroups(g.w.stream, ids, b.Rows, g.counts.Ptr(), most)
}

// choose writes the numbers of the rows that mode takes to g.index, and gives
// how many they are.
func (g *rowGroups) choose(b *arrow.Batch, mode kernels.PickMode) (int, error) {
	ids, err := g.find(b)
	if err != nil {
		return 0, err
	}
	idx, err := g.index.Reserve(g.w.q.env.Memory, kernels.SelectBytes(b.Rows))
	if err != nil {
		return 0, err
	}
	return kernels.Pick(g.w.stream, ids, b.Rows, g.counts.Ptr(), mode, idx)
}

// pick is the rows of a batch that mode takes; it may have none.
func (g *rowGroups) pick(b *arrow.Batch, mode kernels.PickMode) (*arrow.Batch, error) {
	n, err := g.choose(b, mode)
	if n == b.Rows || err != nil {
		return b, err
	}
	g.out.reset(len(b.Columns), n)
	for i, c := range b.Columns {
		if err := g.out.pick(g.w.stream, i, c, g.index.Ptr(), n); err != nil {
			return nil, err
		}
	}
	return &g.out.out, nil
}

func (g *rowGroups) release() {
	g.drop()
	g.groups.Release()
	g.ids.Release()
	g.counts.Release()
	g.index.Release()
	g.out.release()
}

// newSetOp makes the operator of UNION, INTERSECT or EXCEPT.
func newSetOp(w *worker, n *planner.SetOp) (Operator, error) {
	if n.Op == planner.Union && n.All {
		left, err := w.build(n.Left)
		if err != nil {
			return nil, err
		}
		right, err := w.build(n.Right)
		if err != nil {
			left.Close() //nolint:errcheck // nothing was read
			return nil, err
		}
		// A chain of them is one operator, or a row would go through all of the chain.
		if chain, ok := left.(*unionAll); ok {
			chain.ins = append(chain.ins, right)
			return chain, nil
		}
		return &unionAll{ins: []Operator{left, right}}, nil
	}
	if w.q.env.Spill != nil {
		as := shared(w.q, spillingOf{n}, func() planner.Node { return spilling(n) })
		if s := w.q.env.Stats; s != nil {
			s.alias(as, n)
		}
		return w.operator(as)
	}
	return &setOp{w: w, n: n}, nil
}

// spillingOf keys the node that stands for a set operation.
type spillingOf struct{ n *planner.SetOp }

// spilling is a set operation by operators that go on where memory ends. Without a
// limit setOp does better: it gives rows as they come.
//
//	INTERSECT      the different rows of the left that are on the right: a semi join
//	INTERSECT ALL  the same, of rows that are numbered among their equals: the i-th
//	               of the left is there when the right has i of them
//	EXCEPT (ALL)   an anti join
func spilling(n *planner.SetOp) planner.Node {
	if n.Op == planner.Union {
		all := *n
		all.All = true
		return distinctRows(&all)
	}
	j := &planner.Join{Kind: planner.Semi, Left: n.Left, Right: n.Right}
	if n.Op == planner.Except {
		j.Kind = planner.Anti
	}
	if n.All {
		j.Left, j.Right = numberedRows(n.Left, numberOfLeft), numberedRows(n.Right, numberOfRight)
	} else {
		j.Left = distinctRows(n.Left)
	}
	left, right := j.Left.Cols(), j.Right.Cols()
	for i := range left {
		j.Keys = append(j.Keys, planner.JoinKey{Left: columnOf(left[i]), Right: columnOf(right[i]), NullSafe: true})
	}
	if !n.All {
		return j
	}
	p := &planner.Project{Input: j}
	for _, c := range n.Left.Cols() {
		p.Exprs = append(p.Exprs, planner.NamedExpr{Col: c, Expr: columnOf(c)})
	}
	return p
}

// The columns that numberedRows adds go no further than the join above: no
// other column has such numbers.
const (
	numberOfLeft  planner.ColumnID = -1
	numberOfRight planner.ColumnID = -2
)

// numberedRows is the rows of a node with their number among those that are equal.
func numberedRows(n planner.Node, number planner.ColumnID) planner.Node {
	w := &planner.Window{Input: n, Funcs: []planner.WindowFunc{{
		Col:  planner.ColDef{ID: number, Name: "row_number", Type: sqltype.Int64, NotNull: true},
		Func: &catalog.Func{ID: catalog.FuncRowNumber},
	}}}
	for _, c := range n.Cols() {
		w.Partition = append(w.Partition, columnOf(c))
	}
	return w
}

// distinctRows is the different rows of a node.
func distinctRows(n planner.Node) planner.Node {
	a := &planner.Aggregate{Input: n}
	for _, c := range n.Cols() {
		a.Groups = append(a.Groups, planner.NamedExpr{Col: c, Expr: columnOf(c)})
	}
	return a
}

func columnOf(c planner.ColDef) *planner.Col { return &planner.Col{ID: c.ID, Name: c.Name, T: c.Type} }

// unionAll gives the rows of one input after the other. Every worker reads its
// share of both.
type unionAll struct {
	ins []Operator
	at  int
}

// Next implements Operator.
func (u *unionAll) Next(ctx context.Context) (*arrow.Batch, error) {
	for u.at < len(u.ins) {
		b, err := u.ins[u.at].Next(ctx)
		if b != nil || err != nil {
			return b, err
		}
		u.at++
	}
	return nil, nil
}

// Close implements Operator.
func (u *unionAll) Close() error {
	var first error
	for _, in := range u.ins {
		if err := in.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// setOp is the other set operations. One worker does them, row by row in the
// order of the input; the inputs are read by all.
type setOp struct {
	w      *worker
	n      *planner.SetOp
	groups *rowGroups
	mode   kernels.PickMode
	inputs []planner.Node // still to be picked from
	in     Operator
}

// start counts the right side of INTERSECT and EXCEPT.
func (o *setOp) start(ctx context.Context) error {
	o.groups = newRowGroups(o.w, o.n, o.n.Columns)
	most := uint32(math.MaxUint32)
	if !o.n.All {
		most = 1
	}
	switch o.n.Op {
	case planner.Union:
		o.mode, o.inputs = kernels.PickFresh, []planner.Node{o.n.Left, o.n.Right}
		return nil
	case planner.Intersect:
		o.mode = kernels.PickTake
	case planner.Except:
		o.mode = kernels.PickFresh
		if o.n.All {
			o.mode = kernels.PickLeave
		}
	default:
		panic(fmt.Sprintf("exec: set operation %d", o.n.Op))
	}
	o.inputs = []planner.Node{o.n.Left}
	in, err := o.w.buildTop(o.n.Right)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was read to its end, or the error is known
	for {
		b, err := in.Next(ctx)
		if b == nil || err != nil {
			return err
		}
		if err := o.groups.count(b, most); err != nil {
			return err
		}
	}
}

// Next implements Operator.
func (o *setOp) Next(ctx context.Context) (*arrow.Batch, error) {
	if o.groups == nil {
		if !o.w.q.claim(o.n, o) {
			return nil, nil
		}
		if err := o.start(ctx); err != nil {
			return nil, err
		}
	}
	for {
		if o.in == nil {
			if len(o.inputs) == 0 {
				return nil, nil
			}
			in, err := o.w.buildTop(o.inputs[0])
			if err != nil {
				return nil, err
			}
			o.in, o.inputs = in, o.inputs[1:]
		}
		b, err := o.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			err := o.in.Close()
			o.in = nil
			if err != nil {
				return nil, err
			}
			continue
		}
		if b, err = o.groups.pick(b, o.mode); err != nil || b.Rows > 0 {
			return b, err
		}
	}
}

// Close implements Operator.
func (o *setOp) Close() error {
	if o.groups != nil {
		o.groups.release()
	}
	if o.in == nil {
		return nil
	}
	in := o.in
	o.in = nil
	return in.Close()
}
