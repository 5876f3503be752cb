package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Kind is what a record asks for.
type Kind uint8

// The records that a script is made of.
const (
	StatementOK Kind = iota
	StatementError
	StatementCount
	Query
	HashThreshold
	Halt
)

// Sort is how the values of a result are ordered before they are compared.
type Sort uint8

// The sort modes of a query.
const (
	NoSort Sort = iota
	RowSort
	ValueSort
)

// Record is one entry of a script.
type Record struct {
	Kind       Kind
	File       string
	Line       int // of the record's first word
	SQL        string
	Count      int64          // StatementCount, HashThreshold
	Message    *regexp.Regexp // StatementError: what the message must match, or nil
	Types      string         // Query: a letter a column
	Sort       Sort
	Label      string
	Expected   []string // lines after ----
	Checked    bool     // there was a ----
	Conditions []Condition
}

// Condition is an onlyif or skipif before a record.
type Condition struct {
	Only bool
	Name string
}

// holds reports whether a record under all conditions is run by an engine of these names.
func holds(conditions []Condition, names []string) bool {
	for _, c := range conditions {
		match := false
		for _, n := range names {
			match = match || strings.EqualFold(c.Name, n)
		}
		if match != c.Only {
			return false
		}
	}
	return true
}

// maxInclude is how deep files may include each other.
const maxInclude = 16

// ParseFile reads a script and the files that it includes.
func ParseFile(path string) ([]Record, error) { return parseFile(path, 0) }

func parseFile(path string, depth int) ([]Record, error) {
	if depth > maxInclude {
		return nil, fmt.Errorf("%s: included too deeply", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, string(text), depth)
}

// scanner walks the lines of a script.
type scanner struct {
	file  string
	lines []string
	next  int // offset of the line to read
	depth int
}

func parse(path, text string, depth int) ([]Record, error) {
	s := &scanner{file: path, depth: depth}
	for _, l := range strings.Split(text, "\n") {
		s.lines = append(s.lines, strings.TrimSuffix(l, "\r"))
	}
	var records []Record
	var conditions []Condition
	for s.next < len(s.lines) {
		words := strings.Fields(s.lines[s.next])
		if len(words) == 0 || words[0][0] == '#' {
			s.next++
			continue
		}
		if words[0] == "onlyif" || words[0] == "skipif" {
			if len(words) < 2 {
				return nil, s.errorf("%s needs a name", words[0])
			}
			conditions = append(conditions, Condition{Only: words[0] == "onlyif", Name: words[1]})
			s.next++
			continue
		}
		more, err := s.record(words)
		if err != nil {
			return nil, err
		}
		for i := range more {
			more[i].Conditions = append(more[i].Conditions, conditions...)
		}
		conditions = nil
		records = append(records, more...)
	}
	return records, nil
}

func (s *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", s.file, s.next+1, fmt.Sprintf(format, args...))
}

// record reads the record whose first line has these words; include gives many.
func (s *scanner) record(words []string) ([]Record, error) {
	r := Record{File: s.file, Line: s.next + 1}
	switch words[0] {
	case "halt":
		r.Kind = Halt
	case "hash-threshold":
		if len(words) < 2 {
			return nil, s.errorf("hash-threshold needs a number")
		}
		n, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			return nil, s.errorf("hash-threshold: %q is not a number", words[1])
		}
		r.Kind, r.Count = HashThreshold, n
	case "include":
		if len(words) < 2 {
			return nil, s.errorf("include needs a file")
		}
		s.next++
		return parseFile(filepath.Join(filepath.Dir(s.file), words[1]), s.depth+1)
	case "statement", "query":
		head := s.statementHead
		if words[0] == "query" {
			head = s.queryHead
		}
		if err := head(&r, words); err != nil {
			return nil, err
		}
		s.next++
		if err := s.body(&r); err != nil {
			return nil, err
		}
		return []Record{r}, nil
	default:
		return nil, s.errorf("unknown record %q", words[0])
	}
	s.next++
	return []Record{r}, nil
}

func (s *scanner) statementHead(r *Record, words []string) error {
	if len(words) < 2 {
		return s.errorf("statement needs ok, error or count")
	}
	switch words[1] {
	case "ok":
		r.Kind = StatementOK
	case "error":
		r.Kind = StatementError
		return s.message(r, afterWords(s.lines[s.next], 2))
	case "count":
		if len(words) < 3 {
			return s.errorf("statement count needs a number")
		}
		n, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			return s.errorf("statement count: %q is not a number", words[2])
		}
		r.Kind, r.Count = StatementCount, n
	default:
		return s.errorf("statement %q: want ok, error or count", words[1])
	}
	return nil
}

func (s *scanner) queryHead(r *Record, words []string) error {
	if len(words) > 1 && words[1] == "error" {
		r.Kind = StatementError
		return s.message(r, afterWords(s.lines[s.next], 2))
	}
	r.Kind = Query
	rest := words[1:]
	if len(rest) > 0 {
		r.Types = rest[0]
		if bad := strings.Trim(r.Types, "TIRB?"); bad != "" {
			return s.errorf("query types %q: want T, I or R for each column", r.Types)
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		switch rest[0] {
		case "nosort":
			rest = rest[1:]
		case "rowsort":
			r.Sort, rest = RowSort, rest[1:]
		case "valuesort":
			r.Sort, rest = ValueSort, rest[1:]
		}
	}
	if len(rest) > 0 && rest[0][0] != '#' {
		r.Label = rest[0]
	}
	return nil
}

// message sets what an error must match: a regular expression.
func (s *scanner) message(r *Record, pattern string) error {
	if pattern == "" || pattern[0] == '#' {
		return nil
	}
	re, err := regexp.Compile("(?is)" + pattern)
	if err != nil {
		return s.errorf("%v", err)
	}
	r.Message = re
	return nil
}

// afterWords is what follows the first n words of a line.
func afterWords(line string, n int) string {
	for range n {
		line = strings.TrimLeft(line, " \t")
		i := strings.IndexAny(line, " \t")
		if i < 0 {
			return ""
		}
		line = line[i:]
	}
	return strings.TrimSpace(line)
}

// body reads the SQL of a record, and what is expected after ----.
func (s *scanner) body(r *Record) error {
	var sql []string
	for ; s.next < len(s.lines) && strings.TrimSpace(s.lines[s.next]) != ""; s.next++ {
		if strings.TrimSpace(s.lines[s.next]) != "----" {
			sql = append(sql, s.lines[s.next])
			continue
		}
		r.Checked = true
		for s.next++; s.next < len(s.lines) && s.lines[s.next] != ""; s.next++ {
			r.Expected = append(r.Expected, s.lines[s.next])
		}
		break
	}
	r.SQL = strings.Join(sql, "\n")
	if len(sql) == 0 {
		return s.errorf("a record without SQL")
	}
	if r.Kind == StatementError && len(r.Expected) > 0 && r.Message == nil {
		text := strings.Join(r.Expected, "\n")
		if pattern, ok := strings.CutPrefix(text, "<REGEX>:"); ok {
			return s.message(r, pattern)
		}
		return s.message(r, regexp.QuoteMeta(text))
	}
	return nil
}
