package planner

import (
	"fmt"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

func (b *binder) scalarSubquery(s *scope, e *parser.Subquery) Expr {
	q := b.query(s, s.ctes, e.Query)
	if len(q.cols) != 1 {
		fail(sqltype.CodeSyntax, e.Pos, "a subquery used as a value must return one column, not %d", len(q.cols))
	}
	return &Subquery{Kind: SubScalar, Plan: q.node, T: q.cols[0].Type}
}

// in binds x IN (list) and x IN (query).
func (b *binder) in(s *scope, e *parser.In) Expr {
	var out Expr
	switch {
	case e.Query != nil:
		out = b.anyOf(s, Eq, e.X, e.Query, e.X.Start())
	case len(e.List) == 0:
		out = boolConst(false)
	case isRow(e.X):
		out = b.rowInList(s, e)
	default:
		out = b.inList(b.expr(s, e.X), b.exprs(s, e.List), e)
	}
	if e.Not {
		return &Not{out}
	}
	return out
}

// inList brings all to one type. Constants that fit the left side's type as
// they are do not widen it.
func (b *binder) inList(x Expr, list []Expr, e *parser.In) Expr {
	all := make([]Expr, 0, len(list)+1)
	all = append(all, x)
	for _, v := range list {
		if !isOpen(x) {
			if c, ok := fitConst(v, x.Type()); ok {
				v = c
			}
		}
		all = append(all, v)
	}
	b.unify("IN", all, func(i int) parser.Pos {
		if i == 0 {
			return e.X.Start()
		}
		return e.List[i-1].Start()
	})
	if len(all) == 2 {
		return b.compare(Eq, all[0], all[1], e.X.Start())
	}
	return &In{X: all[0], List: all[1:]}
}

func (b *binder) rowInList(s *scope, e *parser.In) Expr {
	arms := make([]Expr, len(e.List))
	for i, r := range e.List {
		arms[i] = b.rowsOrValues(s, Eq, e.X, r, r.Start())
	}
	if len(arms) == 1 {
		return arms[0]
	}
	return &Or{arms}
}

// anyOf is x op ANY (query), x being a row perhaps.
func (b *binder) anyOf(s *scope, op CmpOp, x parser.Expr, query *parser.Query, at parser.Pos) Expr {
	left := []Expr{nil}
	if row, ok := x.(*parser.Row); ok {
		left = b.exprs(s, row.Exprs)
	} else {
		left[0] = b.expr(s, x)
	}
	q := b.query(s, s.ctes, query)
	if len(q.cols) != len(left) {
		fail(sqltype.CodeSyntax, at, "the subquery has %d columns, but %d are compared with it", len(q.cols), len(left))
	}
	if len(left) > 1 && op != Eq {
		return b.anyHolds(q, b.compareRows(op, left, colRefs(q.cols), at))
	}
	if len(left) == 1 && op == Eq && neverOfType(left[0], q.cols[0].Type) {
		return b.inOthers(q)
	}
	types := make([]sqltype.Type, len(left))
	for i := range left {
		l, r, ok := b.meet(left[i], colRef(q.cols[i]), at)
		if !ok {
			fail(sqltype.CodeTypeMismatch, at, "cannot compare %s with %s of the subquery", left[i].Type(), q.cols[i].Type)
		}
		left[i], types[i] = l, r.Type()
	}
	return &Subquery{Kind: SubAny, Plan: b.castColumns(q.node, q.cols, types), X: left, Op: op, T: sqltype.Bool}
}

// neverOfType reports a constant that no value of type t equals: a string that
// cannot be read as one, or a blob beside a number.
func neverOfType(e Expr, t sqltype.Type) bool {
	switch e := e.(type) {
	case *literal:
		return !readsAs(e.text, t)
	case *Const:
		return !e.Value.Null && (e.Value.Type.Kind == sqltype.KindBlob && t.Kind.IsNumeric())
	}
	return false
}

// inOthers is x IN (query) of an x that equals none of its values: FALSE, or
// unknown when one is NULL.
func (b *binder) inOthers(q bound) Expr {
	isNull := &IsNull{colRef(q.cols[0])}
	never := &Case{Whens: []When{{isNull, nullBool()}}, Else: boolConst(false), T: sqltype.Bool}
	col := b.column(q.cols[0].Name, sqltype.Bool, nullsOf(q.cols[0].NotNull))
	return &Subquery{
		Kind: SubAny, Op: Eq, X: []Expr{boolConst(true)}, T: sqltype.Bool,
		Plan: &Project{Input: q.node, Exprs: []NamedExpr{{Col: col, Expr: never}}},
	}
}

// ---- rows ----

func isRow(e parser.Expr) bool {
	_, ok := e.(*parser.Row)
	return ok
}

// rowsOrValues compares two values, or two rows, element by element. A row may
// be a subquery of several columns.
func (b *binder) rowsOrValues(s *scope, op CmpOp, l, r parser.Expr, at parser.Pos) Expr {
	if !isRow(l) && !isRow(r) {
		return b.compare(op, b.expr(s, l), b.expr(s, r), at)
	}
	left, right := b.rowOf(s, l, r, at), b.rowOf(s, r, l, at)
	if len(left) != len(right) {
		fail(sqltype.CodeSyntax, at, "unequal number of entries in row expressions: %d and %d", len(left), len(right))
	}
	return b.compareRows(op, left, right, at)
}

// rowOf is the elements of a row that is compared with another.
func (b *binder) rowOf(s *scope, e, other parser.Expr, at parser.Pos) []Expr {
	switch e := e.(type) {
	case *parser.Row:
		return b.exprs(s, e.Exprs)
	case *parser.Subquery:
		width := len(other.(*parser.Row).Exprs)
		out := make([]Expr, width)
		for i := range out {
			// Each element has a plan of its own: a column of a plan stands in one place.
			q := b.query(s, s.ctes, e.Query)
			if len(q.cols) != width {
				fail(sqltype.CodeSyntax, e.Pos, "the subquery has %d columns, but %d are compared with it", len(q.cols), width)
			}
			c := q.cols[i]
			out[i] = &Subquery{Kind: SubScalar, Plan: &Project{Input: q.node, Exprs: passed([]ColDef{c})}, T: c.Type}
		}
		return out
	}
	fail(sqltype.CodeTypeMismatch, at, "a row can only be compared with a row")
	return nil
}

// compareRows compares rows of one width.
func (b *binder) compareRows(op CmpOp, left, right []Expr, at parser.Pos) Expr {
	parts := make([]Expr, len(left))
	switch op {
	case Eq, NotDistinct, Ne, Distinct:
		for i := range left {
			parts[i] = b.compare(op, left[i], right[i], at)
		}
		if op == Eq || op == NotDistinct {
			return conjoin(parts, boolConst(true))
		}
		if len(parts) == 1 {
			return parts[0]
		}
		return &Or{parts}
	case Lt, Le, Gt, Ge:
		return b.rowOrder(op, left, right, at)
	}
	panic(fmt.Sprintf("planner: rows compared by %s", op))
}

// rowOrder is the order of rows: by the first elements, and where they are
// equal by the next.
func (b *binder) rowOrder(op CmpOp, l, r []Expr, at parser.Pos) Expr {
	strict := op
	switch op {
	case Le:
		strict = Lt
	case Ge:
		strict = Gt
	}
	last := len(l) - 1
	out := b.compare(op, l[last], r[last], at)
	for i := last - 1; i >= 0; i-- {
		out = &Or{[]Expr{
			b.compare(strict, l[i], r[i], at),
			&And{[]Expr{b.compare(Eq, l[i], r[i], at), out}},
		}}
	}
	return out
}
