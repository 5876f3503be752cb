package arrow

import (
	"bufio"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/gpusql/gpusql/sqltype"
)

// jsonWriter writes objects, a row each, a line each.
type jsonWriter struct {
	part  *partFile
	w     *bufio.Writer
	keys  [][]byte // with the mark before and the colon behind
	array bool
	rows  int
	line  []byte
}

func newJSONWriter(part *partFile, schema sqltype.Schema, o JSONOptions) *jsonWriter {
	w := &jsonWriter{part: part, w: bufio.NewWriterSize(part, 1<<18), array: o.Form == JSONArray}
	for i, c := range schema {
		key := []byte{'{'}
		if i > 0 {
			key[0] = ','
		}
		w.keys = append(w.keys, append(sqltype.AppendJSONString(key, c.Name), ':'))
	}
	return w
}

// Write implements RecordWriter.
func (w *jsonWriter) Write(rec arrow.RecordBatch) error {
	for i := range int(rec.NumRows()) {
		w.line = append(w.line[:0], w.between()...)
		for j, col := range rec.Columns() {
			w.line = sqltype.AppendJSON(append(w.line, w.keys[j]...), DatumAt(col, i))
		}
		if len(w.keys) == 0 {
			w.line = append(w.line, '{')
		}
		w.line = append(w.line, '}')
		if _, err := w.w.Write(w.line); err != nil {
			return badFile(w.part.name, err)
		}
		w.rows++
	}
	return nil
}

// between stands before a record.
func (w *jsonWriter) between() string {
	switch {
	case w.array && w.rows == 0:
		return "[\n"
	case w.array:
		return ",\n"
	case w.rows == 0:
		return ""
	}
	return "\n"
}

// Close implements RecordWriter.
func (w *jsonWriter) Close() error {
	end := "\n"
	switch {
	case w.array && w.rows == 0:
		end = "[]\n"
	case w.array:
		end = "\n]\n"
	case w.rows == 0:
		end = ""
	}
	_, err := w.w.WriteString(end)
	if ferr := w.w.Flush(); err == nil {
		err = ferr
	}
	if err != nil {
		w.part.abort()
		return badFile(w.part.name, err)
	}
	return w.part.commit()
}

// Abort implements RecordWriter.
func (w *jsonWriter) Abort() { w.part.abort() }
