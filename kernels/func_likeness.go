package kernels

import (
	"slices"

	"github.com/gpusql/gpusql/sqltype"
)

// maxLikeness bounds the cells of a table of two texts' characters.
const maxLikeness = 1 << 24

// likenessFuncs say how much two texts are alike.
var likenessFuncs = map[string]ScalarFunc{
	"jaccard":                 Func2(func(_ *Heap, a, b string) (float64, error) { return jaccard(a, b) }),
	"jaro_similarity":         Pure2(jaro),
	"jaro_winkler_similarity": Pure2(jaroWinkler),
	"damerau_levenshtein":     Func2(func(_ *Heap, a, b string) (int64, error) { return damerauLevenshtein(a, b) }),
}

// jaccard is the share of the characters of either that both have.
func jaccard(a, b string) (float64, error) {
	in := map[rune]int{}
	for _, r := range a {
		in[r] |= 1
	}
	for _, r := range b {
		in[r] |= 2
	}
	both := 0
	for _, v := range in {
		if v == 3 {
			both++
		}
	}
	if a == "" || b == "" {
		return 0, ErrNull
	}
	return float64(both) / float64(len(in)), nil
}

// jaro counts the characters that both have near the same place, and of those
// the ones in another order.
func jaro(a, b string) float64 {
	x, y := []rune(a), []rune(b)
	if len(x) == 0 && len(y) == 0 {
		return 1
	}
	reach := max(max(len(x), len(y))/2-1, 0)
	usedX, usedY := make([]bool, len(x)), make([]bool, len(y))
	same := 0
	for i, r := range x {
		for k := max(i-reach, 0); k < min(i+reach+1, len(y)); k++ {
			if !usedY[k] && y[k] == r {
				usedX[i], usedY[k] = true, true
				same++
				break
			}
		}
	}
	if same == 0 {
		return 0
	}
	moved, k := 0, 0
	for i, r := range x {
		if !usedX[i] {
			continue
		}
		for !usedY[k] {
			k++
		}
		if y[k] != r {
			moved++
		}
		k++
	}
	m := float64(same)
	return (m/float64(len(x)) + m/float64(len(y)) + (m-float64(moved/2))/m) / 3
}

// jaroWinkler favours texts that begin alike.
func jaroWinkler(a, b string) float64 {
	sim := jaro(a, b)
	if sim <= 0.7 {
		return sim
	}
	x, y := []rune(a), []rune(b)
	n := 0
	for n < min(len(x), len(y), 4) && x[n] == y[n] {
		n++
	}
	return sim + float64(n)*0.1*(1-sim)
}

// damerauLevenshtein is the least number of characters added, dropped, replaced
// or changed with their neighbours.
func damerauLevenshtein(a, b string) (int64, error) {
	if len(a) > maxLikeness/(len(b)+2) {
		return 0, sqltype.Errorf(codeTooLong, "the texts are too long to be compared: %d and %d bytes", len(a), len(b))
	}
	last := map[byte]int{}
	width := len(b) + 2
	most := len(a) + len(b)
	d := make([]int, (len(a)+2)*width)
	at := func(i, k int) *int { return &d[i*width+k] }
	*at(0, 0) = most
	for i := range len(a) + 1 {
		*at(i+1, 0), *at(i+1, 1) = most, i
	}
	for k := range len(b) + 1 {
		*at(0, k+1), *at(1, k+1) = most, k
	}
	for i := 1; i <= len(a); i++ {
		match := 0
		for k := 1; k <= len(b); k++ {
			row, col := last[b[k-1]], match
			cost := 1
			if a[i-1] == b[k-1] {
				cost, match = 0, k
			}
			*at(i+1, k+1) = slices.Min([]int{*at(i, k) + cost, *at(i+1, k) + 1, *at(i, k+1) + 1,
				*at(row, col) + (i - row - 1) + 1 + (k - col - 1)})
		}
		last[a[i-1]] = i
	}
	return int64(*at(len(a)+1, len(b)+1)), nil
}
