package planner

// prune_columns drops the columns that nobody above uses, down to the scans.
// Columns that only a scan's filter reads become Fetch: they are read for the
// filter and go no further. A join that adds no column in use and no row goes
// altogether.
//
// It pays because a column not read costs nothing, and one not carried through
// a join or a sort is not copied there.
//
// It would be wrong to drop a column of UNION or DISTINCT, where it decides
// what is a double: SELECT a FROM (SELECT a, b FROM t UNION SELECT a, b FROM u)
// can have one a twice; and where columns are known by their place.
func (o *optimizer) pruneColumns(n Node) Node {
	p := &pruner{o: o}
	return p.exact(n)
}

type pruner struct {
	o    *optimizer
	ctes map[int]*cteUse
}

// cteUse is which columns of a With's definition are read.
type cteUse struct {
	used  []bool
	place []int // after pruning
}

// exact prunes below n and keeps its columns, in order.
func (p *pruner) exact(n Node) Node {
	cols := n.Cols()
	return keepCols(p.prune(n, colSet(nil).addCols(cols)), cols)
}

// carried is prune for an input whose rows will be copied: no column goes with
// them that is not needed.
func (p *pruner) carried(n Node, need colSet) Node {
	n = p.prune(n, need)
	cols := n.Cols()
	var keep []ColDef
	for _, c := range cols {
		if need.has(c.ID) {
			keep = append(keep, c)
		}
	}
	if len(keep) == len(cols) {
		return n
	}
	if in, ok := n.(*Project); ok {
		n = in.Input
		return &Project{Input: n, Exprs: keepDefs(in.Exprs, need)}
	}
	return &Project{Input: n, Exprs: passed(keep)}
}

func keepDefs(exprs []NamedExpr, need colSet) []NamedExpr {
	out := make([]NamedExpr, 0, len(exprs))
	for _, e := range exprs {
		if need.has(e.Col.ID) {
			out = append(out, e)
		}
	}
	return out
}

// prune gives at least the columns of need, in any order.
func (p *pruner) prune(n Node, need colSet) Node {
	switch n := n.(type) {
	case *Scan:
		return p.scan(n, need)
	case *FileScan:
		c := *n
		var fired bool
		c.Columns, c.Source, c.Fetch, c.FetchSource, fired = scanColumns(n.Columns, n.Source, n.Fetch, n.FetchSource, n.Filter, need)
		if !fired {
			return n
		}
		p.o.fired()
		return &c
	case *CTEScan:
		return p.cteScan(n, need)
	case *Values:
		return p.values(n, need)
	case *Project:
		return p.project(n, need)
	case *Join:
		return p.join(n, need)
	case *Aggregate:
		return p.aggregate(n, need)
	case *SetOp:
		return p.setOp(n, need)
	case *Window:
		return p.window(n, need)
	case *With:
		return p.with(n, need)
	case *Filter, *Limit, *Unnest:
		below := append(colSet(nil), need...)
		eachExpr(n, func(e Expr) { below = below.addExpr(e) })
		return mapInputs(n, func(in Node) Node { return p.prune(in, below) })
	case *Sort, *TopN, *DistinctOn:
		below := append(colSet(nil), need...)
		eachExpr(n, func(e Expr) { below = below.addExpr(e) })
		return mapInputs(n, func(in Node) Node { return p.carried(in, below) })
	}
	return mapInputs(n, p.exact)
}

func (p *pruner) scan(n *Scan, need colSet) Node {
	c := *n
	var fired bool
	c.Columns, c.Source, c.Fetch, c.FetchSource, fired = scanColumns(n.Columns, n.Source, n.Fetch, n.FetchSource, n.Filter, need)
	if !fired {
		return n
	}
	p.o.fired()
	return &c
}

// scanColumns splits a scan's columns into those that go on and those that its
// filter alone needs.
func scanColumns(cols []ColDef, source []int, fetch []ColDef, fetchSource []int, filter Expr, need colSet) ([]ColDef, []int, []ColDef, []int, bool) {
	all := 0
	for _, c := range cols {
		if need.has(c.ID) {
			all++
		}
	}
	if all == len(cols) {
		return cols, source, fetch, fetchSource, false
	}
	inFilter := exprCols(filter)
	keep, keepSource := make([]ColDef, 0, all), make([]int, 0, all)
	fetch, fetchSource = fetch[:len(fetch):len(fetch)], fetchSource[:len(fetchSource):len(fetchSource)]
	for i, c := range cols {
		switch {
		case need.has(c.ID):
			keep, keepSource = append(keep, c), append(keepSource, source[i])
		case inFilter.has(c.ID):
			fetch, fetchSource = append(fetch, c), append(fetchSource, source[i])
		}
	}
	return keep, keepSource, fetch, fetchSource, true
}

func (p *pruner) values(n *Values, need colSet) Node {
	var keep []int
	for i, c := range n.Columns {
		if need.has(c.ID) {
			keep = append(keep, i)
		}
	}
	if len(keep) == len(n.Columns) {
		return n
	}
	p.o.fired()
	c := &Values{Rows: make([][]Expr, len(n.Rows))}
	for _, i := range keep {
		c.Columns = append(c.Columns, n.Columns[i])
	}
	for r, row := range n.Rows {
		for _, i := range keep {
			c.Rows[r] = append(c.Rows[r], row[i])
		}
	}
	return c
}

func (p *pruner) project(n *Project, need colSet) Node {
	exprs := n.Exprs
	for _, e := range exprs {
		if !need.has(e.Col.ID) {
			exprs = keepDefs(exprs, need)
			p.o.fired()
			break
		}
	}
	in := p.prune(n.Input, colSet(nil).addExprs(exprs))
	passes := len(exprs) == len(in.Cols())
	for _, e := range exprs {
		passes = passes && isPass(e)
	}
	if passes {
		return in // only the order differs, and that is nobody's concern
	}
	return &Project{Input: in, Exprs: exprs}
}

func (p *pruner) join(n *Join, need colSet) Node {
	right := colsOf(n.Right)
	if n.Kind == Mark && !need.has(n.Mark.ID) ||
		n.Kind == Left && !n.Dependent && !need.meets(right) && uniqueBy(n.Right, n.On) {
		p.o.fired()
		return p.prune(n.Left, need)
	}
	below := append(colSet(nil), need...)
	eachExpr(n, func(e Expr) { below = below.addExpr(e) })
	if n.Dependent {
		below = below.addAll(freeCols(n.Right))
	}
	l, r := p.carried(n.Left, below), p.carried(n.Right, below)
	return n.WithInputs([]Node{l, r})
}

func (p *pruner) aggregate(n *Aggregate, need colSet) Node {
	c := *n
	c.Aggs = nil
	for i, a := range n.Aggs {
		// An aggregate without anything to compute still has to have a row.
		if need.has(a.Col.ID) || len(n.Groups) == 0 && i == len(n.Aggs)-1 && c.Aggs == nil {
			c.Aggs = append(c.Aggs, a)
		}
	}
	if len(c.Aggs) < len(n.Aggs) {
		p.o.fired()
	}
	var below colSet
	eachExpr(&c, func(e Expr) { below = below.addExpr(e) })
	c.Input = p.prune(n.Input, below)
	return &c
}

func (p *pruner) setOp(n *SetOp, need colSet) Node {
	if n.Op != Union || !n.All {
		return mapInputs(n, p.exact)
	}
	var keep []int
	for i, c := range n.Columns {
		if need.has(c.ID) {
			keep = append(keep, i)
		}
	}
	if len(keep) == 0 && len(n.Columns) > 0 {
		keep = []int{0}
	}
	if len(keep) == len(n.Columns) {
		return mapInputs(n, p.exact)
	}
	p.o.fired()
	pick := func(cols []ColDef) []ColDef {
		out := make([]ColDef, len(keep))
		for i, k := range keep {
			out[i] = cols[k]
		}
		return out
	}
	side := func(in Node) Node {
		cols := pick(in.Cols())
		return keepCols(p.prune(in, colSet(nil).addCols(cols)), cols)
	}
	c := *n
	c.Left, c.Right, c.Columns = side(n.Left), side(n.Right), pick(n.Columns)
	return &c
}

func (p *pruner) window(n *Window, need colSet) Node {
	c := *n
	c.Funcs = nil
	for _, f := range n.Funcs {
		if need.has(f.Col.ID) {
			c.Funcs = append(c.Funcs, f)
		}
	}
	if len(c.Funcs) < len(n.Funcs) {
		p.o.fired()
	}
	if len(c.Funcs) == 0 {
		return p.prune(n.Input, need)
	}
	below := append(colSet(nil), need...)
	eachExpr(&c, func(e Expr) { below = below.addExpr(e) })
	c.Input = p.carried(n.Input, below)
	return &c
}

// with prunes the body first, which shows what it reads of the definition.
func (p *pruner) with(n *With, need colSet) Node {
	c := *n
	if n.Step != nil {
		c.Def, c.Step, c.Body = p.exact(n.Def), p.exact(n.Step), p.prune(n.Body, need)
		return &c
	}
	cols := n.Def.Cols()
	use := &cteUse{used: make([]bool, len(cols)), place: make([]int, len(cols))}
	if p.ctes == nil {
		p.ctes = map[int]*cteUse{}
	}
	p.ctes[n.CTE] = use
	body := p.prune(n.Body, need)
	var keep []ColDef
	for i, used := range use.used {
		if used {
			use.place[i] = len(keep)
			keep = append(keep, cols[i])
		}
	}
	if len(keep) == len(cols) {
		c.Def, c.Body = p.exact(n.Def), body
		return &c
	}
	if len(keep) == 0 && len(cols) > 0 {
		keep = cols[:1]
	}
	p.o.fired()
	c.Def = keepCols(p.prune(n.Def, colSet(nil).addCols(keep)), keep)
	c.Body = transform(body, func(x Node) Node {
		s, ok := x.(*CTEScan)
		if !ok || s.CTE != n.CTE {
			return x
		}
		moved := *s
		moved.Source = make([]int, len(s.Source))
		for i, at := range s.Source {
			moved.Source[i] = use.place[at]
		}
		return &moved
	})
	return &c
}

func (p *pruner) cteScan(n *CTEScan, need colSet) Node {
	use := p.ctes[n.CTE]
	c := *n
	c.Columns, c.Source = nil, nil
	for i, col := range n.Columns {
		if need.has(col.ID) {
			c.Columns, c.Source = append(c.Columns, col), append(c.Source, n.Source[i])
			if use != nil {
				use.used[n.Source[i]] = true
			}
		}
	}
	return &c
}
