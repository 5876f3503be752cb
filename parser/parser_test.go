package parser_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/parser/mysql"
	"github.com/gpusql/gpusql/sqltype"
)

// TestText runs the scripts of testdata: parse and tree of statements, expr of
// an expression, mysql of MySQL's dialect. Run with -rewrite to accept.
func TestText(t *testing.T) {
	for _, file := range []string{"query", "expr", "change", "define", "session", "errors", "mysql"} {
		t.Run(file, func(t *testing.T) {
			datadriven.RunTest(t, "testdata/"+file+".txt", runText)
		})
	}
}

func runText(t *testing.T, d *datadriven.TestData) string {
	var b strings.Builder
	switch d.Cmd {
	case "parse", "tree", "mysql":
		read := parser.Parse
		if d.Cmd == "mysql" {
			read = mysql.Parse
		}
		list, err := read(d.Input)
		if err != nil {
			return caret(d.Input, err)
		}
		for _, p := range list {
			if d.Cmd == "tree" {
				b.WriteString(dump(p.Statement))
			} else {
				fmt.Fprintln(&b, parser.Format(p.Statement))
			}
			requireRoundTrip(t, p.Statement, d.Pos)
		}
	case "expr":
		for line := range strings.Lines(d.Input) {
			line = strings.TrimSuffix(line, "\n")
			e, err := parser.ParseExpr(line)
			if err != nil {
				b.WriteString(caret(line, err))
				continue
			}
			text := parser.FormatExpr(e)
			fmt.Fprintln(&b, text)
			again, err := parser.ParseExpr(text)
			require.NoError(t, err, "%s: %s", d.Pos, text)
			require.Equal(t, dump(e), dump(again), d.Pos)
		}
	case "error": // a statement a line
		for line := range strings.Lines(d.Input) {
			line = strings.TrimSuffix(line, "\n")
			if list, err := parser.Parse(line); err != nil {
				b.WriteString(caret(line, err))
			} else {
				fmt.Fprintln(&b, "no error:", parser.Format(list[0].Statement))
			}
		}
	default:
		t.Fatalf("%s: no command %s", d.Pos, d.Cmd)
	}
	return b.String()
}

// caret shows where an error is, as the command line does.
func caret(text string, err error) string {
	var e *sqltype.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("not one of ours: %v\n", err)
	}
	if e.Pos == 0 {
		return fmt.Sprintf("%s: %s\n", e.Code, err)
	}
	start := strings.LastIndexByte(text[:e.Pos-1], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return fmt.Sprintf("%s\n%s^ %s: %s\n", line, strings.Repeat(" ", e.Pos-1-start), e.Code, err)
}

func TestParsed(t *testing.T) {
	text := "  SELECT $3, ? ;; -- end\n UPDATE t SET a = ?  ;"
	list, err := parser.Parse(text)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "SELECT $3, ?", list[0].Text)
	require.Equal(t, list[0].Text, text[list[0].Start:list[0].End])
	require.Equal(t, 4, list[0].Params)
	require.Equal(t, "UPDATE t SET a = ?", list[1].Text)
	require.Equal(t, 1, list[1].Params, "every statement counts its own")
	require.Nil(t, list[1].Names)
	set := list[1].Statement.(*parser.Update).Set[0]
	require.Equal(t, "a = ?", text[set.Column.Pos:list[1].End], "positions are in the whole text")

	for _, empty := range []string{"", " ", ";", "-- only\n", "/* a /* b */ */;"} {
		list, err := parser.Parse(empty)
		require.NoError(t, err)
		require.Empty(t, list)
	}
}

func TestParsePart(t *testing.T) {
	text := "SELECT 1; SELECT x FROM"
	list, err := parser.ParsePart(text, 10, 18)
	require.NoError(t, err)
	require.Equal(t, "SELECT x", list[0].Text)
	require.Equal(t, parser.Pos(10), list[0].Start)
	_, err = parser.ParsePart(text, 10, len(text))
	var e *sqltype.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, len(text)+1, e.Pos)
}

func TestComplete(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " \n": true, "-- note\n": true, "SELECT 1": false, "SELECT 1;": true, "SELECT 1; -- done": true,
		"SELECT ';": false, "SELECT ';'": false, "SELECT ';';": true, "SELECT 1; /*": false, "SELECT 1; /* ; */": true,
		`SELECT ";`: false, "SELECT `;": false, "SELECT $$;": false, "SELECT $$;$$;": true, "SELECT 1; SELECT": false,
		"SELECT 'it''s;": false, "E'\\';": false, "SELECT @;": true,
	} {
		require.Equal(t, want, parser.Complete(text), "%q", text)
	}
}

func TestKeywords(t *testing.T) {
	words := parser.Keywords()
	require.True(t, slices.IsSorted(words))
	require.Contains(t, words, "SELECT")
	require.Equal(t, words, slices.Compact(slices.Clone(words)))
}

// TestDeep nests and chains far beyond what is sane.
func TestDeep(t *testing.T) {
	tooDeep := map[string]string{
		"parentheses": "SELECT " + strings.Repeat("(", 10_000) + "1" + strings.Repeat(")", 10_000),
		"rows":        "SELECT " + strings.Repeat("(1,", 10_000) + "1" + strings.Repeat(")", 10_000),
		"open":        "SELECT " + strings.Repeat("(", 100_000),
		"not":         "SELECT " + strings.Repeat("NOT ", 10_000) + "true",
		"minus":       "SELECT " + strings.Repeat("- ", 10_000) + "1",
		"case":        "SELECT " + strings.Repeat("CASE WHEN ", 10_000) + "1",
		"calls":       "SELECT " + strings.Repeat("f(", 10_000) + "1" + strings.Repeat(")", 10_000),
		"casts":       "SELECT 1" + strings.Repeat("::int", 10_000),
		"indexes":     "SELECT a" + strings.Repeat("[1]", 10_000),
		"subqueries":  strings.Repeat("SELECT (", 10_000) + "1" + strings.Repeat(")", 10_000),
		"queries":     strings.Repeat("(", 10_000) + "SELECT 1" + strings.Repeat(")", 10_000),
		"derived":     strings.Repeat("SELECT * FROM (", 10_000) + "SELECT 1" + strings.Repeat(")", 10_000),
		"joins":       "SELECT * FROM " + strings.Repeat("(", 10_000) + "a" + strings.Repeat(")", 10_000),
		"right joins": "SELECT * FROM a" + strings.Repeat(" JOIN b", 10_000) + strings.Repeat(" ON 1", 10_000),
		"explain":     strings.Repeat("EXPLAIN ", 10_000) + "SELECT 1",
		"prepare":     strings.Repeat("PREPARE a AS ", 10_000) + "SELECT 1",
		"with":        strings.Repeat("WITH a AS (", 10_000) + "SELECT 1" + strings.Repeat(") SELECT 1", 10_000),
		"long chain":  "SELECT 1" + strings.Repeat("+1", 300_000),
	}
	for name, text := range tooDeep {
		_, err := parser.Parse(text)
		var e *sqltype.Error
		require.ErrorAs(t, err, &e, name)
		require.Equal(t, sqltype.CodeTooComplex, e.Code, name)
	}
	for name, text := range map[string]string{
		"parentheses": "SELECT " + strings.Repeat("(", 400) + "1" + strings.Repeat(")", 400),
		"and":         "SELECT 1 WHERE a" + strings.Repeat(" AND b = 1", 50_000),
		"or":          "SELECT 1 WHERE a" + strings.Repeat(" OR b = 1", 50_000),
		"plus":        "SELECT a" + strings.Repeat(" + 1", 50_000),
		"mixed":       "SELECT a" + strings.Repeat(" + 1 * 2 - 3", 20_000),
		"union":       "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", 20_000),
		"comma":       "SELECT * FROM a" + strings.Repeat(", a", 20_000),
		"join":        "SELECT * FROM a" + strings.Repeat(" CROSS JOIN a", 20_000),
		"in":          "SELECT a IN (1" + strings.Repeat(", 1", 50_000) + ")",
		"values":      "VALUES (1)" + strings.Repeat(", (1)", 50_000),
	} {
		list, err := parser.Parse(text)
		require.NoError(t, err, name)
		again, err := parser.Parse(parser.Format(list[0].Statement))
		require.NoError(t, err, name)
		require.Equal(t, parser.Format(list[0].Statement), parser.Format(again[0].Statement), name)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"SELECT 1", "SELECT a.b, 'it''s' || E'\\n' FROM t WHERE x IS NOT NULL AND y NOT IN (1, 2) ORDER BY 1 DESC",
		"WITH RECURSIVE a(b) AS (VALUES (1) UNION ALL SELECT b + 1 FROM a) SELECT * FROM a",
		"SELECT sum(x) FILTER (WHERE y) OVER (PARTITION BY z ORDER BY w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
		"CREATE TABLE t (a DECIMAL(15,2) DEFAULT 1 NOT NULL, CHECK (a > 0), PRIMARY KEY (a))",
		"INSERT INTO t VALUES (1, DEFAULT) ON CONFLICT (a) DO UPDATE SET a = excluded.a RETURNING *",
		"COPY t FROM 'f' WITH CSV HEADER DELIMITER '|'", "EXPLAIN (ANALYZE, FORMAT json) SELECT $1, ?",
		"SELECT INTERVAL '3' MONTH, DATE '2000-01-01', EXTRACT(year FROM d), x'ab', 1e3, .5, 0x1F, $$a$$",
		"SELECT - - -1, NOT NOT a, (a, b) = (c, d), a[1:2], CASE a WHEN 1 THEN 2 END, x::int[]",
		"SELECT ((SELECT 1) UNION (SELECT 2)), (((1)))", "SET a.b = 'c'; RESET ALL; SHOW x",
		"SELECT * EXCLUDE (a) REPLACE (1 AS b) FROM (a JOIN b USING (c)) CROSS JOIN LATERAL (SELECT 1) d(e)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parser.Parse(text)
		var e *sqltype.Error
		if err != nil {
			require.ErrorAs(t, err, &e)
			require.True(t, e.Pos >= 1 && e.Pos <= len(text)+1, "position %d", e.Pos)
			return
		}
		for _, p := range list {
			requireRoundTrip(t, p.Statement, p.Text)
		}
		parser.Complete(text)
	})
}

func FuzzMySQL(f *testing.F) {
	for _, seed := range []string{
		"SELECT ALL a DIV b || \"x\" FROM t LIMIT 1, 2", "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = VALUES(a)",
		"/*!40101*/select 1", "CREATE VIEW v AS SELECT 1", "EXPLAIN SELECT 1", "CREATE INDEX i ON t (a(10))",
		"SELECT IF(a, 1, 0), CAST(a AS SIGNED), a <=> b, !a FROM `t` -- x\n; # y\nDELETE FROM t",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := mysql.Parse(text)
		if err != nil {
			var e *sqltype.Error
			require.ErrorAs(t, err, &e)
			require.True(t, e.Pos >= 0 && e.Pos <= len(text)+1, "position %d", e.Pos)
			return
		}
		for _, p := range list {
			requireRoundTrip(t, p.Statement, p.Text)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"select 1": "SELECT 1",
		"lookup":   "SELECT id, name, price FROM items WHERE id = ?",
		"tpch 6": `select sum(l_extendedprice * l_discount) as revenue from lineitem
			where l_shipdate >= date '1994-01-01' and l_shipdate < date '1994-01-01' + interval '1' year
			and l_discount between 0.06 - 0.01 and 0.06 + 0.01 and l_quantity < 24`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := parser.Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
