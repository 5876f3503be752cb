package parser

import "github.com/gpusql/gpusql/sqltype"

// from reads FROM and its entries.
func (p *parser) from() []TableExpr {
	p.expectWord(kwFrom)
	return p.tableList()
}

func (p *parser) tableList() []TableExpr {
	list := []TableExpr{p.table()}
	for p.accept(tokComma) {
		list = append(list, p.table())
	}
	return list
}

// table reads a table with the joins after it.
func (p *parser) table() TableExpr {
	left := p.pivoted(p.sampled(p.tableOperand()))
	for n := 0; ; n++ {
		j := p.join(left)
		if j == nil {
			return left
		}
		p.chain(n)
		left = j
	}
}

// join reads one join after left; nil when none is next.
func (p *parser) join(left TableExpr) TableExpr {
	j := &Join{Left: left, Pos: p.pos()}
	if !p.joinKind(j) {
		return nil
	}
	j.Right = p.pivoted(p.sampled(p.tableOperand()))
	if j.Kind == CrossJoin || j.Kind == PositionalJoin || j.Natural {
		return j
	}
	// a JOIN b JOIN c ON .. ON ..: the inner ON comes first.
	for p.word() != kwOn && p.word() != kwUsing && p.isConditionalJoin() {
		p.enter()
		j.Right = p.join(j.Right)
		p.leave()
	}
	switch {
	case p.acceptWord(kwOn):
		j.On = p.expr()
	case p.acceptWord(kwUsing):
		j.Using = p.identList("a column name")
	default:
		panic(p.unexpected("ON or USING"))
	}
	return j
}

// isConditionalJoin reports that a join with a condition is next.
func (p *parser) isConditionalJoin() bool {
	switch p.word() {
	case kwJoin, kwInner, kwLeft, kwRight, kwFull:
		return true
	}
	return p.isJoinWord() && !p.isText("positional")
}

// joinKind reads the words of a join into j; false when there are none.
func (p *parser) joinKind(j *Join) bool {
	if p.acceptWords(kwCross, kwJoin) {
		j.Kind = CrossJoin
		return true
	}
	if p.isJoinWord() {
		switch t := p.advance(); fold(p.textOf(t)) {
		case "positional":
			j.Kind = PositionalJoin
		case "semi":
			j.Kind = SemiJoin
		case "anti":
			j.Kind = AntiJoin
		case "asof":
			j.Asof = true
		}
		if !j.Asof {
			p.expectWord(kwJoin)
			return true
		}
	}
	j.Natural = !j.Asof && p.acceptWord(kwNatural)
	switch p.word() {
	case kwJoin:
		p.at++
		return true
	case kwInner:
		p.at++
	case kwLeft, kwRight, kwFull:
		j.Kind = outerJoin(p.advance().word)
		p.acceptWord(kwOuter)
	default:
		if j.Natural {
			panic(p.unexpected("JOIN"))
		}
		return false
	}
	p.expectWord(kwJoin)
	return true
}

// isJoinWord reports a word that begins a join here, and is a name elsewhere.
func (p *parser) isJoinWord() bool {
	t := &p.toks[p.at]
	if t.kind != tokIdent || t.word != kwNone {
		return false
	}
	next := p.ahead(1).word
	switch fold(p.textOf(t)) {
	case "semi", "anti", "positional":
		return next == kwJoin
	case "asof":
		return next == kwJoin || next == kwInner || next == kwLeft || next == kwRight || next == kwFull
	}
	return false
}

func outerJoin(word keyword) JoinKind {
	switch word {
	case kwLeft:
		return LeftJoin
	case kwRight:
		return RightJoin
	}
	return FullJoin
}

// tableOperand reads an entry of FROM without joins.
func (p *parser) tableOperand() TableExpr {
	t := &p.toks[p.at]
	lateral := p.acceptWord(kwLateral)
	switch n := &p.toks[p.at]; {
	case n.kind == tokLParen:
		return p.tableParen(t.start, lateral)
	case n.kind == tokString && !lateral:
		p.at++
		ref := &TableRef{File: p.unquote(n), Pos: n.start}
		if ref.File == "" {
			panic(failAt(n.start, sqltype.CodeSyntax, "a file name cannot be empty"))
		}
		ref.Alias, ref.Columns = p.tableAlias()
		return ref
	case n.word == kwValues && p.ahead(1).kind == tokLParen:
		p.at++
		q := &Query{Body: p.values(n.start), Pos: n.start}
		return p.derived(q, t.start, lateral)
	}
	pos := p.pos()
	name := p.name("a table name")
	if p.kind() == tokLParen {
		f := &FuncTable{Call: p.call(name, pos), Lateral: lateral, Pos: t.start}
		if p.word() == kwWith && sameWord(p.textOf(p.ahead(1)), "ordinality") {
			p.at += 2
			f.Ordinality = true
		}
		f.Alias, f.Columns = p.tableAlias()
		return f
	}
	if lateral {
		panic(p.unexpected(`"("`))
	}
	ref := &TableRef{Name: name, Pos: pos, AsOf: p.asOf()}
	ref.Alias, ref.Columns = p.tableAlias()
	p.indexHint()
	return ref
}

// asOf reads AS OF VERSION n and AS OF TIMESTAMP t, if that is next. An alias "of"
// is not followed by either word.
func (p *parser) asOf() *AsOf {
	if p.word() != kwAs || !sameWord(p.textOf(p.ahead(1)), "of") {
		return nil
	}
	what := p.textOf(p.ahead(2))
	a := &AsOf{Pos: p.pos(), Time: sameWord(what, "timestamp")}
	if !a.Time && !sameWord(what, "version") {
		return nil
	}
	p.at += 3
	a.At = p.expr()
	return a
}

// indexHint passes SQLite's hints: the planner chooses indexes itself.
func (p *parser) indexHint() {
	if p.acceptWords(kwNot, kwIndexed) {
		return
	}
	if p.acceptWords(kwIndexed, kwBy) {
		p.ident("an index name")
	}
}

// tableParen reads a parenthesised query or join.
func (p *parser) tableParen(start Pos, lateral bool) TableExpr {
	p.enter()
	defer p.leave()
	open := p.advance()
	if p.isQuery() {
		q := p.query()
		p.expect(tokRParen)
		return p.derived(q, start, lateral)
	}
	t := p.table()
	d, ok := t.(*DerivedTable)
	bare := ok && d.Alias == nil && p.text[d.Pos] == '('
	if bare && p.isQueryTail() {
		// What looked like a table was the first operand of a query.
		d.Query = p.queryFrom(d.Query)
	}
	p.expect(tokRParen)
	if bare {
		return p.derived(d.Query, start, lateral)
	}
	if lateral {
		panic(failAt(open.start, sqltype.CodeSyntax, "LATERAL stands before a query or a function"))
	}
	if p.word() == kwAs || p.isTableAlias() {
		// The alias hides the names within, as that of a query does.
		all := SelectItem{Expr: &Star{Pos: start}}
		return p.derived(&Query{Body: &Select{Items: []SelectItem{all}, From: []TableExpr{t}, Pos: start}, Pos: start}, start, false)
	}
	return t
}

// derived makes a table of a query, with its alias.
func (p *parser) derived(q *Query, start Pos, lateral bool) TableExpr {
	d := &DerivedTable{Query: q, Lateral: lateral, Pos: start}
	d.Alias, d.Columns = p.tableAlias()
	return d
}

// isTableAlias reports an alias without AS; INDEXED BY, ASOF JOIN and PIVOT ( are none.
func (p *parser) isTableAlias() bool {
	return p.isAlias() && !(p.word() == kwIndexed && p.ahead(1).word == kwBy) && !p.isJoinWord() && !p.isPivot()
}

// tableAlias reads [AS] alias [(columns)].
func (p *parser) tableAlias() (*Ident, []Ident) {
	var alias Ident
	switch {
	case p.acceptWord(kwAs):
		alias = p.ident("an alias")
	case p.isTableAlias():
		alias = p.identOf(p.advance())
	default:
		return nil, nil
	}
	var columns []Ident
	if p.kind() == tokLParen {
		columns = p.identList("a column name")
	}
	return &alias, columns
}

// sampled reads TABLESAMPLE after a table, if it is next.
func (p *parser) sampled(t TableExpr) TableExpr {
	if p.word() != kwTablesample {
		return t
	}
	s := &Sampled{Table: t, Pos: p.advance().start}
	p.sample(s)
	return s
}

// sample reads method (size) [REPEATABLE (seed)], and DuckDB's 10% and 10 ROWS.
func (p *parser) sample(s *Sampled) {
	s.Method = "system"
	if p.kind() != tokLParen && isName(&p.toks[p.at]) {
		p.sampleMethod(s)
	}
	s.Rows = s.Method == "reservoir"
	paren := p.accept(tokLParen)
	s.Size = p.exprAbove(precMul)
	switch {
	case p.accept(tokPercent), p.acceptText("percent"):
		s.Rows = false
	case p.acceptWord(kwRows):
		s.Rows = true
	}
	if paren {
		p.expect(tokRParen)
	} else if p.accept(tokLParen) { // as DuckDB writes it: 10% (bernoulli, 42)
		p.sampleMethod(s)
		if p.accept(tokComma) {
			s.Seed = p.expr()
		}
		p.expect(tokRParen)
	}
	if p.acceptText("repeatable") {
		p.expect(tokLParen)
		s.Seed = p.expr()
		p.expect(tokRParen)
	}
}

func (p *parser) sampleMethod(s *Sampled) {
	t := &p.toks[p.at]
	s.Method = fold(p.label("a method").Name)
	if s.Method != "bernoulli" && s.Method != "system" && s.Method != "reservoir" {
		panic(failAt(t.start, sqltype.CodeUndefinedObject, "tablesample method %s does not exist", s.Method))
	}
}
