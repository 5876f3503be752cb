package parser

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gpusql/gpusql/sqltype"
)

// Parsed is one statement of a text.
type Parsed struct {
	Statement  Statement
	Text       string   // as written, without the semicolon and the blanks around
	Start, End Pos      // where Text lies in the text given to Parse
	Params     int      // how many parameters it takes: the highest number
	Names      []string // of parameter i+1, where they have names
}

// The limits that keep a tree's depth, and so every walk over it, bounded.
const (
	maxDepth  = 1000    // of parentheses, subqueries, prefix operators
	maxChain  = 200_000 // of a flat chain: terms of AND, branches of UNION
	maxParams = 1 << 16
	maxText   = 1 << 30 // bytes: positions are 32 bits
)

// parser reads tokens by recursive descent. A method that cannot go on panics
// with a syntaxError, which Parse and ParseExpr turn into their error: the
// grammar's methods need no error results.
type parser struct {
	text   string
	toks   []token
	at     int // of the current token; the last token is tokEOF
	depth  int
	params int
	names  []string // of parameters
	into   *Name    // of SELECT ... INTO, until its statement takes it
}

// syntaxError carries an error out of the grammar.
type syntaxError struct{ err *sqltype.Error }

// Parse reads the statements of a text, separated by semicolons. Positions in
// the trees and in errors are offsets into the whole text. An error means that
// no statement is returned.
func Parse(text string) ([]Parsed, error) { return ParsePart(text, 0, len(text)) }

// validPrefix is the bytes of text before the first that is no UTF-8.
func validPrefix(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				return i
			}
		}
	}
	return len(text)
}

func invalidBytes(text string) *sqltype.Error {
	const codeNotInRepertoire = "22021"
	return sqltype.Errorf(codeNotInRepertoire, "invalid byte sequence for encoding \"UTF8\": 0x%02x", text[validPrefix(text)])
}

// ParsePart is Parse of text[start:end], with positions that are offsets into
// the whole text all the same.
func ParsePart(text string, start, end int) (list []Parsed, err error) {
	if len(text) > maxText {
		return nil, sqltype.Errorf(sqltype.CodeTooComplex, "a text of %d bytes is too long", len(text))
	}
	if !utf8.ValidString(text[start:end]) {
		return nil, invalidBytes(text[start:end]).At(start + validPrefix(text[start:end]))
	}
	var buf [64]token
	p := parser{text: text, toks: scan(text[:end], start, buf[:0])}
	defer p.recover(&err, &list)
	for {
		for p.accept(tokSemicolon) {
		}
		if p.kind() == tokEOF {
			return list, nil
		}
		start := p.pos()
		p.params, p.names = 0, nil
		s := p.statement()
		if p.into != nil {
			panic(failAt(p.into.Parts[0].Pos, sqltype.CodeSyntax, "SELECT INTO is a statement and cannot stand here"))
		}
		if k := p.kind(); k != tokSemicolon && k != tokEOF {
			panic(p.unexpected(""))
		}
		end := p.toks[p.at-1].end
		list = append(list, Parsed{s, text[start:end], start, end, p.params, p.names})
	}
}

// ParseExpr reads one expression.
func ParseExpr(text string) (e Expr, err error) {
	var buf [64]token
	p := parser{text: text, toks: scan(text, 0, buf[:0])}
	var list []Parsed
	defer p.recover(&err, &list)
	e = p.expr()
	if p.kind() != tokEOF {
		panic(p.unexpected(""))
	}
	return e, nil
}

// recover ends a panic of the grammar and makes it the error.
func (p *parser) recover(err *error, list *[]Parsed) {
	switch r := recover().(type) {
	case nil:
	case syntaxError:
		*err, *list = r.err, nil
	default:
		panic(r)
	}
}

// Complete reports that text ends a statement: its last token is a semicolon
// outside strings and comments, or it has no token at all.
func Complete(text string) bool {
	l := lexer{text: text}
	for last := tokSemicolon; ; {
		switch t := l.next(); t.kind {
		case tokEOF:
			return last == tokSemicolon
		case tokBad:
			// Only what is unterminated reaches the end of the text.
			if int(t.end) == len(text) && (t.end-t.start > 1 || text[t.start] == '\'' || text[t.start] == '"') {
				return false
			}
			last = t.kind
		default:
			last = t.kind
		}
	}
}

// ---- tokens ----

func (p *parser) kind() tokenKind { return p.toks[p.at].kind }
func (p *parser) word() keyword   { return p.toks[p.at].word }
func (p *parser) pos() Pos        { return p.toks[p.at].start }

// ahead is the token n after the current one; past the end it is the tokEOF.
func (p *parser) ahead(n int) *token { return &p.toks[min(p.at+n, len(p.toks)-1)] }

func (p *parser) textOf(t *token) string { return p.text[t.start:t.end] }

// advance steps over the current token, which is not the last.
func (p *parser) advance() *token {
	t := &p.toks[p.at]
	p.at++
	return t
}

func (p *parser) accept(k tokenKind) bool {
	if p.toks[p.at].kind == k {
		p.at++
		return true
	}
	return false
}

// expectNames are the tokens that expect asks for, as messages write them.
var expectNames = map[tokenKind]string{
	tokLParen: `"("`, tokRParen: `")"`, tokRBracket: `"]"`, tokComma: `","`, tokEq: `"="`, tokString: "a string",
}

func (p *parser) expect(k tokenKind) {
	if !p.accept(k) {
		panic(p.unexpected(expectNames[k]))
	}
}

// acceptWord steps over a keyword if it is the current token.
func (p *parser) acceptWord(w keyword) bool {
	if p.toks[p.at].word == w {
		p.at++
		return true
	}
	return false
}

// acceptWords steps over a sequence of keywords if all of it is next.
func (p *parser) acceptWords(words ...keyword) bool {
	for i, w := range words {
		if p.ahead(i).word != w {
			return false
		}
	}
	p.at += len(words)
	return true
}

func (p *parser) expectWord(w keyword) {
	if !p.acceptWord(w) {
		panic(p.unexpected(w.String()))
	}
}

// isText reports that the current token is a word with this text, given in
// lower case: for the words of one statement that no table of keywords needs.
func (p *parser) isText(word string) bool {
	t := &p.toks[p.at]
	return t.kind == tokIdent && sameWord(p.textOf(t), word)
}

func (p *parser) acceptText(word string) bool {
	if p.isText(word) {
		p.at++
		return true
	}
	return false
}

// ---- errors ----

// unexpected is the error of the current token; expected may say what should
// have been there.
func (p *parser) unexpected(expected string) syntaxError {
	return p.unexpectedAt(&p.toks[p.at], expected)
}

func (p *parser) unexpectedAt(t *token, expected string) syntaxError {
	var err *sqltype.Error
	switch t.kind {
	case tokBad:
		return syntaxError{badToken(p.textOf(t)).At(int(t.start))}
	case tokEOF:
		err = sqltype.Errorf(sqltype.CodeSyntax, "syntax error at end of input")
	default:
		err = sqltype.Errorf(sqltype.CodeSyntax, "syntax error at or near \"%s\"", shorten(p.textOf(t)))
	}
	if expected != "" {
		err.Hint = "expected " + expected
	}
	return syntaxError{err.At(int(t.start))}
}

// shorten keeps a message readable when the token is a long string.
func shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && s[n]&0xC0 == 0x80 { // not inside a character
		n--
	}
	return s[:n] + "..."
}

func failAt(pos Pos, code, format string, args ...any) syntaxError {
	return syntaxError{sqltype.Errorf(code, format, args...).At(int(pos))}
}

// unsupported is the error of what PostgreSQL has and this grammar has not.
func (p *parser) unsupported(what string) syntaxError {
	return failAt(p.pos(), sqltype.CodeNotSupported, "%s is not supported", what)
}

// enter counts a level of nesting; leave ends it. A text that nests too deep
// is an error before the stack is.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		panic(failAt(p.pos(), sqltype.CodeTooComplex, "statement nests deeper than %d levels", maxDepth))
	}
}

func (p *parser) leave() { p.depth-- }

// chain checks the length of a flat chain, whose tree leans to the left as
// deep as the chain is long.
func (p *parser) chain(n int) {
	if n > maxChain {
		panic(failAt(p.pos(), sqltype.CodeTooComplex, "expression has more than %d terms", maxChain))
	}
}

// ---- names ----

// isName reports that a token can be a name: quoted, or a word that is not
// reserved.
func isName(t *token) bool {
	return t.kind == tokQuoted || t.kind == tokIdent && keywordInfo[t.word].use != reserved
}

// isAlias reports that the current token is an alias without AS.
func (p *parser) isAlias() bool {
	t := &p.toks[p.at]
	return t.kind == tokQuoted || t.kind == tokIdent && keywordInfo[t.word].use == anyName
}

// identOf is the name that a token writes.
func (p *parser) identOf(t *token) Ident {
	if t.kind != tokQuoted {
		return Ident{Name: fold(p.textOf(t)), Pos: t.start}
	}
	name, _ := unquote(tokQuoted, p.textOf(t))
	if name == "" {
		panic(failAt(t.start, sqltype.CodeSyntax, "a quoted name cannot be empty"))
	}
	return Ident{Name: name, Quoted: true, Pos: t.start}
}

// ident reads a name; what says of what, for the message.
func (p *parser) ident(what string) Ident {
	if !isName(&p.toks[p.at]) {
		panic(p.unexpected(what))
	}
	return p.identOf(p.advance())
}

// label reads a name that may be any word: after AS and after a dot.
func (p *parser) label(what string) Ident {
	if k := p.kind(); k != tokIdent && k != tokQuoted {
		panic(p.unexpected(what))
	}
	return p.identOf(p.advance())
}

// name reads a qualified name.
func (p *parser) name(what string) Name {
	parts := make([]Ident, 1, 2)
	parts[0] = p.ident(what)
	for p.kind() == tokDot {
		p.advance()
		parts = append(parts, p.label(what))
	}
	if len(parts) > 3 {
		panic(failAt(parts[0].Pos, sqltype.CodeSyntax, "improper qualified name: more than three parts"))
	}
	return Name{parts}
}

// identList reads names separated by commas, in parentheses.
func (p *parser) identList(what string) []Ident {
	p.expect(tokLParen)
	list := p.identifiers(what)
	p.expect(tokRParen)
	return list
}

// identifiers reads names separated by commas.
func (p *parser) identifiers(what string) []Ident {
	list := []Ident{p.ident(what)}
	for p.accept(tokComma) {
		list = append(list, p.ident(what))
	}
	return list
}

// stringValue reads a string constant.
func (p *parser) stringValue(what string) string {
	t := &p.toks[p.at]
	switch t.kind {
	case tokString, tokEscaped, tokDollar:
		p.at++
		return p.unquote(t)
	}
	panic(p.unexpected(what))
}

func (p *parser) unquote(t *token) string {
	s, err := unquote(t.kind, p.textOf(t))
	if err != nil {
		panic(syntaxError{err.At(int(t.start))})
	}
	return s
}

// integer reads a count that must be a plain number.
func (p *parser) integer(what string) int {
	if p.kind() == tokNumber {
		if n, err := strconv.Atoi(p.textOf(&p.toks[p.at])); err == nil {
			p.at++
			return n
		}
	}
	panic(p.unexpected(what))
}

// param reads ?, $n or $name. A name has the number of its first appearance.
func (p *parser) param() *ParamRef {
	t := p.advance()
	e := &ParamRef{Index: p.params + 1, Pos: t.start}
	if t.kind == tokParam {
		var err error
		switch digits := p.text[t.start+1 : t.end]; {
		case !isDigit(digits[0]):
			e.Name = strings.ToLower(digits)
			if i := slices.Index(p.names, e.Name); i >= 0 {
				e.Index = i + 1
			}
		default:
			if e.Index, err = strconv.Atoi(digits); err != nil || e.Index < 1 {
				e.Index = maxParams + 1
			}
		}
	}
	switch {
	case e.Index > maxParams:
		panic(failAt(t.start, sqltype.CodeSyntax, "there is no parameter %s", p.textOf(t)))
	case p.params > 0 && (e.Name == "") != (p.names == nil):
		panic(failAt(t.start, sqltype.CodeSyntax, "a statement's parameters have names or numbers, not both"))
	case e.Name != "" && e.Index > len(p.names):
		p.names = append(p.names, e.Name)
	}
	p.params = max(p.params, e.Index)
	return e
}
