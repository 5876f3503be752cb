package planner

import (
	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// Plan is a bound statement: what Bind makes, Optimize improves and exec runs.
// It is immutable and may be run many times, at once too.
type Plan struct {
	Root    Node
	Kind    PlanKind
	Columns []ColDef       // of the result, as the caller sees them
	Params  []sqltype.Type // type of parameter i+1
	// NextColumn is the first ColumnID that the plan does not use: a rule that
	// makes columns counts on from it.
	NextColumn ColumnID
	// NextCTE is likewise the first number that no With uses.
	NextCTE int
	// Sequential: rows are to be computed one after the other, because their
	// values come from sequences.
	Sequential bool
	// Changes: tables are changed, by the statement or by definitions of its WITH.
	Changes bool
	// Once: the plan has in it what tables held when it was bound, and is not to
	// be run again.
	Once bool
}

// Targets are the tables that a plan changes.
func Targets(n Node) []*catalog.Table {
	var all []*catalog.Table
	switch n := n.(type) {
	case *Insert:
		all = append(all, n.Table)
	case *Update:
		all = append(all, n.Table)
	case *Delete:
		all = append(all, n.Table)
	case *Merge:
		all = append(all, n.Table)
	}
	for _, in := range n.Inputs() {
		all = append(all, Targets(in)...)
	}
	return all
}

// PlanKind is what running a plan does.
type PlanKind uint8

// The kinds of plan.
const (
	QueryPlan PlanKind = iota
	InsertPlan
	UpdatePlan
	DeletePlan
	MergePlan
)

func (k PlanKind) String() string {
	return [...]string{"query", "insert", "update", "delete", "merge"}[k]
}
