package exectest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// Model says what a plan gives, in the plainest way. It knows the expressions
// that plans of tests have.
type Model struct {
	Tables map[catalog.TableID]*Table
	ctes   map[int][]Row
}

// NewModel is a model of tables.
func NewModel(tables ...*Table) *Model {
	m := &Model{Tables: map[catalog.TableID]*Table{}, ctes: map[int][]Row{}}
	for _, t := range tables {
		m.Tables[t.ID] = t
	}
	return m
}

// Rows are the rows of a node, in order where it has one.
func (m *Model) Rows(n planner.Node) []Row {
	switch n := n.(type) {
	case *planner.Scan:
		return m.scan(n)
	case *planner.Values:
		var out []Row
		for _, exprs := range n.Rows {
			out = append(out, evalAll(exprs, nil, nil))
		}
		return out
	case *planner.TableFunc:
		return series(n)
	case *planner.Filter:
		return keep(m.Rows(n.Input), n.Pred, n.Input.Cols())
	case *planner.Project:
		var exprs []planner.Expr
		for _, e := range n.Exprs {
			exprs = append(exprs, e.Expr)
		}
		var out []Row
		for _, r := range m.Rows(n.Input) {
			out = append(out, evalAll(exprs, n.Input.Cols(), r))
		}
		return out
	case *planner.Limit:
		return cut(m.Rows(n.Input), n.Limit, n.Offset)
	case *planner.Sort:
		return sorted(m.Rows(n.Input), n.Keys, n.Input.Cols())
	case *planner.TopN:
		return cut(sorted(m.Rows(n.Input), n.Keys, n.Input.Cols()), n.Limit, n.Offset)
	case *planner.DistinctOn:
		seen := map[string]bool{}
		return slices.DeleteFunc(m.Rows(n.Input), func(r Row) bool {
			k := Key(evalAll(n.On, n.Input.Cols(), r))
			was := seen[k]
			seen[k] = true
			return was
		})
	case *planner.SetOp:
		return m.setOp(n)
	case *planner.Join:
		return m.join(n)
	case *planner.Aggregate:
		return m.aggregate(n)
	case *planner.With:
		return m.with(n)
	case *planner.CTEScan:
		var out []Row
		for _, r := range m.ctes[n.CTE] {
			row := Row{}
			for _, i := range n.Source {
				row = append(row, r[i])
			}
			out = append(out, row)
		}
		return out
	default:
		panic(fmt.Sprintf("exectest: no model of %T", n))
	}
}

// series is generate_series or range over three BIGINTs.
func series(n *planner.TableFunc) []Row {
	a := evalAll(n.Args, nil, nil)
	var out []Row
	from, to, step := sqltype.Int128Of(a[0].I), sqltype.Int128Of(a[1].I), sqltype.Int128Of(a[2].I)
	for v := from; ; v, _ = v.Add(step) {
		c := v.Cmp(to) * step.Sign()
		if c > 0 || c == 0 && n.Name == "range" {
			return out
		}
		out = append(out, Row{sqltype.NewInt64(int64(v.Lo))})
	}
}

func (m *Model) scan(n *planner.Scan) []Row {
	cols := slices.Concat(n.Columns, n.Fetch)
	src := slices.Concat(n.Source, n.FetchSource)
	var out []Row
	for _, r := range m.Tables[n.Table.ID].Rows {
		row := Row{}
		for _, i := range src {
			row = append(row, r[i])
		}
		if (n.Filter == nil || isTrue(eval(n.Filter, cols, row))) && inRanges(n.Access, r) {
			out = append(out, row[:len(n.Columns)])
		}
	}
	return out
}

// inRanges reports that a table's row is one that an index finds.
func inRanges(a *planner.Access, r Row) bool {
	if a == nil {
		return true
	}
	return slices.ContainsFunc(a.Ranges, func(k planner.KeyRange) bool {
		for i, e := range k.Prefix {
			if _, ok := e.(*planner.IsNull); ok {
				if !r[a.Index.Keys[i].Column].Null {
					return false
				}
				continue
			}
			if !isTrue(compare(planner.Eq, r[a.Index.Keys[i].Column], eval(e, nil, nil))) {
				return false
			}
		}
		for _, b := range []struct {
			e      planner.Expr
			open   bool
			op, or planner.CmpOp
		}{{k.Lo, k.LoOpen, planner.Gt, planner.Ge}, {k.Hi, k.HiOpen, planner.Lt, planner.Le}} {
			op := b.or
			if b.open {
				op = b.op
			}
			if b.e != nil && !isTrue(compare(op, r[a.Index.Keys[len(k.Prefix)].Column], eval(b.e, nil, nil))) {
				return false
			}
		}
		return true
	})
}

func (m *Model) with(n *planner.With) []Row {
	all := m.Rows(n.Def)
	if n.Step != nil {
		seen := map[string]bool{}
		fresh := func(rows []Row) []Row {
			return slices.DeleteFunc(rows, func(r Row) bool {
				was := !n.StepAll && seen[Key(r)]
				seen[Key(r)] = true
				return was
			})
		}
		all = fresh(all)
		for last := all; len(last) > 0; all = append(all, last...) {
			m.ctes[n.CTE] = last
			last = fresh(m.Rows(n.Step))
		}
	}
	m.ctes[n.CTE] = all
	return m.Rows(n.Body)
}

func (m *Model) setOp(n *planner.SetOp) []Row {
	left, right := m.Rows(n.Left), m.Rows(n.Right)
	if n.Op == planner.Union {
		left, right = append(left, right...), nil
	}
	count := map[string]int{}
	for _, r := range right {
		count[Key(r)]++
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(left, func(r Row) bool {
		k := Key(r)
		if !n.All {
			was := seen[k]
			seen[k] = true
			return was || n.Op == planner.Intersect && count[k] == 0 || n.Op == planner.Except && count[k] > 0
		}
		count[k]--
		return n.Op == planner.Intersect && count[k] < 0 || n.Op == planner.Except && count[k] >= 0
	})
}

// join is nested loops; a Single one with two matches panics.
func (m *Model) join(n *planner.Join) []Row {
	cond := []planner.Expr{}
	if n.Lookup { // the right side gives all columns of its table
		s := *n.Right.(*planner.Scan)
		for i, e := range s.Access.Ranges[0].Prefix {
			cond = append(cond, &planner.Cmp{L: e, R: Ref(&s, s.Access.Index.Keys[i].Column)})
		}
		s.Access = nil
		n = &planner.Join{Kind: n.Kind, Left: n.Left, Right: &s, On: n.On}
	}
	left, right := m.Rows(n.Left), m.Rows(n.Right)
	lc, rc := n.Left.Cols(), n.Right.Cols()
	cols := slices.Concat(lc, rc)
	for _, k := range n.Keys {
		op := planner.Eq
		if k.NullSafe {
			op = planner.NotDistinct
		}
		cond = append(cond, &planner.Cmp{Op: op, L: k.Left, R: k.Right})
	}
	if n.On != nil {
		cond = append(cond, n.On)
	}
	all := &planner.And{Args: cond}
	met := make([]bool, len(right))
	var out []Row
	for _, l := range left {
		best := sqltype.NewBool(false)
		for i, r := range right {
			both := slices.Concat(l, r)
			v := eval(all, cols, both)
			if isTrue(v) {
				met[i] = true
				if n.Kind <= planner.Full || n.Kind == planner.Single {
					out = append(out, both)
				}
			}
			if isTrue(v) || v.Null && !isTrue(best) {
				best = v
			}
		}
		unknown := best.Null && n.NullAware
		switch n.Kind {
		case planner.Left, planner.Full, planner.Single:
			if !isTrue(best) {
				out = append(out, slices.Concat(l, nulls(rc)))
			}
		case planner.Semi:
			if isTrue(best) {
				out = append(out, l)
			}
		case planner.Anti:
			if !isTrue(best) && !unknown {
				out = append(out, l)
			}
		case planner.Mark:
			mark := sqltype.NewBool(isTrue(best))
			if unknown {
				mark = sqltype.NullOf(sqltype.Bool)
			}
			out = append(out, slices.Concat(l, Row{mark}))
		}
	}
	for i, r := range right {
		if !met[i] && (n.Kind == planner.Right || n.Kind == planner.Full) {
			out = append(out, slices.Concat(nulls(lc), r))
		}
	}
	return out
}

func nulls(cols []planner.ColDef) Row {
	var r Row
	for _, c := range cols {
		r = append(r, sqltype.NullOf(c.Type))
	}
	return r
}

func keep(rows []Row, pred planner.Expr, cols []planner.ColDef) []Row {
	return slices.DeleteFunc(rows, func(r Row) bool { return !isTrue(eval(pred, cols, r)) })
}

func cut(rows []Row, limit, offset planner.Expr) []Row {
	lo, hi := 0, len(rows)
	if offset != nil {
		lo = min(hi, int(eval(offset, nil, nil).I))
	}
	if d := limit; d != nil && !eval(d, nil, nil).Null {
		hi = min(hi, lo+int(eval(d, nil, nil).I))
	}
	return rows[lo:hi]
}

func sorted(rows []Row, keys []planner.SortKey, cols []planner.ColDef) []Row {
	slices.SortStableFunc(rows, func(a, b Row) int {
		for _, k := range keys {
			x, y := eval(k.Expr, cols, a), eval(k.Expr, cols, b)
			c := sqltype.Compare(x, y)
			switch {
			case c == 0:
				continue
			case x.Null || y.Null:
				if k.NullsFirst {
					c = -c
				}
			case k.Desc:
				c = -c
			}
			return c
		}
		return 0
	})
	return rows
}

// Key is a text that rows have in common which are not distinct.
func Key(r Row) string {
	var b strings.Builder
	for _, d := range r {
		switch {
		case d.Null:
			b.WriteString("NULL")
		case d.Type.Kind.IsFloat() && math.Abs(d.F) < 1e-9: // the tests' doubles are larger, or 0
			b.WriteByte('0')
		case d.Type.Kind.IsFloat():
			// Sums in any order agree to seven digits; the factor moves numbers of few
			// digits away from where those are rounded up.
			fmt.Fprintf(&b, "%.7g", d.F*(1+1e-10))
		default:
			fmt.Fprintf(&b, "%q", d.String())
		}
		b.WriteByte('|')
	}
	return b.String()
}

// Keys are the rows as texts.
func Keys(rows []Row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = Key(r)
	}
	return out
}

func isTrue(d sqltype.Datum) bool { return !d.Null && d.I != 0 }

func evalAll(exprs []planner.Expr, cols []planner.ColDef, r Row) Row {
	out := Row{}
	for _, e := range exprs {
		out = append(out, eval(e, cols, r))
	}
	return out
}

func eval(e planner.Expr, cols []planner.ColDef, r Row) sqltype.Datum {
	unknown := sqltype.NullOf(sqltype.Bool)
	switch e := e.(type) {
	case *planner.Const:
		return e.Value
	case *planner.Col:
		return r[slices.IndexFunc(cols, func(c planner.ColDef) bool { return c.ID == e.ID })]
	case *planner.IsNull:
		return sqltype.NewBool(eval(e.X, cols, r).Null)
	case *planner.Not:
		v := eval(e.X, cols, r)
		if v.Null {
			return unknown
		}
		return sqltype.NewBool(!isTrue(v))
	case *planner.And:
		out := sqltype.NewBool(true)
		for _, a := range e.Args {
			v := eval(a, cols, r)
			if !v.Null && !isTrue(v) {
				return v
			}
			if v.Null {
				out = unknown
			}
		}
		return out
	case *planner.Cmp:
		return compare(e.Op, eval(e.L, cols, r), eval(e.R, cols, r))
	case *planner.Call:
		a, b := eval(e.Args[0], cols, r), eval(e.Args[1], cols, r)
		if a.Null || b.Null {
			return sqltype.NullOf(e.T)
		}
		return sqltype.NewInt64(a.I + b.I) // "+" of BIGINTs is the only call
	default:
		panic(fmt.Sprintf("exectest: no model of %T", e))
	}
}

func compare(op planner.CmpOp, a, b sqltype.Datum) sqltype.Datum {
	c := sqltype.Compare(a, b)
	switch {
	case op == planner.Distinct:
		return sqltype.NewBool(c != 0)
	case op == planner.NotDistinct:
		return sqltype.NewBool(c == 0)
	case a.Null || b.Null:
		return sqltype.NullOf(sqltype.Bool)
	}
	return sqltype.NewBool(map[planner.CmpOp]bool{planner.Eq: c == 0, planner.Ne: c != 0, planner.Lt: c < 0,
		planner.Le: c <= 0, planner.Gt: c > 0, planner.Ge: c >= 0}[op])
}
