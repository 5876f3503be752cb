package mysql

import (
	"slices"
	"strings"

	"github.com/xwb1989/sqlparser"

	"github.com/gpusql/gpusql/parser"
)

// The marks that tell sqlparser's UNIONs apart: comments of the first SELECT of
// a right operand, which sqlparser keeps. All have the same length.
const (
	markUnion     = "/*u*/"
	markExcept    = "/*e*/"
	markIntersect = "/*i*/"
)

// marked is a text whose EXCEPTs and INTERSECTs, which sqlparser does not know,
// are UNIONs; what was written is a mark after the SELECT that follows.
//
//	a EXCEPT    ALL (SELECT    b)
//	a UNION     ALL (SELECT/*e*/ b)
//
// Every UNION is marked too, so that no comment of the user's is taken for a mark.
type marked struct {
	text  string
	marks []int // where in the text the marks begin
}

// markSetOps marks the set operators of a text, at all depths. A word is one
// when a SELECT follows it, and otherwise a name or sqlparser's syntax error.
func markSetOps(text string) marked {
	var m marked
	var out strings.Builder
	done := 0 // what is copied already
	for i := 0; i < len(text); {
		if !isLetter(text[i]) {
			i = skip(text, i)
			continue
		}
		end := wordEnd(text, i)
		mark := markOf(text[i:end])
		after := -1
		if mark != "" && (i == 0 || text[i-1] != '.') {
			after = selectAfter(text, end)
		}
		if after < 0 {
			i = end
			continue
		}
		out.WriteString(text[done:i])
		out.WriteString("UNION" + strings.Repeat(" ", end-i-len("UNION")))
		out.WriteString(text[end:after])
		m.marks = append(m.marks, out.Len())
		out.WriteString(mark)
		i, done = after, after
	}
	if m.marks == nil {
		return marked{text: text}
	}
	out.WriteString(text[done:])
	m.text = out.String()
	return m
}

func markOf(word string) string {
	switch {
	case strings.EqualFold(word, "union"):
		return markUnion
	case strings.EqualFold(word, "except"):
		return markExcept
	case strings.EqualFold(word, "intersect"):
		return markIntersect
	}
	return ""
}

// selectAfter is the place after the SELECT that begins the right operand of a
// set operator, -1 when none does.
func selectAfter(text string, at int) int {
	for {
		word, end := piece{text, at, len(text)}.firstWord()
		switch word {
		case "all", "distinct", "(":
			at = end
		case "select":
			return end
		default:
			return -1
		}
	}
}

// place is where a place of the marked text is in the text without marks.
func (m marked) place(at int) int {
	n, _ := slices.BinarySearch(m.marks, at)
	return at - n*len(markUnion)
}

// setOp is the operator before a right operand.
func setOp(s sqlparser.SelectStatement) parser.SetOp {
	for {
		switch t := s.(type) {
		case *sqlparser.ParenSelect:
			s = t.Select
			continue
		case *sqlparser.Union:
			s = t.Left
			continue
		case *sqlparser.Select:
			if len(t.Comments) > 0 {
				switch string(t.Comments[0]) {
				case markExcept:
					return parser.Except
				case markIntersect:
					return parser.Intersect
				}
			}
		}
		return parser.Union
	}
}

// setQuery converts a chain of set operators, which sqlparser groups to the
// left. INTERSECT binds tighter than UNION and EXCEPT.
func (c *converter) setQuery(u *sqlparser.Union) parser.QueryBody {
	chain := []*sqlparser.Union{u}
	for {
		left, ok := u.Left.(*sqlparser.Union)
		if !ok || left.OrderBy != nil || left.Limit != nil || left.Lock != "" {
			break
		}
		c.enter() // the tree is as deep as the chain is long
		chain = append(chain, left)
		u = left
	}
	term := c.operand(u.Left)
	var sum *parser.SetQuery // waits for its right operand, the term
	for _, u := range slices.Backward(chain) {
		s := &parser.SetQuery{Op: setOp(u.Right), All: u.Type == sqlparser.UnionAllStr, Left: term}
		right := c.operand(u.Right)
		if s.Op == parser.Intersect {
			s.Right, term = right, s
			continue
		}
		if sum != nil {
			sum.Right, s.Left = term, sum
		}
		sum, term = s, right
	}
	c.depth -= len(chain) - 1
	if sum == nil {
		return term
	}
	sum.Right = term
	return sum
}
