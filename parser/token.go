package parser

// tokenKind says what a token is. Every operator is a kind of its own, so that
// the grammar compares numbers and never text.
type tokenKind uint8

// The closed set of token kinds.
const (
	tokEOF     tokenKind = iota
	tokIdent             // a word: its keyword, if it is one, is beside it
	tokQuoted            // "name" or `name`
	tokNumber            // 1, 1.5, 1e3, 0x1F
	tokString            // 'text'
	tokEscaped           // E'text\n'
	tokDollar            // $$text$$, $tag$text$tag$
	tokHex               // x'ab'
	tokMark              // ?
	tokParam             // $1, $name
	tokBad               // what the lexer could not read; badToken says why
	tokLParen
	tokRParen
	tokLBracket
	tokRBracket
	tokLBrace
	tokRBrace
	tokComma
	tokSemicolon
	tokDot
	tokColon
	tokCast     // ::
	tokAssign   // :=
	tokArrow    // =>
	tokEq       // = and ==
	tokNe       // <> and !=
	tokLt       // <
	tokLe       // <=
	tokGt       // >
	tokGe       // >=
	tokNullEq   // <=>
	tokPlus     // +
	tokMinus    // -
	tokStar     // *
	tokSlash    // /
	tokIntDiv   // //
	tokPercent  // %
	tokCaret    // ^
	tokConcat   // ||
	tokAmp      // &
	tokPipe     // |
	tokHash     // #
	tokPath     // #>
	tokPathText // #>>
	tokShl      // <<
	tokShr      // >>
	tokTilde    // ~
	tokTildeAny // ~*
	tokNotTilde // !~
	tokNotTildeAny
	tokLike     // ~~
	tokILike    // ~~*
	tokNotLike  // !~~
	tokNotILike // !~~*
	tokStarts   // ^@
	tokGet      // ->
	tokGetText  // ->>
	tokHolds    // @>
	tokWithin   // <@
	tokOverlap  // &&
	tokRoot     // |/
	tokCubeRoot // ||/
	tokAt       // @
)

// token is a piece of the text. Its value is decoded only when it is used.
type token struct {
	start, end Pos
	kind       tokenKind
	word       keyword // of a tokIdent; kwNone for a plain name
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// isNameStart and isNamePart take every byte above ASCII, as PostgreSQL does:
// names may be in any script.
func isNameStart(c byte) bool { return (c|0x20)-'a' <= 'z'-'a' || c == '_' || c >= 0x80 }

func isNamePart(c byte) bool { return isNameStart(c) || isDigit(c) || c == '$' }
