package exec

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// newWith makes the operator of a With: its body's. The definition is computed
// when a CTEScan first asks for it.
func newWith(w *worker, n *planner.With) (Operator, error) {
	q := w.q.whole()
	q.mu.Lock()
	if q.ctes == nil {
		q.ctes = map[int]*planner.With{}
	}
	q.ctes[n.CTE] = n
	q.mu.Unlock()
	body, err := w.build(n.Body)
	if err != nil || !n.Changes {
		return body, err
	}
	return &afterChange{Operator: body, w: w, cte: n.CTE}, nil
}

// afterChange is the body of a With whose definition changes data: it begins when
// that has ended, whether it reads it or not.
type afterChange struct {
	Operator
	w     *worker
	cte   int
	ended bool
}

// Next implements Operator.
func (a *afterChange) Next(ctx context.Context) (*arrow.Batch, error) {
	if !a.ended {
		if _, err := a.w.rowsOf(ctx, a.cte); err != nil {
			return nil, err
		}
		a.ended = true
	}
	return a.Operator.Next(ctx)
}

// cteRows is a definition computed: the stores that its workers filled.
type cteRows struct {
	once   once
	mu     sync.Mutex
	stores []*rowStore
	rounds *recursion // of a recursive definition with one reader: what is left
}

// compute runs a definition to its end, once.
func (c *cteRows) compute(ctx context.Context, w *worker, n *planner.With) error {
	return c.once.do(func() error {
		w.q.onClose(c.release)
		if n.Step != nil {
			return c.recurse(ctx, w, n)
		}
		return w.run(ctx, n.Def, c.collect(n, n.Def))
	})
}

func (c *cteRows) release() {
	for _, s := range c.stores {
		s.release()
	}
	c.stores = nil
}

// collect drains an operator of n into stores: one in memory, and then, where
// there is no more room, some in mapped memory. These end at a size, since one
// that grew would be written again each time.
func (c *cteRows) collect(owner, n planner.Node) func(context.Context, *worker, Operator) error {
	return func(ctx context.Context, w *worker, op Operator) error {
		g := w.ground(owner)
		defer g.drop()
		var store *rowStore
		for {
			b, err := op.Next(ctx)
			if b == nil || err != nil {
				return err
			}
			if store == nil || g.full(store.held(), store.grows(b.Rows)) {
				store = c.store(&g, n)
			}
			if err := store.add(w.stream, b); err != nil {
				return err
			}
		}
	}
}

// store begins a store.
func (c *cteRows) store(g *ground, n planner.Node) *rowStore {
	s := newRowStore(g.under(0, 0), n.Cols())
	c.mu.Lock()
	c.stores = append(c.stores, s)
	c.mu.Unlock()
	return s
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
	at    int // of a recursion with one reader: the next row
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
	if s.rows.rounds != nil {
		return s.stream(ctx)
	}
	rows := s.w.q.batchRows
	m := int(s.next.Add(1)) - 1
	for _, store := range s.rows.stores {
		batches := (store.n + rows - 1) / rows
		if m >= batches {
			m -= batches
			continue
		}
		return s.give(store, m*rows)
	}
	return nil, nil
}

// give is a batch of a store's rows from lo on.
func (s *cteScan) give(store *rowStore, lo int) (*arrow.Batch, error) {
	hi := min(lo+s.w.q.batchRows, store.n)
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

// stream gives the rows of the rounds that were run, and runs the next one when
// they are used up: a LIMIT ends a recursion that has no end of its own.
func (s *cteScan) stream(ctx context.Context) (*arrow.Batch, error) {
	if !s.w.q.claim(s.n, s) {
		return nil, nil
	}
	r := s.rows.rounds
	for s.at >= r.all.n {
		if r.ended {
			return nil, nil
		}
		if err := r.round(ctx, s.w); err != nil {
			return nil, err
		}
	}
	lo := s.at
	b, err := s.give(r.all, lo)
	if err == nil {
		s.at += b.Rows
	}
	return b, err
}

// Close implements Operator.
func (s *cteScan) Close() error {
	s.view.release()
	return nil
}
