package mysql

import (
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

// adaptQuery blanks the ALL of SELECT ALL and COUNT(ALL x), which is MySQL's and
// says nothing, and which sqlparser does not know. Positions stay as they are.
// DATE '...', which sqlparser takes for a column and its alias, is an error.
func adaptQuery(text string) (string, *sqltype.Error) {
	var out []byte
	last := "" // the token before, a word or a byte
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case isBlank(c), isLineComment(text[i:]), strings.HasPrefix(text[i:], "/*"):
			i = skip(text, i)
		case isLetter(c):
			end := wordEnd(text, i)
			word := text[i:end]
			if strings.EqualFold(word, "all") && (last == "(" || strings.EqualFold(last, "select")) {
				out = blank(out, text, i, end)
			}
			last, i = word, end
		case c == '\'' || c == '"':
			if t := strings.ToUpper(last); t == "DATE" || t == "TIME" || t == "TIMESTAMP" {
				e := sqltype.Errorf(sqltype.CodeNotSupported, "%s before a string is not supported in MySQL's dialect", t)
				e.Hint = "write CAST('...' AS " + strings.Replace(t, "TIMESTAMP", "DATETIME", 1) + ")"
				return "", e.At(i)
			}
			last, i = "", skip(text, i)
		default:
			last = text[i : i+1]
			i = skip(text, i)
		}
	}
	if out == nil {
		return text, nil
	}
	return string(out), nil
}

// adaptDefinition blanks what our grammar does not know: comments after #, and
// the lengths in UNIQUE (a(10)), PRIMARY KEY (a(10)) and the columns of CREATE
// INDEX: MySQL cannot hold a whole text in a key, ours do.
func adaptDefinition(text string, start, end int) string {
	var out []byte
	var keys []bool // for every open parenthesis: does it hold a key's columns
	last, index := "", false
	for i := start; i < end; {
		switch c := text[i]; {
		case c == '#':
			next := min(skip(text, i), end)
			out = blank(out, text, i, next)
			i = next
			continue
		case isBlank(c), isLineComment(text[i:]), strings.HasPrefix(text[i:], "/*"):
			i = skip(text, i)
			continue
		case isLetter(c):
			next := wordEnd(text, i)
			last = strings.ToLower(text[i:next])
			index = index || last == "index"
			i = next
			continue
		case c == '(':
			if n := lengthEnd(text[i:end]); n > 0 && len(keys) > 0 && keys[len(keys)-1] {
				out = blank(out, text, i, i+n)
				i += n
				continue
			}
			keys = append(keys, last == "unique" || last == "key" || index && len(keys) == 0)
		case c == ')' && len(keys) > 0:
			keys = keys[:len(keys)-1]
		}
		last = ""
		i = skip(text, i)
	}
	if out == nil {
		return text
	}
	return string(out)
}

// lengthEnd is the length of "(digits)" at the beginning of s, or 0.
func lengthEnd(s string) int {
	n := 1
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	if n == 1 || n == len(s) || s[n] != ')' {
		return 0
	}
	return n + 1
}

// blank overwrites text[i:end] with blanks in out, a copy of text made when it
// is first wanted.
func blank(out []byte, text string, i, end int) []byte {
	if out == nil {
		out = []byte(text)
	}
	for ; i < end; i++ {
		out[i] = ' '
	}
	return out
}
