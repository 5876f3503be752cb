package gpusql

import (
	"context"
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// alter is ALTER TABLE and ALTER VIEW: all actions, or none.
func (c *Conn) alter(ctx context.Context, s *parser.AlterTable) (*Rows, error) {
	tag := "ALTER TABLE"
	if s.View {
		tag = "ALTER VIEW"
	}
	err := c.define(func(tx *storage.Tx) error {
		if s.View {
			return alterView(ctx, tx, s)
		}
		t, err := findTable(tx.Reader(), s.Name)
		if err != nil {
			if s.IfExists && isUndefined(err) {
				return nil
			}
			return err
		}
		for i := range s.Actions {
			if t, err = c.alterTable(ctx, tx, t, &s.Actions[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return doneRows(tag, 0), nil
}

// alterView renames a view: it is all that can be altered of one.
func alterView(ctx context.Context, tx *storage.Tx, s *parser.AlterTable) error {
	schema, name := split(s.Name)
	v, ok := tx.Reader().View(schema, name)
	if !ok {
		if s.IfExists {
			return nil
		}
		return sqltype.Errorf(sqltype.CodeUndefinedTable, "view %q does not exist", name).At(int(at(s.Name)))
	}
	if len(s.Actions) != 1 || s.Actions[0].Kind != "RENAME TO" {
		return sqltype.Errorf(sqltype.CodeNotSupported, "a view can only be renamed").At(int(at(s.Name)))
	}
	if err := tx.DropView(ctx, v.Schema, v.Name); err != nil {
		return err
	}
	renamed := *v
	renamed.Name = s.Actions[0].To.Name
	return tx.CreateView(ctx, renamed, storage.Fail)
}

// alterTable does one action and gives the table as it is then.
func (c *Conn) alterTable(ctx context.Context, tx *storage.Tx, t *catalog.Table, a *parser.AlterAction) (*catalog.Table, error) {
	cascade := storage.KeepThem
	if a.Cascade {
		cascade = storage.DropThem
	}
	found := true
	var err error
	switch a.Kind {
	case "RENAME TO":
		return tx.RenameTable(ctx, t, a.To.Name)
	case "SET SCHEMA":
		return tx.MoveTable(ctx, t, a.To.Name)
	case "ADD COLUMN":
		if a.IfExists && columnIndex(t, a.Column.Name.Name) >= 0 {
			return t, nil
		}
		return c.addColumn(ctx, tx, t, a.Column)
	case "ADD CONSTRAINT":
		return c.addTableConstraint(ctx, tx, t, a.Constraint)
	case "DROP CONSTRAINT":
		found, err = tx.DropConstraint(ctx, t, a.Name.Name, cascade)
	case "RENAME CONSTRAINT":
		found, err = tx.RenameConstraint(ctx, t, a.Name.Name, a.To.Name)
	default:
		return c.alterColumn(ctx, tx, t, a, cascade)
	}
	if err == nil && !found && !a.IfExists {
		err = sqltype.Errorf(sqltype.CodeUndefinedObject, "constraint \"%s\" of relation \"%s\" does not exist", a.Name.Name, t.Name).At(int(a.Name.Pos))
	}
	return again(tx, t), err
}

// again is a table as the transaction sees it now.
func again(tx *storage.Tx, t *catalog.Table) *catalog.Table {
	if now, ok := tx.Reader().Table(t.Schema, t.Name); ok {
		return now
	}
	return t
}

// alterColumn does an action about a column that there is.
func (c *Conn) alterColumn(ctx context.Context, tx *storage.Tx, t *catalog.Table, a *parser.AlterAction, cascade storage.OnDependents) (*catalog.Table, error) {
	i := columnIndex(t, a.Name.Name)
	if i < 0 {
		if a.IfExists {
			return t, nil
		}
		return nil, errNoColumn(t, a.Name)
	}
	checked := func(made *catalog.Table, err error) (*catalog.Table, error) {
		if err == nil {
			err = c.checkTable(tx.Reader(), made)
		}
		return made, err
	}
	switch a.Kind {
	case "RENAME COLUMN":
		return c.renameColumn(ctx, tx, t, i, a)
	case "DROP COLUMN":
		return c.dropColumn(ctx, tx, t, i, a, cascade)
	case "SET DEFAULT":
		if t.Columns[i].Generated != "" {
			return nil, sqltype.Errorf(sqltype.CodeSyntax, "column \"%s\" of relation \"%s\" is a generated column", t.Columns[i].Name, t.Name).At(int(a.Name.Pos))
		}
		return checked(tx.SetDefault(ctx, t, i, parser.FormatExpr(a.Using)))
	case "DROP DEFAULT":
		if t.Columns[i].Identity {
			return nil, sqltype.Errorf(sqltype.CodeSyntax, "column \"%s\" of relation \"%s\" is an identity column", t.Columns[i].Name, t.Name).At(int(a.Name.Pos))
		}
		return tx.SetDefault(ctx, t, i, "")
	case "SET NOT NULL":
		return c.setNotNull(ctx, tx, t, i)
	case "DROP NOT NULL":
		for _, x := range t.Indexes {
			if x.Primary && slices.ContainsFunc(x.Keys, func(k catalog.IndexKey) bool { return k.Column == i }) {
				return nil, sqltype.Errorf("42P16", "column \"%s\" is in a primary key", t.Columns[i].Name).At(int(a.Name.Pos))
			}
		}
		if hasKey(t, i) { // the index has no room for NULLs
			return c.rewritten(ctx, tx, t, []columnChange{{column: i, null: true}})
		}
		return tx.DropNotNull(ctx, t, i)
	case "SET TYPE":
		typ, err := planner.TypeOf(tx.Reader(), &a.Column.Type)
		if err != nil {
			return nil, err
		}
		for k := range t.Columns {
			if k != i && namesColumn(t.Columns[k].Generated, t.Columns[i].Name) {
				return nil, sqltype.Errorf(sqltype.CodeNotSupported, "cannot alter type of a column used by the generated column \"%s\"", t.Columns[k].Name).At(int(a.Name.Pos))
			}
		}
		return c.rewritten(ctx, tx, t, []columnChange{{column: i, typ: typ, using: a.Using}})
	case "DROP EXPRESSION":
		if t.Columns[i].Generated == "" && !a.IfExists {
			return nil, sqltype.Errorf("55000", "column \"%s\" of relation \"%s\" is not a generated column", t.Columns[i].Name, t.Name).At(int(a.Name.Pos))
		}
		return tx.Redefine(ctx, t, func(def *catalog.Table) { def.Columns[i].Generated = "" })
	case "DROP IDENTITY":
		if !t.Columns[i].Identity {
			if a.IfExists {
				return t, nil
			}
			return nil, sqltype.Errorf("55000", "column \"%s\" of relation \"%s\" is not an identity column", t.Columns[i].Name, t.Name).At(int(a.Name.Pos))
		}
		return c.dropIdentity(ctx, tx, t, i)
	default:
		panic("gpusql: ALTER TABLE " + a.Kind)
	}
}

// hasKey reports that the entries of an index have column i.
func hasKey(t *catalog.Table, i int) bool {
	return slices.ContainsFunc(t.Indexes, func(x *catalog.Index) bool {
		return slices.Contains(x.Include, i) || slices.ContainsFunc(x.Keys, func(k catalog.IndexKey) bool { return k.Column == i })
	})
}

// dropIdentity makes a plain column of an identity; its sequence goes.
func (c *Conn) dropIdentity(ctx context.Context, tx *storage.Tx, t *catalog.Table, i int) (*catalog.Table, error) {
	made, err := tx.Redefine(ctx, t, func(def *catalog.Table) {
		col := &def.Columns[i]
		col.Identity, col.Always, col.Default = false, false, ""
	})
	for _, q := range tx.Reader().Contents().Sequences {
		if err == nil && q.Owner == t.ID && q.OwnerColumn == t.Columns[i].ID {
			err = tx.DropSequence(ctx, q)
		}
	}
	return made, err
}

// renameColumn renames a column, also where constraints and generated columns
// name it.
func (c *Conn) renameColumn(ctx context.Context, tx *storage.Tx, t *catalog.Table, i int, a *parser.AlterAction) (*catalog.Table, error) {
	from := t.Columns[i].Name
	made, err := tx.RenameColumn(ctx, t, i, a.To.Name)
	if err != nil {
		return nil, positioned(err, a.To.Pos)
	}
	rename := func(text string) string {
		if text == "" || err != nil {
			return text
		}
		var e parser.Expr
		if e, err = parser.ParseExpr(text); err != nil {
			return text
		}
		return parser.FormatExpr(parser.RenameColumn(e, from, a.To.Name))
	}
	made, rerr := tx.Redefine(ctx, made, func(def *catalog.Table) {
		def.Checks = slices.Clone(def.Checks)
		for k := range def.Checks {
			def.Checks[k].Text = rename(def.Checks[k].Text)
		}
		for k := range def.Columns {
			def.Columns[k].Generated = rename(def.Columns[k].Generated)
		}
	})
	if err == nil {
		err = rerr
	}
	if err == nil {
		err = c.checkTable(tx.Reader(), made)
	}
	return made, err
}

// dropColumn drops a column with the constraints that name it. Generated columns
// that need it are dropped with it, if how says so.
func (c *Conn) dropColumn(ctx context.Context, tx *storage.Tx, t *catalog.Table, i int, a *parser.AlterAction, how storage.OnDependents) (*catalog.Table, error) {
	name := t.Columns[i].Name
	for k := range t.Columns {
		if k == i || !namesColumn(t.Columns[k].Generated, name) {
			continue
		}
		if how != storage.DropThem {
			e := sqltype.Errorf("2BP01", "cannot drop column \"%s\": the generated column \"%s\" needs it", name, t.Columns[k].Name)
			e.Hint = "CASCADE drops it too"
			return nil, e.At(int(a.Name.Pos))
		}
		made, err := tx.DropColumn(ctx, t, k, how)
		if err != nil {
			return nil, err
		}
		return c.dropColumn(ctx, tx, made, columnIndex(made, name), a, how)
	}
	for _, k := range t.Checks {
		if namesColumn(k.Text, name) {
			if _, err := tx.DropConstraint(ctx, t, k.Name, how); err != nil {
				return nil, err
			}
		}
	}
	made, err := tx.DropColumn(ctx, t, i, how)
	if err != nil {
		return nil, positioned(err, a.Name.Pos)
	}
	return made, c.checkTable(tx.Reader(), made)
}

// namesColumn reports that the text of an expression names a column.
func namesColumn(text, column string) bool {
	if text == "" {
		return false
	}
	e, err := parser.ParseExpr(text)
	return err == nil && parser.NamesColumn(e, column)
}

// setNotNull makes a column NOT NULL, which it is by its values.
func (c *Conn) setNotNull(ctx context.Context, tx *storage.Tx, t *catalog.Table, i int) (*catalog.Table, error) {
	if t.Columns[i].NotNull {
		return t, nil
	}
	cond := &parser.IsExpr{X: columnRef(t.Columns[i].Name), What: "NULL"}
	found, err := c.anyRow(ctx, tx, t, cond)
	if err != nil {
		return nil, err
	}
	if found {
		return nil, sqltype.Errorf(sqltype.CodeNotNull, "column \"%s\" of relation \"%s\" contains null values", t.Columns[i].Name, t.Name)
	}
	if hasKey(t, i) { // keys of columns without NULLs have another form
		return c.rewritten(ctx, tx, t, []columnChange{{column: i, notNull: true}})
	}
	return tx.Redefine(ctx, t, func(def *catalog.Table) { def.Columns[i].NotNull = true })
}

func columnRef(name string) *parser.ColumnRef {
	return &parser.ColumnRef{Name: parser.Name{Parts: []parser.Ident{{Name: name, Quoted: true}}}}
}

func tableName(t *catalog.Table) parser.Name {
	return parser.Name{Parts: []parser.Ident{{Name: t.Schema, Quoted: true}, {Name: t.Name, Quoted: true}}}
}

// anyRow reports a row of a table for which a condition is true.
func (c *Conn) anyRow(ctx context.Context, tx *storage.Tx, t *catalog.Table, cond parser.Expr) (bool, error) {
	one := &parser.Literal{Value: sqltype.NewInt32(1)}
	sel := &parser.Select{Items: []parser.SelectItem{{Expr: one}}, From: []parser.TableExpr{&parser.TableRef{Name: tableName(t)}}, Where: cond}
	rows, err := c.within(ctx, tx, "", &parser.Query{Body: sel, Limit: one})
	if err != nil {
		return false, err
	}
	defer rows.Close()
	return rows.Next(), rows.Err()
}

// within runs a planned statement as a part of another one, in its transaction.
func (c *Conn) within(ctx context.Context, tx *storage.Tx, text string, s parser.Statement) (*Rows, error) {
	p := &prepared{parsed: parser.Parsed{Statement: s}, text: text, files: files{resolve: c.db.resolve}}
	if err := c.planFor(ctx, p, tx.Reader(), nil); err != nil {
		return nil, err
	}
	e := &execution{conn: c, text: text, tx: tx, statement: tx.Statement(), files: p.files}
	return e.start(ctx, p.plan, nil)
}

// addTableConstraint is ALTER TABLE ... ADD constraint.
func (c *Conn) addTableConstraint(ctx context.Context, tx *storage.Tx, t *catalog.Table, k *parser.TableConstraint) (*catalog.Table, error) {
	switch k.Kind {
	case parser.ForeignKeyConstraint:
		f, err := foreignKeyOf(tx.Reader(), t, k.Name, k.Columns, k.Foreign)
		if err != nil {
			return nil, err
		}
		return tx.AddForeignKey(ctx, t, f)
	case parser.CheckConstraint:
		return c.addCheck(ctx, tx, t, k.Name, k.Check)
	}
	with := *t
	with.Indexes = nil
	if err := addConstraint(&with, k); err != nil {
		return nil, err
	}
	x := *with.Indexes[0]
	if x.Primary {
		if slices.ContainsFunc(t.Indexes, func(o *catalog.Index) bool { return o.Primary }) {
			return nil, sqltype.Errorf("42P16", "multiple primary keys for table \"%s\" are not allowed", t.Name).At(int(k.Pos))
		}
		for _, key := range x.Keys {
			var err error
			if t, err = c.setNotNull(ctx, tx, t, key.Column); err != nil {
				return nil, err
			}
		}
	}
	_, err := tx.CreateIndex(ctx, t, x)
	return again(tx, t), positioned(err, k.Pos)
}

// addCheck adds a CHECK that all rows pass.
func (c *Conn) addCheck(ctx context.Context, tx *storage.Tx, t *catalog.Table, name string, k *parser.Check) (*catalog.Table, error) {
	if name == "" {
		name = k.Name
	}
	made, err := tx.AddCheck(ctx, t, catalog.Check{Name: checkName(t, name, ""), Text: k.Text})
	if err != nil {
		return nil, err
	}
	if err := c.checkTable(tx.Reader(), made); err != nil {
		return nil, err
	}
	e, err := parser.ParseExpr(k.Text)
	if err != nil {
		return nil, err
	}
	found, err := c.anyRow(ctx, tx, made, &parser.Unary{Op: "NOT", X: e})
	if err == nil && found {
		err = sqltype.Errorf(sqltype.CodeCheck, "check constraint %q of relation %q is violated by some row", made.Checks[len(made.Checks)-1].Name, t.Name)
	}
	return made, err
}

// addColumn is ALTER TABLE ... ADD COLUMN: a default that is the same for all
// rows is computed once, anything else has the table written anew.
func (c *Conn) addColumn(ctx context.Context, tx *storage.Tx, t *catalog.Table, d *parser.ColumnDef) (*catalog.Table, error) {
	col, err := c.columnOf(tx.Reader(), d)
	if err != nil {
		return nil, err
	}
	with := *t
	with.Columns = append(slices.Clone(t.Columns), col)
	defs := make([]parser.ColumnDef, len(with.Columns))
	defs[len(defs)-1] = *d
	if err := c.generatedTypes(tx.Reader(), &with, defs); err != nil {
		return nil, err
	}
	sequences, places, err := c.ownSequences(ctx, tx, &with, defs)
	if err != nil {
		return nil, err
	}
	col = with.Columns[len(with.Columns)-1]
	var made *catalog.Table
	if col.Generated != "" || strings.Contains(col.Default, "nextval") || isVolatileDefault(col.Default) {
		made, err = c.rewritten(ctx, tx, t, []columnChange{{column: -1, added: &col}})
	} else {
		made, err = c.addConstantColumn(ctx, tx, t, d, col)
	}
	if err != nil {
		return nil, err
	}
	if err := own(ctx, tx, made, sequences, places); err != nil {
		return nil, err
	}
	return c.addColumnConstraints(ctx, tx, made, d)
}

// isVolatileDefault reports a default that may differ from row to row.
func isVolatileDefault(text string) bool {
	return strings.Contains(text, "random") || strings.Contains(text, "uuid")
}

func (c *Conn) addConstantColumn(ctx context.Context, tx *storage.Tx, t *catalog.Table, d *parser.ColumnDef, col catalog.Column) (*catalog.Table, error) {
	value := sqltype.NullOf(col.Type)
	if d.Default != nil {
		cast := &parser.Cast{X: d.Default, Type: d.Type, Pos: d.Name.Pos}
		values, err := c.constants(ctx, tx.Reader(), []parser.Expr{cast})
		if err != nil {
			return nil, err
		}
		value = values[0]
	}
	return tx.AddColumn(ctx, t, col, value)
}

// addColumnConstraints adds the constraints of a new column.
func (c *Conn) addColumnConstraints(ctx context.Context, tx *storage.Tx, t *catalog.Table, d *parser.ColumnDef) (_ *catalog.Table, err error) {
	self := []parser.Ident{d.Name}
	if d.PrimaryKey || d.Unique {
		kind := parser.UniqueKey
		if d.PrimaryKey {
			kind = parser.PrimaryKey
		}
		if t, err = c.addTableConstraint(ctx, tx, t, &parser.TableConstraint{Name: d.ConstraintName, Kind: kind, Columns: self, Pos: d.Name.Pos}); err != nil {
			return nil, err
		}
	}
	for i := range d.Check {
		name := checkName(t, d.Check[i].Name, d.Name.Name)
		if t, err = c.addCheck(ctx, tx, t, name, &d.Check[i]); err != nil {
			return nil, err
		}
	}
	if d.References != nil {
		k := &parser.TableConstraint{Kind: parser.ForeignKeyConstraint, Columns: self, Foreign: d.References, Pos: d.Name.Pos}
		return c.addTableConstraint(ctx, tx, t, k)
	}
	return t, nil
}
