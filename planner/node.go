package planner

import (
	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/sqltype"
)

// Node is a step of a plan. One closed set of nodes serves from the binder to
// the executor: the binder makes the obvious plan, rules replace nodes by
// better ones and fill in choices (Join.Keys, Scan.Access), and what is left
// is executed. Nodes are immutable once made and may be shared: a rule
// returns new ones.
type Node interface {
	// Cols are the columns produced, in order.
	Cols() []ColDef
	// Inputs are the nodes read, left first; WithInputs is a copy that reads others.
	Inputs() []Node
	WithInputs([]Node) Node
}

// ColDef is a column that a node produces.
type ColDef struct {
	ID      ColumnID
	Name    string
	Type    sqltype.Type
	NotNull bool
}

// NamedExpr defines column Col as Expr.
type NamedExpr struct {
	Col  ColDef
	Expr Expr
}

// Scan reads a base table at the statement's snapshot.
type Scan struct {
	Table   *catalog.Table
	Columns []ColDef // produced
	Source  []int    // Source[i] is the offset in Table.Columns of Columns[i]; RowIDColumn for the row id
	Filter  Expr     // pushed down, or nil; may use any Col of Fetch
	Access  *Access  // nil: the whole table
	AsOf    *AsOf    // nil: as the statement sees it
	// Fetch are the columns that Filter needs beyond Columns, with their offsets.
	Fetch       []ColDef
	FetchSource []int
}

// AsOf is a moment in the past: the version At, a BIGINT, or with Time the one that
// was current at At, a TIMESTAMPTZ. At names no column.
type AsOf struct {
	Time bool
	At   Expr
}

// RowIDColumn stands in Scan.Source for the row id, a BIGINT.
const RowIDColumn = -1

// Access reads a table through an index: rows whose key is in one of Ranges; or
// through several, those that one of Union or all of Both find.
type Access struct {
	Index   *catalog.Index
	Ranges  []KeyRange
	Ordered bool // rows must come in index order (then at most Limit of them, if > 0)
	Reverse bool
	Limit   int64
	// Count: only the number of rows is wanted. The scan has no columns and no
	// filter, and one range.
	Count bool
	// Covering: the columns are read of the index's entries, see Scan.Places, and
	// the table's are not touched.
	Covering    bool
	Union, Both []*Access // of Index and Ranges alone
	// Share is the part of the table's rows that is expected to be found, by all
	// left rows together in a lookup join.
	Share float64
}

// KeyRange is a range of index keys: the first len(Prefix) key columns equal
// Prefix, the next one lies between Lo and Hi (nil: open). Values are Const or
// Param (or, in a lookup join, Col of the outer side), of the key column's type.
// A NULL value in Prefix, Lo or Hi makes the range empty; NULL itself is meant by
// an IsNull in Prefix.
type KeyRange struct {
	Prefix         []Expr
	Lo, Hi         Expr
	LoOpen, HiOpen bool
}

// FileScan reads a file as a table: FROM 'x.parquet', read_csv('x').
type FileScan struct {
	Path        string
	Format      string // "parquet", "csv", "json", "ndjson", "arrow"
	Options     map[string]sqltype.Datum
	Columns     []ColDef
	Source      []int // offsets in the file's schema
	Filter      Expr  // used to skip row groups and rows, or nil
	Fetch       []ColDef
	FetchSource []int
	Rows        float64 // from the file's metadata, or 0
	// Stats are what the file says about a column of its schema; nil: nothing.
	Stats func(column int) catalog.ColumnStats
}

// FileInfo is what binding asks about a file; see FileScan for its fields.
type FileInfo struct {
	Schema sqltype.Schema
	Rows   float64
	Stats  func(column int) catalog.ColumnStats
}

// Values is a list of rows. With no columns and one empty row it is the input
// of a SELECT without FROM.
type Values struct {
	Columns []ColDef
	Rows    [][]Expr
}

// TableFunc is generate_series and the like.
type TableFunc struct {
	Name    string
	Args    []Expr
	Columns []ColDef
}

// Unnest gives a row for each element of lists: the input's row with the element,
// and with its number from 1. Of several lists the longest counts, and the others
// give NULL where they have ended; a row without elements gives none.
type Unnest struct {
	Input   Node
	Lists   []Expr
	Columns []ColDef // one of each list
	Number  *ColDef  // WITH ORDINALITY, or nil
}

// Filter keeps the rows for which Pred is true.
type Filter struct {
	Input Node
	Pred  Expr
}

// Project computes Exprs for each row.
type Project struct {
	Input Node
	Exprs []NamedExpr
}

// JoinKind is the kind of a Join.
type JoinKind uint8

// The joins. Left keeps every left row; Semi and Anti give left columns only;
// Mark gives the left columns and a three-valued BOOLEAN; Single is Left
// with an error when a left row has two matches.
const (
	Inner JoinKind = iota
	Left
	Right
	Full
	Semi
	Anti
	Mark
	Single
)

func (k JoinKind) String() string {
	return [...]string{"inner", "left", "right", "full", "semi", "anti", "mark", "single"}[k]
}

// Join pairs the rows of its inputs for which On is true. Rule join_keys
// splits On into Keys, equalities of a left and a right expression that a hash
// join uses, and the rest. Left rows are probed against a table of the right
// rows unless BuildLeft.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	Keys        []JoinKey
	On          Expr // nil: true; the whole condition before join_keys, the residual after
	Mark        ColDef
	// NullAware: an Anti or Mark join of NOT IN/ANY: a NULL on either side of
	// a key makes the comparison unknown instead of false.
	NullAware bool
	BuildLeft bool
	// Lookup: the right side is a Scan that is probed through its index for
	// batches of left rows; its Access ranges name left columns.
	Lookup bool
	// Dependent: the right side has free columns of the left (LATERAL, or a
	// subquery not yet decorrelated). None is left after rule decorrelate.
	Dependent bool
}

// JoinKey is Left = Right, of the same type; NullSafe: NULL equals NULL.
type JoinKey struct {
	Left, Right Expr
	NullSafe    bool
}

// Aggregate groups its input by Groups and computes Aggs. No Groups and no
// Sets: one row, even of no input. Sets are grouping sets as offsets of Groups.
type Aggregate struct {
	Input    Node
	Groups   []NamedExpr
	Aggs     []Agg
	Sets     [][]int // nil: one set of all Groups
	Grouping ColDef  // with Sets: a BIGINT with a bit a group, the last the lowest, 1 when it is not in the row's set; ID 0 when not asked for
}

// Agg is one aggregate.
type Agg struct {
	Col      ColDef
	Func     *catalog.Func
	Args     []Expr
	Distinct bool
	Filter   Expr
	OrderBy  []SortKey
}

// DistinctOn keeps the first row of each group of On, by the input's order,
// which is its output's order too.
type DistinctOn struct {
	Input Node
	On    []Expr
}

// SortKey is an expression to order by.
type SortKey struct {
	Expr       Expr
	Desc       bool
	NullsFirst bool
}

// Sort orders its input.
type Sort struct {
	Input Node
	Keys  []SortKey
}

// Limit skips Offset rows and gives at most Limit. Either may be nil; they are
// BIGINT expressions without columns.
type Limit struct {
	Input         Node
	Limit, Offset Expr
}

// TopN is Limit over Sort.
type TopN struct {
	Input         Node
	Keys          []SortKey
	Limit, Offset Expr
}

// SetOpKind is UNION, INTERSECT or EXCEPT.
type SetOpKind uint8

// The set operations.
const (
	Union SetOpKind = iota
	Intersect
	Except
)

// SetOp combines two inputs whose columns have the types of Columns, by place.
type SetOp struct {
	Op          SetOpKind
	All         bool
	Left, Right Node
	Columns     []ColDef
}

// WindowFunc is a function over a window; Frame as written, resolved.
type WindowFunc struct {
	Col      ColDef
	Func     *catalog.Func
	Args     []Expr
	Filter   Expr
	Frame    Frame
	Distinct bool
	// IgnoreNulls: lag, lead, first_value and the like pass over NULLs.
	IgnoreNulls bool
}

// Frame is the frame of a window function: Unit "ROWS", "RANGE" or "GROUPS".
type Frame struct {
	Unit                   string
	StartKind, EndKind     string // as parser.FrameBound.Kind
	StartOffset, EndOffset Expr
	Exclude                string
}

// FrameBound is one end of a Frame.
type FrameBound struct {
	Kind   string
	Offset Expr
}

// Bounds is where frames start and end.
func (f *Frame) Bounds() [2]FrameBound {
	return [2]FrameBound{{f.StartKind, f.StartOffset}, {f.EndKind, f.EndOffset}}
}

// Window computes Funcs over partitions of its input.
type Window struct {
	Input     Node
	Partition []Expr
	Order     []SortKey
	Funcs     []WindowFunc
	Top       WindowTop
}

// WindowTop says that of each partition only the first Rows rows are asked for,
// and with Ties those that are equal to the last of them; others may be left out.
// With Rows 0 all are.
type WindowTop struct {
	Rows int64
	Ties bool
}

// With computes Def once, for every CTEScan of CTE in Body. A Recursive one
// has Def as its start and Step, which reads the last round through a CTEScan.
// A Def that changes data is run to its end before Body is, whether or not it is read.
type With struct {
	CTE     int
	Name    string
	Def     Node
	Step    Node // nil: not recursive
	StepAll bool // UNION ALL
	Changes bool // Def changes data
	Body    Node
}

// CTEScan reads what a With computed. Columns[i] is column i of the definition.
type CTEScan struct {
	CTE     int
	Name    string
	Columns []ColDef
	Source  []int
}

// Insert adds the input's rows: column i of the input goes to Table.Columns[Target[i]],
// every column of the table has one (the binder fills in defaults).
type Insert struct {
	Table     *catalog.Table
	Input     Node
	Target    []int
	Checks    []Check
	Conflict  *Conflict
	Returning []NamedExpr // over Columns, which name the inserted row
	Columns   []ColDef
}

// Check is a CHECK constraint, bound over a row's columns.
type Check struct {
	Name string
	Pred Expr
}

// Conflict is ON CONFLICT: with index Index (nil: any) on a duplicate, do
// nothing, or set Set (over the old row's Columns and the new row's Excluded, and
// Asked, which the input has behind the new row: the answers of subqueries).
type Conflict struct {
	Index    *catalog.Index
	Nothing  bool
	Replace  bool // REPLACE: delete the old rows
	Columns  []ColDef
	Excluded []ColDef
	Asked    []ColDef
	Set      []SetColumn
	Where    Expr
}

// SetColumn sets Table.Columns[Column] to Expr.
type SetColumn struct {
	Column int
	Expr   Expr
}

// Update replaces rows: input column 0 is the row id, and the next ones are the
// whole new row in the table's order, and then what RETURNING asks for of other tables.
// Columns are all but the row id.
type Update struct {
	Table     *catalog.Table
	Input     Node
	Set       []int // the columns that may change
	Checks    []Check
	Returning []NamedExpr
	Columns   []ColDef
}

// Delete removes the rows whose ids are the input's column 0. With Returning
// the next ones, Columns, are the whole old row in the table's order, and then what is
// asked for of other tables.
type Delete struct {
	Table     *catalog.Table
	Input     Node
	Returning []NamedExpr
	Columns   []ColDef
}

// Merge changes rows as its input says: column 0 is a MergeKind, 1 the row id,
// the next ones the whole new row in the table's order, or the old one that is
// deleted, and the last is the action's name. Columns are the row and that name.
type Merge struct {
	Table     *catalog.Table
	Input     Node
	Checks    []Check
	Returning []NamedExpr
	Columns   []ColDef
}

// MergeKind is what a MERGE does with a row.
type MergeKind int32

// The changes of MERGE.
const (
	MergeInsert MergeKind = iota + 1
	MergeUpdate
	MergeDelete
)
