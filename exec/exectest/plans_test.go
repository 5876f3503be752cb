package exectest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/exec/exectest"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// types are the columns of every table of these tests: keys of few values, and
// last a number that no two rows share.
var types = []sqltype.Type{sqltype.Int32, sqltype.Varchar, sqltype.Float64, sqltype.Decimal(30, 2), sqltype.Bool, sqltype.Int16, sqltype.Date, sqltype.Int64}

const last = 7

// bench is a database of some tables with its model.
type bench struct {
	*exectest.DB
	r     *rand.Rand
	model *exectest.Model
	tabs  []*exectest.Table
}

func open(t *testing.T, rows ...int) *bench {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	b := &bench{DB: exectest.Open(t), r: rand.New(rand.NewPCG(seed, 0))}
	for i, n := range rows {
		tab := b.Create(fmt.Sprintf("t%d", i), types)
		for n > 0 { // several batches, so that there are several segments
			k := min(n, 1+b.r.IntN(100))
			var rows []exectest.Row
			for range k {
				rows = append(rows, b.row(int64(len(tab.Rows)+len(rows))))
			}
			b.Fill(tab, rows)
			n -= k
		}
		b.tabs = append(b.tabs, tab)
	}
	b.model = exectest.NewModel(b.tabs...)
	return b
}

func (b *bench) row(i int64) exectest.Row {
	r := b.r
	k := int64(r.IntN(12))
	floats := []float64{0, math.Copysign(0, -1), 0.25, -0.25, 1e3, 7}
	row := exectest.Row{
		sqltype.NewInt32(int32(k) - 3),
		sqltype.NewString([]string{"", "a", "b", "twelve bytes", "thirteen byte", "a string that is long", "a string that is long too"}[r.IntN(7)]),
		sqltype.NewFloat64(floats[r.IntN(len(floats))]),
		sqltype.NewDecimal(sqltype.MulInt64(k-6, 1e18), types[3]),
		sqltype.NewBool(r.IntN(2) == 0),
		{Type: sqltype.Int16, I: k},
		{Type: sqltype.Date, I: 10000 + k},
		sqltype.NewInt64(i),
	}
	for c := range row[:last] {
		if r.IntN(7) == 0 {
			row[c] = sqltype.NullOf(types[c])
		}
	}
	return row
}

// check runs a plan in every configuration and compares with the model: in
// order, or as sets of rows.
func (b *bench) check(t *testing.T, n planner.Node, inOrder bool) {
	t.Helper()
	want := exectest.Keys(b.model.Rows(n))
	for _, c := range exectest.Configs {
		rows, err := b.Run(c, n)
		require.NoError(t, err, "%+v", c)
		got := exectest.Keys(rows)
		if !inOrder {
			sort.Strings(want)
			sort.Strings(got)
		}
		if !slices.Equal(want, got) {
			require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"), "%+v", c)
		}
	}
}

func cmp(op planner.CmpOp, l, r planner.Expr) planner.Expr { return &planner.Cmp{Op: op, L: l, R: r} }

func constant(d sqltype.Datum) planner.Expr { return &planner.Const{Value: d} }

func TestScans(t *testing.T) {
	b := open(t, 0, 1, 64, 300)
	for _, tab := range b.tabs {
		for c := range types {
			n := b.Scan(tab)
			b.check(t, n, false)
			n = b.Scan(tab)
			n.Filter = cmp(planner.Le, exectest.Ref(n, c), constant(b.row(150)[c]))
			b.check(t, n, false)
			// Columns that only the filter reads.
			n = b.Scan(tab)
			n.Filter = cmp(planner.Ge, exectest.Ref(n, last), exectest.Int(100))
			n.Columns, n.Fetch = n.Columns[:c], n.Columns[last:]
			n.Source, n.FetchSource = n.Source[:c], n.Source[last:]
			b.check(t, n, false)
			in := b.Scan(tab)
			b.check(t, &planner.Filter{Input: in, Pred: &planner.Not{X: &planner.IsNull{X: exectest.Ref(in, c)}}}, false)
		}
	}
}

func TestJoins(t *testing.T) {
	b := open(t, 0, 1, 150, 40)
	small, large := []int{0, 1, 3}, []int{0, 1, 2}
	for _, li := range large {
		for _, ri := range small {
			for kind := planner.Inner; kind <= planner.Mark; kind++ {
				for range 2 {
					b.check(t, b.join(b.Scan(b.tabs[li]), b.Scan(b.tabs[ri]), kind), false)
				}
			}
		}
	}
}

// join is a random join.
func (b *bench) join(l, r planner.Node, kind planner.JoinKind) *planner.Join {
	n := &planner.Join{Kind: kind, Left: l, Right: r, Mark: b.Col(sqltype.Bool), BuildLeft: b.r.IntN(2) == 0}
	for _, k := range b.r.Perm(last)[:b.r.IntN(3)] {
		n.Keys = append(n.Keys, planner.JoinKey{Left: exectest.Ref(l, k), Right: exectest.Ref(r, k), NullSafe: b.r.IntN(4) == 0})
	}
	if kind == planner.Anti || kind == planner.Mark {
		if n.NullAware = b.r.IntN(2) == 0; n.NullAware && len(n.Keys) == 0 {
			n.Keys = []planner.JoinKey{{Left: exectest.Ref(l, 0), Right: exectest.Ref(r, 0)}}
		}
	}
	if b.r.IntN(2) == 0 {
		n.On = cmp(planner.CmpOp(b.r.IntN(8)), exectest.Ref(l, 5), exectest.Ref(r, 5))
	}
	return n
}

func TestSingleJoin(t *testing.T) {
	b := open(t, 50, 50)
	l, r := b.Scan(b.tabs[0]), b.Scan(b.tabs[1])
	n := &planner.Join{Kind: planner.Single, Left: l, Right: r, Keys: []planner.JoinKey{{Left: exectest.Ref(l, last), Right: exectest.Ref(r, last)}}}
	n.On = cmp(planner.Gt, exectest.Ref(r, last), exectest.Int(10))
	b.check(t, n, false)
	n.Keys, n.On = nil, nil
	for _, c := range exectest.Configs {
		_, err := b.Run(c, n)
		var e *sqltype.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, sqltype.CodeCardinality, e.Code)
	}
}

func (b *bench) agg(t *testing.T, name string, arg planner.Expr) planner.Agg {
	var args []sqltype.Type
	a := planner.Agg{}
	if arg != nil {
		args, a.Args = []sqltype.Type{arg.Type()}, []planner.Expr{arg}
	}
	r, err := catalog.ResolveAggregate(name, args)
	require.NoError(t, err)
	a.Func, a.Col = r.Func, b.Col(r.Result)
	if arg != nil && r.Args[0] != arg.Type() {
		a.Args = []planner.Expr{&planner.Cast{X: arg, To: r.Args[0]}}
	}
	return a
}

func (b *bench) aggregate(t *testing.T, in planner.Node, groups ...int) *planner.Aggregate {
	n := &planner.Aggregate{Input: in}
	for _, g := range groups {
		n.Groups = append(n.Groups, planner.NamedExpr{Col: b.Col(types[g]), Expr: exectest.Ref(in, g)})
	}
	add := func(name string, cols ...int) {
		for _, c := range cols {
			a := b.agg(t, name, exectest.Ref(in, c))
			a.Distinct = b.r.IntN(3) == 0
			if b.r.IntN(3) == 0 {
				a.Filter = exectest.Ref(in, 4)
			}
			n.Aggs = append(n.Aggs, a)
		}
	}
	n.Aggs = append(n.Aggs, b.agg(t, "count", nil))
	add("count", 0, 1, 2, 3, 4, 5, 6, 7)
	add("min", 0, 1, 2, 3, 5, 6, 7)
	add("max", 0, 1, 2, 3, 5, 6, 7)
	add("sum", 0, 2, 3, 5, 7)
	add("avg", 0, 2, 5)
	add("bool_and", 4)
	add("bool_or", 4)
	add("bit_and", 0, 5)
	add("bit_or", 0, 7)
	add("bit_xor", 5)
	add("var_pop", 2)
	add("stddev_samp", 2)
	return n
}

func TestAggregates(t *testing.T) {
	b := open(t, 0, 1, 65, 200)
	for _, tab := range b.tabs {
		b.check(t, b.aggregate(t, b.Scan(tab)), false)
		for g := range types {
			b.check(t, b.aggregate(t, b.Scan(tab), g), false)
			if g%2 == 0 {
				b.check(t, b.aggregate(t, b.Scan(tab), g, g+1), false)
			}
		}
		n := b.aggregate(t, b.Scan(tab), 0, 1, 4)
		n.Sets = [][]int{{0, 1}, {}, {1}, {0, 1, 2}, {2}}
		n.Grouping = b.Col(sqltype.Int64)
		b.check(t, n, false)
		b.check(t, &planner.Aggregate{Input: b.Scan(tab), Aggs: []planner.Agg{b.agg(t, "count", nil)}}, false)
	}
}

func TestSorts(t *testing.T) {
	b := open(t, 0, 1, 64, 500)
	for _, tab := range b.tabs {
		for range 8 {
			in := b.Scan(tab)
			var keys []planner.SortKey
			for _, c := range b.r.Perm(last)[:b.r.IntN(3)] {
				keys = append(keys, planner.SortKey{Expr: exectest.Ref(in, c), Desc: b.r.IntN(2) == 0, NullsFirst: b.r.IntN(2) == 0})
			}
			keys = append(keys, planner.SortKey{Expr: exectest.Ref(in, last), Desc: b.r.IntN(2) == 0})
			b.check(t, &planner.Sort{Input: in, Keys: keys}, true)
			n := &planner.TopN{Input: in, Keys: keys, Limit: exectest.Int(int64(b.r.IntN(20)))}
			if b.r.IntN(2) == 0 {
				n.Offset = exectest.Int(int64(b.r.IntN(100)))
			}
			b.check(t, n, true)
			lim := &planner.Limit{Input: &planner.Sort{Input: in, Keys: keys}, Offset: exectest.Int(int64(b.r.IntN(100)))}
			if b.r.IntN(2) == 0 {
				lim.Limit = exectest.Int(int64(b.r.IntN(100)))
			}
			b.check(t, lim, true)
			on := []planner.Expr{exectest.Ref(in, b.r.IntN(last)), exectest.Ref(in, 4)}
			b.check(t, &planner.DistinctOn{Input: &planner.Sort{Input: in, Keys: keys}, On: on}, true)
		}
	}
}

func TestLimitOfAnything(t *testing.T) {
	b := open(t, 300)
	in := b.Scan(b.tabs[0])
	for _, c := range exectest.Configs {
		for _, n := range []int{0, 1, 5, 299, 300, 301} {
			rows, err := b.Run(c, &planner.Limit{Input: in, Limit: exectest.Int(int64(n)), Offset: exectest.Int(2)})
			require.NoError(t, err)
			require.Len(t, rows, min(n, 298))
		}
		_, err := b.Run(c, &planner.Limit{Input: in, Limit: exectest.Int(-1)})
		require.ErrorContains(t, err, "LIMIT must not be negative")
	}
}

func TestSeries(t *testing.T) {
	b := open(t)
	for _, name := range []string{"generate_series", "range"} {
		for _, a := range [][3]int64{{1, 5, 1}, {1, 1, 1}, {5, 1, 1}, {5, 1, -1}, {1, 5, -1}, {1, 200, 7}, {0, 10, 5},
			{math.MaxInt64 - 3, math.MaxInt64, 2}, {math.MinInt64 + 3, math.MinInt64, -2}, {math.MinInt64, math.MaxInt64, math.MaxInt64},
			{math.MaxInt64, math.MinInt64, math.MinInt64}, {math.MinInt64, math.MinInt64, 1}} {
			n := &planner.TableFunc{Name: name, Columns: []planner.ColDef{b.Col(sqltype.Int64)}}
			for _, v := range a {
				n.Args = append(n.Args, exectest.Int(v))
			}
			b.check(t, n, true)
		}
		all := &planner.TableFunc{Name: name, Args: []planner.Expr{exectest.Int(math.MinInt64), exectest.Int(math.MaxInt64)},
			Columns: []planner.ColDef{b.Col(sqltype.Int64)}}
		rows, err := b.Run(exectest.Config{Workers: 1}, &planner.Limit{Input: all, Limit: exectest.Int(3)})
		require.NoError(t, err)
		require.Equal(t, []string{`"-9223372036854775808"|`, `"-9223372036854775807"|`, `"-9223372036854775806"|`}, exectest.Keys(rows))
		all.Args = append(all.Args, exectest.Int(0))
		_, err = b.Run(exectest.Config{Workers: 1}, all)
		require.ErrorContains(t, err, "step size cannot equal zero")
	}
}

func TestSetOps(t *testing.T) {
	b := open(t, 0, 1, 90, 120)
	for _, lt := range b.tabs {
		for _, rt := range b.tabs {
			for op := planner.Union; op <= planner.Except; op++ {
				for _, all := range []bool{false, true} {
					l, r := planner.Node(b.Scan(lt)), planner.Node(b.Scan(rt))
					var cols []planner.ColDef
					pick := b.r.Perm(last)[:1+b.r.IntN(2)]
					for _, c := range pick {
						cols = append(cols, b.Col(types[c]))
					}
					b.check(t, &planner.SetOp{Op: op, All: all, Left: b.project(l, pick), Right: b.project(r, pick), Columns: cols}, false)
				}
			}
		}
	}
}

func (b *bench) project(in planner.Node, cols []int) planner.Node {
	p := &planner.Project{Input: in}
	for _, c := range cols {
		ref := exectest.Ref(in, c)
		p.Exprs = append(p.Exprs, planner.NamedExpr{Col: b.Col(ref.T), Expr: ref})
	}
	return p
}

func (b *bench) cte(id int, def planner.Node, cols ...int) *planner.CTEScan {
	s := &planner.CTEScan{CTE: id, Name: "cte", Source: cols}
	for _, c := range cols {
		s.Columns = append(s.Columns, b.Col(def.Cols()[c].Type))
	}
	return s
}

func TestWith(t *testing.T) {
	b := open(t, 0, 130)
	for _, tab := range b.tabs {
		def := b.Scan(tab)
		l, r := b.cte(1, def, 7, 1), b.cte(1, def, 0, 7, 3)
		join := &planner.Join{Kind: planner.Full, Left: l, Right: r, Keys: []planner.JoinKey{{Left: exectest.Ref(l, 0), Right: exectest.Ref(r, 1)}}}
		b.check(t, &planner.With{CTE: 1, Def: def, Body: join}, false)
		// The whole thing twice: a plan may share nodes.
		w := &planner.With{CTE: 1, Def: def, Body: b.aggregateOf(t, join)}
		b.check(t, &planner.SetOp{Op: planner.Union, All: true, Left: w, Right: w, Columns: w.Cols()}, false)
	}
}

func (b *bench) aggregateOf(t *testing.T, in planner.Node) planner.Node {
	return &planner.Aggregate{Input: in, Aggs: []planner.Agg{b.agg(t, "count", nil), b.agg(t, "max", exectest.Ref(in, 0))}}
}

func plus(l, r planner.Expr) planner.Expr {
	f, err := catalog.ResolveScalar("+", []sqltype.Type{sqltype.Int64, sqltype.Int64})
	if err != nil {
		panic(err)
	}
	return &planner.Call{Func: f.Func, Args: []planner.Expr{l, r}, T: sqltype.Int64}
}

// TestRecursive counts, and follows a path that ends in a circle, which is
// another CTE that the rounds read.
func TestRecursive(t *testing.T) {
	b := open(t)
	one := &planner.Values{Columns: []planner.ColDef{b.Col(sqltype.Int64)}, Rows: [][]planner.Expr{{exectest.Int(1)}}}
	in := b.cte(1, one, 0)
	step := &planner.Project{Input: &planner.Filter{Input: in, Pred: cmp(planner.Lt, exectest.Ref(in, 0), exectest.Int(300))},
		Exprs: []planner.NamedExpr{{Col: b.Col(sqltype.Int64), Expr: plus(exectest.Ref(in, 0), exectest.Int(1))}}}
	for _, all := range []bool{false, true} {
		b.check(t, &planner.With{CTE: 1, Def: one, Step: step, StepAll: all, Body: b.cte(1, one, 0)}, false)
	}

	path := &planner.Values{Columns: []planner.ColDef{b.Col(sqltype.Int64), b.Col(sqltype.Int64)}}
	for i := range int64(30) {
		path.Rows = append(path.Rows, []planner.Expr{exectest.Int(i), exectest.Int((i + 1) % 25)})
	}
	from := b.cte(2, path, 0, 1)
	now := b.cte(3, one, 0)
	next := &planner.Join{Left: now, Right: from, Keys: []planner.JoinKey{{Left: exectest.Ref(now, 0), Right: exectest.Ref(from, 0)}}}
	reach := &planner.With{CTE: 3, Def: one, Step: b.project(next, []int{2}), Body: b.cte(3, one, 0)}
	b.check(t, &planner.With{CTE: 2, Def: path, Body: reach}, false)
}

// TestOuterJoinUnderLimit has two workers make operators for a join that one
// of them reads.
func TestOuterJoinUnderLimit(t *testing.T) {
	b := open(t, 400, 3, 5)
	l, r := b.Scan(b.tabs[1]), b.Scan(b.tabs[2])
	full := &planner.Join{Kind: planner.Full, Left: l, Right: r, Keys: []planner.JoinKey{{Left: exectest.Ref(l, last), Right: exectest.Ref(r, last)}}}
	few := b.project(&planner.Limit{Input: full, Limit: exectest.Int(100)}, []int{0, 15})
	many := b.project(b.Scan(b.tabs[0]), []int{0, 7})
	b.check(t, &planner.SetOp{Op: planner.Union, All: true, Left: many, Right: few, Columns: many.Cols()}, false)
}

// TestRandomPlans stacks operators on each other.
func TestRandomPlans(t *testing.T) {
	b := open(t, 30, 60, 20)
	for range 60 {
		n := b.random(t, 3)
		if len(b.model.Rows(n)) > 3000 {
			continue
		}
		b.check(t, n, false)
	}
}

// random is a plan of the tables' types, up to depth operators high.
func (b *bench) random(t *testing.T, depth int) planner.Node {
	if depth == 0 {
		return b.Scan(b.tabs[b.r.IntN(len(b.tabs))])
	}
	in := b.random(t, depth-1)
	key := []planner.SortKey{{Expr: exectest.Ref(in, last)}}
	switch b.r.IntN(8) {
	case 0:
		return &planner.Filter{Input: in, Pred: cmp(planner.CmpOp(b.r.IntN(8)), exectest.Ref(in, 5), constant(b.row(0)[5]))}
	case 1:
		return &planner.Sort{Input: in, Keys: key}
	case 2:
		kinds := []planner.JoinKind{planner.Semi, planner.Anti}
		return b.join(in, b.random(t, depth-1), kinds[b.r.IntN(2)])
	case 3:
		j := b.join(in, b.random(t, depth-1), planner.JoinKind(b.r.IntN(4)))
		j.Keys = append(j.Keys, planner.JoinKey{Left: exectest.Ref(j.Left, last), Right: exectest.Ref(j.Right, last)})
		cols := make([]int, len(types))
		for i := range cols {
			cols[i] = i + len(types)*b.r.IntN(2)
		}
		return b.project(j, cols)
	case 4:
		other := b.random(t, depth-1)
		cols := slices.Clone(in.Cols())
		for i := range cols {
			cols[i] = b.Col(types[i])
		}
		return &planner.SetOp{Op: planner.SetOpKind(b.r.IntN(3)), All: b.r.IntN(2) == 0, Left: in, Right: other, Columns: cols}
	case 5:
		a := &planner.Aggregate{Input: in}
		for c := range last {
			a.Groups = append(a.Groups, planner.NamedExpr{Col: b.Col(types[c]), Expr: exectest.Ref(in, c)})
		}
		a.Aggs = []planner.Agg{b.agg(t, "max", exectest.Ref(in, last))}
		return a
	case 6:
		id := 1000 + b.r.IntN(1<<30)
		all := []int{0, 1, 2, 3, 4, 5, 6, 7}
		return &planner.With{CTE: id, Def: in, Body: b.join(b.cte(id, in, all...), b.cte(id, in, all...), planner.Semi)}
	default:
		return b.project(in, []int{0, 1, 2, 3, 4, 5, 6, 7})
	}
}
