package planner

import (
	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// ColumnID names a column of one query: every column that any node produces
// has its own, so that a rewrite never has to renumber anything. 0 is none.
type ColumnID int32

// Expr is a typed, bound expression. It is immutable and may be shared: a
// rewrite makes new ones. The set is closed: the types below.
type Expr interface {
	Type() sqltype.Type
	expr()
}

// Const is a constant.
type Const struct{ Value sqltype.Datum }

// Param is parameter Index (from 1) of a prepared statement.
type Param struct {
	Index int
	T     sqltype.Type
}

// Col is a column of the input, or, inside a subquery, of an outer query.
type Col struct {
	ID   ColumnID
	Name string
	T    sqltype.Type
}

// Call is a scalar function or arithmetic operator; the arguments have the
// types that resolution asked for. AND, OR, comparison and the like are not calls.
type Call struct {
	Func *catalog.Func
	Args []Expr
	T    sqltype.Type
	Pos  int // for run-time errors; byte offset + 1, 0 not known
}

// Cast converts; Try makes a value that cannot be converted NULL.
type Cast struct {
	X   Expr
	To  sqltype.Type
	Try bool
	Pos int
}

// CmpOp is a comparison.
type CmpOp uint8

// The comparisons. Distinct and NotDistinct treat NULL as a value.
const (
	Eq CmpOp = iota
	Ne
	Lt
	Le
	Gt
	Ge
	Distinct
	NotDistinct
)

func (o CmpOp) String() string {
	return [...]string{"=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"}[o]
}

// Cmp compares two values of the same type.
type Cmp struct {
	Op   CmpOp
	L, R Expr
}

// And and Or are three-valued, of two or more arguments.
type And struct{ Args []Expr }

// Or is the disjunction.
type Or struct{ Args []Expr }

// Not negates.
type Not struct{ X Expr }

// IsNull is X IS NULL. (IS TRUE and IS FALSE are bound as IS NOT DISTINCT FROM.)
type IsNull struct{ X Expr }

// In is X = any of List, of the same type, three-valued.
type In struct {
	X    Expr
	List []Expr
}

// Case is CASE WHEN ... THEN ... ELSE ... END; arms not taken must not fail.
// COALESCE and NULLIF are bound as Case.
type Case struct {
	Whens []When
	Else  Expr // never nil
	T     sqltype.Type
}

// When is one arm of a Case.
type When struct{ Cond, Then Expr }

// SubKind says what a Subquery gives.
type SubKind uint8

// The subqueries. Any covers IN (Cmp Eq); ALL is bound as NOT ANY of the
// negated comparison.
const (
	SubScalar SubKind = iota // the one value; an error when there are two rows; NULL when none
	SubExists                // TRUE or FALSE
	SubAny                   // X Cmp ANY (Plan), three-valued
)

// Subquery is a query in an expression, possibly correlated: Plan's free Cols
// are of the outer query. Rule decorrelate leaves none behind.
type Subquery struct {
	Kind SubKind
	Plan Node
	X    []Expr // SubAny: the left side, one element unless it is a row
	Op   CmpOp  // SubAny
	T    sqltype.Type
}

// Type is the type of each expression's result.
func (e *Const) Type() sqltype.Type    { return e.Value.Type }
func (e *Param) Type() sqltype.Type    { return e.T }
func (e *Col) Type() sqltype.Type      { return e.T }
func (e *Call) Type() sqltype.Type     { return e.T }
func (e *Cast) Type() sqltype.Type     { return e.To }
func (e *Cmp) Type() sqltype.Type      { return sqltype.Bool }
func (e *And) Type() sqltype.Type      { return sqltype.Bool }
func (e *Or) Type() sqltype.Type       { return sqltype.Bool }
func (e *Not) Type() sqltype.Type      { return sqltype.Bool }
func (e *IsNull) Type() sqltype.Type   { return sqltype.Bool }
func (e *In) Type() sqltype.Type       { return sqltype.Bool }
func (e *Case) Type() sqltype.Type     { return e.T }
func (e *Subquery) Type() sqltype.Type { return e.T }

func (*Const) expr()    {}
func (*Param) expr()    {}
func (*Col) expr()      {}
func (*Call) expr()     {}
func (*Cast) expr()     {}
func (*Cmp) expr()      {}
func (*And) expr()      {}
func (*Or) expr()       {}
func (*Not) expr()      {}
func (*IsNull) expr()   {}
func (*In) expr()       {}
func (*Case) expr()     {}
func (*Subquery) expr() {}
