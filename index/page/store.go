package page

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// Number names a page of a Store.
type Number = uint32

const (
	unit       = 64 // bytes
	unitShift  = 6
	chunkShift = 7  // units in a chunk, as a shift
	slotShift  = 11 // units in a slot, as a shift
	slotBytes  = unit << slotShift
	slotChunks = 1 << (slotShift - chunkShift)
	maxSlots   = 1 << (32 - slotShift)

	// A block is an eighth of what the store has, within these bounds: little is
	// held for nothing, and a large index has pages of 2 MiB under it, for which
	// 4 MiB must be asked for.
	maxBlockSlots = 32
	// The first block is but a part of a slot: most indexes are small.
	firstChunks = 4
	blockShare  = 8
)

// Store hands out pages. Take and Give are safe for concurrent use.
type Store struct {
	alloc device.Allocator

	mu     sync.Mutex
	slots  []slot
	chunks []chunk
	open   []uint64 // a bit a slot: it has chunks without a size
	part   [len(classes)]int32
	bytes  int64
	used   int64
	count  int

	table  *device.Buffer // an address for every slot
	tables int64          // bytes of it and of the outgrown
	old    []*device.Buffer
}

// slot is 128 KiB of a block.
type slot struct {
	block *block
	free  uint16 // a bit for each chunk without a size
}

// block is a Buffer from the allocator.
type block struct {
	buf    *device.Buffer
	first  int32 // slot
	slots  int32
	chunks int32 // that have a size
	left   bool  // see Leave
}

// chunk is 8 KiB of pages of one class.
type chunk struct {
	free       uint64 // a bit a page
	next, prev int32  // chunks of the class with free pages
	class      int16  // or noClass, or runClass
	run        int32  // chunks of the page, of a runClass
}

const (
	noClass  = -1
	runClass = -2
	none     = -1
)

// largerClasses is how many classes up a free page is taken from before a chunk
// is: when the nodes of an index grow or are split, the sizes that many had would
// otherwise leave chunks behind that are almost empty.
const largerClasses = 3

// classes are the sizes of pages, in units.
var classes = [...]uint8{2, 4, 6, 8, 10, 12, 14, 16, 18, 21, 25, 32, 42, 64, 128}

// classOf is the class for a number of units, by half of it, rounded up.
var classOf = func() (of [1<<(chunkShift-1) + 1]int8) {
	for i := range of {
		c := 0
		for int(classes[c]) < 2*i {
			c++
		}
		of[i] = int8(c)
	}
	return of
}()

// New returns an empty store, which holds no memory.
func New(a device.Allocator) *Store {
	s := &Store{alloc: a}
	for i := range s.part {
		s.part[i] = none
	}
	s.addSlots(1) // invariant 1
	return s
}

// Table is where kernels find the addresses of slots, see At. It stays valid
// until Close, and knows all pages that were taken before the call.
func (s *Store) Table() device.Ptr {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table == nil {
		return 0
	}
	return s.table.Ptr()
}

// Slots is a table as a kernel's Host body sees it.
func Slots(table device.Ptr) *[maxSlots]device.Ptr {
	return (*[maxSlots]device.Ptr)(*(*unsafe.Pointer)(unsafe.Pointer(&table)))
}

// At is a page's address.
func At(slots *[maxSlots]device.Ptr, n Number) device.Ptr {
	return slots[n>>slotShift] + device.Ptr(n&(1<<slotShift-1))<<unitShift
}

// Bytes is what the store holds, InUse what its pages take of that.
func (s *Store) Bytes() (held, inUse int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes + s.tables, s.used
}

// Pages is the number of pages that are taken.
func (s *Store) Pages() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Address is a page's address.
func (s *Store) Address(n Number) device.Ptr {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := int(n >> slotShift)
	b := s.slots[at].block
	return b.buf.Ptr() + device.Ptr(at-int(b.first))*slotBytes + device.Ptr(n&(1<<slotShift-1))<<unitShift
}

// Take writes to pages the numbers of new pages, of these sizes in bytes.
func (s *Store) Take(st device.Stream, sizes []int32, pages []Number) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, n := range sizes {
		p, err := s.take(st, (int(n)+unit-1)>>unitShift)
		if err != nil {
			for _, p := range pages[:i] {
				s.give(p)
			}
			return err
		}
		pages[i] = p
	}
	return nil
}

// Give takes pages back.
func (s *Store) Give(pages []Number) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range pages {
		s.give(p)
	}
}

// Leave makes Take use new blocks only, until Return: pages that are moved then
// leave blocks empty, which go back to the allocator.
func (s *Store) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.part {
		s.part[i] = none
	}
	clear(s.open)
	for i := range s.slots {
		if b := s.slots[i].block; b != nil {
			b.left = true
		}
	}
}

// Return makes Take use the blocks again that Leave left.
func (s *Store) Return() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.slots {
		b := s.slots[i].block
		if b == nil || !b.left {
			continue
		}
		if s.slots[i].free != 0 {
			s.open[i/64] |= 1 << (i % 64)
		}
		for c := i * slotChunks; c < (i+1)*slotChunks; c++ {
			if k := &s.chunks[c]; k.class >= 0 && k.free != 0 {
				s.link(int32(c))
			}
		}
	}
	for i := range s.slots {
		if b := s.slots[i].block; b != nil {
			b.left = false
		}
	}
}

// Close gives all memory back.
func (s *Store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.slots {
		if b := s.slots[i].block; b != nil {
			b.buf.Release() // a no-op for all slots of a block but the first
		}
	}
	for _, b := range s.old {
		b.Release()
	}
	s.table.Release()
	s.slots, s.chunks, s.open, s.old, s.table = nil, nil, nil, nil, nil
	s.bytes, s.used, s.tables = 0, 0, 0
}

func (s *Store) take(st device.Stream, units int) (Number, error) {
	if units > 1<<chunkShift {
		return s.takeRun(st, (units+1<<chunkShift-1)>>chunkShift)
	}
	class := classOf[(units+1)/2]
	c := s.part[class]
	for larger := class + 1; c == none && larger <= class+largerClasses && int(larger) < len(classes); larger++ {
		c = s.part[larger]
	}
	if c == none {
		var err error
		if c, err = s.freeChunks(st, 1); err != nil {
			return 0, err
		}
		s.claim(c, 1)
		k := &s.chunks[c]
		*k = chunk{free: 1<<((1<<chunkShift)/int(classes[class])) - 1, next: none, prev: none, class: int16(class)}
		s.part[class] = c
	}
	k := &s.chunks[c]
	at := bits.TrailingZeros64(k.free)
	if k.free &= k.free - 1; k.free == 0 {
		s.unlink(c)
	}
	size := classes[k.class]
	s.used += int64(size) << unitShift
	s.count++
	return Number(c)<<chunkShift + Number(at)*Number(size), nil
}

// takeRun takes a page of whole chunks.
func (s *Store) takeRun(st device.Stream, n int) (Number, error) {
	c, err := s.freeChunks(st, n)
	if err != nil {
		return 0, err
	}
	s.claim(c, n)
	s.chunks[c].class, s.chunks[c].run = runClass, int32(n)
	s.used += int64(n) << (chunkShift + unitShift)
	s.count++
	return Number(c) << chunkShift, nil
}

func (s *Store) give(p Number) {
	c := int32(p >> chunkShift)
	k := &s.chunks[c]
	s.count--
	if k.class == runClass {
		s.used -= int64(k.run) << (chunkShift + unitShift)
		s.unclaim(c, int(k.run))
		return
	}
	size := Number(classes[k.class])
	s.used -= int64(size) << unitShift
	left := s.slots[c/slotChunks].block.left
	if k.free == 0 && !left {
		s.link(c)
	}
	k.free |= 1 << (p & (1<<chunkShift - 1) / size)
	if k.free == 1<<((1<<chunkShift)/int(size))-1 {
		if !left {
			s.unlink(c)
		}
		s.unclaim(c, 1)
	}
}

// link puts a chunk in front of those of its class that have free pages.
func (s *Store) link(c int32) {
	k := &s.chunks[c]
	k.next, k.prev = s.part[k.class], none
	if k.next != none {
		s.chunks[k.next].prev = c
	}
	s.part[k.class] = c
}

func (s *Store) unlink(c int32) {
	k := &s.chunks[c]
	if k.next != none {
		s.chunks[k.next].prev = k.prev
	}
	if k.prev != none {
		s.chunks[k.prev].next = k.next
	} else {
		s.part[k.class] = k.next
	}
}

// freeChunks finds n chunks in a row without a size: the first there are, so
// that the last blocks become empty.
func (s *Store) freeChunks(st device.Stream, n int) (int32, error) {
	if n <= slotChunks {
		for w, word := range s.open {
			for ; word != 0; word &= word - 1 {
				at := w*64 + bits.TrailingZeros64(word)
				run := s.slots[at].free
				for i := 1; i < n; i++ {
					run &= run >> 1
				}
				if run != 0 {
					return int32(at*slotChunks + bits.TrailingZeros16(run)), nil
				}
			}
		}
	}
	b, err := s.addBlock(st, n)
	if err != nil {
		return 0, err
	}
	return b.first * slotChunks, nil
}

// claim marks chunks of one block as having a size.
func (s *Store) claim(c int32, n int) {
	s.slots[c/slotChunks].block.chunks += int32(n)
	for i := c; i < c+int32(n); i++ {
		at := i / slotChunks
		if s.slots[at].free &^= 1 << (i % slotChunks); s.slots[at].free == 0 {
			s.open[at/64] &^= 1 << (at % 64)
		}
	}
}

func (s *Store) unclaim(c int32, n int) {
	b := s.slots[c/slotChunks].block
	for i := c; i < c+int32(n); i++ {
		at := i / slotChunks
		s.slots[at].free |= 1 << (i % slotChunks)
		if !b.left {
			s.open[at/64] |= 1 << (at % 64)
		}
		s.chunks[i].class = noClass
	}
	if b.chunks -= int32(n); b.chunks == 0 {
		s.dropBlock(b)
	}
}

// addBlock takes a block of at least n chunks from the allocator.
func (s *Store) addBlock(st device.Stream, n int) (*block, error) {
	want := min(max(int(s.bytes/blockShare/slotBytes), 1), maxBlockSlots)
	want = max(want, (n+slotChunks-1)/slotChunks)
	first, err := s.findSlots(want)
	if err != nil {
		return nil, err
	}
	chunks := want * slotChunks
	if s.bytes == 0 && n <= firstChunks {
		chunks = firstChunks
	}
	buf, err := s.alloc.Alloc(chunks * slotBytes / slotChunks)
	if err != nil {
		return nil, err
	}
	if err := s.address(st, first, want, buf.Ptr()); err != nil {
		buf.Release()
		return nil, err
	}
	s.addSlots(first + want - len(s.slots))
	b := &block{buf: buf, first: int32(first), slots: int32(want)}
	for i := first; i < first+want; i++ {
		s.slots[i] = slot{block: b, free: 1<<min(chunks, slotChunks) - 1}
		s.open[i/64] |= 1 << (i % 64)
	}
	s.bytes += int64(buf.Len())
	return b, nil
}

// findSlots finds n slots in a row without a block, at the end if need be.
func (s *Store) findSlots(n int) (int, error) {
	run := 0
	for i := 1; i < len(s.slots); i++ {
		if s.slots[i].block != nil {
			run = 0
		} else if run++; run == n {
			return i + 1 - n, nil
		}
	}
	first := len(s.slots) - run
	if first+n > maxSlots {
		return 0, sqltype.Errorf(sqltype.CodeTooComplex, "an index cannot be larger than 256 GiB")
	}
	return first, nil
}

func (s *Store) addSlots(n int) {
	for range n {
		if len(s.slots)%64 == 0 {
			s.open = append(s.open, 0)
		}
		s.slots = append(s.slots, slot{})
		for range slotChunks {
			s.chunks = append(s.chunks, chunk{class: noClass})
		}
	}
}

// address writes the addresses of a block's slots into the table, a larger one
// if it has outgrown it: readers keep what they have.
func (s *Store) address(st device.Stream, first, n int, base device.Ptr) error {
	bases := make([]device.Ptr, n)
	for i := range bases {
		bases[i] = base + device.Ptr(i)*slotBytes
	}
	if s.table != nil && 8*(first+n) <= s.table.Len() {
		return st.Upload(s.table.Ptr()+device.Ptr(8*first), bytesOf(bases))
	}
	size := max(1024, 1<<bits.Len(uint(8*(first+n)-1)))
	table, err := s.alloc.Alloc(size)
	if err != nil {
		return err
	}
	all := make([]device.Ptr, first+n)
	for i, sl := range s.slots[:min(len(s.slots), first)] {
		if sl.block != nil {
			all[i] = sl.block.buf.Ptr() + device.Ptr(i-int(sl.block.first))*slotBytes
		}
	}
	copy(all[first:], bases)
	if err := st.Upload(table.Ptr(), bytesOf(all)); err != nil {
		table.Release()
		return err
	}
	if s.table != nil {
		s.old = append(s.old, s.table)
	}
	s.table = table
	s.tables += int64(size)
	return nil
}

func bytesOf(p []device.Ptr) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(p))), 8*len(p))
}

func (s *Store) dropBlock(b *block) {
	for i := b.first; i < b.first+b.slots; i++ {
		s.slots[i] = slot{}
		s.open[i/64] &^= 1 << (i % 64)
	}
	s.bytes -= int64(b.buf.Len())
	b.buf.Release()
}
