package parser

import "github.com/gpusql/gpusql/sqltype"

// copy reads COPY t|(query) FROM|TO 'file' and its options, in any of the ways
// of writing them: (FORMAT csv, HEADER), ( DELIMITER '|' ), WITH CSV HEADER.
func (p *parser) copy() Statement {
	c := &Copy{Pos: p.advance().start}
	if p.accept(tokLParen) {
		c.Query = p.query()
		p.expect(tokRParen)
	} else {
		name := p.name("a table name or a query in parentheses")
		c.Table = &name
		if p.kind() == tokLParen {
			c.Columns = p.identList("a column name")
		}
	}
	switch {
	case p.acceptWord(kwTo):
		c.To = true
	case p.word() == kwFrom && c.Query == nil:
		p.at++
	case c.Query != nil:
		panic(p.unexpected("TO"))
	default:
		panic(p.unexpected("FROM or TO"))
	}
	if p.isText("stdin") || p.isText("stdout") || p.isText("program") {
		panic(p.unsupported("COPY with " + p.textOf(&p.toks[p.at])))
	}
	c.File = p.stringValue("a file name")
	p.acceptWord(kwWith)
	if p.accept(tokLParen) {
		for {
			c.Options = append(c.Options, p.copyOption())
			if !p.accept(tokComma) {
				break
			}
		}
		p.expect(tokRParen)
		return c
	}
	for p.kind() == tokIdent {
		c.Options = append(c.Options, p.oldOption())
	}
	return c
}

func trueLiteral(pos Pos) *Literal {
	return &Literal{Value: sqltype.NewBool(true), Text: "TRUE", Pos: pos}
}

// copyOption reads name [=] [value]; no value means true.
func (p *parser) copyOption() NamedArg {
	o := NamedArg{Name: p.label("an option")}
	p.accept(tokEq)
	if k := p.kind(); k == tokComma || k == tokRParen {
		o.Value = trueLiteral(o.Name.Pos)
	} else {
		o.Value = p.optionValue()
	}
	return o
}

// oldOption reads an option of the form without parentheses.
func (p *parser) oldOption() NamedArg {
	o := NamedArg{Name: p.label("an option")}
	switch o.Name.Name {
	case "csv", "parquet", "arrow", "json", "text":
		o.Value = stringLiteral(o.Name.Name, o.Name.Pos)
		o.Name.Name = "format"
	case "header":
		o.Value = trueLiteral(o.Name.Pos)
	case "delimiter", "null", "quote", "escape", "format", "compression", "encoding":
		p.acceptWord(kwAs)
		o.Value = p.optionValue()
	default:
		panic(p.unexpectedAt(&p.toks[p.at-1], "an option of COPY"))
	}
	return o
}

// optionValue reads the value of an option: a bare word is a string, several
// values in parentheses are an array.
func (p *parser) optionValue() Expr {
	t := &p.toks[p.at]
	switch {
	case t.kind == tokLParen:
		p.at++
		a := &Array{Pos: t.start}
		for {
			a.Exprs = append(a.Exprs, p.optionValue())
			if !p.accept(tokComma) {
				p.expect(tokRParen)
				return a
			}
		}
	case t.kind == tokStar:
		p.at++
		return &Star{Pos: t.start}
	case t.kind == tokLBracket:
		return p.operand()
	case t.kind == tokIdent && t.word != kwTrue && t.word != kwFalse && t.word != kwNull:
		p.at++
		return stringLiteral(fold(p.textOf(t)), t.start)
	}
	return p.exprAbove(precAdd)
}
