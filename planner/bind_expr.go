package planner

import (
	"fmt"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// expr binds an expression. It may be open, see isOpen: who keeps it must
// coerce or settle it.
func (b *binder) expr(s *scope, e parser.Expr) Expr {
	if s.groupTexts != nil {
		if x, ok := b.asGroup(s, e); ok {
			return x
		}
	}
	return b.bindExpr(s, e)
}

func (b *binder) bindExpr(s *scope, e parser.Expr) Expr {
	switch e := e.(type) {
	case *parser.Literal:
		if e.Untyped {
			return &literal{text: e.Value.S, pos: e.Pos}
		}
		return &Const{e.Value}
	case *parser.ColumnRef:
		return b.columnRef(s, e)
	case *parser.ParamRef:
		return b.param(e)
	case *parser.Unary:
		return b.unary(s, e)
	case *parser.Binary:
		return b.binary(s, e)
	case *parser.IsExpr:
		return b.isExpr(s, e)
	case *parser.IsDistinct:
		op := Distinct
		if e.Not {
			op = NotDistinct
		}
		return b.rowsOrValues(s, op, e.L, e.R, e.R.Start())
	case *parser.Between:
		return b.between(s, e)
	case *parser.Like:
		return b.like(s, e)
	case *parser.In:
		return b.in(s, e)
	case *parser.Exists:
		q := b.query(s, s.ctes, e.Query)
		return &Subquery{Kind: SubExists, Plan: q.node, T: sqltype.Bool}
	case *parser.Subquery:
		return b.scalarSubquery(s, e)
	case *parser.Quantified:
		return b.quantified(s, e)
	case *parser.Case:
		return b.caseExpr(s, e)
	case *parser.Cast:
		return b.convert(b.expr(s, e.X), e)
	case *parser.Call:
		return b.call(s, e)
	case *parser.Array:
		return b.list(s, e)
	case *parser.Row:
		return b.function("row", b.settleAll(b.exprs(s, e.Exprs)), e.Pos)
	case *parser.Index:
		return b.index(s, e)
	}
	b.failExpr(e)
	return nil
}

// failExpr refuses what is not an expression of its own, or not yet.
func (b *binder) failExpr(e parser.Expr) {
	switch e := e.(type) {
	case *parser.Star:
		fail(sqltype.CodeSyntax, e.Pos, "* is not an expression")
	case *parser.Default:
		fail(sqltype.CodeSyntax, e.Pos, "DEFAULT is not allowed in this context")
	}
	panic(fmt.Sprintf("planner: no binding for %T", e))
}

func (b *binder) exprs(s *scope, list []parser.Expr) []Expr {
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = b.expr(s, e)
	}
	return out
}

// value binds an expression that keeps its type.
func (b *binder) value(s *scope, e parser.Expr) Expr { return b.settle(b.expr(s, e)) }

// condition binds WHERE, ON and the like.
func (b *binder) condition(s *scope, e parser.Expr) Expr {
	return b.truth(b.expr(s, e), s.clause.String(), e.Start())
}

// ---- operators ----

func (b *binder) unary(s *scope, e *parser.Unary) Expr {
	x := b.expr(s, e.X)
	switch e.Op {
	case "NOT":
		return &Not{b.truth(x, "NOT", e.X.Start())}
	case "-":
		if c, ok := x.(*Const); ok && c.Value.Type.Kind.IsInteger() && !c.Value.Type.Kind.IsUnsigned() && !c.Value.Null && c.Value.I > 0 {
			d := c.Value
			d.I = -d.I
			return &Const{d}
		}
		return b.operator(catalog.FuncNeg.String(), []Expr{x}, e.Pos)
	case "+":
		if isOpen(x) {
			return b.coerce(x, sqltype.Float64, e.Pos)
		}
		return x // of any type, as in SQLite
	}
	return b.operator(e.Op, []Expr{x}, e.Pos)
}

var comparisons = map[string]CmpOp{"=": Eq, "<>": Ne, "<": Lt, "<=": Le, ">": Gt, ">=": Ge}

// binary binds a chain of infix operators, which may lean to the left for tens
// of thousands of terms: it goes down the chain in a loop and comes up folding.
// Terms of one AND or OR are gathered in one node.
func (b *binder) binary(s *scope, e *parser.Binary) Expr {
	spine := []*parser.Binary{e}
	for {
		left, ok := spine[len(spine)-1].L.(*parser.Binary)
		if !ok {
			break
		}
		spine = append(spine, left)
	}
	var x Expr
	bottom := spine[len(spine)-1]
	last := len(spine) - 1
	if op, ok := comparisons[bottom.Op]; ok && (isRow(bottom.L) || isRow(bottom.R)) {
		x, last = b.rowsOrValues(s, op, bottom.L, bottom.R, bottom.Pos), last-1
	} else {
		x = b.expr(s, bottom.L)
	}
	for i := last; i >= 0; i-- {
		step := spine[i]
		if step.Op == "AND" || step.Op == "OR" {
			end := i
			for end > 0 && spine[end-1].Op == step.Op {
				end--
			}
			x = b.connective(s, x, spine[end:i+1])
			i = end
			continue
		}
		x = b.infix(step, x, b.expr(s, step.R))
	}
	return x
}

// connective is x AND ... AND ..., the steps being from the last to the first.
func (b *binder) connective(s *scope, x Expr, steps []*parser.Binary) Expr {
	op := steps[0].Op
	args := make([]Expr, 1, len(steps)+1)
	first := steps[len(steps)-1]
	args[0] = b.truth(x, op, first.L.Start())
	for i := len(steps) - 1; i >= 0; i-- {
		r := steps[i].R
		args = append(args, b.truth(b.expr(s, r), op, r.Start()))
	}
	if op == "OR" {
		return &Or{args}
	}
	return &And{args}
}

// patternOps are the operators of patterns as functions.
var patternOps = map[string]string{"~": "regexp_like", "!~": "regexp_like", "~*": "regexp_ilike", "!~*": "regexp_ilike"}

func (b *binder) infix(e *parser.Binary, l, r Expr) Expr {
	if op, ok := comparisons[e.Op]; ok {
		switch ci := foldsCase(e.L); { // COLLATE on a side is for both
		case ci && !foldsCase(e.R):
			r = b.function("lower", []Expr{r}, e.Pos)
		case !ci && foldsCase(e.R):
			l = b.function("lower", []Expr{l}, e.Pos)
		}
		return b.compare(op, l, r, e.Pos)
	}
	if e.Op == "<@" {
		turned := *e
		turned.Op = "@>"
		e, l, r = &turned, r, l
	}
	if x, ok := b.listOp(e, l, r); ok {
		return x
	}
	if name, ok := patternOps[e.Op]; ok {
		x := b.function(name, []Expr{l, r}, e.Pos)
		if e.Op[0] == '!' {
			return &Not{x}
		}
		return x
	}
	if isOpen(l) != isOpen(r) && !takesOwnLiteral(e.Op, l) {
		// A literal takes the other side's type if there is such an operator:
		// date - '1998-01-01'.
		if x, ok := b.likeOther(e, l, r); ok {
			return x
		}
	}
	return b.operator(e.Op, []Expr{l, r}, e.Pos)
}

// takesOwnLiteral reports an operator whose literals are not of the other side's type.
func takesOwnLiteral(op string, l Expr) bool {
	switch op {
	case "||", "->", "->>", "#>", "#>>":
		return true
	}
	return op == "-" && l.Type().Kind == sqltype.KindJSON
}

// foldsCase reports x COLLATE NOCASE.
func foldsCase(e parser.Expr) bool {
	c, ok := e.(*parser.Call)
	if !ok || len(c.Args) != 2 || c.Name.Parts[0].Name != "collate" {
		return false
	}
	name, ok := c.Args[1].(*parser.Literal)
	return ok && sameName(name.Value.S, "NOCASE")
}

// likeOther tries an operator with the open side of the type of the other, or
// beside a date perhaps a span: d + '1 day'.
func (b *binder) likeOther(e *parser.Binary, l, r Expr) (Expr, bool) {
	t := l.Type()
	if isOpen(l) {
		t = r.Type()
	}
	if lit, ok := r.(*literal); ok && t.Kind.IsTemporal() && !readsAs(lit.text, t) && !readsAs(lit.text, sqltype.Int64) {
		if !readsAs(lit.text, sqltype.Interval) {
			return nil, false
		}
		return b.operator(e.Op, []Expr{l, b.coerce(lit, sqltype.Interval, lit.pos)}, e.Pos), true
	}
	if _, err := catalog.ResolveScalar(e.Op, []sqltype.Type{t, t}); err != nil {
		return nil, false
	}
	return b.operator(e.Op, []Expr{b.coerce(l, t, e.Pos), b.coerce(r, t, e.Pos)}, e.Pos), true
}

// readsAs reports that a text can be read as a value of type t.
func readsAs(text string, t sqltype.Type) bool {
	_, err := sqltype.ParseDatum(text, t)
	return err == nil
}

// ---- predicates ----

func (b *binder) isExpr(s *scope, e *parser.IsExpr) Expr {
	if r, ok := e.X.(*parser.Row); ok && e.What == "NULL" {
		return b.rowIsNull(s, r, e.Not)
	}
	x := b.expr(s, e.X)
	var out Expr
	switch e.What {
	case "NULL":
		out = &IsNull{b.settle(x)}
	case "UNKNOWN":
		out = &IsNull{b.truth(x, "IS UNKNOWN", e.X.Start())}
	default:
		op := NotDistinct
		if e.Not {
			op = Distinct
		}
		return &Cmp{Op: op, L: b.truth(x, "IS "+e.What, e.X.Start()), R: boolConst(e.What == "TRUE")}
	}
	if e.Not {
		return &Not{out}
	}
	return out
}

// rowIsNull is a row's IS NULL: each of its values is NULL; or, of IS NOT NULL,
// none is. Neither is the other's opposite.
func (b *binder) rowIsNull(s *scope, r *parser.Row, not bool) Expr {
	var all []Expr
	for _, x := range b.settleAll(b.exprs(s, r.Exprs)) {
		var one Expr = &IsNull{x}
		if not {
			one = &Not{one}
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return boolConst(true)
	}
	return allOf(all)
}

func (b *binder) between(s *scope, e *parser.Between) Expr {
	x, lo, hi := b.expr(s, e.X), b.expr(s, e.Lo), b.expr(s, e.Hi)
	at := e.X.Start()
	inside := func(lo, hi Expr) Expr {
		return &And{[]Expr{b.compare(Ge, x, lo, at), b.compare(Le, x, hi, at)}}
	}
	out := inside(lo, hi)
	if e.Symmetric {
		out = &Or{[]Expr{out, inside(hi, lo)}}
	}
	if e.Not {
		return &Not{out}
	}
	return out
}

var likeFuncs = map[string]string{"LIKE": "like", "ILIKE": "ilike", "SIMILAR TO": "similar_to", "GLOB": "glob"}

func (b *binder) like(s *scope, e *parser.Like) Expr {
	args := []Expr{b.expr(s, e.X), b.expr(s, e.Pattern)}
	if e.Esc != nil {
		args = append(args, b.expr(s, e.Esc))
	}
	out := b.function(likeFuncs[e.Op], args, e.X.Start())
	if e.Not {
		return &Not{out}
	}
	return out
}

func (b *binder) caseExpr(s *scope, e *parser.Case) Expr {
	c := &Case{Whens: make([]When, len(e.Whens))}
	var operand Expr
	if e.Operand != nil {
		operand = b.expr(s, e.Operand)
	}
	results := make([]Expr, len(e.Whens)+1)
	for i, w := range e.Whens {
		if operand != nil {
			c.Whens[i].Cond = b.compare(Eq, operand, b.expr(s, w.Cond), w.Cond.Start())
		} else {
			c.Whens[i].Cond = b.truth(b.expr(s, w.Cond), "CASE WHEN", w.Cond.Start())
		}
		results[i] = b.expr(s, w.Then)
	}
	last := len(e.Whens)
	results[last] = &Const{sqltype.NullOf(sqltype.Null)}
	if e.Else != nil {
		results[last] = b.expr(s, e.Else)
	}
	c.T = b.unify("CASE", results, func(i int) parser.Pos {
		switch {
		case i < last:
			return e.Whens[i].Then.Start()
		case e.Else != nil:
			return e.Else.Start()
		}
		return e.Pos
	})
	for i := range c.Whens {
		c.Whens[i].Then = results[i]
	}
	c.Else = results[last]
	// What an arm names that can never be taken does not count, as a column
	// that is not grouped for instance.
	for i, w := range c.Whens {
		if cmp, ok := w.Cond.(*Cmp); ok {
			c.Whens[i].Cond = foldCmp(cmp)
		}
	}
	return foldCase(c)
}

// coalesce is the first of the arguments that is not NULL.
func (b *binder) coalesce(args []Expr, at []parser.Pos) Expr {
	t := b.unify("COALESCE", args, func(i int) parser.Pos { return at[i] })
	// What stands after an argument that is never NULL is never looked at: not
	// for a column that is not grouped either.
	last := 0
	for last < len(args)-1 && !b.neverNullExpr(args[last]) {
		last++
	}
	if last == 0 {
		return args[0]
	}
	c := &Case{Whens: make([]When, last), Else: args[last], T: t}
	for i, a := range args[:last] {
		c.Whens[i] = When{Cond: &Not{&IsNull{a}}, Then: a}
	}
	return c
}
