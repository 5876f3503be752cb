package planner

import "slices"

// reduce_aggregate drops, before they are grouped, rows whose group will find no
// partner in the join above. TPC-H's query 17 compares the lines of 200 parts with
// an average for each part: only these 200 averages are needed of 200,000.
//
// It pays when the other side of the join is selective, and cheap enough to be
// computed a second time for a semi join.
//
// It would be wrong for a key that is not a group's: dropping rows from within a
// group changes its sum. And a left join of groups with something must keep the
// groups that have no partner, so only a right side of it is reduced.
func (o *optimizer) reduceAggregate(n Node) Node {
	return transform(n, func(n Node) Node {
		j, ok := n.(*Join)
		if !ok || j.Dependent || j.Kind != Inner && j.Kind != Left {
			return n
		}
		c := *j
		c.Right = o.reduceSide(j.Right, j.Left, j.On)
		if j.Kind == Inner {
			c.Left = o.reduceSide(j.Left, j.Right, j.On)
		}
		if c.Left == j.Left && c.Right == j.Right {
			return n
		}
		o.fired()
		return &c
	})
}

// fewGroups is below which share of the groups the reduction pays.
const fewGroups = 0.2

// maxRepeated is how many scans may be done a second time for it.
const maxRepeated = 2

// reduceSide is side with its aggregate reduced to the groups that other has
// keys for; side itself if there is none, or it does not pay.
func (o *optimizer) reduceSide(side, other Node, on Expr) Node {
	switch n := side.(type) {
	case *Project:
		names := make(replacement)
		for _, e := range n.Exprs {
			if c, ok := e.Expr.(*Col); ok {
				names[e.Col.ID] = c
			}
		}
		return mapInputs(n, func(in Node) Node { return o.reduceSide(in, other, names.in(on)) })
	case *Filter:
		return mapInputs(n, func(in Node) Node { return o.reduceSide(in, other, on) })
	case *Aggregate:
		if n.Sets != nil {
			return n
		}
		left, right := colsOf(other), colsOf(n)
		for _, c := range conjuncts(on) {
			k, ok := joinKey(c, left, right)
			if !ok || k.NullSafe || !isCol(k.Left) || !isCol(k.Right) {
				continue
			}
			if x := o.reduce(n, k, other); x != nil {
				return x
			}
		}
	}
	return side
}

// keySource looks below semi joins by the key itself: their right sides have
// all its values.
func keySource(n Node, key *Col) (Node, *Col) {
	j, ok := n.(*Join)
	if !ok || j.Kind != Semi {
		return n, key
	}
	left, right := colsOf(j.Left), colsOf(j.Right)
	for _, c := range j.conditions() {
		k, ok := joinKey(c, left, right)
		if !ok || k.NullSafe || !isCol(k.Left) || !isCol(k.Right) || k.Left.(*Col).ID != key.ID {
			continue
		}
		key = k.Right.(*Col)
		return keySource(narrow(j.Right, colSet(nil).add(key.ID), keepFilters), key)
	}
	return n, key
}

func (o *optimizer) reduce(n *Aggregate, k JoinKey, other Node) Node {
	g := slices.IndexFunc(n.Groups, func(g NamedExpr) bool { return g.Col.ID == k.Right.(*Col).ID })
	if g < 0 || isVolatile(n.Groups[g].Expr) {
		return nil
	}
	key := k.Left.(*Col)
	source, key := keySource(narrow(other, colSet(nil).add(key.ID), keepFilters), key)
	m := o.costs()
	if !cheap(source, maxRepeated) || m.rows(source) > fewGroups*m.rows(n) || m.cost(source) > m.cost(n.Input) {
		return nil
	}
	col := o.newColumn(key.Name, key.T, mayBeNull)
	c := *n
	c.Input = &Join{
		Kind:  Semi,
		Left:  n.Input,
		Right: &Project{Input: source, Exprs: []NamedExpr{{Col: col, Expr: key}}},
		On:    &Cmp{Op: Eq, L: n.Groups[g].Expr, R: colRef(col)},
	}
	return &c
}
