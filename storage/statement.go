package storage

import (
	"context"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/heap"
	"github.com/gpusql/gpusql/storage/arrow"
)

// Statement is what one statement sees and changes. Reading methods are safe
// for concurrent use; changing ones are for one goroutine, and the statement
// does not see what they do.
type Statement struct {
	tx      *Tx
	start   Savepoint
	snap    arrow.Snap // without segments
	pending []pending  // appended, and not in the indexes yet
	grown   []*table   // tables that were appended to
	added   []addedKeys
	removed []removedKeys
	changed bool // there is something to undo
}

// data is the storage of a table as the transaction sees it.
func (s *Statement) data(t *catalog.Table) (*table, error) {
	e := s.tx.version.byID[t.ID]
	if e == nil {
		return nil, errNoTable(t.Schema, t.Name)
	}
	return e.data, nil
}

// Snap is the table as the statement sees it, until the statement ends.
func (s *Statement) Snap(t *catalog.Table) (arrow.Snap, error) {
	d, err := s.data(t)
	if err != nil {
		return arrow.Snap{}, err
	}
	return d.rows.Snap(s.snap.Version, s.snap.Own), nil
}

// Seek appends the ids of the rows whose key lies in r, in key order, at most
// r.Limit when that is above 0.
func (s *Statement) Seek(ctx context.Context, _ device.Stream, t *catalog.Table, ix *catalog.Index, r index.Range, rows []int64) ([]int64, error) {
	d, err := s.data(t)
	if err != nil {
		return rows, err
	}
	x := d.index(ix.ID)
	if x == nil {
		return rows, errNoIndex(ix.Name)
	}
	found := x.idx.Snapshot()
	defer found.Release()
	snap := d.rows.Snap(s.snap.Version, s.snap.Own)
	direction := index.Forward
	if r.Reverse {
		direction = index.Backward
	}
	left := r.Limit
	found.Scan(x.codec.Interval(&r), direction, func(ids []int64) bool {
		for _, id := range ids {
			if !sees(&snap, id) {
				continue
			}
			rows = append(rows, id)
			if left--; left == 0 {
				return false
			}
		}
		err = ctx.Err()
		return err == nil
	})
	return rows, err
}

func sees(p *arrow.Snap, row int64) bool {
	id, i := arrow.SplitRowID(row)
	g := p.Segment(id)
	return g != nil && g.Sees(p, i)
}

// Probe looks up rows 0 to n of keys, columns for the first of the index, and
// appends for each match the key's number and the row's id. A NULL has none.
func (s *Statement) Probe(ctx context.Context, _ device.Stream, t *catalog.Table, ix *catalog.Index, keys []arrow.Column, n int, probe []uint32, rows []int64) ([]uint32, []int64, error) {
	d, err := s.data(t)
	if err != nil {
		return probe, rows, err
	}
	x := d.index(ix.ID)
	if x == nil {
		return probe, rows, errNoIndex(ix.Name)
	}
	found := x.idx.Snapshot()
	defer found.Release()
	snap := d.rows.Snap(s.snap.Version, s.snap.Own)
	if len(keys) < len(x.columns) {
		return probePrefix(ctx, x, found, &snap, keys, n, probe, rows)
	}
	encoded, nulls := encode(x.codec, keys, 0, n)
	r := found.Lookup(encoded, heap.Ranges{})
	for i := range n {
		if nulls != nil && nulls[i] {
			continue
		}
		for _, id := range r.Rows[r.Offsets[i]:r.Offsets[i+1]] {
			if sees(&snap, id) {
				probe, rows = append(probe, uint32(i)), append(rows, id)
			}
		}
	}
	return probe, rows, ctx.Err()
}

// probePrefix is Probe with fewer columns than the index has.
func probePrefix(ctx context.Context, x *tableIndex, found heap.Snapshot, snap *arrow.Snap, keys []arrow.Column, n int, probe []uint32, rows []int64) ([]uint32, []int64, error) {
	var r index.Range
	for i := range n {
		r.Prefix = r.Prefix[:0]
		for c := range keys {
			r.Prefix = append(r.Prefix, keys[c].Datum(i))
		}
		found.Scan(x.codec.Interval(&r), index.Forward, func(ids []int64) bool {
			for _, id := range ids {
				if sees(snap, id) {
					probe, rows = append(probe, uint32(i)), append(rows, id)
				}
			}
			return true
		})
		if i%1024 == 0 && ctx.Err() != nil {
			return probe, rows, ctx.Err()
		}
	}
	return probe, rows, nil
}

// Flush enters what waited into the indexes, so that their constraints hold. No
// change of the statement comes after it.
func (s *Statement) Flush(ctx context.Context) error {
	for i := range s.pending {
		if err := s.pending[i].flush(ctx, s); err != nil {
			return err
		}
	}
	s.pending = nil
	return nil
}

// End finishes the statement: constraints that waited are checked. When that
// fails the statement is undone.
func (s *Statement) End(ctx context.Context) error {
	if s.tx.open == s {
		s.tx.open = nil
	}
	err := s.Flush(ctx)
	if err == nil {
		err = s.CheckKeys(ctx)
	}
	if err != nil {
		s.Undo()
		return err
	}
	for _, t := range s.grown {
		t.rows.Encode(s.snap.Own)
	}
	s.grown = nil
	return nil
}

// Undo takes back what the statement did.
func (s *Statement) Undo() {
	if s.tx.open == s {
		s.tx.open = nil
	}
	s.pending, s.grown, s.added, s.removed = nil, nil, nil, nil
	if s.changed { // a reader's end must not take back what came after its start
		s.tx.RollbackTo(s.start)
	}
}
