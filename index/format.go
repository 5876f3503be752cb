package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/gpusql/gpusql/device"
)

// Format is how a key lies in memory: words whose order, the first before the
// second, is the order of the keys; numbers in the processor's byte order.
//
//	narrow   0  u32
//	words    0  u64   8  u64 ...              (Words of them)
//	long     0  u64   ... Words of them, then a u64: the address of the tail, 0 for none
//	tail     0  u64 n, the number of words    8  n words
//
// A tail goes on where the words end. Of two keys that differ in the number of
// words only the shorter comes first; the bytes after a key's end are zeros.
// Every value of a word is a key: none is reserved.
type Format struct {
	Words  int  // at least 1
	Narrow bool // the one word has 32 bits
	Long   bool // a tail may follow
}

// MaxWords is the most words of a key that is not long, and of a long one before its tail.
const MaxWords = 8

// Size is the bytes of a key in a batch.
func (f Format) Size() int {
	switch {
	case f.Narrow:
		return 4
	case f.Long:
		return 8*f.Words + 8
	}
	return 8 * f.Words
}

func (f Format) String() string {
	switch {
	case f.Narrow:
		return "narrow"
	case f.Long:
		return fmt.Sprintf("long%d", f.Words)
	}
	return fmt.Sprintf("words%d", f.Words)
}

// Tail is the words of a tail in the host's memory.
func Tail(address uint64) []uint64 {
	if address == 0 {
		return nil
	}
	n := device.View[uint64](device.Ptr(address), 1)[0]
	return device.View[uint64](device.Ptr(address), int(n)+1)[1:]
}

// CompareTails orders keys whose words are equal, by the addresses of their
// tails in the host's memory.
func CompareTails(a, b uint64) int {
	if a == b {
		return 0
	}
	x, y := Tail(a), Tail(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return cmp.Compare(x[i], y[i])
		}
	}
	return cmp.Compare(len(x), len(y))
}

// Same reports whether two keys, as they lie in a batch in the host's memory,
// are the same.
func (f Format) Same(a, b []byte) bool {
	if !f.Long {
		return bytes.Equal(a, b)
	}
	n := 8 * f.Words
	return bytes.Equal(a[:n], b[:n]) && CompareTails(binary.NativeEndian.Uint64(a[n:]), binary.NativeEndian.Uint64(b[n:])) == 0
}

// wordsOf appends the words of encoded bytes, the rest of the last one zeros.
func wordsOf(words []uint64, b []byte) []uint64 {
	for ; len(b) >= 8; b = b[8:] {
		words = append(words, binary.BigEndian.Uint64(b))
	}
	if len(b) > 0 {
		var w [8]byte
		copy(w[:], b)
		words = append(words, binary.BigEndian.Uint64(w[:]))
	}
	return words
}
