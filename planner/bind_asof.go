package planner

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// positional pairs the first rows of both sides, the second ones, and so on; the
// shorter side is filled up with NULLs.
func (b *binder) positional(left, right *fromItem, j *parser.Join) *fromItem {
	n := &Join{Kind: Full}
	whole := b.pair(left, right, n, j.Pos)
	if n.Dependent {
		fail(sqltype.CodeWrongObject, j.Pos, "the right side of a positional join cannot refer to its left side")
	}
	number := func(in Node) (Node, ColDef) {
		w := &Window{Input: in}
		return w, b.rank(w, "row_number")
	}
	var l, r ColDef
	n.Left, l = number(left.node)
	n.Right, r = number(right.node)
	n.On = &Cmp{Op: Eq, L: colRef(l), R: colRef(r)}
	b.outerNulls(n, left, right)
	b.notNull = b.notNull.minus(colSet(nil).add(l.ID).add(r.ID))
	whole.node = &Sort{Input: n, Keys: []SortKey{{Expr: b.coalesce([]Expr{colRef(l), colRef(r)}, []parser.Pos{noPos, noPos})}}}
	whole.star = append(left.star[:len(left.star):len(left.star)], right.star...)
	return whole
}

// asof pairs each left row with the one right row that is nearest by an
// inequality, of those that are equal in the rest of the condition:
//
//	l ASOF JOIN r ON l.k = r.k AND l.t >= r.t
//
// The rows of both sides are put into one order, in which the last right row
// before each left row is the nearest one:
//
//	with r (columns, number)
//	join number = nearest                             ◀── r
//	  filter: rows of l
//	    window nearest := last_value(number)  partition: k  order: t, r before l
//	      union_all (columns of l, k, t, number)      ◀── l, r
func (b *binder) asof(s *scope, left, right *fromItem, j *parser.Join) *fromItem {
	kind := joinKinds[j.Kind]
	if kind != Inner && kind != Left {
		fail(sqltype.CodeNotSupported, j.Pos, "ASOF %s is not supported", j.Kind)
	}
	n := &Join{Kind: kind, Left: left.node, Right: right.node}
	whole := b.pair(left, right, n, j.Pos)
	if n.Dependent {
		fail(sqltype.CodeWrongObject, j.Pos, "the right side of an ASOF join cannot refer to its left side")
	}
	b.outerNulls(n, left, right)
	if len(j.Using) > 0 {
		n.On, whole.star = b.using(left, right, j.Using, kind)
		conds := conjuncts(n.On)
		last := *conds[len(conds)-1].(*Cmp)
		last.Op = Ge
		n.On = allOf(append(conds[:len(conds)-1:len(conds)-1], &last))
	} else {
		whole.star = append(left.star[:len(left.star):len(left.star)], right.star...)
		on := s.within(whole)
		on.clause = inJoin
		n.On = b.condition(on, j.On)
	}
	a := asofJoin{b: b, pos: j.Pos, left: left.node, right: right.node}
	a.take(conjuncts(n.On))
	node, moved := a.build(n)
	whole.node = node
	whole.renumber(moved)
	return whole
}

// renumber has an item's names mean other columns.
func (item *fromItem) renumber(moved replacement) {
	rels := make(map[*relation]*relation, len(item.rels))
	for i, rel := range item.rels {
		c := *rel
		c.cols = append([]ColDef(nil), rel.cols...)
		for k := range c.cols {
			c.cols[k] = moved.column(c.cols[k])
		}
		rels[rel], item.rels[i] = &c, &c
	}
	for i := range item.star {
		c := &item.star[i]
		c.col, c.expr = moved.column(c.col), moved.in(c.expr)
		if rels[c.rel] != nil {
			c.rel = rels[c.rel]
		}
	}
}

// asofJoin is an ASOF join while it is made.
type asofJoin struct {
	b           *binder
	pos         parser.Pos
	left, right Node
	keys        []JoinKey
	at          *Cmp // of the left side and the right
}

// take tells the equalities from the inequality.
func (a *asofJoin) take(conds []Expr) {
	left, right := colsOf(a.left), colsOf(a.right)
	for _, c := range conds {
		if k, ok := joinKey(c, left, right); ok {
			a.keys = append(a.keys, k)
			continue
		}
		cmp, ok := c.(*Cmp)
		if !ok || cmp.Op < Lt || cmp.Op > Ge || a.at != nil || isVolatile(c) {
			a.fail()
		}
		l, r := exprCols(cmp.L), exprCols(cmp.R)
		switch {
		case l.empty() || r.empty():
			a.fail()
		case l.within(left) && r.within(right):
			a.at = cmp
		case l.within(right) && r.within(left):
			a.at = &Cmp{Op: cmp.Op.swap(), L: cmp.R, R: cmp.L}
		default:
			a.fail()
		}
	}
	if a.at == nil {
		a.fail()
	}
}

func (a *asofJoin) fail() {
	fail(sqltype.CodeNotSupported, a.pos, "an ASOF join is by equalities and one inequality between its two sides")
}

// build completes n, and gives what stands for the columns of the sides.
func (a *asofJoin) build(n *Join) (Node, replacement) {
	b := a.b
	numbered := &Window{Input: a.right}
	number := b.rank(numbered, "row_number")
	with := &With{CTE: b.nextCTE, Name: "asof", Def: numbered, Body: n}
	b.nextCTE++

	first, of := b.again(with)
	left, right := &Project{Input: a.left}, &Project{Input: first}
	u := &SetOp{Op: Union, All: true, Left: left, Right: right}
	column := func(name string, l, r Expr) ColDef {
		left.Exprs = append(left.Exprs, NamedExpr{Col: b.column(name, l.Type(), mayBeNull), Expr: l})
		right.Exprs = append(right.Exprs, NamedExpr{Col: b.column(name, l.Type(), mayBeNull), Expr: r})
		c := b.column(name, l.Type(), mayBeNull)
		u.Columns = append(u.Columns, c)
		return c
	}
	moved := make(replacement)
	for _, c := range a.left.Cols() {
		moved[c.ID] = colRef(column(c.Name, colRef(c), &Const{sqltype.NullOf(c.Type)}))
	}
	w := &Window{Input: u}
	for _, k := range a.keys {
		w.Partition = append(w.Partition, colRef(column("key", k.Left, of.in(k.Right))))
	}
	at := column("at", a.at.L, of.in(a.at.R))
	side := column("side", boolConst(true), boolConst(false))
	row := column("number", &Const{sqltype.NullOf(sqltype.Int64)}, of[number.ID])
	w.Order = []SortKey{
		{Expr: colRef(at), Desc: a.at.Op == Lt || a.at.Op == Le},
		{Expr: colRef(side), Desc: a.at.Op == Lt || a.at.Op == Gt},
	}
	last, err := catalog.ResolveWindow("last_value", []sqltype.Type{sqltype.Int64})
	if err != nil {
		failWith(err, a.pos)
	}
	nearest := b.column("nearest", sqltype.Int64, mayBeNull)
	w.Funcs = []WindowFunc{{Col: nearest, Func: last.Func, Args: []Expr{colRef(row)}, IgnoreNulls: true,
		Frame: Frame{Unit: "ROWS", StartKind: "UNBOUNDED PRECEDING", EndKind: "CURRENT ROW"}}}
	n.Left = &Filter{Input: w, Pred: colRef(side)}

	n.Right, of = b.again(with)
	for id, e := range of {
		moved[id] = e
	}
	// A partition has rows whose keys are NULL, which are no partners.
	on := []Expr{&Cmp{Op: Eq, L: colRef(nearest), R: of[number.ID]}}
	n.On = moved.in(allOf(append(on, conjuncts(n.On)...)))
	return with, moved
}

// again is the rows of a definition, and what stands for its columns there.
func (b *binder) again(w *With) (Node, replacement) {
	cols := slices.Clone(w.Def.Cols())
	for i := range cols {
		cols[i].NotNull = b.notNull.has(cols[i].ID)
	}
	n := b.scanOf(w.CTE, w.Name, cols)
	moved := make(replacement, len(cols))
	for i, c := range cols {
		moved[c.ID] = colRef(n.Columns[i])
	}
	return n, moved
}
