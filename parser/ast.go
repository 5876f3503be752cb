package parser

import "github.com/gpusql/gpusql/sqltype"

// Pos is a byte offset into the text given to Parse.
type Pos int32

// Statement is one SQL statement. The set is closed: the types below with a
// statement() method.
type Statement interface{ statement() }

// Expr is an expression as written. The set is closed: the types below with
// an expr() method. Start is where it begins, for carets.
type Expr interface {
	expr()
	Start() Pos
}

// TableExpr is an entry of FROM. The set is closed.
type TableExpr interface {
	tableExpr()
	Start() Pos
}

// Ident is a name as written: folded to lower case unless it was quoted.
type Ident struct {
	Name   string
	Quoted bool
	Pos    Pos
}

// Name is a possibly qualified name: schema.table.
type Name struct{ Parts []Ident }

// ---- queries ----

// SetOp is how two queries are combined.
type SetOp uint8

// The set operations.
const (
	Union SetOp = iota
	Intersect
	Except
)

// Query is a whole query: WITH ... body ORDER BY ... LIMIT ... OFFSET.
type Query struct {
	With      []CTE
	Recursive bool
	Body      QueryBody
	OrderBy   []OrderItem
	Limit     Expr // nil: none
	Percent   bool // Limit is a share of the rows
	Offset    Expr
	WithTies  bool // rows equal in order to the last one come too
	Pos       Pos
}

// QueryBody is Select, SetQuery, Values or a parenthesised *Query.
type QueryBody interface{ queryBody() }

// CTE is a name of WITH: of a Query, or of a Change of data and what it returns.
type CTE struct {
	Name         Ident
	Columns      []Ident
	Query        *Query
	Change       Statement
	Materialized *bool // MATERIALIZED, NOT MATERIALIZED, or not said
}

// Select is SELECT ... FROM ... WHERE ... GROUP BY ... HAVING.
type Select struct {
	Distinct   bool
	DistinctOn []Expr
	Items      []SelectItem
	From       []TableExpr // comma separated
	Where      Expr
	GroupBy    []GroupItem
	GroupAll   bool // GROUP BY ALL
	Having     Expr
	Windows    []NamedWindow
	Qualify    Expr
	Pos        Pos
}

// GroupKind says what a GROUP BY item is.
type GroupKind uint8

// The GROUP BY items: an expression, or sets of them.
const (
	GroupExpr GroupKind = iota
	GroupRollup
	GroupCube
	GroupSets
)

// GroupItem is an entry of GROUP BY. For GroupExpr, Exprs has one element; for
// ROLLUP and CUBE, Sets has an entry an argument; for GROUPING SETS an entry a set.
type GroupItem struct {
	Kind  GroupKind
	Exprs []Expr
	Sets  [][]Expr
}

// SetQuery is left UNION|INTERSECT|EXCEPT [ALL] right, and UNION [ALL] BY NAME.
type SetQuery struct {
	Op          SetOp
	All         bool
	ByName      bool
	Left, Right QueryBody
	Pos         Pos
}

// Values is VALUES (...), (...).
type Values struct {
	Rows [][]Expr
	Pos  Pos
}

// SelectItem is an expression with an optional alias, or a star.
type SelectItem struct {
	Expr  Expr
	Alias *Ident
}

// OrderItem is an entry of ORDER BY. Nulls: 0 not said, 1 first, 2 last.
type OrderItem struct {
	Expr  Expr
	Desc  bool
	Nulls NullsOrder
}

// NullsOrder is NULLS FIRST, NULLS LAST or neither.
type NullsOrder uint8

// The orders of NULL. The default is last when ascending, first when descending.
const (
	NullsDefault NullsOrder = iota
	NullsFirst
	NullsLast
)

// ---- FROM ----

// TableRef is a table or view by name, or a file as a table (File set).
type TableRef struct {
	Name    Name
	File    string
	AsOf    *AsOf
	Alias   *Ident
	Columns []Ident // alias(column, ...)
	Pos     Pos
}

// AsOf is AS OF VERSION At or, with Time, AS OF TIMESTAMP At: the table as it was.
type AsOf struct {
	Time bool
	At   Expr
	Pos  Pos
}

// DerivedTable is a parenthesised query, a VALUES list included.
type DerivedTable struct {
	Query   *Query
	Lateral bool
	Alias   *Ident
	Columns []Ident
	Pos     Pos
}

// FuncTable is a table function: generate_series(1, 10), read_csv('x', header => true).
// With Ordinality a last column counts its rows.
type FuncTable struct {
	Call       *Call
	Lateral    bool
	Ordinality bool
	Alias      *Ident
	Columns    []Ident
	Pos        Pos
}

// JoinKind is the kind of a written join.
type JoinKind uint8

// The joins that can be written.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	RightJoin
	FullJoin
	CrossJoin
	SemiJoin       // the left rows that have a partner
	AntiJoin       // those that have none
	PositionalJoin // the first row with the first one, and so on
)

// String is the words of a join.
func (k JoinKind) String() string {
	return [...]string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "SEMI JOIN", "ANTI JOIN", "POSITIONAL JOIN"}[k]
}

// Join is left JOIN right ON/USING. Asof: of the right rows that fit, those with
// the nearest value of the one inequality, which is the last column of USING.
type Join struct {
	Kind        JoinKind
	Asof        bool
	Natural     bool
	Left, Right TableExpr
	On          Expr
	Using       []Ident
	Pos         Pos
}

// ---- expressions ----

// Literal is a constant: NULL, TRUE, a number, a string, a blob. Integers take
// the first of INTEGER, BIGINT, DECIMAL that holds them; 1.5 is a DECIMAL,
// 1e3 a DOUBLE; a plain string is a VARCHAR with Untyped set, which the binder
// may give the type of what it meets. A constant with its type before it
// (DATE '...', INTERVAL '...') is a Cast of an untyped string; the unit of an
// INTERVAL goes into the string: INTERVAL '3' MONTH casts '3 month'.
type Literal struct {
	Value   sqltype.Datum
	Untyped bool
	Text    string // as written
	Pos     Pos
}

// ColumnRef is a, t.a or s.t.a.
type ColumnRef struct{ Name Name }

// Star is *, t.*, with EXCLUDE, REPLACE and RENAME. In ORDER BY it is ALL.
type Star struct {
	Table   *Name
	Exclude []Ident
	Replace []SelectItem
	Rename  []Rename
	Pos     Pos
}

// Rename is column AS name.
type Rename struct{ From, To Ident }

// ParamRef is ?, $n or $name. Index counts from 1; ? takes the next number, and
// so does a name that is new.
type ParamRef struct {
	Index int
	Name  string // lower case
	Pos   Pos
}

// UnaryOp and BinaryOp are operators as written, in canonical text:
// unary "-" "+" "NOT" "~"; binary "+" "-" "*" "/" "%" "^" "||" "=" "<>" "<"
// "<=" ">" ">=" "AND" "OR" "&" "|" "#" "<<" ">>" "~" "!~" "~*" "!~*" "//" (the
// integer division of MySQL's DIV) and "->" "->>".
type Unary struct {
	Op  string
	X   Expr
	Pos Pos
}

// Binary is an infix operator; Pos is the operator's place.
type Binary struct {
	Op   string
	L, R Expr
	Pos  Pos
}

// IsExpr is x IS [NOT] NULL|TRUE|FALSE|UNKNOWN.
type IsExpr struct {
	X    Expr
	What string // "NULL", "TRUE", "FALSE", "UNKNOWN"
	Not  bool
}

// IsDistinct is l IS [NOT] DISTINCT FROM r.
type IsDistinct struct {
	L, R Expr
	Not  bool
}

// Between is x [NOT] BETWEEN [SYMMETRIC] lo AND hi.
type Between struct {
	X, Lo, Hi Expr
	Not       bool
	Symmetric bool
}

// Like is x [NOT] LIKE|ILIKE|SIMILAR TO|GLOB pattern [ESCAPE e].
type Like struct {
	Op              string // "LIKE", "ILIKE", "SIMILAR TO", "GLOB"
	X, Pattern, Esc Expr
	Not             bool
}

// In is x [NOT] IN (list) or (query); x may be a Row.
type In struct {
	X     Expr
	List  []Expr
	Query *Query
	Not   bool
}

// Exists is EXISTS (query).
type Exists struct {
	Query *Query
	Pos   Pos
}

// Subquery is a scalar subquery.
type Subquery struct {
	Query *Query
	Pos   Pos
}

// Quantified is x op ANY|ALL (query or array expression). Op is that of a
// Binary, or "LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE".
type Quantified struct {
	Op    string
	All   bool
	X     Expr
	Query *Query
	List  Expr
	Pos   Pos
}

// Case is CASE [operand] WHEN ... THEN ... ELSE ... END.
type Case struct {
	Operand Expr
	Whens   []When
	Else    Expr
	Pos     Pos
}

// When is one arm of a CASE.
type When struct{ Cond, Then Expr }

// Cast is CAST(x AS type), x::type, TRY_CAST.
type Cast struct {
	X    Expr
	Type TypeName
	Try  bool
	Pos  Pos
}

// TypeName is a type as written. Type is what it means here; List counts [].
// Text is lower case with single blanks and its numbers: "decimal(15,2)".
// Round counts the digits before the point of a negative scale: DECIMAL(5,-2)
// is a DECIMAL(7,0) that is rounded to hundreds.
//
// A name that is no built-in type's is User, with Type Null: the binder looks it
// up among the types that were created.
type TypeName struct {
	Type   sqltype.Type
	Text   string
	User   *Name
	Fields []FieldDef // STRUCT, or with Map the key and the value of a MAP
	Map    bool
	List   int
	Length int // INTEGER[3]: how many elements a list has; 0 not said
	Round  int
	Pos    Pos
}

// FieldDef is a field of a STRUCT.
type FieldDef struct {
	Name Ident
	Type TypeName
}

// Call is a function or aggregate call. Special syntax arrives as plain calls:
// EXTRACT(f FROM x) is extract('f', x); SUBSTRING(x FROM a FOR b), POSITION(a
// IN b) as strpos(b, a), TRIM(LEADING c FROM x) as ltrim(x, c), TRAILING as
// rtrim, BOTH as trim, OVERLAY(x PLACING y FROM a FOR b) as overlay(x, y, a, b),
// CURRENT_DATE as current_date(), COLLATE as collate(x, 'name'), x AT TIME ZONE
// z as timezone(z, x), a field of a struct as struct_extract(x, 'field'),
// {'a': 1} as struct_pack(a => 1), ARRAY(query) as array((query));
// NULLIF, COALESCE, GREATEST keep their names.
type Call struct {
	Name     Name
	Args     []Expr
	Named    []NamedArg // header => true
	Star     bool       // count(*)
	Distinct bool
	OrderBy  []OrderItem
	Within   []OrderItem // WITHIN GROUP (ORDER BY ...)
	Filter   Expr
	// IgnoreNulls is IGNORE NULLS, in the parentheses or after them.
	IgnoreNulls bool
	Over        *Window // nil: not a window function
	Pos         Pos
}

// NamedArg is name => value.
type NamedArg struct {
	Name  Ident
	Value Expr
}

// NamedWindow is an entry of the WINDOW clause.
type NamedWindow struct {
	Name   Ident
	Window Window
}

// Window is OVER (...) or OVER name.
type Window struct {
	Ref         *Ident
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame
}

// Frame is ROWS|RANGE|GROUPS BETWEEN start AND end EXCLUDE ....
type Frame struct {
	Unit       string
	Start, End FrameBound
	Exclude    string
}

// FrameBound is one end of a frame: "UNBOUNDED PRECEDING", "PRECEDING",
// "CURRENT ROW", "FOLLOWING" or "UNBOUNDED FOLLOWING".
type FrameBound struct {
	Kind   string
	Offset Expr
}

// Row is (a, b, ...) with two or more elements, or ROW(...).
type Row struct {
	Exprs []Expr
	Pos   Pos
}

// Array is ARRAY[...] or [...].
type Array struct {
	Exprs []Expr
	Pos   Pos
}

// Index is x[i], x[lo:hi] or x[lo:hi:step].
type Index struct {
	X      Expr
	Lo, Hi Expr
	Step   Expr // of a slice, nil without
	Slice  bool
	Pos    Pos
}

// Default is the word DEFAULT in VALUES and SET.
type Default struct{ Pos Pos }

// ---- data change ----

// Insert is INSERT INTO.
type Insert struct {
	With       []CTE
	Recursive  bool
	Table      Name
	Alias      *Ident
	Columns    []Ident
	ByName     bool   // the columns are those that the source's have the names of
	Overriding string // OVERRIDING "SYSTEM" or "USER" VALUE, or empty
	Source     *Query // nil: DEFAULT VALUES
	OnConflict *OnConflict
	Replace    bool // REPLACE INTO, INSERT OR REPLACE
	Returning  []SelectItem
	Pos        Pos
}

// OnConflict is ON CONFLICT [(cols)] DO NOTHING | DO UPDATE SET ... WHERE.
// MySQL's ON DUPLICATE KEY UPDATE is DO UPDATE with no columns.
type OnConflict struct {
	Columns   []Ident
	DoNothing bool
	Set       []Assignment
	Where     Expr
}

// Assignment is column = value.
type Assignment struct {
	Column Ident
	Value  Expr
}

// Update is UPDATE ... SET ... FROM ... WHERE.
type Update struct {
	With      []CTE
	Recursive bool
	Table     Name
	Alias     *Ident
	Set       []Assignment
	From      []TableExpr
	Where     Expr
	Returning []SelectItem
	Pos       Pos
}

// Delete is DELETE FROM ... USING ... WHERE.
type Delete struct {
	With      []CTE
	Recursive bool
	Table     Name
	Alias     *Ident
	Using     []TableExpr
	Where     Expr
	Returning []SelectItem
	Pos       Pos
}

// Truncate is TRUNCATE [TABLE] t, ... Restart is RESTART IDENTITY.
type Truncate struct {
	Tables  []Name
	Restart bool
	Cascade bool
	Pos     Pos
}

// ---- definitions ----

// ColumnDef is a column of CREATE TABLE.
type ColumnDef struct {
	Name           Ident
	Type           TypeName
	NotNull        bool
	PrimaryKey     bool
	Unique         bool
	Default        Expr
	Check          []Check
	Collate        string
	References     *ForeignKey
	Generated      Expr
	Virtual        bool // of a generated column: VIRTUAL was said
	Serial         bool // SERIAL and the like: Type is the integer
	Identity       *Identity
	ConstraintName string
}

// Identity is GENERATED ALWAYS|BY DEFAULT AS IDENTITY (options).
type Identity struct {
	Kind    string // "ALWAYS" or "BY DEFAULT"
	Options SequenceOptions
}

// Check is CHECK (expr), with the text as written.
type Check struct {
	Name string
	Expr Expr
	Text string
}

// TableConstraint is a constraint over columns: exactly one of Columns with
// Primary or not (UNIQUE), Check, or ForeignKey is meant, by Kind.
type TableConstraint struct {
	Name    string
	Kind    ConstraintKind
	Columns []Ident
	Check   *Check
	Foreign *ForeignKey
	Pos     Pos
}

// ConstraintKind is the kind of a table constraint.
type ConstraintKind uint8

// The table constraints.
const (
	PrimaryKey ConstraintKind = iota
	UniqueKey
	CheckConstraint
	ForeignKeyConstraint
)

// ForeignKey is REFERENCES t (cols).
type ForeignKey struct {
	Table    Name
	Columns  []Ident
	OnDelete string
	OnUpdate string
}

// CreateTable is CREATE [TEMP] TABLE [IF NOT EXISTS] ... or ... AS query.
type CreateTable struct {
	Name        Name
	IfNotExists bool
	OrReplace   bool
	Temp        bool
	Columns     []ColumnDef
	Constraints []TableConstraint
	Likes       []TableLike
	As          *Query
	AsColumns   []Ident
	WithData    bool // false only for AS ... WITH NO DATA
	Pos         Pos
}

// TableLike is LIKE t among the columns of CREATE TABLE: those of t come behind the
// first At. Including are DEFAULTS, CONSTRAINTS, INDEXES, GENERATED and IDENTITY.
type TableLike struct {
	Table     Name
	At        int
	Including map[string]bool
}

// IndexKey is a column of an index.
type IndexKey struct {
	Expr  Expr
	Desc  bool
	Nulls NullsOrder
}

// CreateIndex is CREATE [UNIQUE] INDEX [IF NOT EXISTS] name ON t [USING kind] (...).
type CreateIndex struct {
	Name        Ident
	Unique      bool
	IfNotExists bool
	Table       Name
	Using       string
	Keys        []IndexKey
	Include     []Ident
	With        []NamedArg
	Where       Expr
	Pos         Pos
}

// CreateView is CREATE [OR REPLACE] [TEMP] VIEW; Text is the query as written.
type CreateView struct {
	Name        Name
	OrReplace   bool
	IfNotExists bool
	Temp        bool
	Columns     []Ident
	Query       *Query
	Text        string
	Pos         Pos
}

// CreateSchema is CREATE SCHEMA.
type CreateSchema struct {
	Name        Ident
	IfNotExists bool
	Pos         Pos
}

// Drop is DROP TABLE|INDEX|VIEW|SCHEMA|SEQUENCE|TYPE [IF EXISTS] names [CASCADE].
type Drop struct {
	Kind     string // "TABLE", "INDEX", "VIEW", "SCHEMA", "SEQUENCE", "TYPE"
	Names    []Name
	IfExists bool
	Cascade  bool
	Pos      Pos
}

// AlterTable is ALTER TABLE|VIEW name action, ...
type AlterTable struct {
	View     bool
	Name     Name
	IfExists bool
	Actions  []AlterAction
	Pos      Pos
}

// AlterAction is what an ALTER TABLE does; Kind says which fields count:
// "ADD COLUMN" (Column, IfExists as IF NOT EXISTS), "DROP COLUMN" (Name),
// "RENAME COLUMN" (Name, To), "RENAME TO" (To), "SET TYPE" (Name, Column.Type,
// Using), "SET DEFAULT" (Name, Using), "DROP DEFAULT", "SET NOT NULL",
// "DROP NOT NULL", "DROP EXPRESSION", "DROP IDENTITY" (Name), "ADD CONSTRAINT"
// (Constraint), "DROP CONSTRAINT" (Name), "RENAME CONSTRAINT" (Name, To), "SET
// SCHEMA" (To).
type AlterAction struct {
	Kind       string
	Name       Ident
	To         Ident
	Column     *ColumnDef
	Constraint *TableConstraint
	Using      Expr
	IfExists   bool
	Cascade    bool
}

// ---- the rest ----

// Begin, Commit and Rollback are the transaction statements. Savepoint names
// are for SAVEPOINT, RELEASE and ROLLBACK TO.
type Begin struct{ ReadOnly bool }

// Commit is COMMIT or END.
type Commit struct{}

// Rollback is ROLLBACK or ABORT [TO savepoint].
type Rollback struct{ To *Ident }

// Savepoint is SAVEPOINT name, or RELEASE [SAVEPOINT] name.
type Savepoint struct {
	Name    Ident
	Release bool
}

// Explain is EXPLAIN [ANALYZE] statement.
type Explain struct {
	Analyze   bool
	Format    string // "", "text", "json"
	Statement Statement
}

// Show is SHOW TABLES, SHOW name, SHOW DEVICES, SHOW ALL, DESCRIBE t (What
// "DESCRIBE", Name set) and PRAGMA-free inspection in general.
type Show struct {
	What  string // upper case: "TABLES", "INDEXES", "DEVICES", "ALL", "DESCRIBE", "SETTING", ...
	Name  Name
	Query *Query // DESCRIBE of a query
	Pos   Pos
}

// Set is SET name = value, SET name TO value, RESET name (Value nil).
type Set struct {
	Name     Ident
	Variable bool // SET VARIABLE: a value of any type, for getvariable
	Value    Expr
	Pos      Pos
}

// Copy is COPY t|(query) FROM|TO 'file' (options).
type Copy struct {
	Table   *Name
	Columns []Ident
	Query   *Query
	To      bool
	File    string
	Options []NamedArg // FORMAT parquet is {format, 'parquet'}
	Pos     Pos
}

// Analyze is ANALYZE [t]; Checkpoint, Vacuum and Reindex likewise by Word.
type Maintain struct {
	Word string // "ANALYZE", "VACUUM", "CHECKPOINT", "REINDEX", and "PRAGMA" of what has no effect
	Name *Name
	Pos  Pos
}

// Prepare is PREPARE name AS statement.
type Prepare struct {
	Name      Ident
	Statement Statement
	Pos       Pos
}

// Execute is EXECUTE name (args); Deallocate is DEALLOCATE name.
type Execute struct {
	Name Ident
	Args []Expr
	Pos  Pos
}

// Deallocate is DEALLOCATE [PREPARE] name.
type Deallocate struct{ Name Ident }

func (*Query) statement()        {}
func (*Insert) statement()       {}
func (*Update) statement()       {}
func (*Delete) statement()       {}
func (*Truncate) statement()     {}
func (*CreateTable) statement()  {}
func (*CreateIndex) statement()  {}
func (*CreateView) statement()   {}
func (*CreateSchema) statement() {}
func (*Drop) statement()         {}
func (*AlterTable) statement()   {}
func (*Begin) statement()        {}
func (*Commit) statement()       {}
func (*Rollback) statement()     {}
func (*Savepoint) statement()    {}
func (*Explain) statement()      {}
func (*Show) statement()         {}
func (*Set) statement()          {}
func (*Copy) statement()         {}
func (*Maintain) statement()     {}
func (*Prepare) statement()      {}
func (*Execute) statement()      {}
func (*Deallocate) statement()   {}

func (*Query) queryBody()    {}
func (*Select) queryBody()   {}
func (*SetQuery) queryBody() {}
func (*Values) queryBody()   {}

func (*TableRef) tableExpr()     {}
func (*DerivedTable) tableExpr() {}
func (*FuncTable) tableExpr()    {}
func (*Join) tableExpr()         {}

func (t *TableRef) Start() Pos     { return t.Pos }
func (t *DerivedTable) Start() Pos { return t.Pos }
func (t *FuncTable) Start() Pos    { return t.Pos }
func (t *Join) Start() Pos         { return t.Left.Start() }

func (*Literal) expr()    {}
func (*ColumnRef) expr()  {}
func (*Star) expr()       {}
func (*ParamRef) expr()   {}
func (*Unary) expr()      {}
func (*Binary) expr()     {}
func (*IsExpr) expr()     {}
func (*IsDistinct) expr() {}
func (*Between) expr()    {}
func (*Like) expr()       {}
func (*In) expr()         {}
func (*Exists) expr()     {}
func (*Subquery) expr()   {}
func (*Quantified) expr() {}
func (*Case) expr()       {}
func (*Cast) expr()       {}
func (*Call) expr()       {}
func (*Row) expr()        {}
func (*Array) expr()      {}
func (*Index) expr()      {}
func (*Default) expr()    {}

func (e *Literal) Start() Pos    { return e.Pos }
func (e *ColumnRef) Start() Pos  { return e.Name.Parts[0].Pos }
func (e *Star) Start() Pos       { return e.Pos }
func (e *ParamRef) Start() Pos   { return e.Pos }
func (e *Unary) Start() Pos      { return e.Pos }
func (e *Binary) Start() Pos     { return e.L.Start() }
func (e *IsExpr) Start() Pos     { return e.X.Start() }
func (e *IsDistinct) Start() Pos { return e.L.Start() }
func (e *Between) Start() Pos    { return e.X.Start() }
func (e *Like) Start() Pos       { return e.X.Start() }
func (e *In) Start() Pos         { return e.X.Start() }
func (e *Exists) Start() Pos     { return e.Pos }
func (e *Subquery) Start() Pos   { return e.Pos }
func (e *Quantified) Start() Pos { return e.X.Start() }
func (e *Case) Start() Pos       { return e.Pos }
func (e *Cast) Start() Pos       { return e.Pos }
func (e *Call) Start() Pos       { return e.Pos }
func (e *Row) Start() Pos        { return e.Pos }
func (e *Array) Start() Pos      { return e.Pos }
func (e *Index) Start() Pos      { return e.X.Start() }
func (e *Default) Start() Pos    { return e.Pos }
