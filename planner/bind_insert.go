package planner

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// target finds the table that a statement changes.
func (b *binder) target(n parser.Name) *catalog.Table {
	schema, name := b.qualified(n)
	if t, ok := b.reader.Table(schema, name.Name); ok {
		return t
	}
	if _, ok := b.reader.View(schema, name.Name); ok {
		fail(sqltype.CodeWrongObject, name.Pos, "%q is a view: its rows cannot be changed", name.Name)
	}
	b.failTable(schema, name, nil)
	return nil
}

// columnOf is the place of a column that a statement names.
func columnOf(t *catalog.Table, name parser.Ident) int {
	i := slices.IndexFunc(t.Columns, func(c catalog.Column) bool { return sameName(c.Name, name.Name) })
	if i < 0 {
		names := make([]string, len(t.Columns))
		for k := range t.Columns {
			names[k] = t.Columns[k].Name
		}
		failHint(didYouMean(name.Name, names), sqltype.CodeUndefinedColumn, name.Pos,
			"column %q of table %q does not exist", name.Name, t.Name)
	}
	return i
}

// tableScope shows one table's columns under a name.
func tableScope(ctes *cte, t *catalog.Table, alias *parser.Ident, cols []ColDef) *scope {
	rel := &relation{schema: t.Schema, name: t.Name, table: t, cols: cols}
	if alias != nil {
		rel.name, rel.schema = alias.Name, ""
	}
	s := &scope{ctes: ctes, rels: []*relation{rel}, star: starOf(cols)}
	if len(cols) > 0 {
		s.lo, s.hi = cols[0].ID, cols[len(cols)-1].ID+1
	}
	return s
}

func (b *binder) insert(i *parser.Insert) Node {
	ctes := b.with(nil, b.within, i.With, i.Recursive)
	t := b.target(i.Table)
	n := &Insert{Table: t, Columns: b.tableColumns(t), Target: make([]int, len(t.Columns))}
	for k := range n.Target {
		n.Target[k] = k
	}
	if values := plainValues(i.Source); values != nil && !i.ByName {
		n.Input = b.insertValues(ctes, t, i, values)
	} else {
		n.Input = b.insertQuery(ctes, t, i)
	}
	s := tableScope(ctes, t, i.Alias, n.Columns)
	n.Checks = b.checks(t, n.Columns)
	n.Conflict = b.conflict(ctes, t, i)
	n.Returning = b.returning(s, i.Returning)
	n.Input = b.generate(t, n.Input, n.Input.Cols())
	b.askConflict(n, i)
	n.Input = b.withCTEs(n.Input, ctes)
	return n
}

// insertColumns are the columns that rows of so many values are for: those
// that are listed, or else the table's from the first on.
func insertColumns(t *catalog.Table, i *parser.Insert, width int, at parser.Pos) []int {
	most := len(i.Columns)
	if most == 0 {
		most = len(t.Columns)
	}
	switch {
	case width > most:
		fail(sqltype.CodeSyntax, at, "INSERT has more expressions than target columns: %d and %d", width, most)
	case width < len(i.Columns):
		fail(sqltype.CodeSyntax, at, "INSERT has more target columns than expressions: %d and %d", most, width)
	}
	given := make([]int, width)
	for k := range given {
		given[k] = k
	}
	for k, name := range i.Columns {
		given[k] = columnOf(t, name)
		if slices.Contains(given[:k], given[k]) {
			fail(sqltype.CodeDuplicateColumn, name.Pos, "column %q specified more than once", name.Name)
		}
	}
	return given
}

// plainValues is the VALUES list that is all of an INSERT's source: only there
// may DEFAULT stand. No source at all is one row of defaults.
func plainValues(q *parser.Query) *parser.Values {
	if q == nil {
		return &parser.Values{Rows: [][]parser.Expr{{}}}
	}
	v, ok := q.Body.(*parser.Values)
	if !ok || len(q.With) > 0 || len(q.OrderBy) > 0 || q.Limit != nil || q.Offset != nil {
		return nil
	}
	return v
}

// insertValues makes whole rows of the table from VALUES, each value of its
// column's type.
func (b *binder) insertValues(ctes *cte, t *catalog.Table, i *parser.Insert, v *parser.Values) Node {
	s := &scope{ctes: ctes, clause: inValues}
	width := len(v.Rows[0])
	var given []int
	if i.Source != nil {
		given = insertColumns(t, i, width, v.Pos)
	}
	defaults := make([]Expr, len(t.Columns))
	isGiven := make([]bool, len(t.Columns))
	for _, c := range given {
		isGiven[c] = true
	}
	for c := range defaults {
		if !isGiven[c] {
			defaults[c] = b.defaultOf(t, c)
		}
	}
	rows := make([][]Expr, len(v.Rows))
	for r, list := range v.Rows {
		if len(list) != width {
			fail(sqltype.CodeSyntax, list[0].Start(), "VALUES lists must all be of the same length: %d and %d", width, len(list))
		}
		row := slices.Clone(defaults)
		for k, e := range list {
			c := given[k]
			if _, ok := e.(*parser.Default); ok {
				row[c] = b.defaultOf(t, c)
				continue
			}
			if t.Columns[c].Identity && i.Overriding == "USER" {
				row[c] = b.defaultOf(t, c)
				continue
			}
			onlyDefault(&t.Columns[c], i.Overriding, e.Start())
			row[c] = b.assign(b.expr(s, e), &t.Columns[c], e.Start())
		}
		rows[r] = row
	}
	cols := make([]ColDef, len(t.Columns))
	for c := range cols {
		cols[c] = b.column(t.Columns[c].Name, t.Columns[c].Type, mayBeNull)
	}
	return b.rowsNode(cols, rows)
}

// insertQuery makes whole rows of the table from a query's.
func (b *binder) insertQuery(ctes *cte, t *catalog.Table, i *parser.Insert) Node {
	q := b.query(nil, ctes, i.Source)
	if i.ByName {
		named := *i
		for _, c := range q.cols {
			named.Columns = append(named.Columns, parser.Ident{Name: c.Name, Pos: i.Source.Pos})
		}
		i = &named
	}
	given := insertColumns(t, i, len(q.cols), i.Source.Pos)
	p := &Project{Input: q.node, Exprs: make([]NamedExpr, len(t.Columns))}
	for k, c := range given {
		if t.Columns[c].Identity && i.Overriding == "USER" {
			continue
		}
		onlyDefault(&t.Columns[c], i.Overriding, i.Source.Pos)
		p.Exprs[c].Expr = b.assign(colRef(q.cols[k]), &t.Columns[c], i.Source.Pos)
	}
	for c := range p.Exprs {
		if p.Exprs[c].Expr == nil {
			p.Exprs[c].Expr = b.defaultOf(t, c)
		}
		p.Exprs[c].Col = b.column(t.Columns[c].Name, t.Columns[c].Type, mayBeNull)
	}
	return p
}

// assign brings a value to a column's type, as CAST would.
func (b *binder) assign(e Expr, c *catalog.Column, at parser.Pos) Expr {
	if !isOpen(e) && !castable(e.Type(), c.Type) {
		fail(sqltype.CodeTypeMismatch, at, "column %q is of type %s but expression is of type %s", c.Name, c.Type, e.Type())
	}
	return b.coerce(e, c.Type, at)
}

// defaultOf is a column's default.
func (b *binder) defaultOf(t *catalog.Table, c int) Expr {
	col := &t.Columns[c]
	if col.Default == "" {
		return &Const{sqltype.NullOf(col.Type)}
	}
	e, err := parser.ParseExpr(col.Default)
	if err != nil {
		failWith(err, noPos)
	}
	x := b.assign(b.expr(&scope{clause: inDefault}, e), col, noPos)
	if hasSubqueryIn(x) {
		fail(sqltype.CodeNotSupported, noPos, "a subquery in a DEFAULT is not supported")
	}
	return x
}

// checks binds a table's CHECK constraints over a row.
func (b *binder) checks(t *catalog.Table, cols []ColDef) []Check {
	if len(t.Checks) == 0 {
		return nil
	}
	s := tableScope(nil, t, nil, cols)
	s.clause = inCheck
	list := make([]Check, len(t.Checks))
	for i, c := range t.Checks {
		e, err := parser.ParseExpr(c.Text)
		if err != nil {
			failWith(err, noPos)
		}
		pred := b.condition(s, e)
		if hasSubqueryIn(pred) {
			fail(sqltype.CodeNotSupported, noPos, "a subquery in a CHECK constraint is not supported")
		}
		list[i] = Check{Name: c.Name, Pred: pred}
	}
	return list
}

// asked is a RETURNING with subqueries: the change gives whole rows, whose columns
// are cols above it, and the expressions are computed of these.
type asked struct {
	cols  []ColDef
	exprs []NamedExpr
	ctes  *cte // which the expressions may read, too
}

// change binds a statement that changes data.
func (b *binder) change(s parser.Statement) (n Node, kind PlanKind) {
	saved := b.asked
	b.asked, b.changes = nil, true
	defer func() { b.asked = saved }()
	switch s := s.(type) {
	case *parser.Insert:
		n, kind = b.insert(s), InsertPlan
	case *parser.Update:
		n, kind = b.update(s), UpdatePlan
	case *parser.Delete:
		n, kind = b.delete(s), DeletePlan
	case *parser.Merge:
		n, kind = b.mergeInto(s), MergePlan
	default:
		fail(sqltype.CodeWrongObject, noPos, "a %T has no plan", s)
	}
	if b.asked == nil {
		return n, kind
	}
	// To answer a subquery for each row may take the rows twice, and they are changed once.
	w := &With{CTE: b.nextCTE, Name: "returning", Def: n, Changes: true}
	b.nextCTE++
	rows := &CTEScan{CTE: w.CTE, Name: w.Name, Columns: b.asked.cols, Source: make([]int, len(b.asked.cols))}
	for i := range rows.Source {
		rows.Source[i] = i
	}
	w.Body = &Project{Input: rows, Exprs: b.asked.exprs}
	return b.around(w, b.asked.ctes), kind
}

// returning binds RETURNING over the changed row.
func (b *binder) returning(s *scope, list []parser.SelectItem) []NamedExpr {
	if len(list) == 0 {
		return nil
	}
	s.clause = inReturning
	sel := &selection{scope: s, b: b, sel: &parser.Select{Items: list, From: make([]parser.TableExpr, 1)}}
	sel.bindItems()
	exprs := sel.project(nil).Exprs
	if !slices.ContainsFunc(exprs, func(e NamedExpr) bool { return hasSubqueryIn(e.Expr) }) {
		return exprs
	}
	b.asked = &asked{exprs: exprs}
	for _, rel := range s.rels {
		b.asked.cols = append(b.asked.cols, rel.cols...)
	}
	if s.mergeAction != nil {
		b.asked.cols = append(b.asked.cols, *s.mergeAction)
	}
	row := passed(b.asked.cols)
	for i := range row {
		row[i].Col = b.column(row[i].Col.Name, row[i].Col.Type, mayBeNull)
	}
	return row
}

// ---- ON CONFLICT ----

func (b *binder) conflict(ctes *cte, t *catalog.Table, i *parser.Insert) *Conflict {
	if i.Replace {
		return &Conflict{Replace: true}
	}
	o := i.OnConflict
	if o == nil {
		return nil
	}
	c := &Conflict{Nothing: o.DoNothing, Index: conflictIndex(t, o.Columns)}
	if o.DoNothing {
		return c
	}
	c.Columns, c.Excluded = b.tableColumns(t), b.tableColumns(t)
	s := tableScope(ctes, t, i.Alias, c.Columns)
	s.rels = append(s.rels, &relation{name: "excluded", cols: c.Excluded})
	s.clause = inSet
	for _, set := range assignments(t, o.Set) {
		c.Set = append(c.Set, SetColumn{Column: set.column, Expr: b.setValue(s, t, set)})
	}
	c.Set = append(c.Set, b.setGenerated(t, c.Columns, c.Set)...)
	if o.Where != nil {
		s.clause = inWhere
		c.Where = b.condition(s, o.Where)
	}
	return c
}

// askConflict has the subqueries of ON CONFLICT answered where the new rows come
// from, for each with the old row that it meets:
//
//	insert t                      SET and WHERE read asked, too
//	  project row, asked := (...)
//	    input ⟕ t                 only if a subquery names columns of the old row
func (b *binder) askConflict(n *Insert, i *parser.Insert) {
	c := n.Conflict
	if c == nil || c.Nothing || c.Replace {
		return
	}
	var asked []NamedExpr
	lift := func(e Expr) Expr {
		if s, ok := e.(*Subquery); ok {
			asked = append(asked, NamedExpr{Col: b.column("asked", s.T, mayBeNull), Expr: s})
			return colRef(asked[len(asked)-1].Col)
		}
		return e
	}
	for k := range c.Set {
		c.Set[k].Expr = mapExpr(c.Set[k].Expr, lift)
	}
	if c.Where = mapExpr(c.Where, lift); asked == nil {
		return
	}
	row, use := n.Input.Cols(), replacement{}
	for k := range c.Excluded {
		use[c.Excluded[k].ID] = colRef(row[k])
	}
	if slices.ContainsFunc(asked, func(a NamedExpr) bool { return colSet(nil).addExpr(a.Expr).meets(colSet(nil).addCols(c.Columns)) }) {
		n.Input = b.withOld(n, row, use, i.Pos)
	}
	p := &Project{Input: n.Input, Exprs: passed(row)}
	for _, a := range asked {
		p.Exprs = append(p.Exprs, NamedExpr{Col: a.Col, Expr: use.in(a.Expr)})
		c.Asked = append(c.Asked, a.Col)
	}
	n.Input = p
}

// withOld joins the rows of an INSERT with those that they meet, and notes what
// stands for the columns of these.
func (b *binder) withOld(n *Insert, row []ColDef, use replacement, at parser.Pos) Node {
	if n.Conflict.Index == nil {
		fail(sqltype.CodeNotSupported, at, "a subquery over columns of the old row needs ON CONFLICT with the columns of a key")
	}
	old := b.scan(n.Table)
	for k, col := range old.Columns {
		use[n.Conflict.Columns[k].ID] = colRef(col)
	}
	j := &Join{Kind: Left, Left: n.Input, Right: old}
	var on []Expr
	for _, k := range n.Conflict.Index.Keys {
		on = append(on, b.compare(Eq, colRef(row[k.Column]), colRef(old.Columns[k.Column]), at))
	}
	j.On = allOf(on)
	b.outerNulls(j, &fromItem{node: n.Input}, &fromItem{node: old})
	return j
}

// setGenerated sets the generated columns of a row whose old columns are cols,
// after what is set of them.
func (b *binder) setGenerated(t *catalog.Table, cols []ColDef, set []SetColumn) []SetColumn {
	var out []SetColumn
	for i := range t.Columns {
		if t.Columns[i].Generated == "" {
			continue
		}
		e := mapExpr(b.generated(t, i, cols), func(e Expr) Expr {
			c, ok := e.(*Col)
			if !ok {
				return e
			}
			for _, s := range set {
				if cols[s.Column].ID == c.ID {
					return s.Expr
				}
			}
			return e
		})
		out = append(out, SetColumn{Column: i, Expr: e})
	}
	return out
}

// conflictIndex is the unique index of just these columns.
func conflictIndex(t *catalog.Table, columns []parser.Ident) *catalog.Index {
	if len(columns) == 0 {
		return nil
	}
	want := make([]int, len(columns))
	for i, name := range columns {
		want[i] = columnOf(t, name)
	}
	for _, index := range t.Indexes {
		if !index.Unique && !index.Primary || len(index.Keys) != len(want) {
			continue
		}
		if !slices.ContainsFunc(index.Keys, func(k catalog.IndexKey) bool { return !slices.Contains(want, k.Column) }) {
			return index
		}
	}
	fail(codeInvalidReference, columns[0].Pos, "there is no unique constraint matching the ON CONFLICT columns")
	return nil
}

// assignment is column = value of SET.
type assignment struct {
	column int
	value  parser.Expr
}

// assignments are those of SET. Of several for one column the last counts, as
// in SQLite.
func assignments(t *catalog.Table, list []parser.Assignment) []assignment {
	out := make([]assignment, 0, len(list))
	for _, a := range list {
		c := columnOf(t, a.Column)
		if at := slices.IndexFunc(out, func(o assignment) bool { return o.column == c }); at >= 0 {
			out[at].value = a.Value
			continue
		}
		out = append(out, assignment{c, a.Value})
	}
	return out
}

func (b *binder) setValue(s *scope, t *catalog.Table, a assignment) Expr {
	if _, ok := a.value.(*parser.Default); ok {
		return b.defaultOf(t, a.column)
	}
	onlyDefault(&t.Columns[a.column], "", a.value.Start())
	return b.assign(b.expr(s, a.value), &t.Columns[a.column], a.value.Start())
}
