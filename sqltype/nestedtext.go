package sqltype

import "strings"

// appendNested appends a nested value as DuckDB writes it: [1, NULL], {'a': 1},
// and (1, 2) of fields without names. Text is quoted where it must be.
func appendNested(dst []byte, d Datum) []byte {
	open, end := byte('['), byte(']')
	named := false
	switch d.Type.Kind {
	case KindMap:
		open, end = '{', '}'
	case KindStruct:
		open, end = '(', ')'
		if named = d.Type.Parts.Value().field.Name != ""; named {
			open, end = '{', '}'
		}
	}
	dst = append(dst, open)
	first := len(dst)
	for e := d.Elements(); e.Next(); {
		if len(dst) > first {
			dst = append(dst, ", "...)
		}
		if named {
			dst = append(appendQuoted(dst, e.Name()), ": "...)
		}
		if d.Type.Kind != KindMap {
			dst = appendPart(dst, e.Datum())
			continue
		}
		entry := e.Datum().Elements()
		entry.Next()
		dst = append(appendPart(dst, entry.Datum()), '=')
		entry.Next()
		dst = appendPart(dst, entry.Datum())
	}
	return append(dst, end)
}

// appendPart appends a value within a nested one, in quotes where it must be.
func appendPart(dst []byte, v Datum) []byte {
	at := len(dst)
	dst = v.Append(dst)
	if text := string(dst[at:]); !v.Null && !v.Type.Kind.IsNested() && mustQuote(text) {
		dst = appendQuoted(dst[:at], text)
	}
	return dst
}

// mustQuote reports text that would not be read back as it is.
func mustQuote(s string) bool {
	return s == "" || strings.ContainsAny(s, `[]{}(),:='"\`) || trimBlanks(s) != s || strings.EqualFold(s, "null")
}

func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '\'')
	for i := range len(s) {
		if s[i] == '\'' || s[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '\'')
}

// parseNested reads a list, [1, 2] or PostgreSQL's {1,2}, a struct, {'a': 1} or
// (1, 2), or a map, {a=1}.
func parseNested(text string, t Type) (Datum, error) {
	body := trimBlanks(text)
	if len(body) < 2 {
		return Datum{}, invalidText(t, text)
	}
	switch open, end := body[0], body[len(body)-1]; {
	case open == '[' && end == ']' && t.Kind == KindList, open == '{' && end == '}',
		open == '(' && end == ')' && t.Kind == KindStruct:
	default:
		return Datum{}, invalidText(t, text)
	}
	items, ok := splitItems(body[1:len(body)-1], ',')
	if !ok {
		return Datum{}, invalidText(t, text)
	}
	switch t.Kind {
	case KindStruct:
		return parseStruct(text, items, t, body[0] == '{')
	case KindMap:
		return parseMap(text, items, t)
	}
	parts := make([]Datum, len(items))
	for i, item := range items {
		var err error
		if parts[i], err = parseItem(item, t.Elem()); err != nil {
			return Datum{}, err
		}
	}
	return NewNested(t, parts), nil
}

// parseMap reads key=value, and key: value.
func parseMap(text string, items []string, t Type) (Datum, error) {
	entry := t.Elem()
	fields := entry.Fields()
	entries := make([]Datum, len(items))
	for i, item := range items {
		pair, ok := splitItems(item, '=')
		if !ok || len(pair) != 2 {
			if pair, ok = splitItems(item, ':'); !ok || len(pair) != 2 {
				return Datum{}, invalidText(t, text)
			}
		}
		key, err := parseItem(pair[0], fields[0].Type)
		if err != nil {
			return Datum{}, err
		}
		value, err := parseItem(pair[1], fields[1].Type)
		if err != nil {
			return Datum{}, err
		}
		entries[i] = NewNested(entry, []Datum{key, value})
	}
	return NewMap(t, entries)
}

// parseStruct takes the fields by their names, or by place. A name that is not
// there is NULL.
func parseStruct(text string, items []string, t Type, named bool) (Datum, error) {
	fields := t.Fields()
	parts := make([]Datum, len(fields))
	for i, f := range fields {
		parts[i] = NullOf(f.Type)
	}
	if !named && len(items) != len(fields) {
		return Datum{}, invalidText(t, text)
	}
	for i, item := range items {
		at := i
		if named {
			pair, ok := splitItems(item, ':')
			if !ok || len(pair) < 2 {
				return Datum{}, invalidText(t, text)
			}
			name, _ := unquoteItem(pair[0])
			if at, _, ok = t.Field(name); !ok {
				return Datum{}, invalidText(t, text)
			}
			item = strings.Join(pair[1:], ":")
		}
		var err error
		if parts[at], err = parseItem(item, fields[at].Type); err != nil {
			return Datum{}, err
		}
	}
	return NewNested(t, parts), nil
}

func parseItem(item string, t Type) (Datum, error) {
	if strings.EqualFold(item, "null") {
		return NullOf(t), nil
	}
	if t.Kind == KindNull {
		return Datum{}, invalidText(t, item)
	}
	s, _ := unquoteItem(item)
	return parseDatum(s, t)
}

// unquoteItem takes the quotes from text, and reports that there were some. A
// quote in it is doubled or behind a backslash.
func unquoteItem(item string) (string, bool) {
	n := len(item)
	if n < 2 || item[0] != '\'' && item[0] != '"' || item[n-1] != item[0] {
		return item, false
	}
	quote := item[0]
	var b strings.Builder
	for i := 1; i < n-1; i++ {
		if c := item[i]; (c == '\\' || c == quote) && i+1 < n-1 {
			i++
		}
		b.WriteByte(item[i])
	}
	return b.String(), true
}

// splitItems cuts text at a separator outside of brackets and quotes. Blanks
// around the items go; no text has no items.
func splitItems(text string, separator byte) ([]string, bool) {
	if trimBlanks(text) == "" {
		return nil, true
	}
	var items []string
	var open []byte // the brackets that are to come
	from := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'', '"':
			if trimBlanks(text[from:i]) != "" && len(open) == 0 {
				continue // it's
			}
			for i++; i < len(text) && text[i] != c; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) {
				return nil, false
			}
		case '[':
			open = append(open, ']')
		case '{':
			open = append(open, '}')
		case '(':
			open = append(open, ')')
		case ']', '}', ')':
			if len(open) == 0 || open[len(open)-1] != c {
				return nil, false
			}
			open = open[:len(open)-1]
		case separator:
			if len(open) == 0 {
				items = append(items, trimBlanks(text[from:i]))
				from = i + 1
			}
		}
	}
	items = append(items, trimBlanks(text[from:]))
	return items, len(open) == 0
}
