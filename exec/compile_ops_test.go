package exec_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/exec"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

func TestCompileArithmetic(t *testing.T) {
	for _, typ := range everyType {
		if !typ.Kind.IsNumeric() {
			continue
		}
		ops := []string{"+", "-", "*", "%", "/"}
		if typ.Kind.IsInteger() {
			ops = append(ops, "&", "|", "#", "//")
		}
		for _, op := range ops {
			t.Run(typ.String()+op, func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(3, 4))
				each(t, []sqltype.Type{typ, typ}, sizesOf(typ), func(t *testing.T, s device.Stream, tab *table) {
					a, b := planner.Expr(col(tab, 0)), planner.Expr(col(tab, 1))
					k := constant(randomDatum(rnd, typ, false))
					agree(t, s, tab, call(t, op, a, b))
					agree(t, s, tab, call(t, op, a, k))
					agree(t, s, tab, call(t, op, k, a))
				})
			})
		}
		t.Run(typ.String()+"neg", func(t *testing.T) {
			each(t, []sqltype.Type{typ}, sizesOf(typ), func(t *testing.T, s device.Stream, tab *table) {
				agree(t, s, tab, call(t, "neg", col(tab, 0)))
			})
		})
	}
}

func TestCompileCompare(t *testing.T) {
	for _, typ := range everyType {
		t.Run(typ.String(), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(5, 6))
			each(t, []sqltype.Type{typ, typ}, sizesOf(typ), func(t *testing.T, s device.Stream, tab *table) {
				a, b := planner.Expr(col(tab, 0)), planner.Expr(col(tab, 1))
				k, null := constant(randomDatum(rnd, typ, true)), constant(sqltype.NullOf(typ))
				var exprs []planner.Expr
				for op := planner.Eq; op <= planner.NotDistinct; op++ {
					exprs = append(exprs, &planner.Cmp{Op: op, L: a, R: b}, &planner.Cmp{Op: op, L: a, R: k},
						&planner.Cmp{Op: op, L: k, R: b}, &planner.Cmp{Op: op, L: a, R: null})
				}
				agree(t, s, tab, exprs...)
			})
		})
	}
}

func TestCompileLogic(t *testing.T) {
	types := []sqltype.Type{sqltype.Bool, sqltype.Bool, sqltype.Bool}
	each(t, types, exprSizes, func(t *testing.T, s device.Stream, tab *table) {
		a, b, c := planner.Expr(col(tab, 0)), planner.Expr(col(tab, 1)), planner.Expr(col(tab, 2))
		null := constant(sqltype.NullOf(sqltype.Null))
		agree(t, s, tab,
			&planner.And{Args: []planner.Expr{a, b}}, &planner.Or{Args: []planner.Expr{a, b}},
			&planner.And{Args: []planner.Expr{a, b, c}}, &planner.Or{Args: []planner.Expr{a, b, c}},
			&planner.And{Args: []planner.Expr{a, null}}, &planner.Or{Args: []planner.Expr{null, c}},
			&planner.Not{X: a}, &planner.Not{X: &planner.And{Args: []planner.Expr{a, &planner.Not{X: b}}}},
			&planner.IsNull{X: a}, &planner.Or{Args: []planner.Expr{&planner.Not{X: a}, a}},
			&planner.Cmp{Op: planner.NotDistinct, L: a, R: constant(sqltype.NewBool(true))})
	})
}

// TestCompileGuards: what is decided is not evaluated, so that it cannot fail.
func TestCompileGuards(t *testing.T) {
	each(t, []sqltype.Type{sqltype.Int32, sqltype.Int32}, sizesOf(sqltype.Int32), func(t *testing.T, s device.Stream, tab *table) {
		x, y := planner.Expr(col(tab, 0)), planner.Expr(col(tab, 1))
		zero, one := constant(sqltype.NewInt32(0)), constant(sqltype.NewInt32(1))
		ten := constant(sqltype.NewInt32(10))
		quotient := call(t, "%", ten, x)
		above := &planner.Cmp{Op: planner.Gt, L: quotient, R: one}
		eq := func(a, b planner.Expr) planner.Expr { return &planner.Cmp{Op: planner.Eq, L: a, R: b} }
		ne := func(a, b planner.Expr) planner.Expr { return &planner.Cmp{Op: planner.Ne, L: a, R: b} }
		agree(t, s, tab, &planner.And{Args: []planner.Expr{ne(x, zero), above}})
		agree(t, s, tab, &planner.Or{Args: []planner.Expr{eq(x, zero), above}})
		agree(t, s, tab, &planner.Case{T: sqltype.Int32, Else: quotient, Whens: []planner.When{{Cond: eq(x, zero), Then: y}}})
		agree(t, s, tab, &planner.Case{T: sqltype.Int32, Else: constant(sqltype.NullOf(sqltype.Int32)), Whens: []planner.When{
			{Cond: eq(x, zero), Then: one},
			{Cond: &planner.Cmp{Op: planner.Gt, L: call(t, "%", y, x), R: zero}, Then: quotient},
			{Cond: eq(y, zero), Then: ten},
			{Cond: eq(call(t, "%", x, y), zero), Then: call(t, "%", quotient, y)},
		}})
		agree(t, s, tab, above) // an error where there is a zero
	})
}

func TestCompileCase(t *testing.T) {
	for _, typ := range everyType {
		t.Run(typ.String(), func(t *testing.T) {
			types := []sqltype.Type{sqltype.Bool, sqltype.Bool, typ, typ}
			rnd := rand.New(rand.NewPCG(7, 8))
			each(t, types, sizesOf(typ), func(t *testing.T, s device.Stream, tab *table) {
				p, q, a, b := col(tab, 0), col(tab, 1), col(tab, 2), col(tab, 3)
				k := constant(randomDatum(rnd, typ, true))
				agree(t, s, tab,
					&planner.Case{T: typ, Whens: []planner.When{{Cond: p, Then: a}}, Else: b},
					&planner.Case{T: typ, Whens: []planner.When{{Cond: p, Then: a}, {Cond: q, Then: k}}, Else: constant(sqltype.NullOf(typ))},
					&planner.Case{T: typ, Whens: []planner.When{{Cond: &planner.Not{X: &planner.IsNull{X: a}}, Then: a}}, Else: b}, // coalesce
					&planner.Case{T: typ, Whens: []planner.When{{Cond: &planner.Cmp{Op: planner.Eq, L: a, R: b}, Then: constant(sqltype.NullOf(typ))}}, Else: a})
			})
		})
	}
}

func TestCompileIn(t *testing.T) {
	for _, typ := range everyType {
		t.Run(typ.String(), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(9, 10))
			each(t, []sqltype.Type{typ, typ}, sizesOf(typ), func(t *testing.T, s device.Stream, tab *table) {
				var list []planner.Expr
				for range 3 {
					list = append(list, constant(randomDatum(rnd, typ, true)))
				}
				short := &planner.In{X: col(tab, 0), List: list}
				for range 30 {
					list = append(list, constant(randomDatum(rnd, typ, true)))
				}
				long := &planner.In{X: col(tab, 0), List: list}
				withNull := &planner.In{X: col(tab, 0), List: append(list[:5:5], constant(sqltype.NullOf(typ)))}
				withCol := &planner.In{X: col(tab, 0), List: append(list[:5:5], col(tab, 1))}
				agree(t, s, tab, short, long, withNull, withCol)
			})
		})
	}
}

func TestCompileCast(t *testing.T) {
	for _, from := range everyType {
		t.Run(from.String(), func(t *testing.T) {
			each(t, []sqltype.Type{from}, exprSizes[:3], func(t *testing.T, s device.Stream, tab *table) {
				for _, to := range append(everyType, sqltype.Decimal(3, 1), sqltype.Decimal(18, 18), sqltype.Decimal(38, 30), sqltype.Decimal(38, 0)) {
					if !sqltype.CanCast(from, to) {
						continue
					}
					agree(t, s, tab, &planner.Cast{X: col(tab, 0), To: to, Try: true})
					agree(t, s, tab, &planner.Cast{X: col(tab, 0), To: to})
				}
			})
		})
	}
}

// TestCompileDecimals mixes precisions as the binder does, so that products
// leave 64 bits in some batches and not in others.
func TestCompileDecimals(t *testing.T) {
	types := []sqltype.Type{sqltype.Decimal(15, 2), sqltype.Decimal(18, 4), sqltype.Decimal(30, 5), sqltype.Int64, sqltype.Int32}
	each(t, types, exprSizes[:5], func(t *testing.T, s device.Stream, tab *table) {
		for i := range types {
			for j := range types {
				for _, op := range []string{"+", "-", "*", "/", "%"} {
					agree(t, s, tab, call(t, op, col(tab, i), col(tab, j)))
				}
			}
		}
	})
}

// TestCompileResults: results that are inputs, constants, or asked for twice.
func TestCompileResults(t *testing.T) {
	for _, typ := range everyType {
		rnd := rand.New(rand.NewPCG(15, 16))
		each(t, []sqltype.Type{typ}, sizesOf(typ), func(t *testing.T, s device.Stream, tab *table) {
			k, null := constant(randomDatum(rnd, typ, true)), constant(sqltype.NullOf(typ))
			isNull := &planner.IsNull{X: col(tab, 0)}
			agree(t, s, tab, col(tab, 0), k, null, isNull, col(tab, 0), isNull, k, constant(sqltype.NullOf(sqltype.Null)))
		})
	}
}

// TestCompileTemporal compares arithmetic of dates, times and intervals with
// the functions on values.
func TestCompileTemporal(t *testing.T) {
	types := []sqltype.Type{sqltype.Date, sqltype.Time, sqltype.Timestamp, sqltype.TimestampTZ, sqltype.Interval, sqltype.Int32, sqltype.Float64}
	each(t, types, exprSizes[:3], func(t *testing.T, s device.Stream, tab *table) {
		for i, a := range types {
			for j, b := range types {
				for _, op := range []string{"+", "-", "*", "/"} {
					if a.Kind.IsNumeric() && b.Kind.IsNumeric() || !resolves(op, a, b) {
						continue
					}
					agree(t, s, tab, call(t, op, col(tab, i), col(tab, j)))
				}
			}
		}
		agree(t, s, tab, call(t, "neg", col(tab, 4)))
	})
}

// TestDictionaryResults: a string made from a dictionary stays in one, and a
// dictionary is told from another that was at the same place, with the same
// number of values.
func TestDictionaryResults(t *testing.T) {
	d := devicetest.CPU(t)
	s := devicetest.Stream(t, d)
	types := []sqltype.Type{sqltype.Varchar}
	rnd := rand.New(rand.NewPCG(17, 18))
	tab := newTable(t, d, types, randomRows(rnd, types, 5000, someNulls, false), dictionary)
	defer tab.release()
	exprs := []planner.Expr{call(t, "upper", col(tab, 0)), call(t, "length", call(t, "upper", col(tab, 0)))}
	p, err := exec.Compile(exprs, tab.defs, nil)
	require.NoError(t, err)
	e := kernels.NewEvaluator(p, d)
	defer e.Close()
	values := device.View[kernels.View](tab.vecs[0].Dict, int(tab.vecs[0].DictLen))
	for round := range 4 {
		outs, err := e.Run(s, tab.vecs, tab.n)
		require.NoError(t, err)
		require.NotZero(t, outs[0].Dict)
		require.Zero(t, outs[1].Dict)
		for r, in := range tab.rows[0] {
			got := getDatum(outs[0], sqltype.Varchar, r)
			require.Equal(t, in.Null, got.Null)
			if in.Null {
				continue
			}
			v := getDatum(tab.vecs[0], sqltype.Varchar, r)
			require.Equal(t, strings.ToUpper(v.S), got.S, "round %d", round)
			require.EqualValues(t, utf8.RuneCountInString(v.S), getDatum(outs[1], exprs[1].Type(), r).I)
		}
		if round == 1 { // short values change places, and then a long one its bytes
			values[0], values[1] = values[1], values[0]
		}
		for i := range values {
			if round == 2 && values[i].Len() > kernels.InlineLen {
				device.View[byte](device.Ptr(values[i].Hi), values[i].Len())[values[i].Len()-1] = 'z'
			}
		}
	}
}

// TestDictionaryError: a value of a dictionary that no row has is no error.
func TestDictionaryError(t *testing.T) {
	d := devicetest.CPU(t)
	s := devicetest.Stream(t, d)
	types := []sqltype.Type{sqltype.Varchar}
	rows := [][]sqltype.Datum{{sqltype.NewString("1"), sqltype.NewString("2"), sqltype.NewString("x"), sqltype.NewString("1")}}
	tab := newTable(t, d, types, rows, dictionary)
	defer tab.release()
	cast := &planner.Cast{X: col(tab, 0), To: sqltype.Int32, Pos: 3}
	agree(t, s, tab, cast)
	tab.rows[0], tab.n = rows[0][:2], 2
	agree(t, s, tab, cast)
}

func q1(t testing.TB, tab *table) []planner.Expr {
	one := constant(sqltype.NewInt32(1))
	disc := call(t, "*", col(tab, 0), call(t, "-", one, col(tab, 1)))
	return []planner.Expr{disc, call(t, "*", disc, call(t, "+", one, col(tab, 2)))}
}

// TestCompileSpill: values that do not fit 64 bits after others that do.
func TestCompileSpill(t *testing.T) {
	d := devicetest.CPU(t)
	s := devicetest.Stream(t, d)
	dec := sqltype.Decimal(15, 2)
	types := []sqltype.Type{dec, dec, dec}
	rnd := rand.New(rand.NewPCG(11, 12))
	rows := randomRows(rnd, types, 5000, someNulls, false)
	rows[0][4000] = sqltype.Datum{Type: dec, I: 999_999_999_999_999}
	rows[1][4000] = sqltype.Datum{Type: dec, I: -999_999_999_999_999}
	rows[2][4000] = rows[1][4000]
	tab := newTable(t, d, types, rows, flat)
	defer tab.release()
	exprs := q1(t, tab)
	p, err := exec.Compile(exprs, tab.defs, nil)
	require.NoError(t, err)
	require.NotNil(t, p.Wide)
	for range 4 {
		agree(t, s, tab, exprs...)
	}
}

// TestEvaluatorMemory: all of it comes from the allocator and goes back, also
// when there is none left half way.
func TestEvaluatorMemory(t *testing.T) {
	d := devicetest.CPU(t)
	s := devicetest.Stream(t, d)
	types := []sqltype.Type{sqltype.Int64, sqltype.Varchar}
	rows := randomRows(rand.New(rand.NewPCG(13, 14)), types, 3000, someNulls, false)
	tab := newTable(t, d, types, rows, dictionary)
	defer tab.release()
	long := constant(sqltype.NewString("a string that does not fit a view"))
	exprs := []planner.Expr{call(t, "+", col(tab, 0), constant(sqltype.NewInt64(1))), &planner.Cast{X: col(tab, 0), To: sqltype.Varchar}, long,
		&planner.Cmp{Op: planner.Eq, L: col(tab, 1), R: long}}
	p, err := exec.Compile(exprs, tab.defs, nil)
	require.NoError(t, err)
	for limit := int64(0); ; limit += 10_000 {
		m := device.NewScope(d, device.ScopeOptions{Name: "query", Limit: limit + 1, Setting: "memory_limit"})
		e := kernels.NewEvaluator(p, m)
		_, err := e.Run(s, tab.vecs, tab.n)
		e.Close()
		require.Zero(t, m.Used())
		m.Close()
		if err == nil {
			break
		}
		require.ErrorIs(t, err, device.ErrNoMemory)
		require.Less(t, limit, int64(10<<20))
	}
}

func TestFoldConst(t *testing.T) {
	d := devicetest.CPU(t)
	two, three := constant(sqltype.NewInt32(2)), constant(sqltype.NewInt32(3))
	v, err := exec.FoldConst(d, call(t, "*", two, call(t, "+", two, three)))
	require.NoError(t, err)
	require.Equal(t, sqltype.NewInt32(10), v)
	v, err = exec.FoldConst(d, &planner.Cast{X: call(t, "+", two, three), To: sqltype.Varchar})
	require.NoError(t, err)
	require.Equal(t, sqltype.NewString("5"), v)
	big := constant(sqltype.NewDecimal(sqltype.Int128Of(9_999_999_999_999_999), sqltype.Decimal(30, 2)))
	v, err = exec.FoldConst(d, call(t, "*", big, constant(sqltype.NewDecimal(sqltype.Int128Of(10_000_000), sqltype.Decimal(8, 2)))))
	require.NoError(t, err)
	require.Equal(t, "9999999999999999000.0000", v.String())
	v, err = exec.FoldConst(d, constant(sqltype.NullOf(sqltype.Int32)))
	require.NoError(t, err)
	require.True(t, v.Null)
	_, err = exec.FoldConst(d, call(t, "/", two, constant(sqltype.NewInt32(0))))
	var bad *sqltype.Error
	require.ErrorAs(t, err, &bad)
	require.Equal(t, sqltype.CodeDivisionByZero, bad.Code)
	require.Equal(t, 8, bad.Pos)
}
