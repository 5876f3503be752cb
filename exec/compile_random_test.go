package exec_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gpusql/gpusql/device/devicetest"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// trees makes random expressions over a table.
type trees struct {
	t   *testing.T
	rnd *rand.Rand
	tab *table
	// made are expressions to use again, so that there is something to share.
	made []planner.Expr
}

func (g *trees) leaf(typ sqltype.Type) planner.Expr {
	for range 4 {
		i := g.rnd.IntN(len(g.tab.defs))
		if g.tab.defs[i].Type == typ {
			return col(g.tab, i)
		}
	}
	if g.rnd.IntN(10) == 0 {
		return constant(sqltype.NullOf(typ))
	}
	return constant(randomDatum(g.rnd, typ, false))
}

// tree is an expression of type typ, of at most so many levels.
func (g *trees) tree(typ sqltype.Type, levels int) planner.Expr {
	if levels == 0 || g.rnd.IntN(8) == 0 {
		return g.leaf(typ)
	}
	if g.rnd.IntN(4) == 0 {
		for _, e := range g.made {
			if e.Type() == typ && g.rnd.IntN(2) == 0 {
				return e
			}
		}
	}
	e := g.node(typ, levels-1)
	g.made = append(g.made, e)
	return e
}

func (g *trees) node(typ sqltype.Type, levels int) planner.Expr {
	if g.rnd.IntN(4) == 0 {
		c := &planner.Case{T: typ, Else: g.tree(typ, levels)}
		for range 1 + g.rnd.IntN(2) {
			c.Whens = append(c.Whens, planner.When{Cond: g.tree(sqltype.Bool, levels), Then: g.tree(typ, levels)})
		}
		return c
	}
	if typ.Kind == sqltype.KindBool {
		return g.predicate(levels)
	}
	if typ.Kind == sqltype.KindVarchar {
		return &planner.Cast{X: g.tree(g.anyType(), levels), To: typ}
	}
	ops := []string{"+", "-", "*", "%"}
	e := call(g.t, ops[g.rnd.IntN(len(ops))], g.tree(typ, levels), g.tree(typ, levels))
	if e.Type() != typ {
		e = &planner.Cast{X: e, To: typ, Try: g.rnd.IntN(2) == 0}
	}
	return e
}

func (g *trees) anyType() sqltype.Type { return g.tab.defs[g.rnd.IntN(len(g.tab.defs))].Type }

func (g *trees) predicate(levels int) planner.Expr {
	b := sqltype.Bool
	switch g.rnd.IntN(6) {
	case 0:
		return &planner.And{Args: []planner.Expr{g.tree(b, levels), g.tree(b, levels), g.tree(b, levels)}}
	case 1:
		return &planner.Or{Args: []planner.Expr{g.tree(b, levels), g.tree(b, levels)}}
	case 2:
		return &planner.Not{X: g.tree(b, levels)}
	case 3:
		return &planner.IsNull{X: g.tree(g.anyType(), levels)}
	case 4:
		typ := g.anyType()
		in := &planner.In{X: g.tree(typ, levels)}
		for range 1 + g.rnd.IntN(12) {
			in.List = append(in.List, constant(randomDatum(g.rnd, typ, false)))
		}
		return in
	}
	typ := g.anyType()
	return &planner.Cmp{Op: planner.CmpOp(g.rnd.IntN(8)), L: g.tree(typ, levels), R: g.tree(typ, levels)}
}

// TestCompileRandom compares random programs with the reference: registers
// that share room, masks within masks, expressions shared between arms, parts
// run on dictionaries.
func TestCompileRandom(t *testing.T) {
	d := devicetest.CPU(t)
	s := devicetest.Stream(t, d)
	away := awayStream(t)
	types := []sqltype.Type{sqltype.Bool, sqltype.Int32, sqltype.Int64, sqltype.Decimal(15, 2), sqltype.Decimal(30, 4), sqltype.Varchar, sqltype.Float64}
	for seed := range uint64(80) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			n := []int{1, 70, 130, 300, 2100}[rnd.IntN(5)]
			tab := newTable(t, d, types, randomRows(rnd, types, n, nulls(rnd.IntN(2)), false), encoding(rnd.IntN(2)))
			tab.away = away
			defer tab.release()
			g := &trees{t: t, rnd: rnd, tab: tab}
			// One at a time, since an error in one hides the others; and all
			// those that are well.
			var exprs []planner.Expr
			for range 4 {
				e := g.tree(g.anyType(), 4)
				agree(t, s, tab, e)
				ok := true
				for r := 0; r < tab.n && ok; r++ {
					_, err := reference(e, tab, r)
					ok = err == nil
				}
				if ok {
					exprs = append(exprs, e)
				}
			}
			agree(t, s, tab, exprs...)
		})
	}
}
