package gpusql

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	goarrow "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// copyParts is COPY ... TO a folder with PARTITION_BY: a file for the rows that are
// equal in some columns, under folders of these,
//
//	sales/year=2024/region=north/data_0.parquet
//
// as files are read with columns of their paths (planner/bind_files.go). The rows come
// sorted by the columns, so that one file is open at a time.
func (c *Conn) copyParts(ctx context.Context, s *parser.Copy, q *parser.Query, by sqltype.Datum, options map[string]sqltype.Datum, text string) (*Rows, error) {
	p := &partWriter{folder: c.db.resolve(s.File)}
	if by.Type.Kind == sqltype.KindVarchar {
		p.by = []string{by.S}
	} else {
		var err error
		if p.by, err = words("partition_by", by); err != nil {
			return nil, err
		}
	}
	overwrite, err := p.options(options)
	if err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(p.folder); err == nil && len(entries) > 0 && !overwrite {
		e := sqltype.Errorf(sqltype.CodeInvalidParameter, "%s: the folder is not empty", s.File)
		e.Hint = "OVERWRITE_OR_IGNORE replaces the files that have the names of new ones"
		return nil, e
	}
	rows, err := c.runPlanned(ctx, &prepared{parsed: parser.Parsed{Statement: sortedBy(q, p.by)}, text: text}, nil, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if err := p.begin(rows.columns); err != nil {
		return nil, err
	}
	reader := rows.Records()
	var n int64
	for err == nil && reader.Next() {
		n += reader.RecordBatch().NumRows()
		err = p.write(ctx, reader.RecordBatch())
	}
	if err == nil {
		err = reader.Err()
	}
	if err = p.end(err); err != nil {
		return nil, err
	}
	return doneRows(fmt.Sprintf("COPY %d", n), n), nil
}

// sortedBy is SELECT * FROM (q) ORDER BY columns.
func sortedBy(q *parser.Query, columns []string) *parser.Query {
	out := &parser.Query{Pos: q.Pos, Body: &parser.Select{Pos: q.Pos, Items: []parser.SelectItem{{Expr: &parser.Star{Pos: q.Pos}}},
		From: []parser.TableExpr{&parser.DerivedTable{Query: q, Pos: q.Pos}}}}
	for _, name := range columns {
		ref := &parser.ColumnRef{Name: parser.Name{Parts: []parser.Ident{{Name: name, Pos: q.Pos}}}}
		out.OrderBy = append(out.OrderBy, parser.OrderItem{Expr: ref})
	}
	return out
}

// partWriter writes the files of a COPY with PARTITION_BY.
type partWriter struct {
	folder string
	by     []string
	all    bool // the columns of the folders are in the files too
	o      arrow.FileOptions
	keys   []int // places of by
	kept   []int // of the columns in the files
	schema sqltype.Schema
	path   string // of the rows that were written last
	w      arrow.RecordWriter
}

// options takes out what is said of folders; the rest is of each file.
func (p *partWriter) options(options map[string]sqltype.Datum) (overwrite bool, err error) {
	delete(options, "partition_by")
	for name, to := range map[string]*bool{"overwrite_or_ignore": &overwrite, "write_partition_columns": &p.all} {
		if v, ok := options[name]; ok {
			if *to, err = yes(name, v); err != nil {
				return false, err
			}
			delete(options, name)
		}
	}
	if p.o, err = fileOptions("", options); p.o.Format == "" {
		p.o.Format = "csv"
	}
	return overwrite, err
}

func (p *partWriter) begin(columns sqltype.Schema) error {
	for _, name := range p.by {
		i := slices.IndexFunc(columns, func(c sqltype.Column) bool { return strings.EqualFold(c.Name, name) })
		if i < 0 {
			return sqltype.Errorf(sqltype.CodeUndefinedColumn, "column %q of PARTITION_BY does not exist", name)
		}
		p.keys = append(p.keys, i)
	}
	for i, c := range columns {
		if p.all || !slices.Contains(p.keys, i) {
			p.kept, p.schema = append(p.kept, i), append(p.schema, c)
		}
	}
	if len(p.kept) == 0 {
		return sqltype.Errorf(sqltype.CodeInvalidParameter, "PARTITION_BY leaves no column for the files")
	}
	for i, k := range p.keys {
		p.by[i] = columns[k].Name
	}
	return nil
}

// write puts rows into the files that they are for.
func (p *partWriter) write(ctx context.Context, rec goarrow.RecordBatch) error {
	for lo := int64(0); lo < rec.NumRows(); {
		path := p.pathOf(rec, int(lo))
		hi := lo + 1
		for hi < rec.NumRows() && p.pathOf(rec, int(hi)) == path {
			hi++
		}
		if p.w == nil || path != p.path {
			if err := p.open(path); err != nil {
				return err
			}
		}
		if err := p.piece(ctx, rec, lo, hi); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

func (p *partWriter) piece(ctx context.Context, rec goarrow.RecordBatch, lo, hi int64) error {
	columns, fields := make([]goarrow.Array, len(p.kept)), make([]goarrow.Field, len(p.kept))
	for i, k := range p.kept {
		columns[i], fields[i] = rec.Column(k), rec.Schema().Field(k)
	}
	all := array.NewRecordBatch(goarrow.NewSchema(fields, nil), columns, rec.NumRows())
	defer all.Release()
	part := all.NewSlice(lo, hi)
	defer part.Release()
	return writePieces(ctx, p.w, part)
}

// pathOf is the folders of a row.
func (p *partWriter) pathOf(rec goarrow.RecordBatch, row int) string {
	parts := make([]string, len(p.keys))
	for i, k := range p.keys {
		value := "__HIVE_DEFAULT_PARTITION__"
		if d := arrow.DatumAt(rec.Column(k), row); !d.Null {
			value = url.PathEscape(d.String())
		}
		parts[i] = url.PathEscape(p.by[i]) + "=" + value
	}
	return strings.Join(parts, "/")
}

// open ends the file that is written and begins the next.
func (p *partWriter) open(path string) error {
	if err := p.end(nil); err != nil {
		return err
	}
	folder := filepath.Join(p.folder, filepath.FromSlash(path))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return sqltype.Errorf(sqltype.CodeIO, "%s: %v", folder, err)
	}
	w, err := arrow.CreateFile(filepath.Join(folder, "data_0."+p.o.Format), p.schema, p.o)
	p.path, p.w = path, w
	return err
}

// end ends the file that is written; after an error it does not appear.
func (p *partWriter) end(err error) error {
	w := p.w
	p.w = nil
	switch {
	case w == nil:
		return err
	case err != nil:
		w.Abort()
		return err
	}
	return w.Close()
}
