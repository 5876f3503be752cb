package wide

import (
	"context"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// cleanStep is how many entries a call of Prune may write, if those before it have
// left nothing over.
const cleanStep = 1 << 24

// Prune merges the newest runs, some at a time: when it has been called often
// enough one run is left, without dead entries. There being no memory for that is
// no error of anything, and it is tried again.
func (x *levels) Prune(s device.Stream, _ index.Version) error {
	x.mu.Lock()
	last := x.current
	x.mu.Unlock()
	few := uint64(last.entries) + smallRun
	again := x.format.Long && x.deleted > few
	if len(last.runs) < 2 && !again {
		x.credit = 0
		return nil
	}
	room := &room{mem: x.mem}
	defer room.release()
	g := &grow{x: x, s: s, room: room, last: last}
	next := &stack{runs: last.runs, entries: last.entries, tails: last.tails}
	credit := x.credit + cleanStep
	err := g.compact(next, func(newer, older *run) bool {
		cost := newer.entries() + older.entries()
		if cost > credit {
			return false
		}
		credit -= cost
		return true
	})
	if err == nil && again && len(next.runs) == 1 {
		err = g.copyTails(next)
	}
	if err == nil {
		err = s.Wait(context.Background())
	}
	if err != nil {
		g.undo(nil)
		return err
	}
	x.credit = credit
	if g.tails.chunk != nil {
		x.deleted = 0
	}
	g.publish(x.applied, next)
	return nil
}

// copyTails writes the one run anew, with its tails in memory of their own.
func (g *grow) copyTails(next *stack) error {
	r := next.runs[0]
	n := r.entries()
	w := kernels.TreeWrite{From: r.tree}
	var err error
	if next.tails, err = g.tails.copy(g.s, g.room, &w, nil, n, w.EntryTails); err != nil {
		return err
	}
	a := kernels.RunsMerge{Old: r.tree, New: kernels.Tree{Form: r.tree.Form}, Tails: w.Tails, N: uint64(n)}
	fresh, err := g.newRun(r.tree.Form.Wide != 0, n, 0)
	if err != nil {
		return err
	}
	a.To = fresh.tree
	if err := a.Merge(g.s); err != nil {
		return err
	}
	next.runs = []*run{fresh}
	return g.finish(next)
}
