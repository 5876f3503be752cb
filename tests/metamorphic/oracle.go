package metamorphic

import (
	"fmt"
	"slices"
	"strings"
	"time"
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
	Oracle  Oracle
	DB      *Database
	Query   *Query
	Pred    *Expr   // by oracle
	History []*Expr // statements that both sides run, Changes alone has some
	Asked   int     // texts that were asked, one that both sides run counts once
}

// Oracle makes the two texts of a case.
type Oracle struct {
	Name string
	// Sides may ask e for what a text depends on.
	Sides func(c *Case, e Engine) (left, right string, err error)
	// New makes a case.
	New func(g *Generator) *Case
}

func whole(g *Generator) *Case { return &Case{Query: g.Query()} }

func rows(g *Generator) *Case {
	q, p := g.Rows()
	return &Case{Query: q, Pred: p}
}

// Same asks both engines for the same query.
var Same = Oracle{"same", func(c *Case, _ Engine) (string, string, error) {
	text := c.Query.SQL()
	return text, text, nil
}, whole}

// Partition (ternary logic partitioning): the rows where a condition is true,
// those where it is false and those where it is unknown are all rows.
var Partition = Oracle{"partition", func(c *Case, _ Engine) (string, string, error) {
	var parts []string
	for _, form := range []string{"(%)", "NOT (%)", "((%) IS NULL)"} {
		q := c.Query.clone()
		q.Where = &Expr{Form: form, Type: Bool, Args: []*Expr{c.Pred}}
		if c.Query.Where != nil {
			q.Where = &Expr{Form: "(%) AND %", Type: Bool, Args: []*Expr{c.Query.Where, q.Where}}
		}
		parts = append(parts, q.SQL())
	}
	return c.Query.SQL(), strings.Join(parts, " UNION ALL "), nil
}, rows}

// Count (NoREC): a filter keeps as many rows as its condition is true for.
var Count = Oracle{"count", func(c *Case, _ Engine) (string, string, error) {
	filtered, flagged := c.Query.clone(), c.Query.clone()
	filtered.Where, flagged.Where = c.Pred, nil
	filtered.Items = []*Expr{{Form: "count(*)", Type: Int}}
	flagged.Items = []*Expr{{Form: "COALESCE(CAST(sum(CASE WHEN % THEN 1 ELSE 0 END) AS BIGINT), 0)", Type: Int, Args: []*Expr{c.Pred}}}
	return filtered.SQL(), flagged.SQL(), nil
}, rows}

// Named: a query gives the same rows as a derived table that is computed first.
var Named = Oracle{"named", func(c *Case, _ Engine) (string, string, error) {
	text := c.Query.SQL()
	return text, "WITH q AS MATERIALIZED (" + text + ") SELECT * FROM q", nil
}, whole}

// Finding is what is wrong with a case.
type Finding struct {
	Case        *Case
	Kind        string // "differs", or who refused, or who is slow
	Refused     Engine // nil: it differs
	cancelled   bool   // for it took too long
	Left, Right string // the texts
	Before      string // Left, before it was made small
	Detail      string
}

// Outcome is how a case ended.
type Outcome uint8

// The outcomes. Slow: one side was cancelled, and the other had needed too much
// of its time for that to be a finding.
const (
	Agreed Outcome = iota
	RefusedByBoth
	Slow
	Found
)

// answer is what an engine says to a statement.
type answer struct {
	rows []string
	err  error
	took time.Duration
}

func ask(e Engine, text string) answer {
	start := time.Now()
	rows, err := e.Query(text)
	slices.Sort(rows)
	return answer{rows, err, time.Since(start)}
}

func (a answer) cancelled() bool { return a.err != nil && a.took >= patience }

// compare is the finding of two answers, without its texts.
func compare(a, b Engine, left, right answer) (*Finding, Outcome) {
	switch {
	case left.err != nil && right.err != nil:
		return nil, RefusedByBoth
	case left.cancelled() && right.took > patience/10, right.cancelled() && left.took > patience/10:
		return nil, Slow
	case left.err != nil:
		return &Finding{Kind: a.Name() + " refuses left", Refused: a, cancelled: left.cancelled(), Detail: left.err.Error()}, Found
	case right.err != nil:
		return &Finding{Kind: b.Name() + " refuses right", Refused: b, cancelled: right.cancelled(), Detail: right.err.Error()}, Found
	case !slices.Equal(left.rows, right.rows):
		return &Finding{Kind: "differs", Detail: difference(left.rows, right.rows)}, Found
	}
	return nil, Agreed
}

// Check asks both sides, left of a and right of b; nil: there is nothing to say.
func (c *Case) Check(a, b Engine) (*Finding, Outcome) {
	if c.History != nil {
		return c.checkHistory(a, b)
	}
	left, right, err := c.Oracle.Sides(c, a)
	if err != nil {
		return nil, RefusedByBoth
	}
	c.Asked = 2
	if left == right {
		c.Asked = 1
	}
	f, outcome := compare(a, b, ask(a, left), ask(b, right))
	if f != nil {
		f.Case, f.Left, f.Right = c, left, right
	}
	return f, outcome
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
	for _, e := range f.Case.History[:max(len(f.Case.History)-1, 0)] {
		b.WriteString(e.SQL() + ";\n")
	}
	b.WriteString(f.Left + ";\n")
	if f.Right != f.Left {
		b.WriteString(f.Right + ";\n")
	}
	for _, line := range strings.Split(strings.TrimSpace(f.Detail), "\n") {
		b.WriteString("-- " + line + "\n")
	}
	if f.Before != "" && f.Before != f.Left {
		b.WriteString("-- made of: " + f.Before + "\n")
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
