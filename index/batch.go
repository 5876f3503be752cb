package index

import (
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// Batch gathers keys, rows and changes on the host, and brings them to a device.
//
//	Add ... Add ─▶ Upload ─▶ Entries, Keys or a Bound over the batch's memory
//	  ▲                        │ valid until the next Upload or Release
//	  └──────── Reset ◀────────┘
//
// It is for one goroutine at a time, and meant to be used again: its memory, on
// both sides, is kept.
type Batch struct {
	format Format
	words  []uint64 // the keys, of 64-bit words; the last of a long one is 1 + its place in tails, or 0
	narrow []uint32 // or of one of 32 bits
	tails  []uint64
	scrap  []uint64

	Rows []uint64
	Ops  []Op // empty: all are what Upload's entries say

	mem    device.Allocator
	buffer *device.Buffer
}

// NewBatch returns an empty batch of keys of a format, for memory of mem.
func NewBatch(mem device.Allocator, f Format) *Batch { return &Batch{mem: mem, format: f} }

// Len is the number of keys.
func (b *Batch) Len() int {
	if b.format.Narrow {
		return len(b.narrow)
	}
	return len(b.words) / (b.format.Size() / 8)
}

// Reset forgets keys, rows and ops.
func (b *Batch) Reset() {
	b.words, b.narrow, b.tails = b.words[:0], b.narrow[:0], b.tails[:0]
	b.Rows, b.Ops = b.Rows[:0], b.Ops[:0]
}

// Add appends a key by its encoded bytes.
func (b *Batch) Add(key []byte) {
	f := b.format
	b.scrap = wordsOf(b.scrap[:0], key)
	for len(b.scrap) < f.Words {
		b.scrap = append(b.scrap, 0)
	}
	if f.Narrow {
		b.narrow = append(b.narrow, uint32(b.scrap[0]>>32))
		return
	}
	b.words = append(b.words, b.scrap[:f.Words]...)
	if !f.Long {
		return
	}
	tail := b.scrap[f.Words:]
	if len(tail) == 0 {
		b.words = append(b.words, 0)
		return
	}
	b.words = append(b.words, uint64(len(b.tails)+1))
	b.tails = append(append(b.tails, uint64(len(tail))), tail...)
}

// Interval is all that has the key columns of key i, whatever is carried with them.
func (b *Batch) Interval(c *Codec, i int) Interval {
	var key []byte
	if b.format.Narrow {
		key = appendWords(nil, []uint64{uint64(b.narrow[i]) << 32})
	} else {
		key = appendKey(nil, b.format, b.words[i*b.format.Size()/8:], b.tails)
	}
	key = c.cut(key)
	return c.between(key, false, key, true)
}

// Words appends n keys of 64-bit words and no tails, all zeros, and returns
// their words, to be written.
func (b *Batch) Words(n int) []uint64 {
	from := len(b.words)
	b.words = append(b.words, make([]uint64, n*b.format.Size()/8)...)
	return b.words[from:]
}

// Narrow appends n keys of one 32-bit word, all zeros, and returns them, to be
// written.
func (b *Batch) Narrow(n int) []uint32 {
	from := len(b.narrow)
	b.narrow = append(b.narrow, make([]uint32, n)...)
	return b.narrow[from:]
}

// uploadBytes is how much a large batch brings over at a time.
const uploadBytes = 4 << 20

// Upload brings the batch to the stream's device. What was uploaded before is
// overwritten.
func (b *Batch) Upload(s device.Stream) (Entries, error) {
	keys, tails := b.keyBytes(), bytesOf(b.tails)
	rows, ops := bytesOf(b.Rows), bytesOf(b.Ops)
	size := len(keys) + len(tails) + len(rows) + len(ops) + 16
	if b.buffer == nil || b.buffer.Len() < size {
		b.buffer.Release()
		b.buffer = nil
		fresh, err := b.mem.Alloc(size + size/2)
		if err != nil {
			return Entries{}, err
		}
		b.buffer = fresh
	}
	at := b.buffer.Ptr()
	e := Entries{Keys: Keys{Data: at, N: b.Len()}}
	put := func(bytes []byte) (device.Ptr, error) {
		p := at
		at += device.Ptr(len(bytes)+7) &^ 7
		if len(bytes) == 0 {
			return 0, nil
		}
		// Some at a time: a stream may be told to stop.
		for from := 0; from < len(bytes); from += uploadBytes {
			if err := s.Upload(p+device.Ptr(from), bytes[from:min(len(bytes), from+uploadBytes)]); err != nil {
				return 0, err
			}
		}
		return p, nil
	}
	base := uint64(at) + uint64(len(keys)+7)&^7
	b.eachTail(func(place uint64) uint64 { return base + 8*(place-1) })
	_, err := put(keys)
	b.eachTail(func(address uint64) uint64 { return (address-base)/8 + 1 })
	if err == nil {
		_, err = put(tails)
	}
	if err == nil {
		e.Rows, err = put(rows)
	}
	if err == nil {
		e.Ops, err = put(ops)
	}
	return e, err
}

// eachTail changes what keys say about their tails, where they have one.
func (b *Batch) eachTail(f func(uint64) uint64) {
	if len(b.tails) == 0 {
		return
	}
	w := b.format.Words
	for i := w; i < len(b.words); i += w + 1 {
		if b.words[i] != 0 {
			b.words[i] = f(b.words[i])
		}
	}
}

func (b *Batch) keyBytes() []byte {
	if b.format.Narrow {
		return bytesOf(b.narrow)
	}
	return bytesOf(b.words)
}

// Release gives the device's memory back. The batch may be used again.
func (b *Batch) Release() {
	b.buffer.Release()
	b.buffer = nil
}

// bytesOf is the memory of a slice.
func bytesOf[T uint32 | uint64 | Op](v []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(one)))
}
