package arrow

import (
	"bytes"
	"errors"

	"github.com/gpusql/gpusql/sqltype"
)

// JSONOptions say how a JSON file is written down.
type JSONOptions struct {
	Form      JSONForm
	Sample    int  // the records that are looked at to find keys and types; 0: sampleRecords
	IgnoreBad bool // pass over records that are wrong
}

// JSONForm is how the records of a file follow each other.
type JSONForm uint8

// The forms.
const (
	JSONGuess  JSONForm = iota
	JSONLines           // a record a line
	JSONArray           // one array of records
	JSONValues          // records one behind the other
)

// jsonFile is a JSON file: objects are rows, and their keys columns.
type jsonFile struct {
	textFile
	o       JSONOptions
	columns map[string]int
	names   []string
	lenient bool
}

func openJSON(name string, o FileOptions) (File, error) {
	j := &jsonFile{o: o.JSON}
	if j.o.Sample == 0 {
		j.o.Sample = sampleRecords
	}
	j.end = j.recordEnd
	if err := j.open(name, o); err != nil {
		return nil, err
	}
	if err := j.sniff(); err != nil {
		j.Close() //nolint:errcheck // it was only read
		return nil, badFile(name, err)
	}
	return j, nil
}

// Read implements File.
func (j *jsonFile) Read(part int, cols []int, rows int, im *Importer) (BatchReader, error) {
	s := j.records()
	r, err := j.read(part, cols, rows, im, s, j.o.IgnoreBad)
	if err == nil {
		s.want = r.want
		for _, c := range r.want {
			if c != nil && c.typ.Kind.IsNested() {
				c.parse = parsedViews(nestedJSON)
			}
		}
	}
	return r, err
}

// nestedJSON reads an array or object; a string, whose quotes are gone, is none.
func nestedJSON(text string, t sqltype.Type) (sqltype.Datum, error) {
	if !sqltype.ValidJSON(text) {
		return sqltype.Datum{}, sqltype.Errorf(sqltype.CodeInvalidText, "%.40q is no %s", text, t)
	}
	return sqltype.DecodeJSON(text, t)
}

func (j *jsonFile) records() *jsonRecords {
	return &jsonRecords{form: j.o.Form, columns: j.columns, names: j.names, lenient: j.lenient}
}

// recordEnd is textFile.end: a line is a record, or records are looked for.
func (j *jsonFile) recordEnd(w []byte, target int, last bool) int {
	if j.o.Form == JSONLines {
		return recordEnd(w, target, CSVOptions{}, last)
	}
	s := j.records()
	s.reset(w, len(w))
	for {
		at, more := s.begin()
		switch {
		case !more && last:
			return len(w)
		case !more:
			return -1
		case at >= target && at > 0:
			return at
		}
		to, err := sqltype.JSONEnd(w, at)
		switch {
		case errors.Is(err, sqltype.ErrJSONEnd) && !last:
			return -1
		case err != nil: // the reader will say what is wrong
			return len(w)
		}
		s.pos = to
	}
}

// sniff finds the form, the first record, keys and types.
func (j *jsonFile) sniff() error {
	text, whole, err := j.sample()
	if err != nil {
		return err
	}
	begin := 0
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		begin = 3
	}
	for begin < len(text) && isBlank(text[begin]) {
		begin++
	}
	if j.o.Form == JSONGuess {
		j.o.Form = jsonForm(text[begin:])
	}
	j.streamed = j.gzip || j.o.Form != JSONLines
	if j.o.Form == JSONArray && begin < len(text) {
		if text[begin] != '[' {
			return j.errorAt(1+bytes.Count(text[:begin], []byte{'\n'}), errors.New("expected an array"))
		}
		begin++
	}
	j.starts = []int64{int64(begin)}
	body := text[begin:]
	if !whole {
		body = j.wholeRecords(body)
	}
	if j.schema != nil {
		j.lenient = true
		j.setColumns()
		return nil
	}
	return j.sniffRecords(body, 1+bytes.Count(text[:begin], []byte{'\n'}))
}

// jsonForm guesses how records follow each other.
func jsonForm(text []byte) JSONForm {
	if len(text) > 0 && text[0] == '[' {
		return JSONArray
	}
	line, _, cut := bytes.Cut(text, []byte{'\n'})
	if cut && len(line) > 0 {
		if to, err := sqltype.JSONEnd(line, 0); err != nil || len(bytes.TrimSpace(line[to:])) > 0 {
			return JSONValues
		}
	}
	return JSONLines
}

func (j *jsonFile) errorAt(line int, err error) error {
	return sqltype.Errorf(sqltype.CodeBadFile, "%s: line %d: %v", j.name, line, err)
}

// sniffRecords makes the schema of the keys in the order in which they come.
func (j *jsonFile) sniffRecords(body []byte, line int) error {
	s := j.records()
	s.reset(body, len(body))
	at := map[string]int{}
	var types []jsonShape
	var keys []string
	var fields []textSpan
	objects, others := 0, 0
	for range j.o.Sample {
		begin, more := s.begin()
		if !more {
			break
		}
		keys, fields = keys[:0], fields[:0]
		to, err := s.record(begin, func(key []byte, f textSpan) error {
			if key != nil {
				keys, fields = append(keys, string(key)), append(fields, f)
			}
			return nil
		})
		switch {
		case err != nil && j.o.IgnoreBad:
			s.pass(begin)
			continue
		case err != nil:
			return j.errorAt(line+bytes.Count(body[:begin], []byte{'\n'}), err)
		case s.data[begin] == '{':
			objects++
		default:
			others++
		}
		for k, key := range keys {
			i, ok := at[key]
			if !ok {
				i = len(types)
				at[key] = i
				types = append(types, jsonShape{})
				j.schema = append(j.schema, sqltype.Column{Name: key})
			}
			if f := fields[k]; f.n != noText {
				types[i].see(s.text(f), f.n&spanQuoted != 0)
			}
		}
		s.forget()
		s.pos = to
	}
	switch {
	case others > 0 && objects == 0:
		j.schema = sqltype.Schema{{Name: "json", Type: sqltype.Varchar}}
		return nil
	case objects == 0:
		return sqltype.Errorf(sqltype.CodeBadFile, "%s: there are no records", j.name)
	case len(j.schema) == 0:
		return sqltype.Errorf(sqltype.CodeBadFile, "%s: the objects have no keys", j.name)
	}
	j.setColumns()
	names := uniqueNames(j.names)
	for i := range j.schema {
		j.schema[i] = sqltype.Column{Name: names[i], Type: types[i].best()}
	}
	return nil
}

// setColumns finds columns by their keys.
func (j *jsonFile) setColumns() {
	j.columns = make(map[string]int, len(j.schema))
	for i, c := range j.schema {
		j.columns[c.Name] = i
		j.names = append(j.names, c.Name)
	}
}

// seeJSON takes a JSON value into account: a string may be a moment, but is no
// number and no truth value; a number is no moment.
func (g *typeGuess) seeJSON(text []byte, quoted bool) {
	g.see(text)
	for i, c := range guesses {
		moment := c.typ.Kind.IsTemporal()
		g.not[i] = g.not[i] || moment != quoted
	}
}
