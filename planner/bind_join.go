package planner

import (
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

var joinKinds = [...]JoinKind{
	parser.InnerJoin: Inner, parser.CrossJoin: Inner,
	parser.LeftJoin: Left, parser.RightJoin: Right, parser.FullJoin: Full,
	parser.SemiJoin: Semi, parser.AntiJoin: Anti, parser.PositionalJoin: Full,
}

// join binds a written join. Chains of joins lean to the left, and are bound
// from their left end without recursion.
func (b *binder) join(s *scope, j *parser.Join) *fromItem {
	spine := []*parser.Join{j}
	for {
		left, ok := spine[len(spine)-1].Left.(*parser.Join)
		if !ok {
			break
		}
		spine = append(spine, left)
	}
	item := b.tableExpr(s, spine[len(spine)-1].Left)
	for i := len(spine) - 1; i >= 0; i-- {
		item = b.joinOne(s, item, spine[i])
	}
	return item
}

func (b *binder) joinOne(s *scope, left *fromItem, j *parser.Join) *fromItem {
	right := b.tableExpr(s.within(left), j.Right)
	switch {
	case j.Kind == parser.PositionalJoin:
		return b.positional(left, right, j)
	case j.Asof:
		return b.asof(s, left, right, j)
	}
	n := &Join{Kind: joinKinds[j.Kind], Left: left.node, Right: right.node}
	whole := b.pair(left, right, n, j.Pos)
	b.outerNulls(n, left, right)
	names := j.Using
	if j.Natural {
		names = commonNames(left, right)
	}
	if len(names) > 0 {
		n.On, whole.star = b.using(left, right, names, n.Kind)
	} else {
		whole.star = append(left.star[:len(left.star):len(left.star)], right.star...)
	}
	if j.On != nil {
		on := s.within(whole)
		on.clause = inJoin
		n.On = b.condition(on, j.On)
	}
	if n.Kind == Semi || n.Kind == Anti { // what follows sees the left side alone
		whole.rels, whole.star = left.rels, left.star
	}
	return whole
}

// outerNulls marks the columns of a side that may be missing.
func (b *binder) outerNulls(n *Join, left, right *fromItem) {
	if n.Kind == Right || n.Kind == Full {
		b.notNull = b.notNull.minus(colsOf(left.node))
	}
	if n.Kind == Left || n.Kind == Full {
		b.notNull = b.notNull.minus(colsOf(right.node))
	}
}

func commonNames(l, r *fromItem) []parser.Ident {
	var names []parser.Ident
	for i := range l.star {
		for k := range r.star {
			if sameName(l.star[i].col.Name, r.star[k].col.Name) {
				names = append(names, parser.Ident{Name: l.star[i].col.Name, Pos: noPos})
				break
			}
		}
	}
	return names
}

// using is the condition of USING, and *: the merged columns, then what is
// left of the left side and of the right.
func (b *binder) using(l, r *fromItem, names []parser.Ident, kind JoinKind) (Expr, []starColumn) {
	var on []Expr
	var star []starColumn
	var inLeft, inRight = make([]bool, len(l.star)), make([]bool, len(r.star))
	for _, name := range names {
		i, k := findStar(l.star, name, "left"), findStar(r.star, name, "right")
		inLeft[i], inRight[k] = true, true
		x, y := l.star[i].value(), r.star[k].value()
		on = append(on, b.compare(Eq, x, y, name.Pos))
		star = append(star, b.merge(&l.star[i], &r.star[k], kind, name.Pos))
	}
	for i := range l.star {
		if !inLeft[i] {
			star = append(star, l.star[i])
		}
	}
	for k := range r.star {
		if !inRight[k] {
			star = append(star, r.star[k])
		}
	}
	return allOf(on), star
}

// merge is the one column of USING: the side that is always there, or in a
// full join whichever is.
func (b *binder) merge(l, r *starColumn, kind JoinKind, at parser.Pos) starColumn {
	t, _ := sqltype.CommonType(l.col.Type, r.col.Type)
	side, x := l, l.value()
	switch kind {
	case Right:
		side, x = r, r.value()
	case Full:
		x = b.coalesce([]Expr{l.value(), r.value()}, []parser.Pos{at, at})
	}
	if kind != Full && side.col.Type == t {
		return *side
	}
	col := side.col
	col.Type, col.ID = t, 0
	return starColumn{col: col, expr: b.cast(x, t, at), rel: nil}
}

func findStar(star []starColumn, name parser.Ident, side string) int {
	found := pick(name, len(star), func(i int) string { return star[i].col.Name }, " in the "+side+" table of USING")
	if found < 0 {
		names := make([]string, len(star))
		for i := range star {
			names[i] = star[i].col.Name
		}
		failHint(didYouMean(name.Name, names), sqltype.CodeUndefinedColumn, name.Pos,
			"column %q of USING does not exist in the %s table", name.Name, side)
	}
	return found
}
