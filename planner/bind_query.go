package planner

import (
	"fmt"
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// bound is a query that has been bound. Its node gives cols, and after them
// perhaps hidden columns that were only ordered by.
type bound struct {
	node Node
	cols []ColDef
	open []bool // the column is a string literal, which may take another type; nil: none is
}

func (q *bound) isOpen(i int) bool { return q.open != nil && q.open[i] }

// query binds a whole query. Parent is the scope around it, nil for none, and
// ctes the names of WITH that it sees.
func (b *binder) query(parent *scope, ctes *cte, q *parser.Query) bound {
	if b.depth++; b.depth > maxQueryDepth {
		fail(sqltype.CodeTooComplex, q.Pos, "queries are nested more than %d deep", maxQueryDepth)
	}
	defer func() { b.depth-- }()
	inner := b.with(parent, ctes, q.With, q.Recursive)
	var out bound
	if sel, ok := q.Body.(*parser.Select); ok {
		out = b.selectBody(parent, inner, sel, q.OrderBy)
	} else {
		out = b.body(parent, inner, q.Body)
		if len(q.OrderBy) > 0 {
			out.node = &Sort{Input: out.node, Keys: b.outputKeys(parent, inner, out.cols, q.OrderBy)}
		}
	}
	out.node = b.limit(inner, out.node, q)
	if len(out.node.Cols()) > len(out.cols) {
		out.node = &Project{Input: out.node, Exprs: passed(out.cols)}
	}
	for c := inner; c != ctes; c = c.outer {
		out.node = c.around(out.node)
	}
	return out
}

// body binds a query's body that brings no ORDER BY of the query around it.
func (b *binder) body(parent *scope, ctes *cte, body parser.QueryBody) bound {
	switch body := body.(type) {
	case *parser.Query:
		return b.query(parent, ctes, body)
	case *parser.Select:
		return b.selectBody(parent, ctes, body, nil)
	case *parser.SetQuery:
		return b.setQuery(parent, ctes, body)
	case *parser.Values:
		return b.values(parent, ctes, body)
	}
	panic(fmt.Sprintf("planner: no binding for %T", body))
}

// outputKeys binds ORDER BY of what is not a SELECT: over the output alone.
func (b *binder) outputKeys(parent *scope, ctes *cte, cols []ColDef, items []parser.OrderItem) []SortKey {
	s := &scope{parent: parent, ctes: ctes, star: starOf(cols), clause: inSetOrder}
	var keys []SortKey
	for _, o := range items {
		if _, ok := o.Expr.(*parser.Star); ok { // ALL
			for _, c := range cols {
				keys = append(keys, sortKey(o, colRef(c)))
			}
			continue
		}
		if n, ok := ordinal(o.Expr, len(cols), "ORDER BY"); ok {
			keys = append(keys, sortKey(o, colRef(cols[n])))
			continue
		}
		keys = append(keys, sortKey(o, b.value(s, o.Expr)))
	}
	return keys
}

// ordinal reads the number of a select item, as in ORDER BY 2.
func ordinal(e parser.Expr, n int, what string) (int, bool) {
	l, ok := e.(*parser.Literal)
	if !ok || l.Value.Null || !l.Value.Type.Kind.IsInteger() {
		return 0, false
	}
	if l.Value.I < 1 || l.Value.I > int64(n) {
		fail(codeInvalidReference, l.Pos, "%s position %d is not in the select list", what, l.Value.I)
	}
	return int(l.Value.I) - 1, true
}

func (b *binder) limit(ctes *cte, n Node, q *parser.Query) Node {
	offset := b.limitExpr(ctes, q.Offset, "OFFSET")
	if q.Percent {
		return b.share(ctes, n, q, offset)
	}
	limit := b.limitExpr(ctes, q.Limit, "LIMIT")
	switch {
	case limit == nil && offset == nil:
		return n
	case q.WithTies || limit != nil && hasSubqueryIn(limit) || offset != nil && hasSubqueryIn(offset):
		return b.numberedLimit(n, limit, offset, q.WithTies)
	}
	return &Limit{Input: n, Limit: limit, Offset: offset}
}

// share is a limit that is a share of the rows, which are counted first.
func (b *binder) share(ctes *cte, n Node, q *parser.Query, offset Expr) Node {
	at := q.Limit.Start()
	percent := b.coerce(b.expr(&scope{clause: inLimit, ctes: ctes}, q.Limit), sqltype.Float64, at)
	if c, ok := percent.(*Const); ok && !c.Value.Null && !(c.Value.F >= 0 && c.Value.F <= 100) {
		fail("2201W", at, "a share of rows is between 0 and 100 percent, not %v", c.Value.F)
	}
	w := &Window{}
	count := b.rank(w, "count")
	limit := b.cast(b.operator("/", []Expr{b.operator("*", []Expr{colRef(count), percent}, at), &Const{sqltype.NewFloat64(100)}}, at), sqltype.Float64, at)
	limit = b.cast(b.function("floor", []Expr{limit}, at), sqltype.Int64, at)
	if s, ok := n.(*Sort); ok {
		c := *s
		w.Input, c.Input = s.Input, w
		return b.numberedLimit(&c, limit, offset, false)
	}
	w.Input = n
	return b.numberedLimit(w, limit, offset, false)
}

// numberedLimit is a limit that a subquery computes, or WITH TIES: the rows are
// numbered in order and filtered by their number, or by their rank.
func (b *binder) numberedLimit(n Node, limit, offset Expr, ties bool) Node {
	w := &Window{Input: n}
	if s, ok := n.(*Sort); ok {
		w.Input, w.Order = s.Input, s.Keys
	}
	row := b.rank(w, "row_number")
	place := row
	if ties {
		place = b.rank(w, "rank")
	}
	var kept []Expr
	skipped := bigint(0)
	if offset != nil {
		skipped = b.coalesce([]Expr{offset, bigint(0)}, []parser.Pos{noPos, noPos})
		kept = append(kept, &Cmp{Op: Gt, L: colRef(row), R: skipped})
	}
	if limit != nil {
		last := b.operator("+", []Expr{limit, skipped}, noPos)
		kept = append(kept, &Or{[]Expr{&IsNull{limit}, &Cmp{Op: Le, L: colRef(place), R: last}}})
	}
	return &Sort{Input: &Filter{Input: w, Pred: allOf(kept)}, Keys: []SortKey{{Expr: colRef(row)}}}
}

// rank adds a function without arguments to a window.
func (b *binder) rank(w *Window, name string) ColDef {
	r, err := catalog.ResolveWindow(name, nil)
	if err != nil {
		failWith(err, noPos)
	}
	c := b.column(name, r.Result, neverNull)
	frame := Frame{Unit: "RANGE", StartKind: "UNBOUNDED PRECEDING", EndKind: "CURRENT ROW"}
	w.Funcs = append(w.Funcs, WindowFunc{Col: c, Func: r.Func, Frame: frame})
	return c
}

// limitExpr binds a number of rows; NULL is no limit.
func (b *binder) limitExpr(ctes *cte, e parser.Expr, what string) Expr {
	if e == nil {
		return nil
	}
	at := e.Start()
	x := b.expr(&scope{clause: inLimit, ctes: ctes}, e)
	if t := x.Type(); !isOpen(x) && !t.Kind.IsNumeric() {
		fail(sqltype.CodeTypeMismatch, at, "argument of %s must be %s, not %s", what, sqltype.Int64, t)
	}
	x = b.coerce(x, sqltype.Int64, at)
	if c, ok := x.(*Const); ok {
		if c.Value.Null {
			return nil
		}
		if c.Value.I < 0 {
			fail("2201W", at, "%s must not be negative", what)
		}
	}
	return x
}

func hasSubqueryIn(e Expr) bool {
	found := false
	walkExpr(e, func(e Expr) bool {
		if _, ok := e.(*Subquery); ok {
			found = true
		}
		return !found
	})
	return found
}

// ---- set operations ----

// setQuery binds a chain of set operations, which may lean to the left for
// many branches, in a loop.
func (b *binder) setQuery(parent *scope, ctes *cte, q *parser.SetQuery) bound {
	spine := []*parser.SetQuery{q}
	for {
		left, ok := spine[len(spine)-1].Left.(*parser.SetQuery)
		if !ok {
			break
		}
		spine = append(spine, left)
	}
	out := b.body(parent, ctes, spine[len(spine)-1].Left)
	for i := len(spine) - 1; i >= 0; i-- {
		out = b.setOp(spine[i], out, b.body(parent, ctes, spine[i].Right))
	}
	return out
}

var setOps = [...]struct {
	kind SetOpKind
	name string
}{parser.Union: {Union, "UNION"}, parser.Intersect: {Intersect, "INTERSECT"}, parser.Except: {Except, "EXCEPT"}}

func (b *binder) setOp(q *parser.SetQuery, l, r bound) bound {
	op := setOps[q.Op]
	if q.ByName {
		l, r = b.byName(q, l, r)
	}
	if len(l.cols) != len(r.cols) {
		fail(sqltype.CodeSyntax, q.Pos, "each %s query must have the same number of columns: %d and %d", op.name, len(l.cols), len(r.cols))
	}
	n := &SetOp{Op: op.kind, All: q.All, Columns: make([]ColDef, len(l.cols))}
	types := make([]sqltype.Type, len(l.cols))
	out := bound{node: n, cols: n.Columns}
	for i := range l.cols {
		x, y := l.cols[i], r.cols[i]
		t, ok := sqltype.CommonType(x.Type, y.Type)
		switch {
		case l.isOpen(i) && r.isOpen(i):
			if out.open == nil {
				out.open = make([]bool, len(l.cols))
			}
			out.open[i] = true
		case l.isOpen(i) && y.Type.Kind != sqltype.KindNull:
			t, ok = y.Type, true
		case r.isOpen(i) && x.Type.Kind != sqltype.KindNull:
			t, ok = x.Type, true
		}
		if !ok {
			fail(sqltype.CodeTypeMismatch, q.Pos, "%s types %s and %s of column %d cannot be matched", op.name, x.Type, y.Type, i+1)
		}
		if t.Kind == sqltype.KindVarchar {
			t = sqltype.Varchar
		}
		types[i] = t
		n.Columns[i] = b.column(x.Name, t, nullsOf(x.NotNull && (y.NotNull || op.kind != Union)))
	}
	n.Left, n.Right = b.castColumns(l.node, l.cols, types), b.castColumns(r.node, r.cols, types)
	return out
}

// byName gives both sides of UNION BY NAME the columns of either: the left side's,
// and then what only the right one has, with NULL where there is none.
func (b *binder) byName(q *parser.SetQuery, l, r bound) (bound, bound) {
	place := func(cols []ColDef, name string) int {
		at := slices.IndexFunc(cols, func(c ColDef) bool { return sameName(c.Name, name) })
		if at >= 0 && slices.ContainsFunc(cols[at+1:], func(c ColDef) bool { return sameName(c.Name, name) }) {
			fail(sqltype.CodeAmbiguousColumn, q.Pos, "UNION BY NAME finds more than one column %q", name)
		}
		return at
	}
	var names []string
	for _, c := range l.cols {
		place(l.cols, c.Name)
		names = append(names, c.Name)
	}
	for _, c := range r.cols {
		if place(r.cols, c.Name); place(l.cols, c.Name) < 0 {
			names = append(names, c.Name)
		}
	}
	side := func(in bound) bound {
		out := bound{open: make([]bool, len(names))}
		p := &Project{Input: in.node}
		for i, name := range names {
			e := NamedExpr{Col: b.column(name, sqltype.Null, mayBeNull), Expr: &Const{sqltype.NullOf(sqltype.Null)}}
			if at := place(in.cols, name); at >= 0 {
				e = NamedExpr{Col: in.cols[at], Expr: colRef(in.cols[at])}
				out.open[i] = in.isOpen(at)
			}
			p.Exprs = append(p.Exprs, e)
			out.cols = append(out.cols, e.Col)
		}
		out.node = p
		return out
	}
	return side(l), side(r)
}

// castColumns is n with its columns, which are cols, brought to these types.
// The casts go into n if it is a Project, so that constants are converted now.
func (b *binder) castColumns(n Node, cols []ColDef, types []sqltype.Type) Node {
	same := true
	for i := range cols {
		same = same && sameForm(cols[i].Type, types[i])
	}
	if same {
		return n
	}
	p, ok := n.(*Project)
	if !ok {
		p = &Project{Input: n, Exprs: passed(cols)}
	}
	out := &Project{Input: p.Input, Exprs: append([]NamedExpr(nil), p.Exprs...)}
	for i := range cols {
		if e := &out.Exprs[i]; !sameForm(e.Col.Type, types[i]) {
			e.Expr = b.cast(e.Expr, types[i], noPos)
			e.Col = b.column(e.Col.Name, types[i], nullsOf(e.Col.NotNull))
		}
	}
	return out
}

// ---- VALUES ----

func (b *binder) values(parent *scope, ctes *cte, v *parser.Values) bound {
	s := &scope{parent: parent, ctes: ctes, clause: inValues}
	width := len(v.Rows[0])
	rows := make([][]Expr, len(v.Rows))
	for r, row := range v.Rows {
		if len(row) != width {
			fail(sqltype.CodeSyntax, row[0].Start(), "VALUES lists must all be of the same length: %d and %d", width, len(row))
		}
		rows[r] = b.exprs(s, row)
	}
	out := bound{cols: make([]ColDef, width), open: make([]bool, width)}
	column := make([]Expr, len(rows))
	for i := range out.cols {
		nulls := neverNull
		out.open[i] = true
		for r := range rows {
			column[r] = rows[r][i]
			_, ok := column[r].(*literal)
			out.open[i] = out.open[i] && ok
		}
		t := b.unify("VALUES", column, func(r int) parser.Pos { return v.Rows[r][i].Start() })
		for r := range rows {
			rows[r][i] = b.settle(column[r])
			if !b.neverNullExpr(rows[r][i]) {
				nulls = mayBeNull
			}
		}
		out.cols[i] = b.column(fmt.Sprintf("column%d", i+1), t, nulls)
	}
	out.node = b.rowsNode(out.cols, rows)
	return out
}

// rowsNode is a Values, or, when rows hold subqueries or columns of an outer
// query, one SELECT a row: those the optimiser knows how to run.
func (b *binder) rowsNode(cols []ColDef, rows [][]Expr) Node {
	plain := true
	for _, row := range rows {
		for _, e := range row {
			if _, ok := e.(*Const); ok {
				continue
			}
			plain = plain && !hasSubqueryIn(e) && exprCols(e).empty()
		}
	}
	if plain {
		return &Values{Columns: cols, Rows: rows}
	}
	var all Node
	for r, row := range rows {
		p := &Project{Input: &Values{Rows: [][]Expr{{}}}, Exprs: make([]NamedExpr, len(row))}
		last := r == len(rows)-1
		for i, e := range row {
			c := cols[i]
			if len(rows) > 1 {
				c = b.column(c.Name, c.Type, nullsOf(c.NotNull))
			}
			p.Exprs[i] = NamedExpr{Col: c, Expr: e}
		}
		if all == nil {
			all = p
			continue
		}
		u := &SetOp{Op: Union, All: true, Left: all, Right: p, Columns: cols}
		if !last {
			u.Columns = make([]ColDef, len(cols))
			for i, c := range cols {
				u.Columns[i] = b.column(c.Name, c.Type, nullsOf(c.NotNull))
			}
		}
		all = u
	}
	return all
}
