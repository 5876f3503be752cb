package exec_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// TestCompileListing shows the programs of the expressions named in
// testdata/program; with the argument wide, the twin in 128 bits.
func TestCompileListing(t *testing.T) {
	dec := sqltype.Decimal(15, 2)
	types := []sqltype.Type{dec, dec, dec, sqltype.Int32, sqltype.Int32, sqltype.Varchar, sqltype.Date, sqltype.Float64}
	tab := &table{}
	for i, typ := range types {
		tab.defs = append(tab.defs, planner.ColDef{ID: planner.ColumnID(i + 1), Type: typ})
	}
	x, y, str, date := col(tab, 3), col(tab, 4), col(tab, 5), col(tab, 6)
	zero, ten := constant(sqltype.NewInt32(0)), constant(sqltype.NewInt32(10))
	cmp := func(op planner.CmpOp, l, r planner.Expr) planner.Expr { return &planner.Cmp{Op: op, L: l, R: r} }
	words := []planner.Expr{constant(sqltype.NewString("MAIL")), constant(sqltype.NewString("SHIP"))}
	named := map[string][]planner.Expr{
		"q1":          q1(t, tab),
		"guarded and": {&planner.And{Args: []planner.Expr{cmp(planner.Ne, x, zero), cmp(planner.Gt, call(t, "/", ten, x), y)}}},
		"case": {&planner.Case{T: sqltype.Int32, Else: call(t, "/", ten, x), Whens: []planner.When{
			{Cond: cmp(planner.Eq, x, zero), Then: y}, {Cond: cmp(planner.Lt, zero, y), Then: call(t, "/", ten, y)}}}},
		"shared": {call(t, "+", x, y), call(t, "*", call(t, "+", x, y), call(t, "+", x, y))},
		"in":     {&planner.In{X: str, List: words}, &planner.In{X: x, List: []planner.Expr{zero, y}}},
		"casts": {&planner.Cast{X: x, To: sqltype.Decimal(10, 2)}, &planner.Cast{X: col(tab, 0), To: sqltype.Decimal(30, 4)},
			&planner.Cast{X: col(tab, 0), To: sqltype.Int32}, &planner.Cast{X: str, To: sqltype.Date, Try: true}},
		"dates":    {call(t, "+", date, constant(sqltype.NewInterval(sqltype.Span{Months: 3})))},
		"quotient": {call(t, "/", col(tab, 0), col(tab, 1)), call(t, "//", col(tab, 0), col(tab, 1))},
		"distinct": {cmp(planner.NotDistinct, x, y), &planner.IsNull{X: str}, &planner.Not{X: cmp(planner.Le, col(tab, 7), col(tab, 7))}},
	}
	datadriven.RunTest(t, "testdata/program", func(t *testing.T, d *datadriven.TestData) string {
		exprs, ok := named[d.Input]
		require.True(t, ok, d.Input)
		p, err := exec.Compile(exprs, tab.defs, nil)
		require.NoError(t, err)
		if d.HasArg("wide") {
			require.NotNil(t, p.Wide)
			p = p.Wide
		}
		return p.String()
	})
}
