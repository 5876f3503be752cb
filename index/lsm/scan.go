package lsm

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// scanArgs finds the entries of ranges.
//
//	seek  for each range: where it lies in each run, to Spans, and how many
//	      entries it has, to Counts. That is a sum over the runs of what lies
//	      there, live ones less dead ones (invariant 3), without a look at them.
//	sum   the places of the answers
//	scan  the rows, and keys, in order
type scanArgs struct {
	Shape          shape
	Runs           device.Ptr
	NRuns          int64
	LoKeys, LoRows device.Ptr // 0: open; rows 0: all
	HiKeys, HiRows device.Ptr
	Limit          int64 // 0: none
	Backward       int64
	Counts         device.Ptr
	Spans          device.Ptr // a span a run and range; 0: only counts are wanted
	Rows, Keys     device.Ptr // Keys may be 0
}

// span is what of a run is in a range.
type span struct{ lo, hi spot }

// bound is place i of one end.
func bound[W lead](a *scanArgs, keys, rows device.Ptr, i int) place[W] {
	row := uint64(0)
	if rows != 0 {
		row = device.View[uint64](rows, i+1)[i]
	}
	return placeAt[W](keys+device.Ptr(i*int(a.Shape.Size)), row)
}

func seekHost[W lead](a *scanArgs, lo, hi int) {
	runs, counts := device.View[run](a.Runs, int(a.NRuns)), device.View[int64](a.Counts, hi)
	spans := device.View[span](a.Spans, hi*len(runs))
	var from, to group[W]
	var found [groupSize]span
	for lo < hi {
		n := min(groupSize, hi-lo)
		from.n, to.n = 0, 0
		for i := lo; i < lo+n; i++ {
			if a.LoKeys != 0 {
				from.add(bound[W](a, a.LoKeys, a.LoRows, i))
			}
			if a.HiKeys != 0 {
				to.add(bound[W](a, a.HiKeys, a.HiRows, i))
			}
			counts[i] = 0
		}
		for j := range runs {
			r := &runs[j]
			seekGroup(&a.Shape, r, &from, &to, found[:n])
			for i, sp := range found[:n] {
				counts[lo+i] += r.rank(sp.hi) - r.rank(sp.lo)
				if spans != nil {
					spans[(lo+i)*len(runs)+j] = sp
				}
			}
		}
		for i := lo; i < lo+n; i++ {
			if counts[i] = max(counts[i], 0); a.Limit > 0 {
				counts[i] = min(counts[i], a.Limit)
			}
		}
		lo += n
	}
}

// seekGroup finds what of a run lies from one group of places to another; an
// empty group is the run's begin or end.
func seekGroup[W lead](s *shape, r *run, from, to *group[W], found []span) {
	end := r.end()
	for i := range found {
		found[i] = span{hi: end}
	}
	for _, g := range []*group[W]{from, to} {
		g.locate(s, r)
		g.seek(s, r, g.all())
		for i := range g.n {
			if g == from {
				found[i].lo = g.spot(r, i)
			} else {
				found[i].hi = g.spot(r, i)
			}
		}
	}
}

func scanHost[W lead](a *scanArgs, lo, hi int) {
	runs, offsets := device.View[run](a.Runs, int(a.NRuns)), device.View[int64](a.Counts, hi+1)
	spans := device.View[span](a.Spans, hi*len(runs))
	var f fewMerger[W]
	s := scanner[W]{a: a, rows: device.View[uint64](a.Rows, int(offsets[hi]))}
	s.step = a.Shape.step(int(unsafe.Sizeof(W(0))))
	s.keys = device.View[W](a.Keys, int(offsets[hi])*s.step)
	for i := lo; i < hi; i++ {
		s.n, s.end = int(offsets[i]), int(offsets[i+1])
		if f.fits(a, runs, spans[i*len(runs):(i+1)*len(runs)], s.end-s.n) {
			f.merge(a, runs, spans[i*len(runs):(i+1)*len(runs)], &s)
			continue
		}
		s.cursors = s.cursors[:0]
		for j := range runs {
			s.add(&runs[j], spans[i*len(runs)+j])
		}
		s.run()
	}
}

// scanner writes one range after the other.
type scanner[W lead] struct {
	a       *scanArgs
	cursors []cursor[W] // of runs with something left, from the newest to the oldest
	rows    []uint64
	keys    []W
	step    int
	n, end  int // what is to be written
}

// cursor is a piece of a run, of which entries at to end are left: the next one
// is the first, or the last.
type cursor[W lead] struct {
	list[W]
	parts []part
	part  int
	span  span
	at    int
	end   int
	next  int // the entry that comes next: at, or the one before end
	lead  W   // its
}

func (s *scanner[W]) add(r *run, sp span) {
	if sp.lo.Part > sp.hi.Part || sp.lo.Part == sp.hi.Part && sp.lo.At >= sp.hi.At {
		return
	}
	c := cursor[W]{parts: r.parts(), span: sp, part: int(sp.lo.Part)}
	if s.a.Backward != 0 {
		c.part = int(sp.hi.Part)
	}
	if c.open(s) {
		s.cursors = append(s.cursors, c)
	}
}

// open goes to what is left in the cursor's part, or the next one that has
// something; false says that there is none.
func (c *cursor[W]) open(s *scanner[W]) bool {
	for ; c.part >= int(c.span.lo.Part) && c.part <= int(c.span.hi.Part); c.turn(s) {
		c.list = open[W](&s.a.Shape, &c.parts[c.part])
		c.at, c.end = 0, c.n
		if c.part == int(c.span.lo.Part) {
			c.at = int(c.span.lo.At)
		}
		if c.part == int(c.span.hi.Part) {
			c.end = int(c.span.hi.At)
		}
		if c.at < c.end {
			c.look(s)
			return true
		}
	}
	return false
}

// look finds the entry that comes next.
func (c *cursor[W]) look(s *scanner[W]) {
	c.next = c.at
	if s.a.Backward != 0 {
		c.next = c.end - 1
	}
	c.lead = c.keys[c.next*c.step]
}

func (c *cursor[W]) turn(s *scanner[W]) {
	if s.a.Backward != 0 {
		c.part--
	} else {
		c.part++
	}
}

// skip goes on by one entry, and reports whether there is another.
func (c *cursor[W]) skip(s *scanner[W]) bool {
	if s.a.Backward != 0 {
		c.end--
	} else {
		c.at++
	}
	if c.at < c.end {
		c.look(s)
		return true
	}
	c.turn(s)
	return c.open(s)
}

// before orders two cursors by what comes next.
func (s *scanner[W]) before(x, y *cursor[W]) int {
	c := 1
	switch {
	case x.lead < y.lead:
		c = -1
	case x.lead == y.lead:
		c = x.compare(x.next, &y.list, y.next)
	}
	if s.a.Backward != 0 {
		return -c
	}
	return c
}

func (s *scanner[W]) run() {
	for s.n < s.end {
		if len(s.cursors) == 1 {
			s.rest(&s.cursors[0])
			return
		}
		first, second := s.least()
		c, o := &s.cursors[first], &s.cursors[second]
		if s.before(c, o) == 0 {
			s.settle(c)
			continue
		}
		for s.n < s.end {
			s.put(&c.list, c.next)
			if !c.skip(s) {
				s.remove(first)
				break
			}
			if s.before(c, o) >= 0 {
				break
			}
		}
	}
}

// least finds the cursors that come first and second.
func (s *scanner[W]) least() (first, second int) {
	first, second = 0, 1
	if s.before(&s.cursors[1], &s.cursors[0]) < 0 {
		first, second = 1, 0
	}
	for i := 2; i < len(s.cursors); i++ {
		switch c := &s.cursors[i]; {
		case s.before(c, &s.cursors[first]) < 0:
			first, second = i, first
		case s.before(c, &s.cursors[second]) < 0:
			second = i
		}
	}
	return first, second
}

// settle writes the entry that comes next in c and in others, if the newest of
// them says that it is live, and goes behind it in all of them.
func (s *scanner[W]) settle(c *cursor[W]) {
	same := *c
	newest := true
	for i := 0; i < len(s.cursors); {
		o := &s.cursors[i]
		if s.before(o, &same) != 0 {
			i++
			continue
		}
		if newest && !o.isDead(o.next) {
			s.put(&o.list, o.next)
		}
		newest = false
		if o.skip(s) {
			i++
		} else {
			s.remove(i)
		}
	}
}

func (s *scanner[W]) remove(i int) { s.cursors = append(s.cursors[:i], s.cursors[i+1:]...) }

func (s *scanner[W]) put(l *list[W], i int) {
	s.rows[s.n] = l.rows[i]
	if s.keys != nil {
		copy(s.keys[s.n*s.step:(s.n+1)*s.step], l.keys[i*s.step:])
	}
	s.n++
}

// rest writes the last cursor's entries: nothing older is left that they could
// take away, so all are live.
func (s *scanner[W]) rest(c *cursor[W]) {
	for s.n < s.end {
		if s.a.Backward != 0 {
			for ; c.end > c.at && s.n < s.end; c.end-- {
				s.put(&c.list, c.end-1)
			}
		} else {
			n := min(c.end-c.at, s.end-s.n)
			copy(s.rows[s.n:s.n+n], c.rows[c.at:])
			if s.keys != nil {
				copy(s.keys[s.n*s.step:(s.n+n)*s.step], c.keys[c.at*s.step:])
			}
			s.n += n
		}
		if s.n < s.end {
			c.turn(s)
			c.open(s)
		}
	}
}
