package planner

import (
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// rowFunctions are the functions that give a row for each element of a list,
// and the function that makes this list of their arguments; "" when the
// arguments are lists themselves.
var rowFunctions = map[string]string{
	"unnest": "", "regexp_split_to_table": "regexp_split_to_array", "string_to_table": "string_to_array",
	"generate_subscripts": "generate_subscripts",
}

// unnestCall is a call of such a function in a select list: its column is made
// by a node above what the list is over.
type unnestCall struct {
	list Expr
	col  ColDef
	// after is how many calls are in nodes below, because list names them.
	after int
}

// lists are the lists that a call of a row function unnests.
func (b *binder) lists(s *scope, name, maker string, e *parser.Call) []Expr {
	args := b.exprs(s, e.Args)
	switch {
	case maker == "generate_subscripts":
		if len(args) != 2 {
			fail(sqltype.CodeUndefinedFunc, e.Pos, "%s takes a list and a dimension", name)
		}
		one := &Const{sqltype.NewInt64(1)}
		length := b.cast(b.function("array_length", args, e.Pos), sqltype.Int64, e.Pos)
		return []Expr{b.function("generate_series", []Expr{one, length, one}, e.Pos)}
	case maker != "":
		return []Expr{b.function(maker, args, e.Pos)}
	case len(args) == 0:
		fail(sqltype.CodeUndefinedFunc, e.Pos, "%s takes one list or more", name)
	}
	for i, a := range args {
		if c, ok := a.(*Const); ok && c.Value.Type.Kind == sqltype.KindNull {
			args[i] = &Const{sqltype.NullOf(sqltype.ListOf(sqltype.Int32))}
		}
		if t := args[i].Type(); t.Kind != sqltype.KindList {
			fail(sqltype.CodeUndefinedFunc, e.Args[i].Start(), "%s takes lists, not %s", name, t)
		}
	}
	return args
}

// unnestCall binds a row function in a select list.
func (b *binder) unnestCall(s *scope, name, maker string, e *parser.Call) Expr {
	if s.clause != inSelect && s.clause != inOrderBy && s.clause != inGroupBy || s.openAgg > 0 {
		fail(sqltype.CodeNotSupported, e.Pos, "%s is not allowed in %s", name, s.clause)
	}
	before := len(s.unnests)
	lists := b.lists(s, name, maker, e)
	if len(lists) != 1 {
		fail(sqltype.CodeNotSupported, e.Pos, "%s of several lists is allowed in FROM only", name)
	}
	return b.unnestedAfter(s, before, name, lists[0])
}

// unnested is the elements of a list in a select list, as a column that may be of one
// that was unnested before.
func (b *binder) unnested(s *scope, name string, list Expr) Expr {
	before := len(s.unnests)
	for i := range s.unnests {
		if exprCols(list).has(s.unnests[i].col.ID) {
			before = i
			break
		}
	}
	return b.unnestedAfter(s, before, name, list)
}

// unnestedAfter is the column of a list; before are the calls that it does not name.
func (b *binder) unnestedAfter(s *scope, before int, name string, list Expr) Expr {
	for i := range s.unnests {
		if equalExpr(s.unnests[i].list, list) {
			return colRef(s.unnests[i].col)
		}
	}
	u := unnestCall{list: list, col: b.column(name, list.Type().Elem(), mayBeNull)}
	if len(s.unnests) > before {
		u.after = len(s.unnests)
	}
	s.unnests = append(s.unnests, u)
	s.made = s.made.add(u.col.ID)
	return colRef(u.col)
}

// unnestNodes puts the select list's row functions above a plan.
func (s *selection) unnestNodes(node Node) Node {
	for i := 0; i < len(s.unnests); {
		n := &Unnest{Input: node}
		for first := i; i < len(s.unnests) && s.unnests[i].after <= first; i++ {
			n.Lists = append(n.Lists, s.unnests[i].list)
			n.Columns = append(n.Columns, s.unnests[i].col)
		}
		node = n
	}
	return node
}

// unnestTable is a row function in FROM.
func (b *binder) unnestTable(s *scope, t *parser.FuncTable, name, maker string) *fromItem {
	n := &Unnest{Input: &Values{Rows: [][]Expr{{}}}, Lists: b.lists(s, name, maker, t.Call)}
	for _, l := range n.Lists {
		n.Columns = append(n.Columns, b.column(name, l.Type().Elem(), mayBeNull))
	}
	item := b.named(&fromItem{node: n, star: starOf(n.Columns)}, name, t.Alias, t.Columns)
	// The alias of a function of one column is the column's name too.
	if t.Alias != nil && len(t.Columns) == 0 && len(n.Columns) == 1 {
		item.rels[0].cols[0].Name, item.star[0].col.Name = t.Alias.Name, t.Alias.Name
	}
	return item
}
