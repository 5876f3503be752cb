package sqltype

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Errors of JSON text; the first may go away with more of it.
var (
	ErrJSONEnd  = errors.New("the JSON text ends too early")
	errJSONDeep = errors.New("the JSON text is nested too deeply")
)

// maxJSONDepth bounds values in values.
const maxJSONDepth = 1000

// JSONEnd is where the value at a place ends. What is nested in it is not
// looked at closely.
func JSONEnd[S ~string | ~[]byte](data S, at int) (int, error) {
	switch c := data[at]; {
	case c == '"':
		return stringEnd(data, at)
	case c == '{' || c == '[':
		return nestedEnd(data, at)
	case c == 't' || c == 'f' || c == 'n':
		for _, word := range []string{"true", "false", "null"} {
			n := min(len(data)-at, len(word))
			if string(data[at:at+n]) == word[:n] {
				if n < len(word) {
					return 0, ErrJSONEnd
				}
				return at + n, nil
			}
		}
	case c == '-' || c >= '0' && c <= '9':
		for at < len(data) && (data[at] >= '0' && data[at] <= '9' || data[at] == '-' || data[at] == '+' ||
			data[at] == '.' || data[at] == 'e' || data[at] == 'E') {
			at++
		}
		return at, nil
	}
	return 0, fmt.Errorf("unexpected %q where a value is expected", data[at])
}

// stringEnd is what is behind the string at a place.
func stringEnd[S ~string | ~[]byte](data S, at int) (int, error) {
	for at++; at < len(data); at++ {
		switch data[at] {
		case '"':
			return at + 1, nil
		case '\\':
			at++
		}
	}
	return 0, ErrJSONEnd
}

func nestedEnd[S ~string | ~[]byte](data S, at int) (int, error) {
	depth := 0
	for at < len(data) {
		switch data[at] {
		case '"':
			to, err := stringEnd(data, at)
			if err != nil {
				return 0, err
			}
			at = to
			continue
		case '{', '[':
			if depth++; depth > maxJSONDepth {
				return 0, errJSONDeep
			}
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1, nil
			}
		}
		at++
	}
	return 0, ErrJSONEnd
}

// ValidJSON reports that text is one JSON value.
func ValidJSON(text string) bool {
	return json.Valid([]byte(text)) && jsonDepth(text) <= maxJSONDepth
}

func jsonDepth(text string) int {
	depth, most := 0, 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			at, _ = stringEnd(text, at)
			at--
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most
}

// JSONParts gives the elements of an array, or the values of an object with
// their keys as they are written, until f says false. The text is valid JSON.
func JSONParts(text string, f func(key, value string) bool) {
	text = trimBlanks(text)
	object := text[0] == '{'
	for at := skipBlanks(text, 1); text[at] != ']' && text[at] != '}'; {
		key := ""
		if object {
			to, _ := stringEnd(text, at)
			key = text[at:to]
			at = skipBlanks(text, skipBlanks(text, to)+1) // the colon
		}
		to, _ := JSONEnd(text, at)
		if !f(key, text[at:to]) {
			return
		}
		if at = skipBlanks(text, to); text[at] == ',' {
			at = skipBlanks(text, at+1)
		}
	}
}

func skipBlanks(text string, at int) int {
	for text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r' {
		at++
	}
	return at
}

// JSONString is what a JSON string in its quotes stands for.
func JSONString(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if err := json.Unmarshal([]byte(quoted), &s); err != nil {
		panic(fmt.Sprintf("sqltype: %q is no JSON string", quoted))
	}
	return s
}

// DecodeJSON reads valid JSON text as a value: an array as a LIST, an object as
// a STRUCT, whose keys that are missing are NULL and whose other keys are left
// out, all else by the text within.
func DecodeJSON(text string, t Type) (Datum, error) {
	if text = trimBlanks(text); text == "" {
		return Datum{}, invalidText(JSON, text)
	}
	switch c := text[0]; {
	case c == 'n' && t.Kind != KindJSON:
		return NullOf(t), nil
	case t.Kind == KindList && c == '[':
		return decodeArray(text, t)
	case t.Kind == KindStruct && c == '{':
		return decodeObject(text, t)
	case t.Kind == KindMap && c == '{':
		return decodeMap(text, t)
	case t.Kind == KindJSON:
		return Datum{Type: t, S: text}, nil
	case t.Kind.IsNested():
		return Datum{}, Errorf(CodeInvalidText, "JSON %.40q is no %s", text, t)
	case c == '"':
		return parseDatum(JSONString(text), t)
	}
	return parseDatum(text, t)
}

func decodeArray(text string, t Type) (Datum, error) {
	var out []byte
	var err error
	elem := t.Elem()
	JSONParts(text, func(_, value string) bool {
		var d Datum
		if d, err = DecodeJSON(value, elem); err == nil {
			out = AppendElement(out, d)
		}
		return err == nil
	})
	return Datum{Type: t, S: string(append(out, EndOfElements))}, err
}

func decodeObject(text string, t Type) (Datum, error) {
	fields := t.Fields()
	parts := make([]Datum, len(fields))
	for i, f := range fields {
		parts[i] = NullOf(f.Type)
	}
	var err error
	JSONParts(text, func(key, value string) bool {
		if i, field, ok := t.Field(JSONString(key)); ok {
			parts[i], err = DecodeJSON(value, field)
		}
		return err == nil
	})
	if err != nil {
		return Datum{}, err
	}
	return NewNested(t, parts), nil
}

// decodeMap takes an object's keys as a map's.
func decodeMap(text string, t Type) (Datum, error) {
	entry := t.Elem()
	fields := entry.Fields()
	var entries []Datum
	var err error
	JSONParts(text, func(key, value string) bool {
		var k, v Datum
		if k, err = parseDatum(JSONString(key), fields[0].Type); err == nil {
			v, err = DecodeJSON(value, fields[1].Type)
		}
		entries = append(entries, NewNested(entry, []Datum{k, v}))
		return err == nil
	})
	if err != nil {
		return Datum{}, err
	}
	return NewMap(t, entries)
}

// AppendJSON appends a value as JSON: numbers and truth values as they are, what
// JSON has no form for as a string.
func AppendJSON(dst []byte, d Datum) []byte {
	k := d.Type.Kind
	switch {
	case d.Null || k == KindNull:
		return append(dst, "null"...)
	case k.IsFloat() && (math.IsNaN(d.F) || math.IsInf(d.F, 0)):
	case k == KindJSON:
		return append(dst, d.S...)
	case k.IsNested():
		return appendJSONParts(dst, d)
	case k.IsNumeric() || k == KindBool:
		return d.Append(dst)
	}
	return AppendJSONString(dst, d.String())
}

// appendJSONParts appends a list as an array, a struct or a map as an object.
func appendJSONParts(dst []byte, d Datum) []byte {
	open, end := byte('['), byte(']')
	if d.Type.Kind != KindList {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	first := len(dst)
	for e := d.Elements(); e.Next(); {
		if len(dst) > first {
			dst = append(dst, ',')
		}
		v := e.Datum()
		switch d.Type.Kind {
		case KindStruct:
			dst = append(AppendJSONString(dst, e.Name()), ':')
		case KindMap:
			entry := v.Elements()
			entry.Next()
			dst = append(AppendJSONString(dst, entry.Datum().String()), ':')
			entry.Next()
			v = entry.Datum()
		}
		dst = AppendJSON(dst, v)
	}
	return append(dst, end)
}

// AppendJSONString appends text as a JSON string.
func AppendJSONString(dst []byte, text string) []byte {
	if isPlainJSON(text) {
		return append(append(append(dst, '"'), text...), '"')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(text) //nolint:errcheck // a string can be encoded, and a buffer written
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte{'\n'})...)
}

// isPlainJSON reports text that stands in quotes as it is.
func isPlainJSON(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}
