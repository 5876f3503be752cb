package indextest

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/gpusql/gpusql/index"
)

// space is a format with size keys, in order: the least and the greatest that
// there are come first and last.
type space struct {
	format index.Format
	size   int
	key    func(n int) []byte
}

func spaces() []space {
	return []space{
		{index.Format{Words: 1, Narrow: true}, 500, func(n int) []byte {
			return binary.BigEndian.AppendUint32(nil, uint32(uint64(n)*math.MaxUint32/499))
		}},
		{index.Format{Words: 1}, 500, func(n int) []byte { return word(nil, n, 499) }},
		{index.Format{Words: 2}, 480, func(n int) []byte { return word(word(nil, n/16, 29), n%16, 15) }},
		{index.Format{Words: 3}, 512, func(n int) []byte { return word(word(word(nil, n/256, 1), n/8%32, 31), n%8, 7) }},
		{index.Format{Words: 1, Long: true}, 400, text},
		{index.Format{Words: 2, Long: true}, 400, text},
	}
}

// word appends number i of 0 to last, spread over all words.
func word(b []byte, i, last int) []byte {
	if i == last {
		return binary.BigEndian.AppendUint64(b, math.MaxUint64)
	}
	return binary.BigEndian.AppendUint64(b, uint64(i)*(math.MaxUint64/uint64(last)))
}

// text is an encoded string: some fit into the words, some have tails, and
// neighbours share long beginnings.
func text(n int) []byte {
	if n == 0 {
		return []byte{0, 0}
	}
	s := fmt.Sprintf("%03d", n/8)
	if n >= 200 {
		s = "a longer beginning " + s
	}
	s += strings.Repeat("x", [...]int{0, 1, 2, 5, 8, 9, 30, 100}[n%8])
	return append([]byte(s), 0, 0)
}
