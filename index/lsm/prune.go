package lsm

import (
	"cmp"
	"slices"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

const (
	// cleanEntries is the work of one Prune, a millisecond or two of a core, unless
	// one step takes more.
	cleanEntries = 1 << 17
	// cleanShare is how many entries are written for one that was applied: beside
	// writes cleaning takes its part of their time, without them all it is given.
	cleanShare = 4
	// packSegments are put together when they then are fewer: none of so many
	// may be saved, so a clean index is 97 % full.
	packSegments = 32
	// What a clean index's store holds and does not use.
	looseBytes = 256 << 10
	looseShare = 32
)

// Prune moves entries of the newest run down to the next one, until there is one
// run, and then fills its segments. It does some of that at each call, so that it
// may be called as often as one likes; the horizon does not matter to an index
// that has no history.
func (x *Index) Prune(s device.Stream, _ index.Version) error {
	budget := cleanEntries
	if x.applying > 0 {
		x.credit = min(x.credit+cleanShare*x.applying, 2*cleanEntries)
		if x.applying, budget = 0, min(budget, x.credit); x.credit < cleanEntries/2 {
			return nil
		}
	}
	c := x.draft(s)
	changed, err := c.clean(budget)
	if err == nil && changed {
		err = c.publish(x.current.entries)
	}
	if err = c.end(err); err == nil {
		x.credit = max(0, x.credit-c.work)
	}
	return err
}

func (c *draft) clean(budget int) (changed bool, err error) {
	for c.work < budget {
		from, to := c.newest()
		if to < 0 {
			packed, err := c.pack(from)
			if err != nil || packed {
				return true, err
			}
			moved, err := c.gather(from)
			return changed || moved, err
		}
		changed = true
		if err := c.drain(from, to); err != nil {
			return false, err
		}
		if err := c.settle(); err != nil {
			return false, err
		}
	}
	return changed, nil
}

// newest are the two newest lists that are not empty, -1 if there are not two.
func (c *draft) newest() (first, second int) {
	first = -1
	for i := range c.lists {
		switch {
		case c.lists[i].n == 0:
		case first < 0:
			first = i
		default:
			return first, i
		}
	}
	return first, -1
}

// pack fills the segments of the only run.
func (c *draft) pack(list int) (changed bool, err error) {
	if list < 0 {
		return false, nil
	}
	for at := 0; at < len(c.lists[list].segments) && c.work < cleanEntries; at++ {
		some := c.lists[list].segments[at:]
		some = some[:min(len(some), packSegments)]
		if (countEntries(some)+c.x.capacity-1)/c.x.capacity == len(some) {
			continue
		}
		mark := len(c.room)
		made, err := c.seal(parts(some), 0)
		if err != nil {
			return false, err
		}
		c.release(mark)
		c.set(list, at, at+len(some), made)
		changed = true
	}
	return changed, nil
}

// gather moves the segments of the only run that lie highest in the store to
// free places further down, when the store holds much more than is in use: so
// that its last blocks become empty, and go.
func (c *draft) gather(list int) (changed bool, err error) {
	held, used := c.x.store.Bytes()
	if list < 0 || held-used <= max(looseBytes, used/looseShare) {
		return false, nil
	}
	l := c.lists[list].segments
	order := make([]int, len(l))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(l[j].pages[0], l[i].pages[0]) })
	for _, i := range order[:min(len(order), packSegments)] {
		mark := len(c.room)
		made, err := c.seal([]part{l[i].part}, 0)
		if err != nil {
			return false, err
		}
		c.release(mark)
		if made[0].pages[0] > l[i].pages[0] {
			break
		}
		c.set(list, i, i+1, made)
		changed = true
	}
	return changed, nil
}
