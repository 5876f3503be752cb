package planner

import (
	"math"
	"slices"

	"github.com/gpusql/gpusql/sqltype"
)

// equalExpr reports that two expressions are the same text over the same
// columns. Two calls of random() are not equal, nor are two subqueries.
func equalExpr(a, b Expr) bool {
	if a == b {
		return !isVolatile(a)
	}
	switch a := a.(type) {
	case *Const:
		b, ok := b.(*Const)
		return ok && sameDatum(a.Value, b.Value)
	case *Param:
		b, ok := b.(*Param)
		return ok && a.Index == b.Index && a.T == b.T
	case *Col:
		b, ok := b.(*Col)
		return ok && a.ID == b.ID
	case *Call:
		b, ok := b.(*Call)
		return ok && a.Func.ID == b.Func.ID && a.Func.Name == b.Func.Name && a.T == b.T && !a.Func.Volatile && slices.EqualFunc(a.Args, b.Args, equalExpr)
	case *Cast:
		b, ok := b.(*Cast)
		return ok && a.To == b.To && a.Try == b.Try && equalExpr(a.X, b.X)
	case *Cmp:
		b, ok := b.(*Cmp)
		return ok && a.Op == b.Op && equalExpr(a.L, b.L) && equalExpr(a.R, b.R)
	case *And:
		b, ok := b.(*And)
		return ok && slices.EqualFunc(a.Args, b.Args, equalExpr)
	case *Or:
		b, ok := b.(*Or)
		return ok && slices.EqualFunc(a.Args, b.Args, equalExpr)
	case *Not:
		b, ok := b.(*Not)
		return ok && equalExpr(a.X, b.X)
	case *IsNull:
		b, ok := b.(*IsNull)
		return ok && equalExpr(a.X, b.X)
	case *In:
		b, ok := b.(*In)
		return ok && equalExpr(a.X, b.X) && slices.EqualFunc(a.List, b.List, equalExpr)
	case *Case:
		b, ok := b.(*Case)
		return ok && a.T == b.T && equalExpr(a.Else, b.Else) && slices.EqualFunc(a.Whens, b.Whens, func(x, y When) bool {
			return equalExpr(x.Cond, y.Cond) && equalExpr(x.Then, y.Then)
		})
	}
	return false
}

// sameDatum is equality of the representation: 1.0 and 1.00 differ, and so do
// 0 and -0, but a NaN is itself.
func sameDatum(a, b sqltype.Datum) bool {
	if math.Float64bits(a.F) != math.Float64bits(b.F) {
		return false
	}
	a.F, b.F = 0, 0
	return a == b
}

// hashExpr is equal for equal expressions.
func hashExpr(e Expr) uint64 {
	switch e := e.(type) {
	case *Const:
		h := mix(1, uint64(e.Value.I))
		for i := 0; i < len(e.Value.S); i++ {
			h = (h ^ uint64(e.Value.S[i])) * 0x100000001b3
		}
		return mix(h, math.Float64bits(e.Value.F))
	case *Param:
		return mix(2, uint64(e.Index))
	case *Col:
		return mix(3, uint64(e.ID))
	case *Call:
		return hashExprs(mix(4, uint64(e.Func.ID)), e.Args)
	case *Cast:
		return mix(5, hashExpr(e.X))
	case *Cmp:
		return mix(mix(6+uint64(e.Op)<<8, hashExpr(e.L)), hashExpr(e.R))
	case *And:
		return hashExprs(7, e.Args)
	case *Or:
		return hashExprs(8, e.Args)
	case *Not:
		return mix(9, hashExpr(e.X))
	case *IsNull:
		return mix(10, hashExpr(e.X))
	case *In:
		return hashExprs(mix(11, hashExpr(e.X)), e.List)
	case *Case:
		h := mix(12, hashExpr(e.Else))
		for _, w := range e.Whens {
			h = mix(mix(h, hashExpr(w.Cond)), hashExpr(w.Then))
		}
		return h
	}
	return 13
}

func hashExprs(h uint64, es []Expr) uint64 {
	for _, e := range es {
		h = mix(h, hashExpr(e))
	}
	return h
}

func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// exprSet holds expressions without doubles, in the order of their coming.
type exprSet struct {
	list  []Expr
	byKey map[uint64][]Expr // only once the list is long
}

// smallSet is how many expressions are compared one by one rather than hashed.
const smallSet = 8

// add puts e in and reports whether it was new.
func (s *exprSet) add(e Expr) bool {
	if s.has(e) {
		return false
	}
	s.list = append(s.list, e)
	if s.byKey != nil {
		k := hashExpr(e)
		s.byKey[k] = append(s.byKey[k], e)
	} else if len(s.list) > smallSet {
		s.byKey = make(map[uint64][]Expr, 4*len(s.list))
		for _, e := range s.list {
			k := hashExpr(e)
			s.byKey[k] = append(s.byKey[k], e)
		}
	}
	return true
}

func (s *exprSet) has(e Expr) bool {
	list := s.list
	if s.byKey != nil {
		list = s.byKey[hashExpr(e)]
	}
	for _, x := range list {
		if equalExpr(x, e) {
			return true
		}
	}
	return false
}

// isVolatile reports a call whose result may differ from one row to the next.
func isVolatile(e Expr) bool {
	found := false
	walkExpr(e, func(e Expr) bool {
		if c, ok := e.(*Call); ok && c.Func.Volatile {
			found = true
		}
		return !found
	})
	return found
}
