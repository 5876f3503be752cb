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
	beyond := o.facts.Or[0] & o.facts.Not[0] &^ (1<<taken.top() - 1<<(8*first))
	return o.rows32() && o.fresh(g.x.maxRow, len(g.last.runs) == 0) && o.facts.Full == 0 && beyond == 0
}

// speculate is the next stack if the batch is what it is taken to be, else nil.
func (g *grow) speculate(e index.Entries) (*stack, error) {
	x := g.x
	o := order{s: g.s, room: g.room, form: x.form(false), e: e}
	if !x.likely.fresh || e.Op != index.Insert || !o.one() || e.Keys.N+g.last.entries > maxEntries || e.Keys.N > maxBatch {
		return nil, nil
	}
	next := &stack{runs: g.last.runs, entries: g.last.entries + e.Keys.N, tails: g.last.tails}
	write := g.likelyBatch
	if e.Keys.N > kernels.MostBatch {
		write = g.likelyRun
	}
	if err := write(next, &o); err != nil {
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
		x.apart = x.apart || o.facts.Full != 0
		return nil, nil
	}
	x.maxRow = max(x.maxRow, o.maxRow())
	return next, nil
}

// likelyRun sorts all changes to a run of their own.
func (g *grow) likelyRun(next *stack, o *order) error {
	if err := o.ask(); err != nil {
		return err
	}
	o.facts = g.x.likely.facts
	r, err := g.newRun(false, o.n, 0)
	if err != nil {
		return err
	}
	items := o.unsorted()
	if err := o.plain(&items); err != nil {
		return err
	}
	a := kernels.RunsWrite{R: g.last.kernel(), Items: items, N: uint64(o.n), To: r.tree}
	next.runs = append([]*run{r}, next.runs...)
	return a.Write(g.s)
}

// likelyBatch writes the changes to a run by buckets, together with what is in runs that
// it would be merged with.
func (g *grow) likelyBatch(next *stack, o *order) error {
	x := g.x
	o.n, o.words = o.e.Keys.N, 1
	a := kernels.RunsBatch{Keys: o.e.Keys.Data, Rows: o.e.Rows, N: uint64(o.n)}
	for !x.apart && len(next.runs) > 0 && due(a.Entries(), next.runs[0].entries()) && a.Take(next.runs[0].tree) {
		next.runs = next.runs[1:]
	}
	r, err := g.newRun(false, a.Entries(), 0)
	if err != nil {
		return err
	}
	a.To = r.tree
	next.runs = append([]*run{r}, next.runs...)
	top := (&order{facts: x.likely.facts}).top()
	at, err := g.room.one(a.Lay(top, 0))
	if err != nil {
		return err
	}
	a.Lay(top, at)
	kept, batch, err := x.kept.room(x.mem, g.s, kernels.BatchKept)
	if err != nil {
		return err
	}
	a.Keep(kept, batch)
	o.out = a.Facts
	if err = a.Spread(g.s); err == nil {
		err = a.Place(g.s)
	}
	if err != nil {
		x.kept.release()
	}
	return err
}
