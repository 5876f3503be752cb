package mysql

import "strings"

// piece is a part of a text: a statement, or the query inside one.
type piece struct {
	whole      string
	start, end int
}

func (p piece) text() string { return p.whole[p.start:p.end] }

// from is the piece from a place of the whole text on.
func (p piece) from(at int) piece { return piece{p.whole, at, p.end} }

// split cuts a text at the semicolons outside strings, names and comments, as
// MySQL reads them: a backslash takes the next byte of a string with it, # and
// "-- " begin a comment.
func split(text string) []piece {
	var list []piece
	start := 0
	for i := 0; i < len(text); {
		if text[i] == ';' {
			list = append(list, trim(text, start, i))
			i++
			start = i
			continue
		}
		i = skip(text, i)
	}
	return append(list, trim(text, start, len(text)))
}

func trim(text string, start, end int) piece {
	for start < end && isBlank(text[start]) {
		start++
	}
	for start < end && isBlank(text[end-1]) {
		end--
	}
	return piece{text, start, end}
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

// skip is the place after the string, name, comment or byte at i.
func skip(text string, i int) int {
	switch c := text[i]; {
	case c == '\'' || c == '"' || c == '`':
		for i++; i < len(text); i++ {
			switch {
			case text[i] == '\\' && c != '`':
				i++
			case text[i] == c:
				return i + 1 // a doubled quote begins the next string at once
			}
		}
		return len(text)
	case isLineComment(text[i:]):
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			return i + n + 1
		}
		return len(text)
	case strings.HasPrefix(text[i:], "/*"):
		if n := strings.Index(text[i+2:], "*/"); n >= 0 {
			return i + 2 + n + 2
		}
		return len(text)
	}
	return i + 1
}

// isLineComment reports "#" or "--" and a blank.
func isLineComment(s string) bool {
	return s[0] == '#' || strings.HasPrefix(s, "--") && (len(s) == 2 || isBlank(s[2]))
}

func isLetter(c byte) bool { return (c|0x20)-'a' <= 'z'-'a' || c == '_' || c-'0' <= 9 }

// fold is the lower case of ASCII letters, byte for byte: positions stay.
func fold(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c-'A' <= 'Z'-'A' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// firstWord is the first word of the piece in lower case, and the place after
// it; a parenthesis is a word, and a comment is none.
func (p piece) firstWord() (word string, end int) {
	text := p.whole[:p.end]
	for i := p.start; i < p.end; i = skip(text, i) {
		switch c := text[i]; {
		case isBlank(c), isLineComment(text[i:]), strings.HasPrefix(text[i:], "/*"):
		case isLetter(c):
			end = wordEnd(text, i)
			return strings.ToLower(text[i:end]), end
		default:
			return text[i : i+1], i + 1
		}
	}
	return "", p.end
}

func wordEnd(text string, i int) int {
	for i < len(text) && isLetter(text[i]) {
		i++
	}
	return i
}

// unwrap is the piece without parentheses around all of it: sqlparser knows
// them only around the operands of UNION.
func (p piece) unwrap() piece {
	for {
		p = trim(p.whole, p.start, p.end)
		if p.start == p.end || p.whole[p.start] != '(' {
			return p
		}
		depth, i := 0, p.start
		for ; i < p.end; i = skip(p.whole[:p.end], i) {
			if c := p.whole[i]; c == '(' {
				depth++
			} else if c == ')' {
				depth--
			}
			if depth == 0 {
				break
			}
		}
		if i != p.end-1 {
			return p
		}
		p = piece{p.whole, p.start + 1, p.end - 1}
	}
}

// queryAt is where the query of a CREATE begins: after AS, or at SELECT, outside
// all parentheses. -1 when there is none.
func (p piece) queryAt() int {
	text, depth := p.whole[:p.end], 0
	for i := p.start; i < p.end; {
		if !isLetter(text[i]) {
			switch text[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
			i = skip(text, i)
			continue
		}
		end := wordEnd(text, i)
		if depth == 0 && strings.EqualFold(text[i:end], "as") {
			return end
		}
		if depth == 0 && strings.EqualFold(text[i:end], "select") {
			return i
		}
		i = end
	}
	return -1
}
