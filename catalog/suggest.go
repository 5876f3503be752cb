package catalog

import "strings"

// Suggest is the candidate nearest to a misspelt name, or "" when none is near:
// a third of the name's letters may differ, and swapping neighbours is one
// difference. Case does not count. A single letter is like any other, so
// nothing is suggested for it.
func Suggest(name string, candidates []string) string {
	if len(name) < 2 {
		return ""
	}
	name = strings.ToLower(name)
	best, bestCost := "", max(1, len(name)/3)+1
	for _, c := range candidates {
		lower := strings.ToLower(c)
		if diff := len(lower) - len(name); diff >= bestCost || -diff >= bestCost {
			continue
		}
		if cost := editDistance(name, lower); cost < bestCost {
			best, bestCost = c, cost
		}
	}
	return best
}

// editDistance is the insertions, deletions, substitutions and swaps of
// neighbours that take a to b.
func editDistance(a, b string) int {
	// Three rows of the table: the swap looks two back.
	rows := make([]int, 3*(len(b)+1))
	before, last, next := rows[:len(b)+1], rows[len(b)+1:2*(len(b)+1)], rows[2*(len(b)+1):]
	for j := range last {
		last[j] = j
	}
	for i := range a {
		next[0] = i + 1
		for j := range b {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			cost = min(cost, last[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				cost = min(cost, before[j-1]+1)
			}
			next[j+1] = cost
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
