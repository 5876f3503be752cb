package wide

import (
	"context"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/kernels"
)

// maxBatch is the most changes of an Apply: their numbers have 31 bits.
const maxBatch = 1<<31 - 1

// Apply makes the next state out of the latest one. All that it writes is memory
// that no state has, so that there is nothing to undo.
func (t *tree) Apply(s device.Stream, v index.Version, e index.Entries) error {
	t.mu.Lock()
	applied, last := t.applied, t.latest()
	t.mu.Unlock()
	if v < applied {
		return index.ErrVersion
	}
	if e.Keys.N == 0 {
		t.mu.Lock()
		t.applied = v
		t.mu.Unlock()
		return nil
	}
	room := &room{mem: t.mem}
	defer room.release()
	if t.direct(last, e) {
		w := &write{t: t, s: s, room: room, last: last}
		if next, err := w.direct(e); err != nil || next != nil {
			return w.finish(next, v, err)
		}
	}
	o := order{s: s, room: room, form: last.tree.Form, e: e}
	if err := o.look(); err != nil {
		return err
	}
	last, err := t.widen(s, last, &o)
	if err != nil {
		return err
	}
	if o.e, err = t.spell(s, room, last, e); err != nil {
		return err
	}
	if o.e.Keys.N > maxBatch {
		return tooLarge()
	}
	if o.e.Keys.N > e.Keys.N {
		if err := o.look(); err != nil {
			return err
		}
	}
	items, err := o.items()
	if err != nil {
		return err
	}
	w := &write{t: t, s: s, room: room, last: last}
	w.args.From, w.args.Items, w.args.N = last.tree, items, uint64(o.n)
	step := w.run
	if last.tree.Entries == 0 && o.fresh(0, true) {
		step = w.build
	}
	next, err := step()
	t.next.packed = int(w.totals.Groups) < o.n/4 && last.tree.Entries > 0
	return w.finish(next, v, err)
}

// finish makes a state that is done the latest one.
func (w *write) finish(next *state, v index.Version, err error) error {
	if err != nil {
		return err
	}
	next.version = v
	w.settle(next)
	w.t.publish(next)
	w.t.deleted += w.totals.Deleted
	return nil
}

// widen is the latest state with rows of 64 bits, if the batch has such rows.
func (t *tree) widen(s device.Stream, last *state, o *order) (*state, error) {
	if last.tree.Form.Wide != 0 || o.rows32() {
		return last, nil
	}
	if last.tree.Entries > 0 {
		return t.rewrite(s, last, true)
	}
	wide := *last
	wide.tree.Form = t.form(true)
	return &wide, nil
}

// write is an Apply under way.
type write struct {
	t      *tree
	s      device.Stream
	room   *room
	last   *state
	args   kernels.TreeWrite
	totals kernels.TreeTotals
	slots  *slots
	tails  tails
}

// run makes the next state, which nobody knows of yet.
func (w *write) run() (*state, error) {
	if err := w.prepare(); err != nil {
		return nil, err
	}
	for _, step := range []func(device.Stream) error{w.args.Locate, w.args.Group, w.args.Plan} {
		if err := step(w.s); err != nil {
			return nil, err
		}
	}
	one := make([]kernels.TreeTotals, 1)
	if err := w.s.Download(bytesOf(one), w.args.Totals); err != nil {
		return nil, err
	}
	w.totals = one[0]
	next, err := w.lay()
	if err != nil {
		return nil, err
	}
	if err := w.write(next); err != nil {
		w.undo(next)
		return nil, err
	}
	return next, nil
}

// build is run for entries that are all different, and the first ones: where each
// goes is known by its number.
func (w *write) build() (*state, error) {
	if w.args.N > maxEntries {
		return nil, tooLarge()
	}
	w.totals = kernels.TreeTotals{Added: uint32(w.args.N), Leaves: (w.args.N + fill - 1) / fill}
	next, err := w.lay()
	if err != nil {
		return nil, err
	}
	if err := w.writeBuilt(next); err != nil {
		w.undo(next)
		return nil, err
	}
	return next, nil
}

func (w *write) writeBuilt(next *state) error {
	a := &w.args
	a.To = next.tree
	a.Ring, a.Head, a.Mask = w.slots.ring.Ptr(), w.slots.head, w.slots.mask()
	if a.From.Form.Long != 0 {
		var err error
		if a.At, err = effects(w.s, w.room, int(a.N)); err != nil {
			return err
		}
		if next.tails, err = w.tails.copy(w.s, w.room, a, next.tails, int(a.N), a.ItemTails); err != nil {
			return err
		}
	}
	if err := a.Build(w.s); err != nil {
		return err
	}
	if err := a.Upper(w.s); err != nil {
		return err
	}
	return w.s.Wait(context.Background())
}

// effects says of n changes that each comes.
func effects(s device.Stream, room *room, n int) (device.Ptr, error) {
	at, err := room.one(n)
	if err != nil {
		return 0, err
	}
	return at, kernels.Fill(s, at, kernels.EffectAdd, n)
}

// prepare finds memory for what is known of each change, and of each leaf.
func (w *write) prepare() error {
	a := &w.args
	bytes, clear := a.Room(0)
	at, err := w.room.one(bytes)
	if err != nil {
		return err
	}
	a.Room(at)
	if err := kernels.Zero(w.s, at, clear); err != nil {
		return err
	}
	return upserts(w.s, w.room, a)
}

// upserts finds the last upsert of each key of a batch, if it has any.
func upserts(s device.Stream, room *room, a *kernels.TreeWrite) error {
	if a.Items.Ops == 0 && a.Items.Op != uint32(index.Upsert) {
		return nil
	}
	n := int(a.N)
	var scratch, total device.Ptr
	var p places
	p.add(&a.Items.Same, 4*n)
	p.add(&a.Items.Upserts, 4*n)
	p.add(&scratch, kernels.ScanBytes(n))
	p.add(&total, 8)
	if err := room.take(&p); err != nil {
		return err
	}
	if err := kernels.Zero(s, a.Items.Upserts, 4*n); err != nil {
		return err
	}
	if err := a.Heads(s); err != nil {
		return err
	}
	if err := kernels.Scan(s, 4, a.Leaf, a.Items.Same, n, total, scratch); err != nil {
		return err
	}
	return a.Upserts(s)
}

// lay is the next state with room for all that it will have.
func (w *write) lay() (*state, error) {
	next := &state{tree: kernels.Tree{Form: w.last.tree.Form}, tails: w.last.tails}
	entries := int64(w.last.tree.Entries) + int64(int32(w.totals.Added))
	if w.last.tree.Entries == 0 {
		entries = int64(w.totals.Added)
	}
	leaves := w.last.tree.Leaves() + int(w.totals.Leaves)
	if w.last.tree.Entries > 0 {
		leaves -= int(w.totals.Groups)
	}
	if entries > maxEntries {
		return nil, tooLarge()
	}
	if entries == 0 {
		next.tree.Form, next.tails = w.t.form(false), nil
		return next, nil
	}
	if err := w.takeSlots(next); err != nil {
		return nil, err
	}
	size := next.tree.Lay(leaves, 0)
	directory, err := w.t.mem.Alloc(size)
	if err != nil {
		w.undo(next)
		return nil, err
	}
	next.directory = directory
	next.tree.Lay(leaves, directory.Ptr())
	next.tree.Entries = uint32(entries)
	return next, nil
}

// takeSlots sees to it that there are enough free slots. Those that readers may
// still look at are not.
func (w *write) takeSlots(next *state) error {
	x, free := w.last.slots, 0
	if x == nil {
		x = newSlots(w.t.mem, int(next.tree.Form.Block))
	} else {
		free = w.free(x)
	}
	w.slots = x
	if need := int(w.totals.Leaves); need > free {
		more := need - free
		if x.count > 0 {
			more = max(more, x.count/16+64)
		}
		if err := x.grow(w.s, more); err != nil {
			w.undo(next)
			return err
		}
	}
	next.slots, next.tree.Slots = x, x.table.Ptr()
	return nil
}

// readers is up to where the slots of a ring are free.
func (t *tree) readers(x *slots) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, st := range t.states {
		if st.slots == x {
			return st.tail
		}
	}
	return x.tail
}

// write writes the next state.
func (w *write) write(next *state) error {
	a := &w.args
	if next.tree.Entries == 0 {
		return w.s.Wait(context.Background())
	}
	a.To = next.tree
	x := w.slots
	a.Ring, a.Head, a.Tail, a.Mask = x.ring.Ptr(), x.head, x.tail, x.mask()
	if a.From.Form.Long != 0 {
		var err error
		if next.tails, err = w.tails.copy(w.s, w.room, a, next.tails, int(a.N), a.ItemTails); err != nil {
			return err
		}
	}
	if err := a.Directory(w.s); err != nil {
		return err
	}
	if err := a.Scatter(w.s, w.totals); err != nil {
		return err
	}
	if err := a.Upper(w.s); err != nil {
		return err
	}
	return w.s.Wait(context.Background())
}

// settle is what a batch that is done changes of the slots and tails it shares
// with the states before.
func (w *write) settle(next *state) {
	w.tails.settle()
	if w.slots == nil {
		return
	}
	w.slots.head += w.totals.Leaves
	if w.last.slots == w.slots {
		w.slots.tail += uint64(w.totals.Groups)
	}
}

// undo gives back what a batch that failed has taken.
func (w *write) undo(next *state) {
	next.directory.Release()
	if w.slots != nil && w.slots.refs == 0 {
		w.slots.free()
	}
	w.tails.undo()
}
