package kernels

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// FinalOp is how a state becomes a result.
//
//gpu:layout
type FinalOp uint8

// The results. FinalValue is what the state says by itself: a count, a sum, a
// minimum; the others are of AggSum, AggSumFloat, AggMoments and AggPairs.
//
//gpu:layout
const (
	FinalValue FinalOp = iota
	FinalAvg
	FinalTotal
	FinalVarSamp
	FinalVarPop
	FinalStddevSamp
	FinalStddevPop
	FinalCovarSamp
	FinalCovarPop
	FinalCorr
	FinalRegrAvgX
	FinalRegrAvgY
	FinalRegrCount
	FinalRegrIntercept
	FinalRegrR2
	FinalRegrSlope
	FinalRegrSXX
	FinalRegrSXY
	FinalRegrSYY
)

// Final describes the result of an aggregate: its form, and the decimal places
// of a sum that becomes a float.
type Final struct {
	Op    FinalOp
	Type  sqltype.Type
	Scale int
}

type finalArgs struct {
	State device.Ptr
	Dst   Vec
	Agg   Agg
	Final Final
	Fail  *error
}

var aggFinal = &device.Kernel[finalArgs]{Name: "aggregate_final", Steps: finalSteps, Host: aggFinalHost}

// Final writes the results of n states to dst, which has a bitmap. Strings view
// the memory of the states' heap.
func (a Agg) Final(s device.Stream, state device.Ptr, f Final, n int, dst Vec) error {
	var fail error
	err := device.Launch(s, aggFinal, n, finalArgs{State: state, Dst: dst, Agg: a, Final: f, Fail: &fail})
	if err == nil {
		err = fail
	}
	return err
}

func aggFinalHost(a *finalArgs, lo, hi int) {
	valid := device.View[uint64](a.Dst.Valid, (hi+63)/64)
	clear(valid)
	for i := 0; i < hi; i++ {
		v, ok := a.result(i)
		if ok {
			valid[i>>6] |= 1 << (i & 63)
		} else {
			v = [2]uint64{}
		}
		storeCell(a.Final.Type.Phys(), a.Dst.Data, i, v)
		if *a.Fail != nil {
			return
		}
	}
}

func (a *finalArgs) result(i int) ([2]uint64, bool) {
	switch a.Agg.Kind {
	case AggCount:
		return [2]uint64{atRow[uint64](a.State, i)}, true
	case AggSum:
		s := atRow[sumState](a.State, i)
		return a.sum(&s)
	case AggSumFloat, AggProduct:
		s := atRow[floatState](a.State, i)
		v := s.sum
		if a.Final.Op == FinalAvg {
			v /= float64(s.n)
		}
		if a.Final.Type.Phys() == sqltype.PhysF32 {
			v = float64(float32(v))
		}
		return floatCell(v), s.n > 0 || a.Final.Op == FinalTotal
	case AggMin, AggMax, AggFirst:
		c := atRow[cell](a.State, i)
		return c.v, c.seen != 0
	case AggBitAnd, AggBitOr, AggBitXor:
		b := atRow[bitState](a.State, i)
		return [2]uint64{b.v}, b.seen != 0
	case AggMoments:
		m := atRow[momentState](a.State, i)
		return a.moments(&m)
	case AggPairs:
		p := atRow[pairState](a.State, i)
		return a.pairs(&p)
	default:
		panic(fmt.Sprintf("kernels: aggregate %d", a.Agg.Kind))
	}
}

func floatCell(f float64) [2]uint64 { return [2]uint64{math.Float64bits(f)} }

func (a *finalArgs) sum(s *sumState) ([2]uint64, bool) {
	if a.Final.Type.Kind.IsFloat() {
		f := wideFloat(s.lo, s.hi) / math.Pow10(a.Final.Scale)
		if a.Final.Op == FinalAvg {
			return floatCell(f / float64(s.n)), s.n > 0
		}
		return floatCell(f), s.n > 0 || a.Final.Op == FinalTotal
	}
	if a.Final.Type.Phys() != sqltype.PhysI128 && s.hi != uint64(int64(s.lo)>>63) || !fits38(s.lo, s.hi) {
		*a.Fail = sumOutOfRange(a.Final.Type)
	}
	return [2]uint64{s.lo, s.hi}, s.n > 0
}

// wideFloat is a two's complement number of 128 bits as a float.
func wideFloat(lo, hi uint64) float64 {
	if int64(hi) < 0 {
		l, b := bits.Sub64(0, lo, 0)
		h, _ := bits.Sub64(0, hi, b)
		return -(float64(h)*0x1p64 + float64(l))
	}
	return float64(hi)*0x1p64 + float64(lo)
}

// fits38 reports at most 38 decimal digits.
func fits38(lo, hi uint64) bool {
	const limitHi, limitLo = 0x4B3B4CA85A86C47A, 0x098A224000000000 // 10^38
	if int64(hi) < 0 {
		l, b := bits.Sub64(0, lo, 0)
		h, _ := bits.Sub64(0, hi, b)
		lo, hi = l, h
	}
	return hi < limitHi || hi == limitHi && lo < limitLo
}

func (a *finalArgs) moments(m *momentState) ([2]uint64, bool) {
	switch a.Final.Op {
	case FinalVarSamp:
		return floatCell(m.m2 / (m.n - 1)), m.n > 1
	case FinalVarPop:
		return floatCell(m.m2 / m.n), m.n > 0
	case FinalStddevSamp:
		return floatCell(math.Sqrt(m.m2 / (m.n - 1))), m.n > 1
	case FinalStddevPop:
		return floatCell(math.Sqrt(m.m2 / m.n)), m.n > 0
	default:
		panic(fmt.Sprintf("kernels: result %d of moments", a.Final.Op))
	}
}

func (a *finalArgs) pairs(p *pairState) ([2]uint64, bool) {
	some := p.n > 0
	switch a.Final.Op {
	case FinalCovarSamp:
		return floatCell(p.xy / (p.n - 1)), p.n > 1
	case FinalCovarPop:
		return floatCell(p.xy / p.n), some
	case FinalCorr:
		return floatCell(p.xy / math.Sqrt(p.xx*p.yy)), some && p.xx != 0 && p.yy != 0
	case FinalRegrAvgX:
		return floatCell(p.meanX), some
	case FinalRegrAvgY:
		return floatCell(p.meanY), some
	case FinalRegrCount:
		return [2]uint64{uint64(p.n)}, true
	case FinalRegrSlope:
		return floatCell(p.xy / p.xx), some && p.xx != 0
	case FinalRegrIntercept:
		return floatCell(p.meanY - p.xy/p.xx*p.meanX), some && p.xx != 0
	case FinalRegrR2:
		if p.yy == 0 {
			return floatCell(1), some && p.xx != 0
		}
		return floatCell(p.xy * p.xy / (p.xx * p.yy)), some && p.xx != 0
	case FinalRegrSXX:
		return floatCell(p.xx), some
	case FinalRegrSXY:
		return floatCell(p.xy), some
	case FinalRegrSYY:
		return floatCell(p.yy), some
	default:
		panic(fmt.Sprintf("kernels: result %d of pairs", a.Final.Op))
	}
}

// storeCell writes a value as loadCell gives it.
func storeCell(p sqltype.Phys, dst device.Ptr, i int, v [2]uint64) {
	if p == sqltype.PhysF32 {
		device.View[float32](dst, i+1)[i] = float32(math.Float64frombits(v[0]))
		return
	}
	switch p.Width() {
	case 1:
		device.View[uint8](dst, i+1)[i] = uint8(v[0])
	case 2:
		device.View[uint16](dst, i+1)[i] = uint16(v[0])
	case 4:
		device.View[uint32](dst, i+1)[i] = uint32(v[0])
	case 8:
		device.View[uint64](dst, i+1)[i] = v[0]
	case 16:
		device.View[[2]uint64](dst, i+1)[i] = v
	default:
		panic(fmt.Sprintf("kernels: no value of form %s", p))
	}
}
