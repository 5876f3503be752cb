package arrow

import (
	"bufio"
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/gpusql/gpusql/sqltype"
)

// csvWriter writes a CSV file.
type csvWriter struct {
	part *partFile
	w    *bufio.Writer
	o    CSVOptions
	err  error
}

func newCSVWriter(part *partFile, schema sqltype.Schema, o CSVOptions) *csvWriter {
	w := &csvWriter{part: part, w: bufio.NewWriterSize(part, 1<<18), o: o.withDefaults(part.name)}
	if w.o.Delimiter == 0 {
		w.o.Delimiter = ','
	}
	if o.Header != HeaderNo {
		for i, c := range schema {
			w.field(i, c.Name, false)
		}
		w.byte('\n')
	}
	return w
}

// Write implements RecordWriter.
func (w *csvWriter) Write(rec arrow.RecordBatch) error {
	for i := range int(rec.NumRows()) {
		for j, col := range rec.Columns() {
			d := DatumAt(col, i)
			w.field(j, d.String(), d.Null)
		}
		w.byte('\n')
	}
	return badFile(w.part.name, w.err)
}

// field writes field number i, quoted when a reader would take it for
// something else.
func (w *csvWriter) field(i int, s string, null bool) {
	if i > 0 {
		w.byte(w.o.Delimiter)
	}
	if null {
		w.string(w.o.Null)
		return
	}
	special := s == w.o.Null || bytes.ContainsAny([]byte(s), "\r\n") ||
		bytes.IndexByte([]byte(s), w.o.Delimiter) >= 0 || bytes.IndexByte([]byte(s), w.o.Quote) >= 0
	if !special {
		w.string(s)
		return
	}
	w.byte(w.o.Quote)
	for k := range len(s) {
		if s[k] == w.o.Quote || s[k] == w.o.Escape {
			w.byte(w.o.Escape)
		}
		w.byte(s[k])
	}
	w.byte(w.o.Quote)
}

func (w *csvWriter) byte(b byte) {
	if err := w.w.WriteByte(b); w.err == nil {
		w.err = err
	}
}

func (w *csvWriter) string(s string) {
	if _, err := w.w.WriteString(s); w.err == nil {
		w.err = err
	}
}

// Close implements RecordWriter.
func (w *csvWriter) Close() error {
	if err := w.w.Flush(); w.err == nil {
		w.err = err
	}
	if w.err != nil {
		w.part.abort()
		return badFile(w.part.name, w.err)
	}
	return w.part.commit()
}

// Abort implements RecordWriter.
func (w *csvWriter) Abort() { w.part.abort() }
