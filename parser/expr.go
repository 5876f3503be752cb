package parser

import "github.com/gpusql/gpusql/sqltype"

// Precedences, PostgreSQL's, the loosest first. An operand of an operator is
// read with the operator's precedence as the least that may follow.
const (
	precLowest = iota
	precOr
	precAnd
	precNot
	precIs
	precCompare
	precLike // BETWEEN IN LIKE ILIKE SIMILAR GLOB
	precOther
	precAdd
	precMul
	precPow
	precZone // AT TIME ZONE
	precCollate
	precUnary
	precPostfix // [i] ::type .field
	precPrimary
)

// infix is a binary operator: its text in the tree and its precedence. All of
// them group to the left.
type infix struct {
	op   string
	prec int
}

// infixOps are the operators that make a Binary.
var infixOps = [...]infix{
	tokEq: {"=", precCompare}, tokNe: {"<>", precCompare}, tokLt: {"<", precCompare},
	tokLe: {"<=", precCompare}, tokGt: {">", precCompare}, tokGe: {">=", precCompare},
	tokPlus: {"+", precAdd}, tokMinus: {"-", precAdd},
	tokStar: {"*", precMul}, tokSlash: {"/", precMul}, tokPercent: {"%", precMul}, tokIntDiv: {"//", precMul},
	tokCaret: {"^", precPow}, tokConcat: {"||", precOther},
	tokAmp: {"&", precOther}, tokPipe: {"|", precOther}, tokHash: {"#", precOther},
	tokShl: {"<<", precOther}, tokShr: {">>", precOther},
	tokTilde: {"~", precOther}, tokTildeAny: {"~*", precOther},
	tokNotTilde: {"!~", precOther}, tokNotTildeAny: {"!~*", precOther},
	tokGet: {"->", precOther}, tokGetText: {"->>", precOther},
	tokPath: {"#>", precOther}, tokPathText: {"#>>", precOther},
	tokHolds: {"@>", precOther}, tokWithin: {"<@", precOther}, tokOverlap: {"&&", precOther},
}

// expr reads a whole expression.
func (p *parser) expr() Expr { return p.exprAbove(precLowest) }

// exprAbove reads an expression whose outermost operators bind tighter than
// prec.
func (p *parser) exprAbove(prec int) Expr {
	outer := p.depth
	p.enter()
	e := p.prefix()
	for n := 0; ; n++ {
		next := p.continueExpr(e, prec)
		if next == nil {
			p.depth = outer
			return e
		}
		if _, flat := next.(*Binary); flat {
			p.chain(n)
		} else {
			p.enter() // a chain of casts has no use, and nests when it is written
		}
		e = next
	}
}

// continueExpr reads one operator after e with what belongs to it, or returns
// nil when the next token does not continue e at this precedence.
func (p *parser) continueExpr(e Expr, prec int) Expr {
	t := &p.toks[p.at]
	if t.kind == tokIdent {
		return p.continueWord(e, t, prec)
	}
	if int(t.kind) < len(infixOps) && infixOps[t.kind].op != "" {
		op := infixOps[t.kind]
		if op.prec <= prec {
			return nil
		}
		p.at++
		if p.isQuantifier() {
			return p.quantified(e, op.op, t.start)
		}
		return &Binary{Op: op.op, L: e, R: p.exprAbove(op.prec), Pos: t.start}
	}
	switch t.kind {
	case tokNullEq:
		if prec < precCompare {
			p.at++
			return &IsDistinct{L: e, R: p.exprAbove(precCompare), Not: true}
		}
	case tokLike, tokILike, tokNotLike, tokNotILike:
		if prec < precLike {
			return p.likeSymbol(e)
		}
	case tokStarts:
		if prec < precOther {
			p.at++
			return callOf("starts_with", t.start, e, p.exprAbove(precOther))
		}
	case tokCast:
		if prec < precPostfix {
			p.at++
			return &Cast{X: e, Type: p.typeName(), Pos: e.Start()}
		}
	case tokLBracket:
		if prec < precPostfix {
			return p.index(e)
		}
	case tokDot:
		// A field of a struct: x.y where x is no name.
		if prec < precPostfix {
			p.at++
			f := p.label("a field name")
			return callOf("struct_extract", t.start, e, stringLiteral(f.Name, f.Pos))
		}
	}
	return nil
}

// continueWord is continueExpr for an operator that is a word.
func (p *parser) continueWord(e Expr, t *token, prec int) Expr {
	switch t.word {
	case kwNone:
		if row, ok := e.(*Row); ok && len(row.Exprs) == 2 && prec < precOther && p.isText("overlaps") && p.ahead(1).kind == tokLParen {
			return p.overlaps(row)
		}
	case kwAnd, kwOr:
		op := infix{"AND", precAnd}
		if t.word == kwOr {
			op = infix{"OR", precOr}
		}
		if op.prec <= prec {
			return nil
		}
		p.at++
		return &Binary{Op: op.op, L: e, R: p.exprAbove(op.prec), Pos: t.start}
	case kwIs:
		if prec < precIs {
			p.at++
			return p.is(e)
		}
	case kwIsnull, kwNotnull:
		if prec < precIs {
			p.at++
			return &IsExpr{X: e, What: "NULL", Not: t.word == kwNotnull}
		}
	case kwNot:
		if prec < precLike {
			return p.notOperator(e)
		}
	case kwBetween, kwIn, kwLike, kwIlike, kwSimilar, kwGlob:
		// GLOB is a name elsewhere: "SELECT a glob" is left to fail as one.
		if prec < precLike {
			return p.pattern(e, notNegated)
		}
	case kwAt:
		if prec < precZone && p.acceptWords(kwAt, kwTime, kwZone) {
			zone := p.exprAbove(precZone)
			return callOf("timezone", t.start, zone, e)
		}
	case kwCollate:
		if prec < precCollate {
			p.at++
			c := p.name("a collation")
			last := c.Parts[len(c.Parts)-1]
			return callOf("collate", t.start, e, stringLiteral(last.Name, last.Pos))
		}
	}
	return nil
}

// is reads what follows IS.
func (p *parser) is(e Expr) Expr {
	not := p.acceptWord(kwNot)
	switch p.word() {
	case kwNull, kwTrue, kwFalse, kwUnknown:
		return &IsExpr{X: e, What: p.advance().word.String(), Not: not}
	case kwDistinct:
		p.at++
		p.expectWord(kwFrom)
		return &IsDistinct{L: e, R: p.exprAbove(precIs), Not: not}
	}
	panic(p.unexpected("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM"))
}

// overlaps reads the span that another one is compared with.
func (p *parser) overlaps(left *Row) Expr {
	t := p.advance()
	right, ok := p.exprAbove(precOther).(*Row)
	if !ok || len(right.Exprs) != 2 {
		panic(failAt(t.start, sqltype.CodeSyntax, "OVERLAPS compares two rows of a start and an end each"))
	}
	return callOf("overlaps", t.start, left.Exprs[0], left.Exprs[1], right.Exprs[0], right.Exprs[1])
}

// negation says whether NOT stood before an operator.
type negation bool

// The two cases of a negation.
const (
	notNegated negation = false
	negated    negation = true
)

// notOperator reads x NOT IN and the like; x NOT NULL is SQLite's.
func (p *parser) notOperator(e Expr) Expr {
	switch p.ahead(1).word {
	case kwBetween, kwIn, kwLike, kwIlike, kwSimilar, kwGlob:
		p.at++
		return p.pattern(e, negated)
	case kwNull:
		p.at += 2
		return &IsExpr{X: e, What: "NULL", Not: true}
	}
	return nil
}

// pattern reads BETWEEN, IN, LIKE and the like after e.
func (p *parser) pattern(e Expr, not negation) Expr {
	t := p.advance()
	switch t.word {
	case kwBetween:
		symmetric := p.acceptWord(kwSymmetric)
		lo := p.exprAbove(precLike)
		p.expectWord(kwAnd)
		return &Between{X: e, Lo: lo, Hi: p.exprAbove(precLike), Not: bool(not), Symmetric: symmetric}
	case kwIn:
		return p.in(e, not)
	case kwSimilar:
		p.expectWord(kwTo)
		return p.like(e, "SIMILAR TO", not)
	}
	return p.like(e, t.word.String(), not)
}

// like reads a pattern and its ESCAPE, or ANY and ALL of many patterns.
func (p *parser) like(e Expr, op string, not negation) Expr {
	if (op == "LIKE" || op == "ILIKE") && p.isQuantifier() {
		return p.quantified(e, likeOp(op, not), p.toks[p.at-1].start)
	}
	l := &Like{Op: op, X: e, Pattern: p.exprAbove(precLike), Not: bool(not)}
	if p.acceptWord(kwEscape) {
		l.Esc = p.exprAbove(precLike)
	}
	return l
}

// likeSymbol reads PostgreSQL's ~~ and its kin, which are LIKE and ILIKE.
func (p *parser) likeSymbol(e Expr) Expr {
	t := p.advance()
	l := &Like{Op: "LIKE", X: e, Not: t.kind == tokNotLike || t.kind == tokNotILike}
	if t.kind == tokILike || t.kind == tokNotILike {
		l.Op = "ILIKE"
	}
	if p.isQuantifier() {
		return p.quantified(e, likeOp(l.Op, negation(l.Not)), t.start)
	}
	l.Pattern = p.exprAbove(precOther)
	return l
}

// likeOp is the operator of a Quantified.
func likeOp(op string, not negation) string {
	if not == negated {
		return "NOT " + op
	}
	return op
}

// isQuantifier reports ANY ( or ALL ( after an operator.
func (p *parser) isQuantifier() bool {
	k := p.word()
	return (k == kwAny || k == kwSome || k == kwAll) && p.ahead(1).kind == tokLParen
}

// in reads the list or query of IN.
func (p *parser) in(e Expr, not negation) Expr {
	if p.kind() != tokLParen { // a list, as of DuckDB: x IN [1, 2], x IN column
		pos := p.pos()
		op, all := "=", false
		if bool(not) {
			op, all = "<>", true
		}
		return &Quantified{Op: op, All: all, X: e, List: p.exprAbove(precLike), Pos: pos}
	}
	p.expect(tokLParen)
	if p.kind() == tokRParen {
		panic(p.unexpected("at least one value"))
	}
	query, list := p.listOrQuery()
	return &In{X: e, List: list, Query: query, Not: bool(not)}
}

// quantified reads ANY (...) or ALL (...) after an operator.
func (p *parser) quantified(e Expr, op string, pos Pos) Expr {
	q := &Quantified{Op: op, All: p.advance().word == kwAll, X: e, Pos: pos}
	open := p.advance()
	query, list := p.listOrQuery()
	if q.Query = query; query == nil {
		if len(list) != 1 {
			panic(failAt(open.start, sqltype.CodeSyntax, "ANY and ALL take a query or one array"))
		}
		q.List = list[0]
	}
	return q
}

// listOrQuery reads a query or expressions, and the parenthesis after them.
func (p *parser) listOrQuery() (*Query, []Expr) {
	if p.isQuery() {
		q := p.query()
		p.expect(tokRParen)
		return q, nil
	}
	list := []Expr{p.parenthesised()}
	for p.accept(tokComma) {
		list = append(list, p.expr())
	}
	p.expect(tokRParen)
	if s, ok := list[0].(*Subquery); ok && len(list) == 1 {
		return s.Query, nil
	}
	return nil, list
}

// parenthesised reads the first expression after an open parenthesis. When it
// turns out to be a query in parentheses of its own that a set operation, ORDER
// BY or LIMIT continues, it is the whole query as a Subquery.
func (p *parser) parenthesised() Expr {
	e := p.expr()
	if s, ok := e.(*Subquery); ok && p.isQueryTail() {
		return &Subquery{Query: p.queryFrom(s.Query), Pos: s.Pos}
	}
	return e
}

// index reads [i], [lo:hi], [lo:] or [:hi].
func (p *parser) index(e Expr) Expr {
	x := &Index{X: e, Pos: p.advance().start}
	switch {
	case p.kind() == tokColon:
	case p.kind() == tokMinus && p.ahead(1).kind == tokColon: // no bound
		p.at++
	default:
		x.Lo = p.expr()
	}
	if p.accept(tokColon) {
		x.Slice = true
		switch {
		case p.kind() == tokRBracket:
		case p.kind() == tokMinus && p.ahead(1).kind == tokColon: // no bound
			p.at++
		default:
			x.Hi = p.expr()
		}
		if p.accept(tokColon) {
			x.Step = p.expr()
		}
	}
	p.expect(tokRBracket)
	return x
}

// prefixFuncs are the functions that PostgreSQL has a prefix operator for.
var prefixFuncs = map[tokenKind]string{tokRoot: "sqrt", tokCubeRoot: "cbrt", tokAt: "abs"}

// prefix reads a prefix operator with its operand, or an operand.
func (p *parser) prefix() Expr {
	t := &p.toks[p.at]
	switch {
	case t.kind == tokMinus:
		p.at++
		return &Unary{Op: "-", X: p.exprAbove(precCollate), Pos: t.start}
	case t.kind == tokPlus:
		p.at++
		return &Unary{Op: "+", X: p.exprAbove(precCollate), Pos: t.start}
	case t.kind == tokTilde:
		p.at++
		return &Unary{Op: "~", X: p.exprAbove(precOther), Pos: t.start}
	case t.kind == tokRoot || t.kind == tokCubeRoot || t.kind == tokAt:
		p.at++
		x := p.exprAbove(precOther)
		if star, ok := x.(*Star); ok {
			panic(failAt(star.Pos, sqltype.CodeSyntax, "an operator takes a value, not *"))
		}
		return callOf(prefixFuncs[t.kind], t.start, x)
	case t.word == kwNot:
		p.at++
		return &Unary{Op: "NOT", X: p.exprAbove(precNot - 1), Pos: t.start}
	}
	return p.operand()
}
