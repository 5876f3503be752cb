package metamorphic

import "slices"

// from adds one to three sources and their columns to s.
func (g *Generator) from(q *Query, s *scope, depth int) {
	n := []int{0, 0, 1, 1, 2}[g.r.IntN(5)]
	if g.db.Big || g.features.Small && g.chance(70) {
		n = min(n, 1)
	}
	if g.single {
		n = 0
	}
	for i := range 1 + n {
		src := Source{Alias: g.alias("a")}
		var cols []Column
		switch {
		case i > 0 && depth > 0 && g.features.Extended && !g.db.Big && g.chance(12):
			types := g.types(1 + g.r.IntN(2))
			src.Lateral = true
			src.Sub = g.query(&scope{cols: s.cols, outer: s.outer, named: s.named}, types, depth-1, false)
			cols = derived(src.Alias, types).Columns
		case g.features.Extended && slices.Contains(g.features.Types, List) && g.chance(4):
			src.Lateral = i > 0 && !g.db.Big
			in := &scope{}
			if src.Lateral {
				in = &scope{cols: s.cols, outer: s.outer}
			}
			src.Sub = &Query{Items: []*Expr{{Form: "unnest(%)", Type: Int, Args: []*Expr{g.expr(List, in, 1)}}}}
			cols = derived(src.Alias, []Type{Int}).Columns
		case g.features.Extended && g.chance(5):
			types := g.types(1 + g.r.IntN(3))
			src.Sub = g.values(types)
			cols = derived(src.Alias, types).Columns
		case depth > 1 && g.chance(15):
			types := g.types(1 + g.r.IntN(3))
			// A derived table sees nothing of its neighbours.
			src.Sub = g.query(&scope{named: s.named}, types, depth-2, false)
			cols = derived(src.Alias, types).Columns
		case len(s.named) > 0 && g.chance(50):
			t := pick(g, s.named)
			src.Table, cols = t.Name, t.Columns
		default:
			t := pick(g, g.db.Tables)
			src.Table, cols = t.Name, t.Columns
		}
		for _, c := range cols {
			s.cols = append(s.cols, &Expr{Form: src.Alias + "." + c.Name, Type: c.Type})
		}
		if i > 0 && g.db.Big {
			src.Join, src.On = pick(g, []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"}), g.equality(s, len(cols))
		} else if i > 0 {
			joins := []string{"JOIN", "JOIN", "LEFT JOIN", "CROSS JOIN", ","}
			if g.features.Full && !src.Lateral {
				joins = append(joins, "RIGHT JOIN", "FULL JOIN")
			}
			src.Join = pick(g, joins)
			comma := slices.ContainsFunc(q.From, func(f Source) bool { return f.Join == "," })
			if src.Join != "," && comma {
				src.Join = "CROSS JOIN" // ON would not see what stands before the comma
			}
			switch {
			case src.Join == "CROSS JOIN" || src.Join == ",":
			case src.Join == "LEFT JOIN" && src.Lateral:
				src.On = &Expr{Form: "TRUE", Type: Bool} // others are refused by some
			case src.Join == "FULL JOIN":
				src.On = g.equality(s, len(cols)) // others are refused by some
			case g.chance(70):
				src.On = g.equality(s, len(cols))
				if g.chance(30) {
					src.On = &Expr{Form: "(% AND %)", Type: Bool, Args: []*Expr{src.On, g.expr(Bool, &scope{cols: s.cols}, 1)}}
				}
			default:
				src.On = g.expr(Bool, &scope{cols: s.cols}, 1)
			}
		}
		q.From = append(q.From, src)
	}
}

// equality compares a column of the last n with one before.
func (g *Generator) equality(s *scope, n int) *Expr {
	left, right := s.cols[:len(s.cols)-n], s.cols[len(s.cols)-n:]
	if g.db.Big && left[0].Type == Int && right[0].Type == Int {
		return &Expr{Form: "% = %", Type: Bool, Args: []*Expr{left[0].clone(), right[0].clone()}}
	}
	for range 10 {
		a, b := pick(g, left), pick(g, right)
		if a.Type == b.Type {
			return &Expr{Form: "% = %", Type: Bool, Args: []*Expr{a.clone(), b.clone()}}
		}
	}
	a, b := pick(g, left), pick(g, right)
	return &Expr{Form: "(% IS NULL) = (% IS NULL)", Type: Bool, Args: []*Expr{a.clone(), b.clone()}}
}

// values are a few rows of literals.
func (g *Generator) values(types []Type) *Query {
	q := &Query{}
	for range 1 + g.r.IntN(3) {
		row := make([]*Expr, len(types))
		for i, t := range types {
			row[i] = g.constant(t)
		}
		q.Values = append(q.Values, row)
	}
	for i, t := range types {
		// All of a column have its type, whatever the literals are.
		q.Values[0][i] = &Expr{Form: "CAST(% AS " + typeNames[t] + ")", Type: t, Args: []*Expr{q.Values[0][i]}}
	}
	return q
}

// recursive counts its first column to a bound, so that it ends.
func (g *Generator) recursive(alias string, types []Type, s *scope) *Query {
	q := &Query{Right: &Query{}}
	in := &scope{named: s.named}
	t := pick(g, g.db.Tables)
	a := Source{Table: t.Name, Alias: g.alias("a")}
	for _, c := range t.Columns {
		in.cols = append(in.cols, &Expr{Form: a.Alias + "." + c.Name, Type: c.Type})
	}
	q.From = []Source{a}
	q.Items = []*Expr{{Form: "(% %% 3)", Type: Int, Args: []*Expr{g.expr(Int, in, 1)}}}
	for _, t := range types[1:] {
		// The first part's type is the column's: that of a literal is not BIGINT.
		q.Items = append(q.Items, &Expr{Form: "CAST(% AS " + typeNames[t] + ")", Type: t, Args: []*Expr{g.expr(t, in, 1)}})
	}
	if g.chance(50) {
		q.Where = g.expr(Bool, in, 1)
	}

	r, own := Source{Table: alias, Alias: g.alias("a")}, &scope{}
	for _, c := range derived(alias, types).Columns {
		own.cols = append(own.cols, &Expr{Form: r.Alias + "." + c.Name, Type: c.Type})
	}
	q.Right.From = []Source{r}
	q.SetOp = pick(g, []string{"UNION ALL", "UNION"})
	bound := &Expr{Form: "% < %", Type: Bool, Args: []*Expr{own.cols[0].clone(), {Form: number(2 + g.r.IntN(3)), Type: Int}}}
	from := own
	if g.chance(40) && !g.db.Big {
		q.SetOp = "UNION" // else rows grow with every round
		other := pick(g, g.db.Tables)
		b := Source{Join: "JOIN", Table: other.Name, Alias: g.alias("a")}
		from = &scope{cols: slices.Clone(own.cols)}
		for _, c := range other.Columns {
			from.cols = append(from.cols, &Expr{Form: b.Alias + "." + c.Name, Type: c.Type})
		}
		b.On = g.equality(from, len(other.Columns))
		q.Right.From = append(q.Right.From, b)
	}
	q.Right.Where = bound
	q.Right.Items = []*Expr{{Form: "(% + 1)", Type: Int, Args: []*Expr{own.cols[0].clone()}}}
	for _, t := range types[1:] {
		item := g.expr(t, &scope{cols: from.cols}, 1)
		if t == Text {
			item = &Expr{Form: "substr(%, 1, 20)", Type: Text, Args: []*Expr{item}}
		}
		q.Right.Items = append(q.Right.Items, item)
	}
	return q
}
