package kernels

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// TreeKeys are the changes of a batch as they came, and the order that is made of
// them: Index has numbers of changes, 0 stands for the order that they have.
//
//gpu:layout
type TreeKeys struct {
	Form       TreeForm
	Keys, Rows device.Ptr
	Index      device.Ptr
	Out        device.Ptr
	Low        device.Ptr // of Facts: where rows go as 32 bits, 0: nowhere
	Word       uint32     // of Words: which to write; as many as a key's: the row
	Width      uint32     // of Merge: of the runs that are in order
}

// TreeFacts is what is known of a batch before it is put in order; all of it is 0
// before anybody looks. Word number Rest+1-Long of a key, behind all others, is the row.
//
//gpu:layout
type TreeFacts struct {
	Or, Not  [9]uint64 // of the words of all keys: bits that some have, and that some have not
	First    uint64    // row, and the last one
	Last     uint64
	Fallen   uint32 // an entry is below the one before it
	RowsFall uint32 // a row is
	RowsSame uint32 // a row is that of the entry before it
	Tails    uint32 // a key has one
	Full     uint32 // RunsBatch has found no place for a change
	_        uint32
}

// TreeItems are changes in order of key and row, those of an entry as they came.
//
//gpu:layout
type TreeItems struct {
	Words    device.Ptr // first words, Stride bytes apart
	Rows     device.Ptr // 64 bits, or 32
	Index    device.Ptr // what else there is of a change is that of this number, 0: of its own
	Keys     device.Ptr
	Ops      device.Ptr // 0: all are Op
	Same     device.Ptr // numbers of keys, where there are upserts
	Upserts  device.Ptr // of each key: 1 + the number of the last upsert
	Stride   uint32
	KeySize  uint32
	Rows32   uint32
	Op       uint32
	Distinct uint32 // no entry is there twice
	_        uint32
}

// EffectAdd and effectRemove are what a change does; neither: nothing, where another
// one of its entry comes behind it, or where there is nothing to do. Beside them in
// a byte is twice its place in the leaf, and 1 when it is there. In Runs a change
// that removes has both.
//
//gpu:layout
const (
	EffectAdd    = 64
	effectRemove = 128
	effectPlace  = 63
)

// treeGroup is the changes of one leaf, and what becomes of it.
//
//gpu:layout
type treeGroup struct {
	First  uint32 // its first change
	Leaf   uint32 // number of the leaf
	Ref    uint32 // its ref, where there are leaves
	Count  uint32 // entries afterwards, in
	Leaves uint32 // so many leaves
	Before uint32 // leaves of the groups before
	At     uint32 // number of the first of them
	Sum    uint32 // entries before it
}

const treeGroupBytes = int(unsafe.Sizeof(treeGroup{}))

// TreeTotals are sums over a batch.
//
//gpu:layout
type TreeTotals struct {
	Groups  uint32
	Added   uint32 // entries that come less those that go, which may be below 0
	Leaves  uint64 // that are written
	Deleted uint64
	Large   uint64 // 1: a leaf has many changes
}

// TreeWrite is a batch of N changes on the way from one state to the next.
//
//	locate     each change: its leaf, its place there, whether it has an effect
//	group      running sums of changes and of leaves that are met
//	plan       each leaf that is met: what it will have, in how many leaves
//	directory  each leaf: where it comes, and how many entries before it
//	scatter    entries that come, and those that stay of leaves that are met, go
//	           to their places; who is last in a leaf writes its word
//	levels     the nodes above
//
//gpu:layout
type TreeWrite struct {
	From, To Tree
	Items    TreeItems
	Leaf     device.Ptr // of each change
	At       device.Ptr // of each change, 8 bits: twice its place, 1 if it is there, and an effect
	Prefix   device.Ptr // of each change: entries added and leaves met before, twice 32 bits
	First    device.Ptr // of each group
	Groups   device.Ptr
	Touched  device.Ptr // of each leaf: 1 + its group, 0 for none
	Totals   device.Ptr
	Grouped  device.Ptr // what blocks of Group tell each other, clear
	Planned  device.Ptr // of Plan
	Placed   device.Ptr // of Directory
	Ring     device.Ptr // numbers of free slots
	Tails    device.Ptr // copies' addresses: of each change, or of each entry when all are written
	Sizes    device.Ptr
	Base     device.Ptr
	N        uint64
	Head     uint64 // where slots are taken
	Tail     uint64 // where they are given back
	Mask     uint64 // the ring's size less one
}

var (
	treeFacts   = treeKernels[TreeKeys](loops(codeTreeFacts4), loops(codeTreeFacts8))
	treeWords   = treeKernels[TreeKeys](codeTreeWords4, codeTreeWords8)
	treeMerge   = treeKernel[TreeKeys](codeTreeMerge)
	treeHeads   = treeKernels[TreeWrite](codeTreeHeads4, codeTreeHeads8)
	treeUpserts = treeKernel[TreeWrite](codeTreeUpserts)
	treeLocate  = treeKernels[TreeWrite](codeTreeLocate4, codeTreeLocate8)
	treeGroups  = treeKernel[TreeWrite](codeTreeGroup)
	treePlan    = treeKernel[TreeWrite](codeTreePlan)
	treeDir     = treeKernels[TreeWrite](codeTreeDirectory4, codeTreeDirectory8)
	treeBuild   = treeKernels[TreeWrite](codeTreeBuild4, codeTreeBuild8)
	treeItems   = treeKernels[TreeWrite](codeTreeItems4, codeTreeItems8)
	treeScatter = treeKernels[TreeWrite](codeTreeScatter4, codeTreeScatter8)
	treeAll     = treeKernels[TreeWrite](codeTreeAll4, codeTreeAll8)
	treeUpper   = treeKernels[TreeWrite](codeTreeUpper4, codeTreeUpper8)
	treeTails   = treeKernel[TreeWrite](codeTreeItemTails)
	treeOlds    = treeKernel[TreeWrite](codeTreeEntryTails)
	treeSizes   = treeKernel[TreeWrite](codeTreeTailSizes)
	treeCopies  = treeKernel[TreeWrite](codeTreeTailCopy)
	treeCheck   = treeKernels[TreeCheck](codeTreeCheck4, codeTreeCheck8)
	treeFree    = treeKernel[TreeCheck](codeTreeCheckFree)
	treeRing    = treeKernel[TreeRing](codeTreeRing)
)

// loops is code whose blocks go on until all is done.
func loops(c *device.Code) *device.Code {
	bound := *c
	bound.PerSM = 8
	return &bound
}

// Facts adds what n changes are like to the TreeFacts at Out, and writes Low.
func (a *TreeKeys) Facts(s device.Stream, n int) error {
	return device.Launch(s, treeFacts[a.Form.Narrow], n, *a)
}

// Words writes a word of n keys in their order: the first of narrow keys as 32
// bits, all others as 64.
func (a *TreeKeys) Words(s device.Stream, n int) error {
	return device.Launch(s, treeWords[a.Form.Narrow], n, *a)
}

// Merge writes the order of n keys by their tails, given runs of Width in order.
func (a *TreeKeys) Merge(s device.Stream, n int) error { return device.Launch(s, treeMerge, n, *a) }

// Heads writes for each change whether its key is another than the one before, 32 bits, at Leaf.
func (a *TreeWrite) Heads(s device.Stream) error {
	return device.Launch(s, treeHeads[a.From.Form.Narrow], int(a.N), *a)
}

// Upserts numbers the keys, given the heads before each change at Items.Same, and
// finds the last upsert of each.
func (a *TreeWrite) Upserts(s device.Stream) error {
	return device.Launch(s, treeUpserts, int(a.N), *a)
}

// Locate finds the place of each change.
func (a *TreeWrite) Locate(s device.Stream) error {
	return device.Launch(s, treeLocate[a.From.Form.Narrow], int(a.N), *a)
}

// Room sets the places of what is known of N changes in memory at p, and returns
// the bytes that they take, and how many of these are clear before Group; p may
// be 0 to ask for these.
func (a *TreeWrite) Room(p device.Ptr) (bytes, clear int) {
	n, leaves := int(a.N), a.From.Leaves()
	most, from := min(n, max(leaves, 1)), p
	place := func(to *device.Ptr, n int) {
		*to = p
		p += device.Ptr(n+255) &^ 255
	}
	place(&a.Totals, 64)
	place(&a.Grouped, stateBytes(codeTreeGroup, n))
	place(&a.Planned, stateBytes(codeTreePlan, most))
	place(&a.Placed, stateBytes(codeTreeDirectory4, max(leaves, 1)))
	place(&a.Touched, 4*leaves)
	clear = int(p - from)
	place(&a.Leaf, 4*n)
	place(&a.At, n)
	place(&a.Prefix, 8*(n+1))
	place(&a.First, 4*(most+1))
	place(&a.Groups, treeGroupBytes*most)
	return int(p - from), clear
}

// stateBytes is what blocks tell each other: a counter, and two words a tile.
func stateBytes(c *device.Code, n int) int { return 16 + 16*c.Grid(n, 0) }

// Group sums up the effects, and finds the changes that are the first of a leaf.
func (a *TreeWrite) Group(s device.Stream) error {
	return device.Launch(s, treeGroups, int(a.N), *a)
}

// Plan says what becomes of the leaves that are met.
func (a *TreeWrite) Plan(s device.Stream) error {
	return device.Launch(s, treePlan, min(int(a.N), max(a.From.Leaves(), 1)), *a)
}

// Directory writes the leaves that stay to the new state.
func (a *TreeWrite) Directory(s device.Stream) error {
	return device.Launch(s, treeDir[a.From.Form.Narrow], a.From.Leaves(), *a)
}

// Scatter writes the new leaves of so many groups, and gives the old ones' slots back.
func (a *TreeWrite) Scatter(s device.Stream, t TreeTotals) error {
	if t.Large != 0 {
		if err := device.Launch(s, treeItems[a.From.Form.Narrow], int(a.N), *a); err != nil {
			return err
		}
	}
	return device.Launch(s, treeScatter[a.From.Form.Narrow], int(t.Groups)*TreeLeaf, *a)
}

// Build writes the changes to the leaves of a new tree, all of them entries that
// come.
func (a *TreeWrite) Build(s device.Stream) error {
	return device.Launch(s, treeBuild[a.From.Form.Narrow], int(a.N), *a)
}

// All writes all entries to new leaves.
func (a *TreeWrite) All(s device.Stream) error {
	return device.Launch(s, treeAll[a.From.Form.Narrow], a.From.Leaves()*TreeLeaf, *a)
}

// Upper writes the nodes above the leaves.
func (a *TreeWrite) Upper(s device.Stream) error {
	n := treeFan
	for _, c := range a.To.Counts[1:] {
		n += int(c) + treeFan
	}
	return device.Launch(s, treeUpper[a.From.Form.Narrow], n, *a)
}

// ItemTails writes the tails that changes add at Tails, EntryTails those of all
// entries.
func (a *TreeWrite) ItemTails(s device.Stream) error {
	return device.Launch(s, treeTails, int(a.N), *a)
}
func (a *TreeWrite) EntryTails(s device.Stream) error {
	return device.Launch(s, treeOlds, a.From.Leaves()*TreeLeaf, *a)
}

// TailSizes writes the words of n Tails at Sizes; TailCopies copies them to Base,
// given the words before each at Sizes, and writes their new addresses.
func (a *TreeWrite) TailSizes(s device.Stream, n int) error {
	return device.Launch(s, treeSizes, n, *a)
}
func (a *TreeWrite) TailCopies(s device.Stream, n int) error {
	return device.Launch(s, treeCopies, n, *a)
}

// TreeRing is the queue of free slots on its way to a larger one, with N new ones
// in front.
//
//gpu:layout
type TreeRing struct {
	From, To         device.Ptr
	FromMask, ToMask uint64
	Head, N          uint64 // where the old ones begin; the new ones
	First            uint64 // number of the first new slot
}

// Move writes n numbers, of new and of old slots.
func (a *TreeRing) Move(s device.Stream, n int) error { return device.Launch(s, treeRing, n, *a) }

// TreeCheck looks for what is wrong with a tree, and with its free slots.
//
//gpu:layout
type TreeCheck struct {
	T      Tree
	Marks  device.Ptr // 32 bits a slot, 0
	Ring   device.Ptr
	Status device.Ptr
	Head   uint64
	Mask   uint64
	Slots  uint64
}

// Check fails the stream when something is wrong.
func (a *TreeCheck) Check(s device.Stream, free int) error {
	if err := device.Launch(s, treeCheck[a.T.Form.Narrow], a.T.Leaves(), *a); err != nil {
		return err
	}
	return device.Launch(s, treeFree, free, *a)
}
