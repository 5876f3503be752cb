package kernels

import (
	"math/bits"

	"github.com/gpusql/gpusql/device"
)

// Pair is what SortPairs orders: by Key, and by Value where keys are equal.
type Pair struct{ Key, Value uint64 }

// The shape of a shared sort: pieces of the input that count and spread their
// pairs by the highest bits, and the buckets that they spread them to.
const (
	pairPieces = 128
	// fewPairBits and pairBits are as many bits as are worth their table.
	fewPairBits = 8
	pairBits    = 11
	manyPairs   = 1 << 20
	// pairsShared is from where a sort is worth more than one launch.
	pairsShared = 1 << 16
	// pairsFew is up to where pairs are inserted one by one.
	pairsFew = 24
)

type pairArgs struct {
	Pairs, Other device.Ptr
	Range        device.Ptr // least and greatest key of each piece
	Counts       device.Ptr // of each bucket, of each piece: then places
	N, Buckets   int64
}

var (
	sortPairs   = &device.Kernel[pairArgs]{Name: "sort_pairs", Host: sortPairsHost}
	pairRange   = &device.Kernel[pairArgs]{Name: "pair_range", Split: 64, Host: pairRangeHost}
	pairCount   = &device.Kernel[pairArgs]{Name: "pair_count", Split: 64, Host: pairCountHost}
	pairPlaces  = &device.Kernel[pairArgs]{Name: "pair_places", Host: pairPlacesHost}
	pairSpread  = &device.Kernel[pairArgs]{Name: "pair_spread", Split: 64, Host: pairSpreadHost}
	pairBucket  = &device.Kernel[pairArgs]{Name: "pair_bucket", Split: 64, Host: pairBucketHost}
	sharedSteps = []*device.Kernel[pairArgs]{pairRange, pairCount, pairPlaces, pairSpread}
)

// SortPairsBytes is the scratch that SortPairs needs for n pairs.
func SortPairsBytes(n int) int {
	if n < pairsShared {
		return 16 * n
	}
	return 16*n + pairPieces*(16+4*pairBuckets(n))
}

// pairBuckets is how many buckets n pairs are spread to.
func pairBuckets(n int) int {
	if n < manyPairs {
		return 1 << fewPairBits
	}
	return 1 << pairBits
}

// SortPairs orders n pairs in place; the sort takes all cores from some 65,000
// pairs on. scratch has SortPairsBytes.
//
//	pieces ── count, spread by the highest bits of key-least ──▶ buckets in scratch
//	                  buckets ── most significant byte first, in cache ──▶ pairs
func SortPairs(s device.Stream, pairs, scratch device.Ptr, n int) error {
	a := pairArgs{Pairs: pairs, Other: scratch, N: int64(n)}
	if n < pairsShared {
		return device.Launch(s, sortPairs, n, a)
	}
	a.Buckets = int64(pairBuckets(n))
	a.Range = scratch + device.Ptr(16*n)
	a.Counts = a.Range + 16*pairPieces
	for _, k := range sharedSteps {
		if err := device.Launch(s, k, pairPieces, a); err != nil {
			return err
		}
	}
	return device.Launch(s, pairBucket, int(a.Buckets), a)
}

// piece is the pairs of a piece.
func (a *pairArgs) piece(i int) []Pair {
	n := int(a.N)
	return device.View[Pair](a.Pairs, n)[i*n/pairPieces : (i+1)*n/pairPieces]
}

func (a *pairArgs) counts(i int) []uint32 {
	n := int(a.Buckets)
	return device.View[uint32](a.Counts, (i+1)*n)[i*n:]
}

// span is the least key, and how far keys above it are shifted for a bucket.
func (a *pairArgs) span() (least uint64, shift uint) {
	ranges := device.View[[2]uint64](a.Range, pairPieces)
	least, most := ranges[0][0], ranges[0][1]
	for _, r := range ranges {
		least, most = min(least, r[0]), max(most, r[1])
	}
	return least, uint(max(0, bits.Len64(most-least)-bits.Len64(uint64(a.Buckets-1))))
}

func pairRangeHost(a *pairArgs, lo, hi int) {
	ranges := device.View[[2]uint64](a.Range, pairPieces)
	for i := lo; i < hi; i++ {
		p := a.piece(i)
		least, most := p[0].Key, p[0].Key
		for j := range p {
			least, most = min(least, p[j].Key), max(most, p[j].Key)
		}
		ranges[i] = [2]uint64{least, most}
	}
}

func pairCountHost(a *pairArgs, lo, hi int) {
	least, shift := a.span()
	for i := lo; i < hi; i++ {
		c := a.counts(i)
		clear(c)
		p := a.piece(i)
		for j := range p {
			c[(p[j].Key-least)>>shift]++
		}
	}
}

func pairPlacesHost(a *pairArgs, _, _ int) {
	n := int(a.Buckets)
	all := device.View[uint32](a.Counts, pairPieces*n)
	at := uint32(0)
	for b := range n {
		for i := b; i < len(all); i += n {
			all[i], at = at, at+all[i]
		}
	}
}

func pairSpreadHost(a *pairArgs, lo, hi int) {
	least, shift := a.span()
	other := device.View[Pair](a.Other, int(a.N))
	for i := lo; i < hi; i++ {
		c := a.counts(i)
		for _, p := range a.piece(i) {
			b := (p.Key - least) >> shift
			other[c[b]] = p
			c[b]++
		}
	}
}

func pairBucketHost(a *pairArgs, lo, hi int) {
	least, shift := a.span()
	pairs, other := device.View[Pair](a.Pairs, int(a.N)), device.View[Pair](a.Other, int(a.N))
	// Spreading moved each place to the bucket's end in its piece.
	ends := a.counts(pairPieces - 1)
	for b := lo; b < hi; b++ {
		from := uint32(0)
		if b > 0 {
			from = ends[b-1]
		}
		sortByKey(other[from:ends[b]], pairs[from:ends[b]], least, shift, false)
	}
}

func sortPairsHost(a *pairArgs, _, hi int) {
	pairs := device.View[Pair](a.Pairs, hi)
	least, most := pairs[0].Key, pairs[0].Key
	for i := range pairs {
		least, most = min(least, pairs[i].Key), max(most, pairs[i].Key)
	}
	sortByKey(pairs, device.View[Pair](a.Other, hi), least, uint(bits.Len64(most-least)), true)
}

// sortByKey orders the pairs of a, whose keys differ from each other in the
// lowest bits of key-least only; b is as long. They end up in a if stay, else in b.
func sortByKey(a, b []Pair, least uint64, bits uint, stay bool) {
	if len(a) <= pairsFew {
		insertPairs(a)
		if !stay {
			copy(b, a)
		}
		return
	}
	if bits == 0 {
		sortByValue(a, b, stay)
		return
	}
	shift := max(bits, 8) - 8
	var ends [256]uint32
	for i := range a {
		ends[byte((a[i].Key-least)>>shift)]++
	}
	if int(ends[byte((a[0].Key-least)>>shift)]) == len(a) {
		sortByKey(a, b, least, shift, stay)
		return
	}
	at := uint32(0)
	for d, n := range ends {
		ends[d], at = at, at+n
	}
	for _, p := range a {
		d := byte((p.Key - least) >> shift)
		b[ends[d]] = p
		ends[d]++
	}
	at = 0
	for _, end := range ends {
		if end > at {
			sortByKey(b[at:end], a[at:end], least, shift, !stay)
		}
		at = end
	}
}

// sortByValue orders pairs of one key. They are mostly in order.
func sortByValue(a, b []Pair, stay bool) {
	sorted, most := true, a[0].Value
	least := most
	for i := 1; i < len(a); i++ {
		v := a[i].Value
		sorted = sorted && v >= a[i-1].Value
		least, most = min(least, v), max(most, v)
	}
	if !sorted {
		// As keys they are sorted by what they have, and their key is known.
		key := a[0].Key
		for i := range a {
			a[i] = Pair{a[i].Value, 0}
		}
		sortByKey(a, b, least, uint(bits.Len64(most-least)), stay)
		if !stay {
			a = b
		}
		for i := range a {
			a[i] = Pair{key, a[i].Key}
		}
		return
	}
	if !stay {
		copy(b, a)
	}
}

func insertPairs(a []Pair) {
	for i := 1; i < len(a); i++ {
		p := a[i]
		j := i
		for ; j > 0; j-- {
			q := a[j-1]
			if q.Key < p.Key || q.Key == p.Key && q.Value <= p.Value {
				break
			}
			a[j] = q
		}
		a[j] = p
	}
}
