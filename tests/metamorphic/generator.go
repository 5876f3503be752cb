package metamorphic

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Generator makes queries over a database.
type Generator struct {
	r        *rand.Rand
	db       *Database
	features Features
	aliases  int
	apart    bool // subqueries see nothing of the query around
	single   bool // a FROM has one source
}

// NewGenerator returns a generator that takes its choices from r.
func NewGenerator(r *rand.Rand, db *Database, f Features) *Generator {
	return &Generator{r: r, db: db, features: f}
}

func number(n int) string { return strconv.Itoa(n) }

// scope is what an expression may name.
type scope struct {
	cols  []*Expr // columns, or the keys of a group
	outer *scope  // of the query around
	// inner is set above a grouping: what aggregates are computed from.
	inner *scope
	// grouped is set when this is the scope below a grouping.
	grouped bool
	// inexact allows values that two engines may round differently.
	inexact bool
	// named are common table expressions, usable as tables.
	named []*Table
}

func (g *Generator) chance(percent int) bool { return g.r.IntN(100) < percent }

func pick[T any](g *Generator, list []T) T { return list[g.r.IntN(len(list))] }

func (g *Generator) alias(prefix string) string {
	g.aliases++
	return prefix + number(g.aliases)
}

// Query is a new query.
func (g *Generator) Query() *Query {
	g.aliases = 0
	q := g.query(&scope{}, g.types(1+g.r.IntN(3)), g.depth(), true)
	if g.chance(15) || g.db.Big && g.chance(60) {
		q.Limit = 1 + g.r.IntN(10)
		q.Offset = g.r.IntN(3)
	}
	return q
}

// Apart is a query whose subqueries see nothing of the query around.
func (g *Generator) Apart() *Query {
	g.aliases, g.apart = 0, true
	defer func() { g.apart = false }()
	return g.query(&scope{}, g.types(1+g.r.IntN(3)), 3, false)
}

// depth is how deep a query is: subqueries over big tables are few.
func (g *Generator) depth() int {
	if g.db.Big || g.features.Small && g.chance(75) {
		return 2
	}
	return 3
}

// Rows is a query of plain rows, and a condition over its sources.
func (g *Generator) Rows() (*Query, *Expr) {
	g.aliases = 0
	q, s := &Query{}, &scope{}
	g.from(q, s, 2)
	if g.chance(50) {
		q.Where = g.expr(Bool, s, 2)
	}
	for _, t := range g.types(1 + g.r.IntN(3)) {
		q.Items = append(q.Items, g.expr(t, s, 2))
	}
	return q, g.expr(Bool, s, 3)
}

func (g *Generator) types(n int) []Type {
	out := make([]Type, n)
	for i := range out {
		out[i] = pick(g, g.features.Types)
	}
	return out
}

// query selects items of the given types. top: its items are only looked at.
func (g *Generator) query(outer *scope, types []Type, depth int, top bool) *Query {
	q := &Query{}
	named := outer.named
	if top && g.chance(15) {
		q.Recursive = g.features.Recursive && g.chance(40)
		for range 1 + g.r.IntN(2) {
			sub := g.types(1 + g.r.IntN(3))
			w := Source{Alias: g.alias("w")}
			if q.Recursive {
				sub[0] = Int
				w.Sub = g.recursive(w.Alias, sub, &scope{named: named})
			} else {
				w.Sub = g.query(&scope{named: named}, sub, depth-1, false)
			}
			q.With = append(q.With, w)
			named = append(slices.Clip(named), derived(w.Alias, sub))
		}
	}
	s := &scope{outer: outer.outer, named: named, cols: nil}
	g.body(q, s, outer, types, depth, top)
	switch {
	case len(q.On) > 0: // an order stands at its end
	case depth > 0 && g.chance(12):
		q.SetOp, q.Right = g.operation(), &Query{}
		g.body(q.Right, &scope{named: named}, outer, types, depth-1, false)
		if q.Right.On = nil; g.features.SetAll && g.chance(25) {
			q.Right.SetOp, q.Right.Right = g.operation(), &Query{}
			g.body(q.Right.Right, &scope{named: named}, outer, types, depth-1, false)
			q.Right.Right.On = nil
		}
	case top && !s.grouped && !q.Distinct && g.chance(40):
		key := g.expr(pick(g, g.features.Types), &scope{cols: s.cols}, 1)
		if strings.Contains(key.SQL(), ".c") { // a literal names an item, or means nothing
			q.Order = []*Expr{key}
		}
	}
	return q
}

func (g *Generator) operation() string {
	ops := []string{"UNION ALL", "UNION", "INTERSECT", "EXCEPT"}
	if g.features.SetAll {
		ops = append(ops, "INTERSECT ALL", "EXCEPT ALL")
	}
	return pick(g, ops)
}

func derived(alias string, types []Type) *Table {
	t := &Table{Name: alias}
	for i, typ := range types {
		t.Columns = append(t.Columns, Column{Name: "c" + number(i), Type: typ})
	}
	return t
}

func (g *Generator) body(q *Query, s, outer *scope, types []Type, depth int, top bool) {
	s.outer = outer
	g.from(q, s, depth)
	if g.chance(60) {
		q.Where = g.expr(Bool, s, depth)
	}
	if depth > 0 && g.chance(30) {
		g.grouped(q, s, types, depth, top)
		return
	}
	total := true
	for _, t := range types {
		if t == Int && g.features.Windows && g.chance(12) {
			q.Items = append(q.Items, g.window(s, total))
			total = false
		} else {
			q.Items = append(q.Items, g.expr(t, s, depth))
		}
	}
	switch {
	case g.chance(12):
		q.Distinct = true
	case g.features.Extended && g.chance(6):
		q.Qualify = &Expr{Form: "% <= %", Type: Bool, Args: []*Expr{g.window(s, total), g.constant(Int)}}
	case g.features.Extended && g.chance(6) && total && len(s.cols) > 0:
		for range 1 + g.r.IntN(2) {
			q.On = append(q.On, pick(g, s.cols).clone())
		}
		q.Order = append(q.Order, cloneExprs(q.On)...)
		for _, c := range s.cols {
			q.Order = append(q.Order, c.clone())
		}
	}
}

func (g *Generator) grouped(q *Query, s *scope, types []Type, depth int, top bool) {
	s.grouped = true
	above := &scope{outer: s.outer, inner: s, named: s.named, inexact: top}
	for range g.r.IntN(3) {
		key := g.expr(pick(g, g.features.Types), s, min(depth, 1))
		if !strings.Contains(key.SQL(), ".c") {
			continue // GROUP BY 1 names an item, and so does GROUP BY -1 for some
		}
		q.Group = append(q.Group, key)
		above.cols = append(above.cols, key)
	}
	if len(q.Group) > 0 && g.features.Rollup && g.chance(15) {
		q.Grouping = pick(g, []string{"ROLLUP", "CUBE", "GROUPING SETS"})
		left := uint(1)<<len(q.Group) - 1 // keys of no set yet: what names them would be refused
		for range 1 + g.r.IntN(3) {
			q.Sets = append(q.Sets, uint(g.r.IntN(1<<len(q.Group))))
			left &^= q.Sets[len(q.Sets)-1]
		}
		q.Sets[0] |= left
	}
	for _, t := range types {
		if t == Int && q.Grouping != "" && g.chance(25) {
			q.Items = append(q.Items, &Expr{Form: "CAST(grouping(%) AS BIGINT)", Type: Int, Args: []*Expr{pick(g, q.Group).clone()}})
			continue
		}
		q.Items = append(q.Items, g.expr(t, above, 2))
	}
	if g.chance(30) {
		exact := *above
		exact.inexact = false
		q.Having = g.expr(Bool, &exact, 2)
	}
}

// constant is a literal, sometimes NULL.
func (g *Generator) constant(t Type) *Expr {
	if g.chance(6) {
		return &Expr{Form: "CAST(NULL AS " + typeNames[t] + ")", Type: t}
	}
	return &Expr{Form: strings.ReplaceAll(literal(g.r, t), "%", "%%"), Type: t}
}

// leaf is a column, or a literal.
func (g *Generator) leaf(t Type, s *scope) *Expr {
	if g.chance(12) {
		return g.constant(t)
	}
	at := s
	for at.outer != nil && g.chance(15) {
		at = at.outer
	}
	for ; at != nil; at = at.outer {
		var fit []*Expr
		for _, c := range at.cols {
			if c.Type == t {
				fit = append(fit, c)
			}
		}
		if len(fit) > 0 {
			return pick(g, fit).clone()
		}
	}
	return g.constant(t)
}
