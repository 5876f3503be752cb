package storage

import (
	"context"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// CreateSchema makes an empty schema.
func (x *Tx) CreateSchema(ctx context.Context, schema string) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	schema = catalog.SchemaName(schema)
	switch {
	case v.schemas[schema], isTemp(schema), schema == "information_schema":
		return sqltype.Errorf("42P06", "schema \"%s\" already exists", schema)
	case strings.HasPrefix(schema, "pg_"):
		return sqltype.Errorf("42939", "schema name \"%s\" is reserved: names with pg_ are the system's", schema)
	}
	v.schemas[schema] = true
	x.defined(v)
	return nil
}

// DropSchema drops an empty schema, or one with all that is in it.
func (x *Tx) DropSchema(ctx context.Context, schema string, how OnDependents) error {
	schema = catalog.SchemaName(schema)
	switch {
	case schema == Main || isTemp(schema):
		return sqltype.Errorf(sqltype.CodeWrongObject, "schema \"%s\" cannot be dropped", schema)
	case !x.version.schemas[schema]:
		return sqltype.Errorf("3F000", "schema \"%s\" does not exist", schema)
	}
	if object := x.version.anyIn(schema); object != "" && how != DropThem {
		e := sqltype.Errorf("2BP01", "cannot drop schema \"%s\": %s is in it", schema, object)
		e.Hint = "CASCADE drops it too"
		return e
	}
	return x.dropSchema(ctx, schema)
}

// anyIn names an object of a schema, empty when there is none.
func (v *version) anyIn(schema string) string {
	for n := range v.tables {
		if n.schema == schema {
			return "table \"" + n.object + "\""
		}
	}
	for n := range v.views {
		if n.schema == schema {
			return "view \"" + n.object + "\""
		}
	}
	for n := range v.sequences {
		if n.schema == schema {
			return "sequence \"" + n.object + "\""
		}
	}
	for n := range v.types {
		if n.schema == schema {
			return "type \"" + n.object + "\""
		}
	}
	for n := range v.functions {
		if n.schema == schema {
			return "function \"" + n.object + "\""
		}
	}
	return ""
}

// dropSchema drops a schema with its objects.
func (x *Tx) dropSchema(ctx context.Context, schema string) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	for n, e := range v.tables {
		if n.schema == schema {
			if err := v.unreferenced(e.def, DropThem); err != nil {
				return err
			}
		}
	}
	for n, e := range v.tables {
		if n.schema == schema {
			v.remove(v.tables[n])
			x.tx.Log(dropped{x, e.data})
		}
	}
	deleteIn(v.views, schema)
	deleteIn(v.sequences, schema)
	deleteIn(v.types, schema)
	deleteIn(v.functions, schema)
	delete(v.schemas, schema)
	x.defined(v)
	return nil
}

func deleteIn[T any](m map[name]T, schema string) {
	for n := range m {
		if n.schema == schema {
			delete(m, n)
		}
	}
}

// OnDependents is what to do with objects that need one which is dropped.
type OnDependents uint8

// KeepThem is an error when there are any, DropThem drops them or what of them
// needs the object.
const (
	KeepThem OnDependents = iota
	DropThem
)
