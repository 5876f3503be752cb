package lsm

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// groupSize is how many places are looked for together.
const groupSize = 32

// group is some places that are looked for in a run a step at a time: while one
// waits for memory, the next ones are under way. On one core that is worth more
// than anything else that a search may do.
type group[W lead] struct {
	n      int
	places [groupSize]place[W]
	hash   [groupSize]uint64
	part   [groupSize]int32 // where the place lies
	at     [groupSize]int32 // in the part
	some   [groupSize]uint8 // the places that a step is for
}

// add takes a place, unless there are groupSize.
func (g *group[W]) add(b place[W]) {
	g.places[g.n] = b
	g.n++
}

// locate finds the part of each place.
func (g *group[W]) locate(s *shape, r *run) {
	for i := range g.n {
		g.part[i] = int32(partOf(s, r, &g.places[i]))
	}
}

// filter chooses the places whose key may be in their part.
func (g *group[W]) filter(r *run) []uint8 {
	ps, n := r.parts(), 0
	for i := range g.n {
		p := &ps[g.part[i]]
		block, mask := filterBits(g.hash[i], p.Blocks)
		word := device.View[uint64](p.Filter, int(p.Blocks))[block]
		g.some[n] = uint8(i)
		n += 1 - less(word&mask, mask)
	}
	return g.some[:n]
}

// all chooses all places.
func (g *group[W]) all() []uint8 {
	for i := range g.n {
		g.some[i] = uint8(i)
	}
	return g.some[:g.n]
}

// seek finds where in their parts the chosen places lie.
func (g *group[W]) seek(s *shape, r *run, some []uint8) {
	ps, step := r.parts(), s.step(int(unsafe.Sizeof(W(0))))
	for _, i := range some {
		p := &ps[g.part[i]]
		low, high := fences(int(p.N))
		g.at[i] = int32(countBelow(device.View[W](p.Fences, low+high)[low:], g.places[i].lead))
	}
	for _, i := range some {
		p := &ps[g.part[i]]
		low, _ := fences(int(p.N))
		g.at[i] = int32(countFenced(device.View[W](p.Fences, low), fenceBefore(int(g.at[i])), g.places[i].lead))
	}
	for _, i := range some {
		p := &ps[g.part[i]]
		n := int(p.N)
		g.at[i] = int32(countKeys(device.View[W](p.Keys, n*step), step, n, fenceBefore(int(g.at[i])), g.places[i].lead))
	}
	for _, i := range some {
		if s.Wide == 0 && g.places[i].row == 0 {
			continue // the lead was all
		}
		p := &ps[g.part[i]]
		if at := int(g.at[i]); at < int(p.N) && device.View[W](p.Keys, at*step+1)[at*step] == g.places[i].lead {
			l := open[W](s, p)
			g.at[i] = int32(l.gallop(at, &g.places[i]))
		}
	}
}

// spot is where place i lies in the run, after seek.
func (g *group[W]) spot(r *run, i int) spot {
	sp := spot{g.part[i], g.at[i]}
	if int64(sp.At) == r.parts()[sp.Part].N && int64(sp.Part)+1 < r.N {
		return spot{sp.Part + 1, 0}
	}
	return sp
}
