package catalog

import (
	"strings"
	"time"

	"github.com/gpusql/gpusql/sqltype"
)

// Main is the schema that is always there.
const Main = "main"

// SchemaName is the schema of that name as it is kept. PostgreSQL has public where
// there is Main here, and scripts that were written for it say so.
func SchemaName(name string) string {
	if name = strings.ToLower(name); name == "public" {
		return Main
	}
	return name
}

// TableID and IndexID name an object for the life of a database; they are
// never reused.
type TableID uint32

// IndexID names an index.
type IndexID uint32

// Table is a base table as the planner sees it. It is immutable: a change of
// definition makes a new Table with the same ID.
type Table struct {
	ID      TableID
	Schema  string // Main unless it was said
	Name    string
	Columns []Column
	Indexes []*Index
	Checks  []Check
	Foreign []*ForeignKey
	Temp    bool
	Comment string // COMMENT ON, or empty; of columns, indexes and views too
}

// Column is a column of a table. ID is its place in storage, which stays the
// same when a neighbour is dropped.
type Column struct {
	ID      int
	Name    string
	Type    sqltype.Type
	NotNull bool
	Default string // the expression's text, or empty
	NoCase  bool   // COLLATE NOCASE
	// Generated is the text of what a generated column is computed by, or empty.
	Generated string
	// Always: the column is GENERATED ALWAYS AS IDENTITY, and takes no other value
	// than its default. Identity: it is one, ALWAYS or BY DEFAULT.
	Identity, Always bool
	Comment          string
}

// Check is a CHECK constraint, by its expression's text.
type Check struct {
	Name string
	Text string
}

// Index is an ordered index.
type Index struct {
	ID      IndexID
	Name    string
	Kind    string // "btree", "lsm", "mvcc"
	Device  string // the GPU in whose memory it lies; empty: the host's
	Unique  bool
	Primary bool
	Keys    []IndexKey
	// Include are further columns whose values the entries have beside the keys,
	// offsets into Table.Columns. A GPU's index has none.
	Include []int
	// Retention is for how long AS OF finds versions that were replaced, if that is
	// longer than the setting says. One of mvcc keeps what it was for so long.
	Retention time.Duration
	Comment   string
}

// IndexKey is a key column of an index: an offset into Table.Columns.
type IndexKey struct {
	Column     int
	Desc       bool
	NullsFirst bool
}

// View is a stored query.
type View struct {
	Schema  string
	Name    string
	Columns []string // names given at creation, or nil
	Text    string   // the query
	Temp    bool
	Comment string
}

// Reader is all that the planner asks of a catalogue: one consistent version.
// Names are matched with ASCII case folded; an empty schema is searched.
type Reader interface {
	Table(schema, name string) (*Table, bool)
	View(schema, name string) (*View, bool)
	Sequence(schema, name string) (*Sequence, bool)
	Type(schema, name string) (*UserType, bool)
	// Functions are those of a name, not to be changed.
	Functions(schema, name string) []*Function
	// Contents lists everything that the reader may see.
	Contents() Contents
	// Names lists tables and views, for suggestions.
	Names() []string
	// Stats are the statistics of a table, never nil.
	Stats(TableID) *Stats
}

// Stats are what is known about a table's rows. They may be stale, and bounds
// in them must not be used for correctness.
type Stats struct {
	Rows    float64
	Whole   bool          // no row that was deleted is still there
	Columns []ColumnStats // as Table.Columns; may be shorter
}

// ColumnStats are what is known about a column.
type ColumnStats struct {
	Distinct float64 // 0: not known
	NullFrac float64
	Min, Max sqltype.Datum // Null when not known
}
