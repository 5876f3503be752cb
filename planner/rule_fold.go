package planner

import "github.com/gpusql/gpusql/sqltype"

// fold_constants computes what names no column: 1 + 1, DATE '1998-12-01' -
// INTERVAL '90 days', x + NULL.
//
// It pays because the work is done once and not for each row, and because a
// constant is what ranges of keys, statistics and zone maps can be compared
// with.
//
// It would be wrong for a function that is not the same each time
// (SELECT random() FROM t must not repeat one number), for one that is the same
// only within a statement (now(): the plan may be kept longer than that), and
// for what fails: SELECT CASE WHEN b <> 0 THEN a / b ELSE 1 / 0 END FROM t has
// no error as long as no b is 0, so an expression that cannot be computed stays.
//
// It is required: a comparison with NULL does not compute its other side, so
// that a * a < NULL has no overflow, and that must not depend on a setting.
func (o *optimizer) foldConstants(n Node) Node {
	return o.rewriteExprs(n, o.fold)
}

// rewriteExprs applies f, bottom up, to every expression of a plan and of the
// subqueries in it, and says so when anything has changed.
func (o *optimizer) rewriteExprs(n Node, f func(Expr) Expr) Node {
	var plan func(Node) Node
	g := func(e Expr) Expr {
		if s, ok := e.(*Subquery); ok {
			if p := plan(s.Plan); p != s.Plan {
				c := *s
				c.Plan = p
				return &c
			}
			return e
		}
		x := f(e)
		if x != e {
			o.fired()
		}
		return x
	}
	plan = func(n Node) Node {
		return transform(n, func(n Node) Node {
			return mapNodeExprs(n, func(e Expr) Expr { return mapExpr(e, g) })
		})
	}
	return plan(n)
}

// fold computes e if all its arguments are constants.
func (o *optimizer) fold(e Expr) Expr {
	switch e := e.(type) {
	case *Call:
		if !e.Func.NullIn && anyNull(e.Args) && !e.Func.Volatile {
			return &Const{sqltype.NullOf(e.T)}
		}
		if e.Func.Volatile || e.Func.Stable || !allConst(e.Args) {
			return e
		}
	case *Cast:
		if isNullConst(e.X) {
			return &Const{sqltype.NullOf(e.To)}
		}
		if _, ok := e.X.(*Const); !ok {
			return e
		}
	case *Cmp:
		return foldCmp(e)
	case *IsNull:
		if c, ok := e.X.(*Const); ok {
			return boolConst(c.Value.Null)
		}
		return e
	case *Case:
		return foldCase(e)
	default:
		return e
	}
	if o.opts.Fold == nil {
		return e
	}
	d, err := o.opts.Fold(e)
	if err != nil {
		return e
	}
	d.Type = e.Type()
	return &Const{d}
}

// foldCmp compares two constants, and anything with NULL.
func foldCmp(e *Cmp) Expr {
	l, lok := e.L.(*Const)
	r, rok := e.R.(*Const)
	if e.Op != Distinct && e.Op != NotDistinct {
		if lok && l.Value.Null || rok && r.Value.Null {
			return nullBool()
		}
	}
	if !lok || !rok {
		return e
	}
	if l.Value.Null || r.Value.Null {
		return boolConst((l.Value.Null == r.Value.Null) == (e.Op == NotDistinct))
	}
	return boolConst(e.Op.holds(sqltype.Compare(l.Value, r.Value)))
}

// holds says whether the comparison is true of two values that compare as c.
func (o CmpOp) holds(c int) bool {
	switch o {
	case Eq, NotDistinct:
		return c == 0
	case Ne, Distinct:
		return c != 0
	case Lt:
		return c < 0
	case Le:
		return c <= 0
	case Gt:
		return c > 0
	default:
		return c >= 0
	}
}

// foldCase drops the arms that cannot be taken and those behind one that is
// always taken.
func foldCase(e *Case) Expr {
	keep := 0
	for ; keep < len(e.Whens); keep++ {
		if _, ok := e.Whens[keep].Cond.(*Const); ok {
			break
		}
	}
	if keep == len(e.Whens) {
		return e
	}
	c := &Case{Whens: append([]When(nil), e.Whens[:keep]...), Else: e.Else, T: e.T}
	for _, w := range e.Whens[keep:] {
		if k, ok := w.Cond.(*Const); ok {
			if k.Value.Null || k.Value.I == 0 {
				continue
			}
			c.Else = w.Then
			break
		}
		c.Whens = append(c.Whens, w)
	}
	if len(c.Whens) == 0 {
		return c.Else
	}
	return c
}

func boolConst(b bool) *Const { return &Const{sqltype.NewBool(b)} }

func nullBool() *Const { return &Const{sqltype.NullOf(sqltype.Bool)} }

func isNullConst(e Expr) bool {
	c, ok := e.(*Const)
	return ok && c.Value.Null
}

// isTrue and isFalse recognise the constants; NULL is neither.
func isTrue(e Expr) bool {
	c, ok := e.(*Const)
	return ok && !c.Value.Null && c.Value.Type.Kind == sqltype.KindBool && c.Value.I != 0
}

func isFalse(e Expr) bool {
	c, ok := e.(*Const)
	return ok && !c.Value.Null && c.Value.Type.Kind == sqltype.KindBool && c.Value.I == 0
}

func anyNull(es []Expr) bool {
	for _, e := range es {
		if isNullConst(e) {
			return true
		}
	}
	return false
}

func allConst(es []Expr) bool {
	for _, e := range es {
		if _, ok := e.(*Const); !ok {
			return false
		}
	}
	return true
}
