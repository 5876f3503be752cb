package lsm

import (
	"fmt"

	"github.com/gpusql/gpusql/device"
)

// checkArgs looks at all entries of all runs.
type checkArgs struct {
	Shape shape
	Runs  device.Ptr
	NRuns int64
	To    device.Ptr // a finding
}

// finding is what is wrong with an entry.
type finding struct {
	Wrong         int64 // an index of wrongs
	Run, Part, At int64
}

const (
	fine = iota
	outOfOrder
	badCount
	badFence
	badFilter
	badLead
	notThere
	thereTwice
)

var wrongs = [...]string{outOfOrder: "is out of order (invariant 1)", badCount: "ends a part that counts wrongly",
	badFence: "is not found by the fences", badFilter: "is not in the filter (invariant 6)", badLead: "begins a part that the run knows by another lead",
	notThere: "takes away what is not there (invariant 3)", thereTwice: "is there in an older run too (invariant 3)"}

func checkHost[W lead](a *checkArgs, _, _ int) {
	c := checker[W]{a: a, runs: device.View[run](a.Runs, int(a.NRuns)), to: &device.View[finding](a.To, 1)[0]}
	*c.to = finding{}
	for i := range c.runs {
		c.run(i)
	}
}

type checker[W lead] struct {
	a    *checkArgs
	runs []run
	to   *finding
}

// wrong notes the first thing that is wrong.
func (c *checker[W]) wrong(what, run, part, at int) {
	if c.to.Wrong == fine {
		*c.to = finding{int64(what), int64(run), int64(part), int64(at)}
	}
}

func (c *checker[W]) run(i int) {
	r := &c.runs[i]
	var entries, gone int64
	var before list[W]
	for j := range r.parts() {
		p := &r.parts()[j]
		l := open[W](&c.a.Shape, p)
		if p.Start != entries || p.Before != gone || p.Gone != int64(countDead(p, l.n)) {
			c.wrong(badCount, i, j, l.n-1)
		}
		entries, gone = entries+p.N, gone+p.Gone
		if !beginsWith(r, j, l.keys[0]) {
			c.wrong(badLead, i, j, 0)
		}
		if j > 0 && before.compare(before.n-1, &l, 0) >= 0 {
			c.wrong(outOfOrder, i, j, 0)
		}
		for at := range l.n {
			if at > 0 && l.compare(at-1, &l, at) >= 0 {
				c.wrong(outOfOrder, i, j, at)
			}
			c.entry(i, j, at, p, &l)
		}
		before = l
	}
	if entries != r.Entries || gone != r.Gone {
		c.wrong(badCount, i, int(r.N)-1, 0)
	}
}

func (c *checker[W]) entry(i, j, at int, p *part, l *list[W]) {
	b := l.place(at)
	h := c.a.Shape.hashKey(uint64(b.lead), b.key)
	if find(&c.a.Shape, &c.runs[i], &b) != (spot{int32(j), int32(at)}) {
		c.wrong(badFence, i, j, at)
	}
	if !p.mayHave(h) {
		c.wrong(badFilter, i, j, at)
	}
	live := false
	for k := i + 1; k < len(c.runs); k++ {
		if there, dead := has(&c.a.Shape, &c.runs[k], &b, h); there {
			live = !dead
			break
		}
	}
	switch {
	case l.isDead(at) && !live:
		c.wrong(notThere, i, j, at)
	case !l.isDead(at) && live:
		c.wrong(thereTwice, i, j, at)
	}
}

// Check verifies the invariants.
func (x *Index) Check(s device.Stream) error {
	st := x.current
	entries, sizes := int64(0), make([]int, len(st.lists)/2+1)
	for i, r := range st.lists {
		if r == nil {
			continue
		}
		entries += r.run.Entries - 2*r.run.Gone
		sizes[i/2] += int(r.run.Entries)
		for j, g := range r.segments {
			if g.refs.Load() < 1 || g.n() == 0 || g.n() > x.capacity || g.first.compare(g.last) > 0 {
				return fmt.Errorf("lsm: segment %d of list %d has %d entries and %d users", j, i, g.n(), g.refs.Load())
			}
		}
	}
	for level, n := range sizes {
		if n > capacity(level) {
			return fmt.Errorf("lsm: level %d has %d entries (invariant 4)", level, n)
		}
	}
	if entries != st.entries {
		return fmt.Errorf("lsm: %d entries are there, and %d counted", entries, st.entries)
	}
	to, err := x.mem.Alloc(64)
	if err != nil {
		return err
	}
	defer to.Release()
	if err := device.Launch(s, x.steps.check, 1, checkArgs{x.shape, st.runs, int64(st.n), to.Ptr()}); err != nil {
		return err
	}
	f := make([]finding, 1)
	if err := s.Download(bytesOf(f), to.Ptr()); err != nil || f[0].Wrong == fine {
		return err
	}
	return fmt.Errorf("lsm: entry %d of part %d of run %d %s", f[0].At, f[0].Part, f[0].Run, wrongs[f[0].Wrong])
}
