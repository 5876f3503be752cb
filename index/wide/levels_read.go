package wide

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// levelsSnapshot is a stack that is held. One run without dead entries is a tree,
// and read as one.
type levelsSnapshot struct {
	x  *levels
	st *stack
}

// Release lets the stack go.
func (x *levelsSnapshot) Release() {
	x.x.mu.Lock()
	defer x.x.mu.Unlock()
	x.x.unref(x.st)
}

// one is the only run, if there are no others. It has no dead entries.
func (x *levelsSnapshot) one() (*reader, bool) {
	r := &reader{mem: x.x.mem}
	if len(x.st.runs) > 0 {
		r.tree = x.st.runs[0].tree
	}
	return r, len(x.st.runs) < 2
}

// Lookup finds the rows of each key: as long as no key has more than one, without
// looking at what is between the first and the last.
func (x *levelsSnapshot) Lookup(s device.Stream, k index.Keys, a *index.Answer) error {
	if one, ok := x.one(); ok {
		return one.Lookup(s, k, a)
	}
	if err := a.Ask(k.N); err != nil {
		return err
	}
	if k.N == 0 {
		return nothing(s, a)
	}
	r := kernels.RunsRead{R: x.st.kernel(), N: uint64(k.N), LoKeys: k.Data}
	room := &room{mem: x.x.mem}
	defer room.release()
	if r.R.T[0].Form.Rest == 0 {
		if many, err := x.find(s, room, &r, a); err != nil || !many {
			return err
		}
	}
	r.HiKeys, r.HiAfter, r.Offsets = k.Data, 1, a.Offsets()
	return x.answer(s, room, &r, a, false)
}

// find looks for keys of one word, and says whether some key has more than one row:
// then nothing is answered yet.
func (x *levelsSnapshot) find(s device.Stream, room *room, r *kernels.RunsRead, a *index.Answer) (many bool, err error) {
	n := int(r.N)
	var p places
	p.add(&r.Counts, n)
	p.add(&r.State, kernels.TreeFindBytes(n))
	if err := room.take(&p); err != nil {
		return false, err
	}
	if err := a.Room(n, 0); err != nil {
		return false, err
	}
	if err := kernels.Zero(s, r.State, 8); err != nil {
		return false, err
	}
	r.Offsets, r.Rows = a.Offsets(), a.Rows()
	if err := r.Find(s); err != nil {
		return false, err
	}
	what, err := total(s, r.State)
	if err != nil || what == 0 || what&kernels.RunsMany != 0 {
		return what&kernels.RunsMany != 0, err
	}
	found := kernels.TreeRead{T: r.R.T[0], N: r.N, Offsets: r.Offsets, Rows: r.Rows, Counts: r.Counts, State: r.State}
	return false, give(s, room, &found, a)
}

// Scan finds the entries of each range.
func (x *levelsSnapshot) Scan(s device.Stream, g index.Ranges, o index.Order, a *index.Answer) error {
	if one, ok := x.one(); ok {
		return one.Scan(s, g, o, a)
	}
	if err := a.Ask(g.N); err != nil {
		return err
	}
	if g.N == 0 {
		return nothing(s, a)
	}
	r := x.ranged(g)
	r.Limit, r.Offsets = uint64(o.Limit), a.Offsets()
	if o.Direction == index.Backward {
		r.Backward = 1
	}
	room := &room{mem: x.x.mem}
	defer room.release()
	return x.answer(s, room, &r, a, o.Keys)
}

// Count writes the number of entries of each range.
func (x *levelsSnapshot) Count(s device.Stream, g index.Ranges, counts device.Ptr) error {
	if one, ok := x.one(); ok {
		return one.Count(s, g, counts)
	}
	r := x.ranged(g)
	r.Offsets = counts
	return r.Bounds(s)
}

func (x *levelsSnapshot) ranged(g index.Ranges) kernels.RunsRead {
	r := kernels.RunsRead{R: x.st.kernel(), N: uint64(g.N)}
	r.LoKeys, r.LoRows = bound(g.Lo)
	r.HiKeys, r.HiRows = bound(g.Hi)
	return r
}

// answer counts what ranges have, and then writes it.
func (x *levelsSnapshot) answer(s device.Stream, room *room, r *kernels.RunsRead, a *index.Answer, keys bool) error {
	p, err := cut(s, room, r)
	if err != nil {
		return err
	}
	size := 0
	if keys {
		size = x.x.format.Size()
	}
	if err := a.Room(p.total, size); err != nil || p.total == 0 {
		return err
	}
	r.Rows = a.Rows()
	if keys {
		r.Keys = a.Keys()
	}
	return r.Fill(s, p.pieces)
}

// cuts are how many entries ranges have, and in how many pieces these are written.
type cuts struct{ total, pieces int }

// cut writes where each range's answers and pieces begin.
func cut(s device.Stream, room *room, r *kernels.RunsRead) (cuts, error) {
	n := int(r.N)
	var sums, scratch device.Ptr
	var p places
	p.add(&r.Spans, 8*n*int(r.R.N))
	p.add(&r.Pieces, 8*n)
	p.add(&sums, 16)
	p.add(&scratch, kernels.ScanBytes(n))
	if err := room.take(&p); err != nil {
		return cuts{}, err
	}
	if err := r.Bounds(s); err != nil {
		return cuts{}, err
	}
	if err := kernels.Scan(s, 8, r.Pieces, r.Pieces, n, sums+8, scratch); err != nil {
		return cuts{}, err
	}
	if err := kernels.Scan(s, 8, r.Offsets, r.Offsets, n, sums, scratch); err != nil {
		return cuts{}, err
	}
	if err := kernels.Copy(s, r.Offsets+device.Ptr(8*n), sums, 8); err != nil {
		return cuts{}, err
	}
	var both [2]uint64
	err := s.Download(bytesOf(both[:]), sums)
	return cuts{int(both[0]), int(both[1])}, err
}

// stackOwned asks a stack what keys of upserts have.
type stackOwned struct {
	r      kernels.RunsRead
	pieces int
}

func (q *stackOwned) count(s device.Stream, room *room) (int, error) {
	p, err := cut(s, room, &q.r)
	q.pieces = p.pieces
	return p.total, err
}

func (q *stackOwned) fill(s device.Stream, keys, rows device.Ptr) error {
	q.r.Keys, q.r.Rows = keys, rows
	return q.r.Fill(s, q.pieces)
}

// spell is for the last stack.
func (g *grow) spell(e index.Entries) (index.Entries, error) {
	if len(g.last.runs) == 0 || e.Ops == 0 && e.Op != index.Upsert {
		return e, nil
	}
	q := &stackOwned{r: kernels.RunsRead{R: g.last.kernel(), N: uint64(e.Keys.N), LoKeys: e.Keys.Data, HiKeys: e.Keys.Data,
		HiAfter: 1, Ops: e.Ops, Only: uint32(index.Upsert)}}
	var err error
	if q.r.Offsets, err = g.room.one(8 * (e.Keys.N + 1)); err != nil {
		return e, err
	}
	return spell(g.s, g.room, g.x.format, q, e)
}
