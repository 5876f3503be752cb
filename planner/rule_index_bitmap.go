package planner

import (
	"math"
	"slices"
)

// index_bitmap reads a table through several indexes: the rows that one of them
// finds for each arm of an OR, or those that two of them both find for an AND.
//
// It pays for an OR, which no single range holds, when its arms find few rows
// together; and for an AND when each index alone finds many rows more than are
// wanted: entries are cheaper than rows.
//
// It would be wrong to drop the OR from the filter: what an arm's ranges hold is
// only a part of it. And an OR with one arm that no index answers needs all rows.
func (o *optimizer) indexBitmap(n Node) Node {
	scan, ok := n.(*Scan)
	if !ok {
		return mapInputs(n, o.indexBitmap)
	}
	if scan.Access != nil || scan.Filter == nil || len(scan.Table.Indexes) < 2 {
		return n
	}
	most := o.scanCost(scan) + costSeek
	if _, single := o.bestMatch(scan); single > 0 {
		most = single
	}
	best, cost := o.unionAccess(scan)
	if both, c := o.bothAccess(scan); both != nil && (best == nil || c < cost) {
		best, cost = both, c
	}
	if best == nil || cost >= most {
		return n
	}
	o.fired()
	return best
}

// unionAccess answers an OR of the filter.
func (o *optimizer) unionAccess(n *Scan) (*Scan, float64) {
	rows := o.reader.Stats(n.Table.ID).Rows
	for _, c := range conjuncts(n.Filter) {
		or, ok := c.(*Or)
		if !ok {
			continue
		}
		var parts []*Access
		cost, share := 0.0, 0.0
		for _, arm := range or.Args {
			k, c := o.cheapestMatch(n, conjuncts(arm))
			if k == nil {
				parts = nil
				break
			}
			parts = append(parts, &Access{Index: k.index, Ranges: k.ranges})
			cost, share = cost+c, share+k.share
		}
		if parts == nil {
			continue
		}
		x := *n
		x.Access = &Access{Union: parts, Share: math.Min(share, 1)}
		return &x, cost + costFetch*rows*math.Min(share, 1)
	}
	return nil, 0
}

// cheapestMatch is the match of conditions that finds the fewest entries.
func (o *optimizer) cheapestMatch(n *Scan, conds []Expr) (best *keyMatch, cost float64) {
	for _, ix := range n.Table.Indexes {
		if k := matchKeys(n, ix, conds); k != nil {
			if c := o.matchCost(n, k, costEntry); best == nil || c < cost {
				best, cost = k, c
			}
		}
	}
	return best, cost
}

// bothAccess answers an AND by two indexes of different columns.
func (o *optimizer) bothAccess(n *Scan) (best *Scan, least float64) {
	var all []*keyMatch
	conds := conjuncts(n.Filter)
	if len(conds) < 2 {
		return nil, 0
	}
	for _, ix := range n.Table.Indexes {
		if k := matchKeys(n, ix, conds); k != nil {
			o.matchCost(n, k, costEntry)
			all = append(all, k)
		}
	}
	rows := o.reader.Stats(n.Table.ID).Rows
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.overlaps(b) {
				continue
			}
			cost := costSeek*float64(len(a.ranges)+len(b.ranges)) + costEntry*rows*(a.share+b.share) + costFetch*rows*a.share*b.share
			if best != nil && cost >= least {
				continue
			}
			x := *n
			x.Access = &Access{Both: []*Access{{Index: a.index, Ranges: a.ranges}, {Index: b.index, Ranges: b.ranges}}, Share: a.share * b.share}
			x.Filter = b.rest(a.rest(n.Filter))
			best, least = x.withFetch(), cost
		}
	}
	return best, least
}

// overlaps reports that two matches speak of the same column.
func (k *keyMatch) overlaps(other *keyMatch) bool {
	width := func(k *keyMatch) int { return min(len(k.ranges[0].Prefix)+1, len(k.index.Keys)) }
	for _, a := range k.index.Keys[:width(k)] {
		for _, b := range other.index.Keys[:width(other)] {
			if a.Column == b.Column {
				return true
			}
		}
	}
	return slices.Equal(k.index.Keys, other.index.Keys)
}
