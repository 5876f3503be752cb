package gpusql

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	goarrow "github.com/apache/arrow-go/v18/arrow"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// copy is COPY: a file into a table, or a table or query into a file.
func (c *Conn) copy(ctx context.Context, s *parser.Copy, text string) (*Rows, error) {
	options, err := c.copyOptions(ctx, s)
	if err != nil {
		return nil, err
	}
	if s.To {
		return c.copyTo(ctx, s, options, text)
	}
	return c.copyFrom(ctx, s, options, text)
}

// copyOptions computes the options of a COPY: constants, and bare words for
// themselves. HEADER alone is HEADER true.
func (c *Conn) copyOptions(ctx context.Context, s *parser.Copy) (map[string]sqltype.Datum, error) {
	options := map[string]sqltype.Datum{}
	for _, o := range s.Options {
		switch v := o.Value.(type) {
		case nil:
			options[o.Name.Name] = sqltype.NewBool(true)
		case *parser.ColumnRef:
			_, word := split(v.Name)
			options[o.Name.Name] = sqltype.NewString(word)
		case *parser.Literal:
			options[o.Name.Name] = v.Value
		default:
			values, err := c.constants(ctx, c.reader(), []parser.Expr{o.Value})
			if err != nil {
				return nil, err
			}
			options[o.Name.Name] = values[0]
		}
	}
	return options, nil
}

// copyFrom is INSERT INTO table SELECT * FROM the file, which is read as the
// table's columns.
func (c *Conn) copyFrom(ctx context.Context, s *parser.Copy, options map[string]sqltype.Datum, text string) (*Rows, error) {
	t, err := findTable(c.reader(), *s.Table)
	if err != nil {
		return nil, err
	}
	schema, err := copySchema(t, s.Columns)
	if err != nil {
		return nil, err
	}
	o, err := fileOptions("", options)
	if err != nil {
		return nil, err
	}
	if o.Format == "" {
		o.Format = arrow.FormatOf(s.File)
	}
	if _, said := options["header"]; !said && o.Format == "csv" {
		named, err := namesColumns(c.db.resolve(s.File), o, schema)
		if err != nil {
			return nil, err
		}
		options["header"] = sqltype.NewBool(named)
	}
	p := &prepared{
		parsed: parser.Parsed{Statement: insertFrom(*s.Table, s.Columns, s.File, o.Format, options)},
		text:   text, files: files{resolve: c.db.resolve, schema: schema},
	}
	rows, err := c.runPlanned(ctx, p, nil, nil)
	if err != nil {
		return nil, err
	}
	return doneRows(fmt.Sprintf("COPY %d", rows.affected), rows.affected), nil
}

// namesColumns reports whether a CSV file begins with the names of the columns
// it is read into: then they are its header, as COPY TO writes it.
func namesColumns(path string, o arrow.FileOptions, schema sqltype.Schema) (bool, error) {
	o.CSV.Header = arrow.HeaderYes
	f, err := arrow.OpenFile(path, o)
	if err != nil {
		if e, ok := err.(*sqltype.Error); ok && e.Code == sqltype.CodeBadFile && isEmptyFile(path) {
			return false, nil
		}
		return false, err
	}
	defer f.Close()
	return slices.EqualFunc(f.Schema(), schema, func(a, b sqltype.Column) bool { return strings.EqualFold(a.Name, b.Name) }), nil
}

// isEmptyFile reports a file without a byte: no rows, for a COPY.
func isEmptyFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() == 0
}

// insertFrom is INSERT INTO table (columns) SELECT * FROM read_format(file, options).
func insertFrom(table parser.Name, columns []parser.Ident, file, format string, options map[string]sqltype.Datum) *parser.Insert {
	from := &parser.FuncTable{Call: &parser.Call{
		Name: parser.Name{Parts: []parser.Ident{{Name: "read_" + cmp.Or(format, "csv")}}},
		Args: []parser.Expr{&parser.Literal{Value: sqltype.NewString(file), Untyped: true}},
	}}
	for name, v := range options {
		from.Call.Named = append(from.Call.Named, parser.NamedArg{Name: parser.Ident{Name: name}, Value: &parser.Literal{Value: v}})
	}
	return &parser.Insert{Table: table, Columns: columns, Source: &parser.Query{Body: &parser.Select{
		Items: []parser.SelectItem{{Expr: &parser.Star{}}}, From: []parser.TableExpr{from},
	}}}
}

// copySchema is the columns of a table that a COPY names: all when it names none.
func copySchema(t *catalog.Table, names []parser.Ident) (sqltype.Schema, error) {
	var schema sqltype.Schema
	for i := range t.Columns {
		if len(names) == 0 {
			schema = append(schema, sqltype.Column{Name: t.Columns[i].Name, Type: t.Columns[i].Type})
		}
	}
	for _, id := range names {
		i := columnIndex(t, id.Name)
		if i < 0 {
			return nil, errNoColumn(t, id)
		}
		schema = append(schema, sqltype.Column{Name: t.Columns[i].Name, Type: t.Columns[i].Type})
	}
	return schema, nil
}

// pieceRows is how many rows are written without a look at the context.
const pieceRows = 8192

func writePieces(ctx context.Context, w arrow.RecordWriter, rec goarrow.RecordBatch) error {
	for lo := int64(0); lo < rec.NumRows(); lo += pieceRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece := rec.NewSlice(lo, min(lo+pieceRows, rec.NumRows()))
		err := w.Write(piece)
		piece.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// copyTo writes a query's rows to a file, which appears when it is whole.
func (c *Conn) copyTo(ctx context.Context, s *parser.Copy, options map[string]sqltype.Datum, text string) (*Rows, error) {
	q := s.Query
	if q == nil {
		q = tableQuery(s)
	}
	if by, ok := options["partition_by"]; ok {
		return c.copyParts(ctx, s, q, by, options, text)
	}
	o, err := fileOptions("", options)
	if err != nil {
		return nil, err
	}
	rows, err := c.runPlanned(ctx, &prepared{parsed: parser.Parsed{Statement: q}, text: text}, nil, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	w, err := arrow.CreateFile(s.File, rows.columns, o)
	if err != nil {
		return nil, err
	}
	reader := rows.Records()
	var n int64
	for err == nil && reader.Next() {
		n += reader.RecordBatch().NumRows()
		err = writePieces(ctx, w, reader.RecordBatch())
	}
	if err == nil {
		err = reader.Err()
	}
	if err != nil {
		w.Abort()
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return doneRows(fmt.Sprintf("COPY %d", n), n), nil
}

// tableQuery is the query for COPY table [(columns)] TO.
func tableQuery(s *parser.Copy) *parser.Query {
	var items []parser.SelectItem
	for _, id := range s.Columns {
		items = append(items, parser.SelectItem{Expr: &parser.ColumnRef{Name: parser.Name{Parts: []parser.Ident{id}}}})
	}
	if len(items) == 0 {
		items = []parser.SelectItem{{Expr: &parser.Star{Pos: s.Pos}}}
	}
	return &parser.Query{Pos: s.Pos, Body: &parser.Select{Items: items, Pos: s.Pos,
		From: []parser.TableExpr{&parser.TableRef{Name: *s.Table, Pos: at(*s.Table)}}}}
}
