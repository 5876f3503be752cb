package planner

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpusql/gpusql/catalog"
)

// ExplainOptions say what Explain shows beside the operators.
type ExplainOptions struct {
	// Header are lines that come first, as "device: cpu (no GPU)".
	Header []string
	// Reader has the statistics for estimates; nil: none are shown.
	Reader catalog.Reader
	// Actual is what each node did, after EXPLAIN ANALYZE.
	Actual map[Node]NodeStats
}

// NodeStats is what a node did in one execution. A time is that of all workers,
// the node's inputs included.
type NodeStats struct {
	Rows    int64
	Time    time.Duration
	Bytes   int64 // of the rows that it gave
	Spilled int64 // bytes written to temporary files
}

// Explain is a plan as text: a line a node, what it reads indented below it.
func Explain(p *Plan, o ExplainOptions) string {
	e := &explainer{opts: o, namer: newNamer(p.Root)}
	if o.Reader != nil {
		e.model = newCostModel(o.Reader)
		e.model.rows(p.Root)
	}
	for _, h := range o.Header {
		e.out.WriteString(h + "\n")
	}
	e.node(p.Root, 0)
	return e.out.String()
}

// Line is the line of Explain for n by itself.
func Line(n Node) string { return (&explainer{namer: newNamer(n)}).line(n) }

type explainer struct {
	*namer
	opts  ExplainOptions
	model *costModel
	out   strings.Builder
}

func (e *explainer) node(n Node, depth int) {
	e.out.WriteString(strings.Repeat("  ", depth))
	e.out.WriteString(e.line(n))
	e.numbers(n)
	e.out.WriteByte('\n')
	eachExpr(n, func(x Expr) {
		walkExpr(x, func(x Expr) bool {
			if s, ok := x.(*Subquery); ok {
				e.out.WriteString(strings.Repeat("  ", depth+1) + "subquery\n")
				e.node(s.Plan, depth+2)
			}
			return true
		})
	})
	for _, in := range n.Inputs() {
		e.node(in, depth+1)
	}
}

// numbers are the estimates and what happened.
func (e *explainer) numbers(n Node) {
	if e.model != nil {
		fmt.Fprintf(&e.out, "  (rows=%s cost=%s)", short(e.model.rows(n)), short(e.model.cost(n)))
	}
	if s, ok := e.opts.Actual[n]; ok {
		fmt.Fprintf(&e.out, "  (actual rows=%d time=%s", s.Rows, s.Time.Round(time.Microsecond))
		if s.Bytes > 0 && s.Time > 0 {
			fmt.Fprintf(&e.out, " bytes=%s at %.3g GB/s", short(float64(s.Bytes)), float64(s.Bytes)/float64(s.Time.Nanoseconds()))
		}
		if s.Spilled > 0 {
			fmt.Fprintf(&e.out, " spilled=%d", s.Spilled)
		}
		e.out.WriteByte(')')
	}
}

// short is a number to three digits.
func short(x float64) string {
	for _, unit := range [...]struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if x >= unit.size {
			if unit.name == "k" {
				unit.size = 1e3
			}
			return strconv.FormatFloat(x/unit.size, 'g', 3, 64) + unit.name
		}
	}
	return strconv.FormatFloat(math.Ceil(x), 'f', -1, 64)
}

// line is a node's operator and what decides what it does.
func (e *explainer) line(n Node) string {
	switch n := n.(type) {
	case *Scan:
		return e.scan(n)
	case *FileScan:
		return join("file_scan "+n.Format+" '"+n.Path+"'", e.columns(n.Columns), e.labelled("filter: ", n.Filter))
	case *Values:
		if len(n.Columns) == 0 && len(n.Rows) == 1 {
			return "one_row"
		}
		return join(fmt.Sprintf("values rows: %d", len(n.Rows)), e.columns(n.Columns))
	case *TableFunc:
		return join("table_function "+n.Name+"("+e.exprs(n.Args)+")", e.columns(n.Columns))
	case *Unnest:
		return join("unnest "+e.exprs(n.Lists), e.columns(n.Cols()[len(n.Input.Cols()):]))
	case *CTEScan:
		return join("cte_scan "+n.Name+"#"+strconv.Itoa(n.CTE), e.columns(n.Columns))
	case *Filter:
		return "filter " + e.text(n.Pred)
	case *Project:
		return "project " + e.defs(n.Exprs)
	case *Join:
		return e.join(n)
	case *Aggregate:
		return e.aggregate(n)
	case *DistinctOn:
		return "distinct_on " + e.exprs(n.On)
	case *Sort:
		return "sort " + e.keys(n.Keys)
	case *Limit:
		return join("limit", e.labelled("", n.Limit), e.labelled("offset ", n.Offset))
	case *TopN:
		return join("top_n", e.labelled("", n.Limit), e.labelled("offset ", n.Offset), "by: "+e.keys(n.Keys))
	case *SetOp:
		return e.setOp(n)
	case *Window:
		return e.window(n)
	case *With:
		kind := "with "
		if n.Step != nil {
			kind = "with_recursive "
		}
		return kind + n.Name + "#" + strconv.Itoa(n.CTE)
	case *Insert:
		return "insert " + n.Table.Name
	case *Update:
		return "update " + n.Table.Name
	case *Delete:
		return "delete " + n.Table.Name
	case *Merge:
		return "merge " + n.Table.Name
	}
	panic(fmt.Sprintf("planner: no text for %T", n))
}

// join puts the parts that are there behind one another.
func join(parts ...string) string {
	keep := parts[:0]
	for _, p := range parts {
		if p != "" {
			keep = append(keep, p)
		}
	}
	return strings.Join(keep, " ")
}

func (e *explainer) labelled(label string, x Expr) string {
	if x == nil {
		return ""
	}
	return label + e.text(x)
}

func (e *explainer) columns(cols []ColDef) string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = e.col(c.ID, c.Name)
	}
	return "[" + strings.Join(names, ", ") + "]"
}

func (e *explainer) exprs(es []Expr) string {
	out := make([]string, len(es))
	for i, x := range es {
		out[i] = e.text(x)
	}
	return strings.Join(out, ", ")
}

func (e *explainer) defs(es []NamedExpr) string {
	out := make([]string, len(es))
	for i, x := range es {
		out[i] = e.col(x.Col.ID, x.Col.Name)
		if !isPass(x) {
			out[i] += " := " + e.text(x.Expr)
		}
	}
	return strings.Join(out, ", ")
}

func (e *explainer) keys(keys []SortKey) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = e.text(k.Expr)
		if k.Desc {
			out[i] += " DESC"
		}
		if k.NullsFirst != k.Desc {
			if k.NullsFirst {
				out[i] += " NULLS FIRST"
			} else {
				out[i] += " NULLS LAST"
			}
		}
	}
	return strings.Join(out, ", ")
}

func (e *explainer) scan(n *Scan) string {
	head := "scan " + n.Table.Name
	access := ""
	if a := n.Access; a != nil {
		head = "index_scan " + n.Table.Name + e.through(a)
		if a.Index != nil {
			access = e.access(a)
		}
	}
	if n.AsOf != nil {
		head += " as of " + e.text(n.AsOf.At)
	}
	return join(head, e.columns(n.Columns), access, e.labelled("filter: ", n.Filter))
}

// through names the indexes of an access, and their kinds.
func (e *explainer) through(a *Access) string {
	if a.Index != nil {
		if a.Index.Kind == "" {
			return " by " + a.Index.Name
		}
		on := ""
		if a.Index.Device != "" {
			on = " on " + a.Index.Device
		}
		return " by " + a.Index.Name + " (" + a.Index.Kind + on + ")"
	}
	parts, word := a.Union, " or"
	if parts == nil {
		parts, word = a.Both, " and"
	}
	out := ""
	for i, p := range parts {
		if i > 0 {
			out += word
		}
		out += e.through(p) + " " + e.access(p)
	}
	return out
}

// access is what is read of an index.
func (e *explainer) access(a *Access) string {
	out := ""
	for i, r := range a.Ranges {
		if i == maxListShown && len(a.Ranges) > maxListShown+1 {
			out += fmt.Sprintf(" ... %d more", len(a.Ranges)-i)
			break
		}
		out += " " + e.keyRange(r)
	}
	if len(a.Ranges) > 0 {
		out = "keys:" + out
	}
	if a.Ordered {
		out += " ordered"
	}
	if a.Reverse {
		out += " reverse"
	}
	if a.Limit > 0 {
		out += fmt.Sprintf(" limit %d", a.Limit)
	}
	if a.Count {
		out += " count"
	}
	if a.Covering {
		out += " covering"
	}
	return strings.TrimSpace(out)
}

// keyRange is (prefix, lo..hi): a bracket at an open end is round.
func (e *explainer) keyRange(r KeyRange) string {
	prefix := slices.Clone(r.Prefix)
	for i, x := range prefix {
		if n, ok := x.(*IsNull); ok {
			prefix[i] = n.X
		}
	}
	text := e.exprs(prefix)
	if r.Lo == nil && r.Hi == nil {
		if len(r.Prefix) == 0 {
			return "(all)"
		}
		return "[" + text + "]"
	}
	if text != "" {
		text += ", "
	}
	open, shut := "[", "]"
	if r.LoOpen || r.Lo == nil {
		open = "("
	}
	if r.HiOpen || r.Hi == nil {
		shut = ")"
	}
	return open + text + e.labelled("", r.Lo) + ".." + e.labelled("", r.Hi) + shut
}

func (e *explainer) join(n *Join) string {
	head := "nested_loop_join "
	if len(n.Keys) > 0 {
		head = "hash_join "
	}
	if n.Lookup {
		head = "lookup_join "
	}
	if n.Dependent {
		head = "dependent_join "
	}
	head += n.Kind.String()
	if n.NullAware {
		head += " null_aware"
	}
	if n.BuildLeft {
		head += " build_left"
	}
	if n.Kind == Mark {
		head += " " + e.col(n.Mark.ID, n.Mark.Name)
	}
	keys := make([]string, len(n.Keys))
	for i, k := range n.Keys {
		op := " = "
		if k.NullSafe {
			op = " IS NOT DISTINCT FROM "
		}
		keys[i] = e.text(k.Left) + op + e.text(k.Right)
	}
	on := ""
	if len(keys) > 0 {
		on = "keys: " + strings.Join(keys, ", ")
	}
	return join(head, on, e.labelled("on: ", n.On))
}

func (e *explainer) aggregate(n *Aggregate) string {
	groups, aggs := "", make([]string, len(n.Aggs))
	if len(n.Groups) > 0 {
		groups = "by: " + e.defs(n.Groups)
	}
	if n.Sets != nil {
		groups += fmt.Sprintf(" sets: %v", n.Sets)
	}
	for i, a := range n.Aggs {
		aggs[i] = e.col(a.Col.ID, a.Col.Name) + " := " + e.called(a.Func, a.Args, a.Distinct, a.OrderBy, a.Filter)
	}
	return join("aggregate", groups, strings.Join(aggs, ", "))
}

func (e *explainer) called(f *catalog.Func, args []Expr, distinct bool, order []SortKey, filter Expr) string {
	text := e.exprs(args)
	if len(args) == 0 && f.ID == catalog.FuncCount {
		text = "*"
	}
	if distinct {
		text = "DISTINCT " + text
	}
	if len(order) > 0 {
		text += " ORDER BY " + e.keys(order)
	}
	text = f.Name + "(" + text + ")"
	if filter != nil {
		text += " FILTER " + e.text(filter)
	}
	return text
}

func (e *explainer) setOp(n *SetOp) string {
	name := [...]string{"union", "intersect", "except"}[n.Op]
	if n.All {
		name += "_all"
	}
	return name + " " + e.columns(n.Columns)
}

func (e *explainer) window(n *Window) string {
	funcs := make([]string, len(n.Funcs))
	for i, f := range n.Funcs {
		funcs[i] = e.col(f.Col.ID, f.Col.Name) + " := " + e.called(f.Func, f.Args, f.Distinct, nil, f.Filter)
	}
	partition, order := "", ""
	if len(n.Partition) > 0 {
		partition = "partition: " + e.exprs(n.Partition)
	}
	if len(n.Order) > 0 {
		order = "order: " + e.keys(n.Order)
	}
	top := ""
	if n.Top.Rows > 0 {
		top = fmt.Sprintf("top: %d", n.Top.Rows)
	}
	return join("window", strings.Join(funcs, ", "), partition, order, top)
}
