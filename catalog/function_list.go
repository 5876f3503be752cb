package catalog

import "github.com/gpusql/gpusql/sqltype"

// listFamilies are the functions over lists and structs. Places count from 1.
func listFamilies() []family {
	i32, i64, str, boolean := sqltype.Int32, sqltype.Int64, sqltype.Varchar, sqltype.Bool
	list := func(id FuncID, r rule, aliases ...string) family {
		return family{Func: Func{ID: id}, aliases: aliases, signatures: []signature{by(r)}}
	}
	nulls := func(f family) family { f.NullIn = true; return f } // it sees NULLs
	// Of the elements' type, and of it or of the list's.
	elem := func(t sqltype.Type) sqltype.Type { return t }
	whole := sqltype.ListOf
	always := func(t sqltype.Type) func(sqltype.Type) sqltype.Type {
		return func(sqltype.Type) sqltype.Type { return t }
	}
	return []family{
		nulls(list(FuncListValue, valuesInList, "list_pack")),
		nulls(list(FuncStructPack, fieldsOfRow, "row")),
		{Func: Func{ID: FuncStructExtract}, signatures: []signature{{rule: anyField, refine: knownField}}},
		list(FuncListExtract, listsWith(elem, "li"), "list_element", "array_extract"),
		nulls(family{Func: Func{ID: FuncListSlice}, aliases: []string{"array_slice"}, signatures: []signature{
			by(listsWith(whole, "lii")), by(listsWith(whole, "liii")),
		}}),
		nulls(list(FuncListAppend, listsWith(whole, "le"), "array_append", "array_push_back")),
		nulls(list(FuncListPrepend, listsWith(whole, "el"), "array_prepend")),
		nulls(list(FuncListConcat, joinedLists, "list_cat", "array_cat", "array_concat")),
		list(FuncListContains, listsWith(always(boolean), "le"), "array_contains", "list_has", "array_has"),
		nulls(list(FuncListPosition, listsWith(always(i32), "le"), "list_indexof", "array_position", "array_indexof")),
		nulls(list(FuncArrayPositions, listsWith(always(whole(i32)), "le"))),
		nulls(list(FuncArrayRemove, listsWith(whole, "le"), "list_remove")),
		nulls(list(FuncArrayReplace, listsWith(whole, "lee"))),
		{Func: Func{ID: FuncListSort}, aliases: []string{"array_sort"}, signatures: []signature{
			by(listsWith(whole, "l")), by(listsWith(whole, "ls")), by(listsWith(whole, "lss")),
		}},
		list(FuncListReverse, listsWith(whole, "l"), "array_reverse"),
		list(FuncListDistinct, listsWith(whole, "l"), "array_distinct"),
		list(FuncListUnique, listsWith(always(i64), "l"), "array_unique"),
		list(FuncListHasAny, listsWith(always(boolean), "ll"), "array_has_any", "&&"),
		list(FuncListHasAll, listsWith(always(boolean), "ll"), "array_has_all", "@>"),
		list(FuncListIntersect, listsWith(whole, "ll"), "array_intersect"),
		list(FuncFlatten, flattened),
		nulls(list(FuncListZip, zippedLists, "array_zip")),
		nulls(family{Func: Func{ID: FuncListResize}, aliases: []string{"array_resize"}, signatures: []signature{
			by(listsWith(whole, "li")), by(listsWith(whole, "lie")),
		}}),
		list(FuncCardinality, ofListOrMap(i32)),
		{Func: Func{ID: FuncArrayLength}, signatures: []signature{by(ofList(i32)), by(listsWith(always(i32), "li"))}, aliases: []string{"array_upper"}},
		list(FuncArrayLower, listsWith(always(i32), "li")),
		nulls(family{Func: Func{ID: FuncArrayToString}, aliases: []string{"list_to_string"}, signatures: []signature{
			by(listsWith(always(str), "ls")), by(listsWith(always(str), "lss")),
		}}),
		{Func: Func{ID: FuncStringToArray, NullIn: true}, aliases: []string{"string_split", "str_split", "split"},
			signatures: []signature{on(whole(str), str, str, str).withOptional(1)}},
		{Func: Func{ID: FuncRegexpSplit}, aliases: []string{"string_split_regex", "str_split_regex"},
			signatures: []signature{on(whole(str), str, str, str).withOptional(1)}},
		{Func: Func{ID: FuncRegexpMatch}, signatures: []signature{on(whole(str), str, str, str).withOptional(1)}},
		list(FuncArrayNDims, ofList(i32)),
		list(FuncArrayDims, ofList(str)),
		{Func: Func{ID: FuncArrayFill, NullIn: true}, signatures: []signature{by(filledList)}},
		list(FuncTrimArray, listsWith(whole, "li")),
		list(FuncListHistogram, func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
			if len(args) != 1 || args[0].Kind != sqltype.KindList {
				return nil, sqltype.Null, false
			}
			return args, sqltype.MapOf(args[0].Elem(), i64), true
		}),
		list(FuncListWhere, picked(sqltype.Bool), "array_where"),
		list(FuncListSelect, picked(i64), "array_select"),
		list(FuncListGradeUp, listsWith(always(whole(i64)), "l"), "array_grade_up", "grade_up"),
		list(FuncListDistance, twoVectors, "array_distance"),
		list(FuncListInnerProduct, twoVectors, "list_dot_product", "array_inner_product", "array_dot_product"),
		list(FuncListCosine, twoVectors, "array_cosine_similarity"),
		{Func: Func{ID: FuncGenerateSeries}, signatures: seriesSignatures()},
		{Func: Func{ID: FuncRange}, signatures: seriesSignatures()},
	}
}

func seriesSignatures() []signature {
	i64, ts, tz, iv := sqltype.Int64, sqltype.Timestamp, sqltype.TimestampTZ, sqltype.Interval
	return []signature{
		on(sqltype.ListOf(i64), i64, i64, i64), on(sqltype.ListOf(ts), ts, ts, iv), on(sqltype.ListOf(tz), tz, tz, iv),
	}
}

// listsWith is the rule of a function whose arguments the letters tell: l a list,
// e an element of it, i a BIGINT, s text. Lists and elements are brought to one
// type; result is made of that of the elements.
func listsWith(result func(elem sqltype.Type) sqltype.Type, letters string) rule {
	return func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
		if len(args) != len(letters) {
			return nil, sqltype.Null, false
		}
		elem, ok := elementType(args, letters)
		if !ok {
			return nil, sqltype.Null, false
		}
		params := make([]sqltype.Type, len(args))
		for i, a := range args {
			switch letters[i] {
			case 'l':
				params[i] = sqltype.ListOf(elem)
			case 'e':
				params[i] = elem
			case 'i':
				params[i] = sqltype.Int64
			default:
				params[i] = sqltype.Varchar
			}
			if letters[i] != 'l' && letters[i] != 'e' && castCost(a, params[i]) == noCast {
				return nil, sqltype.Null, false
			}
		}
		return params, result(elem), true
	}
}

// elementType is the common type of the elements that arguments are or have.
func elementType(args []sqltype.Type, letters string) (sqltype.Type, bool) {
	elem, ok := sqltype.Null, true
	for i, a := range args {
		switch {
		case letters[i] == 'e':
			elem, ok = sqltype.CommonType(elem, a)
		case letters[i] != 'l' || a.Kind == sqltype.KindNull:
		case a.Kind != sqltype.KindList:
			return elem, false
		default:
			elem, ok = sqltype.CommonType(elem, a.Elem())
		}
		if !ok {
			return elem, false
		}
	}
	return elem, true
}

// ofList takes one list as it is.
func ofList(result sqltype.Type) rule {
	return func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
		return args, result, len(args) == 1 && args[0].Kind == sqltype.KindList
	}
}

// ofListOrMap is ofList, or takes a map.
func ofListOrMap(result sqltype.Type) rule {
	return func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
		return args, result, len(args) == 1 && (args[0].Kind == sqltype.KindList || args[0].Kind == sqltype.KindMap)
	}
}

// picked takes a list, and a list of what says which of its elements.
func picked(by sqltype.Type) rule {
	return func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
		if len(args) != 2 || args[0].Kind != sqltype.KindList || args[1].Kind != sqltype.KindList || castCost(args[1].Elem(), by) == noCast {
			return nil, sqltype.Null, false
		}
		return []sqltype.Type{args[0], sqltype.ListOf(by)}, args[0], true
	}
}

// twoVectors takes two lists of numbers as DOUBLE.
func twoVectors(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) != 2 {
		return nil, sqltype.Null, false
	}
	for _, a := range args {
		if a.Kind != sqltype.KindList || !a.Elem().Kind.IsNumeric() && a.Elem().Kind != sqltype.KindNull {
			return nil, sqltype.Null, false
		}
	}
	return repeated(sqltype.ListOf(sqltype.Float64), 2), sqltype.Float64, true
}

// valuesInList is list_value(...): the elements' common type.
func valuesInList(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	t, ok := sqltype.Null, true
	for _, a := range args {
		if t, ok = sqltype.CommonType(t, a); !ok {
			return nil, sqltype.Null, false
		}
	}
	return repeated(t, len(args)), sqltype.ListOf(t), true
}

// filledList is array_fill(x, array[n]): n times x.
func filledList(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) != 2 || args[1].Kind != sqltype.KindList {
		return nil, sqltype.Null, false
	}
	return []sqltype.Type{args[0], sqltype.ListOf(sqltype.Int64)}, sqltype.ListOf(args[0]), true
}

// fieldsOfRow is row(...): fields without names. The binder names those of
// struct_pack.
func fieldsOfRow(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	fields := make([]sqltype.Field, len(args))
	for i, a := range args {
		fields[i].Type = a
	}
	if len(args) == 0 {
		return nil, sqltype.Null, false
	}
	return args, sqltype.StructOf(fields), true
}

// anyField is struct_extract before the field is known.
func anyField(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) != 2 || args[0].Kind != sqltype.KindStruct || !args[1].Kind.IsInteger() && args[1].Kind != sqltype.KindVarchar {
		return nil, sqltype.Null, false
	}
	return args, sqltype.Null, true
}

// knownField gives struct_extract the type of the field; it stays NULL when
// there is none.
func knownField(r *Resolved, consts []*sqltype.Datum) {
	if consts[1] == nil || consts[1].Null {
		return
	}
	fields := r.Args[0].Fields()
	switch at := consts[1].I; {
	case consts[1].Type.Kind == sqltype.KindVarchar:
		if _, t, ok := r.Args[0].Field(consts[1].S); ok {
			r.Result = t
		}
	case at >= 1 && at <= int64(len(fields)):
		r.Result = fields[at-1].Type
	}
}

// joinedLists is list_concat(...): lists of the common type.
func joinedLists(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	letters := make([]byte, len(args))
	for i := range letters {
		letters[i] = 'l'
	}
	elem, ok := elementType(args, string(letters))
	t := sqltype.ListOf(elem)
	return repeated(t, len(args)), t, ok && len(args) > 0
}

// flattened is flatten(l): the lists of a list as one.
func flattened(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) != 1 || args[0].Kind != sqltype.KindList {
		return nil, sqltype.Null, false
	}
	inner := args[0].Elem()
	if inner.Kind == sqltype.KindNull {
		inner = args[0]
	}
	return args, inner, inner.Kind == sqltype.KindList
}

// zippedLists is list_zip(...): structs of an element of each.
func zippedLists(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	fields := make([]sqltype.Field, len(args))
	for i, a := range args {
		if a.Kind != sqltype.KindList {
			return nil, sqltype.Null, false
		}
		fields[i].Type = a.Elem()
	}
	if len(args) == 0 {
		return nil, sqltype.Null, false
	}
	return args, sqltype.ListOf(sqltype.StructOf(fields)), true
}
