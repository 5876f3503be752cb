package lsm

import (
	"cmp"
	"slices"

	"github.com/gpusql/gpusql/device"
)

// lookupArgs finds the rows of N keys.
//
//	lookup  for each key: how many rows, to Offsets, and where, to Hits
//	sum     the places of the answers
//	fetch   the rows, ascending
type lookupArgs struct {
	Shape   shape
	Runs    device.Ptr
	NRuns   int64
	Keys    device.Ptr
	N       int64
	Hits    device.Ptr // a hit each
	Offsets device.Ptr // N+1 numbers
	Rows    device.Ptr
}

// hit is where the entries of a key begin, if they are in one run only.
type hit struct {
	Run int32 // or noRun, or manyRuns
	At  spot
	N   int32 // entries
}

const (
	noRun    = -1
	manyRuns = -2
)

// add notes n entries in another run.
func (h *hit) add(run int, at spot, n int) {
	if h.Run == noRun {
		*h = hit{int32(run), at, int32(n)}
	} else {
		h.Run = manyRuns
	}
}

func lookupHost[W lead](a *lookupArgs, lo, hi int) {
	hits, counts := device.View[hit](a.Hits, hi), device.View[int64](a.Offsets, hi)
	var g group[W]
	for lo < hi {
		g.n = 0
		for i := lo; i < min(lo+groupSize, hi); i++ {
			b := placeAt[W](a.Keys+device.Ptr(i*int(a.Shape.Size)), 0)
			g.hash[g.n] = a.Shape.hashKey(uint64(b.lead), b.key)
			g.add(b)
			hits[i], counts[i] = hit{Run: noRun}, 0
		}
		lookupGroup(a, &g, hits[lo:], counts[lo:])
		lo += g.n
	}
}

// lookupGroup finds a group of keys in all runs.
func lookupGroup[W lead](a *lookupArgs, g *group[W], hits []hit, counts []int64) {
	runs := device.View[run](a.Runs, int(a.NRuns))
	for j := range runs {
		r := &runs[j]
		g.locate(&a.Shape, r)
		for i := range g.n {
			g.at[i] = int32(r.parts()[g.part[i]].N) // what the filter does not know begins behind
		}
		g.seek(&a.Shape, r, g.filter(r))
		for i := range g.n {
			b, p, at := &g.places[i], &r.parts()[g.part[i]], int(g.at[i])
			if at == int(p.N) {
				if !beginsWith(r, int(g.part[i])+1, b.lead) {
					continue
				}
			} else if a.Shape.Wide == 0 && p.Gone == 0 && at+1 < int(p.N) {
				// Mostly a key has one entry, or none.
				switch keys := device.View[W](p.Keys, at+2); {
				case keys[at] != b.lead:
					continue
				case keys[at+1] != b.lead:
					hits[i].add(j, spot{g.part[i], g.at[i]}, 1)
					counts[i]++
					continue
				}
			}
			if at, n, gone := entriesFrom(&a.Shape, r, b, spot{g.part[i], g.at[i]}); n > 0 {
				hits[i].add(j, at, n)
				counts[i] += int64(n - 2*gone)
			}
		}
	}
}

// entriesOf finds the n entries of a key in a run; gone of them are dead.
func entriesOf[W lead](s *shape, r *run, b *place[W], hash uint64) (at spot, n, gone int) {
	i := partOf(s, r, b)
	p := &r.parts()[i]
	from := int(p.N)
	if p.mayHave(hash) {
		l := open[W](s, p)
		from = l.seek(p, b)
	}
	return entriesFrom(s, r, b, spot{int32(i), int32(from)})
}

// entriesFrom is entriesOf, when the key's entries are known not to begin before
// a spot. They may begin, or go on, in the next parts.
func entriesFrom[W lead](s *shape, r *run, b *place[W], from spot) (at spot, n, gone int) {
	ps, i, first := r.parts(), int(from.Part), int(from.At)
	at = from
	for {
		p := &ps[i]
		if first < int(p.N) {
			l := open[W](s, p)
			end := l.endOfKey(first, b)
			n += end - first
			if p.Gone > 0 {
				gone += countDead(p, end) - countDead(p, first)
			}
			if end < l.n {
				return at, n, gone
			}
		}
		if i++; !beginsWith(r, i, b.lead) {
			return at, n, gone
		}
		if first = 0; n == 0 {
			at = spot{int32(i), 0}
		}
	}
}

// endOfKey is behind the entries of a key that begin at entry at, if any do.
func (l *list[W]) endOfKey(at int, b *place[W]) int {
	if at == l.n || l.compareKey(at, b) != 0 {
		return at
	}
	if at+1 == l.n || l.compareKey(at+1, b) != 0 {
		return at + 1
	}
	end, step := at+1, 1
	for end+step < l.n && l.compareKey(end+step, b) == 0 {
		end += step
		step *= 2
	}
	for ; step > 0; step /= 2 {
		if end+step < l.n && l.compareKey(end+step, b) == 0 {
			end += step
		}
	}
	return end + 1
}

func fetchHost[W lead](a *lookupArgs, lo, hi int) {
	runs := device.View[run](a.Runs, int(a.NRuns))
	hits, offsets := device.View[hit](a.Hits, hi), device.View[int64](a.Offsets, hi+1)
	rows := device.View[uint64](a.Rows, int(offsets[hi]))
	var found []version
	for i := lo; i < hi; i++ {
		out := rows[offsets[i]:offsets[i+1]]
		switch h := &hits[i]; {
		case h.Run >= 0:
			runs[h.Run].copyRows(out, h.At)
		case len(out) > 0:
			b := placeAt[W](a.Keys+device.Ptr(i*int(a.Shape.Size)), 0)
			hash := a.Shape.hashKey(uint64(b.lead), b.key)
			found = found[:0]
			for j := range runs {
				if at, n, _ := entriesOf(&a.Shape, &runs[j], &b, hash); n > 0 {
					found = runs[j].appendVersions(found, at, n, j)
				}
			}
			newest(found, out)
		}
	}
}

// copyRows copies the rows of the entries from a spot on.
func (r *run) copyRows(out []uint64, at spot) {
	ps := r.parts()
	for i, from := int(at.Part), int(at.At); len(out) > 0; i, from = i+1, 0 {
		out = out[copy(out, device.View[uint64](ps[i].Rows, int(ps[i].N))[from:]):]
	}
}

// version is what a run says of a row.
type version struct {
	row  uint64
	run  int // 0 is the newest
	dead bool
}

func (r *run) appendVersions(vs []version, at spot, n, run int) []version {
	ps := r.parts()
	for i, from := int(at.Part), int(at.At); n > 0; i, from = i+1, 0 {
		p := &ps[i]
		rows, dead := device.View[uint64](p.Rows, int(p.N)), device.View[uint64](p.Dead, int(p.N+63)/64)
		for ; from < len(rows) && n > 0; from++ {
			vs = append(vs, version{rows[from], run, dead != nil && dead[from>>6]>>(from&63)&1 != 0})
			n--
		}
	}
	return vs
}

// newest writes the rows that are live, each by its newest version.
func newest(vs []version, out []uint64) {
	slices.SortFunc(vs, func(a, b version) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.run, b.run)) })
	n := 0
	for i, v := range vs {
		if (i == 0 || vs[i-1].row != v.row) && !v.dead {
			out[n] = v.row
			n++
		}
	}
}
