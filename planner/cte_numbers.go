package planner

// uniqueCTEs gives each With of a plan a number of its own. Rules that compute
// a part of a plan twice copy the Withs in it, and a copy within the definition
// of the other would read itself.
func (o *optimizer) uniqueCTEs(n Node, seen map[int]bool, renamed map[int]int) Node {
	visit := func(x Node) Node { return o.uniqueCTEs(x, seen, renamed) }
	switch x := n.(type) {
	case *CTEScan:
		if to, ok := renamed[x.CTE]; ok && to != x.CTE {
			c := *x
			c.CTE = to
			return &c
		}
		return n
	case *With:
		was, shadows := renamed[x.CTE]
		c := *x
		if seen[x.CTE] {
			c.CTE = o.nextCTE
			o.nextCTE++
		}
		seen[c.CTE] = true
		renamed[x.CTE] = c.CTE
		out := mapInputs(&c, visit)
		if out == Node(&c) && c == *x {
			out = n
		}
		if delete(renamed, x.CTE); shadows {
			renamed[x.CTE] = was
		}
		return out
	}
	return mapInputs(n, visit)
}
