package mysql

import (
	"fmt"
	"strings"

	"github.com/xwb1989/sqlparser"

	"github.com/gpusql/gpusql/parser"
)

// call converts what is a function here.
func (c *converter) call(e sqlparser.Expr) parser.Expr {
	switch e := e.(type) {
	case *sqlparser.FuncExpr:
		return c.function(e)
	case *sqlparser.GroupConcatExpr:
		return c.groupConcat(e)
	case *sqlparser.SubstrExpr:
		out := call("substring", columnName(e.Name), c.value(e.From))
		if e.To != nil {
			out.Args = append(out.Args, c.value(e.To))
		}
		return out
	case *sqlparser.CollateExpr:
		return call("collate", c.value(e.Expr), stringConstant(strings.ToLower(e.Charset)))
	case *sqlparser.ConvertUsingExpr:
		if t := strings.ToLower(e.Type); t != "utf8" && t != "utf8mb4" {
			panic(refuse("CONVERT USING %s", e.Type))
		}
		return c.value(e.Expr) // all text is UTF-8
	case *sqlparser.ValuesFuncExpr:
		// VALUES(column) of ON DUPLICATE KEY UPDATE is the row that was refused.
		parts := []parser.Ident{ident("excluded"), ident(e.Name.Name.String())}
		return &parser.ColumnRef{Name: parser.Name{Parts: parts}}
	case *sqlparser.MatchExpr:
		panic(refuse("MATCH"))
	case sqlparser.ListArg:
		panic(refuse("a list as one parameter"))
	}
	panic(fmt.Sprintf("mysql: no expression for %T", e))
}

// function converts a call by name.
func (c *converter) function(e *sqlparser.FuncExpr) parser.Expr {
	name := e.Name.Lowered()
	if !e.Qualifier.IsEmpty() {
		panic(refuse("function %s.%s", e.Qualifier.String(), name))
	}
	if name == "if" && len(e.Exprs) == 3 {
		return c.ifCall(e.Exprs)
	}
	out := call(name)
	out.Distinct = e.Distinct
	for _, a := range e.Exprs {
		switch a := a.(type) {
		case *sqlparser.StarExpr:
			out.Star = true
		case *sqlparser.AliasedExpr:
			if !a.As.IsEmpty() {
				panic(refuse("an alias in the arguments of %s", name))
			}
			out.Args = append(out.Args, c.value(a.Expr))
		default:
			panic(refuse("this argument of %s", name))
		}
	}
	if name == "ifnull" {
		out.Name.Parts[0].Name = "coalesce"
	}
	return out
}

// ifCall converts IF(condition, then, else).
func (c *converter) ifCall(args sqlparser.SelectExprs) parser.Expr {
	var list [3]sqlparser.Expr
	for i, a := range args {
		e, ok := a.(*sqlparser.AliasedExpr)
		if !ok {
			panic(refuse("this argument of IF"))
		}
		list[i] = e.Expr
	}
	when := parser.When{Cond: c.condition(list[0]), Then: c.value(list[1])}
	return &parser.Case{Whens: []parser.When{when}, Else: c.value(list[2])}
}

// groupConcat converts GROUP_CONCAT to string_agg.
func (c *converter) groupConcat(e *sqlparser.GroupConcatExpr) parser.Expr {
	if len(e.Exprs) != 1 {
		panic(refuse("GROUP_CONCAT of several expressions"))
	}
	a, ok := e.Exprs[0].(*sqlparser.AliasedExpr)
	if !ok {
		panic(refuse("GROUP_CONCAT of *"))
	}
	// sqlparser keeps the clause as written: " separator 'x'".
	separator := ","
	if s := strings.TrimPrefix(strings.TrimSpace(e.Separator), "separator "); s != "" {
		separator = strings.Trim(s, "'")
	}
	out := call("string_agg", c.value(a.Expr), stringConstant(separator))
	out.Distinct = e.Distinct != ""
	out.OrderBy = c.orderBy(e.OrderBy)
	return out
}
