// Package planner turns a statement's tree into a plan that can be executed.
//
//	parser.Statement
//	      │ Bind: names, types, the obvious plan          bind*.go
//	      ▼
//	    Plan ── With ── Sort ── Project ── Aggregate ── Filter ── Join ── Scan
//	      │      one closed set of nodes (node.go) over one of expressions (expr.go)
//	      │ Optimize: named rules, with costs             rule_*.go  cost.go  stats*.go
//	      ▼
//	    Plan ── exec.Open, or Explain for people          explain*.go
//
// How a SELECT is bound (bind_select.go): every clause first, over the columns
// of FROM; then, if it groups, all that comes after is rewritten to read the
// groups (bind_group.go). Where a name may be found, and how far out, is a
// scope (bind_scope.go). What a string literal or a parameter is, is decided
// by what it meets (bind_type.go).
//
// Invariants:
//
//  1. Nodes and expressions are immutable once Bind or a rule has returned
//     them, and may be shared, also by plans that run at the same time.
//  2. A column of a plan is made by one node and has its own ColumnID there. It
//     keeps it where Project, Aggregate and the like hand it through as it is.
//  3. A node names columns of its inputs only; a plan in a Subquery, and the
//     right side of a Dependent join, those around it too. After Optimize
//     neither is left.
//  4. Types are settled: both sides of a Cmp, the elements of an In, the arms of
//     a Case are of one type, and the arguments of a Call of those that it was
//     resolved with. There is no conversion but a Cast. A VARCHAR's length is no
//     difference.
//  5. A ColDef is NotNull only if no row can have NULL there, outer joins and
//     grouping sets counted.
//  6. A plan means the same whether or not optional rules have run, but for the
//     order of rows that no Sort has set and for which of several errors is met.
//  7. Nothing that depends on depth is quadratic: chains of operators, joins and
//     set operations are walked in loops or once.
//  8. Errors of Bind are *sqltype.Error, with a position where the text has one;
//     one inside a view has the place where the view is named.
//  9. The planner sees no row, index or device; files only by the schema that
//     BindOptions.FileSchema gives.
package planner
