package parser_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/parser/mysql"
	"github.com/gpusql/gpusql/sqltype"
)

// TestMySQLCorpus reads the records of the shared scripts that are for MySQL
// alone, and what MySQL has in common with the rest of them.
func TestMySQLCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	n := 0
	for _, s := range corpusStatements(t) {
		if s.only != "mysql" || s.fails {
			continue
		}
		n++
		list, err := mysql.Parse(s.sql)
		if err != nil {
			t.Errorf("%s: %v\n%s", s.where, err, s.sql)
			continue
		}
		if n%8 == 0 {
			for _, p := range list {
				requireRoundTrip(t, p.Statement, s.where)
			}
		}
	}
	require.Greater(t, n, 9_000, "the records were not read")
}

// TestSecondOpinion compares our trees with sqlparser's, where both accept a
// statement. What is known to differ stands in testdata/opinion: a line a
// reason, and the words or marks of the statements that it is about.
func TestSecondOpinion(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	known := readOpinion(t)
	agreed, refused := 0, 0
	for i, s := range corpusStatements(t) {
		if s.only != "" || s.fails || i%3 != 0 && strings.Contains(s.where, "/sqlite/") || differs(s.sql, known) {
			continue
		}
		ours, err := parser.Parse(s.sql)
		if err != nil {
			continue
		}
		theirs, err := mysql.Parse(s.sql)
		if err != nil {
			refused++
			continue
		}
		require.Equal(t, len(ours), len(theirs), s.sql)
		for j := range ours {
			want, got := dumpBy(ours[j].Statement, plain), dumpBy(theirs[j].Statement, plain)
			if want != got {
				t.Errorf("%s: %s\nours:   %s\ntheirs: %s", s.where, s.sql, parser.Format(ours[j].Statement),
					parser.Format(theirs[j].Statement))
			}
			agreed++
		}
	}
	t.Logf("%d statements alike, %d that sqlparser does not read", agreed, refused)
	require.Greater(t, agreed, 15_000)
}

func readOpinion(t *testing.T) []string {
	text, err := os.ReadFile("testdata/opinion")
	require.NoError(t, err)
	var marks []string
	for line := range strings.Lines(string(text)) {
		if mark, _, ok := strings.Cut(strings.TrimSpace(line), "  # "); ok {
			marks = append(marks, strings.TrimSpace(mark))
		}
	}
	require.NotEmpty(t, marks)
	return marks
}

func differs(sql string, known []string) bool {
	sql = strings.ToLower(sql)
	for _, mark := range known {
		if strings.Contains(sql, mark) {
			return true
		}
	}
	return false
}

// plain takes away what MySQL's meaning adds to a tree and what sqlparser folds
// when it reads: signs before numbers, truth values as numbers, the parts of a
// division, the order of NULL.
func plain(v any) any {
	switch e := v.(type) {
	case *parser.Unary:
		return plainSign(e)
	case *parser.Literal:
		if e.Value.Type == sqltype.Bool {
			return &parser.Literal{Value: sqltype.NewInt32(int32(e.Value.I))}
		}
	case *parser.Cast:
		if e.Type.Text == "bigint" || e.Type.Text == "double" {
			return plain(e.X)
		}
	case *parser.Call:
		switch name := e.Name.Parts[0].Name; {
		case name == "nullif" && len(e.Args) == 2 && fmt.Sprint(parser.FormatExpr(e.Args[1])) == "0":
			return plain(e.Args[0])
		case name == "substr":
			c := *e
			c.Name = parser.Name{Parts: []parser.Ident{{Name: "substring"}}}
			return &c
		}
	case parser.OrderItem:
		e.Nulls = parser.NullsDefault
		return e
	case parser.Ident:
		e.Quoted = false
		return e
	}
	return v
}

// plainSign folds the signs before a number.
func plainSign(e *parser.Unary) any {
	minus := false
	for x := parser.Expr(e); ; {
		switch u := x.(type) {
		case *parser.Unary:
			if u.Op == "+" || u.Op == "-" {
				minus = minus != (u.Op == "-")
				x = u.X
				continue
			}
		case *parser.Literal:
			if minus {
				return parser.Name{Parts: []parser.Ident{{Name: "-" + parser.FormatExpr(u)}}}
			}
			return u
		}
		return e
	}
}
