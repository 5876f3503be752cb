package parser

import "github.com/gpusql/gpusql/sqltype"

// call reads the arguments of a function and what may follow them.
func (p *parser) call(name Name, pos Pos) *Call {
	c := &Call{Name: name, Pos: pos}
	p.expect(tokLParen)
	p.arguments(c)
	if p.word() == kwWithin && p.ahead(1).word == kwGroup {
		p.at += 2
		p.expect(tokLParen)
		c.Within = p.orderBy()
		p.expect(tokRParen)
	}
	if p.word() == kwFilter && p.ahead(1).kind == tokLParen {
		p.at += 2
		p.acceptWord(kwWhere) // DuckDB does without
		c.Filter = p.expr()
		p.expect(tokRParen)
	}
	if p.acceptWords(kwIgnore, kwNulls) {
		c.IgnoreNulls = true
	} else {
		p.acceptWords(kwRespect, kwNulls)
	}
	if p.word() == kwOver && (p.ahead(1).kind == tokLParen || isName(p.ahead(1))) {
		p.at++
		c.Over = p.over()
	}
	return c
}

// arguments reads what stands between the parentheses of a call, and the
// closing one.
func (p *parser) arguments(c *Call) {
	if p.accept(tokRParen) {
		return
	}
	if p.kind() == tokStar && p.ahead(1).kind == tokRParen {
		p.at += 2
		c.Star = true
		return
	}
	if p.acceptWord(kwDistinct) {
		c.Distinct = true
	} else if p.word() == kwAll && p.ahead(1).kind != tokComma && p.ahead(1).kind != tokRParen {
		p.at++
	}
	for {
		if k := p.ahead(1).kind; (k == tokArrow || k == tokAssign) && isName(&p.toks[p.at]) {
			name := p.ident("a parameter name")
			p.at++
			c.Named = append(c.Named, NamedArg{name, p.expr()})
		} else if p.isQuery() {
			q := p.query()
			c.Args = append(c.Args, &Subquery{Query: q, Pos: q.Pos})
		} else {
			if c.Named != nil {
				panic(p.unexpected("a parameter name: a positional argument cannot follow a named one"))
			}
			arg := p.lambda()
			if arg == nil {
				arg = p.expr()
			}
			c.Args = append(c.Args, arg)
		}
		if !p.accept(tokComma) {
			break
		}
	}
	c.OrderBy = p.optionalOrderBy()
	if p.acceptWords(kwIgnore, kwNulls) {
		c.IgnoreNulls = true
	} else {
		p.acceptWords(kwRespect, kwNulls)
	}
	p.expect(tokRParen)
}

// specialCall reads a function whose arguments have a syntax of their own; the
// tree has a plain call. nil when the word is an ordinary name.
func (p *parser) specialCall(t *token) Expr {
	switch t.word {
	case kwExtract:
		return p.extract()
	case kwSubstring:
		return p.substring()
	case kwPosition:
		return p.position()
	case kwTrim:
		return p.trim()
	case kwOverlay:
		return p.overlay()
	case kwExists:
		p.at += 2
		q := p.query()
		p.expect(tokRParen)
		return &Exists{Query: q, Pos: t.start}
	case kwRow:
		p.at += 2
		return &Row{Exprs: p.exprsUntil(tokRParen), Pos: t.start}
	}
	if t.word.namesFunction() {
		p.at++
		return p.call(Name{[]Ident{p.identOf(t)}}, t.start)
	}
	return nil
}

// extract reads EXTRACT(field FROM x), and the plain call that it is.
func (p *parser) extract() Expr {
	t := p.advance()
	if f := p.ahead(1); p.ahead(2).word == kwFrom {
		p.at++
		var field *Literal
		switch f.kind {
		case tokIdent, tokQuoted:
			p.at++
			id := p.identOf(f)
			field = stringLiteral(id.Name, id.Pos)
		default:
			field = stringLiteral(p.stringValue("a field name"), f.start)
		}
		p.at++
		c := callOf("extract", t.start, field, p.expr())
		p.expect(tokRParen)
		return c
	}
	return p.call(Name{[]Ident{p.identOf(t)}}, t.start)
}

// substring reads SUBSTRING(x FROM a FOR b), in either order, or with commas.
func (p *parser) substring() Expr {
	t := p.advance()
	p.expect(tokLParen)
	c := callOf("substring", t.start, p.expr())
	if p.kind() == tokComma {
		p.at++
		c.Args = append(c.Args, p.exprList()...)
		p.expect(tokRParen)
		return c
	}
	var from, length Expr
	for from == nil || length == nil {
		switch {
		case from == nil && p.acceptWord(kwFrom):
			from = p.expr()
			continue
		case length == nil && p.acceptWord(kwFor):
			length = p.expr()
			continue
		}
		break
	}
	switch {
	case length != nil && from == nil:
		from = &Literal{Value: sqltype.NewInt32(1), Text: "1", Pos: length.Start()}
		fallthrough
	case length != nil:
		c.Args = append(c.Args, from, length)
	case from != nil:
		c.Args = append(c.Args, from)
	}
	p.expect(tokRParen)
	return c
}

// position reads POSITION(a IN b), which is strpos(b, a).
func (p *parser) position() Expr {
	t := p.advance()
	p.expect(tokLParen)
	a := p.exprAbove(precLike)
	if p.kind() == tokComma {
		p.at++
		b := p.expr()
		p.expect(tokRParen)
		return callOf("position", t.start, a, b)
	}
	p.expectWord(kwIn)
	c := callOf("strpos", t.start, p.expr(), a)
	p.expect(tokRParen)
	return c
}

// trim reads TRIM([BOTH|LEADING|TRAILING] [characters] [FROM] x): trim, ltrim
// or rtrim of x and the characters.
func (p *parser) trim() Expr {
	t := p.advance()
	p.expect(tokLParen)
	name := "trim"
	switch {
	case p.acceptWord(kwLeading):
		name = "ltrim"
	case p.acceptWord(kwTrailing):
		name = "rtrim"
	default:
		p.acceptWord(kwBoth)
	}
	c := callOf(name, t.start)
	switch {
	case p.acceptWord(kwFrom):
		c.Args = p.exprList()
	default:
		first := p.expr()
		if p.acceptWord(kwFrom) {
			c.Args = []Expr{p.expr(), first}
			break
		}
		c.Args = []Expr{first}
		for p.accept(tokComma) {
			c.Args = append(c.Args, p.expr())
		}
	}
	p.expect(tokRParen)
	return c
}

// overlay reads OVERLAY(x PLACING y FROM a FOR b), or with commas.
func (p *parser) overlay() Expr {
	t := p.advance()
	p.expect(tokLParen)
	c := callOf("overlay", t.start, p.expr())
	if p.acceptWord(kwPlacing) {
		c.Args = append(c.Args, p.expr())
		p.expectWord(kwFrom)
		c.Args = append(c.Args, p.expr())
		if p.acceptWord(kwFor) {
			c.Args = append(c.Args, p.expr())
		}
	} else {
		for p.accept(tokComma) {
			c.Args = append(c.Args, p.expr())
		}
	}
	p.expect(tokRParen)
	return c
}

// over reads OVER name or OVER (...).
func (p *parser) over() *Window {
	if p.kind() != tokLParen {
		name := p.ident("a window name")
		return &Window{Ref: &name}
	}
	w := p.window()
	return &w
}

// window reads a window definition in parentheses.
func (p *parser) window() Window {
	var w Window
	p.expect(tokLParen)
	switch p.word() {
	case kwPartition, kwRange, kwRows, kwGroups:
	default:
		if isName(&p.toks[p.at]) {
			name := p.ident("a window name")
			w.Ref = &name
		}
	}
	if p.acceptWord(kwPartition) {
		p.expectWord(kwBy)
		w.PartitionBy = p.exprList()
	}
	w.OrderBy = p.optionalOrderBy()
	switch p.word() {
	case kwRange, kwRows, kwGroups:
		w.Frame = p.frame()
	}
	p.expect(tokRParen)
	return w
}

// frame reads ROWS|RANGE|GROUPS with its bounds.
func (p *parser) frame() *Frame {
	f := &Frame{Unit: p.advance().word.String()}
	if p.acceptWord(kwBetween) {
		f.Start = p.frameBound()
		p.expectWord(kwAnd)
		f.End = p.frameBound()
	} else {
		f.Start = p.frameBound()
		f.End = FrameBound{Kind: "CURRENT ROW"}
	}
	if p.acceptWord(kwExclude) {
		switch {
		case p.acceptWords(kwCurrent, kwRow):
			f.Exclude = "CURRENT ROW"
		case p.acceptWord(kwGroup):
			f.Exclude = "GROUP"
		case p.acceptWord(kwTies):
			f.Exclude = "TIES"
		case p.acceptWords(kwNo, kwOthers):
			f.Exclude = "NO OTHERS"
		default:
			panic(p.unexpected("CURRENT ROW, GROUP, TIES or NO OTHERS"))
		}
	}
	return f
}

// frameBound reads one end of a frame.
func (p *parser) frameBound() FrameBound {
	if p.acceptWords(kwCurrent, kwRow) {
		return FrameBound{Kind: "CURRENT ROW"}
	}
	var b FrameBound
	prefix := ""
	if p.acceptWord(kwUnbounded) {
		prefix = "UNBOUNDED "
	} else {
		b.Offset = p.expr()
	}
	if k := p.word(); k != kwPreceding && k != kwFollowing {
		panic(p.unexpected("PRECEDING or FOLLOWING"))
	}
	b.Kind = prefix + p.advance().word.String()
	return b
}
