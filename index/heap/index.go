package heap

import "github.com/gpusql/gpusql/index"

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
	Scan(iv index.Interval, d index.Direction, yield func(rows []int64) bool)
	// Count is the number of entries of the interval.
	Count(iv index.Interval) int
	Release()
}

// Stats are the size of an index.
type Stats struct {
	Entries int
	Bytes   int64 // of memory, keys and structure
	Height  int
}
