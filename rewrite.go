package gpusql

import (
	"context"
	"fmt"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// columnChange is what becomes of a column when its table is written anew.
type columnChange struct {
	column  int             // of the table
	typ     sqltype.Type    // another type, unless it is Null
	using   parser.Expr     // what its values are computed by
	text    bool            // its values are converted by way of their text
	null    bool            // it may be NULL from now on
	notNull bool            // it may not
	added   *catalog.Column // the column is new
}

// rewrite writes a table anew with some columns changed.
func (c *Conn) rewrite(ctx context.Context, tx *storage.Tx, t *catalog.Table, changes []columnChange) error {
	_, err := c.rewritten(ctx, tx, t, changes)
	return err
}

// rewritten writes a table anew and gives it as it is then: a table beside it is
// filled by a query, and takes its place.
func (c *Conn) rewritten(ctx context.Context, tx *storage.Tx, t *catalog.Table, changes []columnChange) (*catalog.Table, error) {
	def := *t
	def.Columns = append([]catalog.Column(nil), t.Columns...)
	kept := make([]int, len(t.Columns))
	items := make([]parser.SelectItem, len(t.Columns))
	for i := range t.Columns {
		kept[i] = t.Columns[i].ID
		items[i].Expr = columnRef(t.Columns[i].Name)
	}
	for i := range changes {
		k := &changes[i]
		if k.added != nil {
			def.Columns, kept = append(def.Columns, *k.added), append(kept, -1)
			items = append(items, parser.SelectItem{Expr: addedValue(k.added)})
			continue
		}
		col := &def.Columns[k.column]
		switch {
		case k.null:
			col.NotNull = false
		case k.notNull:
			col.NotNull = true
		case k.typ.Kind != sqltype.KindNull:
			if err := changedType(col, k, &items[k.column]); err != nil {
				return nil, err
			}
		}
	}
	// A table of plain columns takes the rows; what is to hold of them is checked
	// by what the definition says when it has them.
	plain := catalog.Table{Schema: t.Schema, Name: fmt.Sprintf("pg_rewrite_%d", t.ID), Temp: t.Temp}
	for i := range def.Columns {
		plain.Columns = append(plain.Columns, catalog.Column{Name: def.Columns[i].Name, Type: def.Columns[i].Type, NotNull: def.Columns[i].NotNull})
	}
	made, err := tx.CreateTable(ctx, plain)
	if err != nil {
		return nil, err
	}
	sel := &parser.Select{Items: items, From: []parser.TableExpr{&parser.TableRef{Name: tableName(t)}}}
	if _, err := c.within(ctx, tx, "", &parser.Insert{Table: tableName(made), Source: &parser.Query{Body: sel}}); err != nil {
		return nil, placeless(err)
	}
	out, err := tx.Adopt(ctx, t, def, kept, made)
	if err != nil {
		return nil, err
	}
	return out, c.checkTable(tx.Reader(), out)
}

// placeless is an error in a text that is not the statement's.
func placeless(err error) error {
	if e, ok := err.(*sqltype.Error); ok {
		c := *e
		c.Pos = 0
		return &c
	}
	return err
}

// addedValue is the value of a new column in the rows that are there.
func addedValue(col *catalog.Column) parser.Expr {
	text := col.Generated
	if text == "" {
		text = col.Default
	}
	e, err := parser.ParseExpr(text)
	if err != nil {
		panic(fmt.Sprintf("gpusql: the text of a default: %v", err))
	}
	return e
}

// changedType gives a column another type: its values are cast, and its default.
func changedType(col *catalog.Column, k *columnChange, item *parser.SelectItem) error {
	if col.Generated != "" && k.using != nil {
		return sqltype.Errorf("42611", "cannot specify USING when altering type of generated column \"%s\"", col.Name)
	}
	to := parser.TypeName{Type: k.typ}
	if k.using != nil {
		item.Expr = k.using
	}
	if k.text {
		item.Expr = &parser.Cast{X: item.Expr, Type: parser.TypeName{Type: sqltype.Varchar}}
	}
	item.Expr = &parser.Cast{X: item.Expr, Type: to}
	col.Type = k.typ
	return nil
}

// generatedTypes checks the generated columns of a new table, and gives those
// without a type that of their expression.
func (c *Conn) generatedTypes(r catalog.Reader, t *catalog.Table, defs []parser.ColumnDef) error {
	for i := range t.Columns {
		if t.Columns[i].Generated == "" {
			if i < len(defs) && t.Columns[i].Type.Kind == sqltype.KindNull && defs[i].Type.User == nil {
				return sqltype.Errorf(sqltype.CodeSyntax, "column \"%s\" has no type", t.Columns[i].Name).At(int(defs[i].Name.Pos))
			}
			continue
		}
		typ, err := planner.GeneratedType(r, t, i)
		if err != nil {
			return positioned(placeless(err), defs[i].Name.Pos)
		}
		if t.Columns[i].Type.Kind == sqltype.KindNull {
			t.Columns[i].Type = typ
		}
	}
	return nil
}
