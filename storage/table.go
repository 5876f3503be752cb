package storage

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// table is where a table's rows and index entries are. Several versions of the
// catalogue share it.
type table struct {
	store   *Store
	rows    *arrow.Table
	mu      sync.Mutex   // held by whoever changes rows together with entries
	fading  []int64      // rows that no one can see, with entries; the sweeper's
	faded   atomic.Int64 // how many
	walked  atomic.Int64 // entries of unseen rows that were met since a sweep
	gathers atomic.Bool  // the rows of thin segments wait to be moved
	indexes atomic.Pointer[[]*tableIndex]
	cached  atomic.Pointer[cachedStats]
	since   atomic.Uint64 // the version that it was made with; 0: not committed
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
	if i := slices.IndexFunc(l, func(x *tableIndex) bool { return x.id == id }); i >= 0 {
		l[i].close()
		l = slices.Delete(l, i, i+1)
	}
	t.indexes.Store(&l)
}

func (t *table) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.list() {
		x.close()
	}
	t.indexes.Store(nil)
	t.rows.Close()
}

// cachedStats are statistics, and the number of rows that they were made of.
type cachedStats struct {
	rows    int
	counted int                   // of these
	columns []catalog.ColumnStats // by column id
}

// stats are made anew when the table has grown by a tenth, or forgotten rows.
func (e *entry) stats() *catalog.Stats {
	total, dead, counted := 0, 0, 0
	for _, s := range e.data.rows.Segments() {
		total += s.Rows()
		dead += s.Dead()
		counted += s.Counted()
	}
	c := e.data.cached.Load()
	if c == nil || total > c.rows+c.rows/10 || total < c.rows || total-counted != c.rows-c.counted || len(e.def.Columns) > len(c.columns) {
		c = &cachedStats{rows: total, counted: counted}
		for i := range e.data.rows.Types() {
			a := e.data.rows.Stats(i)
			cs := catalog.ColumnStats{Distinct: a.Distinct, Min: a.Min, Max: a.Max}
			if counted > 0 {
				cs.NullFrac = float64(a.Nulls) / float64(counted)
			}
			c.columns = append(c.columns, cs)
		}
		e.data.cached.Store(c)
	}
	s := &catalog.Stats{Rows: float64(total - dead), Whole: dead == 0, Columns: make([]catalog.ColumnStats, len(e.def.Columns))}
	for i, col := range e.def.Columns {
		s.Columns[i] = catalog.ColumnStats{Min: sqltype.NullOf(col.Type), Max: sqltype.NullOf(col.Type)}
		if col.ID < len(c.columns) {
			s.Columns[i] = c.columns[col.ID]
		}
	}
	return s
}
