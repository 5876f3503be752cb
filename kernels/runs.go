package kernels

import "github.com/gpusql/gpusql/device"

// MaxRuns is the most runs of a state, and runsPiece how many entries of a run a
// thread writes at most to an answer.
//
//gpu:layout
const (
	MaxRuns   = 8
	runsPiece = 32
)

// Runs are packed trees, the newest first. An entry of one is a change of the set
// of (key, row) pairs: a live one adds a pair that is in no older run, or that
// the next older run with the pair has dead; a dead one takes one away. So the
// pairs of a range are the live entries less the dead ones, and a pair is there if
// an odd number of runs have it.
//
//gpu:layout
type Runs struct {
	T [MaxRuns]Tree
	N uint32
	_ uint32
}

// RunsRead is a question to more than one run.
//
//	bounds  each range, each run: the entries between      Spans, and counts at Offsets
//	pieces  a range is cut at every runsPiece-th entry of each of its runs
//	fill    a thread a piece: the runs are merged from the cut on up to the next one
//
//gpu:layout
type RunsRead struct {
	R              Runs
	LoKeys, LoRows device.Ptr // see index.Bound
	HiKeys, HiRows device.Ptr
	Ops            device.Ptr // only those that are Only are asked, 0: all
	Spans          device.Ptr // of each range, of each run: where it begins and ends, twice 32 bits; 0: only counts
	Pieces         device.Ptr // of each range
	Offsets        device.Ptr // of answers; Bounds puts counts there
	Rows, Keys     device.Ptr // answers
	Counts, State  device.Ptr // of Find: entries of each key, 8 bits, and what there is
	N              uint64
	Limit          uint64
	Backward       uint32
	HiAfter        uint32 // ranges end behind the rows of Hi's keys
	Only           uint32
	_              uint32
}

// What RunsRead.Find says of all keys, at State.
//
//gpu:layout
const (
	RunsNotOne = 1 // some key has another number of entries than one
	RunsMany   = 2 // some key has more than one
)

// RunsWrite is a batch on its way to a run.
//
//gpu:layout
type RunsWrite struct {
	R       Runs
	Items   TreeItems
	To      Tree
	Effects device.Ptr // of each change: 8 bits; 0: each comes
	Places  device.Ptr // of each change: 32 bits, how many before it have an effect
	Totals  device.Ptr // changes that have an effect, and those that take away, twice 64 bits
	Tails   device.Ptr // copies' addresses
	N       uint64
}

// RunsMerge merges two runs that are neighbours in age.
//
//gpu:layout
type RunsMerge struct {
	Old, New, To Tree
	Tiles        device.Ptr // 32 bits a tile: what stays of it, then of those before; 0: all stays
	Tails        device.Ptr // copies' addresses, of the entries of Old; 0: they are where they were
	N            uint64     // entries of both
}

var (
	runsFinds  = treeKernels[RunsRead](codeRunsFind4, codeRunsFind8)
	runsBounds = treeKernels[RunsRead](codeRunsBounds4, codeRunsBounds8)
	runsSpots  = treeKernels[RunsRead](codeRunsSpots4, codeRunsSpots8)
	runsFills  = treeKernels[RunsRead](codeRunsFill4, codeRunsFill8)
	runsLook   = treeKernels[RunsWrite](codeRunsResolve4, codeRunsResolve8)
	runsWrite  = treeKernels[RunsWrite](codeRunsWrite4, codeRunsWrite8)
	runsCount  = treeKernels[RunsMerge](codeRunsCount4, codeRunsCount8)
	runsMerge  = treeKernels[RunsMerge](codeRunsMerge4, codeRunsMerge8)
	runsSums   = treeKernel[RunsMerge](codeRunsSums)
)

func (r *Runs) narrow() uint32 { return r.T[0].Form.Narrow }

// Find looks for keys of one word, at LoKeys: it writes offsets and rows that are
// right if each has one entry, how many each has at Counts, 2 for more, and what
// there is at State, which is clear.
func (a *RunsRead) Find(s device.Stream) error {
	return device.Launch(s, runsFinds[a.R.narrow()], int(a.N), *a)
}

// Bounds writes how many entries each range has at Offsets, and if Spans is not 0,
// these and Pieces.
func (a *RunsRead) Bounds(s device.Stream) error {
	k := runsSpots
	if a.R.T[0].Form.Rest == 0 && a.LoRows|a.HiRows|a.Ops == 0 && a.HiAfter == 0 {
		k = runsBounds
	}
	return device.Launch(s, k[a.R.narrow()], int(a.N), *a)
}

// Fill writes the rows, and keys if Keys is not 0, given the pieces before each
// range, of which there are so many.
func (a *RunsRead) Fill(s device.Stream, pieces int) error {
	return device.Launch(s, runsFills[a.R.narrow()], pieces, *a)
}

// Resolve finds out what each change does.
func (a *RunsWrite) Resolve(s device.Stream) error {
	return device.Launch(s, runsLook[a.To.Form.Narrow], int(a.N), *a)
}

// Write writes those that do something to the new run, whose Dead bits are clear.
func (a *RunsWrite) Write(s device.Stream) error {
	return device.Launch(s, runsWrite[a.To.Form.Narrow], int(a.N), *a)
}

// TileCount is how many numbers Tiles has.
func (a *RunsMerge) TileCount() int { return codeRunsMerge4.Grid(int(a.N), 0) }

// Count writes how many entries stay of each tile.
func (a *RunsMerge) Count(s device.Stream) error {
	return device.Launch(s, runsCount[a.Old.Form.Narrow], int(a.N), *a)
}

// Merge writes what stays, in order. Dead bits are clear before.
func (a *RunsMerge) Merge(s device.Stream) error {
	return device.Launch(s, runsMerge[a.Old.Form.Narrow], int(a.N), *a)
}

// Sum writes the sums of a packed tree with dead entries, which takes ScanBytes of its
// leaves and one.
func (t *Tree) Sum(s device.Stream, total, scratch device.Ptr) error {
	n := t.Leaves() + 1
	if err := device.Launch(s, runsSums, n, RunsMerge{To: *t}); err != nil {
		return err
	}
	return Scan(s, 4, t.Sums, t.Sums, n, total, scratch)
}
