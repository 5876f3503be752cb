package parser

// Pivot makes columns of values: for each value of On a column, or several, of
// the aggregates Using over the rows that have it. Of no GroupBy the rows are
// grouped by all columns that are not named.
type Pivot struct {
	Table   TableExpr
	On      []PivotOn
	Using   []SelectItem
	GroupBy []Expr
	Alias   *Ident
	Columns []Ident
	Pos     Pos
}

// PivotOn is the values of an expression that columns are made of; with All
// those that the table has.
type PivotOn struct {
	Expr   Expr
	Values []SelectItem
	All    bool
}

// Unpivot makes rows of columns: for each row and each entry of On one with the
// entry's name in Name and its columns in Values. Where all are NULL there is no
// row, unless Nulls is set.
type Unpivot struct {
	Table   TableExpr
	On      []UnpivotOn
	Name    Ident
	Values  []Ident
	Nulls   bool
	Alias   *Ident
	Columns []Ident
	Pos     Pos
}

// UnpivotOn is an entry of UNPIVOT: as many columns as there are values, or one
// expression that stands for several entries.
type UnpivotOn struct {
	Exprs []Expr
	Label *Ident
}

func (*Pivot) tableExpr()   {}
func (*Unpivot) tableExpr() {}

// Start implements TableExpr.
func (t *Pivot) Start() Pos { return t.Pos }

// Start implements TableExpr.
func (t *Unpivot) Start() Pos { return t.Pos }

// isPivotQuery reports the statement PIVOT t ON ... or UNPIVOT t ON ...: the
// words are names elsewhere.
func (p *parser) isPivotQuery() bool {
	if !p.isText("pivot") && !p.isText("unpivot") {
		return false
	}
	switch t := p.ahead(1); {
	case t.kind == tokLParen, t.kind == tokString:
		return true
	default:
		return isName(t) && !sameWord(p.textOf(t), "on")
	}
}

// isPivot reports PIVOT ( or UNPIVOT ( after a table.
func (p *parser) isPivot() bool {
	next := p.ahead(1)
	switch {
	case p.isText("pivot"):
		return next.kind == tokLParen
	case p.isText("unpivot"):
		return next.kind == tokLParen || p.ahead(2).word == kwNulls
	}
	return false
}

// pivotQuery reads PIVOT t ON ... USING ... GROUP BY ..., or UNPIVOT t ON ...,
// as a query of all its columns.
func (p *parser) pivotQuery() QueryBody {
	start := p.pos()
	pivot := p.isText("pivot")
	p.at++
	table := p.pivoted(p.sampled(p.tableOperand()))
	for j := p.join(table); j != nil; j = p.join(table) {
		table = j
	}
	p.expectWord(kwOn)
	var from TableExpr
	if pivot {
		t := &Pivot{Table: table, Pos: start}
		for {
			t.On = append(t.On, p.pivotOn())
			if !p.accept(tokComma) {
				break
			}
		}
		if p.acceptWord(kwUsing) {
			t.Using = p.selectItems()
		} else {
			count := callOf("count", start)
			count.Star = true
			t.Using = []SelectItem{{Expr: count}}
		}
		t.GroupBy = p.pivotGroups()
		from = t
	} else {
		t := &Unpivot{Table: table, Pos: start, Name: Ident{Name: "name"}, Values: []Ident{{Name: "value"}}}
		t.On = p.unpivotList()
		if p.acceptWord(kwInto) {
			if !p.acceptText("name") {
				panic(p.unexpected("NAME"))
			}
			t.Name = p.ident("a column name")
			if !p.acceptText("value") {
				panic(p.unexpected("VALUE"))
			}
			t.Values = p.identifiers("a column name")
		}
		t.Nulls = p.nulls()
		from = t
	}
	return &Select{Items: []SelectItem{{Expr: &Star{Pos: start}}}, From: []TableExpr{from}, Pos: start}
}

// nulls reads INCLUDE NULLS or EXCLUDE NULLS.
func (p *parser) nulls() bool {
	if p.word() == kwExclude && p.ahead(1).word == kwNulls {
		p.at += 2
		return false
	}
	if p.word() == kwInclude && p.ahead(1).word == kwNulls {
		p.at += 2
		return true
	}
	return false
}

// pivotOn reads an expression with IN and its values.
func (p *parser) pivotOn() PivotOn {
	e := p.exprAbove(precLike)
	on := PivotOn{Expr: e, All: true}
	if !p.acceptWord(kwIn) {
		return on
	}
	on.All = false
	p.expect(tokLParen)
	on.Values = p.selectItems()
	p.expect(tokRParen)
	return on
}

func (p *parser) pivotGroups() []Expr {
	if !p.acceptWords(kwGroup, kwBy) {
		return nil
	}
	list := []Expr{p.expr()}
	for p.accept(tokComma) {
		list = append(list, p.expr())
	}
	return list
}

// unpivotList reads the entries of UNPIVOT.
func (p *parser) unpivotList() []UnpivotOn {
	var list []UnpivotOn
	for {
		e := p.expr()
		on := UnpivotOn{Exprs: []Expr{e}}
		if r, ok := e.(*Row); ok {
			on.Exprs = r.Exprs
		}
		on.Label = p.selectAlias()
		list = append(list, on)
		if !p.accept(tokComma) {
			return list
		}
	}
}

// pivoted reads the PIVOT ( and UNPIVOT ( after a table.
func (p *parser) pivoted(t TableExpr) TableExpr {
	for n := 0; p.isPivot(); n++ {
		p.chain(n)
		if p.isText("pivot") {
			t = p.pivotParen(t)
		} else {
			t = p.unpivotParen(t)
		}
	}
	return t
}

// pivotParen reads PIVOT (aggregates FOR column IN (values) ... [GROUP BY ...]).
func (p *parser) pivotParen(table TableExpr) TableExpr {
	t := &Pivot{Table: table, Pos: p.advance().start}
	p.expect(tokLParen)
	t.Using = p.selectItems()
	p.expectWord(kwFor)
	for {
		t.On = append(t.On, p.pivotOn())
		if p.kind() == tokRParen || p.word() == kwGroup {
			break
		}
	}
	t.GroupBy = p.pivotGroups()
	p.expect(tokRParen)
	t.Alias, t.Columns = p.tableAlias()
	return t
}

// unpivotParen reads UNPIVOT [INCLUDE NULLS] (values FOR name IN (columns)).
func (p *parser) unpivotParen(table TableExpr) TableExpr {
	t := &Unpivot{Table: table, Pos: p.advance().start}
	t.Nulls = p.nulls()
	p.expect(tokLParen)
	if p.kind() == tokLParen {
		t.Values = p.identList("a column name")
	} else {
		t.Values = []Ident{p.ident("a column name")}
	}
	p.expectWord(kwFor)
	t.Name = p.ident("a column name")
	p.expectWord(kwIn)
	p.expect(tokLParen)
	t.On = p.unpivotList()
	p.expect(tokRParen)
	p.expect(tokRParen)
	t.Alias, t.Columns = p.tableAlias()
	return t
}

// ---- formatting ----

func (f *formatter) pivot(t *Pivot) {
	f.table(t.Table)
	f.text(" PIVOT ")
	f.paren(func() {
		f.items(t.Using)
		f.text(" FOR")
		for _, on := range t.On {
			f.text(" ")
			f.exprFrom(on.Expr, precOther)
			if !on.All {
				f.text(" IN ")
				f.paren(func() { f.items(on.Values) })
			}
		}
		if t.GroupBy != nil {
			f.text(" GROUP BY ")
			f.exprs(t.GroupBy)
		}
	})
	f.tableAlias(t.Alias, t.Columns)
}

func (f *formatter) unpivot(t *Unpivot) {
	f.table(t.Table)
	f.text(" UNPIVOT ")
	f.when(t.Nulls, "INCLUDE NULLS ")
	f.paren(func() {
		f.idents(t.Values)
		f.text(" FOR ")
		f.ident(t.Name)
		f.text(" IN ")
		f.paren(func() {
			f.list(len(t.On), func(i int) {
				on := &t.On[i]
				if len(on.Exprs) == 1 {
					f.expr(on.Exprs[0])
				} else {
					f.paren(func() { f.exprs(on.Exprs) })
				}
				f.alias(on.Label)
			})
		})
	})
	f.tableAlias(t.Alias, t.Columns)
}
