package exec_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// TestFunctionsAway compares functions that GPUs have with the host's, on texts
// of many letters, decimals of both widths and times before and after 1970.
func TestFunctionsAway(t *testing.T) {
	d, away := devicetest.CPU(t), awayStream(t)
	if away == nil {
		t.Skip("there is no GPU, and no compiler for the emulated one")
	}
	s := devicetest.Stream(t, d)
	types := []sqltype.Type{sqltype.Varchar, sqltype.Varchar, sqltype.Decimal(15, 2), sqltype.Decimal(38, 3), sqltype.Float64, sqltype.Int64, sqltype.Timestamp, sqltype.Date, sqltype.Uint16}
	rnd := rand.New(rand.NewPCG(21, 22))
	texts := []string{"", "a", "Straße", "ein längerer Text, ÄÖÜ ıſ ǅ", "  blanks at its ends    ", "0123456789ab", "0123456789abc", "naïve façade ΑΒΓ ЖЯ 𐐀𐐨", "the quick brown fox jumps"}
	for _, n := range []int{1, 63, 64, 150} {
		for _, nl := range []nulls{noNulls, someNulls} {
			rows := randomRows(rnd, types, n, nl, false)
			for i := range n {
				for _, c := range []int{0, 1} {
					if !rows[c][i].Null {
						rows[c][i] = sqltype.NewString(texts[rnd.IntN(len(texts))])
					}
				}
				if !rows[3][i].Null && i%2 == 0 {
					rows[3][i] = sqltype.NewDecimal(sqltype.Int128{Lo: rnd.Uint64(), Hi: rnd.Int64N(1 << rnd.IntN(60))}, types[3])
				}
				if !rows[4][i].Null && i%3 == 0 {
					rows[4][i] = sqltype.NewFloat64(float64(rnd.IntN(2000)-1000) / 8)
				}
			}
			tab := newTable(t, d, types, rows, flat)
			tab.away = away
			a, b, dec, wide, f, whole, ts, date, small := col(tab, 0), col(tab, 1), col(tab, 2), col(tab, 3), col(tab, 4), col(tab, 5), col(tab, 6), col(tab, 7), col(tab, 8)
			num := func(v int64) planner.Expr { return constant(sqltype.NewInt64(v)) }
			word := func(w string) planner.Expr { return constant(sqltype.NewString(w)) }
			exprs := []planner.Expr{call(t, "||", a, b), call(t, "concat", a, b, word(" and a text that is long")), call(t, "upper", a), call(t, "lower", b),
				call(t, "||", call(t, "upper", a), call(t, "lower", a)), call(t, "trim", a), call(t, "ltrim", a), call(t, "rtrim", a),
				call(t, "left", a, num(7)), call(t, "right", a, num(14)), call(t, "substring", a, num(3)), call(t, "strpos", a, call(t, "left", b, num(2))),
				call(t, "contains", a, word("t")), call(t, "ends_with", a, call(t, "right", b, num(1))), call(t, "octet_length", a),
				call(t, "round", f), call(t, "ceil", f), call(t, "floor", f), call(t, "trunc", f), call(t, "sqrt", call(t, "*", f, f)),
				call(t, "round", f, num(1)), call(t, "trunc", f, num(-1)), call(t, "round", dec), call(t, "round", dec, num(1)), call(t, "floor", dec), call(t, "ceil", dec),
				call(t, "trunc", wide), call(t, "round", wide, num(2)), call(t, "round", small),
				&planner.Cast{X: wide, To: sqltype.Float64}, &planner.Cast{X: whole, To: sqltype.Varchar}, &planner.Cast{X: small, To: sqltype.Varchar}}
			for _, unit := range []string{"microsecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"} {
				exprs = append(exprs, call(t, "date_trunc", word(unit), ts))
			}
			for _, part := range []string{"year", "quarter", "month", "day", "hour", "minute", "isodow", "dow", "doy"} {
				exprs = append(exprs, call(t, "date_part", word(part), ts), call(t, "date_part", word(part), date))
			}
			for _, x := range exprs {
				sameAway(t, s, tab, x)
			}
			tab.release()
		}
	}
}

// sameAway compares an expression on the device that is away with the host's.
func sameAway(t *testing.T, s device.Stream, tab *table, x planner.Expr) {
	t.Helper()
	p, err := exec.Compile([]planner.Expr{x}, tab.defs, nil)
	require.NoError(t, err)
	require.NoError(t, p.CheckDevice(), "of\n%s", p)
	host := kernels.NewEvaluator(p, s.Device())
	defer host.Close()
	want, bad := host.Run(s, tab.vecs, tab.n)
	scope := device.NewScope(tab.away.Device(), device.ScopeOptions{})
	defer scope.Close()
	vecs := carried(t, tab, scope)
	e := kernels.NewEvaluator(p, scope)
	defer e.Close()
	for range 2 { // the second time there is room for texts
		outs, err := e.Run(tab.away, vecs, tab.n)
		if bad != nil {
			require.EqualError(t, err, bad.Error(), "from\n%s", p)
			return
		}
		require.NoError(t, err, "from\n%s", p)
		got := fetched(t, tab, outs[0], x.Type().Phys())
		for r := range tab.n {
			g, w := getDatum(got, x.Type(), r), getDatum(want[0], x.Type(), r)
			require.True(t, same(w, g), "row %d: got %s, want %s\ninputs %q\n%s", r, g, w, rowOf(tab, r), p)
		}
	}
}
