package planner

// semi_lookup turns a semi-join of a large table with few rows round: the
// different keys of the few are looked up in an index of the table.
//
// It pays when the rows are few against the table, which a semi-join would read
// as a whole: DELETE FROM t WHERE id IN (SELECT ...) is the usual case.
//
// It would be wrong with a condition beside the keys, which the different keys
// cannot answer, and with keys that take NULL for a value.
func (o *optimizer) semiLookup(n Node) Node {
	return transform(n, func(n Node) Node {
		j, ok := n.(*Join)
		if !ok || j.Kind != Semi || j.On != nil || len(j.Keys) == 0 || j.NullAware || j.Lookup {
			return n
		}
		if _, ok := j.Left.(*Scan); !ok {
			return n
		}
		few := &Aggregate{Input: j.Right}
		turned := &Join{Kind: Inner, Right: j.Left}
		for _, k := range j.Keys {
			if k.NullSafe {
				return n
			}
			key := o.newColumn("key", k.Right.Type(), mayBeNull)
			few.Groups = append(few.Groups, NamedExpr{Col: key, Expr: k.Right})
			turned.Keys = append(turned.Keys, JoinKey{Left: colRef(key), Right: k.Left})
		}
		turned.Left = few
		x := o.lookup(turned)
		if x == nil {
			return n
		}
		o.fired()
		return keepCols(x, n.Cols())
	})
}
