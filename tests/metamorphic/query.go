package metamorphic

import "strings"

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
	Join  string // before it: "JOIN", "LEFT JOIN", ... or "," ; the first has none
	Table string
	Sub   *Query // instead of Table
	Alias string
	On    *Expr
}

// Query is a SELECT, or two of them with a set operation between.
type Query struct {
	With     []Source // common table expressions: Alias, Sub
	Distinct bool
	Items    []*Expr // named c0, c1, ...
	From     []Source
	Where    *Expr
	Group    []*Expr
	Grouping string // "", "ROLLUP" or "CUBE"
	Having   *Expr
	SetOp    string // "UNION ALL", ...; Right follows
	Right    *Query
	Limit    int // 0: none; else ordered by all items
	Offset   int
}

// SQL writes the query.
func (q *Query) SQL() string {
	var b strings.Builder
	q.write(&b)
	return b.String()
}

func (q *Query) write(b *strings.Builder) {
	for i, w := range q.With {
		b.WriteString([]string{"WITH ", ", "}[min(i, 1)])
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
		q.Right.writeSelect(b)
	}
	if q.Limit > 0 {
		for i := range q.Items {
			b.WriteString([]string{" ORDER BY ", ", "}[min(i, 1)])
			b.WriteString(number(i + 1))
			b.WriteString([]string{" NULLS LAST", " DESC NULLS FIRST"}[i%2])
		}
		b.WriteString(" LIMIT " + number(q.Limit))
		if q.Offset > 0 {
			b.WriteString(" OFFSET " + number(q.Offset))
		}
	}
}

func (q *Query) writeSelect(b *strings.Builder) {
	b.WriteString("SELECT ")
	if q.Distinct {
		b.WriteString("DISTINCT ")
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
	if len(q.Group) > 0 {
		b.WriteString(" GROUP BY " + q.Grouping)
		if q.Grouping != "" {
			b.WriteString("(")
		}
		for i, e := range q.Group {
			if i > 0 {
				b.WriteString(", ")
			}
			e.write(b)
		}
		if q.Grouping != "" {
			b.WriteString(")")
		}
	}
	if q.Having != nil {
		b.WriteString(" HAVING ")
		q.Having.write(b)
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
		if s.Sub != nil {
			b.WriteString("(")
			s.Sub.write(b)
			b.WriteString(")")
		} else {
			b.WriteString(s.Table)
		}
		b.WriteString(" AS " + s.Alias)
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
	for i := range q.Items {
		one(&q.Items[i])
	}
	one(&q.Where)
	one(&q.Having)
	for i := range q.Group {
		one(&q.Group[i])
	}
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
	c.Where, c.Having, c.Right = q.Where.clone(), q.Having.clone(), q.Right.clone()
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
