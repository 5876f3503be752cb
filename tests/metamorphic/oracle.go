package metamorphic

import (
	"fmt"
	"slices"
	"strings"
)

// Engine answers queries.
type Engine interface {
	Name() string
	// Run executes a statement that gives no rows.
	Run(sql string) error
	// Query gives the rows as text, a value and a tab each, in any order.
	Query(sql string) ([]string, error)
	Close() error
}

// Case is a question: two ways to ask for the same rows.
type Case struct {
	Oracle Oracle
	DB     *Database
	Query  *Query
	Pred   *Expr // by oracle
}

// Oracle makes the two texts of a case.
type Oracle struct {
	Name  string
	Sides func(c *Case) (left, right string)
	// New makes a case.
	New func(g *Generator) (*Query, *Expr)
}

func whole(g *Generator) (*Query, *Expr) { return g.Query(), nil }

// Same asks both engines for the same query.
var Same = Oracle{"same", func(c *Case) (string, string) {
	text := c.Query.SQL()
	return text, text
}, whole}

// Partition (ternary logic partitioning): the rows where a condition is true,
// those where it is false and those where it is unknown are all rows.
var Partition = Oracle{"partition", func(c *Case) (string, string) {
	var parts []string
	for _, form := range []string{"(%)", "NOT (%)", "((%) IS NULL)"} {
		q := c.Query.clone()
		q.Where = &Expr{Form: form, Type: Bool, Args: []*Expr{c.Pred}}
		if c.Query.Where != nil {
			q.Where = &Expr{Form: "(%) AND %", Type: Bool, Args: []*Expr{c.Query.Where, q.Where}}
		}
		parts = append(parts, q.SQL())
	}
	return c.Query.SQL(), strings.Join(parts, " UNION ALL ")
}, (*Generator).Rows}

// Count (NoREC): a filter keeps as many rows as its condition is true for.
var Count = Oracle{"count", func(c *Case) (string, string) {
	filtered, flagged := c.Query.clone(), c.Query.clone()
	filtered.Where, flagged.Where = c.Pred, nil
	filtered.Items = []*Expr{{Form: "count(*)", Type: Int}}
	flagged.Items = []*Expr{{Form: "COALESCE(CAST(sum(CASE WHEN % THEN 1 ELSE 0 END) AS BIGINT), 0)", Type: Int, Args: []*Expr{c.Pred}}}
	return filtered.SQL(), flagged.SQL()
}, (*Generator).Rows}

// Named: a query gives the same rows as a derived table that is computed first.
var Named = Oracle{"named", func(c *Case) (string, string) {
	text := c.Query.SQL()
	return text, "WITH q AS MATERIALIZED (" + text + ") SELECT * FROM q"
}, whole}

// Finding is what is wrong with a case.
type Finding struct {
	Case        *Case
	Kind        string // "differs", or who refused
	Refused     Engine // nil: it differs
	Left, Right string // the texts
	Detail      string
}

// Check asks both sides, left of a and right of b; nil: they agree. Refused by both is agreement.
func (c *Case) Check(a, b Engine) *Finding {
	f := &Finding{Case: c}
	f.Left, f.Right = c.Oracle.Sides(c)
	left, errLeft := a.Query(f.Left)
	right, errRight := b.Query(f.Right)
	switch {
	case errLeft != nil && errRight != nil:
		return nil
	case errLeft != nil:
		f.Kind, f.Refused, f.Detail = a.Name()+" refuses left", a, errLeft.Error()
	case errRight != nil:
		f.Kind, f.Refused, f.Detail = b.Name()+" refuses right", b, errRight.Error()
	default:
		slices.Sort(left)
		slices.Sort(right)
		if slices.Equal(left, right) {
			return nil
		}
		f.Kind, f.Detail = "differs", difference(left, right)
	}
	return f
}

// difference shows the first rows that one side alone has.
func difference(left, right []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows on the left, %d on the right\n", len(left), len(right))
	count := map[string]int{}
	for _, r := range left {
		count[r]++
	}
	for _, r := range right {
		count[r]--
	}
	shown := 0
	for _, r := range append(slices.Clone(left), right...) {
		if n := count[r]; n != 0 && shown < 6 {
			fmt.Fprintf(&b, "%+d %q\n", n, r)
			count[r] = 0
			shown++
		}
	}
	return b.String()
}

// Script is the finding as a script that runs again.
func (f *Finding) Script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s: %s\n", f.Case.Oracle.Name, f.Kind)
	for _, s := range f.Case.DB.Statements() {
		b.WriteString(s + ";\n")
	}
	b.WriteString(f.Left + ";\n")
	if f.Right != f.Left {
		b.WriteString(f.Right + ";\n")
	}
	for _, line := range strings.Split(strings.TrimSpace(f.Detail), "\n") {
		b.WriteString("-- " + line + "\n")
	}
	return b.String()
}

// Load makes the database in an empty engine.
func (d *Database) Load(e Engine) error {
	for _, s := range d.Statements() {
		if err := e.Run(s); err != nil {
			return fmt.Errorf("%s: %s: %w", e.Name(), s, err)
		}
	}
	return nil
}
