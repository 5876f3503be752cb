package planner

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// minOffsetSums is from how many sums on adding one and counting pays.
const minOffsetSums = 3

// sum_offset computes sums of a column plus constants from one sum and a count:
//
//	sum(x + 1), sum(x + 2), sum(x + 3)   ─▶   s + 1 * n, s + 2 * n, s + 3 * n
//	                                            aggregate s := sum(x), n := count(x)
//
// It pays from three sums on: the additions are made once for each group instead
// of for each row.
//
// It would be wrong where x + 1 may have no room in its type, which is an error
// that the sum alone does not raise; so x must be of a narrower type than the
// addition. And it would be wrong for floats, which round at each step.
func (o *optimizer) sumOffset(n Node) Node {
	return transform(n, func(n Node) Node {
		a, ok := n.(*Aggregate)
		if !ok || len(a.Aggs) < minOffsetSums {
			return n
		}
		sums := a.offsetSums()
		if len(sums) == 0 {
			return n
		}
		o.fired()
		return o.withoutOffsets(a, sums)
	})
}

// offsetSum is sum(x + plus).
type offsetSum struct {
	x    Expr
	plus int64
}

// offsetSums are those of the aggregates, by offset, that share their x with
// enough others.
func (n *Aggregate) offsetSums() map[int]offsetSum {
	var exprs []Expr
	var counts []int
	of := make(map[int]int) // aggregate ─▶ place in exprs
	sums := make(map[int]offsetSum)
	for i, a := range n.Aggs {
		if a.Func.ID != catalog.FuncSum || a.Distinct || a.Filter != nil || len(a.OrderBy) > 0 || a.Col.Type != sqltype.Int64 {
			continue
		}
		s, _, ok := offsetOf(a.Args[0])
		if !ok {
			continue
		}
		at := 0
		for at < len(exprs) && !equalExpr(exprs[at], s.x) {
			at++
		}
		if at == len(exprs) {
			exprs, counts = append(exprs, s.x), append(counts, 0)
		}
		counts[at]++
		sums[i], of[i] = s, at
	}
	for i := range sums {
		if counts[of[i]] < minOffsetSums {
			delete(sums, i)
		}
	}
	return sums
}

// offsetOf takes an integer apart, into an x and what is added to it. span is
// between which numbers it lies, by x's type; not ok where one of the additions
// may have no room for its result, or the type has more than 32 bits.
func offsetOf(e Expr) (s offsetSum, span span, ok bool) {
	room, ok := spanOf(e.Type())
	if !ok {
		return s, span, false
	}
	switch e := e.(type) {
	case *Cast:
		if s, span, ok = offsetOf(e.X); ok && room.has(span) {
			return s, span, true
		}
	case *Call:
		if x, by, isSum := addition(e); isSum {
			s, span, ok = offsetOf(x)
			s.plus += by
			span.low += by
			span.high += by
			return s, span, ok && room.has(span)
		}
	}
	return offsetSum{x: e}, room, true
}

// addition is x + by or x - by, by being a constant of at most 32 bits.
func addition(e *Call) (x Expr, by int64, ok bool) {
	switch e.Func.ID {
	case catalog.FuncAdd:
		if by, ok = constInt(e.Args[1]); ok {
			x = e.Args[0]
		} else if by, ok = constInt(e.Args[0]); ok {
			x = e.Args[1]
		}
	case catalog.FuncSub:
		if len(e.Args) == 2 {
			by, ok = constInt(e.Args[1])
			x, by = e.Args[0], -by
		}
	}
	return x, by, ok
}

// span is the integers from low to high.
type span struct{ low, high int64 }

func (s span) has(o span) bool { return s.low <= o.low && o.high <= s.high }

// spanOf is the numbers of an integer type of at most 32 bits.
func spanOf(t sqltype.Type) (span, bool) {
	if !t.Kind.IsInteger() || t.Phys().Width() > 4 {
		return span{}, false
	}
	bits := 8 * t.Phys().Width()
	if t.Kind.IsUnsigned() {
		return span{0, 1<<bits - 1}, true
	}
	return span{-1 << (bits - 1), 1<<(bits-1) - 1}, true
}

// withoutOffsets is n with one sum and one count for each x.
func (o *optimizer) withoutOffsets(n *Aggregate, sums map[int]offsetSum) Node {
	c := *n
	c.Aggs = nil
	exprs := make([]NamedExpr, 0, len(n.Cols()))
	for _, g := range n.Cols()[:len(n.Groups)] {
		exprs = append(exprs, NamedExpr{Col: g, Expr: colRef(g)})
	}
	type pair struct{ x, sum, count Expr }
	var pairs []pair
	for i, a := range n.Aggs {
		s, ok := sums[i]
		if !ok {
			c.Aggs = append(c.Aggs, a)
			exprs = append(exprs, NamedExpr{Col: a.Col, Expr: colRef(a.Col)})
			continue
		}
		at := slices.IndexFunc(pairs, func(p pair) bool { return equalExpr(p.x, s.x) })
		if at < 0 {
			at = len(pairs)
			sum, count := o.aggregateOf("sum", s.x, a.Col.Name), o.aggregateOf("count", s.x, "count")
			c.Aggs = append(c.Aggs, sum, count)
			pairs = append(pairs, pair{s.x, colRef(sum.Col), colRef(count.Col)})
		}
		whole := pairs[at].sum
		if s.plus != 0 {
			whole = arithmetic("+", whole, arithmetic("*", &Const{sqltype.NewInt64(s.plus)}, pairs[at].count))
		}
		exprs = append(exprs, NamedExpr{Col: a.Col, Expr: whole})
	}
	if n.Grouping.ID != 0 {
		exprs = append(exprs, NamedExpr{Col: n.Grouping, Expr: colRef(n.Grouping)})
	}
	return &Project{Input: &c, Exprs: exprs}
}

// aggregateOf is an aggregate of one argument that has such a function for sure.
func (o *optimizer) aggregateOf(name string, x Expr, col string) Agg {
	r, err := catalog.ResolveAggregate(name, []sqltype.Type{x.Type()})
	if err != nil {
		panic(err)
	}
	nulls := mayBeNull
	if r.Func.ID == catalog.FuncCount {
		nulls = neverNull
	}
	return Agg{Col: o.newColumn(col, r.Result, nulls), Func: r.Func, Args: []Expr{x}}
}

// arithmetic is an operator on two BIGINTs.
func arithmetic(op string, l, r Expr) Expr {
	f, err := catalog.ResolveScalar(op, []sqltype.Type{l.Type(), r.Type()})
	if err != nil {
		panic(err)
	}
	return &Call{Func: f.Func, Args: []Expr{l, r}, T: f.Result}
}
