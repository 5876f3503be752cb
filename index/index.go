package index

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gpusql/gpusql/device"
)

// Version is a number of the database's clock. Apply is given them in ascending
// order, equal ones allowed.
type Version = uint64

// Latest is the version of whatever was applied last.
const Latest Version = 1<<64 - 1

// ErrVersion: a version is asked for that was pruned, or applied after a later one.
var ErrVersion = errors.New("index: no such version any more")

// Kind is a kind of index: what CREATE INDEX ... USING names.
type Kind struct {
	Name string
	// History says that a snapshot answers for the version that it was taken
	// at, whenever it is taken. Of other kinds it answers for the moment.
	History bool
	// New makes an empty index. It keeps nothing of mem but buffers.
	New func(mem device.Allocator, f Format) (Index, error)
}

// Index is an ordered set of (key, row) entries in a device's memory.
//
// Apply, Prune and Check are called by one goroutine at a time. Snapshot and
// Stats are safe at any time, and so are the snapshots. Close comes last, after
// the last Release.
//
// Streams are of the device that mem is of. Memory that is passed by address is
// read by work on the stream: it may be released or overwritten when the call
// returns on a CPU, and on any device after the stream's next Download or Wait.
type Index interface {
	// Apply changes the index by a batch, as if its entries came one after the
	// other; all of it or, with an error, nothing. Snapshots that are taken
	// after it returns, and none that were taken before it began, see it. v is
	// at least that of the Apply before it. To an index without entries it is
	// the bulk build.
	Apply(s device.Stream, v Version, e Entries) error
	// Snapshot is the index at version v: of a kind with history what was
	// applied with versions up to v, or ErrVersion when that was pruned; of
	// others all that was applied. It may wait for a small Apply under way, and
	// never for a large one.
	Snapshot(v Version) (Snapshot, error)
	// Prune says that no snapshot below version horizon will be asked for, and
	// does some cleaning up. Held snapshots stay as they are.
	Prune(s device.Stream, horizon Version) error
	// Stats say how large the index is, at little cost.
	Stats() Stats
	// Check verifies the structure, and returns what is wrong with it.
	Check(s device.Stream) error
	// Close gives all memory back.
	Close() error
}

// Snapshot is an index at one moment: whatever is applied later does not change
// it. It is safe for concurrent use on streams of its users' own, and Release
// comes once, when they are done (their streams too).
type Snapshot interface {
	// Lookup finds the rows of each key: answer i are those of key i, ascending.
	Lookup(s device.Stream, k Keys, a *Answer) error
	// Scan finds the entries of each range, in the order that o says.
	Scan(s device.Stream, r Ranges, o Order, a *Answer) error
	// Count writes the number of entries of each range, r.N 64-bit numbers, to counts.
	Count(s device.Stream, r Ranges, counts device.Ptr) error
	Release()
}

// Keys are N keys of the index's Format at Data, in any order.
type Keys struct {
	Data device.Ptr
	N    int
}

// Op is what Apply does with an entry.
type Op uint8

// The changes. What is there already is not inserted twice, and what is not
// there is not deleted: neither is an error.
const (
	Insert Op = iota // add (key, row)
	Delete           // remove (key, row)
	Upsert           // remove all entries of the key, then add (key, row)
)

func (o Op) String() string {
	switch o {
	case Insert:
		return "insert"
	case Delete:
		return "delete"
	case Upsert:
		return "upsert"
	default:
		panic(fmt.Sprintf("index: no op %d", uint8(o)))
	}
}

// Entries are a batch of changes: change i is of key i with row i. The index
// copies what it keeps, tails of long keys too.
type Entries struct {
	Keys Keys
	Rows device.Ptr // Keys.N 64-bit row ids, unsigned
	Ops  device.Ptr // Keys.N bytes, each an Op; 0: all are Op
	Op   Op
	// Sorted promises ascending (key, row) order without repetition.
	Sorted bool
}

// Bound is one end of N ranges: a place between entries.
type Bound struct {
	// Keys are N keys; 0: the ranges are open at this end, all of them.
	Keys device.Ptr
	// Rows are N row ids: the place is just before (key, row). 0: before all
	// rows of the key.
	Rows device.Ptr
}

// Ranges are N ranges of entries, from the place Lo to the place Hi; one whose
// Hi is not above its Lo is empty.
//
//	key = k          Lo k, Hi the key after k      all      no Lo, no Hi
//	least above k    Lo the key after k, Limit 1   least    no Lo, no Hi, Limit 1
//	greatest below k Hi k, Backward, Limit 1       greatest the same, Backward
//	after (k, row)   Lo k with row+1: where a scan with a Limit goes on
//	before (k, row)  Hi k with row: the same backwards
type Ranges struct {
	N      int
	Lo, Hi Bound
}

// Direction is an order of a scan.
type Direction uint8

// The directions.
const (
	Forward Direction = iota
	Backward
)

// Order is how a scan answers.
type Order struct {
	Direction Direction
	Limit     int // the most entries of a range; 0: all
	// Keys asks for the entries' keys. Tails of long ones are the snapshot's,
	// and stay until its Release.
	Keys bool
}

// Stats are the size of an index.
type Stats struct {
	Entries int64 // of the latest version
	Bytes   int64 // of memory, all that the index holds
	Height  int   // levels to look at for a key
	// Applied is the latest version; Oldest the first that a snapshot answers for.
	Applied, Oldest Version
}

func (s Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d entries, %s, height %d", s.Entries, device.FormatBytes(s.Bytes), s.Height)
	return b.String()
}
