package kernels

import (
	"github.com/gpusql/gpusql/device"
)

// bestArgs are those of a launch of pickBest.
type bestArgs struct {
	IDs, Best  device.Ptr
	By         SortColumn
	Keep       uint32
	Ties       bool
	Out, Count device.Ptr
}

// pickBest goes through the rows in order, in one piece.
var pickBest = &device.Kernel[bestArgs]{Name: "pick_best", Host: pickBestHost}

// CanPickBest reports a device that has PickBest.
func CanPickBest(s device.Stream) bool { return s.Device().Traits().HostBytes }

// BestBytes is what PickBest remembers of a group.
func BestBytes(keep int) int { return 8 * keep }

// PickBest writes to out, which has SelectBytes(n), the numbers of those of n
// rows that may be among the first keep of their group by a column, as far as
// the rows seen before tell, and returns how many. best has BestBytes for each
// group, zero at first:
//
//	group 7: keep 2, smallest first       a row of group 7 ... 3: not below 5, left out
//	         word: 2 │ 5                                   ... 4: is picked, 2 │ 4
//
// With ties a row that equals the last is picked too: so it must be where the
// column's first word does not tell all that rows are ordered by.
func PickBest(s device.Stream, by SortColumn, ids device.Ptr, n int, best device.Ptr, keep int, ties bool, out device.Ptr) (int, error) {
	if n == 0 {
		return 0, nil
	}
	a := bestArgs{IDs: ids, Best: best, By: by, Keep: uint32(keep), Ties: ties, Out: out, Count: out + device.Ptr(SelectBytes(n)-8)}
	if err := device.Launch(s, pickBest, n, a); err != nil {
		return 0, err
	}
	return readCount(s, a.Count)
}

// pickBestHost keeps the words of a group complemented, the largest first: a
// place that is free is 0 and has no row behind it.
func pickBestHost(a *bestArgs, _, hi int) {
	keep := int(a.Keep)
	ids, out := device.View[uint32](a.IDs, hi), device.View[uint32](a.Out, hi)
	best := device.View[uint64](a.Best, maxRows)
	var pairs [256]Pair
	n := 0
	for at := 0; at < hi; at += len(pairs) {
		rows := pairs[:min(len(pairs), hi-at)]
		for i := range rows {
			rows[i].Value = uint64(at + i)
		}
		a.By.words(0, rows)
		for i := range rows {
			w, g := ^rows[i].Key, int(ids[at+i])*keep
			last := best[g+keep-1]
			if w < last || w == last && w != 0 && !a.Ties {
				continue
			}
			out[n] = uint32(at + i)
			n++
			insertBest(best[g:g+keep], w)
		}
	}
	device.View[uint64](a.Count, 1)[0] = uint64(n)
}

// insertBest puts a word in its place; the last one goes.
func insertBest(best []uint64, w uint64) {
	i := len(best) - 1
	for ; i > 0 && best[i-1] < w; i-- {
		best[i] = best[i-1]
	}
	if best[i] < w {
		best[i] = w
	}
}
