package planner

import "github.com/gpusql/gpusql/sqltype"

// push_limit takes a limit below projections, to the branches of UNION ALL and
// to the left side of a left join.
//
// It pays because rows that nobody will see are not computed, and because a
// limit that meets a sort becomes a top-n.
//
// It would be wrong to take the offset along: of
// SELECT a FROM t UNION ALL SELECT a FROM u LIMIT 10 OFFSET 5 each branch must
// give up to 15 rows, and the limit stays above to count them together. It
// would be wrong to pass an inner join, where one row of the left may have no partner.
func (o *optimizer) pushLimit(n Node) Node {
	return mapInputs(o.pushOneLimit(n), o.pushLimit)
}

func (o *optimizer) pushOneLimit(n Node) Node {
	l, ok := n.(*Limit)
	if !ok {
		return n
	}
	switch in := l.Input.(type) {
	case *Project:
		for _, e := range in.Exprs {
			if isVolatile(e.Expr) {
				return n
			}
		}
		o.fired()
		return &Project{Input: o.pushOneLimit(&Limit{Input: in.Input, Limit: l.Limit, Offset: l.Offset}), Exprs: in.Exprs}
	case *SetOp:
		most, ok := l.most()
		if !ok || in.Op != Union || !in.All || isLimited(in.Left) && isLimited(in.Right) {
			return n
		}
		o.fired()
		return &Limit{Limit: l.Limit, Offset: l.Offset, Input: mapInputs(in, func(x Node) Node {
			if isLimited(x) {
				return x
			}
			return &Limit{Input: x, Limit: &Const{sqltype.NewInt64(most)}}
		})}
	case *Join:
		most, ok := l.most()
		if !ok || in.Kind != Left || isLimited(in.Left) {
			return n
		}
		o.fired()
		c := *in
		c.Left = &Limit{Input: in.Left, Limit: &Const{sqltype.NewInt64(most)}}
		return &Limit{Input: &c, Limit: l.Limit, Offset: l.Offset}
	}
	return n
}

// first_match takes one row of the right side of a semi, anti or mark join
// whose condition does not look at that side: EXISTS asks whether there is one.
//
// It pays because a join below is not computed to its end, and because the rows
// of the left side meet one row instead of all.
//
// It would be wrong for NOT IN, which asks whether any value is NULL, and for a
// condition that is another one at each call.
func (o *optimizer) firstMatch(n Node) Node {
	return transform(n, func(n Node) Node {
		j, ok := n.(*Join)
		if !ok || j.NullAware || len(j.Keys) > 0 || isLimited(j.Right) || oneRow(j.Right) {
			return n
		}
		switch j.Kind {
		case Semi, Anti, Mark:
		default:
			return n
		}
		if j.On != nil && (isVolatile(j.On) || colSet(nil).addExpr(j.On).meets(colsOf(j.Right))) {
			return n
		}
		o.fired()
		o.seen |= hasLimit
		c := *j
		c.Right = &Limit{Input: j.Right, Limit: bigint(1)}
		return &c
	})
}

func isLimited(n Node) bool {
	switch n := n.(type) {
	case *Limit, *TopN:
		return true
	case *Project:
		return isLimited(n.Input)
	}
	return false
}

// most is how many rows of its input a limit can need; false if not known.
func (n *Limit) most() (int64, bool) {
	limit, ok := constInt(n.Limit)
	if !ok {
		return 0, false
	}
	if n.Offset == nil {
		return limit, true
	}
	offset, ok := constInt(n.Offset)
	sum := limit + offset
	return sum, ok && limit >= 0 && offset >= 0 && sum >= limit
}

func constInt(e Expr) (int64, bool) {
	c, ok := e.(*Const)
	if !ok || c.Value.Null {
		return 0, false
	}
	return c.Value.I, true
}

// maxTopN is up to how many rows keeping the best ones beats sorting them all.
const maxTopN = 1 << 17

// top_n makes a limit above a sort one node that keeps the first rows only.
//
// It pays because n rows kept in a heap cost less than all rows sorted.
//
// It would be wrong without a limit, of OFFSET alone, and would not pay for a
// limit near the size of the input, where the heap is only a slow sort.
func (o *optimizer) topN(n Node) Node {
	return transform(n, func(n Node) Node {
		l, ok := n.(*Limit)
		if !ok || l.Limit == nil || isNullConst(l.Limit) {
			return n
		}
		s, ok := l.Input.(*Sort)
		if !ok {
			return n
		}
		if _, fixed := l.Limit.(*Const); fixed {
			if most, ok := l.most(); !ok || most > maxTopN {
				return n
			}
		}
		o.fired()
		return (&TopN{Input: s.Input, Keys: s.Keys, Limit: l.Limit, Offset: l.Offset}).belowProject()
	})
}

// belowProject takes a top-n that orders by columns of a projection's input
// below it: only the rows that stay are computed.
func (n *TopN) belowProject() Node {
	p, ok := n.Input.(*Project)
	if !ok {
		return n
	}
	for _, e := range p.Exprs {
		if isVolatile(e.Expr) {
			return n
		}
	}
	defs := definitions(p.Exprs)
	keys := make([]SortKey, len(n.Keys))
	for i, k := range n.Keys {
		k.Expr = defs.in(k.Expr)
		if !isCol(k.Expr) {
			return n
		}
		keys[i] = k
	}
	below := &TopN{Input: p.Input, Keys: keys, Limit: n.Limit, Offset: n.Offset}
	return &Project{Input: below.belowProject(), Exprs: p.Exprs}
}
