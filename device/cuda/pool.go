package cuda

import (
	"errors"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/gpusql/gpusql/device"
)

// pool is a GPU's memory, or pinned memory of the host: chunks from the driver,
// cut into blocks.
//
//	chunk  [ block │ block │ free        │ block │ free ]   neighbours know each other
//	                          │                     │       and free ones are merged
//	bins   4 a doubling: ◀────┴─────────────────────┘
//
// The driver's own stream-ordered pools order memory by the stream that an
// allocation names; a Buffer here may be released by one worker and taken by
// another. So a free block carries a stamp, the number of the newest submission
// that may still use it, and who takes the block orders its stream after that
// (queue.fence). Taking and giving back never call the driver, unless the pool
// has to grow.
//
// Blocks up to smallBlock are cut from chunks of their own, so that a small one
// that lives long does not keep a large chunk in pieces.
type pool struct {
	mu     sync.Mutex
	grow   func(n int) (device.Ptr, error) // a chunk from the driver
	shrink func(device.Ptr) error          // and back
	tier   string                          // for errors
	limit  int64                           // most bytes in use; 0: what the GPU has
	apart  bool                            // every block is a chunk, which goes when it is free
	lent   bool                            // chunks go when no block is in use
	arenas [2]arena
	live   map[device.Ptr]*block
	spare  *block // records to be used again

	used   atomic.Int64   // bytes in use; changed under mu
	reused *atomic.Uint64 // the highest stamp of memory that was taken again, of all pools of a device
}

// arena is the free blocks of one kind.
type arena struct {
	next int // bytes of the next chunk
	most int // and of any that is not for one large block
	full [(numBins + 63) / 64]uint64
	bins [numBins]*block
}

// block is a run of a chunk's memory, in use or free.
type block struct {
	p          device.Ptr
	n          int
	stamp      uint64 // when free: what may still use it
	free       bool
	arena      *arena
	prev, next *block // neighbours in the chunk
	up, down   *block // the bin's list
}

const (
	blockAlign = 256 // of addresses and sizes: what the driver gives too
	smallBlock = 1 << 20
	chunkAlign = 2 << 20 // a page of the GPU
	numBins    = 4 * 40
)

func newPool(tier string, limit int64, reused *atomic.Uint64) *pool {
	p := &pool{tier: tier, limit: limit, live: map[device.Ptr]*block{}, reused: reused}
	p.arenas[0] = arena{next: 8 << 20, most: 32 << 20}
	p.arenas[1] = arena{next: 64 << 20, most: 1 << 30}
	return p
}

// binOf is the bin of a free block of n bytes: all blocks of a higher bin are larger.
func binOf(n int) int {
	u := uint(n / blockAlign)
	if u < 4 {
		return int(u)
	}
	shift := bits.Len(u) - 3
	return min(4*(shift+1)+int(u>>shift)&3, numBins-1)
}

// take finds n bytes.
func (p *pool) take(n int) (device.Ptr, error) {
	size := (max(n, 1) + blockAlign - 1) &^ (blockAlign - 1)
	a := &p.arenas[0]
	if size > smallBlock {
		a = &p.arenas[1]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit > 0 && p.used.Load()+int64(size) > p.limit {
		return 0, p.short(n)
	}
	if p.apart {
		size = max(n, 1)
	}
	b := a.find(size)
	if b == nil {
		var err error
		if b, err = p.chunk(a, size); errors.Is(err, device.ErrNoMemory) {
			return 0, p.short(n) // not by the chunk, which may be larger
		} else if err != nil {
			return 0, err
		}
	}
	a.unlink(b)
	if b.n > size {
		p.split(b, size)
	}
	b.free = false
	for was := p.reused.Load(); was < b.stamp && !p.reused.CompareAndSwap(was, b.stamp); was = p.reused.Load() {
	}
	p.live[b.p] = b
	p.used.Add(int64(b.n))
	return b.p, nil
}

// short is the error of a pool that has not n bytes.
func (p *pool) short(n int) error {
	return &device.NoMemoryError{Tier: p.tier, Bytes: int64(n), Used: p.used.Load(), Limit: p.limit, Setting: "gpu_memory_limit"}
}

// put takes a block back. Submissions up to stamp may still use it.
func (p *pool) put(at device.Ptr, stamp uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.live[at]
	if b == nil {
		panic("cuda: memory released that is not in use")
	}
	delete(p.live, at)
	p.used.Add(-int64(b.n))
	b.stamp, b.free = stamp, true
	if l := b.prev; l != nil && l.free {
		l.arena.unlink(l)
		b = p.merge(l, b)
	}
	if r := b.next; r != nil && r.free {
		r.arena.unlink(r)
		b = p.merge(b, r)
	}
	b.arena.link(b)
	if p.apart || p.lent && len(p.live) == 0 {
		p.giveBack()
	}
}

// merge makes one block of two neighbours.
func (p *pool) merge(l, r *block) *block {
	l.n += r.n
	l.stamp = max(l.stamp, r.stamp)
	l.next = r.next
	if r.next != nil {
		r.next.prev = l
	}
	*r = block{next: p.spare}
	p.spare = r
	return l
}

// split cuts b, which is in no bin, after its first n bytes; the rest is free.
func (p *pool) split(b *block, n int) {
	rest := p.record()
	*rest = block{p: b.p + device.Ptr(n), n: b.n - n, stamp: b.stamp, free: true, arena: b.arena, prev: b, next: b.next}
	if b.next != nil {
		b.next.prev = rest
	}
	b.next, b.n = rest, n
	b.arena.link(rest)
}

func (p *pool) record() *block {
	b := p.spare
	if b == nil {
		return new(block)
	}
	p.spare = b.next
	return b
}

// chunk asks the driver for a chunk that holds n bytes, and is its block. Short
// of memory, it gives free chunks back and asks once more, for no more than it needs.
func (p *pool) chunk(a *arena, n int) (*block, error) {
	least := (n + chunkAlign - 1) &^ (chunkAlign - 1)
	size := max(least, a.next)
	if p.apart {
		least, size = n, n
	}
	at, err := p.grow(size)
	if errors.Is(err, device.ErrNoMemory) && size > least {
		size = least
		at, err = p.grow(size)
	}
	if errors.Is(err, device.ErrNoMemory) && p.giveBack() {
		at, err = p.grow(size)
	}
	if err != nil {
		return nil, err
	}
	a.next = min(2*a.next, a.most)
	b := p.record()
	*b = block{p: at, n: size, free: true, arena: a}
	a.link(b)
	return b, nil
}

// giveBack returns the chunks without a block in use, and reports whether
// there were any.
func (p *pool) giveBack() bool {
	found := false
	for i := range p.arenas {
		a := &p.arenas[i]
		for bin := range a.bins {
			for b := a.bins[bin]; b != nil; {
				next := b.down
				if b.prev == nil && b.next == nil && p.shrink(b.p) == nil {
					a.unlink(b)
					found = true
				}
				b = next
			}
		}
	}
	return found
}

// find is a free block of at least n bytes, nil when there is none. In the bin
// of n itself blocks may be too small; the first few are looked at.
func (a *arena) find(n int) *block {
	bin := binOf(n)
	b := a.bins[bin]
	for range 8 {
		if b == nil || b.n >= n {
			break
		}
		b = b.down
	}
	if b != nil && b.n >= n {
		return b
	}
	for w := (bin + 1) / 64; w < len(a.full); w++ {
		word := a.full[w]
		if w == (bin+1)/64 {
			word &= ^uint64(0) << ((bin + 1) % 64)
		}
		if word != 0 {
			return a.bins[64*w+bits.TrailingZeros64(word)]
		}
	}
	return nil
}

func (a *arena) link(b *block) {
	bin := binOf(b.n)
	b.up, b.down = nil, a.bins[bin]
	if b.down != nil {
		b.down.up = b
	}
	a.bins[bin] = b
	a.full[bin/64] |= 1 << (bin % 64)
}

func (a *arena) unlink(b *block) {
	bin := binOf(b.n)
	if b.up != nil {
		b.up.down = b.down
	} else {
		a.bins[bin] = b.down
	}
	if b.down != nil {
		b.down.up = b.up
	}
	if a.bins[bin] == nil {
		a.full[bin/64] &^= 1 << (bin % 64)
	}
	b.up, b.down = nil, nil
}

// inUse is the blocks in use and their bytes.
func (p *pool) inUse() (blocks int, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.live), p.used.Load()
}

// free gives everything back, in use or not.
func (p *pool) free() {
	p.mu.Lock()
	blocks := make([]device.Ptr, 0, len(p.live))
	for at := range p.live {
		blocks = append(blocks, at)
	}
	p.mu.Unlock()
	for _, at := range blocks {
		p.put(at, 0)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.giveBack()
}
