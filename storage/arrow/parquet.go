package arrow

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/gpusql/gpusql/sqltype"
)

// parquetFile is a Parquet file; its parts are the row groups.
type parquetFile struct {
	name   string
	f      *os.File
	pf     *file.Reader
	fields []parquetField
	schema sqltype.Schema
}

// parquetField is a column: its leaf in the file, -1 when it is nested.
type parquetField struct {
	leaf int
	typ  arrow.DataType
	err  error // why it cannot be read
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
	var err error
	if p.pf, err = file.NewParquetReader(p.f); err != nil {
		return err
	}
	manifest, err := pqarrow.NewSchemaManifest(p.pf.MetaData().Schema, p.pf.MetaData().KeyValueMetadata(), &pqarrow.ArrowReadProperties{})
	if err != nil {
		return err
	}
	for _, field := range manifest.Fields {
		t, ok := TypeOf(field.Field.Type)
		pf := parquetField{leaf: field.ColIndex, typ: field.Field.Type}
		if !ok || !field.IsLeaf() {
			pf = parquetField{leaf: -1, err: unsupported(p.name, field.Field.Name, field.Field.Type)}
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
		l, err := p.leaf(part, c)
		if err != nil {
			pr.Close()
			return nil, badFile(name, fmt.Errorf("column %q: %w", p.schema[c].Name, err))
		}
		pr.leaves = append(pr.leaves, l)
	}
	return pr, nil
}

// leaf opens column c of a part.
func (p *parquetFile) leaf(part, c int) (leaf, error) {
	f := p.fields[c]
	if f.err != nil {
		return nil, f.err
	}
	if !p.dictionaryOnly(part, f.leaf) {
		chunk, err := p.pf.RowGroup(part).Column(f.leaf)
		if err != nil {
			return nil, err
		}
		return newLeaf(chunk, f.typ, p.schema[c].Type)
	}
	var props pqarrow.ArrowReadProperties
	props.SetReadDict(f.leaf, true)
	fr, err := pqarrow.NewFileReader(p.pf, props, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	readers, _, err := fr.GetFieldReaders(context.Background(), []int{f.leaf}, []int{part})
	if err != nil {
		return nil, err
	}
	return &codeLeaf{r: readers[0]}, nil
}

// dictionaryPage is Parquet's number of the type of page that has the
// dictionary itself; the library keeps its name for it to itself.
const dictionaryPage = 2

// dictionaryOnly reports a column of text all of whose pages are codes, which
// then stay codes.
func (p *parquetFile) dictionaryOnly(part, leaf int) bool {
	chunk, err := p.pf.MetaData().RowGroup(part).ColumnChunk(leaf)
	if err != nil || chunk.Type() != parquet.Types.ByteArray {
		return false
	}
	codes := false
	for _, s := range chunk.EncodingStats() {
		if s.PageType == dictionaryPage {
			continue
		}
		if s.Encoding != parquet.Encodings.PlainDict && s.Encoding != parquet.Encodings.RLEDict {
			return false
		}
		codes = true
	}
	return codes
}

func (p *parquetFile) partName(part int) string { return fmt.Sprintf("%s: row group %d", p.name, part) }

// parquetReader reads a row group.
type parquetReader struct {
	name   string
	im     *Importer
	leaves []leaf
	left   int64
	rows   int64
	out    Batch
}

// Next implements BatchReader.
func (r *parquetReader) Next(ctx context.Context) (b *Batch, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer caught(r.name, &err)
	n := int(min(r.left, r.rows))
	if n == 0 {
		return nil, nil
	}
	r.im.drop()
	r.out.Rows = n
	r.out.Columns = r.out.Columns[:0]
	for i, l := range r.leaves {
		col, err := l.read(r.im, n)
		if err != nil {
			return nil, badFile(r.name, fmt.Errorf("column %d: %w", i, err))
		}
		r.out.Columns = append(r.out.Columns, col)
	}
	r.left -= int64(n)
	return &r.out, nil
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

// Bounds implements File. Only types whose statistics are ordered as SQL
// orders them have bounds.
func (p *parquetFile) Bounds(part, c int) (b Bounds, ok bool) {
	defer func() {
		if recover() != nil { // broken statistics bound nothing
			ok = false
		}
	}()
	if p.fields[c].err != nil {
		return Bounds{}, false
	}
	rg := p.pf.MetaData().RowGroup(part)
	chunk, err := rg.ColumnChunk(p.fields[c].leaf)
	if err != nil {
		return Bounds{}, false
	}
	if set, err := chunk.StatsSet(); err != nil || !set {
		return Bounds{}, false
	}
	stats, err := chunk.Statistics()
	if err != nil || stats == nil || !stats.HasMinMax() {
		return Bounds{}, false
	}
	b = Bounds{Nulls: -1, Rows: rg.NumRows()}
	if stats.HasNullCount() {
		b.Nulls = stats.NullCount()
	}
	var okMin, okMax bool
	b.Min, okMin = statDatum(stats, p.schema[c].Type, stats.EncodeMin())
	b.Max, okMax = statDatum(stats, p.schema[c].Type, stats.EncodeMax())
	return b, okMin && okMax
}

// statDatum reads a plainly encoded bound.
func statDatum(stats metadata.TypedStatistics, t sqltype.Type, raw []byte) (sqltype.Datum, bool) {
	d := sqltype.Datum{Type: t}
	switch t.Kind {
	case sqltype.KindInt8, sqltype.KindInt16, sqltype.KindInt32, sqltype.KindInt64, sqltype.KindDate:
	case sqltype.KindVarchar:
		d.S = string(raw)
		return d, true
	case sqltype.KindFloat32, sqltype.KindFloat64:
		// NaN is greater than all numbers here and absent from the bounds there.
		return d, false
	case sqltype.KindDecimal:
		if t.Precision > 18 {
			return d, false
		}
	default:
		return d, false
	}
	switch stats.Type() {
	case parquet.Types.Int32:
		d.I = int64(int32(binary.LittleEndian.Uint32(raw)))
	case parquet.Types.Int64:
		d.I = int64(binary.LittleEndian.Uint64(raw))
	case parquet.Types.FixedLenByteArray:
		if len(raw) == 0 || len(raw) > 16 {
			return d, false
		}
		v := int64(int8(raw[0]))
		for _, b := range raw[1:] {
			if v > math.MaxInt64>>8 || v < math.MinInt64>>8 {
				return d, false
			}
			v = v<<8 | int64(b)
		}
		d.I = v
	default:
		return d, false
	}
	return d, true
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
