package planner

import "fmt"

// ownNumbers gives every With a number of its own: a subquery that may be unknown
// is computed twice, each time with other bindings in its definitions, and
// execution knows definitions by number. names are the numbers of the definitions
// in sight, by those that the plan has for them; used are all that were given.
func (o *optimizer) ownNumbers(n Node, names map[int]int, used map[int]bool) Node {
	switch x := n.(type) {
	case *CTEScan:
		name, ok := names[x.CTE]
		if !ok {
			panic(fmt.Sprintf("planner: %s (%d) is read where it is not defined", x.Name, x.CTE))
		}
		if name == x.CTE {
			return x
		}
		c := *x
		c.CTE = name
		return &c
	case *With:
		c := *x
		if used[x.CTE] {
			c.CTE = o.nextCTE
			o.nextCTE++
		}
		used[c.CTE] = true
		c.Def = o.ownNumbers(x.Def, names, used)
		outer, hidden := names[x.CTE]
		names[x.CTE] = c.CTE
		if x.Step != nil {
			c.Step = o.ownNumbers(x.Step, names, used)
		}
		c.Body = o.ownNumbers(x.Body, names, used)
		if delete(names, x.CTE); hidden {
			names[x.CTE] = outer
		}
		return &c
	}
	return mapInputs(n, func(in Node) Node { return o.ownNumbers(in, names, used) })
}
