package planner

// build_side has the hash table of a join made of the left rows where these are
// clearly fewer. (An inner join has its smaller side on the right already.)
//
// It pays because the table is what memory goes to, and a small one stays in
// the cache while the other side streams past.
//
// It would be wrong for a mark or single join, or NOT IN: these ask what one
// left row finds among all right ones.
func (o *optimizer) buildSide(n Node) Node {
	return transform(n, func(n Node) Node {
		j, ok := n.(*Join)
		if !ok || j.Lookup || j.BuildLeft || j.NullAware || j.Kind == Mark || j.Kind == Single || len(j.Keys) == 0 {
			return n
		}
		m := o.costs()
		if m.rows(j.Left)*2 >= m.rows(j.Right) {
			return n
		}
		o.fired()
		c := *j
		c.BuildLeft = true
		return &c
	})
}
