package planner

import (
	"slices"

	"github.com/gpusql/gpusql/sqltype"
)

// decorrelate turns every subquery into a join, and every join whose right side
// depends on its left one into a join of independent sides. What is left runs
// once, never once for each row. It is required: nothing executes a Subquery.
//
//	EXISTS, IN as a conjunct      semi join
//	NOT EXISTS, NOT IN            anti join
//	either elsewhere              mark join, and the mark stands for the subquery
//	scalar                        single join, or left when there is one row at most
//
// It pays always: n rows against a subquery of m rows cost n + m and not n * m.
//
// It would be wrong to make
// SELECT a FROM t WHERE (SELECT count(*) FROM u WHERE u.a = t.a) = 0
// a join with u grouped by a: the rows of t without a partner must see 0 and not be
// lost, so the join is an outer one and a missing count is read as 0. It would
// be wrong to make NOT IN an ordinary anti join: 1 NOT IN (2, NULL) is unknown.
func (o *optimizer) decorrelate(n Node) (Node, error) {
	in := n.Inputs()
	if len(in) > 0 {
		out := make([]Node, len(in))
		changed := false
		for i, x := range in {
			y, err := o.decorrelate(x)
			if err != nil {
				return nil, err
			}
			out[i] = y
			changed = changed || x != y
		}
		if changed {
			n = n.WithInputs(out)
		}
	}
	if !hasSubqueries(n) {
		if j, ok := n.(*Join); ok && j.Dependent {
			o.fired()
			return o.undepend(j)
		}
		return n, nil
	}
	o.fired()
	switch n := n.(type) {
	case *Filter:
		return o.filterSubqueries(n)
	case *Join:
		return o.joinSubqueries(n)
	case *Values:
		return o.valuesSubqueries(n)
	case *Project, *Aggregate, *Sort, *TopN, *DistinctOn, *Window, *Unnest:
		return o.inputSubqueries(n)
	}
	return nil, sqltype.Errorf(sqltype.CodeNotSupported, "a subquery is not supported here")
}

// withoutSubqueries is decorrelate, after which no two Withs have one number.
func (o *optimizer) withoutSubqueries(n Node) (Node, error) {
	out, err := o.decorrelate(n)
	if err != nil {
		return nil, err
	}
	return o.ownNumbers(out, map[int]int{}, map[int]bool{}), nil
}

func hasSubqueries(n Node) bool {
	found := false
	eachExpr(n, func(e Expr) { found = found || hasSubqueryIn(e) })
	return found
}

// filterSubqueries joins the subqueries of a condition to its input, below
// which the other conjuncts filter first.
func (o *optimizer) filterSubqueries(n *Filter) (Node, error) {
	var plain, rest []Expr
	for _, c := range conjuncts(n.Pred) {
		if hasSubqueryIn(c) {
			rest = append(rest, c)
		} else {
			plain = append(plain, c)
		}
	}
	at := &attacher{o: o, input: n.Input}
	if len(plain) > 0 {
		at.input = &Filter{Input: n.Input, Pred: allOf(plain)}
	}
	for _, c := range rest {
		if at.filter(c) {
			continue
		}
		if p := at.cond(c); at.err == nil {
			at.input = &Filter{Input: at.input, Pred: p}
		}
	}
	if at.err != nil {
		return nil, at.err
	}
	return keepCols(at.input, n.Cols()), nil
}

// inputSubqueries joins the subqueries in a node's expressions to its input.
func (o *optimizer) inputSubqueries(n Node) (Node, error) {
	at := &attacher{o: o, input: n.Inputs()[0]}
	out := mapNodeExprs(n, at.value)
	if at.err != nil {
		return nil, at.err
	}
	return keepCols(out.WithInputs([]Node{at.input}), n.Cols()), nil
}

// valuesSubqueries makes a row with a subquery a Project of one empty row.
func (o *optimizer) valuesSubqueries(n *Values) (Node, error) {
	var all Node
	for i, row := range n.Rows {
		at := &attacher{o: o, input: &Values{Rows: [][]Expr{nil}}}
		cols := n.Columns
		if i > 0 || len(n.Rows) > 1 {
			cols = o.freshCols(cols)
		}
		exprs := make([]NamedExpr, len(row))
		for j, e := range row {
			exprs[j] = NamedExpr{Col: cols[j], Expr: at.value(e)}
		}
		if at.err != nil {
			return nil, at.err
		}
		var next Node = &Project{Input: at.input, Exprs: exprs}
		if all != nil {
			out := n.Columns
			if i < len(n.Rows)-1 {
				out = o.freshCols(n.Columns)
			}
			next = &SetOp{Op: Union, All: true, Left: all, Right: next, Columns: out}
		}
		all = next
	}
	return all, nil
}

// freshCols are new columns like cols.
func (o *optimizer) freshCols(cols []ColDef) []ColDef {
	out := append([]ColDef(nil), cols...)
	for i := range out {
		out[i].ID = o.next
		o.next++
	}
	return out
}

// joinSubqueries treats subqueries in a join's condition. Of an inner join they
// are a filter's. Of another, a subquery that looks at one side only is joined
// to that side; one that looks at both is computed for every pair of what it
// looks at, and joined to the right side from there.
func (o *optimizer) joinSubqueries(n *Join) (Node, error) {
	if n.Kind == Inner && !n.Dependent {
		var plain, rest []Expr
		for _, c := range conjuncts(n.On) {
			if hasSubqueryIn(c) {
				rest = append(rest, c)
			} else {
				plain = append(plain, c)
			}
		}
		c := *n
		c.On = allOf(plain)
		return o.filterSubqueries(&Filter{Input: &c, Pred: allOf(rest)})
	}
	if n.Dependent {
		return nil, sqltype.Errorf(sqltype.CodeNotSupported, "a subquery in the condition of a LATERAL join is not supported")
	}
	switch {
	case n.Kind == Right:
		c := *n
		c.Kind, c.Left, c.Right = Left, n.Right, n.Left
		out, err := o.joinSubqueries(&c)
		if err != nil {
			return nil, err
		}
		return keepCols(out, n.Cols()), nil
	case n.Kind == Full && looksAtBoth(n):
		return o.fullSubqueries(n)
	}
	if looksAtBoth(n) {
		// Both sides are read twice, which a volatile one must not be.
		for i, side := range n.Inputs() {
			if !hasVolatile(side) {
				continue
			}
			in := slices.Clone(n.Inputs())
			scan, w := o.computedOnce(side)
			in[i] = scan
			out, err := o.joinSubqueries(n.WithInputs(in).(*Join))
			w.Body = out
			return w, err
		}
	}
	left := &attacher{o: o, input: n.Left}
	right := &attacher{o: o, input: n.Right}
	lcols, rcols := colsOf(n.Left), colsOf(n.Right)
	var extra []Expr
	known := unknownPlaces(n.On, nil)
	on := mapExpr(n.On, func(e Expr) Expr {
		s, ok := e.(*Subquery)
		if !ok {
			return e
		}
		used, t := exprCols(s), known[s]
		switch {
		case !used.meets(lcols):
			return right.attach(s, t)
		case !used.meets(rcols):
			return left.attach(s, t)
		}
		return right.pairs(n, used, s, t, &extra)
	})
	if left.err != nil {
		return nil, left.err
	}
	if right.err != nil {
		return nil, right.err
	}
	c := *n
	c.Left, c.Right, c.On = left.input, right.input, allOf(append(conjuncts(on), extra...))
	return keepCols(&c, n.Cols()), nil
}

// hasVolatile reports a plan that may give other rows when it runs again.
func hasVolatile(n Node) bool {
	found := false
	walk(n, func(n Node) bool {
		eachExpr(n, func(e Expr) { found = found || isVolatile(e) })
		return !found
	})
	return found
}

// looksAtBoth reports that a subquery in a join's condition names both sides.
func looksAtBoth(n *Join) bool {
	left, right := colsOf(n.Left), colsOf(n.Right)
	found := false
	walkExpr(n.On, func(e Expr) bool {
		if s, ok := e.(*Subquery); ok {
			used := exprCols(s)
			found = found || used.meets(left) && used.meets(right)
		}
		return !found
	})
	return found
}

// fullSubqueries makes a full join a left join and the right rows without a
// partner: joinSubqueries multiplies the rows of a right side, which a full join keeps.
func (o *optimizer) fullSubqueries(n *Join) (Node, error) {
	cols := n.Cols()
	matched, err := o.joinSubqueries(&Join{Kind: Left, Left: n.Left, Right: n.Right, On: n.On})
	if err != nil {
		return nil, err
	}
	lonely, err := o.joinSubqueries(&Join{Kind: Anti, Left: n.Right, Right: n.Left, On: n.On})
	if err != nil {
		return nil, err
	}
	all := &SetOp{Op: Union, All: true, Columns: o.freshCols(cols)}
	all.Left = keepCols(matched, cols)
	all.Right = withNulls(lonely, n.Left.Cols(), cols)
	return renamedTo(all, cols), nil
}

// unknownPlaces are the subqueries of a condition that may as well be false
// where they are unknown.
func unknownPlaces(e Expr, in map[*Subquery]truth) map[*Subquery]truth {
	switch e := e.(type) {
	case *And:
		for _, a := range e.Args {
			in = unknownPlaces(a, in)
		}
	case *Or:
		for _, a := range e.Args {
			in = unknownPlaces(a, in)
		}
	case *Subquery:
		if in == nil {
			in = map[*Subquery]truth{}
		}
		in[e] = unknownIsFalse
	}
	return in
}

// pairs joins to the right side of n the value of s for every pair of a left
// and a right binding, and adds to extra that the left one is the row's.
func (a *attacher) pairs(n *Join, used colSet, s *Subquery, t truth, extra *[]Expr) Expr {
	l, lmap := a.o.domain(n.Left, used.and(colsOf(n.Left)))
	r, rmap := a.o.domain(n.Right, used.and(colsOf(n.Right)))
	both := make(replacement, len(lmap)+len(rmap))
	var match []Expr
	for id, c := range lmap {
		both[id] = c
	}
	for id, c := range rmap {
		both[id] = c
	}
	for _, c := range n.Left.Cols() {
		if x, ok := lmap[c.ID]; ok {
			*extra = append(*extra, &Cmp{Op: NotDistinct, L: colRef(c), R: x})
		}
	}
	for _, c := range n.Right.Cols() {
		if x, ok := rmap[c.ID]; ok {
			match = append(match, &Cmp{Op: NotDistinct, L: colRef(c), R: x})
		}
	}
	at := &attacher{o: a.o, input: &Join{Kind: Inner, Left: l, Right: r}}
	value := at.attach(both.in(s).(*Subquery), t)
	if at.err != nil {
		a.err = at.err
		return s
	}
	a.input = &Join{Kind: Inner, Left: a.input, Right: at.input, On: allOf(match)}
	return value
}

// attacher joins subqueries to a node.
type attacher struct {
	o     *optimizer
	input Node
	done  map[*Subquery]Expr // what stands for those already joined
	err   error
}

// truth is what a place in a condition makes of unknown.
type truth uint8

const (
	threeValued truth = iota
	unknownIsFalse
)

// filter treats a conjunct that is itself a subquery or the negation of one.
func (a *attacher) filter(e Expr) bool {
	kind := Semi
	if n, ok := e.(*Not); ok {
		kind, e = Anti, n.X
	}
	s, ok := e.(*Subquery)
	if !ok || s.Kind == SubScalar {
		return false
	}
	plan, on := a.prepare(s)
	if a.err != nil {
		return true
	}
	j := &Join{Kind: kind, Left: a.input, Right: plan, On: on}
	if kind == Anti && s.Kind == SubAny && !a.alwaysKnown(s, plan) {
		if a.correlated(plan) || s.Op != Eq || len(s.X) != 1 {
			j.On = &Cmp{Op: Distinct, L: on, R: boolConst(false)} // unknown counts as a match
		} else {
			j.NullAware = true
		}
	}
	a.join(j)
	return true
}

// cond rewrites a condition of which only TRUE counts.
func (a *attacher) cond(e Expr) Expr {
	switch e := e.(type) {
	case *And:
		if args, changed := mapList(e.Args, a.cond); changed {
			return &And{args}
		}
		return e
	case *Or:
		if args, changed := mapList(e.Args, a.cond); changed {
			return &Or{args}
		}
		return e
	case *Subquery:
		return a.attach(e, unknownIsFalse)
	}
	return a.value(e)
}

// value rewrites an expression of which the value counts.
func (a *attacher) value(e Expr) Expr {
	return mapExpr(e, func(e Expr) Expr {
		if s, ok := e.(*Subquery); ok {
			return a.attach(s, threeValued)
		}
		return e
	})
}

// prepare decorrelates a subquery's plan in itself and gives its condition.
func (a *attacher) prepare(s *Subquery) (Node, Expr) {
	plan, err := a.o.decorrelate(s.Plan)
	if err != nil {
		a.err = err
		return nil, nil
	}
	if s.Kind == SubExists {
		return anyRow(plan), nil
	}
	if s.Kind == SubScalar {
		return plan, nil
	}
	if s.Op == Eq || s.Op == Ne {
		plan = unordered(plan)
	}
	cols := plan.Cols()
	cmps := make([]Expr, len(s.X))
	for i, x := range s.X {
		cmps[i] = &Cmp{Op: s.Op, L: a.value(x), R: colRef(cols[i])}
	}
	if len(cmps) > 1 && s.Op != Eq {
		if s.Op != Ne {
			a.err = sqltype.Errorf(sqltype.CodeNotSupported, "rows can be compared with a subquery by = and <> only")
			return nil, nil
		}
		return plan, &Or{cmps}
	}
	return plan, allOf(cmps)
}

// attach joins s and gives what stands for it.
func (a *attacher) attach(s *Subquery, t truth) Expr {
	if e, ok := a.done[s]; ok {
		return e
	}
	if a.err != nil {
		return s
	}
	plan, on := a.prepare(s)
	if a.err != nil {
		return s
	}
	var e Expr
	switch {
	case s.Kind == SubScalar:
		e = a.single(plan)
	case s.Kind == SubExists || t == unknownIsFalse || a.alwaysKnown(s, plan):
		e = a.mark(Join{Right: plan, On: on}, neverNull)
	case s.Op == Eq && len(s.X) == 1 && !a.correlated(plan):
		e = a.mark(Join{Right: plan, On: on, NullAware: true}, mayBeNull)
	default:
		// The condition may be true of one row, and otherwise unknown of one: two marks.
		yes := a.mark(Join{Right: plan, On: on}, neverNull)
		again, r := a.o.renamed(plan)
		maybe := a.mark(Join{Right: again, On: &IsNull{r.in(on)}}, neverNull)
		e = &Case{T: sqltype.Bool, Whens: []When{{yes, boolConst(true)}, {maybe, nullBool()}}, Else: boolConst(false)}
	}
	if a.done == nil {
		a.done = make(map[*Subquery]Expr)
	}
	a.done[s] = e
	return e
}

// mark joins j, and gives its mark: one that can be NULL is three-valued.
func (a *attacher) mark(j Join, n nullability) Expr {
	j.Kind, j.Left, j.Mark = Mark, a.input, a.o.newColumn("mark", sqltype.Bool, n)
	a.join(&j)
	return colRef(j.Mark)
}

// single joins a scalar subquery.
func (a *attacher) single(plan Node) Expr {
	kind := Single
	if maxOneRow(plan) {
		kind = Left
		if !a.correlated(plan) && oneRow(plan) {
			kind = Inner
		}
	}
	c := plan.Cols()[0]
	a.join(&Join{Kind: kind, Left: a.input, Right: plan})
	return colRef(c)
}

func (a *attacher) join(j *Join) {
	j.Left = a.input
	j.Dependent = a.correlated(j.Right)
	if !j.Dependent {
		a.input = j
		return
	}
	n, err := a.o.undepend(j)
	if err != nil {
		a.err = err
		return
	}
	a.input = n
}

func (a *attacher) correlated(plan Node) bool {
	return freeCols(plan).meets(colsOf(a.input))
}

// alwaysKnown reports that the comparison with a subquery is never unknown.
func (a *attacher) alwaysKnown(s *Subquery, plan Node) bool {
	for i, x := range s.X {
		if !a.neverNull(x) || !plan.Cols()[i].NotNull {
			return false
		}
	}
	return true
}

// neverNull reports a column of the input that cannot be NULL.
func (a *attacher) neverNull(e Expr) bool {
	switch e := e.(type) {
	case *Const:
		return !e.Value.Null
	case *Col:
		for _, c := range a.input.Cols() {
			if c.ID == e.ID {
				return c.NotNull
			}
		}
	}
	return false
}

// renamed is a plan whose columns have new numbers, and which stands for which.
func (o *optimizer) renamed(n Node) (Node, replacement) {
	cols := n.Cols()
	fresh := o.freshCols(cols)
	exprs := make([]NamedExpr, len(cols))
	r := make(replacement, len(cols))
	for i, c := range cols {
		exprs[i] = NamedExpr{Col: fresh[i], Expr: colRef(c)}
		r[c.ID] = colRef(fresh[i])
	}
	return &Project{Input: n, Exprs: exprs}, r
}

// anyRow drops from the plan of an EXISTS what does not change whether it has
// a row.
func anyRow(n Node) Node {
	for {
		switch x := n.(type) {
		case *Project:
			n = x.Input
		case *Sort:
			n = x.Input
		case *DistinctOn:
			n = x.Input
		case *Aggregate:
			if len(x.Groups) == 0 || x.Sets != nil {
				return n
			}
			n = x.Input
		case *Limit:
			c, ok := x.Limit.(*Const)
			if x.Offset != nil || !ok || c.Value.Null || c.Value.I < 1 {
				return n
			}
			n = x.Input
		default:
			return n
		}
	}
}

// unordered drops a sort that only orders.
func unordered(n Node) Node {
	if s, ok := n.(*Sort); ok {
		return s.Input
	}
	return n
}

// oneRow reports a plan that has exactly one row.
func oneRow(n Node) bool {
	switch n := n.(type) {
	case *Project:
		return oneRow(n.Input)
	case *Sort:
		return oneRow(n.Input)
	case *Aggregate:
		return len(n.Groups) == 0 && n.Sets == nil
	case *Values:
		return len(n.Rows) == 1
	case *With:
		return oneRow(n.Body)
	case *Join:
		return (n.Kind == Inner && n.On == nil && len(n.Keys) == 0 && !n.Dependent && oneRow(n.Right) ||
			n.Kind == Mark || n.Kind == Single) && oneRow(n.Left)
	}
	return false
}
