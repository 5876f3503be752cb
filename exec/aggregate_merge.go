package exec

import (
	"slices"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/storage/arrow"
)

// merging is a merge under way.
type merging struct {
	from        *aggTable
	part, parts int
	numbers     arrow.Slab // in the table merged into, of each group
	keys        keyBatch
	picked      gathered
	hashes, idx arrow.Slab
}

func newMerging(from *aggTable, part, parts int) *merging {
	return &merging{from: from, part: part, parts: parts, picked: gathered{mem: from.env.Memory}}
}

func (m *merging) release() {
	m.keys.release()
	m.picked.release()
	for _, s := range []*arrow.Slab{&m.numbers, &m.hashes, &m.idx} {
		s.Release()
	}
}

// choose gives the groups lo to hi that are in the part, by number from lo on;
// 0: all n of them.
func (m *merging) choose(s device.Stream, mem device.Allocator, lo, hi int) (rows device.Ptr, n int, err error) {
	if m.parts == 1 {
		return 0, hi - lo, nil
	}
	hashes, err := m.hashes.Reserve(mem, 8*(hi-lo))
	if err != nil {
		return 0, 0, err
	}
	if hashes, err = m.from.groups.Hashes(s, lo, hi, hashes); err != nil {
		return 0, 0, err
	}
	if rows, err = m.idx.Reserve(mem, kernels.SelectBytes(hi-lo)); err != nil {
		return 0, 0, err
	}
	n, err = kernels.SelectPart(s, hashes, hi-lo, m.part, m.parts, rows)
	return rows, n, err
}

// columns are the keys of groups lo to hi, of those that rows names.
func (m *merging) columns(s device.Stream, mem device.Allocator, lo, hi int, rows device.Ptr, n int) ([]kernels.Vec, error) {
	keys, err := m.keys.read(s, mem, m.from.groups, &m.from.layout, lo, hi)
	if rows == 0 || err != nil {
		return keys, err
	}
	m.picked.reset(len(keys), n)
	for i, k := range keys {
		c := arrow.Column{Type: m.from.spec.exprs[m.from.set[i]].Type(), Vec: k}
		if err := m.picked.pick(s, i, c, rows, n); err != nil {
			return nil, err
		}
		keys[i] = m.picked.out.Columns[i].Vec
	}
	return keys, nil
}

// mergePiece adds n of the groups lo to hi, those that rows names.
func (t *aggTable) mergePiece(s device.Stream, m *merging, lo, hi int, rows device.Ptr, n int) error {
	var ids device.Ptr
	if t.groups != nil {
		var err error
		if ids, err = t.findGroups(s, m, lo, hi, rows, n); err != nil {
			return err
		}
		if m.parts == 1 {
			if err := kernels.Copy(s, m.numbers.Ptr()+device.Ptr(4*lo), ids, 4*n); err != nil {
				return err
			}
		}
	} else if err := t.grow(s); err != nil {
		return err
	}
	for i := range t.states {
		a := t.spec.states[i].agg
		if t.seen[i] != nil || m.from.states[i].Cap() == 0 {
			continue
		}
		from := m.from.states[i].Ptr() + device.Ptr(lo*a.Bytes())
		if err := a.Merge(s, t.states[i].Ptr(), from, rows, ids, n, t.heap); err != nil {
			return err
		}
	}
	return nil
}

// findGroups gives the groups here of n groups of the other table.
func (t *aggTable) findGroups(s device.Stream, m *merging, lo, hi int, rows device.Ptr, n int) (device.Ptr, error) {
	ids, err := t.ids.Reserve(t.env.Memory, 4*n)
	if err != nil {
		return 0, err
	}
	done, err := t.groups.FindGroups(s, m.from.groups, lo, rows, n, ids)
	if err != nil {
		return 0, err
	}
	if done {
		return ids, t.grow(s)
	}
	keys, err := m.columns(s, t.env.Memory, lo, hi, rows, n)
	if err != nil {
		return 0, err
	}
	return t.find(s, keys, n)
}

// mergePairs adds the pairs of DISTINCT states; to maps the groups.
func (t *aggTable) mergePairs(s device.Stream, o *aggTable, to device.Ptr, k *keyBatch) error {
	var mapped arrow.Slab
	defer mapped.Release()
	for i := range t.seen {
		if t.seen[i] == nil {
			continue
		}
		err := kernels.Pieces(s, o.seen[i].Len(), func(lo, hi int) error {
			keys, err := k.read(s, t.env.Memory, o.seen[i], &o.pairs[i], lo, hi)
			if err != nil {
				return err
			}
			ids, err := mapped.Reserve(t.env.Memory, 4*(hi-lo))
			if err != nil {
				return err
			}
			v := kernels.Vec{Data: ids}
			if err := kernels.Gather(s, 4, &v, kernels.Vec{Data: to}, keys[0].Data, hi-lo); err != nil {
				return err
			}
			return t.note(s, i, ids, keys[1], hi-lo)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// splits reports whether the groups can be merged in parts: whatever is kept of
// their rows has their numbers.
func (t *aggTable) splits() bool {
	return t.groups != nil && len(t.kept) == 0 && !slices.ContainsFunc(t.seen, func(g *kernels.Groups) bool { return g != nil })
}

// merge adds those groups of another worker's table whose hashes are in one of
// some parts; with one part they are all.
func (t *aggTable) merge(s device.Stream, o *aggTable, part, parts int) error {
	m := newMerging(o, part, parts)
	defer m.release()
	if err := t.mergeGroups(s, m); err != nil || parts > 1 {
		return err
	}
	to := m.numbers.Ptr()
	for i, c := range t.kept {
		if err := c.merge(s, o.kept[i], to); err != nil {
			return err
		}
	}
	return t.mergePairs(s, o, to, &m.keys)
}

// mergeGroups adds groups and states, and notes the numbers here of all groups
// when they are merged whole.
func (t *aggTable) mergeGroups(s device.Stream, m *merging) error {
	n := m.from.len()
	if m.parts == 1 {
		to, err := m.numbers.Reserve(t.env.Memory, 4*n)
		if err != nil {
			return err
		}
		if err := kernels.Zero(s, to, 4*n); err != nil {
			return err
		}
	}
	return kernels.Pieces(s, n, func(lo, hi int) error {
		rows, n, err := m.choose(s, t.env.Memory, lo, hi)
		if n == 0 || err != nil {
			return err
		}
		return t.mergePiece(s, m, lo, hi, rows, n)
	})
}
