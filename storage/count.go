package storage

import (
	"context"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

// Count is the number of rows whose keys lie in one of the ranges, which do not
// overlap. Where the statement sees all rows of the table the index counts its
// entries; otherwise each entry's row is looked at.
func (s *Statement) Count(ctx context.Context, _ device.Stream, t *catalog.Table, ix *catalog.Index, ranges []index.Range) (int64, error) {
	d, x, err := s.indexOf(t, ix)
	if err != nil {
		return 0, err
	}
	a, whole, err := s.askWhole(ctx, d, x)
	if err != nil {
		return 0, err
	}
	defer a.done(d)
	snap := d.rows.Snap(s.snap.Version, s.snap.Own)
	total := int64(0)
	for i := range ranges {
		iv := x.codec.Interval(&ranges[i])
		n := int64(0)
		if whole {
			n, err = a.count(iv)
		} else {
			err = a.scan(iv, index.Order{}, func(rows []int64) (bool, error) {
				for _, id := range rows {
					if a.sees(&snap, id) {
						n++
					}
				}
				return true, ctx.Err()
			})
		}
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// askWhole is ask, and reports that the index has an entry for each row that the
// statement sees and no other. That can only be told while nobody changes rows
// together with entries; who does is not waited for.
func (s *Statement) askWhole(ctx context.Context, d *table, x *tableIndex) (a *asker, whole bool, err error) {
	if d.mu.TryLock() {
		defer d.mu.Unlock()
		x.mu.Lock()
		whole = len(x.owed) == 0
		x.mu.Unlock()
		snap := d.rows.Snap(s.snap.Version, s.snap.Own)
		for _, g := range snap.Segments {
			whole = whole && g.SeenWhole(&snap)
		}
	}
	a, err = x.ask(ctx, s.moment(x))
	return a, whole, err
}

// count is the number of entries of an interval.
func (a *asker) count(iv index.Interval) (int64, error) {
	if iv.Empty {
		return 0, nil
	}
	q, err := a.bounds(iv)
	if err != nil {
		return 0, err
	}
	if a.last == nil {
		if a.last, err = a.x.home.Memory.Alloc(a.x.codec.Format().Size() + 16); err != nil {
			return 0, err
		}
	}
	n := []int64{0}
	if err := a.snap.Count(a.stream, q, a.last.Ptr()); err != nil {
		return 0, err
	}
	err = a.stream.Download(bytesOf(n), a.last.Ptr())
	return n[0], err
}
