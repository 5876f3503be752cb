package parser

// drop reads DROP TABLE, INDEX, VIEW or SCHEMA.
func (p *parser) drop() Statement {
	d := &Drop{Pos: p.advance().start}
	switch p.word() {
	case kwTable, kwIndex, kwView, kwSchema:
		d.Kind = p.advance().word.String()
	default:
		p.refuseObject("DROP ")
		panic(p.unexpected("TABLE, INDEX, VIEW or SCHEMA"))
	}
	d.IfExists = p.acceptWords(kwIf, kwExists)
	for {
		d.Names = append(d.Names, p.name("a name"))
		if !p.accept(tokComma) {
			break
		}
	}
	d.Cascade = p.cascade()
	return d
}

// cascade reads CASCADE or RESTRICT, the default.
func (p *parser) cascade() bool {
	if p.acceptWord(kwCascade) {
		return true
	}
	p.acceptWord(kwRestrict)
	return false
}

// alter reads ALTER TABLE or VIEW with one action.
func (p *parser) alter() Statement {
	s := &AlterTable{Pos: p.advance().start}
	switch {
	case p.acceptWord(kwTable):
	case p.acceptWord(kwView):
		s.View = true
	default:
		panic(p.unexpected("TABLE or VIEW"))
	}
	s.IfExists = p.acceptWords(kwIf, kwExists)
	s.Name = p.name("a table name")
	switch {
	case p.acceptWord(kwAdd):
		s.Action = p.addColumn()
	case p.acceptWord(kwDrop):
		s.Action = p.dropColumn()
	case p.acceptWord(kwRename):
		s.Action = p.rename()
	case p.acceptWord(kwAlter):
		p.acceptWord(kwColumn)
		s.Action = p.alterColumn()
	default:
		panic(p.unexpected("ADD, DROP, RENAME or ALTER"))
	}
	if p.kind() == tokComma {
		panic(p.unsupported("more than one action of ALTER TABLE"))
	}
	return s
}

func (p *parser) addColumn() AlterAction {
	if !p.acceptWord(kwColumn) && p.isTableConstraint() {
		panic(p.unsupported("ALTER TABLE ADD CONSTRAINT"))
	}
	a := AlterAction{Kind: "ADD COLUMN", IfExists: p.ifNotExists()}
	c := p.columnDef()
	a.Column = &c
	return a
}

func (p *parser) dropColumn() AlterAction {
	if p.word() == kwConstraint {
		panic(p.unsupported("ALTER TABLE DROP CONSTRAINT"))
	}
	p.acceptWord(kwColumn)
	a := AlterAction{Kind: "DROP COLUMN", IfExists: p.acceptWords(kwIf, kwExists)}
	a.Name = p.ident("a column name")
	a.Cascade = p.cascade()
	return a
}

func (p *parser) rename() AlterAction {
	if p.acceptWord(kwTo) {
		return AlterAction{Kind: "RENAME TO", To: p.ident("a table name")}
	}
	p.acceptWord(kwColumn)
	a := AlterAction{Kind: "RENAME COLUMN", Name: p.ident("a column name")}
	p.expectWord(kwTo)
	a.To = p.ident("a column name")
	return a
}

// alterColumn reads what follows ALTER [COLUMN].
func (p *parser) alterColumn() AlterAction {
	a := AlterAction{Name: p.ident("a column name")}
	switch {
	case p.acceptWords(kwSet, kwDefault):
		a.Kind, a.Using = "SET DEFAULT", p.expr()
	case p.acceptWords(kwDrop, kwDefault):
		a.Kind = "DROP DEFAULT"
	case p.acceptWords(kwSet, kwNot, kwNull):
		a.Kind = "SET NOT NULL"
	case p.acceptWords(kwDrop, kwNot, kwNull):
		a.Kind = "DROP NOT NULL"
	case p.acceptWord(kwType), p.acceptWords(kwSet, kwData, kwType), p.acceptWords(kwSet, kwType):
		a.Kind = "SET TYPE"
		a.Column = &ColumnDef{Name: a.Name, Type: p.typeName()}
		if p.acceptWord(kwUsing) {
			a.Using = p.expr()
		}
	default:
		panic(p.unexpected("TYPE, SET or DROP"))
	}
	return a
}
