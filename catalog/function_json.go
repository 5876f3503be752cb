package catalog

import (
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// jsonFamilies are the functions over JSON, which is a type of its own; text
// that is JSON is taken too.
func jsonFamilies() []family {
	i64, str, boolean, js := sqltype.Int64, sqltype.Varchar, sqltype.Bool, sqltype.JSON
	// Of a JSON value, and perhaps a path into it.
	within := func(id FuncID, result sqltype.Type, aliases ...string) family {
		return family{Func: Func{ID: id}, aliases: aliases, signatures: []signature{
			on(result, js), on(result, js, str), on(result, str), on(result, str, str),
		}}
	}
	at := func(id FuncID, result sqltype.Type, aliases ...string) family {
		f := family{Func: Func{ID: id}, aliases: aliases, signatures: []signature{
			on(result, js, str), on(result, js, i64), on(result, str, str), on(result, str, i64),
		}}
		if id == FuncJSONExists {
			return f
		}
		for i := range f.signatures {
			f.signatures[i].refine = starredPath
		}
		many := sqltype.ListOf(result)
		f.signatures = append(f.signatures, on(many, js, sqltype.ListOf(str)), on(many, str, sqltype.ListOf(str)))
		return f
	}
	words := sqltype.ListOf(str)
	// Of a JSON value and the words that lead into it.
	led := func(id FuncID, result sqltype.Type) family {
		return family{Func: Func{ID: id}, signatures: []signature{on(result, js, words), on(result, str, words)}}
	}
	two := func(id FuncID, aliases ...string) family {
		return family{Func: Func{ID: id}, aliases: aliases, signatures: []signature{
			on(boolean, js, js), on(boolean, js, str), on(boolean, str, js), on(boolean, str, str),
		}}
	}
	pretty := within(FuncJSONPretty, str, "jsonb_pretty")
	remove := []signature{on(js, js, str), on(js, js, i64), on(js, js, words)}
	entry := sqltype.StructOf([]sqltype.Field{{Name: "key", Type: str}, {Name: "value", Type: js}})
	return []family{
		at(FuncJSONExtract, js, "->", "json_extract_path"),
		at(FuncJSONExtractString, str, "->>", "json_extract_path_text"),
		at(FuncJSONExists, boolean),
		led(FuncJSONGet, js), led(FuncJSONGetText, str),
		two(FuncJSONContains), {Func: Func{ID: FuncJSONHolds}, aliases: []string{"@>", "jsonb_contains"}, signatures: []signature{on(boolean, js, js)}},
		pretty, within(FuncJSONValue, js), within(FuncJSONStructure, js), within(FuncJSONStripNulls, js, "jsonb_strip_nulls"),
		{Func: Func{ID: FuncJSONRemove}, aliases: []string{"-"}, signatures: remove},
		{Func: Func{ID: FuncJSONSet}, aliases: []string{"jsonb_set"}, signatures: []signature{on(js, js, words, js), on(js, js, words, js, boolean)}},
		{Func: Func{ID: FuncJSONValid}, signatures: []signature{on(boolean, str)}},
		within(FuncJSONType, str), within(FuncJSONTypeof, str, "jsonb_typeof"),
		within(FuncJSONArrayLength, i64, "jsonb_array_length"),
		within(FuncJSONKeys, sqltype.ListOf(str)),
		within(FuncJSONEntries, sqltype.ListOf(entry)),
		within(FuncJSONNodes, sqltype.ListOf(jsonNode)), within(FuncJSONTree, sqltype.ListOf(jsonNode)),
		{Func: Func{ID: FuncJSONMergePatch, NullIn: true}, signatures: []signature{on(js, js, js), on(js, str, str), on(js, js, str), on(js, str, js)}},
		{Func: Func{ID: FuncJSON}, signatures: []signature{on(js, js), on(js, str)}},
		{Func: Func{ID: FuncToJSON}, aliases: []string{"to_jsonb", "row_to_json", "array_to_json", "json_quote"}, signatures: []signature{on(js, anyType)}},
		{Func: Func{ID: FuncJSONArray, NullIn: true}, aliases: []string{"json_build_array", "jsonb_build_array"}, signatures: []signature{by(jsonValues(1))}},
		{Func: Func{ID: FuncJSONObject, NullIn: true}, aliases: []string{"json_build_object", "jsonb_build_object"}, signatures: []signature{by(jsonValues(2))}},
	}
}

// starredPath knows that a path with a star in it, as in $.a[*], leads to many values.
func starredPath(r *Resolved, consts []*sqltype.Datum) {
	if c := consts[1]; c != nil && !c.Null && c.Type.Kind == sqltype.KindVarchar && strings.HasPrefix(c.S, "$") &&
		(strings.Contains(c.S, "[*]") || strings.Contains(c.S, ".*")) {
		r.Result = sqltype.ListOf(r.Result)
	}
}

// jsonNode is a value within a JSON, as json_each and json_tree give them.
var jsonNode = sqltype.StructOf([]sqltype.Field{
	{Name: "key", Type: sqltype.Varchar}, {Name: "value", Type: sqltype.JSON}, {Name: "type", Type: sqltype.Varchar},
	{Name: "atom", Type: sqltype.JSON}, {Name: "id", Type: sqltype.Int64}, {Name: "parent", Type: sqltype.Int64},
	{Name: "fullkey", Type: sqltype.Varchar}, {Name: "path", Type: sqltype.Varchar},
})

// jsonValues takes any arguments as they are, in groups of n.
func jsonValues(n int) rule {
	return func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
		return args, sqltype.JSON, len(args)%n == 0
	}
}

// mapFamilies are the functions over maps.
func mapFamilies() []family {
	one := func(id FuncID, r rule, aliases ...string) family {
		return family{Func: Func{ID: id}, aliases: aliases, signatures: []signature{by(r)}}
	}
	keys := func(key, _ sqltype.Type) sqltype.Type { return sqltype.ListOf(key) }
	values := func(_, value sqltype.Type) sqltype.Type { return sqltype.ListOf(value) }
	value := func(_, value sqltype.Type) sqltype.Type { return value }
	boolean := func(_, _ sqltype.Type) sqltype.Type { return sqltype.Bool }
	concat := one(FuncMapConcat, joinedMaps)
	concat.NullIn = true
	return []family{
		one(FuncMap, mapOfLists), one(FuncMapFromEntries, mapOfEntries),
		one(FuncMapEntries, func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
			if len(args) != 1 || args[0].Kind != sqltype.KindMap {
				return nil, sqltype.Null, false
			}
			return args, sqltype.ListOf(args[0].Elem()), true
		}),
		one(FuncMapKeys, ofMap(keys, false)), one(FuncMapValues, ofMap(values, false)),
		one(FuncMapExtract, ofMap(values, true), "element_at"), one(FuncMapExtractValue, ofMap(value, true)),
		one(FuncMapContains, ofMap(boolean, true)), concat,
	}
}

// ofMap takes a map, and with a key one of the type of its keys.
func ofMap(result func(key, value sqltype.Type) sqltype.Type, withKey bool) rule {
	return func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
		if len(args) == 0 || args[0].Kind != sqltype.KindMap || len(args) != 1 && !withKey || len(args) != 2 && withKey {
			return nil, sqltype.Null, false
		}
		entry := args[0].Elem().Fields()
		params := []sqltype.Type{args[0]}
		if withKey {
			if t, ok := sqltype.CommonTypeLoose(args[1], entry[0].Type); !ok || t.Kind != entry[0].Type.Kind && !t.Kind.IsInteger() {
				return nil, sqltype.Null, false
			}
			params = append(params, entry[0].Type)
		}
		return params, result(entry[0].Type, entry[1].Type), true
	}
}

// mapOfLists is map(keys, values), and map() without entries.
func mapOfLists(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	switch {
	case len(args) == 0:
		return args, sqltype.MapOf(sqltype.Null, sqltype.Null), true
	case len(args) != 2 || args[0].Kind != sqltype.KindList || args[1].Kind != sqltype.KindList:
		return nil, sqltype.Null, false
	}
	return args, sqltype.MapOf(args[0].Elem(), args[1].Elem()), true
}

// mapOfEntries is map_from_entries(list of structs of two fields).
func mapOfEntries(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) != 1 || args[0].Kind != sqltype.KindList || args[0].Elem().Kind != sqltype.KindStruct {
		return nil, sqltype.Null, false
	}
	entry := args[0].Elem().Fields()
	if len(entry) != 2 {
		return nil, sqltype.Null, false
	}
	return args, sqltype.MapOf(entry[0].Type, entry[1].Type), true
}

// joinedMaps is map_concat(...): maps of a common type.
func joinedMaps(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	t, ok := sqltype.Null, true
	for _, a := range args {
		if t, ok = sqltype.CommonType(t, a); !ok || t.Kind != sqltype.KindMap && t.Kind != sqltype.KindNull {
			return nil, sqltype.Null, false
		}
	}
	return repeated(t, len(args)), t, t.Kind == sqltype.KindMap
}
