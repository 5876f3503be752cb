package storage

import (
	"context"
	"slices"

	"github.com/gpusql/gpusql/catalog"
)

// Adopt gives a table the rows of another one, made for the purpose, which has
// the columns that def is to have, in order, and goes. Indexes are made anew, and
// what names columns by ID is told their new ones. kept[i] is the old ID of
// column i of def, -1 for a column that is new.
func (x *Tx) Adopt(ctx context.Context, t *catalog.Table, def catalog.Table, kept []int, from *catalog.Table) (*catalog.Table, error) {
	v, err := x.define(ctx)
	if err != nil {
		return nil, err
	}
	old, source := v.byID[t.ID], v.byID[from.ID]
	if old == nil || source == nil {
		return nil, errNoTable(t.Schema, t.Name)
	}
	def.Columns, def.Indexes = slices.Clone(def.Columns), slices.Clone(def.Indexes)
	renumbered := func(ids []int) []int {
		out := make([]int, len(ids))
		for i, id := range ids {
			out[i] = slices.Index(kept, id)
		}
		return out
	}
	for i := range def.Columns {
		def.Columns[i].ID = i
	}
	v.remove(old)
	v.remove(source)
	indexes := def.Indexes
	def.Indexes = nil
	for _, d := range indexes {
		made := *d
		if err := x.fill(ctx, source.data, &def, &made); err != nil {
			return nil, err
		}
		def.Indexes = append(def.Indexes, &made)
	}
	v.put(&entry{&def, source.data})
	for _, e := range v.byID {
		foreign := slices.Clone(e.def.Foreign)
		changed := false
		for i, k := range foreign {
			moved := *k
			if e.def.ID == t.ID {
				moved.Columns, changed = renumbered(k.Columns), true
			}
			if k.Parent == t.ID {
				moved.ParentColumns, changed = renumbered(k.ParentColumns), true
			}
			foreign[i] = &moved
		}
		if changed {
			child := *e.def
			child.Foreign = foreign
			v.put(&entry{&child, e.data})
		}
	}
	for n, q := range v.sequences {
		if q.def.Owner == t.ID {
			owned := *q.def
			owned.OwnerColumn = slices.Index(kept, q.def.OwnerColumn)
			v.sequences[n] = &sequence{&owned, q.state}
		}
	}
	x.tx.Log(dropped{x, old.data})
	x.defined(v)
	return v.byID[t.ID].def, nil
}
