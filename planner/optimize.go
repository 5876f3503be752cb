package planner

import (
	"slices"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// OptimizeOptions say what the optimiser may do.
type OptimizeOptions struct {
	// Disable names rules that are not to run. The ones that execution needs
	// run all the same.
	Disable []string
	// Off runs only the rules that execution needs.
	Off bool
	// Workers is how many workers a query may have; 0 is one.
	Workers int
	// Fold computes an expression that names no column. An error leaves the
	// expression as it is: it is for execution to raise, if it gets there. Nil:
	// only what the planner can see by itself is folded.
	Fold func(Expr) (sqltype.Datum, error)
	// Trace hears the name of a rule each time that it has changed the plan.
	Trace func(rule string)
}

// Optimize turns the binder's plan into one that can be executed, and executed
// well. Every rule keeps the columns of the root, in order; what a rule does
// and why is said where it stands. The plan given is not changed.
func Optimize(p *Plan, r catalog.Reader, o OptimizeOptions) (*Plan, error) {
	opt := &optimizer{reader: r, opts: o, next: p.NextColumn, nextCTE: p.NextCTE}
	opt.look(p.Root)
	root := p.Root
	for i := range rules {
		rule := &rules[i]
		if rule.when != 0 && opt.seen&rule.when == 0 || !opt.enabled(rule) {
			continue
		}
		opt.rule, opt.root = rule.name, root
		var err error
		if root, err = rule.apply(opt, root); err != nil {
			return nil, err
		}
	}
	c := *p
	c.Root, c.NextColumn, c.NextCTE = root, opt.next, opt.nextCTE
	return &c, nil
}

// Rules are the names of the rules, in the order in which they run.
func Rules() []string {
	var names []string
	for i := range rules {
		if !slices.Contains(names, rules[i].name) {
			names = append(names, rules[i].name)
		}
	}
	return names
}

// optimizer is one call of Optimize.
type optimizer struct {
	reader  catalog.Reader
	opts    OptimizeOptions
	next    ColumnID
	nextCTE int
	rule    string // the one that runs
	root    Node   // what it was given
	seen    trait  // what the plan holds, or may have come to hold
	model   *costModel
}

// trait is something in a plan that makes a rule worth calling.
type trait uint16

const (
	hasSubquery trait = 1 << iota
	hasFilter
	hasJoin
	hasLimit
	hasScan
	hasProjects // one Project above another, or above another node than a Values
)

// rule is a rewrite of a whole plan. Order is the table's: each rule may rely
// on those before it having run, unless they can be disabled.
type rule struct {
	name     string
	required bool  // execution cannot do without it, or its errors would be others
	when     trait // 0: always
	apply    func(*optimizer, Node) (Node, error)
}

// rules are all of them. Simplification comes first because the others look at
// the shape of expressions; push_filter runs before join_order, which starts
// from conditions as near to their tables as they can be; prune_columns comes
// when no rule needs another column any more; the choices of access and the
// sides of joins come last, when sizes no longer change.
var rules = [...]rule{
	{"fold_constants", true, 0, sure((*optimizer).foldConstants)},
	{"simplify", false, 0, sure((*optimizer).simplify)},
	{"decorrelate", true, hasSubquery, (*optimizer).withoutSubqueries},
	{"merge_projects", false, hasProjects, sure((*optimizer).mergeProjects)},
	{"outer_to_inner", false, hasJoin, sure((*optimizer).outerToInner)},
	{"push_filter", false, hasFilter | hasJoin, sure((*optimizer).pushFilter)},
	{"remove_useless", false, 0, sure((*optimizer).removeUseless)},
	{"reduce_aggregate", false, hasJoin, sure((*optimizer).reduceAggregate)},
	{"sum_offset", false, 0, sure((*optimizer).sumOffset)},
	{"join_order", true, hasJoin, sure((*optimizer).joinOrder)},
	{"merge_projects", false, hasProjects, sure((*optimizer).mergeProjects)},
	{"push_aggregate", false, hasJoin, sure((*optimizer).pushAggregate)},
	{"first_match", false, hasJoin, sure((*optimizer).firstMatch)},
	{"push_limit", false, hasLimit, sure((*optimizer).pushLimit)},
	{"top_n", false, hasLimit, sure((*optimizer).topN)},
	{"prune_columns", false, hasScan | hasJoin, sure((*optimizer).pruneColumns)},
	{"window_top", false, hasFilter, sure((*optimizer).windowTop)},
	{"common_subplan", false, hasScan, sure((*optimizer).commonSubplan)},
	{"index_extreme", false, hasScan, sure((*optimizer).indexExtreme)},
	{"index_count", false, hasScan, sure((*optimizer).indexCount)},
	{"index_order", false, hasScan, sure((*optimizer).indexOrder)},
	{"index_bitmap", false, hasFilter, sure((*optimizer).indexBitmap)},
	{"index_access", false, hasScan, sure((*optimizer).indexAccess)},
	{"join_keys", true, hasJoin, sure((*optimizer).joinKeys)},
	{"semi_lookup", false, hasJoin, sure((*optimizer).semiLookup)},
	{"lookup_join", false, hasJoin, sure((*optimizer).lookupJoin)},
	{"build_side", false, hasJoin, sure((*optimizer).buildSide)},
}

// sure is a rule that cannot fail.
func sure(f func(*optimizer, Node) Node) func(*optimizer, Node) (Node, error) {
	return func(o *optimizer, n Node) (Node, error) { return f(o, n), nil }
}

func (o *optimizer) enabled(r *rule) bool { return r.required || o.wanted(r.name) }

// wanted reports a rule that is neither disabled nor off.
func (o *optimizer) wanted(name string) bool {
	return !o.opts.Off && !slices.Contains(o.opts.Disable, name)
}

// fired says that the running rule has changed the plan.
func (o *optimizer) fired() {
	if o.opts.Trace != nil {
		o.opts.Trace(o.rule)
	}
}

// newColumn defines a column that no node has yet.
func (o *optimizer) newColumn(name string, t sqltype.Type, nulls nullability) ColDef {
	c := ColDef{ID: o.next, Name: name, Type: t, NotNull: nulls == neverNull}
	o.next++
	return c
}

// nullability says whether a new column can be NULL.
type nullability uint8

const (
	mayBeNull nullability = iota
	neverNull
)

// look notes which traits a plan has. Subqueries count by what they hold: the
// rules meet it after decorrelate.
func (o *optimizer) look(n Node) {
	switch n := n.(type) {
	case *Filter:
		o.seen |= hasFilter
	case *Join:
		o.seen |= hasJoin
		if n.Dependent {
			o.seen |= hasSubquery
		}
	case *Limit, *TopN:
		o.seen |= hasLimit
	case *Scan, *FileScan:
		o.seen |= hasScan
	case *With:
		o.seen |= hasProjects
	case *Project:
		if _, ok := n.Input.(*Values); !ok {
			o.seen |= hasProjects
		}
	}
	eachExpr(n, func(e Expr) {
		if o.seen&hasSubquery != 0 {
			return
		}
		walkExpr(e, func(e Expr) bool {
			if _, ok := e.(*Subquery); ok {
				o.seen |= hasSubquery | hasJoin | hasFilter | hasProjects | hasLimit | hasScan
				return false
			}
			return true
		})
	})
	for _, in := range n.Inputs() {
		o.look(in)
	}
}
