package arrow

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gpusql/gpusql/sqltype"
)

// CSVOptions say how a CSV file is written down. What the zero value leaves
// open is found out from the file's beginning.
type CSVOptions struct {
	Delimiter  byte // 0: "|" for .tbl, a tab for .tsv, else found out
	Quote      byte // 0: a double quote
	Escape     byte // 0: the quote, doubled
	Header     HeaderMode
	Null       string   // the unquoted field that is NULL
	Skip       int      // lines before the header
	AllText    bool     // every column is VARCHAR
	Sample     int      // the records that are looked at to find types; 0: sampleRecords
	IgnoreBad  bool     // pass over records that do not fit the columns
	PadMissing bool     // fields that a record lacks are NULL
	Names      []string // instead of the header's
}

// HeaderMode says whether the first line has the columns' names.
type HeaderMode uint8

// The modes. A writer takes HeaderGuess for HeaderYes.
const (
	HeaderGuess HeaderMode = iota
	HeaderYes
	HeaderNo
)

// withDefaults fills in what was not said and is not found out.
func (o CSVOptions) withDefaults(name string) CSVOptions {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	if o.Delimiter == 0 {
		switch {
		case strings.HasSuffix(name, ".tbl"):
			o.Delimiter = '|'
		case strings.HasSuffix(name, ".tsv"):
			o.Delimiter = '\t'
		}
	}
	if o.Quote == 0 {
		o.Quote = '"'
	}
	if o.Escape == 0 {
		o.Escape = o.Quote
	}
	if o.Sample == 0 {
		o.Sample = sampleRecords
	}
	return o
}

// csvFile is a CSV file. Its parts begin at the first record in each csvPart
// bytes; a compressed file is one part.
//
//	part 0          part 1          part 2
//	├───────────────┼───────────────┼──────────
//	header record record rec│ord record record
//	                        └ belongs to part 0, where it begins
//
// Where a part begins is known when all before it were looked through, for a
// line end may lie between quotes; that goes much faster than reading fields.
type csvFile struct {
	name   string
	o      CSVOptions
	schema sqltype.Schema
	size   int64
	gzip   bool

	mu     sync.Mutex
	f      *os.File
	starts []int64 // of the parts, as far as known
}

// csvPart is the bytes of a part: enough work to share, little enough for a
// core's cache.
const csvPart = 1 << 20

func openCSV(name string, o FileOptions) (_ File, err error) {
	c := &csvFile{name: name, o: o.CSV.withDefaults(name), schema: o.Schema,
		gzip: strings.HasSuffix(strings.ToLower(name), ".gz") || o.Compression == "gzip"}
	if c.f, err = os.Open(name); err != nil {
		return nil, badFile(name, err)
	}
	defer func() {
		if err != nil {
			c.f.Close()
		}
	}()
	st, err := c.f.Stat()
	if err != nil {
		return nil, badFile(name, err)
	}
	if st.IsDir() {
		return nil, sqltype.Errorf(sqltype.CodeBadFile, "%s: it is a directory", name)
	}
	c.size = st.Size()
	if err := c.sniff(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *csvFile) Schema() sqltype.Schema         { return c.schema }
func (c *csvFile) Rows() int64                    { return -1 }
func (c *csvFile) Bounds(int, int) (Bounds, bool) { return Bounds{}, false }
func (c *csvFile) Stats(i int) ColumnStats        { return unknownStats(c.schema[i].Type) }
func (c *csvFile) Close() error                   { return badFile(c.name, c.f.Close()) }

// Parts implements File.
func (c *csvFile) Parts() int {
	if c.gzip {
		return 1
	}
	return int((c.size + csvPart - 1) / csvPart)
}

// Read implements File.
func (c *csvFile) Read(part int, cols []int, rows int, im *Importer) (BatchReader, error) {
	r := &csvReader{file: c, im: im, rows: rows, split: csvSplitter{o: c.o}, want: make([]*textColumn, len(c.schema))}
	for _, col := range cols {
		if r.want[col] != nil {
			return nil, fmt.Errorf("arrow: column %d of %s read twice", col, c.name)
		}
		r.want[col] = newTextColumn(c.schema[col].Type, rows)
		r.columns = append(r.columns, r.want[col])
	}
	r.out.Columns = make([]Column, len(cols))
	if !c.gzip {
		from, to, err := c.part(part)
		if err != nil {
			return nil, err
		}
		r.source = io.NewSectionReader(c.f, from, to-from)
		r.at, r.size = from, int(to-from)
		return r, nil
	}
	var err error
	if r.source, err = c.text(); err == nil {
		_, err = io.CopyN(io.Discard, r.source, c.starts[0])
	}
	r.at = c.starts[0]
	return r, badFile(c.name, err)
}

// text is all of the file's, not compressed any more.
func (c *csvFile) text() (io.Reader, error) {
	r := io.Reader(io.NewSectionReader(c.f, 0, c.size))
	if !c.gzip {
		return r, nil
	}
	z, err := gzip.NewReader(r)
	return z, badFile(c.name, err)
}

// part says from where to where part p goes.
func (c *csvFile) part(p int) (from, to int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.starts) <= p+1 {
		next, err := c.partEnd(len(c.starts))
		if err != nil {
			return 0, 0, badFile(c.name, err)
		}
		c.starts = append(c.starts, next)
	}
	return c.starts[p], c.starts[p+1], nil
}

// partEnd is where part p begins, and the one before it ends.
func (c *csvFile) partEnd(p int) (int64, error) {
	from, limit := c.starts[p-1], int64(p)*csvPart
	if from >= limit {
		return from, nil
	}
	for more := int64(64 << 10); ; more *= 4 {
		to := min(limit+more, c.size)
		w := make([]byte, to-from)
		if _, err := c.f.ReadAt(w, from); err != nil {
			return 0, err
		}
		if n := recordEnd(w, int(min(limit, c.size)-from), c.o, to == c.size); n >= 0 {
			return from + int64(n), nil
		}
	}
}

// csvReader reads a part, block by block.
type csvReader struct {
	file    *csvFile
	im      *Importer
	source  io.Reader
	size    int    // of the part, when it is one block
	at      int64  // where the block begins in the file's text
	rest    []byte // of a compressed file: what is read and not given
	memory  room   // of the block
	block   textBlock
	split   csvSplitter
	rows    int
	want    []*textColumn // by column of the file; nil: not asked for
	columns []*textColumn // as asked for
	begins  []int         // of the batch's records, in the block
	done    bool
	out     Batch
}

// Next implements BatchReader.
func (r *csvReader) Next(ctx context.Context) (*Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.split.pos >= r.split.end {
			if more, err := r.load(); !more || err != nil {
				return nil, badFile(r.file.name, err)
			}
		}
		b, err := r.batch()
		if b == nil && err == nil {
			continue
		}
		return b, err
	}
}

// csvBlock is what is read of a compressed file at a time, at least.
const csvBlock = csvPart

// load reads the next block.
func (r *csvReader) load() (bool, error) {
	if r.done {
		return false, nil
	}
	r.at += int64(r.split.end)
	size := r.size
	if r.file.gzip {
		var err error
		if size, err = r.fill(); err != nil {
			return false, err
		}
	}
	r.done = size == 0 || !r.file.gzip
	if size == 0 {
		return false, nil
	}
	if size > spanLength {
		return false, r.errorAt(0, "a record of over %d bytes", spanLength)
	}
	data, err := r.memory.reserve(r.im, size+csvPadding)
	if err != nil {
		return false, err
	}
	if r.file.gzip {
		copy(data, r.rest[:size])
		r.rest = append(r.rest[:0], r.rest[size:]...)
	} else if _, err := io.ReadFull(r.source, data[:size]); err != nil {
		return false, err
	}
	r.split.reset(data, size)
	r.block.data = data
	if r.block.base, err = r.memory.address(r.im, 0, size); err != nil {
		return false, err
	}
	return true, r.checkText()
}

// fill reads a compressed file on into rest, until that has whole records, and
// gives their size.
func (r *csvReader) fill() (int, error) {
	for want := csvBlock; ; want *= 2 {
		r.rest = slices.Grow(r.rest, max(0, want-len(r.rest)))
		last := false
		for len(r.rest) < want && !last {
			n, err := r.source.Read(r.rest[len(r.rest):want])
			r.rest = r.rest[:len(r.rest)+n]
			if last = err == io.EOF; err != nil && !last {
				return 0, err
			}
		}
		if size := recordEnd(r.rest, max(1, len(r.rest)/2), r.file.o, last); size >= 0 {
			return size, nil
		}
	}
}

// checkText sees to it that text columns get UTF-8.
func (r *csvReader) checkText() error {
	data := r.split.data[:r.split.end]
	if isASCII(data) || utf8.Valid(data) {
		return nil
	}
	at := 0
	for len(data) > at {
		c, n := utf8.DecodeRune(data[at:])
		if c == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return r.errorAt(at, "text is not UTF-8: byte 0x%02x", data[at])
}

// batch reads the next records; nil when none of them stayed.
func (r *csvReader) batch() (*Batch, error) {
	n := 0
	r.begins = r.begins[:0]
	for n < r.rows {
		begin := r.split.pos
		more, err := r.split.record()
		if err != nil {
			return nil, r.errorAt(begin, "%v", err)
		}
		if !more {
			break
		}
		switch err := r.place(n); {
		case err == errEmptyRecord:
		case err == nil:
			r.begins = append(r.begins, begin)
			n++
		case !r.file.o.IgnoreBad:
			return nil, r.errorAt(begin, "%v", err)
		}
	}
	r.block.side = r.split.side
	for n > 0 {
		bad, err := r.convert(n)
		if err == nil {
			r.split.side = r.split.side[:0]
			return &r.out, nil
		}
		if bad < 0 {
			return nil, err
		}
		for _, c := range r.columns {
			copy(c.spans[bad:n], c.spans[bad+1:n])
		}
		r.begins = append(r.begins[:bad], r.begins[bad+1:]...)
		n--
	}
	return nil, nil
}

var errEmptyRecord = errors.New("an empty line")

// place puts the record's fields into the columns, as row n.
func (r *csvReader) place(n int) error {
	row, width := r.split.row, len(r.want)
	if len(row) != width {
		last := row[len(row)-1]
		switch {
		case len(row) == 1 && last.n == 0: // an empty line
			return errEmptyRecord
		case len(row) == width+1 && last.n == 0:
			row = row[:width] // a delimiter behind the last field, as the TPC tools write it, is no field
		case len(row) > width || !r.file.o.PadMissing:
			return fmt.Errorf("expected %d fields, found %d", width, len(row))
		}
	}
	null := r.file.o.Null
	for i, c := range r.want {
		if c == nil {
			continue
		}
		if i >= len(row) {
			c.spans[n] = textSpan{n: noText}
			continue
		}
		s := row[i]
		if int(s.n) == len(null) && (len(null) == 0 || string(r.split.text(s)) == null) {
			s.n = noText
		}
		c.spans[n] = s
	}
	return nil
}

// convert makes columns of n rows. When a value is wrong and such records are
// to be passed over, it says which row it is in.
func (r *csvReader) convert(n int) (bad int, err error) {
	r.out.Rows = n
	for i, c := range r.columns {
		col, bad, err := c.read(r.im, &r.block, n)
		if err != nil && bad >= 0 {
			if r.file.o.IgnoreBad {
				return bad, err
			}
			return -1, r.valueError(c, bad, err)
		}
		if err != nil {
			return -1, err
		}
		r.out.Columns[i] = col
	}
	return -1, nil
}

// valueError says where a value is wrong.
func (r *csvReader) valueError(c *textColumn, row int, err error) error {
	name := ""
	for i, w := range r.want {
		if w == c {
			name = r.file.schema[i].Name
		}
	}
	e := r.errorAt(r.begins[row], "column %q: %v", name, err)
	var s *sqltype.Error
	if errors.As(err, &s) {
		e.Code = s.Code
	}
	return e
}

// errorAt is an error in the record that begins at a place of the block.
func (r *csvReader) errorAt(at int, format string, args ...any) *sqltype.Error {
	what := fmt.Sprintf(format, args...)
	text, err := r.file.text()
	before := 0
	if err == nil {
		before, err = countLines(io.LimitReader(text, r.at))
	}
	if err != nil { // it was read before, and cannot be now
		return sqltype.Errorf(sqltype.CodeBadFile, "%s: %s", r.file.name, what)
	}
	line := before + bytes.Count(r.split.data[:at], []byte{'\n'}) + 1
	return sqltype.Errorf(sqltype.CodeBadFile, "%s: line %d: %s", r.file.name, line, what)
}

func countLines(r io.Reader) (lines int, err error) {
	b := make([]byte, 64<<10)
	for {
		n, err := r.Read(b)
		lines += bytes.Count(b[:n], []byte{'\n'})
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// Close implements BatchReader.
func (r *csvReader) Close() error {
	for _, c := range r.columns {
		c.release()
	}
	r.memory.release()
	return nil
}
