package planner

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/sqltype"
)

// TestSimplifyKeepsMeaning compares random conditions over all rows of small
// values and NULLs before and after: values must be the same, and a condition
// true of the same rows.
func TestSimplifyKeepsMeaning(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shown := newNamer(&Values{Columns: []ColDef{{ID: 1, Name: "a"}, {ID: 2, Name: "b"}}})
	for range 20_000 {
		e := randomCond(r, 4)
		s := mapExpr(e, simplifyExpr)
		c := simplifyCond(s)
		for a := range 4 {
			for b := range 4 {
				row := map[ColumnID]int{1: a, 2: b}
				want := evalTest(e, row)
				require.Equal(t, want, evalTest(s, row), "%s\n%s\n%v", shown.text(e), shown.text(s), row)
				require.Equal(t, want == 1, evalTest(c, row) == 1, "%s\n%s\n%v", shown.text(e), shown.text(c), row)
			}
		}
	}
}

// TestNullRejection checks falseIfNull against all rows.
func TestNullRejection(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		e := randomCond(r, 3)
		for _, id := range falseIfNull(e).ids() {
			for other := range 4 {
				row := map[ColumnID]int{1: other, 2: other}
				row[id] = testNull
				require.NotEqual(t, 1, evalTest(e, row))
			}
		}
	}
}

// testNull is NULL as a value of a row, and unknown as a result.
const testNull = 3

func randomCond(r *rand.Rand, depth int) Expr {
	if depth == 0 || r.IntN(4) == 0 {
		switch r.IntN(8) {
		case 0:
			return boolConst(r.IntN(2) == 0)
		case 1:
			return nullBool()
		case 2:
			return &IsNull{randomTerm(r)}
		case 3:
			in := &In{X: randomTerm(r)}
			for range 1 + r.IntN(3) {
				in.List = append(in.List, randomConst(r))
			}
			return in
		}
		return &Cmp{Op: CmpOp(r.IntN(8)), L: randomTerm(r), R: randomTerm(r)}
	}
	args := make([]Expr, 2+r.IntN(2))
	for i := range args {
		args[i] = randomCond(r, depth-1)
	}
	switch r.IntN(3) {
	case 0:
		return &And{args}
	case 1:
		return &Or{args}
	}
	return &Not{args[0]}
}

func randomTerm(r *rand.Rand) Expr {
	if r.IntN(3) == 0 {
		return randomConst(r)
	}
	return &Col{ID: ColumnID(1 + r.IntN(2)), T: sqltype.Int32}
}

func randomConst(r *rand.Rand) Expr {
	if v := r.IntN(4); v != testNull {
		return &Const{sqltype.NewInt32(int32(v))}
	}
	return &Const{sqltype.NullOf(sqltype.Int32)}
}

// evalTest gives 0, 1 or testNull for conditions, and values for terms.
func evalTest(e Expr, row map[ColumnID]int) int {
	truth := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	switch e := e.(type) {
	case *Const:
		if e.Value.Null {
			return testNull
		}
		return int(e.Value.I)
	case *Col:
		return row[e.ID]
	case *IsNull:
		return truth(evalTest(e.X, row) == testNull)
	case *Not:
		if x := evalTest(e.X, row); x != testNull {
			return 1 - x
		}
		return testNull
	case *And:
		return evalList(e.Args, row, 0)
	case *Or:
		return evalList(e.Args, row, 1)
	case *In:
		ors := make([]Expr, len(e.List))
		for i, x := range e.List {
			ors[i] = &Cmp{Op: Eq, L: e.X, R: x}
		}
		return evalList(ors, row, 1)
	case *Cmp:
		l, r := evalTest(e.L, row), evalTest(e.R, row)
		if l == testNull || r == testNull {
			switch e.Op {
			case Distinct:
				return truth(l != r)
			case NotDistinct:
				return truth(l == r)
			}
			return testNull
		}
		return truth(e.Op.holds(l - r))
	}
	panic("no value")
}

// evalList is an AND (decided by 0) or an OR (decided by 1).
func evalList(es []Expr, row map[ColumnID]int, decided int) int {
	result := 1 - decided
	for _, e := range es {
		switch evalTest(e, row) {
		case decided:
			return decided
		case testNull:
			result = testNull
		}
	}
	return result
}
