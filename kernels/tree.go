package kernels

import "github.com/gpusql/gpusql/device"

// A tree is an ordered index in a GPU's memory: package index/wide draws it, and
// says what stays true of it. Here are its words as kernels see them, in
// tree_read.go what is asked of it, and in tree_write.go how one becomes the next.

// TreeLeaf is the most entries of a leaf, treeFill what one is given when many
// are written. A ref is the number of a leaf's slot times TreeLeaf, and its
// entries less one. An inner node has treeFan words.
//
//gpu:layout
const (
	TreeLeaf   = 16
	treeFill   = 15
	treeFan    = 16
	treeLevels = 7
	// TreeUnit is the logarithm of how many slots lie side by side.
	TreeUnit = 12
)

// TreeForm is how an entry lies in a leaf: the first words of all, the other
// words of all, the rows of all.
//
//gpu:layout
type TreeForm struct {
	Narrow  uint32 // the first word has 32 bits
	Rest    uint32 // 64-bit words of a key after the first; of a long one the last is its tail's address
	Long    uint32
	Wide    uint32 // rows have 64 bits
	Block   uint32 // bytes of a leaf
	RestAt  uint32 // where its other words begin
	RowsAt  uint32
	KeySize uint32 // of a key in a batch
}

// NewTreeForm is the form of entries with keys of so many words.
func NewTreeForm(words int, narrow, long, wide bool) TreeForm {
	f := TreeForm{Rest: uint32(words - 1), RestAt: 8 * TreeLeaf, KeySize: uint32(8 * words)}
	row := uint32(4)
	if narrow {
		f.Narrow, f.RestAt, f.KeySize = 1, 4*TreeLeaf, 4
	}
	if long {
		f.Long = 1
		f.Rest++
		f.KeySize += 8
	}
	if wide {
		f.Wide, row = 1, 8
	}
	f.RowsAt = f.RestAt + 8*f.Rest*TreeLeaf
	f.Block = f.RowsAt + row*TreeLeaf
	return f
}

// Word is the bytes of a first word.
func (f TreeForm) Word() int { return 8 - 4*int(f.Narrow) }

// Tree is one state of a tree. One that is packed has no refs: its leaves lie side
// by side at Slots, and all but the last are full. It may have entries that are
// dead, see Runs.
//
//gpu:layout
type Tree struct {
	Form    TreeForm
	Levels  [treeLevels]device.Ptr // the last word of each leaf, of each node of those, and so on
	Counts  [treeLevels]uint32     // how many there are; Counts[0] are leaves
	Refs    device.Ptr             // of each leaf, 32 bits
	Sums    device.Ptr             // 32 bits: entries before each leaf, and at last all; packed: live ones less dead ones, 0: none is dead
	Slots   device.Ptr             // addresses of units of slots
	Dead    device.Ptr             // packed: a bit an entry, 0: none
	Height  uint32                 // levels
	Entries uint32
}

// Leaves is the number of leaves.
func (t *Tree) Leaves() int { return int(t.Counts[0]) }

// Lay sets the places and counts of a directory of so many leaves in memory at
// p, and returns the bytes that it takes; p may be 0 to ask for these.
func (t *Tree) Lay(leaves int, p device.Ptr) int {
	from := p
	t.Refs = t.levels(leaves, p)
	t.Sums = t.Refs + device.Ptr(4*leaves+127)&^127
	return int(t.Sums + device.Ptr(4*leaves+4) - from)
}

// Pack is Lay of a packed tree, leaves and all.
func (t *Tree) Pack(entries int, dead bool, p device.Ptr) int {
	leaves := (entries + TreeLeaf - 1) / TreeLeaf
	from := p
	t.Slots, t.Entries = p, uint32(entries)
	p = t.levels(leaves, p+device.Ptr(leaves*int(t.Form.Block)+127)&^127)
	if dead {
		t.Dead, p = p, p+device.Ptr(2*leaves+127)&^127
		t.Sums, p = p, p+device.Ptr(4*leaves+4)
	}
	return int(p - from)
}

// levels lays the directory without refs, and returns where it ends.
func (t *Tree) levels(leaves int, p device.Ptr) device.Ptr {
	word := t.Form.Word()
	t.Counts, t.Levels, t.Height = [treeLevels]uint32{}, [treeLevels]device.Ptr{}, 0
	for n := leaves; n > 0; n = (n + treeFan - 1) / treeFan {
		t.Levels[t.Height], t.Counts[t.Height] = p, uint32(n)
		t.Height++
		p += device.Ptr((n + treeFan - 1) / treeFan * treeFan * word)
		if n <= treeFan {
			break
		}
	}
	return p
}

// byWord is a kernel for first words of 32 and of 64 bits.
type byWord[A any] [2]*device.Kernel[A]

func treeKernels[A any](narrow, wide *device.Code) byWord[A] {
	return byWord[A]{{Name: wide.Entry, Code: wide}, {Name: narrow.Entry, Code: narrow}}
}

func treeKernel[A any](c *device.Code) *device.Kernel[A] {
	return &device.Kernel[A]{Name: c.Entry, Code: c}
}
