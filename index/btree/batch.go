package btree

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
	"github.com/gpusql/gpusql/index/change"
	"github.com/gpusql/gpusql/kernels"
)

// batch is the entries of one Apply.
//
//	Entries ─ load ─▶ items in order of the batch ─ sort ─▶ by (key, row, place)
//	                                              ─ resolve ─▶ each (key, row) once
//
// When all entries do the same and keys are one word, an item's at is its row.
// Otherwise it is its place in the batch, with the top bit for a deletion.
type batch struct {
	*layout
	items []item
	plain bool     // at is the row
	op    index.Op // of all, if ops is nil
	ops   []index.Op
	keys  unsafe.Pointer
	rows  []uint64

	n       int
	buffers []*device.Buffer
}

const deadBit = 1 << 63

func (b *batch) release() {
	for _, x := range b.buffers {
		x.Release()
	}
	b.buffers = b.buffers[:0]
}

// room is n values of off-heap memory that lasts as long as the batch.
func room[T any](b *batch, mem device.Allocator, n int) ([]T, error) {
	var one T
	buf, err := mem.Alloc(max(1, n*int(unsafe.Sizeof(one))))
	if err != nil {
		return nil, err
	}
	b.buffers = append(b.buffers, buf)
	return device.View[T](buf.Ptr(), n), nil
}

// load makes sorted items of entries.
func (b *batch) load(s device.Stream, mem device.Allocator, l *layout, e index.Entries) error {
	b.layout, b.n = l, e.Keys.N
	b.keys = unsafe.Pointer(unsafe.SliceData(device.View[byte](e.Keys.Data, 1)))
	b.rows = device.View[uint64](e.Rows, b.n)
	b.ops, b.op = device.View[index.Op](e.Ops, b.n), e.Op
	b.plain = b.ops == nil && b.op != index.Upsert && b.x == 0
	items, err := room[item](b, mem, b.n)
	if err != nil {
		return err
	}
	if b.n > kernels.PieceItems(s)/2 {
		err = b.loadLarge(s, mem, e, items)
	} else {
		err = b.loadSmall(mem, e, items)
	}
	if err != nil {
		return err
	}
	return b.resolve(s)
}

func (b *batch) loadSmall(mem device.Allocator, e index.Entries, items []item) error {
	b.fill(items, 0, b.n)
	if !e.Sorted {
		spare, err := room[item](b, mem, b.n)
		if err != nil {
			return err
		}
		s := sortWords(items, spare)
		if len(s) > 0 && &s[0] != &items[0] {
			items, spare = s, items
		}
		if !ascending(items) {
			b.sortTies(items, spare)
		}
	}
	b.items = items
	return nil
}

// loadLarge takes pieces and all cores.
func (b *batch) loadLarge(s device.Stream, mem device.Allocator, e index.Entries, items []item) error {
	b.items = items
	if e.Sorted || b.plain {
		if err := change.Pieces(s, b.n, func(lo, hi int) { b.fill(items, lo, hi) }); err != nil || e.Sorted {
			return err
		}
	}
	spare, err := room[byte](b, mem, kernels.SortPairsBytes(b.n))
	if err != nil {
		return err
	}
	if b.plain { // word and row are all that there is to order by
		return kernels.SortPairs(s, addressOf(items), addressOf(spare), b.n)
	}
	return change.Order(s, b.format, e, addressOf(items), addressOf(spare))
}

// fill makes items lo to hi, in the order of the batch.
func (b *batch) fill(items []item, lo, hi int) {
	for i := lo; i < hi; i++ {
		at := uint64(i)
		if b.plain {
			at = b.rows[i]
		}
		items[i] = item{b.firstWord(i), at}
	}
}

// firstWord is the first word of key i of the batch.
func (b *batch) firstWord(i int) uint64 {
	if b.format.Narrow {
		return uint64(*(*uint32)(unsafe.Add(b.keys, 4*i)))
	}
	return *(*uint64)(unsafe.Add(b.keys, b.stride()*i))
}

func (b *batch) stride() int { return b.size + 8*b.x }

// row is an item's row.
func (b *batch) row(x item) uint64 {
	if b.plain {
		return x.at
	}
	return b.rows[x.at&^deadBit]
}

// rest is the rest of an item's key.
func (b *batch) rest(x item) []uint64 {
	if b.x == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Add(b.keys, b.stride()*int(x.at&^deadBit)+8)), b.x)
}

// place is where an item belongs.
func (b *batch) place(x item) place { return place{x.word, b.rest(x), b.row(x)} }

// dead reports whether a resolved item is a deletion.
func (b *batch) dead(x item) bool {
	if b.plain {
		return b.op == index.Delete
	}
	return x.at&deadBit != 0
}

func (b *batch) opOf(x item) index.Op {
	if b.ops != nil {
		return b.ops[x.at]
	}
	return b.op
}

func (b *batch) sameKey(x, y item) bool {
	return x.word == y.word && (b.x == 0 || b.compareRest(b.rest(x), b.rest(y)) == 0)
}

// resolve leaves one item for each (key, row): the last of the batch, unless an
// upsert of the key comes after it. What an upsert removes that the batch did
// not insert is in the batch as deletions, see tree.spell.
func (b *batch) resolve(s device.Stream) error {
	if b.plain && ascending(b.items) {
		return nil // each is there once, and says all that there is to say
	}
	out, i := b.items[:0], 0
	upserts := b.ops != nil || b.op == index.Upsert
	err := change.Pieces(s, len(b.items), func(_, hi int) {
		for i < hi {
			end, last := i+1, uint64(0)
			if upserts {
				end, last = b.lastUpsert(i)
			}
			for ; i < end; i++ {
				out = b.resolved(out, b.items[i], last)
			}
		}
	})
	b.items = out
	return err
}

// ascending reports whether all words are above the one before.
func ascending(items []item) bool {
	for i := 1; i < len(items); i++ {
		if items[i].word <= items[i-1].word {
			return false
		}
	}
	return true
}

// lastUpsert is the end of the items with the key of item i, and the place of
// the last upsert among them, 0 for none.
func (b *batch) lastUpsert(i int) (end int, place uint64) {
	end = i
	for end < len(b.items) && b.sameKey(b.items[i], b.items[end]) {
		if x := b.items[end]; b.opOf(x) == index.Upsert {
			place = max(place, x.at)
		}
		end++
	}
	return end, place
}

// resolved appends an item to those that are resolved. One of the same (key,
// row) is replaced, and one before place last of the batch is cleared.
func (b *batch) resolved(out []item, x item, last uint64) []item {
	if !b.plain {
		if b.opOf(x) == index.Delete || x.at < last {
			x.at |= deadBit
		}
	}
	if n := len(out); n > 0 && out[n-1].word == x.word && b.row(out[n-1]) == b.row(x) && b.sameKey(out[n-1], x) {
		out[n-1] = x
		return out
	}
	return append(out, x)
}
