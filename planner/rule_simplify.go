package planner

import (
	"github.com/gpusql/gpusql/sqltype"
)

// simplify brings conditions to the shape that the other rules look for: AND
// and OR flat and without doubles, NOT moved inwards, x = 1 OR x = 2 as an IN,
// IN of one value as =, a conjunct that all arms of an OR share moved out of
// it, and a cast taken from the column to the constant.
//
// It pays because only a conjunct can be pushed or become a join key: TPC-H's
// query 19 is a cross product until p_partkey = l_partkey is taken out of its
// three arms. CAST(i AS BIGINT) = 5 can use neither index nor statistics, i = 5 can.
//
// It would be wrong to forget NULL: x = x is not TRUE but TRUE or unknown, so
// only a WHERE may read it as x IS NOT NULL; and SELECT x = 1 OR NULL is not
// x = 1. A cast may move only if it keeps both order and distinctness: two
// BIGINTs can be one DOUBLE, so CAST(b AS DOUBLE) = 1e18 is not b = 1000000000000000000.
func (o *optimizer) simplify(n Node) Node {
	n = o.rewriteExprs(n, simplifyExpr)
	return o.simplifyConditions(n)
}

// simplifyConditions uses that a condition which is unknown selects nothing.
func (o *optimizer) simplifyConditions(n Node) Node {
	return transform(n, func(n Node) Node {
		switch n := n.(type) {
		case *Filter:
			if p := simplifyCond(n.Pred); p != n.Pred {
				o.fired()
				return &Filter{Input: n.Input, Pred: p}
			}
		case *Join:
			if n.On == nil || n.NullAware || n.Kind == Mark {
				return n
			}
			if p := simplifyCond(n.On); p != n.On {
				o.fired()
				c := *n
				c.On = p
				return &c
			}
		}
		return n
	})
}

// simplifyCond rewrites a condition of which only TRUE counts.
func simplifyCond(e Expr) Expr {
	switch e := e.(type) {
	case *Const:
		if e.Value.Null {
			return boolConst(false)
		}
	case *And:
		if args, changed := mapList(e.Args, simplifyCond); changed {
			return simplifyAnd(&And{args})
		}
	case *Or:
		if args, changed := mapList(e.Args, simplifyCond); changed {
			return simplifyOr(&Or{args})
		}
	case *Cmp:
		if e.Op == NotDistinct && isTrue(e.R) {
			return simplifyCond(e.L)
		}
		if (e.Op == Eq || e.Op == Le || e.Op == Ge) && equalExpr(e.L, e.R) {
			return &Not{&IsNull{e.L}}
		}
	}
	return e
}

// mapList applies f to each element; the list is copied only on change.
func mapList(es []Expr, f func(Expr) Expr) ([]Expr, bool) {
	var out []Expr
	for i, e := range es {
		x := f(e)
		if x != e && out == nil {
			out = append(make([]Expr, 0, len(es)), es[:i]...)
		}
		if out != nil {
			out = append(out, x)
		}
	}
	if out == nil {
		return es, false
	}
	return out, true
}

// simplifyExpr rewrites one expression whose arguments are simple already.
func simplifyExpr(e Expr) Expr {
	switch e := e.(type) {
	case *And:
		return simplifyAnd(e)
	case *Or:
		return simplifyOr(e)
	case *Not:
		return simplifyNot(e)
	case *Cmp:
		return simplifyCmp(e)
	case *In:
		return simplifyIn(e)
	}
	return e
}

// simplifyAnd flattens, drops TRUE and doubles, and is FALSE if one argument is.
func simplifyAnd(e *And) Expr {
	var set exprSet
	changed := false
	for _, a := range e.Args {
		if isFalse(a) {
			return a
		}
		if isTrue(a) {
			changed = true
			continue
		}
		if in, ok := a.(*And); ok {
			changed = true
			for _, x := range in.Args {
				set.add(x)
			}
			continue
		}
		if !set.add(a) {
			changed = true
		}
	}
	if !changed {
		return e
	}
	return conjoin(set.list, boolConst(true))
}

// conjoin is the conjunction of a list; none is what an empty one gives.
func conjoin(list []Expr, none Expr) Expr {
	switch len(list) {
	case 0:
		return none
	case 1:
		return list[0]
	}
	return &And{list}
}

// allOf is the conjunction of a list, nil if it is empty.
func allOf(list []Expr) Expr { return conjoin(list, nil) }

// conjuncts are the arguments of a conjunction; none for nil, and e itself if
// it is something else.
func conjuncts(e Expr) []Expr {
	if e == nil {
		return nil
	}
	a, ok := e.(*And)
	if !ok {
		if isTrue(e) {
			return nil
		}
		return []Expr{e}
	}
	for _, x := range a.Args {
		if _, ok := x.(*And); ok || isTrue(x) {
			var flat []Expr
			for _, x := range a.Args {
				flat = append(flat, conjuncts(x)...)
			}
			return flat
		}
	}
	return a.Args[:len(a.Args):len(a.Args)]
}

// simplifyOr flattens, drops FALSE and doubles, gathers equalities with
// constants into INs and takes out what all arms share.
func simplifyOr(e *Or) Expr {
	var set exprSet
	changed := false
	for _, a := range e.Args {
		if isTrue(a) {
			return a
		}
		if isFalse(a) {
			changed = true
			continue
		}
		if in, ok := a.(*Or); ok {
			changed = true
			for _, x := range in.Args {
				set.add(x)
			}
			continue
		}
		if !set.add(a) {
			changed = true
		}
	}
	list, gathered := gatherIn(set.list)
	switch {
	case len(list) == 0:
		return boolConst(false)
	case len(list) == 1:
		return list[0]
	}
	if x := shareConjuncts(list); x != nil {
		return x
	}
	if !changed && !gathered {
		return e
	}
	return &Or{list}
}

// gatherIn turns the equalities of one expression with constants among the
// arms of an OR into an IN.
func gatherIn(arms []Expr) ([]Expr, bool) {
	type group struct {
		at int // place among the arms kept
		in *In
	}
	var groups map[uint64][]*group
	out := make([]Expr, 0, len(arms))
	gathered := false
next:
	for _, a := range arms {
		x, list := equalsConst(a)
		if x == nil {
			out = append(out, a)
			continue
		}
		h := hashExpr(x)
		for _, g := range groups[h] {
			if equalExpr(g.in.X, x) {
				g.in.List = append(g.in.List, list...)
				out[g.at] = g.in
				gathered = true
				continue next
			}
		}
		if groups == nil {
			groups = make(map[uint64][]*group)
		}
		groups[h] = append(groups[h], &group{len(out), &In{X: x, List: append([]Expr(nil), list...)}})
		out = append(out, a)
	}
	if !gathered {
		return arms, false
	}
	for i, a := range out {
		if in, ok := a.(*In); ok {
			out[i] = simplifyIn(in)
		}
	}
	return out, true
}

// equalsConst takes x = c and x IN (c, ...) apart; nil if e is neither.
func equalsConst(e Expr) (Expr, []Expr) {
	switch e := e.(type) {
	case *Cmp:
		if _, ok := e.R.(*Const); ok && e.Op == Eq {
			return e.L, []Expr{e.R}
		}
	case *In:
		if allConst(e.List) {
			return e.X, e.List
		}
	}
	return nil, nil
}

// shareConjuncts is (a AND b) OR (a AND c) as a AND (b OR c); nil if the arms
// have nothing in common.
func shareConjuncts(arms []Expr) Expr {
	var shared exprSet
	for _, c := range conjuncts(arms[0]) {
		shared.add(c)
	}
	for _, a := range arms[1:] {
		var has, both exprSet
		for _, c := range conjuncts(a) {
			has.add(c)
		}
		for _, c := range shared.list {
			if has.has(c) {
				both.add(c)
			}
		}
		if shared = both; len(shared.list) == 0 {
			return nil
		}
	}
	rest := make([]Expr, 0, len(arms))
	for _, a := range arms {
		var own []Expr
		for _, c := range conjuncts(a) {
			if !shared.has(c) {
				own = append(own, c)
			}
		}
		if len(own) == 0 { // this arm is no more than what they share
			return allOf(shared.list)
		}
		rest = append(rest, allOf(own))
	}
	return &And{append(shared.list[:len(shared.list):len(shared.list)], simplifyOr(&Or{rest}))}
}

// simplifyNot moves NOT inwards. NOT (a < b) is a >= b, as unknown stays unknown.
func simplifyNot(e *Not) Expr {
	switch x := e.X.(type) {
	case *Const:
		if x.Value.Null {
			return x
		}
		return boolConst(x.Value.I == 0)
	case *Not:
		return x.X
	case *Cmp:
		return &Cmp{Op: x.Op.negate(), L: x.L, R: x.R}
	case *And:
		return simplifyOr(&Or{negateAll(x.Args)})
	case *Or:
		return simplifyAnd(&And{negateAll(x.Args)})
	}
	return e
}

func negateAll(es []Expr) []Expr {
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = simplifyNot(&Not{e})
	}
	return out
}

// negate is the comparison that holds when o does not, of values not NULL.
func (o CmpOp) negate() CmpOp {
	return [...]CmpOp{Eq: Ne, Ne: Eq, Lt: Ge, Le: Gt, Gt: Le, Ge: Lt, Distinct: NotDistinct, NotDistinct: Distinct}[o]
}

// swap is the comparison with its sides exchanged.
func (o CmpOp) swap() CmpOp {
	return [...]CmpOp{Eq: Eq, Ne: Ne, Lt: Gt, Le: Ge, Gt: Lt, Ge: Le, Distinct: Distinct, NotDistinct: NotDistinct}[o]
}

// simplifyCmp puts the constant right and takes casts from the other side.
func simplifyCmp(e *Cmp) Expr {
	if isFixed(e.L) && !isFixed(e.R) {
		return simplifyCmp(&Cmp{Op: e.Op.swap(), L: e.R, R: e.L})
	}
	c, ok := e.R.(*Const)
	if !ok {
		return e
	}
	if c.Value.Null {
		switch e.Op {
		case NotDistinct:
			return &IsNull{e.L}
		case Distinct:
			return &Not{&IsNull{e.L}}
		}
		return nullBool()
	}
	if x, ok := e.L.(*Cast); ok && !x.Try && keepsOrder(x.X.Type(), x.To) {
		if op, d, ok := unwrap(e.Op, c.Value, x.X.Type()); ok {
			return simplifyCmp(&Cmp{Op: op, L: x.X, R: &Const{d}})
		}
	}
	return e
}

// isFixed reports a constant or a parameter.
func isFixed(e Expr) bool {
	switch e.(type) {
	case *Const, *Param:
		return true
	}
	return false
}

// keepsOrder reports that a cast neither fails nor joins two values nor
// changes their order.
func keepsOrder(from, to sqltype.Type) bool {
	f, t := from.Kind, to.Kind
	switch {
	case f == sqltype.KindDate:
		return t == sqltype.KindTimestamp
	case f == sqltype.KindFloat32:
		return t == sqltype.KindFloat64
	case f == sqltype.KindVarchar:
		return t == sqltype.KindVarchar
	case f == sqltype.KindDecimal && t == sqltype.KindDecimal:
		return to.Scale >= from.Scale && to.Precision-to.Scale >= from.Precision-from.Scale
	case f.IsInteger() && t == sqltype.KindDecimal:
		d, _ := sqltype.DecimalFor(from)
		return to.Precision-to.Scale >= d.Precision
	case f.IsInteger() && t == sqltype.KindFloat64:
		return from.Phys().Width() <= 4
	case f.IsInteger() && t.IsInteger():
		common, ok := sqltype.CommonType(from, to)
		return ok && common == to
	}
	return false
}

// unwrap is the comparison of a value of type to that agrees with op d once
// that value has been cast to d's type.
func unwrap(op CmpOp, d sqltype.Datum, to sqltype.Type) (CmpOp, sqltype.Datum, bool) {
	down, err := sqltype.CastDatum(d, to)
	if err != nil || down.Null {
		return op, d, false
	}
	back, err := sqltype.CastDatum(down, d.Type)
	if err != nil {
		return op, d, false
	}
	switch c := sqltype.Compare(back, d); {
	case c == 0:
		return op, down, true
	case op == Lt || op == Le: // down lies beside d, and nothing between them
		if c < 0 {
			return Le, down, true
		}
		return Lt, down, true
	case op == Gt || op == Ge:
		if c < 0 {
			return Gt, down, true
		}
		return Ge, down, true
	}
	return op, d, false
}

// simplifyIn drops doubles, reads a list of one as =, and takes casts from the
// left side.
func simplifyIn(e *In) Expr {
	if len(e.List) == 1 {
		return simplifyCmp(&Cmp{Op: Eq, L: e.X, R: e.List[0]})
	}
	if isNullConst(e.X) {
		return nullBool()
	}
	if !allConst(e.List) {
		return e
	}
	if x, ok := e.X.(*Const); ok {
		return inConst(x, e.List)
	}
	if x, ok := e.X.(*Cast); ok && !x.Try && keepsOrder(x.X.Type(), x.To) {
		if list, ok := unwrapList(e.List, x.X.Type()); ok {
			return simplifyIn(&In{X: x.X, List: list})
		}
	}
	seen := make(map[sqltype.Datum]bool, len(e.List))
	var out []Expr
	for i, l := range e.List {
		d := l.(*Const).Value
		if seen[d] {
			if out == nil {
				out = append(make([]Expr, 0, len(e.List)), e.List[:i]...)
			}
			continue
		}
		seen[d] = true
		if out != nil {
			out = append(out, l)
		}
	}
	if out == nil {
		return e
	}
	return simplifyIn(&In{X: e.X, List: out})
}

func inConst(x *Const, list []Expr) Expr {
	null := false
	for _, l := range list {
		d := l.(*Const).Value
		if d.Null {
			null = true
		} else if sqltype.Compare(x.Value, d) == 0 {
			return boolConst(true)
		}
	}
	if null {
		return nullBool()
	}
	return boolConst(false)
}

// unwrapList takes all of a list to type to, if every value has an equal there.
func unwrapList(list []Expr, to sqltype.Type) ([]Expr, bool) {
	out := make([]Expr, 0, len(list))
	for _, l := range list {
		d := l.(*Const).Value
		if d.Null {
			out = append(out, &Const{sqltype.NullOf(to)})
			continue
		}
		_, down, ok := unwrap(Eq, d, to)
		if !ok {
			return nil, false
		}
		out = append(out, &Const{down})
	}
	return out, true
}
