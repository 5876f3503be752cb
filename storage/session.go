package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gpusql/gpusql/catalog"
)

// Session is whose objects a transaction sees without their schema: temporary
// ones of its own first, and then those of its path.
type Session struct {
	temp string // the schema of its temporary objects
	path atomic.Pointer[[]string]
}

// NewSession makes a session, whose path is Main.
func (s *Store) NewSession() *Session {
	o := &Session{temp: fmt.Sprintf("pg_temp_%d", s.nextID.Add(1))}
	o.SetPath([]string{Main})
	return o
}

// Path is the schemas in which names are looked for, in order.
func (o *Session) Path() []string { return *o.path.Load() }

// SetPath gives the session another path. Plans that were made for the old one
// must be made again.
func (o *Session) SetPath(path []string) {
	names := make([]string, len(path))
	for i, s := range path {
		names[i] = catalog.SchemaName(s)
	}
	o.path.Store(&names)
}

// Temp is the schema of the session's temporary objects.
func (o *Session) Temp() string { return o.temp }

// isTemp reports a name for the schema of temporary objects, whichever it is.
func isTemp(schema string) bool {
	return strings.EqualFold(schema, "temp") || strings.EqualFold(schema, "pg_temp")
}

// isTempSchema reports a schema of temporary objects.
func isTempSchema(schema string) bool { return strings.HasPrefix(schema, "pg_temp_") }

// search is the schemas in which a name is looked for.
func (o *Session) search(schema string) []string {
	switch {
	case schema == "":
		return append([]string{o.temp}, o.Path()...)
	case isTemp(schema):
		return []string{o.temp}
	}
	return []string{catalog.SchemaName(schema)}
}

// find looks an object up in m.
func find[T any](m map[name]T, o *Session, schema, object string) (x T, ok bool) {
	object = strings.ToLower(object)
	if schema == "" {
		if x, ok = m[name{o.temp, object}]; ok {
			return x, ok
		}
		for _, s := range o.Path() {
			if x, ok = m[name{s, object}]; ok {
				return x, ok
			}
		}
		return x, false
	}
	x, ok = m[name{o.search(schema)[0], object}]
	return x, ok
}

// DropTemporary drops all temporary objects of the transaction's session.
func (x *Tx) DropTemporary(ctx context.Context) error {
	if !x.version.schemas[x.session.temp] {
		return nil
	}
	return x.dropSchema(ctx, x.session.temp)
}

// sight is a version of the catalogue as a session sees it. It is comparable:
// the same version for the same session is the same value.
type sight struct {
	*version
	session *Session
}

// Table implements catalog.Reader.
func (r sight) Table(schema, object string) (*catalog.Table, bool) {
	e, ok := find(r.tables, r.session, schema, object)
	if !ok {
		return nil, false
	}
	return e.def, true
}

// View implements catalog.Reader.
func (r sight) View(schema, object string) (*catalog.View, bool) {
	return find(r.views, r.session, schema, object)
}

// Sequence implements catalog.Reader.
func (r sight) Sequence(schema, object string) (*catalog.Sequence, bool) {
	q, ok := find(r.sequences, r.session, schema, object)
	if !ok {
		return nil, false
	}
	return q.def, true
}

// Type implements catalog.Reader.
func (r sight) Type(schema, object string) (*catalog.UserType, bool) {
	return find(r.types, r.session, schema, object)
}

// Functions implements catalog.Reader.
func (r sight) Functions(schema, object string) []*catalog.Function {
	if len(r.functions) == 0 {
		return nil
	}
	list, _ := find(r.functions, r.session, schema, object)
	return list
}

// Names lists tables and views; outside of the path with their schema. Those of
// other sessions are not listed.
func (r sight) Names() []string {
	var all []string
	add := func(schema, object string) {
		switch {
		case schema == r.session.temp || slices.Contains(r.session.Path(), schema):
			all = append(all, object)
		case !isTempSchema(schema):
			all = append(all, schema+"."+object)
		}
	}
	for _, e := range r.tables {
		add(e.def.Schema, e.def.Name)
	}
	for _, w := range r.views {
		add(w.Schema, w.Name)
	}
	slices.Sort(all)
	return all
}

// Contents implements catalog.Reader.
func (r sight) Contents() catalog.Contents {
	var c catalog.Contents
	for s := range r.schemas {
		if r.shows(s) {
			c.Schemas = append(c.Schemas, s)
		}
	}
	for n, e := range r.tables {
		if r.shows(n.schema) {
			c.Tables = append(c.Tables, e.def)
		}
	}
	for n, w := range r.views {
		if r.shows(n.schema) {
			c.Views = append(c.Views, w)
		}
	}
	for n, q := range r.sequences {
		if r.shows(n.schema) {
			c.Sequences = append(c.Sequences, q.def)
		}
	}
	for n, t := range r.types {
		if r.shows(n.schema) {
			c.Types = append(c.Types, t)
		}
	}
	for n, list := range r.functions {
		if r.shows(n.schema) {
			c.Functions = append(c.Functions, list...)
		}
	}
	c.Path = r.session.Path()
	slices.Sort(c.Schemas)
	sortBy(c.Tables, func(t *catalog.Table) name { return nameOf(t.Schema, t.Name) })
	sortBy(c.Views, func(w *catalog.View) name { return nameOf(w.Schema, w.Name) })
	sortBy(c.Sequences, func(q *catalog.Sequence) name { return nameOf(q.Schema, q.Name) })
	sortBy(c.Types, func(t *catalog.UserType) name { return nameOf(t.Schema, t.Name) })
	sortBy(c.Functions, func(f *catalog.Function) name { return nameOf(f.Schema, f.Name) })
	return c
}

// shows reports a schema that the session may see.
func (r sight) shows(schema string) bool { return !isTempSchema(schema) || schema == r.session.temp }

func sortBy[T any](list []T, key func(T) name) {
	slices.SortStableFunc(list, func(a, b T) int {
		x, y := key(a), key(b)
		if c := strings.Compare(x.schema, y.schema); c != 0 {
			return c
		}
		return strings.Compare(x.object, y.object)
	})
}
