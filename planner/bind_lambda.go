package planner

import (
	"strings"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// listArgument names the list of such a call in the query over its elements: it
// is bound where the call is, and may hold what may not stand in a FROM.
const listArgument = "\x00list"

// perElement binds what is computed over the elements of a list as a query over
// them, which becomes a join as every subquery does:
//
//	list_transform(l, x -> f)        ARRAY(SELECT f FROM unnest(l) AS u(x)); with (x, i) -> WITH ORDINALITY
//	list_filter(l, x -> c)           ARRAY(SELECT x FROM unnest(l) AS u(x) WHERE c)
//	list_sum(l), list_aggregate(l, 'sum')  (SELECT sum(x) FROM unnest(l) AS u(x))
func (b *binder) perElement(s *scope, name string, e *parser.Call) (Expr, bool) {
	if len(e.Args) == 0 {
		return nil, false
	}
	x := parser.Ident{Name: "element", Pos: e.Pos}
	var place []parser.Ident // the name of the element's place, if it is asked for
	sel := &parser.Select{Pos: e.Pos}
	item := func(v parser.Expr) { sel.Items = []parser.SelectItem{{Expr: v}} }
	element := func() parser.Expr { return &parser.ColumnRef{Name: parser.Name{Parts: []parser.Ident{x}}} }
	listed := true
	switch name {
	case "list_transform", "array_transform", "list_apply", "array_apply":
		params, body, ok := lambda(e.Args[len(e.Args)-1])
		if !ok || len(e.Args) != 2 {
			return nil, false
		}
		x, place = params[0], params[1:]
		item(body)
	case "list_filter", "array_filter":
		params, body, ok := lambda(e.Args[len(e.Args)-1])
		if !ok || len(e.Args) != 2 {
			return nil, false
		}
		x, place = params[0], params[1:]
		item(element())
		sel.Where = body
	default:
		aggregate, ok := elementAggregate(name, e)
		if !ok {
			return nil, false
		}
		listed = false
		args := []parser.Expr{element()}
		if len(e.Args) > 2 { // what the aggregate takes beside the element
			args = append(args, e.Args[2:]...)
		}
		item(&parser.Call{Name: parser.Name{Parts: []parser.Ident{{Name: aggregate, Pos: e.Pos}}}, Args: args, Pos: e.Pos})
	}
	list := b.value(s, e.Args[0])
	s = &scope{partial: true, parent: s, ctes: s.ctes, clause: s.clause, params: []boundParam{{name: listArgument, value: list}}}
	argument := &parser.ColumnRef{Name: parser.Name{Parts: []parser.Ident{{Name: listArgument, Quoted: true, Pos: e.Args[0].Start()}}}}
	unnest := &parser.Call{Name: parser.Name{Parts: []parser.Ident{{Name: "unnest", Pos: e.Pos}}}, Args: []parser.Expr{argument}, Pos: e.Pos}
	sel.From = []parser.TableExpr{&parser.FuncTable{Call: unnest, Alias: &parser.Ident{Name: "u"},
		Columns: append([]parser.Ident{x}, place...), Ordinality: len(place) > 0, Pos: e.Pos}}
	query := &parser.Subquery{Query: &parser.Query{Body: sel}, Pos: e.Pos}
	if !listed {
		return b.expr(s, query), true
	}
	out := b.arrayOf(s, query)
	return &Case{Whens: []When{{&IsNull{list}, &Const{sqltype.NullOf(out.Type())}}}, Else: out, T: out.Type()}, true
}

// elementAggregate is the aggregate that a call applies to a list's elements.
func elementAggregate(name string, e *parser.Call) (string, bool) {
	switch name {
	case "list_aggregate", "list_aggr", "array_aggregate", "array_aggr":
		if len(e.Args) >= 2 {
			if which, ok := e.Args[1].(*parser.Literal); ok {
				return strings.ToLower(which.Value.S), catalog.IsAggregate(which.Value.S)
			}
		}
		return "", false
	}
	aggregate, ok := strings.CutPrefix(name, "list_")
	return aggregate, ok && len(e.Args) == 1 && !catalog.IsScalar(name) && catalog.IsAggregate(aggregate)
}

// lambda is x -> body, or (x, i) -> body with the element's place. The arrow binds
// tighter than comparisons do, so that it may stand at the far left of the body.
func lambda(e parser.Expr) (params []parser.Ident, body parser.Expr, ok bool) {
	if bin, isBinary := e.(*parser.Binary); isBinary && bin.Op == "->" {
		return arrow(bin)
	}
	body, left := leftOperand(e)
	if left == nil {
		return nil, nil, false
	}
	params, *left, ok = lambda(*left)
	return params, body, ok
}

// leftOperand is a copy of an operator and the place of its left operand there;
// nil for what begins with none.
func leftOperand(e parser.Expr) (parser.Expr, *parser.Expr) {
	switch e := e.(type) {
	case *parser.Binary:
		c := *e
		return &c, &c.L
	case *parser.Like:
		c := *e
		return &c, &c.X
	case *parser.In:
		c := *e
		return &c, &c.X
	case *parser.Between:
		c := *e
		return &c, &c.X
	case *parser.IsExpr:
		c := *e
		return &c, &c.X
	case *parser.IsDistinct:
		c := *e
		return &c, &c.L
	}
	return nil, nil
}

// arrow is the parameters and the right side of ->.
func arrow(e *parser.Binary) (params []parser.Ident, body parser.Expr, ok bool) {
	names := []parser.Expr{e.L}
	if row, ok := e.L.(*parser.Row); ok && len(row.Exprs) == 2 {
		names = row.Exprs
	}
	for _, name := range names {
		ref, ok := name.(*parser.ColumnRef)
		if !ok || len(ref.Name.Parts) != 1 {
			return nil, nil, false
		}
		params = append(params, ref.Name.Parts[0])
	}
	return params, e.R, true
}
