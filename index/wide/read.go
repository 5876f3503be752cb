package wide

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// snapshot is a state that is held.
type snapshot struct {
	reader
	t     *tree
	state *state
}

// Release lets the state go.
func (x *snapshot) Release() { x.t.release(x.state) }

// reader answers questions to one tree.
type reader struct {
	mem  device.Allocator
	tree kernels.Tree
}

func (x *reader) read(n int) kernels.TreeRead { return kernels.TreeRead{T: x.tree, N: uint64(n)} }

// nothing answers n questions to a tree without entries.
func nothing(s device.Stream, a *index.Answer) error {
	if err := kernels.Zero(s, a.Offsets(), 8*(a.N+1)); err != nil {
		return err
	}
	return a.Room(0, 0)
}

// Lookup finds the rows of each key. Keys of one word are found as if each had one
// row; where that is not so, what was found is put in order.
func (x *reader) Lookup(s device.Stream, k index.Keys, a *index.Answer) error {
	if err := a.Ask(k.N); err != nil {
		return err
	}
	if k.N == 0 || x.tree.Entries == 0 {
		return nothing(s, a)
	}
	r := x.read(k.N)
	r.LoKeys = k.Data
	if x.tree.Form.Rest > 0 {
		r.HiKeys, r.HiAfter = k.Data, 1
		return x.answer(s, &r, a, false)
	}
	room := room{mem: x.mem}
	defer room.release()
	var p places
	p.add(&r.Counts, k.N)
	p.add(&r.State, kernels.TreeFindBytes(k.N))
	if err := room.take(&p); err != nil {
		return err
	}
	if err := a.Room(k.N, 0); err != nil {
		return err
	}
	if err := kernels.Zero(s, r.State, 8); err != nil {
		return err
	}
	r.Offsets, r.Rows = a.Offsets(), a.Rows()
	if err := r.Find(s); err != nil {
		return err
	}
	if others, err := total(s, r.State); err != nil || others == 0 {
		return err
	}
	return give(s, &room, &r, a)
}

// give puts found rows in order, with room for a row each; where that is too little
// it does so again.
func give(s device.Stream, room *room, r *kernels.TreeRead, a *index.Answer) error {
	n := int(r.N)
	var err error
	if r.Found, err = room.one(8 * n); err != nil {
		return err
	}
	if err := kernels.Copy(s, r.Found, r.Rows, 8*n); err != nil {
		return err
	}
	for size := n; ; size = a.Total {
		if err := a.Room(size, 0); err != nil {
			return err
		}
		if err := kernels.Zero(s, r.State, kernels.TreeFindBytes(n)); err != nil {
			return err
		}
		r.Rows, r.Room = a.Rows(), uint64(size)
		if err := r.Give(s); err != nil {
			return err
		}
		if a.Total, err = total(s, r.Offsets+device.Ptr(8*n)); err != nil || a.Total <= size {
			return err
		}
	}
}

// Scan finds the entries of each range.
func (x *reader) Scan(s device.Stream, g index.Ranges, o index.Order, a *index.Answer) error {
	if err := a.Ask(g.N); err != nil {
		return err
	}
	if g.N == 0 || x.tree.Entries == 0 {
		return nothing(s, a)
	}
	r := x.ranged(g)
	r.Limit = uint64(o.Limit)
	if o.Direction == index.Backward {
		r.Backward = 1
	}
	return x.answer(s, &r, a, o.Keys)
}

// Count writes the number of entries of each range.
func (x *reader) Count(s device.Stream, g index.Ranges, counts device.Ptr) error {
	if x.tree.Entries == 0 {
		return kernels.Zero(s, counts, 8*g.N)
	}
	r := x.ranged(g)
	r.Offsets = counts
	return r.Bounds(s)
}

func (x *reader) ranged(g index.Ranges) kernels.TreeRead {
	r := x.read(g.N)
	r.LoKeys, r.LoRows = bound(g.Lo)
	r.HiKeys, r.HiRows = bound(g.Hi)
	return r
}

// bound is the keys and rows of one end: an open one has no rows.
func bound(b index.Bound) (keys, rows device.Ptr) {
	if b.Keys == 0 {
		return 0, 0
	}
	return b.Keys, b.Rows
}

// answer counts what ranges have, and then writes it.
func (x *reader) answer(s device.Stream, r *kernels.TreeRead, a *index.Answer, keys bool) error {
	room := room{mem: x.mem}
	defer room.release()
	r.Offsets = a.Offsets()
	n, err := count(s, &room, r)
	if err != nil {
		return err
	}
	size := 0
	if keys {
		size = int(r.T.Form.KeySize)
	}
	if err := a.Room(n.total, size); err != nil || n.total == 0 {
		return err
	}
	r.Rows = a.Rows()
	if keys {
		r.Keys = a.Keys()
	}
	return r.Fill(s, n.total, n.longest)
}

// answers are how many there are, and of one range at most.
type answers struct{ total, longest int }

// count writes where each range's answers begin.
func count(s device.Stream, room *room, r *kernels.TreeRead) (answers, error) {
	n := int(r.N)
	var sums, scratch device.Ptr
	var p places
	p.add(&r.Begin, 8*n)
	p.add(&sums, 16)
	p.add(&scratch, kernels.ScanBytes(n))
	if err := room.take(&p); err != nil {
		return answers{}, err
	}
	if err := kernels.Zero(s, sums, 16); err != nil {
		return answers{}, err
	}
	r.Longest = sums + 8
	if err := r.Bounds(s); err != nil {
		return answers{}, err
	}
	if err := kernels.Scan(s, 8, r.Offsets, r.Offsets, n, sums, scratch); err != nil {
		return answers{}, err
	}
	if err := kernels.Copy(s, r.Offsets+device.Ptr(8*n), sums, 8); err != nil {
		return answers{}, err
	}
	var both [2]uint64
	err := s.Download(bytesOf(both[:]), sums)
	return answers{int(both[0]), int(both[1])}, err
}

// total reads a number.
func total(s device.Stream, at device.Ptr) (int, error) {
	var n [1]uint64
	err := s.Download(bytesOf(n[:]), at)
	return int(n[0]), err
}
