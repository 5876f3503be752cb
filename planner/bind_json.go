package planner

import (
	"strings"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// jsonTables are the table functions over JSON, with the columns that they give
// of each entry.
var jsonTables = map[string][]string{
	"json_each": jsonColumns, "json_tree": jsonColumns, "jsonb_each": {"key", "value"}, "json_each_text": {"key", "value"}, "jsonb_each_text": {"key", "value"},
	"json_array_elements": {"value"}, "jsonb_array_elements": {"value"}, "json_array_elements_text": {"value"}, "jsonb_array_elements_text": {"value"},
	"json_object_keys": {"key"}, "jsonb_object_keys": {"key"},
}

var jsonColumns = []string{"key", "value", "type", "atom", "id", "parent", "fullkey", "path"}

// jsonTable is jsonb_each(x): SELECT entry.key, entry.value FROM unnest(json_entries(x)) AS u(entry),
// and json_each_text the same with entry.value ->> '$'.
func (b *binder) jsonTable(s *scope, t *parser.FuncTable, columns []string) *fromItem {
	at, called := t.Call.Pos, t.Call.Name.Parts[0]
	maker := "json_entries"
	if len(columns) == len(jsonColumns) {
		maker = "json_nodes"
		if sameName(called.Name, "json_tree") {
			maker = "json_tree"
		}
	}
	entry := parser.Ident{Name: "entry", Pos: at}
	sel := &parser.Select{Pos: at, From: []parser.TableExpr{&parser.FuncTable{Call: callOf("unnest", at, callOf(maker, at, t.Call.Args...)),
		Alias: &parser.Ident{Name: "u"}, Columns: []parser.Ident{entry}, Pos: at}}}
	for _, name := range columns {
		var field parser.Expr = &parser.ColumnRef{Name: parser.Name{Parts: []parser.Ident{entry, {Name: name, Pos: at}}}}
		if name == "value" && strings.HasSuffix(strings.ToLower(called.Name), "_text") {
			field = callOf("json_extract_string", at, field, &parser.Literal{Value: sqltype.NewString("$"), Pos: at})
		}
		sel.Items = append(sel.Items, parser.SelectItem{Expr: field, Alias: &parser.Ident{Name: name}})
	}
	q := b.query(s, s.ctes, &parser.Query{Body: sel, Pos: at})
	item := b.named(&fromItem{node: q.node, star: starOf(q.cols)}, called.Name, t.Alias, t.Columns)
	if maker == "json_nodes" { // * is PostgreSQL's two, all others of DuckDB can be named
		item.star = item.star[:2]
	}
	return item
}

// fromJSON is from_json(x, structure): a cast of JSON to the type that a constant
// tells as json_structure does, {"a": "INTEGER", "b": ["VARCHAR"]}.
func (b *binder) fromJSON(s *scope, name string, e *parser.Call) Expr {
	at := e.Args[1].Start()
	text := strings.TrimSpace(b.constant(e.Args[1], sqltype.Varchar).S)
	if !sqltype.ValidJSON(text) {
		fail(sqltype.CodeInvalidText, at, "invalid input syntax for type json: %.60q", text)
	}
	typ, ok := typeOfShape(nil, text)
	if !ok {
		fail(sqltype.CodeInvalidParameter, at, "%s wants a structure of names of types, such as {\"a\": \"INTEGER\"}", name)
	}
	cast, err := parser.ParseExpr("CAST(NULL AS " + string(typ) + ")")
	c, isCast := cast.(*parser.Cast)
	if err != nil || !isCast {
		fail(sqltype.CodeInvalidParameter, at, "%s is not a type", typ)
	}
	c.Pos, c.Type.Pos = e.Pos, at
	c.X = callOf("json", e.Pos, e.Args[0])
	c.Try = !strings.HasSuffix(name, "_strict")
	return b.expr(s, c)
}

// typeOfShape appends the SQL type of a structure.
func typeOfShape(dst []byte, text string) ([]byte, bool) {
	switch text[0] {
	case '"':
		return append(dst, sqltype.JSONString(text)...), true
	case '[':
		var elems []string
		sqltype.JSONParts(text, func(_, value string) bool { elems = append(elems, value); return true })
		if len(elems) != 1 {
			return dst, false
		}
		dst, ok := typeOfShape(dst, elems[0])
		return append(dst, "[]"...), ok
	case '{':
		ok := true
		dst = append(dst, "STRUCT("...)
		sqltype.JSONParts(text, func(key, value string) bool {
			if dst[len(dst)-1] != '(' {
				dst = append(dst, ", "...)
			}
			dst = append(append(append(dst, '"'), strings.ReplaceAll(sqltype.JSONString(key), `"`, `""`)...), `" `...)
			var fine bool
			dst, fine = typeOfShape(dst, value)
			ok = ok && fine
			return ok
		})
		return append(dst, ')'), ok && dst[len(dst)-1] != '('
	}
	return dst, false
}
