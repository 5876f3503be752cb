package mysql_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/parser/mysql"
	"github.com/gpusql/gpusql/sqltype"
)

// shape writes the set operators of a query with all their parentheses.
func shape(b parser.QueryBody) string {
	switch b := b.(type) {
	case *parser.SetQuery:
		op := map[parser.SetOp]string{parser.Union: "u", parser.Except: "e", parser.Intersect: "i"}[b.Op]
		if b.All {
			op = strings.ToUpper(op)
		}
		return "(" + shape(b.Left) + op + shape(b.Right) + ")"
	case *parser.Query:
		return "[" + shape(b.Body) + "]"
	case *parser.Select:
		return b.Items[0].Expr.(*parser.Literal).Text
	}
	return "?"
}

func TestSetOperatorsGroup(t *testing.T) {
	for text, want := range map[string]string{
		"1 union 2 except 3 union all 4":                  "(((1u2)e3)U4)",
		"1 union 2 intersect 3":                           "(1u(2i3))",
		"1 intersect 2 union 3":                           "((1i2)u3)",
		"1 except 2 intersect 3 intersect all 4 except 5": "((1e((2i3)I4))e5)",
		"1 intersect 2 except 3 intersect 4":              "((1i2)e(3i4))",
		"(1 except 2) intersect (3 union 4)":              "((1e2)i(3u4))",
		"1 except (2 except (3 intersect all 4))":         "(1e(2e(3I4)))",
		"1 except (2 limit 1) intersect 3 limit 2":        "(1e([2]i3))",
		"1 except /* a ( */ distinct # b\n (2)":           "(1e2)",
		"1 union 2 /*e*/ intersect 3 -- x except\n":       "(1u(2i3))",
	} {
		var b strings.Builder
		for i, c := range text {
			if c >= '1' && c <= '9' && !strings.HasSuffix(text[:i], "limit ") {
				b.WriteString("SELECT /*i*/ ") // a user's comment is not a mark
			}
			b.WriteRune(c)
		}
		list, err := mysql.Parse(b.String())
		require.NoError(t, err, text)
		require.Len(t, list, 1)
		require.Equal(t, want, shape(list[0].Statement.(*parser.Query).Body), text)
	}
}

// The tail of a chain belongs to all of it.
func TestSetOperatorsTail(t *testing.T) {
	list, err := mysql.Parse("SELECT 1 INTERSECT SELECT 2 EXCEPT SELECT 3 ORDER BY 1 LIMIT 4, 5")
	require.NoError(t, err)
	q := list[0].Statement.(*parser.Query)
	require.Len(t, q.OrderBy, 1)
	require.NotNil(t, q.Limit)
	require.NotNil(t, q.Offset)
	require.Equal(t, "((1i2)e3)", shape(q.Body))
}

func TestLongSetChain(t *testing.T) {
	const n = 5000
	text := "SELECT 1" + strings.Repeat(" INTERSECT SELECT 1 EXCEPT SELECT 1", n)
	list, err := mysql.Parse(text)
	require.NoError(t, err)
	require.Equal(t, 2*n, strings.Count(shape(list[0].Statement.(*parser.Query).Body), "("))

	// The place of an error does not move with the marks before it.
	_, err = mysql.Parse(text + " x y z")
	var e *sqltype.Error
	require.True(t, errors.As(err, &e))
	require.Equal(t, len(text)+len(" x ")+1, e.Pos)
}
