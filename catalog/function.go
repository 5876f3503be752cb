package catalog

import "github.com/gpusql/gpusql/sqltype"

// Func is a function or operator of one signature family. exec finds its code
// by ID; the planner needs only the rest.
type Func struct {
	ID   FuncID
	Name string // canonical, lower case; operators by their text
	Kind FuncKind
	// Volatile functions (random, nextval) are never folded or shared; Stable
	// ones (now) are constant within a statement.
	Volatile, Stable bool
	// NullIn: the function sees NULL arguments. Otherwise one NULL argument
	// makes the result NULL and the code never hears of it.
	NullIn bool
}

// FuncID names a function's code.
type FuncID uint16

// FuncKind is where a function may stand.
type FuncKind uint8

// The kinds of function.
const (
	Scalar FuncKind = iota
	Aggregate
	WindowOnly
	TableValued
)

// Resolved is a call after overload resolution: the arguments must be cast to
// Args, and the result is of type Result.
type Resolved struct {
	Func   *Func
	Args   []sqltype.Type
	Result sqltype.Type
}
