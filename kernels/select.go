package kernels

import (
	"math/bits"

	"github.com/gpusql/gpusql/device"
)

//gpu:layout
type selectArgs struct {
	Pred  Vec
	Mask  device.Ptr // a bitmap of rows to consider, or 0
	Out   device.Ptr
	State device.Ptr // see selectState
	Count device.Ptr
}

var (
	selectTrue  = &device.Kernel[selectArgs]{Name: "select_true", Host: selectTrueHost, Steps: selectSteps(codeSelectTrue, selectArgsState)}
	selectFalse = &device.Kernel[selectArgs]{Name: "select_not_true", Host: selectNotTrueHost, Steps: selectSteps(codeSelectNotTrue, selectArgsState)}
	selectBits  = &device.Kernel[selectArgs]{Name: "select_bits", Host: selectBitsHost, Steps: selectSteps(codeSelectBits, selectArgsState)}
)

// SelectBytes is the room that Select needs for n rows: the numbers, what
// blocks of a GPU tell each other, and a count.
func SelectBytes(n int) int { return selectState(n) + selectStateBytes(n) + 8 }

// selectState is where blocks tell each other how many rows they have, behind
// the numbers: a counter, and a word a tile.
func selectState(n int) int { return (n*4 + 7) / 8 * 8 }

func selectStateBytes(n int) int { return 8 * (1 + codeSelectTrue.Grid(max(n, 1), 0)) }

func selectArgsState(a *selectArgs) device.Ptr { return a.State }

// selectSteps clears the state first, unless one block does it all.
func selectSteps[A any](c *device.Code, state func(*A) device.Ptr) func(device.Stream, *A, int) error {
	k := &device.Kernel[A]{Name: c.Entry, Code: c}
	return func(s device.Stream, a *A, n int) error {
		if n > c.Items {
			if err := Zero(s, state(a), selectStateBytes(n)); err != nil {
				return err
			}
		}
		return device.Launch(s, k, n, *a)
	}
}

// Select writes the numbers of the rows among n for which pred is true, in
// order, as uint32 to out, which has SelectBytes(n), and returns how many.
func Select(s device.Stream, pred Vec, n int, out device.Ptr) (int, error) {
	return selectWith(s, selectTrue, selectArgs{Pred: pred}, n, out)
}

// SelectNotTrue writes the others: pred false or NULL.
func SelectNotTrue(s device.Stream, pred Vec, n int, out device.Ptr) (int, error) {
	return selectWith(s, selectFalse, selectArgs{Pred: pred}, n, out)
}

// SelectBits writes the numbers of the ones in bits [first, first+n) of a
// bitmap, counted from first.
func SelectBits(s device.Stream, bitmap device.Ptr, first, n int, out device.Ptr) (int, error) {
	return selectWith(s, selectBits, selectArgs{Mask: bitmap, Pred: Vec{DictLen: uint32(first)}}, n, out)
}

func selectWith(s device.Stream, k *device.Kernel[selectArgs], a selectArgs, n int, out device.Ptr) (int, error) {
	if n == 0 {
		return 0, nil
	}
	a.Out, a.State = out, out+device.Ptr(selectState(n))
	a.Count = out + device.Ptr(SelectBytes(n)-8)
	if err := device.Launch(s, k, n, a); err != nil {
		return 0, err
	}
	return readCount(s, a.Count)
}

func selectTrueHost(a *selectArgs, lo, hi int) {
	pred := device.View[uint8](a.Pred.Data, hi)
	out := device.View[uint32](a.Out, hi)
	count := device.View[uint64](a.Count, 1)
	k := 0
	if a.Pred.Valid == 0 {
		for i, p := range pred {
			out[k] = uint32(i)
			k += int(p & 1)
		}
	} else {
		valid := device.View[uint64](a.Pred.Valid, (hi+63)/64)
		for i, p := range pred {
			out[k] = uint32(i)
			k += int(p & uint8(valid[i>>6]>>(i&63)) & 1)
		}
	}
	count[0] = uint64(k)
}

func selectNotTrueHost(a *selectArgs, lo, hi int) {
	pred := device.View[uint8](a.Pred.Data, hi)
	out := device.View[uint32](a.Out, hi)
	count := device.View[uint64](a.Count, 1)
	valid := device.View[uint64](a.Pred.Valid, (hi+63)/64)
	k := 0
	for i, p := range pred {
		if valid != nil {
			p &= uint8(valid[i>>6] >> (i & 63))
		}
		out[k] = uint32(i)
		k += int(^p & 1)
	}
	count[0] = uint64(k)
}

func selectBitsHost(a *selectArgs, lo, hi int) {
	first := int(a.Pred.DictLen)
	words := device.View[uint64](a.Mask, (first+hi+63)/64)
	out := device.View[uint32](a.Out, hi)
	k := 0
	for w := first / 64; w*64 < first+hi; w++ {
		word := words[w]
		base := w*64 - first
		if base < 0 {
			word = word >> -base << -base
		}
		for word != 0 {
			i := base + bits.TrailingZeros64(word)
			if i >= hi {
				break
			}
			out[k] = uint32(i)
			k++
			word &= word - 1
		}
	}
	device.View[uint64](a.Count, 1)[0] = uint64(k)
}

var whereTrue = &device.Kernel[selectArgs]{Name: "where_true", Code: codeWhereTrue, Host: whereTrueHost}

// WhereTrue writes to bitmap out the rows of bitmap valid (0: all) for which
// pred is true.
func WhereTrue(s device.Stream, valid device.Ptr, pred Vec, n int, out device.Ptr) error {
	return device.Launch(s, whereTrue, n, selectArgs{Pred: pred, Mask: valid, Out: out})
}

func whereTrueHost(a *selectArgs, lo, hi int) {
	pred := device.View[uint8](a.Pred.Data, hi)
	words := (hi + 63) / 64
	valid := device.View[uint64](a.Pred.Valid, words)
	mask := device.View[uint64](a.Mask, words)
	out := device.View[uint64](a.Out, words)
	for w := range out {
		var word uint64
		for i, p := range pred[w*64 : min(hi, w*64+64)] {
			word |= uint64(p&1) << i
		}
		if valid != nil {
			word &= valid[w]
		}
		if mask != nil {
			word &= mask[w]
		}
		out[w] = word
	}
}
