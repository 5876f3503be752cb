package planner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// TestBind runs testdata/bind.
//
//	ddl       makes tables, indexes and views for the rest of the file
//	bind      prints a statement's columns, parameters and plan, or its error
//	error     the same for a list of statements, one a line; each must fail
func TestBind(t *testing.T) {
	datadriven.Walk(t, "testdata/bind", func(t *testing.T, path string) {
		cat := newBindCatalog()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "ddl":
				cat.define(t, d.Input)
				return ""
			case "bind":
				return bindText(t, cat, d.Input)
			case "error":
				var out strings.Builder
				for _, line := range strings.Split(d.Input, "\n") {
					text := bindText(t, cat, line)
					require.True(t, strings.HasPrefix(text, "error"), "%s: no error for %s", d.Pos, line)
					fmt.Fprintln(&out, text)
				}
				return out.String()
			}
			t.Fatalf("%s: unknown directive %s", d.Pos, d.Cmd)
			return ""
		})
	})
}

func bindText(t *testing.T, cat catalog.Reader, text string) string {
	parsed, err := parser.Parse(text)
	if err != nil {
		return errorText(t, text, err)
	}
	p, err := Bind(cat, parsed[0].Statement, BindOptions{FileSchema: testFile})
	if err != nil {
		return errorText(t, text, err)
	}
	checkBound(t, p)
	var out strings.Builder
	for i, c := range p.Columns {
		if i > 0 {
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, "%s %s", c.Name, c.Type)
		if c.NotNull {
			out.WriteString(" NOT NULL")
		}
	}
	for i, param := range p.Params {
		fmt.Fprintf(&out, "\n$%d %s", i+1, param)
	}
	return out.String() + "\n" + Explain(p, ExplainOptions{})
}

func errorText(t *testing.T, text string, err error) string {
	var e *sqltype.Error
	require.True(t, errors.As(err, &e), "%s: %v", text, err)
	at := "nowhere"
	if e.Pos > 0 {
		require.LessOrEqual(t, e.Pos, len(text)+1)
		at = strings.TrimSpace(text[e.Pos-1:])
		if i := strings.IndexAny(at, " \n"); i > 0 {
			at = at[:i]
		}
	}
	out := fmt.Sprintf("error %s at %s: %s", e.Code, at, e.Msg)
	if e.Hint != "" {
		out += " (" + e.Hint + ")"
	}
	return out
}

// checkBound checks that nothing of the binder's own is left in a plan, and
// that every column is made once and by the time it is named.
func checkBound(t *testing.T, p *Plan) {
	t.Helper()
	require.Empty(t, freeCols(p.Root).ids(), "columns that nothing makes in\n%s", Explain(p, ExplainOptions{}))
	var visit func(Node)
	expr := func(e Expr) {
		walkExpr(e, func(e Expr) bool {
			switch e := e.(type) {
			case *literal, *groupingCall:
				t.Errorf("%T is left in\n%s", e, Explain(p, ExplainOptions{}))
			case *Param:
				require.NotEqual(t, sqltype.KindNull, e.T.Kind)
			case *Subquery:
				visit(e.Plan)
			case *Cmp:
				require.True(t, sameForm(e.L.Type(), e.R.Type()) || e.L.Type().Kind == e.R.Type().Kind, "%s compared with %s", e.L.Type(), e.R.Type())
			}
			return true
		})
	}
	visit = func(n Node) {
		eachExpr(n, expr)
		for _, in := range n.Inputs() {
			visit(in)
		}
	}
	visit(p.Root)
}

// testFile is a file with two columns, whichever its name; missing.* is none.
func testFile(path, format string, _ map[string]sqltype.Datum) (FileInfo, error) {
	if strings.HasPrefix(path, "missing") {
		return FileInfo{}, sqltype.Errorf(sqltype.CodeBadFile, "%s: no such file", path)
	}
	return FileInfo{Rows: 10, Schema: sqltype.Schema{{Name: "id", Type: sqltype.Int64, NotNull: true}, {Name: format, Type: sqltype.Varchar}}}, nil
}

// bindCatalog is a catalogue that ddl directives fill.
type bindCatalog struct {
	testCatalog
	views map[string]*catalog.View
}

func newBindCatalog() *bindCatalog {
	return &bindCatalog{
		testCatalog{map[string]*catalog.Table{}, map[catalog.TableID]*catalog.Stats{}, catalog.NoObjects{}},
		map[string]*catalog.View{},
	}
}

func (c *bindCatalog) View(_, name string) (*catalog.View, bool) {
	v, ok := c.views[strings.ToLower(name)]
	return v, ok
}

func (c *bindCatalog) Table(schema, name string) (*catalog.Table, bool) {
	if schema != "" && schema != "main" {
		return nil, false
	}
	return c.testCatalog.Table(schema, name)
}

func (c *bindCatalog) Names() []string {
	var names []string
	for n := range c.tables {
		names = append(names, n)
	}
	for n := range c.views {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func (c *bindCatalog) define(t *testing.T, text string) {
	parsed, err := parser.Parse(text)
	require.NoError(t, err)
	for _, p := range parsed {
		switch s := p.Statement.(type) {
		case *parser.CreateTable:
			c.create(s)
			table := c.tables[s.Name.Parts[0].Name]
			for i, col := range s.Columns {
				if col.Default != nil {
					table.Columns[i].Default = parser.FormatExpr(col.Default)
				}
				for _, check := range col.Check {
					table.Checks = append(table.Checks, catalog.Check{Name: check.Name, Text: check.Text})
				}
			}
		case *parser.CreateIndex:
			c.index(s)
		case *parser.CreateView:
			v := &catalog.View{Schema: "main", Name: s.Name.Parts[0].Name, Text: s.Text}
			for _, name := range s.Columns {
				v.Columns = append(v.Columns, name.Name)
			}
			c.views[v.Name] = v
		}
	}
}

// TestBindQueries: the queries of TPC-H and TPC-DS bind.
func TestBindQueries(t *testing.T) {
	for _, suite := range []struct {
		folder string
		cat    catalog.Reader
	}{{"tpch", readTables(t)}, {"tpcds", tpcds(t)}} {
		files, err := filepath.Glob(filepath.Join("../../shared/sql", suite.folder, "queries", "*.sql"))
		require.NoError(t, err)
		if len(files) == 0 {
			t.Skipf("shared/sql/%s is not here", suite.folder)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			parsed, err := parser.Parse(string(text))
			require.NoError(t, err, f)
			for _, p := range parsed {
				if _, ok := p.Statement.(*parser.Query); !ok {
					continue // query 15 may make a view
				}
				plan, err := Bind(suite.cat, p.Statement, BindOptions{})
				if assert.NoError(t, err, f) {
					checkBound(t, plan)
				}
			}
		}
	}
}

func tpcds(t *testing.T) catalog.Reader {
	text, err := os.ReadFile("testdata/tpcds.sql")
	require.NoError(t, err)
	cat := newBindCatalog()
	cat.define(t, string(text))
	return cat
}

// TestBindDeep: chains of tens of thousands of terms, and queries nested deep.
func TestBindDeep(t *testing.T) {
	cat := readTables(t)
	const terms = 40_000
	for _, text := range []string{
		"SELECT 1" + strings.Repeat(" + 1", terms),
		"SELECT a" + strings.Repeat(" + b", terms) + " FROM t",
		"SELECT * FROM t WHERE a = 1" + strings.Repeat(" AND b = 2", terms),
		"SELECT * FROM t WHERE a = 1" + strings.Repeat(" OR b = 2", terms),
		"SELECT * FROM t WHERE a IN (1" + strings.Repeat(", 2", terms) + ")",
		"SELECT 'x'" + strings.Repeat(" || 'y'", terms),
		"SELECT 1" + strings.Repeat(" UNION ALL SELECT 2", terms/10),
		"VALUES (1, 'a')" + strings.Repeat(", (2, NULL)", terms),
	} {
		parsed, err := parser.Parse(text)
		require.NoError(t, err)
		_, err = Bind(cat, parsed[0].Statement, BindOptions{})
		require.NoError(t, err, text[:30])
	}
	nested := "SELECT 1"
	for range 400 {
		nested = "SELECT (" + nested + ")"
	}
	parsed, err := parser.Parse(nested)
	require.NoError(t, err)
	_, err = Bind(cat, parsed[0].Statement, BindOptions{})
	require.NoError(t, err)
	_, err = Bind(cat, &parser.Query{Body: nest(maxQueryDepth)}, BindOptions{})
	require.ErrorContains(t, err, "nested")
}

// nest is a query in so many others: more than the parser lets through.
func nest(depth int) *parser.Query {
	q := &parser.Query{Body: &parser.Values{Rows: [][]parser.Expr{{&parser.Literal{Value: sqltype.NewInt32(1)}}}}}
	for range depth {
		q = &parser.Query{Body: q}
	}
	return q
}

// TestBindParams: given types stand, others are inferred.
func TestBindParams(t *testing.T) {
	cat := readTables(t)
	for _, c := range []struct {
		text        string
		given, want []sqltype.Type
	}{
		{"SELECT $1", nil, []sqltype.Type{sqltype.Varchar}},
		{"SELECT $1", []sqltype.Type{sqltype.Int64}, []sqltype.Type{sqltype.Int64}},
		{"SELECT * FROM t WHERE a = $2 AND d < $1", nil, []sqltype.Type{sqltype.Date, sqltype.Int32}},
		{"SELECT * FROM t WHERE a = $1 AND d < $2", []sqltype.Type{sqltype.Int64}, []sqltype.Type{sqltype.Int64, sqltype.Date}},
		{"SELECT * FROM t WHERE a + $1 IN ($2, 3) LIMIT $3", nil, []sqltype.Type{sqltype.Int32, sqltype.Int32, sqltype.Int64}},
		{"SELECT CASE WHEN $1 THEN $2 ELSE 1.5 END", nil, []sqltype.Type{sqltype.Bool, sqltype.Decimal(2, 1)}},
		{"INSERT INTO t (s, d) VALUES ($1, $2)", nil, []sqltype.Type{sqltype.Varchar, sqltype.Date}},
		{"UPDATE t SET a = $1 WHERE s LIKE $2", nil, []sqltype.Type{sqltype.Int32, sqltype.Varchar}},
	} {
		parsed, err := parser.Parse(c.text)
		require.NoError(t, err)
		p, err := Bind(cat, parsed[0].Statement, BindOptions{ParamTypes: c.given})
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, p.Params, c.text)
	}
}

// FuzzBind: whatever parses gives a sound plan or a proper error, and a sound
// plan stays one when it is optimised.
func FuzzBind(f *testing.F) {
	cat := readTables(f)
	paths, err := filepath.Glob("testdata/bind/*")
	require.NoError(f, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		for _, line := range strings.Split(string(text), "\n") {
			if _, err := parser.Parse(line); err == nil {
				f.Add(line)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := parser.Parse(text)
		if err != nil {
			return
		}
		for _, p := range parsed {
			plan, err := Bind(cat, p.Statement, BindOptions{FileSchema: testFile})
			if err != nil {
				var e *sqltype.Error
				require.True(t, errors.As(err, &e))
				require.NotEqual(t, sqltype.CodeInternal, e.Code, e.Msg)
				continue
			}
			checkBound(t, plan)
			if plan, err = Optimize(plan, cat, OptimizeOptions{}); err == nil {
				checkPlan(t, plan)
			}
		}
	})
}

func BenchmarkBind(b *testing.B) {
	cat := readTables(b)
	for _, text := range []string{
		"SELECT 1",
		"SELECT * FROM k WHERE id = $1",
		"SELECT l_returnflag, sum(l_quantity) FROM lineitem WHERE l_shipdate <= '1998-09-02' GROUP BY l_returnflag ORDER BY l_returnflag",
	} {
		parsed, err := parser.Parse(text)
		require.NoError(b, err)
		b.Run(text[:min(len(text), 30)], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Bind(cat, parsed[0].Statement, BindOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
