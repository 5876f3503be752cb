package exec_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// tuples is rows of (INTEGER, VARCHAR, BIGINT), with NULLs.
type tuples [][]sqltype.Datum

var tableTypes = []sqltype.Type{sqltype.Int32, sqltype.Varchar, sqltype.Int64}

func randomTable(r *rand.Rand, n, keys int) tuples {
	t := make(tuples, n)
	for i := range t {
		row := []sqltype.Datum{
			sqltype.NewInt32(int32(r.IntN(keys))),
			sqltype.NewString(fmt.Sprintf("a string that is long %d", r.IntN(keys))),
			sqltype.NewInt64(int64(i)),
		}
		for c := range row[:2] {
			if r.IntN(8) == 0 {
				row[c] = sqltype.NullOf(tableTypes[c])
			}
		}
		t[i] = row
	}
	return t
}

// node is the tuples as a Values node whose columns are base, base+1, base+2.
func (t tuples) node(base planner.ColumnID) *planner.Values {
	v := &planner.Values{}
	for i, ty := range tableTypes {
		v.Columns = append(v.Columns, planner.ColDef{ID: base + planner.ColumnID(i), Type: ty})
	}
	for _, row := range t {
		var es []planner.Expr
		for _, d := range row {
			es = append(es, &planner.Const{Value: d})
		}
		v.Rows = append(v.Rows, es)
	}
	return v
}

func ref(base planner.ColumnID, i int) planner.Expr {
	return &planner.Col{ID: base + planner.ColumnID(i), T: tableTypes[i]}
}

type config struct {
	batch    int
	hashZero bool
}

func configs(t *testing.T, f func(t *testing.T, c config)) {
	for _, c := range []config{{3, false}, {64, false}, {0, false}, {64, true}} {
		t.Run(fmt.Sprintf("batch=%d zero=%v", c.batch, c.hashZero), func(t *testing.T) { f(t, c) })
	}
}

// run gives the result of a node as lines, and checks that nothing leaks.
func run(t *testing.T, n planner.Node, c config) ([]string, error) {
	t.Helper()
	d := device.NewCPU(device.CPUOptions{Streams: 2, BatchRows: c.batch})
	mem := device.NewScope(d, device.ScopeOptions{Name: "query"})
	env := &exec.Env{Device: d, Memory: mem, Workers: 4, BatchRows: c.batch, HashZero: c.hashZero, Now: time.Unix(0, 0), Zone: time.UTC}
	op, err := exec.Open(env, &planner.Plan{Root: n})
	require.NoError(t, err)
	s, err := d.NewStream()
	require.NoError(t, err)
	var lines []string
	for {
		b, nerr := op.Next(context.Background())
		if err = nerr; b == nil || err != nil {
			break
		}
		require.Positive(t, b.Rows)
		require.Len(t, b.Columns, len(n.Cols()))
		cols := make([][]string, len(b.Columns))
		for i, col := range b.Columns {
			require.Equal(t, n.Cols()[i].Type.Phys(), col.Type.Phys())
			cols[i] = cellTexts(col.Vec, col.Type, b.Rows)
		}
		for r := range b.Rows {
			var cells []string
			for i := range cols {
				cells = append(cells, cols[i][r])
			}
			lines = append(lines, strings.Join(cells, "|"))
		}
	}
	require.NoError(t, op.Close())
	require.NoError(t, op.Close())
	require.NoError(t, s.Close())
	require.Zero(t, mem.Used(), "leak")
	mem.Close()
	require.NoError(t, d.Close())
	return lines, err
}

func cellTexts(v kernels.Vec, t sqltype.Type, n int) []string {
	out := make([]string, n)
	valid := device.View[uint64](v.Valid, (n+63)/64)
	for i := range out {
		if valid != nil && valid[i/64]>>(i%64)&1 == 0 {
			out[i] = "NULL"
			continue
		}
		switch t.Phys() {
		case sqltype.PhysBool:
			out[i] = fmt.Sprint(device.View[uint8](v.Data, n)[i] != 0)
		case sqltype.PhysI32:
			out[i] = fmt.Sprint(device.View[int32](v.Data, n)[i])
		case sqltype.PhysI64:
			out[i] = fmt.Sprint(device.View[int64](v.Data, n)[i])
		case sqltype.PhysI128:
			out[i] = fmt.Sprint(device.View[[2]int64](v.Data, n)[i][0])
		case sqltype.PhysF64:
			out[i] = fmt.Sprintf("%.6f", device.View[float64](v.Data, n)[i])
		case sqltype.PhysStr:
			if v.Dict != 0 {
				out[i] = strings.Clone(device.View[kernels.View](v.Dict, int(v.DictLen))[device.View[uint32](v.Data, n)[i]].Str())
			} else {
				out[i] = strings.Clone(device.View[kernels.View](v.Data, n)[i].Str())
			}
		default:
			panic(t.String())
		}
	}
	return out
}

func cell(d sqltype.Datum) string {
	switch {
	case d.Null:
		return "NULL"
	case d.Type.Kind == sqltype.KindVarchar:
		return d.S
	default:
		return fmt.Sprint(d.I)
	}
}

func line(row ...sqltype.Datum) string {
	var cells []string
	for _, d := range row {
		cells = append(cells, cell(d))
	}
	return strings.Join(cells, "|")
}

func sameLines(t *testing.T, want, got []string) {
	t.Helper()
	sort.Strings(want)
	sort.Strings(got)
	require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"))
}

var sizes = []int{0, 1, 63, 64, 65, 130}

func TestJoin(t *testing.T) {
	configs(t, func(t *testing.T, c config) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, nl := range []int{0, 1, 65} {
			for _, nr := range []int{0, 1, 40} {
				l, rt := randomTable(r, nl, 20), randomTable(r, nr, 20)
				for kind := planner.Inner; kind <= planner.Mark; kind++ {
					for variant := range 24 {
						testJoin(t, c, l, rt, kind, variant)
					}
				}
			}
		}
	})
}

// testJoin compares a join with nested loops. The variant says the keys (none,
// integer, text, both), whether there is a residual, and what is built or NULL.
func testJoin(t *testing.T, c config, l, rt tuples, kind planner.JoinKind, variant int) {
	n := &planner.Join{Kind: kind, Left: l.node(1), Right: rt.node(11)}
	keys := [][]int{{}, {0}, {1}, {0, 1}}[variant%4]
	residual := variant/4%2 == 1
	switch variant / 8 {
	case 1:
		n.BuildLeft = true
	case 2:
		n.NullAware = (kind == planner.Anti || kind == planner.Mark) && len(keys) > 0
	}
	for _, k := range keys {
		n.Keys = append(n.Keys, planner.JoinKey{Left: ref(1, k), Right: ref(11, k)})
	}
	if residual {
		n.On = &planner.Cmp{Op: planner.Lt, L: ref(1, 2), R: ref(11, 2)}
	}
	n.Mark = planner.ColDef{ID: 30, Type: sqltype.Bool}
	truth := func(a, b []sqltype.Datum) int { // 0 false, 1 unknown, 2 true
		v := 2
		for _, k := range keys {
			switch {
			case a[k].Null || b[k].Null:
				v = min(v, 1)
			case cell(a[k]) != cell(b[k]):
				v = 0
			}
		}
		if residual && a[2].I >= b[2].I {
			v = 0
		}
		return v
	}
	none := []sqltype.Datum{{Null: true}, {Null: true}, {Null: true}}
	var want []string
	seen := make([]bool, len(rt))
	for _, a := range l {
		best := 0
		for i, b := range rt {
			v := truth(a, b)
			best = max(best, v)
			if v < 2 {
				continue
			}
			seen[i] = true
			if kind <= planner.Full {
				want = append(want, line(append(append([]sqltype.Datum{}, a...), b...)...))
			}
		}
		switch kind {
		case planner.Left, planner.Full:
			if best < 2 {
				want = append(want, line(append(append([]sqltype.Datum{}, a...), none...)...))
			}
		case planner.Semi:
			if best == 2 {
				want = append(want, line(a...))
			}
		case planner.Anti:
			if best == 0 || best == 1 && !n.NullAware {
				want = append(want, line(a...))
			}
		case planner.Mark:
			mark := map[int]string{0: "false", 1: "NULL", 2: "true"}[best]
			if best == 1 && !n.NullAware {
				mark = "false"
			}
			want = append(want, line(a...)+"|"+mark)
		}
	}
	if kind == planner.Right || kind == planner.Full {
		for i, b := range rt {
			if !seen[i] {
				want = append(want, line(append(append([]sqltype.Datum{}, none...), b...)...))
			}
		}
	}
	got, err := run(t, n, c)
	require.NoError(t, err)
	if sort.Strings(want); len(want) != len(got) {
		t.Logf("%s variant %d, %d x %d rows", kind, variant, len(l), len(rt))
	}
	sameLines(t, want, got)
}

func TestSingleJoin(t *testing.T) {
	configs(t, func(t *testing.T, c config) {
		one := tuples{{sqltype.NewInt32(1), sqltype.NewString("x"), sqltype.NewInt64(0)}}
		n := &planner.Join{Kind: planner.Single, Left: one.node(1), Right: one.node(11),
			Keys: []planner.JoinKey{{Left: ref(1, 0), Right: ref(11, 0)}}}
		got, err := run(t, n, c)
		require.NoError(t, err)
		require.Equal(t, []string{"1|x|0|1|x|0"}, got)
		n.Right = append(one, one[0]).node(11)
		_, err = run(t, n, c)
		var e *sqltype.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, sqltype.CodeCardinality, e.Code)
	})
}

func TestAggregate(t *testing.T) {
	agg := func(id planner.ColumnID, f catalog.FuncID, out sqltype.Type, distinct bool, args ...planner.Expr) planner.Agg {
		return planner.Agg{Col: planner.ColDef{ID: id, Type: out}, Func: &catalog.Func{ID: f, Name: "f"}, Args: args, Distinct: distinct}
	}
	configs(t, func(t *testing.T, c config) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range sizes {
			tab := randomTable(r, n, 20)
			for _, keys := range [][]int{{}, {0}, {1}, {0, 1}, {2}} {
				a := &planner.Aggregate{Input: tab.node(1)}
				for i, k := range keys {
					a.Groups = append(a.Groups, planner.NamedExpr{Col: planner.ColDef{ID: planner.ColumnID(20 + i), Type: tableTypes[k]}, Expr: ref(1, k)})
				}
				a.Aggs = []planner.Agg{
					agg(30, catalog.FuncCount, sqltype.Int64, false),
					agg(31, catalog.FuncCount, sqltype.Int64, false, ref(1, 0)),
					agg(32, catalog.FuncSum, sqltype.Int64, false, ref(1, 0)),
					agg(33, catalog.FuncMin, sqltype.Varchar, false, ref(1, 1)),
					agg(34, catalog.FuncMax, sqltype.Int64, false, ref(1, 2)),
					agg(35, catalog.FuncCount, sqltype.Int64, true, ref(1, 1)),
					agg(36, catalog.FuncSum, sqltype.Decimal(38, 0), true, ref(1, 2)),
				}
				got, err := run(t, a, c)
				require.NoError(t, err)
				sameLines(t, naiveGroups(tab, keys), got)
			}
		}
	})
}

func naiveGroups(tab tuples, keys []int) []string {
	groups := map[string]tuples{}
	if len(keys) == 0 {
		groups[""] = nil
	}
	for _, row := range tab {
		var k []sqltype.Datum
		for _, i := range keys {
			k = append(k, row[i])
		}
		groups[line(k...)] = append(groups[line(k...)], row)
	}
	var out []string
	for k, rows := range groups {
		var n, count, sum, wide int64
		least, most := "NULL", "NULL"
		texts := map[string]bool{}
		for _, row := range rows {
			n++
			if !row[0].Null {
				count++
				sum += row[0].I
			}
			if !row[1].Null {
				texts[row[1].S] = true
				if least == "NULL" || row[1].S < least {
					least = row[1].S
				}
			}
			wide += row[2].I
			most = fmt.Sprint(row[2].I)
		}
		total, other := fmt.Sprint(sum), fmt.Sprint(wide)
		if count == 0 {
			total = "NULL"
		}
		if n == 0 {
			other = "NULL"
		}
		l := fmt.Sprintf("%d|%d|%s|%s|%s|%d|%s", n, count, total, least, most, len(texts), other)
		if len(keys) > 0 {
			l = k + "|" + l
		}
		out = append(out, l)
	}
	return out
}

func TestSort(t *testing.T) {
	configs(t, func(t *testing.T, c config) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, n := range append(sizes, 2500) {
			tab := randomTable(r, n, 20)
			for variant := range 8 {
				keys := []planner.SortKey{
					{Expr: ref(1, variant&1), Desc: variant&2 != 0, NullsFirst: variant&4 != 0},
					{Expr: ref(1, 1-variant&1), Desc: variant&4 != 0, NullsFirst: variant&2 != 0},
				}
				want := append(tuples{}, tab...)
				sort.SliceStable(want, func(i, j int) bool {
					for k, key := range keys {
						at := variant & 1
						if k == 1 {
							at = 1 - at
						}
						a, b := want[i][at], want[j][at]
						if a.Null != b.Null {
							return a.Null == key.NullsFirst
						}
						if a.Null || cell(a) == cell(b) {
							continue
						}
						return (sqltype.Compare(a, b) < 0) != key.Desc
					}
					return false
				})
				var lines []string
				for _, row := range want {
					lines = append(lines, line(row...))
				}
				got, err := run(t, &planner.Sort{Input: tab.node(1), Keys: keys}, c)
				require.NoError(t, err)
				require.Equal(t, lines, got)
				limit := &planner.Const{Value: sqltype.NewInt64(7)}
				skip := &planner.Const{Value: sqltype.NewInt64(2)}
				got, err = run(t, &planner.TopN{Input: tab.node(1), Keys: keys, Limit: limit, Offset: skip}, c)
				require.NoError(t, err)
				require.Equal(t, strings.Join(lines[min(2, n):min(9, n)], "\n"), strings.Join(got, "\n"))
			}
		}
	})
}

// TestParallel has several workers read parts of the input, so that tables of
// groups, stores and noted matches are merged.
func TestParallel(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	tab := randomTable(r, 400, 20)
	var in planner.Node = tab[:100].node(100)
	for i := 1; i < 4; i++ {
		cols := tab[:1].node(planner.ColumnID(100 + 10*i)).Columns
		if i == 3 {
			cols = tab[:1].node(1).Columns
		}
		in = &planner.SetOp{Op: planner.Union, All: true, Left: in, Right: tab[100*i : 100*i+100].node(planner.ColumnID(200 + 10*i)), Columns: cols}
	}
	a := &planner.Aggregate{Input: in, Groups: []planner.NamedExpr{{Col: planner.ColDef{ID: 300, Type: sqltype.Varchar}, Expr: ref(1, 1)}}}
	for i, f := range []planner.Agg{
		{Func: &catalog.Func{ID: catalog.FuncCount}},
		{Func: &catalog.Func{ID: catalog.FuncCount}, Args: []planner.Expr{ref(1, 0)}},
		{Func: &catalog.Func{ID: catalog.FuncSum}, Args: []planner.Expr{ref(1, 0)}},
		{Func: &catalog.Func{ID: catalog.FuncMin}, Args: []planner.Expr{ref(1, 1)}},
		{Func: &catalog.Func{ID: catalog.FuncMax}, Args: []planner.Expr{ref(1, 2)}},
		{Func: &catalog.Func{ID: catalog.FuncCount}, Args: []planner.Expr{ref(1, 1)}, Distinct: true},
		{Func: &catalog.Func{ID: catalog.FuncSum}, Args: []planner.Expr{ref(1, 2)}, Distinct: true},
	} {
		f.Col = planner.ColDef{ID: planner.ColumnID(310 + i), Type: []sqltype.Type{sqltype.Int64, sqltype.Int64, sqltype.Int64, sqltype.Varchar, sqltype.Int64, sqltype.Int64, sqltype.Decimal(38, 0)}[i]}
		a.Aggs = append(a.Aggs, f)
	}
	each := func(by ...int) *planner.Aggregate { // a group is a row: tables are merged in parts
		e := &planner.Aggregate{Input: in}
		for i, c := range by {
			e.Groups = append(e.Groups, planner.NamedExpr{Col: planner.ColDef{ID: planner.ColumnID(500 + i), Type: tableTypes[c]}, Expr: ref(1, c)})
		}
		e.Aggs = a.Aggs[1:5]
		return e
	}
	full := &planner.Join{Kind: planner.Full, Left: in, Right: tab[:50].node(400),
		Keys: []planner.JoinKey{{Left: ref(1, 2), Right: ref(400, 2)}}}
	for range 20 {
		got, err := run(t, a, config{batch: 3})
		require.NoError(t, err)
		sameLines(t, naiveGroups(tab, []int{1}), got)
		for _, by := range [][]int{{2}, {2, 0}, {1, 2}} {
			for _, c := range []config{{batch: 3}, {3, true}} {
				got, err = run(t, each(by...), c)
				require.NoError(t, err)
				var want []string
				for _, row := range tab {
					var cells []sqltype.Datum
					for _, c := range by {
						cells = append(cells, row[c])
					}
					count := sqltype.NewInt64(1)
					if row[0].Null {
						count = sqltype.NewInt64(0)
					}
					want = append(want, line(append(cells, count, row[0], row[1], row[2])...))
				}
				sameLines(t, want, got)
			}
		}
		got, err = run(t, full, config{batch: 3})
		require.NoError(t, err)
		require.Len(t, got, 400)
		got, err = run(t, &planner.Sort{Input: in, Keys: []planner.SortKey{{Expr: ref(1, 2)}}}, config{batch: 3})
		require.NoError(t, err)
		for i, l := range got {
			require.Equal(t, line(tab[i]...), l)
		}
	}
}
