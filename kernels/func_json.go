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
func jsonFuncs(name string, args []sqltype.Type, _ sqltype.Type, consts []*sqltype.Datum) (ScalarFunc, bool) {
	switch name {
	case "json_extract", "json_extract_string", "json_exists":
		return jsonExtract(name, args, consts), true
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
func (c *Call) jsonArg(i int) (string, error) {
	text := ArgAt[string](c, 0, i)
	if c.Args[0].Type.Kind != sqltype.KindJSON && !sqltype.ValidJSON(text) {
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
			if text, ok = path.find(text); !ok {
				return none, ErrNull
			}
		}
		return f(c, i, text)
	})
}

// jsonExtract is x -> path and x ->> path: the value there as JSON or as text.
func jsonExtract(name string, args []sqltype.Type, consts []*sqltype.Datum) ScalarFunc {
	var known jsonPath
	if len(consts) > 1 && consts[1] != nil && !consts[1].Null && args[1].Kind == sqltype.KindVarchar {
		known, _ = parseJSONPath(consts[1].S) // an error is for the rows that get here
	}
	find := func(c *Call, i int) (string, bool, error) {
		text, err := c.jsonArg(i)
		if err != nil {
			return "", false, err
		}
		path := known
		if path == nil {
			if path, err = c.jsonPath(i); err != nil {
				return "", false, err
			}
		}
		text, ok := path.find(text)
		return text, ok, nil
	}
	if name == "json_exists" {
		return FuncRow(func(c *Call, i int) (bool, error) { _, ok, err := find(c, i); return ok, err })
	}
	return FuncRow(func(c *Call, i int) (View, error) {
		text, ok, err := find(c, i)
		switch {
		case err != nil:
			return View{}, err
		case !ok:
			return View{}, ErrNull
		case name == "json_extract":
		case text == "null":
			return View{}, ErrNull
		case text[0] == '"':
			text = sqltype.JSONString(text)
		}
		return c.Heap.String(text)
	})
}

// jsonStep is a step of a path: a key, or a place from 0, of -1 the last.
type jsonStep struct {
	key   string
	place int64
	keyed bool
}

type jsonPath []jsonStep

func (c *Call) jsonPath(i int) (jsonPath, error) {
	if c.Args[1].Type.Kind != sqltype.KindVarchar {
		return jsonPath{{place: ArgAt[int64](c, 1, i)}}, nil
	}
	return parseJSONPath(ArgAt[string](c, 1, i))
}

// parseJSONPath reads $.a[0]."b c", /a/0, or a key alone.
func parseJSONPath(text string) (jsonPath, error) {
	path := jsonPath{}
	switch {
	case strings.HasPrefix(text, "/"):
		for _, part := range strings.Split(text[1:], "/") {
			step := jsonStep{key: strings.NewReplacer("~1", "/", "~0", "~").Replace(part), keyed: true}
			if n, err := strconv.ParseInt(part, 10, 64); err == nil {
				step = jsonStep{place: n}
			}
			path = append(path, step)
		}
		return path, nil
	case !strings.HasPrefix(text, "$"):
		return append(path, jsonStep{key: text, keyed: true}), nil
	}
	bad := func() (jsonPath, error) {
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "%q is no JSON path: $, .key, .\"key\" and [n] are known", text)
	}
	for rest := text[1:]; rest != ""; {
		switch {
		case strings.HasPrefix(rest, `."`):
			end := strings.IndexByte(rest[2:], '"')
			if end < 0 {
				return bad()
			}
			path = append(path, jsonStep{key: rest[2 : 2+end], keyed: true})
			rest = rest[3+end:]
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			if end == 0 || rest[1:1+end] == "*" {
				return bad()
			}
			path = append(path, jsonStep{key: rest[1 : 1+end], keyed: true})
			rest = rest[1+end:]
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return bad()
			}
			n, err := strconv.ParseInt(strings.TrimPrefix(rest[1:end], "#"), 10, 64)
			if err != nil {
				return bad()
			}
			path = append(path, jsonStep{place: n})
			rest = rest[end+1:]
		default:
			return bad()
		}
	}
	return path, nil
}

// find is the value at the path, if there is one.
func (p jsonPath) find(text string) (string, bool) {
	for _, step := range p {
		found, ok := "", false
		switch {
		case step.keyed && text[0] == '{':
			sqltype.JSONParts(text, func(key, value string) bool {
				if sqltype.JSONString(key) == step.key {
					found, ok = value, true
				}
				return !ok
			})
		case !step.keyed && text[0] == '[':
			at := step.place
			if at < 0 {
				sqltype.JSONParts(text, func(_, _ string) bool { at++; return true })
			}
			sqltype.JSONParts(text, func(_, value string) bool {
				found, ok = value, at == 0
				at--
				return !ok
			})
		}
		if !ok {
			return "", false
		}
		text = found
	}
	return text, true
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
