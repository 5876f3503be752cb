package exec

import (
	"slices"

	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// zoneTest is a conjunct that a segment's bounds may show to be false for all
// its rows: a comparison of a column with values known before the scan.
type zoneTest struct {
	column int // of the table
	op     planner.CmpOp
	values []sqltype.Datum // several: the column is one of them (op Eq)
}

// zoneTests finds the conjuncts of a filter that bounds can decide.
func zoneTests(e planner.Expr, cols []planner.ColDef, ids []int, params []sqltype.Datum) []zoneTest {
	var out []zoneTest
	column := func(e planner.Expr) (int, bool) {
		c, ok := e.(*planner.Col)
		if !ok {
			return 0, false
		}
		i := slices.IndexFunc(cols, func(d planner.ColDef) bool { return d.ID == c.ID })
		if i < 0 || ids[i] == planner.RowIDColumn {
			return 0, false
		}
		return ids[i], true
	}
	switch e := e.(type) {
	case *planner.And:
		for _, a := range e.Args {
			out = append(out, zoneTests(a, cols, ids, params)...)
		}
	case *planner.Cmp:
		l, r, op := e.L, e.R, e.Op
		if _, ok := column(l); !ok {
			l, r, op = r, l, flip(op)
		}
		id, ok := column(l)
		d, known := value(r, params)
		if ok && known && !d.Null && op <= planner.Ge && op != planner.Ne {
			out = append(out, zoneTest{id, op, []sqltype.Datum{d}})
		}
	case *planner.In:
		id, ok := column(e.X)
		if !ok {
			return nil
		}
		t := zoneTest{column: id, op: planner.Eq}
		for _, x := range e.List {
			d, known := value(x, params)
			if !known {
				return nil
			}
			if !d.Null {
				t.values = append(t.values, d)
			}
		}
		out = append(out, t)
	}
	return out
}

// flip is the comparison with its sides exchanged.
func flip(op planner.CmpOp) planner.CmpOp {
	switch op {
	case planner.Lt:
		return planner.Gt
	case planner.Le:
		return planner.Ge
	case planner.Gt:
		return planner.Lt
	case planner.Ge:
		return planner.Le
	}
	return op
}

// value is what a constant or a parameter stands for.
func value(e planner.Expr, params []sqltype.Datum) (sqltype.Datum, bool) {
	switch e := e.(type) {
	case *planner.Const:
		return e.Value, true
	case *planner.Param:
		if e.Index < 1 || e.Index > len(params) {
			return sqltype.Datum{}, false
		}
		d := params[e.Index-1]
		return d, d.Type.Kind == e.T.Kind || d.Null
	}
	return sqltype.Datum{}, false
}

// refutes reports that no value between lo and hi passes the test.
func (t *zoneTest) refutes(lo, hi sqltype.Datum) bool {
	for _, v := range t.values {
		var may bool
		switch t.op {
		case planner.Eq:
			may = sqltype.Compare(v, lo) >= 0 && sqltype.Compare(v, hi) <= 0
		case planner.Lt:
			may = sqltype.Compare(v, lo) > 0
		case planner.Le:
			may = sqltype.Compare(v, lo) >= 0
		case planner.Gt:
			may = sqltype.Compare(v, hi) < 0
		case planner.Ge:
			may = sqltype.Compare(v, hi) <= 0
		default:
			may = true
		}
		if may {
			return false
		}
	}
	return true
}

// skipped reports a segment no row of which passes the tests.
func skipped(tests []zoneTest, g *arrow.Segment) bool {
	var s arrow.ColumnStats
	for i := range tests {
		if i == 0 || tests[i].column != tests[i-1].column {
			s = g.Bounds(tests[i].column)
		}
		if s.Min.Null { // no value is known: all are NULL, or it is empty
			if s.Nulls >= g.Rows() {
				return true
			}
			continue
		}
		if tests[i].refutes(s.Min, s.Max) {
			return true
		}
	}
	return false
}
