package exec

import (
	"context"

	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// recursion is a recursive definition: its start, and then its step over what
// the round before gave that is new, until a round gives nothing.
type recursion struct {
	q     *query // where the With stands
	n     *planner.With
	seen  *rowGroups // UNION: the rows so far
	input planner.Node
	last  *rowStore // of the round before
	all   *rowStore // of all rounds
	under ground    // of all
	count int       // of rounds
	ended bool
}

// maxRounds ends what would not: each round of it may have a row, and so memory
// for years.
const maxRounds = 1_000_000

// recurse computes a recursive definition, or, when one node reads it, leaves
// the rounds to that node's first operator: it may not want them all.
func (c *cteRows) recurse(ctx context.Context, w *worker, n *planner.With) error {
	r := &recursion{q: w.q, n: n, input: n.Def, all: newRowStore(w.q.env.Memory, n.Def.Cols()), under: w.ground(n)}
	c.stores = []*rowStore{r.all}
	w.q.onClose(r.release)
	if !n.StepAll {
		r.seen = newRowGroups(w, n, n.Def.Cols())
	}
	if readers(n.Body, n.CTE) == 1 {
		c.rounds = r
		return nil
	}
	for !r.ended {
		if err := r.round(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// readers counts the nodes that read a CTE.
func readers(n planner.Node, cte int) int {
	if s, ok := n.(*planner.CTEScan); ok && s.CTE == cte {
		return 1
	}
	count := 0
	for _, in := range n.Inputs() {
		count += readers(in, cte)
	}
	return count
}

// round runs the next round, as a query of its own: its nodes have states of
// their own, and its CTEScan of the definition reads the round before.
func (r *recursion) round(ctx context.Context, w *worker) error {
	if r.count++; r.count > maxRounds {
		return sqltype.Errorf(sqltype.CodeTooComplex, "recursive query %q has not ended after %d rounds", r.n.Name, maxRounds)
	}
	sub := &query{env: r.q.env, workers: 1, batchRows: r.q.batchRows, parent: r.q}
	if r.last != nil {
		sub.states = map[any]any{cteKey{r.n.CTE}: &cteRows{once: once{done: true}, stores: []*rowStore{r.last}}}
	}
	defer sub.close()
	next := newRowStore(r.q.env.Memory, r.n.Def.Cols())
	err := (&worker{q: sub, stream: w.stream}).run(ctx, r.input, func(ctx context.Context, w *worker, op Operator) error {
		return r.take(ctx, w, op, next)
	})
	if r.last != nil {
		r.last.release()
	}
	r.last, r.input = next, r.n.Step
	if err == nil && next.n > 0 {
		r.under.w = w
		err = r.under.keep(r.all, next.all())
	}
	r.ended = err != nil || next.n == 0
	return err
}

// take adds what a round gives that is new.
func (r *recursion) take(ctx context.Context, w *worker, op Operator, next *rowStore) error {
	g := w.ground(r.n)
	defer g.drop()
	for {
		b, err := op.Next(ctx)
		if b == nil || err != nil {
			return err
		}
		if r.seen != nil {
			r.seen.w = w // of this round
			if b, err = r.seen.pick(b, kernels.PickFresh); err != nil {
				return err
			}
		}
		if b.Rows > 0 {
			if err := g.keep(next, b); err != nil {
				return err
			}
		}
	}
}

// release gives up what the rounds need besides their rows.
func (r *recursion) release() {
	r.under.drop()
	if r.seen != nil {
		r.seen.release()
	}
	if r.last != nil {
		r.last.release()
	}
}
