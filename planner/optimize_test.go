package planner

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// TestRules runs testdata/rules: a file a rule.
//
//	opt [expect=rule] [expect-not=rule] [disable=rule] [off] [costs]
//
// prints the optimised plan of a query, and checks that a rule did or did not
// change it.
func TestRules(t *testing.T) {
	cat := readTables(t)
	datadriven.Walk(t, "testdata/rules", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return runOpt(t, cat, d)
		})
	})
}

func runOpt(t *testing.T, cat *testCatalog, d *datadriven.TestData) string {
	fired := map[string]bool{}
	o := OptimizeOptions{Fold: foldInts, Trace: func(r string) { fired[r] = true }, Off: d.HasArg("off")}
	for _, a := range d.CmdArgs {
		if a.Key == "disable" {
			o.Disable = append(o.Disable, a.Vals...)
		}
		if a.Key == "workers" {
			d.ScanArgs(t, "workers", &o.Workers)
		}
	}
	p, err := optimizeText(cat, d.Input, o)
	if err != nil {
		return "error: " + err.Error()
	}
	for _, a := range d.CmdArgs {
		for _, r := range a.Vals {
			if a.Key == "expect" || a.Key == "expect-not" {
				require.Contains(t, Rules(), r, d.Pos)
				if fired[r] != (a.Key == "expect") {
					t.Errorf("%s: rule %s fired: %t\n%s", d.Pos, r, fired[r], Explain(p, ExplainOptions{}))
				}
			}
		}
	}
	checkPlan(t, p)
	e := ExplainOptions{}
	if d.HasArg("costs") {
		e.Reader = cat
	}
	return Explain(p, e)
}

func optimizeText(cat *testCatalog, text string, o OptimizeOptions) (*Plan, error) {
	parsed, err := parser.Parse(text)
	if err != nil {
		return nil, err
	}
	p, err := Bind(cat, parsed[0].Statement, BindOptions{})
	if err != nil {
		return nil, err
	}
	before := p.Root.Cols()
	if p, err = Optimize(p, cat, o); err != nil {
		return nil, err
	}
	if !sameCols(before, p.Root.Cols()) {
		return nil, errors.New("the rules have changed the columns of the root")
	}
	return p, nil
}

// checkPlan checks that every column that a node names comes from its inputs,
// and that nothing is left that cannot be executed.
func checkPlan(t *testing.T, p *Plan) {
	t.Helper()
	walk(p.Root, func(n Node) bool {
		have := colSet(nil).addCols(ownCols(n))
		for _, in := range n.Inputs() {
			have = have.addCols(in.Cols())
		}
		if s, ok := n.(*Scan); ok {
			have = have.addCols(s.Columns)
		}
		if s, ok := n.(*FileScan); ok {
			have = have.addCols(s.Columns)
		}
		eachExpr(n, func(e Expr) {
			require.False(t, hasSubqueryIn(e), "a subquery is left in\n%s", Explain(p, ExplainOptions{}))
			if j, ok := n.(*Join); ok && j.Lookup {
				return
			}
			missing := exprCols(e).minus(have).ids()
			if s, ok := n.(*Scan); ok && s.Access != nil {
				return // its ranges may name the other side of a lookup join
			}
			require.Empty(t, missing, "%s: %T names columns that it does not read in\n%s", newNamer(p.Root).text(e), n, Explain(p, ExplainOptions{}))
		})
		if j, ok := n.(*Join); ok {
			require.False(t, j.Dependent, "a dependent join is left")
		}
		return true
	})
}

// TestTPCH compares the plans of all queries with those in testdata/tpch.
func TestTPCH(t *testing.T) {
	cat := readTables(t)
	datadriven.Walk(t, "testdata/tpch", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return runOpt(t, cat, d)
		})
	})
}

// TestOptimizeOff: with the optimizer off only required rules may change a plan.
func TestOptimizeOff(t *testing.T) {
	cat := readTables(t)
	for _, text := range []string{
		"SELECT a + 0 FROM (SELECT a, b FROM t WHERE b > 1 + 1) x WHERE a IN (SELECT a FROM u WHERE u.b = x.b)",
		"SELECT * FROM t JOIN u ON t.a = u.a ORDER BY 1 LIMIT 3",
	} {
		p, err := optimizeText(cat, text, OptimizeOptions{Off: true, Trace: func(rule string) {
			require.Contains(t, []string{"fold_constants", "decorrelate", "join_keys"}, rule)
		}})
		require.NoError(t, err)
		checkPlan(t, p)
	}
}

// TestKeysWithoutSimplify: with the optimizer off an equality that all arms of an
// OR share is a join's key all the same.
func TestKeysWithoutSimplify(t *testing.T) {
	cat := readTables(t)
	text := "SELECT 1 FROM t, u WHERE t.a = u.a AND t.b = 1 OR t.b = 2 AND t.a = u.a"
	p, err := optimizeText(cat, text, OptimizeOptions{Off: true})
	require.NoError(t, err)
	checkPlan(t, p)
	keys := 0
	walk(p.Root, func(n Node) bool {
		if j, ok := n.(*Join); ok {
			keys += len(j.Keys)
		}
		return true
	})
	require.Equal(t, 1, keys, "%s", Explain(p, ExplainOptions{}))
}

// TestWideExpressions: the work grows with the text, not with its square.
func TestWideExpressions(t *testing.T) {
	cat := readTables(t)
	const many = 100_000
	var in, or, and strings.Builder
	for i := range many {
		fmt.Fprintf(&in, ", %d", i)
		fmt.Fprintf(&or, " OR b = %d", i)
		if i < many/20 {
			fmt.Fprintf(&and, " AND b <> %d", i)
		}
	}
	for _, where := range []string{"a IN (0" + in.String() + ")", "c = 1" + or.String(), "c = 1" + and.String()} {
		p, err := optimizeText(cat, "SELECT a FROM t WHERE "+where, OptimizeOptions{})
		require.NoError(t, err)
		require.IsType(t, &Scan{}, p.Root)
	}
}

// TestManyJoins: 64 tables in a chain, given in an order that has cross products.
func TestManyJoins(t *testing.T) {
	cat := readTables(t)
	var from, where []string
	for i := range 64 {
		from = append(from, fmt.Sprintf("n AS n%d", (i*29)%64))
		if i > 0 {
			where = append(where, fmt.Sprintf("n%d.a = n%d.b", i-1, i))
		}
	}
	p, err := optimizeText(cat, "SELECT n0.a FROM "+strings.Join(from, ", ")+" WHERE n5.a = 3 AND "+strings.Join(where, " AND "), OptimizeOptions{})
	require.NoError(t, err)
	checkPlan(t, p)
	walk(p.Root, func(n Node) bool {
		if j, ok := n.(*Join); ok {
			require.NotEmpty(t, j.Keys, "a cross product")
		}
		return true
	})
}

func BenchmarkOptimize(b *testing.B) {
	cat := readTables(b)
	for _, text := range []string{"SELECT 1", "SELECT x FROM k WHERE id = 7", "SELECT t.a FROM t JOIN u ON t.a = u.a WHERE u.b = 3"} {
		parsed, err := parser.Parse(text)
		require.NoError(b, err)
		p, err := Bind(cat, parsed[0].Statement, BindOptions{})
		require.NoError(b, err)
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Optimize(p, cat, OptimizeOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// foldInts is enough of a folder for the tests: sums and products of INTEGERs.
func foldInts(e Expr) (sqltype.Datum, error) {
	switch e := e.(type) {
	case *Cast:
		return sqltype.CastDatum(e.X.(*Const).Value, e.To)
	case *Call:
		if len(e.Args) == 2 && e.T.Kind.IsInteger() {
			l, r := e.Args[0].(*Const).Value, e.Args[1].(*Const).Value
			switch {
			case e.Func.Name == "+":
				return sqltype.Datum{Type: e.T, I: l.I + r.I}, nil
			case e.Func.Name == "*":
				return sqltype.Datum{Type: e.T, I: l.I * r.I}, nil
			case e.Func.Name == "/" && r.I != 0:
				return sqltype.Datum{Type: e.T, I: l.I / r.I}, nil
			}
		}
	}
	return sqltype.Datum{}, errors.New("not folded")
}

// testCatalog is the tables of testdata/tables.sql with the numbers of
// testdata/tables.stats.
type testCatalog struct {
	tables map[string]*catalog.Table
	stats  map[catalog.TableID]*catalog.Stats
	catalog.NoObjects
}

func (c *testCatalog) Table(schema, name string) (*catalog.Table, bool) {
	t, ok := c.tables[strings.ToLower(name)]
	return t, ok
}

func (c *testCatalog) View(schema, name string) (*catalog.View, bool) { return nil, false }

func (c *testCatalog) Names() []string { return nil }

func (c *testCatalog) Stats(id catalog.TableID) *catalog.Stats { return c.stats[id] }

func readTables(t testing.TB) *testCatalog {
	c := &testCatalog{map[string]*catalog.Table{}, map[catalog.TableID]*catalog.Stats{}, catalog.NoObjects{}}
	ddl, err := os.ReadFile("testdata/tables.sql")
	require.NoError(t, err)
	parsed, err := parser.Parse(string(ddl))
	require.NoError(t, err)
	for _, p := range parsed {
		switch s := p.Statement.(type) {
		case *parser.CreateTable:
			c.create(s)
		case *parser.CreateIndex:
			c.index(s)
		}
	}
	f, err := os.Open(filepath.Join("testdata", "tables.stats"))
	require.NoError(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 0 && words[0] != "#" {
			require.NoError(t, c.note(words), lines.Text())
		}
	}
	return c
}

func (c *testCatalog) create(s *parser.CreateTable) {
	t := &catalog.Table{ID: catalog.TableID(len(c.tables) + 1), Schema: "main", Name: s.Name.Parts[0].Name}
	key := func(names ...string) {
		ix := &catalog.Index{ID: catalog.IndexID(t.ID), Name: t.Name + "_pkey", Kind: "btree", Unique: true, Primary: true}
		for _, n := range names {
			at := columnAt(t, n)
			t.Columns[at].NotNull = true
			ix.Keys = append(ix.Keys, catalog.IndexKey{Column: at})
		}
		t.Indexes = append(t.Indexes, ix)
	}
	for i, col := range s.Columns {
		t.Columns = append(t.Columns, catalog.Column{ID: i, Name: col.Name.Name, Type: col.Type.Type, NotNull: col.NotNull})
		if col.PrimaryKey {
			key(col.Name.Name)
		}
	}
	for _, k := range s.Constraints {
		var names []string
		for _, n := range k.Columns {
			names = append(names, n.Name)
		}
		key(names...)
	}
	c.tables[t.Name] = t
	c.stats[t.ID] = &catalog.Stats{Columns: make([]catalog.ColumnStats, len(t.Columns))}
}

func columnAt(t *catalog.Table, name string) int {
	return slices.IndexFunc(t.Columns, func(c catalog.Column) bool { return c.Name == name })
}

func (c *testCatalog) index(s *parser.CreateIndex) {
	t := c.tables[s.Table.Parts[0].Name]
	ix := &catalog.Index{ID: catalog.IndexID(100 + len(t.Indexes)), Name: s.Name.Name, Kind: "btree", Unique: s.Unique}
	for _, k := range s.Keys {
		name := parser.FormatExpr(k.Expr)
		ix.Keys = append(ix.Keys, catalog.IndexKey{Column: columnAt(t, name), Desc: k.Desc, NullsFirst: k.Desc})
	}
	t.Indexes = append(t.Indexes, ix)
}

// note reads a line of tables.stats.
func (c *testCatalog) note(words []string) error {
	table, column, isColumn := strings.Cut(words[0], ".")
	t := c.tables[table]
	numbers := make([]float64, 0, 2)
	for _, w := range words[1:min(len(words), 3)] {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return err
		}
		numbers = append(numbers, v)
	}
	if !isColumn {
		c.stats[t.ID].Rows, c.stats[t.ID].Whole = numbers[0], len(numbers) > 1
		return nil
	}
	at := columnAt(t, column)
	s := &c.stats[t.ID].Columns[at]
	s.Min, s.Max = sqltype.NullOf(sqltype.Null), sqltype.NullOf(sqltype.Null)
	s.Distinct = numbers[0]
	if len(numbers) > 1 {
		s.NullFrac = numbers[1]
	}
	if len(words) < 5 {
		return nil
	}
	var err error
	if s.Min, err = sqltype.ParseDatum(words[3], t.Columns[at].Type); err != nil {
		return err
	}
	s.Max, err = sqltype.ParseDatum(words[4], t.Columns[at].Type)
	return err
}
