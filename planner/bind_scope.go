package planner

import (
	"slices"
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// scope is where the names of one SELECT (or of one data change) are found:
// its FROM, then the queries around it.
type scope struct {
	parent  *scope
	partial bool // of one SELECT with its parent: FROM as far as it has been bound
	ctes    *cte // innermost first
	rels    []*relation
	star    []starColumn // the columns as * and unqualified names see them
	// lo and hi bound the columns that FROM made; made are those of the
	// aggregates, groups and window functions of this SELECT.
	lo, hi ColumnID
	made   colSet
	clause clause
	// items are the select list, which a name that FROM does not have may mean
	// in the clauses that come after it.
	items     []outItem
	aliased   []parser.SelectItem // the select list as written, whose aliases WHERE may name
	spread    *spread             // of the expression that is being bound
	aggs      []Agg
	grouped   bool // grouping() was called
	windows   []windowCall
	unnests   []unnestCall
	named     []parser.NamedWindow // WINDOW
	groupCols colSet               // the columns that are groups
	// groupTexts has the groups by their texts, see there.
	groupTexts map[string]Expr
	openAgg    int          // aggregates whose arguments are being bound
	uses       []usage      // where columns of FROM are named, for errors
	params     []boundParam // of the function whose body this is of
	// mergeAction is what merge_action() gives in RETURNING of a MERGE.
	mergeAction *ColDef
}

// usage is a place where a column is named outside aggregates.
type usage struct {
	id  ColumnID
	pos parser.Pos
}

// relation is an entry of FROM with a name.
type relation struct {
	schema, name string
	table        *catalog.Table // nil: not a base table
	cols         []ColDef       // as * of the relation, in a base table's order; named by the column aliases
}

// starColumn is a column of FROM. A column that USING merged from two may be
// an expression of both.
type starColumn struct {
	col  ColDef
	expr Expr // nil: the column itself
	rel  *relation
}

func (c *starColumn) value() Expr {
	if c.expr != nil {
		return c.expr
	}
	return colRef(c.col)
}

// clause is the part of a statement that is being bound. It decides whether
// aggregates and window functions may stand there.
type clause uint8

const (
	inSelect clause = iota
	inOrderBy
	inHaving
	inQualify
	inWhere
	inJoin
	inFrom
	inGroupBy
	inValues
	inLimit
	inSetOrder
	inSet
	inReturning
	inDefault
	inCheck
	inGenerated
	inMerge
)

var clauseNames = [...]string{"SELECT", "ORDER BY", "HAVING", "QUALIFY", "WHERE", "JOIN conditions",
	"functions in FROM", "GROUP BY", "VALUES", "LIMIT", "ORDER BY of a set operation", "UPDATE", "RETURNING", "DEFAULT expressions", "CHECK constraints",
	"column generation expressions", "MERGE"}

func (c clause) String() string { return clauseNames[c] }

func (c clause) takesAggregates() bool { return c <= inQualify }
func (c clause) takesWindows() bool    { return c <= inOrderBy || c == inQualify }
func (c clause) seesAliases() bool     { return c == inOrderBy || c == inQualify || c == inSelect }

// owns reports that a column is of this SELECT and not of one around it.
func (s *scope) owns(id ColumnID) bool {
	return id >= s.lo && id < s.hi || s.made.has(id)
}

// within is s with FROM as far as it has been bound, for LATERAL.
func (s *scope) within(left *fromItem) *scope {
	return &scope{partial: true, parent: s, ctes: s.ctes, rels: left.rels, star: left.star, lo: s.lo, hi: 1 << 30, clause: inFrom}
}

// ---- look-up ----

// columnRef finds what a name means.
func (b *binder) columnRef(s *scope, ref *parser.ColumnRef) Expr {
	parts := ref.Name.Parts
	for at := s; at != nil; at = at.parent {
		if at.params != nil && len(parts) == 1 {
			if e, ok := b.paramOf(at, parts[0]); ok {
				return e
			}
		}
		e, ok := at.find(parts)
		if !ok {
			continue
		}
		if at.clause == inHaving && len(parts) == 1 && at.ungrouped(e) {
			if x := at.listed(parts[0]); x != nil {
				return x
			}
		}
		at.use(e, parts[0].Pos)
		return e
	}
	if len(parts) == 1 {
		for at := s; at != nil; at = at.parent {
			if at.clause == inWhere {
				if e, ok := b.aliased(at, parts[0]); ok {
					return e
				}
			}
			if !at.clause.seesAliases() || at.openAgg > 0 {
				continue
			}
			if e := at.listed(parts[0]); e != nil {
				return e
			}
		}
	}
	if len(parts) == 1 && !parts[0].Quoted && (parts[0].Name == "current_schema" || parts[0].Name == "current_catalog") {
		return b.sessionValue(parts[0].Name) // written without parentheses
	}
	if e, ok := b.fieldRef(s, parts); ok {
		return e
	}
	if len(parts) == 1 {
		for at := s; at != nil; at = at.parent {
			if rel := at.relation(parts); rel != nil {
				return b.wholeRow(at, rel, parts[0].Pos)
			}
		}
	}
	s.failColumn(parts)
	return nil
}

// aliased binds what an alias of the select list stands for, in WHERE, which comes
// before the list.
func (b *binder) aliased(s *scope, name parser.Ident) (Expr, bool) {
	i := slices.IndexFunc(s.aliased, func(it parser.SelectItem) bool { return it.Alias != nil && sameName(it.Alias.Name, name.Name) })
	if i < 0 {
		return nil, false
	}
	all := s.aliased
	s.aliased = all[:i] // so that no alias means itself
	defer func() { s.aliased = all }()
	return b.expr(s, all[i].Expr), true
}

// fieldRef is a name whose last parts are fields of a column: s.a, t.s.a.
func (b *binder) fieldRef(s *scope, parts []parser.Ident) (Expr, bool) {
	for n := len(parts) - 1; n > 0; n-- {
		for at := s; at != nil; at = at.parent {
			e, ok := at.find(parts[:n])
			if !ok || e.Type().Kind != sqltype.KindStruct {
				continue
			}
			at.use(e, parts[0].Pos)
			for _, f := range parts[n:] {
				if e.Type().Kind != sqltype.KindStruct {
					fail(sqltype.CodeUndefinedColumn, f.Pos, "a value of type %s has no field %q", e.Type(), f.Name)
				}
				e = b.field(e, &Const{sqltype.NewString(f.Name)}, f.Pos)
			}
			return e, true
		}
	}
	return nil, false
}

// ungrouped reports a column that HAVING cannot mean: it is in no group.
func (s *scope) ungrouped(e Expr) bool {
	c, ok := e.(*Col)
	return ok && s.openAgg == 0 && !s.groupCols.has(c.ID)
}

func (s *scope) use(e Expr, at parser.Pos) {
	if c, ok := e.(*Col); ok && s.openAgg == 0 && s.clause <= inQualify {
		s.uses = append(s.uses, usage{c.ID, at})
	}
}

// find looks in this scope only.
func (s *scope) find(parts []parser.Ident) (Expr, bool) {
	switch len(parts) {
	case 1:
		return s.unqualified(parts[0])
	case 2, 3:
		rel := s.relation(parts[:len(parts)-1])
		if rel == nil {
			return nil, false
		}
		name := parts[len(parts)-1]
		i := rel.find(name)
		if i < 0 {
			failHint(didYouMean(name.Name, rel.names()), sqltype.CodeUndefinedColumn, name.Pos,
				"column %q of %q does not exist", name.Name, rel.name)
		}
		return colRef(rel.cols[i]), true
	}
	fail(sqltype.CodeSyntax, parts[0].Pos, "a name with %d parts is not a column", len(parts))
	return nil, false
}

func (s *scope) unqualified(name parser.Ident) (Expr, bool) {
	i := pick(name, len(s.star), func(i int) string { return s.star[i].col.Name }, "")
	if i >= 0 {
		return s.star[i].value(), true
	}
	for _, rel := range s.rels { // what * leaves out
		if i := rel.find(name); i >= 0 {
			return colRef(rel.cols[i]), true
		}
	}
	return nil, false
}

// pick is the one of n columns that a name means, or -1. Of several whose names
// differ in case only, it is the one that is spelt alike. Where is added to the
// error of an ambiguous name.
func pick(name parser.Ident, n int, at func(int) string, where string) int {
	found, exact, several := -1, false, false
	for i := range n {
		c := at(i)
		if !sameName(c, name.Name) {
			continue
		}
		switch same := c == name.Name; {
		case found < 0 || same && !exact:
			found, exact, several = i, same, false
		case same == exact:
			several = true
		}
	}
	if several {
		fail(sqltype.CodeAmbiguousColumn, name.Pos, "column reference %q is ambiguous%s", name.Name, where)
	}
	return found
}

// listed is what a name of the select list stands for; nil if none has it.
func (s *scope) listed(name parser.Ident) Expr {
	var found Expr
	for i := range s.items {
		if !sameName(s.items[i].name, name.Name) {
			continue
		}
		if found != nil && !equalExpr(found, s.items[i].expr) {
			fail(sqltype.CodeAmbiguousColumn, name.Pos, "%q is ambiguous: several columns of the select list have that name", name.Name)
		}
		found = s.items[i].expr
	}
	return found
}

// relation finds an entry of FROM by name or schema and name.
func (s *scope) relation(parts []parser.Ident) *relation {
	name := parts[len(parts)-1].Name
	for _, r := range s.rels {
		if sameName(r.name, name) && (len(parts) == 1 || sameName(r.schema, catalog.SchemaName(parts[0].Name))) {
			return r
		}
	}
	return nil
}

func (r *relation) find(name parser.Ident) int {
	return pick(name, len(r.cols), func(i int) string { return r.cols[i].Name }, "")
}

func (r *relation) names() []string {
	names := make([]string, len(r.cols))
	for i := range r.cols {
		names[i] = r.cols[i].Name
	}
	return names
}

// sameName is equality with case folded. Most names are equal as they are.
func sameName(a, b string) bool {
	return len(a) == len(b) && (a == b || strings.EqualFold(a, b))
}

// failColumn says what is wrong with a name that is nowhere.
func (s *scope) failColumn(parts []parser.Ident) {
	last := parts[len(parts)-1]
	var names []string
	for at := s; at != nil; at = at.parent {
		if len(parts) == 1 {
			for i := range at.star {
				names = append(names, at.star[i].col.Name)
			}
			continue
		}
		for _, r := range at.rels {
			names = append(names, r.name)
		}
	}
	if len(parts) == 1 {
		failHint(didYouMean(last.Name, names), sqltype.CodeUndefinedColumn, last.Pos, "column %q does not exist", last.Name)
	}
	table := parts[len(parts)-2]
	failHint(didYouMean(table.Name, names), sqltype.CodeUndefinedTable, parts[0].Pos,
		"missing FROM-clause entry for table %q", table.Name)
}
