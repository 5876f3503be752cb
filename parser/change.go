package parser

import (
	"slices"

	"github.com/gpusql/gpusql/sqltype"
)

// insert reads INSERT INTO and REPLACE INTO, after its WITH.
func (p *parser) insert(w withClause) *Insert {
	t := p.advance()
	s := &Insert{With: w.list, Recursive: w.recursive, Replace: t.word == kwReplace, Pos: t.start}
	if t.word == kwInsert && p.acceptWord(kwOr) {
		switch {
		case p.acceptWord(kwReplace):
			s.Replace = true
		case p.acceptWord(kwIgnore):
			s.OnConflict = &OnConflict{DoNothing: true}
		case p.acceptWord(kwAbort):
		default:
			panic(p.unexpected("REPLACE, IGNORE or ABORT"))
		}
	}
	p.expectWord(kwInto)
	s.Table = p.name("a table name")
	if p.acceptWord(kwAs) {
		alias := p.ident("an alias")
		s.Alias = &alias
	}
	if p.kind() == tokLParen && !p.parenBeginsQuery() {
		s.Columns = p.identList("a column name")
	}
	if p.word() == kwBy && s.Columns == nil {
		p.at++
		if s.ByName = p.acceptText("name"); !s.ByName && !p.acceptText("position") {
			panic(p.unexpected("NAME or POSITION"))
		}
	}
	if p.acceptText("overriding") {
		switch {
		case p.acceptText("system"):
			s.Overriding = "SYSTEM"
		case p.acceptText("user"):
			s.Overriding = "USER"
		default:
			panic(p.unexpected("SYSTEM or USER"))
		}
		p.value()
	}
	if !p.acceptWords(kwDefault, kwValues) {
		if !p.isQuery() && p.kind() != tokLParen {
			panic(p.unexpected("VALUES, SELECT or DEFAULT VALUES"))
		}
		s.Source = p.query()
	}
	if p.word() == kwOn {
		if s.OnConflict != nil {
			panic(p.unexpected(""))
		}
		s.OnConflict = p.onConflict()
	}
	s.Returning = p.returning()
	return s
}

// onConflict reads ON CONFLICT and what is to be done.
func (p *parser) onConflict() *OnConflict {
	p.expectWord(kwOn)
	p.expectWord(kwConflict)
	c := &OnConflict{}
	if p.kind() == tokLParen {
		c.Columns = p.identList("a column name")
		if p.word() == kwWhere {
			panic(p.unsupported("ON CONFLICT over a partial index"))
		}
	} else if p.word() == kwOn {
		panic(p.unsupported("ON CONFLICT ON CONSTRAINT"))
	}
	p.expectWord(kwDo)
	if p.acceptWord(kwNothing) {
		c.DoNothing = true
		return c
	}
	p.expectWord(kwUpdate)
	p.expectWord(kwSet)
	c.Set = p.assignments()
	if p.acceptWord(kwWhere) {
		c.Where = p.expr()
	}
	return c
}

// assignments reads column = value, ...; (a, b) = (x, y) is two of them.
func (p *parser) assignments() []Assignment {
	var list []Assignment
	for {
		if p.kind() == tokLParen {
			list = append(list, p.rowAssignment()...)
		} else {
			a := Assignment{Column: p.ident("a column name")}
			if p.kind() == tokDot {
				panic(p.unexpected(`"=": the column of SET takes no table name`))
			}
			p.expect(tokEq)
			a.Value = p.expr()
			list = append(list, a)
		}
		if !p.accept(tokComma) {
			return list
		}
	}
}

func (p *parser) rowAssignment() []Assignment {
	columns := p.identList("a column name")
	p.expect(tokEq)
	e := p.expr()
	values := []Expr{e}
	switch e := e.(type) {
	case *Row:
		values = e.Exprs
	case *Subquery:
		values = fieldsOf(e, columns)
	}
	if len(values) != len(columns) {
		panic(failAt(e.Start(), sqltype.CodeSyntax, "number of columns (%d) does not match number of values (%d)",
			len(columns), len(values)))
	}
	list := make([]Assignment, len(columns))
	for i := range columns {
		list[i] = Assignment{columns[i], values[i]}
	}
	return list
}

// fieldsOf are the columns of a subquery that gives one row, a subquery each.
func fieldsOf(e *Subquery, columns []Ident) []Expr {
	if s, ok := e.Query.Body.(*Select); len(columns) == 1 || ok && len(s.Items) != len(columns) && !hasStar(s.Items) {
		return []Expr{e}
	}
	row := Ident{Name: "assigned", Pos: e.Pos}
	values := make([]Expr, len(columns))
	for i, c := range columns {
		field := SelectItem{Expr: &ColumnRef{Name{[]Ident{c}}}}
		from := &DerivedTable{Query: e.Query, Alias: &row, Columns: columns, Pos: e.Pos}
		values[i] = &Subquery{Query: &Query{Body: &Select{Items: []SelectItem{field}, From: []TableExpr{from}, Pos: e.Pos}, Pos: e.Pos}, Pos: e.Pos}
	}
	return values
}

func hasStar(items []SelectItem) bool {
	return slices.ContainsFunc(items, func(i SelectItem) bool { _, ok := i.Expr.(*Star); return ok })
}

func (p *parser) returning() []SelectItem {
	if !p.acceptWord(kwReturning) {
		return nil
	}
	return p.selectItems()
}

// update reads UPDATE, after its WITH.
func (p *parser) update(w withClause) *Update {
	s := &Update{With: w.list, Recursive: w.recursive, Pos: p.advance().start}
	s.Table = p.name("a table name")
	s.Alias = p.targetAlias()
	p.expectWord(kwSet)
	s.Set = p.assignments()
	if p.word() == kwFrom {
		s.From = p.from()
	}
	if p.acceptWord(kwWhere) {
		s.Where = p.expr()
	}
	s.Returning = p.returning()
	return s
}

// delete reads DELETE FROM, after its WITH.
func (p *parser) delete(w withClause) *Delete {
	s := &Delete{With: w.list, Recursive: w.recursive, Pos: p.advance().start}
	p.expectWord(kwFrom)
	s.Table = p.name("a table name")
	s.Alias = p.targetAlias()
	if p.acceptWord(kwUsing) {
		s.Using = p.tableList()
	}
	if p.acceptWord(kwWhere) {
		s.Where = p.expr()
	}
	s.Returning = p.returning()
	return s
}

// targetAlias reads the alias of the table that a statement changes.
func (p *parser) targetAlias() *Ident {
	switch {
	case p.acceptWord(kwAs):
		alias := p.ident("an alias")
		return &alias
	case p.isTableAlias():
		alias := p.identOf(p.advance())
		return &alias
	}
	p.indexHint()
	return nil
}
