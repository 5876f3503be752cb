package metamorphic

import (
	"slices"
	"strings"
)

// Expr is an expression: its form with a % where each argument, and last its
// subquery, goes.
type Expr struct {
	Form string
	Type Type
	Args []*Expr
	Sub  *Query
}

// SQL writes the expression.
func (e *Expr) SQL() string {
	var b strings.Builder
	e.write(&b)
	return b.String()
}

func (e *Expr) write(b *strings.Builder) {
	next := 0
	for i := 0; i < len(e.Form); i++ {
		if e.Form[i] != '%' {
			b.WriteByte(e.Form[i])
			continue
		}
		if i+1 < len(e.Form) && e.Form[i+1] == '%' { // %% is one
			b.WriteByte('%')
			i++
			continue
		}
		if next < len(e.Args) {
			e.Args[next].write(b)
		} else {
			e.Sub.write(b)
		}
		next++
	}
}

// Source is an item of FROM.
type Source struct {
	Join    string // before it: "JOIN", "LEFT JOIN", ... or "," ; the first has none
	Table   string
	Sub     *Query // instead of Table
	Lateral bool   // Sub sees the sources before it
	Alias   string
	On      *Expr
}

// Query is a SELECT, or two of them with a set operation between.
type Query struct {
	With      []Source  // common table expressions: Alias, Sub
	Recursive bool      // those of With may name themselves
	Values    [][]*Expr // instead of all that follows
	Distinct  bool
	On        []*Expr // DISTINCT ON them, the first row by Order
	Items     []*Expr // named c0, c1, ...
	From      []Source
	Where     *Expr
	Group     []*Expr
	Grouping  string // "", "ROLLUP", "CUBE" or "GROUPING SETS"
	Sets      []uint // the keys of each grouping set, a bit each
	Having    *Expr
	Qualify   *Expr
	SetOp     string // "UNION ALL", ...; Right follows
	Right     *Query
	Order     []*Expr // before the items of an order
	Limit     int     // 0: none; else ordered by all items
	Offset    int
}

// SQL writes the query.
func (q *Query) SQL() string {
	var b strings.Builder
	q.write(&b)
	return b.String()
}

func (q *Query) write(b *strings.Builder) {
	for i, w := range q.With {
		switch {
		case i > 0:
			b.WriteString(", ")
		case q.Recursive:
			b.WriteString("WITH RECURSIVE ")
		default:
			b.WriteString("WITH ")
		}
		b.WriteString(w.Alias + " AS (")
		w.Sub.write(b)
		b.WriteString(")")
		if i == len(q.With)-1 {
			b.WriteString(" ")
		}
	}
	q.writeSelect(b)
	if q.SetOp != "" {
		b.WriteString(" " + q.SetOp + " ")
		if q.Right.SetOp != "" {
			b.WriteString("(")
			q.Right.write(b)
			b.WriteString(")")
		} else {
			q.Right.writeSelect(b)
		}
	}
	if q.Limit > 0 {
		q.writeOrder(b)
		b.WriteString(" LIMIT " + number(q.Limit))
		if q.Offset > 0 {
			b.WriteString(" OFFSET " + number(q.Offset))
		}
	}
}

// writeOrder orders by all items, Order's expressions before them.
func (q *Query) writeOrder(b *strings.Builder) {
	word := " ORDER BY "
	for i, e := range q.Order {
		b.WriteString(word)
		e.write(b)
		b.WriteString([]string{" NULLS FIRST", " DESC NULLS LAST"}[i%2])
		word = ", "
	}
	for i := range q.Items {
		b.WriteString(word)
		b.WriteString(number(i + 1))
		b.WriteString([]string{" NULLS LAST", " DESC NULLS FIRST"}[i%2])
		word = ", "
	}
}

// list writes expressions with a comma between.
func list(b *strings.Builder, exprs []*Expr) {
	for i, e := range exprs {
		if i > 0 {
			b.WriteString(", ")
		}
		e.write(b)
	}
}

func (q *Query) writeSelect(b *strings.Builder) {
	if len(q.Values) > 0 {
		b.WriteString("VALUES ")
		for i, row := range q.Values {
			b.WriteString([]string{"(", ", ("}[min(i, 1)])
			list(b, row)
			b.WriteString(")")
		}
		return
	}
	b.WriteString("SELECT ")
	if q.Distinct {
		b.WriteString("DISTINCT ")
	}
	if len(q.On) > 0 {
		b.WriteString("DISTINCT ON (")
		list(b, q.On)
		b.WriteString(") ")
	}
	for i, e := range q.Items {
		if i > 0 {
			b.WriteString(", ")
		}
		e.write(b)
		b.WriteString(" AS c" + number(i))
	}
	q.writeFrom(b)
	if q.Where != nil {
		b.WriteString(" WHERE ")
		q.Where.write(b)
	}
	q.writeGroup(b)
	if q.Having != nil {
		b.WriteString(" HAVING ")
		q.Having.write(b)
	}
	if q.Qualify != nil {
		b.WriteString(" QUALIFY ")
		q.Qualify.write(b)
	}
	if len(q.On) > 0 && q.Limit == 0 {
		q.writeOrder(b)
	}
}

func (q *Query) writeGroup(b *strings.Builder) {
	if len(q.Group) == 0 {
		return
	}
	b.WriteString(" GROUP BY " + q.Grouping)
	switch q.Grouping {
	case "":
		list(b, q.Group)
	case "GROUPING SETS":
		b.WriteString(" (")
		for i, set := range q.Sets {
			b.WriteString([]string{"(", ", ("}[min(i, 1)])
			var keys []*Expr
			for k, e := range q.Group {
				if set>>k&1 != 0 {
					keys = append(keys, e)
				}
			}
			list(b, keys)
			b.WriteString(")")
		}
		b.WriteString(")")
	default:
		b.WriteString("(")
		list(b, q.Group)
		b.WriteString(")")
	}
}

func (q *Query) writeFrom(b *strings.Builder) {
	for i, s := range q.From {
		switch {
		case i == 0:
			b.WriteString(" FROM ")
		case s.Join == ",":
			b.WriteString(", ")
		default:
			b.WriteString(" " + s.Join + " ")
		}
		if s.Lateral {
			b.WriteString("LATERAL ")
		}
		if s.Sub != nil {
			b.WriteString("(")
			s.Sub.write(b)
			b.WriteString(")")
		} else {
			b.WriteString(s.Table)
		}
		b.WriteString(" AS " + s.Alias)
		if s.Sub != nil && len(s.Sub.Values) > 0 {
			b.WriteString("(")
			for i := range s.Sub.Values[0] {
				b.WriteString([]string{"c", ", c"}[min(i, 1)] + number(i))
			}
			b.WriteString(")")
		}
		if s.On != nil {
			b.WriteString(" ON ")
			s.On.write(b)
		}
	}
}

// exprs calls f with every place of an expression in the query, outer ones first.
func (q *Query) exprs(f func(**Expr)) {
	one := func(p **Expr) {
		if *p != nil {
			f(p)
			(*p).exprs(f)
		}
	}
	for _, list := range append([][]*Expr{q.On, q.Items, q.Group, q.Order}, q.Values...) {
		for i := range list {
			one(&list[i])
		}
	}
	one(&q.Where)
	one(&q.Having)
	one(&q.Qualify)
	for i := range q.From {
		one(&q.From[i].On)
	}
	for _, s := range q.subqueries() {
		s.exprs(f)
	}
}

func (e *Expr) exprs(f func(**Expr)) {
	for i := range e.Args {
		f(&e.Args[i])
		e.Args[i].exprs(f)
	}
	if e.Sub != nil {
		e.Sub.exprs(f)
	}
}

// subqueries are those of FROM, WITH and the set operation.
func (q *Query) subqueries() []*Query {
	var out []*Query
	for _, list := range [2][]Source{q.With, q.From} {
		for _, s := range list {
			if s.Sub != nil {
				out = append(out, s.Sub)
			}
		}
	}
	if q.Right != nil {
		out = append(out, q.Right)
	}
	return out
}

// clone copies the tree.
func (q *Query) clone() *Query {
	if q == nil {
		return nil
	}
	c := *q
	c.With, c.From = cloneSources(q.With), cloneSources(q.From)
	c.Items, c.Group = cloneExprs(q.Items), cloneExprs(q.Group)
	c.On, c.Order = cloneExprs(q.On), cloneExprs(q.Order)
	c.Where, c.Having, c.Right = q.Where.clone(), q.Having.clone(), q.Right.clone()
	c.Qualify, c.Sets, c.Values = q.Qualify.clone(), slices.Clone(q.Sets), nil
	for _, row := range q.Values {
		c.Values = append(c.Values, cloneExprs(row))
	}
	return &c
}

func cloneSources(list []Source) []Source {
	out := make([]Source, len(list))
	for i, s := range list {
		s.Sub, s.On = s.Sub.clone(), s.On.clone()
		out[i] = s
	}
	return out
}

func cloneExprs(list []*Expr) []*Expr {
	out := make([]*Expr, len(list))
	for i, e := range list {
		out[i] = e.clone()
	}
	return out
}

func (e *Expr) clone() *Expr {
	if e == nil {
		return nil
	}
	c := *e
	c.Args, c.Sub = cloneExprs(e.Args), e.Sub.clone()
	return &c
}
