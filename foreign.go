package gpusql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// references reports that a foreign key of child names parent.
func references(child, parent *catalog.Table) bool {
	return child.ID != parent.ID && slices.ContainsFunc(child.Foreign, func(k *catalog.ForeignKey) bool { return k.Parent == parent.ID })
}

// addForeignKeys adds the foreign keys of a CREATE TABLE to the table.
func addForeignKeys(ctx context.Context, tx *storage.Tx, t *catalog.Table, s *parser.CreateTable) (*catalog.Table, error) {
	add := func(name string, columns []parser.Ident, f *parser.ForeignKey) error {
		k, err := foreignKeyOf(tx.Reader(), t, name, columns, f)
		if err == nil {
			t, err = tx.AddForeignKey(ctx, t, k)
		}
		return err
	}
	for i := range s.Columns {
		if d := &s.Columns[i]; d.References != nil {
			name := d.ConstraintName
			if d.PrimaryKey || d.Unique {
				name = "" // it is the key's
			}
			if err := add(name, []parser.Ident{d.Name}, d.References); err != nil {
				return nil, err
			}
		}
	}
	for i := range s.Constraints {
		if k := &s.Constraints[i]; k.Kind == parser.ForeignKeyConstraint {
			if err := add(k.Name, k.Columns, k.Foreign); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// foreignKeyOf is the foreign key that a constraint describes.
func foreignKeyOf(r catalog.Reader, t *catalog.Table, name string, columns []parser.Ident, f *parser.ForeignKey) (catalog.ForeignKey, error) {
	k := catalog.ForeignKey{Name: name}
	parent, err := findTable(r, f.Table)
	if err != nil {
		return k, err
	}
	k.Parent = parent.ID
	if parent.Temp != t.Temp {
		return k, sqltype.Errorf("42P16", "a foreign key joins temporary tables, or permanent ones").At(int(at(f.Table)))
	}
	for _, id := range columns {
		i := columnIndex(t, id.Name)
		if i < 0 {
			return k, errNoColumn(t, id)
		}
		k.Columns = append(k.Columns, t.Columns[i].ID)
	}
	if err := parentKey(&k, parent, f); err != nil {
		return k, err
	}
	if len(k.ParentColumns) != len(k.Columns) {
		return k, sqltype.Errorf("42830", "number of referencing and referenced columns for foreign key disagree").At(int(at(f.Table)))
	}
	for i := range columns {
		mine, theirs := t.Columns[columnIndex(t, columns[i].Name)], parent.Columns[columnOfID(parent, k.ParentColumns[i])]
		if _, ok := sqltype.CommonType(mine.Type, theirs.Type); !ok {
			return k, sqltype.Errorf(sqltype.CodeTypeMismatch, "key columns \"%s\" and \"%s\" are of incompatible types: %s and %s",
				mine.Name, theirs.Name, mine.Type, theirs.Type).At(int(columns[i].Pos))
		}
	}
	k.OnDelete, k.OnUpdate = keyAction(f.OnDelete), keyAction(f.OnUpdate)
	if k.Name == "" {
		k.Name = foreignKeyName(t, columns)
	}
	return k, nil
}

// parentKey finds the columns that a foreign key names: those of the primary
// key unless they are said, and a unique key in any case.
func parentKey(k *catalog.ForeignKey, parent *catalog.Table, f *parser.ForeignKey) error {
	var want []int
	for _, id := range f.Columns {
		i := columnIndex(parent, id.Name)
		if i < 0 {
			return errNoColumn(parent, id)
		}
		want = append(want, i)
	}
	for _, x := range parent.Indexes {
		switch {
		case f.Columns == nil && x.Primary:
			for _, key := range x.Keys {
				k.ParentColumns = append(k.ParentColumns, parent.Columns[key.Column].ID)
			}
			return nil
		case f.Columns == nil, !x.Unique, len(x.Keys) != len(want),
			slices.ContainsFunc(x.Keys, func(key catalog.IndexKey) bool { return !slices.Contains(want, key.Column) }):
			continue
		}
		for _, i := range want {
			k.ParentColumns = append(k.ParentColumns, parent.Columns[i].ID)
		}
		return nil
	}
	if f.Columns == nil {
		return sqltype.Errorf("42704", "there is no primary key for referenced table \"%s\"", parent.Name).At(int(at(f.Table)))
	}
	return sqltype.Errorf("42830", "there is no unique constraint matching given keys for referenced table \"%s\"", parent.Name).At(int(f.Columns[0].Pos))
}

func columnOfID(t *catalog.Table, id int) int {
	return slices.IndexFunc(t.Columns, func(c catalog.Column) bool { return c.ID == id })
}

func keyAction(words string) catalog.KeyAction {
	switch words {
	case "", "NO ACTION":
		return catalog.NoAction
	case "RESTRICT":
		return catalog.Restrict
	case "CASCADE":
		return catalog.Cascade
	case "SET NULL":
		return catalog.SetNull
	case "SET DEFAULT":
		return catalog.SetDefault
	default:
		panic("gpusql: no action " + words)
	}
}

// foreignKeyName is PostgreSQL's name: t_a_b_fkey, with a number when it is taken.
func foreignKeyName(t *catalog.Table, columns []parser.Ident) string {
	base := t.Name
	for _, id := range columns {
		base += "_" + id.Name
	}
	base += "_fkey"
	name := base
	for n := 1; slices.ContainsFunc(t.Foreign, func(k *catalog.ForeignKey) bool { return strings.EqualFold(k.Name, name) }); n++ {
		name = fmt.Sprint(base, n)
	}
	return name
}

// settle ends what a statement changed: keys that went take with them, or
// change, the rows that named them, as other statements of the transaction; then
// all foreign keys are checked.
func (e *execution) settle(ctx context.Context) error {
	if err := e.statement.Flush(ctx); err != nil {
		return err
	}
	changes := e.statement.KeyChanges()
	for i := range changes {
		if err := e.conn.runKeyChange(ctx, e.tx, &changes[i]); err != nil {
			return err
		}
	}
	return e.statement.CheckKeys(ctx)
}

// runKeyChange deletes the rows of a key that went, or gives them another.
func (c *Conn) runKeyChange(ctx context.Context, tx *storage.Tx, k *storage.KeyChange) error {
	if c.keyDepth++; c.keyDepth > maxKeyDepth {
		return sqltype.Errorf(sqltype.CodeTooComplex, "foreign keys change each other's tables more than %d deep", maxKeyDepth)
	}
	defer func() { c.keyDepth-- }()
	_, err := c.within(ctx, tx, "", keyStatement(k))
	return placeless(err)
}

// maxKeyDepth bounds keys that change the keys of others, in a circle perhaps.
const maxKeyDepth = 200

// keyStatement is the statement that a change of keys amounts to.
func keyStatement(k *storage.KeyChange) parser.Statement {
	t := k.Child
	table := tableName(t)
	columns := make([]parser.Ident, len(k.Key.Columns))
	refs := make([]parser.Expr, len(columns))
	for i, id := range k.Key.Columns {
		columns[i] = parser.Ident{Name: t.Columns[columnOfID(t, id)].Name, Quoted: true}
		refs[i] = &parser.ColumnRef{Name: parser.Name{Parts: columns[i : i+1]}}
	}
	keys := make([]parser.Expr, len(k.Old))
	for i, old := range k.Old {
		keys[i] = rowOf(old)
	}
	where := &parser.In{X: rowExpr(refs), List: keys}
	if k.Action == catalog.Cascade && k.New == nil {
		return &parser.Delete{Table: table, Where: where}
	}
	u := &parser.Update{Table: table, Where: where}
	for i := range columns {
		var value parser.Expr
		switch k.Action {
		case catalog.SetNull:
			value = &parser.Literal{Value: sqltype.NullOf(sqltype.Null)}
		case catalog.SetDefault:
			value = &parser.Default{}
		case catalog.Cascade:
			choice := &parser.Case{}
			for n := range k.Old {
				same := &parser.In{X: rowExpr(refs), List: keys[n : n+1]}
				choice.Whens = append(choice.Whens, parser.When{Cond: same, Then: &parser.Literal{Value: k.New[n][i]}})
			}
			value = choice
		default:
			panic(fmt.Sprintf("gpusql: %s changes no rows", k.Action))
		}
		u.Set = append(u.Set, parser.Assignment{Column: columns[i], Value: value})
	}
	return u
}

func rowExpr(list []parser.Expr) parser.Expr {
	if len(list) == 1 {
		return list[0]
	}
	return &parser.Row{Exprs: list}
}

func rowOf(key []sqltype.Datum) parser.Expr {
	list := make([]parser.Expr, len(key))
	for i, d := range key {
		list[i] = &parser.Literal{Value: d}
	}
	return rowExpr(list)
}
