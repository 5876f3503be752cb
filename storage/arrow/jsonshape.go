package arrow

import "github.com/gpusql/gpusql/sqltype"

// jsonShape is what the values of a key, or of an array, have in common.
type jsonShape struct {
	plain  typeGuess
	plains bool // some are neither arrays nor objects
	elem   *jsonShape
	fields map[string]*jsonShape
	keys   []string // of fields, in the order in which they come
}

// see takes a value into account, which is not null: text as it is in the file,
// a string without its quotes.
func (s *jsonShape) see(text []byte, quoted bool) {
	switch {
	case quoted || text[0] != '[' && text[0] != '{':
		s.plains = true
		s.plain.seeJSON(text, quoted)
	case text[0] == '[':
		if s.elem == nil {
			s.elem = &jsonShape{}
		}
		sqltype.JSONParts(string(text), func(_, value string) bool {
			s.elem.seePart(value)
			return true
		})
	default:
		if s.fields == nil {
			s.fields = map[string]*jsonShape{}
		}
		sqltype.JSONParts(string(text), func(key, value string) bool {
			key = sqltype.JSONString(key)
			if s.fields[key] == nil {
				s.fields[key] = &jsonShape{}
				s.keys = append(s.keys, key)
			}
			s.fields[key].seePart(value)
			return true
		})
	}
}

func (s *jsonShape) seePart(value string) {
	switch value[0] {
	case 'n':
	case '"':
		s.see([]byte(sqltype.JSONString(value)), true)
	default:
		s.see([]byte(value), false)
	}
}

// best is the type of all values: text where they differ too much.
func (s *jsonShape) best() sqltype.Type {
	switch {
	case s.elem != nil && !s.plains && s.fields == nil:
		return sqltype.ListOf(s.elem.best())
	case len(s.keys) > 0 && !s.plains && s.elem == nil:
		fields := make([]sqltype.Field, len(s.keys))
		for i, name := range uniqueNames(s.keys) {
			fields[i] = sqltype.Field{Name: name, Type: s.fields[s.keys[i]].best()}
		}
		return sqltype.StructOf(fields)
	case s.elem != nil || s.fields != nil:
		return sqltype.Varchar
	}
	return s.plain.best()
}
