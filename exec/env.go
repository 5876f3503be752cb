package exec

import (
	"context"
	"time"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
	"github.com/gpusql/gpusql/storage/mirror"
)

// Env is what one execution of a plan may use. It is made for the execution
// and not changed while an operator of it is open.
type Env struct {
	Device device.Device
	// Memory is what operators allocate from: a scope that counts against the
	// query's limit.
	Memory device.Allocator
	Data   Data
	Params []sqltype.Datum // Params[i] is $i+1
	// Now is the statement's time, for now() and the like; Zone the session's.
	Now  time.Time
	Zone *time.Location
	// Version is what the statement sees: its number is current_version().
	Version uint64
	// Sequences, when set, are what nextval and its kin ask.
	Sequences Sequences
	// Workers is the most streams that the query may keep busy; 0 means the
	// device's Traits().Streams.
	Workers int
	// BatchRows is the most rows of a batch; 0 means the device's number.
	BatchRows int
	// HashZero makes every hash 0, so that tests meet all collisions.
	HashZero bool
	// Stats, when set, gathers what each node did, for EXPLAIN ANALYZE.
	Stats *Stats
	// Outer are columns of an enclosing row, by ColumnID: the inputs of a plan
	// that is run once per row. nil for a whole query.
	Outer map[planner.ColumnID]sqltype.Datum
	// Host is set where Device does not see the host's memory: what the part of
	// the query may use that runs there, beside the tables and files. Results
	// come from it.
	Host *Env
	// Canary, when set, is run with a stream of Device before a result is
	// brought from there.
	Canary func(device.Stream) error
	// Mirror, set with Host, has columns of tables in Device's memory.
	Mirror *mirror.Mirror
	// Spill, when set, is where operators put what Memory has no room for. It is
	// for a device that sees the host's memory.
	Spill *Spill
	// Stream, when set, is a stream that the caller lends to the query's first
	// worker for as long as the operator is open: a small query opens none.
	Stream device.Stream
}

// Data is what a statement sees and changes: tables and indexes at the
// statement's snapshot, with the transaction's own writes over it. Package
// storage implements it.
//
// Reading methods are safe for concurrent use, and while a changing one runs: an
// INSERT is under way while workers still read what it inserts. A changing
// method is called by one goroutine at a time. A statement does not see its own
// changes: Snap answers the same before and after them.
type Data interface {
	// Snap is the table as the statement sees it; it stays valid until the
	// statement ends.
	Snap(t *catalog.Table) (arrow.Snap, error)
	// AsOf is the tables as they were at a version or a time in
	// microseconds since 1970 UTC, for reading. What is kept no more is an error.
	AsOf(at int64, by Moment) (Data, error)
	// Seek appends to found the rows whose keys in index ix lie in each range, one
	// range after the other, in key order (backwards with Reverse), of each at
	// most its Limit when that is > 0. Only rows that the statement sees are given.
	Seek(ctx context.Context, s device.Stream, t *catalog.Table, ix *catalog.Index, r []Range, found *index.Found) error
	// Count is how many rows Seek would give for one range.
	Count(ctx context.Context, s device.Stream, t *catalog.Table, ix *catalog.Index, r []Range) (int64, error)
	// Probe looks up each of the n rows of keys, one column for each of the
	// first len(keys) columns of ix, and appends for each match the key's number
	// to probe, and the row to found. A NULL key has none.
	Probe(ctx context.Context, s device.Stream, t *catalog.Table, ix *catalog.Index, keys []arrow.Column, n int, probe []uint32, found *index.Found) ([]uint32, error)
	// Insert appends the batch, whose columns are the table's. NOT NULL,
	// uniqueness (within the batch too) and conflicts are its job; nothing is
	// changed when it fails. It returns the id of the first row; the others follow.
	Insert(ctx context.Context, s device.Stream, t *catalog.Table, b *arrow.Batch) (int64, error)
	// Delete removes rows by id and returns how many were there: an id that is
	// given twice counts once.
	Delete(ctx context.Context, s device.Stream, t *catalog.Table, rows []int64) (int64, error)
	// Update replaces rows[i] by row i of b. Uniqueness holds at the end of
	// the statement: all rows are given at once.
	Update(ctx context.Context, s device.Stream, t *catalog.Table, rows []int64, b *arrow.Batch) (int64, error)
	// File opens a file as a table.
	File(ctx context.Context, f *planner.FileScan, batchRows int) (FileReader, error)
}

// Moment says what number AsOf is given.
type Moment uint8

// The moments.
const (
	ByVersion Moment = iota
	ByTime
)

// FileReader gives a file's columns batch by batch: FileScan.Columns and then
// FileScan.Fetch. Next is safe for concurrent use when every caller has its own
// cursor; a nil batch is the end. A batch is valid until the cursor's next call.
type FileReader interface {
	// Cursor is a reader of parts that no other cursor gets.
	Cursor(m device.Allocator, s device.Stream) (FileCursor, error)
	// Parts is how many parts there are to share.
	Parts() int
	Close() error
}

// BoundedReader is a FileReader that knows what values its parts have.
type BoundedReader interface {
	FileReader
	// Bounds are of column i of FileScan.Columns in a part; false when they are not known.
	Bounds(part, i int) (arrow.Bounds, bool)
	// Order has the parts read in an order, less those for which skip answers true
	// when their turn comes. It comes before the first Cursor.
	Order(parts []int, skip func(part int) bool)
}

// FileCursor reads parts of a file, for one goroutine.
type FileCursor interface {
	Next(context.Context) (*arrow.Batch, error)
	Close() error
}

// Range is planner.KeyRange with its values known.
type Range = index.Range
