package wide

import (
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// likely is what the last batch was like, and the next one is taken to be: so it is
// written before it is known to be so, and what is known is looked at in the end,
// when the host waits anyway.
type likely struct {
	fresh bool // new entries, not in order, of one word and rows of 32 bits that ascend
	facts kernels.TreeFacts
}

// learn notes what a batch was like.
func (x *levels) learn(o *order, fresh bool) {
	x.likely = likely{fresh && o.one() && o.rows32() && o.facts.RowsFall|o.facts.RowsSame == 0 && o.facts.Fallen != 0, o.facts}
}

// holds says whether a batch is what it was taken to be: its keys differ in no bit
// that is beyond those in which the last one's did.
func (g *grow) holds(o, taken *order) bool {
	first, _ := taken.differ(0)
	beyond := (o.facts.Or[0] &^ o.facts.And[0]) &^ (1<<taken.top() - 1<<(8*first))
	return o.rows32() && o.fresh(g.x.maxRow, len(g.last.runs) == 0) && o.facts.Full == 0 && beyond == 0
}

// speculate is the next stack if the batch is what it is taken to be, else nil.
func (g *grow) speculate(e index.Entries) (*stack, error) {
	x := g.x
	o := order{s: g.s, room: g.room, form: x.form(false), e: e}
	if !x.likely.fresh || e.Op != index.Insert || !o.one() || e.Keys.N+g.last.entries > maxEntries || e.Keys.N > maxBatch {
		return nil, nil
	}
	if err := o.ask(); err != nil {
		return nil, err
	}
	o.facts = x.likely.facts
	next := &stack{runs: g.last.runs, entries: g.last.entries, tails: g.last.tails}
	if err := g.likelyRun(next, &o); err != nil {
		return nil, err
	}
	if err := g.grown(next); err != nil {
		return nil, err
	}
	if err := o.hear(); err != nil {
		return nil, err
	}
	if !g.holds(&o, &order{facts: x.likely.facts}) {
		g.undo(nil)
		g.fresh, x.likely.fresh = nil, false
		return nil, nil
	}
	x.maxRow = max(x.maxRow, o.maxRow())
	return next, nil
}

// likelyRun writes all changes to a run of their own: small batches by buckets.
func (g *grow) likelyRun(next *stack, o *order) error {
	r, err := g.newRun(false, o.n, 0)
	if err != nil {
		return err
	}
	next.runs = append([]*run{r}, next.runs...)
	next.entries += o.n
	if o.n > kernels.MostBatch {
		items := o.unsorted()
		if err := o.plain(&items); err != nil {
			return err
		}
		a := kernels.RunsWrite{R: g.last.kernel(), Items: items, N: uint64(o.n), To: r.tree}
		return a.Write(g.s)
	}
	a := kernels.RunsBatch{To: r.tree, Keys: o.e.Keys.Data, Rows: o.e.Rows, Facts: o.out, N: uint64(o.n)}
	bytes, clear := a.Room(r.tree.Form, o.top(), 0)
	at, err := g.room.one(bytes)
	if err != nil {
		return err
	}
	a.Room(r.tree.Form, o.top(), at)
	if err := kernels.Zero(g.s, at, clear); err != nil {
		return err
	}
	if err := a.Spread(g.s); err != nil {
		return err
	}
	return a.Place(g.s)
}
