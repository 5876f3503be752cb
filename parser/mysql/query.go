package mysql

import (
	"fmt"
	"strings"

	"github.com/xwb1989/sqlparser"

	"github.com/gpusql/gpusql/parser"
)

// converter turns sqlparser's tree of one statement into ours. Its methods
// panic with a refusal for what our tree cannot say.
type converter struct {
	params int
	depth  int
}

// statement converts a query or a data change.
func (c *converter) statement(s sqlparser.Statement) parser.Statement {
	switch s := s.(type) {
	case sqlparser.SelectStatement:
		return c.query(s)
	case *sqlparser.Insert:
		return c.insert(s)
	case *sqlparser.Update:
		return c.update(s)
	case *sqlparser.Delete:
		return c.delete(s)
	}
	panic(refuse("this statement"))
}

// query converts a whole query.
func (c *converter) query(s sqlparser.SelectStatement) *parser.Query {
	c.enter()
	defer c.leave()
	q := &parser.Query{}
	switch s := s.(type) {
	case *sqlparser.Select:
		c.lock(s.Lock)
		q.Body = c.selectBody(s)
		q.OrderBy = c.orderBy(s.OrderBy)
		c.limit(q, s.Limit)
	case *sqlparser.Union:
		c.lock(s.Lock)
		q.Body = c.setQuery(s)
		q.OrderBy = c.orderBy(s.OrderBy)
		c.limit(q, s.Limit)
	case *sqlparser.ParenSelect:
		return c.query(s.Select)
	default:
		panic(fmt.Sprintf("mysql: no query for %T", s))
	}
	return q
}

// operand converts an operand of a set operator.
func (c *converter) operand(s sqlparser.SelectStatement) parser.QueryBody {
	q := c.query(s)
	if q.OrderBy == nil && q.Limit == nil && q.Offset == nil {
		return q.Body
	}
	return q
}

func (c *converter) lock(lock string) {
	if lock != "" {
		panic(refuse("%s", strings.ToUpper(strings.TrimSpace(lock))))
	}
}

func (c *converter) limit(q *parser.Query, l *sqlparser.Limit) {
	if l == nil {
		return
	}
	q.Limit = c.value(l.Rowcount)
	if l.Offset != nil {
		q.Offset = c.value(l.Offset)
	}
}

// orderBy converts ORDER BY. NULL is the least value in MySQL.
func (c *converter) orderBy(list sqlparser.OrderBy) []parser.OrderItem {
	var out []parser.OrderItem
	for _, o := range list {
		if _, null := o.Expr.(*sqlparser.NullVal); null {
			continue // ORDER BY NULL asks for no order
		}
		item := parser.OrderItem{Expr: c.value(o.Expr), Nulls: parser.NullsFirst}
		if o.Direction == sqlparser.DescScr {
			item.Desc, item.Nulls = true, parser.NullsLast
		}
		out = append(out, item)
	}
	return out
}

func (c *converter) selectBody(s *sqlparser.Select) *parser.Select {
	out := &parser.Select{Distinct: s.Distinct != ""}
	for _, e := range s.SelectExprs {
		out.Items = append(out.Items, c.selectItem(e))
	}
	if !isDual(s.From) {
		for _, t := range s.From {
			out.From = append(out.From, c.table(t))
		}
	}
	out.Where = c.where(s.Where)
	for _, e := range s.GroupBy {
		if f, ok := e.(*sqlparser.FuncExpr); ok && (f.Name.EqualString("rollup") || f.Name.EqualString("cube")) {
			panic(refuse("%s of GROUP BY", strings.ToUpper(f.Name.String())))
		}
		out.GroupBy = append(out.GroupBy, parser.GroupItem{Kind: parser.GroupExpr, Exprs: []parser.Expr{c.value(e)}})
	}
	out.Having = c.where(s.Having)
	return out
}

// isDual reports FROM dual, which sqlparser also puts where no FROM was.
func isDual(from sqlparser.TableExprs) bool {
	if len(from) != 1 {
		return false
	}
	t, ok := from[0].(*sqlparser.AliasedTableExpr)
	if !ok || !t.As.IsEmpty() {
		return false
	}
	name, ok := t.Expr.(sqlparser.TableName)
	return ok && name.Qualifier.IsEmpty() && strings.EqualFold(name.Name.String(), "dual")
}

func (c *converter) where(w *sqlparser.Where) parser.Expr {
	if w == nil {
		return nil
	}
	return c.condition(w.Expr)
}

func (c *converter) selectItem(e sqlparser.SelectExpr) parser.SelectItem {
	switch e := e.(type) {
	case *sqlparser.StarExpr:
		s := &parser.Star{}
		if !e.TableName.IsEmpty() {
			name := tableName(e.TableName)
			s.Table = &name
		}
		return parser.SelectItem{Expr: s}
	case *sqlparser.AliasedExpr:
		item := parser.SelectItem{Expr: c.value(e.Expr)}
		if !e.As.IsEmpty() {
			alias := ident(e.As.String())
			item.Alias = &alias
		}
		return item
	case sqlparser.Nextval:
		panic(refuse("NEXT VALUE"))
	}
	panic(fmt.Sprintf("mysql: no item for %T", e))
}

// ident folds a name as ours are folded; one that could not be written without
// quotes is quoted.
func ident(name string) parser.Ident {
	lower := fold(name)
	for i := 0; i < len(lower); i++ {
		if !isLetter(lower[i]) && lower[i] < 0x80 || i == 0 && lower[i]-'0' <= 9 {
			return parser.Ident{Name: name, Quoted: true}
		}
	}
	return parser.Ident{Name: lower}
}

func tableName(t sqlparser.TableName) parser.Name {
	var n parser.Name
	if !t.Qualifier.IsEmpty() {
		n.Parts = append(n.Parts, ident(t.Qualifier.String()))
	}
	n.Parts = append(n.Parts, ident(t.Name.String()))
	return n
}

// table converts an entry of FROM. Hints on indexes are left to the planner.
func (c *converter) table(t sqlparser.TableExpr) parser.TableExpr {
	c.enter()
	defer c.leave()
	switch t := t.(type) {
	case *sqlparser.AliasedTableExpr:
		return c.aliasedTable(t)
	case *sqlparser.ParenTableExpr:
		left := c.table(t.Exprs[0])
		for _, e := range t.Exprs[1:] {
			left = &parser.Join{Kind: parser.CrossJoin, Left: left, Right: c.table(e)}
		}
		return left
	case *sqlparser.JoinTableExpr:
		return c.join(t)
	}
	panic(fmt.Sprintf("mysql: no table for %T", t))
}

func (c *converter) aliasedTable(t *sqlparser.AliasedTableExpr) parser.TableExpr {
	if t.Partitions != nil {
		panic(refuse("PARTITION"))
	}
	var alias *parser.Ident
	if !t.As.IsEmpty() {
		id := ident(t.As.String())
		alias = &id
	}
	switch e := t.Expr.(type) {
	case sqlparser.TableName:
		return &parser.TableRef{Name: tableName(e), Alias: alias}
	case *sqlparser.Subquery:
		return &parser.DerivedTable{Query: c.query(e.Select), Alias: alias}
	}
	panic(fmt.Sprintf("mysql: no table for %T", t.Expr))
}

func (c *converter) join(t *sqlparser.JoinTableExpr) parser.TableExpr {
	j := &parser.Join{Left: c.table(t.LeftExpr), Right: c.table(t.RightExpr)}
	switch t.Join {
	case sqlparser.JoinStr, sqlparser.StraightJoinStr:
		if t.Condition.On == nil && t.Condition.Using == nil {
			j.Kind = parser.CrossJoin
		}
	case sqlparser.LeftJoinStr:
		j.Kind = parser.LeftJoin
	case sqlparser.RightJoinStr:
		j.Kind = parser.RightJoin
	case sqlparser.NaturalJoinStr:
		j.Natural = true
	case sqlparser.NaturalLeftJoinStr:
		j.Natural, j.Kind = true, parser.LeftJoin
	case sqlparser.NaturalRightJoinStr:
		j.Natural, j.Kind = true, parser.RightJoin
	default:
		panic(refuse("%s", strings.ToUpper(t.Join)))
	}
	if t.Condition.On != nil {
		j.On = c.condition(t.Condition.On)
	}
	j.Using = columns(t.Condition.Using)
	return j
}

func columns(list sqlparser.Columns) []parser.Ident {
	var out []parser.Ident
	for _, n := range list {
		out = append(out, ident(n.String()))
	}
	return out
}
