package arrow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gpusql/gpusql/sqltype"
)

// jsonRecords splits JSON text into records, and objects into fields. Text
// between records may be blanks, line ends and, in an array, commas.
type jsonRecords struct {
	form    JSONForm
	columns map[string]int // by key; empty when records are not objects
	names   []string
	want    []*textColumn // by column of the file; nil: not asked for
	lenient bool          // keys that are no column are passed over

	data    []byte
	end     int
	pos     int
	side    []byte
	follows int // the column expected next: objects mostly have their keys in one order
}

var (
	errNoObject  = errors.New("expected an object")
	errBadString = errors.New("a string is not JSON")
)

func (s *jsonRecords) reset(data []byte, end int) {
	s.data, s.end, s.pos, s.side = data[:end], end, 0, s.side[:0]
}

func (s *jsonRecords) aside() []byte { return s.side }
func (s *jsonRecords) forget()       { s.side = s.side[:0] }

// next implements recordSplitter.
func (s *jsonRecords) next(n int) (at int, more bool, err error) {
	at, more = s.begin()
	if !more {
		return at, false, nil
	}
	for _, c := range s.want {
		if c != nil {
			c.spans[n] = textSpan{n: noText}
		}
	}
	to, err := s.record(at, func(key []byte, f textSpan) error { return s.put(key, f, n) })
	var bad badRecord
	if err != nil && (s.form == JSONLines || errors.As(err, &bad)) {
		s.pass(at)
		return at, true, badRecord{err}
	}
	s.pos = to
	return at, true, err
}

// record reads the record at a place, and says where it ends. What is no
// object has one field without a key.
func (s *jsonRecords) record(at int, field func(key []byte, f textSpan) error) (to int, err error) {
	data, end := s.data, s.end
	if s.form == JSONLines {
		if i := bytes.IndexByte(data[at:end], '\n'); i >= 0 {
			s.data, s.end = data[:at+i], at+i
		}
	}
	if len(s.columns) == 0 && data[at] != '{' {
		var f textSpan
		if f, to, err = s.value(at); err == nil {
			err = field(nil, f)
		}
	} else {
		s.follows = 0
		to, err = s.object(at, field)
	}
	if err == nil && s.form == JSONLines {
		if i := s.blanks(to); i < s.end {
			err = fmt.Errorf("unexpected %q behind a record", s.data[i])
		}
	}
	s.data, s.end = data, end
	return to, err
}

// begin is where the next record begins, if there is one.
func (s *jsonRecords) begin() (int, bool) {
	at := s.pos
	for at < s.end && (isBlank(s.data[at]) || s.form == JSONArray && s.data[at] == ',') {
		at++
	}
	if s.form == JSONArray && at < s.end && s.data[at] == ']' && s.blanks(at+1) == s.end {
		return at, false
	}
	return at, at < s.end
}

// pass goes on behind the record at a place, which is wrong: behind its line,
// or behind the value, which is whole.
func (s *jsonRecords) pass(at int) {
	if s.form != JSONLines {
		if to, err := sqltype.JSONEnd(s.data, at); err == nil {
			s.pos = to
			return
		}
	}
	s.pos = s.end
	if i := bytes.IndexByte(s.data[at:], '\n'); i >= 0 {
		s.pos = at + i + 1
	}
}

// put takes a field of row n.
func (s *jsonRecords) put(key []byte, f textSpan, n int) error {
	if key == nil || len(s.columns) == 0 {
		if key != nil {
			return badRecord{errors.New("an object among other values")}
		}
		if c := s.want[0]; c != nil {
			c.spans[n] = f
		}
		return nil
	}
	i := s.follows
	if i >= len(s.names) || string(key) != s.names[i] {
		var ok bool
		if i, ok = s.columns[string(key)]; !ok {
			if s.lenient {
				return nil
			}
			return badRecord{fmt.Errorf("key %q is not among the columns, which come from the first records; raise sample_size", key)}
		}
	}
	s.follows = i + 1
	if c := s.want[i]; c != nil {
		c.spans[n] = f
	}
	return nil
}

// object reads the object at a place, and says where it ends.
func (s *jsonRecords) object(at int, field func(key []byte, f textSpan) error) (int, error) {
	if s.data[at] != '{' {
		return 0, errNoObject
	}
	at = s.blanks(at + 1)
	if at < s.end && s.data[at] == '}' {
		return at + 1, nil
	}
	for at < s.end {
		if s.data[at] != '"' {
			return 0, fmt.Errorf("unexpected %q where a key is expected", s.data[at])
		}
		key, to, err := s.value(at)
		if err != nil {
			return 0, err
		}
		if at = s.blanks(to); at >= s.end {
			break
		}
		if s.data[at] != ':' {
			return 0, fmt.Errorf("unexpected %q behind a key", s.data[at])
		}
		if at = s.blanks(at + 1); at >= s.end {
			break
		}
		f, to, err := s.value(at)
		if err != nil {
			return 0, err
		}
		if err := field(s.text(key), f); err != nil {
			return 0, err
		}
		if at = s.blanks(to); at >= s.end {
			break
		}
		switch s.data[at] {
		case '}':
			return at + 1, nil
		case ',':
			at = s.blanks(at + 1)
		default:
			return 0, fmt.Errorf("unexpected %q behind a value", s.data[at])
		}
	}
	return 0, sqltype.ErrJSONEnd
}

func (s *jsonRecords) text(f textSpan) []byte {
	n := f.n & spanLength
	if f.n&spanSide != 0 {
		return s.side[f.at : f.at+n]
	}
	return s.data[f.at : f.at+n]
}

func (s *jsonRecords) blanks(at int) int {
	for at < s.end && isBlank(s.data[at]) {
		at++
	}
	return at
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// value reads the value at a place: a string without its quotes, another as it
// is written, null as no text.
func (s *jsonRecords) value(at int) (textSpan, int, error) {
	to, err := sqltype.JSONEnd(s.data, at)
	if err != nil {
		return textSpan{}, 0, err
	}
	switch s.data[at] {
	case '"':
		f := textSpan{at: uint32(at + 1), n: uint32(to-at-2) | spanQuoted}
		if bytes.IndexByte(s.data[at+1:to-1], '\\') < 0 {
			return f, to, nil
		}
		var text string
		if err := json.Unmarshal(s.data[at:to], &text); err != nil {
			return f, 0, errBadString
		}
		f.at = uint32(len(s.side))
		s.side = append(s.side, text...)
		f.n = uint32(len(text)) | spanQuoted | spanSide
		return f, to, nil
	case '{', '[':
		if !json.Valid(s.data[at:to]) {
			return textSpan{}, 0, errors.New("a nested value is not JSON")
		}
	case 'n':
		return textSpan{n: noText}, to, nil
	}
	return textSpan{at: uint32(at), n: uint32(to - at)}, to, nil
}
