package planner

import (
	"strconv"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// outItem is a column of the select list, or a hidden one after it.
type outItem struct {
	name string
	expr Expr
	pos  parser.Pos
	open bool // a string literal
}

// selection is a SELECT while it is bound.
type selection struct {
	*scope
	b   *binder
	sel *parser.Select
	// shown is how many of the scope's items are the select list; what is only
	// ordered by comes after it.
	shown int
	group *grouping
	keys  []SortKey // over the items, until project makes columns of them
	on    []Expr    // DISTINCT ON, likewise
}

// selectBody binds a SELECT with the ORDER BY around it. Clauses are bound in
// an order that lets each see what it may name; then the plan is put together:
//
//	FROM ─ WHERE ─ aggregate ─ HAVING ─ windows ─ QUALIFY ─ list ─ DISTINCT ─ ORDER BY
func (b *binder) selectBody(parent *scope, ctes *cte, sel *parser.Select, order []parser.OrderItem) bound {
	s := &selection{scope: &scope{parent: parent, ctes: ctes, clause: inFrom, named: sel.Windows, aliased: sel.Items}, b: b, sel: sel}
	node := b.from(s.scope, sel.From)
	if sel.Where != nil {
		s.clause = inWhere
		node = &Filter{Input: node, Pred: s.where()}
	}
	s.clause, s.groupTexts = inSelect, groupTexts(sel)
	s.bindItems()
	s.clause = inGroupBy
	s.bindGroups()
	var having, qualify Expr
	if sel.Having != nil {
		s.clause = inHaving
		having = b.condition(s.scope, sel.Having)
	}
	if sel.Qualify != nil {
		s.clause = inQualify
		qualify = b.condition(s.scope, sel.Qualify)
	}
	s.clause = inOrderBy
	s.bindOrder(order)
	if s.aggregates() {
		node, having, qualify = s.aggregateNode(node, having, qualify)
	}
	if having != nil {
		node = &Filter{Input: node, Pred: having}
	}
	node = s.windowNodes(node)
	if qualify != nil {
		node = &Filter{Input: node, Pred: qualify}
	}
	return s.finish(s.unnestNodes(node))
}

// where binds WHERE, which holds for each column of COLUMNS.
func (s *selection) where() Expr {
	all := []Expr{s.b.condition(s.scope, s.sel.Where)}
	for s.spread.next() {
		all = append(all, s.b.condition(s.scope, s.sel.Where))
	}
	s.spread = nil
	return allOf(all)
}

// ---- the select list ----

func (s *selection) bindItems() {
	s.items = make([]outItem, 0, len(s.sel.Items))
	for i := range s.sel.Items {
		it := &s.sel.Items[i]
		star, ok := it.Expr.(*parser.Star)
		like, isLike := it.Expr.(*parser.Like)
		if isLike {
			star, ok = like.X.(*parser.Star)
		}
		if ok {
			s.expand(star, like)
			continue
		}
		s.add(it)
	}
	s.shown = len(s.items)
	if s.shown == 0 {
		fail(sqltype.CodeSyntax, s.sel.Pos, "SELECT needs at least one column")
	}
}

func (s *selection) add(it *parser.SelectItem) {
	if s.spreads(it) {
		return
	}
	for s.spread = nil; ; {
		e := s.b.expr(s.scope, it.Expr)
		item := outItem{name: s.b.itemName(it), pos: it.Expr.Start()}
		if s.spread != nil && it.Alias == nil {
			item.name = s.spread.cols[s.spread.at].col.Name
		}
		_, item.open = e.(*literal)
		item.expr = s.b.settle(e)
		s.items = append(s.items, item)
		if !s.spread.next() {
			return
		}
	}
}

// spreads adds the columns of unnest(x) where x is a struct, and of unnest(x, recursive
// := true) or max_depth := n whatever there is of lists and structs within each
// other; false for all else.
func (s *selection) spreads(it *parser.SelectItem) bool {
	e, ok := it.Expr.(*parser.Call)
	if !ok {
		return false
	}
	if len(e.Args) != 1 || e.Over != nil || !sameName(e.Name.Parts[len(e.Name.Parts)-1].Name, "unnest") {
		return false
	}
	depth := 1
	for _, n := range e.Named {
		v := s.b.constant(n.Value, sqltype.Null)
		switch {
		case sameName(n.Name.Name, "recursive") && v.Type.Kind == sqltype.KindBool:
			if v.Bool() {
				depth = maxUnnestDepth
			}
		case sameName(n.Name.Name, "max_depth") && v.Type.Kind.IsInteger() && v.I > 0:
			depth = int(min(v.I, maxUnnestDepth))
		default:
			fail(sqltype.CodeUndefinedFunc, n.Name.Pos, "unnest takes recursive := true or max_depth := a number")
		}
	}
	before, made := len(s.unnests), append(colSet(nil), s.made...)
	x := s.b.value(s.scope, e.Args[0])
	if depth == 1 && x.Type().Kind != sqltype.KindStruct {
		s.unnests, s.made = s.unnests[:before], made // it is bound again, as any call is
		return false
	}
	first := len(s.items)
	if s.unnestItem(x, "unnest", depth, e); it.Alias != nil && len(s.items) == first+1 {
		s.items[first].name = it.Alias.Name
	}
	return true
}

const maxUnnestDepth = 100

// unnestItem adds what depth steps of unnesting make of a value.
func (s *selection) unnestItem(x Expr, name string, depth int, e *parser.Call) {
	switch k := x.Type().Kind; {
	case k == sqltype.KindList && depth > 0:
		s.unnestItem(s.b.unnested(s.scope, name, x), name, depth-1, e)
	case k == sqltype.KindStruct && depth > 0:
		for _, f := range s.b.fieldsOf(x, e.Pos) {
			next := 0 // a struct is the last step, but for structs in it if all are asked for
			if depth > maxUnnestDepth/2 && f.col.Type.Kind == sqltype.KindStruct {
				next = depth - 1
			}
			s.unnestItem(f.expr, f.col.Name, next, e)
		}
	default:
		s.items = append(s.items, outItem{name: name, expr: x, pos: e.Pos})
	}
}

// itemName is the name of a result column.
func (b *binder) itemName(it *parser.SelectItem) string {
	if it.Alias != nil {
		return it.Alias.Name
	}
	return exprName(it.Expr)
}

// exprName is PostgreSQL's name for a column that was given none.
func exprName(e parser.Expr) string {
	switch e := e.(type) {
	case *parser.ColumnRef:
		return e.Name.Parts[len(e.Name.Parts)-1].Name
	case *parser.Call:
		return e.Name.Parts[len(e.Name.Parts)-1].Name
	case *parser.Cast:
		if n := exprName(e.X); n != "?column?" {
			return n
		}
		return sqlName(e.Type.Type)
	case *parser.Case:
		return "case"
	case *parser.Exists:
		return "exists"
	case *parser.Subquery:
		if sel, ok := e.Query.Body.(*parser.Select); ok && len(sel.Items) == 1 {
			if sel.Items[0].Alias != nil {
				return sel.Items[0].Alias.Name
			}
			return exprName(sel.Items[0].Expr)
		}
	}
	return "?column?"
}

// sqlName is a type's name without its numbers, in lower case.
func sqlName(t sqltype.Type) string {
	name := []byte(t.Kind.String())
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			name[i] = c + 'a' - 'A'
		}
	}
	return string(name)
}

// expand puts the columns of * or t.* into the list, those with a name that is
// LIKE a pattern if like is given.
func (s *selection) expand(star *parser.Star, like *parser.Like) {
	cols := s.starColumns(s.b, star)
	if like != nil {
		c := *like
		c.X = &parser.ColumnRef{Name: parser.Name{Parts: []parser.Ident{{Name: "name", Pos: star.Pos}}}}
		cols = s.b.withNames(cols, "name", &c)
	}
	for i := range cols {
		name := cols[i].col.Name
		if r := replacing(star.Replace, name); r != nil {
			s.add(r)
			continue
		}
		e := cols[i].value()
		s.use(e, star.Pos)
		for _, r := range star.Rename {
			if sameName(r.From.Name, name) {
				name = r.To.Name
				break
			}
		}
		s.items = append(s.items, outItem{name: name, expr: e, pos: star.Pos})
	}
}

// starColumns are the columns that * or t.* means, but for the excluded ones.
func (s *scope) starColumns(b *binder, star *parser.Star) []starColumn {
	all := s.star
	if star.Table != nil {
		rel := s.relation(star.Table.Parts)
		if fields, ok := s.structColumns(b, star); rel == nil && ok {
			all = fields
		} else if rel == nil {
			s.failColumn(append(star.Table.Parts[:len(star.Table.Parts):len(star.Table.Parts)], parser.Ident{Name: "*"}))
		}
		if rel != nil {
			all = starOf(rel.cols)
		}
	} else if len(s.rels) == 0 && len(s.star) == 0 {
		fail(sqltype.CodeSyntax, star.Pos, "SELECT * with no tables specified is not valid")
	}
	for _, name := range star.Exclude {
		if !hasStar(all, name.Name) {
			fail(sqltype.CodeUndefinedColumn, name.Pos, "column %q of EXCLUDE does not exist", name.Name)
		}
	}
	for _, r := range star.Rename {
		if !hasStar(all, r.From.Name) {
			fail(sqltype.CodeUndefinedColumn, r.From.Pos, "column %q of RENAME does not exist", r.From.Name)
		}
	}
	cols := make([]starColumn, 0, len(all))
	for _, c := range all {
		if !excluded(star.Exclude, c.col.Name) {
			cols = append(cols, c)
		}
	}
	return cols
}

// structColumns are the fields of a struct before the dot of a star.
func (s *scope) structColumns(b *binder, star *parser.Star) ([]starColumn, bool) {
	x, ok := s.find(star.Table.Parts)
	if !ok || x.Type().Kind != sqltype.KindStruct {
		return nil, false
	}
	return b.fieldsOf(x, star.Pos), true
}

// fieldsOf are the fields of a struct as columns.
func (b *binder) fieldsOf(x Expr, at parser.Pos) []starColumn {
	var cols []starColumn
	for i, f := range x.Type().Fields() {
		e := b.function(catalog.FuncStructExtract.String(), []Expr{x, &Const{sqltype.NewInt64(int64(i + 1))}}, at)
		name := f.Name
		if name == "" {
			name = "element" + strconv.Itoa(i+1)
		}
		cols = append(cols, starColumn{col: ColDef{Name: name, Type: f.Type}, expr: e})
	}
	return cols
}

func hasStar(cols []starColumn, name string) bool {
	for i := range cols {
		if sameName(cols[i].col.Name, name) {
			return true
		}
	}
	return false
}

func excluded(list []parser.Ident, name string) bool {
	for i := range list {
		if sameName(list[i].Name, name) {
			return true
		}
	}
	return false
}

func replacing(list []parser.SelectItem, name string) *parser.SelectItem {
	for i := range list {
		if list[i].Alias != nil && sameName(list[i].Alias.Name, name) {
			return &list[i]
		}
	}
	return nil
}

// ---- ORDER BY and DISTINCT ----

func (s *selection) bindOrder(order []parser.OrderItem) {
	for i := range order {
		if _, ok := order[i].Expr.(*parser.Star); ok { // ALL
			for _, it := range s.items[:s.shown] {
				s.keys = append(s.keys, sortKey(order[i], it.expr))
			}
			continue
		}
		e := s.outputExpr(order[i].Expr, "ORDER BY")
		if s.sel.Distinct && s.itemOf(e) < 0 {
			fail(codeInvalidReference, order[i].Expr.Start(), "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
		}
		s.keys = append(s.keys, sortKey(order[i], e))
	}
	for _, e := range s.sel.DistinctOn {
		s.on = append(s.on, s.outputExpr(e, "SELECT DISTINCT ON"))
	}
}

// outputExpr binds an entry of ORDER BY: a number, a name of the select list,
// or else an expression over what the select list is over.
func (s *selection) outputExpr(e parser.Expr, what string) Expr {
	if n, ok := ordinal(e, s.shown, what); ok {
		return s.items[n].expr
	}
	if ref, ok := e.(*parser.ColumnRef); ok && len(ref.Name.Parts) == 1 {
		if x := s.listed(ref.Name.Parts[0]); x != nil {
			return x
		}
	}
	return s.b.value(s.scope, e)
}

// itemOf is the item that is e, or -1.
func (s *selection) itemOf(e Expr) int {
	for i := range s.items {
		if s.items[i].expr == e || equalExpr(s.items[i].expr, e) {
			return i
		}
	}
	return -1
}

// place is the item that is e, a hidden one if there is none yet.
func (s *selection) place(e Expr) int {
	if i := s.itemOf(e); i >= 0 {
		return i
	}
	s.items = append(s.items, outItem{name: "order", expr: e, pos: noPos})
	return len(s.items) - 1
}

// finish makes the list, and what comes after it.
func (s *selection) finish(node Node) bound {
	keyAt, onAt := make([]int, len(s.keys)), make([]int, len(s.on))
	for i := range s.keys {
		keyAt[i] = s.place(s.keys[i].Expr)
	}
	for i := range s.on {
		onAt[i] = s.place(s.on[i])
	}
	p := s.project(node)
	cols := p.Cols()
	for i := range s.keys {
		s.keys[i].Expr = colRef(cols[keyAt[i]])
	}
	for i := range s.on {
		s.on[i] = colRef(cols[onAt[i]])
	}
	out := bound{node: p, cols: cols[:s.shown:s.shown]}
	for i := range s.items[:s.shown] {
		if s.items[i].open {
			if out.open == nil {
				out.open = make([]bool, s.shown)
			}
			out.open[i] = true
		}
	}
	if s.sel.Distinct && len(s.on) == 0 {
		out.node = &Aggregate{Input: out.node, Groups: passed(out.cols)}
	}
	if len(s.keys) > 0 {
		out.node = &Sort{Input: out.node, Keys: s.keys}
	}
	if len(s.on) > 0 {
		out.node = &DistinctOn{Input: out.node, On: s.on}
	}
	return out
}

// project is the select list. A column handed through keeps its number, the
// first time that it is listed.
func (s *selection) project(node Node) *Project {
	p := &Project{Input: node, Exprs: make([]NamedExpr, len(s.items))}
	var given colSet
	for i := range s.items {
		it := &s.items[i]
		if c, ok := it.expr.(*Col); ok && s.owns(c.ID) && !given.has(c.ID) {
			given = given.add(c.ID)
			p.Exprs[i] = NamedExpr{Col: ColDef{ID: c.ID, Name: it.name, Type: c.T, NotNull: s.b.notNull.has(c.ID)}, Expr: c}
			continue
		}
		t := it.expr.Type()
		p.Exprs[i] = NamedExpr{Col: s.b.column(it.name, t, nullsOf(s.b.neverNullExpr(it.expr))), Expr: it.expr}
	}
	return p
}
