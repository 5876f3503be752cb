package kernels

import (
	"strconv"

	"github.com/gpusql/gpusql/sqltype"
)

// jsonNodes lists the values of an object or an array, or with deep the value itself
// and all that are within it, each before its own.
func jsonNodes(deep bool) ScalarFunc {
	return onJSON(func(c *Call, i int, text string) (View, error) {
		w := jsonWalk{node: c.Result.Elem(), deep: deep}
		root := "$"
		if len(c.Args) > 1 && c.Args[1].Type.Kind == sqltype.KindVarchar {
			if p := ArgAt[string](c, 1, i); p != "" && p[0] == '$' {
				root = p
			}
		}
		if deep {
			w.add(sqltype.NullOf(sqltype.Varchar), text, sqltype.NullOf(sqltype.Int64), root, root)
		} else {
			w.inside(text, sqltype.NullOf(sqltype.Int64), root)
		}
		return c.Heap.Bytes(append(w.out, sqltype.EndOfElements))
	})
}

// jsonWalk numbers values and keys as they come.
type jsonWalk struct {
	node sqltype.Type
	deep bool
	out  []byte
	last int64
}

func (w *jsonWalk) add(key sqltype.Datum, text string, parent sqltype.Datum, full, path string) {
	value := sqltype.Datum{Type: sqltype.JSON, S: text}
	atom := value
	nested := text[0] == '{' || text[0] == '['
	if nested || text == "null" {
		atom = sqltype.NullOf(sqltype.JSON)
	}
	id := w.last
	w.out = sqltype.AppendElement(w.out, sqltype.NewNested(w.node, []sqltype.Datum{
		key, value, sqltype.NewString(jsonType(text, false)), atom, sqltype.NewInt64(id), parent, sqltype.NewString(full), sqltype.NewString(path)}))
	if nested && w.deep {
		w.inside(text, sqltype.NewInt64(id), full)
	}
}

// inside adds the values of an object or an array.
func (w *jsonWalk) inside(text string, parent sqltype.Datum, path string) {
	if text[0] != '{' && text[0] != '[' {
		return
	}
	place := 0
	sqltype.JSONParts(text, func(key, value string) bool {
		w.last++
		name, full := strconv.Itoa(place), path+"["+strconv.Itoa(place)+"]"
		if key != "" {
			name = sqltype.JSONString(key)
			full = path + "." + name
			w.last++ // the key counts, too
		}
		place++
		w.add(sqltype.NewString(name), value, parent, full, path)
		if !w.deep {
			w.last += jsonSize(value)
		}
		return true
	})
}

// jsonSize is how many values and keys are within a value.
func jsonSize(text string) (n int64) {
	if text[0] != '{' && text[0] != '[' {
		return 0
	}
	sqltype.JSONParts(text, func(key, value string) bool {
		if n++; key != "" {
			n++
		}
		n += jsonSize(value)
		return true
	})
	return n
}

// jsonMergePatch is RFC 7396: NULL is no patch, and no value to patch.
func jsonMergePatch() ScalarFunc {
	return FuncRow(func(c *Call, i int) (View, error) {
		if c.Args[1].IsNull(i) {
			return View{}, ErrNull
		}
		patch, err := c.jsonArgAt(1, i)
		if err != nil {
			return View{}, err
		}
		if c.Args[0].IsNull(i) {
			return View{}, ErrNull
		}
		text, err := c.jsonArgAt(0, i)
		if err != nil {
			return View{}, err
		}
		return c.Heap.String(mergePatch(text, patch))
	})
}

func mergePatch(text, patch string) string {
	if patch[0] != '{' {
		return patch
	}
	if text[0] != '{' {
		text = "{}"
	}
	var keys []string
	values := map[string]string{}
	sqltype.JSONParts(text, func(key, value string) bool {
		keys, values[key] = append(keys, key), value
		return true
	})
	sqltype.JSONParts(patch, func(key, value string) bool {
		old, ok := values[key]
		switch {
		case value == "null":
			delete(values, key)
		case !ok:
			keys, values[key] = append(keys, key), mergePatch("{}", value)
		default:
			values[key] = mergePatch(old, value)
		}
		return true
	})
	out := []byte{'{'}
	for _, key := range keys {
		value, ok := values[key]
		if !ok {
			continue
		}
		delete(values, key) // a key that comes twice
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return string(append(out, '}'))
}
