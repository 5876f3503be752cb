package kernels

import (
	"math/bits"

	"github.com/gpusql/gpusql/device"
)

// Vec is a column as a step sees it: addresses, no ownership.
//
//	Dict == 0   Data holds the values, one after the other, each Phys.Width() bytes
//	Dict != 0   Data holds uint32 codes, Dict the DictLen values that they index
//	Valid == 0  no value is NULL
//	Valid != 0  an Arrow bitmap: bit i%8 of byte i/8 is 1 when value i is not NULL;
//	            whole 64-bit words may be read and written; a row's NULL is said here
//	            and never in the dictionary
//
// A value under a NULL is unspecified but readable: a step may compute with it
// and must not fail because of it.
//
//gpu:layout
type Vec struct {
	Data    device.Ptr
	Valid   device.Ptr
	Dict    device.Ptr
	DictLen uint32
	_       uint32
}

// View is a VARCHAR or BLOB value of 16 bytes:
//
//	OFFSET SIZE DESCRIPTION
//	     0    4 length in bytes, at most 2^31-1
//	     4   12 the bytes, zero padded, when the length is at most 12; otherwise
//	     4    4   the first 4 bytes
//	     8    8   the address of the bytes, in the memory of the device
//
// so that two words settle most comparisons. The bytes behind a long view
// belong to whoever owns the column.
//
//gpu:layout
type View struct {
	Lo, Hi uint64 // little-endian words at 0 and 8
}

// InlineLen is the longest string that a View holds by itself.
//
//gpu:layout
const InlineLen = 12

// BitmapBytes is the size of a validity bitmap for n rows, in whole words.
func BitmapBytes(n int) int { return (n + 63) / 64 * 8 }

// CountBits counts the ones among the first n bits of words.
func CountBits(words []uint64, n int) int {
	c := 0
	for i := 0; i < n/64; i++ {
		c += bits.OnesCount64(words[i])
	}
	if r := n % 64; r != 0 {
		c += bits.OnesCount64(words[n/64] & (1<<r - 1))
	}
	return c
}
