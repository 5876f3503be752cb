package planner

import (
	"regexp"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// spread is COLUMNS(...) in an item of the select list, or in WHERE, which is
// bound once for each of the columns:
//
//	min(COLUMNS(*)) + 1   ─▶   min(a) + 1, min(b) + 1
type spread struct {
	cols []starColumn
	at   int
}

// next goes on to the next column; false when there is none.
func (s *spread) next() bool {
	if s == nil || s.at+1 == len(s.cols) {
		return false
	}
	s.at++
	return true
}

// columns binds COLUMNS(...): the column whose turn it is.
func (b *binder) columns(s *scope, e *parser.Call) Expr {
	if s.clause != inSelect && s.clause != inWhere {
		fail(sqltype.CodeSyntax, e.Pos, "COLUMNS is not allowed in %s", s.clause)
	}
	cols := b.chosen(s, e)
	switch {
	case len(cols) == 0:
		fail(sqltype.CodeUndefinedColumn, e.Pos, "COLUMNS finds no column")
	case s.spread == nil:
		s.spread = &spread{cols: cols}
	case len(cols) != len(s.spread.cols):
		fail(sqltype.CodeSyntax, e.Pos, "COLUMNS in one expression finds %d columns and %d", len(s.spread.cols), len(cols))
	}
	x := cols[s.spread.at].value()
	s.use(x, e.Pos)
	return x
}

// chosen is the columns that COLUMNS asks for: by a star, a regular expression, a
// list of names, or a condition on the name.
func (b *binder) chosen(s *scope, e *parser.Call) []starColumn {
	if e.Star {
		return s.starColumns(b, &parser.Star{Pos: e.Pos})
	}
	if len(e.Args) != 1 {
		fail(sqltype.CodeSyntax, e.Pos, "COLUMNS takes one argument")
	}
	if params, cond, ok := lambda(e.Args[0]); ok && len(params) == 1 {
		return b.withNames(s.starColumns(b, &parser.Star{Pos: e.Pos}), params[0].Name, cond)
	}
	switch arg := e.Args[0].(type) {
	case *parser.Star:
		return s.starColumns(b, arg)
	case *parser.Literal:
		if arg.Value.Null || arg.Value.Type.Kind != sqltype.KindVarchar {
			break
		}
		re, err := regexp.Compile(arg.Value.S)
		if err != nil {
			fail("2201B", arg.Pos, "%q is no regular expression", arg.Value.S)
		}
		var out []starColumn
		for _, c := range s.star {
			if re.MatchString(c.col.Name) {
				out = append(out, c)
			}
		}
		return out
	case *parser.Array:
		var out []starColumn
		for _, x := range arg.Exprs {
			name := parser.Ident{Name: b.constant(x, sqltype.Varchar).S, Pos: x.Start()}
			i := pick(name, len(s.star), func(i int) string { return s.star[i].col.Name }, "")
			if i < 0 {
				s.failColumn([]parser.Ident{name})
			}
			out = append(out, s.star[i])
		}
		return out
	}
	fail(sqltype.CodeSyntax, e.Pos, "COLUMNS takes *, a pattern, a list of names or a lambda")
	return nil
}

// withNames keeps the columns whose name meets a condition on the parameter.
func (b *binder) withNames(cols []starColumn, param string, cond parser.Expr) []starColumn {
	if b.opts.Fold == nil {
		fail(sqltype.CodeNotSupported, cond.Start(), "a condition on names cannot be computed here")
	}
	var out []starColumn
	for _, c := range cols {
		name := boundParam{name: param, value: &Const{sqltype.NewString(c.col.Name)}}
		s := &scope{clause: inValues, params: []boundParam{name}}
		keep, err := b.opts.Fold(b.condition(s, cond))
		if err != nil {
			failWith(err, cond.Start())
		}
		if !keep.Null && keep.I != 0 {
			out = append(out, c)
		}
	}
	return out
}
