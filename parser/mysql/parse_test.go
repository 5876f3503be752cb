package mysql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/parser/mysql"
	"github.com/gpusql/gpusql/sqltype"
)

// What the dialect means is tested by the text tests of package parser.

func TestParsed(t *testing.T) {
	text := "# first\nSELECT ?, ';' ; ;\nCREATE TABLE t (a INT) ; -- last"
	list, err := mysql.Parse(text)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "# first\nSELECT ?, ';'", list[0].Text)
	require.Equal(t, 1, list[0].Params)
	require.Equal(t, "CREATE TABLE t (a INT)", text[list[1].Start:list[1].End])
	table := list[1].Statement.(*parser.CreateTable)
	require.Equal(t, byte('a'), text[table.Columns[0].Name.Pos], "definitions have positions in the whole text")

	for _, empty := range []string{"", ";", "-- \n", "/* a */ ; # b"} {
		list, err := mysql.Parse(empty)
		require.NoError(t, err)
		require.Empty(t, list)
	}
}

func TestErrorPosition(t *testing.T) {
	for text, pos := range map[string]int{
		"SELECT 1; SELECT a FROM t WHERE x y":     34,
		"SELECT 1; CREATE TABLE t (a int(1,2))":   28,
		"SELECT 1; CREATE VIEW v AS SELECT a b c": 38,
		"SELECT 1; EXPLAIN SELECT a b c":          29,
	} {
		_, err := mysql.Parse(text)
		var e *sqltype.Error
		require.ErrorAs(t, err, &e, text)
		require.Equal(t, pos+1, e.Pos, "%s: %v", text, err)
	}
}
