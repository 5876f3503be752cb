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

func BenchmarkFoldConst(b *testing.B) {
	d := devicetest.CPU(b)
	e := call(b, "+", constant(sqltype.NewInt32(2)), constant(sqltype.NewInt32(3)))
	for b.Loop() {
		v, err := exec.FoldConst(d, e)
		if err != nil || v.I != 5 {
			b.Fatal(v, err)
		}
	}
}

// BenchmarkQ1 is TPC-H Q1's arithmetic; it reports nanoseconds a row.
func BenchmarkQ1(b *testing.B) {
	dec := sqltype.Decimal(15, 2)
	benchmark(b, []sqltype.Type{dec, dec, dec}, func(tab *table) []planner.Expr { return q1(b, tab) })
}

// BenchmarkQ6 is TPC-H Q6's predicate.
func BenchmarkQ6(b *testing.B) {
	dec := sqltype.Decimal(15, 2)
	benchmark(b, []sqltype.Type{sqltype.Date, dec, dec}, func(tab *table) []planner.Expr {
		cmp := func(op planner.CmpOp, c int, v int64) planner.Expr {
			return &planner.Cmp{Op: op, L: col(tab, c), R: constant(sqltype.Datum{Type: tab.defs[c].Type, I: v})}
		}
		return []planner.Expr{&planner.And{Args: []planner.Expr{cmp(planner.Ge, 0, -4000), cmp(planner.Lt, 0, 4000),
			cmp(planner.Ge, 1, -100), cmp(planner.Le, 1, 200), cmp(planner.Lt, 2, 240)}}}
	})
}

// BenchmarkStringEqual compares a flat column of strings with a constant.
func BenchmarkStringEqual(b *testing.B) {
	benchmark(b, []sqltype.Type{sqltype.Varchar}, func(tab *table) []planner.Expr {
		return []planner.Expr{&planner.Cmp{Op: planner.Eq, L: col(tab, 0), R: constant(sqltype.NewString("zebra"))}}
	})
}

// BenchmarkDictionaryLess compares an encoded column of strings with a constant.
func BenchmarkDictionaryLess(b *testing.B) {
	encoded(b, []sqltype.Type{sqltype.Varchar}, dictionary, func(tab *table) []planner.Expr {
		return []planner.Expr{&planner.Cmp{Op: planner.Lt, L: col(tab, 0), R: constant(sqltype.NewString("abcdefghijklm"))}}
	})
}

func benchmark(b *testing.B, types []sqltype.Type, exprs func(*table) []planner.Expr) {
	encoded(b, types, flat, exprs)
}

func encoded(b *testing.B, types []sqltype.Type, enc encoding, exprs func(*table) []planner.Expr) {
	d := devicetest.CPU(b)
	s := devicetest.Stream(b, d)
	tab := newTable(b, d, types, randomRows(rand.New(rand.NewPCG(1, 1)), types, device.DefaultBatchRows, noNulls, false), enc)
	defer tab.release()
	list := exprs(tab)
	p, err := exec.Compile(list, tab.defs, nil)
	require.NoError(b, err)
	e := kernels.NewEvaluator(p, d)
	defer e.Close()
	var outs []kernels.Vec
	for b.Loop() {
		if outs, err = e.Run(s, tab.vecs, tab.n); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(tab.n), "ns/row")
	for i, x := range list {
		for r := 0; r < tab.n; r += 7 {
			want, err := reference(x, tab, r)
			require.NoError(b, err)
			require.True(b, same(want, getDatum(outs[i], x.Type(), r)))
		}
	}
}
