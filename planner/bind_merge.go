package planner

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// merging is a MERGE while it is bound: the source joined with the target.
type merging struct {
	b       *binder
	table   *catalog.Table
	row     ColDef // the target row's id; NULL: there is none
	old     []ColDef
	present *ColDef // TRUE in every source row, where a row may be without one
	both    *scope
	source  *scope
	target  *scope
	which   ColDef // the number of the WHEN that a row is for, from 1; 0 none
}

// mergeInto binds MERGE:
//
//	source ⟕ target ─ which WHEN? ─ filter ─ kind, row id, new row, action ─ merge
func (b *binder) mergeInto(s *parser.Merge) Node {
	ctes := b.with(nil, b.within, s.With, s.Recursive)
	m := &merging{b: b, table: b.target(s.Table)}
	input := m.join(ctes, s)
	input = m.choose(input, s.Whens)
	p := &Project{Input: input, Exprs: m.changes(s.Whens)}
	n := &Merge{Table: m.table, Columns: b.tableColumns(m.table)}
	n.Checks = b.checks(m.table, n.Columns)
	action := b.column("merge_action", sqltype.Varchar, neverNull)
	returned := tableScope(ctes, m.table, s.Alias, n.Columns)
	returned.mergeAction = &action
	n.Columns = append(n.Columns, action)
	n.Returning = b.returning(returned, s.Returning)
	n.Input = b.withCTEs(b.generate(m.table, p, p.Cols()[2:]), ctes)
	return n
}

// join makes the rows that the WHENs choose from, and the scopes that they see.
func (m *merging) join(ctes *cte, s *parser.Merge) Node {
	b := m.b
	has := func(match parser.MergeMatch) bool {
		return slices.ContainsFunc(s.Whens, func(w parser.MergeWhen) bool { return w.Match == match })
	}
	kind := Inner
	switch {
	case has(parser.NotMatched) && has(parser.NotMatchedBySource):
		kind = Full
	case has(parser.NotMatched):
		kind = Left
	case has(parser.NotMatchedBySource):
		kind = Right
	}
	outer := &scope{ctes: ctes, clause: inFrom, lo: b.nextColumn}
	src := b.tableExpr(outer.within(&fromItem{}), s.Source)
	if kind == Full || kind == Right {
		c := b.column("present", sqltype.Bool, neverNull)
		m.present = &c
		src.node = &Project{Input: src.node, Exprs: append(passed(src.node.Cols()), NamedExpr{Col: c, Expr: boolConst(true)})}
	}
	scan := b.scan(m.table)
	m.old = scan.Columns
	m.row = b.column("rowid", sqltype.Int64, neverNull)
	scan.Columns = append(scan.Columns[:len(m.old):len(m.old)], m.row)
	scan.Source = append(scan.Source, RowIDColumn)
	named := tableScope(ctes, m.table, s.Alias, m.old)
	tgt := &fromItem{node: scan, rels: named.rels, star: named.star}
	j := &Join{Kind: kind, Left: src.node, Right: scan}
	whole := b.pair(src, tgt, j, s.Pos)
	b.outerNulls(j, src, tgt)
	m.row.NotNull = b.notNull.has(m.row.ID)
	if s.Using != nil {
		j.On, whole.star = b.using(src, tgt, s.Using, kind)
	} else {
		whole.star = append(src.star[:len(src.star):len(src.star)], tgt.star...)
		on := outer.within(whole)
		on.clause = inJoin
		j.On = b.condition(on, s.On)
	}
	see := func(item *fromItem) *scope {
		return &scope{ctes: ctes, rels: item.rels, star: item.star, lo: outer.lo, hi: b.nextColumn, clause: inMerge}
	}
	m.both, m.source, m.target = see(whole), see(src), see(tgt)
	return j
}

// scopeOf is what a WHEN sees.
func (m *merging) scopeOf(w *parser.MergeWhen) *scope {
	switch w.Match {
	case parser.NotMatched:
		return m.source
	case parser.NotMatchedBySource:
		return m.target
	}
	return m.both
}

// choose numbers the rows by the first WHEN that they are for, and drops those
// for which there is nothing to do.
func (m *merging) choose(input Node, whens []parser.MergeWhen) Node {
	b := m.b
	hasTarget := Expr(&Not{&IsNull{colRef(m.row)}})
	c := &Case{Else: &Const{sqltype.NewInt32(0)}, T: sqltype.Int32}
	for i := range whens {
		w := &whens[i]
		var cond Expr
		switch w.Match {
		case parser.Matched:
			if cond = hasTarget; m.present != nil {
				cond = &And{[]Expr{hasTarget, &Not{&IsNull{colRef(*m.present)}}}}
			}
		case parser.NotMatched:
			cond = &IsNull{colRef(m.row)}
		case parser.NotMatchedBySource:
			cond = &IsNull{colRef(*m.present)}
		}
		if w.Cond != nil {
			cond = &And{[]Expr{cond, b.condition(m.scopeOf(w), w.Cond)}}
		}
		n := int32(i + 1)
		if w.Action == "DO NOTHING" {
			n = 0
		}
		c.Whens = append(c.Whens, When{Cond: cond, Then: &Const{sqltype.NewInt32(n)}})
	}
	m.which = b.column("which", sqltype.Int32, neverNull)
	p := &Project{Input: input, Exprs: append(passed(input.Cols()), NamedExpr{Col: m.which, Expr: c})}
	return &Filter{Input: p, Pred: &Cmp{Op: Ne, L: colRef(m.which), R: &Const{sqltype.NewInt32(0)}}}
}

// changes is what is done with a row: the kind of change, the row's id, the whole
// new row, or the old one that goes, and the action's name.
func (m *merging) changes(whens []parser.MergeWhen) []NamedExpr {
	b := m.b
	rows := make([][]Expr, len(whens))
	kinds, actions := make([]Expr, len(whens)), make([]Expr, len(whens))
	for i := range whens {
		w := &whens[i]
		kind := MergeDelete
		switch w.Action {
		case "INSERT":
			kind, rows[i] = MergeInsert, m.inserted(w)
		case "UPDATE":
			kind, rows[i] = MergeUpdate, m.updated(w)
		}
		kinds[i], actions[i] = &Const{sqltype.NewInt32(int32(kind))}, &Const{sqltype.NewString(w.Action)}
	}
	out := []NamedExpr{
		{Col: b.column("kind", sqltype.Int32, neverNull), Expr: m.pick(kinds, &Const{sqltype.NewInt32(0)})},
		{Col: m.row, Expr: colRef(m.row)},
	}
	for c, col := range m.table.Columns {
		values := make([]Expr, len(whens))
		for i := range rows {
			if rows[i] != nil {
				values[i] = rows[i][c]
			}
		}
		out = append(out, NamedExpr{Col: b.column(col.Name, col.Type, mayBeNull), Expr: m.pick(values, colRef(m.old[c]))})
	}
	return append(out, NamedExpr{Col: b.column("action", sqltype.Varchar, mayBeNull), Expr: m.pick(actions, &Const{sqltype.NullOf(sqltype.Varchar)})})
}

// pick is the value of the WHEN that a row is for, or other if it has none.
func (m *merging) pick(values []Expr, other Expr) Expr {
	c := &Case{Else: other, T: other.Type()}
	for i, v := range values {
		if v != nil {
			cond := &Cmp{Op: Eq, L: colRef(m.which), R: &Const{sqltype.NewInt32(int32(i + 1))}}
			c.Whens = append(c.Whens, When{Cond: cond, Then: v})
		}
	}
	if len(c.Whens) == 0 {
		return other
	}
	return c
}

func (m *merging) updated(w *parser.MergeWhen) []Expr {
	row := make([]Expr, len(m.old))
	for i := range row {
		row[i] = colRef(m.old[i])
	}
	for _, a := range assignments(m.table, w.Set) {
		row[a.column] = m.b.setValue(m.scopeOf(w), m.table, a)
	}
	return row
}

func (m *merging) inserted(w *parser.MergeWhen) []Expr {
	row := make([]Expr, len(m.old))
	if w.Values != nil {
		into := &parser.Insert{Columns: w.Columns}
		for k, c := range insertColumns(m.table, into, len(w.Values), w.Pos) {
			row[c] = m.b.setValue(m.scopeOf(w), m.table, assignment{c, w.Values[k]})
		}
	}
	for c := range row {
		if row[c] == nil {
			row[c] = m.b.defaultOf(m.table, c)
		}
	}
	return row
}
