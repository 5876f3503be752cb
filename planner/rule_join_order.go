package planner

import (
	"math"
	"math/bits"
	"slices"
)

// join_order chooses the order of inner joins. A semi, anti, left, mark or
// single join among them takes part as a step that needs the columns that its
// condition names to be there first. Up to maxExact inputs all trees are
// compared that have no cross product; more are joined greedily, the pair with the
// smallest result first, for which at most as many pairs are weighed as the inputs' number squared.
//
// It pays more than any other rule: the tables of a query come in the order in
// which somebody thought of them, and the intermediate results of two orders
// can differ by the size of a table.
//
// It would be wrong to move an inner join with the right side of a left join
// below it, in t LEFT JOIN u ON t.a = u.a JOIN v ON u.b = v.b: a row of t without
// a partner has no u.b. Here that condition waits until u is there.
//
// It is required, for a condition of WHERE between two tables of FROM, or one that
// all arms of an OR share, is what makes their join more than all pairs. When it
// is disabled it takes the tables as they are written, passing over one only
// while no condition leads to it.
func (o *optimizer) joinOrder(n Node) Node {
	if j, ok := n.(*Join); ok && reorderable(j) {
		return o.orderJoins(j)
	}
	if f, ok := n.(*Filter); ok {
		if j, ok := f.Input.(*Join); ok && reorderable(j) {
			return o.orderJoins(f)
		}
	}
	return mapInputs(n, o.joinOrder)
}

// maxExact is up to how many inputs all orders are compared: three to that
// power is how many pairs of sets there are.
const maxExact = 12

// reorderable reports a join that has company of the kind worth ordering.
func reorderable(j *Join) bool { return !j.Dependent && j.Kind != Right && j.Kind != Full }

// joinGraph is a tree of joins taken apart.
type joinGraph struct {
	o      *optimizer
	model  *costModel
	inputs []joinInput
	conds  []joinCond
	defs   replacement // of Projects between the joins
	pairs  int         // how many were weighed
}

// joinInput is one input of the joins.
type joinInput struct {
	node Node
	cols colSet
	// kind is Inner, or that of the join that brings the input in as its right side;
	// then join is it, and needs are the inputs its condition names.
	kind  JoinKind
	join  *Join
	needs inputSet
	rows  float64
	base  float64 // before filtering
	// single: there is one row at most.
	single bool
}

// joinCond is a conjunct and the inputs that it names.
type joinCond struct {
	expr   Expr
	inputs inputSet
	share  float64 // of the pairs
	used   bool
}

// inputSet is a set of inputs, a bit each; inputs past the 64th are in further words.
type inputSet [maxInputs / 64]uint64

// maxInputs is how many inputs a graph may have; joins above stay as they are.
const maxInputs = 256

func oneInput(i int) inputSet {
	var s inputSet
	s[i>>6] = 1 << (i & 63)
	return s
}

func (s inputSet) or(t inputSet) inputSet {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

func (s inputSet) meets(t inputSet) bool {
	for i := range s {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

func (s inputSet) within(t inputSet) bool {
	for i := range s {
		if s[i]&^t[i] != 0 {
			return false
		}
	}
	return true
}

func (s inputSet) empty() bool { return s == inputSet{} }

// orderJoins rewrites the tree of joins at n.
func (o *optimizer) orderJoins(n Node) Node {
	g := &joinGraph{o: o, model: o.costs(), defs: replacement{}}
	if !g.flatten(n) { // too many
		return mapInputs(n, o.joinOrder)
	}
	g.measure()
	var best *joinTree
	switch {
	case !o.wanted(o.rule):
		best = g.written()
	case len(g.inputs) <= maxExact:
		best = g.exact()
	}
	if best == nil {
		best = g.greedy()
	}
	if next := 0; !best.asWritten(&next) {
		o.fired()
	}
	return g.restore(filtered(g.build(best), g.unused()), n.Cols())
}

// restore gives the columns that the tree had.
func (g *joinGraph) restore(n Node, cols []ColDef) Node {
	if len(g.defs) == 0 {
		return keepCols(n, cols)
	}
	exprs := passed(cols)
	for i, c := range cols {
		if e, ok := g.defs[c.ID]; ok {
			exprs[i].Expr = e
		}
	}
	return &Project{Input: n, Exprs: exprs}
}

// flatten gathers the inputs and conditions below n.
func (g *joinGraph) flatten(n Node) bool {
	switch n := n.(type) {
	case *Filter:
		j, ok := n.Input.(*Join)
		if ok && reorderable(j) || g.opensProject(n.Input) {
			if !g.flatten(n.Input) {
				return false
			}
			g.addConds(conjuncts(n.Pred))
			return true
		}
	case *Project:
		if g.opensProject(n) {
			if !g.flatten(n.Input) {
				return false
			}
			for id, e := range definitions(n.Exprs) {
				g.defs[id] = g.defs.in(e)
			}
			return true
		}
	case *Join:
		if reorderable(n) {
			return g.flattenJoin(n)
		}
	}
	return g.addInput(joinInput{node: n})
}

// opensProject reports a Project over joins that can be put off until after them.
func (g *joinGraph) opensProject(n Node) bool {
	p, ok := n.(*Project)
	if !ok {
		return false
	}
	for _, e := range p.Exprs {
		if isVolatile(e.Expr) {
			return false
		}
	}
	in := p.Input
	if f, ok := in.(*Filter); ok {
		in = f.Input
	}
	j, ok := in.(*Join)
	return ok && reorderable(j)
}

func (g *joinGraph) flattenJoin(n *Join) bool {
	if !g.flatten(n.Left) {
		return false
	}
	if n.Kind == Inner {
		if !g.flatten(n.Right) {
			return false
		}
		g.addConds(conjuncts(n.On))
		return true
	}
	c := *n
	c.On = g.defs.in(n.On)
	return g.addInput(joinInput{node: n.Right, kind: n.Kind, join: &c})
}

func (g *joinGraph) addInput(in joinInput) bool {
	if len(g.inputs) >= maxInputs {
		return false
	}
	in.node = g.o.joinOrder(in.node)
	in.cols = colsOf(in.node)
	if in.kind == Mark {
		in.cols = in.cols.add(in.join.Mark.ID)
	}
	if in.join != nil {
		in.needs = g.named(in.join.On)
		if in.needs.empty() { // the right side is joined to whatever there is; keep it behind what was
			for i := range g.inputs {
				in.needs = in.needs.or(oneInput(i))
			}
		}
	}
	g.inputs = append(g.inputs, in)
	return true
}

func (g *joinGraph) addConds(list []Expr) {
	for _, e := range list {
		e = g.defs.in(e)
		if or, ok := e.(*Or); ok { // simplify, which is not required, has left nothing to share
			if shared := shareConjuncts(or.Args); shared != nil {
				g.addConds(conjuncts(shared))
				continue
			}
		}
		g.conds = append(g.conds, joinCond{expr: e})
	}
}

// named are the inputs whose columns e names.
func (g *joinGraph) named(e Expr) inputSet {
	var s inputSet
	cols := exprCols(e)
	for i := range g.inputs {
		if cols.meets(g.inputs[i].cols) {
			s = s.or(oneInput(i))
		}
	}
	return s
}

// measure finds sizes and shares.
func (g *joinGraph) measure() {
	for i := range g.inputs {
		in := &g.inputs[i]
		in.rows = math.Max(g.model.rows(in.node), 1)
		in.base = math.Max(g.model.base(in.node), 1)
		in.single = in.kind == Inner && maxOneRow(in.node)
	}
	for i := range g.conds {
		c := &g.conds[i]
		c.inputs = g.named(c.expr)
		c.share = g.share(c)
	}
}

func (g *joinGraph) share(c *joinCond) float64 {
	e, ok := c.expr.(*Cmp)
	if !ok || e.Op != Eq && e.Op != NotDistinct {
		return g.model.selectivity(c.expr)
	}
	distinct, values := [2]float64{1, 1}, [2]float64{1, 1}
	for i, side := range [2]Expr{e.L, e.R} {
		in := g.named(side)
		if in.empty() {
			continue
		}
		distinct[i] = g.model.distinct(side, g.base(in))
		for at := range g.inputs {
			if oneInput(at) == in {
				values[i] = g.model.valuesOf(g.inputs[at].node, side)
			}
		}
	}
	return keyShare(distinct[0], distinct[1], values[0], values[1])
}

// base is the size of the greatest of some inputs before filtering.
func (g *joinGraph) base(s inputSet) float64 {
	most := 1.0
	for i := range g.inputs {
		if oneInput(i).meets(s) {
			most = math.Max(most, g.inputs[i].base)
		}
	}
	return most
}

// joinTree is a way to join some of the inputs.
type joinTree struct {
	set         inputSet
	left, right *joinTree
	input       int // of a leaf
	rows, cost  float64
	base        float64 // the size of the greatest table in it, before filtering
}

// asWritten reports that a tree joins the inputs one by one in their order.
func (t *joinTree) asWritten(next *int) bool {
	if t.left == nil {
		*next++
		return t.input == *next-1
	}
	return t.right.left == nil && t.left.asWritten(next) && t.right.asWritten(next)
}

func (g *joinGraph) leaf(i int) *joinTree {
	return &joinTree{set: oneInput(i), input: i, rows: g.inputs[i].rows, base: g.inputs[i].base}
}

// lone reports a leaf that is not an inner join's input: it can only be a right side.
func (g *joinGraph) lone(t *joinTree) bool { return t.left == nil && g.inputs[t.input].kind != Inner }

// connected reports a condition between two sets, or a step whose needs are there.
func (g *joinGraph) connected(a, b *joinTree) bool {
	if g.lone(b) {
		return g.inputs[b.input].needs.within(a.set)
	}
	if g.oneRow(a) || g.oneRow(b) {
		return true
	}
	both := a.set.or(b.set)
	for i := range g.conds {
		c := &g.conds[i]
		if c.inputs.meets(a.set) && c.inputs.meets(b.set) && c.inputs.within(both) {
			return true
		}
	}
	return false
}

// oneRow reports an input with one row at most: no condition is needed to join it.
func (g *joinGraph) oneRow(t *joinTree) bool { return t.left == nil && g.inputs[t.input].single }

// pair joins two trees, the smaller on the right; nil if it cannot be.
func (g *joinGraph) pair(a, b *joinTree) *joinTree {
	if g.lone(a) {
		a, b = b, a
	}
	if g.lone(a) {
		return nil
	}
	g.pairs++
	t := &joinTree{set: a.set.or(b.set), left: a, right: b, base: math.Max(a.base, b.base)}
	kind := Inner
	share, keyed := 1.0, false
	if g.lone(b) {
		in := &g.inputs[b.input]
		if !in.needs.within(a.set) {
			return nil
		}
		kind = in.kind
		if in.join.On != nil {
			share, keyed = g.model.joinShare(conjuncts(in.join.On), g.widest(a, in.needs), in.node), true
		}
	} else if a.rows < b.rows {
		t.left, t.right = b, a
	}
	between, wide, keys := 1.0, 1.0, 0
	for i := range g.conds {
		c := &g.conds[i]
		if !c.inputs.within(t.set) || c.inputs.within(a.set) || c.inputs.within(b.set) && kind == Inner {
			continue
		}
		if e, ok := c.expr.(*Cmp); ok && e.Op == Eq && kind == Inner {
			between *= c.share
			keyed = true
			keys++
			wide = math.Max(wide, math.Min(g.base(c.and(a.set)), g.base(c.and(b.set))))
		} else {
			share *= c.share
		}
	}
	if keys > 1 && between < 1/wide {
		between = 1 / wide // several keys have no more values than there are rows
	}
	if kind == Inner {
		share *= between
		t.rows = a.rows * b.rows * share
	} else {
		t.rows = joined(kind, a.rows, b.rows, share)
	}
	t.rows = math.Max(t.rows, 1)
	l, r := t.left.rows, t.right.rows
	if kind != Inner && r > 2*l {
		l, r = r, l // built on the left
	}
	t.cost = a.cost + b.cost + costOut*t.rows
	switch {
	case keyed:
		t.cost += costProbe*l + costBuild*r
	case g.oneRow(a) || g.oneRow(b):
		t.cost += costNested * l * r
	default:
		// All pairs are looked at. That few rows are left of both tables is an
		// estimate, and a wrong one would be paid for by the square.
		t.cost += costNested * a.base * b.base
	}
	return t
}

func (c *joinCond) and(s inputSet) inputSet {
	for i := range s {
		s[i] &= c.inputs[i]
	}
	return s
}

// widest is the largest of the inputs in needs, which stands for the tree when
// a step's condition is weighed.
func (g *joinGraph) widest(t *joinTree, needs inputSet) Node {
	var best Node
	for i := range g.inputs {
		if oneInput(i).meets(needs) && (best == nil || g.inputs[i].rows > g.model.rows(best)) {
			best = g.inputs[i].node
		}
	}
	if best == nil {
		best = g.inputs[0].node
	}
	return best
}

// exact compares all trees without cross products; nil if there is none.
func (g *joinGraph) exact() *joinTree {
	n := len(g.inputs)
	trees := make([]*joinTree, 1<<n)
	for i := range g.inputs {
		trees[1<<i] = g.leaf(i)
	}
	for set := 1; set < 1<<n; set++ {
		if bits.OnesCount(uint(set)) < 2 {
			continue
		}
		var best *joinTree
		for part := (set - 1) & set; part > set&^part; part = (part - 1) & set {
			a, b := trees[part], trees[set&^part]
			if a == nil || b == nil || g.lone(a) && g.lone(b) {
				continue
			}
			if g.lone(a) {
				a, b = b, a
			}
			if best != nil && a.cost+b.cost >= best.cost || !g.connected(a, b) {
				continue
			}
			if t := g.pair(a, b); t != nil && (best == nil || t.cost < best.cost) {
				best = t
			}
		}
		trees[set] = best
	}
	return trees[1<<n-1]
}

// greedy joins the pair with the smallest result until one tree is left; pairs
// that no condition connects come when there are no others. The first input
// is an inner join's and each step's needs come before it, so there is always a pair.
func (g *joinGraph) greedy() *joinTree {
	trees := make([]*joinTree, len(g.inputs))
	for i := range g.inputs {
		trees[i] = g.leaf(i)
	}
	type key struct{ a, b *joinTree }
	known := map[key]*joinTree{}
	for len(trees) > 1 {
		var best *joinTree
		ai, bi := -1, -1
		for cross := 0; cross < 2 && best == nil; cross++ {
			for i, a := range trees {
				for j, b := range trees[:i] {
					if g.lone(a) && g.lone(b) {
						continue
					}
					k := key{a, b}
					t, ok := known[k]
					if !ok || cross == 1 {
						t = nil
						x, y := a, b
						if g.lone(x) {
							x, y = y, x
						}
						if cross == 1 || g.connected(x, y) {
							t = g.pair(x, y)
						}
						known[k] = t
					}
					if t != nil && (best == nil || t.rows < best.rows || t.rows == best.rows && t.cost < best.cost) {
						best, ai, bi = t, i, j
					}
				}
			}
			if cross == 0 && best == nil {
				clear(known)
			}
		}
		trees[bi] = best
		trees = slices.Delete(trees, ai, ai+1)
	}
	return trees[0]
}

// written joins the inputs in their order, those first that a condition
// connects with what is joined.
func (g *joinGraph) written() *joinTree {
	tree := g.leaf(0)
	for left := len(g.inputs) - 1; left > 0; left-- {
		next := -1
		for i := range g.inputs {
			leaf := g.leaf(i)
			if leaf.set.within(tree.set) || g.lone(leaf) && !g.inputs[i].needs.within(tree.set) {
				continue
			}
			if g.connected(tree, leaf) {
				next = i
				break
			}
			if next < 0 {
				next = i
			}
		}
		leaf := g.leaf(next)
		tree = &joinTree{set: tree.set.or(leaf.set), left: tree, right: leaf}
	}
	return tree
}

// build makes the joins of a tree, with each condition as low as it can be.
func (g *joinGraph) build(t *joinTree) Node {
	if t.left == nil {
		return g.inputs[t.input].node
	}
	left, right := g.build(t.left), g.build(t.right)
	var conds []Expr
	for i := range g.conds {
		if c := &g.conds[i]; !c.used && c.inputs.within(t.set) && !c.inputs.empty() {
			c.used = true
			conds = append(conds, c.expr)
		}
	}
	if g.lone(t.right) {
		j := *g.inputs[t.right.input].join
		j.Left, j.Right = left, right
		return filtered(&j, conds)
	}
	return &Join{Kind: Inner, Left: left, Right: right, On: allOf(conds)}
}

// unused are the conditions that name no input.
func (g *joinGraph) unused() []Expr {
	var out []Expr
	for i := range g.conds {
		if !g.conds[i].used {
			out = append(out, g.conds[i].expr)
		}
	}
	return out
}
