package arrow

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// sketch estimates how many different values were added to it: HyperLogLog
// with 1024 registers, some 3 % off. nil is the empty sketch.
type sketch []uint8

const sketchBits = 10

// add counts a value by its hash.
func (k sketch) add(h uint64) {
	r := uint8(bits.LeadingZeros64(h<<sketchBits|1<<(sketchBits-1))) + 1
	if i := h >> (64 - sketchBits); r > k[i] {
		k[i] = r
	}
}

// merge adds what other has seen.
func (k sketch) merge(other sketch) {
	for i, r := range other {
		if r > k[i] {
			k[i] = r
		}
	}
}

// estimate is the number of different values.
func (k sketch) estimate() float64 {
	if k == nil {
		return 0
	}
	const m = 1 << sketchBits
	var count [65]int
	for _, r := range k {
		count[r]++
	}
	sum, zeros := 0.0, count[0]
	for r, n := range count {
		sum += math.Ldexp(float64(n), -r)
	}
	e := 0.7213 / (1 + 1.079/m) * m * m / sum
	if e <= 2.5*m && zeros > 0 {
		return m * math.Log(m/float64(zeros)) // few values: count the empty registers
	}
	return e
}

// mix spreads a word's bits over all of them.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

// hashBytes is a hash of a string's bytes.
func hashBytes(b []byte) uint64 {
	h := uint64(len(b))
	for ; len(b) >= 8; b = b[8:] {
		h = mix(h ^ binary.LittleEndian.Uint64(b))
	}
	for _, c := range b {
		h = h<<8 ^ uint64(c) ^ h>>56
	}
	return mix(h)
}
