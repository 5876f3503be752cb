package storage

import (
	"maps"
	"strings"
	"time"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// Main is the schema that is always there.
const Main = catalog.Main

// version is one state of the catalogue. It is immutable once published: a
// definition clones it first.
type version struct {
	store     *Store
	schemas   map[string]bool // those of temporary objects too
	tables    map[name]*entry
	views     map[name]*catalog.View
	sequences map[name]*sequence
	types     map[name]*catalog.UserType
	functions map[name][]*catalog.Function
	byID      map[catalog.TableID]*entry
}

// name is an object's schema and name, in lower case.
type name struct{ schema, object string }

// entry is a table: what the planner sees, and where the rows are.
type entry struct {
	def  *catalog.Table
	data *table
}

func newVersion(s *Store) *version {
	return &version{store: s, schemas: map[string]bool{Main: true},
		tables: map[name]*entry{}, views: map[name]*catalog.View{}, sequences: map[name]*sequence{},
		types: map[name]*catalog.UserType{}, functions: map[name][]*catalog.Function{}, byID: map[catalog.TableID]*entry{}}
}

func (v *version) clone() *version {
	return &version{v.store, maps.Clone(v.schemas), maps.Clone(v.tables), maps.Clone(v.views), maps.Clone(v.sequences),
		maps.Clone(v.types), maps.Clone(v.functions), maps.Clone(v.byID)}
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

// retention is the longest that an index asks for: a version is of the whole
// database, so that all tables keep what AS OF may ask for.
func (v *version) retention() (longest time.Duration) {
	for _, e := range v.byID {
		for _, x := range e.def.Indexes {
			longest = max(longest, x.Retention)
		}
	}
	return longest
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
