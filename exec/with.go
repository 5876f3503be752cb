package exec

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// newWith makes the operator of a With: its body's. The definition is computed
// when a CTEScan first asks for it.
func newWith(w *worker, n *planner.With) (Operator, error) {
	w.q.mu.Lock()
	if w.q.ctes == nil {
		w.q.ctes = map[int]*planner.With{}
	}
	w.q.ctes[n.CTE] = n
	w.q.mu.Unlock()
	return w.build(n.Body)
}

// cteRows is a definition computed: the stores that its workers filled.
type cteRows struct {
	once   once
	mu     sync.Mutex
	stores []*rowStore
}

// compute runs a definition to its end, once.
func (c *cteRows) compute(ctx context.Context, w *worker, n *planner.With) error {
	return c.once.do(func() error {
		w.q.onClose(c.release)
		if n.Step != nil {
			return c.recurse(ctx, w, n)
		}
		return w.run(ctx, n.Def, c.collect(w.q.env, n.Def))
	})
}

func (c *cteRows) release() {
	for _, s := range c.stores {
		s.release()
	}
	c.stores = nil
}

// collect drains an operator into a store.
func (c *cteRows) collect(env *Env, n planner.Node) func(context.Context, *worker, Operator) error {
	return func(ctx context.Context, w *worker, op Operator) error {
		store := newRowStore(env.Memory, n.Cols())
		c.mu.Lock()
		c.stores = append(c.stores, store)
		c.mu.Unlock()
		return store.drain(ctx, w, op)
	}
}

// drain adds all that an operator gives.
func (r *rowStore) drain(ctx context.Context, w *worker, op Operator) error {
	for {
		b, err := op.Next(ctx)
		if b == nil || err != nil {
			return err
		}
		if err := r.add(w.stream, b); err != nil {
			return err
		}
	}
}

// recurse computes a recursive definition: the start, and then the step over
// what the round before gave that is new, until a round gives nothing.
func (c *cteRows) recurse(ctx context.Context, w *worker, n *planner.With) error {
	var seen *rowGroups
	if !n.StepAll {
		seen = newRowGroups(w, n.Def.Cols())
		defer seen.release()
	}
	input := n.Def
	all := newRowStore(w.q.env.Memory, n.Def.Cols())
	c.stores = []*rowStore{all}
	var last *rowStore
	for {
		next, err := w.q.round(ctx, w, n, input, last, seen)
		if last != nil {
			last.release()
		}
		last, input = next, n.Step
		if err == nil && next.n > 0 {
			err = all.add(w.stream, next.all())
		}
		if err != nil || next.n == 0 {
			next.release()
			return err
		}
	}
}

// round runs one round as a query of its own: its nodes have states of their
// own, and its CTEScan of n reads last.
func (q *query) round(ctx context.Context, w *worker, n *planner.With, input planner.Node, last *rowStore, seen *rowGroups) (*rowStore, error) {
	sub := &query{env: q.env, workers: 1, batchRows: q.batchRows, parent: q}
	if last != nil {
		sub.states = map[any]any{cteKey{n.CTE}: &cteRows{once: once{done: true}, stores: []*rowStore{last}}}
	}
	defer sub.close()
	store := newRowStore(q.env.Memory, n.Def.Cols())
	err := (&worker{q: sub, stream: w.stream}).run(ctx, input, func(ctx context.Context, w *worker, op Operator) error {
		for {
			b, err := op.Next(ctx)
			if b == nil || err != nil {
				return err
			}
			if seen != nil {
				if b, err = seen.pick(b, kernels.PickFresh); err != nil {
					return err
				}
			}
			if b.Rows > 0 {
				if err := store.add(w.stream, b); err != nil {
					return err
				}
			}
		}
	})
	return store, err
}

// cteKey keys the rows of a CTE among a query's states.
type cteKey struct{ cte int }

// rowsOf gives the rows of a CTE: a recursive round's, or the query's where the
// With stands, which computes and keeps them, for all rounds.
func (w *worker) rowsOf(ctx context.Context, id int) (*cteRows, error) {
	for q := w.q; q != nil; q = q.parent {
		q.mu.Lock()
		s, ok := q.states[cteKey{id}]
		def := q.ctes[id]
		q.mu.Unlock()
		if def != nil {
			rows := shared(q, cteKey{id}, func() *cteRows { return &cteRows{} })
			return rows, rows.compute(ctx, &worker{q: q, stream: w.stream}, def)
		}
		if ok {
			return s.(*cteRows), nil
		}
	}
	panic(fmt.Sprintf("exec: no definition of CTE %d", id))
}

// cteScan gives the rows of a CTE, shared out to the workers.
type cteScan struct {
	w     *worker
	n     *planner.CTEScan
	rows  *cteRows
	next  *atomic.Int64
	view  slicer
	pick  arrow.Batch
	ready bool
}

func newCTEScan(w *worker, n *planner.CTEScan) (Operator, error) {
	s := &cteScan{w: w, n: n, view: slicer{mem: w.q.env.Memory}, pick: arrow.Batch{Columns: make([]arrow.Column, len(n.Source))}}
	s.next = shared(w.q, n, func() *atomic.Int64 { return new(atomic.Int64) })
	return s, nil
}

// Next implements Operator.
func (s *cteScan) Next(ctx context.Context) (*arrow.Batch, error) {
	if !s.ready {
		s.ready = true
		var err error
		if s.rows, err = s.w.rowsOf(ctx, s.n.CTE); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows := s.w.q.batchRows
	m := int(s.next.Add(1)) - 1
	for _, store := range s.rows.stores {
		batches := (store.n + rows - 1) / rows
		if m >= batches {
			m -= batches
			continue
		}
		lo := m * rows
		hi := min(lo+rows, store.n)
		s.pick.Rows = hi - lo
		for i, src := range s.n.Source {
			c, err := s.view.column(s.w.stream, i, store.column(src), lo, hi)
			if err != nil {
				return nil, err
			}
			s.pick.Columns[i] = c
		}
		return &s.pick, nil
	}
	return nil, nil
}

// Close implements Operator.
func (s *cteScan) Close() error {
	s.view.release()
	return nil
}
