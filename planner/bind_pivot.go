package planner

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// maxPivot bounds the columns that a PIVOT makes.
const maxPivot = 10_000

// pivot binds PIVOT as the query that it stands for:
//
//	t PIVOT (sum(v) FOR y IN (2000, 2010))
//	    ─▶  SELECT k, sum(v) FILTER (WHERE y = 2000) AS "2000", ... FROM t GROUP BY k
func (b *binder) pivot(s *scope, t *parser.Pivot) *fromItem {
	item := b.tableExpr(s, t.Table)
	sel := &parser.Select{From: []parser.TableExpr{t.Table}, Pos: t.Pos}
	groups := t.GroupBy
	if groups == nil {
		for _, c := range item.star {
			if !pivotNames(t, c.col.Name) {
				groups = append(groups, columnNamed(c.col.Name, t.Pos))
			}
		}
	}
	for _, g := range groups {
		sel.Items = append(sel.Items, parser.SelectItem{Expr: g})
		sel.GroupBy = append(sel.GroupBy, parser.GroupItem{Kind: parser.GroupExpr, Exprs: []parser.Expr{g}})
	}
	cells := []pivotCell{{}}
	for i := range t.On {
		values := b.pivotValues(t, &t.On[i])
		if len(cells)*len(values)*len(t.Using) > maxPivot {
			fail(sqltype.CodeTooComplex, t.Pos, "PIVOT makes more than %d columns", maxPivot)
		}
		var product []pivotCell
		for _, c := range cells {
			for _, v := range values {
				product = append(product, c.with(v, t.On[i].Expr, t.Pos))
			}
		}
		cells = product
	}
	for _, c := range cells {
		for _, u := range t.Using {
			name := c.name
			if len(t.Using) > 1 || u.Alias != nil {
				name += "_" + pivotLabel(&u)
			}
			sel.Items = append(sel.Items, parser.SelectItem{Expr: c.only(u.Expr), Alias: &parser.Ident{Name: name, Pos: t.Pos}})
		}
	}
	if len(groups) == 0 && len(cells) == 0 {
		fail(sqltype.CodeSyntax, t.Pos, "PIVOT makes no column")
	}
	return b.tableExpr(s, &parser.DerivedTable{Query: &parser.Query{Body: sel, Pos: t.Pos}, Alias: t.Alias, Columns: t.Columns, Pos: t.Pos})
}

func columnNamed(name string, at parser.Pos) parser.Expr {
	return &parser.ColumnRef{Name: parser.Name{Parts: []parser.Ident{{Name: name, Quoted: true, Pos: at}}}}
}

// pivotLabel is what an aggregate adds to the names of its columns.
func pivotLabel(u *parser.SelectItem) string {
	if u.Alias != nil {
		return u.Alias.Name
	}
	return parser.FormatExpr(u.Expr)
}

// pivotCell is the rows of some columns of a PIVOT.
type pivotCell struct {
	name string
	cond parser.Expr // nil: all rows
}

// with are those rows of a cell for which an expression has a value.
func (c pivotCell) with(v parser.SelectItem, e parser.Expr, at parser.Pos) pivotCell {
	var cond parser.Expr = &parser.IsDistinct{L: e, R: v.Expr, Not: true}
	if c.cond != nil {
		return pivotCell{c.name + "_" + v.Alias.Name, &parser.Binary{Op: "AND", L: c.cond, R: cond, Pos: at}}
	}
	return pivotCell{v.Alias.Name, cond}
}

// only is an expression whose aggregates are over the cell's rows.
func (c pivotCell) only(e parser.Expr) parser.Expr {
	return parser.CopyExpr(e, func(call *parser.Call) {
		if !catalog.IsAggregate(call.Name.Parts[len(call.Name.Parts)-1].Name) {
			return
		}
		if call.Filter == nil {
			call.Filter = c.cond
		} else {
			call.Filter = &parser.Binary{Op: "AND", L: call.Filter, R: c.cond, Pos: call.Pos}
		}
	})
}

// pivotNames reports a column that PIVOT makes columns of, or computes with.
func pivotNames(t *parser.Pivot, column string) bool {
	for i := range t.On {
		if parser.NamesColumn(t.On[i].Expr, column) {
			return true
		}
	}
	return slices.ContainsFunc(t.Using, func(u parser.SelectItem) bool { return parser.NamesColumn(u.Expr, column) })
}

// pivotValues are the values of On, each with the name of its columns.
func (b *binder) pivotValues(t *parser.Pivot, on *parser.PivotOn) []parser.SelectItem {
	values := on.Values
	if on.All {
		values = b.foundValues(t, on.Expr)
	}
	out := slices.Clone(values)
	for i := range out {
		if out[i].Alias != nil {
			continue
		}
		d := b.constant(out[i].Expr, sqltype.Null)
		name := "NULL"
		if text, err := sqltype.CastDatum(d, sqltype.Varchar); err == nil && !d.Null {
			name = text.S
		}
		out[i].Alias = &parser.Ident{Name: name, Pos: out[i].Expr.Start()}
	}
	return out
}

// foundValues asks the table for the values of an expression, in order.
func (b *binder) foundValues(t *parser.Pivot, e parser.Expr) []parser.SelectItem {
	if b.opts.Query == nil {
		fail(sqltype.CodeNotSupported, e.Start(), "PIVOT without IN asks the table for its values, which cannot be done here")
	}
	b.once = true
	sel := &parser.Select{Distinct: true, Items: []parser.SelectItem{{Expr: e}}, From: []parser.TableExpr{t.Table}, Pos: t.Pos}
	sel.Where = &parser.IsExpr{X: e, What: "NULL", Not: true}
	first := parser.OrderItem{Expr: &parser.Literal{Value: sqltype.NewInt32(1), Text: "1", Pos: t.Pos}}
	rows, err := b.opts.Query(&parser.Query{Body: sel, OrderBy: []parser.OrderItem{first}, Pos: t.Pos}, maxPivot+1)
	if err != nil {
		failWith(err, e.Start())
	}
	var out []parser.SelectItem
	for _, d := range rows {
		out = append(out, parser.SelectItem{Expr: &parser.Literal{Value: d, Pos: e.Start()}})
	}
	return out
}

// unpivot binds UNPIVOT as the query that it stands for:
//
//	t UNPIVOT (v FOR n IN (a, b))
//	    ─▶  SELECT * FROM (SELECT k, unnest(['a', 'b']) AS n, unnest([a, b]) AS v FROM t) WHERE v IS NOT NULL
func (b *binder) unpivot(s *scope, t *parser.Unpivot) *fromItem {
	item := b.tableExpr(s, t.Table)
	entries := b.unpivotEntries(s.within(item), t)
	sel := &parser.Select{From: []parser.TableExpr{t.Table}, Pos: t.Pos}
	for _, c := range item.star {
		if !slices.ContainsFunc(entries, func(e parser.UnpivotOn) bool {
			return slices.ContainsFunc(e.Exprs, func(x parser.Expr) bool { return parser.NamesColumn(x, c.col.Name) })
		}) {
			sel.Items = append(sel.Items, parser.SelectItem{Expr: columnNamed(c.col.Name, t.Pos)})
		}
	}
	names := &parser.Array{Pos: t.Pos}
	values := make([]*parser.Array, len(t.Values))
	for i := range values {
		values[i] = &parser.Array{Pos: t.Pos}
	}
	for _, e := range entries {
		names.Exprs = append(names.Exprs, &parser.Literal{Value: sqltype.NewString(e.Label.Name), Pos: t.Pos})
		if len(e.Exprs) != len(values) {
			fail(sqltype.CodeSyntax, e.Exprs[0].Start(), "an entry of UNPIVOT has %d columns, and there are %d values", len(e.Exprs), len(values))
		}
		for i, x := range e.Exprs {
			values[i].Exprs = append(values[i].Exprs, x)
		}
	}
	add := func(list *parser.Array, as parser.Ident) parser.Expr {
		sel.Items = append(sel.Items, parser.SelectItem{Expr: callOf("unnest", t.Pos, list), Alias: &as})
		return &parser.IsExpr{X: columnNamed(as.Name, t.Pos), What: "NULL", Not: true}
	}
	add(names, t.Name)
	whole := &parser.Select{Items: []parser.SelectItem{{Expr: &parser.Star{Pos: t.Pos}}}, Pos: t.Pos}
	for i, v := range values {
		if some := add(v, t.Values[i]); !t.Nulls && whole.Where != nil {
			whole.Where = &parser.Binary{Op: "OR", L: whole.Where, R: some, Pos: t.Pos}
		} else if !t.Nulls {
			whole.Where = some
		}
	}
	whole.From = []parser.TableExpr{&parser.DerivedTable{Query: &parser.Query{Body: sel, Pos: t.Pos}, Pos: t.Pos}}
	return b.tableExpr(s, &parser.DerivedTable{Query: &parser.Query{Body: whole, Pos: t.Pos}, Alias: t.Alias, Columns: t.Columns, Pos: t.Pos})
}

// unpivotEntries are the entries with their names; a star and COLUMNS stand for
// an entry a column.
func (b *binder) unpivotEntries(s *scope, t *parser.Unpivot) []parser.UnpivotOn {
	var out []parser.UnpivotOn
	for _, on := range t.On {
		var cols []starColumn
		switch e := on.Exprs[0].(type) {
		case *parser.Star:
			cols = s.starColumns(b, e)
		case *parser.Call:
			if len(e.Name.Parts) == 1 && e.Name.Parts[0].Name == "columns" {
				cols = b.chosen(s, e)
			}
		}
		for _, c := range cols {
			name := parser.Ident{Name: c.col.Name, Quoted: true, Pos: on.Exprs[0].Start()}
			out = append(out, parser.UnpivotOn{Exprs: []parser.Expr{columnNamed(name.Name, name.Pos)}, Label: &name})
		}
		if cols != nil {
			continue
		}
		if on.Label == nil {
			name := parser.Ident{Pos: on.Exprs[0].Start()}
			for i, x := range on.Exprs {
				if i > 0 {
					name.Name += "_"
				}
				name.Name += exprName(x)
			}
			on.Label = &name
		}
		out = append(out, on)
	}
	return out
}
