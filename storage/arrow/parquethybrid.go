package arrow

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// hybrid reads Parquet's mixture of runs: a value repeated, or values packed
// in width bits each, eight to a group.
type hybrid struct {
	src    []byte // what has not been begun
	width  int    // 0 to 32
	repeat int    // how often value is still to come
	value  uint32
	packed int    // values left in a packed run
	bits   []byte // of the packed run
	at     int    // the next value of it
}

var errCodes = errors.New("a page has fewer codes than it says")

// maxCodeBits is the most that a code may have.
const maxCodeBits = 32

// packedBits is a hybrid of one run, all of src.
func packedBits(src []byte, width int) hybrid {
	return hybrid{width: width, packed: len(src) * 8 / width, bits: src}
}

// begin starts the next run.
func (h *hybrid) begin() error {
	head, n := binary.Uvarint(h.src)
	if n <= 0 {
		return errCodes
	}
	h.src = h.src[n:]
	count := head >> 1
	if head&1 == 0 {
		size := (h.width + 7) / 8
		if len(h.src) < size || count > 1<<31-1 {
			return errCodes
		}
		var v [4]byte
		copy(v[:], h.src[:size])
		h.src = h.src[size:]
		h.repeat, h.value = int(count), binary.LittleEndian.Uint32(v[:])
		return nil
	}
	if count > 1<<28 {
		return errCodes
	}
	// Some writers do not fill up the last group.
	size := min(int(count)*h.width, len(h.src))
	h.packed, h.at = int(count)*8, 0
	if h.width > 0 {
		h.packed = min(h.packed, size*8/h.width)
	}
	h.bits, h.src = h.src[:size], h.src[size:]
	return nil
}

// read takes the next len(dst) values.
func (h *hybrid) read(dst []uint32) error {
	for len(dst) > 0 {
		var k int
		switch {
		case h.repeat > 0:
			k = min(h.repeat, len(dst))
			for i := range dst[:k] {
				dst[i] = h.value
			}
			h.repeat -= k
		case h.packed > 0:
			k = min(h.packed, len(dst))
			unpack(dst[:k], h.bits, h.at, h.width)
			h.at += k
			h.packed -= k
		default:
			if err := h.begin(); err != nil {
				return err
			}
		}
		dst = dst[k:]
	}
	return nil
}

// count takes the next n values, and says how many of them are v. It costs time
// by the bytes that are read, not by n.
func (h *hybrid) count(v uint32, n int) (found int, err error) {
	var some [256]uint32
	for n > 0 {
		if h.repeat == 0 && h.packed == 0 {
			if err := h.begin(); err != nil {
				return 0, err
			}
		}
		if k := min(h.repeat, n); k > 0 {
			if h.value == v {
				found += k
			}
			h.repeat -= k
			n -= k
			continue
		}
		k := min(h.packed, n, len(some))
		if err := h.read(some[:k]); err != nil {
			return 0, err
		}
		for _, w := range some[:k] {
			if w == v {
				found++
			}
		}
		n -= k
	}
	return found, nil
}

// flags takes the next n values, of one bit, into bit at and on of words, which
// are zero there, and counts the ones.
func (h *hybrid) flags(words []uint64, at, n int) (ones int, err error) {
	for n > 0 {
		k := 0
		switch {
		case h.repeat > 0:
			k = min(h.repeat, n)
			if h.value > 1 {
				return 0, errors.New("a definition level is more than 1")
			}
			if h.value == 1 {
				setBits(words, at, k)
				ones += k
			}
			h.repeat -= k
		case h.packed > 0:
			k = min(h.packed, n)
			ones += copyFlags(words, at, h.bits, h.at, k)
			h.at += k
			h.packed -= k
		default:
			if err := h.begin(); err != nil {
				return 0, err
			}
		}
		at += k
		n -= k
	}
	return ones, nil
}

// setBits sets n bits from bit at on.
func setBits(words []uint64, at, n int) {
	for n > 0 {
		k := min(64-at%64, n)
		words[at/64] |= ^uint64(0) >> (64 - k) << (at % 64)
		at += k
		n -= k
	}
}

// copyFlags ors n bits of src from bit from on into words from bit at on.
func copyFlags(words []uint64, at int, src []byte, from, n int) (ones int) {
	for n > 0 {
		k := min(64-at%64, n, 56)
		w := loadBits(src, from) & (^uint64(0) >> (64 - k))
		words[at/64] |= w << (at % 64)
		ones += bits.OnesCount64(w)
		at += k
		from += k
		n -= k
	}
	return ones
}

// loadBits is at least 57 bits of src from bit at on, zeros behind its end.
func loadBits(src []byte, at int) uint64 {
	p := at >> 3
	if p+8 <= len(src) {
		return binary.LittleEndian.Uint64(src[p:]) >> (at & 7)
	}
	var b [8]byte
	copy(b[:], src[p:])
	return binary.LittleEndian.Uint64(b[:]) >> (at & 7)
}

// unpack gives values of width bits, from value at on.
func unpack(dst []uint32, src []byte, at, width int) {
	if width == 0 {
		clear(dst)
		return
	}
	mask := uint64(1)<<width - 1
	for len(dst) > 0 && at%8 != 0 {
		dst[0] = uint32(loadBits(src, at*width) & mask)
		dst = dst[1:]
		at++
	}
	done := unpackGroups(dst, src[at/8*width:], width)
	for i := done; i < len(dst); i++ {
		dst[i] = uint32(loadBits(src, (at+i)*width) & mask)
	}
}

// unpackGroups unpacks whole groups of eight for as long as their bytes can be
// loaded eight at a time, and says how many values that were.
func unpackGroups(dst []uint32, src []byte, width int) int {
	n := len(dst) &^ 7
	mask := uint64(1)<<width - 1
	w := uint(width)
	i := 0
	switch {
	case width <= 8: // a group lies in one load
		for ; i < n && len(src) >= 8; i += 8 {
			v := binary.LittleEndian.Uint64(src)
			d := (*[8]uint32)(dst[i:])
			d[0], d[1], d[2], d[3] = uint32(v&mask), uint32(v>>(w&63)&mask), uint32(v>>(2*w&63)&mask), uint32(v>>(3*w&63)&mask)
			v >>= 4 * w & 63
			d[4], d[5], d[6], d[7] = uint32(v&mask), uint32(v>>(w&63)&mask), uint32(v>>(2*w&63)&mask), uint32(v>>(3*w&63)&mask)
			src = src[width:]
		}
	case width <= 16: // in two, the second of which may begin in the middle of a byte
		half, odd := width/2, uint(width%2*4)
		for ; i < n && len(src) >= half+8; i += 8 {
			v, u := binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[half:])>>odd
			d := (*[8]uint32)(dst[i:])
			d[0], d[1], d[2], d[3] = uint32(v&mask), uint32(v>>(w&63)&mask), uint32(v>>(2*w&63)&mask), uint32(v>>(3*w&63)&mask)
			d[4], d[5], d[6], d[7] = uint32(u&mask), uint32(u>>(w&63)&mask), uint32(u>>(2*w&63)&mask), uint32(u>>(3*w&63)&mask)
			src = src[width:]
		}
	default:
		for ; i < n && len(src) >= width+8; i += 8 {
			for j := range 8 {
				p := j * width
				dst[i+j] = uint32(binary.LittleEndian.Uint64(src[p>>3:]) >> (p & 7) & mask)
			}
			src = src[width:]
		}
	}
	return i
}
