package gpusql

import (
	"context"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// alter is ALTER TABLE and ALTER VIEW.
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
		return c.alterTable(ctx, tx, t, &s.Action)
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
	if s.Action.Kind != "RENAME TO" {
		return sqltype.Errorf(sqltype.CodeNotSupported, "a view can only be renamed").At(int(at(s.Name)))
	}
	if err := tx.DropView(ctx, v.Schema, v.Name); err != nil {
		return err
	}
	renamed := *v
	renamed.Name = s.Action.To.Name
	return tx.CreateView(ctx, renamed, storage.Fail)
}

func (c *Conn) alterTable(ctx context.Context, tx *storage.Tx, t *catalog.Table, a *parser.AlterAction) error {
	var err error
	switch a.Kind {
	case "RENAME TO":
		_, err = tx.RenameTable(ctx, t, a.To.Name)
		return err
	case "ADD COLUMN":
		if a.IfExists && columnIndex(t, a.Column.Name.Name) >= 0 {
			return nil
		}
		return c.addColumn(ctx, tx, t, a.Column)
	}
	i := columnIndex(t, a.Name.Name)
	if i < 0 {
		if a.IfExists {
			return nil
		}
		return errNoColumn(t, a.Name)
	}
	switch a.Kind {
	case "RENAME COLUMN":
		if len(t.Checks) > 0 {
			return sqltype.Errorf(sqltype.CodeNotSupported, "columns of a table with CHECK constraints cannot be renamed").At(int(a.Name.Pos))
		}
		_, err = tx.RenameColumn(ctx, t, i, a.To.Name)
	case "DROP COLUMN":
		made, derr := tx.DropColumn(ctx, t, i)
		if err = derr; err == nil {
			err = c.checkTable(tx.Reader(), made)
		}
	case "SET DEFAULT":
		made, derr := tx.SetDefault(ctx, t, i, parser.FormatExpr(a.Using))
		if err = derr; err == nil {
			err = c.checkTable(tx.Reader(), made)
		}
	case "DROP DEFAULT":
		_, err = tx.SetDefault(ctx, t, i, "")
	case "DROP NOT NULL":
		_, err = tx.DropNotNull(ctx, t, i)
	default:
		err = sqltype.Errorf(sqltype.CodeNotSupported, "ALTER TABLE ... %s is not supported", a.Kind).At(int(a.Name.Pos))
	}
	return err
}

// addColumn is ALTER TABLE ... ADD COLUMN: the default is computed once, for
// all rows that are there.
func (c *Conn) addColumn(ctx context.Context, tx *storage.Tx, t *catalog.Table, d *parser.ColumnDef) error {
	if d.PrimaryKey || d.Unique || len(d.Check) > 0 {
		return sqltype.Errorf(sqltype.CodeNotSupported, "a column is added without PRIMARY KEY, UNIQUE and CHECK").At(int(d.Name.Pos))
	}
	col, err := columnOf(d)
	if err != nil {
		return err
	}
	value := sqltype.NullOf(col.Type)
	if d.Default != nil {
		cast := &parser.Cast{X: d.Default, Type: d.Type, Pos: d.Name.Pos}
		values, err := c.constants(ctx, tx.Reader(), []parser.Expr{cast})
		if err != nil {
			return err
		}
		value = values[0]
	}
	_, err = tx.AddColumn(ctx, t, col, value)
	return err
}
