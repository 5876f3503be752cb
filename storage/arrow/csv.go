package arrow

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/gpusql/gpusql/sqltype"
)

// CSVOptions say how a CSV file is written down. The zero value is RFC 4180
// with the header guessed.
type CSVOptions struct {
	Delimiter byte // 0: "|" for .tbl, a tab for .tsv, else a comma
	Quote     byte // 0: a double quote
	Escape    byte // 0: the quote, doubled
	Header    HeaderMode
	Null      string // the unquoted field that is NULL
}

// HeaderMode says whether the first line has the columns' names.
type HeaderMode uint8

// The modes. A writer takes HeaderGuess for HeaderYes.
const (
	HeaderGuess HeaderMode = iota
	HeaderYes
	HeaderNo
)

// withDefaults fills in what was not said.
func (o CSVOptions) withDefaults(name string) CSVOptions {
	if o.Delimiter == 0 {
		o.Delimiter = ','
		switch {
		case bytes.HasSuffix([]byte(name), []byte(".tbl")):
			o.Delimiter = '|'
		case bytes.HasSuffix([]byte(name), []byte(".tsv")):
			o.Delimiter = '\t'
		}
	}
	if o.Quote == 0 {
		o.Quote = '"'
	}
	if o.Escape == 0 {
		o.Escape = o.Quote
	}
	return o
}

// sniffRows is how many rows are looked at to guess the types.
const sniffRows = 2000

// csvFile is a CSV file; it has one part.
type csvFile struct {
	name   string
	o      CSVOptions
	schema sqltype.Schema
	header bool
}

func openCSV(name string, o FileOptions) (File, error) {
	c := &csvFile{name: name, o: o.CSV.withDefaults(name), schema: o.Schema}
	c.header = c.o.Header == HeaderYes
	f, err := os.Open(name)
	if err != nil {
		return nil, badFile(name, err)
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, sqltype.Errorf(sqltype.CodeBadFile, "%s: it is a directory", name)
	}
	if c.schema == nil {
		if err := c.sniff(f); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *csvFile) Schema() sqltype.Schema         { return c.schema }
func (c *csvFile) Rows() int64                    { return -1 }
func (c *csvFile) Parts() int                     { return 1 }
func (c *csvFile) Bounds(int, int) (Bounds, bool) { return Bounds{}, false }
func (c *csvFile) Stats(i int) ColumnStats        { return unknownStats(c.schema[i].Type) }
func (c *csvFile) Close() error                   { return nil }

// Read implements File.
func (c *csvFile) Read(_ int, cols []int, rows int, im *Importer) (BatchReader, error) {
	f, err := os.Open(c.name)
	if err != nil {
		return nil, badFile(c.name, err)
	}
	r := &csvReader{file: c, f: f, lex: newCSVLexer(c.name, f, c.o), rows: rows}
	r.at = make([]int, len(c.schema))
	for i := range r.at {
		r.at[i] = -1
	}
	fields := make([]arrow.Field, len(cols))
	for i, col := range cols {
		if r.at[col] >= 0 {
			f.Close()
			return nil, fmt.Errorf("arrow: column %d of %s read twice", col, c.name)
		}
		r.at[col] = i
		fields[i] = arrow.Field{Name: c.schema[col].Name, Type: ArrowType(c.schema[col].Type), Nullable: true}
	}
	r.b = array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	if c.header {
		if _, err := r.lex.line(); err != nil && err != io.EOF {
			r.Close()
			return nil, err
		}
	}
	return &recordBatches{r, c.name, im}, nil
}

// csvReader turns lines into records.
type csvReader struct {
	file *csvFile
	f    *os.File
	lex  *csvLexer
	b    *array.RecordBuilder
	at   []int // at[i] is the builder's column of file column i, or -1
	rows int
	last arrow.RecordBatch
}

// Next implements recordReader.
func (r *csvReader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.last != nil {
		r.last.Release()
		r.last = nil
	}
	n := 0
	for ; n < r.rows; n++ {
		fields, err := r.lex.line()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := r.row(fields); err != nil {
			return nil, err
		}
	}
	if n == 0 {
		return nil, nil
	}
	if len(r.b.Schema().Fields()) == 0 {
		r.last = array.NewRecordBatch(r.b.Schema(), nil, int64(n))
	} else {
		r.last = r.b.NewRecordBatch()
	}
	return r.last, nil
}

// row appends one line's fields.
func (r *csvReader) row(fields []csvField) error {
	schema := r.file.schema
	// A delimiter behind the last field, as the TPC tools write it, is no field.
	if len(fields) == len(schema)+1 && len(fields[len(schema)].text) == 0 && !fields[len(schema)].quoted {
		fields = fields[:len(schema)]
	}
	if len(fields) != len(schema) {
		return r.lex.errorf("expected %d fields, found %d", len(schema), len(fields))
	}
	for i, f := range fields {
		at := r.at[i]
		if at < 0 {
			continue
		}
		b := r.b.Field(at)
		if !f.quoted && string(f.text) == r.file.o.Null {
			b.AppendNull()
			continue
		}
		if err := appendText(b, schema[i].Type, f.text); err != nil {
			e := r.lex.errorf("column %q: %v", schema[i].Name, err)
			var s *sqltype.Error
			if errors.As(err, &s) {
				e.Code = s.Code
			}
			return e
		}
	}
	return nil
}

// Close implements recordReader.
func (r *csvReader) Close() error {
	if r.last != nil {
		r.last.Release()
		r.last = nil
	}
	if r.b != nil {
		r.b.Release()
		r.b = nil
	}
	return r.f.Close()
}

// guesses are the types that a column may be guessed to have, the first that
// fits all values.
var guesses = []sqltype.Type{sqltype.Int64, sqltype.Float64, sqltype.Bool, sqltype.Date, sqltype.Timestamp}

// sniff guesses names and types from the first rows.
func (c *csvFile) sniff(f *os.File) error {
	lex := newCSVLexer(c.name, f, c.o)
	var rows [][]string
	for len(rows) < sniffRows {
		fields, err := lex.line()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		row := make([]string, len(fields))
		for i, f := range fields {
			row[i] = string(f.text)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return sqltype.Errorf(sqltype.CodeBadFile, "%s: the file is empty", c.name)
	}
	width := len(rows[0])
	if width > 1 && rows[0][width-1] == "" { // a delimiter behind the last field
		width--
	}
	if c.o.Header == HeaderGuess {
		c.header = looksLikeHeader(rows[0][:width])
	}
	body := rows
	if c.header {
		body = rows[1:]
	}
	for i := range width {
		col := sqltype.Column{Name: fmt.Sprintf("column%d", i), Type: guessType(body, i, c.o.Null)}
		if c.header {
			col.Name = rows[0][i]
		}
		c.schema = append(c.schema, col)
	}
	return nil
}

// looksLikeHeader reports whether every field is a name: not empty, told once,
// and not a value of another type than text.
func looksLikeHeader(row []string) bool {
	seen := map[string]bool{}
	for _, s := range row {
		if s == "" || seen[s] {
			return false
		}
		seen[s] = true
		for _, t := range guesses {
			if _, err := sqltype.ParseDatum(s, t); err == nil {
				return false
			}
		}
	}
	return true
}

func guessType(rows [][]string, col int, null string) sqltype.Type {
	for _, t := range guesses {
		fits, some := true, false
		for _, r := range rows {
			if col >= len(r) || r[col] == null {
				continue
			}
			some = true
			if _, err := sqltype.ParseDatum(r[col], t); err != nil {
				fits = false
				break
			}
		}
		if fits && some {
			return t
		}
	}
	return sqltype.Varchar
}

// csvField is a field of a line; text is valid until the next line.
type csvField struct {
	text   []byte
	quoted bool
}

// csvLexer splits a file into lines of fields.
type csvLexer struct {
	name   string
	o      CSVOptions
	r      *bufio.Reader
	number int // the line being read
	long   []byte
	fields []csvField
	spare  []byte // quoted fields, unescaped
}

func newCSVLexer(name string, r io.Reader, o CSVOptions) *csvLexer {
	l := &csvLexer{name: name, o: o, r: bufio.NewReaderSize(r, 1<<18)}
	if bom, err := l.r.Peek(3); err == nil && string(bom) == "\xef\xbb\xbf" {
		l.r.Discard(3) //nolint:errcheck // the bytes are buffered
	}
	return l
}

func (l *csvLexer) errorf(format string, args ...any) *sqltype.Error {
	return sqltype.Errorf(sqltype.CodeBadFile, "%s: line %d: %s", l.name, l.number, fmt.Sprintf(format, args...))
}

// raw reads up to and without the next line end.
func (l *csvLexer) raw() ([]byte, error) {
	b, err := l.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], b...)
		for err == bufio.ErrBufferFull {
			b, err = l.r.ReadSlice('\n')
			l.long = append(l.long, b...)
		}
		b = l.long
	}
	if err == io.EOF && len(b) > 0 {
		err = nil
	}
	if err != nil {
		if err != io.EOF {
			err = badFile(l.name, err)
		}
		return nil, err
	}
	l.number++
	b = bytes.TrimSuffix(b, []byte{'\n'})
	return bytes.TrimSuffix(b, []byte{'\r'}), nil
}

// line reads a line, or several when a quoted field spans them. The fields are
// valid until the next call.
func (l *csvLexer) line() ([]csvField, error) {
	b, err := l.raw()
	if err != nil {
		return nil, err
	}
	l.fields = l.fields[:0]
	if bytes.IndexByte(b, l.o.Quote) < 0 {
		for {
			i := bytes.IndexByte(b, l.o.Delimiter)
			if i < 0 {
				l.fields = append(l.fields, csvField{text: b})
				return l.fields, nil
			}
			l.fields = append(l.fields, csvField{text: b[:i]})
			b = b[i+1:]
		}
	}
	return l.quotedLine(b)
}

// quotedLine splits a line that has a quote somewhere.
func (l *csvLexer) quotedLine(b []byte) ([]csvField, error) {
	l.spare = l.spare[:0]
	type span struct {
		from, to int
		quoted   bool
	}
	var spans []span
	start := l.number
	for {
		sp := span{from: len(l.spare)}
		if len(b) > 0 && b[0] == l.o.Quote {
			sp.quoted = true
			b = b[1:]
			for closed := false; !closed; {
				switch {
				case len(b) == 0:
					next, err := l.raw()
					if err == io.EOF {
						l.number = start
						return nil, l.errorf("a quoted field is never closed")
					}
					if err != nil {
						return nil, err
					}
					l.spare = append(l.spare, '\n')
					b = next
				case b[0] == l.o.Escape && len(b) > 1 && (b[1] == l.o.Quote || b[1] == l.o.Escape && l.o.Escape != l.o.Quote):
					l.spare = append(l.spare, b[1])
					b = b[2:]
				case b[0] == l.o.Quote:
					b = b[1:]
					closed = true
				default:
					l.spare = append(l.spare, b[0])
					b = b[1:]
				}
			}
			if len(b) > 0 && b[0] != l.o.Delimiter {
				return nil, l.errorf("unexpected %q behind a quoted field", b[0])
			}
		}
		i := bytes.IndexByte(b, l.o.Delimiter)
		end := i
		if i < 0 {
			end = len(b)
		}
		l.spare = append(l.spare, b[:end]...)
		sp.to = len(l.spare)
		spans = append(spans, sp)
		if i < 0 {
			break
		}
		b = b[i+1:]
	}
	for _, s := range spans {
		l.fields = append(l.fields, csvField{text: l.spare[s.from:s.to], quoted: s.quoted})
	}
	return l.fields, nil
}
