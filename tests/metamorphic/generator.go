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
	q := g.query(&scope{}, g.types(1+g.r.IntN(3)), 3, true)
	if g.chance(15) {
		q.Limit = 1 + g.r.IntN(10)
		q.Offset = g.r.IntN(3)
	}
	return q
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
		for range 1 + g.r.IntN(2) {
			sub := g.types(1 + g.r.IntN(3))
			w := Source{Alias: g.alias("w"), Sub: g.query(&scope{named: named}, sub, depth-1, false)}
			q.With = append(q.With, w)
			named = append(slices.Clip(named), derived(w.Alias, sub))
		}
	}
	g.body(q, &scope{outer: outer.outer, named: named, cols: nil}, outer, types, depth, top)
	if depth > 0 && g.chance(12) {
		ops := []string{"UNION ALL", "UNION", "INTERSECT", "EXCEPT"}
		if g.features.SetAll {
			ops = append(ops, "INTERSECT ALL", "EXCEPT ALL")
		}
		q.SetOp, q.Right = pick(g, ops), &Query{}
		g.body(q.Right, &scope{named: named}, outer, types, depth-1, false)
	}
	return q
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
	for _, t := range types {
		if t == Int && g.features.Windows && g.chance(8) {
			q.Items = append(q.Items, g.window(s))
		} else {
			q.Items = append(q.Items, g.expr(t, s, depth))
		}
	}
	q.Distinct = g.chance(12)
}

func (g *Generator) grouped(q *Query, s *scope, types []Type, depth int, top bool) {
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
		q.Grouping = pick(g, []string{"ROLLUP", "CUBE"})
	}
	for _, t := range types {
		q.Items = append(q.Items, g.expr(t, above, 2))
	}
	if g.chance(30) {
		exact := *above
		exact.inexact = false
		q.Having = g.expr(Bool, &exact, 2)
	}
}

// from adds one to three sources and their columns to s.
func (g *Generator) from(q *Query, s *scope, depth int) {
	for i := range 1 + []int{0, 0, 1, 1, 2}[g.r.IntN(5)] {
		src := Source{Alias: g.alias("a")}
		var cols []Column
		switch {
		case depth > 1 && g.chance(15):
			types := g.types(1 + g.r.IntN(3))
			// A derived table sees nothing of its neighbours.
			src.Sub = g.query(&scope{named: s.named}, types, depth-2, false)
			cols = derived(src.Alias, types).Columns
		case len(s.named) > 0 && g.chance(50):
			t := pick(g, s.named)
			src.Table, cols = t.Name, t.Columns
		default:
			t := pick(g, g.db.Tables)
			src.Table, cols = t.Name, t.Columns
		}
		for _, c := range cols {
			s.cols = append(s.cols, &Expr{Form: src.Alias + "." + c.Name, Type: c.Type})
		}
		if i > 0 {
			joins := []string{"JOIN", "JOIN", "LEFT JOIN", "CROSS JOIN", ","}
			if g.features.Full {
				joins = append(joins, "RIGHT JOIN", "FULL JOIN")
			}
			src.Join = pick(g, joins)
			comma := slices.ContainsFunc(q.From, func(f Source) bool { return f.Join == "," })
			if src.Join != "," && comma {
				src.Join = "CROSS JOIN" // ON would not see what stands before the comma
			}
			switch {
			case src.Join == "CROSS JOIN" || src.Join == ",":
			case src.Join == "FULL JOIN":
				src.On = g.equality(s, len(cols)) // others are refused by some
			case g.chance(70):
				src.On = g.equality(s, len(cols))
				if g.chance(30) {
					src.On = &Expr{Form: "(% AND %)", Type: Bool, Args: []*Expr{src.On, g.expr(Bool, &scope{cols: s.cols}, 1)}}
				}
			default:
				src.On = g.expr(Bool, &scope{cols: s.cols}, 1)
			}
		}
		q.From = append(q.From, src)
	}
}

// equality compares a column of the last n with one before.
func (g *Generator) equality(s *scope, n int) *Expr {
	left, right := s.cols[:len(s.cols)-n], s.cols[len(s.cols)-n:]
	for range 10 {
		a, b := pick(g, left), pick(g, right)
		if a.Type == b.Type {
			return &Expr{Form: "% = %", Type: Bool, Args: []*Expr{a.clone(), b.clone()}}
		}
	}
	a, b := pick(g, left), pick(g, right)
	return &Expr{Form: "(% IS NULL) = (% IS NULL)", Type: Bool, Args: []*Expr{a.clone(), b.clone()}}
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
