package exectest

import (
	"fmt"
	"math"
	"slices"

	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// aggregate groups row by row, once for each grouping set.
func (m *Model) aggregate(n *planner.Aggregate) []Row {
	rows, cols := m.Rows(n.Input), n.Input.Cols()
	sets := n.Sets
	if sets == nil {
		all := []int{}
		for i := range n.Groups {
			all = append(all, i)
		}
		sets = [][]int{all}
	}
	var out []Row
	for _, set := range sets {
		var keys []Row
		groups := map[string][]Row{}
		if len(set) == 0 {
			keys, groups[groupKey(n, set, nil)] = []Row{groupOf(n, set, cols, nil)}, nil
		}
		for _, r := range rows {
			g := groupOf(n, set, cols, r)
			k := groupKey(n, set, g)
			if _, ok := groups[k]; !ok {
				keys = append(keys, g)
			}
			groups[k] = append(groups[k], r)
		}
		for _, g := range keys {
			row := slices.Clone(g)
			for i := range n.Aggs {
				row = append(row, aggregateOf(&n.Aggs[i], groups[groupKey(n, set, g)], cols))
			}
			if n.Grouping.ID != 0 {
				row = append(row, groupingOf(n, set))
			}
			out = append(out, row)
		}
	}
	return out
}

func groupOf(n *planner.Aggregate, set []int, cols []planner.ColDef, r Row) Row {
	g := Row{}
	for i := range n.Groups {
		d := sqltype.NullOf(n.Groups[i].Col.Type)
		if slices.Contains(set, i) {
			d = eval(n.Groups[i].Expr, cols, r)
		}
		g = append(g, d)
	}
	return g
}

func groupKey(_ *planner.Aggregate, set []int, g Row) string {
	if len(set) == 0 {
		return ""
	}
	return Key(g)
}

func groupingOf(n *planner.Aggregate, set []int) sqltype.Datum {
	bits := int64(0)
	for i := range n.Groups {
		bits <<= 1
		if !slices.Contains(set, i) {
			bits++
		}
	}
	return sqltype.NewInt64(bits)
}

// aggregateOf computes one aggregate of a group.
func aggregateOf(a *planner.Agg, rows []Row, cols []planner.ColDef) sqltype.Datum {
	var in []sqltype.Datum
	seen := map[string]bool{}
	for _, r := range rows {
		if a.Filter != nil && !isTrue(eval(a.Filter, cols, r)) {
			continue
		}
		if len(a.Args) == 0 {
			in = append(in, sqltype.NewBool(true))
			continue
		}
		v := eval(a.Args[0], cols, r)
		k := Key(Row{v})
		if v.Null || a.Distinct && seen[k] {
			continue
		}
		seen[k] = true
		in = append(in, v)
	}
	out := sqltype.Datum{Type: a.Col.Type}
	if a.Func.Name == "count" {
		out.I = int64(len(in))
		return out
	}
	if len(in) == 0 {
		return sqltype.NullOf(a.Col.Type)
	}
	best := in[0]
	var mean, squares, floats float64 // sums of the tests' doubles are exact
	sum := sqltype.Int128{}
	for i, v := range in {
		var ok bool
		if !v.Type.Kind.IsFloat() && v.Type.Phys() != sqltype.PhysStr {
			if sum, ok = sum.Add(v.Int128()); !ok {
				panic("exectest: sum out of range")
			}
		}
		if v.Type.Kind.IsFloat() {
			floats += v.F
		}
		c := sqltype.Compare(v, best)
		switch a.Func.Name {
		case "min", "bool_and":
			if c < 0 {
				best = v
			}
		case "max", "bool_or":
			if c > 0 {
				best = v
			}
		case "bit_and", "bit_or", "bit_xor":
			if i > 0 {
				best.I = map[string]int64{"bit_and": best.I & v.I, "bit_or": best.I | v.I, "bit_xor": best.I ^ v.I}[a.Func.Name]
			}
		default:
			d := v.Float64() - mean
			mean += d / float64(i+1)
			squares += d * (v.Float64() - mean)
		}
	}
	n := float64(len(in))
	switch a.Func.Name {
	case "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor":
		return best
	case "sum":
		if out.Type.Kind.IsFloat() {
			out.F = floats
		} else if out.I = int64(sum.Lo); out.Type.Phys() == sqltype.PhysI128 {
			out.Hi = sum.Hi
		}
		return out
	case "avg":
		if out.F = floats / n; !in[0].Type.Kind.IsFloat() {
			out.F = sum.Float64() / n
		}
		return out
	case "var_pop":
		out.F = squares / n
		return out
	case "stddev_samp":
		if n < 2 {
			return sqltype.NullOf(a.Col.Type)
		}
		out.F = math.Sqrt(squares / (n - 1))
		return out
	default:
		panic(fmt.Sprintf("exectest: no model of %s", a.Func.Name))
	}
}
