package heap

import "slices"

// SortWords sorts word keys, and their rows with them, by (key, row): a radix
// sort by bytes for many, which skips the bytes that all keys share.
func SortWords(keys []uint64, rows []int64) {
	if slices.IsSorted(keys) && slices.IsSorted(rows) {
		return
	}
	if len(keys) < 256 {
		insertionSort(keys, rows)
		return
	}
	or, and := uint64(0), ^uint64(0)
	ror, rand := uint64(0), ^uint64(0)
	for i := range keys {
		or, and = or|keys[i], and&keys[i]
		ror, rand = ror|uint64(rows[i]), rand&uint64(rows[i])
	}
	k2, r2 := make([]uint64, len(keys)), make([]int64, len(rows))
	ok, or2 := keys, rows
	flips := 0
	pass := func(shift int, of func(i int) uint64) {
		var start [256]int
		for i := range keys {
			start[byte(of(i)>>shift)]++
		}
		sum := 0
		for i, n := range start {
			start[i], sum = sum, sum+n
		}
		for i := range keys {
			b := byte(of(i) >> shift)
			k2[start[b]], r2[start[b]] = keys[i], rows[i]
			start[b]++
		}
		keys, k2, rows, r2 = k2, keys, r2, rows
		flips++
	}
	if !slices.IsSorted(rows) {
		for shift := 0; shift < 64; shift += 8 {
			if byte((ror^rand)>>shift) != 0 {
				pass(shift, func(i int) uint64 { return uint64(rows[i]) })
			}
		}
	}
	for shift := 0; shift < 64; shift += 8 {
		if byte((or^and)>>shift) != 0 {
			pass(shift, func(i int) uint64 { return keys[i] })
		}
	}
	if flips%2 != 0 {
		copy(ok, keys)
		copy(or2, rows)
	}
}

func insertionSort(keys []uint64, rows []int64) {
	for i := 1; i < len(keys); i++ {
		k, r := keys[i], rows[i]
		j := i
		for ; j > 0 && (keys[j-1] > k || keys[j-1] == k && rows[j-1] > r); j-- {
			keys[j], rows[j] = keys[j-1], rows[j-1]
		}
		keys[j], rows[j] = k, r
	}
}
