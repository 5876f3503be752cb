package planner

import (
	"fmt"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// literal is a string literal that has not met a type yet. It lives only while
// a statement is bound: coerce and settle make a Const of it.
type literal struct {
	text string
	pos  parser.Pos
}

func (*literal) expr() {}

// Type is VARCHAR, what the literal is if it meets nothing.
func (*literal) Type() sqltype.Type { return sqltype.Varchar }

// isOpen reports an expression whose type is still to be found: a string
// literal, NULL, or a parameter that has met none.
func isOpen(e Expr) bool {
	switch e := e.(type) {
	case *literal:
		return true
	case *Const:
		return e.Value.Type.Kind == sqltype.KindNull
	case *Param:
		return e.T.Kind == sqltype.KindNull
	}
	return false
}

// settle gives an open literal or parameter the type that it has by itself.
func (b *binder) settle(e Expr) Expr {
	switch e := e.(type) {
	case *literal:
		return &Const{sqltype.NewString(e.text)}
	case *Param:
		if e.T.Kind == sqltype.KindNull {
			return b.typedParam(e, sqltype.Varchar)
		}
	}
	return e
}

func (b *binder) settleAll(es []Expr) []Expr {
	for i := range es {
		es[i] = b.settle(es[i])
	}
	return es
}

// typedParam gives a parameter its type; one that has it by now is cast.
func (b *binder) typedParam(p *Param, t sqltype.Type) Expr {
	if known := b.params[p.Index-1]; known.Kind != sqltype.KindNull {
		return b.cast(&Param{Index: p.Index, T: known}, t, noPos)
	}
	if t.Kind == sqltype.KindVarchar {
		t = sqltype.Varchar
	}
	b.params[p.Index-1] = t
	return &Param{Index: p.Index, T: t}
}

// param is a parameter where it stands.
func (b *binder) param(p *parser.ParamRef) Expr {
	if e, ok := b.numbered(p); ok {
		return e
	}
	for len(b.params) < p.Index {
		t := sqltype.Null
		if i := len(b.params); i < len(b.opts.ParamTypes) {
			t = b.opts.ParamTypes[i]
		}
		b.params = append(b.params, t)
	}
	return &Param{Index: p.Index, T: b.params[p.Index-1]}
}

// sameForm reports that values of two types need no cast: a VARCHAR's length
// is not enforced.
func sameForm(a, b sqltype.Type) bool {
	return a == b || a.Kind == b.Kind && a.Kind == sqltype.KindVarchar
}

// coerce brings e to type t, which it is known to fit: an open one takes it,
// anything else is cast.
func (b *binder) coerce(e Expr, t sqltype.Type, at parser.Pos) Expr {
	if t.Kind == sqltype.KindNull {
		return b.settle(e)
	}
	switch x := e.(type) {
	case *literal:
		d, err := sqltype.ParseDatum(x.text, t)
		if err != nil {
			failWith(err, x.pos)
		}
		return &Const{d}
	case *Param:
		if x.T.Kind == sqltype.KindNull {
			return b.typedParam(x, t)
		}
	}
	return b.cast(e, t, at)
}

// cast is e as type t. A constant is converted now, if that succeeds; an error
// is for execution to raise, if it gets there.
func (b *binder) cast(e Expr, t sqltype.Type, at parser.Pos) Expr {
	if sameForm(e.Type(), t) {
		return e
	}
	if c, ok := e.(*Const); ok {
		if c.Value.Null {
			return &Const{sqltype.NullOf(t)}
		}
		if d, err := sqltype.CastDatum(c.Value, t); err == nil {
			return &Const{d}
		}
	}
	return &Cast{X: e, To: t, Pos: int(at) + 1}
}

// convert is CAST(e AS t) and TRY_CAST.
func (b *binder) convert(e Expr, c *parser.Cast) Expr {
	t := b.typeOf(&c.Type)
	if c.Type.Round > 0 {
		// A negative scale is DECIMAL without a point, rounded.
		whole := *c
		whole.Type.Round = 0
		digits := &Const{sqltype.NewInt32(int32(-c.Type.Round))}
		return b.cast(b.function("round", []Expr{b.convert(e, &whole), digits}, c.Pos), t, c.Pos)
	}
	if c.Type.Length > 0 && t.Kind == sqltype.KindList {
		free := *c
		free.Type.Length = 0
		return b.ofLength(b.convert(e, &free), c)
	}
	if !c.Try {
		e = b.coerce(e, t, c.Pos)
		if x, ok := e.(*Cast); ok && !castable(x.X.Type(), t) {
			fail("42846", c.Pos, "cannot cast %s to %s", x.X.Type(), t)
		}
		return e
	}
	e = b.settle(e)
	if !castable(e.Type(), t) {
		fail("42846", c.Pos, "cannot cast %s to %s", e.Type(), t)
	}
	if sameForm(e.Type(), t) {
		return e
	}
	return &Cast{X: e, To: t, Try: true, Pos: int(c.Pos) + 1}
}

// ofLength is a list that must have as many elements as its type says; any other
// is an error, or NULL of TRY_CAST.
func (b *binder) ofLength(list Expr, c *parser.Cast) Expr {
	t, n := list.Type(), c.Type.Length
	var other Expr = &Const{sqltype.NullOf(t)}
	if !c.Try {
		message := fmt.Sprintf("cannot cast a list of another length to %s[%d]", t.Elem(), n)
		other = b.cast(b.function("error", []Expr{&Const{sqltype.NewString(message)}}, c.Pos), t, c.Pos)
	}
	length := b.function("len", []Expr{list}, c.Pos)
	fits := &Or{[]Expr{&IsNull{list}, b.compare(Eq, length, &Const{sqltype.NewInt64(int64(n))}, c.Pos)}}
	return &Case{Whens: []When{{fits, list}}, Else: other, T: t}
}

// castable reports that CAST knows how to make a t of an f.
func castable(f, t sqltype.Type) bool {
	fk, tk := f.Kind, t.Kind
	switch {
	case fk == sqltype.KindEnum && tk == sqltype.KindEnum:
		return f.Enum == t.Enum
	case fk.IsNested() && fk == tk, fk == sqltype.KindJSON, tk == sqltype.KindJSON:
		return sqltype.CanCast(f, t)
	case fk == tk, fk == sqltype.KindNull, fk == sqltype.KindVarchar, tk == sqltype.KindVarchar:
		return true
	case fk.IsNumeric() && tk.IsNumeric(),
		fk.IsNumeric() && tk == sqltype.KindBool, fk == sqltype.KindBool && tk.IsNumeric():
		return true
	case fk.IsTemporal() && tk.IsTemporal():
		return fk != sqltype.KindTime && !(fk == sqltype.KindDate && tk == sqltype.KindTime)
	case fk == sqltype.KindBit, tk == sqltype.KindBit, fk == sqltype.KindTimeTZ, tk == sqltype.KindTimeTZ:
		return sqltype.CanCast(f, t)
	case fk == sqltype.KindTime && tk == sqltype.KindInterval, fk == sqltype.KindInterval && tk == sqltype.KindTime:
		return true
	}
	return false
}

// meet brings two expressions to the type in which they can be compared; false
// when there is none.
func (b *binder) meet(l, r Expr, at parser.Pos) (Expr, Expr, bool) {
	if lt := l.Type(); lt == r.Type() && !isOpen(l) && !isOpen(r) {
		return l, r, true // most are
	}
	switch lo, ro := isOpen(l), isOpen(r); {
	case lo && ro:
		l, r = b.settle(l), b.settle(r) // VARCHARs, or a bare NULL
	case lo:
		l = b.coerce(l, r.Type(), at)
	case ro:
		r = b.coerce(r, l.Type(), at)
	}
	if x, ok := fitConst(r, l.Type()); ok {
		return l, x, true
	}
	if x, ok := fitConst(l, r.Type()); ok {
		return x, r, true
	}
	t, ok := sqltype.CommonType(l.Type(), r.Type())
	if !ok {
		return l, r, false
	}
	return b.cast(l, t, at), b.cast(r, t, at), true
}

// fitConst is a numeric constant as type t, if it is the same number there: it
// spares the other side, a column perhaps, a conversion to a wider type.
func fitConst(e Expr, t sqltype.Type) (Expr, bool) {
	c, ok := e.(*Const)
	if !ok || c.Value.Null || !t.Kind.IsNumeric() || t.Kind.IsFloat() || !c.Value.Type.Kind.IsNumeric() || c.Value.Type.Kind.IsFloat() {
		return nil, false
	}
	d, err := sqltype.CastDatum(c.Value, t)
	if err != nil {
		return nil, false
	}
	back, err := sqltype.CastDatum(d, c.Value.Type)
	if err != nil || !sameDatum(back, c.Value) {
		return nil, false
	}
	return &Const{d}, true
}

// compare is l op r.
func (b *binder) compare(op CmpOp, l, r Expr, at parser.Pos) Expr {
	x, y, ok := b.meet(l, r, at)
	if !ok {
		e := sqltype.Errorf(sqltype.CodeTypeMismatch, "cannot compare %s with %s", l.Type(), r.Type())
		e.Hint = "a cast of one side may help"
		failWith(e, at)
	}
	return &Cmp{Op: op, L: x, R: y}
}

// unify brings expressions to one type, in place, and gives it. What names the
// construct in the error.
func (b *binder) unify(what string, es []Expr, at func(int) parser.Pos) sqltype.Type {
	t, found := sqltype.Null, -1
	for i, e := range es {
		if isOpen(e) {
			continue
		}
		if found < 0 {
			t, found = e.Type(), i
			continue
		}
		common, ok := sqltype.CommonType(t, e.Type())
		if !ok {
			fail(sqltype.CodeTypeMismatch, at(i), "%s types %s and %s cannot be matched", what, t, e.Type())
		}
		t = common
	}
	if found < 0 {
		t = b.openType(es)
	}
	for i := range es {
		if t.Kind != sqltype.KindNull {
			es[i] = b.coerce(es[i], t, at(i))
		}
	}
	return t
}

// openType is what open expressions are together: VARCHAR, or Null if all of
// them are NULL.
func (b *binder) openType(es []Expr) sqltype.Type {
	for _, e := range es {
		if _, ok := e.(*Const); !ok {
			return sqltype.Varchar
		}
	}
	return sqltype.Null
}

// truth is e as a condition: BOOLEAN, or a number that is true unless it is 0.
func (b *binder) truth(e Expr, what string, at parser.Pos) Expr {
	if isOpen(e) {
		return b.coerce(e, sqltype.Bool, at)
	}
	t := e.Type()
	switch {
	case t.Kind == sqltype.KindBool:
		return e
	case t.Kind.IsNumeric():
		return &Cmp{Op: Ne, L: e, R: b.cast(&Const{sqltype.NewInt32(0)}, t, at)}
	}
	fail(sqltype.CodeTypeMismatch, at, "argument of %s must be %s, not %s", what, sqltype.Bool, t)
	return nil
}

// neverNullExpr reports an expression that cannot be NULL.
func (b *binder) neverNullExpr(e Expr) bool {
	switch e := e.(type) {
	case *Const:
		return !e.Value.Null
	case *Col:
		return b.notNull.has(e.ID)
	case *Cast:
		return !e.Try && b.neverNullExpr(e.X)
	case *Call:
		switch e.Func.ID {
		case catalog.FuncAdd, catalog.FuncSub, catalog.FuncMul, catalog.FuncDiv, catalog.FuncMod, catalog.FuncNeg:
			return b.noneNull(e.Args) // a number or an error
		}
	case *Cmp:
		return e.Op == Distinct || e.Op == NotDistinct || b.neverNullExpr(e.L) && b.neverNullExpr(e.R)
	case *And:
		return b.noneNull(e.Args)
	case *Or:
		return b.noneNull(e.Args)
	case *Not:
		return b.neverNullExpr(e.X)
	case *IsNull:
		return true
	case *Case:
		for i := range e.Whens {
			if !b.neverNullExpr(e.Whens[i].Then) {
				return false
			}
		}
		return b.neverNullExpr(e.Else)
	case *Subquery:
		return e.Kind == SubExists
	}
	return false
}

func (b *binder) noneNull(es []Expr) bool {
	for _, e := range es {
		if !b.neverNullExpr(e) {
			return false
		}
	}
	return true
}
