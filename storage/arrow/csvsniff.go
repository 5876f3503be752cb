package arrow

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpusql/gpusql/sqltype"
)

const (
	sampleRecords = 20480
	sampleBytes   = 4 << 20
)

// sniff looks at the file's beginning for what was not said: the delimiter,
// whether there is a header, names and types. It finds the first record.
func (c *csvFile) sniff() error {
	text, whole, err := c.sample()
	if err != nil {
		return badFile(c.name, err)
	}
	begin := 0
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		begin = 3
	}
	for range c.o.Skip {
		i := bytes.IndexByte(text[begin:], '\n')
		if i < 0 {
			begin = len(text)
			break
		}
		begin += i + 1
	}
	body := text[begin:]
	if c.o.Delimiter == 0 {
		c.o.Delimiter = guessDelimiter(body, c.o)
	}
	if !whole {
		body = c.wholeRecords(body)
	}
	if c.schema != nil && c.o.Header != HeaderYes {
		c.starts = []int64{int64(begin)}
		return nil
	}
	s := csvSplitter{o: c.o}
	s.reset(append(slices.Clone(body), make([]byte, textPadding)...), len(body))
	first, err := c.sniffRecords(&s, text[:begin])
	if err != nil {
		return err
	}
	c.starts = []int64{int64(begin + first)}
	return nil
}

// sniffRecords finds the schema, and where the first record behind the header is.
func (c *csvFile) sniffRecords(s *csvSplitter, before []byte) (int, error) {
	fail := func(at int, err error) error {
		line := 1 + bytes.Count(before, []byte{'\n'}) + bytes.Count(s.data[:at], []byte{'\n'})
		return sqltype.Errorf(sqltype.CodeBadFile, "%s: line %d: %v", c.name, line, err)
	}
	more, err := s.record()
	if err != nil {
		return 0, fail(0, err)
	}
	if !more {
		if c.schema != nil {
			return 0, nil
		}
		return 0, sqltype.Errorf(sqltype.CodeBadFile, "%s: the file is empty", c.name)
	}
	behind := min(s.pos, s.end)
	if c.schema != nil { // and a header
		return behind, nil
	}
	first := make([]string, len(s.row))
	for i, sp := range s.row {
		first[i] = string(s.text(sp))
	}
	if n := len(first); n > 1 && first[n-1] == "" { // a delimiter behind the last field
		first = first[:n-1]
	}
	types := make([]typeGuess, len(first))
	for range c.o.Sample {
		at := s.pos
		if more, err = s.record(); err != nil {
			return 0, fail(at, err)
		}
		if !more {
			break
		}
		if n := len(s.row); n < len(types) || n > len(types)+1 {
			continue // an error when it is read, or a record to be passed over
		}
		for i := range types {
			if text := s.text(s.row[i]); s.row[i].n != 0 && string(text) != c.o.Null {
				types[i].see(text)
			}
		}
	}
	header := c.o.Header == HeaderYes || c.o.Header == HeaderGuess && looksLikeHeader(first)
	if !header {
		behind = 0
		for i, text := range first {
			if text != c.o.Null {
				types[i].see([]byte(text))
			}
		}
	}
	c.setSchema(first, types, header)
	return behind, c.setTypes()
}

// setTypes gives columns the types that were said.
func (c *csvFile) setTypes() error {
	if k := max(len(c.o.Types), len(c.o.Names)); k > len(c.schema) {
		return sqltype.Errorf(sqltype.CodeInvalidParameter, "%s: %d columns are described, and it has %d", c.name, k, len(c.schema))
	}
	for i, t := range c.o.Types {
		if t.Kind != sqltype.KindNull {
			c.schema[i].Type = t
		}
	}
	for _, n := range c.o.NamedTypes {
		i := slices.IndexFunc(c.schema, func(col sqltype.Column) bool { return strings.EqualFold(col.Name, n.Name) })
		if i < 0 {
			return sqltype.Errorf(sqltype.CodeUndefinedColumn, "%s: there is no column %q", c.name, n.Name)
		}
		c.schema[i].Type = n.Type
	}
	return nil
}

// setSchema makes the columns.
func (c *csvFile) setSchema(first []string, types []typeGuess, header bool) {
	names := make([]string, len(first))
	for i := range names {
		switch {
		case i < len(c.o.Names):
			names[i] = c.o.Names[i]
		case header && first[i] != "":
			names[i] = first[i]
		default:
			names[i] = fmt.Sprintf("column%d", i)
		}
	}
	for i, name := range uniqueNames(names) {
		col := sqltype.Column{Name: name, Type: types[i].best()}
		if c.o.AllText {
			col.Type = sqltype.Varchar
		}
		c.schema = append(c.schema, col)
	}
}

// uniqueNames numbers the names that came before, in any case.
func uniqueNames(names []string) []string {
	seen := map[string]int{}
	out := make([]string, len(names))
	for i, name := range names {
		key := strings.ToLower(name)
		out[i] = name
		for n := seen[key]; n > 0 && seen[strings.ToLower(out[i])] > 0; n++ {
			out[i] = name + "_" + strconv.Itoa(n)
		}
		seen[key]++
		if out[i] != name {
			seen[strings.ToLower(out[i])]++
		}
	}
	return out
}

// guessDelimiter is the one that gives all of the first records the same
// number of fields, the most of them.
func guessDelimiter(text []byte, o CSVOptions) byte {
	best, most := byte(','), 1
	for _, d := range []byte{',', '|', ';', '\t'} {
		o.Delimiter = d
		s := csvSplitter{o: o}
		part := text[:min(len(text), 64<<10)]
		s.reset(append(slices.Clone(part), make([]byte, textPadding)...), len(part))
		fields := 0
		for n := 0; n < 100; n++ {
			more, err := s.record()
			if err != nil && len(part) == len(text) {
				fields = 0
			}
			if err != nil || !more || s.pos > s.end && len(part) < len(text) {
				break
			}
			if len(s.row) == 1 && s.row[0].n == 0 {
				continue
			}
			if fields != 0 && fields != len(s.row) {
				fields = 0
				break
			}
			fields = len(s.row)
		}
		if fields > most {
			best, most = d, fields
		}
	}
	return best
}

// looksLikeHeader reports that the first record has names: text, told once, and
// unlike the values below it, or with no other than text there.
func looksLikeHeader(first []string) bool {
	seen := map[string]bool{}
	for _, text := range first {
		var g typeGuess
		g.see([]byte(text))
		if text == "" || seen[text] || g.best() != sqltype.Varchar {
			return false
		}
		seen[text] = true
	}
	return true
}

// typeGuess is what types a column's values could all have.
type typeGuess struct {
	some bool
	not  [len(guesses)]bool
}

// guesses are the types that a column may be guessed to have, the first that
// fits all values.
var guesses = [...]struct {
	typ  sqltype.Type
	fits func([]byte) bool
}{
	{sqltype.Bool, func(s []byte) bool {
		return strings.EqualFold(string(s), "true") || strings.EqualFold(string(s), "false")
	}},
	{sqltype.Int64, func(s []byte) bool { return reads(s, sqltype.Int64, plainInt) }},
	{sqltype.Float64, func(s []byte) bool { return reads(s, sqltype.Float64, plainFloat) }},
	{sqltype.Time, func(s []byte) bool {
		return len(s) >= 5 && s[2] == ':' && parses(s, sqltype.Time)
	}},
	{sqltype.Date, func(s []byte) bool {
		return reads(s, sqltype.Date, plainDate) || looksLikeDate(s) && len(s) <= 10 && parses(s, sqltype.Date)
	}},
	{sqltype.Timestamp, func(s []byte) bool {
		return reads(s, sqltype.Timestamp, plainTimestamp) || looksLikeDate(s) && !hasZone(s) && parses(s, sqltype.Timestamp)
	}},
	{sqltype.TimestampTZ, func(s []byte) bool { return looksLikeDate(s) && parses(s, sqltype.TimestampTZ) }},
}

// reads reports that a value is one of a type: by its quick reader, or, where
// that does not know it, as the type's text.
func reads[T any](s []byte, t sqltype.Type, quick func([]byte) (T, bool)) bool {
	if _, ok := quick(s); ok {
		return true
	}
	return t.Kind.IsNumeric() && parses(s, t)
}

func parses(s []byte, t sqltype.Type) bool {
	_, err := sqltype.ParseDatum(string(s), t)
	return err == nil
}

// looksLikeDate reports a text that begins with a year, or a day or month, and
// two more numbers.
func looksLikeDate(s []byte) bool {
	digits, marks := 0, 0
	for i, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case (c == '-' || c == '/') && i > 0 && digits > 0:
			marks++
		case marks == 2 && (c == ' ' || c == 'T'):
			return true
		default:
			return false
		}
	}
	return marks == 2 && digits >= 4
}

// hasZone reports a time with a zone behind it.
func hasZone(s []byte) bool {
	i := bytes.IndexByte(s, ':')
	return i >= 0 && bytes.ContainsAny(s[i:], "+-Zz")
}

// see takes a value, which is not NULL, into account.
func (g *typeGuess) see(text []byte) {
	g.some = true
	for i := range guesses {
		if !g.not[i] {
			g.not[i] = !guesses[i].fits(text)
		}
	}
}

// best is the narrowest type of all values seen.
func (g *typeGuess) best() sqltype.Type {
	for i := range guesses {
		if g.some && !g.not[i] {
			return guesses[i].typ
		}
	}
	return sqltype.Varchar
}
