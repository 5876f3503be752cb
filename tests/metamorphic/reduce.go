package metamorphic

import (
	"slices"
	"strings"
	"time"
)

// Opener makes two fresh engines.
type Opener func() (a, b Engine, err error)

// Reduce makes a finding small: it drops what the disagreement does not need.
// budget is how many smaller cases are tried, for a minute at most.
func Reduce(f *Finding, open Opener, budget int) *Finding {
	r := &reducer{open: open, best: f, budget: budget, until: time.Now().Add(time.Minute)}
	for r.round() {
	}
	return r.best
}

type reducer struct {
	open   Opener
	best   *Finding
	budget int
	until  time.Time
}

// kind is a finding's kind, and the beginning of its message.
func kind(f *Finding) string {
	if f.Kind == "differs" {
		return f.Kind
	}
	words := strings.Fields(f.Detail)
	return f.Kind + strings.Join(words[:min(len(words), 4)], " ")
}

// try keeps c if it fails as the best one does.
func (r *reducer) try(c *Case) bool {
	if r.budget <= 0 || time.Now().After(r.until) {
		return false
	}
	r.budget--
	a, b, err := r.open()
	if err != nil {
		return false
	}
	defer a.Close()
	defer b.Close()
	if c.DB.Load(a) != nil || c.DB.Load(b) != nil {
		return false
	}
	f, _ := c.Check(a, b)
	if f == nil || kind(f) != kind(r.best) {
		return false
	}
	r.best = f
	return true
}

// round tries each simplification once.
func (r *reducer) round() bool {
	progress := false
	for _, step := range []func() bool{r.statements, r.clauses, r.expressions, r.data} {
		for step() {
			progress = true
		}
	}
	return progress
}

func (c *Case) clone() *Case {
	d := *c
	d.Query, d.Pred, d.History = c.Query.clone(), c.Pred.clone(), nil
	if c.History != nil {
		d.History = cloneExprs(c.History)
	}
	d.DB = &Database{Big: c.DB.Big}
	for _, t := range c.DB.Tables {
		u := *t
		u.Rows, u.Indexes, u.View = slices.Clone(t.Rows), slices.Clone(t.Indexes), t.View.clone()
		d.DB.Tables = append(d.DB.Tables, &u)
	}
	return &d
}

// queries are all of the case, outer ones first.
func (c *Case) queries() []*Query {
	var out []*Query
	var visit func(*Query)
	expr := func(p **Expr) {
		if (*p).Sub != nil && !slices.Contains(out, (*p).Sub) {
			visit((*p).Sub)
		}
	}
	visit = func(q *Query) {
		if slices.Contains(out, q) {
			return
		}
		out = append(out, q)
		for _, s := range q.subqueries() {
			visit(s)
		}
		q.exprs(expr)
	}
	visit(c.Query)
	for i := range c.History {
		expr(&c.History[i])
		c.History[i].exprs(expr)
	}
	if c.Pred != nil {
		expr(&c.Pred)
		c.Pred.exprs(expr)
	}
	return out
}

// statements drops one before the last.
func (r *reducer) statements() bool {
	for i := range max(len(r.best.Case.History)-1, 0) {
		c := r.best.Case.clone()
		if dropAt(&c.History, i) && r.try(c) {
			return true
		}
	}
	return false
}

// clauses drops one clause of one query.
func (r *reducer) clauses() bool {
	for i := range r.best.Case.queries() {
		for edit := range queryEdits {
			for at := range 4 {
				c := r.best.Case.clone()
				if queryEdits[edit](c.queries()[i], at) && r.try(c) {
					return true
				}
			}
		}
	}
	return false
}

// queryEdits simplify a query at a place; false: there is nothing to.
var queryEdits = []func(q *Query, at int) bool{
	func(q *Query, at int) bool {
		if at > 0 || q.SetOp == "" {
			return false
		}
		q.SetOp, q.Right = "", nil
		return true
	},
	func(q *Query, at int) bool {
		if at > 0 || q.SetOp == "" {
			return false
		}
		right := q.Right
		right.With, right.Limit = q.With, q.Limit
		*q = *right
		return true
	},
	func(q *Query, at int) bool { return dropAt(&q.With, at) },
	func(q *Query, at int) bool { return at == 0 && drop(&q.Limit) },
	func(q *Query, at int) bool { return at == 0 && drop(&q.Offset) },
	func(q *Query, at int) bool { return at == 0 && drop(&q.Distinct) },
	func(q *Query, at int) bool { return at == 0 && drop(&q.Where) },
	func(q *Query, at int) bool { return at == 0 && drop(&q.Having) },
	func(q *Query, at int) bool { return at == 0 && drop(&q.Grouping) },
	func(q *Query, at int) bool { return at == 0 && drop(&q.Qualify) },
	func(q *Query, at int) bool { return len(q.On) == 0 && dropAt(&q.Order, at) },
	func(q *Query, at int) bool {
		on := len(q.On)
		q.On, q.Order = nil, nil
		return at == 0 && on > 0
	},
	func(q *Query, at int) bool { return len(q.Sets) > 1 && dropAt(&q.Sets, at) },
	func(q *Query, at int) bool { return len(q.Values) > 1 && dropAt(&q.Values, at) },
	func(q *Query, at int) bool { return dropAt(&q.Group, at) },
	func(q *Query, at int) bool { return len(q.Items) > 1 && dropAt(&q.Items, at) },
	func(q *Query, at int) bool { return at > 0 && dropAt(&q.From, at) },
	func(q *Query, at int) bool {
		if at >= len(q.From) || q.From[at].On == nil {
			return false
		}
		q.From[at].Join, q.From[at].On = "CROSS JOIN", nil
		return true
	},
}

func drop[T comparable](p *T) bool {
	var zero T
	was := *p
	*p = zero
	return was != zero
}

func dropAt[T any](list *[]T, at int) bool {
	if at >= len(*list) {
		return false
	}
	*list = slices.Delete(*list, at, at+1)
	return true
}

// places are all places of expressions of the case.
func (c *Case) places() []**Expr {
	var out []**Expr
	add := func(p **Expr) { out = append(out, p) }
	if c.Pred != nil {
		add(&c.Pred)
		c.Pred.exprs(add)
	}
	c.Query.exprs(add)
	for _, e := range c.History {
		e.exprs(add)
	}
	return out
}

// expressions replaces one expression by an argument of its type, or by a constant.
func (r *reducer) expressions() bool {
	for i, p := range r.best.Case.places() {
		var with []*Expr
		for _, a := range (*p).Args {
			if a.Type == (*p).Type {
				with = append(with, a)
			}
		}
		if len((*p).Args) > 0 || (*p).Sub != nil {
			with = append(with, constants[(*p).Type]...)
		}
		for _, e := range with {
			c := r.best.Case.clone()
			*c.places()[i] = e.clone()
			if r.try(c) {
				return true
			}
		}
	}
	return false
}

var constants = [numTypes][]*Expr{
	Int:   {{Form: "CAST(NULL AS BIGINT)", Type: Int}, {Form: "1", Type: Int}},
	Text:  {{Form: "CAST(NULL AS VARCHAR)", Type: Text}, {Form: "'a'", Type: Text}},
	Bool:  {{Form: "TRUE", Type: Bool}, {Form: "FALSE", Type: Bool}},
	Real:  {{Form: "1e0", Type: Real}},
	Dec:   {{Form: "1.00", Type: Dec}},
	Date:  {{Form: "DATE '2020-01-01'", Type: Date}},
	Stamp: {{Form: "TIMESTAMP '2020-01-01 00:00:00'", Type: Stamp}},
	List:  {{Form: "CAST([1] AS BIGINT[])", Type: List}},
}

// data drops a table that is not named, an index, or some rows.
func (r *reducer) data() bool {
	for i, t := range r.best.Case.DB.Tables {
		c := r.best.Case.clone()
		c.DB.Tables = slices.Delete(c.DB.Tables, i, i+1)
		if r.try(c) {
			return true
		}
		for j := range t.Indexes {
			c := r.best.Case.clone()
			dropAt(&c.DB.Tables[i].Indexes, j)
			if r.try(c) {
				return true
			}
		}
		for part := len(t.Rows); part > 0; part /= 2 {
			for from := 0; from < len(t.Rows); from += part {
				c := r.best.Case.clone()
				c.DB.Tables[i].Rows = slices.Delete(c.DB.Tables[i].Rows, from, min(from+part, len(t.Rows)))
				if r.try(c) {
					return true
				}
			}
		}
	}
	return false
}
