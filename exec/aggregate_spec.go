package exec

import (
	"reflect"
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// aggSpec is an Aggregate node made into what its tables keep: states, which
// several results may share (sum(x), avg(x) and a count of x are one), over
// expressions, which several states may share.
type aggSpec struct {
	exprs   []planner.Expr // the groups first
	groups  int
	notNull []bool // by group: a column that is never NULL, whose key is narrower
	sets    [][]int
	states  []aggState
	finals  []aggFinal
	// collects are the aggregates that keep their input; inOrder says that one
	// of them depends on the order in which rows come.
	collects []collectSpec
	inOrder  bool
}

// aggState is a state: over expressions Arg and Second (-1: none), for rows
// where Filter (-1: none) is true.
type aggState struct {
	agg                 kernels.Agg
	arg, second, filter int
	distinct            bool
}

// aggFinal is a result column: of a state, or, when state is -1, of a collect.
type aggFinal struct {
	state   int
	final   kernels.Final
	collect int
}

func newAggSpec(n *planner.Aggregate) (*aggSpec, error) {
	s := &aggSpec{groups: len(n.Groups), sets: n.Sets}
	for _, g := range n.Groups {
		s.exprs = append(s.exprs, g.Expr)
		s.notNull = append(s.notNull, neverNull(g.Expr, n.Input.Cols()))
	}
	if s.sets == nil {
		all := make([]int, len(n.Groups))
		for i := range all {
			all[i] = i
		}
		s.sets = [][]int{all}
	}
	for i := range n.Aggs {
		if err := s.add(&n.Aggs[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// neverNull reports a column that the input declares NOT NULL.
func neverNull(e planner.Expr, in []planner.ColDef) bool {
	c, ok := e.(*planner.Col)
	return ok && slices.ContainsFunc(in, func(d planner.ColDef) bool { return d.ID == c.ID && d.NotNull })
}

// expr is the place of an expression, added unless it is there.
func (s *aggSpec) expr(e planner.Expr) int {
	for i, x := range s.exprs {
		if x == e || reflect.DeepEqual(x, e) {
			return i
		}
	}
	s.exprs = append(s.exprs, e)
	return len(s.exprs) - 1
}

func (s *aggSpec) add(a *planner.Agg) error {
	if s.collecting(a) {
		return nil
	}
	st := aggState{arg: -1, second: -1, filter: -1, distinct: a.Distinct || a.Func.ID == catalog.FuncApproxCountDistinct}
	f := kernels.Final{Type: a.Col.Type}
	var t sqltype.Type
	if len(a.Args) > 0 {
		t = a.Args[0].Type()
	}
	kind, final, ok := aggKind(a.Func.ID, t)
	if !ok {
		return notSupported("aggregate %s", a.Func.Name)
	}
	f.Op = final
	st.agg = kernels.Agg{Kind: kind, Phys: t.Phys()}
	if t.Kind == sqltype.KindDecimal && f.Type.Kind.IsFloat() {
		f.Scale = int(t.Scale)
	}
	if a.Filter != nil {
		st.filter = s.expr(a.Filter)
	}
	switch {
	case a.Func.ID == catalog.FuncCountIf:
		cond := a.Args[0]
		if a.Filter != nil {
			cond = &planner.And{Args: []planner.Expr{cond, a.Filter}}
		}
		st.filter = s.expr(cond)
	case kind == kernels.AggMoments || kind == kernels.AggPairs:
		st.agg.Phys = sqltype.PhysF64
		st.arg = s.expr(onlyWhere(asFloat(a.Args[0]), a.Filter))
		if kind == kernels.AggPairs {
			st.second = s.expr(onlyWhere(asFloat(a.Args[1]), a.Filter))
		}
	case len(a.Args) > 0:
		st.arg = s.expr(onlyWhere(a.Args[0], a.Filter))
	}
	switch kind {
	case kernels.AggMin, kernels.AggMax, kernels.AggBitAnd, kernels.AggBitOr, kernels.AggFirst:
		st.distinct = false // a second time changes nothing
	}
	for i, have := range s.states {
		if have == st {
			s.finals = append(s.finals, aggFinal{state: i, final: f})
			return nil
		}
	}
	s.states = append(s.states, st)
	s.finals = append(s.finals, aggFinal{state: len(s.states) - 1, final: f})
	return nil
}

// onlyWhere is e where the filter holds, so that a row that FILTER leaves out is no
// error: sum(1 / x) FILTER (WHERE x > 0).
func onlyWhere(e, filter planner.Expr) planner.Expr {
	if filter == nil || !guarded(e) {
		return e
	}
	return &planner.Case{Whens: []planner.When{{Cond: filter, Then: e}}, Else: &planner.Const{Value: sqltype.NullOf(e.Type())}, T: e.Type()}
}

func asFloat(e planner.Expr) planner.Expr {
	if e.Type().Kind == sqltype.KindFloat64 {
		return e
	}
	return &planner.Cast{X: e, To: sqltype.Float64}
}

// aggKind is the state and the result of an aggregate over values of t.
func aggKind(id catalog.FuncID, t sqltype.Type) (kernels.AggKind, kernels.FinalOp, bool) {
	sum := kernels.AggSum
	if t.Kind.IsFloat() {
		sum = kernels.AggSumFloat
	}
	switch id {
	case catalog.FuncCount, catalog.FuncCountIf, catalog.FuncApproxCountDistinct:
		return kernels.AggCount, kernels.FinalValue, true
	case catalog.FuncSum:
		return sum, kernels.FinalValue, true
	case catalog.FuncAvg:
		return sum, kernels.FinalAvg, true
	case catalog.FuncTotal:
		return sum, kernels.FinalTotal, true
	case catalog.FuncMin, catalog.FuncBoolAnd:
		return kernels.AggMin, kernels.FinalValue, true
	case catalog.FuncMax, catalog.FuncBoolOr:
		return kernels.AggMax, kernels.FinalValue, true
	case catalog.FuncAnyValue:
		return kernels.AggFirst, kernels.FinalValue, true
	case catalog.FuncProduct:
		return kernels.AggProduct, kernels.FinalValue, true
	case catalog.FuncBitAndAgg:
		return kernels.AggBitAnd, kernels.FinalValue, true
	case catalog.FuncBitOrAgg:
		return kernels.AggBitOr, kernels.FinalValue, true
	case catalog.FuncBitXorAgg:
		return kernels.AggBitXor, kernels.FinalValue, true
	case catalog.FuncVarSamp:
		return kernels.AggMoments, kernels.FinalVarSamp, true
	case catalog.FuncVarPop:
		return kernels.AggMoments, kernels.FinalVarPop, true
	case catalog.FuncStddevSamp:
		return kernels.AggMoments, kernels.FinalStddevSamp, true
	case catalog.FuncStddevPop:
		return kernels.AggMoments, kernels.FinalStddevPop, true
	}
	op, ok := pairFinals[id]
	return kernels.AggPairs, op, ok
}

var pairFinals = map[catalog.FuncID]kernels.FinalOp{
	catalog.FuncCovarSamp:     kernels.FinalCovarSamp,
	catalog.FuncCovarPop:      kernels.FinalCovarPop,
	catalog.FuncCorr:          kernels.FinalCorr,
	catalog.FuncRegrAvgX:      kernels.FinalRegrAvgX,
	catalog.FuncRegrAvgY:      kernels.FinalRegrAvgY,
	catalog.FuncRegrCount:     kernels.FinalRegrCount,
	catalog.FuncRegrIntercept: kernels.FinalRegrIntercept,
	catalog.FuncRegrR2:        kernels.FinalRegrR2,
	catalog.FuncRegrSlope:     kernels.FinalRegrSlope,
	catalog.FuncRegrSXX:       kernels.FinalRegrSXX,
	catalog.FuncRegrSXY:       kernels.FinalRegrSXY,
	catalog.FuncRegrSYY:       kernels.FinalRegrSYY,
}
