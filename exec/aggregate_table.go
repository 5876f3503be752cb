package exec

import (
	"context"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// aggTable is the groups of one grouping set with their states. It belongs to
// one worker while it fills, and may be read by all afterwards.
type aggTable struct {
	env    *Env
	spec   *aggSpec
	set    []int
	layout kernels.KeyLayout
	groups *kernels.Groups // nil: one group of all rows
	states []kernels.Array
	used   []int               // bytes of states in use
	seen   []*kernels.Groups   // of a DISTINCT state: its (group, value) pairs
	parted [][]*kernels.Groups // more of these, other pairs each: merged in parts
	pairs  []kernels.KeyLayout
	heap   *kernels.Heap
	kept   []*collected // of the spec's collects

	ids, pairIDs, mask arrow.Slab
}

func newAggTable(env *Env, spec *aggSpec, set []int) *aggTable {
	t := &aggTable{env: env, spec: spec, set: set, heap: kernels.NewHeap(env.Memory),
		states: make([]kernels.Array, len(spec.states)), used: make([]int, len(spec.states)),
		seen: make([]*kernels.Groups, len(spec.states)), parted: make([][]*kernels.Groups, len(spec.states)), pairs: make([]kernels.KeyLayout, len(spec.states))}
	if len(set) > 0 {
		t.layout = spec.layout(set)
		t.groups = kernels.NewGroups(env.Memory, t.layout, env.HashZero)
	}
	for i, st := range spec.states {
		if st.distinct && st.arg >= 0 {
			t.pairs[i] = kernels.NewKeyLayout([]sqltype.Phys{sqltype.PhysU32, st.agg.Phys}, []bool{false, true})
			t.seen[i] = kernels.NewGroups(env.Memory, t.pairs[i], env.HashZero)
		}
	}
	for i := range spec.collects {
		t.kept = append(t.kept, newCollected(env, spec, &spec.collects[i]))
	}
	return t
}

// layout is how the keys of a grouping set are packed.
func (s *aggSpec) layout(set []int) kernels.KeyLayout {
	phys, nullable := make([]sqltype.Phys, len(set)), make([]bool, len(set))
	for i, g := range set {
		phys[i], nullable[i] = s.exprs[g].Type().Phys(), !s.notNull[g]
	}
	return kernels.NewKeyLayout(phys, nullable)
}

func (t *aggTable) len() int {
	if t.groups == nil {
		return 1
	}
	return t.groups.Len()
}

// find gives the groups of n keys, 0 when there is one group.
func (t *aggTable) find(s device.Stream, keys []kernels.Vec, n int) (device.Ptr, error) {
	if t.groups == nil {
		return 0, t.grow(s)
	}
	ids, err := t.ids.Reserve(t.env.Memory, 4*n)
	if err != nil {
		return 0, err
	}
	if err := t.groups.Find(s, keys, n, ids); err != nil {
		return 0, err
	}
	return ids, t.grow(s)
}

// grow makes room for the states of all groups.
func (t *aggTable) grow(s device.Stream) error {
	for i := range t.states {
		a, used := &t.states[i], t.used[i]
		need := t.len() * t.spec.states[i].agg.Bytes()
		if need <= used {
			continue
		}
		if err := a.Extend(t.env.Memory, s, used, need); err != nil {
			return err
		}
		if err := kernels.Zero(s, a.Ptr()+device.Ptr(used), need-used); err != nil {
			return err
		}
		t.used[i] = need
	}
	return nil
}

// add takes the rows of a batch of the spec's expressions.
func (t *aggTable) add(s device.Stream, b *arrow.Batch) error {
	keys := make([]kernels.Vec, len(t.set))
	for i, g := range t.set {
		keys[i] = b.Columns[g].Vec
	}
	ids, err := t.find(s, keys, b.Rows)
	if err != nil {
		return err
	}
	for _, c := range t.kept {
		if err := c.add(s, ids, b); err != nil {
			return err
		}
	}
	for i := range t.spec.states {
		st := &t.spec.states[i]
		in := kernels.AggInput{IDs: ids, Groups: t.len(), Heap: t.heap}
		if st.arg >= 0 {
			in.Src = b.Columns[st.arg].Vec
		}
		if st.second >= 0 {
			in.Second = b.Columns[st.second].Vec
		}
		if st.filter >= 0 {
			mask, err := t.mask.Reserve(t.env.Memory, kernels.BitmapBytes(b.Rows))
			if err != nil {
				return err
			}
			if err := kernels.WhereTrue(s, in.Src.Valid, b.Columns[st.filter].Vec, b.Rows, mask); err != nil {
				return err
			}
			in.Src.Valid = mask
		}
		if t.seen[i] != nil {
			err = t.note(s, i, ids, in.Src, b.Rows)
		} else {
			err = st.agg.Update(s, t.states[i].Ptr(), in, b.Rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// note remembers the pairs of group and value of a DISTINCT state.
func (t *aggTable) note(s device.Stream, i int, ids device.Ptr, src kernels.Vec, n int) error {
	out, err := t.pairIDs.Reserve(t.env.Memory, 8*n)
	if err != nil {
		return err
	}
	if ids == 0 { // one group: its number is 0 everywhere
		ids = out + device.Ptr(4*n)
		if err := kernels.Zero(s, ids, 4*n); err != nil {
			return err
		}
	}
	return t.seen[i].Find(s, []kernels.Vec{{Data: ids}, src}, n, out)
}

// settle computes what needs all rows: collects and DISTINCT states.
func (t *aggTable) settle(ctx context.Context, s device.Stream) error {
	if err := t.grow(s); err != nil {
		return err
	}
	for _, c := range t.kept {
		if err := c.finish(ctx, s, t.len()); err != nil {
			return err
		}
	}
	var k keyBatch
	defer k.release()
	for i := range t.seen {
		if t.seen[i] == nil {
			continue
		}
		for _, seen := range append([]*kernels.Groups{t.seen[i]}, t.parted[i]...) {
			err := kernels.Pieces(s, seen.Len(), func(lo, hi int) error {
				keys, err := k.read(s, t.env.Memory, seen, &t.pairs[i], lo, hi)
				if err != nil {
					return err
				}
				in := kernels.AggInput{Src: keys[1], IDs: keys[0].Data, Groups: t.len(), Heap: t.heap}
				return t.spec.states[i].agg.Update(s, t.states[i].Ptr(), in, hi-lo)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// held is the memory that the table has.
func (t *aggTable) held() int64 {
	n := t.heap.Held()
	if t.groups != nil {
		n += t.groups.Held()
	}
	for i := range t.states {
		n += int64(t.states[i].Cap())
		if t.seen[i] != nil {
			n += t.seen[i].Held()
		}
	}
	for _, c := range t.kept {
		n += c.held()
	}
	return n
}

// grows is about how much memory n more rows would take, and what comes at the end.
func (t *aggTable) grows(n int) int64 {
	var more int64
	groups := t.len()
	if t.groups != nil {
		more += t.groups.Grows(n)
		groups += n
	}
	for i := range t.states {
		more += t.states[i].Grows(groups * t.spec.states[i].agg.Bytes())
		if t.seen[i] != nil {
			more += t.seen[i].Grows(n)
		}
	}
	for _, c := range t.kept {
		more += c.grows(n) + int64(groups*c.spec.result.Phys().Width())
	}
	return more
}

func (t *aggTable) release() {
	for _, c := range t.kept {
		c.release()
	}
	if t.groups != nil {
		t.groups.Release()
	}
	for i := range t.states {
		t.states[i].Release()
		if t.seen[i] != nil {
			t.seen[i].Release()
		}
		for _, g := range t.parted[i] {
			g.Release()
		}
	}
	t.heap.Release()
	for _, s := range []*arrow.Slab{&t.ids, &t.pairIDs, &t.mask} {
		s.Release()
	}
}

// keyBatch is memory for the keys of a run of groups, as columns.
type keyBatch struct {
	data, valid []arrow.Slab
}

// read gives the keys of groups lo to hi; good until the next read.
func (k *keyBatch) read(s device.Stream, m device.Allocator, g *kernels.Groups, l *kernels.KeyLayout, lo, hi int) ([]kernels.Vec, error) {
	for len(k.data) < len(l.Phys) {
		k.data, k.valid = append(k.data, arrow.Slab{}), append(k.valid, arrow.Slab{})
	}
	out := make([]kernels.Vec, len(l.Phys))
	for i, p := range l.Phys {
		var err error
		if out[i].Data, err = k.data[i].Reserve(m, (hi-lo)*p.Width()); err != nil {
			return nil, err
		}
		if out[i].Valid, err = k.valid[i].Reserve(m, kernels.BitmapBytes(hi-lo)); err != nil {
			return nil, err
		}
		if err := g.Key(s, i, lo, hi, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (k *keyBatch) release() {
	for i := range k.data {
		k.data[i].Release()
		k.valid[i].Release()
	}
}
