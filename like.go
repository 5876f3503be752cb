package gpusql

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
)

// withLikes is a CREATE TABLE with the columns of the tables that it is LIKE in
// their places, as if they had been written there.
func withLikes(r catalog.Reader, s *parser.CreateTable) (*parser.CreateTable, error) {
	if s.Likes == nil {
		return s, nil
	}
	made := *s
	made.Columns, made.Constraints = slices.Clone(s.Columns), slices.Clone(s.Constraints)
	for _, l := range slices.Backward(s.Likes) { // so that the places before stay
		t, err := findTable(r, l.Table)
		if err != nil {
			return nil, err
		}
		columns := make([]parser.ColumnDef, len(t.Columns))
		for i := range t.Columns {
			if columns[i], err = columnLike(&t.Columns[i], l.Including); err != nil {
				return nil, err
			}
		}
		made.Columns = slices.Insert(made.Columns, l.At, columns...)
		for _, x := range t.Indexes {
			if l.Including["INDEXES"] && x.Unique {
				made.Constraints = append(made.Constraints, constraintLike(t, x))
			}
		}
		for _, k := range t.Checks {
			if !l.Including["CONSTRAINTS"] {
				continue
			}
			e, err := parser.ParseExpr(k.Text)
			if err != nil {
				return nil, err
			}
			check := parser.Check{Name: k.Name, Expr: e, Text: k.Text}
			made.Constraints = append(made.Constraints, parser.TableConstraint{Kind: parser.CheckConstraint, Check: &check})
		}
	}
	return &made, nil
}

// columnLike is a column as it would be written.
func columnLike(c *catalog.Column, including map[string]bool) (d parser.ColumnDef, err error) {
	d = parser.ColumnDef{Name: parser.Ident{Name: c.Name, Quoted: true}, Type: parser.TypeName{Type: c.Type}, NotNull: c.NotNull}
	if c.NoCase {
		d.Collate = "nocase"
	}
	switch {
	case c.Identity && including["IDENTITY"]:
		d.Identity = &parser.Identity{Kind: "BY DEFAULT"}
		if c.Always {
			d.Identity.Kind = "ALWAYS"
		}
	case c.Generated != "" && including["GENERATED"]:
		d.Generated, err = parser.ParseExpr(c.Generated)
	case c.Default != "" && !c.Identity && including["DEFAULTS"]:
		d.Default, err = parser.ParseExpr(c.Default)
	}
	return d, err
}

// constraintLike is a unique index as the constraint that it is for.
func constraintLike(t *catalog.Table, x *catalog.Index) parser.TableConstraint {
	k := parser.TableConstraint{Kind: parser.UniqueKey}
	if x.Primary {
		k.Kind = parser.PrimaryKey
	}
	for _, key := range x.Keys {
		k.Columns = append(k.Columns, parser.Ident{Name: t.Columns[key.Column].Name, Quoted: true})
	}
	return k
}
