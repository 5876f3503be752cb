package planner

// outer_to_inner makes an outer join an inner one where the rows that it adds
// are dropped above it.
//
// It pays because an inner join can be reordered, filtered on both sides, and
// built on the smaller one.
//
// It would be wrong where the condition accepts NULL:
// SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE u.b IS NULL, or u.b = 1 OR t.c = 2.
// So it looks for conditions that cannot be true when a right column is NULL.
func (o *optimizer) outerToInner(n Node) Node { return o.narrowJoins(n, nil) }

// narrowJoins rewrites n, of whose rows those with a NULL in one of the columns
// of drop do not matter.
func (o *optimizer) narrowJoins(n Node, drop colSet) Node {
	switch n := n.(type) {
	case *Filter:
		below := append(colSet(nil), drop...).addAll(falseIfNull(n.Pred))
		return mapInputs(n, func(in Node) Node { return o.narrowJoins(in, below) })
	case *Project:
		return o.narrowInput(n, n.Exprs, drop)
	case *Aggregate:
		if n.Sets == nil {
			return o.narrowInput(n, n.Groups, drop)
		}
	case *Sort:
		return mapInputs(n, func(in Node) Node { return o.narrowJoins(in, drop) })
	case *Join:
		return o.narrowJoin(n, drop)
	}
	return mapInputs(n, func(in Node) Node { return o.narrowJoins(in, nil) })
}

// narrowInput goes below a node whose rows come from those of its input with
// the values of exprs.
func (o *optimizer) narrowInput(n Node, exprs []NamedExpr, drop colSet) Node {
	var below colSet
	for _, e := range exprs {
		if drop.has(e.Col.ID) {
			below = below.addAll(nullIfNull(e.Expr))
		}
	}
	return mapInputs(n, func(in Node) Node { return o.narrowJoins(in, below) })
}

func (o *optimizer) narrowJoin(n *Join, drop colSet) Node {
	c := *n
	dropsLeft, dropsRight := drop.meets(colsOf(n.Left)), drop.meets(colsOf(n.Right))
	switch {
	case n.Kind == Left && dropsRight, n.Kind == Right && dropsLeft, n.Kind == Full && dropsLeft && dropsRight:
		c.Kind = Inner
	case n.Kind == Full && dropsLeft:
		c.Kind = Left
	case n.Kind == Full && dropsRight:
		c.Kind = Right
	}
	var on colSet // rows that the condition drops from a side that needs a partner
	if n.On != nil && !n.NullAware && n.Kind != Mark {
		on = falseIfNull(n.On)
	}
	left, right := append(colSet(nil), drop...), append(colSet(nil), drop...)
	switch c.Kind {
	case Inner, Semi:
		left, right = left.addAll(on), right.addAll(on)
	case Left, Anti, Single:
		right = on
	case Right:
		left = on
	default:
		right = nil
		if c.Kind == Full {
			left = nil
		}
	}
	c.Left, c.Right = o.narrowJoins(n.Left, left), o.narrowJoins(n.Right, right)
	if c.Kind != n.Kind {
		o.fired()
	} else if c.Left == n.Left && c.Right == n.Right {
		return n
	}
	return &c
}

// falseIfNull are the columns of which one NULL is enough for e not to be true.
func falseIfNull(e Expr) colSet {
	switch e := e.(type) {
	case *And:
		var s colSet
		for _, a := range e.Args {
			s = s.addAll(falseIfNull(a))
		}
		return s
	case *Or:
		s := falseIfNull(e.Args[0])
		for _, a := range e.Args[1:] {
			if s.empty() {
				break
			}
			s = s.and(falseIfNull(a))
		}
		return s
	case *Not:
		if x, ok := e.X.(*IsNull); ok {
			return nullIfNull(x.X)
		}
	case *Cmp:
		if c, ok := e.R.(*Const); ok && e.Op == NotDistinct && !c.Value.Null {
			return nullIfNull(e.L)
		}
	}
	return nullIfNull(e)
}

// nullIfNull are the columns of which one NULL is enough for e to be NULL.
func nullIfNull(e Expr) colSet {
	var s colSet
	switch e := e.(type) {
	case *Col:
		s = s.add(e.ID)
	case *Cast:
		return nullIfNull(e.X)
	case *Not:
		return nullIfNull(e.X)
	case *In:
		return nullIfNull(e.X)
	case *Cmp:
		if e.Op != Distinct && e.Op != NotDistinct {
			s = nullIfNull(e.L).addAll(nullIfNull(e.R))
		}
	case *Call:
		if !e.Func.NullIn {
			for _, a := range e.Args {
				s = s.addAll(nullIfNull(a))
			}
		}
	}
	return s
}
