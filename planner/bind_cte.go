package planner

import (
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// cte is a name of WITH. A definition that is used once stands where it is
// used; one that is used again is computed once, by a With around the query.
type cte struct {
	outer *cte // the names seen beside it, innermost first
	name  string
	ast   *parser.CTE
	scope *scope // around the WITH
	def   bound
	id    int
	uses  int
	// repeat: the definition is bound again for each use, because it was asked
	// for or because it depends on the rows of an outer query.
	repeat bool
	with   *With // what stands around the query, unless there is one use alone
	shared bool  // it stands there whatever its uses
}

// find looks a name up, from the innermost outwards. Of a nil list it finds nil.
func (c *cte) find(name string) *cte {
	for ; c != nil; c = c.outer {
		if sameName(c.name, name) {
			return c
		}
	}
	return nil
}

// around puts the With around a query, or its definition to where it is used.
func (c *cte) around(body Node) Node {
	switch {
	case c.with == nil || c.uses == 0 && !c.with.Changes:
		return body
	case c.uses == 1 && !c.shared:
		return c.inPlace(body)
	}
	w := *c.with
	w.Body = body
	return &w
}

// inPlace is a query with the definition in place of the one scan of it, be it
// in a subquery. That waits until the query is bound: a plan that is still being
// made may be copied, and what is copied cannot be changed any more.
func (c *cte) inPlace(n Node) Node {
	var plan func(Node) Node
	subquery := func(e Expr) Expr {
		s, ok := e.(*Subquery)
		if !ok {
			return e
		}
		p := plan(s.Plan)
		if p == s.Plan {
			return e
		}
		copied := *s
		copied.Plan = p
		return &copied
	}
	plan = func(n Node) Node {
		return transform(n, func(n Node) Node {
			scan, ok := n.(*CTEScan)
			if !ok || scan.CTE != c.id {
				return mapNodeExprs(n, func(e Expr) Expr { return mapExpr(e, subquery) })
			}
			p := &Project{Input: c.def.node, Exprs: make([]NamedExpr, len(scan.Columns))}
			for i, col := range scan.Columns {
				p.Exprs[i] = NamedExpr{Col: col, Expr: colRef(c.def.cols[scan.Source[i]])}
			}
			return p
		})
	}
	return plan(n)
}

// with binds the definitions of a WITH. An unused one is bound for its errors.
func (b *binder) with(parent *scope, ctes *cte, list []parser.CTE, recursive bool) *cte {
	first := ctes
	for i := range list {
		d := &list[i]
		for c := ctes; c != first; c = c.outer {
			if sameName(c.name, d.Name.Name) {
				fail("42712", d.Name.Pos, "WITH query name %q specified more than once", d.Name.Name)
			}
		}
		c := &cte{outer: ctes, name: d.Name.Name, ast: d, scope: parent, id: b.nextCTE}
		b.nextCTE++
		if d.Change != nil {
			b.changing(c)
		} else if union, ok := d.Query.Body.(*parser.SetQuery); recursive && ok && union.Op == parser.Union && reads(union.Right, d.Name.Name) {
			b.recursive(c, union)
		} else {
			b.define(c)
		}
		ctes = c
	}
	return ctes
}

// define binds a definition that does not read itself.
func (b *binder) define(c *cte) {
	c.def = b.definition(c)
	m := c.ast.Materialized
	c.repeat = m != nil && !*m || c.scope != nil && !freeCols(c.def.node).empty()
	if !c.repeat {
		c.with = &With{CTE: c.id, Name: c.name, Def: c.def.node}
		c.shared = m != nil && *m
	}
}

// changing binds a definition that changes data. It is for the whole statement,
// which reads the tables as they were before.
func (b *binder) changing(c *cte) {
	at := c.ast.Name.Pos
	if c.scope != nil || b.depth > 1 || len(b.frames) > 0 || len(b.views) > 0 {
		fail(sqltype.CodeNotSupported, at, "a WITH that changes data must be at the top of its statement")
	}
	outer := b.within
	b.within = c.outer
	n, _ := b.change(c.ast.Change)
	b.within = outer
	c.def = bound{node: n, cols: c.named(n.Cols())}
	c.with = &With{CTE: c.id, Name: c.name, Def: n, Changes: true}
	c.shared = true
}

// returns reports a change of data that has a RETURNING.
func returns(n Node) bool {
	switch n := n.(type) {
	case *Insert:
		return n.Returning != nil
	case *Update:
		return n.Returning != nil
	case *Delete:
		return n.Returning != nil
	case *Merge:
		return n.Returning != nil
	}
	return true // what is asked above one
}

func (b *binder) definition(c *cte) bound {
	q := b.query(c.scope, c.outer, c.ast.Query)
	q.cols = c.named(q.cols)
	return q
}

// named gives columns the names of WITH name(a, b).
func (c *cte) named(cols []ColDef) []ColDef {
	names := c.ast.Columns
	if len(names) > len(cols) {
		fail(codeInvalidReference, names[0].Pos, "WITH query %q has %d columns available but %d columns specified", c.name, len(cols), len(names))
	}
	out := append([]ColDef(nil), cols...)
	for i := range names {
		out[i].Name = names[i].Name
	}
	return out
}

// cteRef is a use of a name.
func (b *binder) cteRef(c *cte) (Node, []ColDef) {
	c.uses++
	if c.ast.Change != nil && !returns(c.def.node) {
		fail(sqltype.CodeNotSupported, c.ast.Name.Pos, "WITH query %q does not have a RETURNING clause", c.name)
	}
	if !c.repeat {
		return b.cteScan(c)
	}
	if c.uses == 1 {
		return c.def.node, c.def.cols
	}
	q := b.definition(c)
	return q.node, q.cols
}

func (b *binder) cteScan(c *cte) (Node, []ColDef) {
	n := b.scanOf(c.id, c.name, c.def.cols)
	return n, n.Columns
}

// scanOf reads all columns of a definition, under new numbers.
func (b *binder) scanOf(id int, name string, cols []ColDef) *CTEScan {
	n := &CTEScan{CTE: id, Name: name, Columns: make([]ColDef, len(cols)), Source: make([]int, len(cols))}
	for i, c := range cols {
		n.Columns[i], n.Source[i] = b.column(c.Name, c.Type, nullsOf(c.NotNull)), i
	}
	return n
}

// recursive binds a definition whose right branch reads it.
func (b *binder) recursive(c *cte, union *parser.SetQuery) {
	q := c.ast.Query
	if len(q.OrderBy) > 0 || q.Limit != nil || q.Offset != nil {
		fail(sqltype.CodeNotSupported, q.Pos, "ORDER BY, LIMIT and OFFSET in a recursive query are not supported")
	}
	start := b.body(c.scope, c.outer, union.Left)
	start.cols = c.named(start.cols)
	for i := range start.cols {
		start.cols[i].NotNull = false // a later round may bring a NULL
		if start.cols[i].Type.Kind == sqltype.KindVarchar {
			start.cols[i].Type = sqltype.Varchar
		}
	}
	c.def = start
	c.with = &With{CTE: c.id, Name: c.name, Def: start.node, StepAll: union.All}
	c.shared = true
	step := b.body(c.scope, c, union.Right)
	c.uses = 0
	if len(step.cols) != len(start.cols) {
		fail(sqltype.CodeSyntax, union.Pos, "each UNION query must have the same number of columns: %d and %d", len(start.cols), len(step.cols))
	}
	types := make([]sqltype.Type, len(start.cols))
	for i, col := range start.cols {
		types[i] = col.Type
		t, ok := sqltype.CommonType(col.Type, step.cols[i].Type)
		if step.isOpen(i) {
			t, ok = col.Type, true
		}
		if !ok || t.Kind != col.Type.Kind && col.Type.Kind != sqltype.KindNull {
			e := sqltype.Errorf(sqltype.CodeTypeMismatch, "recursive query %q column %d has type %s in its first part but type %s overall",
				c.name, i+1, col.Type, step.cols[i].Type)
			e.Hint = "cast the first part to that type"
			failWith(e, union.Pos)
		}
	}
	c.with.Step = b.castColumns(step.node, step.cols, types)
}

// reads reports whether a body reads from a name: in FROM, at any depth.
func reads(body parser.QueryBody, name string) bool {
	switch body := body.(type) {
	case *parser.Query:
		for i := range body.With {
			if q := body.With[i].Query; q != nil && reads(q, name) {
				return true
			}
		}
		return reads(body.Body, name)
	case *parser.SetQuery:
		return reads(body.Left, name) || reads(body.Right, name)
	case *parser.Select:
		for _, t := range body.From {
			if readsFrom(t, name) {
				return true
			}
		}
	}
	return false
}

func readsFrom(t parser.TableExpr, name string) bool {
	switch t := t.(type) {
	case *parser.TableRef:
		return len(t.Name.Parts) == 1 && sameName(t.Name.Parts[0].Name, name)
	case *parser.DerivedTable:
		return reads(t.Query, name)
	case *parser.Join:
		return readsFrom(t.Left, name) || readsFrom(t.Right, name)
	}
	return false
}
