package lsm

import (
	"math"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/change"
	"github.com/gpusql/gpusql/kernels"
)

// deltas are what a batch does to the index: entries that are new, and dead
// ones that each take one away that is there.
type deltas struct {
	parts  []part
	n      int
	gone   int
	maxRow uint64 // of the batch
}

// resolveArgs finds out what of a sorted batch changes anything.
//
//	look    the least and the greatest row
//	probe   for each change: is its entry there?                        to Live
//	clears  for keys that are cleared: the first change of each    to Firsts, ClearKeys
//	delta   the entries that are new and those that take others away, in order
//
// A row above all that the index ever had needs no probe.
type resolveArgs struct {
	Shape            shape
	Runs             device.Ptr
	NRuns            int64
	Keys, Rows, Ops  device.Ptr
	N                int64
	MaxRow           uint64
	Live             device.Ptr // a byte each
	Firsts           device.Ptr // the first change of each cleared key
	ClearKeys        device.Ptr
	NClears          int64
	Offsets, Cleared device.Ptr // the rows of the keys that are cleared
	ToKeys, ToRows   device.Ptr
	ToDead           device.Ptr // cleared
	Room             int64      // entries that there is room for
	To               device.Ptr // a resolved
}

// resolved is what the kernels say.
type resolved struct {
	Least, Most uint64 // rows
	Clears      int64
	N, Gone     int64
}

// resolve makes deltas of a batch.
func (c *draft) resolve(e index.Entries) (d deltas, err error) {
	sorted, err := c.x.sorter.Sort(c.s, e)
	if err != nil || sorted.N == 0 {
		return d, err
	}
	st, n := c.x.current, sorted.N
	a := resolveArgs{Shape: c.x.shape, Runs: st.runs, NRuns: int64(st.n), Keys: sorted.Keys, Rows: sorted.Rows, Ops: sorted.Ops,
		N: int64(n), MaxRow: c.x.maxRow}
	if a.To, err = c.take(int(unsafe.Sizeof(resolved{}))); err != nil {
		return d, err
	}
	r, err := c.ask(c.x.steps.look, 1, a)
	if err != nil {
		return d, err
	}
	d.maxRow = r.Most
	if a.Ops == 0 && (st.n == 0 || r.Least > a.MaxRow) {
		// All are new: the batch is what it does.
		d.n, d.parts = n, c.cut(part{Keys: a.Keys, Rows: a.Rows, N: a.N})
		return d, nil
	}
	if a.Live, err = c.take(n); err != nil {
		return d, err
	}
	if err := device.Launch(c.s, c.x.steps.probe, n, a); err != nil {
		return d, err
	}
	total := n
	if sorted.Clears {
		answer := index.NewAnswer(c.x.mem)
		defer answer.Release()
		if err := c.clear(&a, answer); err != nil {
			return d, err
		}
		total += answer.Total
	}
	keys := (total*int(a.Shape.Size) + 7) &^ 7
	dead := (total + 63) / 64 * 8
	a.Room = int64(total)
	if a.ToKeys, err = c.take(keys + 8*total + dead); err != nil {
		return d, err
	}
	a.ToRows = a.ToKeys + device.Ptr(keys)
	a.ToDead = a.ToRows + device.Ptr(8*total)
	if err := kernels.Zero(c.s, a.ToDead, dead); err != nil {
		return d, err
	}
	if r, err = c.ask(c.x.steps.delta, 1, a); err != nil {
		return d, err
	}
	d.n, d.gone = int(r.N), int(r.Gone)
	p := part{Keys: a.ToKeys, Rows: a.ToRows, N: r.N}
	if d.gone > 0 {
		p.Dead, p.Gone = a.ToDead, r.Gone
	}
	d.parts = c.cut(p)
	return d, nil
}

// clear finds the rows of the keys that are cleared.
func (c *draft) clear(a *resolveArgs, answer *index.Answer) error {
	size := int(a.Shape.Size)
	at, err := c.take(8*int(a.N) + size*int(a.N))
	if err != nil {
		return err
	}
	a.Firsts, a.ClearKeys = at, at+device.Ptr(8*a.N)
	r, err := c.ask(c.x.steps.clears, 1, *a)
	if err != nil {
		return err
	}
	a.NClears = r.Clears
	sn := snapshot{c.x, c.x.current}
	if err := sn.Lookup(c.s, index.Keys{Data: a.ClearKeys, N: int(r.Clears)}, answer); err != nil {
		return err
	}
	a.Offsets, a.Cleared = answer.Offsets(), answer.Rows()
	return nil
}

// ask launches a kernel and reads what it says.
func (c *draft) ask(k *device.Kernel[resolveArgs], n int, a resolveArgs) (r resolved, err error) {
	if err := device.Launch(c.s, k, n, a); err != nil {
		return r, err
	}
	out := []resolved{{}}
	err = c.s.Download(bytesOf(out), a.To)
	return out[0], err
}

// cut makes parts of a segment's size of one. Which of them have dead entries is
// not known: all may.
func (c *draft) cut(all part) (ps []part) {
	size := int64(c.x.capacity) // a multiple of 64, so that bits are cut between words
	for from := int64(0); from < all.N; from += size {
		p := part{Keys: all.Keys + device.Ptr(from*int64(c.x.shape.Size)), Rows: all.Rows + device.Ptr(8*from),
			N: min(size, all.N-from), Gone: min(all.Gone, 1)}
		if all.Dead != 0 {
			p.Dead = all.Dead + device.Ptr(from/8)
		}
		ps = append(ps, p)
	}
	return ps
}

func lookHost(a *resolveArgs, _, _ int) {
	r := resolved{Least: math.MaxUint64}
	for _, row := range device.View[uint64](a.Rows, int(a.N)) {
		r.Least, r.Most = min(r.Least, row), max(r.Most, row)
	}
	device.View[resolved](a.To, 1)[0] = r
}

func (a *resolveArgs) op(i int) uint8 {
	if a.Ops == 0 {
		return 0
	}
	return device.View[uint8](a.Ops, i+1)[i]
}

func probeHost[W lead](a *resolveArgs, lo, hi int) {
	l := open[W](&a.Shape, &part{Keys: a.Keys, Rows: a.Rows, N: a.N})
	live := device.View[uint8](a.Live, int(a.N))
	var g group[W]
	var which [groupSize]int
	var is [groupSize]uint8
	for i := lo; i < hi; i++ {
		live[i] = 0
		op := a.op(i)
		if op&change.Clear == 0 && (op&change.Delete != 0 || l.rows[i] <= a.MaxRow) {
			b := l.place(i)
			g.hash[g.n], which[g.n] = a.Shape.hashKey(uint64(b.lead), b.key), i
			g.add(b)
		}
		if g.n == groupSize || i+1 == hi {
			probeGroup(a, &g, is[:g.n])
			for j, is := range is[:g.n] {
				live[which[j]] = is
			}
			g.n = 0
		}
	}
}

// probeGroup says for some entries whether they are there: the newest run that
// has one says so (invariant 3).
func probeGroup[W lead](a *resolveArgs, g *group[W], live []uint8) {
	const unknown = 2
	for i := range live {
		live[i] = unknown
	}
	for j := range device.View[run](a.Runs, int(a.NRuns)) {
		r := &device.View[run](a.Runs, int(a.NRuns))[j]
		g.locate(&a.Shape, r)
		for i := range g.n {
			g.at[i] = int32(r.parts()[g.part[i]].N)
		}
		g.seek(&a.Shape, r, g.filter(r))
		for i := range g.n {
			sp, b := g.spot(r, i), &g.places[i]
			p := &r.parts()[sp.Part]
			if live[i] != unknown || sp.Part != g.part[i] && !beginsWith(r, int(sp.Part), b.lead) || int64(sp.At) == p.N {
				continue
			}
			l := open[W](&a.Shape, p)
			if at := int(sp.At); l.rows[at] == b.row && l.compareKey(at, b) == 0 {
				live[i] = 1
				if l.isDead(at) {
					live[i] = 0
				}
			}
		}
	}
	for i := range live {
		live[i] &= 1
	}
}

// has reports whether a run has the entry of a place, whose key's hash is h.
func has[W lead](s *shape, r *run, b *place[W], h uint64) (there, dead bool) {
	i := partOf(s, r, b)
	ps := r.parts()
	if ps[i].mayHave(h) {
		l := open[W](s, &ps[i])
		if at := l.seek(&ps[i], b); at < l.n {
			return l.rows[at] == b.row && l.compareKey(at, b) == 0, l.isDead(at)
		}
	}
	// It may still be what the next part begins with.
	if !beginsWith(r, i+1, b.lead) {
		return false, false
	}
	l := open[W](s, &ps[i+1])
	return l.rows[0] == b.row && l.compareKey(0, b) == 0, l.isDead(0)
}

func clearsHost[W lead](a *resolveArgs, _, _ int) {
	l := open[W](&a.Shape, &part{Keys: a.Keys, Rows: a.Rows, N: a.N})
	firsts := device.View[int64](a.Firsts, int(a.N))
	keys := device.View[W](a.ClearKeys, int(a.N)*l.step)
	n := 0
	for i := range l.n {
		if a.op(i)&change.Clear == 0 || i > 0 && l.sameKey(i-1, i) {
			continue
		}
		firsts[n] = int64(i)
		copy(keys[n*l.step:(n+1)*l.step], l.keys[i*l.step:])
		n++
	}
	device.View[resolved](a.To, 1)[0].Clears = int64(n)
}

func (l *list[W]) sameKey(i, j int) bool {
	b := l.place(j)
	return l.compareKey(i, &b) == 0
}

// deltaHost writes deltas. A key that is cleared loses all rows it has but those
// that are inserted after.
func deltaHost[W lead](a *resolveArgs, _, _ int) {
	l := open[W](&a.Shape, &part{Keys: a.Keys, Rows: a.Rows, N: a.N})
	live := device.View[uint8](a.Live, l.n)
	firsts := device.View[int64](a.Firsts, int(a.NClears))
	offsets := device.View[int64](a.Offsets, int(a.NClears)+1)
	w := deltaWriter[W]{from: &l}
	w.keys = device.View[W](a.ToKeys, int(a.Room)*l.step)
	w.rows = device.View[uint64](a.ToRows, int(a.Room))
	w.dead = device.View[uint64](a.ToDead, (int(a.Room)+63)/64)
	next := 0
	for i := 0; i < l.n; {
		if next == len(firsts) || i < int(firsts[next]) {
			dead := a.op(i)&change.Delete != 0
			if dead == (live[i] != 0) {
				w.put(i, l.rows[i], dead)
			}
			i++
			continue
		}
		old := device.View[uint64](a.Cleared, int(offsets[next+1]))[offsets[next]:]
		next++
		key := i
		for ; i < l.n && (i == key || l.sameKey(key, i)); i++ {
			for len(old) > 0 && old[0] < l.rows[i] {
				w.put(key, old[0], true)
				old = old[1:]
			}
			had := len(old) > 0 && old[0] == l.rows[i]
			if had {
				old = old[1:]
			}
			if dead := a.op(i)&change.Delete != 0; dead == had {
				w.put(i, l.rows[i], dead)
			}
		}
		for _, row := range old {
			w.put(key, row, true)
		}
	}
	r := &device.View[resolved](a.To, 1)[0]
	r.N, r.Gone = int64(w.n), int64(w.gone)
}

// deltaWriter writes entries in order.
type deltaWriter[W lead] struct {
	from    *list[W]
	keys    []W
	rows    []uint64
	dead    []uint64
	n, gone int
}

// put writes the key of change i with a row.
func (w *deltaWriter[W]) put(i int, row uint64, dead bool) {
	step := w.from.step
	copy(w.keys[w.n*step:(w.n+1)*step], w.from.keys[i*step:])
	w.rows[w.n] = row
	if dead {
		w.dead[w.n>>6] |= 1 << (w.n & 63)
		w.gone++
	}
	w.n++
}
