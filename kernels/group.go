package kernels

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// Groups gives each distinct key a number, from 0 in the order of arrival.
//
// It is an open-addressed table of 2^k slots, at most half full:
//
//	KeyWord, KeyPair   slot = {key, number+1}: one cache line settles a look-up
//	KeyRow, KeyColumns slot = {high half of the hash, number+1}; the keys are
//	                   compared with those of the group, which lie row by row
//	                   on the host and column by column on a GPU
//
// One integer key of dense values needs no hash: see directGroups. Nor is each
// row of a batch looked up when its keys have few values: see cells.
//
// It belongs to one goroutine at a time.
type Groups struct {
	mem    device.Allocator
	layout KeyLayout
	zero   collisions
	heap   *Heap

	n      int
	slots  *device.Buffer
	mask   uint64
	ctl    *device.Buffer // groups so far; scratch
	packed Array          // the keys by number, but for KeyColumns
	data   []Array        // KeyColumns: the columns by number
	valid  []Array
	hashes Array
	batch  Array // packed keys and hashes of the batch
	cells  cells
	direct directGroups
	text   int64 // the most bytes that a batch had for the heap
}

// NewGroups makes an empty table for keys of this layout. hashZero makes its
// first keys collide, see collisions.
func NewGroups(m device.Allocator, l KeyLayout, hashZero bool) *Groups {
	g := &Groups{mem: m, layout: l, zero: collisions{hashZero, hashZero}, heap: NewHeap(m), data: make([]Array, len(l.Phys)), valid: make([]Array, len(l.Phys))}
	g.direct.off = hashZero || len(l.Phys) != 1 || directFind[l.Phys[0]] == nil
	return g
}

// Use has memory taken from m from now on: what there is moves when it grows.
func (g *Groups) Use(m device.Allocator) {
	g.mem = m
	g.heap.Use(m)
}

// Len is the number of groups.
func (g *Groups) Len() int { return g.n }

// packed is a key in one or two words.
type packed interface{ uint64 | [2]uint64 }

// slot is a place of a hash table of packed keys; id is a number+1, 0 in one
// that is free.
type slot[K packed] struct {
	key K
	id  uint64
}

type findArgs struct {
	Keys, Hashes, IDs      device.Ptr // of the batch
	Slots, Count           device.Ptr
	GroupKeys, GroupHashes device.Ptr
	Mask                   uint64
	First                  uint64      // slotWord and its like: the number of the first group
	Columns                []keyColumn // KeyColumns
}

// keyColumn is a key column of the batch and where the groups keep theirs.
type keyColumn struct {
	Src  Vec
	Dst  Vec
	Phys sqltype.Phys
}

var (
	findWord    = &device.Kernel[findArgs]{Name: "group_word", Steps: groupSteps(codeGroupWord), Host: findPackedHost[uint64]}
	findPair    = &device.Kernel[findArgs]{Name: "group_pair", Steps: groupSteps(codeGroupPair), Host: findPackedHost[[2]uint64]}
	findColumns = &device.Kernel[findArgs]{Name: "group_columns", Steps: groupSteps(codeGroupColumns), Host: findColumnsHost}
	slotWord    = &device.Kernel[findArgs]{Name: "slot_word", Steps: groupSteps(codeSlotWord), Host: slotPackedHost[uint64]}
	slotPair    = &device.Kernel[findArgs]{Name: "slot_pair", Steps: groupSteps(codeSlotPair), Host: slotPackedHost[[2]uint64]}
	slotColumns = &device.Kernel[findArgs]{Name: "slot_columns", Steps: groupSteps(codeSlotColumns), Host: slotColumnsHost}
)

// Find writes the group numbers of n keys to ids (uint32), making new groups
// for new keys.
func (g *Groups) Find(s device.Stream, keys []Vec, n int, ids device.Ptr) error {
	if n == 0 {
		return nil
	}
	if err := g.begin(s); err != nil {
		return err
	}
	if !g.direct.off {
		if done, err := g.findDirect(s, keys[0], n, ids); done || err != nil {
			return err
		}
	} else if n >= cellRows && g.cells.misses < cellMisses {
		if done, err := g.findCells(s, keys, n, ids); done || err != nil {
			return err
		}
	}
	return g.findHashed(s, keys, n, ids)
}

// findHashed looks up every key in the hash table.
func (g *Groups) findHashed(s device.Stream, keys []Vec, n int, ids device.Ptr) error {
	if err := g.reserve(s, n); err != nil {
		return err
	}
	w := g.layout.Width()
	if g.layout.Form == KeyRow {
		if err := g.batch.Extend(g.mem, s, 0, findRowChunk*(w+8)); err != nil {
			return err
		}
		if err := g.findByRows(s, keys, n, ids); err != nil {
			return err
		}
		return g.settle(s)
	}
	if err := g.batch.Extend(g.mem, s, 0, n*(w+8)); err != nil {
		return err
	}
	a := findArgs{Hashes: g.batch.Ptr() + device.Ptr(n*w), IDs: ids}
	g.fill(&a)
	k := findColumns
	switch g.layout.Form {
	case KeyWord, KeyPair:
		k = findWord
		if g.layout.Form == KeyPair {
			k = findPair
		}
		a.Keys = g.batch.Ptr()
		if err := g.layout.Pack(s, keys, n, a.Keys); err != nil {
			return err
		}
	case KeyColumns:
		a.Columns = make([]keyColumn, len(keys))
		for i := range keys {
			a.Columns[i] = keyColumn{Src: keys[i], Dst: Vec{Data: g.data[i].Ptr(), Valid: g.valid[i].Ptr()}, Phys: g.layout.Phys[i]}
		}
	default:
		panic(fmt.Sprintf("kernels: key form %d", g.layout.Form))
	}
	if err := g.layout.Hash(s, keys, a.Keys, n, a.Hashes, g.zero.now); err != nil {
		return err
	}
	if err := device.Launch(s, k, n, a); err != nil {
		return err
	}
	return g.settle(s)
}

// fill sets what the table itself contributes to a launch.
func (g *Groups) fill(a *findArgs) {
	a.Slots, a.Mask, a.Count = g.slots.Ptr(), g.mask, g.ctl.Ptr()
	a.GroupKeys, a.GroupHashes = g.packed.Ptr(), g.hashes.Ptr()
}

// settle learns how many groups there are now, and takes over the bytes of the
// new ones' strings.
func (g *Groups) settle(s device.Stream) error {
	old := g.n
	n, err := readCount(s, g.ctl.Ptr())
	if err != nil || old == n {
		return err
	}
	g.n = n
	before := g.heap.Held()
	switch g.layout.Form {
	case KeyRow:
		err = g.ownTexts(s, old)
	case KeyColumns:
		err = g.ownColumns(s, old)
	}
	g.text = max(g.text, g.heap.Held()-before)
	return err
}

// ownColumns copies the long texts of the groups from the first on to the heap.
func (g *Groups) ownColumns(s device.Stream, old int) error {
	for i, p := range g.layout.Phys {
		if p == sqltype.PhysStr {
			v := Vec{Data: g.data[i].Ptr() + device.Ptr(old*16)}
			if err := g.heap.Own(s, v, g.n-old, g.ctl.Ptr()+8); err != nil {
				return err
			}
		}
	}
	return nil
}

// slotBytes is the size of a slot of a hash table of such keys.
func (l *KeyLayout) slotBytes() int {
	switch l.Form {
	case KeyWord:
		return int(unsafe.Sizeof(slot[uint64]{}))
	case KeyPair:
		return int(unsafe.Sizeof(slot[[2]uint64]{}))
	case KeyColumns, KeyRow:
		return 8
	default:
		panic(fmt.Sprintf("kernels: key form %d", l.Form))
	}
}

// begin makes what every way of looking up needs.
func (g *Groups) begin(s device.Stream) error {
	if g.ctl != nil {
		return nil
	}
	if !s.Device().Traits().HostBytes { // what follows pays where rows are taken one by one
		g.direct.off, g.cells.misses = true, cellMisses
	} else if g.layout.Form == KeyColumns {
		g.layout, _ = g.layout.rows()
	}
	b, err := g.mem.Alloc(64)
	if err != nil {
		return err
	}
	g.ctl = b
	return Zero(s, b.Ptr(), 64)
}

// reserve makes room for n more groups, so that no launch has to stop for it.
func (g *Groups) reserve(s device.Stream, n int) error {
	need := g.n + n
	if err := g.hashes.Extend(g.mem, s, g.n*8, need*8); err != nil {
		return err
	}
	if w := g.layout.Width(); w > 0 {
		if err := g.packed.Extend(g.mem, s, g.n*w, need*w); err != nil {
			return err
		}
	} else {
		for i, p := range g.layout.Phys {
			if err := g.data[i].Extend(g.mem, s, g.n*p.Width(), need*p.Width()); err != nil {
				return err
			}
			if err := g.valid[i].Extend(g.mem, s, BitmapBytes(g.n), BitmapBytes(need)); err != nil {
				return err
			}
		}
	}
	if g.slots != nil && uint64(need)*2 <= g.mask+1 {
		return nil
	}
	slots := 1 << bits.Len(uint(need*2))
	if g.zero.end(g.n) {
		return g.disperse(s, need, slots)
	}
	return g.rehash(s, slots)
}

// Grows is about how many bytes Find of n keys would allocate at most.
func (g *Groups) Grows(n int) int64 {
	need := g.n + n
	more := g.text + g.batch.Grows(n*(g.layout.Width()+8))
	if w := g.layout.Width(); w > 0 {
		more += g.packed.Grows(need * w)
	}
	if !g.direct.off {
		if g.direct.slots != nil {
			more += 2 * int64(g.direct.slots.Len())
		}
		return more
	}
	more += g.hashes.Grows(need * 8)
	if g.layout.Form == KeyColumns {
		for i, p := range g.layout.Phys {
			more += g.data[i].Grows(need*p.Width()) + g.valid[i].Grows(BitmapBytes(need))
		}
	}
	if g.slots == nil || uint64(need)*2 > g.mask+1 {
		more += int64(g.layout.slotBytes()) << bits.Len(uint(need*2))
	}
	return more
}

// Held is how much memory the table has.
func (g *Groups) Held() int64 {
	n := g.packed.Cap() + g.hashes.Cap() + g.batch.Cap()
	for i := range g.data {
		n += g.data[i].Cap() + g.valid[i].Cap()
	}
	for _, b := range []*device.Buffer{g.slots, g.direct.slots} {
		if b != nil {
			n += b.Len()
		}
	}
	return int64(n) + g.heap.Held()
}

func (g *Groups) rehash(s device.Stream, slots int) error {
	b, err := g.mem.Alloc(slots * g.layout.slotBytes())
	if err != nil {
		return err
	}
	g.slots.Release()
	g.slots, g.mask = b, uint64(slots-1)
	if err := Zero(s, b.Ptr(), slots*g.layout.slotBytes()); err != nil {
		return err
	}
	k := map[KeyForm]*device.Kernel[findArgs]{KeyWord: slotWord, KeyPair: slotPair, KeyColumns: slotColumns, KeyRow: slotColumns}[g.layout.Form]
	return Pieces(s, g.n, func(lo, hi int) error {
		var a findArgs
		g.fill(&a)
		a.First = uint64(lo)
		a.GroupKeys += device.Ptr(lo * g.layout.Width())
		a.GroupHashes += device.Ptr(lo * 8)
		return device.Launch(s, k, hi-lo, a)
	})
}

// Hashes are the hashes of groups lo to hi; scratch has room for them, and is
// used when the table does not keep any, or has others by now than a smaller one.
func (g *Groups) Hashes(s device.Stream, lo, hi int, scratch device.Ptr) (device.Ptr, error) {
	if g.zero.first {
		return scratch, HashZero(s, hi-lo, scratch)
	}
	if g.direct.off {
		return g.hashes.Ptr() + device.Ptr(8*lo), nil
	}
	keys := g.packed.Ptr() + device.Ptr(lo*g.layout.Width())
	return scratch, g.layout.Hash(s, nil, keys, hi-lo, scratch, false)
}

// Key writes column i of the keys of groups lo to hi to dst, which has a
// bitmap. lo is a multiple of 64. Strings view the table's memory.
func (g *Groups) Key(s device.Stream, i, lo, hi int, dst Vec) error {
	if w := g.layout.Width(); w > 0 {
		return g.layout.Unpack(s, i, g.packed.Ptr()+device.Ptr(lo*w), hi-lo, dst)
	}
	w := g.layout.Phys[i].Width()
	if err := Copy(s, dst.Data, g.data[i].Ptr()+device.Ptr(lo*w), (hi-lo)*w); err != nil {
		return err
	}
	return Copy(s, dst.Valid, g.valid[i].Ptr()+device.Ptr(lo/8), BitmapBytes(hi-lo))
}

// Release gives all memory back.
func (g *Groups) Release() {
	g.slots.Release()
	g.ctl.Release()
	g.slots, g.ctl = nil, nil
	g.packed.Release()
	g.hashes.Release()
	g.batch.Release()
	g.cells.release()
	g.direct.slots.Release()
	g.direct.slots = nil
	for i := range g.data {
		g.data[i].Release()
		g.valid[i].Release()
	}
	g.heap.Release()
}

func findPackedHost[K packed](a *findArgs, lo, hi int) {
	keys := device.View[K](a.Keys, hi)
	hashes := device.View[uint64](a.Hashes, hi)[:len(keys)]
	ids := device.View[uint32](a.IDs, hi)[:len(keys)]
	slots := device.View[slot[K]](a.Slots, int(a.Mask)+1)
	count := &device.View[uint64](a.Count, 1)[0]
	groupKeys := device.View[K](a.GroupKeys, maxRows)
	groupHashes := device.View[uint64](a.GroupHashes, maxRows)
	n := *count
	for i, key := range keys {
		for p := hashes[i] & a.Mask; ; p = (p + 1) & a.Mask {
			s := &slots[p]
			if s.id == 0 {
				s.key, s.id = key, n+1
				groupKeys[n], groupHashes[n] = key, hashes[i]
				n++
			}
			if s.key == key {
				ids[i] = uint32(s.id) - 1
				break
			}
		}
	}
	*count = n
}

func findColumnsHost(a *findArgs, lo, hi int) {
	hashes := device.View[uint64](a.Hashes, hi)
	ids := device.View[uint32](a.IDs, hi)[:len(hashes)]
	slots := device.View[uint64](a.Slots, int(a.Mask)+1)
	count := &device.View[uint64](a.Count, 1)[0]
	groupHashes := device.View[uint64](a.GroupHashes, maxRows)
	n := uint32(*count)
	for i, h := range hashes {
		tag := h &^ (1<<32 - 1)
		for p := h & a.Mask; ; p = (p + 1) & a.Mask {
			s := slots[p]
			if s == 0 {
				slots[p] = tag | uint64(n+1)
				for c := range a.Columns {
					a.Columns[c].store(i, int(n))
				}
				groupHashes[n] = h
				ids[i] = n
				n++
				break
			}
			if s&^(1<<32-1) == tag && rowIsGroup(a.Columns, i, int(uint32(s)-1)) {
				ids[i] = uint32(s) - 1
				break
			}
		}
	}
	*count = uint64(n)
}

func rowIsGroup(cols []keyColumn, i, g int) bool {
	for c := range cols {
		k := &cols[c]
		x, y := k.Src.isNull(i), k.Dst.isNull(g)
		if x || y {
			if x != y {
				return false
			}
			continue
		}
		if !sameValue(k.Phys, &k.Src, i, &k.Dst, g) {
			return false
		}
	}
	return true
}

func (k *keyColumn) store(i, g int) {
	valid := device.View[uint64](k.Dst.Valid, g/64+1)
	if k.Src.isNull(i) {
		valid[g>>6] &^= 1 << (g & 63)
		if k.Phys == sqltype.PhysStr {
			device.View[View](k.Dst.Data, g+1)[g] = View{}
		}
		return
	}
	valid[g>>6] |= 1 << (g & 63)
	switch k.Phys.Width() {
	case 1:
		storeAt[uint8](k, i, g)
	case 2:
		storeAt[uint16](k, i, g)
	case 4:
		storeAt[uint32](k, i, g)
	case 8:
		storeAt[uint64](k, i, g)
	case 16:
		if k.Phys == sqltype.PhysStr {
			device.View[View](k.Dst.Data, g+1)[g] = *k.Src.str(i)
			return
		}
		storeAt[[2]uint64](k, i, g)
	default:
		panic(fmt.Sprintf("kernels: no key of form %s", k.Phys))
	}
}

func storeAt[T any](k *keyColumn, i, g int) {
	device.View[T](k.Dst.Data, g+1)[g] = device.View[T](k.Src.Data, i+1)[i]
}

func slotPackedHost[K packed](a *findArgs, lo, hi int) {
	keys := device.View[K](a.GroupKeys, hi)
	hashes := device.View[uint64](a.GroupHashes, hi)
	slots := device.View[slot[K]](a.Slots, int(a.Mask)+1)
	for g, key := range keys {
		p := hashes[g] & a.Mask
		for slots[p].id != 0 {
			p = (p + 1) & a.Mask
		}
		slots[p] = slot[K]{key: key, id: a.First + uint64(g) + 1}
	}
}

func slotColumnsHost(a *findArgs, lo, hi int) {
	hashes := device.View[uint64](a.GroupHashes, hi)
	slots := device.View[uint64](a.Slots, int(a.Mask)+1)
	for g, h := range hashes {
		p := h & a.Mask
		for slots[p] != 0 {
			p = (p + 1) & a.Mask
		}
		slots[p] = h&^(1<<32-1) | (a.First + uint64(g) + 1)
	}
}
