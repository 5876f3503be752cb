package wide

import (
	"context"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// A run is merged with the next older one as long as that has no more than so many
// times its entries, and small runs count as larger ones: a launch does not know
// the difference. So there are at most kernels.MaxRuns.
const (
	growth   = 6
	smallRun = 1 << 14
)

// due says whether a run is to be merged with the next older one.
func due(newer, older int) bool { return older <= (growth-1)*max(newer, smallRun) }

// grow is an Apply or a clean-up under way.
type grow struct {
	x     *levels
	s     device.Stream
	room  *room
	last  *stack
	fresh []*run // that no stack has yet
	tails tails
	gone  int // entries that the batch takes away
}

// Apply makes the changes of a batch the newest run, and merges it with those it is
// not much smaller than. All that it writes is memory that no stack has.
func (x *levels) Apply(s device.Stream, v index.Version, e index.Entries) error {
	x.mu.Lock()
	applied, last := x.applied, x.current
	x.mu.Unlock()
	if v < applied {
		return index.ErrVersion
	}
	room := &room{mem: x.mem}
	defer room.release()
	g := &grow{x: x, s: s, room: room, last: last}
	next, err := g.apply(e)
	if err == nil {
		err = s.Wait(context.Background())
	}
	if err != nil {
		g.undo(nil)
		return err
	}
	g.publish(v, next)
	return nil
}

// apply is the next stack.
func (g *grow) apply(e index.Entries) (*stack, error) {
	if e.Keys.N == 0 {
		return g.last, nil
	}
	if next, err := g.speculate(e); err != nil || next != nil {
		return next, err
	}
	o := order{s: g.s, room: g.room, form: g.x.form(false), e: e}
	if err := o.look(); err != nil {
		return nil, err
	}
	var err error
	if o.e, err = g.spell(e); err != nil {
		return nil, err
	}
	if o.e.Keys.N > maxBatch {
		return nil, tooLarge()
	}
	if o.e.Keys.N > e.Keys.N {
		if err := o.look(); err != nil {
			return nil, err
		}
	}
	fresh := o.fresh(g.x.maxRow, len(g.last.runs) == 0)
	items, err := o.items()
	if err != nil {
		return nil, err
	}
	next := &stack{runs: g.last.runs, entries: g.last.entries, tails: g.last.tails}
	if err := g.deltas(next, &o, items, fresh); err != nil {
		return nil, err
	}
	g.x.maxRow = max(g.x.maxRow, o.maxRow())
	g.x.learn(&o, fresh)
	if next.entries == 0 {
		next.runs = nil
	}
	return next, g.grown(next)
}

// grown merges the newest run with those that it is not much smaller than.
func (g *grow) grown(next *stack) error {
	return g.compact(next, func(newer, older *run) bool {
		return due(newer.entries(), older.entries()) || len(next.runs) > kernels.MaxRuns
	})
}

// deltas writes the changes that have an effect to a run of their own.
func (g *grow) deltas(next *stack, o *order, items kernels.TreeItems, fresh bool) error {
	a := kernels.RunsWrite{R: g.last.kernel(), Items: items, N: uint64(o.n)}
	a.To.Form = g.x.form(!o.rows32())
	entries, dead := o.n, 0
	w := kernels.TreeWrite{From: a.To, Items: items, N: a.N}
	if !fresh {
		var err error
		if entries, dead, err = g.resolve(&a, &w); err != nil || entries == 0 {
			return err
		}
	}
	all := entries
	for _, r := range next.runs {
		all += r.entries()
	}
	if all > maxEntries {
		return tooLarge()
	}
	if a.To.Form.Long != 0 {
		var err error
		if w.At = a.Effects; fresh {
			if w.At, err = effects(g.s, g.room, o.n); err != nil {
				return err
			}
		}
		if next.tails, err = g.tails.copy(g.s, g.room, &w, next.tails, o.n, w.ItemTails); err != nil {
			return err
		}
		a.Tails = w.Tails
	}
	r, err := g.newRun(a.To.Form.Wide != 0, entries, dead)
	if err != nil {
		return err
	}
	a.To = r.tree
	if err := a.Write(g.s); err != nil {
		return err
	}
	next.runs = append([]*run{r}, next.runs...)
	next.entries += entries - 2*dead
	g.gone = dead
	return nil
}

// resolve finds out what each change does, and how many do something and take
// something away.
func (g *grow) resolve(a *kernels.RunsWrite, w *kernels.TreeWrite) (entries, dead int, err error) {
	n := int(a.N)
	var scratch device.Ptr
	var p places
	p.add(&a.Effects, n)
	p.add(&a.Places, 4*n)
	p.add(&a.Totals, 16)
	p.add(&scratch, kernels.ScanBytes(n))
	if err := g.room.take(&p); err != nil {
		return 0, 0, err
	}
	w.Leaf = a.Places
	if err := upserts(g.s, g.room, w); err != nil {
		return 0, 0, err
	}
	a.Items = w.Items
	if err := kernels.Zero(g.s, a.Totals, 16); err != nil {
		return 0, 0, err
	}
	if err := a.Resolve(g.s); err != nil {
		return 0, 0, err
	}
	if err := kernels.Scan(g.s, 4, a.Places, a.Places, n, a.Totals, scratch); err != nil {
		return 0, 0, err
	}
	var totals [2]uint64
	err = g.s.Download(bytesOf(totals[:]), a.Totals)
	return int(totals[0]), int(totals[1]), err
}

// newRun is a run that nobody knows of yet, with all entries alive.
func (g *grow) newRun(wide bool, entries, dead int) (*run, error) {
	r, err := g.x.newRun(wide, entries, dead)
	if err != nil {
		return nil, err
	}
	g.fresh = append(g.fresh, r)
	if dead > 0 {
		err = kernels.Zero(g.s, r.tree.Dead, 2*r.tree.Leaves())
	}
	return r, err
}

// compact merges the two newest runs as long as more says so, and sums up what comes of it.
func (g *grow) compact(next *stack, more func(newer, older *run) bool) error {
	for len(next.runs) > 1 && more(next.runs[0], next.runs[1]) {
		if err := g.merge(next); err != nil {
			return err
		}
	}
	return g.finish(next)
}

// finish sums up the new runs that have dead entries.
func (g *grow) finish(next *stack) error {
	for _, r := range next.runs {
		if r.refs > 0 || r.dead == 0 {
			continue
		}
		var total, scratch device.Ptr
		var p places
		p.add(&total, 8)
		p.add(&scratch, kernels.ScanBytes(r.tree.Leaves()+1))
		if err := g.room.take(&p); err != nil {
			return err
		}
		if err := r.tree.Sum(g.s, total, scratch); err != nil {
			return err
		}
	}
	return nil
}

// merge makes the two newest runs one. Where none of their entries is dead all
// stay; otherwise it has to be known how many do.
func (g *grow) merge(next *stack) error {
	newer, older := next.runs[0], next.runs[1]
	a := kernels.RunsMerge{Old: older.tree, New: newer.tree, N: uint64(newer.entries() + older.entries())}
	entries, dead := int(a.N), newer.dead+older.dead
	if dead > 0 {
		stay, err := g.staying(&a)
		if err != nil {
			return err
		}
		dead -= (entries - stay) / 2
		entries = stay
	}
	next.runs = next.runs[2:]
	if entries == 0 {
		return nil
	}
	r, err := g.newRun(a.Old.Form.Wide|a.New.Form.Wide != 0, entries, dead)
	if err != nil {
		return err
	}
	a.To = r.tree
	next.runs = append([]*run{r}, next.runs...)
	return a.Merge(g.s)
}

// staying counts the entries that are left of a merge.
func (g *grow) staying(a *kernels.RunsMerge) (int, error) {
	n := a.TileCount()
	var sum, scratch device.Ptr
	var p places
	p.add(&a.Tiles, 4*n)
	p.add(&sum, 8)
	p.add(&scratch, kernels.ScanBytes(n))
	if err := g.room.take(&p); err != nil {
		return 0, err
	}
	if err := a.Count(g.s); err != nil {
		return 0, err
	}
	if err := kernels.Scan(g.s, 4, a.Tiles, a.Tiles, n, sum, scratch); err != nil {
		return 0, err
	}
	return total(g.s, sum)
}

// undo gives back what is new, but for what a stack has.
func (g *grow) undo(keep *stack) {
	for _, r := range g.fresh {
		if r.refs == 0 {
			r.buffer.Release()
		}
	}
	if keep == nil {
		g.tails.undo()
	}
}

// publish makes a stack that is done the current one, and gives back what was only
// on the way to it.
func (g *grow) publish(v index.Version, next *stack) {
	x := g.x
	x.mu.Lock()
	defer x.mu.Unlock()
	x.applied = max(x.applied, v)
	if next == g.last {
		return
	}
	x.deleted += uint64(g.gone)
	if next.entries == 0 {
		g.tails.undo()
		next.tails, x.deleted = nil, 0
	} else {
		g.tails.settle()
	}
	x.publish(next)
	g.undo(next)
}
