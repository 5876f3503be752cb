package planner

import (
	"math"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// lookup_join asks an index for the partners of each left row, instead of
// reading the right table as a whole.
//
// It pays when the left rows are few and the right table is large: the price is
// a descent in the index for each left row.
//
// It would be wrong when the right side has conditions that decide which table
// row is seen at all, so only a bare scan with a filter is looked up in, and the
// index must have the keys as its first columns, of the same types.
func (o *optimizer) lookupJoin(n Node) Node {
	return transform(n, func(n Node) Node {
		if p, ok := n.(*Project); ok { // over one that only put the columns in order again
			if in, ok := p.Input.(*Project); ok && allPass(in.Exprs) {
				return &Project{Input: in.Input, Exprs: p.Exprs}
			}
		}
		j, ok := n.(*Join)
		if !ok || len(j.Keys) == 0 || j.NullAware || j.Kind != Inner && j.Kind != Left && j.Kind != Semi && j.Kind != Anti {
			return n
		}
		if x := o.lookup(j); x != nil {
			o.fired()
			return x
		}
		if j.Kind != Inner {
			return n
		}
		// An inner join may as well look up in its left side.
		c := *j
		c.Left, c.Right = j.Right, j.Left
		c.Keys = make([]JoinKey, len(j.Keys))
		for i, k := range j.Keys {
			c.Keys[i] = JoinKey{Left: k.Right, Right: k.Left, NullSafe: k.NullSafe}
		}
		if x := o.lookup(&c); x != nil {
			o.fired()
			return keepCols(x, n.Cols())
		}
		return n
	})
}

func allPass(exprs []NamedExpr) bool {
	for _, e := range exprs {
		if !isPass(e) {
			return false
		}
	}
	return true
}

// lookup is j with its right side probed through an index, nil if it does not pay.
func (o *optimizer) lookup(j *Join) *Join {
	scan, ok := j.Right.(*Scan)
	if !ok || scan.Access != nil || len(scan.Table.Indexes) == 0 {
		return nil
	}
	m := o.costs()
	left, table := math.Max(m.rows(j.Left), 1), o.reader.Stats(scan.Table.ID).Rows
	most := o.scanCost(scan) * o.width(m.base(j.Left)) // by as many workers as look up
	if costSeek*left >= most {
		return nil
	}
	for _, ix := range scan.Table.Indexes {
		prefix, used := scan.lookupPrefix(ix, j.Keys)
		if len(prefix) == 0 {
			continue
		}
		share := 1.0
		for i := range prefix {
			share *= m.equal(scan.keyCol(ix, i))
		}
		found := left * share * table
		if ix.Unique && len(prefix) == len(ix.Keys) {
			found = left
		}
		if costSeek*left+scan.fetchCost(ix)*found >= most {
			continue
		}
		right := *scan
		right.Access = &Access{Index: ix, Ranges: []KeyRange{{Prefix: prefix}}, Share: found / math.Max(table, 1), Covering: scan.covers(ix)}
		c := *j
		c.Right, c.Lookup, c.Keys = &right, true, nil
		rest := conjuncts(j.On)
		for i, k := range j.Keys {
			if used[i] {
				c.Keys = append(c.Keys, k)
			} else {
				rest = append(rest, (&Join{Keys: []JoinKey{k}}).conditions()...)
			}
		}
		c.On = allOf(rest)
		return &c
	}
	return nil
}

// lookupPrefix are the left sides of the keys that the first columns of an
// index are compared with, and which keys these are.
func (n *Scan) lookupPrefix(ix *catalog.Index, keys []JoinKey) (prefix []Expr, used []bool) {
	used = make([]bool, len(keys))
	for i := range ix.Keys {
		col, ok := n.keyCol(ix, i).(*Col)
		if !ok || n.Table.Columns[ix.Keys[i].Column].NoCase {
			break
		}
		found := false
		for k, key := range keys {
			if left := lookedUp(&key, col); left != nil {
				prefix, used[k], found = append(prefix, left), true, true
				break
			}
		}
		if !found {
			break
		}
	}
	return prefix, used
}

// lookedUp is the value of column col that a key asks for, nil if it does not ask
// for one. An integer column that is compared as a wider integer is asked for the
// narrower one, if there is any.
func lookedUp(key *JoinKey, col *Col) Expr {
	switch right := key.Right.(type) {
	case *Col:
		if right.ID == col.ID && !key.NullSafe && sameKind(key.Left, col) {
			return key.Left
		}
	case *Cast:
		if isThe(right.X, col) && !key.NullSafe && !right.Try && widens(col.T, right.To) && sameKind(key.Left, right) {
			return &Cast{X: key.Left, To: col.T, Try: true}
		}
	}
	return nil
}

// widens reports integer types of which one has all values of the other.
func widens(from, to sqltype.Type) bool {
	if !from.Kind.IsInteger() || !to.Kind.IsInteger() {
		return false
	}
	a, b := from.Phys().Width(), to.Phys().Width()
	if from.Kind.IsSigned() == to.Kind.IsSigned() {
		return a <= b
	}
	return from.Kind.IsUnsigned() && a < b
}
