package exec

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec/spill"
	"github.com/gpusql/gpusql/planner"
)

// Spill is where operators put what memory has no room for.
type Spill struct {
	Area *spill.Area
	// Always has every operator that can do so, for tests.
	Always bool
}

// room is the memory that the operators of a query share which can go on
// without: they ask before they grow, and spill when the answer is no.
//
//	limit ├──────────── in use ───────────┼─ claims ─┼── a quarter, for all others ──┤
//
// What one holds is counted where it is allocated; what it will need besides,
// to take its next batch and to finish, is its claim.
type room struct {
	mu     sync.Mutex
	scope  *device.Scope // nil: there is no limit
	claims int64
	always bool
}

// room is the query's.
func (q *query) room() *room {
	top := q.top()
	return shared(top, roomOf{}, func() *room {
		r := &room{}
		if s := q.env.Spill; s != nil {
			r.scope, _ = q.env.Memory.(*device.Scope)
			r.always = s.Always
		}
		return r
	})
}

// roomOf keys a query's room.
type roomOf struct{}

// claim is what one operator of a worker will need. Its zero value is for an
// operator that cannot spill.
type claim struct {
	r     *room
	bytes int64
}

// claim is for an operator that can spill.
func (w *worker) claim() claim { return claim{r: w.q.room()} }

// A claim that is so small a part of the memory is granted from the quarter, or
// operators that hold much would make others spill row by row.
const smallClaim = 128

// ask claims need bytes besides the held ones. When the answer is false the
// operator has to spill, and claims nothing.
func (c *claim) ask(held, need int64) bool {
	r := c.r
	if r == nil || r.scope == nil && !r.always {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claims -= c.bytes
	c.bytes = 0
	if r.always {
		return false
	}
	free := r.scope.Room()
	if free == math.MaxInt64 {
		return true
	}
	all := free + r.scope.Used()
	if r.claims+need > free-all/4 && (held+need > all/smallClaim || need > free/2) {
		return false
	}
	c.bytes = need
	r.claims += need
	return true
}

// drop ends the claim.
func (c *claim) drop() {
	if c.r != nil && c.bytes > 0 {
		c.r.mu.Lock()
		c.r.claims -= c.bytes
		c.r.mu.Unlock()
		c.bytes = 0
	}
}

// spiller takes the rows that collect finds no room for.
type spiller interface {
	overflow(w *worker) overflow
	// spilled reports whether it has been given any. Those who write have ended.
	spilled() bool
}

// overflow is one worker's way to a spiller.
type overflow interface {
	// write takes the rows of a store, and empties it.
	write(ctx context.Context, rows *rowStore) error
	// begun reports whether rows were written.
	begun() bool
	// need is the memory that it takes to write n rows, or to do what is wanted
	// with them when they all fit.
	need(n int) int64
	// finish comes after the last write, release after all.
	finish() error
	release()
}

// frameBytes is how large a frame of a temporary file should be: large enough
// for a disk, small enough that some hundred can be in memory.
func (q *query) frameBytes() int {
	return int(max(minFrame, min(q.room().all()/4096, maxFrame)))
}

const (
	minFrame = 4 << 10
	maxFrame = 256 << 10
)

// all is the memory that the query may have, a lot where there is no limit.
func (r *room) all() int64 {
	if r.always || r.scope == nil {
		return 0
	}
	free := r.scope.Room()
	if free == math.MaxInt64 {
		return free
	}
	return free + r.scope.Used()
}

// fewerRows is how many rows a batch of a query has that has little memory: each
// worker has some batches, and what it keeps grows by one at least.
func (q *query) fewerRows(rows int) int {
	if all := q.room().all(); all > 0 {
		rows = int(min(int64(rows), max(1024, all/4096&^63)))
	}
	return rows
}

// spillFiles are the temporary files of what a node's operators cannot keep: one
// a worker, who alone writes to it.
type spillFiles struct {
	mu sync.Mutex
	of map[*worker]*spill.File
}

// file is the worker's file.
func (f *spillFiles) file(w *worker, n planner.Node) (*spill.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if have := f.of[w]; have != nil {
		return have, nil
	}
	made, err := w.q.env.Spill.Area.Create(w.q.spilt(n))
	if err != nil {
		return nil, err
	}
	if f.of == nil {
		f.of = map[*worker]*spill.File{}
	}
	f.of[w] = made
	return made, nil
}

// release gives all files back; nobody writes or reads any more.
func (f *spillFiles) release() {
	for _, file := range f.of {
		file.Close()
	}
	f.of = nil
}

// spilt counts what a node puts on disk; nil when nobody asks.
func (q *query) spilt(n planner.Node) *atomic.Int64 {
	if s := q.env.Stats; s != nil {
		return s.spills(n)
	}
	return nil
}
