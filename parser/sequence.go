package parser

import (
	"math"
	"strconv"

	"github.com/gpusql/gpusql/sqltype"
)

// createSequence reads what follows CREATE SEQUENCE.
func (p *parser) createSequence(s *CreateSequence) *CreateSequence {
	s.IfNotExists = p.ifNotExists()
	s.Name = p.name("a sequence's name")
	p.sequenceOptions(&s.Options)
	return s
}

// alterSequence reads what follows ALTER SEQUENCE.
func (p *parser) alterSequence(pos Pos) Statement {
	s := &AlterSequence{Pos: pos, IfExists: p.acceptWords(kwIf, kwExists)}
	s.Name = p.name("a sequence's name")
	if p.acceptWords(kwRename, kwTo) {
		to := p.ident("a sequence's name")
		s.To = &to
		return s
	}
	if !p.sequenceOptions(&s.Options) {
		panic(p.unexpected("an option of the sequence or RENAME TO"))
	}
	return s
}

// sequenceOptions reads options in any order; false when there is none.
func (p *parser) sequenceOptions(o *SequenceOptions) bool {
	start := p.at
	for p.sequenceOption(o) {
	}
	return p.at > start
}

func (p *parser) sequenceOption(o *SequenceOptions) bool {
	switch {
	case p.acceptWord(kwAs):
		t := p.typeName()
		o.Type = &t
	case p.acceptText("increment"):
		p.acceptWord(kwBy)
		o.Increment = p.sequenceNumber()
	case p.acceptText("minvalue"):
		o.Min = p.sequenceNumber()
	case p.acceptText("maxvalue"):
		o.Max = p.sequenceNumber()
	case p.acceptWord(kwNo):
		switch {
		case p.acceptText("minvalue"):
			o.NoMin = true
		case p.acceptText("maxvalue"):
			o.NoMax = true
		case p.acceptText("cycle"):
			o.Cycle = new(bool)
		default:
			panic(p.unexpected("MINVALUE, MAXVALUE or CYCLE"))
		}
	case p.acceptText("nominvalue"):
		o.NoMin = true
	case p.acceptText("nomaxvalue"):
		o.NoMax = true
	case p.acceptText("cycle"):
		yes := true
		o.Cycle = &yes
	case p.acceptText("cache"):
		p.sequenceNumber() // numbers cost the same with any cache
	case p.acceptWord(kwStart):
		p.acceptWord(kwWith)
		o.Start = p.sequenceNumber()
	case p.acceptText("restart"):
		o.Restart = true
		if p.acceptWord(kwWith); p.kind() == tokNumber || p.kind() == tokMinus {
			o.RestartAt = p.sequenceNumber()
		}
	case p.isText("owned"):
		p.at++
		p.expectWord(kwBy)
		n := p.name("a column")
		if len(n.Parts) > 1 || !sameWord(n.Parts[0].Name, "none") {
			o.OwnedBy = &n
		}
	default:
		return false
	}
	return true
}

// sequenceNumber reads a number that may be negative.
func (p *parser) sequenceNumber() *int64 {
	negative := p.accept(tokMinus)
	if !negative {
		p.accept(tokPlus)
	}
	t := &p.toks[p.at]
	if t.kind != tokNumber {
		panic(p.unexpected("a number"))
	}
	u, err := strconv.ParseUint(p.textOf(t), 10, 64)
	if err != nil || u > math.MaxInt64 && !(negative && u == 1<<63) {
		panic(failAt(t.start, sqltype.CodeOutOfRange, "number %s is out of range", shorten(p.textOf(t))))
	}
	p.at++
	n := int64(u)
	if negative {
		n = -n
	}
	return &n
}

// serial makes a column of one of PostgreSQL's SERIAL types, if one is next.
func (p *parser) serial(c *ColumnDef) bool {
	name := ""
	switch {
	case p.isText("serial"), p.isText("serial4"):
		name = "integer"
	case p.isText("bigserial"), p.isText("serial8"):
		name = "bigint"
	case p.isText("smallserial"), p.isText("serial2"):
		name = "smallint"
	default:
		return false
	}
	t := p.advance()
	typ, _ := sqltype.TypeByName(name, nil)
	c.Type = TypeName{Type: typ, Text: fold(p.textOf(t)), Pos: t.start}
	c.Serial = true
	return true
}

// identity reads what follows GENERATED ALWAYS|BY DEFAULT AS IDENTITY.
func (p *parser) identity(c *ColumnDef, kind string) {
	c.Identity = &Identity{Kind: kind}
	if p.accept(tokLParen) {
		p.sequenceOptions(&c.Identity.Options)
		p.expect(tokRParen)
	}
}
