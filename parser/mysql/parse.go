package mysql

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/xwb1989/sqlparser"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// Parse reads the statements of a text in MySQL's dialect. An error means that
// no statement is returned.
func Parse(text string) ([]parser.Parsed, error) {
	var list []parser.Parsed
	for _, p := range split(text) {
		s, err := parseStatement(p)
		if err != nil {
			return nil, err
		}
		if s.Statement != nil { // or there were only comments
			s.Start, s.End, s.Text = parser.Pos(p.start), parser.Pos(p.end), p.text()
			list = append(list, s)
		}
	}
	return list, nil
}

// parseStatement reads one statement.
func parseStatement(p piece) (parser.Parsed, error) {
	switch word, rest := p.firstWord(); word {
	case "":
		return parser.Parsed{}, nil
	case "select", "insert", "update", "delete", "replace", "(":
		return parseQuery(p)
	case "explain", "describe", "desc":
		e := &parser.Explain{}
		body := p.from(rest)
		if word, rest := body.firstWord(); word == "analyze" {
			e.Analyze = true
			body = body.from(rest)
		}
		switch word, _ := body.firstWord(); word {
		case "select", "insert", "update", "delete", "replace", "(":
			s, err := parseQuery(body)
			e.Statement, s.Statement = s.Statement, e
			return s, err
		}
	case "create":
		if at := p.queryAt(); at >= 0 {
			return parseCreateAs(p, at)
		}
	case "with", "values", "table", "prepare":
		// Our grammar would read the query with our meanings, not MySQL's.
		return parser.Parsed{}, refuse("%s", strings.ToUpper(word)).err.At(p.start)
	}
	return parseOurs(adaptDefinition(p.whole, p.start, p.end), p.start, p.end)
}

// parseOurs reads a statement that is the same in both dialects.
func parseOurs(text string, start, end int) (parser.Parsed, error) {
	list, err := parser.ParsePart(text, start, end)
	if err != nil || len(list) == 0 {
		return parser.Parsed{}, err
	}
	if len(list) > 1 { // the dialects see the end of a string in different places
		return parser.Parsed{}, sqltype.Errorf(sqltype.CodeSyntax, "syntax error in a string").At(start)
	}
	return list[0], nil
}

// parseCreateAs reads CREATE TABLE or VIEW ... AS query, the query being at a
// place. The head is ours: it is read with a query of its own, which the real
// one then replaces.
func parseCreateAs(p piece, at int) (parser.Parsed, error) {
	switch word, _ := p.from(at).firstWord(); word {
	case "select", "(":
	case "with", "values", "table":
		return parser.Parsed{}, refuse("a query that does not begin with SELECT").err.At(at)
	default:
		return parseOurs(p.whole, p.start, p.end) // and its error
	}
	head := p.whole[:at] + " AS SELECT 1"
	if !isLetter(p.whole[at]) { // AS was written
		head = p.whole[:at] + " SELECT 1"
	}
	s, err := parseOurs(head, p.start, len(head))
	var e *sqltype.Error
	if errors.As(err, &e) && e.Pos > at+1 {
		// In the query that stands in: the fault is where the real one begins.
		err = sqltype.Errorf(e.Code, "%s", e.Msg).At(at)
	}
	if err != nil {
		return s, err
	}
	body, err := parseQuery(p.from(at))
	if err != nil {
		return s, err
	}
	q, ok := body.Statement.(*parser.Query)
	if !ok {
		panic(fmt.Sprintf("mysql: SELECT is a %T", body.Statement))
	}
	switch c := s.Statement.(type) {
	case *parser.CreateTable:
		c.As = q
	case *parser.CreateView:
		// The text of a view is read again in our own dialect.
		c.Query, c.Text = q, parser.Format(q)
	default:
		return s, sqltype.Errorf(sqltype.CodeSyntax, "syntax error: no query can stand here").At(at)
	}
	s.Params = body.Params
	return s, nil
}

// parseQuery reads a query or data change with sqlparser.
func parseQuery(p piece) (s parser.Parsed, err error) {
	tree, err := parseStrict(p.unwrap())
	if err != nil {
		return s, err
	}
	c := converter{}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			err = r.err
		default:
			panic(r)
		}
	}()
	s.Statement = c.statement(tree)
	s.Params = c.params
	return s, nil
}

// parseStrict is sqlparser's ParseStrictDDL with its panics and errors made
// into ours.
func parseStrict(p piece) (tree sqlparser.Statement, err error) {
	defer func() {
		if r := recover(); r != nil {
			tree, err = nil, sqltype.Errorf(sqltype.CodeSyntax, "syntax error: the statement could not be read").At(p.start)
		}
	}()
	text, refused := adaptQuery(p.text())
	if refused != nil {
		refused.Pos += p.start
		return nil, refused
	}
	m := markSetOps(text)
	tree, err = sqlparser.ParseStrictDDL(m.text)
	if err != nil {
		return nil, syntaxError(p, m, err)
	}
	return tree, nil
}

// syntaxError finds the place of sqlparser's error, which says "syntax error at
// position 8 near 'x'": a position somewhere after the token, in the marked text.
func syntaxError(p piece, m marked, err error) *sqltype.Error {
	_, rest, ok := strings.Cut(err.Error(), " at position ")
	if !ok {
		return sqltype.Errorf(sqltype.CodeSyntax, "%s", err).At(p.start)
	}
	number, near, ok := strings.Cut(rest, " near ")
	if !ok {
		return sqltype.Errorf(sqltype.CodeSyntax, "syntax error at end of input").At(p.end)
	}
	n, _ := strconv.Atoi(number)
	n = min(max(n, 0), len(m.text))
	token := strings.TrimSuffix(strings.TrimPrefix(near, "'"), "'")
	at := strings.LastIndex(fold(m.text[:n]), fold(token))
	if at < 0 {
		at = max(n-1, 0)
	}
	at = p.start + m.place(at)
	if strings.EqualFold(token, "union") { // or what it stands for
		token = p.whole[at:wordEnd(p.whole[:p.end], at)]
	}
	return sqltype.Errorf(sqltype.CodeSyntax, "syntax error at or near \"%s\"", token).At(at)
}

// refusal carries an error out of the converter.
type refusal struct{ err *sqltype.Error }

func refuse(format string, args ...any) refusal {
	return refusal{sqltype.Errorf(sqltype.CodeNotSupported, "%s is not supported in MySQL's dialect",
		fmt.Sprintf(format, args...))}
}
