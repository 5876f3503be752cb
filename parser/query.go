package parser

import (
	"slices"

	"github.com/gpusql/gpusql/sqltype"
)

// isQuery reports that the current token begins a query and cannot begin an
// expression.
func (p *parser) isQuery() bool {
	switch p.word() {
	case kwSelect, kwWith:
		return true
	case kwValues:
		return p.ahead(1).kind == tokLParen
	case kwTable:
		return isName(p.ahead(1))
	case kwFrom:
		return true
	}
	return p.isPivotQuery()
}

// isQueryTail reports that the current token goes on with a query.
func (p *parser) isQueryTail() bool {
	switch p.word() {
	case kwUnion, kwIntersect, kwExcept, kwOrder, kwLimit, kwOffset, kwFetch:
		return true
	}
	return false
}

// query reads a whole query: WITH, the body, ORDER BY, LIMIT.
func (p *parser) query() *Query {
	p.enter()
	q := &Query{Pos: p.pos()}
	w := p.with()
	q.With, q.Recursive = w.list, w.recursive
	q.Body = p.setQuery(p.unionTerm())
	p.queryTail(q)
	p.leave()
	return simplify(q)
}

// queryFrom goes on with a query whose first operand, in parentheses, has been
// read already.
func (p *parser) queryFrom(first *Query) *Query {
	q := &Query{Pos: first.Pos}
	q.Body = p.setQuery(p.intersections(bodyOf(first)))
	p.queryTail(q)
	return simplify(q)
}

// bodyOf is a parenthesised query as an operand: its body alone when it has
// nothing around it.
func bodyOf(q *Query) QueryBody {
	if q.isPlain() {
		return q.Body
	}
	return q
}

// isPlain reports that a query is no more than its body.
func (q *Query) isPlain() bool {
	return q.With == nil && q.OrderBy == nil && q.Limit == nil && q.Offset == nil
}

// simplify removes parentheses around a whole query, so that a tree has one
// form however many there were.
func simplify(q *Query) *Query {
	if inner, ok := q.Body.(*Query); ok && q.isPlain() {
		return inner
	}
	return q
}

// withClause is WITH: what a query or a data change may begin with.
type withClause struct {
	list      []CTE
	recursive bool
}

// with reads WITH [RECURSIVE] name [(columns)] AS (query), ... if it is next.
func (p *parser) with() (w withClause) {
	if !p.acceptWord(kwWith) {
		return w
	}
	w.recursive = p.acceptWord(kwRecursive)
	for {
		c := CTE{Name: p.ident("a name")}
		if p.kind() == tokLParen {
			c.Columns = p.identList("a column name")
		}
		p.expectWord(kwAs)
		if yes := p.acceptWord(kwMaterialized); yes || p.acceptWords(kwNot, kwMaterialized) {
			c.Materialized = &yes
		}
		p.expect(tokLParen)
		switch {
		case p.word() == kwWith:
			p.enter()
			switch s := p.withStatement().(type) {
			case *Query:
				c.Query = s
			default:
				c.Change = s
			}
			p.leave()
		case p.isChange():
			c.Change = p.change(withClause{})
		case p.isQuery() || p.kind() == tokLParen:
			c.Query = p.query()
		default:
			panic(p.unexpected("a query"))
		}
		p.expect(tokRParen)
		w.list = append(w.list, c)
		if !p.accept(tokComma) {
			return w
		}
	}
}

// setQuery reads the UNIONs and EXCEPTs after an operand; they are of equal
// rank and group to the left.
func (p *parser) setQuery(left QueryBody) QueryBody {
	for n := 0; ; n++ {
		t := &p.toks[p.at]
		op := Union
		switch t.word {
		case kwUnion:
		case kwExcept:
			op = Except
		default:
			return left
		}
		p.chain(n)
		s := &SetQuery{Op: op, Pos: t.start, Left: left}
		p.at++
		s.All = p.setAll()
		if op == Union && p.acceptWord(kwBy) {
			if s.ByName = p.acceptText("name"); !s.ByName {
				panic(p.unexpected("NAME"))
			}
		}
		s.Right = p.unionTerm()
		left = s
	}
}

// unionTerm reads an operand of UNION: operands of INTERSECT, which binds
// tighter.
func (p *parser) unionTerm() QueryBody { return p.intersections(p.queryOperand()) }

func (p *parser) intersections(left QueryBody) QueryBody {
	for n := 0; p.word() == kwIntersect; n++ {
		p.chain(n)
		s := &SetQuery{Op: Intersect, Pos: p.advance().start, Left: left}
		s.All = p.setAll()
		s.Right = p.queryOperand()
		left = s
	}
	return left
}

func (p *parser) setAll() bool {
	if p.acceptWord(kwAll) {
		return true
	}
	p.acceptWord(kwDistinct)
	return false
}

// queryOperand reads SELECT, VALUES, TABLE t, or a query in parentheses.
func (p *parser) queryOperand() QueryBody {
	switch t := &p.toks[p.at]; {
	case t.kind == tokLParen:
		p.at++
		q := p.query()
		p.expect(tokRParen)
		return bodyOf(q)
	case t.word == kwSelect, t.word == kwFrom:
		return p.selectBody()
	case t.word == kwValues:
		p.at++
		return p.values(t.start)
	case p.isPivotQuery():
		return p.pivotQuery()
	case t.word == kwTable:
		p.at++
		ref := &TableRef{Pos: p.pos(), Name: p.name("a table name")}
		return &Select{Items: []SelectItem{{Expr: &Star{Pos: t.start}}}, From: []TableExpr{ref}, Pos: t.start}
	}
	panic(p.unexpected("a query"))
}

// values reads the rows of VALUES.
func (p *parser) values(pos Pos) *Values {
	v := &Values{Pos: pos}
	for {
		p.expect(tokLParen)
		row := p.exprList()
		p.expect(tokRParen)
		if len(v.Rows) > 0 && len(v.Rows[0]) != len(row) {
			panic(failAt(row[0].Start(), sqltype.CodeSyntax, "VALUES lists must all be the same length: %d and %d",
				len(v.Rows[0]), len(row)))
		}
		v.Rows = append(v.Rows, row)
		if !p.accept(tokComma) {
			return v
		}
	}
}

// queryTail reads ORDER BY, LIMIT, OFFSET and FETCH.
func (p *parser) queryTail(q *Query) {
	if p.word() == kwOrder && p.ahead(2).word == kwAll {
		p.at += 2
		all := OrderItem{Expr: &Star{Pos: p.advance().start}}
		all.Desc, all.Nulls = p.direction()
		q.OrderBy = []OrderItem{all}
	} else {
		q.OrderBy = p.optionalOrderBy()
	}
	for {
		t := &p.toks[p.at]
		switch {
		case t.word == kwLimit && q.Limit == nil:
			p.at++
			if !p.acceptWord(kwAll) {
				p.limit(q)
			}
		case t.word == kwOffset && q.Offset == nil:
			p.at++
			q.Offset = p.expr()
			if !p.acceptWord(kwRows) {
				p.acceptWord(kwRow)
			}
		case t.word == kwFetch && q.Limit == nil:
			p.at++
			q.Limit = p.fetch(q)
		case t.word == kwFor:
			panic(p.unsupported("FOR UPDATE and FOR SHARE"))
		default:
			return
		}
	}
}

// limit reads a number of rows, or a share of them: 20%, 20 PERCENT. What follows
// a % that is an operator is an operand.
func (p *parser) limit(q *Query) {
	at, params, names := p.at, p.params, p.names
	q.Limit = p.exprAbove(precMul)
	switch {
	case p.acceptText("percent"):
		q.Percent = true
	case p.kind() == tokPercent && p.endsLimit(p.ahead(1)):
		p.at++
		q.Percent = true
	default:
		p.at, p.params, p.names = at, params, names
		q.Limit = p.expr()
	}
}

func (p *parser) endsLimit(t *token) bool {
	return t.kind == tokEOF || t.kind == tokSemicolon || t.kind == tokRParen || t.word == kwOffset
}

// fetch reads FIRST|NEXT [n] ROW|ROWS ONLY|WITH TIES.
func (p *parser) fetch(q *Query) Expr {
	if !p.acceptWord(kwFirst) {
		p.expectWord(kwNext)
	}
	var n Expr = &Literal{Value: sqltype.NewInt32(1), Text: "1", Pos: p.pos()}
	if p.word() != kwRow && p.word() != kwRows {
		n = p.exprAbove(precAdd)
	}
	if !p.acceptWord(kwRows) {
		p.expectWord(kwRow)
	}
	if t := p.toks[p.at]; p.acceptWord(kwWith) {
		if !p.isText("ties") {
			panic(p.unexpected("TIES"))
		}
		if q.OrderBy == nil {
			panic(failAt(t.start, sqltype.CodeSyntax, "WITH TIES cannot be specified without ORDER BY clause"))
		}
		p.at++
		q.WithTies = true
		return n
	}
	p.expectWord(kwOnly)
	return n
}

// optionalOrderBy reads ORDER BY if it is next.
func (p *parser) optionalOrderBy() []OrderItem {
	if p.word() != kwOrder {
		return nil
	}
	return p.orderBy()
}

func (p *parser) orderBy() []OrderItem {
	p.expectWord(kwOrder)
	p.expectWord(kwBy)
	var list []OrderItem
	for {
		o := OrderItem{Expr: p.expr()}
		o.Desc, o.Nulls = p.direction()
		list = append(list, o)
		if !p.accept(tokComma) {
			return list
		}
	}
}

// direction reads ASC or DESC, and NULLS FIRST or LAST.
func (p *parser) direction() (desc bool, nulls NullsOrder) {
	if desc = p.acceptWord(kwDesc); !desc {
		p.acceptWord(kwAsc)
	}
	if p.acceptWord(kwNulls) {
		switch {
		case p.acceptWord(kwFirst):
			nulls = NullsFirst
		case p.acceptWord(kwLast):
			nulls = NullsLast
		default:
			panic(p.unexpected("FIRST or LAST"))
		}
	}
	return desc, nulls
}

// selectBody reads SELECT and its clauses. FROM may come first, and alone it
// selects everything.
func (p *parser) selectBody() *Select {
	s := &Select{Pos: p.pos()}
	if p.word() == kwFrom {
		s.From = p.from()
		s.Items = []SelectItem{{Expr: &Star{Pos: s.Pos}}}
	}
	if p.acceptWord(kwSelect) {
		p.selectList(s)
		if s.From == nil && p.word() == kwFrom {
			s.From = p.from()
		}
	}
	if p.acceptWord(kwWhere) {
		s.Where = p.expr()
	}
	if p.acceptWord(kwGroup) {
		p.expectWord(kwBy)
		p.groupBy(s)
	}
	if p.acceptWord(kwHaving) {
		s.Having = p.expr()
	}
	if p.acceptWord(kwWindow) {
		for {
			w := NamedWindow{Name: p.ident("a window name")}
			p.expectWord(kwAs)
			w.Window = p.window()
			s.Windows = append(s.Windows, w)
			if !p.accept(tokComma) {
				break
			}
		}
	}
	if p.acceptWord(kwQualify) {
		s.Qualify = p.expr()
	}
	if p.word() == kwUsing && sameWord(p.textOf(p.ahead(1)), "sample") && len(s.From) == 1 {
		sample := &Sampled{Table: s.From[0], Pos: p.pos()}
		p.at += 2
		p.sample(sample)
		s.From[0] = sample
	}
	return s
}

// selectList reads DISTINCT, the items of SELECT, and INTO.
func (p *parser) selectList(s *Select) {
	if p.acceptWord(kwDistinct) {
		if p.word() == kwOn && p.ahead(1).kind == tokLParen {
			p.at += 2
			s.DistinctOn = p.exprList()
			p.expect(tokRParen)
		} else {
			s.Distinct = true
		}
	} else {
		p.acceptWord(kwAll)
	}
	s.Items = p.selectItems()
	if p.word() == kwInto && p.into == nil {
		p.at++
		p.acceptWord(kwTable)
		name := p.name("a table name")
		p.into = &name
	}
}

// selectItems reads expressions with their aliases: SELECT's, RETURNING's.
func (p *parser) selectItems() []SelectItem {
	list := make([]SelectItem, 0, 4)
	for {
		list = append(list, p.selectItem())
		// A comma before FROM is allowed, as DuckDB does.
		if !p.accept(tokComma) || p.word() == kwFrom {
			return list
		}
	}
}

// selectItem reads an expression with its alias, which may come first: x: 1.
func (p *parser) selectItem() SelectItem {
	if isName(&p.toks[p.at]) && p.ahead(1).kind == tokColon {
		alias := p.ident("an alias")
		p.at++
		return SelectItem{Expr: p.expr(), Alias: &alias}
	}
	item := SelectItem{Expr: p.expr()}
	if _, star := item.Expr.(*Star); !star {
		item.Alias = p.selectAlias()
	}
	return item
}

// selectAlias reads AS label, or a label that is no reserved word.
func (p *parser) selectAlias() *Ident {
	switch {
	case p.acceptWord(kwAs):
		if p.kind() == tokString {
			t := p.advance()
			return &Ident{Name: p.unquote(t), Quoted: true, Pos: t.start}
		}
		id := p.label("an alias")
		return &id
	case p.isAlias():
		id := p.identOf(p.advance())
		return &id
	}
	return nil
}

// groupBy reads the items of GROUP BY; (a, b) is two of them.
func (p *parser) groupBy(s *Select) {
	if p.word() == kwAll {
		p.at++
		s.GroupAll = true
		return
	}
	for {
		item := p.groupItem()
		if item.Kind == GroupExpr && isImplicitRow(item.Exprs[0], p) {
			for _, e := range item.Exprs[0].(*Row).Exprs {
				s.GroupBy = append(s.GroupBy, GroupItem{Kind: GroupExpr, Exprs: []Expr{e}})
			}
		} else {
			s.GroupBy = append(s.GroupBy, item)
		}
		if !p.accept(tokComma) {
			return
		}
	}
}

func (p *parser) groupItem() GroupItem {
	t := &p.toks[p.at]
	switch {
	case t.word == kwRollup && p.ahead(1).kind == tokLParen:
		p.at++
		return GroupItem{Kind: GroupRollup, Sets: p.groupSets()}
	case t.word == kwCube && p.ahead(1).kind == tokLParen:
		p.at++
		return GroupItem{Kind: GroupCube, Sets: p.groupSets()}
	case t.word == kwGrouping && p.ahead(1).word == kwSets:
		p.at += 2
		return GroupItem{Kind: GroupSets, Sets: p.nestedSets()}
	case t.kind == tokLParen && p.ahead(1).kind == tokRParen:
		p.at += 2
		return GroupItem{Kind: GroupSets, Sets: [][]Expr{{}}}
	}
	return GroupItem{Kind: GroupExpr, Exprs: []Expr{p.expr()}}
}

// groupSets reads the arguments of ROLLUP, CUBE or GROUPING SETS: each one
// expression, or several in parentheses, or none.
func (p *parser) groupSets() [][]Expr {
	p.expect(tokLParen)
	var sets [][]Expr
	for {
		sets = append(sets, p.groupSet())
		if !p.accept(tokComma) {
			p.expect(tokRParen)
			return sets
		}
	}
}

// groupSet reads one expression, or several in parentheses, or none.
func (p *parser) groupSet() []Expr {
	if p.kind() == tokLParen && p.ahead(1).kind == tokRParen {
		p.at += 2
		return []Expr{}
	}
	e := p.expr()
	if isImplicitRow(e, p) {
		return e.(*Row).Exprs
	}
	return []Expr{e}
}

// maxNestedCube is the most elements of a CUBE that is written out as its sets.
const maxNestedCube = 12

// nestedSets reads the arguments of GROUPING SETS, each a set or sets by another
// ROLLUP, CUBE or GROUPING SETS, which are written out.
func (p *parser) nestedSets() [][]Expr {
	p.enter()
	defer p.leave()
	p.expect(tokLParen)
	var sets [][]Expr
	for {
		switch at := p.pos(); {
		case p.word() == kwGrouping && p.ahead(1).word == kwSets:
			p.at += 2
			sets = append(sets, p.nestedSets()...)
		case p.word() == kwRollup && p.ahead(1).kind == tokLParen:
			p.at++
			parts := p.groupSets()
			for n := len(parts); n >= 0; n-- {
				sets = append(sets, append([]Expr{}, slices.Concat(parts[:n]...)...))
			}
		case p.word() == kwCube && p.ahead(1).kind == tokLParen:
			p.at++
			parts := p.groupSets()
			if len(parts) > maxNestedCube {
				panic(failAt(at, sqltype.CodeTooComplex, "CUBE is limited to %d elements here", maxNestedCube))
			}
			for left := 1<<len(parts) - 1; left >= 0; left-- {
				set := []Expr{}
				for i, part := range parts {
					if left>>(len(parts)-1-i)&1 != 0 {
						set = append(set, part...)
					}
				}
				sets = append(sets, set)
			}
		default:
			sets = append(sets, p.groupSet())
		}
		if !p.accept(tokComma) {
			p.expect(tokRParen)
			return sets
		}
	}
}

// isImplicitRow reports (a, b), which is a set of a grouping, unlike ROW(a, b).
func isImplicitRow(e Expr, p *parser) bool {
	r, ok := e.(*Row)
	return ok && p.text[r.Pos] == '('
}
