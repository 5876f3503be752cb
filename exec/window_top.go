package exec

import (
	"slices"

	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// asGiven reports a window whose functions go by the order of the input.
func (o *window) asGiven() bool {
	if len(o.n.Partition) > 0 || len(o.n.Order) > 0 {
		return false
	}
	return slices.ContainsFunc(o.funcs, func(f windowFunc) bool {
		switch f := f.(type) {
		case *windowAgg:
			return f.frame.f.Unit == kernels.FrameRows
		default:
			return true
		}
	})
}

// partitionTop drops rows that a window need not have: of each partition it
// knows the first rows so far, each worker those of its own, and what comes
// behind them is left out. See planner.WindowTop.
//
//	batch ── partition ──▶ group 7 ── first word of the order ──▶ behind the group's second? dropped
//
// What is kept may still be behind others that come later, so the window and the
// condition above it stay as they are.
type partitionTop struct {
	n      *planner.Window
	ties   bool // equal words: the row is kept
	parts  []int
	by     int
	claim  claim
	groups *kernels.Groups // nil: all rows are kept
	best   kernels.Array
	vecs   []kernels.Vec
	ids    arrow.Slab
	index  arrow.Slab
	picked gathered
	gain   gain
}

// newPartitionTop is nil where all rows are kept.
func newPartitionTop(w *worker, n *planner.Window, keys []planner.SortKey) *partitionTop {
	if n.Top.Rows == 0 || len(n.Partition) == 0 || !kernels.CanPickBest(w.stream) {
		return nil
	}
	mem := w.q.env.Memory
	places, _ := keyPlace(keys, n.Input)
	t := &partitionTop{n: n, parts: places[:len(n.Partition)], by: places[len(n.Partition)], claim: w.claim(), picked: gathered{mem: mem}}
	first := n.Order[0]
	t.ties = n.Top.Ties || len(n.Order) > 1 || first.NullsFirst || !kernels.OneWord(first.Expr.Type().Phys())
	phys, nullable := make([]sqltype.Phys, len(n.Partition)), make([]bool, len(n.Partition))
	for i, e := range n.Partition {
		phys[i], nullable[i] = e.Type().Phys(), true
	}
	t.groups = kernels.NewGroups(mem, kernels.NewKeyLayout(phys, nullable), w.q.env.HashZero)
	return t
}

// pick is the rows of a batch that are not known to be left out.
func (t *partitionTop) pick(w *worker, b *arrow.Batch) (*arrow.Batch, error) {
	if t == nil || t.groups == nil {
		return b, nil
	}
	keep, mem, s := int(t.n.Top.Rows), w.q.env.Memory, w.stream
	size := kernels.BestBytes(keep)
	used := size * t.groups.Len()
	if !t.pays() || !t.claim.ask(t.groups.Held()+int64(t.best.Cap()), t.groups.Grows(b.Rows)+t.best.Grows(used+size*b.Rows)) {
		t.release()
		return b, nil
	}
	ids, err := t.ids.Reserve(mem, 4*b.Rows)
	if err != nil {
		return nil, err
	}
	t.vecs = t.vecs[:0]
	for _, p := range t.parts {
		t.vecs = append(t.vecs, b.Columns[p].Vec)
	}
	if err := t.groups.Find(s, t.vecs, b.Rows, ids); err != nil {
		return nil, err
	}
	if err := t.best.Grow(mem, s, used, size*t.groups.Len()); err != nil {
		return nil, err
	}
	idx, err := t.index.Reserve(mem, kernels.SelectBytes(b.Rows))
	if err != nil {
		return nil, err
	}
	c, k := &b.Columns[t.by], t.n.Order[0]
	by := kernels.SortColumn{Vec: c.Vec, Phys: c.Type.Phys(), Desc: k.Desc, NullsFirst: k.NullsFirst}
	n, err := kernels.PickBest(s, by, ids, b.Rows, t.best.Ptr(), keep, t.ties, idx)
	if err != nil {
		return nil, err
	}
	t.gain.in += b.Rows
	t.gain.out += n
	if n == b.Rows {
		return b, nil
	}
	t.picked.reset(len(b.Columns), n)
	for i, c := range b.Columns {
		if err := t.picked.pick(s, i, c, idx, n); err != nil {
			return nil, err
		}
	}
	return &t.picked.out, nil
}

// pays reports that rows are dropped, as far as one can say: the first rows of
// a partition are kept in any case.
func (t *partitionTop) pays() bool {
	return t.gain.in < planner.WindowTopRows*int(t.n.Top.Rows)*t.groups.Len() || t.gain.pays()
}

// release gives the memory back; all rows are kept from then on.
func (t *partitionTop) release() {
	if t == nil || t.groups == nil {
		return
	}
	t.claim.drop()
	t.groups.Release()
	t.groups = nil
	t.best.Release()
	t.ids.Release()
	t.index.Release()
	t.picked.release()
}
