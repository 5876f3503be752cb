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
// Passes over bytes bring what differs first in order, as many as it takes to
// tell most items apart, and an insertion sort does the rest. When that has to
// move much, for words are not even, all bytes are passed over.
func sortWords(a, spare []item) []item {
	if slices.IsSortedFunc(a, func(x, y item) int { return compareWords(x.word, y.word) }) {
		return a
	}
	if len(a) <= fewItems {
		insert(a, len(a)*len(a))
		return a
	}
	or, and := uint64(0), ^uint64(0)
	for i := range a {
		or |= a[i].word
		and &= a[i].word
	}
	top := bits.Len64(or ^ and)
	need := (bits.Len(uint(len(a))) + 3 + 7) / 8 // bytes: 8 values an item, or more
	spare = spare[:len(a)]
	if low := top - 8*need; low > 0 {
		sorted := sortBytes(a, spare, low, top)
		if insert(sorted, 4*len(a)) {
			return sorted
		}
		if &sorted[0] != &a[0] {
			a, spare = spare, a
		}
	}
	return sortBytes(a, spare, 0, top)
}

// insert sorts by insertion, and gives up, with nothing lost, when it has moved
// items more than so many times.
func insert(a []item, most int) bool {
	for i := 1; i < len(a); i++ {
		x := a[i]
		j := i
		for ; j > 0 && a[j-1].word > x.word; j-- {
			a[j] = a[j-1]
		}
		a[j] = x
		if most -= i - j; most < 0 {
			return false
		}
	}
	return true
}

// sortBytes sorts by bits from low to top of the words, a byte at a time.
func sortBytes(a, b []item, low, top int) []item {
	for ; low < top; low += 8 {
		var start [256]uint32
		for i := range a {
			start[byte(a[i].word>>low)]++
		}
		if int(start[byte(a[0].word>>low)]) == len(a) {
			continue // all have this byte
		}
		sum := uint32(0)
		for i, n := range start {
			start[i] = sum
			sum += n
		}
		for i := range a {
			c := byte(a[i].word >> low)
			b[start[c]] = a[i]
			start[c]++
		}
		a, b = b, a
	}
	return a
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
