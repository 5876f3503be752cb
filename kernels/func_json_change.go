package kernels

import (
	"strconv"

	"github.com/gpusql/gpusql/sqltype"
)

// jsonHolds is whether a value has all that another one has: an object its keys
// with what they hold, an array its elements in any order, anything else the same.
func jsonHolds(text, part string) bool {
	switch {
	case part[0] == '{' && text[0] == '{':
		all := true
		sqltype.JSONParts(part, func(key, value string) bool {
			held, ok := jsonField(text, sqltype.JSONString(key))
			all = ok && jsonHolds(held, value)
			return all
		})
		return all
	case part[0] == '[' && text[0] == '[':
		all := true
		sqltype.JSONParts(part, func(_, value string) bool {
			all = anyPart(text, func(held string) bool { return jsonHolds(held, value) })
			return all
		})
		return all
	case part[0] == '"' && text[0] == '"':
		return sqltype.JSONString(part) == sqltype.JSONString(text)
	}
	return text == part || sameNumber(text, part)
}

// jsonHoldsTop is jsonHolds for @>, where an array holds a value that is its element.
func jsonHoldsTop(text, part string) bool {
	if text[0] == '[' && part[0] != '[' && part[0] != '{' {
		return anyPart(text, func(held string) bool { return jsonHolds(held, part) })
	}
	return jsonHolds(text, part)
}

// jsonContains is whether a value, or anything in it, holds another.
func jsonContains(text, part string) bool {
	return jsonHolds(text, part) || (text[0] == '{' || text[0] == '[') &&
		anyPart(text, func(held string) bool { return jsonContains(held, part) })
}

// anyPart reports whether f is true of an element or of a key's value.
func anyPart(text string, f func(string) bool) (found bool) {
	sqltype.JSONParts(text, func(_, value string) bool {
		found = f(value)
		return !found
	})
	return found
}

// jsonField is the value of an object's key.
func jsonField(text, name string) (found string, ok bool) {
	sqltype.JSONParts(text, func(key, value string) bool {
		if sqltype.JSONString(key) == name {
			found, ok = value, true
		}
		return !ok
	})
	return found, ok
}

func sameNumber(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	if err != nil {
		return false
	}
	y, err := strconv.ParseFloat(b, 64)
	return err == nil && x == y
}

// jsonWriter writes an object or an array.
type jsonWriter struct {
	dst   []byte
	first bool
}

func startJSON(dst []byte, text string) jsonWriter { return jsonWriter{append(dst, text[0]), true} }

// next begins a part; the key is as it is written, empty in an array.
func (w *jsonWriter) next(key string) {
	if !w.first {
		w.dst = append(w.dst, ',')
	}
	if w.first = false; key != "" {
		w.dst = append(append(w.dst, key...), ':')
	}
}

// end closes what was begun as text is.
func (w *jsonWriter) end(text string) []byte { return append(w.dst, text[0]+2) } // { and }, [ and ]

// appendStripped appends a value without the keys of objects that hold null.
func appendStripped(dst []byte, text string) []byte {
	if text[0] != '{' && text[0] != '[' {
		return append(dst, text...)
	}
	w := startJSON(dst, text)
	sqltype.JSONParts(text, func(key, value string) bool {
		if key == "" || value != "null" {
			w.next(key)
			w.dst = appendStripped(w.dst, value)
		}
		return true
	})
	return w.end(text)
}

// jsonRemove is x - key, x - place and x - keys: a value without them. Of an array
// keys are elements that are such texts.
func jsonRemove(args []sqltype.Type) ScalarFunc {
	without := func(c *Call, i int, gone func(place, places int64, key string) bool) (View, error) {
		text, err := c.jsonArg(i)
		if err != nil {
			return View{}, err
		}
		if text[0] != '{' && text[0] != '[' {
			return View{}, sqltype.Errorf(sqltype.CodeInvalidParameter, "nothing can be taken out of a JSON value that is neither an object nor an array")
		}
		places := int64(0)
		sqltype.JSONParts(text, func(_, _ string) bool { places++; return true })
		w, place := startJSON(nil, text), int64(-1)
		sqltype.JSONParts(text, func(key, value string) bool {
			place++
			name := key
			if text[0] == '[' {
				name = value
			}
			if name[0] != '"' {
				name = ""
			} else {
				name = sqltype.JSONString(name)
			}
			if !gone(place, places, name) {
				w.next(key)
				w.dst = append(w.dst, value...)
			}
			return true
		})
		return c.Heap.Bytes(w.end(text))
	}
	switch args[1].Kind {
	case sqltype.KindVarchar:
		return FuncRow(func(c *Call, i int) (View, error) {
			name := ArgAt[string](c, 1, i)
			return without(c, i, func(_, _ int64, key string) bool { return key == name })
		})
	case sqltype.KindList:
		return FuncRow(func(c *Call, i int) (View, error) {
			names := map[string]bool{}
			for e := c.elements(1, i); e.Next(); {
				if !e.IsNull() {
					names[e.Datum().S] = true
				}
			}
			return without(c, i, func(_, _ int64, key string) bool { return names[key] })
		})
	}
	return FuncRow(func(c *Call, i int) (View, error) {
		at := ArgAt[int64](c, 1, i)
		return without(c, i, func(place, places int64, _ string) bool { return place == at || place == places+at })
	})
}

// jsonSet is jsonb_set(x, path, value [, create]): what is at the path gives way to
// the value, which is added where only the last step leads nowhere.
func jsonSet(c *Call, i int) (View, error) {
	text, err := c.jsonArg(i)
	if err != nil {
		return View{}, err
	}
	value, err := c.jsonArgAt(2, i)
	if err != nil {
		return View{}, err
	}
	path, err := c.jsonPath(i)
	if err != nil {
		return View{}, err
	}
	create := len(c.Args) < 4 || ArgAt[bool](c, 3, i)
	return c.Heap.Bytes(path.appendSet(nil, text, value, create))
}

func (p jsonPath) appendSet(dst []byte, text, value string, create bool) []byte {
	if len(p) == 0 || text[0] != '{' && text[0] != '[' {
		return append(dst, text...)
	}
	step, array := p[0], text[0] == '['
	at := step.place
	if array && at < 0 {
		sqltype.JSONParts(text, func(_, _ string) bool { at++; return true })
	}
	w, place, found := startJSON(dst, text), int64(0), false
	if array && at < 0 && create && len(p) == 1 && step.both {
		w.next("")
		w.dst = append(w.dst, value...)
		found = true
	}
	sqltype.JSONParts(text, func(key, old string) bool {
		w.next(key)
		here := array && step.both && place == at || !array && sqltype.JSONString(key) == step.key
		place++
		switch {
		case !here:
			w.dst = append(w.dst, old...)
			return true
		case len(p) == 1:
			w.dst = append(w.dst, value...)
		default:
			w.dst = p[1:].appendSet(w.dst, old, value, create)
		}
		found = true
		return true
	})
	if !found && create && len(p) == 1 && (!array || step.both) {
		if array {
			w.next("")
		} else {
			w.next(string(sqltype.AppendJSONString(nil, step.key)))
		}
		w.dst = append(w.dst, value...)
	}
	return w.end(text)
}

// jsonShape is what json_structure tells of a value: a type's name, or the shapes of
// an object's keys in order, or that of an array's elements.
type jsonShape struct {
	name   string
	keys   []string // as they are written
	fields map[string]*jsonShape
	elem   *jsonShape
}

func structureOf(text string) *jsonShape {
	switch text[0] {
	case '{':
		s := &jsonShape{fields: map[string]*jsonShape{}}
		sqltype.JSONParts(text, func(key, value string) bool {
			s.add(key, structureOf(value))
			return true
		})
		return s
	case '[':
		s := &jsonShape{elem: &jsonShape{name: "NULL"}}
		sqltype.JSONParts(text, func(_, value string) bool {
			s.elem = s.elem.with(structureOf(value))
			return true
		})
		return s
	}
	return &jsonShape{name: jsonType(text, false)}
}

func (s *jsonShape) add(key string, shape *jsonShape) {
	if old := s.fields[key]; old != nil {
		s.fields[key] = old.with(shape)
		return
	}
	s.keys = append(s.keys, key)
	s.fields[key] = shape
}

// with is a shape that values of either have.
func (s *jsonShape) with(o *jsonShape) *jsonShape {
	switch {
	case s.name == "NULL":
		return o
	case o.name == "NULL":
		return s
	case s.fields != nil && o.fields != nil:
		for _, key := range o.keys {
			s.add(key, o.fields[key])
		}
		return s
	case s.elem != nil && o.elem != nil:
		s.elem = s.elem.with(o.elem)
		return s
	case s.name != "" && s.name == o.name:
		return s
	}
	numbers := map[string]int{"UBIGINT": 1, "BIGINT": 2, "DOUBLE": 3}
	switch a, b := numbers[s.name], numbers[o.name]; {
	case a == 0 || b == 0:
		return &jsonShape{name: "JSON"}
	case a > b:
		return s
	}
	return o
}

func (s *jsonShape) append(dst []byte) []byte {
	switch {
	case s.fields != nil:
		w := startJSON(dst, "{")
		for _, key := range s.keys {
			w.next(key)
			w.dst = s.fields[key].append(w.dst)
		}
		return w.end("{")
	case s.elem != nil:
		return append(s.elem.append(append(dst, '[')), ']')
	}
	return sqltype.AppendJSONString(dst, s.name)
}
