package parser

import (
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// operand reads an expression that no operator stands before: a constant, a
// name, a call, something in parentheses.
func (p *parser) operand() Expr {
	t := &p.toks[p.at]
	switch t.kind {
	case tokNumber:
		p.at++
		v, ok := parseNumber(p.textOf(t))
		if !ok {
			panic(failAt(t.start, sqltype.CodeOutOfRange, "number %s is out of range", shorten(p.textOf(t))))
		}
		return &Literal{Value: v, Text: p.textOf(t), Pos: t.start}
	case tokString, tokEscaped, tokDollar:
		return p.stringOperand()
	case tokHex:
		p.at++
		v := sqltype.Datum{Type: sqltype.Blob, S: p.unquote(t)}
		return &Literal{Value: v, Text: p.textOf(t), Pos: t.start}
	case tokMark, tokParam:
		return p.param()
	case tokLParen:
		return p.paren()
	case tokLBracket:
		p.at++
		return p.listOperand(t.start)
	case tokLBrace:
		return p.structOperand()
	case tokStar:
		p.at++
		return p.star(&Star{Pos: t.start})
	case tokQuoted:
		return p.nameOperand()
	case tokIdent:
		if e := p.wordOperand(t); e != nil {
			return e
		}
	}
	panic(p.unexpected(""))
}

// stringOperand reads a string constant; two that only a line break separates
// are one, as the standard has it.
func (p *parser) stringOperand() Expr {
	t := p.advance()
	s, end := p.unquote(t), t.end
	if p.continuesString(t, end) {
		var b strings.Builder
		b.WriteString(s)
		for p.continuesString(t, end) {
			n := p.advance()
			b.WriteString(p.unquote(n))
			end = n.end
		}
		s = b.String()
	}
	return &Literal{Value: sqltype.NewString(s), Untyped: true, Text: p.text[t.start:end], Pos: t.start}
}

// continuesString reports that the current token is more of the string t, of
// which end is the end so far.
func (p *parser) continuesString(t *token, end Pos) bool {
	n := &p.toks[p.at]
	return t.kind == tokString && n.kind == tokString && strings.IndexByte(p.text[end:n.start], '\n') >= 0
}

func stringLiteral(s string, pos Pos) *Literal {
	return &Literal{Value: sqltype.NewString(s), Untyped: true, Text: s, Pos: pos}
}

func callOf(name string, pos Pos, args ...Expr) *Call {
	return &Call{Name: Name{[]Ident{{Name: name, Pos: pos}}}, Args: args, Pos: pos}
}

// paren reads what stands in parentheses: a query, an expression or a row.
func (p *parser) paren() Expr {
	open := p.advance()
	if p.isQuery() {
		q := p.query()
		p.expect(tokRParen)
		return &Subquery{Query: q, Pos: open.start}
	}
	e := p.parenthesised()
	if p.accept(tokRParen) {
		return e
	}
	row := &Row{Exprs: []Expr{e}, Pos: open.start}
	for p.accept(tokComma) {
		row.Exprs = append(row.Exprs, p.expr())
	}
	p.expect(tokRParen)
	return row
}

// exprsUntil reads expressions separated by commas, none perhaps, and the
// token that ends them.
func (p *parser) exprsUntil(end tokenKind) []Expr {
	if p.accept(end) {
		return nil
	}
	list := p.exprList()
	p.expect(end)
	return list
}

// listOperand reads what follows [: elements, the last perhaps with a comma, or
// x FOR y IN list IF condition, which is list_transform(list_filter(list, y ->
// condition), y -> x).
func (p *parser) listOperand(pos Pos) Expr {
	a := &Array{Pos: pos}
	for !p.accept(tokRBracket) {
		a.Exprs = append(a.Exprs, p.expr())
		if len(a.Exprs) == 1 && p.acceptWord(kwFor) {
			return p.comprehension(a.Exprs[0], pos)
		}
		if !p.accept(tokComma) {
			p.expect(tokRBracket)
			break
		}
	}
	return a
}

func (p *parser) comprehension(x Expr, pos Pos) Expr {
	params := []Ident{p.ident("a name")}
	for p.accept(tokComma) {
		params = append(params, p.ident("a name"))
	}
	p.expectWord(kwIn)
	list := p.expr()
	if p.acceptText("if") {
		list = callOf("list_filter", pos, list, lambdaOf(params, p.expr(), pos))
	}
	p.expect(tokRBracket)
	return callOf("list_transform", pos, list, lambdaOf(params, x, pos))
}

// lambdaOf is x -> body, or (x, i) -> body.
func lambdaOf(params []Ident, body Expr, pos Pos) Expr {
	names := make([]Expr, len(params))
	for i, name := range params {
		names[i] = &ColumnRef{Name{[]Ident{name}}}
	}
	left := names[0]
	if len(names) > 1 {
		left = &Row{Exprs: names, Pos: pos}
	}
	return &Binary{Op: "->", L: left, R: body, Pos: pos}
}

// lambda reads LAMBDA x, i: body, which is another way to write (x, i) -> body;
// nil when that is not next.
func (p *parser) lambda() Expr {
	if !p.isText("lambda") || !isName(p.ahead(1)) || p.ahead(2).kind != tokColon && p.ahead(2).kind != tokComma {
		return nil
	}
	pos := p.advance().start
	params := []Ident{p.ident("a name")}
	for p.accept(tokComma) {
		params = append(params, p.ident("a name"))
	}
	p.expect(tokColon)
	return lambdaOf(params, p.expr(), pos)
}

// mapOperand reads the entries of MAP {key: value, ...} as map([key], [value]).
func (p *parser) mapOperand(pos Pos) Expr {
	p.expect(tokLBrace)
	keys, values := &Array{Pos: pos}, &Array{Pos: pos}
	for !p.accept(tokRBrace) {
		keys.Exprs = append(keys.Exprs, p.expr())
		p.expect(tokColon)
		values.Exprs = append(values.Exprs, p.expr())
		if !p.accept(tokComma) {
			p.expect(tokRBrace)
			break
		}
	}
	return callOf("map", pos, keys, values)
}

// exprList reads one or more expressions separated by commas.
func (p *parser) exprList() []Expr {
	list := []Expr{p.expr()}
	for p.accept(tokComma) {
		list = append(list, p.expr())
	}
	return list
}

// wordOperand reads an operand that begins with a word; nil when the word
// cannot begin one.
func (p *parser) wordOperand(t *token) Expr {
	switch t.word {
	case kwNone:
		return p.nameOperand()
	case kwNull:
		p.at++
		return &Literal{Value: sqltype.NullOf(sqltype.Null), Text: p.textOf(t), Pos: t.start}
	case kwTrue, kwFalse:
		p.at++
		return &Literal{Value: sqltype.NewBool(t.word == kwTrue), Text: p.textOf(t), Pos: t.start}
	case kwCase:
		return p.caseExpr()
	case kwCast, kwTryCast:
		if p.ahead(1).kind == tokLParen {
			return p.cast()
		}
	case kwDefault:
		p.at++
		return &Default{Pos: t.start}
	case kwArray:
		return p.array()
	case kwInterval:
		if e := p.interval(); e != nil {
			return e
		}
	case kwCurrentDate, kwCurrentTime, kwCurrentTimestamp, kwLocaltime, kwLocaltimestamp, kwCurrentUser, kwSessionUser:
		return p.niladic()
	}
	if p.ahead(1).kind == tokLParen {
		if e := p.specialCall(t); e != nil {
			return e
		}
	}
	if keywordInfo[t.word].use == reserved {
		return nil
	}
	return p.nameOperand()
}

// niladic reads a function that is called without parentheses; a precision in
// them says nothing here.
func (p *parser) niladic() Expr {
	t := p.advance()
	if p.accept(tokLParen) {
		if p.kind() != tokRParen {
			p.integer("a precision")
		}
		p.expect(tokRParen)
	}
	return callOf(fold(p.textOf(t)), t.start)
}

// caseExpr reads CASE ... END.
func (p *parser) caseExpr() Expr {
	c := &Case{Pos: p.advance().start}
	if p.word() != kwWhen {
		c.Operand = p.expr()
	}
	for p.acceptWord(kwWhen) {
		cond := p.expr()
		p.expectWord(kwThen)
		c.Whens = append(c.Whens, When{cond, p.expr()})
	}
	if c.Whens == nil {
		panic(p.unexpected("WHEN"))
	}
	if p.acceptWord(kwElse) {
		c.Else = p.expr()
	}
	p.expectWord(kwEnd)
	return c
}

// cast reads CAST(x AS type) and TRY_CAST.
func (p *parser) cast() Expr {
	t := p.advance()
	p.at++
	x := p.expr()
	p.expectWord(kwAs)
	c := &Cast{X: x, Type: p.typeName(), Try: t.word == kwTryCast, Pos: t.start}
	p.expect(tokRParen)
	return c
}

// structOperand reads {'a': 1, b: 2} as struct_pack(a => 1, b => 2).
func (p *parser) structOperand() Expr {
	c := callOf("struct_pack", p.advance().start)
	for {
		t := &p.toks[p.at]
		name := Ident{Pos: t.start, Quoted: true}
		if t.kind == tokString {
			name.Name = p.stringValue("")
		} else {
			name = p.label("a field name")
		}
		p.expect(tokColon)
		c.Named = append(c.Named, NamedArg{name, p.expr()})
		if !p.accept(tokComma) {
			p.expect(tokRBrace)
			return c
		}
		if p.accept(tokRBrace) {
			return c
		}
	}
}

// array reads ARRAY[...], and ARRAY(query) as a call.
func (p *parser) array() Expr {
	t := p.advance()
	if p.accept(tokLParen) {
		if !p.isQuery() {
			panic(p.unexpected("a query"))
		}
		q := p.query()
		p.expect(tokRParen)
		return callOf("array", t.start, &Subquery{Query: q, Pos: t.start})
	}
	if !p.accept(tokLBracket) {
		panic(p.unexpected(`"["`))
	}
	return &Array{Exprs: p.exprsUntil(tokRBracket), Pos: t.start}
}

// nameOperand reads a column, t.*, a call, or a constant with its type before
// it: DATE '2000-01-01'.
func (p *parser) nameOperand() Expr {
	t := &p.toks[p.at]
	if e := p.typedLiteral(); e != nil {
		return e
	}
	if p.isText("map") && p.ahead(1).kind == tokLBrace {
		p.at++
		return p.mapOperand(t.start)
	}
	parts := make([]Ident, 1, 2)
	parts[0] = p.ident("an expression")
	for p.kind() == tokDot {
		p.at++
		if p.kind() == tokStar {
			p.at++
			return p.star(&Star{Table: &Name{parts}, Pos: t.start})
		}
		parts = append(parts, p.label("a name"))
	}
	if p.kind() == tokLParen {
		return p.call(Name{parts}, t.start)
	}
	return columnRef(parts)
}

// columnRef is a column by a name of any number of parts: those after the
// third can only be fields of a struct.
func columnRef(parts []Ident) Expr {
	if len(parts) <= 3 {
		return &ColumnRef{Name{parts}}
	}
	e := Expr(&ColumnRef{Name{parts[:3:3]}})
	for _, f := range parts[3:] {
		e = callOf("struct_extract", f.Pos, e, stringLiteral(f.Name, f.Pos))
	}
	return e
}

// star reads EXCLUDE, REPLACE and RENAME after a star.
func (p *parser) star(s *Star) Expr {
	if p.word() == kwExclude || p.word() == kwExcept && p.ahead(1).kind == tokLParen && isName(p.ahead(2)) {
		p.at++
		if p.kind() == tokLParen {
			s.Exclude = p.identList("a column name")
		} else {
			s.Exclude = []Ident{p.ident("a column name")}
		}
	}
	if p.word() == kwReplace && p.ahead(1).kind == tokLParen {
		p.at += 2
		for {
			e := p.expr()
			p.expectWord(kwAs)
			name := p.label("a column name")
			s.Replace = append(s.Replace, SelectItem{e, &name})
			if !p.accept(tokComma) {
				break
			}
		}
		p.expect(tokRParen)
	}
	if p.word() == kwRename && p.ahead(1).kind == tokLParen {
		p.at++
		p.expect(tokLParen)
		for {
			r := Rename{From: p.ident("a column name")}
			p.expectWord(kwAs)
			r.To = p.label("a column name")
			s.Rename = append(s.Rename, r)
			if !p.accept(tokComma) {
				break
			}
		}
		p.expect(tokRParen)
	}
	return s
}
