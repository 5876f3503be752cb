package planner

import (
	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// list is ARRAY[...] or [...].
func (b *binder) list(s *scope, e *parser.Array) Expr {
	items := b.exprs(s, e.Exprs)
	elem := b.unify("ARRAY", items, func(i int) parser.Pos { return e.Exprs[i].Start() })
	parts := make([]sqltype.Datum, len(items))
	for i, x := range items {
		c, ok := x.(*Const)
		if !ok {
			return b.function(catalog.FuncListValue.String(), items, e.Pos)
		}
		parts[i] = c.Value
	}
	return &Const{sqltype.NewNested(sqltype.ListOf(elem), parts)}
}

// structPack is {'a': x, ...}.
func (b *binder) structPack(s *scope, e *parser.Call) Expr {
	if len(e.Args) > 0 {
		fail(sqltype.CodeSyntax, e.Args[0].Start(), "the fields of a struct need names")
	}
	names, args := make([]parser.Ident, len(e.Named)), make([]Expr, len(e.Named))
	for i, n := range e.Named {
		names[i], args[i] = n.Name, b.value(s, n.Value)
	}
	return b.structOf(names, args, e.Pos)
}

// wholeRow is a table's name as a value: its row as a struct.
func (b *binder) wholeRow(s *scope, rel *relation, at parser.Pos) Expr {
	names, args := make([]parser.Ident, len(rel.cols)), make([]Expr, len(rel.cols))
	for i, c := range rel.cols {
		names[i], args[i] = parser.Ident{Name: c.Name, Pos: at}, colRef(c)
		s.use(args[i], at)
	}
	return b.structOf(names, args, at)
}

// index is x[i] and x[lo:hi]: of a list, a string or, by a field's name, a struct.
func (b *binder) index(s *scope, e *parser.Index) Expr {
	x := b.value(s, e.X)
	part := func(e parser.Expr, t sqltype.Type) Expr {
		if e == nil {
			return &Const{sqltype.NullOf(t)}
		}
		return b.expr(s, e)
	}
	switch k := x.Type().Kind; {
	case k == sqltype.KindStruct && !e.Slice:
		return b.field(x, b.settle(part(e.Lo, sqltype.Varchar)), e.Pos)
	case k == sqltype.KindMap && !e.Slice:
		return b.function("map_extract_value", []Expr{x, part(e.Lo, sqltype.Varchar)}, e.Pos)
	case k == sqltype.KindJSON && !e.Slice:
		return b.function("json_extract", []Expr{x, b.settle(part(e.Lo, sqltype.Varchar))}, e.Pos)
	case k == sqltype.KindVarchar && e.Slice && e.Step == nil:
		return b.textSlice(x, part(e.Lo, sqltype.Int64), part(e.Hi, sqltype.Int64), e.Pos)
	case k == sqltype.KindVarchar && !e.Slice:
		return b.function("substring", []Expr{x, part(e.Lo, sqltype.Int64), &Const{sqltype.NewInt64(1)}}, e.Pos)
	case k == sqltype.KindNull:
		return x
	case k != sqltype.KindList:
		fail(sqltype.CodeTypeMismatch, e.Pos, "cannot subscript a value of type %s: it is no list", x.Type())
	case e.Step != nil:
		return b.function("list_slice", []Expr{x, part(e.Lo, sqltype.Int64), part(e.Hi, sqltype.Int64), part(e.Step, sqltype.Int64)}, e.Pos)
	case e.Slice:
		return b.function("list_slice", []Expr{x, part(e.Lo, sqltype.Int64), part(e.Hi, sqltype.Int64)}, e.Pos)
	}
	return b.function("list_extract", []Expr{x, part(e.Lo, sqltype.Int64)}, e.Pos)
}

// textSlice is x[lo:hi] of a text, both ends within. Negative places count from
// the end, and a NULL one is no bound.
func (b *binder) textSlice(x, lo, hi Expr, at parser.Pos) Expr {
	zero := &Const{sqltype.NewInt64(0)}
	place := func(e Expr) Expr {
		e = b.coerce(e, sqltype.Int64, at)
		behind := b.operator("+", []Expr{b.function("length", []Expr{x}, at), &Const{sqltype.NewInt64(1)}}, at)
		fromEnd := b.operator("+", []Expr{behind, e}, at)
		e = &Case{Whens: []When{{&Cmp{Op: Lt, L: e, R: zero}, b.coerce(fromEnd, sqltype.Int64, at)}}, Else: e, T: sqltype.Int64}
		return b.function("greatest", []Expr{e, zero}, at)
	}
	part := x
	if c, ok := hi.(*Const); !ok || !c.Value.Null {
		part = b.function("left", []Expr{part, place(hi)}, at)
	}
	if c, ok := lo.(*Const); !ok || !c.Value.Null {
		part = b.function("substring", []Expr{part, place(lo)}, at)
	}
	return part
}

// structFields are the fields of a struct, which the call's argument i is.
func (b *binder) structFields(s *scope, e *parser.Call, i int) (names []parser.Ident, values []Expr, x Expr) {
	x = b.value(s, e.Args[i])
	if x.Type().Kind != sqltype.KindStruct {
		fail(sqltype.CodeTypeMismatch, e.Args[i].Start(), "%s takes structs, not %s", e.Name.Parts[0].Name, x.Type())
	}
	for k, f := range x.Type().Fields() {
		names = append(names, parser.Ident{Name: f.Name, Pos: e.Args[i].Start()})
		values = append(values, b.function(catalog.FuncStructExtract.String(), []Expr{x, &Const{sqltype.NewInt64(int64(k + 1))}}, e.Pos))
	}
	return names, values, x
}

// structCall binds the functions that make structs of structs; false when it is
// none of them.
func (b *binder) structCall(s *scope, name string, e *parser.Call) (Expr, bool) {
	switch name {
	case "struct_insert", "struct_update", "struct_concat", "struct_keys":
	default:
		return nil, false
	}
	if len(e.Args) == 0 || len(e.Args) > 1 && name != "struct_concat" {
		fail(sqltype.CodeUndefinedFunc, e.Pos, "%s does not take %d structs", name, len(e.Args))
	}
	var names []parser.Ident
	var values []Expr
	put := func(field parser.Ident, x Expr) {
		for i := range names {
			if name == "struct_update" && sameName(names[i].Name, field.Name) {
				values[i] = x
				return
			}
		}
		names, values = append(names, field), append(values, x)
	}
	var first Expr
	for i := range e.Args {
		fields, parts, x := b.structFields(s, e, i)
		if i == 0 {
			first = x
		}
		for k := range fields {
			put(fields[k], parts[k])
		}
	}
	if name == "struct_keys" {
		parts := make([]sqltype.Datum, len(names))
		for i := range names {
			parts[i] = sqltype.NewString(names[i].Name)
		}
		list := &Const{sqltype.NewNested(sqltype.ListOf(sqltype.Varchar), parts)}
		return &Case{Whens: []When{{&IsNull{first}, &Const{sqltype.NullOf(list.Type())}}}, Else: list, T: list.Type()}, true
	}
	for _, n := range e.Named {
		put(n.Name, b.value(s, n.Value))
	}
	return b.structOf(names, values, e.Pos), true
}

// structOf is a struct of these fields.
func (b *binder) structOf(names []parser.Ident, args []Expr, at parser.Pos) Expr {
	fields := make([]sqltype.Field, len(args))
	for i, n := range names {
		for _, f := range fields[:i] {
			if n.Name != "" && sameName(f.Name, n.Name) {
				fail(sqltype.CodeDuplicateColumn, n.Pos, "field %q is given twice", n.Name)
			}
		}
		fields[i] = sqltype.Field{Name: n.Name, Type: args[i].Type()}
	}
	x := b.function(catalog.FuncStructPack.String(), args, at).(*Call)
	x.T = sqltype.StructOf(fields)
	return x
}

// field is a field of a struct, by its name or its place.
func (b *binder) field(x, which Expr, at parser.Pos) Expr {
	c, ok := which.(*Const)
	if !ok {
		fail(sqltype.CodeNotSupported, at, "the name of a field must be a constant")
	}
	f := b.function(catalog.FuncStructExtract.String(), []Expr{x, which}, at)
	if t := x.Type(); f.Type().Kind == sqltype.KindNull {
		names := make([]string, 0, 4)
		for i, field := range t.Fields() {
			if (c.Value.Type.Kind == sqltype.KindVarchar && sameName(field.Name, c.Value.S)) || c.Value.I == int64(i+1) {
				return f // a field that is always NULL
			}
			names = append(names, field.Name)
		}
		failHint(didYouMean(c.Value.String(), names), sqltype.CodeUndefinedColumn, at, "%s has no field %q", t, c.Value.String())
	}
	return f
}

// listOp is an operator of lists; false when neither side is one.
func (b *binder) listOp(e *parser.Binary, l, r Expr) (Expr, bool) {
	isList := func(x Expr) bool { return !isOpen(x) && x.Type().Kind == sqltype.KindList }
	if !isList(l) && !isList(r) {
		return nil, false
	}
	if e.Op != "||" {
		return nil, false
	}
	switch {
	case isList(l) && (isList(r) || isOpen(r)), isOpen(l):
		return b.function("list_concat", []Expr{l, r}, e.Pos), true
	case isList(l):
		return b.function("list_append", []Expr{l, r}, e.Pos), true
	}
	return b.function("list_prepend", []Expr{l, r}, e.Pos), true
}

// nestedCall binds the calls around lists and structs that are syntax.
func (b *binder) nestedCall(s *scope, name string, e *parser.Call) (Expr, bool) {
	if rows, ok := rowFunctions[name]; ok {
		return b.unnestCall(s, name, rows, e), true
	}
	if x, ok := b.perElement(s, name, e); ok {
		return x, true
	}
	switch name {
	case "struct_extract":
		if len(e.Args) == 2 {
			return b.field(b.value(s, e.Args[0]), b.value(s, e.Args[1]), e.Pos), true
		}
	case "concat":
		if len(e.Args) > 0 {
			args := b.exprs(s, e.Args)
			for _, a := range args {
				if !isOpen(a) && a.Type().Kind == sqltype.KindList {
					return b.function("list_concat", args, e.Pos), true
				}
			}
			return b.function(name, args, e.Pos), true
		}
	case "array_push_front": // its arguments stand the other way round
		if len(e.Args) == 2 {
			return b.function("list_prepend", []Expr{b.expr(s, e.Args[1]), b.expr(s, e.Args[0])}, e.Pos), true
		}
	case "list_reverse_sort", "array_reverse_sort":
		if len(e.Args) == 1 {
			return b.function("list_sort", []Expr{b.expr(s, e.Args[0]), &Const{sqltype.NewString("DESC")}}, e.Pos), true
		}
	case "array_pop_back", "array_pop_front":
		if len(e.Args) == 1 {
			lo, hi := &Const{sqltype.NullOf(sqltype.Int64)}, &Const{sqltype.NewInt64(-2)}
			if name == "array_pop_front" {
				lo, hi = &Const{sqltype.NewInt64(2)}, lo
			}
			return b.function("list_slice", []Expr{b.expr(s, e.Args[0]), lo, hi}, e.Pos), true
		}
	case "generate_series", "range":
		args, _ := b.seriesArgs(s, name, e)
		return b.function(name, args, e.Pos), true
	case "list_value", "list_pack", "array_value":
		return b.list(s, &parser.Array{Exprs: e.Args, Pos: e.Pos}), true
	case "row":
		return b.function(name, b.settleAll(b.exprs(s, e.Args)), e.Pos), true
	case "array":
		if q, ok := e.Args[0].(*parser.Subquery); ok && len(e.Args) == 1 {
			return b.arrayOf(s, q), true
		}
	}
	return nil, false
}

// arrayOf is ARRAY(query): its rows as a list, which is empty without any.
func (b *binder) arrayOf(s *scope, e *parser.Subquery) Expr {
	q := b.query(s, s.ctes, e.Query)
	if len(q.cols) != 1 {
		fail(sqltype.CodeSyntax, e.Pos, "the subquery has %d columns, and 1 is wanted", len(q.cols))
	}
	r, err := catalog.ResolveAggregate("list", []sqltype.Type{q.cols[0].Type})
	if err != nil {
		failWith(err, e.Pos)
	}
	col := b.column("array", r.Result, mayBeNull)
	plan := &Aggregate{Input: q.node, Aggs: []Agg{{Col: col, Func: r.Func, Args: []Expr{colRef(q.cols[0])}}}}
	list := &Subquery{Kind: SubScalar, T: r.Result, Plan: plan}
	empty := &Const{sqltype.NewNested(r.Result, nil)}
	return b.coalesce([]Expr{list, empty}, []parser.Pos{e.Pos, e.Pos})
}

// quantifiedValue is ANY and ALL of a list that is computed. Of a NULL list
// both are unknown.
func (b *binder) quantifiedValue(s *scope, e *parser.Quantified, x Expr) Expr {
	list := b.expr(s, e.List)
	if isOpen(list) {
		x = b.settle(x)
		list = b.coerce(list, sqltype.ListOf(x.Type()), e.List.Start())
	}
	if list.Type().Kind != sqltype.KindList {
		fail(sqltype.CodeWrongObject, e.List.Start(), "ANY and ALL take a subquery or a list, not %s", list.Type())
	}
	if c, ok := list.(*Const); ok {
		return b.quantifiedConst(e, x, c.Value)
	}
	col := b.column("element", list.Type().Elem(), mayBeNull)
	q := bound{node: &Unnest{Input: &Values{Rows: [][]Expr{{}}}, Lists: []Expr{list}, Columns: []ColDef{col}}}
	holds := b.quantifiedOp(e, x, colRef(col), e.Pos)
	var out Expr
	if e.All {
		out = &Not{b.anyHolds(q, &Not{holds})}
	} else {
		out = b.anyHolds(q, holds)
	}
	return &Case{Whens: []When{{&IsNull{list}, nullBool()}}, Else: out, T: sqltype.Bool}
}

// quantifiedConst is a chain of OR or AND over the elements of a constant.
func (b *binder) quantifiedConst(e *parser.Quantified, x Expr, list sqltype.Datum) Expr {
	if list.Null {
		return nullBool()
	}
	var arms []Expr
	for el := list.Elements(); el.Next(); {
		arms = append(arms, b.quantifiedOp(e, x, &Const{el.Datum()}, e.Pos))
	}
	switch {
	case len(arms) == 0:
		return boolConst(e.All)
	case len(arms) == 1:
		return arms[0]
	case e.All:
		return &And{arms}
	}
	return &Or{arms}
}
