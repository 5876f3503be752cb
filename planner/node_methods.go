package planner

import (
	"fmt"
	"slices"

	"github.com/gpusql/gpusql/sqltype"
)

// countColumn is what a data change without RETURNING produces: the number of
// rows changed. No expression can name it.
var countColumn = ColDef{Name: "Count", Type: sqltype.Int64, NotNull: true}

// ---- columns ----

// Cols are the columns in the scan's own order; Fetch is not among them.
func (n *Scan) Cols() []ColDef { return n.Columns }

// Cols are the file's columns that were asked for.
func (n *FileScan) Cols() []ColDef { return n.Columns }

// Cols are the list's columns.
func (n *Values) Cols() []ColDef { return n.Columns }

// Cols are the function's columns.
func (n *TableFunc) Cols() []ColDef { return n.Columns }

// Cols are the input's, the elements and their number.
func (n *Unnest) Cols() []ColDef {
	cols := append(slices.Clip(n.Input.Cols()), n.Columns...)
	if n.Number != nil {
		cols = append(cols, *n.Number)
	}
	return cols
}

// Cols are those that the definition had.
func (n *CTEScan) Cols() []ColDef { return n.Columns }

// Cols are the input's.
func (n *Filter) Cols() []ColDef { return n.Input.Cols() }

// Cols are the input's.
func (n *DistinctOn) Cols() []ColDef { return n.Input.Cols() }

// Cols are the input's.
func (n *Sort) Cols() []ColDef { return n.Input.Cols() }

// Cols are the input's.
func (n *Limit) Cols() []ColDef { return n.Input.Cols() }

// Cols are the input's.
func (n *TopN) Cols() []ColDef { return n.Input.Cols() }

// Cols are the body's.
func (n *With) Cols() []ColDef { return n.Body.Cols() }

// Cols are new columns: those of the inputs end here.
func (n *SetOp) Cols() []ColDef { return n.Columns }

// Cols are the defined columns.
func (n *Project) Cols() []ColDef { return definedCols(n.Exprs) }

// Cols are the left columns and then, for the kinds that keep them, the right
// ones; a side that can be missing from a row is nullable.
func (n *Join) Cols() []ColDef {
	left := n.Left.Cols()
	switch n.Kind {
	case Semi, Anti:
		return left
	case Mark:
		return append(left[:len(left):len(left)], n.Mark)
	}
	right := n.Right.Cols()
	cols := make([]ColDef, 0, len(left)+len(right))
	cols = append(append(cols, left...), right...)
	if n.Kind == Right || n.Kind == Full {
		makeNullable(cols[:len(left)])
	}
	if n.Kind == Left || n.Kind == Full || n.Kind == Single {
		makeNullable(cols[len(left):])
	}
	return cols
}

func makeNullable(cols []ColDef) {
	for i := range cols {
		cols[i].NotNull = false
	}
}

// Cols are the groups, the aggregates, and the grouping bits when asked for.
func (n *Aggregate) Cols() []ColDef {
	cols := make([]ColDef, 0, len(n.Groups)+len(n.Aggs)+1)
	for i := range n.Groups {
		cols = append(cols, n.Groups[i].Col)
	}
	if n.Sets != nil {
		makeNullable(cols)
	}
	for i := range n.Aggs {
		cols = append(cols, n.Aggs[i].Col)
	}
	if n.Grouping.ID != 0 {
		cols = append(cols, n.Grouping)
	}
	return cols
}

// Cols are the input's and then the functions' results.
func (n *Window) Cols() []ColDef {
	in := n.Input.Cols()
	cols := append(make([]ColDef, 0, len(in)+len(n.Funcs)), in...)
	for i := range n.Funcs {
		cols = append(cols, n.Funcs[i].Col)
	}
	return cols
}

// Cols are RETURNING's, or the count of rows.
func (n *Insert) Cols() []ColDef { return changeCols(n.Returning) }

// Cols are RETURNING's, or the count of rows.
func (n *Update) Cols() []ColDef { return changeCols(n.Returning) }

// Cols are RETURNING's, or the count of rows.
func (n *Delete) Cols() []ColDef { return changeCols(n.Returning) }

// Cols are RETURNING's, or the count of rows.
func (n *Merge) Cols() []ColDef { return changeCols(n.Returning) }

func changeCols(returning []NamedExpr) []ColDef {
	if returning == nil {
		return []ColDef{countColumn}
	}
	return definedCols(returning)
}

func definedCols(exprs []NamedExpr) []ColDef {
	cols := make([]ColDef, len(exprs))
	for i := range exprs {
		cols[i] = exprs[i].Col
	}
	return cols
}

// ---- inputs ----

// Inputs of a leaf are none.
func (n *Scan) Inputs() []Node { return nil }

// Inputs of a leaf are none.
func (n *FileScan) Inputs() []Node { return nil }

// Inputs of a leaf are none.
func (n *Values) Inputs() []Node { return nil }

// Inputs of a leaf are none.
func (n *TableFunc) Inputs() []Node { return nil }

// Inputs of a CTEScan are none: its With is found by number.
func (n *CTEScan) Inputs() []Node { return nil }

// Inputs is the one node read.
func (n *Unnest) Inputs() []Node { return []Node{n.Input} }

// Inputs is the one node read.
func (n *Filter) Inputs() []Node { return []Node{n.Input} }

// Inputs is the one node read.
func (n *Project) Inputs() []Node { return []Node{n.Input} }

// Inputs are both sides.
func (n *Join) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs is the one node read.
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }

// Inputs is the one node read.
func (n *DistinctOn) Inputs() []Node { return []Node{n.Input} }

// Inputs is the one node read.
func (n *Sort) Inputs() []Node { return []Node{n.Input} }

// Inputs is the one node read.
func (n *Limit) Inputs() []Node { return []Node{n.Input} }

// Inputs is the one node read.
func (n *TopN) Inputs() []Node { return []Node{n.Input} }

// Inputs are both sides.
func (n *SetOp) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs is the one node read.
func (n *Window) Inputs() []Node { return []Node{n.Input} }

// Inputs are the definition, the step when there is one, and the body.
func (n *With) Inputs() []Node {
	if n.Step == nil {
		return []Node{n.Def, n.Body}
	}
	return []Node{n.Def, n.Step, n.Body}
}

// Inputs is the one node read.
func (n *Insert) Inputs() []Node { return []Node{n.Input} }

// Inputs is the one node read.
func (n *Update) Inputs() []Node { return []Node{n.Input} }

// Inputs is the one node read.
func (n *Delete) Inputs() []Node { return []Node{n.Input} }

// Inputs is the one node read.
func (n *Merge) Inputs() []Node { return []Node{n.Input} }

// ---- copies that read others ----

// withInput is the copy of n that set has made read in[0].
func withInput[T any](n *T, in []Node, set func(*T, Node)) *T {
	wantInputs(n, in, 1)
	c := *n
	set(&c, in[0])
	return &c
}

func wantInputs(n any, in []Node, want int) {
	if len(in) != want {
		panic(fmt.Sprintf("planner: %T given %d inputs, has %d", n, len(in), want))
	}
}

// WithInputs of a leaf is itself.
func (n *Scan) WithInputs(in []Node) Node { wantInputs(n, in, 0); return n }

// WithInputs of a leaf is itself.
func (n *FileScan) WithInputs(in []Node) Node { wantInputs(n, in, 0); return n }

// WithInputs of a leaf is itself.
func (n *Values) WithInputs(in []Node) Node { wantInputs(n, in, 0); return n }

// WithInputs of a leaf is itself.
func (n *TableFunc) WithInputs(in []Node) Node { wantInputs(n, in, 0); return n }

// WithInputs of a leaf is itself.
func (n *CTEScan) WithInputs(in []Node) Node { wantInputs(n, in, 0); return n }

// WithInputs is a copy that reads in[0].
func (n *Unnest) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *Unnest, i Node) { c.Input = i })
}

// WithInputs is a copy that reads in[0].
func (n *Filter) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *Filter, i Node) { c.Input = i })
}

// WithInputs is a copy that reads in[0].
func (n *Project) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *Project, i Node) { c.Input = i })
}

// WithInputs is a copy that joins in[0] and in[1].
func (n *Join) WithInputs(in []Node) Node {
	wantInputs(n, in, 2)
	c := *n
	c.Left, c.Right = in[0], in[1]
	return &c
}

// WithInputs is a copy that reads in[0].
func (n *Aggregate) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *Aggregate, i Node) { c.Input = i })
}

// WithInputs is a copy that reads in[0].
func (n *DistinctOn) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *DistinctOn, i Node) { c.Input = i })
}

// WithInputs is a copy that reads in[0].
func (n *Sort) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *Sort, i Node) { c.Input = i })
}

// WithInputs is a copy that reads in[0].
func (n *Limit) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *Limit, i Node) { c.Input = i })
}

// WithInputs is a copy that reads in[0].
func (n *TopN) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *TopN, i Node) { c.Input = i })
}

// WithInputs is a copy that combines in[0] and in[1].
func (n *SetOp) WithInputs(in []Node) Node {
	wantInputs(n, in, 2)
	c := *n
	c.Left, c.Right = in[0], in[1]
	return &c
}

// WithInputs is a copy that reads in[0].
func (n *Window) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *Window, i Node) { c.Input = i })
}

// WithInputs is a copy of the definition, step and body in.
func (n *With) WithInputs(in []Node) Node {
	c := *n
	if n.Step == nil {
		wantInputs(n, in, 2)
		c.Def, c.Body = in[0], in[1]
		return &c
	}
	wantInputs(n, in, 3)
	c.Def, c.Step, c.Body = in[0], in[1], in[2]
	return &c
}

// WithInputs is a copy that reads in[0].
func (n *Insert) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *Insert, i Node) { c.Input = i })
}

// WithInputs is a copy that reads in[0].
func (n *Update) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *Update, i Node) { c.Input = i })
}

// WithInputs is a copy that reads in[0].
func (n *Delete) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *Delete, i Node) { c.Input = i })
}

// WithInputs is a copy that reads in[0].
func (n *Merge) WithInputs(in []Node) Node {
	return withInput(n, in, func(c *Merge, i Node) { c.Input = i })
}
