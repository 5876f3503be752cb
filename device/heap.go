package device

import (
	"math/bits"
	"sync"
)

// heap is the CPU device's memory: blocks of size classes, from the system.
//
//	up to 64 KiB   cut from chunks of 1 MiB, which stay until the end
//	above          mapped one by one; when released, kept up to a bound, beyond
//	               which a goroutine gives them back to the system
//
// There are four classes for each doubling, so at most a fifth of a block is
// slack. Fresh pages cost more than most steps do (some 0.25 µs a KiB), which
// is why released blocks are kept at all. Giving pages back costs a tenth of that,
// which for the tables of a large query is longer than one that was cancelled may
// make its user wait.
type heap struct {
	mu     sync.Mutex
	free   [classes][]Ptr
	chunk  Ptr // the rest of the newest chunk
	left   int
	chunks []Ptr
	blocks map[Ptr]int // mapped blocks, in use and kept, with their sizes
	kept   int64       // bytes of kept mapped blocks
	keep   int64       // their bound
	going  []pages     // that are in nothing else, and go back to the system
	giving bool        // a goroutine gives back what is going
	given  sync.WaitGroup

	count, bytes int64 // in use
}

// pages are memory from the system.
type pages struct {
	at   Ptr
	size int
}

const (
	align     = 64
	smallMax  = 64 << 10
	chunkSize = 1 << 20
	classes   = 4 * 48
)

// class is the size class for n bytes, and its size.
func class(n int) (index, size int) {
	if n <= 4*align {
		n = max(n, 1)
		index = (n - 1) / align
		return index, (index + 1) * align
	}
	shift := bits.Len(uint(n-1)) - 3 // the three leading bits are kept: 4 steps a doubling
	steps := (n + 1<<shift - 1) >> shift
	return 4*(shift-6) + steps - 1, steps << shift
}

func (h *heap) take(n int) (Ptr, error) {
	c, size := class(n)
	h.mu.Lock()
	defer h.mu.Unlock()
	p, err := h.block(c, size)
	if err != nil {
		return 0, err
	}
	h.count++
	h.bytes += int64(size)
	return p, nil
}

func (h *heap) block(c, size int) (Ptr, error) {
	if f := h.free[c]; len(f) > 0 {
		p := f[len(f)-1]
		h.free[c] = f[:len(f)-1]
		if size > smallMax {
			h.kept -= int64(size)
		}
		return p, nil
	}
	if size > smallMax {
		p, err := h.fromSystem(size)
		if err == nil {
			h.blocks[p] = size
		}
		return p, err
	}
	if h.left < size {
		p, err := h.fromSystem(chunkSize)
		if err != nil {
			return 0, err
		}
		h.chunks = append(h.chunks, p)
		h.chunk, h.left = p, chunkSize
	}
	p := h.chunk
	h.chunk += Ptr(size)
	h.left -= size
	return p, nil
}

// fromSystem maps pages. When the system has none, what is kept or going is given
// back and it is asked once more.
func (h *heap) fromSystem(size int) (Ptr, error) {
	p, err := mapPages(size)
	if err != nil && (h.kept > 0 || len(h.going) > 0) {
		h.giveBack()
		p, err = mapPages(size)
	}
	if err != nil {
		return 0, &NoMemoryError{Tier: "host memory", Bytes: int64(size), Used: h.bytes}
	}
	return p, nil
}

// giveBack unmaps the blocks that are kept or going.
func (h *heap) giveBack() {
	for _, g := range h.going {
		unmapPages(g.at, g.size)
	}
	h.going = nil
	for c, free := range h.free {
		if len(free) == 0 || h.blocks[free[0]] == 0 {
			continue // none, or a class that is cut from chunks
		}
		for _, p := range free {
			unmapPages(p, h.blocks[p])
			delete(h.blocks, p)
		}
		h.free[c] = nil
	}
	h.kept = 0
}

func (h *heap) put(p Ptr, n int) {
	c, size := class(n)
	if poison {
		b := View[byte](p, size)
		for i := range b {
			b[i] = 0xA5
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count--
	h.bytes -= int64(size)
	if size > smallMax {
		if h.kept+int64(size) > h.keep {
			delete(h.blocks, p)
			h.going = append(h.going, pages{p, size})
			if !h.giving {
				h.giving = true
				h.given.Go(h.give)
			}
			return
		}
		h.kept += int64(size)
	}
	h.free[c] = append(h.free[c], p)
}

// give unmaps what is going, and what comes to it meanwhile.
func (h *heap) give() {
	for {
		h.mu.Lock()
		going := h.going
		h.going = nil
		h.giving = len(going) > 0
		h.mu.Unlock()
		if len(going) == 0 {
			return
		}
		for _, g := range going {
			unmapPages(g.at, g.size)
		}
	}
}

func (h *heap) inUse() (buffers, bytes int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count, h.bytes
}

// unmap gives everything back. Nothing may use the memory any more.
func (h *heap) unmap() {
	h.given.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	for p, size := range h.blocks {
		unmapPages(p, size)
	}
	for _, p := range h.chunks {
		unmapPages(p, chunkSize)
	}
	clear(h.free[:])
	clear(h.blocks)
	h.chunks, h.chunk, h.left, h.kept = nil, 0, 0, 0
}
