package kernels

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// AggKind is what an aggregate's state holds; several functions share one.
//
//gpu:layout
type AggKind uint8

// The closed set of states.
//
//	kind         bytes  holds
//	AggCount        8   rows
//	AggSum         24   a 128-bit sum, values
//	AggSumFloat    16   a float64 sum, values
//	AggProduct     16   a float64 product, values
//	AggMin, ...    24   a value of the argument's form, 1 when there is one
//	AggBitAnd ...  16   64 bits, 1 when there is a value
//	AggMoments     24   n, mean, sum of squared differences (Welford)
//	AggPairs       48   n, both means, both sums of squares, the co-moment
//
//gpu:layout
const (
	AggCount AggKind = iota
	AggSum
	AggSumFloat
	AggProduct
	AggMin
	AggMax
	AggFirst
	AggBitAnd
	AggBitOr
	AggBitXor
	AggMoments
	AggPairs
	numAggs
)

var aggBytes = [numAggs]int{8, 24, 16, 16, 24, 24, 24, 16, 16, 16, 24, 48}

// Agg is one aggregate over values of a form.
type Agg struct {
	Kind AggKind
	Phys sqltype.Phys
}

// Bytes is the size of a group's state. A state of zeros is that of no value.
func (a Agg) Bytes() int { return aggBytes[a.Kind] }

// AggInput is what an update reads: the argument (and a second one for
// AggPairs, whose NULLs are in Src too), and each row's group, below Groups; 0:
// all are in group 0. Heap takes the bytes of strings that are kept; without
// one they must outlive the states.
type AggInput struct {
	Src, Second Vec
	IDs         device.Ptr
	Groups      int
	Heap        *Heap
}

type aggArgs struct {
	AggInput
	State device.Ptr
	From  device.Ptr // merge: the states to add
	Rows  device.Ptr // merge: which of them, 0: as they come
	Op    AggKind
	Phys  sqltype.Phys
	Fail  *error
}

var aggUpdate = &device.Kernel[aggArgs]{Name: "aggregate", Steps: aggSteps(0), Host: aggUpdateHost}

var aggMerge = &device.Kernel[aggArgs]{Name: "aggregate_merge", Steps: aggSteps(1), Host: aggMergeHost}

// Update adds n rows to the states.
func (a Agg) Update(s device.Stream, state device.Ptr, in AggInput, n int) error {
	var fail error
	err := device.Launch(s, aggUpdate, n, aggArgs{AggInput: in, State: state, Op: a.Kind, Phys: a.Phys, Fail: &fail})
	if err == nil {
		err = fail
	}
	return err
}

// Merge adds n states at from, those that rows names (0: as they come), to those
// of their groups ids.
func (a Agg) Merge(s device.Stream, state, from, rows, ids device.Ptr, n int, heap *Heap) error {
	return a.MergeFew(s, state, from, rows, ids, 0, n, heap)
}

// MergeFew is Merge where so many groups are known to be all; 0: they may be any.
func (a Agg) MergeFew(s device.Stream, state, from, rows, ids device.Ptr, groups, n int, heap *Heap) error {
	var fail error
	err := device.Launch(s, aggMerge, n, aggArgs{AggInput: AggInput{IDs: ids, Groups: groups, Heap: heap}, State: state, From: from, Rows: rows, Op: a.Kind, Phys: a.Phys, Fail: &fail})
	if err == nil {
		err = fail
	}
	return err
}

type sumState struct {
	lo, hi uint64
	n      uint64
}

type floatState struct {
	sum float64
	n   uint64
}

// cell is a state of AggMin and the like for any form: 16 bytes of value.
type cell struct {
	v    [2]uint64
	seen uint64
}

type bitState struct{ v, seen uint64 }

type momentState struct{ n, mean, m2 float64 }

type pairState struct{ n, meanX, meanY, xx, yy, xy float64 }

func aggUpdateHost(a *aggArgs, lo, hi int) {
	switch a.Op {
	case AggCount:
		countUpdate(a, hi)
	case AggSum:
		sumUpdate(a, hi)
	case AggSumFloat:
		if a.Phys == sqltype.PhysF32 {
			floatSum[float32](a, hi)
		} else {
			floatSum[float64](a, hi)
		}
	case AggProduct:
		productUpdate(a, hi)
	case AggMin, AggMax, AggFirst:
		valueUpdate(a, hi)
	case AggBitAnd, AggBitOr, AggBitXor:
		bitUpdate(a, hi)
	case AggMoments:
		momentUpdate(a, hi)
	case AggPairs:
		pairUpdate(a, hi)
	default:
		panic(fmt.Sprintf("kernels: aggregate %d", a.Op))
	}
}

func (a *aggArgs) valid(n int) []uint64 { return device.View[uint64](a.Src.Valid, (n+63)/64) }

func (a *aggArgs) ids(n int) []uint32 { return device.View[uint32](a.IDs, n) }

func sumUpdate(a *aggArgs, n int) {
	switch a.Phys {
	case sqltype.PhysBool, sqltype.PhysU8:
		intSum[uint8](a, n)
	case sqltype.PhysI8:
		intSum[int8](a, n)
	case sqltype.PhysI16:
		intSum[int16](a, n)
	case sqltype.PhysI32:
		intSum[int32](a, n)
	case sqltype.PhysI64:
		intSum[int64](a, n)
	case sqltype.PhysU16:
		intSum[uint16](a, n)
	case sqltype.PhysU32:
		intSum[uint32](a, n)
	case sqltype.PhysU64:
		wideSum(a, n, 1)
	case sqltype.PhysI128:
		wideSum(a, n, 2)
	default:
		panic(fmt.Sprintf("kernels: no sum of form %s", a.Phys))
	}
}

func (s *sumState) add(lo, hi, n uint64) {
	var c uint64
	s.lo, c = bits.Add64(s.lo, lo, 0)
	s.hi, _ = bits.Add64(s.hi, hi, c)
	s.n += n
}

func floatSum[T float32 | float64](a *aggArgs, n int) {
	src, valid, ids := device.View[T](a.Src.Data, n), a.valid(n), a.ids(n)
	state := device.View[floatState](a.State, maxRows)
	for i, v := range src {
		if valid != nil && valid[i>>6]>>(i&63)&1 == 0 {
			continue
		}
		g := uint32(0)
		if ids != nil {
			g = ids[i]
		}
		state[g].sum += float64(v)
		state[g].n++
	}
}

func valueUpdate(a *aggArgs, n int) {
	switch a.Phys {
	case sqltype.PhysBool, sqltype.PhysU8:
		orderedValue[uint8](a, n)
	case sqltype.PhysI8:
		orderedValue[int8](a, n)
	case sqltype.PhysI16:
		orderedValue[int16](a, n)
	case sqltype.PhysI32:
		orderedValue[int32](a, n)
	case sqltype.PhysI64:
		orderedValue[int64](a, n)
	case sqltype.PhysU16:
		orderedValue[uint16](a, n)
	case sqltype.PhysU32:
		orderedValue[uint32](a, n)
	case sqltype.PhysU64:
		orderedValue[uint64](a, n)
	case sqltype.PhysF32, sqltype.PhysF64, sqltype.PhysI128, sqltype.PhysStr, sqltype.PhysSpan:
		cellUpdate(a, n)
	default:
		panic(fmt.Sprintf("kernels: no minimum of form %s", a.Phys))
	}
}

// orderedValue keeps the value of integers in the low bytes of a cell.
func orderedValue[T Integer](a *aggArgs, n int) {
	src, valid, ids := device.View[T](a.Src.Data, n), a.valid(n), a.ids(n)
	state := device.View[cell](a.State, maxRows)
	for i, v := range src {
		if valid != nil && valid[i>>6]>>(i&63)&1 == 0 {
			continue
		}
		g := uint32(0)
		if ids != nil {
			g = ids[i]
		}
		c := &state[g]
		if c.seen == 0 || a.Op == AggMin && v < T(c.v[0]) || a.Op == AggMax && v > T(c.v[0]) {
			c.v[0], c.seen = uint64(v), 1
		}
	}
}

// cellUpdate is the same for forms whose comparison is a call.
func cellUpdate(a *aggArgs, n int) {
	ids := a.ids(n)
	state := device.View[cell](a.State, maxRows)
	if ids == nil && (a.Op == AggMin || a.Op == AggMax) {
		if row, ok := extremeRow(a, n); ok {
			if row >= 0 {
				a.offer(&state[0], loadCell(a.Phys, &a.Src, row))
			}
			return
		}
	}
	for i := 0; i < n; i++ {
		if a.Src.isNull(i) {
			continue
		}
		g := uint32(0)
		if ids != nil {
			g = ids[i]
		}
		if !a.offer(&state[g], loadCell(a.Phys, &a.Src, i)) {
			return
		}
	}
}

// offer gives a cell one more value. It reports false when it failed.
func (a *aggArgs) offer(c *cell, v [2]uint64) bool {
	if c.seen != 0 {
		switch a.Op {
		case AggFirst:
			return true
		case AggMin:
			if compareCell(a.Phys, v, c.v) >= 0 {
				return true
			}
		case AggMax:
			if compareCell(a.Phys, v, c.v) <= 0 {
				return true
			}
		}
	}
	if a.Phys == sqltype.PhysStr && a.Heap != nil {
		view := View{v[0], v[1]}
		if uint32(view.Lo) > InlineLen {
			kept, err := a.Heap.String(view.Str())
			if err != nil {
				*a.Fail = err
				return false
			}
			v = [2]uint64{kept.Lo, kept.Hi}
		}
	}
	c.v, c.seen = v, 1
	return true
}

func productUpdate(a *aggArgs, n int) {
	src, ids := device.View[float64](a.Src.Data, n), a.ids(n)
	state := device.View[floatState](a.State, maxRows)
	for i, v := range src {
		if a.Src.isNull(i) {
			continue
		}
		g := uint32(0)
		if ids != nil {
			g = ids[i]
		}
		state[g].multiply(v, 1)
	}
}

// multiply makes sum, which is a product here, that of n more values.
func (s *floatState) multiply(v float64, n uint64) {
	if s.n == 0 {
		s.sum = 1
	}
	s.sum *= v
	s.n += n
}

func bitUpdate(a *aggArgs, n int) {
	ids := a.ids(n)
	state := device.View[bitState](a.State, maxRows)
	for i := 0; i < n; i++ {
		if a.Src.isNull(i) {
			continue
		}
		g := uint32(0)
		if ids != nil {
			g = ids[i]
		}
		state[g].add(a.Op, loadCell(a.Phys, &a.Src, i)[0])
	}
}

func (s *bitState) add(op AggKind, v uint64) {
	switch {
	case s.seen == 0:
		s.v = v
	case op == AggBitAnd:
		s.v &= v
	case op == AggBitOr:
		s.v |= v
	default:
		s.v ^= v
	}
	s.seen = 1
}

func momentUpdate(a *aggArgs, n int) {
	src, ids := device.View[float64](a.Src.Data, n), a.ids(n)
	state := device.View[momentState](a.State, maxRows)
	for i, v := range src {
		if a.Src.isNull(i) {
			continue
		}
		g := uint32(0)
		if ids != nil {
			g = ids[i]
		}
		state[g].merge(momentState{n: 1, mean: v})
	}
}

// merge joins two sets of values (Chan's formula).
func (s *momentState) merge(o momentState) {
	if o.n == 0 {
		return
	}
	n := s.n + o.n
	d := o.mean - s.mean
	s.m2 += o.m2 + d*d*s.n*o.n/n
	s.mean += d * o.n / n
	s.n = n
}

func pairUpdate(a *aggArgs, n int) {
	y, x := device.View[float64](a.Src.Data, n), device.View[float64](a.Second.Data, n)
	ids := a.ids(n)
	state := device.View[pairState](a.State, maxRows)
	for i := range y {
		if a.Src.isNull(i) || a.Second.isNull(i) {
			continue
		}
		g := uint32(0)
		if ids != nil {
			g = ids[i]
		}
		state[g].merge(pairState{n: 1, meanX: x[i], meanY: y[i]})
	}
}

func (s *pairState) merge(o pairState) {
	if o.n == 0 {
		return
	}
	n := s.n + o.n
	dx, dy := o.meanX-s.meanX, o.meanY-s.meanY
	f := s.n * o.n / n
	s.xx += o.xx + dx*dx*f
	s.yy += o.yy + dy*dy*f
	s.xy += o.xy + dx*dy*f
	s.meanX += dx * o.n / n
	s.meanY += dy * o.n / n
	s.n = n
}

// mergeStates merges states by a function of their kind, until it reports false.
func mergeStates[S any](a *aggArgs, n int, merge func(to, from *S) bool) {
	ids, rows := a.ids(n), device.View[uint32](a.Rows, n)
	from, state := device.View[S](a.From, maxRows), device.View[S](a.State, maxRows)
	for i := range n {
		to, row := 0, i
		if ids != nil {
			to = int(ids[i])
		}
		if rows != nil {
			row = int(rows[i])
		}
		if !merge(&state[to], &from[row]) {
			return
		}
	}
}

func aggMergeHost(a *aggArgs, _, n int) {
	switch a.Op {
	case AggCount:
		mergeStates(a, n, func(to, from *uint64) bool {
			*to += *from
			return true
		})
	case AggSum:
		mergeStates(a, n, func(to, from *sumState) bool {
			to.add(from.lo, from.hi, from.n)
			return true
		})
	case AggSumFloat:
		mergeStates(a, n, func(to, from *floatState) bool {
			to.sum += from.sum
			to.n += from.n
			return true
		})
	case AggProduct:
		mergeStates(a, n, func(to, from *floatState) bool {
			if from.n > 0 {
				to.multiply(from.sum, from.n)
			}
			return true
		})
	case AggMin, AggMax, AggFirst:
		mergeStates(a, n, func(to, from *cell) bool { return from.seen == 0 || a.offer(to, from.v) })
	case AggBitAnd, AggBitOr, AggBitXor:
		mergeStates(a, n, func(to, from *bitState) bool {
			if from.seen != 0 {
				to.add(a.Op, from.v)
			}
			return true
		})
	case AggMoments:
		mergeStates(a, n, func(to, from *momentState) bool {
			to.merge(*from)
			return true
		})
	case AggPairs:
		mergeStates(a, n, func(to, from *pairState) bool {
			to.merge(*from)
			return true
		})
	default:
		panic(fmt.Sprintf("kernels: aggregate %d", a.Op))
	}
}

// loadCell is row i, sign-extended to 64 bits or in 16 bytes as it is.
func loadCell(p sqltype.Phys, v *Vec, i int) [2]uint64 {
	switch p {
	case sqltype.PhysBool, sqltype.PhysU8:
		return [2]uint64{uint64(atRow[uint8](v.Data, i))}
	case sqltype.PhysI8:
		return [2]uint64{uint64(atRow[int8](v.Data, i))}
	case sqltype.PhysI16:
		return [2]uint64{uint64(atRow[int16](v.Data, i))}
	case sqltype.PhysI32:
		return [2]uint64{uint64(atRow[int32](v.Data, i))}
	case sqltype.PhysU16:
		return [2]uint64{uint64(atRow[uint16](v.Data, i))}
	case sqltype.PhysU32:
		return [2]uint64{uint64(atRow[uint32](v.Data, i))}
	case sqltype.PhysI64, sqltype.PhysU64, sqltype.PhysF64:
		return [2]uint64{atRow[uint64](v.Data, i)}
	case sqltype.PhysF32:
		return [2]uint64{math.Float64bits(float64(atRow[float32](v.Data, i)))}
	case sqltype.PhysStr:
		s := v.str(i)
		return [2]uint64{s.Lo, s.Hi}
	case sqltype.PhysI128, sqltype.PhysSpan:
		return atRow[[2]uint64](v.Data, i)
	default:
		panic(fmt.Sprintf("kernels: no value of form %s", p))
	}
}
