package planner

import "slices"

// push_filter takes each conjunct as near to the tables as it can go: through
// projections, into the sides of joins, below grouping where it is about a
// group's key, into the branches of set operations, and into scans. On the way
// a = b AND a = 5 gives b = 5, and (a = 1 AND b = 2) OR (a = 3 AND b = 4) gives
// a IN (1, 3) for the table of a.
//
// It pays because a row dropped early is not joined, grouped or even read.
//
// It would be wrong to take a condition to the side of an outer join that is
// filled with NULLs: SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE u.b IS NULL
// would ask for rows of u whose b is NULL, instead of rows of t without any; to
// pass one below LIMIT, which would then count other rows; or to move
// random() < 0.5 from one row in the result to each row of an input.
func (o *optimizer) pushFilter(n Node) Node { return o.push(n, nil) }

// push is n with conds, none of them volatile, applied to its rows.
func (o *optimizer) push(n Node, conds []Expr) Node {
	switch n := n.(type) {
	case *Filter:
		var stay []Expr
		all := slices.Clip(conds)
		for _, c := range conjuncts(n.Pred) {
			if isVolatile(c) {
				stay = append(stay, c)
			} else {
				all = append(all, c)
			}
		}
		return filtered(o.push(n.Input, all), stay)
	case *Project:
		return o.pushProject(n, conds)
	case *Join:
		return o.pushJoin(n, conds)
	case *Aggregate:
		return o.pushBelowGroups(n, conds)
	case *SetOp:
		return o.pushSetOp(n, conds)
	case *Window:
		var keys colSet
		for _, e := range n.Partition {
			if c, ok := e.(*Col); ok {
				keys = keys.add(c.ID)
			}
		}
		return o.pushSome(n, conds, keys)
	case *Unnest:
		return o.pushSome(n, conds, colsOf(n.Input))
	case *DistinctOn:
		var keys colSet
		for _, e := range n.On {
			if c, ok := e.(*Col); ok {
				keys = keys.add(c.ID)
			}
		}
		return o.pushSome(n, conds, keys)
	case *Sort:
		if len(conds) > 0 {
			o.fired()
		}
		return mapInputs(n, func(in Node) Node { return o.push(in, conds) })
	case *With:
		c := *n
		c.Def, c.Body = o.push(n.Def, nil), o.push(n.Body, conds)
		if n.Step != nil {
			c.Step = o.push(n.Step, nil)
		}
		return &c
	case *Scan:
		if len(conds) == 0 {
			return n
		}
		o.fired()
		c := *n
		c.Filter = both(n.Filter, conds)
		return &c
	case *FileScan:
		if len(conds) == 0 {
			return n
		}
		o.fired()
		if slices.ContainsFunc(conds, isFalse) { // it is of a folder that does not match
			return &Values{Columns: n.Columns}
		}
		c := *n
		c.Filter = both(n.Filter, conds)
		return &c
	}
	return filtered(mapInputs(n, func(in Node) Node { return o.push(in, nil) }), conds)
}

// filtered is n with a Filter over it, if there is any condition.
func filtered(n Node, conds []Expr) Node {
	if len(conds) == 0 {
		return n
	}
	return &Filter{Input: n, Pred: both(nil, conds)}
}

// both is a conjunction without doubles.
func both(e Expr, conds []Expr) Expr {
	var set exprSet
	for _, c := range conjuncts(e) {
		set.add(c)
	}
	for _, c := range conds {
		set.add(c)
	}
	return allOf(set.list)
}

// pushProject passes the conditions that are not about a volatile expression.
func (o *optimizer) pushProject(n *Project, conds []Expr) Node {
	if len(conds) == 0 {
		return mapInputs(n, func(in Node) Node { return o.push(in, nil) })
	}
	var volatile colSet
	for _, e := range n.Exprs {
		if isVolatile(e.Expr) {
			volatile = volatile.add(e.Col.ID)
		}
	}
	defs := definitions(n.Exprs)
	var stay, down []Expr
	for _, c := range conds {
		if exprCols(c).meets(volatile) {
			stay = append(stay, c)
		} else {
			c = mapExpr(defs.in(c), func(e Expr) Expr { return simplifyExpr(o.fold(e)) })
			down = append(down, conjuncts(simplifyCond(c))...)
		}
	}
	if len(down) > 0 {
		o.fired()
	}
	return filtered(&Project{Input: o.push(n.Input, down), Exprs: n.Exprs}, stay)
}

// pushSome passes the conditions on columns of keys only: those hold for all
// rows of a group of n or for none.
func (o *optimizer) pushSome(n Node, conds []Expr, keys colSet) Node {
	var stay, down []Expr
	for _, c := range conds {
		if cols := exprCols(c); cols.within(keys) && !cols.empty() {
			down = append(down, c)
		} else {
			stay = append(stay, c)
		}
	}
	if len(down) > 0 {
		o.fired()
	}
	return filtered(mapInputs(n, func(in Node) Node { return o.push(in, down) }), stay)
}

func (o *optimizer) pushBelowGroups(n *Aggregate, conds []Expr) Node {
	keys := make(replacement)
	var cols colSet
	for i, g := range n.Groups {
		if isVolatile(g.Expr) || !inAllSets(n.Sets, i) {
			continue
		}
		cols = cols.add(g.Col.ID)
		if !isPass(g) {
			keys[g.Col.ID] = g.Expr
		}
	}
	var stay, down []Expr
	for _, c := range conds {
		// Without groups there is a row of no rows too, which FALSE must drop.
		if exprCols(c).within(cols) && len(n.Groups) > 0 && n.Sets == nil || exprCols(c).within(cols) && !exprCols(c).empty() {
			down = append(down, keys.in(c))
		} else {
			stay = append(stay, c)
		}
	}
	if len(down) > 0 {
		o.fired()
	}
	return filtered(mapInputs(n, func(in Node) Node { return o.push(in, down) }), stay)
}

func inAllSets(sets [][]int, group int) bool {
	for _, s := range sets {
		if !slices.Contains(s, group) {
			return false
		}
	}
	return true
}

func (o *optimizer) pushSetOp(n *SetOp, conds []Expr) Node {
	if len(conds) > 0 {
		o.fired()
	}
	side := func(in Node) Node {
		names := make(replacement, len(n.Columns))
		cols := in.Cols()
		for i, c := range n.Columns {
			names[c.ID] = colRef(cols[i])
		}
		down := make([]Expr, len(conds))
		for i, c := range conds {
			down[i] = names.in(c)
		}
		return o.push(in, down)
	}
	return mapInputs(n, side)
}

// pushJoin gives each side what is about it alone.
func (o *optimizer) pushJoin(n *Join, conds []Expr) Node {
	if n.Dependent || len(n.Keys) > 0 {
		return filtered(mapInputs(n, func(in Node) Node { return o.push(in, nil) }), conds)
	}
	if x := markFiltered(n, conds); x != nil {
		return o.push(x, conds)
	}
	p := &joinPush{left: colsOf(n.Left), right: colsOf(n.Right)}
	on := conjuncts(n.On)
	switch n.Kind {
	case Inner:
		p.inner(conds, on)
	case Left, Semi, Anti, Single, Mark:
		p.leftKept(n, conds, on)
	case Right:
		p.rightKept(conds, on)
	case Full:
		p.on, p.above = on, conds
	}
	if len(p.toLeft)+len(p.toRight) > 0 {
		o.fired()
	}
	c := *n
	c.Left, c.Right, c.On = o.push(n.Left, p.toLeft), o.push(n.Right, p.toRight), allOf(p.on)
	return filtered(&c, p.above)
}

// markFiltered is a mark join whose mark is a condition as a semi join, or as an
// anti join if it is negated, with the mark as a constant; nil if neither.
func markFiltered(n *Join, conds []Expr) Node {
	if n.Kind != Mark {
		return nil
	}
	for _, c := range conds {
		kind := Semi
		if not, ok := c.(*Not); ok {
			kind, c = Anti, not.X
		}
		if m, ok := c.(*Col); !ok || m.ID != n.Mark.ID {
			continue
		}
		j := *n
		j.Kind, j.Mark = kind, ColDef{}
		j.NullAware = n.NullAware && kind == Anti
		exprs := append(passed(n.Left.Cols()), NamedExpr{Col: n.Mark, Expr: boolConst(kind == Semi)})
		return &Project{Input: &j, Exprs: exprs}
	}
	return nil
}

// joinPush is where the conditions of a join and those above it go.
type joinPush struct {
	left, right                colSet
	toLeft, toRight, on, above []Expr
}

// inner: a condition above and one in ON are the same thing.
func (p *joinPush) inner(conds, on []Expr) {
	var all exprSet
	for _, c := range on {
		all.add(c)
	}
	for _, c := range conds {
		all.add(c)
	}
	for _, c := range inferEqual(all.list) {
		all.add(c)
	}
	for _, c := range all.list {
		cols := exprCols(c)
		switch {
		case isVolatile(c):
			p.on = append(p.on, c)
		case cols.within(p.left):
			p.toLeft = append(p.toLeft, c)
		case cols.within(p.right):
			p.toRight = append(p.toRight, c)
		default:
			p.on = append(p.on, c)
			p.toLeft = appendImplied(p.toLeft, c, p.left)
			p.toRight = appendImplied(p.toRight, c, p.right)
		}
	}
}

// leftKept: rows of the left side are kept or dropped by what they are, so
// conditions on them go down; ON may only choose among the right rows.
func (p *joinPush) leftKept(n *Join, conds, on []Expr) {
	for _, c := range conds {
		if exprCols(c).within(p.left) {
			p.toLeft = append(p.toLeft, c)
		} else {
			p.above = append(p.above, c)
			p.toLeft = appendImplied(p.toLeft, c, p.left)
		}
	}
	if n.NullAware || n.Kind == Mark && !n.Mark.NotNull {
		p.on = on // unknown is not false here
		return
	}
	for _, c := range on {
		cols := exprCols(c)
		switch {
		case isVolatile(c):
			p.on = append(p.on, c)
		case cols.within(p.right):
			p.toRight = append(p.toRight, c)
		case n.Kind == Semi && cols.within(p.left):
			p.toLeft = append(p.toLeft, c)
		default:
			p.on = append(p.on, c)
			p.toRight = appendImplied(p.toRight, c, p.right)
		}
	}
	known := append(slices.Clip(p.toLeft), on...)
	for _, c := range inferEqual(known) {
		cols := exprCols(c)
		if cols.within(p.right) {
			p.toRight = append(p.toRight, c)
		} else if n.Kind == Semi && cols.within(p.left) {
			p.toLeft = append(p.toLeft, c)
		}
	}
}

func (p *joinPush) rightKept(conds, on []Expr) {
	for _, c := range conds {
		if cols := exprCols(c); cols.within(p.right) {
			p.toRight = append(p.toRight, c)
		} else {
			p.above = append(p.above, c)
		}
	}
	for _, c := range on {
		if !isVolatile(c) && exprCols(c).within(p.left) {
			p.toLeft = append(p.toLeft, c)
		} else {
			p.on = append(p.on, c)
		}
	}
	for _, c := range inferEqual(append(slices.Clip(p.toRight), on...)) {
		if exprCols(c).within(p.left) {
			p.toLeft = append(p.toLeft, c)
		}
	}
}

// appendImplied adds what an OR says of the columns of one side alone.
func appendImplied(list []Expr, e Expr, cols colSet) []Expr {
	or, ok := e.(*Or)
	if !ok {
		return list
	}
	arms := make([]Expr, 0, len(or.Args))
	for _, a := range or.Args {
		var own []Expr
		for _, c := range conjuncts(a) {
			if used := exprCols(c); used.within(cols) && !used.empty() {
				own = append(own, c)
			}
		}
		if len(own) == 0 {
			return list
		}
		arms = append(arms, allOf(own))
	}
	return append(list, conjuncts(simplifyOr(&Or{arms}))...)
}

// inferEqual are the conditions that follow for columns which others say are
// equal: b = 5 and b IN (1, 2) where a = 5 and a IN (1, 2).
func inferEqual(conds []Expr) []Expr {
	var pairs []*Cmp
	for _, c := range conds {
		if e, ok := c.(*Cmp); ok && e.Op == Eq && isCol(e.L) && isCol(e.R) {
			pairs = append(pairs, e)
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	near := make(map[ColumnID][]*Col, 2*len(pairs))
	for _, e := range pairs {
		l, r := e.L.(*Col), e.R.(*Col)
		if l.T == r.T || l.T.Kind == r.T.Kind && l.T.Kind.IsString() {
			near[l.ID] = append(near[l.ID], r)
			near[r.ID] = append(near[r.ID], l)
		}
	}
	var out []Expr
	for _, c := range conds {
		col := restricted(c)
		if col == nil || near[col.ID] == nil {
			continue
		}
		seen := colSet(nil).add(col.ID)
		for todo := near[col.ID]; len(todo) > 0; {
			next := todo[0]
			todo = todo[1:]
			if seen.has(next.ID) {
				continue
			}
			seen = seen.add(next.ID)
			out = append(out, replacement{col.ID: next}.in(c))
			todo = append(slices.Clip(todo), near[next.ID]...)
		}
	}
	return out
}

func isCol(e Expr) bool {
	_, ok := e.(*Col)
	return ok
}

// restricted is the column that a condition compares with fixed values, or nil.
func restricted(e Expr) *Col {
	switch e := e.(type) {
	case *Cmp:
		if c, ok := e.L.(*Col); ok && isFixed(e.R) && e.Op != Distinct && e.Op != NotDistinct {
			return c
		}
	case *In:
		if c, ok := e.X.(*Col); ok && allConst(e.List) {
			return c
		}
	}
	return nil
}
