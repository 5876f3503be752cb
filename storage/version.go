package storage

import (
	"maps"
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// The schemas that are always there. An empty schema name finds Temp's objects
// before Main's.
const (
	Main = "main"
	Temp = "temp"
)

// version is one state of the catalogue. It is immutable once published: a
// definition clones it first.
type version struct {
	store   *Store
	schemas map[string]bool
	tables  map[name]*entry
	views   map[name]*catalog.View
	byID    map[catalog.TableID]*entry
}

// name is an object's schema and name, in lower case.
type name struct{ schema, object string }

// entry is a table: what the planner sees, and where the rows are.
type entry struct {
	def  *catalog.Table
	data *table
}

func newVersion(s *Store) *version {
	return &version{store: s, schemas: map[string]bool{Main: true, Temp: true},
		tables: map[name]*entry{}, views: map[name]*catalog.View{}, byID: map[catalog.TableID]*entry{}}
}

func (v *version) clone() *version {
	return &version{v.store, maps.Clone(v.schemas), maps.Clone(v.tables), maps.Clone(v.views), maps.Clone(v.byID)}
}

func (v *version) put(e *entry) {
	v.tables[nameOf(e.def.Schema, e.def.Name)] = e
	v.byID[e.def.ID] = e
}

func (v *version) remove(e *entry) {
	delete(v.tables, nameOf(e.def.Schema, e.def.Name))
	delete(v.byID, e.def.ID)
}

func nameOf(schema, object string) name {
	return name{strings.ToLower(schema), strings.ToLower(object)}
}

// find looks an object up in m, an empty schema meaning first Temp and then Main.
func find[T any](m map[name]T, schema, object string) (T, bool) {
	if schema != "" {
		x, ok := m[nameOf(schema, object)]
		return x, ok
	}
	if x, ok := m[nameOf(Temp, object)]; ok {
		return x, true
	}
	x, ok := m[nameOf(Main, object)]
	return x, ok
}

// Table is the table of that name.
func (v *version) Table(schema, object string) (*catalog.Table, bool) {
	e, ok := find(v.tables, schema, object)
	if !ok {
		return nil, false
	}
	return e.def, true
}

// View is the view of that name.
func (v *version) View(schema, object string) (*catalog.View, bool) {
	return find(v.views, schema, object)
}

// Names lists tables and views; outside of Main and Temp with their schema.
func (v *version) Names() []string {
	var all []string
	add := func(schema, object string) {
		if schema != Main && schema != Temp {
			object = schema + "." + object
		}
		all = append(all, object)
	}
	for _, e := range v.tables {
		add(e.def.Schema, e.def.Name)
	}
	for _, w := range v.views {
		add(w.Schema, w.Name)
	}
	slices.Sort(all)
	return all
}

// Stats are the statistics of a table.
func (v *version) Stats(id catalog.TableID) *catalog.Stats {
	e := v.byID[id]
	if e == nil {
		return &catalog.Stats{}
	}
	return e.stats()
}

func errNoTable(schema, object string) error {
	if schema != "" {
		object = schema + "." + object
	}
	return sqltype.Errorf(sqltype.CodeUndefinedTable, "relation \"%s\" does not exist", object)
}
