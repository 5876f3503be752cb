package kernels

import (
	"encoding/binary"
	"math/bits"
	"sort"

	"github.com/gpusql/gpusql/device"
)

// spreader orders pairs by key, and by value where keys are equal, in launches
// of bounded size that take all cores.
//
//	chunks ── count, spread by the highest bits of key-least ──▶ buckets
//	buckets of a piece or less ── most significant byte first, in cache ──▶ pairs
//	larger ones are spread again
type spreader struct {
	s      device.Stream
	tables device.Ptr // spreadTables
	piece  int        // pairs that a core works on in a launch
}

// The shape of a spread: it has no more chunks than spreadChunks, each with a
// count for every bucket.
const (
	spreadChunks = 256
	spreadBits   = 11
	spreadSplit  = 1 << 13
)

// bucketBits is how many bits of a key tell the buckets of n pairs apart.
func bucketBits(n int) int { return min(spreadBits, max(4, bits.Len(uint(n/512)))) }

// spreadTables is the room for the tables of a spread of n pairs.
func spreadTables(n int) int {
	return (min(spreadChunks, n/64) + 1) * (16 + 4<<bucketBits(n))
}

type spreadArgs struct {
	Pairs, Other device.Ptr // read and written
	Ranges       device.Ptr // the least and the greatest key of each chunk
	Counts       device.Ptr // of each bucket, of each chunk: then places
	N, Chunk     int64
	First        int64 // of the launch
	Least        uint64
	Shift, Bits  uint32
	Stay         uint32 // spreadSort: 1 when pairs end up where they are read
	_            uint32
}

var (
	spreadRange  = &device.Kernel[spreadArgs]{Name: "spread_range", Split: spreadSplit, Host: spreadRangeHost}
	spreadCount  = &device.Kernel[spreadArgs]{Name: "spread_count", Split: spreadSplit, Host: spreadCountHost}
	spreadPlaces = &device.Kernel[spreadArgs]{Name: "spread_places", Host: spreadPlacesHost}
	spreadPairs  = &device.Kernel[spreadArgs]{Name: "spread_pairs", Split: spreadSplit, Host: spreadPairsHost}
	spreadSort   = &device.Kernel[spreadArgs]{Name: "spread_sort", Split: spreadSplit, Host: spreadSortHost}
	spreadValues = &device.Kernel[spreadArgs]{Name: "spread_values", Split: spreadSplit, Host: spreadValuesHost}
	spreadSwap   = &device.Kernel[spreadArgs]{Name: "spread_swap", Split: spreadSplit, Host: spreadSwapHost}
	spreadLeaf   = &device.Kernel[spreadArgs]{Name: "spread_leaf", Host: spreadLeafHost}
)

// order orders n pairs, with as much room at other. They end up at pairs if
// stay, else at other.
func (p *spreader) order(pairs, other device.Ptr, n int, stay bool) error {
	a := spreadArgs{Pairs: pairs, Other: other, N: int64(n)}
	if stay {
		a.Stay = 1
	}
	if n <= p.piece {
		return device.Launch(p.s, spreadLeaf, n, a)
	}
	chunk := max(p.piece, (n/spreadChunks+64)&^63)
	chunks := (n + chunk - 1) / chunk
	a.Ranges, a.Chunk = p.tables, int64(chunk)
	a.Counts = a.Ranges + device.Ptr(16*chunks)
	if err := p.launch(spreadRange, a, 0, n); err != nil {
		return err
	}
	least, most, err := p.span(a.Ranges, chunks)
	if err != nil {
		return err
	}
	if least == most {
		return p.tied(a, chunks)
	}
	a.Bits = uint32(bucketBits(n))
	a.Least, a.Shift = least, uint32(max(0, bits.Len64(most-least)-int(a.Bits)))
	if err := p.launch(spreadCount, a, 0, n); err != nil {
		return err
	}
	if err := device.Launch(p.s, spreadPlaces, 1<<a.Bits, a); err != nil {
		return err
	}
	if err := p.launch(spreadPairs, a, 0, n); err != nil {
		return err
	}
	return p.buckets(a, chunks)
}

// launch launches a kernel over pairs lo to hi, a piece for each core at a time.
func (p *spreader) launch(k *device.Kernel[spreadArgs], a spreadArgs, lo, hi int) error {
	size := max(int(a.Chunk), p.piece) * max(1, p.s.Device().Traits().Streams)
	return piecesOf(size, hi-lo, func(from, to int) error {
		a.First = int64(lo + from)
		return device.Launch(p.s, k, to-from, a)
	})
}

// tied orders pairs of one key: mostly they are in the order of their values,
// else values and keys change places.
func (p *spreader) tied(a spreadArgs, chunks int) error {
	n := int(a.N)
	if err := p.launch(spreadValues, a, 0, n); err != nil {
		return err
	}
	b := make([]byte, 16*chunks)
	if err := p.s.Download(b, a.Ranges); err != nil {
		return err
	}
	sorted, last := true, uint64(0)
	for ; len(b) > 0 && sorted; b = b[16:] {
		first, end := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		sorted, last = first >= last && end >= first, end
	}
	to := a.Pairs
	if a.Stay == 0 {
		to = a.Other
	}
	switch {
	case sorted && a.Stay != 0:
		return nil
	case sorted:
		return Copy(p.s, to, a.Pairs, 16*n)
	}
	if err := p.launch(spreadSwap, a, 0, n); err != nil {
		return err
	}
	// Runs of equal values have equal keys too, so that they are in order.
	if err := p.order(a.Pairs, a.Other, n, a.Stay != 0); err != nil {
		return err
	}
	a.Pairs = to
	return p.launch(spreadSwap, a, 0, n)
}

// span is the least and the greatest key.
func (p *spreader) span(ranges device.Ptr, chunks int) (least, most uint64, err error) {
	b := make([]byte, 16*chunks)
	if err := p.s.Download(b, ranges); err != nil {
		return 0, 0, err
	}
	least = ^uint64(0)
	for ; len(b) > 0; b = b[16:] {
		least = min(least, binary.LittleEndian.Uint64(b))
		most = max(most, binary.LittleEndian.Uint64(b[8:]))
	}
	return least, most, nil
}

// buckets orders each bucket: a run of small ones by a launch, a large one by a
// spread of its own, when the tables are not needed any more.
func (p *spreader) buckets(a spreadArgs, chunks int) error {
	b := make([]byte, 4<<a.Bits)
	if err := p.s.Download(b, a.Counts+device.Ptr(len(b)*(chunks-1))); err != nil {
		return err
	}
	a.Pairs, a.Other, a.Stay = a.Other, a.Pairs, a.Stay^1
	var large [][2]int
	lo, from := 0, 0 // of the bucket, of the small ones before it
	for ; len(b) > 0; b = b[4:] {
		hi := int(binary.LittleEndian.Uint32(b))
		if hi-lo > p.piece {
			if err := p.launch(spreadSort, a, from, lo); err != nil {
				return err
			}
			large = append(large, [2]int{lo, hi})
			from = hi
		}
		lo = hi
	}
	if err := p.launch(spreadSort, a, from, lo); err != nil {
		return err
	}
	for _, r := range large {
		at := device.Ptr(16 * r[0])
		if err := p.order(a.Pairs+at, a.Other+at, r[1]-r[0], a.Stay != 0); err != nil {
			return err
		}
	}
	return nil
}

// chunks has f see the chunks that begin among pairs First+lo to First+hi.
func (a *spreadArgs) chunks(lo, hi int, f func(c int, pairs []Pair)) {
	n, size := int(a.N), int(a.Chunk)
	pairs := device.View[Pair](a.Pairs, n)
	for c := (int(a.First) + lo + size - 1) / size; c*size < int(a.First)+hi; c++ {
		f(c, pairs[c*size:min(n, (c+1)*size)])
	}
}

// counts are a chunk's.
func (a *spreadArgs) counts(c int) []uint32 {
	n := 1 << a.Bits
	return device.View[uint32](a.Counts, (c+1)*n)[c*n:]
}

func spreadRangeHost(a *spreadArgs, lo, hi int) {
	a.chunks(lo, hi, func(c int, pairs []Pair) {
		least, most := keySpan(pairs)
		device.View[[2]uint64](a.Ranges, c+1)[c] = [2]uint64{least, most}
	})
}

func keySpan(pairs []Pair) (least, most uint64) {
	least = ^uint64(0)
	for i := range pairs {
		least, most = min(least, pairs[i].Key), max(most, pairs[i].Key)
	}
	return least, most
}

// spreadValuesHost writes the first and the last value of each chunk, or two
// that are not in order if not all of its values are.
func spreadValuesHost(a *spreadArgs, lo, hi int) {
	a.chunks(lo, hi, func(c int, pairs []Pair) {
		r := [2]uint64{pairs[0].Value, pairs[len(pairs)-1].Value}
		for i := range pairs[1:] {
			if pairs[i].Value > pairs[i+1].Value {
				r = [2]uint64{1, 0}
				break
			}
		}
		device.View[[2]uint64](a.Ranges, c+1)[c] = r
	})
}

func spreadSwapHost(a *spreadArgs, lo, hi int) {
	pairs := device.View[Pair](a.Pairs, int(a.N))[int(a.First)+lo : int(a.First)+hi]
	for i, p := range pairs {
		pairs[i] = Pair{p.Value, p.Key}
	}
}

func spreadCountHost(a *spreadArgs, lo, hi int) {
	a.chunks(lo, hi, func(c int, pairs []Pair) {
		counts := a.counts(c)
		clear(counts)
		for i := range pairs {
			counts[(pairs[i].Key-a.Least)>>a.Shift]++
		}
	})
}

// spreadPlacesHost makes places of counts: a bucket's pairs of one chunk come
// after those of the chunks before.
func spreadPlacesHost(a *spreadArgs, _, buckets int) {
	all := device.View[uint32](a.Counts, buckets*int((a.N+a.Chunk-1)/a.Chunk))
	at := uint32(0)
	for b := range buckets {
		for i := b; i < len(all); i += buckets {
			all[i], at = at, at+all[i]
		}
	}
}

func spreadPairsHost(a *spreadArgs, lo, hi int) {
	other := device.View[Pair](a.Other, int(a.N))
	a.chunks(lo, hi, func(c int, pairs []Pair) {
		places := a.counts(c)
		for _, p := range pairs {
			b := (p.Key - a.Least) >> a.Shift
			other[places[b]] = p
			places[b]++
		}
	})
}

// spreadSortHost orders the buckets that begin among the pairs of the launch;
// each has a piece at most.
func spreadSortHost(a *spreadArgs, lo, hi int) {
	n := int(a.N)
	pairs, other := device.View[Pair](a.Pairs, n), device.View[Pair](a.Other, n)
	// Spreading moved each place to the bucket's end in its chunk.
	ends := a.counts((n+int(a.Chunk)-1)/int(a.Chunk) - 1)
	lo, hi = lo+int(a.First), hi+int(a.First)
	b := 0
	if lo > 0 {
		b = 1 + sort.Search(len(ends)-1, func(b int) bool { return int(ends[b]) >= lo })
	}
	for from := lo; b < len(ends); b++ {
		if b > 0 {
			from = int(ends[b-1])
		}
		if from >= hi {
			return
		}
		if to := int(ends[b]); to > from {
			sortByKey(pairs[from:to], other[from:to], a.Least, uint(a.Shift), a.Stay != 0)
		}
	}
}

func spreadLeafHost(a *spreadArgs, _, n int) {
	pairs := device.View[Pair](a.Pairs, n)
	least, most := keySpan(pairs)
	sortByKey(pairs, device.View[Pair](a.Other, n), least, uint(bits.Len64(most-least)), a.Stay != 0)
}
