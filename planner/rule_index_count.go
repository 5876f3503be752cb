package planner

import "github.com/gpusql/gpusql/catalog"

// index_count counts the rows of a range by the entries of an index alone.
//
// It pays for many more rows than index_access does: no row is read; and always
// where nothing was deleted, for the index says the number itself then, unless
// the table is being written.
//
// It would be wrong when a condition is left that only the rows can answer, or
// with several ranges, which may overlap.
func (o *optimizer) indexCount(n Node) Node {
	if a, ok := n.(*Aggregate); ok {
		if x := o.countAccess(a); x != nil {
			o.fired()
			return x
		}
	}
	return mapInputs(n, o.indexCount)
}

func (o *optimizer) countAccess(n *Aggregate) Node {
	scan, ok := n.Input.(*Scan)
	if !ok || scan.Access != nil || scan.Filter == nil || len(scan.Columns) > 0 || len(n.Groups) > 0 || n.Sets != nil {
		return nil
	}
	for _, a := range n.Aggs {
		if a.Func.ID != catalog.FuncCount || len(a.Args) > 0 || a.Filter != nil {
			return nil
		}
	}
	for _, ix := range scan.Table.Indexes {
		k := matchKeys(scan, ix, conjuncts(scan.Filter))
		if k == nil || len(k.ranges) != 1 || k.rest(scan.Filter) != nil {
			continue
		}
		entry := costEntry
		if o.reader.Stats(scan.Table.ID).Whole {
			entry = 0 // the index says the number
		}
		if o.matchCost(scan, k, entry) >= o.scanCost(scan)+costSeek {
			continue
		}
		c := scan.through(k)
		c.Access.Count, c.Access.Covering = true, false
		agg := *n
		agg.Input = c
		return &agg
	}
	return nil
}
