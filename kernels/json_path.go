package kernels

import (
	"strconv"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// jsonStep is a step of a path: a key, or a place from 0, of -1 the last; with star
// all of them. One that is both is whichever the value has: a text that is a number.
type jsonStep struct {
	key   string
	place int64
	keyed bool
	both  bool
	star  bool
}

type jsonPath []jsonStep

func (c *Call) jsonPath(i int) (jsonPath, error) {
	switch c.Args[1].Type.Kind {
	case sqltype.KindVarchar:
		return parseJSONPath(ArgAt[string](c, 1, i))
	case sqltype.KindList: // of #>: keys and places, as text
		path := jsonPath{}
		for e := c.elements(1, i); e.Next(); {
			if e.IsNull() {
				return nil, ErrNull
			}
			path = append(path, wordStep(e.Datum().S))
		}
		return path, nil
	}
	return jsonPath{{place: ArgAt[int64](c, 1, i)}}, nil
}

// wordStep is a key, or a place if it is a number and there is an array.
func wordStep(word string) jsonStep {
	n, err := strconv.ParseInt(word, 10, 64)
	return jsonStep{key: word, place: n, keyed: true, both: err == nil}
}

// parseJSONPath reads $.a[0]."b c", /a/0, or a key alone.
func parseJSONPath(text string) (jsonPath, error) {
	path := jsonPath{}
	switch {
	case strings.HasPrefix(text, "/"):
		for _, part := range strings.Split(text[1:], "/") {
			path = append(path, wordStep(strings.NewReplacer("~1", "/", "~0", "~").Replace(part)))
		}
		return path, nil
	case !strings.HasPrefix(text, "$"):
		return append(path, jsonStep{key: text, keyed: true}), nil
	}
	bad := func() (jsonPath, error) {
		return nil, sqltype.Errorf(sqltype.CodeInvalidParameter, "%q is no JSON path: $, .key, .\"key\", [n] and a star are known", text)
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
			if end == 0 {
				return bad()
			}
			path = append(path, jsonStep{key: rest[1 : 1+end], keyed: true, star: rest[1:1+end] == "*"})
			rest = rest[1+end:]
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return bad()
			}
			step := jsonStep{star: rest[1:end] == "*"}
			if !step.star {
				var err error
				if step.place, err = strconv.ParseInt(strings.TrimPrefix(rest[1:end], "#"), 10, 64); err != nil {
					return bad()
				}
			}
			path = append(path, step)
			rest = rest[end+1:]
		default:
			return bad()
		}
	}
	return path, nil
}

// find is the value at the path, if there is one. A path with a star has many.
func (p jsonPath) find(text string) (found string, ok bool, err error) {
	for _, step := range p {
		if step.star {
			return "", false, sqltype.Errorf(sqltype.CodeInvalidParameter, "a path with a star has to be a constant")
		}
	}
	p.each(text, func(value string) bool {
		found, ok = value, true
		return false
	})
	return found, ok, nil
}

// each calls f for the values at the path until it says false, which each says then.
func (p jsonPath) each(text string, f func(value string) bool) bool {
	if len(p) == 0 {
		return f(text)
	}
	step, more := p[0], true
	switch array := text[0] == '['; {
	case text[0] == '{' && step.keyed:
		sqltype.JSONParts(text, func(key, value string) bool {
			if step.star {
				more = p[1:].each(value, f)
				return more
			}
			if sqltype.JSONString(key) != step.key {
				return true
			}
			more = p[1:].each(value, f)
			return false
		})
	case array && step.star && !step.keyed:
		sqltype.JSONParts(text, func(_, value string) bool {
			more = p[1:].each(value, f)
			return more
		})
	case array && (!step.keyed || step.both):
		at := step.place
		if at < 0 {
			sqltype.JSONParts(text, func(_, _ string) bool { at++; return true })
		}
		sqltype.JSONParts(text, func(_, value string) bool {
			if at == 0 {
				more = p[1:].each(value, f)
			}
			at--
			return at >= 0
		})
	}
	return more
}
