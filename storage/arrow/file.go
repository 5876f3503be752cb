package arrow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// File is a table in a file, read in parts that need not be read in order.
//
// A File is safe for concurrent use; its readers belong to one goroutine each,
// and must be closed before it. Every error names the file, and is a
// *sqltype.Error of code 58P01 (bad or missing) or 58030 (input and output).
type File interface {
	Schema() sqltype.Schema
	// Rows is how many rows there are, or -1 when only reading tells.
	Rows() int64
	// Parts is how many pieces there are: row groups, record batches, or 1.
	Parts() int
	// Bounds are bounds of column c in part p, false when they are not known.
	Bounds(p, c int) (Bounds, bool)
	// Stats say what the values of column c are like, as far as the file tells
	// without being read: Distinct is 0 and Min and Max are NULL where it does
	// not. It may be called after Close.
	Stats(c int) ColumnStats
	// Read opens the given columns of part p, none twice, in batches of at
	// most rows rows, whose memory is im's.
	Read(p int, cols []int, rows int, im *Importer) (BatchReader, error)
	Close() error
}

// Bounds say what values a column has in a part of a file.
type Bounds struct {
	Min, Max sqltype.Datum
	Nulls    int64 // -1: not known
	Rows     int64
}

// BatchReader gives batches one by one, none of them empty: nil at the end. A
// batch is valid until the next call.
type BatchReader interface {
	Next(context.Context) (*Batch, error)
	Close() error
}

// recordReader gives records one by one: nil at the end. A record is valid
// until the next call, unless it is retained.
type recordReader interface {
	Next(context.Context) (arrow.RecordBatch, error)
	Close() error
}

// recordBatches reads records as batches.
type recordBatches struct {
	recordReader
	name string
	im   *Importer
}

// Next implements BatchReader.
func (r *recordBatches) Next(ctx context.Context) (b *Batch, err error) {
	defer caught(r.name, &err)
	for {
		rec, err := r.recordReader.Next(ctx)
		if rec == nil || err != nil {
			return nil, err
		}
		if rec.NumRows() > 0 {
			b, err := r.im.Batch(rec)
			var e *sqltype.Error
			if errors.As(err, &e) { // which does not know that there is a file
				return nil, sqltype.Errorf(e.Code, "%s: %v", r.name, err)
			}
			return b, badFile(r.name, err)
		}
	}
}

// RecordWriter takes records into a file. The file is in place, whole, when
// Close returns nil; before that, and after Abort, the old one is.
type RecordWriter interface {
	Write(arrow.RecordBatch) error
	Close() error
	Abort()
}

// FileOptions say how to read or write a file.
type FileOptions struct {
	Format string // "parquet", "csv", "json", "arrow"; "" goes by the name
	CSV    CSVOptions
	JSON   JSONOptions
	// Schema are the columns and types that a CSV or JSON file is read as; nil
	// guesses them from its first rows.
	Schema sqltype.Schema
	// Compression of Parquet: "snappy" (the default), "zstd", "gzip" or "none".
	Compression string
}

// FormatOf guesses a file's format from its name, "" when it cannot.
func FormatOf(name string) string {
	switch strings.ToLower(filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))) {
	case ".parquet", ".parq", ".pq":
		return "parquet"
	case ".csv", ".tsv", ".tbl", ".txt":
		return "csv"
	case ".json", ".ndjson", ".jsonl":
		return "json"
	case ".arrow", ".arrows", ".feather", ".ipc":
		return "arrow"
	}
	return ""
}

// OpenFile opens a file to be read.
func OpenFile(name string, o FileOptions) (f File, err error) {
	defer caught(name, &err)
	if facts := factFormats[o.Format]; facts != nil {
		return openFacts(facts(name))
	}
	switch format(name, o) {
	case "parquet":
		return openParquet(name)
	case "csv":
		return openCSV(name, o)
	case "json":
		return openJSON(name, o)
	case "arrow":
		return openIPC(name)
	}
	return nil, unknownFormat(name, o)
}

// CreateFile starts a file of the given schema.
func CreateFile(name string, schema sqltype.Schema, o FileOptions) (RecordWriter, error) {
	kind := format(name, o)
	if !slices.Contains([]string{"parquet", "csv", "json", "arrow"}, kind) {
		return nil, unknownFormat(name, o)
	}
	part, err := createPart(name)
	if err != nil {
		return nil, err
	}
	var w RecordWriter
	switch kind {
	case "parquet":
		w, err = newParquetWriter(part, schema, o)
	case "csv":
		w = newCSVWriter(part, schema, o.CSV)
	case "json":
		w = newJSONWriter(part, schema, o.JSON)
	case "arrow":
		w, err = newIPCWriter(part, schema)
	}
	if err != nil {
		part.abort()
		return nil, badFile(name, err)
	}
	return w, nil
}

func format(name string, o FileOptions) string {
	if o.Format != "" {
		return strings.ToLower(o.Format)
	}
	return FormatOf(name)
}

func unknownFormat(name string, o FileOptions) error {
	if o.Format != "" {
		return sqltype.Errorf(sqltype.CodeInvalidParameter, "%s: format %q is not known; parquet, csv, json and arrow are", name, o.Format)
	}
	return sqltype.Errorf(sqltype.CodeInvalidParameter, "%s: cannot tell the format from the name; name it by (FORMAT parquet, csv, json or arrow)", name)
}

// badFile is err as an error of the file, unless it is one already.
func badFile(name string, err error) error {
	var e *sqltype.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	for _, other := range []error{context.Canceled, context.DeadlineExceeded, device.ErrNoMemory, device.ErrLost, device.ErrClosed} {
		if errors.Is(err, other) {
			return err
		}
	}
	code := sqltype.CodeBadFile
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
		if !errors.Is(err, fs.ErrNotExist) {
			code = sqltype.CodeIO
		}
	}
	return sqltype.Errorf(code, "%s: %v", name, err)
}

// caught turns a panic of a decoder into an error: a file is input, and a
// broken one must not take the process down.
func caught(name string, err *error) {
	if r := recover(); r != nil {
		*err = sqltype.Errorf(sqltype.CodeBadFile, "%s: the file is broken: %v", name, r)
	}
}

// partFile is a file being written under another name.
type partFile struct {
	*os.File
	name string
}

func createPart(name string) (*partFile, error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return nil, badFile(name, err)
	}
	return &partFile{File: f, name: name}, nil
}

// commit puts the file in its place.
func (p *partFile) commit() error {
	err := p.Chmod(0o644)
	if cerr := p.File.Close(); err == nil || errors.Is(err, os.ErrClosed) {
		err = cerr
	}
	if err == nil || errors.Is(err, os.ErrClosed) {
		err = os.Rename(p.File.Name(), p.name)
	}
	if err != nil {
		os.Remove(p.File.Name())
		return badFile(p.name, err)
	}
	return nil
}

func (p *partFile) abort() {
	p.File.Close()
	os.Remove(p.File.Name())
}

// noClose keeps a library from closing the file under it.
type noClose struct{ io.Writer }

// unsupported is the error of a column whose type has no SQL type.
func unsupported(name, column string, t fmt.Stringer) error {
	return sqltype.Errorf(sqltype.CodeNotSupported, "%s: column %q has type %s, which is not supported", name, column, t)
}
