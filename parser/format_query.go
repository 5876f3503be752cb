package parser

import (
	"fmt"
	"strings"
)

func (f *formatter) query(q *Query) {
	f.with(q.With, q.Recursive)
	f.queryBody(q.Body)
	if q.OrderBy != nil {
		f.text(" ")
		f.orderBy(q.OrderBy)
	}
	if q.Limit != nil && !q.WithTies {
		f.text(" LIMIT ")
		if q.Percent {
			f.exprFrom(q.Limit, precMul+1)
			f.text(" PERCENT")
		} else {
			f.expr(q.Limit)
		}
	}
	if q.Offset != nil {
		f.text(" OFFSET ")
		f.expr(q.Offset)
	}
	if q.WithTies {
		f.text(" FETCH FIRST ")
		f.exprFrom(q.Limit, precAdd+1)
		f.text(" ROWS WITH TIES")
	}
}

func (f *formatter) with(list []CTE, recursive bool) {
	if list == nil {
		return
	}
	f.text("WITH ")
	f.when(recursive, "RECURSIVE ")
	f.list(len(list), func(i int) {
		c := &list[i]
		f.ident(c.Name)
		f.columns(c.Columns)
		f.text(" AS ")
		if c.Materialized != nil {
			f.when(!*c.Materialized, "NOT ")
			f.text("MATERIALIZED ")
		}
		f.paren(func() {
			if c.Change != nil {
				f.statement(c.Change)
				return
			}
			f.query(c.Query)
		})
	})
	f.text(" ")
}

func (f *formatter) queryBody(b QueryBody) {
	switch b := b.(type) {
	case *Select:
		f.selectBody(b)
	case *SetQuery:
		f.setQuery(b)
	case *Values:
		f.text("VALUES ")
		f.list(len(b.Rows), func(i int) { f.paren(func() { f.exprs(b.Rows[i]) }) })
	case *Query:
		f.paren(func() { f.query(b) })
	default:
		panic(fmt.Sprintf("parser: no text for %T", b))
	}
}

// setRank is how tight a set operation binds.
func setRank(op SetOp) int {
	if op == Intersect {
		return 1
	}
	return 0
}

// setQuery writes a chain of set operations from its first query on.
func (f *formatter) setQuery(s *SetQuery) {
	spine := []*SetQuery{s}
	for {
		l, ok := s.Left.(*SetQuery)
		if !ok || setRank(l.Op) < setRank(s.Op) {
			break
		}
		spine = append(spine, l)
		s = l
	}
	f.setOperand(s.Left, setRank(s.Op))
	for i := len(spine) - 1; i >= 0; i-- {
		s := spine[i]
		switch s.Op {
		case Union:
			f.text(" UNION ")
		case Intersect:
			f.text(" INTERSECT ")
		case Except:
			f.text(" EXCEPT ")
		default:
			panic(fmt.Sprintf("parser: no set operation %d", s.Op))
		}
		f.when(s.All, "ALL ")
		f.when(s.ByName, "BY NAME ")
		f.setOperand(s.Right, setRank(s.Op)+1)
	}
}

// setOperand writes an operand of a set operation, in parentheses when it is
// one itself of a lower rank.
func (f *formatter) setOperand(b QueryBody, rank int) {
	if s, ok := b.(*SetQuery); ok && setRank(s.Op) < rank {
		f.paren(func() { f.setQuery(s) })
		return
	}
	f.queryBody(b)
}

func (f *formatter) selectBody(s *Select) {
	f.text("SELECT ")
	if s.DistinctOn != nil {
		f.text("DISTINCT ON ")
		f.paren(func() { f.exprs(s.DistinctOn) })
		f.text(" ")
	}
	f.when(s.Distinct, "DISTINCT ")
	f.items(s.Items)
	if s.From != nil {
		f.text(" FROM ")
		f.tables(s.From)
	}
	f.where(s.Where)
	if s.GroupAll {
		f.text(" GROUP BY ALL")
	}
	if s.GroupBy != nil {
		f.text(" GROUP BY ")
		f.list(len(s.GroupBy), func(i int) { f.groupItem(&s.GroupBy[i]) })
	}
	if s.Having != nil {
		f.text(" HAVING ")
		f.expr(s.Having)
	}
	if s.Windows != nil {
		f.text(" WINDOW ")
		f.list(len(s.Windows), func(i int) {
			f.ident(s.Windows[i].Name)
			f.text(" AS ")
			f.window(&s.Windows[i].Window)
		})
	}
	if s.Qualify != nil {
		f.text(" QUALIFY ")
		f.expr(s.Qualify)
	}
}

// items writes expressions with their labels.
func (f *formatter) items(list []SelectItem) {
	f.list(len(list), func(i int) {
		f.expr(list[i].Expr)
		if list[i].Alias != nil {
			f.text(" AS ")
			f.label(*list[i].Alias)
		}
	})
}

func (f *formatter) where(e Expr) {
	if e != nil {
		f.text(" WHERE ")
		f.expr(e)
	}
}

func (f *formatter) groupItem(g *GroupItem) {
	switch g.Kind {
	case GroupExpr:
		f.expr(g.Exprs[0])
		return
	case GroupRollup:
		f.text("ROLLUP ")
	case GroupCube:
		f.text("CUBE ")
	case GroupSets:
		f.text("GROUPING SETS ")
	default:
		panic(fmt.Sprintf("parser: no grouping %d", g.Kind))
	}
	f.paren(func() {
		f.list(len(g.Sets), func(i int) { f.paren(func() { f.exprs(g.Sets[i]) }) })
	})
}

func (f *formatter) orderBy(list []OrderItem) {
	f.text("ORDER BY ")
	f.list(len(list), func(i int) {
		f.expr(list[i].Expr)
		f.direction(list[i].Desc, list[i].Nulls)
	})
}

func (f *formatter) direction(desc bool, nulls NullsOrder) {
	f.when(desc, " DESC")
	f.when(nulls == NullsFirst, " NULLS FIRST")
	f.when(nulls == NullsLast, " NULLS LAST")
}

func (f *formatter) tables(list []TableExpr) { f.list(len(list), func(i int) { f.table(list[i]) }) }

func (f *formatter) table(t TableExpr) {
	switch t := t.(type) {
	case *TableRef:
		if t.File != "" {
			f.quoteString(t.File)
		} else {
			f.name(t.Name)
		}
		if t.AsOf != nil {
			f.text(" AS OF ")
			if t.AsOf.Time {
				f.text("TIMESTAMP ")
			} else {
				f.text("VERSION ")
			}
			f.expr(t.AsOf.At)
		}
		f.tableAlias(t.Alias, t.Columns)
	case *DerivedTable:
		f.when(t.Lateral, "LATERAL ")
		f.paren(func() { f.query(t.Query) })
		f.tableAlias(t.Alias, t.Columns)
	case *FuncTable:
		f.when(t.Lateral, "LATERAL ")
		f.call(t.Call)
		f.when(t.Ordinality, " WITH ORDINALITY")
		f.tableAlias(t.Alias, t.Columns)
	case *Sampled:
		f.sampled(t)
	case *Join:
		f.join(t)
	case *Pivot:
		f.pivot(t)
	case *Unpivot:
		f.unpivot(t)
	default:
		panic(fmt.Sprintf("parser: no text for %T", t))
	}
}

// sampled writes a table with TABLESAMPLE, a join in parentheses.
func (f *formatter) sampled(t *Sampled) {
	if j, ok := t.Table.(*Join); ok {
		f.paren(func() { f.join(j) })
	} else {
		f.table(t.Table)
	}
	f.text(" TABLESAMPLE " + strings.ToUpper(t.Method))
	f.paren(func() {
		f.exprFrom(t.Size, precMul+1)
		if t.Rows {
			f.text(" ROWS")
		} else {
			f.text(" PERCENT")
		}
	})
	if t.Seed != nil {
		f.text(" REPEATABLE ")
		f.paren(func() { f.expr(t.Seed) })
	}
}

func (f *formatter) tableAlias(alias *Ident, columns []Ident) {
	f.alias(alias)
	if columns != nil {
		f.idents(columns)
	}
}

// join writes a chain of joins from its first table on.
func (f *formatter) join(j *Join) {
	spine := []*Join{j}
	for {
		l, ok := j.Left.(*Join)
		if !ok {
			break
		}
		spine = append(spine, l)
		j = l
	}
	f.table(j.Left)
	for i := len(spine) - 1; i >= 0; i-- {
		j := spine[i]
		f.when(j.Natural, " NATURAL")
		f.when(j.Asof, " ASOF")
		f.text(" " + j.Kind.String() + " ")
		if right, ok := j.Right.(*Join); ok {
			f.paren(func() { f.join(right) })
		} else {
			f.table(j.Right)
		}
		switch {
		case j.On != nil:
			f.text(" ON ")
			f.expr(j.On)
		case j.Using != nil:
			f.text(" USING ")
			f.idents(j.Using)
		}
	}
}
