package catalog

import "github.com/gpusql/gpusql/sqltype"

// SequenceID names a sequence for the life of a database.
type SequenceID uint32

// Sequence is a generator of numbers. Where it stands is storage's business:
// that changes without a new version of the catalogue.
type Sequence struct {
	ID        SequenceID
	Schema    string
	Name      string
	Type      sqltype.Type // SMALLINT, INTEGER or BIGINT
	Start     int64
	Increment int64
	Min, Max  int64
	Cycle     bool
	// Owner is the table that the sequence is dropped with, 0 for none, and
	// OwnerColumn the ID of its column.
	Owner       TableID
	OwnerColumn int
	Temp        bool
}

// UserType is a type that was created: an ENUM, or another name for a type, which
// columns have in its place.
type UserType struct {
	Schema, Name string
	Type         sqltype.Type
}

// Function is a function or macro that was created: its body is a query over
// its parameters, which stands where the call does.
type Function struct {
	Schema, Name string
	Params       []Param
	// Result is the type of the value; Null for a macro, whose body tells.
	Result  sqltype.Type
	Columns []Column // RETURNS TABLE
	Rows    bool     // it gives rows, and stands in FROM
	Macro   bool
	Strict  bool // NULL when an argument is NULL
	Body    string
	Temp    bool
}

// Param is a parameter of a Function. A macro's has the type Null: any.
type Param struct {
	Name    string
	Type    sqltype.Type
	Default string // the expression's text, or empty
}

// ForeignKey says that each row's Columns, unless one is NULL, are a key of the
// table Parent. Columns and ParentColumns are IDs of columns.
type ForeignKey struct {
	Name          string
	Columns       []int
	Parent        TableID
	ParentColumns []int
	OnDelete      KeyAction
	OnUpdate      KeyAction
}

// KeyAction is what becomes of the rows that name a key which goes.
type KeyAction uint8

// The actions. NoAction fails at the statement's end, Restrict at once.
const (
	NoAction KeyAction = iota
	Restrict
	Cascade
	SetNull
	SetDefault
)

func (a KeyAction) String() string {
	return [...]string{"NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"}[a]
}

// Contents is everything that a catalogue has, each list sorted by schema and
// name.
type Contents struct {
	Path      []string // the schemas in which names without one are looked for
	Schemas   []string
	Tables    []*Table
	Views     []*View
	Sequences []*Sequence
	Types     []*UserType
	Functions []*Function
}

// NoObjects is the part of a Reader that has no objects but tables and views.
type NoObjects struct{}

// Sequence implements Reader.
func (NoObjects) Sequence(string, string) (*Sequence, bool) { return nil, false }

// Type implements Reader.
func (NoObjects) Type(string, string) (*UserType, bool) { return nil, false }

// Functions implements Reader.
func (NoObjects) Functions(string, string) []*Function { return nil }

// Contents implements Reader.
func (NoObjects) Contents() Contents { return Contents{} }
