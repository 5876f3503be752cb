package kernels

import "github.com/gpusql/gpusql/device"

// TreeDirect is a batch of N changes, of keys of one word, on its way to a state
// without being put in order:
//
//	meet    each change: its leaf, its place there; it is hung to its leaf's list
//	settle  each leaf: where it comes, given those before it; what it becomes, if
//	        it has a list, and the nodes above it that end with it
//
// How much settle writes nobody knows before: it is given room that is likely to
// do, and counts on where it does not.
//
//gpu:layout
type TreeDirect struct {
	From, To Tree       // To: with room for Most leaves, see Tree.Trim
	Keys     device.Ptr // as they came, like all that follows
	Rows     device.Ptr
	Ops      device.Ptr // 0: all are Op
	Links    device.Ptr // of each leaf: the last of its changes, see linkMore
	Next     device.Ptr // of each change: the one before it of the same leaf
	Totals   device.Ptr // TreeMet; like Links and State clear before Meet and after Settle
	Other    device.Ptr // the next batch's TreeMet
	State    device.Ptr // what blocks of Settle tell each other
	Ring     device.Ptr
	N        uint64
	Head     uint64 // where slots are taken
	Tail     uint64 // where they are given back
	Mask     uint64
	Slots    uint32 // that may be taken
	Most     uint32
	Op       uint32
	_        uint32
}

// A link is the number of a change and 1, and what the change is to its leaf. A
// list with more than one change has linkMore in its first link; one with more
// than linkMost is not for this way.
//
//gpu:layout
const (
	linkNumber = 1<<24 - 1
	linkMore   = 1 << 24
	linkPlace  = 25 // the bit where its place begins
	linkActs   = 1 << 30
	linkThere  = 1 << 31
	linkMost   = 16
)

// TreeMostDirect is the most changes of a TreeDirect.
const TreeMostDirect = linkNumber - 1

// TreeMet are sums over a batch.
//
//gpu:layout
type TreeMet struct {
	Taken uint64 // slots, and from bit 32 on the leaves that become others
	Size  uint64 // entries of the new state, and from bit 32 on its leaves
	Other uint32 // 1: there is an upsert, or a row that leaves have no room for
	Long  uint32 // 1: a list is too long
	Done  uint32 // blocks
	_     uint32
}

// Slots, Groups, Leaves and Entries are the halves of the sums.
func (m *TreeMet) Slots() int   { return int(uint32(m.Taken)) }
func (m *TreeMet) Groups() int  { return int(m.Taken >> 32) }
func (m *TreeMet) Leaves() int  { return int(m.Size >> 32) }
func (m *TreeMet) Entries() int { return int(uint32(m.Size)) }

// Fits says whether what Settle wrote is a state.
func (m *TreeMet) Fits(a *TreeDirect) bool {
	return m.Slots() <= int(a.Slots) && m.Leaves() <= int(a.Most)
}

var (
	treeMeet   = treeKernels[TreeDirect](codeTreeMeet4, codeTreeMeet8)
	treeSettle = treeKernels[TreeDirect](codeTreeSettle4, codeTreeSettle8)
)

// DirectKept is the bytes that batches keep for a tree of so many leaves.
func DirectKept(leaves int) int { return 256 + directState(leaves) + 4*leaves }

func directState(leaves int) int { return stateBytes(codeTreeSettle4, leaves) }

// Keep sets the places of what is kept for batch number i: DirectKept of capacity leaves
// at p.
func (a *TreeDirect) Keep(p device.Ptr, i, capacity int) {
	a.Totals, a.Other = p+device.Ptr(i%2*128), p+device.Ptr((i+1)%2*128)
	a.State = p + 256
	a.Links = a.State + device.Ptr(directState(capacity))
}

// Meet finds the place of each change.
func (a *TreeDirect) Meet(s device.Stream) error {
	return device.Launch(s, treeMeet[a.From.Form.Narrow], int(a.N), *a)
}

// Settle writes the new state, as far as there is room.
func (a *TreeDirect) Settle(s device.Stream) error {
	return device.Launch(s, treeSettle[a.From.Form.Narrow], a.From.Leaves(), *a)
}

// Trim sets a tree's size, which is not above what Lay was given, once it is known.
func (t *Tree) Trim(leaves, entries int) {
	at := t.Levels
	t.levels(leaves, 0)
	for h := range int(t.Height) {
		t.Levels[h] = at[h]
	}
	t.Entries = uint32(entries)
}
