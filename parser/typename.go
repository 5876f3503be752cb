package parser

import (
	"strconv"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// typeName reads a type: its words, its numbers, the words after them, [].
func (p *parser) typeName() TypeName {
	t := &p.toks[p.at]
	if !isName(t) {
		panic(p.unexpected("a type"))
	}
	if n, ok := p.nestedType(); ok {
		return p.lists(n)
	}
	text, mods, tail := p.typeWords()
	typ, ok := sqltype.TypeByName(text+tail, mods)
	round := 0
	if !ok && len(mods) == 2 && mods[1] < 0 {
		if typ, ok = sqltype.TypeByName(text+tail, []int{min(mods[0]-mods[1], sqltype.MaxPrecision), 0}); ok {
			round = -mods[1]
		}
	}
	if !ok {
		if _, known := sqltype.TypeByName(text+tail, nil); known {
			panic(failAt(t.start, sqltype.CodeInvalidParameter, "type %s does not take these numbers", text+tail))
		}
		if mods != nil || tail != "" {
			panic(failAt(t.start, sqltype.CodeUndefinedObject, "type \"%s\" does not exist", text+tail))
		}
		return p.lists(p.userType(t))
	}
	return p.lists(TypeName{Type: typ, Text: text + numbers(mods) + tail, Round: round, Pos: t.start})
}

// nestedType reads STRUCT(a type, ...), ROW(...) and LIST(type), all of which may
// be names of types too.
func (p *parser) nestedType() (TypeName, bool) {
	t := &p.toks[p.at]
	if t.kind != tokIdent || p.ahead(1).kind != tokLParen {
		return TypeName{}, false
	}
	switch fold(p.textOf(t)) {
	case "list":
		p.at += 2
		p.enter()
		n := p.typeName()
		p.leave()
		p.expect(tokRParen)
		n.List++
		return n, true
	case "struct", "row":
	case "map":
		p.at += 2
		p.enter()
		defer p.leave()
		key := FieldDef{Name: Ident{Name: "key"}, Type: p.typeName()}
		p.expect(tokComma)
		n := TypeName{Map: true, Fields: []FieldDef{key, {Name: Ident{Name: "value"}, Type: p.typeName()}}, Pos: t.start}
		p.expect(tokRParen)
		return n, true
	default:
		return TypeName{}, false
	}
	p.at++
	return TypeName{Pos: t.start, Fields: p.fieldDefs()}, true
}

// fieldDefs reads the fields of a struct, in parentheses.
func (p *parser) fieldDefs() (fields []FieldDef) {
	p.enter()
	defer p.leave()
	for p.kind() == tokLParen || p.kind() == tokComma {
		p.at++
		fields = append(fields, FieldDef{Name: p.label("a field name"), Type: p.typeName()})
	}
	p.expect(tokRParen)
	return fields
}

// lists reads the brackets after a type.
func (p *parser) lists(n TypeName) TypeName {
	if p.acceptWord(kwArray) && p.kind() != tokLBracket {
		n.List++
	}
	for p.kind() == tokLBracket {
		p.at++
		n.Length = 0
		if p.kind() == tokNumber {
			at := p.pos()
			if n.Length = p.integer("a length"); n.Length == 0 {
				panic(failAt(at, sqltype.CodeSyntax, "an array has at least one element"))
			}
		}
		p.expect(tokRBracket)
		n.List++
	}
	return n
}

// userType is the name at t, perhaps with a schema, as a type that was created.
// Its first part has been read.
func (p *parser) userType(t *token) TypeName {
	name := Name{[]Ident{p.identOf(t)}}
	if p.accept(tokDot) {
		name.Parts = append(name.Parts, p.label("a type"))
	}
	return TypeName{User: &name, Pos: t.start}
}

// typeOfWord is a type that is one word, which has been read as a name.
func (p *parser) typeOfWord(id Ident) TypeName {
	if typ, ok := sqltype.TypeByName(id.Name, nil); ok {
		return TypeName{Type: typ, Text: id.Name, Pos: id.Pos}
	}
	return TypeName{User: &Name{[]Ident{id}}, Pos: id.Pos}
}

// typeWords reads the parts of a type's name: those before its numbers, the
// numbers, those after.
func (p *parser) typeWords() (text string, mods []int, tail string) {
	first := p.advance()
	text = strings.ToLower(p.identOf(first).Name)
	if first.kind == tokIdent {
		if p.kind() == tokDot && text == "pg_catalog" {
			p.at++
			text = p.label("a type").Name
		}
		for p.kind() == tokIdent && joinsType(text, p.textOf(&p.toks[p.at])) {
			text += " " + fold(p.textOf(p.advance()))
		}
	}
	if p.kind() == tokLParen && p.ahead(1).kind == tokNumber {
		for p.kind() == tokLParen || p.kind() == tokComma {
			p.at++
			sign := 1
			if p.accept(tokMinus) {
				sign = -1
			}
			mods = append(mods, sign*p.integer("a number"))
		}
		p.expect(tokRParen)
	}
	switch text {
	case "time", "timestamp":
		if p.word() == kwWith || p.word() == kwWithout {
			if p.ahead(1).word == kwTime && p.ahead(2).word == kwZone {
				tail = " " + fold(p.textOf(&p.toks[p.at])) + " time zone"
				p.at += 3
			}
		}
	default:
		if p.isText("unsigned") {
			if _, ok := sqltype.TypeByName(text+" unsigned", nil); ok {
				p.at++
				tail = " unsigned"
			}
		}
	}
	return text, mods, tail
}

// joinsType reports that a word goes on with a type's name of several words.
func joinsType(text, word string) bool {
	switch fold(word) {
	case "precision":
		return text == "double"
	case "varying":
		switch text {
		case "character", "char", "binary", "national character":
			return true
		}
	case "character", "char":
		return text == "national"
	case "large":
		return text == "binary"
	case "object":
		return text == "binary large"
	}
	return false
}

// numbers writes a type's numbers as they stand in its text.
func numbers(mods []int) string {
	if mods == nil {
		return ""
	}
	var b strings.Builder
	for i, m := range mods {
		b.WriteByte("(,"[min(i, 1)])
		b.WriteString(strconv.Itoa(m))
	}
	b.WriteByte(')')
	return b.String()
}

// typedLiteral reads a constant with its type before it, as DATE '2000-01-01';
// nil when none is next. The lexer has seen words only, so this asks first for
// the string after them.
func (p *parser) typedLiteral() Expr {
	t := &p.toks[p.at]
	if t.kind != tokIdent {
		return nil
	}
	n := 1
	if p.ahead(1).kind != tokString {
		switch w := p.ahead(1); {
		case (w.word == kwWith || w.word == kwWithout) && p.ahead(2).word == kwTime && p.ahead(3).word == kwZone &&
			(sameWord(p.textOf(t), "time") || sameWord(p.textOf(t), "timestamp")):
			n = 4
		case w.word == kwPrecision && sameWord(p.textOf(t), "double"):
			n = 2
		default:
			return nil
		}
		if p.ahead(n).kind != tokString {
			return nil
		}
	} else if _, ok := sqltype.TypeByName(p.textOf(t), nil); !ok {
		return nil
	}
	typ := p.typeName()
	return &Cast{X: p.stringOperand(), Type: typ, Pos: t.start}
}

// interval reads INTERVAL '3' MONTH, INTERVAL '1 year 2 days', INTERVAL 3 DAY
// and INTERVAL (x) DAY; nil when INTERVAL is a plain name here.
func (p *parser) interval() Expr {
	t := &p.toks[p.at]
	typ := TypeName{Type: sqltype.Interval, Text: "interval", Pos: t.start}
	cast := func(s string, pos Pos) Expr {
		return &Cast{X: stringLiteral(s, pos), Type: typ, Pos: t.start}
	}
	v := p.ahead(1)
	switch v.kind {
	case tokString, tokEscaped, tokDollar:
		p.at++
		s := p.stringValue("")
		if u := p.intervalUnit(); u != "" {
			s += " " + u
		}
		return cast(s, v.start)
	case tokNumber:
		p.at += 2
		s := p.textOf(v)
		u := p.intervalUnit()
		if u == "" {
			panic(p.unexpected("a unit: DAY, MONTH, ..."))
		}
		return cast(s+" "+u, v.start)
	case tokMinus:
		if n := p.ahead(2); n.kind == tokNumber && isIntervalUnit(p.textOf(p.ahead(3))) {
			p.at += 3
			return cast("-"+p.textOf(n)+" "+p.intervalUnit(), v.start)
		}
	case tokLParen:
		// A plain call of a function interval() does not exist, so that what is
		// in parentheses is the count of the unit after them.
		p.at++
		x := p.paren()
		u := p.intervalUnit()
		if u == "" {
			panic(p.unexpected("a unit: DAY, MONTH, ..."))
		}
		return &Binary{Op: "*", L: x, R: cast("1 "+u, t.start), Pos: t.start}
	}
	return nil
}

// intervalUnit reads YEAR, MONTHS, HOUR TO SECOND, ... A range of units only
// says how its string is to be read, which the string says itself.
func (p *parser) intervalUnit() string {
	t := &p.toks[p.at]
	if t.kind != tokIdent || !isIntervalUnit(p.textOf(t)) {
		return ""
	}
	p.at++
	if p.word() == kwTo && isIntervalUnit(p.textOf(p.ahead(1))) {
		p.at += 2
		return ""
	}
	return fold(p.textOf(t))
}

func isIntervalUnit(word string) bool {
	switch strings.TrimSuffix(fold(word), "s") {
	case "year", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond", "quarter",
		"decade", "century", "centurie", "millennium", "millennia":
		return true
	}
	return false
}
