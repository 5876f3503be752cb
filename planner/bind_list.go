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
	args := make([]Expr, len(e.Named))
	fields := make([]sqltype.Field, len(e.Named))
	for i, n := range e.Named {
		for _, f := range fields[:i] {
			if sameName(f.Name, n.Name.Name) {
				fail(sqltype.CodeDuplicateColumn, n.Name.Pos, "field %q is given twice", n.Name.Name)
			}
		}
		args[i] = b.value(s, n.Value)
		fields[i] = sqltype.Field{Name: n.Name.Name, Type: args[i].Type()}
	}
	x := b.function(catalog.FuncStructPack.String(), args, e.Pos).(*Call)
	x.T = sqltype.StructOf(fields)
	return x
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
	case k == sqltype.KindVarchar && !e.Slice:
		return b.function("substring", []Expr{x, part(e.Lo, sqltype.Int64), &Const{sqltype.NewInt64(1)}}, e.Pos)
	case k == sqltype.KindNull:
		return x
	case k != sqltype.KindList:
		fail(sqltype.CodeTypeMismatch, e.Pos, "cannot subscript a value of type %s: it is no list", x.Type())
	case e.Slice:
		return b.function("list_slice", []Expr{x, part(e.Lo, sqltype.Int64), part(e.Hi, sqltype.Int64)}, e.Pos)
	}
	return b.function("list_extract", []Expr{x, part(e.Lo, sqltype.Int64)}, e.Pos)
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
	switch e.Op {
	case "<@":
		return b.function("@>", []Expr{r, l}, e.Pos), true
	case "||":
	default:
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
	case "generate_series", "range":
		args, _ := b.seriesArgs(s, name, e)
		return b.function(name, args, e.Pos), true
	case "list_value", "list_pack":
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
