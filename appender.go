package gpusql

import (
	"context"
	"sync/atomic"

	goarrow "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// Appender adds rows to a table in bulk. What is appended is inserted, all of
// it or none, by Flush; constraints and defaults hold as for INSERT.
//
// It is for one goroutine, and must be closed.
type Appender struct {
	conn    *Conn
	table   parser.Name
	columns []parser.Ident
	schema  sqltype.Schema
	builder *array.RecordBuilder
	rows    int // in builder
	records []goarrow.RecordBatch
}

// appendRows is how many rows make a record.
const appendRows = 16384

// Appender makes an appender for a table, whose name may be qualified. Columns
// that are not named get their defaults; none named is all.
func (c *Conn) Appender(table string, columns ...string) (*Appender, error) {
	e, err := parser.ParseExpr(table)
	if err != nil {
		return nil, wrapError(err, table)
	}
	ref, ok := e.(*parser.ColumnRef)
	if !ok {
		return nil, wrapError(sqltype.Errorf(sqltype.CodeSyntax, "%q is not the name of a table", table), "")
	}
	var t *catalog.Table
	if t, err = findTable(c.reader(), ref.Name); err != nil {
		return nil, wrapError(err, table)
	}
	a := &Appender{conn: c, table: ref.Name}
	for _, name := range columns {
		a.columns = append(a.columns, parser.Ident{Name: name})
	}
	if a.schema, err = copySchema(t, a.columns); err != nil {
		return nil, wrapError(err, "")
	}
	a.builder = array.NewRecordBuilder(memory.DefaultAllocator, arrow.ArrowSchema(a.schema))
	return a, nil
}

// Append adds a row of Go values, converted as arguments are. After an error
// the row is not there.
func (a *Appender) Append(row ...any) error {
	if len(row) != len(a.schema) {
		return wrapError(sqltype.Errorf(sqltype.CodeInvalidParameter, "a row of %d values for %d columns", len(row), len(a.schema)), "")
	}
	values := make([]Value, len(row))
	for i, arg := range row {
		v, err := toValue(arg)
		if err == nil {
			v, err = sqltype.CastDatum(v, a.schema[i].Type)
		}
		if err != nil {
			return wrapError(sqltype.Errorf(sqltype.CodeTypeMismatch, "column %q: %v", a.schema[i].Name, err), "")
		}
		values[i] = v
	}
	for i, v := range values {
		if v.Null {
			a.builder.Field(i).AppendNull()
		} else {
			arrow.AppendDatum(a.builder.Field(i), v)
		}
	}
	if a.rows++; a.rows == appendRows {
		a.cut()
	}
	return nil
}

// cut makes a record of the rows in the builder.
func (a *Appender) cut() {
	if a.rows > 0 {
		a.records = append(a.records, a.builder.NewRecordBatch())
		a.rows = 0
	}
}

// AppendRecord adds an Arrow record, whose columns are the table's by place. It
// is retained until Flush, not copied, and must not be changed before.
func (a *Appender) AppendRecord(r goarrow.RecordBatch) error {
	if int(r.NumCols()) != len(a.schema) {
		return wrapError(sqltype.Errorf(sqltype.CodeInvalidParameter, "a record of %d columns for %d", r.NumCols(), len(a.schema)), "")
	}
	for i, f := range r.Schema().Fields() {
		if _, ok := arrow.TypeOf(f.Type); !ok {
			return wrapError(sqltype.Errorf(sqltype.CodeNotSupported, "column %q: Arrow type %s has no SQL type", a.schema[i].Name, f.Type), "")
		}
	}
	a.cut()
	r.Retain()
	a.records = append(a.records, r)
	return nil
}

// Flush inserts what was appended, and returns how many rows that were. After
// an error they are gone, and the table is as it was.
func (a *Appender) Flush(ctx context.Context) (int64, error) {
	a.cut()
	var total int64
	for len(a.records) > 0 {
		// Records of one schema make one statement; a transaction joins more.
		n := 1
		for n < len(a.records) && a.records[n].Schema().Equal(a.records[0].Schema()) {
			n++
		}
		affected, err := a.insert(ctx, a.records[:n])
		a.drop(n)
		if err != nil {
			a.drop(len(a.records))
			return total, err
		}
		total += affected
	}
	return total, nil
}

func (a *Appender) drop(n int) {
	for _, r := range a.records[:n] {
		r.Release()
	}
	a.records = a.records[n:]
}

// insert runs INSERT INTO table SELECT * FROM the records.
func (a *Appender) insert(ctx context.Context, records []goarrow.RecordBatch) (int64, error) {
	schema := make(sqltype.Schema, len(a.schema))
	for i, f := range records[0].Schema().Fields() {
		t, _ := arrow.TypeOf(f.Type)
		schema[i] = sqltype.Column{Name: a.schema[i].Name, Type: t}
	}
	p := &prepared{
		parsed: parser.Parsed{Statement: insertFrom(a.table, a.columns, "records", "arrow", nil)},
		files:  files{schema: schema, records: records},
	}
	rows, err := a.conn.runPrepared(ctx, p, nil)
	if err != nil {
		return 0, err
	}
	return rows.affected, nil
}

// Close drops what was not flushed.
func (a *Appender) Close() error {
	a.drop(len(a.records))
	a.builder.Release()
	return nil
}

// recordSource is records as an exec.FileReader.
type recordSource struct {
	records []goarrow.RecordBatch
	columns []int
	rows    int // the most rows of a batch
	next    atomic.Int64
}

func (s *recordSource) Parts() int   { return len(s.records) }
func (s *recordSource) Close() error { return nil }

func (s *recordSource) Cursor(m device.Allocator, st device.Stream) (exec.FileCursor, error) {
	return &recordCursor{source: s, importer: arrow.NewImporter(st, m)}, nil
}

// recordCursor reads some of the records, slice by slice.
type recordCursor struct {
	source   *recordSource
	importer *arrow.Importer
	record   goarrow.RecordBatch // not retained: the source holds it
	at       int64
	slice    goarrow.RecordBatch // what the last batch lies in
	out      arrow.Batch
}

func (c *recordCursor) Next(ctx context.Context) (*arrow.Batch, error) {
	c.release()
	for c.record == nil || c.at == c.record.NumRows() {
		i := int(c.source.next.Add(1)) - 1
		if i >= len(c.source.records) {
			return nil, ctx.Err()
		}
		c.record, c.at = c.source.records[i], 0
	}
	end := min(c.at+int64(c.source.rows), c.record.NumRows())
	c.slice = c.record.NewSlice(c.at, end)
	c.at = end
	b, err := c.importer.Batch(c.slice)
	if err != nil {
		return nil, err
	}
	c.out = arrow.Batch{Rows: b.Rows, Columns: c.out.Columns[:0]}
	for _, i := range c.source.columns {
		c.out.Columns = append(c.out.Columns, b.Columns[i])
	}
	return &c.out, nil
}

func (c *recordCursor) release() {
	if c.slice != nil {
		c.slice.Release()
		c.slice = nil
	}
}

func (c *recordCursor) Close() error {
	c.release()
	c.importer.Release()
	return nil
}
