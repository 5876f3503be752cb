package lsm

import (
	"sort"

	"github.com/gpusql/gpusql/device"
)

// fan is how many entries a fence stands for: two lines of a cache of words.
const fan = 16

// fences is how many fences n entries have: of the entries, and of the fences.
func fences(n int) (low, high int) {
	low = (n + fan - 1) / fan
	return low, (low + fan - 1) / fan
}

// setFences writes the fences of n entries whose leads are step apart.
func setFences[W lead](to device.Ptr, keys []W, step, n int) {
	low, high := fences(n)
	f := device.View[W](to, low+high)
	for i := range low {
		f[i] = keys[i*fan*step]
	}
	for i := range high {
		f[low+i] = f[i*fan]
	}
}

// countKeys is countFenced for n leads that are step apart.
func countKeys[W lead](keys []W, step, n, from int, x W) int {
	if step == 1 {
		return countFenced(keys[:n], from, x)
	}
	at := from
	n = min(fan, n-from)
	for n > 1 {
		half := n / 2
		at += half & -less(keys[(at+half-1)*step], x)
		n -= half
	}
	return at + less(keys[at*step], x)
}

// fenceBefore is the first entry that fence i-1 stands for.
func fenceBefore(i int) int { return max(i-1, 0) * fan }

// firstAbove is how many of n leads, step apart, are below x, by their fences.
func firstAbove[W lead](fenced device.Ptr, keys []W, step, n int, x W) int {
	low, high := fences(n)
	f := device.View[W](fenced, low+high)
	at := countBelow(f[low:], x)
	at = countFenced(f[:low], fenceBefore(at), x)
	return countKeys(keys, step, n, fenceBefore(at), x)
}

// seek is how many entries of a sealed part are before a place.
func (l *list[W]) seek(p *part, b *place[W]) int {
	at := firstAbove(p.Fences, l.keys, l.step, l.n, b.lead)
	return l.gallop(at, b)
}

// gallop is seek from entry at on, all before it being before the place.
func (l *list[W]) gallop(at int, b *place[W]) int {
	if at == l.n || !l.below(at, b) {
		return at
	}
	step := 1
	for at+step < l.n && l.below(at+step, b) {
		at += step
		step *= 2
	}
	return at + 1 + sort.Search(min(step-1, l.n-at-1), func(i int) bool { return !l.below(at+1+i, b) })
}

// run is a sorted list of entries as kernels see it: sealed parts, no two of
// which overlap, and the leads of their first entries with fences.
type run struct {
	Parts, Firsts device.Ptr
	N             int64 // parts
	Entries, Gone int64
}

func (r *run) parts() []part { return partsAt(r.Parts, r.N) }

// spot is a place in a run: before an entry of a part. At the end it is behind
// the last entry of the last part.
type spot struct{ Part, At int32 }

// rank is how many entries of the run are before a spot, those dead counted
// against those live that they stand for.
func (r *run) rank(sp spot) int64 {
	p := &r.parts()[sp.Part]
	return p.Start - 2*p.Before + int64(sp.At) - 2*int64(countDead(p, int(sp.At)))
}

func (r *run) end() spot {
	return spot{int32(r.N - 1), int32(r.parts()[r.N-1].N)}
}

// partOf is the part in which a place lies: the last whose first entry is
// before it, or the first.
func partOf[W lead](s *shape, r *run, b *place[W]) int {
	n := int(r.N)
	firsts := device.View[W](r.Firsts, n)
	at := firstAbove(r.Firsts+firstsBytes[W](n), firsts, 1, n, b.lead)
	parts := r.parts()
	// Firsts of the same lead are told apart by all of their entry.
	same := n - at
	if same > 0 && firsts[at] == b.lead {
		same = sort.Search(n-at, func(i int) bool { return firsts[at+i] != b.lead })
		at += sort.Search(same, func(i int) bool {
			l := open[W](s, &parts[at+i])
			return !l.below(0, b)
		})
	}
	return max(at-1, 0)
}

// beginsWith reports whether there is a part i, and its first entry has that lead.
func beginsWith[W lead](r *run, i int, x W) bool {
	return i < int(r.N) && device.View[W](r.Firsts, i+1)[i] == x
}

// find is the spot of a place in a run: that of the first entry not before it.
func find[W lead](s *shape, r *run, b *place[W]) spot {
	i := partOf(s, r, b)
	p := &r.parts()[i]
	l := open[W](s, p)
	at := l.seek(p, b)
	if at == l.n && i+1 < int(r.N) {
		return spot{int32(i + 1), 0}
	}
	return spot{int32(i), int32(at)}
}
