package planner

import (
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// call binds what is written as a function call.
func (b *binder) call(s *scope, e *parser.Call) Expr {
	name := e.Name.Parts[len(e.Name.Parts)-1].Name
	if list := b.functions(e.Name); list != nil {
		if x, ok := b.userFunction(s, e, list); ok {
			return x
		}
		if !catalog.IsScalar(name) && !catalog.IsAggregate(name) {
			b.failFunction(s, e)
		}
	}
	if m := catalog.Macro(name); m != nil {
		if args, ok := macroArgs(m, e); ok && e.Over == nil && !e.Star && !e.Distinct && e.Filter == nil && len(e.OrderBy) == 0 {
			return b.macro(s, m, args, e)
		}
		failHint("", sqltype.CodeUndefinedFunc, e.Pos, "%s does not take these arguments", name)
	}
	if name == "columns" && len(e.Name.Parts) == 1 {
		return b.columns(s, e)
	}
	if name == "struct_pack" && e.Named != nil {
		return b.structPack(s, e)
	}
	if name == "make_interval" && e.Named != nil {
		return b.makeInterval(s, e)
	}
	if x, ok := b.structCall(s, name, e); ok {
		return x
	}
	if len(e.Named) > 0 {
		fail(sqltype.CodeUndefinedFunc, e.Named[0].Name.Pos, "%s takes no named arguments", name)
	}
	if len(e.Within) == 1 && catalog.IsWindow(name) && e.Over == nil {
		return b.hypothetical(s, name, e)
	}
	if name == "json_agg" || name == "jsonb_agg" || name == "json_group_array" {
		// A list of the values, as JSON.
		list := *e
		list.Name = callName("list")
		return b.function(catalog.FuncToJSON.String(), []Expr{b.call(s, &list)}, e.Pos)
	}
	switch {
	case e.Over != nil:
		return b.window(s, name, e)
	case catalog.IsAggregate(name) && !(catalog.IsScalar(name) && len(e.Args) > 1 && !e.Distinct):
		return b.aggregate(s, name, e)
	case catalog.IsWindow(name):
		fail(sqltype.CodeWrongObject, e.Pos, "window function %s requires an OVER clause", name)
	}
	if e.Star || e.Distinct || e.Filter != nil || len(e.OrderBy) > 0 || len(e.Within) > 0 {
		if catalog.IsScalar(name) {
			fail(sqltype.CodeWrongObject, e.Pos, "%s is not an aggregate function", name)
		}
		b.function(name, nil, e.Pos)
	}
	if x, ok := b.special(s, name, e); ok {
		return x
	}
	return b.function(name, b.exprs(s, e.Args), e.Pos)
}

// sessionValue is what a function about the session gives: the first schema of
// its path that there is, or the name of the database, which is its user's too.
func (b *binder) sessionValue(name string) Expr {
	if name != "current_schema" {
		return &Const{sqltype.NewString(catalog.Database)}
	}
	contents := b.reader.Contents()
	for _, s := range contents.Path {
		if slices.Contains(contents.Schemas, s) {
			return &Const{sqltype.NewString(s)}
		}
	}
	return &Const{sqltype.NullOf(sqltype.Varchar)}
}

// functions are those of a name that were created.
func (b *binder) functions(n parser.Name) []*catalog.Function {
	last := len(n.Parts) - 1
	schema := ""
	if last > 0 {
		schema = n.Parts[last-1].Name
	}
	return b.reader.Functions(schema, n.Parts[last].Name)
}

// failFunction says that no function of the call's name takes its arguments.
func (b *binder) failFunction(s *scope, e *parser.Call) {
	types := make([]string, len(e.Args))
	for i, a := range b.settleAll(b.exprs(s, e.Args)) {
		types[i] = a.Type().String()
	}
	failHint("a cast of an argument may help", sqltype.CodeUndefinedFunc, e.Pos, "function %s(%s) does not exist",
		e.Name.Parts[len(e.Name.Parts)-1].Name, strings.Join(types, ", "))
}

// special binds the functions that are syntax: their arguments are not all
// computed, or not of types that a signature can say.
func (b *binder) special(s *scope, name string, e *parser.Call) (Expr, bool) {
	count := func(least, most int) {
		if n := len(e.Args); n < least || n > most {
			fail(sqltype.CodeUndefinedFunc, e.Pos, "%s does not take %d arguments", name, n)
		}
	}
	if x, ok := b.nestedCall(s, name, e); ok {
		return x, true
	}
	switch name {
	case "coalesce":
		count(1, 1<<30)
	case "ifnull", "nvl":
		count(2, 2)
	case "nullif":
		count(2, 2)
		x, y := b.expr(s, e.Args[0]), b.expr(s, e.Args[1])
		x = b.settle(x)
		cond := b.compare(Eq, x, y, e.Args[1].Start())
		return &Case{Whens: []When{{cond, &Const{sqltype.NullOf(x.Type())}}}, Else: x, T: x.Type()}, true
	case "if", "iif":
		count(3, 3)
		return b.caseExpr(s, &parser.Case{Whens: []parser.When{{Cond: e.Args[0], Then: e.Args[1]}}, Else: e.Args[2], Pos: e.Pos}), true
	case "grouping", "grouping_id":
		count(1, 31)
		return b.groupingCall(s, e), true
	case "collate":
		return b.collate(s, e), true
	case "age":
		if len(e.Args) != 1 {
			return nil, false
		}
		today := &parser.Call{Name: callName("current_date"), Pos: e.Pos}
		return b.function("age", b.exprs(s, []parser.Expr{today, e.Args[0]}), e.Pos), true
	case "from_json", "json_transform", "from_json_strict", "json_transform_strict":
		count(2, 2)
		return b.fromJSON(s, name, e), true
	case "overlaps":
		count(4, 4)
		return b.overlaps(s, e), true
	case "getvariable":
		count(1, 1)
		b.once = true
		name := b.constant(e.Args[0], sqltype.Varchar).S
		if b.opts.Variable != nil {
			if d, ok := b.opts.Variable(strings.ToLower(name)); ok {
				return &Const{d}, true
			}
		}
		return &Const{sqltype.NullOf(sqltype.Null)}, true
	case "current_setting":
		count(1, 2)
		return b.currentSetting(s, e), true
	case "regexp_extract", "strptime":
		if list, ok := ofList(name, e); ok {
			return b.ofEach(s, name, e, list), true
		}
		return nil, false
	case "date_part", "datepart":
		if parts, ok := e.Args[0].(*parser.Array); ok && len(e.Args) == 2 {
			return b.dateParts(s, parts, e), true
		}
		return nil, false
	case "current_schema", "current_database", "current_catalog", "current_user", "session_user", "user":
		count(0, 0)
		return b.sessionValue(name), true
	case "merge_action":
		count(0, 0)
		for at := s; at != nil; at = at.parent {
			if at.mergeAction != nil {
				return colRef(*at.mergeAction), true
			}
		}
		fail(sqltype.CodeSyntax, e.Pos, "merge_action() can only be used in the RETURNING list of a MERGE command")
		return nil, false
	default:
		return nil, false
	}
	at := make([]parser.Pos, len(e.Args))
	for i, a := range e.Args {
		at[i] = a.Start()
	}
	return b.coalesce(b.exprs(s, e.Args), at), true
}

// ofList is the list that such a call has in the place of its last argument.
func ofList(name string, e *parser.Call) (*parser.Array, bool) {
	if name == "regexp_extract" && len(e.Args) != 3 || name != "regexp_extract" && len(e.Args) != 2 {
		return nil, false
	}
	list, ok := e.Args[len(e.Args)-1].(*parser.Array)
	return list, ok && len(list.Exprs) > 0
}

// ofEach is a call for each element of a list in the place of one value:
//
//	regexp_extract(x, p, ['a', 'b'])     {'a': regexp_extract(x, p, 1), 'b': regexp_extract(x, p, 2)}
//	strptime(x, [f, g])                  coalesce(try_strptime(x, f), strptime(x, g))
func (b *binder) ofEach(s *scope, name string, e *parser.Call, list *parser.Array) Expr {
	calls := make([]parser.Expr, len(list.Exprs))
	each := func(i int, last parser.Expr) parser.Expr {
		c := *e
		c.Args = append(slices.Clone(e.Args[:len(e.Args)-1]), last)
		if name == "strptime" && i < len(calls)-1 {
			c.Name = callName("try_strptime")
		}
		return &c
	}
	if name == "regexp_extract" {
		pack := callOf("struct_pack", e.Pos)
		for i, x := range list.Exprs {
			field := parser.Ident{Name: b.constant(x, sqltype.Varchar).S, Quoted: true, Pos: x.Start()}
			group := &parser.Literal{Value: sqltype.NewInt32(int32(i + 1)), Pos: x.Start()}
			pack.Named = append(pack.Named, parser.NamedArg{Name: field, Value: each(i, group)})
		}
		return b.structPack(s, pack)
	}
	for i, x := range list.Exprs {
		calls[i] = each(i, x)
	}
	return b.expr(s, callOf("coalesce", e.Pos, calls...))
}

// currentSetting is what SHOW gives, as a constant of whatever type it meets. With
// TRUE behind the name it is NULL for a setting that there is not.
func (b *binder) currentSetting(s *scope, e *parser.Call) Expr {
	b.once = true
	if b.opts.Setting == nil {
		fail(sqltype.CodeNotSupported, e.Pos, "there are no settings here")
	}
	text, err := b.opts.Setting(b.constant(e.Args[0], sqltype.Varchar).S)
	if err == nil {
		return &literal{text: text, pos: e.Pos}
	}
	if len(e.Args) == 2 && b.constant(e.Args[1], sqltype.Bool).I != 0 {
		return &Const{sqltype.NullOf(sqltype.Varchar)}
	}
	failWith(err, e.Args[0].Start())
	return nil
}

// dateParts is date_part(['year', 'month'], x): a struct of the parts.
func (b *binder) dateParts(s *scope, parts *parser.Array, e *parser.Call) Expr {
	x := b.value(s, e.Args[1])
	names, values := make([]parser.Ident, len(parts.Exprs)), make([]Expr, len(parts.Exprs))
	for i, p := range parts.Exprs {
		part := b.constant(p, sqltype.Varchar)
		names[i] = parser.Ident{Name: part.S, Pos: p.Start()}
		values[i] = b.function("date_part", []Expr{&Const{part}, x}, p.Start())
	}
	return b.structOf(names, values, e.Pos)
}

// intervalParts are make_interval's arguments by name, in order.
var intervalParts = []string{"years", "months", "weeks", "days", "hours", "mins", "secs"}

// makeInterval puts the arguments that a name tells in their places, zeros in
// the others.
func (b *binder) makeInterval(s *scope, e *parser.Call) Expr {
	args := b.exprs(s, e.Args)
	for len(args) < len(intervalParts) {
		args = append(args, &Const{sqltype.NewInt32(0)})
	}
	for _, n := range e.Named {
		at := slices.IndexFunc(intervalParts, func(p string) bool { return sameName(p, n.Name.Name) })
		if at < len(e.Args) {
			fail(sqltype.CodeUndefinedFunc, n.Name.Pos, "make_interval takes no argument %q here", n.Name.Name)
		}
		args[at] = b.expr(s, n.Value)
	}
	return b.function("make_interval", args, e.Pos)
}

// overlaps binds (a, b) OVERLAPS (c, d), where an end may be an interval from
// its start on.
func (b *binder) overlaps(s *scope, e *parser.Call) Expr {
	args := b.exprs(s, e.Args)
	for _, i := range []int{1, 3} {
		if args[i].Type().Kind == sqltype.KindInterval {
			args[i] = b.operator("+", []Expr{args[i-1], args[i]}, e.Args[i].Start())
		}
	}
	return b.function("overlaps", args, e.Pos)
}

// collate accepts the names of the one collation that there is: by bytes.
func (b *binder) collate(s *scope, e *parser.Call) Expr {
	x := b.value(s, e.Args[0])
	name, ok := e.Args[1].(*parser.Literal)
	if !ok {
		fail(sqltype.CodeSyntax, e.Args[1].Start(), "a collation is a name")
	}
	switch {
	case sameName(name.Value.S, "C"), sameName(name.Value.S, "POSIX"), sameName(name.Value.S, "binary"),
		sameName(name.Value.S, "default"), sameName(name.Value.S, "ucs_basic"):
		return x
	case sameName(name.Value.S, "NOCASE"):
		return b.function("lower", []Expr{x}, e.Pos)
	}
	fail(sqltype.CodeUndefinedObject, name.Pos, "collation %q does not exist: strings compare by bytes (\"C\") or NOCASE", name.Value.S)
	return nil
}

// operator is a call of an operator.
func (b *binder) operator(op string, args []Expr, at parser.Pos) Expr {
	return b.function(op, args, at)
}

// function is a call of a scalar function. An open argument is taken for a
// VARCHAR; if no signature has one there, for whatever the signature wants.
func (b *binder) function(name string, args []Expr, at parser.Pos) Expr {
	r := b.resolve(args, at, func(types []sqltype.Type, consts []*sqltype.Datum) (catalog.Resolved, error) {
		return catalog.ResolveScalarConst(name, types, consts)
	})
	b.sequential = b.sequential || catalog.UsesSequence(r.Func.ID)
	return &Call{Func: r.Func, Args: args, T: r.Result, Pos: int(at) + 1}
}

// resolve finds a signature and brings the arguments to it, in place.
func (b *binder) resolve(args []Expr, at parser.Pos, find func([]sqltype.Type, []*sqltype.Datum) (catalog.Resolved, error)) catalog.Resolved {
	types := make([]sqltype.Type, len(args))
	var consts []*sqltype.Datum
	open := false
	for i, a := range args {
		types[i] = a.Type()
		switch a := a.(type) {
		case *literal:
			open = true
			d := sqltype.NewString(a.text)
			consts = setConst(consts, len(args), i, &d)
		case *Const:
			consts = setConst(consts, len(args), i, &a.Value)
		}
	}
	r, err := find(types, consts)
	if err != nil && open {
		for i, a := range args {
			if _, ok := a.(*literal); ok {
				types[i] = sqltype.Null
			}
		}
		if again, failed := find(types, consts); failed == nil {
			r, err = again, nil
		}
	}
	if err != nil {
		failWith(err, at)
	}
	for i := range args {
		args[i] = b.coerce(args[i], r.Args[i], at)
	}
	return r
}

func setConst(consts []*sqltype.Datum, n, i int, d *sqltype.Datum) []*sqltype.Datum {
	if consts == nil {
		consts = make([]*sqltype.Datum, n)
	}
	consts[i] = d
	return consts
}

// ---- aggregates ----

// aggregate binds an aggregate: it is noted in the SELECT that it belongs to,
// and a column stands for it. That is the innermost one whose columns its
// arguments name; one without columns belongs where it stands.
func (b *binder) aggregate(s *scope, name string, e *parser.Call) Expr {
	if e.Star && name != "count" {
		fail(sqltype.CodeUndefinedFunc, e.Pos, "%s(*) is not a function", name)
	}
	if x := manyQuantiles(name, e); x != nil {
		return b.expr(s, x)
	}
	if x := ofMany(name, e); x != nil {
		return b.expr(s, x)
	}
	s.openAgg++
	a := Agg{Distinct: e.Distinct}
	var args []Expr
	if len(e.Within) > 0 {
		// percentile_cont(0.5) WITHIN GROUP (ORDER BY x) is quantile_cont(x, 0.5).
		args = append(args, b.expr(s, e.Within[0].Expr))
		if len(e.Within) > 1 {
			fail(sqltype.CodeNotSupported, e.Within[1].Expr.Start(), "WITHIN GROUP takes one expression")
		}
	}
	args = append(args, b.exprs(s, e.Args)...)
	if len(args) == 1 && args[0].Type().Kind == sqltype.KindInterval {
		if x := ofIntervals(name, e); x != nil {
			s.openAgg--
			return b.expr(s, x)
		}
	}
	r := b.resolve(args, e.Pos, func(types []sqltype.Type, _ []*sqltype.Datum) (catalog.Resolved, error) {
		return catalog.ResolveAggregate(name, types)
	})
	if len(e.Within) > 0 && e.Within[0].Desc {
		a.OrderBy = []SortKey{{Expr: args[0], Desc: true, NullsFirst: true}}
	}
	a.Func, a.Args = r.Func, args
	for _, o := range e.OrderBy {
		a.OrderBy = append(a.OrderBy, sortKey(o, b.value(s, o.Expr)))
	}
	if e.Filter != nil {
		a.Filter = b.truth(b.expr(s, e.Filter), "FILTER", e.Filter.Start())
	}
	s.openAgg--
	owner := b.ownerOf(s, &a)
	b.checkAggregate(s, owner, e, name)
	return owner.addAggregate(b, a, r.Result, name)
}

// checkAggregate refuses an aggregate where none may stand.
func (b *binder) checkAggregate(s, owner *scope, e *parser.Call, name string) {
	if owner.openAgg > 0 {
		fail(sqltype.CodeGrouping, e.Pos, "aggregate function calls cannot be nested")
	}
	if !owner.clause.takesAggregates() {
		fail(sqltype.CodeGrouping, e.Pos, "aggregate functions are not allowed in %s", owner.clause)
	}
	if owner == s {
		return
	}
	if e.Over != nil {
		fail(sqltype.CodeNotSupported, e.Pos, "%s of an outer query cannot be a window function", name)
	}
}

// ownerOf is the scope whose columns an aggregate's expressions name.
func (b *binder) ownerOf(s *scope, a *Agg) *scope {
	var used colSet
	for _, x := range a.Args {
		used = used.addExpr(x)
	}
	if a.Filter != nil {
		used = used.addExpr(a.Filter)
	}
	if used.empty() {
		return s
	}
	for at := s; at != nil; at = at.parent {
		for _, id := range used.ids() {
			if at.owns(id) {
				return at
			}
		}
	}
	return s
}

// addAggregate notes an aggregate, once for each that is the same.
func (s *scope) addAggregate(b *binder, a Agg, t sqltype.Type, name string) Expr {
	for i := range s.aggs {
		if sameAggregate(&s.aggs[i], &a) {
			return colRef(s.aggs[i].Col)
		}
	}
	a.Col = b.column(name, t, nullsOf(a.Func.ID == catalog.FuncCount))
	s.aggs = append(s.aggs, a)
	s.made = s.made.add(a.Col.ID)
	return colRef(a.Col)
}

func sameAggregate(x, y *Agg) bool {
	if x.Func != y.Func || x.Distinct != y.Distinct || (x.Filter == nil) != (y.Filter == nil) ||
		!slices.EqualFunc(x.Args, y.Args, equalExpr) {
		return false
	}
	if !slices.EqualFunc(x.OrderBy, y.OrderBy, sameKey) {
		return false
	}
	return x.Filter == nil || equalExpr(x.Filter, y.Filter)
}

// sortKey is a key with NULL where PostgreSQL puts it: last, or first when
// descending.
func sortKey(o parser.OrderItem, e Expr) SortKey {
	first := o.Nulls == parser.NullsFirst || o.Nulls == parser.NullsDefault && o.Desc
	return SortKey{Expr: e, Desc: o.Desc, NullsFirst: first}
}
