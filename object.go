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

// createType is CREATE TYPE.
func (c *Conn) createType(ctx context.Context, s *parser.CreateType) (*Rows, error) {
	err := c.define(func(tx *storage.Tx) error {
		schema, name := split(s.Name)
		if old, ok := tx.Reader().Type(schema, name); ok && s.IfNotExists {
			return nil
		} else if ok && s.OrReplace {
			if err := tx.DropType(ctx, old, storage.KeepThem); err != nil {
				return err
			}
		}
		if _, ok := sqltype.TypeByName(name, nil); ok && schema == "" {
			return sqltype.Errorf(sqltype.CodeDuplicateObject, "type \"%s\" already exists", name).At(int(at(s.Name)))
		}
		made := catalog.UserType{Schema: schema, Name: name}
		if s.Type != nil {
			var err error
			if made.Type, err = planner.TypeOf(tx.Reader(), s.Type); err != nil {
				return err
			}
			return positioned(tx.CreateType(ctx, made), at(s.Name))
		}
		labels := s.Labels
		if s.Query != nil {
			var err error
			if labels, err = c.labelsOf(ctx, tx, s.Query); err != nil {
				return err
			}
		}
		enum, err := sqltype.NewEnum(name, labels)
		if err != nil {
			return positioned(err, at(s.Name))
		}
		made.Type = sqltype.Type{Kind: sqltype.KindEnum, Enum: enum}
		return positioned(tx.CreateType(ctx, made), at(s.Name))
	})
	if err != nil {
		return nil, err
	}
	return doneRows("CREATE TYPE", 0), nil
}

// labelsOf are the values of a query's one column, each once, in its order.
func (c *Conn) labelsOf(ctx context.Context, tx *storage.Tx, q *parser.Query) ([]string, error) {
	rows, err := c.within(ctx, tx, "", q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if len(rows.columns) != 1 {
		return nil, sqltype.Errorf(sqltype.CodeSyntax, "the query of an ENUM has one column").At(int(q.Pos))
	}
	var labels []string
	seen := map[string]bool{}
	for rows.Next() {
		v := rows.Value(0)
		if v.Null {
			return nil, sqltype.Errorf(sqltype.CodeNotNull, "a label of an ENUM cannot be NULL").At(int(q.Pos))
		}
		if label := v.String(); !seen[label] {
			seen[label] = true
			labels = append(labels, label)
		}
	}
	return labels, rows.Err()
}

// alterType is ALTER TYPE.
func (c *Conn) alterType(ctx context.Context, s *parser.AlterType) (*Rows, error) {
	err := c.define(func(tx *storage.Tx) error {
		schema, name := split(s.Name)
		old, ok := tx.Reader().Type(schema, name)
		if !ok {
			return sqltype.Errorf(sqltype.CodeUndefinedObject, "type \"%s\" does not exist", name).At(int(at(s.Name)))
		}
		if old.Type.Kind != sqltype.KindEnum {
			if s.Kind != "RENAME TO" {
				return sqltype.Errorf(sqltype.CodeWrongObject, "\"%s\" is not an enum", name).At(int(at(s.Name)))
			}
			made := *old
			made.Name = s.To.Name
			return tx.AlterType(ctx, old, made)
		}
		labels, err := alteredLabels(old.Type.Enum, s)
		if labels == nil || err != nil {
			return positioned(err, at(s.Name))
		}
		made := *old
		if s.Kind == "RENAME TO" {
			made.Name = s.To.Name
		}
		enum, err := sqltype.NewEnum(made.Name, labels)
		if err != nil {
			return positioned(err, at(s.Name))
		}
		made.Type.Enum = enum
		if !isPrefix(old.Type.Enum, enum) {
			return c.recode(ctx, tx, old, made)
		}
		return tx.AlterType(ctx, old, made)
	})
	if err != nil {
		return nil, err
	}
	return doneRows("ALTER TYPE", 0), nil
}

// alteredLabels are the labels that a type is to have; nil for no change.
func alteredLabels(e *sqltype.Enum, s *parser.AlterType) ([]string, error) {
	labels := slices.Clone(e.Labels())
	switch s.Kind {
	case "RENAME TO":
	case "RENAME VALUE":
		i, ok := e.Find(s.Value)
		if !ok {
			return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "%q is not an existing enum label", s.Value)
		}
		labels[i] = s.Other
	case "ADD VALUE":
		if _, ok := e.Find(s.Value); ok && s.IfNotExists {
			return nil, nil
		} else if ok {
			return nil, sqltype.Errorf(sqltype.CodeDuplicateObject, "enum label %q already exists", s.Value)
		}
		at := len(labels)
		if s.Other != "" {
			i, ok := e.Find(s.Other)
			if !ok {
				return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "%q is not an existing enum label", s.Other)
			}
			if at = i; !s.Before {
				at++
			}
		}
		labels = slices.Insert(labels, at, s.Value)
	default:
		panic("gpusql: ALTER TYPE " + s.Kind)
	}
	return labels, nil
}

// isPrefix reports that values of the old type mean the same in the new one, by
// place: a label that was renamed is the same.
func isPrefix(old, made *sqltype.Enum) bool {
	for i, l := range old.Labels() {
		if at, ok := made.Find(l); ok && at != i {
			return false
		}
	}
	return true
}

// recode gives the columns of a type another one whose labels stand elsewhere:
// their tables are written anew.
func (c *Conn) recode(ctx context.Context, tx *storage.Tx, old *catalog.UserType, made catalog.UserType) error {
	for _, t := range tx.Reader().Contents().Tables {
		var changes []columnChange
		for i := range t.Columns {
			if t.Columns[i].Type == old.Type {
				changes = append(changes, columnChange{column: i, typ: made.Type, text: true})
			}
		}
		if len(changes) > 0 {
			if err := c.rewrite(ctx, tx, t, changes); err != nil {
				return err
			}
		}
	}
	return tx.AlterType(ctx, old, made)
}

// createFunction is CREATE FUNCTION and CREATE MACRO. The body is bound once, to
// know that it can be.
func (c *Conn) createFunction(ctx context.Context, s *parser.CreateFunction) (*Rows, error) {
	tag := "CREATE FUNCTION"
	if s.Macro {
		tag = "CREATE MACRO"
	}
	err := c.define(func(tx *storage.Tx) error {
		f, err := functionOf(tx.Reader(), s)
		if err != nil {
			return err
		}
		if s.IfNotExists && len(tx.Reader().Functions(f.Schema, f.Name)) > 0 {
			return nil
		}
		how := storage.Fail
		if s.OrReplace {
			how = storage.Replace
		}
		if err := tx.CreateFunction(ctx, f, how); err != nil {
			return positioned(err, at(s.Name))
		}
		return positioned(planner.CheckFunction(tx.Reader(), &f), at(s.Name))
	})
	if err != nil {
		return nil, err
	}
	return doneRows(tag, 0), nil
}

// functionOf is the function that a CREATE FUNCTION describes.
func functionOf(r catalog.Reader, s *parser.CreateFunction) (catalog.Function, error) {
	schema, name := split(s.Name)
	f := catalog.Function{Schema: schema, Name: name, Macro: s.Macro, Strict: s.Strict, Temp: s.Temp,
		Rows: s.SetOf || s.Table != nil || s.Query != nil}
	for i := range s.Params {
		p := catalog.Param{Name: s.Params[i].Name.Name}
		if d := s.Params[i].Default; d != nil {
			p.Default = parser.FormatExpr(d)
		} else if i > 0 && f.Params[i-1].Default != "" {
			return f, sqltype.Errorf("42P13", "parameters after one with a default value must have default values too").At(int(at(s.Name)))
		}
		if p.Name != "" && slices.ContainsFunc(f.Params, func(o catalog.Param) bool { return strings.EqualFold(o.Name, p.Name) }) {
			return f, sqltype.Errorf("42P13", "parameter name \"%s\" used more than once", p.Name).At(int(s.Params[i].Name.Pos))
		}
		if t := s.Params[i].Type; t != nil {
			var err error
			if p.Type, err = planner.TypeOf(r, t); err != nil {
				return f, err
			}
		}
		f.Params = append(f.Params, p)
	}
	switch {
	case s.Returns != nil:
		var err error
		if f.Result, err = planner.TypeOf(r, s.Returns); err != nil {
			return f, err
		}
	case s.Table != nil:
		for i := range s.Table {
			t, err := planner.TypeOf(r, &s.Table[i].Type)
			if err != nil {
				return f, err
			}
			f.Columns = append(f.Columns, catalog.Column{Name: s.Table[i].Name.Name, Type: t})
		}
	case !s.Macro:
		return f, sqltype.Errorf("42P13", "function result type must be specified").At(int(at(s.Name)))
	}
	switch {
	case s.Text != nil:
		f.Body = *s.Text
	case s.Query != nil:
		f.Body = parser.Format(s.Query)
	default:
		f.Body = "SELECT " + parser.FormatExpr(s.Return)
	}
	return f, nil
}

// dropFunction is DROP FUNCTION and DROP MACRO.
func (c *Conn) dropFunction(ctx context.Context, s *parser.DropFunction) (*Rows, error) {
	tag := "FUNCTION"
	if s.Macro {
		tag = "MACRO"
	}
	err := c.define(func(tx *storage.Tx) error {
		for i := range s.Names {
			f, err := findFunction(tx.Reader(), &s.Names[i], strings.ToLower(tag))
			if e, ok := err.(*sqltype.Error); ok && e.Code == sqltype.CodeUndefinedFunc && s.IfExists {
				continue
			}
			if err != nil {
				return err
			}
			if err := tx.DropFunction(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return doneRows("DROP "+tag, 0), nil
}

// findFunction is the one function that a name means.
func findFunction(r catalog.Reader, n *parser.FuncName, what string) (*catalog.Function, error) {
	schema, name := split(n.Name)
	list := slices.Clone(r.Functions(schema, name))
	if n.Typed {
		types := make([]sqltype.Type, len(n.Types))
		for i := range n.Types {
			var err error
			if types[i], err = planner.TypeOf(r, &n.Types[i]); err != nil {
				return nil, err
			}
		}
		list = slices.DeleteFunc(list, func(f *catalog.Function) bool {
			return !slices.EqualFunc(f.Params, types, func(p catalog.Param, t sqltype.Type) bool { return p.Type == t })
		})
	}
	switch len(list) {
	case 0:
		return nil, sqltype.Errorf(sqltype.CodeUndefinedFunc, "%s %s does not exist", what, name).At(int(at(n.Name)))
	case 1:
		return list[0], nil
	}
	e := sqltype.Errorf("42725", "%s name \"%s\" is not unique", what, name)
	e.Hint = fmt.Sprintf("say the types of the parameters: DROP %s %s(...)", strings.ToUpper(what), name)
	return nil, e.At(int(at(n.Name)))
}
