package kernels

import (
	"math/bits"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// fewGroups is up to how many groups a batch is summed on the stack first. Two
// rows in a row are often of one group, and would wait for each other's store:
// even and odd rows have sums of their own.
const fewGroups = 256

// sumBlock is how many numbers of a magnitude below 2^(63-12) are summed in 64
// bits before the sum could overflow.
const (
	sumBlock     = 1 << 12
	sumMagnitude = 63 - 12
)

func countUpdate(a *aggArgs, n int) {
	valid, ids := a.valid(n), a.ids(n)
	state := device.View[uint64](a.State, maxRows)
	switch {
	case ids == nil && valid == nil:
		state[0] += uint64(n)
	case ids == nil:
		state[0] += uint64(CountBits(valid, n))
	case valid == nil && a.Groups <= fewGroups:
		var counts [2][fewGroups]uint32
		countFew(&counts, ids)
		for g := range min(a.Groups, fewGroups) {
			state[g] += uint64(counts[0][g]) + uint64(counts[1][g])
		}
	case valid == nil:
		for _, g := range ids {
			state[g]++
		}
	default:
		for i, g := range ids {
			state[g] += valid[i>>6] >> (i & 63) & 1
		}
	}
}

func countFew(counts *[2][fewGroups]uint32, ids []uint32) {
	for len(ids) >= 2 {
		counts[0][uint8(ids[0])]++
		counts[1][uint8(ids[1])]++
		ids = ids[2:]
	}
	if len(ids) > 0 {
		counts[0][uint8(ids[0])]++
	}
}

type summable interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32
}

func intSum[T summable](a *aggArgs, n int) {
	src, valid, ids := device.View[T](a.Src.Data, n), a.valid(n), a.ids(n)
	state := device.View[sumState](a.State, maxRows)
	switch {
	case ids == nil:
		for lo := 0; lo < n; lo += sumBlock { // a multiple of 64
			hi := min(n, lo+sumBlock)
			if valid == nil {
				sumOne(&state[0], src[lo:hi])
			} else {
				sumOneValid(&state[0], src[lo:hi], valid[lo/64:])
			}
		}
	case valid == nil && a.Groups <= fewGroups:
		for lo := 0; lo < n; lo += sumBlock {
			hi := min(n, lo+sumBlock)
			sumFew(state, src[lo:hi], ids[lo:hi], min(a.Groups, fewGroups))
		}
	case valid == nil:
		sumMany(state, src, ids)
	default:
		for i, v := range src {
			if valid[i>>6]>>(i&63)&1 != 0 {
				state[ids[i]].add(uint64(v), uint64(int64(v)>>63), 1)
			}
		}
	}
}

// addSigned adds a sum of n values.
func (s *sumState) addSigned(sum int64, n int) { s.add(uint64(sum), uint64(sum>>63), uint64(n)) }

func sumOne[T summable](state *sumState, src []T) {
	var sum, all int64
	for _, v := range src {
		sum += int64(v)
		all |= int64(v) ^ int64(v)>>63
	}
	if all>>sumMagnitude == 0 {
		state.addSigned(sum, len(src))
		return
	}
	for _, v := range src {
		state.addSigned(int64(v), 1)
	}
}

func sumOneValid[T summable](state *sumState, src []T, valid []uint64) {
	var sum, all int64
	for i, v := range src {
		x := int64(v) & -int64(valid[i>>6]>>(i&63)&1)
		sum += x
		all |= x ^ x>>63
	}
	if all>>sumMagnitude == 0 {
		state.addSigned(sum, CountBits(valid, len(src)))
		return
	}
	for i, v := range src {
		if valid[i>>6]>>(i&63)&1 != 0 {
			state.addSigned(int64(v), 1)
		}
	}
}

// sumFew adds a block of rows of few groups.
func sumFew[T summable](state []sumState, src []T, ids []uint32, groups int) {
	var sums [2][fewGroups]struct{ sum, n int64 }
	var all int64
	rows, in := src, ids[:len(src)]
	for len(rows) >= 2 && len(in) >= 2 {
		v, w := int64(rows[0]), int64(rows[1])
		x, y := &sums[0][uint8(in[0])], &sums[1][uint8(in[1])]
		x.sum += v
		x.n++
		y.sum += w
		y.n++
		all |= v ^ v>>63 | w ^ w>>63
		rows, in = rows[2:], in[2:]
	}
	if all>>sumMagnitude != 0 {
		sumMany(state, src, ids)
		return
	}
	sumMany(state, rows, in)
	for g := range groups {
		for k := range sums {
			if s := &sums[k][g]; s.n != 0 {
				state[g].addSigned(s.sum, int(s.n))
			}
		}
	}
}

func sumMany[T summable](state []sumState, src []T, ids []uint32) {
	ids = ids[:len(src)]
	for i, v := range src {
		state[ids[i]].addSigned(int64(v), 1)
	}
}

// wideMagnitude is how many bits the high words of a block's numbers may have
// that are summed without looking for an overflow.
const wideMagnitude = 40

// wideSum adds numbers of one word, not negative, or of two, with a sign.
func wideSum(a *aggArgs, n, words int) {
	few := words == 2 && a.Src.Valid == 0 && a.IDs != 0 && a.Groups <= fewGroups
	for lo := 0; lo < n && *a.Fail == nil; lo += sumBlock {
		hi := min(n, lo+sumBlock)
		if !few || !wideFew(a, lo, hi) {
			wideMany(a, lo, hi, words)
		}
	}
}

// wideFew adds rows lo to hi of few groups; false when numbers are so large
// that their sum needs care.
func wideFew(a *aggArgs, lo, hi int) bool {
	src := device.View[[2]uint64](a.Src.Data, hi)[lo:]
	ids := a.ids(hi)[lo:][:len(src)]
	var sums [2][fewGroups]sumState
	var all int64
	for i := range src {
		v := &src[i]
		s := &sums[i&1][uint8(ids[i])]
		var c uint64
		s.lo, c = bits.Add64(s.lo, v[0], 0)
		s.hi += v[1] + c
		s.n++
		all |= int64(v[1]) ^ int64(v[1])>>63
	}
	if all>>wideMagnitude != 0 {
		return false
	}
	state := device.View[sumState](a.State, maxRows)
	for g := range min(a.Groups, fewGroups) {
		for k := range sums {
			if s := &sums[k][g]; s.n != 0 && !state[g].addWide(s.lo, s.hi, s.n) {
				a.overflow()
				return true
			}
		}
	}
	return true
}

func wideMany(a *aggArgs, lo, hi, words int) {
	src, valid, ids := device.View[uint64](a.Src.Data, hi*words), a.valid(hi), a.ids(hi)
	state := device.View[sumState](a.State, maxRows)
	for i := lo; i < hi; i++ {
		if valid != nil && valid[i>>6]>>(i&63)&1 == 0 {
			continue
		}
		g, high := uint32(0), uint64(0)
		if ids != nil {
			g = ids[i]
		}
		if words == 2 {
			high = src[2*i+1]
		}
		if !state[g].addWide(src[i*words], high, 1) {
			a.overflow()
			return
		}
	}
}

// addWide adds a sum of n values; false when it does not fit.
func (s *sumState) addWide(lo, hi, n uint64) bool {
	before := s.hi
	s.add(lo, hi, n)
	return (before^s.hi)&(hi^s.hi)>>63 == 0
}

func (a *aggArgs) overflow() {
	*a.Fail = sqltype.Errorf(sqltype.CodeOutOfRange, "the sum is out of range")
}
