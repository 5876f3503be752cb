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

// textFile is a file of records of text. Its parts begin at the first record in
// each textPart bytes; a streamed file is one part, read block by block.
//
//	part 0          part 1          part 2
//	├───────────────┼───────────────┼──────────
//	header record record rec│ord record record
//	                        └ belongs to part 0, where it begins
//
// Where a part begins is known when all before it were looked through, for a
// line end may lie between quotes; that goes much faster than reading fields.
type textFile struct {
	name     string
	schema   sqltype.Schema
	size     int64
	gzip     bool
	streamed bool
	// end is where the first record at or behind target begins, -1 when w, which
	// begins with a record, is not enough to tell. Last: nothing comes behind w.
	end func(w []byte, target int, last bool) int

	mu     sync.Mutex
	f      *os.File
	starts []int64 // of the parts, as far as known; the first record's is
	window []byte
}

// textPart is the bytes of a part: enough work to share, little enough for a
// core's cache.
const textPart = 1 << 20

func (t *textFile) open(name string, o FileOptions) (err error) {
	t.name, t.schema = name, o.Schema
	t.gzip = strings.HasSuffix(strings.ToLower(name), ".gz") || o.Compression == "gzip"
	t.streamed = t.gzip
	if t.f, err = os.Open(name); err != nil {
		return badFile(name, err)
	}
	st, err := t.f.Stat()
	if err == nil && st.IsDir() {
		err = sqltype.Errorf(sqltype.CodeBadFile, "%s: it is a directory", name)
	}
	if err != nil {
		t.f.Close()
		return badFile(name, err)
	}
	t.size = st.Size()
	return nil
}

func (t *textFile) Schema() sqltype.Schema         { return t.schema }
func (t *textFile) Rows() int64                    { return -1 }
func (t *textFile) Bounds(int, int) (Bounds, bool) { return Bounds{}, false }
func (t *textFile) Stats(i int) ColumnStats        { return unknownStats(t.schema[i].Type) }
func (t *textFile) Close() error                   { return badFile(t.name, t.f.Close()) }

// Parts implements File.
func (t *textFile) Parts() int {
	if t.streamed {
		return 1
	}
	return int((t.size + textPart - 1) / textPart)
}

// text is all of the file's, not compressed any more.
func (t *textFile) text() (io.Reader, error) {
	r := io.Reader(io.NewSectionReader(t.f, 0, t.size))
	if !t.gzip {
		return r, nil
	}
	z, err := gzip.NewReader(r)
	return z, badFile(t.name, err)
}

// sample is the file's beginning, and whether that is all.
func (t *textFile) sample() ([]byte, bool, error) {
	r, err := t.text()
	if err != nil {
		return nil, false, err
	}
	text, err := io.ReadAll(io.LimitReader(r, sampleBytes+1))
	if len(text) > sampleBytes {
		return text[:sampleBytes], false, err
	}
	return text, true, err
}

// wholeRecords is the text, a sample, without a record that it cuts off.
func (t *textFile) wholeRecords(text []byte) []byte {
	for _, target := range []int{len(text) - len(text)/8, 1} {
		if n := t.end(text, target, false); n > 0 {
			return text[:n]
		}
	}
	return text
}

// part says from where to where part p goes.
func (t *textFile) part(p int) (from, to int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.starts) <= p+1 {
		next, err := t.partEnd(len(t.starts))
		if err != nil {
			return 0, 0, badFile(t.name, err)
		}
		t.starts = append(t.starts, next)
	}
	return t.starts[p], t.starts[p+1], nil
}

// partEnd is where part p begins, and the one before it ends.
func (t *textFile) partEnd(p int) (int64, error) {
	from, limit := t.starts[p-1], int64(p)*textPart
	if from >= limit {
		return from, nil
	}
	for more := int64(64 << 10); ; more *= 4 {
		to := min(limit+more, t.size)
		t.window = grow(t.window, int(to-from))
		if _, err := t.f.ReadAt(t.window, from); err != nil {
			return 0, err
		}
		if n := t.end(t.window, int(min(limit, t.size)-from), to == t.size); n >= 0 {
			return from + int64(n), nil
		}
	}
}

// recordSplitter finds records and their fields in a block.
type recordSplitter interface {
	// reset starts on data, which has textPadding bytes behind end.
	reset(data []byte, end int)
	// next puts the next record into the columns, as row n, and says where it
	// begins; more is false at the end. After a badRecord the next one follows.
	next(n int) (at int, more bool, err error)
	// aside is the texts that do not lie in the block.
	aside() []byte
	// forget gives them up.
	forget()
}

// read opens a part.
func (t *textFile) read(part int, cols []int, rows int, im *Importer, s recordSplitter, ignoreBad bool) (*textReader, error) {
	r := &textReader{file: t, im: im, rows: rows, split: s, ignoreBad: ignoreBad, want: make([]*textColumn, len(t.schema))}
	for _, col := range cols {
		if r.want[col] != nil {
			return nil, fmt.Errorf("arrow: column %d of %s read twice", col, t.name)
		}
		r.want[col] = newTextColumn(t.schema[col].Type, rows)
		r.columns = append(r.columns, r.want[col])
	}
	r.out.Columns = make([]Column, len(cols))
	var err error
	if t.streamed {
		r.at = t.starts[0]
		if r.source, err = t.text(); err == nil {
			_, err = io.CopyN(io.Discard, r.source, r.at)
		}
		return r, badFile(t.name, err)
	}
	var to int64
	if r.at, to, err = t.part(part); err != nil {
		return nil, err
	}
	r.source, r.size = io.NewSectionReader(t.f, r.at, to-r.at), int(to-r.at)
	return r, nil
}

// textReader reads a part, block by block.
type textReader struct {
	file      *textFile
	im        *Importer
	source    io.Reader
	size      int    // of the part, which is one block unless it is streamed
	at        int64  // where the block begins in the file's text
	end       int    // of the records in the block
	rest      []byte // of a streamed file: what is read and not given
	memory    room   // of the block
	block     textBlock
	split     recordSplitter
	ignoreBad bool
	rows      int
	want      []*textColumn // by column of the file; nil: not asked for
	columns   []*textColumn // as asked for
	begins    []int         // of the batch's records, in the block
	done      bool
	out       Batch
}

// Next implements BatchReader.
func (r *textReader) Next(ctx context.Context) (*Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := r.batch()
		if b != nil || err != nil {
			return b, err
		}
		if more, err := r.load(); !more || err != nil {
			return nil, badFile(r.file.name, err)
		}
	}
}

// textPadding is room behind the records, for a line end and loads of 8 bytes.
const textPadding = 16

// load reads the next block.
func (r *textReader) load() (bool, error) {
	if r.done {
		return false, nil
	}
	r.at += int64(r.end)
	size := r.size
	if r.file.streamed {
		var err error
		if size, err = r.fill(); err != nil {
			return false, err
		}
	}
	r.done = size == 0 || !r.file.streamed
	if size == 0 {
		return false, nil
	}
	r.block.data, r.end = nil, 0
	if size > spanLength {
		return false, r.errorAt(0, "a record of over %d bytes", spanLength)
	}
	data, err := r.memory.reserve(r.im, size+textPadding)
	if err != nil {
		return false, err
	}
	if r.file.streamed {
		copy(data, r.rest[:size])
		r.rest = append(r.rest[:0], r.rest[size:]...)
	} else if _, err := io.ReadFull(r.source, data[:size]); err != nil {
		return false, err
	}
	clear(data[size:])
	r.split.reset(data, size)
	r.block.data, r.end = data, size
	if r.block.base, err = r.memory.address(r.im, 0, size); err != nil {
		return false, err
	}
	return true, r.checkText()
}

// fill reads a streamed file on into rest, until that has whole records, and
// gives their size.
func (r *textReader) fill() (int, error) {
	for want := textPart; ; want *= 2 {
		r.rest = slices.Grow(r.rest, max(0, want-len(r.rest)))
		last := false
		for len(r.rest) < want && !last {
			n, err := r.source.Read(r.rest[len(r.rest):want])
			r.rest = r.rest[:len(r.rest)+n]
			if last = err == io.EOF; err != nil && !last {
				return 0, err
			}
		}
		if size := r.file.end(r.rest, max(1, len(r.rest)/2), last); size >= 0 {
			return size, nil
		}
	}
}

// checkText sees to it that text columns get UTF-8.
func (r *textReader) checkText() error {
	data := r.block.data[:r.end]
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

// batch reads the next records of the block; nil when there are none.
func (r *textReader) batch() (*Batch, error) {
	n := 0
	r.begins = r.begins[:0]
	for n < r.rows {
		begin, more, err := r.split.next(n)
		var bad badRecord
		if err != nil && errors.As(err, &bad) && r.ignoreBad {
			continue
		}
		if err != nil {
			return nil, r.errorAt(begin, "%v", err)
		}
		if !more {
			break
		}
		r.begins = append(r.begins, begin)
		n++
	}
	r.block.side = r.split.aside()
	for n > 0 {
		bad, err := r.convert(n)
		if err == nil {
			r.split.forget()
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

// convert makes columns of n rows. When a value is wrong and such records are
// to be passed over, it says which row it is in.
func (r *textReader) convert(n int) (bad int, err error) {
	r.out.Rows = n
	for i, c := range r.columns {
		col, bad, err := c.read(r.im, &r.block, n)
		switch {
		case err != nil && bad >= 0 && r.ignoreBad:
			return bad, err
		case err != nil && bad >= 0:
			return -1, r.valueError(c, bad, err)
		case err != nil:
			return -1, err
		}
		r.out.Columns[i] = col
	}
	return -1, nil
}

// valueError says where a value is wrong.
func (r *textReader) valueError(c *textColumn, row int, err error) error {
	i := slices.Index(r.want, c)
	e := r.errorAt(r.begins[row], "column %q: %v", r.file.schema[i].Name, err)
	var s *sqltype.Error
	if errors.As(err, &s) {
		e.Code = s.Code
	}
	return e
}

// errorAt is an error in the record that begins at a place of the block.
func (r *textReader) errorAt(at int, format string, args ...any) *sqltype.Error {
	what := fmt.Sprintf(format, args...)
	text, err := r.file.text()
	before := 0
	if err == nil {
		before, err = countLines(io.LimitReader(text, r.at))
	}
	if err != nil { // it was read before, and cannot be now
		return sqltype.Errorf(sqltype.CodeBadFile, "%s: %s", r.file.name, what)
	}
	line := before + bytes.Count(r.block.data[:at], []byte{'\n'}) + 1
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
func (r *textReader) Close() error {
	for _, c := range r.columns {
		c.release()
	}
	r.memory.release()
	return nil
}
