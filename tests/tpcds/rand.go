package tpcds

import "strings"

// rng is the random draws of one row: SplitMix64, which needs no warming up.
type rng struct{ state uint64 }

// draws starts the draws of row i of the table or column that salt stands for.
func draws(salt, i int64) rng { return rng{uint64(salt)<<48 ^ uint64(i)*0xD1342543DE82EF95} }

func (r *rng) next() uint64 {
	r.state += 0x9E3779B97F4A7C15
	z := r.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// between draws a number from lo to hi.
func (r *rng) between(lo, hi int64) int64 {
	return lo + int64(r.next()>>32*uint64(hi-lo+1)>>32)
}

// oneIn is true once in n draws.
func (r *rng) oneIn(n int64) bool { return r.between(1, n) == 1 }

func (r *rng) word(list []string) string { return list[r.between(0, int64(len(list)-1))] }

// flag draws "Y" once in n draws, else "N".
func (r *rng) flag(n int64) string {
	if r.oneIn(n) {
		return "Y"
	}
	return "N"
}

// sentence draws words until they fill about size bytes.
func (r *rng) sentence(size int64) string {
	var b strings.Builder
	for int64(b.Len()) < size {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(r.word(words))
	}
	return b.String()
}

// null is the number that stands for NULL; so does the empty text.
const null = -1 << 63

// holes says which foreign keys of a row of facts are NULL, a bit a column.
type holes uint64

// holes draws a row's: most rows have none, and one in eleven loses half of
// its columns, as the specification's data does.
func (r *rng) holes() holes {
	if h := r.next(); r.oneIn(11) {
		return holes(h)
	}
	return 0
}

// cut gives v, or NULL where the row has a hole, and goes to the next column.
func (h *holes) cut(v int64) int64 {
	hole := *h & 1
	if *h >>= 1; hole == 1 {
		return null
	}
	return v
}
