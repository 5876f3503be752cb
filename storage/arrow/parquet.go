package arrow

import (
	"context"
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/gpusql/gpusql/sqltype"
)

// parquetFile is a Parquet file; its parts are the row groups.
type parquetFile struct {
	name   string
	f      *os.File
	size   int64
	pf     *file.Reader
	fields []parquetField
	schema sqltype.Schema
}

// parquetField is a column: its leaf in the file, -1 when it has parts.
type parquetField struct {
	leaf   int
	typ    arrow.DataType
	nested *pqarrow.SchemaField // of a column with parts
	err    error                // why it cannot be read
}

func openParquet(name string) (File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, badFile(name, err)
	}
	p := &parquetFile{name: name, f: f}
	if err := p.open(); err != nil {
		f.Close()
		return nil, badFile(name, err)
	}
	return p, nil
}

func (p *parquetFile) open() error {
	st, err := p.f.Stat()
	if err != nil {
		return err
	}
	p.size = st.Size()
	if p.pf, err = file.NewParquetReader(p.f); err != nil {
		return err
	}
	// The file's own types say all; the Arrow schema that some writers add is not
	// read, as the library trusts the lengths in it.
	manifest, err := pqarrow.NewSchemaManifest(p.pf.MetaData().Schema, nil, &pqarrow.ArrowReadProperties{})
	if err != nil {
		return err
	}
	for i := range manifest.Fields {
		field := &manifest.Fields[i]
		t, ok := TypeOf(field.Field.Type)
		pf := parquetField{leaf: field.ColIndex, typ: field.Field.Type}
		switch {
		case !ok:
			pf = parquetField{leaf: -1, err: unsupported(p.name, field.Field.Name, field.Field.Type)}
		case !field.IsLeaf():
			pf.nested = field
		}
		p.fields = append(p.fields, pf)
		p.schema = append(p.schema, sqltype.Column{Name: field.Field.Name, Type: t, NotNull: !field.Field.Nullable})
	}
	return nil
}

func (p *parquetFile) Schema() sqltype.Schema { return p.schema }
func (p *parquetFile) Rows() int64            { return p.pf.NumRows() }
func (p *parquetFile) Parts() int             { return p.pf.NumRowGroups() }
func (p *parquetFile) Close() error           { return p.f.Close() }

// Read implements File.
func (p *parquetFile) Read(part int, cols []int, rows int, im *Importer) (r BatchReader, err error) {
	name := p.partName(part)
	defer caught(name, &err)
	pr := &parquetReader{name: name, im: im, left: p.pf.MetaData().RowGroup(part).NumRows(), rows: int64(rows)}
	for _, c := range cols {
		l, err := p.leaf(part, c, rows, im)
		if err != nil {
			pr.Close()
			return nil, badFile(name, fmt.Errorf("column %q: %w", p.schema[c].Name, err))
		}
		pr.leaves = append(pr.leaves, l)
		pr.names = append(pr.names, fmt.Sprintf("%s: column %q", name, p.schema[c].Name))
	}
	return pr, nil
}

// leaf opens column c of a part, for batches of at most rows rows.
func (p *parquetFile) leaf(part, c, rows int, im *Importer) (leaf, error) {
	f := p.fields[c]
	switch {
	case f.err != nil:
		return nil, f.err
	case f.nested != nil:
		return p.openNested(part, c, im)
	}
	l, _, err := p.openLeaf(part, f.leaf, f.typ, p.schema[c].Type, rows, im)
	return l, err
}

// openLeaf opens a leaf of a part, which is a column by itself or below one.
func (p *parquetFile) openLeaf(part, at int, typ arrow.DataType, t sqltype.Type, rows int, im *Importer) (leaf, *pages, error) {
	chunk, err := p.pf.MetaData().RowGroup(part).ColumnChunk(at)
	if err != nil {
		return nil, nil, err
	}
	if chunk.CryptoMetadata() != nil {
		return nil, nil, sqltype.Errorf(sqltype.CodeNotSupported, "it is encrypted")
	}
	d := p.pf.MetaData().Schema.Column(at)
	l, pages, err := newLeaf(leafKind{physical: chunk.Type(), width: byteWidth(chunk.Type(), d.TypeLength()),
		arrow: typ, typ: t, rows: rows})
	if err != nil {
		return nil, nil, err
	}
	maxDef, maxRep := int(d.MaxDefinitionLevel()), int(d.MaxRepetitionLevel())
	if maxRep > 0 || len(d.ColumnPath()) > 1 {
		pages.levels = &levels{maxRep: maxRep, maxDef: maxDef}
	}
	return l, pages, pages.open(im, p.f, p.size, chunk, maxDef > 0 && pages.levels == nil)
}

// byteWidth is the bytes of a value, 0 for what has a length each.
func byteWidth(t parquet.Type, length int) int {
	switch t {
	case parquet.Types.Int32, parquet.Types.Float:
		return 4
	case parquet.Types.Int64, parquet.Types.Double:
		return 8
	case parquet.Types.Int96:
		return 12
	case parquet.Types.FixedLenByteArray:
		return length
	}
	return 0
}

func (p *parquetFile) partName(part int) string { return fmt.Sprintf("%s: row group %d", p.name, part) }

// parquetReader reads a row group.
type parquetReader struct {
	name   string
	im     *Importer
	leaves []leaf
	names  []string // of the leaves, for errors
	left   int64
	rows   int64
	out    Batch
}

// Next implements BatchReader.
func (r *parquetReader) Next(ctx context.Context) (b *Batch, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := int(min(r.left, r.rows))
	if n <= 0 {
		return nil, nil
	}
	r.im.drop()
	r.out.Rows = n
	r.out.Columns = r.out.Columns[:0]
	for i := range r.leaves {
		col, err := r.column(i, n)
		if err != nil {
			return nil, err
		}
		r.out.Columns = append(r.out.Columns, col)
	}
	r.left -= int64(n)
	return &r.out, nil
}

// column reads the next n rows of a column.
func (r *parquetReader) column(i, n int) (col Column, err error) {
	defer caught(r.names[i], &err)
	col, err = r.leaves[i].read(n)
	return col, badFile(r.names[i], err)
}

// Close implements BatchReader.
func (r *parquetReader) Close() error {
	var first error
	for _, l := range r.leaves {
		if err := l.Close(); err != nil && first == nil {
			first = badFile(r.name, err)
		}
	}
	r.leaves = nil
	return first
}

// parquetWriter writes a Parquet file.
type parquetWriter struct {
	part *partFile
	w    *pqarrow.FileWriter
}

// rowGroupRows is how many rows a written row group has.
const rowGroupRows = 122_880

func newParquetWriter(part *partFile, schema sqltype.Schema, o FileOptions) (RecordWriter, error) {
	codecs := map[string]compress.Compression{"": compress.Codecs.Snappy, "snappy": compress.Codecs.Snappy,
		"zstd": compress.Codecs.Zstd, "gzip": compress.Codecs.Gzip, "none": compress.Codecs.Uncompressed,
		"uncompressed": compress.Codecs.Uncompressed}
	codec, ok := codecs[o.Compression]
	if !ok {
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "compression %q is not known; snappy, zstd, gzip and none are", o.Compression)
	}
	props := parquet.NewWriterProperties(parquet.WithCompression(codec), parquet.WithMaxRowGroupLength(rowGroupRows),
		parquet.WithStats(true), parquet.WithStoreDecimalAsInteger(true))
	w, err := pqarrow.NewFileWriter(ArrowSchema(schema), noClose{part.File}, props,
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, err
	}
	return &parquetWriter{part: part, w: w}, nil
}

// Write implements RecordWriter.
func (w *parquetWriter) Write(rec arrow.RecordBatch) error {
	return badFile(w.part.name, w.w.WriteBuffered(rec))
}

// Close implements RecordWriter.
func (w *parquetWriter) Close() error {
	if err := w.w.Close(); err != nil {
		w.part.abort()
		return badFile(w.part.name, err)
	}
	return w.part.commit()
}

// Abort implements RecordWriter.
func (w *parquetWriter) Abort() { w.part.abort() }
