package mysql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/xwb1989/sqlparser"

	"github.com/gpusql/gpusql/parser"
	"github.com/gpusql/gpusql/sqltype"
)

// maxDepth bounds the depth of a tree: a chain of operators leans as deep as
// it is long.
const maxDepth = 200_000

func (c *converter) enter() {
	if c.depth++; c.depth > maxDepth {
		panic(refusal{sqltype.Errorf(sqltype.CodeTooComplex, "statement nests deeper than %d levels", maxDepth)})
	}
}

func (c *converter) leave() { c.depth-- }

// The types that the converter writes itself.
var (
	bigint   = parser.TypeName{Type: sqltype.Int64, Text: "bigint"}
	unsigned = parser.TypeName{Type: sqltype.Uint64, Text: "ubigint"}
	double   = parser.TypeName{Type: sqltype.Float64, Text: "double"}
	varchar  = parser.TypeName{Type: sqltype.Varchar, Text: "varchar"}
	blob     = parser.TypeName{Type: sqltype.Blob, Text: "blob"}
	interval = parser.TypeName{Type: sqltype.Interval, Text: "interval"}
)

// isTruth reports an expression whose value is true or false here, and 1 or 0
// in MySQL.
func isTruth(e sqlparser.Expr) bool {
	switch e := e.(type) {
	case *sqlparser.ParenExpr:
		return isTruth(e.Expr)
	case *sqlparser.AndExpr, *sqlparser.OrExpr, *sqlparser.NotExpr, *sqlparser.RangeCond, *sqlparser.IsExpr,
		*sqlparser.ExistsExpr:
		return true
	case *sqlparser.ComparisonExpr:
		return e.Operator != sqlparser.JSONExtractOp && e.Operator != sqlparser.JSONUnquoteExtractOp
	case *sqlparser.UnaryExpr:
		return e.Operator == sqlparser.BangStr
	}
	return false
}

// condition converts an expression where a truth value is wanted.
func (c *converter) condition(e sqlparser.Expr) parser.Expr {
	c.enter()
	defer c.leave()
	switch e := e.(type) {
	case *sqlparser.ParenExpr:
		return c.condition(e.Expr)
	case *sqlparser.AndExpr:
		return &parser.Binary{Op: "AND", L: c.condition(e.Left), R: c.condition(e.Right)}
	case *sqlparser.OrExpr:
		return &parser.Binary{Op: "OR", L: c.condition(e.Left), R: c.condition(e.Right)}
	case *sqlparser.NotExpr:
		return &parser.Unary{Op: "NOT", X: c.condition(e.Expr)}
	case *sqlparser.ComparisonExpr:
		return c.comparison(e)
	case *sqlparser.RangeCond:
		return &parser.Between{X: c.value(e.Left), Lo: c.value(e.From), Hi: c.value(e.To),
			Not: e.Operator == sqlparser.NotBetweenStr}
	case *sqlparser.IsExpr:
		return c.is(e)
	case *sqlparser.ExistsExpr:
		return &parser.Exists{Query: c.query(e.Subquery.Select)}
	case *sqlparser.UnaryExpr:
		if e.Operator == sqlparser.BangStr {
			return &parser.Unary{Op: "NOT", X: c.condition(e.Expr)}
		}
	}
	return c.value(e)
}

func (c *converter) is(e *sqlparser.IsExpr) parser.Expr {
	out := &parser.IsExpr{}
	what := strings.ToUpper(strings.TrimPrefix(e.Operator, "is "))
	out.What, out.Not = strings.TrimPrefix(what, "NOT "), strings.HasPrefix(what, "NOT ")
	if out.What == "NULL" {
		out.X = c.value(e.Expr)
	} else {
		out.X = c.condition(e.Expr)
	}
	return out
}

func (c *converter) comparison(e *sqlparser.ComparisonExpr) parser.Expr {
	switch e.Operator {
	case sqlparser.InStr, sqlparser.NotInStr:
		return c.in(e)
	}
	l, r := c.value(e.Left), c.value(e.Right)
	switch e.Operator {
	case sqlparser.EqualStr, sqlparser.LessThanStr, sqlparser.GreaterThanStr, sqlparser.LessEqualStr,
		sqlparser.GreaterEqualStr, sqlparser.JSONExtractOp, sqlparser.JSONUnquoteExtractOp:
		return &parser.Binary{Op: e.Operator, L: l, R: r}
	case sqlparser.NotEqualStr:
		return &parser.Binary{Op: "<>", L: l, R: r}
	case sqlparser.NullSafeEqualStr:
		return &parser.IsDistinct{L: l, R: r, Not: true}
	case sqlparser.RegexpStr:
		return &parser.Binary{Op: "~", L: l, R: r}
	case sqlparser.NotRegexpStr:
		return &parser.Binary{Op: "!~", L: l, R: r}
	case sqlparser.LikeStr, sqlparser.NotLikeStr:
		like := &parser.Like{Op: "LIKE", X: l, Pattern: r, Not: e.Operator == sqlparser.NotLikeStr}
		if e.Escape != nil {
			like.Esc = c.value(e.Escape)
		}
		return like
	}
	panic(refuse("operator %s", e.Operator))
}

func (c *converter) in(e *sqlparser.ComparisonExpr) parser.Expr {
	in := &parser.In{X: c.value(e.Left), Not: e.Operator == sqlparser.NotInStr}
	switch r := e.Right.(type) {
	case *sqlparser.Subquery:
		in.Query = c.query(r.Select)
	case sqlparser.ValTuple:
		in.List = c.values(sqlparser.Exprs(r))
	default:
		panic(refuse("a list as one parameter of IN"))
	}
	return in
}

func (c *converter) values(list sqlparser.Exprs) []parser.Expr {
	out := make([]parser.Expr, len(list))
	for i, e := range list {
		out[i] = c.value(e)
	}
	return out
}

// value converts an expression where a value is wanted: a truth value becomes
// 1, 0 or NULL.
func (c *converter) value(e sqlparser.Expr) parser.Expr {
	c.enter()
	defer c.leave()
	if isTruth(e) {
		return &parser.Cast{X: c.condition(e), Type: bigint}
	}
	switch e := e.(type) {
	case *sqlparser.ParenExpr:
		return c.value(e.Expr)
	case *sqlparser.SQLVal:
		return c.constant(e)
	case *sqlparser.NullVal:
		return constant("NULL")
	case sqlparser.BoolVal:
		return constant(map[sqlparser.BoolVal]string{true: "1", false: "0"}[e])
	case *sqlparser.ColName:
		return columnName(e)
	case sqlparser.ValTuple:
		return &parser.Row{Exprs: c.values(sqlparser.Exprs(e))}
	case *sqlparser.Subquery:
		return &parser.Subquery{Query: c.query(e.Select)}
	case *sqlparser.ComparisonExpr:
		return c.comparison(e)
	case *sqlparser.BinaryExpr:
		return c.binary(e)
	case *sqlparser.UnaryExpr:
		return c.unary(e)
	case *sqlparser.IntervalExpr:
		return c.interval(e)
	case *sqlparser.CaseExpr:
		return c.caseExpr(e)
	case *sqlparser.ConvertExpr:
		return c.cast(e)
	case *sqlparser.Default:
		if e.ColName != "" {
			panic(refuse("DEFAULT(column)"))
		}
		return &parser.Default{}
	}
	return c.call(e)
}

// columnName is a column with its table and schema, where they are given.
func columnName(e *sqlparser.ColName) parser.Expr {
	var n parser.Name
	if !e.Qualifier.IsEmpty() {
		n = tableName(e.Qualifier)
	}
	n.Parts = append(n.Parts, ident(e.Name.String()))
	return &parser.ColumnRef{Name: n}
}

// constant reads a constant in our own way, with our own types.
func constant(text string) parser.Expr {
	e, err := parser.ParseExpr(text)
	if err != nil {
		panic(refuse("the constant %s", text))
	}
	return e
}

func stringConstant(s string) parser.Expr {
	return &parser.Literal{Value: sqltype.NewString(s), Untyped: true, Text: s}
}

func (c *converter) constant(v *sqlparser.SQLVal) parser.Expr {
	text := string(v.Val)
	switch v.Type {
	case sqlparser.StrVal:
		return stringConstant(text)
	case sqlparser.IntVal, sqlparser.FloatVal, sqlparser.HexNum:
		return constant(text)
	case sqlparser.HexVal:
		return constant("x'" + text + "'")
	case sqlparser.ValArg:
		n, err := strconv.Atoi(strings.TrimPrefix(text, ":v"))
		if err != nil {
			panic(refuse("the parameter %s", text))
		}
		c.params = max(c.params, n)
		return &parser.ParamRef{Index: n}
	}
	panic(refuse("the bit string %s", text))
}

func (c *converter) binary(e *sqlparser.BinaryExpr) parser.Expr {
	l, r := c.value(e.Left), c.value(e.Right)
	switch e.Operator {
	case sqlparser.PlusStr, sqlparser.MinusStr, sqlparser.MultStr, sqlparser.BitAndStr, sqlparser.BitOrStr,
		sqlparser.ShiftLeftStr, sqlparser.ShiftRightStr, sqlparser.JSONExtractOp, sqlparser.JSONUnquoteExtractOp:
		return &parser.Binary{Op: e.Operator, L: l, R: r}
	case sqlparser.BitXorStr:
		return &parser.Binary{Op: "#", L: l, R: r}
	case sqlparser.DivStr:
		return &parser.Binary{Op: "/", L: &parser.Cast{X: l, Type: double}, R: divisor(r)}
	case sqlparser.IntDivStr:
		return &parser.Binary{Op: "//", L: l, R: divisor(r)}
	case sqlparser.ModStr:
		return &parser.Binary{Op: "%", L: l, R: divisor(r)}
	}
	panic(refuse("operator %s", e.Operator))
}

// divisor makes a division by zero NULL, as MySQL's SELECT has it.
func divisor(e parser.Expr) parser.Expr {
	x := e
	if u, ok := x.(*parser.Unary); ok {
		x = u.X
	}
	if l, ok := x.(*parser.Literal); ok && l.Value.Type.Kind.IsInteger() && l.Value.I != 0 {
		return e
	}
	return call("nullif", e, constant("0"))
}

func call(name string, args ...parser.Expr) *parser.Call {
	return &parser.Call{Name: parser.Name{Parts: []parser.Ident{{Name: name}}}, Args: args}
}

func (c *converter) unary(e *sqlparser.UnaryExpr) parser.Expr {
	switch e.Operator {
	case sqlparser.UPlusStr, sqlparser.UMinusStr, sqlparser.TildaStr:
		return &parser.Unary{Op: e.Operator, X: c.value(e.Expr)}
	}
	panic(refuse("%s", strings.ToUpper(strings.TrimSpace(e.Operator))))
}

func (c *converter) interval(e *sqlparser.IntervalExpr) parser.Expr {
	unit := strings.ToLower(e.Unit)
	if strings.Contains(unit, "_") {
		panic(refuse("INTERVAL of %s", strings.ToUpper(unit)))
	}
	if v, ok := e.Expr.(*sqlparser.SQLVal); ok && v.Type != sqlparser.ValArg {
		return &parser.Cast{X: stringConstant(string(v.Val) + " " + unit), Type: interval}
	}
	one := &parser.Cast{X: stringConstant("1 " + unit), Type: interval}
	return &parser.Binary{Op: "*", L: c.value(e.Expr), R: one}
}

func (c *converter) caseExpr(e *sqlparser.CaseExpr) parser.Expr {
	out := &parser.Case{}
	if e.Expr != nil {
		out.Operand = c.value(e.Expr)
	}
	for _, w := range e.Whens {
		cond := c.condition
		if out.Operand != nil {
			cond = c.value
		}
		out.Whens = append(out.Whens, parser.When{Cond: cond(w.Cond), Then: c.value(w.Val)})
	}
	if e.Else != nil {
		out.Else = c.value(e.Else)
	}
	return out
}

// cast converts CAST and CONVERT.
func (c *converter) cast(e *sqlparser.ConvertExpr) parser.Expr {
	x := c.value(e.Expr)
	to := func(t parser.TypeName) *parser.Cast { return &parser.Cast{X: x, Type: t} }
	switch name := strings.ToLower(e.Type.Type); name {
	case "signed":
		return to(bigint)
	case "unsigned":
		return to(unsigned)
	case "char", "nchar":
		if e.Type.Length != nil { // it cuts, which our VARCHAR(n) does not
			return call("left", to(varchar), c.constant(e.Type.Length))
		}
		return to(varchar)
	case "binary":
		if e.Type.Length == nil {
			return to(blob)
		}
	case "date", "time", "datetime":
		t, _ := sqltype.TypeByName(name, nil)
		return to(parser.TypeName{Type: t, Text: name})
	case "decimal":
		return to(decimal(e.Type))
	}
	panic(refuse("CAST AS %s", strings.ToUpper(e.Type.Type)))
}

// decimal is DECIMAL, (10,0) where nothing is said.
func decimal(t *sqlparser.ConvertType) parser.TypeName {
	mods := []int{10, 0}
	for i, v := range []*sqlparser.SQLVal{t.Length, t.Scale} {
		if v != nil {
			mods[i], _ = strconv.Atoi(string(v.Val))
		}
	}
	typ, ok := sqltype.TypeByName("decimal", mods)
	if !ok {
		panic(refuse("DECIMAL(%d,%d)", mods[0], mods[1]))
	}
	return parser.TypeName{Type: typ, Text: fmt.Sprintf("decimal(%d,%d)", mods[0], mods[1])}
}
