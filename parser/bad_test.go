package parser

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/sqltype"
)

// TestBadText: what is no text, or nests absurdly, is an error with a place, and
// what is only long is read.
func TestBadText(t *testing.T) {
	nested := func(open, inner, end string) string {
		return "SELECT " + strings.Repeat(open, 10_000) + inner + strings.Repeat(end, 10_000)
	}
	for _, c := range []struct {
		text, code string
		pos        int
	}{
		{"SELECT 'a\xff\xfeb'", "22021", 10},
		{"SELECT 1; SELECT \"\xc3(\"", "22021", 19},
		{"SELECT '\xed\xa0\x80'", "22021", 9}, // half of a surrogate pair
		{nested("(", "1", ")"), sqltype.CodeTooComplex, 0},
		{nested("NOT ", "TRUE", ""), sqltype.CodeTooComplex, 0},
		{nested("- ", "1", ""), sqltype.CodeTooComplex, 0},
		{nested("CASE WHEN TRUE THEN ", "1", " END"), sqltype.CodeTooComplex, 0},
		{nested("[", "", "]"), sqltype.CodeTooComplex, 0},
		{"SELECT * FROM " + strings.Repeat("(SELECT * FROM ", 10_000) + "t" + strings.Repeat(") AS t", 10_000), sqltype.CodeTooComplex, 0},
	} {
		_, err := Parse(c.text)
		var e *sqltype.Error
		require.ErrorAs(t, err, &e, "%.40q", c.text)
		require.Equal(t, c.code, e.Code, "%.40q", c.text)
		if c.pos > 0 {
			require.Equal(t, c.pos, e.Pos, "%.40q", c.text)
		}
	}
	list, err := Parse("SELECT x IN (1" + strings.Repeat(", 1", 100_000) + ")")
	require.NoError(t, err)
	require.Len(t, list, 1)
	_, err = Parse("SELECT '\uFFFD'") // the replacement character is a character
	require.NoError(t, err)
}
