package change

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// Order orders the changes of a large batch by key and row, those of an entry as
// they came, in launches of bounded size. pairs gets the first word of each key
// and its place in the batch, and scratch has kernels.SortPairsBytes.
//
//	all ── by a word ──▶ runs of equal words ─┬─ short: many a launch, see args.order
//	                                          └─ long: by the next word, as all before
func Order(s device.Stream, f index.Format, e index.Entries, pairs, scratch device.Ptr) error {
	n := e.Keys.N
	o := orderer{
		args: args{Format: formatOf(f), Keys: e.Keys.Data, Rows: e.Rows}, s: s, pairs: pairs, scratch: scratch,
		items: device.View[item](pairs, n), room: device.View[item](scratch, n),
		short: max(16, kernels.PieceItems(s)/8),
	}
	err := Pieces(s, n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			o.items[i].at = uint64(i)
		}
	})
	if err != nil {
		return err
	}
	return o.order(0, n, 0)
}

// orderer is an Order under way.
type orderer struct {
	args
	s              device.Stream
	pairs, scratch device.Ptr
	items, room    []item
	short          int   // the most items of a short run
	edges          []int // where runs begin
}

// The levels of an order after the words: a tail has two for each of its words,
// whether it has it and which it is. The row is the last level of all.
const rowLevel = ^uint32(0)

// at is what counts of change i at a level.
func (o *orderer) at(i uint64, level uint32) uint64 {
	switch {
	case level == rowLevel:
		return o.word(i, o.Format.Words)
	case level < o.Format.Words:
		return o.word(i, level)
	}
	tail, k := index.Tail(o.tail(i)), int(level-o.Format.Words)
	switch {
	case k/2 >= len(tail):
		return 0
	case k%2 == 0:
		return 1
	}
	return tail[k/2]
}

// after is the level that tells items apart which are equal at one.
func (o *orderer) after(level uint32, word uint64) uint32 {
	switch {
	case level < o.Format.Words:
		if level++; level == o.Format.Words && o.Format.Long == 0 {
			return rowLevel
		}
		return level
	case (level-o.Format.Words)%2 == 0 && word == 0:
		return rowLevel
	}
	return level + 1
}

// order orders items lo to hi, which are equal before a level.
func (o *orderer) order(lo, hi int, level uint32) error {
	err := shared(o.s, hi-lo, func(from, to int) {
		for i := lo + from; i < lo+to; i++ {
			o.items[i].word = o.at(o.items[i].at, level)
		}
	})
	if err != nil {
		return err
	}
	if err := kernels.SortPairs(o.s, o.pairs+device.Ptr(16*lo), o.scratch, hi-lo); err != nil || level == rowLevel {
		return err
	}
	return o.runs(lo, hi, level)
}

// runs orders the runs of items lo to hi that are equal at a level too.
func (o *orderer) runs(lo, hi int, level uint32) error {
	open := lo
	return kernels.Pieces(o.s, hi-lo, func(from, to int) error {
		from, to = lo+from, lo+to
		o.edges = append(o.edges[:0], open)
		err := launch(o.s, to-from, func(_, _ int) {
			for i := max(from, lo+1); i < to; i++ {
				if o.items[i].word != o.items[i-1].word {
					o.edges = append(o.edges, i)
				}
			}
			if to == hi {
				o.edges = append(o.edges, hi)
			}
		})
		if err != nil {
			return err
		}
		var long [][2]int
		for i, end := range o.edges[1:] {
			if end-o.edges[i] > o.short {
				long = append(long, [2]int{o.edges[i], end})
			}
		}
		edges := o.edges
		if open = edges[len(edges)-1]; len(edges) > 1 {
			if err := shared(o.s, len(edges)-1, func(a, b int) { o.shortRuns(edges[a:b+1], level) }); err != nil {
				return err
			}
		}
		for _, r := range long {
			if err := o.longRun(r[0], r[1], level); err != nil {
				return err
			}
		}
		return nil
	})
}

// shortRuns orders the short ones of the runs between some edges.
func (o *orderer) shortRuns(edges []int, level uint32) {
	for i, hi := range edges[1:] {
		lo := edges[i]
		if n := hi - lo; n < 2 || n > o.short {
			continue
		}
		items, room, word := o.items[lo:hi], o.room[lo:hi], o.items[lo].word
		switch next := o.after(level, word); {
		case next == rowLevel:
			o.args.order(items, room, o.Format.Words)
		case next < o.Format.Words:
			o.args.order(items, room, next)
		default:
			o.orderTails(items, room)
		}
		for i := range items {
			items[i].word = word
		}
	}
}

// longRun orders a run by what comes after a level.
func (o *orderer) longRun(lo, hi int, level uint32) error {
	word := o.items[lo].word
	if err := o.order(lo, hi, o.after(level, word)); err != nil {
		return err
	}
	return Pieces(o.s, hi-lo, func(from, to int) {
		for i := lo + from; i < lo+to; i++ {
			o.items[i].word = word
		}
	})
}

// serial and split are the kernels of parts that are functions: batches are
// sorted in the host's memory.
var (
	serial = &device.Kernel[func(lo, hi int)]{Name: "change", Host: func(f *func(lo, hi int), lo, hi int) { (*f)(lo, hi) }}
	split  = &device.Kernel[func(lo, hi int)]{Name: "change_shared", Split: 1 << 10, Host: func(f *func(lo, hi int), lo, hi int) { (*f)(lo, hi) }}
)

func launch(s device.Stream, n int, f func(lo, hi int)) error {
	return device.Launch(s, serial, n, f)
}

// Pieces runs f over n items in order, a piece a launch if they are more than one.
func Pieces(s device.Stream, n int, f func(lo, hi int)) error {
	if n <= kernels.PieceItems(s) {
		f(0, n)
		return nil
	}
	return kernels.Pieces(s, n, func(lo, hi int) error {
		return launch(s, hi-lo, func(from, to int) { f(lo+from, lo+to) })
	})
}

// shared runs f over n items, a piece a launch, on all cores.
func shared(s device.Stream, n int, f func(lo, hi int)) error {
	return kernels.Pieces(s, n, func(lo, hi int) error {
		return device.Launch(s, split, hi-lo, func(from, to int) { f(lo+from, lo+to) })
	})
}
