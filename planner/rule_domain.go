package planner

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// distribute computes the right side of j for all different values that its
// outer columns have on the left, and joins by these.
func (o *optimizer) distribute(j *Join, outer colSet) (Node, error) {
	left, shared := o.shareLeft(j.Left, outer)
	d := &distributor{o: o, outer: outer, source: shared.source, ctes: map[int]map[ColumnID]int{}}
	right, bound, err := d.plan(j.Right)
	if err != nil {
		return nil, err
	}
	c := *j
	c.Left, c.Right = left, right
	on := conjuncts(j.On)
	for _, col := range left.Cols() {
		if x, ok := bound[col.ID]; ok {
			on = append(on, sameValue(colRef(col), x, col.NotNull))
		}
	}
	c.On = allOf(on)
	if c.Kind == Single && uniqueBy(right, c.On) {
		c.Kind = Left
	}
	n := keepCols(&c, j.Cols())
	if shared.with != nil {
		w := *shared.with
		w.Body = n
		return &w, nil
	}
	return n, nil
}

// sameValue compares two bindings; NULL is a binding like any other.
func sameValue(l, r Expr, notNull bool) Expr {
	if notNull {
		return &Cmp{Op: Eq, L: l, R: r}
	}
	return &Cmp{Op: NotDistinct, L: l, R: r}
}

// sharedLeft is where the bindings come from.
type sharedLeft struct {
	source Node
	with   *With
}

// shareLeft finds what gives the outer bindings. A scan with filters is read
// twice; what costs more is computed once, into a With.
func (o *optimizer) shareLeft(left Node, outer colSet) (Node, sharedLeft) {
	source := narrow(left, outer, throughFilters)
	if cheap(source, 1) {
		return left, sharedLeft{source: source}
	}
	scan, w := o.computedOnce(left)
	return scan, sharedLeft{source: scan, with: w}
}

// computedOnce is n as what a With without a body yet computes.
func (o *optimizer) computedOnce(n Node) (*CTEScan, *With) {
	w := &With{CTE: o.nextCTE, Name: "bindings", Def: n}
	o.nextCTE++
	cols := n.Cols()
	scan := &CTEScan{CTE: w.CTE, Name: w.Name, Columns: cols, Source: make([]int, len(cols))}
	for i := range cols {
		scan.Source[i] = i
	}
	return scan, w
}

// narrowing says what narrow may leave out.
type narrowing uint8

const (
	throughFilters narrowing = iota // semi and anti joins, which only drop rows
	keepFilters
)

// narrow is a part of n that has all values of the columns that n has, and
// perhaps others.
func narrow(n Node, cols colSet, w narrowing) Node {
	for {
		var in Node
		switch x := n.(type) {
		case *Sort:
			in = x.Input
		case *Window:
			in = x.Input
		case *Project:
			in = x.Input
		case *Join:
			if x.Kind == Right || x.Kind == Full || w == keepFilters && (x.Kind == Semi || x.Kind == Anti) {
				return n
			}
			in = x.Left
			if x.Kind == Inner && cols.within(colsOf(x.Right)) {
				in = x.Right
			}
		}
		if in == nil || !cols.within(colsOf(in)) || !freeCols(in).empty() {
			return n
		}
		n = in
	}
}

// cheap reports a plan that may be computed twice: few scans, joined by semi
// joins only, and nothing that could give another result the second time.
func cheap(n Node, most int) bool {
	ok, scans := true, 0
	walk(n, func(n Node) bool {
		switch n := n.(type) {
		case *Scan, *Values, *CTEScan:
			scans++
		case *Filter, *Project:
		case *Join:
			ok = ok && n.Kind == Semi
		default:
			ok = false
		}
		eachExpr(n, func(e Expr) { ok = ok && !isVolatile(e) })
		return ok
	})
	return ok && scans <= most
}

// distributor rewrites a plan with outer columns to one that gives, for every
// different outer binding, the rows that the plan gives for it, with the binding.
type distributor struct {
	o      *optimizer
	outer  colSet
	source Node
	// ctes are the Withs that have become dependent, and in which column of theirs
	// each outer column is.
	ctes map[int]map[ColumnID]int
}

// domain is the set of different values that columns have in n, under new
// numbers, and which stand for which.
func (o *optimizer) domain(n Node, cols colSet) (Node, replacement) {
	bound := replacement{}
	var groups []NamedExpr
	for _, c := range n.Cols() {
		if cols.has(c.ID) {
			fresh := o.freshCols([]ColDef{c})[0]
			groups = append(groups, NamedExpr{Col: fresh, Expr: colRef(c)})
			bound[c.ID] = colRef(fresh)
		}
	}
	if len(groups) == 0 {
		return &Values{Rows: [][]Expr{nil}}, bound
	}
	return &Aggregate{Input: n, Groups: groups}, bound
}

// bind rewrites the outer columns in an expression.
func (d *distributor) bind(n Node, bound replacement) Node {
	return mapNodeExprs(n, bound.in)
}

// plan is the rewrite of n, and what stands for each outer column in it.
func (d *distributor) plan(n Node) (Node, replacement, error) {
	if !d.dependent(n) {
		dom, bound := d.o.domain(d.source, d.outer)
		if v, ok := n.(*Values); ok && len(v.Columns) == 0 && len(v.Rows) == 1 {
			return dom, bound, nil
		}
		return &Join{Kind: Inner, Left: dom, Right: n}, bound, nil
	}
	switch n := n.(type) {
	case *Join:
		return d.join(n)
	case *Aggregate:
		return d.aggregate(n)
	case *SetOp:
		return d.setOp(n)
	case *Values:
		return d.values(n)
	case *With:
		return d.with(n)
	case *CTEScan:
		return d.cteScan(n)
	case *Limit:
		return d.limit(n)
	case *Filter, *Project, *Sort, *Window, *DistinctOn, *Unnest:
	default:
		return nil, nil, sqltype.Errorf(sqltype.CodeNotSupported, "%s cannot refer to a column of an outer query here", outerPlace(n))
	}
	in, bound, err := d.plan(n.Inputs()[0])
	if err != nil {
		return nil, nil, err
	}
	cols := in.Cols()
	out := d.bind(n, bound).WithInputs([]Node{in})
	switch x := out.(type) {
	case *Project:
		c := *x
		c.Exprs = append(slices.Clip(x.Exprs), passedIn(cols, bound)...)
		return &c, bound, nil
	case *Window:
		c := *x
		c.Partition = append(slices.Clip(x.Partition), exprsOf(passedIn(cols, bound))...)
		return &c, bound, nil
	case *DistinctOn:
		c := *x
		c.On = append(slices.Clip(x.On), exprsOf(passedIn(cols, bound))...)
		return &c, bound, nil
	}
	return out, bound, nil
}

func outerPlace(n Node) string {
	switch n := n.(type) {
	case *TableFunc:
		return n.Name
	case *TopN:
		return "LIMIT"
	}
	return "this part of a subquery"
}

// dependent reports that n names outer columns, itself or through a With.
func (d *distributor) dependent(n Node) bool {
	if freeCols(n).meets(d.outer) {
		return true
	}
	if len(d.ctes) == 0 {
		return false
	}
	found := false
	walk(n, func(n Node) bool {
		if c, ok := n.(*CTEScan); ok && d.ctes[c.CTE] != nil {
			found = true
		}
		return !found
	})
	return found
}

// passedIn are the columns among cols that stand for outer ones.
func passedIn(cols []ColDef, bound replacement) []NamedExpr {
	var stand colSet
	for _, e := range bound {
		stand = stand.addExpr(e)
	}
	var out []NamedExpr
	for _, c := range cols {
		if stand.has(c.ID) {
			out = append(out, NamedExpr{Col: c, Expr: colRef(c)})
		}
	}
	return out
}

// exprsOf are the expressions of definitions.
func exprsOf(es []NamedExpr) []Expr {
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = e.Expr
	}
	return out
}

// join distributes over the side or sides that need it; rows of both sides
// meet within one binding only.
func (d *distributor) join(n *Join) (Node, replacement, error) {
	if n.Kind == Right {
		swapped := *n
		swapped.Kind, swapped.Left, swapped.Right = Left, n.Right, n.Left
		out, bound, err := d.join(&swapped)
		return out, bound, err
	}
	c := *n
	onRight := d.dependent(n.Right)
	onLeft := d.dependent(n.Left) || n.Kind != Inner || !onRight
	var lb, rb replacement
	var err error
	if onLeft {
		if c.Left, lb, err = d.plan(n.Left); err != nil {
			return nil, nil, err
		}
	}
	if onRight || n.Kind == Full {
		if c.Right, rb, err = d.plan(n.Right); err != nil {
			return nil, nil, err
		}
	}
	bound := lb
	if bound == nil {
		bound = rb
	}
	on := conjuncts(bound.in(n.On))
	if lb != nil && rb != nil {
		for _, id := range d.outer.ids() {
			on = append(on, sameValue(lb[id], rb[id], false))
		}
	}
	c.On = allOf(on)
	if n.Kind != Full {
		return &c, bound, nil
	}
	both := passed(n.Cols())
	bound = replacement{}
	for _, id := range d.outer.ids() {
		l, r := lb[id], rb[id]
		col := d.o.newColumn("binding", l.Type(), mayBeNull)
		both = append(both, NamedExpr{Col: col, Expr: &Case{T: l.Type(), Whens: []When{{&IsNull{l}, r}}, Else: l}})
		bound[id] = colRef(col)
	}
	return &Project{Input: &c, Exprs: both}, bound, nil
}

// aggregate groups by the binding too, before all else so that the bits of
// grouping() keep their places. Without groups, or with a set of none, an empty
// input gives a row, so a binding that has lost all its rows is joined in again.
func (d *distributor) aggregate(n *Aggregate) (Node, replacement, error) {
	in, bound, err := d.plan(n.Input)
	if err != nil {
		return nil, nil, err
	}
	c := *(d.bind(n, bound).(*Aggregate))
	c.Input = in
	keys := passedIn(in.Cols(), bound)
	c.Groups = append(keys[:len(keys):len(keys)], c.Groups...)
	totals := 0
	if n.Sets != nil {
		c.Sets = nil
		for _, set := range n.Sets {
			if len(set) == 0 {
				if totals++; totals > 1 {
					continue // its rows are copies of the first one's
				}
			}
			bound := make([]int, 0, len(keys)+len(set))
			for k := range keys {
				bound = append(bound, k)
			}
			for _, g := range set {
				bound = append(bound, len(keys)+g)
			}
			c.Sets = append(c.Sets, bound)
		}
	} else if len(n.Groups) == 0 {
		totals = 1
	}
	if totals == 0 {
		return &c, bound, nil
	}
	dom, all := d.o.domain(d.source, d.outer)
	fixed, exprs := d.o.emptyGroups(&c)
	for _, g := range n.Groups {
		exprs = append(exprs, NamedExpr{Col: g.Col, Expr: colRef(g.Col)})
	}
	full := bigint(1<<len(n.Groups) - 1)
	if n.Grouping.ID != 0 || totals > 1 {
		fixed.Grouping = d.o.newColumn("grouping", sqltype.Int64, neverNull)
	}
	if n.Grouping.ID != 0 {
		exprs = append(exprs, NamedExpr{Col: n.Grouping, Expr: &Case{
			T:     n.Grouping.Type,
			Whens: []When{{&IsNull{colRef(fixed.Grouping)}, full}},
			Else:  colRef(fixed.Grouping),
		}})
	}
	var on []Expr
	for _, id := range d.outer.ids() {
		on = append(on, sameValue(all[id], bound[id], false))
	}
	if totals > 1 {
		// Every copy of a binding takes the row of no groups, one all others.
		var first Expr
		dom, first = d.o.copies(dom, totals)
		on = append(on, &Or{Args: []Expr{first, &Cmp{Op: Eq, L: colRef(fixed.Grouping), R: full}}})
	}
	j := &Join{Kind: Left, Left: dom, Right: fixed, On: allOf(on)}
	return &Project{Input: j, Exprs: append(exprs, passedIn(dom.Cols(), all)...)}, all, nil
}

// copies gives each row of n several times; the condition is true for one of them.
func (o *optimizer) copies(n Node, times int) (Node, Expr) {
	numbers := &Values{Columns: []ColDef{o.newColumn("copy", sqltype.Int64, neverNull)}}
	for i := range times {
		numbers.Rows = append(numbers.Rows, []Expr{bigint(i)})
	}
	return &Join{Kind: Inner, Left: n, Right: numbers}, &Cmp{Op: Eq, L: colRef(numbers.Columns[0]), R: bigint(0)}
}

func (d *distributor) setOp(n *SetOp) (Node, replacement, error) {
	c := *n
	var lb, rb replacement
	var err error
	if c.Left, lb, err = d.plan(n.Left); err != nil {
		return nil, nil, err
	}
	if c.Right, rb, err = d.plan(n.Right); err != nil {
		return nil, nil, err
	}
	c.Columns = slices.Clip(n.Columns)
	left, right := passed(n.Left.Cols()), passed(n.Right.Cols())
	bound := replacement{}
	for _, id := range d.outer.ids() {
		l, r := lb[id].(*Col), rb[id].(*Col)
		col := d.o.newColumn("binding", l.T, mayBeNull)
		bound[id] = colRef(col)
		c.Columns = append(c.Columns, col)
		left = append(left, NamedExpr{Col: ColDef{ID: l.ID, Name: l.Name, Type: l.T}, Expr: l})
		right = append(right, NamedExpr{Col: ColDef{ID: r.ID, Name: r.Name, Type: r.T}, Expr: r})
	}
	c.Left = &Project{Input: c.Left, Exprs: left}
	c.Right = &Project{Input: c.Right, Exprs: right}
	return &c, bound, nil
}

// values computes the rows for each binding.
func (d *distributor) values(n *Values) (Node, replacement, error) {
	var all Node
	var bound replacement
	for i, row := range n.Rows {
		dom, b := d.o.domain(d.source, d.outer)
		cols := n.Columns
		if len(n.Rows) > 1 {
			cols = d.o.freshCols(cols)
		}
		exprs := make([]NamedExpr, 0, len(row)+len(b))
		for k, e := range row {
			exprs = append(exprs, NamedExpr{Col: cols[k], Expr: b.in(e)})
		}
		exprs = append(exprs, passedIn(dom.Cols(), b)...)
		next := &Project{Input: dom, Exprs: exprs}
		if all == nil {
			all, bound = next, b
			continue
		}
		out := n.Columns
		if i < len(n.Rows)-1 {
			out = d.o.freshCols(n.Columns)
		}
		u := &SetOp{Op: Union, All: true, Left: all, Right: next, Columns: slices.Clip(out)}
		joined := replacement{}
		for _, c := range all.Cols()[len(n.Columns):] {
			fresh := d.o.freshCols([]ColDef{c})[0]
			u.Columns = append(u.Columns, fresh)
			for id, e := range bound {
				if e.(*Col).ID == c.ID {
					joined[id] = colRef(fresh)
				}
			}
		}
		all, bound = u, joined
	}
	return all, bound, nil
}

// with makes a definition that depends on the binding one for all bindings.
func (d *distributor) with(n *With) (Node, replacement, error) {
	c := *n
	if d.dependent(n.Def) || n.Step != nil && d.dependent(n.Step) {
		if n.Step != nil {
			return nil, nil, sqltype.Errorf(sqltype.CodeNotSupported, "a recursive query cannot refer to a column of an outer query")
		}
		def, bound, err := d.plan(n.Def)
		if err != nil {
			return nil, nil, err
		}
		// The binding comes last, in the order that cteScan expects.
		exprs := passed(n.Def.Cols())
		for _, id := range d.outer.ids() {
			b := bound[id].(*Col)
			exprs = append(exprs, NamedExpr{Col: ColDef{ID: b.ID, Name: b.Name, Type: b.T}, Expr: b})
		}
		c.Def = &Project{Input: def, Exprs: exprs}
		places := map[ColumnID]int{}
		for i, id := range d.outer.ids() {
			places[id] = len(n.Def.Cols()) + i
		}
		d.ctes[n.CTE] = places
	}
	body, bound, err := d.plan(n.Body)
	if err != nil {
		return nil, nil, err
	}
	c.Body = body
	return &c, bound, nil
}

// cteScan reads the binding with the rows.
func (d *distributor) cteScan(n *CTEScan) (Node, replacement, error) {
	c := *n
	c.Columns, c.Source = slices.Clip(n.Columns), slices.Clip(n.Source)
	bound := replacement{}
	for _, sc := range d.source.Cols() {
		place, ok := d.ctes[n.CTE][sc.ID]
		if !ok {
			continue
		}
		fresh := d.o.freshCols([]ColDef{sc})[0]
		c.Columns = append(c.Columns, fresh)
		c.Source = append(c.Source, place)
		bound[sc.ID] = colRef(fresh)
	}
	return &c, bound, nil
}

// limit numbers the rows of each binding in the order that was asked for and
// keeps those within the limit.
func (d *distributor) limit(n *Limit) (Node, replacement, error) {
	below, keys := n.Input, []SortKey(nil)
	var tops []*Project
	for {
		if p, ok := below.(*Project); ok {
			tops, below = append(tops, p), p.Input
			continue
		}
		if s, ok := below.(*Sort); ok {
			keys, below = s.Keys, s.Input
		}
		break
	}
	in, bound, err := d.plan(below)
	if err != nil {
		return nil, nil, err
	}
	f, err := catalog.ResolveWindow("row_number", nil)
	if err != nil {
		return nil, nil, err
	}
	w := &Window{Input: in, Partition: exprsOf(passedIn(in.Cols(), bound))}
	for _, k := range keys {
		k.Expr = bound.in(k.Expr)
		w.Order = append(w.Order, k)
	}
	number := d.o.newColumn("row", f.Result, neverNull)
	frame := Frame{Unit: "RANGE", StartKind: "UNBOUNDED PRECEDING", EndKind: "CURRENT ROW"}
	w.Funcs = []WindowFunc{{Col: number, Func: f.Func, Frame: frame}}
	var out Node = &Filter{Input: w, Pred: allOf(d.within(n, colRef(number), bound))}
	for i := len(tops) - 1; i >= 0; i-- {
		p := d.bind(tops[i], bound).(*Project)
		out = &Project{Input: out, Exprs: append(slices.Clip(p.Exprs), passedIn(in.Cols(), bound)...)}
	}
	return out, bound, nil
}

// within are the conditions that a row's number lies between OFFSET and LIMIT.
func (d *distributor) within(n *Limit, number Expr, bound replacement) []Expr {
	limit, offset := bound.in(n.Limit), bound.in(n.Offset)
	var conds []Expr
	if offset != nil {
		conds = append(conds, &Cmp{Op: Gt, L: number, R: offset})
		if limit != nil {
			limit = arithmetic("+", limit, offset)
		}
	}
	if limit != nil && !isNullConst(limit) {
		conds = append(conds, &Cmp{Op: Le, L: number, R: limit})
	}
	if len(conds) == 0 {
		conds = append(conds, boolConst(true))
	}
	return conds
}
