package planner

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// generate computes the generated columns of whole rows: cols are the table's,
// among those that n gives, which are all kept.
func (b *binder) generate(t *catalog.Table, n Node, cols []ColDef) Node {
	if !hasGenerated(t) {
		return n
	}
	p := &Project{Input: n, Exprs: passed(n.Cols())}
	for i := range t.Columns {
		if t.Columns[i].Generated == "" {
			continue
		}
		at := slices.IndexFunc(p.Exprs, func(e NamedExpr) bool { return e.Col.ID == cols[i].ID })
		e := b.generated(t, i, cols)
		p.Exprs[at] = NamedExpr{Col: b.column(cols[i].Name, cols[i].Type, mayBeNull), Expr: e}
	}
	return p
}

func hasGenerated(t *catalog.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c catalog.Column) bool { return c.Generated != "" })
}

// generated binds what column i is computed by, over a row's columns.
func (b *binder) generated(t *catalog.Table, i int, cols []ColDef) Expr {
	e, err := parser.ParseExpr(t.Columns[i].Generated)
	if err != nil {
		failWith(err, noPos)
	}
	s := tableScope(nil, t, nil, cols)
	s.clause = inGenerated
	x := b.expr(s, e)
	if t.Columns[i].Type.Kind != sqltype.KindNull {
		x = b.assign(x, &t.Columns[i], noPos)
	}
	walkExpr(x, func(e Expr) bool {
		switch e := e.(type) {
		case *Subquery:
			fail(sqltype.CodeNotSupported, noPos, "cannot use subquery in column generation expression")
		case *Call:
			if e.Func.Volatile || e.Func.Stable {
				fail("42P17", noPos, "generation expression of column %q is not immutable", t.Columns[i].Name)
			}
		case *Col:
			if k := slices.IndexFunc(cols, func(c ColDef) bool { return c.ID == e.ID }); k >= 0 && t.Columns[k].Generated != "" {
				fail("42P17", noPos, "cannot use generated column %q in column generation expression", t.Columns[k].Name)
			}
		}
		return true
	})
	return x
}

// GeneratedType is the type of the expression of generated column i of a table.
func GeneratedType(r catalog.Reader, t *catalog.Table, i int) (_ sqltype.Type, err error) {
	b := binder{reader: r, nextColumn: 1, nextCTE: 1}
	defer b.recover(&err)
	return b.settle(b.generated(t, i, b.tableColumns(t))).Type(), nil
}

// onlyDefault refuses a value for a column that makes its own: it takes DEFAULT
// alone. A column that is an identity ALWAYS takes one where that is overridden.
func onlyDefault(c *catalog.Column, overriding string, at parser.Pos) {
	switch {
	case c.Generated != "":
		fail("428C9", at, "cannot insert or update column %q: it is a generated column", c.Name)
	case c.Always && overriding != "SYSTEM":
		failHint("use OVERRIDING SYSTEM VALUE", "428C9", at, "column %q can only be set to DEFAULT: it is an identity column defined as GENERATED ALWAYS", c.Name)
	}
}
