package arrow

import (
	"context"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/gpusql/gpusql/sqltype"
)

// factFile is what there is to say about a file, as a table of one part: all of it as
// a text, or what a Parquet file says about itself. It is read when the rows are.
type factFile struct {
	name   string
	schema sqltype.Schema
	rows   func(add func(values ...any)) error
}

// factFormats are the formats of which OpenFile makes a factFile.
var factFormats = map[string]func(name string) *factFile{
	"text":                  func(name string) *factFile { return wholeFile(name, sqltype.Varchar) },
	"blob":                  func(name string) *factFile { return wholeFile(name, sqltype.Blob) },
	"parquet_schema":        parquetSchema,
	"parquet_metadata":      parquetMetadata,
	"parquet_file_metadata": parquetFileMetadata,
}

// factColumns reads names with # behind BIGINT ones, the others being VARCHAR.
func factColumns(names string) sqltype.Schema {
	var s sqltype.Schema
	for _, name := range strings.Fields(names) {
		c := sqltype.Column{Name: strings.TrimSuffix(name, "#"), Type: sqltype.Varchar}
		if c.Name != name {
			c.Type = sqltype.Int64
		}
		s = append(s, c)
	}
	return s
}

func openFacts(f *factFile) (File, error) {
	if _, err := os.Stat(f.name); err != nil {
		return nil, badFile(f.name, err)
	}
	return f, nil
}

func (f *factFile) Schema() sqltype.Schema         { return f.schema }
func (f *factFile) Rows() int64                    { return -1 }
func (f *factFile) Parts() int                     { return 1 }
func (f *factFile) Bounds(int, int) (Bounds, bool) { return Bounds{}, false }
func (f *factFile) Stats(i int) ColumnStats        { return unknownStats(f.schema[i].Type) }
func (f *factFile) Close() error                   { return nil }

// Read implements File.
func (f *factFile) Read(_ int, cols []int, _ int, im *Importer) (_ BatchReader, err error) {
	defer caught(f.name, &err)
	fields := make([]arrow.Field, len(cols))
	for i, c := range cols {
		fields[i] = arrow.Field{Name: f.schema[c].Name, Type: ArrowType(f.schema[c].Type), Nullable: true}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	n := int64(0)
	err = f.rows(func(values ...any) {
		n++
		for i, c := range cols {
			AppendDatum(b.Field(i), factValue(values[c], f.schema[c].Type))
		}
	})
	if err != nil {
		return nil, badFile(f.name, err)
	}
	var arrays []arrow.Array
	for i := range cols {
		arrays = append(arrays, b.Field(i).NewArray())
	}
	rec := array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, n)
	for _, a := range arrays {
		a.Release()
	}
	return &recordBatches{recordReader: &oneRecord{rec}, name: f.name, im: im}, nil
}

// factValue is a string, a number or nil as a value of a column.
func factValue(v any, t sqltype.Type) sqltype.Datum {
	switch v := v.(type) {
	case string:
		return sqltype.Datum{Type: t, S: v}
	case int:
		return sqltype.Datum{Type: t, I: int64(v)}
	case int64:
		return sqltype.Datum{Type: t, I: v}
	case nil:
		return sqltype.NullOf(t)
	}
	panic(fmt.Sprintf("arrow: no value of a %T", v))
}

// oneRecord gives one record.
type oneRecord struct{ rec arrow.RecordBatch }

func (r *oneRecord) Next(context.Context) (arrow.RecordBatch, error) {
	rec := r.rec
	r.rec = nil
	return rec, nil
}

func (r *oneRecord) Close() error { return nil }

// wholeFile is a file as one value.
func wholeFile(name string, t sqltype.Type) *factFile {
	f := &factFile{name: name, schema: sqltype.Schema{{Name: "filename", Type: sqltype.Varchar}, {Name: "content", Type: t},
		{Name: "size", Type: sqltype.Int64}, {Name: "last_modified", Type: sqltype.TimestampTZ}}}
	f.rows = func(add func(values ...any)) error {
		st, err := os.Stat(name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if t.Kind == sqltype.KindVarchar && !utf8.Valid(text) {
			return fmt.Errorf("it is no UTF-8 text; read_blob reads it as bytes")
		}
		add(name, string(text), int64(len(text)), st.ModTime().UnixMicro())
		return nil
	}
	return f
}

// withParquet runs f over a Parquet file.
func withParquet(name string, f func(p *parquetFile) error) error {
	p := &parquetFile{name: name}
	var err error
	if p.f, err = os.Open(name); err != nil {
		return err
	}
	defer p.f.Close()
	if err := p.open(); err != nil {
		return err
	}
	return f(p)
}

// parquetSchema has a row for each element of a file's schema, parents first.
func parquetSchema(name string) *factFile {
	f := &factFile{name: name, schema: factColumns("file_name name type repetition_type num_children# converted_type field_id# logical_type")}
	f.rows = func(add func(values ...any)) error {
		return withParquet(name, func(p *parquetFile) error {
			var visit func(n schema.Node)
			visit = func(n schema.Node) {
				var typ, children, converted, logical, id any
				if g, ok := n.(*schema.GroupNode); ok {
					children = g.NumFields()
				} else {
					typ = n.(*schema.PrimitiveNode).PhysicalType().String()
				}
				if s := n.ConvertedType().String(); s != "NONE" {
					converted = s
				}
				if l := n.LogicalType(); l != nil && !l.IsNone() && l.IsValid() {
					logical = l.String()
				}
				if k := n.FieldID(); k >= 0 {
					id = int(k)
				}
				add(name, n.Name(), typ, strings.ToUpper(n.RepetitionType().String()), children, converted, id, logical)
				if g, ok := n.(*schema.GroupNode); ok {
					for i := range g.NumFields() {
						visit(g.Field(i))
					}
				}
			}
			visit(p.pf.MetaData().Schema.Root())
			return nil
		})
	}
	return f
}

// parquetMetadata has a row for each column of each row group.
func parquetMetadata(name string) *factFile {
	f := &factFile{name: name, schema: factColumns("file_name row_group_id# row_group_num_rows# row_group_num_columns# row_group_bytes# column_id# " +
		"file_offset# num_values# path_in_schema type stats_min stats_max stats_null_count# compression encodings data_page_offset# " +
		"total_compressed_size# total_uncompressed_size#")}
	f.rows = func(add func(values ...any)) error {
		return withParquet(name, func(p *parquetFile) error {
			m := p.pf.MetaData()
			for g := range m.NumRowGroups() {
				group := m.RowGroup(g)
				for c := range group.NumColumns() {
					chunk, err := group.ColumnChunk(c)
					if err != nil {
						return err
					}
					var low, high, nulls any
					for i := range p.fields { // those that are leaves by themselves have bounds
						if p.fields[i].leaf != c || p.fields[i].nested != nil {
							continue
						}
						if b, ok := p.Bounds(g, i); ok {
							if !b.Min.Null && !b.Max.Null {
								low, high = b.Min.String(), b.Max.String()
							}
							if b.Nulls >= 0 {
								nulls = b.Nulls
							}
						}
					}
					var encodings []string
					for _, e := range chunk.Encodings() {
						encodings = append(encodings, e.String())
					}
					add(name, g, group.NumRows(), group.NumColumns(), group.TotalByteSize(), c, chunk.FileOffset(), chunk.NumValues(),
						chunk.PathInSchema().String(), chunk.Type().String(), low, high, nulls, chunk.Compression().String(),
						strings.Join(encodings, ", "), chunk.DataPageOffset(), chunk.TotalCompressedSize(), chunk.TotalUncompressedSize())
				}
			}
			return nil
		})
	}
	return f
}

// parquetFileMetadata has one row.
func parquetFileMetadata(name string) *factFile {
	f := &factFile{name: name, schema: factColumns("file_name created_by num_rows# num_row_groups# format_version")}
	f.rows = func(add func(values ...any)) error {
		return withParquet(name, func(p *parquetFile) error {
			m := p.pf.MetaData()
			add(name, m.GetCreatedBy(), m.GetNumRows(), m.NumRowGroups(), m.Version().String())
			return nil
		})
	}
	return f
}
