package storage

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/heap"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// table is where a table's rows and index entries are. Several versions of the
// catalogue share it.
type table struct {
	store   *Store
	rows    *arrow.Table
	mu      sync.Mutex // held by whoever changes rows together with entries
	indexes atomic.Pointer[[]*tableIndex]
	cached  atomic.Pointer[cachedStats]
}

// tableIndex is an index of a table.
type tableIndex struct {
	id      catalog.IndexID
	name    string
	unique  bool
	columns []int    // the keys' column ids
	names   []string // of the columns, for errors
	codec   *index.Codec
	idx     heap.Index
	mu      sync.Mutex // held while idx changes
	counted int64      // bytes that the store's memory was told of
}

// list is the table's indexes. The slice is never changed.
func (t *table) list() []*tableIndex {
	if l := t.indexes.Load(); l != nil {
		return *l
	}
	return nil
}

func (t *table) index(id catalog.IndexID) *tableIndex {
	for _, x := range t.list() {
		if x.id == id {
			return x
		}
	}
	return nil
}

// add and remove an index; t.mu is held.
func (t *table) add(x *tableIndex) {
	l := append(slices.Clone(t.list()), x)
	t.indexes.Store(&l)
}

func (t *table) remove(id catalog.IndexID) {
	l := slices.Clone(t.list())
	for i, x := range l {
		if x.id == id {
			_ = t.store.memory.Reserve(-x.counted)
			l = slices.Delete(l, i, i+1)
			break
		}
	}
	t.indexes.Store(&l)
}

// apply changes an index and counts its memory. When there is not enough of
// that nothing is changed.
func (t *table) apply(x *tableIndex, e heap.Entries) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.idx.Apply(e); err != nil {
		return err
	}
	grown := x.idx.Stats().Bytes - x.counted
	if err := t.store.memory.Reserve(grown); err != nil {
		e.Dead = make([]bool, len(e.Rows))
		for i := range e.Dead {
			e.Dead[i] = true
		}
		_ = x.idx.Apply(e) // entries that are deleted again need no memory
		return err
	}
	x.counted += grown
	return nil
}

func (t *table) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.list() {
		_ = t.store.memory.Reserve(-x.counted)
		_ = x.idx.Close()
	}
	t.indexes.Store(nil)
	t.rows.Close()
}

// cachedStats are statistics, and the number of rows that they were made of.
type cachedStats struct {
	rows    int
	columns []catalog.ColumnStats // by column id
}

// stats are made anew when the table has grown by a tenth.
func (e *entry) stats() *catalog.Stats {
	total, dead := 0, 0
	for _, s := range e.data.rows.Segments() {
		total += s.Rows()
		dead += s.Dead()
	}
	c := e.data.cached.Load()
	if c == nil || total > c.rows+c.rows/10 || total < c.rows || len(e.def.Columns) > len(c.columns) {
		c = &cachedStats{rows: total}
		for i := range e.data.rows.Types() {
			a := e.data.rows.Stats(i)
			cs := catalog.ColumnStats{Distinct: a.Distinct, Min: a.Min, Max: a.Max}
			if total > 0 {
				cs.NullFrac = float64(a.Nulls) / float64(total)
			}
			c.columns = append(c.columns, cs)
		}
		e.data.cached.Store(c)
	}
	s := &catalog.Stats{Rows: float64(total - dead), Columns: make([]catalog.ColumnStats, len(e.def.Columns))}
	for i, col := range e.def.Columns {
		s.Columns[i] = catalog.ColumnStats{Min: sqltype.NullOf(col.Type), Max: sqltype.NullOf(col.Type)}
		if col.ID < len(c.columns) {
			s.Columns[i] = c.columns[col.ID]
		}
	}
	return s
}

// Check verifies the indexes of all tables that the transaction sees, for tests.
func (x *Tx) Check() error {
	for _, e := range x.version.tables {
		for _, i := range e.data.list() {
			if err := i.idx.Check(); err != nil {
				return fmt.Errorf("index %s: %w", i.name, err)
			}
		}
	}
	return nil
}
