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
	def := *e.def
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

// DropColumn drops column i, which no index may need. Its values stay until the
// table is dropped.
func (x *Tx) DropColumn(ctx context.Context, t *catalog.Table, i int) (*catalog.Table, error) {
	return x.alter(ctx, t, func(_ *version, _ *entry, def *catalog.Table) error {
		if len(def.Columns) == 1 {
			return sqltype.Errorf(sqltype.CodeNotSupported, "cannot drop the only column of relation \"%s\"", def.Name)
		}
		for n, d := range def.Indexes {
			moved := *d
			moved.Keys = slices.Clone(d.Keys)
			for k := range moved.Keys {
				switch at := &moved.Keys[k].Column; {
				case *at == i:
					return sqltype.Errorf("2BP01", "cannot drop column \"%s\": index \"%s\" needs it", def.Columns[i].Name, d.Name)
				case *at > i:
					*at--
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

// DropNotNull lets column i be NULL. A column of an index keeps its constraint:
// the index's keys have no room for NULLs.
func (x *Tx) DropNotNull(ctx context.Context, t *catalog.Table, i int) (*catalog.Table, error) {
	return x.alter(ctx, t, func(_ *version, _ *entry, def *catalog.Table) error {
		for _, d := range def.Indexes {
			if slices.ContainsFunc(d.Keys, func(k catalog.IndexKey) bool { return k.Column == i }) {
				return sqltype.Errorf(sqltype.CodeNotSupported, "column \"%s\" is a key of index \"%s\" and stays NOT NULL", def.Columns[i].Name, d.Name)
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
	if w.Schema, err = v.schemaFor(w.Schema, w.Temp); err != nil {
		return err
	}
	w.Temp = w.Schema == Temp
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
	w, ok := find(v.views, schema, object)
	if !ok {
		return sqltype.Errorf(sqltype.CodeUndefinedTable, "view \"%s\" does not exist", object)
	}
	delete(v.views, nameOf(w.Schema, w.Name))
	x.defined(v)
	return nil
}

// CreateSchema makes an empty schema.
func (x *Tx) CreateSchema(ctx context.Context, schema string) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	schema = strings.ToLower(schema)
	if v.schemas[schema] {
		return sqltype.Errorf("42P06", "schema \"%s\" already exists", schema)
	}
	v.schemas[schema] = true
	x.defined(v)
	return nil
}

// DropSchema drops an empty schema.
func (x *Tx) DropSchema(ctx context.Context, schema string) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	schema = strings.ToLower(schema)
	switch {
	case schema == Main || schema == Temp:
		return sqltype.Errorf(sqltype.CodeWrongObject, "schema \"%s\" cannot be dropped", schema)
	case !v.schemas[schema]:
		return sqltype.Errorf("3F000", "schema \"%s\" does not exist", schema)
	}
	for n := range v.tables {
		if n.schema == schema {
			return sqltype.Errorf("2BP01", "cannot drop schema \"%s\": table \"%s\" is in it", schema, n.object)
		}
	}
	for n := range v.views {
		if n.schema == schema {
			return sqltype.Errorf("2BP01", "cannot drop schema \"%s\": view \"%s\" is in it", schema, n.object)
		}
	}
	delete(v.schemas, schema)
	x.defined(v)
	return nil
}
