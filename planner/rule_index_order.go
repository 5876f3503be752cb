package planner

import (
	"math"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// index_order reads a table in the order of an index, forwards or backwards, in
// place of sorting it: the first rows for a top-n, or the rows of a range.
//
// It pays for a top-n because only its rows are read. With conditions that the
// index does not hold more rows are read, as many as are expected to be passed
// over; the estimate decides between that, the best index for the conditions and
// a scan.
//
// It would be wrong to give a limit to the index while a filter is left: of
// SELECT * FROM t WHERE b = 1 ORDER BY a LIMIT 5 the first five of the index may
// have another b. The index is read on then until the limit has its rows.
func (o *optimizer) indexOrder(n Node) Node {
	var x Node
	switch n := n.(type) {
	case *TopN:
		x = o.firstAccess(n)
	case *Sort:
		x = o.sortedAccess(n)
	}
	if x != nil {
		o.fired()
		return x
	}
	return mapInputs(n, o.indexOrder)
}

// firstAccess reads the first rows of an index for a top-n over a scan.
func (o *optimizer) firstAccess(n *TopN) Node {
	scan, ok := n.Input.(*Scan)
	if !ok || scan.Access != nil {
		return nil
	}
	most, ok := (&Limit{Limit: n.Limit, Offset: n.Offset}).most()
	if !ok || most == 0 {
		return nil
	}
	var best *Scan
	least := math.Inf(1)
	for _, ix := range scan.Table.Indexes {
		k := scan.orderMatch(ix)
		reverse, ok := scan.inOrder(k, n.Keys)
		if !ok {
			continue
		}
		fetch := scan.fetchCost(ix)
		all := o.matchCost(scan, k, fetch)
		c := scan.through(k)
		c.Access.Ordered, c.Access.Reverse = true, reverse
		cost := costSeek
		if c.Filter == nil {
			c.Access.Limit = most
		} else {
			cost += math.Min(all, fetch*passedOver*float64(most)/math.Max(o.model.selectivity(c.Filter), 1e-9))
		}
		if cost < least {
			best, least = c, cost
		}
	}
	if best == nil {
		return nil
	}
	if best.Access.Limit == 0 {
		if _, other := o.bestMatch(scan); other > 0 && other <= least || o.scanCost(scan) <= least {
			return nil
		}
	}
	return &Limit{Input: best, Limit: n.Limit, Offset: n.Offset}
}

// passedOver is how many times more rows than expected may have to be passed over
// before a top-n in the order of an index has its rows: values that go together
// are not spread evenly.
const passedOver = 4

// sortedAccess reads a range of an index in its order instead of sorting it, when
// nothing finds the rows at a lower cost: one worker reads in order, and many sort.
func (o *optimizer) sortedAccess(n *Sort) Node {
	scan, ok := n.Input.(*Scan)
	if !ok || scan.Access != nil || scan.Filter == nil {
		return nil
	}
	_, other := o.bestMatch(scan)
	if other == 0 {
		other = o.scanCost(scan)
	}
	for _, ix := range scan.Table.Indexes {
		k := scan.orderMatch(ix)
		reverse, ok := scan.inOrder(k, n.Keys)
		if !ok || o.matchCost(scan, k, scan.fetchCost(ix)) > other {
			continue
		}
		c := scan.through(k)
		c.Access.Ordered, c.Access.Reverse = true, reverse
		return c
	}
	return nil
}

// orderMatch is the one range of an index that the filter allows: all of it, if
// it says nothing that can be read in order.
func (n *Scan) orderMatch(ix *catalog.Index) *keyMatch {
	if k := matchKeys(n, ix, conjuncts(n.Filter)); k != nil && len(k.ranges) == 1 {
		return k
	}
	return &keyMatch{index: ix, ranges: []KeyRange{{}}}
}

// inOrder reports that the rows of a match come in an order, forwards or
// backwards.
func (n *Scan) inOrder(k *keyMatch, keys []SortKey) (reverse, ok bool) {
	fixed := len(k.ranges[0].Prefix)
	at := fixed
	for _, key := range keys {
		col, ok := key.Expr.(*Col)
		if !ok {
			return false, false
		}
		if n.isFixedKey(k, fixed, col) {
			continue // all rows have the same value
		}
		if at == len(k.index.Keys) && k.index.Unique && n.keysNotNull(k.index) {
			break // no two rows are equal so far
		}
		have, ok := n.keyCol(k.index, at).(*Col)
		if !ok || col.ID != have.ID || n.Table.Columns[k.index.Keys[at].Column].NoCase {
			return false, false
		}
		ik := k.index.Keys[at]
		back := key.Desc != ik.Desc
		if !n.keyNotNull(k, at) && (key.NullsFirst != ik.NullsFirst) != back {
			return false, false
		}
		if at > fixed && back != reverse {
			return false, false
		}
		reverse = back
		at++
	}
	return reverse, at > fixed
}

// isFixedKey reports one of the key columns that a match gives a value.
func (n *Scan) isFixedKey(k *keyMatch, fixed int, col *Col) bool {
	for i := range fixed {
		if c, ok := n.keyCol(k.index, i).(*Col); ok && c.ID == col.ID {
			return !n.Table.Columns[k.index.Keys[i].Column].NoCase
		}
	}
	return false
}

// keyNotNull reports that key column i of a match has no NULLs: a bound lets
// none pass.
func (n *Scan) keyNotNull(k *keyMatch, i int) bool {
	r := &k.ranges[0]
	return n.Table.Columns[k.index.Keys[i].Column].NotNull || i == len(r.Prefix) && (r.Lo != nil || r.Hi != nil)
}

func (n *Scan) keysNotNull(ix *catalog.Index) bool {
	for _, k := range ix.Keys {
		if !n.Table.Columns[k.Column].NotNull {
			return false
		}
	}
	return true
}

// index_extreme reads the first or last entry of an index for min or max, of
// each of them when there are several, and counts rows beside them.
//
// It pays because one row is read instead of all, and to count rows without a
// condition, or by an index, nothing of them is read.
//
// It would be wrong to take an end of the index that has the NULLs, which are no
// extremes: the range begins behind them. And it would not pay to take one of
// two aggregates from an index when the other needs all rows anyway.
func (o *optimizer) indexExtreme(n Node) Node {
	if a, ok := n.(*Aggregate); ok {
		if x := o.extremes(a); x != nil {
			o.fired()
			return x
		}
	}
	return mapInputs(n, o.indexExtreme)
}

// extremes are the one row of an aggregate of min and max, and of count(*) beside
// them.
func (o *optimizer) extremes(n *Aggregate) Node {
	scan, ok := n.Input.(*Scan)
	if !ok || len(n.Groups) > 0 || n.Sets != nil || len(n.Aggs) == 0 {
		return nil
	}
	var row Node
	found := false
	for _, a := range n.Aggs {
		one := o.rowCount(scan, a)
		if in := o.extreme(scan, &a); in != nil {
			one, found = &Aggregate{Input: in, Aggs: []Agg{a}}, true
		}
		if one == nil {
			return nil
		}
		if row == nil {
			row = one
		} else {
			row = &Join{Kind: Inner, Left: row, Right: one}
		}
	}
	if !found {
		return nil
	}
	return row
}

// rowCount counts the rows of a scan without reading them, nil if that cannot be or
// is not what a asks for.
func (o *optimizer) rowCount(scan *Scan, a Agg) Node {
	if a.Func.ID != catalog.FuncCount || len(a.Args) > 0 || a.Filter != nil {
		return nil
	}
	rows := *scan
	rows.Columns, rows.Source, rows.Fetch, rows.FetchSource, _ = scanColumns(scan.Columns, scan.Source, scan.Fetch, scan.FetchSource, scan.Filter, nil)
	n := &Aggregate{Input: &rows, Aggs: []Agg{a}}
	if rows.Filter == nil {
		return n
	}
	return o.countAccess(n)
}

// extreme is the row of scan that has the min or max that a asks for.
func (o *optimizer) extreme(scan *Scan, a *Agg) Node {
	if a.Filter != nil || len(a.Args) != 1 || a.Func.ID != catalog.FuncMin && a.Func.ID != catalog.FuncMax {
		return nil
	}
	col, ok := a.Args[0].(*Col)
	if !ok {
		return nil
	}
	from := *scan
	from.Columns, from.Source, from.Fetch, from.FetchSource, _ = scanColumns(scan.Columns, scan.Source, scan.Fetch, scan.FetchSource, scan.Filter, colSet(nil).add(col.ID))
	if min, ok := leastOf(col.T); ok && !scan.notNull(col.ID) { // NULLs are no extreme
		from.Filter = allOf(append(conjuncts(scan.Filter), &Cmp{Op: Ge, L: col, R: &Const{min}}))
	}
	return o.firstAccess(&TopN{Input: &from, Limit: &Const{sqltype.NewInt64(1)},
		Keys: []SortKey{{Expr: col, Desc: a.Func.ID == catalog.FuncMax}}})
}

// notNull reports a column without NULLs.
func (n *Scan) notNull(id ColumnID) bool {
	for _, c := range n.Columns {
		if c.ID == id {
			return c.NotNull
		}
	}
	return false
}

// leastOf is the least value of a type, if that is known.
func leastOf(t sqltype.Type) (sqltype.Datum, bool) {
	d := sqltype.Datum{Type: t}
	switch t.Kind {
	case sqltype.KindVarchar, sqltype.KindBlob, sqltype.KindBool, sqltype.KindTime, sqltype.KindUint8, sqltype.KindUint16, sqltype.KindUint32, sqltype.KindUint64:
	case sqltype.KindInt8:
		d.I = math.MinInt8
	case sqltype.KindInt16:
		d.I = math.MinInt16
	case sqltype.KindInt32, sqltype.KindDate:
		d.I = math.MinInt32
	case sqltype.KindInt64, sqltype.KindTimestamp, sqltype.KindTimestampTZ:
		d.I = math.MinInt64
	case sqltype.KindDecimal:
		if t.Phys() == sqltype.PhysI128 {
			d.Hi = math.MinInt64
		} else {
			d.I = math.MinInt64
		}
	case sqltype.KindFloat32, sqltype.KindFloat64:
		d.F = math.Inf(-1)
	default:
		return d, false
	}
	return d, true
}
