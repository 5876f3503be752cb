package index

import "github.com/gpusql/gpusql/sqltype"

// Keys is a batch of encoded keys of one Codec: Words if it packs a key into a
// word, Bytes otherwise; the other is nil.
type Keys struct {
	Words []uint64
	Bytes []string
}

// Len is the number of keys.
func (k Keys) Len() int { return len(k.Words) + len(k.Bytes) }

// Entries is a change: entry i is key i for row Rows[i], to be deleted when
// Dead[i] (nil: none is) and inserted otherwise. Sorted says that they are in
// (key, row) order already. Apply may keep the strings and nothing else.
type Entries struct {
	Keys   Keys
	Rows   []int64
	Dead   []bool
	Sorted bool
}

// Ranges are the answers to a batch of lookups: those of key i are
// Rows[Offsets[i]:Offsets[i+1]], ascending.
type Ranges struct {
	Offsets []int
	Rows    []int64
}

// Interval is the keys from Lo to below Hi.
type Interval struct {
	Lo, Hi Key
	NoHi   bool // nothing above: Hi is not looked at
	Empty  bool
}

// Key is one encoded key: a word, or bytes.
type Key struct {
	Word  uint64
	Bytes string
}

// Index is an ordered map from keys to row ids.
type Index interface {
	// Apply changes the index by a batch.
	Apply(Entries) error
	// Snapshot is the index as it is now.
	Snapshot() Snapshot
	// Stats say how large it is.
	Stats() Stats
	// Check verifies the structure, and returns what is wrong with it.
	Check() error
	Close() error
}

// Snapshot is an index at one moment. It is safe for concurrent use.
type Snapshot interface {
	// Lookup finds the rows of each key, in any order of keys, appending to r's slices.
	Lookup(k Keys, r Ranges) Ranges
	// Scan calls yield with the row ids of the interval in order, some at a time,
	// until it returns false. The slice is valid during the call.
	Scan(iv Interval, d Direction, yield func(rows []int64) bool)
	// Count is the number of entries of the interval.
	Count(iv Interval) int
	Release()
}

// Direction is an order of a scan.
type Direction uint8

// The directions.
const (
	Forward Direction = iota
	Backward
)

// Stats are the size of an index.
type Stats struct {
	Entries int
	Bytes   int64 // of memory, keys and structure
	Height  int
}

// Range is a range of rows by the values of the key columns: those that begin
// with Prefix and whose next column lies between Lo and Hi (nil: open). A NULL
// among them makes it empty.
type Range struct {
	Prefix         []sqltype.Datum
	Lo, Hi         *sqltype.Datum
	LoOpen, HiOpen bool
	Reverse        bool
	Limit          int64
}
