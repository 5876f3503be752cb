package planner

import (
	"math"

	"github.com/gpusql/gpusql/catalog"
)

// costModel estimates sizes and costs. Sizes are kept by node, and what is
// known about columns by column: a number names one column in the whole plan.
type costModel struct {
	reader  catalog.Reader
	sizes   map[Node]float64
	columns []columnStat // by ColumnID
	values  map[nodeColumn]float64
	ctes    map[int]cteSize
}

// cteSize is what is known of a With's rows.
type cteSize struct {
	def  Node
	rows float64
}

func newCostModel(r catalog.Reader) *costModel {
	return &costModel{reader: r, sizes: map[Node]float64{}, values: map[nodeColumn]float64{}, ctes: map[int]cteSize{}}
}

// costs gives the optimiser's model, made at the first call.
func (o *optimizer) costs() *costModel {
	if o.model == nil {
		o.model = newCostModel(o.reader)
		o.model.define(o.root)
	}
	return o.model
}

// define learns the sizes of all definitions, before what reads them.
func (m *costModel) define(root Node) {
	walk(root, func(n Node) bool {
		if w, ok := n.(*With); ok {
			m.with(w)
		}
		return true
	})
}

func (m *costModel) with(n *With) {
	c := cteSize{def: n.Def, rows: m.rows(n.Def)}
	if n.Step != nil {
		c.rows *= 10
	}
	m.ctes[n.CTE] = c
	if n.Step != nil {
		m.rows(n.Step)
	}
}

func (m *costModel) column(id ColumnID) columnStat {
	if int(id) < len(m.columns) {
		return m.columns[id]
	}
	return columnStat{}
}

func (m *costModel) setColumn(id ColumnID, s columnStat) {
	for int(id) >= len(m.columns) {
		m.columns = append(m.columns, columnStat{})
	}
	m.columns[id] = s
}

// rows is how many rows n is expected to have.
func (m *costModel) rows(n Node) float64 {
	if r, ok := m.sizes[n]; ok {
		return r
	}
	r := math.Max(m.estimate(n), 0)
	m.sizes[n] = r
	return r
}

// seriesRows is how many numbers a series between constants has.
func seriesRows(n *TableFunc) float64 {
	args := []float64{0, 0, 1}
	for i, e := range n.Args {
		c, ok := e.(*Const)
		if !ok || c.Value.Null || !c.Value.Type.Kind.IsInteger() || i >= len(args) {
			return defaultRows
		}
		args[i] = float64(c.Value.I)
	}
	if len(n.Args) == 1 { // range(n) begins at 0
		args[0], args[1] = 0, args[0]
	}
	if args[2] == 0 {
		return defaultRows
	}
	rows := (args[1] - args[0]) / args[2]
	if n.Name == "generate_series" { // its end is of it
		rows++
	}
	return max(1, rows)
}

// listRows is how many elements a list is taken to have.
const listRows = 5

func (m *costModel) estimate(n Node) float64 {
	switch n := n.(type) {
	case *Scan:
		return m.scan(n)
	case *FileScan:
		return m.fileScan(n)
	case *Values:
		return float64(len(n.Rows))
	case *TableFunc:
		return seriesRows(n)
	case *Unnest:
		return listRows * m.rows(n.Input)
	case *CTEScan:
		return m.cteScan(n)
	case *Filter:
		in := m.rows(n.Input)
		return in * m.selectivity(n.Pred)
	case *Project:
		in := m.rows(n.Input)
		for _, e := range n.Exprs {
			if c, ok := e.Expr.(*Col); ok && c.ID != e.Col.ID {
				m.setColumn(e.Col.ID, m.column(c.ID))
			}
		}
		return in
	case *Join:
		return m.join(n)
	case *Aggregate:
		return m.aggregate(n)
	case *DistinctOn:
		return m.groups(n.On, n.Input)
	case *Limit:
		return limited(m.rows(n.Input), n.Limit)
	case *TopN:
		return limited(m.rows(n.Input), n.Limit)
	case *SetOp:
		return m.setOp(n)
	case *With:
		m.with(n)
		return m.rows(n.Body)
	case *Insert, *Update, *Delete, *Merge:
		m.rows(n.Inputs()[0])
		return 1
	}
	return m.rows(n.Inputs()[0]) // Sort, Window
}

func (m *costModel) cteScan(n *CTEScan) float64 {
	c, ok := m.ctes[n.CTE]
	if !ok {
		return defaultRows
	}
	defs := c.def.Cols()
	for i, col := range n.Columns {
		from := defs[n.Source[i]].ID
		s := m.column(from)
		s.distinct = m.distinctIn(c.def, from)
		m.setColumn(col.ID, s)
	}
	return c.rows
}

func (m *costModel) fileScan(n *FileScan) float64 {
	note := func(defs []ColDef, source []int) {
		for i, c := range defs {
			if n.Stats != nil {
				s := n.Stats(source[i])
				m.setColumn(c.ID, newColumnStat(&s))
			}
		}
	}
	note(n.Columns, n.Source)
	note(n.Fetch, n.FetchSource)
	rows := n.Rows
	if rows == 0 {
		rows = 100 * defaultRows
	}
	return rows * m.selectivity(n.Filter)
}

func (m *costModel) scan(n *Scan) float64 {
	stats := m.reader.Stats(n.Table.ID)
	note := func(defs []ColDef, source []int) {
		for i, c := range defs {
			s := columnStat{}
			switch at := source[i]; {
			case at == RowIDColumn:
				s.distinct = stats.Rows
			case at < len(stats.Columns):
				s = newColumnStat(&stats.Columns[at])
			}
			if s.distinct == 0 && singleKey(n.Table, source[i]) {
				s.distinct = stats.Rows
			}
			m.setColumn(c.ID, s)
		}
	}
	note(n.Columns, n.Source)
	note(n.Fetch, n.FetchSource)
	rows := stats.Rows * m.selectivity(n.Filter)
	if a := n.Access; a != nil {
		if a.Union == nil { // its filter still has the OR
			rows *= a.Share
		}
		if a.Limit > 0 {
			rows = math.Min(rows, float64(a.Limit))
		}
	}
	if n.Filter != nil && stats.Rows >= 1 {
		rows = math.Max(rows, 1)
	}
	return rows
}

// singleKey reports that a column is unique by itself.
func singleKey(t *catalog.Table, column int) bool {
	for _, ix := range t.Indexes {
		if ix.Unique && len(ix.Keys) == 1 && ix.Keys[0].Column == column {
			return true
		}
	}
	return false
}

func limited(rows float64, limit Expr) float64 {
	if n, ok := constInt(limit); ok {
		return math.Min(rows, float64(n))
	}
	if limit != nil {
		return math.Min(rows, 10)
	}
	return rows
}

// base is the size of the greatest table that n reads, before it was filtered:
// the values of n's columns are some of as many.
func (m *costModel) base(n Node) float64 {
	if s, ok := n.(*Scan); ok {
		return math.Max(m.reader.Stats(s.Table.ID).Rows, 1)
	}
	most := 0.0
	for _, in := range n.Inputs() {
		most = math.Max(most, m.base(in))
	}
	if most == 0 { // a leaf
		return math.Max(m.rows(n), 1)
	}
	return most
}

// distinct is how many values e has in rows rows.
func (m *costModel) distinct(e Expr, rows float64) float64 {
	if c, ok := e.(*Col); ok {
		if d := m.column(c.ID).distinct; d > 0 {
			return d
		}
	}
	return math.Max(rows, 1)
}

// joinShare is the share of all pairs that meet the conditions.
func (m *costModel) joinShare(conds []Expr, l, r Node) float64 {
	m.rows(l)
	m.rows(r)
	lbase, rbase := m.base(l), m.base(r)
	keys, rest, count := 1.0, 1.0, 0
	left := colsOf(l)
	for _, c := range conds {
		e, ok := c.(*Cmp)
		if !ok || e.Op != Eq && e.Op != NotDistinct {
			rest *= m.selectivity(c)
			continue
		}
		x, y, a, b := l, r, lbase, rbase
		if !exprCols(e.L).within(left) {
			x, y, a, b = y, x, b, a
		}
		keys *= keyShare(m.distinct(e.L, a), m.distinct(e.R, b), m.valuesOf(x, e.L), m.valuesOf(y, e.R))
		count++
	}
	if count > 1 { // several keys have no more values together than there are rows
		keys = math.Max(keys, 1/math.Max(math.Min(lbase, rbase), 1))
	}
	return keys * rest
}

func (m *costModel) join(n *Join) float64 {
	l, r := m.rows(n.Left), m.rows(n.Right)
	if n.Lookup { // the right rows are those of all left ones
		return joined(n.Kind, l, r, m.selectivity(n.On)/math.Max(l, 1))
	}
	conds := n.conditions()
	share := 1.0
	if len(conds) > 0 {
		share = m.joinShare(conds, n.Left, n.Right)
	}
	return joined(n.Kind, l, r, share)
}

// joined is the size of a join of l and r rows of whose pairs share meet.
func joined(k JoinKind, l, r, share float64) float64 {
	pairs := l * r * share
	switch k {
	case Inner:
		return pairs
	case Left:
		return math.Max(l, pairs)
	case Right:
		return math.Max(r, pairs)
	case Full:
		return math.Max(l+r, pairs)
	case Semi:
		return l * (1 - math.Exp(-r*share))
	case Anti:
		return l * math.Max(math.Exp(-r*share), 0.1)
	}
	return l
}

func (m *costModel) aggregate(n *Aggregate) float64 {
	m.rows(n.Input)
	if len(n.Groups) == 0 && n.Sets == nil {
		return 1
	}
	for _, g := range n.Groups {
		if c, ok := g.Expr.(*Col); ok && c.ID != g.Col.ID {
			m.setColumn(g.Col.ID, m.column(c.ID))
		}
	}
	if n.Sets == nil {
		return m.groups(exprsOf(n.Groups), n.Input)
	}
	all := 0.0
	for _, set := range n.Sets {
		keys := make([]Expr, len(set))
		for i, g := range set {
			keys[i] = n.Groups[g].Expr
		}
		all += m.groups(keys, n.Input)
	}
	return all
}

// groups is how many different keys there are in a node's rows.
func (m *costModel) groups(keys []Expr, in Node) float64 {
	rows := m.rows(in)
	all := 1.0
	for _, k := range keys {
		d := m.valuesOf(in, k)
		if d == 0 {
			d = math.Max(rows/10, 1)
		}
		if all *= d; all >= rows {
			return rows
		}
	}
	// Of all keys those are met that rows draws hit.
	return math.Min(rows, all*(1-math.Exp(-rows/all))+1)
}

func (m *costModel) setOp(n *SetOp) float64 {
	l, r := m.rows(n.Left), m.rows(n.Right)
	switch n.Op {
	case Union:
		return l + r
	case Intersect:
		return math.Min(l, r)
	}
	return l
}

// The costs of one row, in units of a row filtered in a scan.
const (
	costScan   = 1.0
	costProbe  = 2.0   // a lookup in a hash table
	costBuild  = 4.0   // an insertion into one
	costGroup  = 3.0   // a row brought to its group
	costSort   = 1.5   // a comparison while sorting
	costOut    = 0.5   // a row made
	costSeek   = 100.0 // a descent in an index
	costFetch  = 20.0  // a row read by its id
	costRead   = 6.0   // a row read of an index's entry
	costEntry  = 4.0   // an entry of an index, and whether its row is seen
	costNested = 0.25  // a pair compared without keys
)

// cost is what it takes to compute n, its inputs included.
func (m *costModel) cost(n Node) float64 {
	total := m.own(n)
	for _, in := range n.Inputs() {
		total += m.cost(in)
	}
	return total
}

// own is the cost of n without its inputs.
func (m *costModel) own(n Node) float64 {
	rows := m.rows(n)
	switch n := n.(type) {
	case *Scan:
		table := m.reader.Stats(n.Table.ID).Rows
		if n.Access != nil {
			found := table * n.Access.Share
			if n.Access.Limit > 0 {
				found = math.Min(found, float64(n.Access.Limit))
			}
			return n.Access.cost(found)
		}
		return costScan * table
	case *Filter:
		return costScan * m.rows(n.Input)
	case *Join:
		return m.joinCost(n, rows)
	case *Aggregate:
		return costGroup * m.rows(n.Input)
	case *DistinctOn:
		return costGroup * m.rows(n.Input)
	case *Sort:
		return sortCost(rows, rows)
	case *Window:
		return sortCost(rows, rows)
	case *TopN:
		return sortCost(m.rows(n.Input), rows)
	case *SetOp:
		if n.Op == Union && n.All {
			return 0
		}
		return costGroup * (m.rows(n.Left) + m.rows(n.Right))
	}
	return costOut * rows
}

// cost is that of finding so many rows.
func (a *Access) cost(rows float64) float64 {
	seek := costSeek * float64(max(len(a.Ranges), 1))
	for _, p := range append(a.Union[:len(a.Union):len(a.Union)], a.Both...) {
		seek += costSeek * float64(len(p.Ranges))
	}
	if a.Count {
		return seek + costEntry*rows
	}
	if a.Covering {
		return seek + costRead*rows
	}
	return seek + costFetch*rows
}

func sortCost(rows, kept float64) float64 { return costSort * rows * math.Log2(kept+2) }

func (m *costModel) joinCost(n *Join, out float64) float64 {
	l, r := m.rows(n.Left), m.rows(n.Right)
	switch {
	case n.Lookup:
		return costSeek*l + costOut*out // and the scan's cost is that of the rows found
	case len(n.Keys) == 0 && !hasKeys(n):
		return costNested*l*r + costOut*out
	case n.BuildLeft:
		l, r = r, l
	}
	return costProbe*l + costBuild*r + costOut*out
}

// hasKeys reports a join that join_keys will find keys for.
func hasKeys(n *Join) bool {
	left, right := colsOf(n.Left), colsOf(n.Right)
	for _, c := range conjuncts(n.On) {
		if _, ok := joinKey(c, left, right); ok {
			return true
		}
	}
	return false
}
