package planner

import (
	"slices"
)

// common_subplan computes once what stands in a plan several times: groups,
// distinct rows and sets whose plans are the same but for the numbers of their
// columns. They become a definition above all of them, read by scans.
//
// It pays because a view or a derived table that is named twice is bound twice:
// TPC-H's query 15 joins with the revenues that it also takes the maximum of.
//
// It would be wrong to share what calls random(), or to take what stands in a
// recursive step out of it, which computes it anew for each round. And it comes
// after the filters have gone down: two uses of a view of which each asks for
// other rows are not the same.
func (o *optimizer) commonSubplan(n Node) Node {
	for {
		f := subplans{prints: map[Node]uint64{}, classes: map[uint64][][]Node{}}
		f.print(n)
		f.gather(n)
		class := o.worthSharing(f.found)
		if class == nil {
			return n
		}
		o.fired()
		n = o.share(n, class)
	}
}

// A subplan that costs less, or not clearly more than to write down its rows
// and read them again, is computed where it stands.
const (
	minShared   = 5000.0
	sharedShare = 4 * costOut
)

func (o *optimizer) worthSharing(classes [][]Node) []Node {
	m := o.costs()
	for _, c := range classes {
		if cost := m.cost(c[0]); len(c) > 1 && cost > minShared && cost > sharedShare*m.rows(c[0]) {
			return c
		}
	}
	return nil
}

// subplans finds the nodes of a plan that could be shared, by class.
type subplans struct {
	prints  map[Node]uint64 // equal for equal plans; 0: not to be compared
	classes map[uint64][][]Node
	found   [][]Node // those above others first
}

// print gives n and the nodes below their fingerprints.
func (s *subplans) print(n Node) uint64 {
	h := uint64(0)
	switch n := n.(type) {
	case *Scan:
		if n.Access == nil && n.AsOf == nil {
			h = mix(1, uint64(n.Table.ID))
		}
	case *CTEScan:
		h = mix(2, uint64(n.CTE))
	case *Filter:
		h = 3
	case *Project:
		h = 4
	case *Join:
		if !n.Dependent && !n.Lookup {
			h = mix(5, uint64(n.Kind))
		}
	case *Aggregate:
		h = mix(6, uint64(len(n.Aggs)))
	case *DistinctOn:
		h = 7
	case *SetOp:
		h = mix(8, uint64(n.Op))
	}
	eachExpr(n, func(e Expr) {
		if isVolatile(e) {
			h = 0
		}
	})
	for _, in := range n.Inputs() {
		if p := s.print(in); p == 0 || h == 0 {
			h = 0
		} else {
			h = mix(h, p)
		}
	}
	s.prints[n] = h
	return h
}

// gather sorts the nodes at and below n into classes.
func (s *subplans) gather(n Node) {
	switch n := n.(type) {
	case *Aggregate, *DistinctOn:
		s.add(n)
	case *SetOp:
		if !n.All {
			s.add(n)
		}
	case *With:
		s.gather(n.Def)
		s.gather(n.Body)
		return
	}
	for _, in := range n.Inputs() {
		s.gather(in)
	}
}

func (s *subplans) add(n Node) {
	p := s.prints[n]
	if p == 0 {
		return
	}
	for i, class := range s.classes[p] {
		if same := (&likeness{columns: replacement{}}); same.plans(n, class[0]) {
			s.classes[p][i] = append(class, n)
			at := slices.IndexFunc(s.found, func(c []Node) bool { return c[0] == class[0] })
			s.found[at] = s.classes[p][i]
			return
		}
	}
	s.classes[p] = append(s.classes[p], []Node{n})
	s.found = append(s.found, []Node{n})
}

// share puts a definition of what a class computes above all of its nodes, and
// as low as that allows.
func (o *optimizer) share(n Node, class []Node) Node {
	for _, in := range n.Inputs() {
		if count(in, class) == len(class) {
			return mapInputs(n, func(x Node) Node {
				if x == in {
					return o.share(x, class)
				}
				return x
			})
		}
	}
	id := o.nextCTE
	o.nextCTE++
	places := make([]int, len(class[0].Cols()))
	for i := range places {
		places[i] = i
	}
	var scans func(Node) Node
	scans = func(x Node) Node {
		if slices.Contains(class, x) {
			return &CTEScan{CTE: id, Name: "common", Columns: x.Cols(), Source: places}
		}
		return mapInputs(x, scans)
	}
	def := o.renumbered(class[0], replacement{})
	return &With{CTE: id, Name: "common", Def: def, Body: scans(n)}
}

// count is how many nodes of a class are at or below n.
func count(n Node, class []Node) int {
	found := 0
	walk(n, func(n Node) bool {
		if slices.Contains(class, n) {
			found++
			return false
		}
		return true
	})
	return found
}

// renumbered is n with new columns throughout; r learns which stand for which.
func (o *optimizer) renumbered(n Node, r replacement) Node {
	n = mapInputs(n, func(in Node) Node { return o.renumbered(in, r) })
	fresh := func(c ColDef) ColDef {
		x, ok := r[c.ID]
		if !ok {
			x = colRef(o.freshCols([]ColDef{c})[0])
			r[c.ID] = x
		}
		c.ID = x.(*Col).ID
		return c
	}
	if _, ok := n.(*Scan); ok { // its filter names its own columns
		mapDefs(n, fresh)
	}
	return mapDefs(mapNodeExprs(n, r.in), fresh)
}

// mapDefs is n with f applied to the columns that it makes or hands through by
// name, in a fixed order.
func mapDefs(n Node, f func(ColDef) ColDef) Node {
	all := func(cols []ColDef) []ColDef {
		out := make([]ColDef, len(cols))
		for i, c := range cols {
			out[i] = f(c)
		}
		return out
	}
	named := func(es []NamedExpr) []NamedExpr {
		out := make([]NamedExpr, len(es))
		for i, e := range es {
			out[i] = NamedExpr{Col: f(e.Col), Expr: e.Expr}
		}
		return out
	}
	switch n := n.(type) {
	case *Scan:
		c := *n
		c.Columns, c.Fetch = all(n.Columns), all(n.Fetch)
		return &c
	case *CTEScan:
		c := *n
		c.Columns = all(n.Columns)
		return &c
	case *Project:
		return &Project{Input: n.Input, Exprs: named(n.Exprs)}
	case *Join:
		if n.Kind != Mark {
			return n
		}
		c := *n
		c.Mark = f(n.Mark)
		return &c
	case *Aggregate:
		c := *n
		c.Groups = named(n.Groups)
		c.Aggs = slices.Clone(n.Aggs)
		for i := range c.Aggs {
			c.Aggs[i].Col = f(c.Aggs[i].Col)
		}
		if n.Grouping.ID != 0 {
			c.Grouping = f(n.Grouping)
		}
		return &c
	case *SetOp:
		c := *n
		c.Columns = all(n.Columns)
		return &c
	}
	return n
}

// likeness compares two plans; columns are those of the second that stand for
// the first one's.
type likeness struct{ columns replacement }

// plans reports that a and b give the same rows, with a's columns as columns say.
func (l *likeness) plans(a, b Node) bool {
	x, y := a.Inputs(), b.Inputs()
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !l.plans(x[i], y[i]) {
			return false
		}
	}
	if !sameShape(a, b) {
		return false
	}
	mine, theirs := defsOf(a), defsOf(b)
	if len(mine) != len(theirs) {
		return false
	}
	for i, c := range mine {
		if c.Type != theirs[i].Type {
			return false
		}
		l.columns[c.ID] = colRef(theirs[i])
	}
	return slices.EqualFunc(exprsIn(a), exprsIn(b), func(e, f Expr) bool { return equalExpr(l.columns.in(e), f) })
}

func defsOf(n Node) (out []ColDef) {
	mapDefs(n, func(c ColDef) ColDef { out = append(out, c); return c })
	return out
}

func exprsIn(n Node) (out []Expr) {
	eachExpr(n, func(e Expr) { out = append(out, e) })
	return out
}

// sameShape compares what two nodes say beside their expressions, columns and inputs.
func sameShape(a, b Node) bool {
	switch a := a.(type) {
	case *Scan:
		b, ok := b.(*Scan)
		return ok && a.Table.ID == b.Table.ID && slices.Equal(a.Source, b.Source) && slices.Equal(a.FetchSource, b.FetchSource) &&
			(a.Filter == nil) == (b.Filter == nil)
	case *CTEScan:
		b, ok := b.(*CTEScan)
		return ok && a.CTE == b.CTE && slices.Equal(a.Source, b.Source)
	case *Filter:
		_, ok := b.(*Filter)
		return ok
	case *Project:
		_, ok := b.(*Project)
		return ok
	case *Join:
		b, ok := b.(*Join)
		return ok && a.Kind == b.Kind && a.NullAware == b.NullAware && (a.On == nil) == (b.On == nil) && len(a.Keys)+len(b.Keys) == 0
	case *Aggregate:
		b, ok := b.(*Aggregate)
		return ok && len(a.Groups) == len(b.Groups) && slices.EqualFunc(a.Aggs, b.Aggs, sameAgg) &&
			slices.EqualFunc(a.Sets, b.Sets, slices.Equal[[]int]) && (a.Sets == nil) == (b.Sets == nil)
	case *DistinctOn:
		_, ok := b.(*DistinctOn)
		return ok
	case *SetOp:
		b, ok := b.(*SetOp)
		return ok && a.Op == b.Op && a.All == b.All
	}
	return false
}

// sameAgg compares two aggregates but for their arguments.
func sameAgg(a, b Agg) bool {
	return a.Func.ID == b.Func.ID && a.Distinct == b.Distinct && len(a.Args) == len(b.Args) && (a.Filter == nil) == (b.Filter == nil) &&
		slices.EqualFunc(a.OrderBy, b.OrderBy, func(x, y SortKey) bool { return x.Desc == y.Desc && x.NullsFirst == y.NullsFirst })
}
