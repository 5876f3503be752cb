package kernels

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// jsonFuncs are the functions over JSON text. A VARCHAR is checked first, a JSON
// was when it was made.
func jsonFuncs(name string, args []sqltype.Type, result sqltype.Type, consts []*sqltype.Datum) (ScalarFunc, bool) {
	switch name {
	case "json_extract", "json_extract_string", "json_exists", "#>", "#>>":
		return jsonExtract(name, args, result, consts), true
	case "json_contains":
		return jsonOfTwo(jsonContains), true
	case "json_holds":
		return jsonOfTwo(jsonHoldsTop), true
	case "json_pretty":
		return onJSON(func(c *Call, _ int, text string) (View, error) {
			var b bytes.Buffer
			if err := json.Indent(&b, []byte(text), "", "    "); err != nil {
				return View{}, err
			}
			return c.Heap.Bytes(b.Bytes())
		}), true
	case "json_value":
		return onJSON(func(c *Call, _ int, text string) (View, error) {
			if text[0] == '{' || text[0] == '[' || text == "null" {
				return View{}, ErrNull
			}
			return c.Heap.String(text)
		}), true
	case "json_strip_nulls":
		return onJSON(func(c *Call, _ int, text string) (View, error) { return c.Heap.Bytes(appendStripped(nil, text)) }), true
	case "json_structure":
		return onJSON(func(c *Call, _ int, text string) (View, error) {
			return c.Heap.Bytes(structureOf(text).append(nil))
		}), true
	case "json_remove":
		return jsonRemove(args), true
	case "json_set":
		return FuncRow(jsonSet), true
	case "json_valid":
		return Pure1(sqltype.ValidJSON), true
	case "json_type", "json_typeof":
		return onJSON(func(c *Call, i int, text string) (View, error) {
			return c.Heap.String(jsonType(text, name == "json_typeof"))
		}), true
	case "json_array_length":
		return onJSON(func(_ *Call, _ int, text string) (n int64, _ error) {
			if text[0] == '[' {
				sqltype.JSONParts(text, func(_, _ string) bool { n++; return true })
			}
			return n, nil
		}), true
	case "json_keys":
		return onJSON(func(c *Call, _ int, text string) (View, error) {
			var out []byte
			if text[0] == '{' {
				sqltype.JSONParts(text, func(key, _ string) bool {
					out = sqltype.AppendElement(out, sqltype.NewString(sqltype.JSONString(key)))
					return true
				})
			}
			return c.Heap.Bytes(append(out, sqltype.EndOfElements))
		}), true
	case "json_entries":
		return onJSON(jsonEntries), true
	case "json_nodes", "json_tree":
		return jsonNodes(name == "json_tree"), true
	case "json_merge_patch":
		return jsonMergePatch(), true
	case "json":
		return onJSON(func(c *Call, _ int, text string) (View, error) {
			var b bytes.Buffer
			if err := json.Compact(&b, []byte(text)); err != nil {
				return View{}, err
			}
			return c.Heap.Bytes(b.Bytes())
		}), true
	case "to_json":
		return FuncRow(func(c *Call, i int) (View, error) { return c.Heap.Bytes(c.json(nil, 0, i)) }), true
	case "json_array":
		return FuncRow(func(c *Call, i int) (View, error) {
			dst := []byte{'['}
			for k := range c.Args {
				if k > 0 {
					dst = append(dst, ',')
				}
				dst = c.json(dst, k, i)
			}
			return c.Heap.Bytes(append(dst, ']'))
		}), true
	case "json_object":
		return FuncRow(jsonObject), true
	}
	return nil, false
}

// json appends argument k at row i as JSON.
func (c *Call) json(dst []byte, k, i int) []byte {
	a := &c.Args[k]
	if a.IsNull(i) {
		return append(dst, "null"...)
	}
	return sqltype.AppendJSON(dst, a.datum(i))
}

func jsonObject(c *Call, i int) (View, error) {
	dst := []byte{'{'}
	for k := 0; k < len(c.Args); k += 2 {
		if k > 0 {
			dst = append(dst, ',')
		}
		if c.Args[k].IsNull(i) {
			return View{}, sqltype.Errorf(sqltype.CodeInvalidParameter, "a key of a JSON object must not be NULL")
		}
		dst = append(sqltype.AppendJSONString(dst, c.Args[k].datum(i).String()), ':')
		dst = c.json(dst, k+1, i)
	}
	return c.Heap.Bytes(append(dst, '}'))
}

// jsonArg is the JSON text of argument 0 at row i, without blanks around it.
func (c *Call) jsonArg(i int) (string, error) { return c.jsonArgAt(0, i) }

// jsonArgAt is the same of argument k.
func (c *Call) jsonArgAt(k, i int) (string, error) {
	text := ArgAt[string](c, k, i)
	if c.Args[k].Type.Kind != sqltype.KindJSON && !sqltype.ValidJSON(text) {
		return "", sqltype.Errorf(sqltype.CodeInvalidText, "invalid input syntax for type json: %.60q", text)
	}
	return strings.Trim(text, " \t\r\n"), nil
}

// onJSON is a function of a JSON value, and perhaps of a path into it.
func onJSON[R Value](f func(c *Call, i int, text string) (R, error)) ScalarFunc {
	return FuncRow(func(c *Call, i int) (none R, err error) {
		text, err := c.jsonArg(i)
		if err != nil {
			return none, err
		}
		if len(c.Args) > 1 {
			path, err := c.jsonPath(i)
			if err != nil {
				return none, err
			}
			var ok bool
			if text, ok, err = path.find(text); err != nil {
				return none, err
			}
			if !ok {
				return none, ErrNull
			}
		}
		return f(c, i, text)
	})
}

// jsonOfTwo is a function of two JSON values.
func jsonOfTwo(f func(x, y string) bool) ScalarFunc {
	return FuncRow(func(c *Call, i int) (bool, error) {
		x, err := c.jsonArgAt(0, i)
		if err != nil {
			return false, err
		}
		y, err := c.jsonArgAt(1, i)
		return err == nil && f(x, y), err
	})
}

// jsonExtract is x -> path and x ->> path: the value there as JSON or as text. Of a
// list of paths, and of a path with a star in it, it is a list.
func jsonExtract(name string, args []sqltype.Type, result sqltype.Type, consts []*sqltype.Datum) ScalarFunc {
	var known jsonPath
	if len(consts) > 1 && consts[1] != nil && !consts[1].Null && args[1].Kind == sqltype.KindVarchar {
		known, _ = parseJSONPath(consts[1].S) // an error is for the rows that get here
	}
	read := func(c *Call, i int) (text string, p jsonPath, err error) {
		if text, err = c.jsonArg(i); err != nil || known != nil {
			return text, known, err
		}
		p, err = c.jsonPath(i)
		return text, p, err
	}
	asText := name == "json_extract_string" || name == "#>>"
	switch {
	case name == "json_exists":
		return FuncRow(func(c *Call, i int) (found bool, err error) {
			text, p, err := read(c, i)
			if err == nil {
				p.each(text, func(string) bool { found = true; return false })
			}
			return found, err
		})
	case args[1].Kind == sqltype.KindList && result.Kind == sqltype.KindList:
		return FuncRow(func(c *Call, i int) (View, error) { return jsonExtractPaths(c, i, asText) })
	case result.Kind == sqltype.KindList:
		return FuncRow(func(c *Call, i int) (View, error) {
			text, p, err := read(c, i)
			if err != nil {
				return View{}, err
			}
			var out []byte
			p.each(text, func(value string) bool {
				out = sqltype.AppendElement(out, jsonDatum(value, asText))
				return true
			})
			return c.Heap.Bytes(append(out, sqltype.EndOfElements))
		})
	}
	return FuncRow(func(c *Call, i int) (View, error) {
		text, p, err := read(c, i)
		if err != nil {
			return View{}, err
		}
		text, ok, err := p.find(text)
		if err != nil {
			return View{}, err
		}
		if !ok {
			return View{}, ErrNull
		}
		d := jsonDatum(text, asText)
		if d.Null {
			return View{}, ErrNull
		}
		return c.Heap.String(d.S)
	})
}

// jsonExtractPaths is the list of what stands at each of a list of paths.
func jsonExtractPaths(c *Call, i int, asText bool) (View, error) {
	text, err := c.jsonArg(i)
	if err != nil {
		return View{}, err
	}
	var out []byte
	for e := c.elements(1, i); e.Next(); {
		d := sqltype.Datum{Type: sqltype.JSON, Null: true}
		if !e.IsNull() {
			p, err := parseJSONPath(e.Datum().S)
			if err != nil {
				return View{}, err
			}
			value, ok, err := p.find(text)
			if err != nil {
				return View{}, err
			}
			if ok {
				d = jsonDatum(value, asText)
			}
		}
		out = sqltype.AppendElement(out, d)
	}
	return c.Heap.Bytes(append(out, sqltype.EndOfElements))
}

// jsonDatum is a value as JSON, or as text, of which null is none.
func jsonDatum(value string, asText bool) sqltype.Datum {
	switch {
	case !asText:
		return sqltype.Datum{Type: sqltype.JSON, S: value}
	case value == "null":
		return sqltype.Datum{Type: sqltype.Varchar, Null: true}
	case value[0] == '"':
		value = sqltype.JSONString(value)
	}
	return sqltype.NewString(value)
}

// jsonType is the name of a value's type, DuckDB's or PostgreSQL's.
func jsonType(text string, postgres bool) string {
	names := [...]string{"OBJECT", "ARRAY", "VARCHAR", "BOOLEAN", "NULL"}
	if postgres {
		names = [...]string{"object", "array", "string", "boolean", "null"}
	}
	switch text[0] {
	case '{':
		return names[0]
	case '[':
		return names[1]
	case '"':
		return names[2]
	case 't', 'f':
		return names[3]
	case 'n':
		return names[4]
	}
	switch {
	case postgres:
		return "number"
	case strings.ContainsAny(text, ".eE"):
		return "DOUBLE"
	case text[0] == '-':
		return "BIGINT"
	}
	return "UBIGINT"
}

// jsonEntries are the keys and values of an object, or the values of an array
// with their places: the rows of json_each and json_array_elements.
func jsonEntries(c *Call, _ int, text string) (View, error) {
	var out []byte
	if text[0] == '{' || text[0] == '[' {
		entry, place := c.Result.Elem(), int64(0)
		sqltype.JSONParts(text, func(key, value string) bool {
			k := sqltype.NewString(strconv.FormatInt(place, 10))
			if key != "" {
				k.S = sqltype.JSONString(key)
			}
			place++
			out = sqltype.AppendElement(out, sqltype.NewNested(entry, []sqltype.Datum{k, {Type: sqltype.JSON, S: value}}))
			return true
		})
	}
	return c.Heap.Bytes(append(out, sqltype.EndOfElements))
}
