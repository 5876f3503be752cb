package planner

import (
	"math"
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// index_access reads a table through an ordered index where the filter fixes
// enough of its first key columns: single keys and IN lists as one batch of
// lookups, IS NULL, ranges, the beginning of a LIKE, and any of these behind a
// prefix of columns that are fixed.
//
// It pays when few rows are wanted: a scan reads all of them. A row read by its
// number costs more than one that is scanned, and a scan has more workers, so the
// estimate decides; an equality with a whole unique key always pays.
//
// It would be wrong to forget a condition that a range of keys holds only in
// part: what stays in the filter is all but those which are the range, of types
// whose keys tell all values apart.
func (o *optimizer) indexAccess(n Node) Node {
	if n, ok := n.(*Scan); ok {
		return o.scanAccess(n)
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
	best, _ := o.bestMatch(n)
	if best == nil {
		return n
	}
	o.fired()
	return n.through(best)
}

// bestMatch is the cheapest match and its cost, nil when scanning is cheaper.
func (o *optimizer) bestMatch(n *Scan) (*keyMatch, float64) {
	conds := conjuncts(n.Filter)
	var best *keyMatch
	least := math.Inf(1)
	for _, ix := range n.Table.Indexes {
		k := matchKeys(n, ix, conds)
		if k == nil {
			continue
		}
		if k.unique && len(k.ranges) == 1 {
			k.share = 1 / math.Max(o.reader.Stats(n.Table.ID).Rows, 1)
			return k, costSeek + n.fetchCost(ix) // nothing can be better
		}
		if cost := o.matchCost(n, k, n.fetchCost(ix)); cost < least {
			best, least = k, cost
		}
	}
	if least >= o.scanCost(n)+costSeek {
		return nil, 0
	}
	return best, least
}

// scanCost is the cost of reading a whole table, in the time that it takes: its
// workers share it, and what an index finds is read by one.
func (o *optimizer) scanCost(n *Scan) float64 {
	rows := o.reader.Stats(n.Table.ID).Rows
	return costScan * rows / o.width(rows)
}

// workerRows are the rows that are worth a worker of their own.
const workerRows = 1 << 16

// width is how many workers share so many rows.
func (o *optimizer) width(rows float64) float64 {
	return math.Max(1, math.Min(float64(o.opts.Workers), rows/workerRows))
}

// matchCost is the cost of a match, and notes its share.
func (o *optimizer) matchCost(n *Scan, k *keyMatch, fetch float64) float64 {
	o.costs().rows(n) // makes the columns known
	k.share = o.rangesShare(n, k)
	return costSeek*float64(len(k.ranges)) + fetch*k.share*o.reader.Stats(n.Table.ID).Rows
}

// rangesShare is the share of the rows that the ranges of k hold.
func (o *optimizer) rangesShare(n *Scan, k *keyMatch) float64 {
	all := 0.0
	for _, r := range k.ranges {
		share := 1.0
		for i, e := range r.Prefix {
			if isNullKey(e) {
				share *= o.model.selectivity(&IsNull{n.keyCol(k.index, i)})
				continue
			}
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
	c.Access = &Access{Index: k.index, Ranges: k.ranges, Share: k.share}
	c.Filter = k.rest(n.Filter)
	x := c.withFetch()
	x.Access.Covering = x.covers(k.index)
	return x
}

// fetchCost is that of a row which an index finds.
func (n *Scan) fetchCost(ix *catalog.Index) float64 {
	if n.covers(ix) {
		return costRead
	}
	return costFetch
}

// covers reports that all columns can be read of the entries of an index.
func (n *Scan) covers(ix *catalog.Index) bool { return n.Places(ix) != nil }

// Places are where the columns, those of Fetch last, lie in the entries of an
// index: its keys, and then what it includes; RowIDColumn for the row id. nil: not
// all can be read there. Of a GPU's index nothing is, for entries would have to
// come over the bus, and no key that is one of several equal values.
func (n *Scan) Places(ix *catalog.Index) []int {
	if ix.Device != "" {
		return nil
	}
	places := []int{}
	for _, at := range append(n.Source[:len(n.Source):len(n.Source)], n.FetchSource...) {
		place := RowIDColumn
		if at != RowIDColumn {
			if k := slices.Index(ix.Include, at); k >= 0 {
				place = len(ix.Keys) + k
			} else if k := slices.IndexFunc(ix.Keys, func(k catalog.IndexKey) bool { return k.Column == at }); k < 0 ||
				!exactKey(n.Table.Columns[at].Type) || n.Table.Columns[at].Type.Kind.IsFloat() || n.Table.Columns[at].NoCase {
				return nil
			} else {
				place = k
			}
		}
		places = append(places, place)
	}
	return places
}

// rest is what the ranges do not hold of a filter.
func (k *keyMatch) rest(filter Expr) Expr {
	var rest []Expr
	for _, e := range conjuncts(filter) {
		if !k.exact.has(e) {
			rest = append(rest, e)
		}
	}
	return allOf(rest)
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
	k := &keyMatch{index: ix, unique: ix.Unique}
	prefixes := [][]Expr{nil}
	at := 0
	for ; at < len(ix.Keys); at++ {
		col, ok := n.keyCol(ix, at).(*Col)
		if !ok {
			break
		}
		values, cond := fixedValues(conds, col)
		null := len(values) == 1 && isNullKey(values[0])
		if cond == nil || len(values)*len(prefixes) > maxRanges || null && n.Table.Columns[ix.Keys[at].Column].NotNull {
			break
		}
		next := make([][]Expr, 0, len(values)*len(prefixes))
		for _, p := range prefixes {
			for _, v := range values {
				next = append(next, append(slices.Clip(p), v))
			}
		}
		prefixes = next
		k.unique = k.unique && !null // of which there may be many
		if null || exactKey(col.T) && !n.Table.Columns[ix.Keys[at].Column].NoCase {
			k.exact.add(cond)
		}
	}
	var open KeyRange
	if at < len(ix.Keys) && !n.Table.Columns[ix.Keys[at].Column].NoCase {
		if col, ok := n.keyCol(ix, at).(*Col); ok {
			open = k.bounds(conds, col)
		}
	}
	if at == 0 && open.Lo == nil && open.Hi == nil {
		return nil
	}
	k.unique = k.unique && at == len(ix.Keys)
	for _, p := range prefixes {
		r := open
		r.Prefix = p
		k.ranges = append(k.ranges, r)
	}
	return k
}

// exactKey reports a type whose keys in an index tell all values apart that
// comparisons do.
func exactKey(t sqltype.Type) bool {
	switch t.Kind {
	case sqltype.KindBool, sqltype.KindDate, sqltype.KindTime, sqltype.KindTimestamp, sqltype.KindTimestampTZ,
		sqltype.KindDecimal, sqltype.KindVarchar, sqltype.KindBlob:
		return true
	}
	return t.Kind.IsInteger() || t.Kind.IsFloat()
}

// fixedValues are the values that a conjunct allows a column.
func fixedValues(conds []Expr, col *Col) ([]Expr, Expr) {
	for _, c := range conds {
		switch e := c.(type) {
		case *Cmp:
			if l, ok := e.L.(*Col); ok && e.Op == Eq && l.ID == col.ID && isFixed(e.R) && sameKind(e.R, col) {
				return []Expr{e.R}, c
			}
		case *IsNull:
			if isThe(e.X, col) {
				return []Expr{&IsNull{&Const{sqltype.NullOf(col.T)}}}, c
			}
		case *In:
			if l, ok := e.X.(*Col); ok && l.ID == col.ID && allFixed(e.List, col) {
				return e.List, c
			}
		}
	}
	return nil, nil
}

// isNullKey reports what stands for NULL itself in a range of keys.
func isNullKey(e Expr) bool {
	_, ok := e.(*IsNull)
	return ok
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
func sameKind(e, col Expr) bool {
	a, b := e.Type(), col.Type()
	return a.Kind == b.Kind && a.Scale == b.Scale && a.Phys() == b.Phys()
}

// bounds are the tightest bounds of col that can be told without comparing, the
// first lower and the first upper one, or those of a LIKE's beginning.
func (k *keyMatch) bounds(conds []Expr, col *Col) KeyRange {
	var r KeyRange
	for _, c := range conds {
		e, ok := c.(*Cmp)
		if !ok || !isFixed(e.R) || !sameKind(e.R, col) || !isThe(e.L, col) {
			continue
		}
		switch {
		case (e.Op == Gt || e.Op == Ge) && r.Lo == nil:
			r.Lo, r.LoOpen = e.R, e.Op == Gt
		case (e.Op == Lt || e.Op == Le) && r.Hi == nil:
			r.Hi, r.HiOpen = e.R, e.Op == Lt
		default:
			continue
		}
		if exactKey(col.T) {
			k.exact.add(c)
		}
	}
	for _, c := range conds {
		or, ok := c.(*Or)
		if !ok {
			continue
		}
		if r.Lo == nil {
			r.Lo, r.LoOpen = boundOfAll(or, col, Gt, Ge)
		}
		if r.Hi == nil {
			r.Hi, r.HiOpen = boundOfAll(or, col, Lt, Le)
		}
	}
	for _, c := range conds {
		if r.Lo != nil || r.Hi != nil {
			break
		}
		begin, whole := likePrefix(c, col)
		if begin == "" {
			continue
		}
		r.Lo = &Const{sqltype.Datum{Type: col.T, S: begin}}
		if end := afterPrefix(begin); end != "" {
			r.Hi, r.HiOpen = &Const{sqltype.Datum{Type: col.T, S: end}}, true
		}
		if whole {
			k.exact.add(c)
		}
	}
	return r
}

// boundOfAll is the bound of col that each arm of an OR has, by one of two
// comparisons or by =: 5 of (a, b) > (5, 6), which is a > 5 OR a = 5 AND b > 6.
func boundOfAll(or *Or, col *Col, open, shut CmpOp) (bound Expr, isOpen bool) {
	isOpen = true
	for i, arm := range or.Args {
		at := slices.IndexFunc(conjuncts(arm), func(c Expr) bool {
			e, ok := c.(*Cmp)
			return ok && (e.Op == open || e.Op == shut || e.Op == Eq) && isThe(e.L, col) && isFixed(e.R) && sameKind(e.R, col) &&
				(i == 0 || equalExpr(e.R, bound))
		})
		if at < 0 {
			return nil, false
		}
		e := conjuncts(arm)[at].(*Cmp)
		bound, isOpen = e.R, isOpen && e.Op == open
	}
	return bound, isOpen
}

// isThe reports that e is column col.
func isThe(e Expr, col *Col) bool {
	c, ok := e.(*Col)
	return ok && c.ID == col.ID
}

// likePrefix is what a string must begin with to be LIKE the pattern of c; whole
// reports that nothing else is asked for.
func likePrefix(c Expr, col *Col) (begin string, whole bool) {
	e, ok := c.(*Call)
	if !ok || e.Func.ID != catalog.FuncLike || len(e.Args) != 2 || col.T.Kind != sqltype.KindVarchar || !isThe(e.Args[0], col) {
		return "", false
	}
	pattern, ok := e.Args[1].(*Const)
	if !ok || pattern.Value.Null {
		return "", false
	}
	p := pattern.Value.S
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '_':
			return begin, false
		case '%':
			return begin, i == len(p)-1
		case '\\':
			if i++; i == len(p) {
				return begin, false // an error, which the filter raises
			}
		}
		begin += p[i : i+1]
	}
	return begin, false
}

// afterPrefix is the least string above all that begin with s, "" if there is none.
func afterPrefix(s string) string {
	for n := len(s); n > 0; n-- {
		if c := s[n-1]; c != 0xFF {
			return s[:n-1] + string([]byte{c + 1})
		}
	}
	return ""
}
