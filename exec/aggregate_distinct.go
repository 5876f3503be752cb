package exec

import (
	"context"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// mergeDistinct merges tables whose DISTINCT states have most of the rows: the
// groups by one worker, and the pairs of group and value by all, each those of a
// part of their hashes.
//
//	table 0 ─ groups ─┬─▶ one table of groups
//	table 1 ─ groups ─┘        │ numbers there
//	table 0 ─ pairs ──┐        ▼
//	table 1 ─ pairs ──┴─▶ columns, hashes ──▶ part 0 │ part 1 │ ... ──▶ states
//
// False where that does not pay, or has no room.
func (o *aggregate) mergeDistinct(ctx context.Context, tables []*aggTable) (bool, error) {
	t, pairs, bytes := tables[0], 0, int64(0)
	if len(tables) <= 2 || len(t.kept) > 0 {
		return false, nil
	}
	for i := range t.seen {
		for _, from := range tables {
			if from.seen[i] != nil {
				pairs += from.seen[i].Len()
				bytes += 2*from.seen[i].Held() + int64(from.seen[i].Len()*(13+t.pairs[i].Phys[1].Width()))
			}
		}
	}
	if pairs < 2*kernels.PieceItems(o.w.stream) || !o.claim.ask(0, bytes) {
		return false, nil
	}
	defer o.claim.drop()
	numbers := make([]device.Ptr, len(tables))
	for i, from := range tables[1:] {
		m := newMerging(from, 0, 1)
		defer m.release()
		if err := t.mergeGroups(o.w.stream, m); err != nil {
			return false, err
		}
		numbers[i+1] = m.numbers.Ptr()
	}
	for i := range t.seen {
		if t.seen[i] == nil {
			continue
		}
		if err := o.mergeSeen(ctx, tables, numbers, i); err != nil {
			return false, err
		}
	}
	for _, from := range tables[1:] {
		from.release()
	}
	return true, nil
}

// mergeSeen merges the pairs of state i.
func (o *aggregate) mergeSeen(ctx context.Context, tables []*aggTable, numbers []device.Ptr, i int) error {
	t, env := tables[0], o.w.q.env
	cols := make([]pairColumns, len(tables))
	for k := range cols {
		cols[k].types = [2]sqltype.Type{sqltype.Uint32, t.spec.exprs[t.spec.states[i].arg].Type()}
	}
	defer func() {
		for k := range cols {
			cols[k].release()
		}
	}()
	err := o.w.share(ctx, len(tables), func(_ context.Context, w *worker, k int) error {
		return cols[k].fill(w, tables[k].seen[i], &t.pairs[i], numbers[k])
	})
	if err != nil {
		return err
	}
	parts := make([]*kernels.Groups, len(tables))
	for p := range parts {
		parts[p] = kernels.NewGroups(env.Memory, t.pairs[i], env.HashZero)
	}
	err = o.w.share(ctx, len(parts), func(_ context.Context, w *worker, p int) error {
		for k := range cols {
			if err := cols[k].find(w, parts[p], p, len(parts)); err != nil {
				return err
			}
		}
		return nil
	})
	t.seen[i].Release() // the texts of its pairs are the parts' now
	t.seen[i], t.parted[i] = parts[0], parts[1:]
	return err
}

// pairColumns are the pairs of a DISTINCT state as columns.
type pairColumns struct {
	n                        int
	types                    [2]sqltype.Type
	ids, data, valid, hashes arrow.Slab
	phys                     []sqltype.Phys
}

// fill reads the pairs of a table, and numbers their groups as to does (0: as they are).
func (c *pairColumns) fill(w *worker, seen *kernels.Groups, l *kernels.KeyLayout, to device.Ptr) error {
	s, mem := w.stream, w.q.env.Memory
	c.n, c.phys = seen.Len(), l.Phys
	width := l.Phys[1].Width()
	for _, r := range []struct {
		slab  *arrow.Slab
		bytes int
	}{{&c.ids, 4 * c.n}, {&c.data, width * c.n}, {&c.valid, kernels.BitmapBytes(c.n)}, {&c.hashes, 8 * c.n}} {
		if _, err := r.slab.Reserve(mem, r.bytes); err != nil {
			return err
		}
	}
	var k keyBatch
	defer k.release()
	return kernels.Pieces(s, c.n, func(lo, hi int) error {
		keys, err := k.read(s, mem, seen, l, lo, hi)
		if err != nil {
			return err
		}
		own := c.vecs(lo)
		if to == 0 {
			err = kernels.Copy(s, own[0].Data, keys[0].Data, 4*(hi-lo))
		} else {
			err = kernels.Gather(s, 4, &own[0], kernels.Vec{Data: to}, keys[0].Data, hi-lo)
		}
		if err == nil {
			err = kernels.Copy(s, own[1].Data, keys[1].Data, width*(hi-lo))
		}
		if err == nil {
			err = kernels.Copy(s, own[1].Valid, keys[1].Valid, kernels.BitmapBytes(hi-lo))
		}
		if err != nil {
			return err
		}
		return kernels.Hash(s, own, c.phys, hi-lo, c.hashes.Ptr()+device.Ptr(8*lo))
	})
}

// vecs are the columns from row lo on, a multiple of 64.
func (c *pairColumns) vecs(lo int) []kernels.Vec {
	return []kernels.Vec{{Data: c.ids.Ptr() + device.Ptr(4*lo)},
		{Data: c.data.Ptr() + device.Ptr(c.phys[1].Width()*lo), Valid: c.valid.Ptr() + device.Ptr(lo/8)}}
}

// find adds the pairs of a part to a table.
func (c *pairColumns) find(w *worker, to *kernels.Groups, part, parts int) error {
	s, mem := w.stream, w.q.env.Memory
	picked := gathered{mem: mem}
	defer picked.release()
	var idx, ids arrow.Slab
	defer idx.Release()
	defer ids.Release()
	return kernels.Pieces(s, c.n, func(lo, hi int) error {
		rows, err := idx.Reserve(mem, kernels.SelectBytes(hi-lo))
		if err != nil {
			return err
		}
		n, err := kernels.SelectPart(s, c.hashes.Ptr()+device.Ptr(8*lo), hi-lo, part, parts, rows)
		if n == 0 || err != nil {
			return err
		}
		numbers, err := ids.Reserve(mem, 4*n)
		if err != nil {
			return err
		}
		picked.reset(2, n)
		for i, v := range c.vecs(lo) {
			if err := picked.pick(s, i, arrow.Column{Type: c.types[i], Vec: v}, rows, n); err != nil {
				return err
			}
		}
		return to.Find(s, vecsOf(&picked.out), n, numbers)
	})
}

func (c *pairColumns) release() {
	for _, s := range []*arrow.Slab{&c.ids, &c.data, &c.valid, &c.hashes} {
		s.Release()
	}
}
