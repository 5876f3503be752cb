package kernels

import (
	"github.com/gpusql/gpusql/device"
)

// PickMode says which rows Pick takes, by the count of their group, and what
// becomes of the count.
//
//gpu:layout
type PickMode uint32

// The modes. With counts that begin at 0:
//
//	PickFresh  the first row of each group           count 0; becomes 1
//	PickTake   as many rows as were counted          count > 0; less 1
//	PickLeave  the rows that are more than counted   count 0; else less 1
//
// PickFresh takes a group's first row. Which rows of a group the others take is
// left to the device: rows of a group are equal there.
//
//gpu:layout
const (
	PickFresh PickMode = iota
	PickTake
	PickLeave
)

//gpu:layout
type pickArgs struct {
	IDs, Counts, Out, Count device.Ptr
	Mode                    PickMode
	Most                    uint32
}

var (
	countGroups = &device.Kernel[pickArgs]{Name: "count_groups", Code: codeCountGroups, Host: func(a *pickArgs, lo, hi int) {
		counts := device.View[uint32](a.Counts, maxRows)
		for _, g := range device.View[uint32](a.IDs, hi) {
			if counts[g] < a.Most {
				counts[g]++
			}
		}
	}}
	pickGroups = &device.Kernel[pickArgs]{Name: "pick_groups", Steps: pickSteps, Host: pickHost}

	pickFirst   = &device.Kernel[pickArgs]{Name: "pick_first", Code: codePickFirst}
	pickFresh   = &device.Kernel[pickArgs]{Name: "pick_fresh", Code: codePickFresh}
	pickDone    = &device.Kernel[pickArgs]{Name: "pick_done", Code: codePickDone}
	pickCounted = &device.Kernel[pickArgs]{Name: "pick_counted", Code: codePickCounted}
)

// CountGroups adds 1 to the count of each of n rows' group, up to most.
func CountGroups(s device.Stream, ids device.Ptr, n int, counts device.Ptr, most uint32) error {
	return device.Launch(s, countGroups, n, pickArgs{IDs: ids, Counts: counts, Most: most})
}

// Pick writes the numbers of the rows that mode takes to out, which has
// SelectBytes(n), and returns how many.
func Pick(s device.Stream, ids device.Ptr, n int, counts device.Ptr, mode PickMode, out device.Ptr) (int, error) {
	if n == 0 {
		return 0, nil
	}
	a := pickArgs{IDs: ids, Counts: counts, Mode: mode, Out: out, Count: out + device.Ptr(SelectBytes(n)-8)}
	if err := device.Launch(s, pickGroups, n, a); err != nil {
		return 0, err
	}
	return readCount(s, a.Count)
}

// pickSteps makes a bitmap of the rows, and then their numbers. A group's first
// row is found by a mark in its count, which is settled at the end.
func pickSteps(s device.Stream, a *pickArgs, n int) error {
	b, err := device.Scratch(s, BitmapBytes(n))
	if err != nil {
		return err
	}
	defer b.Release()
	l := *a
	l.Out = b.Ptr()
	steps := []*device.Kernel[pickArgs]{pickCounted}
	if a.Mode == PickFresh {
		steps = []*device.Kernel[pickArgs]{pickFirst, pickFresh, pickDone}
	}
	for _, k := range steps {
		if err := device.Launch(s, k, n, l); err != nil {
			return err
		}
	}
	return device.Launch(s, selectBits, n, selectArgs{Mask: l.Out, Out: a.Out, State: a.Out + device.Ptr(selectState(n)), Count: a.Count})
}

// pickHost goes through the rows in order, in one piece.
func pickHost(a *pickArgs, lo, hi int) {
	counts := device.View[uint32](a.Counts, maxRows)
	out := device.View[uint32](a.Out, hi)
	n := 0
	for i, g := range device.View[uint32](a.IDs, hi) {
		c := &counts[g]
		var take bool
		switch a.Mode {
		case PickFresh:
			take = *c == 0
			*c = 1
		case PickTake:
			if take = *c > 0; take {
				*c--
			}
		case PickLeave:
			if take = *c == 0; !take {
				*c--
			}
		}
		if take {
			out[n] = uint32(i)
			n++
		}
	}
	device.View[uint64](a.Count, 1)[0] = uint64(n)
}
