package storage

import (
	"context"
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// alter changes the definition of a table by f, which gets a copy with slices
// of its own.
func (x *Tx) alter(ctx context.Context, t *catalog.Table, f func(v *version, e *entry, def *catalog.Table) error) (*catalog.Table, error) {
	v, err := x.define(ctx)
	if err != nil {
		return nil, err
	}
	e := v.byID[t.ID]
	if e == nil {
		return nil, errNoTable(t.Schema, t.Name)
	}
	def := *e.def // the transaction may have changed it since t
	def.Columns, def.Indexes = slices.Clone(def.Columns), slices.Clone(def.Indexes)
	if err := f(v, e, &def); err != nil {
		return nil, err
	}
	v.remove(e)
	v.put(&entry{&def, e.data})
	x.defined(v)
	return &def, nil
}

// RenameTable gives a table another name.
func (x *Tx) RenameTable(ctx context.Context, t *catalog.Table, to string) (*catalog.Table, error) {
	return x.alter(ctx, t, func(v *version, _ *entry, def *catalog.Table) error {
		if err := v.free(def.Schema, to); err != nil {
			return err
		}
		def.Name = to
		return nil
	})
}

// RenameColumn gives column i another name.
func (x *Tx) RenameColumn(ctx context.Context, t *catalog.Table, i int, to string) (*catalog.Table, error) {
	return x.alter(ctx, t, func(_ *version, _ *entry, def *catalog.Table) error {
		if err := noColumn(def, to); err != nil {
			return err
		}
		def.Columns[i].Name = to
		return nil
	})
}

func noColumn(t *catalog.Table, column string) error {
	if slices.ContainsFunc(t.Columns, func(c catalog.Column) bool { return strings.EqualFold(c.Name, column) }) {
		return sqltype.Errorf(sqltype.CodeDuplicateColumn, "column \"%s\" of relation \"%s\" already exists", column, t.Name)
	}
	return nil
}

// AddColumn adds a column. The rows that are there get value d, NULL or of the
// column's type.
func (x *Tx) AddColumn(ctx context.Context, t *catalog.Table, c catalog.Column, d sqltype.Datum) (*catalog.Table, error) {
	return x.alter(ctx, t, func(v *version, e *entry, def *catalog.Table) error {
		if err := noColumn(def, c.Name); err != nil {
			return err
		}
		if c.NotNull && d.Null && v.Stats(def.ID).Rows > 0 {
			return sqltype.Errorf(sqltype.CodeNotNull, "column \"%s\" of relation \"%s\" contains null values", c.Name, def.Name)
		}
		var err error
		c.ID, err = e.data.rows.AddColumn(c.Type, d)
		def.Columns = append(def.Columns, c)
		return err
	})
}

// DropColumn drops column i with the indexes and keys that it is of; foreign
// keys of other tables that name it are dropped if how says so. Its values stay
// until the table is dropped.
func (x *Tx) DropColumn(ctx context.Context, t *catalog.Table, i int, how OnDependents) (*catalog.Table, error) {
	if len(t.Columns) == 1 {
		return nil, sqltype.Errorf(sqltype.CodeNotSupported, "cannot drop the only column of relation \"%s\"", t.Name)
	}
	for _, k := range t.Foreign {
		if slices.Contains(k.Columns, t.Columns[i].ID) {
			if _, err := x.DropConstraint(ctx, t, k.Name, how); err != nil {
				return nil, err
			}
		}
	}
	of := func(d *catalog.Index) bool {
		return slices.Contains(d.Include, i) || slices.ContainsFunc(d.Keys, func(k catalog.IndexKey) bool { return k.Column == i })
	}
	if err := x.dropIndexes(ctx, t, how, of); err != nil {
		return nil, err
	}
	return x.alter(ctx, t, func(v *version, _ *entry, def *catalog.Table) error {
		for n, q := range v.sequences {
			if q.def.Owner == def.ID && q.def.OwnerColumn == def.Columns[i].ID {
				delete(v.sequences, n)
			}
		}
		for n, d := range def.Indexes {
			moved := *d
			moved.Keys = slices.Clone(d.Keys)
			for k := range moved.Keys {
				if at := &moved.Keys[k].Column; *at > i {
					*at--
				}
			}
			moved.Include = slices.Clone(d.Include)
			for k, at := range moved.Include {
				if at > i {
					moved.Include[k]--
				}
			}
			def.Indexes[n] = &moved
		}
		def.Columns = slices.Delete(def.Columns, i, i+1)
		return nil
	})
}

// SetDefault gives column i another default; empty is none.
func (x *Tx) SetDefault(ctx context.Context, t *catalog.Table, i int, text string) (*catalog.Table, error) {
	return x.alter(ctx, t, func(_ *version, _ *entry, def *catalog.Table) error {
		def.Columns[i].Default = text
		return nil
	})
}

// Redefine changes the definition of a table by f, which gets a copy with slices
// of its own. What is stored is not looked at.
func (x *Tx) Redefine(ctx context.Context, t *catalog.Table, f func(def *catalog.Table)) (*catalog.Table, error) {
	return x.alter(ctx, t, func(_ *version, _ *entry, def *catalog.Table) error {
		f(def)
		return nil
	})
}

// MoveTable puts a table into another schema, with its indexes and sequences.
func (x *Tx) MoveTable(ctx context.Context, t *catalog.Table, schema string) (*catalog.Table, error) {
	return x.alter(ctx, t, func(v *version, e *entry, def *catalog.Table) error {
		to, err := x.schemaFor(v, schema, false)
		if err != nil {
			return err
		}
		if err := v.free(to, def.Name); err != nil {
			return err
		}
		for n, q := range v.sequences {
			if q.def.Owner == def.ID {
				moved := *q.def
				moved.Schema = to
				delete(v.sequences, n)
				v.sequences[nameOf(to, moved.Name)] = &sequence{&moved, q.state}
			}
		}
		def.Schema = to
		return nil
	})
}

// DropNotNull lets column i be NULL. A column of an index keeps its constraint:
// the index's keys have no room for NULLs.
func (x *Tx) DropNotNull(ctx context.Context, t *catalog.Table, i int) (*catalog.Table, error) {
	return x.alter(ctx, t, func(_ *version, _ *entry, def *catalog.Table) error {
		for _, d := range def.Indexes {
			if slices.Contains(d.Include, i) || slices.ContainsFunc(d.Keys, func(k catalog.IndexKey) bool { return k.Column == i }) {
				return sqltype.Errorf(sqltype.CodeNotSupported, "column \"%s\" is in index \"%s\" and stays NOT NULL", def.Columns[i].Name, d.Name)
			}
		}
		def.Columns[i].NotNull = false
		return nil
	})
}

// CreateView makes a view; replace says that one of that name may be there.
func (x *Tx) CreateView(ctx context.Context, w catalog.View, how OnExisting) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	if w.Schema, err = x.schemaFor(v, w.Schema, w.Temp); err != nil {
		return err
	}
	w.Temp = w.Schema == x.session.temp
	n := nameOf(w.Schema, w.Name)
	if how != Replace || v.views[n] == nil {
		if err := v.free(w.Schema, w.Name); err != nil {
			return err
		}
	}
	v.views[n] = &w
	x.defined(v)
	return nil
}

// OnExisting is what to do when there is an object of that name.
type OnExisting uint8

// Fail is an error, Replace puts the new one in its place.
const (
	Fail OnExisting = iota
	Replace
)

// DropView drops a view.
func (x *Tx) DropView(ctx context.Context, schema, object string) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	w, ok := find(v.views, x.session, schema, object)
	if !ok {
		return sqltype.Errorf(sqltype.CodeUndefinedTable, "view \"%s\" does not exist", object)
	}
	delete(v.views, nameOf(w.Schema, w.Name))
	x.defined(v)
	return nil
}
