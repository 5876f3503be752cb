package kernels

import (
	"fmt"

	"github.com/gpusql/gpusql/device"
)

// Window functions on a device with memory of its own. What goes on from
// position to position on the CPU is a sum over all of them there.

//gpu:layout
type windowMarkLaunch struct {
	X           WindowIndex
	Columns     device.Ptr // of the partition, then of the order
	From        uint64
	Parts, Keys uint32
}

//gpu:layout
type windowIndexLaunch struct {
	X      WindowIndex
	Counts device.Ptr // by position: partitions and groups before it
	Parts  device.Ptr // by partition: where it begins; one more for the end
}

var windowMarkCode = &device.Kernel[windowMarkLaunch]{Name: "window_mark", Code: codeWindowMark}

func windowMarkSteps(s device.Stream, a *windowBoundsArgs, n int) error {
	var columns []keyColumn
	for _, by := range [][]SortColumn{a.Parts, a.Keys} {
		for _, c := range by {
			columns = append(columns, keyColumn{Src: c.Vec, Dst: c.Vec, Phys: c.Phys})
		}
	}
	l := windowMarkLaunch{X: a.WindowIndex, From: uint64(a.From), Parts: uint32(len(a.Parts)), Keys: uint32(len(a.Keys))}
	b, err := uploadColumns(s, columns)
	if err != nil {
		return err
	}
	defer b.Release()
	if b != nil {
		l.Columns = b.Ptr()
	}
	return device.Launch(s, windowMarkCode, n, l)
}

var (
	windowCount  = &device.Kernel[windowIndexLaunch]{Name: "window_count", Code: codeWindowCount}
	windowGroups = &device.Kernel[windowIndexLaunch]{Name: "window_groups", Code: codeWindowGroups}
	windowBounds = &device.Kernel[windowIndexLaunch]{Name: "window_bounds", Code: codeWindowBounds}
)

// indexDevice is Index: the counts of partitions and groups before a position
// are its numbers.
func (x WindowIndex) indexDevice(s device.Stream, n int) error {
	counts := align(8*n + 8)
	parts := align(WindowIndexBytes(n))
	b, err := device.Scratch(s, counts+parts+ScanBytes(n))
	if err != nil {
		return err
	}
	defer b.Release()
	l := windowIndexLaunch{X: x, Counts: b.Ptr(), Parts: b.Ptr() + device.Ptr(counts)}
	if err := device.Launch(s, windowCount, n, l); err != nil {
		return err
	}
	if err := Scan(s, 8, l.Counts, l.Counts, n, l.Counts+device.Ptr(8*n), l.Parts+device.Ptr(parts)); err != nil {
		return err
	}
	if err := device.Launch(s, windowGroups, n, l); err != nil {
		return err
	}
	return device.Launch(s, windowBounds, n, l)
}

// withBad calls launch with a word of the device that is 0, and returns bad when
// the launch made it another number.
func withBad(s device.Stream, bad func() error, launch func(device.Ptr) error) error {
	b, err := device.Scratch(s, 8)
	if err != nil {
		return err
	}
	defer b.Release()
	if err := Zero(s, b.Ptr(), 8); err != nil {
		return err
	}
	if err := launch(b.Ptr()); err != nil {
		return err
	}
	var found [1]uint64
	if err := s.Download(rawOf(found[:]), b.Ptr()); err != nil {
		return err
	}
	if found[0] != 0 {
		return bad()
	}
	return nil
}

//gpu:layout
type windowRankLaunch struct {
	X        WindowIndex
	Arg, Dst Vec
	Bad      device.Ptr // where a bad argument is noted
	At       uint64
	Op       uint32
	_        uint32
}

var windowRankCode = &device.Kernel[windowRankLaunch]{Name: "window_rank", Code: codeWindowRank}

func windowRankSteps(s device.Stream, a *windowRankArgs, n int) error {
	l := windowRankLaunch{X: a.WindowIndex, Arg: a.Arg, Dst: a.Dst, At: uint64(a.At), Op: uint32(a.Op)}
	if a.Op != RankNtile {
		return device.Launch(s, windowRankCode, n, l)
	}
	return withBad(s, badNtile, func(bad device.Ptr) error {
		l.Bad = bad
		return device.Launch(s, windowRankCode, n, l)
	})
}

//gpu:layout
type windowBound struct {
	Value, Key Vec
	Offset     int64
	Kind, Form uint32
	Desc       uint32
	NullsFirst uint32
}

//gpu:layout
type windowFrameLaunch struct {
	X             WindowIndex
	Start, End    windowBound
	Out           device.Ptr
	At            uint64
	Unit, Exclude uint32
}

var windowFrameCode = &device.Kernel[windowFrameLaunch]{Name: "window_frames", Code: codeWindowFrames}

func windowFrameSteps(s device.Stream, a *windowFrameArgs, n int) error {
	bound := func(b *FrameBound) windowBound {
		return windowBound{Value: b.Value, Key: b.Key.Vec, Offset: b.Offset, Kind: uint32(b.Kind), Form: uint32(b.Key.Phys),
			Desc: uint32(b2u(b.Key.Desc)), NullsFirst: uint32(b2u(b.Key.NullsFirst))}
	}
	return device.Launch(s, windowFrameCode, n, windowFrameLaunch{X: a.WindowIndex, Start: bound(&a.Frame.Start), End: bound(&a.Frame.End),
		Out: a.Out, At: uint64(a.At), Unit: uint32(a.Frame.Unit), Exclude: uint32(a.Frame.Exclude)})
}

//gpu:layout
type windowPickLaunch struct {
	X                         WindowIndex
	Src, Offset, Default, Dst Vec
	Frames                    device.Ptr
	Bad                       device.Ptr
	At                        uint64
	Form, Width               uint32
	Op, SkipNulls             uint32
}

var windowPickCode = &device.Kernel[windowPickLaunch]{Name: "window_pick", Code: codeWindowPick}

func windowPickSteps(s device.Stream, a *windowPickArgs, n int) error {
	l := windowPickLaunch{X: a.WindowIndex, Src: a.Src, Offset: a.Offset, Default: a.Default, Dst: a.Dst, Frames: a.Frames, At: uint64(a.At),
		Form: uint32(a.Phys), Width: uint32(a.Phys.Width()), Op: uint32(a.Op), SkipNulls: uint32(b2u(a.SkipNulls))}
	if a.Op != PickNth || a.SkipNulls {
		return device.Launch(s, windowPickCode, n, l)
	}
	return withBad(s, badNth, func(bad device.Ptr) error {
		l.Bad = bad
		return device.Launch(s, windowPickCode, n, l)
	})
}

//gpu:layout
type windowAggLaunch struct {
	X      WindowIndex
	State  device.Ptr
	Frames device.Ptr
	Out    device.Ptr
	Tiles  device.Ptr // by tile: its state, and 1 when a partition begins there
	From   uint64
	N      uint64
	Like   aggLike
	Words  uint32
	_      uint32
}

// windowCodes is the code for states of so many words: tiles, carries, carried,
// tree and merge.
var windowCodes = map[int][5]*device.Code{
	1: {codeWindowTiles1, codeWindowCarries1, codeWindowCarried1, codeWindowTree1, codeWindowMerge1},
	2: {codeWindowTiles2, codeWindowCarries2, codeWindowCarried2, codeWindowTree2, codeWindowMerge2},
	3: {codeWindowTiles3, codeWindowCarries3, codeWindowCarried3, codeWindowTree3, codeWindowMerge3},
	6: {codeWindowTiles6, codeWindowCarries6, codeWindowCarried6, codeWindowTree6, codeWindowMerge6},
}

func (a Agg) windowCodes() [5]*device.Code {
	c, ok := windowCodes[a.Bytes()/8]
	if !ok {
		panic(fmt.Sprintf("kernels: no window over states of %d bytes", a.Bytes()))
	}
	return c
}

func (a *windowAggArgs) launch() windowAggLaunch {
	return windowAggLaunch{X: a.WindowIndex, State: a.State, Frames: a.Frames, Out: a.Out, From: uint64(a.From), N: uint64(a.N),
		Like: aggLike{uint32(a.Agg.Kind), uint32(a.Agg.Phys)}, Words: uint32(a.Agg.Bytes() / 8)}
}

func windowKernel(c *device.Code) *device.Kernel[windowAggLaunch] {
	return &device.Kernel[windowAggLaunch]{Name: c.Entry, Code: c}
}

// windowRunSteps makes running states of tiles, and then of all.
func windowRunSteps(s device.Stream, a *windowAggArgs, n int) error {
	c := a.Agg.windowCodes()
	tiles := c[0].Grid(n, 0)
	b, err := device.Scratch(s, tiles*(a.Agg.Bytes()+8))
	if err != nil {
		return err
	}
	defer b.Release()
	l := a.launch()
	l.Tiles = b.Ptr()
	if err := device.Launch(s, windowKernel(c[0]), n, l); err != nil {
		return err
	}
	if err := device.Launch(s, windowKernel(c[1]), tiles, l); err != nil {
		return err
	}
	return device.Launch(s, windowKernel(c[2]), n, l)
}

// windowTreeSteps goes through the tree by levels, from the lowest one up.
func windowTreeSteps(s device.Stream, a *windowAggArgs, n int) error {
	k, l := windowKernel(a.Agg.windowCodes()[3]), a.launch()
	for from, end := int(a.From), int(a.From)+n; end > from; {
		level := 1
		for level*2 < end {
			level *= 2
		}
		lo := max(from, level)
		l.From = uint64(lo)
		if err := device.Launch(s, k, end-lo, l); err != nil {
			return err
		}
		end = lo
	}
	return nil
}

func windowMergeCode(a Agg) *device.Code { return a.windowCodes()[4] }

// windowAggSteps is one launch of the code that there is for a state.
func windowAggSteps(code func(Agg) *device.Code) func(device.Stream, *windowAggArgs, int) error {
	return func(s device.Stream, a *windowAggArgs, n int) error {
		return device.Launch(s, windowKernel(code(a.Agg)), n, a.launch())
	}
}

//gpu:layout
type windowListLaunch struct {
	X                          WindowIndex
	Frames, IDs, List, ListIDs device.Ptr
	Count                      device.Ptr // the rows of different frames
	Places                     device.Ptr // by position: where the rows of a frame that ends here are listed
}

var (
	windowDiffer   = &device.Kernel[windowListLaunch]{Name: "window_differ", Code: codeWindowDiffer}
	windowSizes    = &device.Kernel[windowListLaunch]{Name: "window_sizes", Code: codeWindowSizes}
	windowListCode = &device.Kernel[windowListLaunch]{Name: "window_list", Code: codeWindowList}
)

func windowNumberSteps(s device.Stream, a *windowListArgs, n int) error {
	b, err := device.Scratch(s, ScanBytes(n))
	if err != nil {
		return err
	}
	defer b.Release()
	if err := Zero(s, a.Count, 16); err != nil {
		return err
	}
	l := windowListLaunch{X: a.WindowIndex, Frames: a.Frames, IDs: a.IDs, Count: a.Count + 8}
	if err := device.Launch(s, windowDiffer, n, l); err != nil {
		return err
	}
	return Scan(s, 4, a.IDs, a.IDs, n, a.Count, b.Ptr())
}

func windowListSteps(s device.Stream, a *windowListArgs, n int) error {
	places := align(8*n + 8)
	b, err := device.Scratch(s, places+ScanBytes(n))
	if err != nil {
		return err
	}
	defer b.Release()
	l := windowListLaunch{X: a.WindowIndex, Frames: a.Frames, IDs: a.IDs, List: a.List, ListIDs: a.ListIDs, Places: b.Ptr()}
	if err := device.Launch(s, windowSizes, n, l); err != nil {
		return err
	}
	if err := Scan(s, 8, l.Places, l.Places, n, l.Places+device.Ptr(8*n), b.Ptr()+device.Ptr(places)); err != nil {
		return err
	}
	return device.Launch(s, windowListCode, n, l)
}
