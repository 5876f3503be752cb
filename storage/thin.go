package storage

import (
	"context"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/storage/arrow"
	"github.com/gpusql/gpusql/txn"
)

// A segment that is full is thin when at most one row of thinPart lives: its rows
// are moved to the table's end, so that its memory can go, and readers need not
// pass over the dead. Whatever died paid for that: a row is moved for each seven
// that went. thinRows are moved at a time, while nobody else runs.
const (
	thinPart = 8
	thinRows = 1 << 9
)

func thin(g *arrow.Segment) bool {
	n := g.Rows()
	lives := n - g.Dead()
	return lives > 0 && lives*thinPart <= n
}

// gather has the rows of thin segments moved, as nobody else runs. One that a
// definition or a lack of memory stops is tried again after the next sweep.
func (t *table) gather() {
	if !t.gathers.CompareAndSwap(false, true) {
		return
	}
	m := t.store.manager
	m.Alone(func(x *txn.Tx) {
		t.gathers.Store(false)
		if moved, err := t.moveThin(x); err != nil || !moved {
			return
		}
		if t.firstThin() != nil {
			t.gather()
		} else {
			m.Retire(func() { t.sweep(m.Horizon()) }) // what was left behind
		}
	})
}

// firstThin is a thin segment; nil: there is none.
func (t *table) firstThin() *arrow.Segment {
	all := t.rows.Segments()
	for i, g := range all {
		if i < len(all)-1 && thin(g) {
			return g
		}
	}
	return nil
}

// moveThin moves rows of the first thin segment, as an update that changes nothing.
func (t *table) moveThin(alone *txn.Tx) (moved bool, err error) {
	x := &Tx{store: t.store, tx: alone, session: t.store.session, version: t.store.version.Load()}
	def, g := x.version.definition(t), t.firstThin()
	if def == nil || g == nil {
		return false, nil
	}
	var at []int
	var rows []int64
	for i := 0; i < g.Rows() && len(at) < thinRows; i++ {
		if g.Born(i) != arrow.Never && g.Died(i) == arrow.Never {
			at, rows = append(at, i), append(rows, arrow.RowID(g.ID(), i))
		}
	}
	b := &arrow.Batch{Rows: g.Rows(), Columns: make([]arrow.Column, len(def.Columns))}
	for i := range def.Columns {
		b.Columns[i] = g.Column(def.Columns[i].ID)
	}
	ctx, s := context.Background(), x.Statement()
	if _, err = s.remove(ctx, t, def, rows); err == nil {
		_, err = s.replace(ctx, t, def, b, at, nil)
	}
	if err == nil {
		err = s.Flush(ctx)
	}
	if err != nil {
		x.Rollback()
		return false, err
	}
	x.open = nil // no key came or went: there is nothing to check
	return true, x.Commit()
}

// definition is what a table is defined as; nil when it is gone.
func (v *version) definition(t *table) *catalog.Table {
	for _, e := range v.byID {
		if e.data == t {
			return e.def
		}
	}
	return nil
}
