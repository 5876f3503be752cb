package gpusql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// define runs f in the session's transaction or one of its own; when it fails,
// what it did is taken back.
func (c *Conn) define(f func(tx *storage.Tx) error) error {
	if c.tx != nil {
		if len(c.rows) > 0 {
			return sqltype.Errorf(sqltype.CodeActiveTx, "the rows of an earlier statement of the transaction are still open")
		}
		start := c.tx.Savepoint()
		err := f(c.tx)
		if err != nil {
			c.tx.RollbackTo(start)
		}
		return err
	}
	tx := c.beginTx()
	if err := f(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

// split is the schema and name of a possibly qualified name.
func split(n parser.Name) (schema, object string) {
	last := len(n.Parts) - 1
	if last > 0 {
		schema = n.Parts[last-1].Name
	}
	return schema, n.Parts[last].Name
}

func at(n parser.Name) parser.Pos { return n.Parts[0].Pos }

// findTable is a table by name; it says so when the name is a view's, and
// suggests one when there is none.
func findTable(r catalog.Reader, n parser.Name) (*catalog.Table, error) {
	schema, name := split(n)
	if t, ok := r.Table(schema, name); ok {
		return t, nil
	}
	if _, ok := r.View(schema, name); ok {
		return nil, sqltype.Errorf(sqltype.CodeWrongObject, "%q is a view", name).At(int(at(n)))
	}
	e := sqltype.Errorf(sqltype.CodeUndefinedTable, "table %q does not exist", name)
	if near := catalog.Suggest(name, r.Names()); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return nil, e.At(int(at(n)))
}

// createTable is CREATE TABLE, with columns or AS a query.
func (c *Conn) createTable(ctx context.Context, s *parser.CreateTable, text string) (*Rows, error) {
	schema, name := split(s.Name)
	var rows int64
	err := c.define(func(tx *storage.Tx) (err error) {
		if s, err = withLikes(tx.Reader(), s); err != nil {
			return err
		}
		if t, ok := tx.Reader().Table(schema, name); ok && s.IfNotExists {
			return nil
		} else if ok && s.OrReplace {
			if err := tx.DropTable(ctx, t.Schema, t.Name, storage.KeepThem); err != nil {
				return err
			}
		}
		if s.As != nil {
			rows, err = c.createTableAs(ctx, tx, s, text)
			return err
		}
		t, err := c.tableOf(tx.Reader(), s)
		if err != nil {
			return err
		}
		own1, columns, err := c.ownSequences(ctx, tx, t, s.Columns)
		if err != nil {
			return err
		}
		made, err := tx.CreateTable(ctx, *t)
		if err != nil {
			return err
		}
		if err := own(ctx, tx, made, own1, columns); err != nil {
			return err
		}
		if made, err = addForeignKeys(ctx, tx, made, s); err != nil {
			return err
		}
		return c.checkTable(tx.Reader(), made)
	})
	if err != nil {
		return nil, err
	}
	return doneRows("CREATE TABLE", rows), nil
}

// createTableAs is CREATE TABLE ... AS within a transaction: the table is made
// of the query's columns and filled by an INSERT.
func (c *Conn) createTableAs(ctx context.Context, tx *storage.Tx, s *parser.CreateTable, text string) (int64, error) {
	plan, err := c.bind(ctx, tx.Reader(), s.As)
	if err != nil {
		return 0, err
	}
	if len(s.AsColumns) > len(plan.Columns) {
		return 0, sqltype.Errorf(sqltype.CodeSyntax, "%d columns are named, the query has %d", len(s.AsColumns), len(plan.Columns)).At(int(at(s.Name)))
	}
	schema, name := split(s.Name)
	t := catalog.Table{Schema: schema, Name: name, Temp: s.Temp}
	for i, col := range plan.Columns {
		if i < len(s.AsColumns) {
			col.Name = s.AsColumns[i].Name
		}
		if col.Type.Kind == sqltype.KindNull {
			col.Type = sqltype.Varchar
		}
		t.Columns = append(t.Columns, catalog.Column{Name: col.Name, Type: col.Type})
	}
	made, err := tx.CreateTable(ctx, t)
	if err != nil || !s.WithData {
		return 0, err
	}
	rows, err := c.within(ctx, tx, text, &parser.Insert{Table: tableName(made), Source: s.As})
	if err != nil {
		return 0, err
	}
	return rows.affected, nil
}

// checkTable binds the defaults and CHECK constraints of a table, to know that
// they can be. Their texts are not the statement's: errors have no place in it.
func (c *Conn) checkTable(r catalog.Reader, t *catalog.Table) error {
	target := parser.Name{Parts: []parser.Ident{{Name: t.Schema}, {Name: t.Name}}}
	_, err := c.bind(context.Background(), r, &parser.Insert{Table: target})
	if e, ok := err.(*sqltype.Error); ok {
		placeless := *e
		placeless.Pos = 0
		return &placeless
	}
	return err
}

// tableOf is the table that a CREATE TABLE describes.
func (c *Conn) tableOf(r catalog.Reader, s *parser.CreateTable) (*catalog.Table, error) {
	schema, name := split(s.Name)
	t := &catalog.Table{Schema: schema, Name: name, Temp: s.Temp}
	for i := range s.Columns {
		d := &s.Columns[i]
		col, err := c.columnOf(r, d)
		if err != nil {
			return nil, err
		}
		t.Columns = append(t.Columns, col)
		if d.PrimaryKey || d.Unique {
			t.Indexes = append(t.Indexes, &catalog.Index{Name: d.ConstraintName, Unique: true, Primary: d.PrimaryKey, Keys: []catalog.IndexKey{{Column: i}}})
		}
		for _, k := range d.Check {
			t.Checks = append(t.Checks, catalog.Check{Name: checkName(t, k.Name, d.Name.Name), Text: k.Text})
		}
	}
	if err := c.generatedTypes(r, t, s.Columns); err != nil {
		return nil, err
	}
	for i := range s.Constraints {
		if err := addConstraint(t, &s.Constraints[i]); err != nil {
			return nil, err
		}
	}
	primary := 0
	for _, x := range t.Indexes {
		x.Kind = c.settings.indexKind
		if x.Primary {
			primary++
		}
	}
	if primary > 1 {
		return nil, sqltype.Errorf("42P16", "table %q has more than one primary key", name)
	}
	return t, nil
}

// columnOf is a column of CREATE TABLE and ADD COLUMN.
func (c *Conn) columnOf(r catalog.Reader, d *parser.ColumnDef) (catalog.Column, error) {
	if d.Type.Round > 0 {
		return catalog.Column{}, sqltype.Errorf(sqltype.CodeNotSupported, "a column of a negative scale is not supported").At(int(d.Type.Pos))
	}
	typ, err := planner.TypeOf(r, &d.Type)
	if err != nil {
		return catalog.Column{}, err
	}
	col := catalog.Column{Name: d.Name.Name, Type: typ, NotNull: d.NotNull || d.PrimaryKey, NoCase: strings.EqualFold(d.Collate, "nocase")}
	if d.Default != nil {
		col.Default = parser.FormatExpr(d.Default)
	}
	if d.Generated != nil {
		if d.Default != nil {
			return col, sqltype.Errorf(sqltype.CodeSyntax, "both default and generation expression specified for column \"%s\"", col.Name).At(int(d.Name.Pos))
		}
		col.Generated = parser.FormatExpr(d.Generated)
	}
	return col, nil
}

// addConstraint adds a constraint over columns to a table.
func addConstraint(t *catalog.Table, k *parser.TableConstraint) error {
	switch k.Kind {
	case parser.PrimaryKey, parser.UniqueKey:
		x := &catalog.Index{Name: k.Name, Unique: true, Primary: k.Kind == parser.PrimaryKey}
		for _, id := range k.Columns {
			i := columnIndex(t, id.Name)
			if i < 0 {
				return errNoColumn(t, id)
			}
			x.Keys = append(x.Keys, catalog.IndexKey{Column: i})
		}
		t.Indexes = append(t.Indexes, x)
	case parser.CheckConstraint:
		name := k.Name
		if name == "" {
			name = k.Check.Name
		}
		t.Checks = append(t.Checks, catalog.Check{Name: checkName(t, name, ""), Text: k.Check.Text})
	case parser.ForeignKeyConstraint: // added when the table is there
	default:
		panic(fmt.Sprintf("gpusql: no table constraint %d", k.Kind))
	}
	return nil
}

// checkName is the name of a CHECK constraint: the one given, or PostgreSQL's
// for its column, with a number when that is taken.
func checkName(t *catalog.Table, given, column string) string {
	if given != "" {
		return given
	}
	base := t.Name + "_check"
	if column != "" {
		base = t.Name + "_" + column + "_check"
	}
	name := base
	for n := 1; slices.ContainsFunc(t.Checks, func(k catalog.Check) bool { return k.Name == name }); n++ {
		name = fmt.Sprint(base, n)
	}
	return name
}

func columnIndex(t *catalog.Table, name string) int {
	return slices.IndexFunc(t.Columns, func(c catalog.Column) bool { return strings.EqualFold(c.Name, name) })
}

func errNoColumn(t *catalog.Table, id parser.Ident) error {
	e := sqltype.Errorf(sqltype.CodeUndefinedColumn, "column %q of table %q does not exist", id.Name, t.Name)
	names := make([]string, len(t.Columns))
	for i := range t.Columns {
		names[i] = t.Columns[i].Name
	}
	if near := catalog.Suggest(id.Name, names); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return e.At(int(id.Pos))
}

// createIndex is CREATE INDEX.
func (c *Conn) createIndex(ctx context.Context, s *parser.CreateIndex) (*Rows, error) {
	err := c.define(func(tx *storage.Tx) error {
		t, err := findTable(tx.Reader(), s.Table)
		if err != nil {
			return err
		}
		if s.IfNotExists && slices.ContainsFunc(t.Indexes, func(x *catalog.Index) bool { return strings.EqualFold(x.Name, s.Name.Name) }) {
			return nil
		}
		x, err := indexOf(t, s)
		if err != nil {
			return err
		}
		if x.Kind == "" {
			x.Kind = c.settings.indexKind
		}
		_, err = tx.CreateIndex(ctx, t, x)
		return err
	})
	if err != nil {
		return nil, err
	}
	return doneRows("CREATE INDEX", 0), nil
}

// indexOf is the index that a CREATE INDEX describes.
func indexOf(t *catalog.Table, s *parser.CreateIndex) (catalog.Index, error) {
	x := catalog.Index{Name: s.Name.Name, Unique: s.Unique, Kind: strings.ToLower(s.Using)}
	switch x.Kind {
	case "", "btree", "lsm", "mvcc":
	default:
		return x, sqltype.Errorf(sqltype.CodeUndefinedObject, "there is no index kind %q; there are btree, lsm and mvcc", s.Using).At(int(s.Pos))
	}
	if s.Where != nil {
		return x, sqltype.Errorf(sqltype.CodeNotSupported, "an index of a part of a table is not supported").At(int(s.Where.Start()))
	}
	if err := indexOptions(&x, s); err != nil {
		return x, err
	}
	for _, id := range s.Include {
		if x.Device != "" {
			return x, sqltype.Errorf(sqltype.CodeNotSupported, "an index on %s has its keys alone: INCLUDE is for one on cpu", x.Device).At(int(id.Pos))
		}
		i := columnIndex(t, id.Name)
		if i < 0 {
			return x, errNoColumn(t, id)
		}
		x.Include = append(x.Include, i)
	}
	for _, k := range s.Keys {
		ref, ok := k.Expr.(*parser.ColumnRef)
		if !ok {
			return x, sqltype.Errorf(sqltype.CodeNotSupported, "an index of an expression is not supported").At(int(k.Expr.Start()))
		}
		id := ref.Name.Parts[len(ref.Name.Parts)-1]
		i := columnIndex(t, id.Name)
		if i < 0 {
			return x, errNoColumn(t, id)
		}
		first := k.Nulls == parser.NullsFirst || k.Nulls == parser.NullsDefault && k.Desc
		x.Keys = append(x.Keys, catalog.IndexKey{Column: i, Desc: k.Desc, NullsFirst: first})
	}
	return x, nil
}

// indexOptions reads WITH (device = ..., retention = ...) of a CREATE INDEX.
func indexOptions(x *catalog.Index, s *parser.CreateIndex) error {
	for _, o := range s.With {
		name := strings.ToLower(o.Name.Name)
		switch name {
		case "device":
			v := strings.ToLower(strings.Trim(parser.FormatExpr(o.Value), "'\""))
			ordinal, isGPU := deviceOrdinal(v)
			switch {
			case isGPU:
				x.Device = fmt.Sprintf("cuda:%d", ordinal)
			case v != "cpu" && v != "auto":
				return sqltype.Errorf(sqltype.CodeUndefinedObject, "there is no device %q: an index lies on cpu, or on cuda or cuda:1 and so on", v).At(int(o.Value.Start()))
			}
		case "retention":
			d, err := retentionOf(strings.Trim(parser.FormatExpr(o.Value), "'\""))
			if err != nil {
				return err.At(int(o.Value.Start()))
			}
			x.Retention = d
		default:
			return sqltype.Errorf(sqltype.CodeUndefinedObject, "there is no option %q of an index; there are device and retention", name).At(int(o.Name.Pos))
		}
	}
	return nil
}

// createView is CREATE VIEW: its query is bound once, to know that it can be.
func (c *Conn) createView(ctx context.Context, s *parser.CreateView) (*Rows, error) {
	schema, name := split(s.Name)
	err := c.define(func(tx *storage.Tx) error {
		r := tx.Reader()
		if _, ok := r.View(schema, name); ok && s.IfNotExists {
			return nil
		}
		p, err := c.bind(ctx, r, s.Query)
		if err != nil {
			return err
		}
		if len(s.Columns) > len(p.Columns) {
			return sqltype.Errorf(sqltype.CodeSyntax, "view %q names %d columns, its query has %d", name, len(s.Columns), len(p.Columns)).At(int(at(s.Name)))
		}
		v := catalog.View{Schema: schema, Name: name, Text: s.Text, Temp: s.Temp}
		for _, id := range s.Columns {
			v.Columns = append(v.Columns, id.Name)
		}
		how := storage.Fail
		if s.OrReplace {
			how = storage.Replace
		}
		return tx.CreateView(ctx, v, how)
	})
	if err != nil {
		return nil, err
	}
	return doneRows("CREATE VIEW", 0), nil
}

// drop is DROP TABLE, VIEW, INDEX and SCHEMA.
func (c *Conn) drop(ctx context.Context, s *parser.Drop) (*Rows, error) {
	err := c.define(func(tx *storage.Tx) error {
		for _, n := range s.Names {
			if err := dropOne(ctx, tx, s, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return doneRows("DROP "+s.Kind, 0), nil
}

func dropOne(ctx context.Context, tx *storage.Tx, s *parser.Drop, n parser.Name) error {
	schema, name := split(n)
	cascade := storage.KeepThem
	if s.Cascade {
		cascade = storage.DropThem
	}
	var err error
	switch s.Kind {
	case "TABLE":
		t, ferr := findTable(tx.Reader(), n)
		if err = ferr; err == nil {
			err = tx.DropTable(ctx, t.Schema, t.Name, cascade)
		}
	case "VIEW":
		if _, ok := tx.Reader().Table(schema, name); ok {
			err = sqltype.Errorf(sqltype.CodeWrongObject, "%q is a table", name).At(int(at(n)))
		} else {
			err = tx.DropView(ctx, schema, name)
		}
	case "INDEX":
		err = tx.DropIndex(ctx, schema, name)
	case "SCHEMA":
		err = tx.DropSchema(ctx, name, cascade)
	case "SEQUENCE":
		q, ferr := findSequence(tx.Reader(), n)
		if err = ferr; err == nil {
			err = dropSequence(ctx, tx, q, cascade)
		}
	case "TYPE":
		if u, ok := tx.Reader().Type(schema, name); ok {
			err = tx.DropType(ctx, u, cascade)
		} else {
			err = sqltype.Errorf(sqltype.CodeUndefinedObject, "type \"%s\" does not exist", name).At(int(at(n)))
		}
	default:
		panic("gpusql: DROP " + s.Kind)
	}
	if s.IfExists && isUndefined(err) {
		return nil
	}
	return err
}

// isUndefined reports an error about an object that is not there.
func isUndefined(err error) bool {
	e, ok := err.(*sqltype.Error)
	return ok && (e.Code == sqltype.CodeUndefinedTable || e.Code == sqltype.CodeUndefinedObject || e.Code == "3F000")
}

// createSchema is CREATE SCHEMA.
func (c *Conn) createSchema(ctx context.Context, s *parser.CreateSchema) (*Rows, error) {
	err := c.define(func(tx *storage.Tx) error {
		err := tx.CreateSchema(ctx, s.Name.Name)
		if e, ok := err.(*sqltype.Error); ok && e.Code == "42P06" && s.IfNotExists {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return doneRows("CREATE SCHEMA", 0), nil
}

// truncate is TRUNCATE. Tables whose rows name rows that go are truncated with
// CASCADE, or have to be among those that are named.
func (c *Conn) truncate(ctx context.Context, s *parser.Truncate) (*Rows, error) {
	err := c.define(func(tx *storage.Tx) error {
		var tables []*catalog.Table
		for _, n := range s.Tables {
			t, err := findTable(tx.Reader(), n)
			if err != nil {
				return err
			}
			tables = append(tables, t)
		}
		contents := tx.Reader().Contents()
		for i := 0; i < len(tables); i++ { // it grows
			for _, child := range contents.Tables {
				if !references(child, tables[i]) || slices.Contains(tables, child) {
					continue
				}
				if !s.Cascade {
					e := sqltype.Errorf(sqltype.CodeNotSupported, "cannot truncate table \"%s\": a foreign key of table \"%s\" names it", tables[i].Name, child.Name)
					e.Hint = "truncate both, or use CASCADE"
					return e.At(int(at(s.Tables[0])))
				}
				tables = append(tables, child)
			}
		}
		for _, t := range tables {
			if err := tx.Truncate(ctx, t); err != nil {
				return err
			}
			for _, q := range contents.Sequences {
				if s.Restart && q.Owner == t.ID {
					if err := tx.AlterSequence(ctx, q, *q, &q.Start); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return doneRows("TRUNCATE TABLE", 0), nil
}
