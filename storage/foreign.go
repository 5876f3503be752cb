package storage

import (
	"context"
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// A foreign key is checked when its statement is over: every row that was added
// must find its key, and every key that went must not be needed. Both look at
// what is alive, and not at a snapshot, after the change: of two transactions
// that take away each other's ground, the later one to look meets the other's
// stamp and fails.

// addedKeys are rows whose foreign keys are to be checked.
type addedKeys struct {
	data  *table
	def   *catalog.Table
	spans []arrow.Span
}

// removedKeys are rows that went, by id. by[i] is the row that came for rows[i],
// when it was an update.
type removedKeys struct {
	data *table
	def  *catalog.Table
	rows []int64
	by   []int64
}

// noteAdded remembers rows for CheckKeys.
func (s *Statement) noteAdded(d *table, t *catalog.Table, span arrow.Span) {
	if len(t.Foreign) == 0 {
		return
	}
	if i := slices.IndexFunc(s.added, func(a addedKeys) bool { return a.data == d }); i >= 0 {
		s.added[i].spans = append(s.added[i].spans, span)
		return
	}
	s.added = append(s.added, addedKeys{d, t, []arrow.Span{span}})
}

// noteRemoved remembers rows that went.
func (s *Statement) noteRemoved(d *table, t *catalog.Table, rows, by []int64) {
	if len(rows) > 0 && len(s.tx.version.references(t.ID)) > 0 {
		s.removed = append(s.removed, removedKeys{d, t, rows, by})
	}
}

// reference is a foreign key with the table that has it.
type reference struct {
	child *entry
	key   *catalog.ForeignKey
}

// references are the foreign keys that name a table, in the order of the
// children's ids.
func (v *version) references(parent catalog.TableID) []reference {
	var list []reference
	for _, e := range v.byID {
		for _, k := range e.def.Foreign {
			if k.Parent == parent {
				list = append(list, reference{e, k})
			}
		}
	}
	slices.SortFunc(list, func(a, b reference) int { return int(a.child.def.ID) - int(b.child.def.ID) })
	return list
}

// KeyChange is what a foreign key asks to be done after a statement: rows of
// Child whose key is one of Old are to go, or to get other values.
type KeyChange struct {
	Child  *catalog.Table
	Key    *catalog.ForeignKey
	Action catalog.KeyAction // Cascade, SetNull or SetDefault
	Old    [][]sqltype.Datum
	// New are the keys that came for the old ones; nil after a deletion.
	New [][]sqltype.Datum
}

// KeyChanges are what the foreign keys that name changed tables ask for. The
// rows that are to be changed are left to who can change rows.
func (s *Statement) KeyChanges() []KeyChange {
	var list []KeyChange
	for i := range s.removed {
		r := &s.removed[i]
		for _, ref := range s.tx.version.references(r.def.ID) {
			action := ref.key.OnDelete
			if r.by != nil {
				action = ref.key.OnUpdate
			}
			if action < catalog.Cascade {
				continue
			}
			c := KeyChange{Child: ref.child.def, Key: ref.key, Action: action}
			for n, row := range r.rows {
				key := keyAt(r.data, ref.key.ParentColumns, row)
				if hasNull(key) {
					continue
				}
				if r.by != nil {
					to := keyAt(r.data, ref.key.ParentColumns, r.by[n])
					if slices.Equal(key, to) {
						continue
					}
					c.New = append(c.New, to)
				}
				c.Old = append(c.Old, key)
			}
			if len(c.Old) > 0 {
				list = append(list, c)
			}
		}
	}
	return list
}

// goneKeys visits the keys of removed rows that no row has any more.
func (s *Statement) goneKeys(ctx context.Context, r *removedKeys, ref reference, visit func(n int, key []sqltype.Datum) error) error {
	parent, order := indexOver(r.data, ref.key.ParentColumns)
	for n, row := range r.rows {
		key := keyAt(r.data, ref.key.ParentColumns, row)
		if hasNull(key) {
			continue
		}
		f := gone
		if parent != nil {
			var err error
			if f, err = s.lookup(ctx, r.data, parent, inOrder(key, order)); err != nil {
				return err
			}
		}
		switch f {
		case alive:
			continue
		case contested:
			return errConflict(r.def)
		}
		if err := visit(n, key); err != nil {
			return err
		}
	}
	return nil
}

// CheckKeys checks the foreign keys of all rows that the statement added, and
// that none is needed of those that it removed.
func (s *Statement) CheckKeys(ctx context.Context) error {
	added, removed := s.added, s.removed
	s.added, s.removed = nil, nil
	for i := range added {
		for _, k := range added[i].def.Foreign {
			if err := s.checkAdded(ctx, &added[i], k); err != nil {
				return err
			}
		}
	}
	for i := range removed {
		for _, ref := range s.tx.version.references(removed[i].def.ID) {
			if err := s.checkRemoved(ctx, &removed[i], ref); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Statement) checkAdded(ctx context.Context, a *addedKeys, k *catalog.ForeignKey) error {
	parent := s.tx.version.byID[k.Parent]
	if parent == nil {
		return errNoTable("", k.Name)
	}
	ix, order := indexOver(parent.data, k.ParentColumns)
	types := columnTypes(parent.def, k.ParentColumns)
	for _, span := range a.spans {
		for i := span.Lo; i < span.Hi; i++ {
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			row := arrow.RowID(span.Segment.ID(), i)
			if s.fate(a.data, row) == gone {
				continue // a later change of the statement took it
			}
			key := keyAt(a.data, k.Columns, row)
			if hasNull(key) {
				continue
			}
			f := gone
			if cast, ok := castKey(key, types); ok && ix != nil {
				var err error
				if f, err = s.lookup(ctx, parent.data, ix, inOrder(cast, order)); err != nil {
					return err
				}
			}
			switch f {
			case gone:
				return sqltype.Errorf(sqltype.CodeForeignKey,
					"insert or update on table \"%s\" violates foreign key constraint \"%s\": key %s is not present in table \"%s\"",
					a.def.Name, k.Name, keyText(a.def, k.Columns, key), parent.def.Name)
			case contested:
				return errConflict(parent.def)
			}
		}
	}
	return nil
}

func (s *Statement) checkRemoved(ctx context.Context, r *removedKeys, ref reference) error {
	child := ref.child
	ix, order := indexOver(child.data, ref.key.Columns)
	types := columnTypes(child.def, ref.key.Columns)
	return s.goneKeys(ctx, r, ref, func(n int, key []sqltype.Datum) error {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		cast, ok := castKey(key, types)
		if !ok || ix == nil {
			return nil
		}
		f, err := s.lookup(ctx, child.data, ix, inOrder(cast, order))
		if err != nil {
			return err
		}
		switch f {
		case alive:
			return sqltype.Errorf(sqltype.CodeForeignKey,
				"update or delete on table \"%s\" violates foreign key constraint \"%s\" on table \"%s\": key %s is still referenced",
				r.def.Name, ref.key.Name, child.def.Name, keyText(r.def, ref.key.ParentColumns, key))
		case contested:
			return errConflict(child.def)
		}
		return nil
	})
}

// lookup is the best fate among the rows that have a key: alive if one is.
func (s *Statement) lookup(ctx context.Context, d *table, x *tableIndex, key []sqltype.Datum) (fate, error) {
	a, err := x.ask(ctx, index.Latest)
	if err != nil {
		return gone, err
	}
	defer a.done(d)
	best := gone
	r := index.Range{Prefix: key}
	err = a.scan(x.codec.Interval(&r), index.Order{}, func(ids []int64) (bool, error) {
		for _, id := range ids {
			switch s.fate(d, id) {
			case alive:
				best = alive
				return false, nil
			case contested:
				best = contested
			case gone:
				a.unseen++
			}
		}
		return true, nil
	})
	return best, err
}

// indexOver finds an index whose first keys are just those columns, in any
// order; order[i] says which of columns its key i is.
func indexOver(d *table, columns []int) (x *tableIndex, order []int) {
	for _, x := range d.list() {
		if len(x.columns) < len(columns) {
			continue
		}
		order = order[:0]
		for _, id := range x.columns[:len(columns)] {
			if at := slices.Index(columns, id); at >= 0 {
				order = append(order, at)
			}
		}
		if len(order) == len(columns) {
			return x, order
		}
	}
	return nil, nil
}

func inOrder(key []sqltype.Datum, order []int) []sqltype.Datum {
	out := make([]sqltype.Datum, len(order))
	for i, at := range order {
		out[i] = key[at]
	}
	return out
}

// keyAt is the values of columns, by ID, in a row.
func keyAt(d *table, columns []int, row int64) []sqltype.Datum {
	g, i := d.rows.At(row)
	key := make([]sqltype.Datum, len(columns))
	for k, id := range columns {
		c := g.Column(id)
		key[k] = c.Datum(i)
	}
	return key
}

func hasNull(key []sqltype.Datum) bool {
	return slices.ContainsFunc(key, func(d sqltype.Datum) bool { return d.Null })
}

// castKey is a key in the types of the columns that it is looked for in. A value
// that they cannot have is no key of theirs.
func castKey(key []sqltype.Datum, types []sqltype.Type) ([]sqltype.Datum, bool) {
	out := make([]sqltype.Datum, len(key))
	for i, d := range key {
		c, err := sqltype.CastDatum(d, types[i])
		if err != nil || sqltype.Compare(c, d) != 0 {
			return nil, false
		}
		out[i] = c
	}
	return out, true
}

func columnTypes(t *catalog.Table, ids []int) []sqltype.Type {
	types := make([]sqltype.Type, len(ids))
	for i, id := range ids {
		types[i] = t.Columns[columnAt(t, id)].Type
	}
	return types
}

// columnAt is the place of a column by its ID.
func columnAt(t *catalog.Table, id int) int {
	return slices.IndexFunc(t.Columns, func(c catalog.Column) bool { return c.ID == id })
}

// keyText is a key for an error: (a, b)=(1, x).
func keyText(t *catalog.Table, ids []int, key []sqltype.Datum) string {
	names, values := make([]string, len(ids)), make([]string, len(ids))
	for i, id := range ids {
		names[i], values[i] = t.Columns[columnAt(t, id)].Name, key[i].String()
	}
	return "(" + strings.Join(names, ", ") + ")=(" + strings.Join(values, ", ") + ")"
}

// unreferenced makes sure that no other table's foreign key names t: it is an
// error, or with DropThem the constraint is dropped.
func (v *version) unreferenced(t *catalog.Table, how OnDependents) error {
	for _, ref := range v.references(t.ID) {
		if ref.child.def.ID == t.ID {
			continue
		}
		if how != DropThem {
			e := sqltype.Errorf("2BP01", "cannot drop table \"%s\": constraint \"%s\" of table \"%s\" needs it", t.Name, ref.key.Name, ref.child.def.Name)
			e.Hint = "CASCADE drops the constraint too"
			return e
		}
		// The child's definition may have changed for another of its keys.
		child := v.byID[ref.child.def.ID]
		def := *child.def
		def.Foreign = slices.DeleteFunc(slices.Clone(def.Foreign), func(k *catalog.ForeignKey) bool { return k.Parent == t.ID })
		v.put(&entry{&def, child.data})
	}
	return nil
}
