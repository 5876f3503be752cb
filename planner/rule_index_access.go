package planner

import (
	"math"
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// index_access reads a table through an ordered index where the filter fixes
// enough of its first key columns, or where the index has the order of a top-n.
//
// It pays when few rows are wanted: a scan reads all of them. A row read by its
// number costs more than one that is scanned, so the estimate decides; an
// equality with a whole unique key always pays.
//
// It would be wrong to forget a condition that a range of keys holds only in
// part: all conditions but exact equalities stay in the filter. And a limit can
// only be given to the index when no filter is left: of
// SELECT * FROM t WHERE b = 1 ORDER BY a LIMIT 5 the first five of the index may have
// another b.
func (o *optimizer) indexAccess(n Node) Node {
	switch n := n.(type) {
	case *Scan:
		return o.scanAccess(n)
	case *TopN:
		if x := o.orderedAccess(n); x != nil {
			o.fired()
			return x
		}
	case *Aggregate:
		if x := o.extremeAccess(n); x != nil {
			o.fired()
			return x
		}
	}
	return mapInputs(n, o.indexAccess)
}

// maxRanges is how many ranges an access may be made of.
const maxRanges = 10_000

// keyMatch is what a filter says about an index.
type keyMatch struct {
	index  *catalog.Index
	ranges []KeyRange
	exact  exprSet // conjuncts that the ranges hold in full
	unique bool    // the ranges are whole unique keys
	share  float64 // of the table's rows
}

func (o *optimizer) scanAccess(n *Scan) Node {
	if n.Access != nil || n.Filter == nil || len(n.Table.Indexes) == 0 {
		return n
	}
	best := o.bestMatch(n)
	if best == nil {
		return n
	}
	o.fired()
	return n.through(best)
}

// bestMatch is the cheapest match, nil when scanning is cheaper.
func (o *optimizer) bestMatch(n *Scan) *keyMatch {
	conds := conjuncts(n.Filter)
	var best *keyMatch
	for _, ix := range n.Table.Indexes {
		k := matchKeys(n, ix, conds)
		if k == nil {
			continue
		}
		if k.unique && len(k.ranges) == 1 {
			return k // nothing can be better, and no estimate is needed
		}
		o.costs().rows(n) // makes the columns known
		k.share = o.rangesShare(n, k)
		if best == nil || k.share < best.share {
			best = k
		}
	}
	if best == nil {
		return nil
	}
	rows := o.reader.Stats(n.Table.ID).Rows
	seek := costSeek*float64(len(best.ranges)) + costFetch*rows*best.share
	if seek >= costScan*rows+costSeek {
		return nil
	}
	return best
}

// rangesShare is the share of the rows that the ranges of k hold.
func (o *optimizer) rangesShare(n *Scan, k *keyMatch) float64 {
	all := 0.0
	for _, r := range k.ranges {
		share := 1.0
		for i, e := range r.Prefix {
			share *= o.model.selectivityCmp(&Cmp{Op: Eq, L: n.keyCol(k.index, i), R: e})
		}
		var bounds []Expr
		if r.Lo != nil {
			bounds = append(bounds, &Cmp{Op: Ge, L: n.keyCol(k.index, len(r.Prefix)), R: r.Lo})
		}
		if r.Hi != nil {
			bounds = append(bounds, &Cmp{Op: Le, L: n.keyCol(k.index, len(r.Prefix)), R: r.Hi})
		}
		all += share * o.model.selectivityAll(bounds)
	}
	if k.unique {
		all = math.Min(all, float64(len(k.ranges))/math.Max(o.reader.Stats(n.Table.ID).Rows, 1))
	}
	return math.Min(all, 1)
}

// through is the scan through an index.
func (n *Scan) through(k *keyMatch) *Scan {
	c := *n
	c.Access = &Access{Index: k.index, Ranges: k.ranges}
	var rest []Expr
	for _, e := range conjuncts(n.Filter) {
		if !k.exact.has(e) {
			rest = append(rest, e)
		}
	}
	c.Filter = allOf(rest)
	return c.withFetch()
}

// withFetch drops from Fetch what the filter does not name any more.
func (n *Scan) withFetch() *Scan {
	used := exprCols(n.Filter)
	fetch, source := n.Fetch, n.FetchSource
	n.Fetch, n.FetchSource = nil, nil
	for i, c := range fetch {
		if used.has(c.ID) {
			n.Fetch, n.FetchSource = append(n.Fetch, c), append(n.FetchSource, source[i])
		}
	}
	return n
}

// keyCol is the column of the scan that is key column i of an index, nil if the
// scan does not have it.
func (n *Scan) keyCol(ix *catalog.Index, i int) Expr {
	if i >= len(ix.Keys) {
		return nil
	}
	for k, at := range n.Source {
		if at == ix.Keys[i].Column {
			return colRef(n.Columns[k])
		}
	}
	for k, at := range n.FetchSource {
		if at == ix.Keys[i].Column {
			return colRef(n.Fetch[k])
		}
	}
	return nil
}

// matchKeys reads conds as ranges of ix; nil if they say nothing of its first
// column.
func matchKeys(n *Scan, ix *catalog.Index, conds []Expr) *keyMatch {
	k := &keyMatch{index: ix}
	prefixes := [][]Expr{nil}
	at := 0
	for ; at < len(ix.Keys); at++ {
		col, ok := n.keyCol(ix, at).(*Col)
		if !ok {
			break
		}
		values, cond := fixedValues(conds, col)
		if cond == nil || len(values)*len(prefixes) > maxRanges {
			break
		}
		next := make([][]Expr, 0, len(values)*len(prefixes))
		for _, p := range prefixes {
			for _, v := range values {
				next = append(next, append(slices.Clip(p), v))
			}
		}
		prefixes = next
		if exactKey(col.T) && !n.Table.Columns[ix.Keys[at].Column].NoCase {
			k.exact.add(cond)
		}
	}
	var open KeyRange
	if at < len(ix.Keys) && !n.Table.Columns[ix.Keys[at].Column].NoCase {
		if col, ok := n.keyCol(ix, at).(*Col); ok {
			open = boundsOf(conds, col)
		}
	}
	if at == 0 && open.Lo == nil && open.Hi == nil {
		return nil
	}
	k.unique = ix.Unique && at == len(ix.Keys)
	for _, p := range prefixes {
		r := open
		r.Prefix = p
		k.ranges = append(k.ranges, r)
	}
	return k
}

// exactKey reports a type whose keys in an index tell all values apart.
func exactKey(t sqltype.Type) bool {
	return t.Kind.IsInteger() || t.Kind == sqltype.KindDate || t.Kind == sqltype.KindTimestamp || t.Kind == sqltype.KindBool
}

// fixedValues are the values that a conjunct allows a column.
func fixedValues(conds []Expr, col *Col) ([]Expr, Expr) {
	for _, c := range conds {
		switch e := c.(type) {
		case *Cmp:
			if l, ok := e.L.(*Col); ok && e.Op == Eq && l.ID == col.ID && isFixed(e.R) && sameKind(e.R, col) {
				return []Expr{e.R}, c
			}
		case *In:
			if l, ok := e.X.(*Col); ok && l.ID == col.ID && allFixed(e.List, col) {
				return e.List, c
			}
		}
	}
	return nil, nil
}

// allFixed reports a list of bounds.
func allFixed(list []Expr, col *Col) bool {
	for _, e := range list {
		if !isFixed(e) || !sameKind(e, col) {
			return false
		}
	}
	return true
}

// sameKind reports that a bound needs no cast to be a key of col's type.
func sameKind(e Expr, col *Col) bool {
	a, b := e.Type(), col.T
	return a.Kind == b.Kind && a.Scale == b.Scale && a.Phys() == b.Phys()
}

// boundsOf are the tightest bounds that can be told without comparing: the
// first lower and the first upper one.
func boundsOf(conds []Expr, col *Col) KeyRange {
	var r KeyRange
	for _, c := range conds {
		e, ok := c.(*Cmp)
		if !ok || !isFixed(e.R) || !sameKind(e.R, col) {
			continue
		}
		if l, ok := e.L.(*Col); !ok || l.ID != col.ID {
			continue
		}
		switch e.Op {
		case Gt, Ge:
			if r.Lo == nil {
				r.Lo, r.LoOpen = e.R, e.Op == Gt
			}
		case Lt, Le:
			if r.Hi == nil {
				r.Hi, r.HiOpen = e.R, e.Op == Lt
			}
		}
	}
	return r
}

// orderedAccess reads the first rows of an index for a top-n over a scan that
// has no other filter than the index can hold.
func (o *optimizer) orderedAccess(n *TopN) Node {
	scan, ok := n.Input.(*Scan)
	if !ok || scan.Access != nil {
		return nil
	}
	most, ok := (&Limit{Limit: n.Limit, Offset: n.Offset}).most()
	if !ok || most == 0 {
		return nil
	}
	for _, ix := range scan.Table.Indexes {
		k := &keyMatch{index: ix, ranges: []KeyRange{{}}}
		if scan.Filter != nil {
			if k = matchKeys(scan, ix, conjuncts(scan.Filter)); k == nil || len(k.ranges) != 1 {
				continue
			}
		}
		reverse, ok := scan.inOrder(k, n.Keys)
		if !ok {
			continue
		}
		c := scan.through(k)
		if c.Filter != nil {
			continue
		}
		c.Access.Ordered, c.Access.Reverse, c.Access.Limit = true, reverse, most
		return &Limit{Input: c, Limit: n.Limit, Offset: n.Offset}
	}
	return nil
}

// inOrder reports that the rows of a match come in an order, forwards or
// backwards.
func (n *Scan) inOrder(k *keyMatch, keys []SortKey) (reverse, ok bool) {
	at := len(k.ranges[0].Prefix)
	for i, key := range keys {
		col, ok := key.Expr.(*Col)
		have, ok2 := n.keyCol(k.index, at+i).(*Col)
		if !ok || !ok2 || col.ID != have.ID {
			return false, false
		}
		ik := k.index.Keys[at+i]
		notNull := n.Table.Columns[ik.Column].NotNull
		back := key.Desc != ik.Desc
		if !notNull && (key.NullsFirst != ik.NullsFirst) != back {
			return false, false
		}
		if i > 0 && back != reverse {
			return false, false
		}
		if n.Table.Columns[ik.Column].NoCase {
			return false, false
		}
		reverse = back
	}
	return reverse, true
}

// extremeAccess reads the first or last entry of an index for min or max.
func (o *optimizer) extremeAccess(n *Aggregate) Node {
	if len(n.Groups) > 0 || n.Sets != nil || len(n.Aggs) != 1 {
		return nil
	}
	a := n.Aggs[0]
	if a.Filter != nil || len(a.Args) != 1 || a.Func.ID != catalog.FuncMin && a.Func.ID != catalog.FuncMax {
		return nil
	}
	scan, ok := n.Input.(*Scan)
	if !ok || !isCol(a.Args[0]) {
		return nil
	}
	top := &TopN{Input: scan, Limit: &Const{sqltype.NewInt64(1)},
		Keys: []SortKey{{Expr: a.Args[0], Desc: a.Func.ID == catalog.FuncMax}}} // NULLs last: they are no extreme
	in := o.orderedAccess(top)
	if in == nil {
		return nil
	}
	c := *n
	c.Input = in
	return &c
}
