package gpusql

import (
	"context"
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage"
)

// comment is COMMENT ON.
func (c *Conn) comment(ctx context.Context, s *parser.Comment) (*Rows, error) {
	text := ""
	if s.Text != nil {
		text = *s.Text
	}
	err := c.define(func(tx *storage.Tx) error { return commentOn(ctx, tx, s, text) })
	if err != nil {
		return nil, err
	}
	return doneRows("COMMENT", 0), nil
}

func commentOn(ctx context.Context, tx *storage.Tx, s *parser.Comment, text string) error {
	r := tx.Reader()
	schema, name := split(s.Name)
	switch s.Kind {
	case "VIEW":
		v, ok := r.View(schema, name)
		if !ok {
			return sqltype.Errorf(sqltype.CodeUndefinedTable, "view \"%s\" does not exist", name).At(int(at(s.Name)))
		}
		made := *v
		made.Comment = text
		return tx.CreateView(ctx, made, storage.Replace)
	case "INDEX":
		for _, t := range r.Contents().Tables {
			i := slices.IndexFunc(t.Indexes, func(x *catalog.Index) bool { return strings.EqualFold(x.Name, name) })
			if i < 0 || schema != "" && !strings.EqualFold(t.Schema, schema) {
				continue
			}
			_, err := tx.Redefine(ctx, t, func(def *catalog.Table) {
				x := *def.Indexes[i]
				x.Comment = text
				def.Indexes = slices.Clone(def.Indexes)
				def.Indexes[i] = &x
			})
			return err
		}
		return sqltype.Errorf(sqltype.CodeUndefinedObject, "index \"%s\" does not exist", name).At(int(at(s.Name)))
	}
	table := s.Name
	if s.Kind == "COLUMN" {
		table.Parts = table.Parts[:len(table.Parts)-1]
	}
	t, err := findTable(r, table)
	if err != nil {
		return err
	}
	column := -1
	if s.Kind == "COLUMN" {
		id := s.Name.Parts[len(s.Name.Parts)-1]
		if column = columnIndex(t, id.Name); column < 0 {
			return errNoColumn(t, id)
		}
	}
	_, err = tx.Redefine(ctx, t, func(def *catalog.Table) {
		if column < 0 {
			def.Comment = text
			return
		}
		def.Columns = slices.Clone(def.Columns)
		def.Columns[column].Comment = text
	})
	return err
}
