package planner

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// changed is the rows that an UPDATE or DELETE is about: the table's columns
// and row ids, joined with what FROM or USING brings.
type changed struct {
	node  Node
	scope *scope
	row   ColDef   // the row id
	old   []ColDef // the whole row
}

// rowsToChange binds the table, the other tables and WHERE.
func (b *binder) rowsToChange(ctes *cte, t *catalog.Table, alias *parser.Ident, others []parser.TableExpr, where parser.Expr) changed {
	first := b.nextColumn
	scan := b.scan(t)
	c := changed{old: scan.Columns}
	c.row = b.column("rowid", sqltype.Int64, neverNull)
	scan.Columns = append(scan.Columns[:len(c.old):len(c.old)], c.row)
	scan.Source = append(scan.Source, RowIDColumn)
	c.scope = tableScope(ctes, t, alias, c.old)
	c.scope.lo = first
	whole := &fromItem{node: scan, rels: c.scope.rels, star: c.scope.star}
	c.scope.clause = inFrom
	c.scope.rels, c.scope.star = nil, nil
	for _, o := range others {
		item := b.tableExpr(c.scope.within(whole), o)
		star := append(whole.star[:len(whole.star):len(whole.star)], item.star...)
		whole = b.pair(whole, item, &Join{Kind: Inner, Left: whole.node, Right: item.node}, o.Start())
		whole.star = star
	}
	c.scope.rels, c.scope.star, c.scope.hi = whole.rels, whole.star, b.nextColumn
	c.node = whole.node
	if where != nil {
		c.scope.clause = inWhere
		c.node = &Filter{Input: c.node, Pred: b.condition(c.scope, where)}
	}
	if len(others) > 0 {
		// A row that several others were found for is changed once.
		c.node = &DistinctOn{Input: c.node, On: []Expr{colRef(c.row)}}
	}
	return c
}

// returning binds RETURNING over a changed row and the rows that it was joined
// with, and gives the columns of both that there have to be.
func (c *changed) returning(b *binder, ctes *cte, alias *parser.Ident, row []ColDef, list []parser.SelectItem) ([]NamedExpr, []ColDef) {
	s := tableScope(ctes, c.scope.rels[0].table, alias, row)
	s.rels = append(s.rels, c.scope.rels[1:]...)
	s.star = append(s.star, c.scope.star[len(row):]...)
	out := b.returning(s, list)
	var used colSet
	for _, r := range out {
		used = used.addExpr(r.Expr)
	}
	cols := row[:len(row):len(row)]
	for _, rel := range s.rels[1:] {
		for _, col := range rel.cols {
			if used.has(col.ID) {
				cols = append(cols, col)
			}
		}
	}
	return out, cols
}

func (b *binder) update(u *parser.Update) Node {
	ctes := b.with(nil, b.within, u.With, u.Recursive)
	t := b.target(u.Table)
	c := b.rowsToChange(ctes, t, u.Alias, u.From, u.Where)
	p := &Project{Input: c.node, Exprs: make([]NamedExpr, len(t.Columns)+1)}
	n := &Update{Table: t, Input: p, Columns: b.tableColumns(t)}
	p.Exprs[0] = NamedExpr{Col: c.row, Expr: colRef(c.row)}
	c.scope.clause = inSet
	for _, a := range assignments(t, u.Set) {
		col := &t.Columns[a.column]
		e := b.setValue(c.scope, t, a)
		p.Exprs[a.column+1] = NamedExpr{Col: b.column(col.Name, col.Type, mayBeNull), Expr: e}
		n.Set = append(n.Set, a.column)
	}
	for i := range t.Columns {
		if p.Exprs[i+1].Expr == nil {
			p.Exprs[i+1] = NamedExpr{Col: c.old[i], Expr: colRef(c.old[i])}
		}
	}
	n.Checks = b.checks(t, n.Columns)
	n.Returning, n.Columns = c.returning(b, ctes, u.Alias, n.Columns, u.Returning)
	p.Exprs = append(p.Exprs, passed(n.Columns[len(t.Columns):])...)
	for i := range t.Columns {
		if t.Columns[i].Generated != "" && !slices.Contains(n.Set, i) {
			n.Set = append(n.Set, i)
		}
	}
	n.Input = b.withCTEs(b.generate(t, p, p.Cols()[1:]), ctes)
	return n
}

func (b *binder) delete(d *parser.Delete) Node {
	ctes := b.with(nil, b.within, d.With, d.Recursive)
	t := b.target(d.Table)
	c := b.rowsToChange(ctes, t, d.Alias, d.Using, d.Where)
	p := &Project{Input: c.node, Exprs: passed([]ColDef{c.row})}
	n := &Delete{Table: t, Input: p}
	if len(d.Returning) > 0 {
		n.Returning, n.Columns = c.returning(b, ctes, d.Alias, b.tableColumns(t), d.Returning)
		p.Exprs = append(p.Exprs, passed(c.old)...)
		p.Exprs = append(p.Exprs, passed(n.Columns[len(t.Columns):])...)
	}
	n.Input = b.withCTEs(p, ctes)
	return n
}

// withCTEs puts the definitions that are used again around a statement's rows, or
// around all of it where its RETURNING may read them.
func (b *binder) withCTEs(n Node, ctes *cte) Node {
	if b.asked != nil {
		b.asked.ctes = ctes
		return n
	}
	return b.around(n, ctes)
}

func (b *binder) around(n Node, ctes *cte) Node {
	for ; ctes != b.within; ctes = ctes.outer {
		n = ctes.around(n)
	}
	return n
}
