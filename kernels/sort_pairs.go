package kernels

import (
	"math/bits"

	"github.com/gpusql/gpusql/device"
)

// Pair is what SortPairs orders: by Key, and by Value where keys are equal.
type Pair struct{ Key, Value uint64 }

// pairsFew is up to where pairs are inserted one by one.
const pairsFew = 24

// SortPairsBytes is the scratch that SortPairs needs for n pairs.
func SortPairsBytes(n int) int { return 16*n + spreadTables(n) }

// SortPairs orders n pairs in place, in launches of bounded size that take all
// cores. scratch has SortPairsBytes.
func SortPairs(s device.Stream, pairs, scratch device.Ptr, n int) error {
	p := spreader{s: s, tables: scratch + device.Ptr(16*n), piece: PieceItems(s)}
	return p.order(pairs, scratch, n, true)
}

// sortByKey orders the pairs of a, whose keys differ from each other in the
// lowest bits of key-least only; b is as long. They end up in a if stay, else in b.
func sortByKey(a, b []Pair, least uint64, bits uint, stay bool) {
	if len(a) <= pairsFew {
		insertPairs(a)
		if !stay {
			copy(b, a)
		}
		return
	}
	if bits == 0 {
		sortByValue(a, b, stay)
		return
	}
	shift := max(bits, 8) - 8
	var ends [256]uint32
	for i := range a {
		ends[byte((a[i].Key-least)>>shift)]++
	}
	if int(ends[byte((a[0].Key-least)>>shift)]) == len(a) {
		sortByKey(a, b, least, shift, stay)
		return
	}
	at := uint32(0)
	for d, n := range ends {
		ends[d], at = at, at+n
	}
	for _, p := range a {
		d := byte((p.Key - least) >> shift)
		b[ends[d]] = p
		ends[d]++
	}
	at = 0
	for _, end := range ends {
		if end > at {
			sortByKey(b[at:end], a[at:end], least, shift, !stay)
		}
		at = end
	}
}

// sortByValue orders pairs of one key. They are mostly in order.
func sortByValue(a, b []Pair, stay bool) {
	sorted, most := true, a[0].Value
	least := most
	for i := 1; i < len(a); i++ {
		v := a[i].Value
		sorted = sorted && v >= a[i-1].Value
		least, most = min(least, v), max(most, v)
	}
	if !sorted {
		// As keys they are sorted by what they have, and their key is known.
		key := a[0].Key
		for i := range a {
			a[i] = Pair{a[i].Value, 0}
		}
		sortByKey(a, b, least, uint(bits.Len64(most-least)), stay)
		if !stay {
			a = b
		}
		for i := range a {
			a[i] = Pair{key, a[i].Key}
		}
		return
	}
	if !stay {
		copy(b, a)
	}
}

func insertPairs(a []Pair) {
	for i := 1; i < len(a); i++ {
		p := a[i]
		j := i
		for ; j > 0; j-- {
			q := a[j-1]
			if q.Key < p.Key || q.Key == p.Key && q.Value <= p.Value {
				break
			}
			a[j] = q
		}
		a[j] = p
	}
}
