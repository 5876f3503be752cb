package arrow

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"

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
	text  bytes.Buffer
}

func newJSONWriter(part *partFile, schema sqltype.Schema, o JSONOptions) *jsonWriter {
	w := &jsonWriter{part: part, w: bufio.NewWriterSize(part, 1<<18), array: o.Form == JSONArray}
	for i, c := range schema {
		key := []byte{'{'}
		if i > 0 {
			key[0] = ','
		}
		w.keys = append(w.keys, append(w.quoted(key, c.Name), ':'))
	}
	return w
}

// Write implements RecordWriter.
func (w *jsonWriter) Write(rec arrow.RecordBatch) error {
	for i := range int(rec.NumRows()) {
		w.line = append(w.line[:0], w.between()...)
		for j, col := range rec.Columns() {
			w.line = w.value(append(w.line, w.keys[j]...), DatumAt(col, i))
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

// value appends a value: numbers and truth values as they are, what JSON has
// no form for as text.
func (w *jsonWriter) value(b []byte, d sqltype.Datum) []byte {
	k := d.Type.Kind
	switch {
	case d.Null:
		return append(b, "null"...)
	case k.IsFloat() && (math.IsNaN(d.F) || math.IsInf(d.F, 0)):
	case k.IsNested():
		return w.nested(b, d)
	case k.IsNumeric() || k == sqltype.KindBool:
		return append(b, d.String()...)
	}
	return w.quoted(b, d.String())
}

// nested appends a list as an array, a struct as an object.
func (w *jsonWriter) nested(b []byte, d sqltype.Datum) []byte {
	open, end := byte('['), byte(']')
	if d.Type.Kind == sqltype.KindStruct {
		open, end = '{', '}'
	}
	b = append(b, open)
	first := len(b)
	for e := d.Elements(); e.Next(); {
		if len(b) > first {
			b = append(b, ',')
		}
		if open == '{' {
			b = append(w.quoted(b, e.Name()), ':')
		}
		b = w.value(b, e.Datum())
	}
	return append(b, end)
}

func (w *jsonWriter) quoted(b []byte, text string) []byte {
	w.text.Reset()
	e := json.NewEncoder(&w.text)
	e.SetEscapeHTML(false)
	e.Encode(text) //nolint:errcheck // a string can be encoded, and a buffer written
	return append(b, bytes.TrimSuffix(w.text.Bytes(), []byte{'\n'})...)
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
