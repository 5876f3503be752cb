package planner

// join_keys splits the condition of a join into keys, equalities of something
// on the left with something on the right, and the rest. It is required: a hash
// join looks up keys, and only what is left over is asked of each pair.
//
// It would be wrong to take an equality whose one side names both inputs
// (t.a = u.a + t.b), or a volatile one (t.a = random()), which is asked of each pair.
func (o *optimizer) joinKeys(n Node) Node {
	return transform(n, func(n Node) Node {
		j, ok := n.(*Join)
		if !ok || j.On == nil || j.Dependent {
			return n
		}
		left, right := colsOf(j.Left), colsOf(j.Right)
		keys := j.Keys[:len(j.Keys):len(j.Keys)]
		var rest []Expr
		for _, c := range conjuncts(j.On) {
			if k, ok := joinKey(c, left, right); ok {
				keys = append(keys, k)
			} else {
				rest = append(rest, c)
			}
		}
		if len(keys) == len(j.Keys) {
			return n
		}
		o.fired()
		c := *j
		c.Keys, c.On = keys, allOf(rest)
		return &c
	})
}

// joinKey reads a conjunct as a key.
func joinKey(e Expr, left, right colSet) (JoinKey, bool) {
	c, ok := e.(*Cmp)
	if !ok || c.Op != Eq && c.Op != NotDistinct || isVolatile(c) {
		return JoinKey{}, false
	}
	l, r := exprCols(c.L), exprCols(c.R)
	if l.empty() || r.empty() {
		return JoinKey{}, false
	}
	switch {
	case l.within(left) && r.within(right):
		return JoinKey{Left: c.L, Right: c.R, NullSafe: c.Op == NotDistinct}, true
	case l.within(right) && r.within(left):
		return JoinKey{Left: c.R, Right: c.L, NullSafe: c.Op == NotDistinct}, true
	}
	return JoinKey{}, false
}
