package kernels

import (
	"fmt"
	"unsafe"

	"github.com/gpusql/gpusql/device"
)

// radixDigits are the values of a digit of a sort by digits.
//
//gpu:layout
const radixDigits = 256

// radixFew is how many keys one block sorts, in one launch: it counts for each
// key those before it, which takes less time than launches of passes would.
//
//gpu:layout
const radixFew = 1024

//gpu:layout
type radixArgs struct {
	Keys, Values       device.Ptr
	OutKeys, OutValues device.Ptr
	State              device.Ptr // what tiles tell each other: a counter, and a word a digit and tile
	Places             device.Ptr // where the keys of each digit go next; while counting, of all passes
	Next               device.Ptr // the same for the launch after this one, 0 if there is none; while counting, blocks that are done
	Spare, SpareValues device.Ptr // where the second pass goes
	Shift              uint32     // of the pass's digit
	First, Last        uint32     // the digits that are sorted by
	_                  uint32
}

// Radix is the shape of a sort of unsigned keys, with or without a value beside
// each. Equal keys keep their order. A sort reads and writes everything once a
// byte of the key, so that saying which bytes differ is worth it.
//
//	count   all digits of all keys ─▶ where each digit's keys begin, for each pass
//	pass    a tile: rank keys by digit in shared memory ─▶ look back for the
//	        counts of the tiles before ─▶ write runs of one digit together
type Radix struct {
	Key, Value  int // bytes: of a key 4 or 8, of a value 0, 4 or 8
	First, Last int // the key's bytes from the lowest that differ: First up to below Last
}

// WholeKey is a sort by all bytes of keys.
func WholeKey(key, value int) Radix { return Radix{Key: key, Value: value, Last: key} }

// radixPortion is how many keys a launch takes at most: words count to 2^30.
const radixPortion = 1 << 29

type radixShape struct{ key, value int }

var (
	radixCounts = map[int]*device.Kernel[radixArgs]{4: radixCode(codeRadixCount4, 4), 8: radixCode(codeRadixCount8, 4)}
	radixPasses = map[radixShape]*device.Kernel[radixArgs]{
		{4, 0}: radixCode(codeRadixPass4, 0), {4, 4}: radixCode(codeRadixPass44, 0), {4, 8}: radixCode(codeRadixPass48, 0),
		{8, 0}: radixCode(codeRadixPass8, 0), {8, 4}: radixCode(codeRadixPass84, 0), {8, 8}: radixCode(codeRadixPass88, 0),
	}
	radixFews = map[radixShape]*device.Kernel[radixArgs]{
		{4, 0}: radixCode(codeRadixFew4, 0), {4, 4}: radixCode(codeRadixFew44, 0), {4, 8}: radixCode(codeRadixFew48, 0),
		{8, 0}: radixCode(codeRadixFew8, 0), {8, 4}: radixCode(codeRadixFew84, 0), {8, 8}: radixCode(codeRadixFew88, 0),
	}
	radixSorts = map[radixShape]*device.Kernel[radixArgs]{
		{4, 0}: radixKernel[uint32, struct{}](), {4, 4}: radixKernel[uint32, uint32](), {4, 8}: radixKernel[uint32, uint64](),
		{8, 0}: radixKernel[uint64, struct{}](), {8, 4}: radixKernel[uint64, uint32](), {8, 8}: radixKernel[uint64, uint64](),
	}
)

func radixCode(c *device.Code, perSM int) *device.Kernel[radixArgs] {
	bound := *c
	bound.PerSM = perSM
	return &device.Kernel[radixArgs]{Name: c.Entry, Code: &bound}
}

func radixKernel[K uint32 | uint64, V any]() *device.Kernel[radixArgs] {
	var k K
	var v V
	shape := radixShape{int(unsafe.Sizeof(k)), int(unsafe.Sizeof(v))}
	return &device.Kernel[radixArgs]{Name: "radix", Host: radixHost[K, V], Steps: shape.steps}
}

func (r Radix) shape() radixShape {
	if radixSorts[radixShape{r.Key, r.Value}] == nil || r.First < 0 || r.Last < r.First || r.Last > r.Key {
		panic(fmt.Sprintf("kernels: no sort of shape %+v", r))
	}
	return radixShape{r.Key, r.Value}
}

const radixPlaceBytes = 4 * radixDigits

// Bytes is the scratch of a sort of n keys.
func (r Radix) Bytes(n int) int {
	return radixPlaceBytes*(8+1) + (r.Last-r.First)*r.shape().stateBytes(min(n, radixPortion))
}

// stateBytes is the State of a pass over n keys.
func (shape radixShape) stateBytes(n int) int {
	return radixPlaceBytes * (1 + radixPasses[shape].Code.Grid(max(1, n), 0))
}

// Sort orders n keys, and their values with them, between two places for each:
// they are in the first, and end up in the one whose number is returned. Values
// are not looked at when the shape has none.
func (r Radix) Sort(s device.Stream, keys, values [2]device.Ptr, scratch device.Ptr, n int) (int, error) {
	a := radixArgs{Keys: keys[0], OutKeys: keys[1], Spare: keys[0], Values: values[0], OutValues: values[1], SpareValues: values[0]}
	return (r.Last - r.First) & 1, r.launch(s, a, scratch, n)
}

// SortFrom is Sort of keys and values that are elsewhere, and stay as they are.
// There is a digit to sort by.
func (r Radix) SortFrom(s device.Stream, key, value device.Ptr, keys, values [2]device.Ptr, scratch device.Ptr, n int) (int, error) {
	a := radixArgs{Keys: key, OutKeys: keys[0], Spare: keys[1], Values: value, OutValues: values[0], SpareValues: values[1]}
	return (r.Last - r.First - 1) & 1, r.launch(s, a, scratch, n)
}

func (r Radix) launch(s device.Stream, a radixArgs, scratch device.Ptr, n int) error {
	a.Places, a.Next, a.State = scratch, scratch+8*radixPlaceBytes, scratch+9*radixPlaceBytes
	a.First, a.Last = uint32(r.First), uint32(r.Last)
	return device.Launch(s, radixSorts[r.shape()], n, a)
}

// turn is what the next pass reads and writes.
func (a *radixArgs) turn() {
	a.Keys, a.OutKeys, a.Spare = a.OutKeys, a.Spare, a.OutKeys
	a.Values, a.OutValues, a.SpareValues = a.OutValues, a.SpareValues, a.OutValues
}

// steps are the launches of a sort.
func (shape radixShape) steps(s device.Stream, a *radixArgs, n int) error {
	if a.First == a.Last {
		return nil
	}
	if n <= radixFew {
		few := *a
		if (a.Last-a.First)%2 == 0 {
			few.OutKeys, few.OutValues = a.Spare, a.SpareValues
		}
		return device.Launch(s, radixFews[shape], n, few)
	}
	state := shape.stateBytes(min(n, radixPortion))
	if err := Zero(s, a.Places, 9*radixPlaceBytes+int(a.Last-a.First)*state); err != nil {
		return err
	}
	if err := device.Launch(s, radixCounts[shape.key], n, *a); err != nil {
		return err
	}
	pass := radixPasses[shape]
	all := *a
	for digit := a.First; digit < a.Last; digit++ {
		from := all
		from.Shift = 8 * digit
		from.Places = a.Places + device.Ptr(radixPlaceBytes*digit)
		for lo := 0; lo < n; lo += radixPortion {
			m := min(n-lo, radixPortion)
			if lo+m == n {
				from.Next = 0
			}
			from.Keys, from.Values = all.Keys+device.Ptr(lo*shape.key), all.Values+device.Ptr(lo*shape.value)
			if lo > 0 {
				if err := Zero(s, from.State, state); err != nil {
					return err
				}
			}
			if err := device.Launch(s, pass, m, from); err != nil {
				return err
			}
			from.Places, from.Next = from.Next, from.Places
		}
		all.turn()
		all.State += device.Ptr(state)
	}
	return nil
}

func radixHost[K uint32 | uint64, V any](a *radixArgs, _, n int) {
	var value V
	for digit := a.First; digit < a.Last; digit++ {
		keys, out := device.View[K](a.Keys, n), device.View[K](a.OutKeys, n)
		var values, outv []V
		if unsafe.Sizeof(value) > 0 {
			values, outv = device.View[V](a.Values, n), device.View[V](a.OutValues, n)
		}
		var places [radixDigits]int
		for _, k := range keys {
			places[byte(k>>(8*digit))]++
		}
		at := 0
		for d, c := range places {
			places[d], at = at, at+c
		}
		for i, k := range keys {
			to := &places[byte(k>>(8*digit))]
			out[*to] = k
			if values != nil {
				outv[*to] = values[i]
			}
			*to++
		}
		a.turn()
	}
}
