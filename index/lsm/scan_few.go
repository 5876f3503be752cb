package lsm

import (
	"slices"

	"github.com/gpusql/gpusql/device"
)

// fewEntries is the most entries of a range that are merged run by run.
const fewEntries = 1 << 10

// fewMerger answers small ranges over several runs: what lies in each of them is
// merged with what was found in those before, the smaller ones, without a branch
// that depends on a key. A choice among all runs for each entry costs three times
// as much. It is for keys of one word, and pieces without dead entries.
type fewMerger[W lead] struct {
	found, room few[W]
	piece       few[W]
}

// few are entries in order.
type few[W lead] struct {
	keys []W
	rows []uint64
}

func (f *few[W]) slice(lo, hi int) few[W] { return few[W]{f.keys[lo:hi], f.rows[lo:hi]} }

// fits reports that a range of n entries is for the merger.
func (f *fewMerger[W]) fits(a *scanArgs, runs []run, spans []span, n int) bool {
	if a.Shape.Wide != 0 || n > fewEntries || len(runs) < 2 {
		return false
	}
	for j := range runs {
		if runs[j].Gone > 0 && !spans[j].live(runs[j].parts(), n, a.Backward != 0) {
			return false
		}
	}
	return true
}

// live reports that none of the parts is dead in which the first n entries of a
// span lie, or the last.
func (sp *span) live(ps []part, n int, backward bool) bool {
	i, step := int(sp.lo.Part), 1
	if backward {
		i, step = int(sp.hi.Part), -1
	}
	for ; i >= int(sp.lo.Part) && i <= int(sp.hi.Part) && n > 0; i += step {
		lo, hi := sp.of(ps, i)
		if lo < hi && ps[i].Gone > 0 {
			return false
		}
		n -= max(hi-lo, 0)
	}
	return true
}

// of is what of part i is in the span.
func (sp *span) of(ps []part, i int) (lo, hi int) {
	hi = int(ps[i].N)
	if i == int(sp.lo.Part) {
		lo = int(sp.lo.At)
	}
	if i == int(sp.hi.Part) {
		hi = int(sp.hi.At)
	}
	return lo, hi
}

// merge writes the range to where s is.
func (f *fewMerger[W]) merge(a *scanArgs, runs []run, spans []span, s *scanner[W]) {
	n := s.end - s.n
	f.found = f.found.slice(0, 0)
	for j := range runs {
		f.take(a, &runs[j], &spans[j], n)
		f.add()
	}
	out := f.found.slice(0, n)
	if a.Backward != 0 {
		out = f.found.slice(len(f.found.rows)-n, len(f.found.rows))
		slices.Reverse(out.keys)
		slices.Reverse(out.rows)
	}
	copy(s.rows[s.n:s.end], out.rows)
	if s.keys != nil {
		copy(s.keys[s.n:s.end], out.keys)
	}
}

// take finds up to n entries of a run: the first of the span, or the last.
func (f *fewMerger[W]) take(a *scanArgs, r *run, sp *span, n int) {
	f.piece = f.piece.slice(0, 0)
	ps := r.parts()
	if a.Backward == 0 {
		for i := int(sp.lo.Part); i <= int(sp.hi.Part) && len(f.piece.rows) < n; i++ {
			lo, hi := sp.of(ps, i)
			f.append(&ps[i], lo, min(hi, lo+n-len(f.piece.rows)))
		}
		return
	}
	// Where the n last begin: parts are put in order, so those before come first.
	i, left := int(sp.hi.Part), n
	for ; i > int(sp.lo.Part); i-- {
		lo, hi := sp.of(ps, i)
		if left -= hi - lo; left <= 0 {
			break
		}
	}
	for ; i <= int(sp.hi.Part); i++ {
		lo, hi := sp.of(ps, i)
		f.append(&ps[i], lo, hi)
	}
	if have := len(f.piece.rows); have > n {
		f.piece = f.piece.slice(have-n, have)
	}
}

func (f *fewMerger[W]) append(p *part, lo, hi int) {
	if lo < hi {
		f.piece.keys = append(f.piece.keys, device.View[W](p.Keys, hi)[lo:]...)
		f.piece.rows = append(f.piece.rows, device.View[uint64](p.Rows, hi)[lo:]...)
	}
}

// add merges the piece into what was found.
func (f *fewMerger[W]) add() {
	x, y := f.found, f.piece
	if len(x.rows) == 0 || len(y.rows) == 0 {
		if len(x.rows) == 0 {
			f.found, f.piece = y, x
		}
		return
	}
	n := len(x.rows) + len(y.rows)
	if cap(f.room.rows) < n || cap(f.room.keys) < n {
		f.room = few[W]{make([]W, 2*n), make([]uint64, 2*n)}
	}
	to := few[W]{f.room.keys[:n], f.room.rows[:n]}
	i, j, at := mergeLive(x.keys, x.rows, y.keys, y.rows, to.keys, to.rows)
	at += copy(to.keys[at:], x.keys[i:])
	copy(to.rows[at-len(x.keys)+i:], x.rows[i:])
	copy(to.keys[at:], y.keys[j:])
	copy(to.rows[at:], y.rows[j:])
	f.found, f.room = to, f.found
}
