package exectest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/exec/exectest"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// indexed is a bench whose table 0 has an index on two columns.
func indexed(t *testing.T, a, b int) *bench {
	o := open(t, 0, 50, 4)
	tab := o.Create("ix", types, &catalog.Index{Name: "ix", Keys: []catalog.IndexKey{{Column: a}, {Column: b}}})
	for range 3 {
		var rows []exectest.Row
		for i := range 90 {
			rows = append(rows, o.row(int64(i+len(tab.Rows))))
		}
		o.Fill(tab, rows)
	}
	o.tabs[0] = tab
	o.model = exectest.NewModel(o.tabs...)
	return o
}

func TestIndexScans(t *testing.T) {
	for _, cols := range [][2]int{{0, 1}, {1, 5}, {6, 3}, {3, 0}, {2, 7}} {
		b := indexed(t, cols[0], cols[1])
		tab := b.tabs[0]
		for range 20 {
			n := b.Scan(tab)
			n.Access = &planner.Access{Index: tab.Indexes[0]}
			for range 1 + b.r.IntN(3) {
				var k planner.KeyRange
				at := cols[0]
				if b.r.IntN(2) == 0 {
					k.Prefix, at = []planner.Expr{constant(b.row(0)[at])}, cols[1]
				}
				if b.r.IntN(2) == 0 {
					k.Lo, k.LoOpen = constant(b.row(100)[at]), b.r.IntN(2) == 0
				}
				if k.Lo == nil && k.Prefix == nil || b.r.IntN(2) == 0 {
					k.Hi, k.HiOpen = constant(b.row(200)[at]), b.r.IntN(2) == 0
				}
				n.Access.Ranges = append(n.Access.Ranges, k)
			}
			if b.r.IntN(2) == 0 {
				n.Filter = exectest.Ref(n, 4)
			}
			b.check(t, n, false)
		}
	}
}

func TestOrderedIndexScan(t *testing.T) {
	b := indexed(t, 1, 7)
	for _, reverse := range []bool{false, true} {
		n := b.Scan(b.tabs[0])
		n.Access = &planner.Access{Index: b.tabs[0].Indexes[0], Ordered: true, Reverse: reverse, Limit: 17,
			Ranges: []planner.KeyRange{{Lo: constant(sqltype.NewString("a")), Hi: constant(sqltype.NewString("b"))}}}
		plain := *n
		plain.Access = &planner.Access{Index: n.Access.Index, Ranges: n.Access.Ranges}
		want := b.model.Rows(&planner.TopN{Input: &plain, Limit: exectest.Int(17), Keys: []planner.SortKey{
			{Expr: exectest.Ref(n, 1), Desc: reverse}, {Expr: exectest.Ref(n, 7), Desc: reverse}}})
		for _, c := range exectest.Configs {
			rows, err := b.Run(c, n)
			require.NoError(t, err)
			require.Equal(t, exectest.Keys(want), exectest.Keys(rows), "%+v", c)
		}
	}
}

func TestLookupJoins(t *testing.T) {
	for _, cols := range [][2]int{{1, 5}, {3, 0}} {
		b := indexed(t, cols[0], cols[1])
		for _, kind := range []planner.JoinKind{planner.Inner, planner.Left, planner.Semi, planner.Anti} {
			for variant := range 8 {
				t.Run(fmt.Sprintf("%s %v %d", kind, cols, variant), func(t *testing.T) {
					l, r := b.Scan(b.tabs[1]), b.Scan(b.tabs[0])
					n := &planner.Join{Kind: kind, Left: l, Right: r, Lookup: true}
					k := planner.KeyRange{Prefix: []planner.Expr{exectest.Ref(l, cols[0]), exectest.Ref(l, cols[1])}[:1+variant&1]}
					r.Access = &planner.Access{Index: b.tabs[0].Indexes[0], Ranges: []planner.KeyRange{k}}
					if variant&2 != 0 {
						r.Filter = exectest.Ref(r, 4)
					}
					if variant&4 != 0 {
						n.On = cmp(planner.Lt, exectest.Ref(l, 7), exectest.Ref(r, 7))
					}
					b.check(t, n, false)
				})
			}
		}
	}
}
