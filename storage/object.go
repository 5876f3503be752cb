package storage

import (
	"context"
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// CreateType makes a type.
func (x *Tx) CreateType(ctx context.Context, t catalog.UserType) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	if t.Schema, err = x.schemaFor(v, t.Schema, false); err != nil {
		return err
	}
	n := nameOf(t.Schema, t.Name)
	if v.types[n] != nil {
		return sqltype.Errorf(sqltype.CodeDuplicateObject, "type \"%s\" already exists", t.Name)
	}
	v.types[n] = &t
	x.defined(v)
	return nil
}

// AlterType replaces a type by t, in all columns that have it. What is stored
// keeps its meaning: only labels after the old ones may be new.
func (x *Tx) AlterType(ctx context.Context, old *catalog.UserType, t catalog.UserType) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	delete(v.types, nameOf(old.Schema, old.Name))
	n := nameOf(t.Schema, t.Name)
	if v.types[n] != nil {
		return sqltype.Errorf(sqltype.CodeDuplicateObject, "type \"%s\" already exists", t.Name)
	}
	v.types[n] = &t
	for _, e := range v.tables {
		if old.Type.Kind != sqltype.KindEnum {
			break // its columns have the type that it is a name for
		}
		def := *e.def
		def.Columns = slices.Clone(def.Columns)
		changed := false
		for i := range def.Columns {
			if c := &def.Columns[i]; c.Type == old.Type {
				c.Type, changed = t.Type, true
			}
		}
		if changed {
			v.put(&entry{&def, e.data})
		}
	}
	x.defined(v)
	return nil
}

// DropType drops an ENUM that no column has; with how the columns go too. Another
// name for a type goes alone.
func (x *Tx) DropType(ctx context.Context, t *catalog.UserType, how OnDependents) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	for _, e := range v.tables {
		i := slices.IndexFunc(e.def.Columns, func(c catalog.Column) bool { return c.Type == t.Type })
		if i < 0 || t.Type.Kind != sqltype.KindEnum {
			continue
		}
		if how != DropThem {
			err := sqltype.Errorf("2BP01", "cannot drop type \"%s\": column \"%s\" of table \"%s\" has it", t.Name, e.def.Columns[i].Name, e.def.Name)
			err.Hint = "CASCADE drops the column too"
			return err
		}
		if _, err := x.DropColumn(ctx, e.def, i, DropThem); err != nil {
			return err
		}
		return x.DropType(ctx, t, how)
	}
	delete(v.types, nameOf(t.Schema, t.Name))
	x.defined(v)
	return nil
}

// CreateFunction makes a function, beside those of its name with other
// parameters.
func (x *Tx) CreateFunction(ctx context.Context, f catalog.Function, how OnExisting) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	if f.Schema, err = x.schemaFor(v, f.Schema, f.Temp); err != nil {
		return err
	}
	n := nameOf(f.Schema, f.Name)
	list := slices.Clone(v.functions[n])
	at := slices.IndexFunc(list, func(o *catalog.Function) bool { return sameParams(o, &f) })
	switch {
	case at < 0:
		list = append(list, &f)
	case how != Replace:
		return sqltype.Errorf("42723", "function \"%s\" already exists with the same parameters", f.Name)
	default:
		list[at] = &f
	}
	v.functions[n] = list
	x.defined(v)
	return nil
}

// sameParams reports functions that no call could tell apart.
func sameParams(a, b *catalog.Function) bool {
	return a.Rows == b.Rows && slices.EqualFunc(a.Params, b.Params, func(p, q catalog.Param) bool { return p.Type == q.Type })
}

// DropFunction drops a function.
func (x *Tx) DropFunction(ctx context.Context, f *catalog.Function) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	n := nameOf(f.Schema, f.Name)
	list := slices.DeleteFunc(slices.Clone(v.functions[n]), func(o *catalog.Function) bool { return o == f })
	if v.functions[n] = list; len(list) == 0 {
		delete(v.functions, n)
	}
	x.defined(v)
	return nil
}
