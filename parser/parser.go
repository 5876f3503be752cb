package parser

import "github.com/gpusql/gpusql/sqltype"

// Parsed is one statement of a text.
type Parsed struct {
	Statement  Statement
	Text       string // as written, without the semicolon and the blanks around
	Start, End Pos    // where Text lies in the text given to Parse
	Params     int    // how many parameters it takes: the highest number
}

// Parse reads the statements of a text, separated by semicolons. Positions in
// the trees and in errors are offsets into the whole text. An error means that
// no statement is returned.
func Parse(text string) ([]Parsed, error) {
	return nil, sqltype.Errorf(sqltype.CodeNotSupported, "not yet")
}

// ParseExpr reads one expression.
func ParseExpr(text string) (Expr, error) {
	return nil, sqltype.Errorf(sqltype.CodeNotSupported, "not yet")
}

// Complete reports that text ends a statement: its last token is a semicolon
// outside strings and comments, or it has no token at all.
func Complete(text string) bool { return true }

// Keywords are the words of the language, upper case, sorted.
func Keywords() []string { return nil }

// Format writes a statement so that it parses back to the same tree.
func Format(s Statement) string { return "" }

// FormatExpr writes an expression so that it parses back to the same tree.
func FormatExpr(e Expr) string { return "" }
