package parser

// drop reads DROP TABLE, INDEX, VIEW and so on.
func (p *parser) drop() Statement {
	d := &Drop{Pos: p.advance().start}
	switch w := p.word(); {
	case w == kwTable, w == kwIndex, w == kwView, w == kwSchema, w == kwType:
		d.Kind = p.advance().word.String()
	case p.acceptText("sequence"):
		d.Kind = "SEQUENCE"
	case p.acceptText("function"):
		return p.dropFunction(&DropFunction{Pos: d.Pos})
	case p.acceptText("macro"):
		return p.dropFunction(&DropFunction{Macro: true, Pos: d.Pos})
	default:
		p.refuseObject("DROP ")
		panic(p.unexpected("TABLE, INDEX, VIEW, SCHEMA, SEQUENCE, TYPE or FUNCTION"))
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

// alter reads ALTER TABLE and VIEW, SEQUENCE and TYPE.
func (p *parser) alter() Statement {
	s := &AlterTable{Pos: p.advance().start}
	switch {
	case p.acceptWord(kwTable):
	case p.acceptWord(kwView):
		s.View = true
	case p.acceptText("sequence"):
		return p.alterSequence(s.Pos)
	case p.acceptWord(kwType):
		return p.alterType(s.Pos)
	default:
		panic(p.unexpected("TABLE, VIEW, SEQUENCE or TYPE"))
	}
	s.IfExists = p.acceptWords(kwIf, kwExists)
	s.Name = p.name("a table name")
	for {
		s.Actions = append(s.Actions, p.alterAction())
		if !p.accept(tokComma) {
			return s
		}
	}
}

func (p *parser) alterAction() AlterAction {
	switch {
	case p.acceptWord(kwAdd):
		return p.addColumn()
	case p.acceptWord(kwDrop):
		return p.dropColumn()
	case p.acceptWord(kwRename):
		return p.rename()
	case p.acceptWord(kwAlter):
		p.acceptWord(kwColumn)
		return p.alterColumn()
	case p.acceptWords(kwSet, kwSchema):
		return AlterAction{Kind: "SET SCHEMA", To: p.ident("a schema's name")}
	}
	panic(p.unexpected("ADD, DROP, RENAME, ALTER or SET SCHEMA"))
}

func (p *parser) addColumn() AlterAction {
	if !p.acceptWord(kwColumn) && p.isTableConstraint() {
		c := p.tableConstraint()
		return AlterAction{Kind: "ADD CONSTRAINT", Constraint: &c}
	}
	a := AlterAction{Kind: "ADD COLUMN", IfExists: p.ifNotExists()}
	c := p.columnDef()
	a.Column = &c
	return a
}

func (p *parser) dropColumn() AlterAction {
	if p.acceptWord(kwConstraint) {
		a := AlterAction{Kind: "DROP CONSTRAINT", IfExists: p.acceptWords(kwIf, kwExists)}
		a.Name = p.ident("a constraint's name")
		a.Cascade = p.cascade()
		return a
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
	if p.acceptWord(kwConstraint) {
		a := AlterAction{Kind: "RENAME CONSTRAINT", Name: p.ident("a constraint's name")}
		p.expectWord(kwTo)
		a.To = p.ident("a constraint's name")
		return a
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
	case p.word() == kwDrop && sameWord(p.textOf(p.ahead(1)), "expression"):
		p.at += 2
		a.Kind, a.IfExists = "DROP EXPRESSION", p.acceptWords(kwIf, kwExists)
	case p.word() == kwDrop && sameWord(p.textOf(p.ahead(1)), "identity"):
		p.at += 2
		a.Kind, a.IfExists = "DROP IDENTITY", p.acceptWords(kwIf, kwExists)
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
