package btree

import (
	"math/bits"
	"slices"
)

// item is an entry of a batch while it is sorted: the first word of its key, and
// its place in the batch, or its row when that is all there is to know.
type item struct{ word, at uint64 }

// fewItems are sorted by insertion.
const fewItems = 48

// sortWords sorts items by their words, keeping the order of equal ones. spare
// is as long, and the result is in either.
//
// A pass over the bits that differ first, as many as it takes to tell most items
// apart, brings them nearly in order, and an insertion sort does the rest. What has
// the same bits and is too much for that is sorted by the next ones before.
func sortWords(a, spare []item) []item {
	if slices.IsSortedFunc(a, func(x, y item) int { return compareWords(x.word, y.word) }) {
		return a
	}
	if len(a) <= fewItems {
		insert(a)
		return a
	}
	or, and := uint64(0), ^uint64(0)
	for i := range a {
		or |= a[i].word
		and &= a[i].word
	}
	top := bits.Len64(or ^ and)
	some := min(bits.Len(uint(len(a)))-1, spreadBits, top)
	spare = spare[:len(a)]
	var ends [1 << spreadBits]uint32
	sortSpread(a, spare, top-some, some, &ends)
	from := 0
	for _, end := range ends[:1<<some] {
		if to := int(end); to-from > fewItems {
			if s := sortWords(spare[from:to], a[from:to]); &s[0] != &spare[from] {
				copy(spare[from:to], s)
			}
		}
		from = int(end)
	}
	insert(spare)
	return spare
}

// spreadBits is the most bits of a word that one pass sorts by: its counters are to
// stay in the nearest cache.
const spreadBits = 12

// sortSpread writes a to b in order of so many bits of the words from low on, above
// which they are the same, and to ends, which are zero, where the items of each value
// of these bits end.
func sortSpread(a, b []item, low, some int, ends *[1 << spreadBits]uint32) {
	mask := uint64(1)<<some - 1
	for i := range a {
		ends[a[i].word>>low&mask&(1<<spreadBits-1)]++
	}
	sum := uint32(0)
	for i, n := range ends[:1<<some] {
		ends[i] = sum
		sum += n
	}
	for i := range a {
		at := &ends[a[i].word>>low&mask&(1<<spreadBits-1)]
		b[*at] = a[i]
		*at++
	}
}

// insert sorts by insertion.
func insert(a []item) {
	for i := 1; i < len(a); i++ {
		x := a[i]
		j := i
		for ; j > 0 && a[j-1].word > x.word; j-- {
			a[j] = a[j-1]
		}
		a[j] = x
	}
}

func compareWords(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// sortTies sorts runs of equal words by what comes after them, see batch.after.
func (b *batch) sortTies(a, spare []item) {
	for i := 0; i < len(a); {
		j := i + 1
		for j < len(a) && a[j].word == a[i].word {
			j++
		}
		if j-i > 1 {
			b.sortRun(a[i:j], spare[i:j], 1)
		}
		i = j
	}
}

// sortRun sorts items whose words before number level are equal: by that word
// and the later ones, the tail, the row and, as sorting is stable, the place.
func (b *batch) sortRun(a, spare []item, level int) {
	last := b.format.Words // the level of the tail and the row
	if len(a) <= fewItems || level == last && b.format.Long {
		compare := func(x, y item) int { return b.compareFrom(x, y, level) }
		if !slices.IsSortedFunc(a, compare) {
			slices.SortStableFunc(a, compare)
		}
		return
	}
	word := a[0].word
	for i := range a {
		if level == last {
			a[i].word = b.row(a[i])
		} else {
			a[i].word = b.rest(a[i])[level-1]
		}
	}
	if s := sortWords(a, spare); &s[0] != &a[0] {
		copy(a, s)
	}
	if level < last {
		for i := 0; i < len(a); {
			j := i + 1
			for j < len(a) && a[j].word == a[i].word {
				j++
			}
			if j-i > 1 {
				b.sortRun(a[i:j], spare[i:j], level+1)
			}
			i = j
		}
	}
	for i := range a {
		a[i].word = word
	}
}

// compareFrom orders items whose words before number level are equal.
func (b *batch) compareFrom(x, y item, level int) int {
	if b.layout.x > 0 {
		if c := b.layout.compareRest(b.rest(x), b.rest(y)); c != 0 {
			return c
		}
	}
	return compareWords(b.row(x), b.row(y))
}
