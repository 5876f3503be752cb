package planner

import (
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// maxFunctionDepth bounds functions that call functions.
const maxFunctionDepth = 100

// boundParam is a parameter of a function whose body is being bound: a value
// that was bound where the call is, or of a macro the argument as it was
// written, which is bound in the caller's scope wherever the parameter stands.
type boundParam struct {
	name  string
	value Expr
	text  parser.Expr
	outer []boundParam // the parameters that the argument may name
	at    *scope       // the caller's
}

// paramOf is a parameter by its name, in the scope that has the parameters.
func (b *binder) paramOf(s *scope, name parser.Ident) (Expr, bool) {
	for i := range s.params {
		if p := &s.params[i]; p.name != "" && sameName(p.name, name.Name) {
			return b.paramValue(s, p), true
		}
	}
	return nil, false
}

func (b *binder) paramValue(s *scope, p *boundParam) Expr {
	if p.value != nil {
		return p.value
	}
	at := p.at
	saved := at.params
	at.params = p.outer
	defer func() { at.params = saved }()
	return b.expr(at, p.text)
}

// numbered is $n in the body of a function; false outside of one.
func (b *binder) numbered(e *parser.ParamRef) (Expr, bool) {
	if len(b.frames) == 0 {
		return nil, false
	}
	frame := b.frames[len(b.frames)-1]
	if e.Index > len(frame.params) {
		fail("42P02", e.Pos, "there is no parameter $%d", e.Index)
	}
	return b.paramValue(frame, &frame.params[e.Index-1]), true
}

// userFunction binds a call of a function that was created, if the arguments
// are for one of those.
func (b *binder) userFunction(s *scope, e *parser.Call, list []*catalog.Function) (Expr, bool) {
	if e.Star || e.Over != nil || e.Distinct || len(e.OrderBy) > 0 || e.Filter != nil {
		return nil, false
	}
	for _, f := range list {
		if f.Macro && !f.Rows {
			if args, ok := macroArgs(f, e); ok {
				return b.macro(s, f, args, e), true
			}
		}
	}
	f, args := b.chooseFunction(s, e, list, false)
	if f == nil {
		return nil, false
	}
	return b.inlined(s, f, args, e.Pos), true
}

// macroArgs are the arguments of a macro in the order of its parameters.
func macroArgs(f *catalog.Function, e *parser.Call) ([]parser.Expr, bool) {
	if len(e.Args) > len(f.Params) {
		return nil, false
	}
	args := make([]parser.Expr, len(f.Params))
	copy(args, e.Args)
	for i := range e.Named {
		found := false
		for k := range f.Params {
			if sameName(f.Params[k].Name, e.Named[i].Name.Name) && args[k] == nil {
				args[k], found = e.Named[i].Value, true
			}
		}
		if !found {
			return nil, false
		}
	}
	for k := range args {
		if args[k] != nil {
			continue
		}
		d, err := parser.ParseExpr(f.Params[k].Default)
		if f.Params[k].Default == "" || err != nil {
			return nil, false
		}
		args[k] = d
	}
	return args, true
}

// macro binds a macro's expression where its call stands.
func (b *binder) macro(s *scope, f *catalog.Function, args []parser.Expr, e *parser.Call) Expr {
	defer b.enterFunction(f, e.Pos)()
	q := bodyOf(f, e.Pos)
	sel, ok := q.Body.(*parser.Select)
	if !ok || len(sel.Items) != 1 || len(sel.From) > 0 {
		fail(sqltype.CodeInternal, e.Pos, "the body of macro %s is not an expression", f.Name)
	}
	params := make([]boundParam, len(args))
	for i := range args {
		params[i] = boundParam{name: f.Params[i].Name, text: args[i], outer: s.params, at: s}
	}
	saved := s.params
	s.params = params
	b.frames = append(b.frames, s)
	defer func() {
		s.params = saved
		b.frames = b.frames[:len(b.frames)-1]
	}()
	return b.expr(s, sel.Items[0].Expr)
}

// chooseFunction finds the function that arguments are for: the one that asks
// for the fewest conversions, all of which must be to a wider type.
func (b *binder) chooseFunction(s *scope, e *parser.Call, list []*catalog.Function, rows bool) (*catalog.Function, []Expr) {
	given := b.exprs(s, e.Args)
	var best *catalog.Function
	var args []Expr
	bestCost := -1
	for _, f := range list {
		if f.Rows && !rows || f.Macro && !f.Rows {
			continue
		}
		matched, ok := b.functionArgs(s, f, given, e)
		if !ok {
			continue
		}
		cost := 0
		for i, a := range matched {
			if a.Type() != f.Params[i].Type {
				cost++
			}
		}
		if best == nil || cost < bestCost {
			best, args, bestCost = f, matched, cost
		}
	}
	if best == nil {
		return nil, nil
	}
	for i := range args {
		if t := best.Params[i].Type; t.Kind != sqltype.KindNull {
			args[i] = b.coerce(args[i], t, e.Pos)
		} else {
			args[i] = b.settle(args[i])
		}
	}
	return best, args
}

// functionArgs are the arguments for a function's parameters, if it takes them.
func (b *binder) functionArgs(s *scope, f *catalog.Function, given []Expr, e *parser.Call) ([]Expr, bool) {
	if len(given)+len(e.Named) > len(f.Params) {
		return nil, false
	}
	args := make([]Expr, len(f.Params))
	copy(args, given)
	for i := range e.Named {
		found := false
		for k := range f.Params {
			if sameName(f.Params[k].Name, e.Named[i].Name.Name) && args[k] == nil {
				args[k], found = b.expr(s, e.Named[i].Value), true
				break
			}
		}
		if !found {
			return nil, false
		}
	}
	for k := range args {
		p := &f.Params[k]
		if args[k] == nil {
			if p.Default == "" {
				return nil, false
			}
			d, err := parser.ParseExpr(p.Default)
			if err != nil {
				failWith(err, noPos)
			}
			args[k] = b.expr(&scope{clause: inDefault}, d)
		}
		if !fitsParam(args[k], p.Type) {
			return nil, false
		}
	}
	return args, true
}

// fitsParam reports that an argument may stand for a parameter of type t.
func fitsParam(e Expr, t sqltype.Type) bool {
	if t.Kind == sqltype.KindNull || isOpen(e) {
		return true
	}
	if _, ok := fitConst(e, t); ok {
		return true
	}
	common, ok := sqltype.CommonType(e.Type(), t)
	return ok && (common.Kind == t.Kind || t.Kind.IsFloat() && e.Type().Kind.IsNumeric())
}

// inlined is the body of a function with values for its parameters.
func (b *binder) inlined(s *scope, f *catalog.Function, args []Expr, at parser.Pos) Expr {
	q := b.functionBody(s, f, args, at)
	if len(q.cols) != 1 {
		fail("42P13", at, "function %s returns %d columns where one value is wanted", f.Name, len(q.cols))
	}
	col := q.cols[0]
	var out Expr = &Subquery{Kind: SubScalar, T: col.Type, Plan: firstRow(q.node)}
	if p, ok := q.node.(*Project); ok && isOneRow(p.Input) && len(p.Exprs) == 1 {
		out = p.Exprs[0].Expr
	}
	if t := f.Result; t.Kind != sqltype.KindNull {
		if !castable(out.Type(), t) {
			fail("42P13", at, "function %s is declared to return %s, and its body gives %s", f.Name, t, out.Type())
		}
		out = b.cast(out, t, at)
	}
	if !f.Strict {
		return out
	}
	c := &Case{Else: out, T: out.Type()}
	for _, a := range args {
		c.Whens = append(c.Whens, When{Cond: &IsNull{a}, Then: &Const{sqltype.NullOf(out.Type())}})
	}
	if len(c.Whens) == 0 {
		return out
	}
	return c
}

// firstRow is what counts of a plan that stands for one value.
func firstRow(n Node) Node {
	for at := n; ; {
		switch x := at.(type) {
		case *Project:
			at = x.Input
			continue
		case *Aggregate:
			if len(x.Groups) == 0 && x.Sets == nil {
				return n
			}
		}
		return &Limit{Input: n, Limit: &Const{sqltype.NewInt64(1)}}
	}
}

func isOneRow(n Node) bool {
	v, ok := n.(*Values)
	return ok && len(v.Rows) == 1 && len(v.Columns) == 0
}

// functionBody binds a function's body over values of its parameters.
func (b *binder) functionBody(s *scope, f *catalog.Function, args []Expr, at parser.Pos) bound {
	defer b.enterFunction(f, at)()
	frame := &scope{clause: inSelect, params: make([]boundParam, len(args))}
	for i := range args {
		if isVolatile(args[i]) {
			fail(sqltype.CodeNotSupported, at, "an argument of function %s may not be volatile", f.Name)
		}
		frame.params[i] = boundParam{name: f.Params[i].Name, value: args[i], at: s}
	}
	b.frames = append(b.frames, frame)
	defer func() { b.frames = b.frames[:len(b.frames)-1] }()
	return b.query(frame, nil, bodyOf(f, at))
}

// enterFunction guards against functions that call each other without end, and
// gives errors in a body the place of the call.
func (b *binder) enterFunction(f *catalog.Function, at parser.Pos) func() {
	if b.calls++; b.calls > maxFunctionDepth {
		fail(sqltype.CodeTooComplex, at, "functions call each other more than %d deep", maxFunctionDepth)
	}
	return func() {
		b.calls--
		r := recover()
		if r == nil {
			return
		}
		e, ok := r.(bindError)
		if !ok {
			panic(r)
		}
		c := *e.err
		if c.Pos = int(at) + 1; !strings.HasPrefix(c.Msg, "function \"") && c.Code != sqltype.CodeTooComplex {
			c.Msg = "function \"" + f.Name + "\": " + c.Msg
		}
		panic(bindError{&c})
	}
}

// bodyOf parses a function's body: its last statement is what it gives.
func bodyOf(f *catalog.Function, at parser.Pos) *parser.Query {
	list, err := parser.Parse(f.Body)
	if err != nil {
		failWith(err, at)
	}
	if len(list) == 0 {
		fail("42P13", at, "the body of function %s is empty", f.Name)
	}
	q, ok := list[len(list)-1].Statement.(*parser.Query)
	if !ok || len(list) > 1 {
		fail(sqltype.CodeNotSupported, at, "the body of function %s is not one query", f.Name)
	}
	return q
}

// rowsFunction binds a function that was created as an entry of FROM.
func (b *binder) rowsFunction(s *scope, t *parser.FuncTable, list []*catalog.Function) (*fromItem, bool) {
	name := t.Call.Name.Parts[len(t.Call.Name.Parts)-1].Name
	var q bound
	var f *catalog.Function
	for _, m := range list {
		if args, ok := macroArgs(m, t.Call); ok && m.Macro && m.Rows {
			f, q = m, b.rowsMacro(s, m, args, t.Pos)
			break
		}
	}
	if f == nil {
		var args []Expr
		if f, args = b.chooseFunction(s, t.Call, list, true); f == nil {
			return nil, false
		}
		if !f.Rows {
			v := b.inlined(s, f, args, t.Pos)
			col := b.column(f.Name, v.Type(), mayBeNull)
			q = bound{node: &Project{Input: &Values{Rows: [][]Expr{{}}}, Exprs: []NamedExpr{{Col: col, Expr: v}}}, cols: []ColDef{col}}
		} else {
			q = b.functionBody(s, f, args, t.Pos)
		}
	}
	q.cols = b.resultColumns(&q, f, t)
	return b.named(&fromItem{node: q.node, star: starOf(q.cols)}, name, t.Alias, t.Columns), true
}

func (b *binder) rowsMacro(s *scope, f *catalog.Function, args []parser.Expr, at parser.Pos) bound {
	defer b.enterFunction(f, at)()
	frame := &scope{clause: inSelect}
	for i := range args {
		frame.params = append(frame.params, boundParam{name: f.Params[i].Name, text: args[i], outer: s.params, at: s})
	}
	b.frames = append(b.frames, frame)
	defer func() { b.frames = b.frames[:len(b.frames)-1] }()
	return b.query(frame, nil, bodyOf(f, at))
}

// resultColumns gives a body's columns the names and types that were declared.
func (b *binder) resultColumns(q *bound, f *catalog.Function, t *parser.FuncTable) []ColDef {
	var names []string
	var types []sqltype.Type
	for _, c := range f.Columns {
		names, types = append(names, c.Name), append(types, c.Type)
	}
	if f.Columns == nil && f.Result.Kind != sqltype.KindNull {
		names, types = []string{f.Name}, []sqltype.Type{f.Result}
		if t.Alias != nil {
			names[0] = t.Alias.Name
		}
	}
	if types == nil {
		return q.cols
	}
	if len(types) != len(q.cols) {
		fail("42P13", t.Pos, "function %s returns %d columns, and its body gives %d", f.Name, len(types), len(q.cols))
	}
	for i, c := range q.cols {
		if !castable(c.Type, types[i]) {
			fail("42P13", t.Pos, "function %s is declared to return %s, and its body gives %s", f.Name, types[i], c.Type)
		}
	}
	q.node = b.castColumns(keepCols(q.node, q.cols), q.cols, types)
	cols := append([]ColDef(nil), q.node.Cols()[:len(types)]...)
	for i := range cols {
		cols[i].Name = names[i]
	}
	return cols
}

// CheckFunction binds the body of a function over NULLs, to know that it can be.
// A macro is only read: what it means depends on its arguments.
func CheckFunction(r catalog.Reader, f *catalog.Function) (err error) {
	b := binder{reader: r, nextColumn: 1, nextCTE: 1}
	defer b.recover(&err)
	if f.Macro {
		bodyOf(f, noPos)
		return nil
	}
	args := make([]Expr, len(f.Params))
	for i, p := range f.Params {
		args[i] = &Const{sqltype.NullOf(p.Type)}
	}
	s := &scope{clause: inSelect}
	if f.Rows {
		q := b.functionBody(s, f, args, 0)
		b.resultColumns(&q, f, &parser.FuncTable{})
		return nil
	}
	b.inlined(s, f, args, 0)
	return nil
}

// TypeOf is the type that a name of SQL means: a built-in one, or one that was
// created.
func TypeOf(r catalog.Reader, n *parser.TypeName) (sqltype.Type, error) {
	t, err := elementType(r, n)
	for range n.List {
		t = sqltype.ListOf(t)
	}
	return t, err
}

// elementType is a type without the brackets after it.
func elementType(r catalog.Reader, n *parser.TypeName) (sqltype.Type, error) {
	if n.Fields != nil {
		t, err := structType(r, n.Fields)
		if err == nil && n.Map {
			entry := t.Fields()
			t = sqltype.MapOf(entry[0].Type, entry[1].Type)
		}
		return t, err
	}
	if n.User == nil {
		return n.Type, nil
	}
	last := len(n.User.Parts) - 1
	schema := ""
	if last > 0 {
		schema = n.User.Parts[last-1].Name
	}
	u, ok := r.Type(schema, n.User.Parts[last].Name)
	if !ok {
		return sqltype.Null, sqltype.Errorf(sqltype.CodeUndefinedObject, "type \"%s\" does not exist", n.User.Parts[last].Name).At(int(n.Pos))
	}
	return u.Type, nil
}

func structType(r catalog.Reader, defs []parser.FieldDef) (sqltype.Type, error) {
	fields := make([]sqltype.Field, len(defs))
	for i := range defs {
		t, err := TypeOf(r, &defs[i].Type)
		if err != nil {
			return sqltype.Null, err
		}
		name := defs[i].Name
		for _, f := range fields[:i] {
			if sameName(f.Name, name.Name) {
				return sqltype.Null, sqltype.Errorf(sqltype.CodeDuplicateColumn, "field %q is given twice", name.Name).At(int(name.Pos))
			}
		}
		fields[i] = sqltype.Field{Name: name.Name, Type: t}
	}
	return sqltype.StructOf(fields), nil
}

func (b *binder) typeOf(n *parser.TypeName) sqltype.Type {
	t, err := TypeOf(b.reader, n)
	if err != nil {
		failWith(err, n.Pos)
	}
	return t
}
