package storage

import (
	"context"
	"sort"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/index/heap"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// pending is rows of a table whose index entries wait for the statement's end.
type pending struct {
	data  *table
	def   *catalog.Table
	spans []arrow.Span
}

func (p *pending) flush(ctx context.Context, s *Statement) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.data.mu.Lock()
	defer p.data.mu.Unlock()
	return s.enter(p.data, p.def, p.spans)
}

// enter puts the entries of appended rows into all indexes of their table, and
// checks that unique ones stay so. Taking the rows back takes the entries out.
func (s *Statement) enter(d *table, t *catalog.Table, spans []arrow.Span) error {
	for _, x := range d.list() {
		e, nulls := x.entries(spans)
		if x.unique {
			if err := s.checkUnique(d, t, x, e, nulls); err != nil {
				return err
			}
		}
		if err := d.apply(x, e); err != nil {
			return err
		}
	}
	return nil
}

// entries are the sorted entries of some rows. nulls has those whose key
// has a NULL, by row id; nil when there is none.
func (x *tableIndex) entries(spans []arrow.Span) (e heap.Entries, nulls map[int64]bool) {
	for _, p := range spans {
		keys, isNull := x.keysOf(p.Segment, p.Lo, p.Hi)
		if len(spans) == 1 {
			e.Keys = keys
		} else {
			e.Keys.Words = append(e.Keys.Words, keys.Words...)
			e.Keys.Bytes = append(e.Keys.Bytes, keys.Bytes...)
		}
		for i := p.Lo; i < p.Hi; i++ {
			id := arrow.RowID(p.Segment.ID(), i)
			e.Rows = append(e.Rows, id)
			if isNull != nil && isNull[i-p.Lo] {
				if nulls == nil {
					nulls = map[int64]bool{}
				}
				nulls[id] = true
			}
		}
	}
	if e.Keys.Words != nil {
		heap.SortWords(e.Keys.Words, e.Rows)
	} else {
		sort.Sort(byBytes(e))
	}
	e.Sorted = true
	return e, nulls
}

// byBytes sorts entries of byte keys.
type byBytes heap.Entries

func (e byBytes) Len() int { return len(e.Rows) }
func (e byBytes) Less(i, j int) bool {
	a, b := e.Keys.Bytes[i], e.Keys.Bytes[j]
	return a < b || a == b && e.Rows[i] < e.Rows[j]
}
func (e byBytes) Swap(i, j int) {
	e.Keys.Bytes[i], e.Keys.Bytes[j] = e.Keys.Bytes[j], e.Keys.Bytes[i]
	e.Rows[i], e.Rows[j] = e.Rows[j], e.Rows[i]
}

// checkUnique looks for keys of e twice in e, or in a row that is alive.
func (s *Statement) checkUnique(d *table, t *catalog.Table, x *tableIndex, e heap.Entries, nulls map[int64]bool) error {
	for i := 1; i < len(e.Rows); i++ {
		if sameKey(e.Keys, i-1, i) && !nulls[e.Rows[i]] {
			return d.duplicate(x, e.Rows[i])
		}
	}
	if x.idx.Stats().Entries == 0 {
		return nil
	}
	found := x.idx.Snapshot()
	defer found.Release()
	r := found.Lookup(e.Keys, heap.Ranges{})
	if len(r.Rows) == 0 {
		return nil
	}
	for i, id := range e.Rows {
		if nulls[id] {
			continue
		}
		for _, other := range r.Rows[r.Offsets[i]:r.Offsets[i+1]] {
			if other == id {
				continue // the index was made after the row
			}
			switch s.fate(d, other) {
			case alive:
				return d.duplicate(x, id)
			case contested:
				return errConflict(t)
			}
		}
	}
	return nil
}

func sameKey(k heap.Keys, i, j int) bool {
	if k.Words != nil {
		return k.Words[i] == k.Words[j]
	}
	return k.Bytes[i] == k.Bytes[j]
}

// fate is what becomes of a row, as far as a statement can tell.
type fate uint8

const (
	gone      fate = iota // it is dead for this transaction and all later ones
	alive                 // it lives, whether the statement's snapshot sees it or not
	contested             // that depends on a transaction which the snapshot does not see
)

func (s *Statement) fate(d *table, row int64) fate {
	g, i := d.rows.At(row)
	if g == nil {
		return gone
	}
	born, died := g.Born(i), g.Died(i)
	switch {
	case born == arrow.Never || died <= s.snap.Version:
		return gone
	case died != arrow.Never && sameTx(died, s.snap.Own):
		return gone
	case died != arrow.Never:
		return contested
	case born >= arrow.Uncommitted && !sameTx(born, s.snap.Own):
		return contested
	}
	return alive
}

// duplicate is the error for a row whose key is there already.
func (t *table) duplicate(x *tableIndex, row int64) error {
	return sqltype.Errorf(sqltype.CodeUnique,
		"duplicate key value violates unique constraint \"%s\": key %s already exists", x.name, x.keyOf(t, row))
}
