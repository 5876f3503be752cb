package planner

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// grouping is the GROUP BY of a SELECT. Expressions are bound over the tables
// first; over then has them read the groups.
type grouping struct {
	*selection
	groups  []NamedExpr
	sets    [][]int
	several bool // grouping sets were asked for: sets counts
	bits    ColDef
	inner   colSet // the columns of the subquery that is looked at, all its own
}

// maxSets bounds what CUBE and ROLLUP multiply to.
const maxSets = 4096

// bindGroups binds GROUP BY. The items' sets are multiplied with each other.
func (s *selection) bindGroups() {
	g := &grouping{selection: s, sets: [][]int{nil}}
	s.group = g
	if s.sel.GroupAll {
		g.sets = nil
		g.bindAll()
		return
	}
	for i := range s.sel.GroupBy {
		item := &s.sel.GroupBy[i]
		g.several = g.several || item.Kind != parser.GroupExpr
		var product [][]int
		for _, set := range g.sets {
			for _, more := range g.setsOf(item) {
				product = append(product, append(set[:len(set):len(set)], more...))
			}
		}
		if g.sets = product; len(g.sets) > maxSets {
			fail(sqltype.CodeTooComplex, s.sel.Pos, "GROUP BY has more than %d grouping sets", maxSets)
		}
	}
	if !g.several {
		g.sets = nil
		return
	}
	// A group that is missing from some rows' sets is another column than the
	// one that it was made from.
	for i := range g.groups {
		c := &g.groups[i].Col
		*c = s.b.column(c.Name, c.Type, mayBeNull)
		s.made = s.made.add(c.ID)
	}
	for i := range g.sets {
		slices.Sort(g.sets[i])
		g.sets[i] = slices.Compact(g.sets[i])
	}
}

// bindAll groups by every item that has no aggregate.
func (g *grouping) bindAll() {
	for i := range g.items {
		if !g.readsMade(g.items[i].expr) {
			g.add(g.items[i].expr)
		}
	}
}

// setsOf are the grouping sets that an item stands for.
func (g *grouping) setsOf(item *parser.GroupItem) [][]int {
	if item.Kind == parser.GroupExpr {
		return [][]int{{g.bind(item.Exprs[0])}}
	}
	parts := make([][]int, len(item.Sets))
	for i, set := range item.Sets {
		for _, e := range set {
			parts[i] = append(parts[i], g.bind(e))
		}
	}
	switch item.Kind {
	case parser.GroupRollup:
		var sets [][]int
		for n := len(parts); n >= 0; n-- {
			sets = append(sets, slices.Concat(parts[:n]...))
		}
		return sets
	case parser.GroupCube:
		if len(parts) > 12 {
			fail(sqltype.CodeTooComplex, g.sel.Pos, "CUBE is limited to 12 elements")
		}
		var sets [][]int
		for mask := 1<<len(parts) - 1; mask >= 0; mask-- {
			var set []int
			for i, p := range parts {
				if mask>>(len(parts)-1-i)&1 != 0 {
					set = append(set, p...)
				}
			}
			sets = append(sets, set)
		}
		return sets
	}
	return parts
}

// bind is the group that an expression of GROUP BY means: a number of the
// select list, an input column, a name of the select list, or an expression.
func (g *grouping) bind(e parser.Expr) int {
	x := g.groupExpr(e)
	if g.readsMade(x) {
		fail(sqltype.CodeGrouping, e.Start(), "aggregate functions are not allowed in GROUP BY")
	}
	return g.add(x)
}

func (g *grouping) groupExpr(e parser.Expr) Expr {
	if n, ok := ordinal(e, g.shown, "GROUP BY"); ok {
		return g.items[n].expr
	}
	if ref, ok := e.(*parser.ColumnRef); ok && len(ref.Name.Parts) == 1 {
		if !hasStar(g.star, ref.Name.Parts[0].Name) {
			if x := g.listed(ref.Name.Parts[0]); x != nil {
				return x
			}
		}
	}
	return g.b.value(g.scope, e)
}

// groupTexts are the expressions of GROUP BY by their texts, with what they are
// bound to once they are. Whatever has such a text in the SELECT is that group,
// also where two bindings of it would not be told to be the same: a subquery, a
// constant that it was folded to.
func groupTexts(sel *parser.Select) map[string]Expr {
	var texts map[string]Expr
	add := func(list []parser.Expr) {
		for _, e := range list {
			if isPlain(e) {
				continue
			}
			if texts == nil {
				texts = make(map[string]Expr)
			}
			texts[parser.FormatExpr(e)] = nil
		}
	}
	for i := range sel.GroupBy {
		add(sel.GroupBy[i].Exprs)
		for _, set := range sel.GroupBy[i].Sets {
			add(set)
		}
	}
	return texts
}

// isPlain reports an expression of which any two bindings are alike.
func isPlain(e parser.Expr) bool {
	switch e.(type) {
	case *parser.Literal, *parser.ColumnRef, *parser.ParamRef, *parser.Star:
		return true
	}
	return false
}

// asGroup is what an expression with the text of a group is bound to.
func (b *binder) asGroup(s *scope, e parser.Expr) (Expr, bool) {
	if isPlain(e) {
		return nil, false
	}
	text := parser.FormatExpr(e)
	x, ok := s.groupTexts[text]
	if ok && x == nil {
		x = b.settle(b.bindExpr(s, e))
		s.groupTexts[text] = x
	}
	return x, ok
}

// readsMade reports an expression over an aggregate or window of this SELECT.
func (g *grouping) readsMade(e Expr) bool {
	if _, ok := e.(*groupingCall); ok {
		return true
	}
	for _, id := range exprCols(e).ids() {
		if g.made.has(id) && !g.unnested(id) {
			return true
		}
	}
	return false
}

// unnested reports a column of a row function in the select list.
func (s *scope) unnested(id ColumnID) bool {
	return slices.ContainsFunc(s.unnests, func(u unnestCall) bool { return u.col.ID == id })
}

// add is the place of a group, a new one if need be.
func (g *grouping) add(e Expr) int {
	for i := range g.groups {
		if g.groups[i].Expr == e || equalExpr(g.groups[i].Expr, e) {
			return i
		}
	}
	c, ok := e.(*Col)
	if ok && g.owns(c.ID) {
		g.groupCols = g.groupCols.add(c.ID)
		g.groups = append(g.groups, NamedExpr{Col: ColDef{ID: c.ID, Name: c.Name, Type: c.T, NotNull: g.b.notNull.has(c.ID)}, Expr: c})
		return len(g.groups) - 1
	}
	name := "group"
	if ok {
		name = c.Name
	}
	col := g.b.column(name, e.Type(), nullsOf(g.b.neverNullExpr(e)))
	g.groups = append(g.groups, NamedExpr{Col: col, Expr: e})
	return len(g.groups) - 1
}

// aggregates reports a SELECT that gives groups rather than rows.
func (s *selection) aggregates() bool {
	return len(s.aggs) > 0 || s.grouped || len(s.sel.GroupBy) > 0 || s.sel.GroupAll || s.sel.Having != nil
}

// groupsUnnest reports groups by what a row function in the select list gives,
// which is then computed below them.
func (s *selection) groupsUnnest() bool {
	for i := range s.group.groups {
		if slices.ContainsFunc(exprCols(s.group.groups[i].Expr).ids(), s.unnested) {
			return true
		}
	}
	return false
}

// aggregateNode puts the Aggregate above the tables and has all that comes
// after it read the groups.
func (s *selection) aggregateNode(input Node, having, qualify Expr) (Node, Expr, Expr) {
	g := s.group
	if s.groupsUnnest() {
		input, s.unnests = s.unnestNodes(input), nil
	}
	for i := range g.groups {
		s.made = s.made.add(g.groups[i].Col.ID)
	}
	if having != nil {
		having = g.over(having)
	}
	for i := range s.unnests {
		s.unnests[i].list = g.over(s.unnests[i].list)
	}
	for i := range s.windows {
		s.windows[i].mapExprs(g.over)
	}
	if qualify != nil {
		qualify = g.over(qualify)
	}
	for i := range s.items {
		s.items[i].expr = g.over(s.items[i].expr)
	}
	for i := range s.keys {
		s.keys[i].Expr = g.over(s.keys[i].Expr)
	}
	for i := range s.on {
		s.on[i] = g.over(s.on[i])
	}
	return &Aggregate{Input: input, Groups: g.groups, Aggs: s.aggs, Sets: g.sets, Grouping: g.bits}, having, qualify
}

// over is e reading the groups in place of what they are made of, in its
// subqueries too. A column that is in no group is an error. A constant is itself,
// though a group was folded to the same: rows that lack the group have it too.
func (g *grouping) over(e Expr) Expr {
	_, constant := e.(*Const)
	for i := range g.groups {
		group := &g.groups[i]
		if group.Expr == e || !constant && equalExpr(group.Expr, e) {
			return colRef(group.Col)
		}
	}
	switch x := e.(type) {
	case *Col:
		if x.ID < g.lo || x.ID >= g.hi || g.inner.has(x.ID) || g.determined(x) {
			return x
		}
		g.failUngrouped(x)
	case *groupingCall:
		return g.groupingBits(x)
	case *Subquery:
		c := *x
		c.X, _ = mapList(x.X, g.over)
		around := g.inner
		g.inner = madeCols(x.Plan).addAll(around)
		c.Plan = transform(x.Plan, func(n Node) Node { return mapNodeExprs(n, g.over) })
		g.inner = around
		return &c
	}
	return mapOperands(e, g.over)
}

// determined reports a column whose value the groups decide, because its
// table's primary key is among them. It becomes a group too.
func (g *grouping) determined(c *Col) bool {
	if g.several {
		return false
	}
	for _, rel := range g.rels {
		if rel.table == nil {
			continue
		}
		at := slices.IndexFunc(rel.cols, func(d ColDef) bool { return d.ID == c.ID })
		if at < 0 {
			continue
		}
		for _, index := range rel.table.Indexes {
			if index.Primary && g.hasKey(rel, index) {
				g.made = g.made.add(c.ID)
				g.groups = append(g.groups, NamedExpr{Col: ColDef{ID: c.ID, Name: c.Name, Type: c.T, NotNull: g.b.notNull.has(c.ID)}, Expr: c})
				return true
			}
		}
	}
	return false
}

func (g *grouping) hasKey(rel *relation, index *catalog.Index) bool {
	for _, k := range index.Keys {
		id := rel.cols[k.Column].ID
		if !slices.ContainsFunc(g.groups, func(e NamedExpr) bool { return e.Col.ID == id }) {
			return false
		}
	}
	return len(index.Keys) > 0
}

func (g *grouping) failUngrouped(c *Col) {
	at := noPos
	for _, u := range g.uses {
		if u.id == c.ID {
			at = u.pos
			break
		}
	}
	name := c.Name
	for _, rel := range g.rels {
		for i := range rel.cols {
			if rel.cols[i].ID == c.ID && rel.name != "" {
				name = rel.name + "." + rel.cols[i].Name
			}
		}
	}
	fail(sqltype.CodeGrouping, at, "column %q must appear in the GROUP BY clause or be used in an aggregate function", name)
}

// ---- grouping() ----

// groupingCall is grouping(a, b) until the groups are known. Like literal it
// lives only while a statement is bound.
type groupingCall struct {
	args []Expr
	pos  parser.Pos
}

func (*groupingCall) expr() {}

// Type is the type that grouping() has in PostgreSQL.
func (*groupingCall) Type() sqltype.Type { return sqltype.Int32 }

func (b *binder) groupingCall(s *scope, e *parser.Call) Expr {
	if !s.clause.takesAggregates() || s.openAgg > 0 {
		fail(sqltype.CodeGrouping, e.Pos, "grouping operations are not allowed in %s", s.clause)
	}
	s.grouped = true
	return &groupingCall{args: b.settleAll(b.exprs(s, e.Args)), pos: e.Pos}
}

// groupingBits is a number with a bit for each argument, the last the lowest,
// which is 1 where the row's set has not the argument.
func (g *grouping) groupingBits(c *groupingCall) Expr {
	var sum Expr = &Const{sqltype.NewInt64(0)}
	for i, a := range c.args {
		at := slices.IndexFunc(g.groups, func(e NamedExpr) bool { return equalExpr(e.Expr, a) })
		if at < 0 {
			fail(sqltype.CodeGrouping, c.pos, "arguments of grouping() must be expressions of GROUP BY")
		}
		if !g.several {
			continue
		}
		if g.bits.ID == 0 {
			g.bits = g.b.column("grouping", sqltype.Int64, neverNull)
			g.made = g.made.add(g.bits.ID)
		}
		bit := g.b.operator("&", []Expr{g.b.operator(">>", []Expr{colRef(g.bits), bigint(len(g.groups) - 1 - at)}, c.pos), bigint(1)}, c.pos)
		weight := bigint(1 << (len(c.args) - 1 - i))
		sum = g.b.operator("+", []Expr{sum, g.b.operator("*", []Expr{bit, weight}, c.pos)}, c.pos)
	}
	return g.b.cast(sum, sqltype.Int32, c.pos)
}

func bigint(v int) Expr { return &Const{sqltype.NewInt64(int64(v))} }
