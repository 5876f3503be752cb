package parser

// CreateSequence is CREATE SEQUENCE.
type CreateSequence struct {
	Name        Name
	IfNotExists bool
	OrReplace   bool
	Temp        bool
	Options     SequenceOptions
	Pos         Pos
}

// AlterSequence is ALTER SEQUENCE: options, or a new name in To.
type AlterSequence struct {
	Name     Name
	IfExists bool
	Options  SequenceOptions
	To       *Ident
	Pos      Pos
}

// SequenceOptions are the options of a sequence; nil is one not said. NoMin and
// NoMax are NO MINVALUE and NO MAXVALUE; RestartAt without Restart is nil too.
type SequenceOptions struct {
	Type      *TypeName
	Increment *int64
	Min, Max  *int64
	NoMin     bool
	NoMax     bool
	Start     *int64
	Restart   bool
	RestartAt *int64
	Cycle     *bool
	OwnedBy   *Name // OWNED BY NONE is none
}

// CreateType is CREATE TYPE name AS ENUM (labels), or AS a type or the fields of a
// struct, for which the name is another one.
type CreateType struct {
	Name        Name
	IfNotExists bool
	OrReplace   bool
	Labels      []string
	Query       *Query    // AS ENUM (query)
	Type        *TypeName // no ENUM
	Pos         Pos
}

// Comment is COMMENT ON Kind name IS Text; nil takes it away. Kind is "TABLE",
// "VIEW", "INDEX" or "COLUMN", whose name has the table's before it.
type Comment struct {
	Kind string
	Name Name
	Text *string
	Pos  Pos
}

// AlterType changes an ENUM: Kind is "ADD VALUE" (Value, Other after or Before,
// IfNotExists), "RENAME VALUE" (Value to Other) or "RENAME TO" (To).
type AlterType struct {
	Name        Name
	Kind        string
	Value       string
	Other       string
	Before      bool
	IfNotExists bool
	To          Ident
	Pos         Pos
}

// CreateFunction is CREATE FUNCTION ... LANGUAGE SQL, whose body is a query in a
// text or RETURN expression, and CREATE MACRO, which is an expression or a
// query over parameters of any type.
type CreateFunction struct {
	Name        Name
	OrReplace   bool
	IfNotExists bool
	Temp        bool
	Macro       bool
	Params      []FuncParam
	Returns     *TypeName
	SetOf       bool        // RETURNS SETOF
	Table       []ColumnDef // RETURNS TABLE (...)
	Strict      bool
	Text        *string // the body as a text
	Return      Expr    // RETURN, or a macro's expression
	Query       *Query  // a macro's AS TABLE
	Pos         Pos
}

// FuncParam is a parameter: its name may be empty, and its type is absent in a
// macro.
type FuncParam struct {
	Name    Ident
	Type    *TypeName
	Default Expr
}

// DropFunction is DROP FUNCTION and DROP MACRO.
type DropFunction struct {
	Macro    bool
	Names    []FuncName
	IfExists bool
	Cascade  bool
	Pos      Pos
}

// FuncName is a function with the types of its parameters, if they were said.
type FuncName struct {
	Name  Name
	Typed bool
	Types []TypeName
}

// Merge is MERGE INTO.
type Merge struct {
	With      []CTE
	Recursive bool
	Table     Name
	Alias     *Ident
	Source    TableExpr
	On        Expr
	Using     []Ident
	Whens     []MergeWhen
	Returning []SelectItem
	Pos       Pos
}

// MergeMatch is which rows a WHEN of MERGE is for.
type MergeMatch uint8

// The rows of a MERGE: those of both sides, of the source only, of the target only.
const (
	Matched MergeMatch = iota
	NotMatched
	NotMatchedBySource
)

// MergeWhen is WHEN ... [AND cond] THEN action. Action is "UPDATE" (Set),
// "DELETE", "INSERT" (Columns, Values; none of them is DEFAULT VALUES) or
// "DO NOTHING".
type MergeWhen struct {
	Match   MergeMatch
	Cond    Expr
	Action  string
	Set     []Assignment
	Columns []Ident
	Values  []Expr
	Pos     Pos
}

// Summarize is SUMMARIZE of a table or a query.
type Summarize struct {
	Query *Query
	Pos   Pos
}

// Sampled is a table with TABLESAMPLE, or USING SAMPLE of a query.
type Sampled struct {
	Table  TableExpr
	Method string // "bernoulli", "system", "reservoir"
	Size   Expr
	Rows   bool // Size counts rows, and is no percentage
	Seed   Expr // REPEATABLE, or nil
	Pos    Pos
}

func (*CreateSequence) statement() {}
func (*AlterSequence) statement()  {}
func (*CreateType) statement()     {}
func (*AlterType) statement()      {}
func (*CreateFunction) statement() {}
func (*DropFunction) statement()   {}
func (*Merge) statement()          {}
func (*Summarize) statement()      {}
func (*Comment) statement()        {}

func (*Sampled) tableExpr() {}

// Start is where the table begins.
func (t *Sampled) Start() Pos { return t.Table.Start() }
