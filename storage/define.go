package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// define starts a change of the catalogue: a clone of the version that the
// transaction sees, to be changed and given to defined. The first change of a
// transaction takes the right to define things and sees what was committed last.
func (x *Tx) define(ctx context.Context) (*version, error) {
	if err := x.writes("define things", false); err != nil {
		return nil, err
	}
	if !x.defines {
		if err := x.store.lockDefinitions(ctx); err != nil {
			return nil, err
		}
		x.defines = true
		x.version = x.store.version.Load()
	}
	return x.version.clone(), nil
}

// defined makes v what the transaction sees, and at commit everybody.
func (x *Tx) defined(v *version) {
	x.version = v
	x.tx.Log(published{x, v})
}

// published is a version of the catalogue. Undone, the transaction goes back to
// the one of its savepoint.
type published struct {
	tx *Tx
	v  *version
}

// Commit shows the version to all that begin now.
func (c published) Commit(uint64) {
	c.tx.store.version.Store(c.v)
	c.tx.tx.Require(c.v.retention())
}

// Undo has nothing to do: nobody else has seen the version.
func (c published) Undo() {}

// made is storage that a definition made.
type made struct{ data *table }

// Commit keeps it, and notes that it knows no older version.
func (c made) Commit(version uint64) { c.data.since.Store(version) }

// Undo gives it back.
func (c made) Undo() { c.data.store.drop(c.data) }

// dropped is storage that a definition left behind.
type dropped struct {
	tx   *Tx
	data *table
}

// Commit gives it back when the last reader has gone.
func (c dropped) Commit(version uint64) {
	c.tx.tx.RetireAt(version, func() { c.data.store.drop(c.data) })
}

// Undo keeps it.
func (c dropped) Undo() {}

// indexed is an index that was added to a table's storage.
type indexed struct {
	data *table
	id   catalog.IndexID
}

// Commit keeps it.
func (indexed) Commit(uint64) {}

// Undo takes it away.
func (c indexed) Undo() {
	c.data.mu.Lock()
	defer c.data.mu.Unlock()
	c.data.remove(c.id)
}

// unindexed is an index that was dropped; it is kept up until the commit.
type unindexed struct {
	tx *Tx
	indexed
}

// Commit takes it away when no one can ask for it.
func (c unindexed) Commit(version uint64) { c.tx.tx.RetireAt(version, c.indexed.Undo) }

// Undo keeps it.
func (c unindexed) Undo() {}

// CreateTable makes a table from t, whose IDs are given here: t.Columns[i].ID
// is i. An empty schema is the session's first, or that of its temporary
// objects if t.Temp. Indexes without a name get
// PostgreSQL's.
func (x *Tx) CreateTable(ctx context.Context, t catalog.Table) (*catalog.Table, error) {
	v, err := x.define(ctx)
	if err != nil {
		return nil, err
	}
	if t.Schema, err = x.schemaFor(v, t.Schema, t.Temp); err != nil {
		return nil, err
	}
	if err := v.free(t.Schema, t.Name); err != nil {
		return nil, err
	}
	t.Temp = t.Schema == x.session.temp
	t.ID = catalog.TableID(x.store.nextID.Add(1))
	t.Columns = slices.Clone(t.Columns)
	var types []sqltype.Type
	for i := range t.Columns {
		if slices.ContainsFunc(t.Columns[:i], func(c catalog.Column) bool { return strings.EqualFold(c.Name, t.Columns[i].Name) }) {
			return nil, sqltype.Errorf(sqltype.CodeDuplicateColumn, "column \"%s\" specified more than once", t.Columns[i].Name)
		}
		t.Columns[i].ID = i
		types = append(types, t.Columns[i].Type)
	}
	indexes := t.Indexes
	t.Indexes = nil
	for _, def := range indexes {
		d := *def
		d.ID = catalog.IndexID(x.store.nextID.Add(1))
		home, err := x.store.home(d.Device)
		if err != nil {
			return nil, err
		}
		_, d.Kind = home.kind(d.Kind)
		for _, k := range d.Keys {
			t.Columns[k.Column].NotNull = t.Columns[k.Column].NotNull || d.Primary
		}
		if d.Name == "" {
			d.Name = v.indexName(&t, &d)
		} else if err := v.indexFree(t.Schema, d.Name); err != nil {
			return nil, err
		}
		t.Indexes = append(t.Indexes, &d)
	}
	data := x.store.newTable(types)
	for _, d := range t.Indexes {
		made, err := x.store.newTableIndex(&t, d)
		if err != nil {
			x.store.drop(data)
			return nil, err
		}
		data.add(made)
	}
	x.tx.Log(made{data})
	v.put(&entry{&t, data})
	x.defined(v)
	return &t, nil
}

// schemaFor is the schema for a new object. That of temporary objects is made
// when it is needed.
func (x *Tx) schemaFor(v *version, schema string, temp bool) (string, error) {
	schema = catalog.SchemaName(schema)
	switch {
	case temp && schema == "", isTemp(schema), schema == x.session.temp:
		v.schemas[x.session.temp] = true
		return x.session.temp, nil
	case temp:
		return "", sqltype.Errorf("42P16", "a temporary object cannot be in schema \"%s\"", schema)
	case schema == "":
		for _, s := range x.session.Path() {
			if v.schemas[s] {
				return s, nil
			}
		}
		return "", sqltype.Errorf("3F000", "no schema has been selected to create in")
	}
	if !v.schemas[schema] {
		return "", sqltype.Errorf("3F000", "schema \"%s\" does not exist", schema)
	}
	return schema, nil
}

// free reports an error when there is a table or view of that name.
func (v *version) free(schema, object string) error {
	n := nameOf(schema, object)
	if v.tables[n] != nil || v.views[n] != nil || v.sequences[n] != nil {
		return sqltype.Errorf(sqltype.CodeDuplicateTable, "relation \"%s\" already exists", object)
	}
	return nil
}

// findIndex is an index and its table by name.
func (v *version) findIndex(schema, object string) (*entry, *catalog.Index) {
	for _, e := range v.tables {
		if e.def.Schema != schema {
			continue
		}
		for _, d := range e.def.Indexes {
			if strings.EqualFold(d.Name, object) {
				return e, d
			}
		}
	}
	return nil, nil
}

func (v *version) indexFree(schema, object string) error {
	if e, _ := v.findIndex(schema, object); e != nil {
		return sqltype.Errorf(sqltype.CodeDuplicateTable, "relation \"%s\" already exists", object)
	}
	return nil
}

// indexName is PostgreSQL's name for an index without one: t_pkey, t_a_b_key,
// t_a_idx; with a number when that is taken.
func (v *version) indexName(t *catalog.Table, d *catalog.Index) string {
	base, end := t.Name, "_idx"
	if d.Unique {
		end = "_key"
	}
	if d.Primary {
		end = "_pkey"
	} else {
		for _, k := range d.Keys {
			base += "_" + t.Columns[k.Column].Name
		}
	}
	taken := func(s string) bool {
		e, _ := v.findIndex(t.Schema, s)
		return e != nil || slices.ContainsFunc(t.Indexes, func(o *catalog.Index) bool { return strings.EqualFold(o.Name, s) })
	}
	s := base + end
	for n := 1; taken(s); n++ {
		s = fmt.Sprintf("%s%s%d", base, end, n)
	}
	return s
}

// DropTable drops a table with its indexes and sequences. Foreign keys of other
// tables that name it are dropped if how says so.
func (x *Tx) DropTable(ctx context.Context, schema, object string, how OnDependents) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	e, ok := find(v.tables, x.session, schema, object)
	if !ok {
		return errNoTable(schema, object)
	}
	if err := v.unreferenced(e.def, how); err != nil {
		return err
	}
	v.remove(e)
	for n, q := range v.sequences {
		if q.def.Owner == e.def.ID {
			delete(v.sequences, n)
		}
	}
	x.tx.Log(dropped{x, e.data})
	x.defined(v)
	return nil
}

// Truncate gives a table new, empty storage.
func (x *Tx) Truncate(ctx context.Context, t *catalog.Table) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	e := v.byID[t.ID]
	if e == nil {
		return errNoTable(t.Schema, t.Name)
	}
	data := x.store.newTable(e.data.rows.Types())
	for _, d := range e.def.Indexes {
		made, err := x.store.newTableIndex(e.def, d)
		if err != nil {
			x.store.drop(data)
			return err
		}
		data.add(made)
	}
	x.tx.Log(made{data})
	x.tx.Log(dropped{x, e.data})
	v.put(&entry{e.def, data})
	x.defined(v)
	return nil
}

// CreateIndex adds index d to a table; its ID is given here. Rows that no
// snapshot of the transaction sees are in it too.
func (x *Tx) CreateIndex(ctx context.Context, t *catalog.Table, d catalog.Index) (*catalog.Index, error) {
	v, err := x.define(ctx)
	if err != nil {
		return nil, err
	}
	e := v.byID[t.ID]
	if e == nil {
		return nil, errNoTable(t.Schema, t.Name)
	}
	def := *e.def
	d.ID = catalog.IndexID(x.store.nextID.Add(1))
	home, err := x.store.home(d.Device)
	if err != nil {
		return nil, err
	}
	_, d.Kind = home.kind(d.Kind)
	if d.Name == "" {
		d.Name = v.indexName(&def, &d)
	} else if err := v.indexFree(def.Schema, d.Name); err != nil {
		return nil, err
	}
	if err := x.fill(ctx, e.data, &def, &d); err != nil {
		return nil, err
	}
	def.Indexes = append(slices.Clone(def.Indexes), &d)
	v.put(&entry{&def, e.data})
	x.defined(v)
	return &d, nil
}

// DropIndex drops an index that no constraint needs.
func (x *Tx) DropIndex(ctx context.Context, schema, object string) error {
	v, err := x.define(ctx)
	if err != nil {
		return err
	}
	var e *entry
	var d *catalog.Index
	for _, in := range x.session.search(schema) {
		if e, d = v.findIndex(in, object); e != nil {
			break
		}
	}
	if e == nil {
		return errNoIndex(object)
	}
	if slices.ContainsFunc(e.def.Foreign, func(k *catalog.ForeignKey) bool { return k.Name == d.Name }) {
		return sqltype.Errorf("2BP01", "cannot drop index \"%s\": a foreign key of table \"%s\" needs it", d.Name, e.def.Name)
	}
	for _, ref := range v.references(e.def.ID) {
		if d.Unique && isKeyOf(e.def, d, ref.key) {
			return sqltype.Errorf("2BP01", "cannot drop index \"%s\": constraint \"%s\" of table \"%s\" needs it", d.Name, ref.key.Name, ref.child.def.Name)
		}
	}
	if d.Primary {
		return sqltype.Errorf("2BP01", "cannot drop index \"%s\": the primary key of table \"%s\" needs it", d.Name, e.def.Name)
	}
	def := *e.def
	def.Indexes = slices.DeleteFunc(slices.Clone(def.Indexes), func(o *catalog.Index) bool { return o.ID == d.ID })
	x.tx.Log(unindexed{x, indexed{e.data, d.ID}})
	v.put(&entry{&def, e.data})
	x.defined(v)
	return nil
}

func errNoIndex(object string) error {
	return sqltype.Errorf(sqltype.CodeUndefinedObject, "index \"%s\" does not exist", object)
}
