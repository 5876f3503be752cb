package parser

// merge reads MERGE INTO, after its WITH.
func (p *parser) merge(w withClause) *Merge {
	s := &Merge{With: w.list, Recursive: w.recursive, Pos: p.advance().start}
	p.expectWord(kwInto)
	s.Table = p.name("a table name")
	s.Alias = p.targetAlias()
	p.expectWord(kwUsing)
	s.Source = p.tableOperand()
	switch {
	case p.acceptWord(kwOn):
		s.On = p.expr()
	case p.acceptWord(kwUsing):
		s.Using = p.identList("a column name")
	default:
		panic(p.unexpected("ON or USING"))
	}
	for p.word() == kwWhen {
		s.Whens = append(s.Whens, p.mergeWhen())
	}
	if s.Whens == nil {
		panic(p.unexpected("WHEN"))
	}
	s.Returning = p.returning()
	return s
}

// mergeWhen reads one WHEN with its action.
func (p *parser) mergeWhen() MergeWhen {
	w := MergeWhen{Pos: p.advance().start}
	not := p.acceptWord(kwNot)
	if !p.acceptText("matched") {
		panic(p.unexpected("MATCHED"))
	}
	if not {
		w.Match = NotMatched
		if p.acceptWord(kwBy) {
			switch {
			case p.acceptText("source"):
				w.Match = NotMatchedBySource
			case p.acceptText("target"):
			default:
				panic(p.unexpected("SOURCE or TARGET"))
			}
		}
	}
	if p.acceptWord(kwAnd) {
		w.Cond = p.expr()
	}
	p.expectWord(kwThen)
	switch {
	case p.acceptWords(kwDo, kwNothing):
		w.Action = "DO NOTHING"
	case w.Match == NotMatched && p.acceptWord(kwInsert):
		w.Action = "INSERT"
		p.mergeInsert(&w)
	case w.Match != NotMatched && p.acceptWord(kwUpdate):
		w.Action = "UPDATE"
		p.expectWord(kwSet)
		w.Set = p.assignments()
	case w.Match != NotMatched && p.acceptWord(kwDelete):
		w.Action = "DELETE"
	case w.Match == NotMatched:
		panic(p.unexpected("INSERT or DO NOTHING"))
	default:
		panic(p.unexpected("UPDATE, DELETE or DO NOTHING"))
	}
	return w
}

func (p *parser) mergeInsert(w *MergeWhen) {
	if p.kind() == tokLParen {
		w.Columns = p.identList("a column name")
	}
	if w.Columns == nil && p.acceptWords(kwDefault, kwValues) {
		return
	}
	p.expectWord(kwValues)
	p.expect(tokLParen)
	w.Values = p.exprList()
	p.expect(tokRParen)
}
