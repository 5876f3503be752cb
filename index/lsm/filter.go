package lsm

import (
	"math/bits"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/index"
)

// filterKeys is how many keys share a word of a filter: 8 bits a key, of which
// about 3 in 100 that are not there pass.
const filterKeys = 8

// filterBlocks is the words of a filter for n keys.
func filterBlocks(n int) int { return (n + filterKeys - 1) / filterKeys }

// hash spreads a lead over all bits.
func hash(h uint64) uint64 {
	h ^= h >> 32
	h *= 0x9E3779B97F4A7C15
	h ^= h >> 29
	return h * 0xBF58476D1CE4E5B9
}

// hashKey is the hash of a key, given its lead.
func (s *shape) hashKey(lead uint64, key device.Ptr) uint64 {
	h := hash(lead)
	if s.Wide == 0 {
		return h
	}
	words := s.words(key)
	for _, w := range words[1:s.Words] {
		h = hash(h ^ w)
	}
	if s.Long != 0 {
		for _, w := range index.Tail(words[s.Words]) {
			h = hash(h ^ w)
		}
	}
	return h
}

// filterBits is a key's place in a filter: a word, and four bits in it. That a
// key is one load is worth more than the fewer mistakes of bits far apart.
func filterBits(h uint64, blocks int64) (block uint64, mask uint64) {
	block, _ = bits.Mul64(h, uint64(blocks))
	h *= 0x94D049BB133111EB
	mask = 1<<(h>>58) | 1<<(h>>52&63) | 1<<(h>>46&63) | 1<<(h>>40&63)
	return block, mask
}

// mayHave reports whether a key of this hash may be in a part.
func (p *part) mayHave(h uint64) bool {
	block, mask := filterBits(h, p.Blocks)
	return device.View[uint64](p.Filter, int(p.Blocks))[block]&mask == mask
}

// countDead is how many of the first n entries are dead.
func countDead(p *part, n int) int {
	if p.Dead == 0 {
		return 0
	}
	dead, sum := device.View[uint64](p.Dead, (n+63)/64), 0
	for _, w := range dead[:n/64] {
		sum += bits.OnesCount64(w)
	}
	if n%64 != 0 {
		sum += bits.OnesCount64(dead[n/64] << (64 - n%64))
	}
	return sum
}
