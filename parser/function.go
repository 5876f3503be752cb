package parser

// createType reads what follows CREATE TYPE.
func (p *parser) createType(s *CreateType) *CreateType {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name("a type's name")
	p.expectWord(kwAs)
	if p.kind() == tokLParen {
		s.Type = &TypeName{Pos: p.pos()}
		s.Type.Fields = p.fieldDefs()
		return s
	}
	if !p.isText("enum") || p.ahead(1).kind != tokLParen {
		t := p.typeName()
		s.Type = &t
		return s
	}
	p.at += 2
	switch {
	case p.isQuery():
		s.Query = p.query()
	case p.kind() != tokRParen:
		for {
			s.Labels = append(s.Labels, p.stringValue("a label"))
			if !p.accept(tokComma) {
				break
			}
		}
	}
	p.expect(tokRParen)
	return s
}

// alterType reads what follows ALTER TYPE.
func (p *parser) alterType(pos Pos) Statement {
	s := &AlterType{Pos: pos, Name: p.name("a type's name")}
	switch {
	case p.acceptWord(kwAdd):
		s.Kind = "ADD VALUE"
		p.value()
		s.IfNotExists = p.ifNotExists()
		s.Value = p.stringValue("a label")
		if s.Before = p.acceptText("before"); s.Before || p.acceptText("after") {
			s.Other = p.stringValue("a label")
		}
	case p.acceptWords(kwRename, kwTo):
		s.Kind, s.To = "RENAME TO", p.ident("a type's name")
	case p.acceptWord(kwRename):
		s.Kind = "RENAME VALUE"
		p.value()
		s.Value = p.stringValue("a label")
		p.expectWord(kwTo)
		s.Other = p.stringValue("a label")
	default:
		panic(p.unexpected("ADD VALUE or RENAME"))
	}
	return s
}

func (p *parser) value() {
	if !p.acceptText("value") {
		panic(p.unexpected("VALUE"))
	}
}

// createFunction reads what follows CREATE FUNCTION and CREATE MACRO. A
// function of DuckDB's, with AS and an expression, is a macro.
func (p *parser) createFunction(s *CreateFunction) *CreateFunction {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name("a function's name")
	p.expect(tokLParen)
	for p.kind() != tokRParen {
		s.Params = append(s.Params, p.funcParam())
		if !p.accept(tokComma) {
			break
		}
	}
	p.expect(tokRParen)
	if p.word() == kwAs && p.ahead(1).kind != tokString && p.ahead(1).kind != tokDollar && p.ahead(1).kind != tokEscaped {
		s.Macro = true
	}
	if s.Macro {
		p.macroBody(s)
		return s
	}
	p.functionBody(s)
	return s
}

// funcParam reads [IN] [name] [type] [DEFAULT value]. One word alone is a type,
// or a macro's parameter: the statement's kind decides, when it is known.
func (p *parser) funcParam() FuncParam {
	if p.word() == kwIn && p.ahead(1).kind != tokComma {
		p.at++
	}
	var f FuncParam
	ends := func(t *token) bool {
		return t.kind == tokComma || t.kind == tokRParen || t.kind == tokEq || t.kind == tokAssign || t.word == kwDefault
	}
	switch {
	case ends(p.ahead(1)):
		f.Name = p.ident("a parameter")
	case isName(p.ahead(1)) && !joinsType(fold(p.textOf(p.ahead(0))), p.textOf(p.ahead(1))):
		f.Name = p.ident("a parameter")
		t := p.typeName()
		f.Type = &t
	default:
		t := p.typeName()
		f.Type = &t
	}
	if p.acceptWord(kwDefault) || p.accept(tokEq) || p.accept(tokAssign) {
		f.Default = p.expr()
	}
	return f
}

// macroBody reads AS expression or AS TABLE query.
func (p *parser) macroBody(s *CreateFunction) {
	outer := p.params
	defer func() { p.params = outer }()
	p.expectWord(kwAs)
	if p.word() == kwTable {
		p.at++
		if p.kind() == tokLParen {
			p.at++
			s.Query = p.query()
			p.expect(tokRParen)
		} else {
			s.Query = p.query()
		}
		return
	}
	s.Return = p.bodyExpr()
}

// bodyExpr reads an expression in which $1 is a parameter of the function, and
// not of the statement.
func (p *parser) bodyExpr() Expr {
	outer := p.params
	defer func() { p.params = outer }()
	return p.expr()
}

// functionBody reads RETURNS, LANGUAGE and the rest in any order. The names of
// parameters without a type are types.
func (p *parser) functionBody(s *CreateFunction) {
	for i := range s.Params {
		if f := &s.Params[i]; f.Type == nil {
			t := p.typeOfWord(f.Name)
			f.Name, f.Type = Ident{}, &t
		}
	}
	for p.functionOption(s) {
	}
	if s.Text == nil && s.Return == nil {
		panic(p.unexpected("AS and a body, or RETURN"))
	}
}

func (p *parser) functionOption(s *CreateFunction) bool {
	switch {
	case p.acceptText("returns"):
		switch {
		case p.acceptWords(kwNull, kwOn, kwNull):
			p.ident("INPUT")
			s.Strict = true
		case p.acceptWord(kwTable):
			p.expect(tokLParen)
			for {
				c := ColumnDef{Name: p.ident("a column name")}
				c.Type = p.typeName()
				s.Table = append(s.Table, c)
				if !p.accept(tokComma) {
					break
				}
			}
			p.expect(tokRParen)
		default:
			s.SetOf = p.acceptText("setof")
			t := p.typeName()
			s.Returns = &t
		}
	case p.acceptText("language"):
		if !p.acceptText("sql") {
			panic(p.unsupported("a function in another language than SQL"))
		}
	case p.acceptText("immutable"), p.acceptText("stable"), p.acceptText("volatile"), p.acceptText("leakproof"):
	case p.acceptText("parallel"):
		p.ident("SAFE or UNSAFE")
	case p.acceptText("cost"):
		p.integer("a number")
	case p.acceptText("strict"):
		s.Strict = true
	case p.isText("called"):
		p.at++
		p.expectWord(kwOn)
		p.expectWord(kwNull)
		p.ident("INPUT")
	case p.acceptText("return"):
		s.Return = p.bodyExpr()
	case p.word() == kwAs && s.Text == nil:
		p.at++
		text := p.stringValue("the body")
		s.Text = &text
	default:
		return false
	}
	return true
}

// dropFunction reads what follows DROP FUNCTION and DROP MACRO.
func (p *parser) dropFunction(s *DropFunction) Statement {
	p.acceptWord(kwTable) // DROP MACRO TABLE
	s.IfExists = p.acceptWords(kwIf, kwExists)
	for {
		f := FuncName{Name: p.name("a function's name")}
		if p.accept(tokLParen) {
			f.Typed = true
			for p.kind() != tokRParen {
				if a := p.funcParam(); a.Type != nil {
					f.Types = append(f.Types, *a.Type)
				} else {
					f.Types = append(f.Types, p.typeOfWord(a.Name))
				}
				if !p.accept(tokComma) {
					break
				}
			}
			p.expect(tokRParen)
		}
		s.Names = append(s.Names, f)
		if !p.accept(tokComma) {
			break
		}
	}
	s.Cascade = p.cascade()
	return s
}
