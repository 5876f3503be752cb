package parser

import (
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// lexer cuts a text into tokens. It never fails: what it cannot read is a
// tokBad, and the error comes when the grammar reaches it.
type lexer struct {
	text string
	pos  int
}

// scan appends the tokens of text from pos on to buf, a tokEOF last.
func scan(text string, pos int, buf []token) []token {
	l := lexer{text: text, pos: pos}
	for {
		t := l.next()
		buf = append(buf, t)
		if t.kind == tokEOF {
			return buf
		}
	}
}

// peek is the byte n after the current one, or 0 at the end.
func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.text) {
		return l.text[l.pos+n]
	}
	return 0
}

// next reads one token.
func (l *lexer) next() token {
	if start, ok := l.skipBlank(); !ok {
		return l.token(tokBad, start)
	}
	start := l.pos
	if start >= len(l.text) {
		return l.token(tokEOF, start)
	}
	c := l.text[start]
	switch {
	case isNameStart(c):
		return l.word()
	case isDigit(c), c == '.' && isDigit(l.peek(1)):
		return l.number()
	}
	switch c {
	case '\'':
		return l.quoted(tokString, start, '\'')
	case '"', '`':
		return l.quoted(tokQuoted, start, c)
	case '$':
		return l.dollar()
	case '?':
		l.pos++
		return l.token(tokMark, start)
	}
	kind, n := operator(c, l.peek(1), l.peek(2), l.peek(3))
	l.pos += n
	return l.token(kind, start)
}

func (l *lexer) token(kind tokenKind, start int) token {
	return token{kind: kind, start: Pos(start), end: Pos(l.pos)}
}

// skipBlank passes blanks and comments. A comment without an end is not ok and
// runs to the end of the text.
func (l *lexer) skipBlank() (start int, ok bool) {
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '-' && l.peek(1) == '-':
			n := strings.IndexByte(l.text[l.pos:], '\n')
			if n < 0 {
				n = len(l.text) - l.pos
			}
			l.pos += n
		case c == '/' && l.peek(1) == '*':
			start = l.pos
			if !l.skipComment() {
				return start, false
			}
		default:
			return l.pos, true
		}
	}
	return l.pos, true
}

// skipComment passes a comment /* */; comments nest.
func (l *lexer) skipComment() bool {
	for depth := 0; l.pos < len(l.text); {
		switch {
		case l.text[l.pos] == '/' && l.peek(1) == '*':
			depth++
			l.pos += 2
		case l.text[l.pos] == '*' && l.peek(1) == '/':
			depth--
			l.pos += 2
			if depth == 0 {
				return true
			}
		default:
			l.pos++
		}
	}
	return false
}

// word reads a name or keyword, or a string with a letter before it.
func (l *lexer) word() token {
	start := l.pos
	if l.peek(1) == '\'' {
		switch l.text[start] {
		case 'e', 'E':
			l.pos++
			return l.quoted(tokEscaped, start, '\'')
		case 'x', 'X':
			l.pos++
			return l.quoted(tokHex, start, '\'')
		}
	}
	// The hash is of the folded letters, so that one pass finds the end of the
	// word and its place in the table.
	h := uint32(0)
	for l.pos < len(l.text) && isNamePart(l.text[l.pos]) {
		h = h*keywordFactor + uint32(l.text[l.pos]|0x20)
		l.pos++
	}
	t := l.token(tokIdent, start)
	t.word = keywords.find(l.text[start:l.pos], h)
	return t
}

// quoted reads text between two quotes, a doubled quote standing for one; in
// E” a backslash takes the next byte with it.
func (l *lexer) quoted(kind tokenKind, start int, quote byte) token {
	l.pos++
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case c == quote && l.peek(1) == quote, c == '\\' && kind == tokEscaped:
			l.pos += 2
		case c == quote:
			l.pos++
			return l.token(kind, start)
		default:
			l.pos++
		}
	}
	l.pos = len(l.text)
	return l.token(tokBad, start)
}

// number reads 1, 1_000, 1.5, .5, 1., 1e3, 0x1F, 0b1, 0o7. Letters straight
// after a number are an error: 1x is a slip, not 1 AS x.
func (l *lexer) number() token {
	start := l.pos
	if base := l.peek(1) | 0x20; l.text[start] == '0' && (base == 'x' || base == 'b' || base == 'o') {
		l.pos += 2
		for isNamePart(l.peek(0)) {
			l.pos++
		}
		if _, ok := parseRadix(l.text[start:l.pos]); !ok {
			return l.token(tokBad, start)
		}
		return l.token(tokNumber, start)
	}
	l.digits()
	if l.peek(0) == '.' {
		l.pos++
		l.digits()
	}
	if l.peek(0)|0x20 == 'e' {
		n := 1
		if c := l.peek(1); c == '+' || c == '-' {
			n = 2
		}
		if isDigit(l.peek(n)) {
			l.pos += n
			l.digits()
		}
	}
	if !isNameStart(l.peek(0)) {
		return l.token(tokNumber, start)
	}
	for isNamePart(l.peek(0)) {
		l.pos++
	}
	return l.token(tokBad, start)
}

// digits passes digits with single underscores between them.
func (l *lexer) digits() {
	for isDigit(l.peek(0)) || l.peek(0) == '_' && isDigit(l.peek(1)) && l.pos > 0 && isDigit(l.text[l.pos-1]) {
		l.pos++
	}
}

// dollar reads $1, $name or $tag$ text $tag$.
func (l *lexer) dollar() token {
	start := l.pos
	l.pos++
	if isDigit(l.peek(0)) {
		for isDigit(l.peek(0)) {
			l.pos++
		}
		return l.token(tokParam, start)
	}
	for c := l.peek(0); isNameStart(c) || isDigit(c); c = l.peek(0) {
		l.pos++
	}
	switch {
	case l.peek(0) == '$':
	case l.pos > start+1:
		return l.token(tokParam, start)
	default:
		return l.token(tokBad, start)
	}
	l.pos++
	tag := l.text[start:l.pos]
	n := strings.Index(l.text[l.pos:], tag)
	if n < 0 {
		l.pos = len(l.text)
		return l.token(tokBad, start)
	}
	l.pos += n + len(tag)
	return l.token(tokDollar, start)
}

// badToken is the error of a tokBad.
func badToken(text string) *sqltype.Error {
	msg := "invalid character %q"
	switch c := text[0]; {
	case c == '\'', (c|0x20 == 'e' || c|0x20 == 'x') && len(text) > 1:
		return sqltype.Errorf(sqltype.CodeSyntax, "unterminated quoted string")
	case c == '"', c == '`':
		return sqltype.Errorf(sqltype.CodeSyntax, "unterminated quoted name")
	case c == '/':
		return sqltype.Errorf(sqltype.CodeSyntax, "unterminated comment")
	case c == '$' && strings.IndexByte(text[1:], '$') >= 0:
		return sqltype.Errorf(sqltype.CodeSyntax, "unterminated dollar-quoted string")
	case isDigit(c), c == '.':
		msg = "invalid number %q"
	}
	return sqltype.Errorf(sqltype.CodeSyntax, msg, text)
}

// single are the operators and marks of one byte.
var single = [128]tokenKind{
	'(': tokLParen, ')': tokRParen, '[': tokLBracket, ']': tokRBracket, '{': tokLBrace, '}': tokRBrace,
	',': tokComma, ';': tokSemicolon, '.': tokDot, ':': tokColon, '=': tokEq, '<': tokLt, '>': tokGt,
	'+': tokPlus, '-': tokMinus, '*': tokStar, '/': tokSlash, '%': tokPercent, '^': tokCaret,
	'&': tokAmp, '|': tokPipe, '#': tokHash, '~': tokTilde,
}

// operator is the longest operator that begins with the bytes, and its length.
// The exceptions keep "a=-1" and "count(*)" working: only the sequences listed
// here are operators of more than one byte.
func operator(c, c1, c2, c3 byte) (tokenKind, int) {
	switch c {
	case ':':
		switch c1 {
		case ':':
			return tokCast, 2
		case '=':
			return tokAssign, 2
		}
	case '=':
		switch c1 {
		case '>':
			return tokArrow, 2
		case '=':
			return tokEq, 2
		}
	case '<':
		switch {
		case c1 == '=' && c2 == '>':
			return tokNullEq, 3
		case c1 == '=':
			return tokLe, 2
		case c1 == '>':
			return tokNe, 2
		case c1 == '<':
			return tokShl, 2
		case c1 == '@':
			return tokWithin, 2
		}
	case '>':
		switch c1 {
		case '=':
			return tokGe, 2
		case '>':
			return tokShr, 2
		}
	case '|':
		switch {
		case c1 == '|' && c2 == '/' && c3 != '*':
			return tokCubeRoot, 3
		case c1 == '|':
			return tokConcat, 2
		case c1 == '/' && c2 != '*':
			return tokRoot, 2
		}
	case '/':
		if c1 == '/' {
			return tokIntDiv, 2
		}
	case '#':
		switch {
		case c1 == '>' && c2 == '>':
			return tokPathText, 3
		case c1 == '>':
			return tokPath, 2
		}
	case '@':
		if c1 == '>' {
			return tokHolds, 2
		}
		return tokAt, 1
	case '&':
		if c1 == '&' {
			return tokOverlap, 2
		}
	case '*':
		if c1 == '*' { // DuckDB's way to write ^
			return tokCaret, 2
		}
	case '^':
		if c1 == '@' {
			return tokStarts, 2
		}
	case '-':
		switch {
		case c1 == '>' && c2 == '>':
			return tokGetText, 3
		case c1 == '>':
			return tokGet, 2
		}
	case '~':
		switch {
		case c1 == '~' && c2 == '*':
			return tokILike, 3
		case c1 == '~':
			return tokLike, 2
		case c1 == '*':
			return tokTildeAny, 2
		}
	case '!':
		switch {
		case c1 == '=':
			return tokNe, 2
		case c1 == '~' && c2 == '~' && c3 == '*':
			return tokNotILike, 4
		case c1 == '~' && c2 == '~':
			return tokNotLike, 3
		case c1 == '~' && c2 == '*':
			return tokNotTildeAny, 3
		case c1 == '~':
			return tokNotTilde, 2
		}
	}
	if c < 128 && single[c] != 0 {
		return single[c], 1
	}
	return tokBad, 1
}
