package exec_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// collectAggs are aggregates that keep their input, over the columns of tuples.
func collectAggs() []planner.Agg {
	text := planner.Expr(&planner.Cast{X: ref(1, 2), To: sqltype.Varchar})
	float := &planner.Cast{X: ref(1, 0), To: sqltype.Float64}
	half := &planner.Const{Value: sqltype.NewFloat64(0.3)}
	down := []planner.SortKey{{Expr: ref(1, 0), Desc: true, NullsFirst: true}, {Expr: ref(1, 2), Desc: true}}
	sep := &planner.Const{Value: sqltype.NewString(" and then ")}
	aggs := []planner.Agg{
		{Func: &catalog.Func{ID: catalog.FuncStringAgg}, Args: []planner.Expr{text}},
		{Func: &catalog.Func{ID: catalog.FuncStringAgg}, Args: []planner.Expr{text, sep}, OrderBy: down},
		{Func: &catalog.Func{ID: catalog.FuncStringAgg}, Args: []planner.Expr{ref(1, 1)}, Distinct: true, OrderBy: []planner.SortKey{{Expr: ref(1, 1)}}},
		{Func: &catalog.Func{ID: catalog.FuncMedian}, Args: []planner.Expr{float}},
		{Func: &catalog.Func{ID: catalog.FuncQuantileCont}, Args: []planner.Expr{float, half}},
		{Func: &catalog.Func{ID: catalog.FuncQuantileDisc}, Args: []planner.Expr{ref(1, 0), half}},
		{Func: &catalog.Func{ID: catalog.FuncMode}, Args: []planner.Expr{ref(1, 1)}},
		{Func: &catalog.Func{ID: catalog.FuncProduct}, Args: []planner.Expr{float}, Distinct: true},
		{Func: &catalog.Func{ID: catalog.FuncArgMin}, Args: []planner.Expr{ref(1, 2), ref(1, 0)}},
		{Func: &catalog.Func{ID: catalog.FuncArgMax}, Args: []planner.Expr{ref(1, 2), ref(1, 0)}},
		{Func: &catalog.Func{ID: catalog.FuncFirst}, Args: []planner.Expr{ref(1, 0)}},
		{Func: &catalog.Func{ID: catalog.FuncLast}, Args: []planner.Expr{ref(1, 0)}},
		{Func: &catalog.Func{ID: catalog.FuncFirst}, Args: []planner.Expr{ref(1, 2)}, OrderBy: down},
		{Func: &catalog.Func{ID: catalog.FuncApproxCountDistinct}, Args: []planner.Expr{ref(1, 0)}},
	}
	aggs = append(aggs, planner.Agg{Func: &catalog.Func{ID: catalog.FuncStringAgg}, Args: []planner.Expr{text},
		Filter: &planner.Cmp{Op: planner.Lt, L: ref(1, 2), R: number(10)}})
	types := []sqltype.Type{sqltype.Varchar, sqltype.Varchar, sqltype.Varchar, sqltype.Float64, sqltype.Float64, sqltype.Int32,
		sqltype.Varchar, sqltype.Float64, sqltype.Int64, sqltype.Int64, sqltype.Int32, sqltype.Int32, sqltype.Int64, sqltype.Int64, sqltype.Varchar}
	for i := range aggs {
		aggs[i].Col = planner.ColDef{ID: planner.ColumnID(30 + i), Type: types[i]}
	}
	return aggs
}

func orNull(ss []string, sep string) string {
	if len(ss) == 0 {
		return "NULL"
	}
	return strings.Join(ss, sep)
}

// collectLine is what collectAggs give of a group's rows.
func collectLine(rows tuples) string {
	var all, ints, few, texts []string
	var values []int64
	for _, r := range rows {
		all = append(all, cell(r[2]))
		if r[2].I < 10 {
			few = append(few, cell(r[2]))
		}
		if !r[0].Null {
			values = append(values, r[0].I)
		}
		ints = append(ints, cell(r[0]))
		if !r[1].Null {
			texts = append(texts, r[1].S)
		}
	}
	least, most, product := "NULL", "NULL", "NULL"
	if len(values) > 0 {
		lo, hi := slices.Min(values), slices.Max(values)
		for _, r := range slices.Backward(rows) {
			if !r[0].Null && r[0].I == lo {
				least = cell(r[2])
			}
			if !r[0].Null && r[0].I == hi {
				most = cell(r[2])
			}
		}
	}
	slices.Sort(values)
	slices.Sort(texts)
	mode, count := "NULL", 0
	for _, s := range texts {
		if n := len(slices.DeleteFunc(slices.Clone(texts), func(o string) bool { return o != s })); n > count {
			mode, count = s, n
		}
	}
	quantile := func(p float64) string {
		if len(values) == 0 {
			return "NULL"
		}
		at := p * float64(len(values)-1)
		lo, hi := math.Floor(at), math.Ceil(at)
		return fmt.Sprintf("%.6f", float64(values[int(lo)])*(1-at+lo)+float64(values[int(hi)])*(at-lo))
	}
	disc := "NULL"
	if len(values) > 0 {
		disc = fmt.Sprint(values[max(0, int(math.Ceil(0.3*float64(len(values))))-1)])
	}
	distinct := slices.Compact(slices.Clone(values))
	p := 1.0
	for _, v := range distinct {
		p *= float64(v)
		product = ""
	}
	if product == "" {
		product = fmt.Sprintf("%.6f", p)
	}
	down := slices.Clone(rows)
	slices.SortFunc(down, func(a, b []sqltype.Datum) int {
		return cmp.Or(compareNullable(a[0], b[0], planner.SortKey{Desc: true, NullsFirst: true}), cmp.Compare(b[2].I, a[2].I))
	})
	var ordered []string
	for _, r := range down {
		ordered = append(ordered, cell(r[2]))
	}
	first, last, top := "NULL", "NULL", "NULL"
	if len(rows) > 0 {
		first, last, top = ints[0], ints[len(ints)-1], ordered[0]
	}
	return strings.Join([]string{orNull(all, ","), orNull(ordered, " and then "), orNull(slices.Compact(slices.Clone(texts)), ","),
		quantile(0.5), quantile(0.3), disc, mode, product, least, most, first, last, top, fmt.Sprint(len(distinct)), orNull(few, ",")}, "|")
}

func TestCollect(t *testing.T) {
	configs(t, func(t *testing.T, c config) {
		r := rand.New(rand.NewPCG(13, 14))
		for _, n := range sizes {
			tab := randomTable(r, n, 7)
			for _, keys := range [][]int{{}, {0}, {1}} {
				a := &planner.Aggregate{Input: tab.node(1), Aggs: collectAggs()}
				groups := map[string]tuples{}
				if len(keys) == 0 {
					groups[""] = nil
				}
				for i, k := range keys {
					a.Groups = append(a.Groups, planner.NamedExpr{Col: planner.ColDef{ID: planner.ColumnID(20 + i), Type: tableTypes[k]}, Expr: ref(1, k)})
				}
				for _, row := range tab {
					name := ""
					for _, k := range keys {
						name = cell(row[k])
					}
					groups[name] = append(groups[name], row)
				}
				var want []string
				for name, rows := range groups {
					l := collectLine(rows)
					if len(keys) > 0 {
						l = name + "|" + l
					}
					want = append(want, l)
				}
				got, err := run(t, a, c)
				require.NoError(t, err)
				sameLines(t, want, got)
			}
		}
	})
}

// TestCollectWorkers has the rows of several workers merged: what has an order
// of its own, and what goes by value, is the same.
func TestCollectWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	tab := randomTable(r, 300, 7)
	var in planner.Node = tab[:100].node(1)
	for i := 1; i < 3; i++ {
		in = &planner.SetOp{Op: planner.Union, All: true, Left: in, Right: tab[100*i : 100*i+100].node(planner.ColumnID(200 + 10*i)), Columns: tab[:1].node(1).Columns}
	}
	a := &planner.Aggregate{Input: in, Aggs: collectAggs()[1:8]}
	want := strings.Split(collectLine(tab), "|")[1:8]
	for range 10 {
		got, err := run(t, a, config{batch: 3})
		require.NoError(t, err)
		require.Equal(t, []string{strings.Join(want, "|")}, got)
	}
}

// TestMemoryError has a query pass its limit.
func TestMemoryError(t *testing.T) {
	d := device.NewCPU(device.CPUOptions{Streams: 1})
	mem := device.NewScope(d, device.ScopeOptions{Name: "query", Limit: 1 << 20, Setting: "memory_limit"})
	series := &planner.TableFunc{Name: "range", Args: []planner.Expr{number(1 << 20)}, Columns: []planner.ColDef{{ID: 1, Type: sqltype.Int64}}}
	n := &planner.Sort{Input: series, Keys: []planner.SortKey{{Expr: &planner.Col{ID: 1, T: sqltype.Int64}}}}
	op, err := exec.Open(&exec.Env{Device: d, Memory: mem, Workers: 1, Now: time.Unix(0, 0), Zone: time.UTC}, &planner.Plan{Root: n})
	require.NoError(t, err)
	_, err = op.Next(context.Background())
	require.NoError(t, op.Close())
	require.ErrorIs(t, err, device.ErrNoMemory)
	var e *sqltype.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, sqltype.CodeOutOfMemory, e.Code)
	require.Contains(t, e.Msg, "this query")
	require.Contains(t, e.Msg, "memory_limit")
	require.Regexp(t, `[KM]iB asked for`, e.Msg)
	mem.Close()
	require.NoError(t, d.Close())
}
