package kernels

import (
	"math/bits"

	"github.com/gpusql/gpusql/device"
)

// An aggregate over frames begins with a state for each position, which Update
// makes with the positions as groups. Then either
//
//	running   state i is merged into state i+1 of the same partition, so that a
//	          frame from the partition's begin is the state of its last position
//	tree      states n..2n-1 are those of the positions, state i is that of
//	          states 2i and 2i+1: a frame is made of at most 2 log n of them
type windowAggArgs struct {
	WindowIndex
	Agg    Agg
	State  device.Ptr
	Frames device.Ptr
	Out    device.Ptr
	From   int64
	N      int64 // positions in all
}

var (
	windowRun   = &device.Kernel[windowAggArgs]{Name: "window_run", Steps: windowRunSteps, Host: windowRunHost}
	windowTree  = &device.Kernel[windowAggArgs]{Name: "window_tree", Steps: windowTreeSteps, Host: windowTreeHost}
	windowLast  = &device.Kernel[windowAggArgs]{Name: "window_last", Steps: windowAggSteps(func(Agg) *device.Code { return codeWindowLast }), Host: windowLastHost, Split: 1 << 13}
	windowMerge = &device.Kernel[windowAggArgs]{Name: "window_merge", Steps: windowAggSteps(windowMergeCode), Host: windowMergeHost, Split: 1 << 12}
)

// Run makes running states of the states of n positions from from, after
// those before them.
func (x WindowIndex) Run(s device.Stream, a Agg, state device.Ptr, from, n int) error {
	return device.Launch(s, windowRun, n, windowAggArgs{WindowIndex: x, Agg: a, State: state, From: int64(from)})
}

// Tree makes states from to from+n of the tree over all positions; it begins
// with the highest ones and ends with state 1.
func (x WindowIndex) Tree(s device.Stream, a Agg, state device.Ptr, from, n int) error {
	return device.Launch(s, windowTree, n, windowAggArgs{WindowIndex: x, Agg: a, State: state, From: int64(from)})
}

// Last writes the states of n frames to out, over running states.
func (x WindowIndex) Last(s device.Stream, a Agg, state, frames device.Ptr, n int, out device.Ptr) error {
	return device.Launch(s, windowLast, n, windowAggArgs{WindowIndex: x, Agg: a, State: state, Frames: frames, Out: out})
}

// Merged writes the states of n frames to out, over a tree of all positions.
func (x WindowIndex) Merged(s device.Stream, a Agg, state, frames device.Ptr, all, n int, out device.Ptr) error {
	return device.Launch(s, windowMerge, n, windowAggArgs{WindowIndex: x, Agg: a, State: state, Frames: frames, Out: out, N: int64(all)})
}

// merger merges one state into another. Without a heap strings are not copied:
// they stay where the positions' states have them.
type merger struct {
	args aggArgs
	size device.Ptr
}

func newMerger(a Agg, fail *error) merger {
	return merger{aggArgs{Op: a.Kind, Phys: a.Phys, Fail: fail}, device.Ptr(a.Bytes())}
}

func (m *merger) merge(to, from device.Ptr) {
	m.args.State, m.args.From = to, from
	aggMergeHost(&m.args, 0, 1)
}

func windowRunHost(a *windowAggArgs, lo, n int) {
	m := newMerger(a.Agg, nil)
	start := device.View[uint32](a.Start, int(a.From)+n)
	for i := int(a.From); i < int(a.From)+n; i++ {
		if int(start[i]) == i {
			continue
		}
		p := a.State + device.Ptr(i)*m.size
		if a.Agg.Kind == AggFirst { // which is not that of the later position
			if c := device.View[cell](p-m.size, 2); c[0].seen != 0 {
				c[1] = c[0]
			}
			continue
		}
		m.merge(p, p-m.size)
	}
}

func windowTreeHost(a *windowAggArgs, lo, n int) {
	m := newMerger(a.Agg, nil)
	for i := int(a.From) + n - 1; i >= int(a.From); i-- {
		p := a.State + device.Ptr(i)*m.size
		clear(device.View[byte](p, int(m.size)))
		m.merge(p, a.State+device.Ptr(2*i)*m.size)
		m.merge(p, a.State+device.Ptr(2*i+1)*m.size)
	}
}

func windowLastHost(a *windowAggArgs, lo, n int) {
	size := a.Agg.Bytes()
	frames := device.View[frameSpans](a.Frames, n)
	for k := lo; k < n; k++ {
		out := device.View[byte](a.Out+device.Ptr(k*size), size)
		if f := frames[k][0]; f.Lo < f.Hi {
			copy(out, device.View[byte](a.State+device.Ptr(int(f.Hi-1)*size), size))
		} else {
			clear(out)
		}
	}
}

func windowMergeHost(a *windowAggArgs, lo, n int) {
	m := newMerger(a.Agg, nil)
	frames := device.View[frameSpans](a.Frames, n)
	for k := lo; k < n; k++ {
		out := a.Out + device.Ptr(k)*m.size
		clear(device.View[byte](out, int(m.size)))
		for _, f := range frames[k] {
			m.span(out, a.State, int(f.Lo)+int(a.N), int(f.Hi)+int(a.N))
		}
	}
}

// span merges leaves l to r-1 of the tree into out, in their order.
func (m *merger) span(out, state device.Ptr, l, r int) {
	var right [bits.UintSize]int
	n := 0
	for ; l < r; l, r = l>>1, r>>1 {
		if l&1 != 0 {
			m.merge(out, state+device.Ptr(l)*m.size)
			l++
		}
		if r&1 != 0 {
			r--
			right[n] = r
			n++
		}
	}
	for n--; n >= 0; n-- {
		m.merge(out, state+device.Ptr(right[n])*m.size)
	}
}
