package wide

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
)

// chunk is memory of tails, which states share.
type chunk struct {
	buffer *device.Buffer
	used   int
	refs   int
}

func (c *chunk) unref() {
	if c.refs--; c.refs == 0 {
		c.buffer.Release()
	}
}

const tailChunk = 1 << 16 // bytes, at least

// tails are those that a batch brings.
type tails struct {
	chunk *chunk // that they go to, nil without
	fresh bool   // the chunk is new
	words int
}

// copy copies the tails of n changes or entries, which list writes, to the last of
// some chunks or behind it, and returns the chunks.
func (x *tails) copy(s device.Stream, room *room, a *kernels.TreeWrite, to []*chunk, n int, list func(device.Stream) error) ([]*chunk, error) {
	var scratch, sum device.Ptr
	var p places
	p.add(&a.Tails, 8*n)
	p.add(&a.Sizes, 8*n)
	p.add(&scratch, kernels.ScanBytes(n))
	p.add(&sum, 8)
	if err := room.take(&p); err != nil {
		return to, err
	}
	if err := list(s); err != nil {
		return to, err
	}
	if err := a.TailSizes(s, n); err != nil {
		return to, err
	}
	if err := kernels.Scan(s, 8, a.Sizes, a.Sizes, n, sum, scratch); err != nil {
		return to, err
	}
	var err error
	if x.words, err = total(s, sum); err != nil || x.words == 0 {
		return to, err
	}
	if k := len(to); k > 0 && to[k-1].used+8*x.words <= to[k-1].buffer.Len() {
		x.chunk = to[k-1]
	} else {
		buffer, err := room.mem.Alloc(max(8*x.words, tailChunk))
		if err != nil {
			return to, err
		}
		x.chunk, x.fresh = &chunk{buffer: buffer}, true
		to = append(to[:k:k], x.chunk)
	}
	a.Base = x.chunk.buffer.Ptr() + device.Ptr(x.chunk.used)
	return to, a.TailCopies(s, n)
}

// settle notes what a batch that is done has used.
func (x *tails) settle() {
	if x.chunk != nil {
		x.chunk.used += 8 * x.words
	}
}

// undo gives back what a batch that failed has taken.
func (x *tails) undo() {
	if x.fresh {
		x.chunk.buffer.Release()
	}
}
