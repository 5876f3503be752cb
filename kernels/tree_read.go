package kernels

import "github.com/gpusql/gpusql/device"

// TreeRead is a question to a tree that has entries.
//
//gpu:layout
type TreeRead struct {
	T              Tree
	LoKeys, LoRows device.Ptr // see index.Bound
	HiKeys, HiRows device.Ptr
	Ops, Begin     device.Ptr // Ops: only those that are Only are asked, 0: all. Begin: see bounds
	Offsets        device.Ptr // of answers; bounds puts counts there
	Rows, Keys     device.Ptr // answers
	Found, Counts  device.Ptr // of Find: rows, and 8 bits a key
	State          device.Ptr // TreeFindBytes, clear
	Longest        device.Ptr // of Bounds: the most answers of a range, 32 bits, clear; 0: not wanted
	N, Room        uint64     // questions; rows that there is room for
	Limit          uint64
	Backward       uint32
	HiAfter        uint32 // ranges end behind the rows of Hi's keys
	Only           uint32
	_              uint32
}

var (
	treeFinds  = treeKernels[TreeRead](codeTreeFind4, codeTreeFind8)
	treeGives  = treeKernels[TreeRead](codeTreeGive4, codeTreeGive8)
	treeBounds = treeKernels[TreeRead](codeTreeBounds4, codeTreeBounds8)
	treeSpots  = treeKernels[TreeRead](codeTreeSpots4, codeTreeSpots8)
	treeFills  = treeKernels[TreeRead](codeTreeFill4, codeTreeFill8)
	treeTiny   = treeKernels[TreeRead](codeTreeTiny4, codeTreeTiny8)
	treeShort  = treeKernels[TreeRead](codeTreeShort4, codeTreeShort8)
	treeMiddle = treeKernels[TreeRead](codeTreeMiddle4, codeTreeMiddle8)
)

// TreeFindBytes is the State of a lookup of n keys.
func TreeFindBytes(n int) int { return stateBytes(codeTreeGive4, max(n, 1)) }

// Find looks for keys of one word, at LoKeys, as if each had one entry: it writes
// the offsets that are then right, the rows, how many entries each has at Counts,
// and at State whether some key has another number than one.
func (a *TreeRead) Find(s device.Stream) error {
	return device.Launch(s, treeFinds[a.T.Form.Narrow], int(a.N), *a)
}

// Give writes the offsets and rows that are right, given what Find wrote: rows
// beyond Room are not written, and Offsets[N] says how many there are.
func (a *TreeRead) Give(s device.Stream) error {
	return device.Launch(s, treeGives[a.T.Form.Narrow], int(a.N), *a)
}

// Bounds writes how many entries each range has at Offsets, and at Begin, if that
// is not 0, where they begin: an entry's number, and its leaf or all ones.
func (a *TreeRead) Bounds(s device.Stream) error {
	k := treeSpots
	if a.T.Form.Rest == 0 && a.LoRows|a.HiRows|a.Ops == 0 && a.HiAfter == 0 {
		k = treeBounds
	}
	return device.Launch(s, k[a.T.Form.Narrow], int(a.N), *a)
}

// Fill writes the rows, and keys if Keys is not 0, of total entries, longest of them
// of one range at most: by ranges where these have about as many each, or where none
// has many, or else by answers, whatever ranges they are of.
func (a *TreeRead) Fill(s device.Stream, total, longest int) error {
	const few, most = 1 << 10, 1 << 13
	each := total / int(a.N)
	k, n := treeFills, total
	if a.Backward == 0 && (longest <= few || longest <= min(8*each, most)) {
		n = int(a.N)
		switch {
		case each < 16:
			k = treeTiny
		case each < 48:
			k = treeShort
		default:
			k = treeMiddle
		}
	}
	return device.Launch(s, k[a.T.Form.Narrow], n, *a)
}
