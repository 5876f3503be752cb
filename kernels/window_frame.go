package kernels

import (
	"fmt"
	"sort"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// FrameUnit is what a frame's offsets count.
//
//gpu:layout
type FrameUnit uint8

// The units: positions, groups of peers, or the order's value.
//
//gpu:layout
const (
	FrameRows FrameUnit = iota
	FrameGroups
	FrameRange
)

// BoundKind is the kind of one end of a frame.
//
//gpu:layout
type BoundKind uint8

// The bounds, from the partition's begin to its end.
//
//gpu:layout
const (
	BoundFirst BoundKind = iota
	BoundPreceding
	BoundCurrent
	BoundFollowing
	BoundLast
)

// FrameBound is one end of a frame. Offset is of FrameRows and FrameGroups;
// Value of FrameRange: by row number, the order's value that the frame reaches.
type FrameBound struct {
	Kind   BoundKind
	Offset int64
	Value  Vec
	Key    SortColumn // FrameRange: what Value is compared with, of the same form
}

// FrameExclude is what a frame leaves out around the current row.
//
//gpu:layout
type FrameExclude uint8

// The exclusions.
//
//gpu:layout
const (
	ExcludeNone FrameExclude = iota
	ExcludeRow
	ExcludeGroup
	ExcludeTies
)

// WindowFrame is the frame of a window function.
type WindowFrame struct {
	Unit       FrameUnit
	Start, End FrameBound
	Exclude    FrameExclude
}

// Prefix reports that every frame is a partition's begin up to some row.
func (f *WindowFrame) Prefix() bool { return f.Start.Kind == BoundFirst && f.Exclude == ExcludeNone }

// span is the positions of a frame: up to three runs.
type span struct{ Lo, Hi uint32 }

// frameSpans is the runs of one row; an empty run has Lo == Hi.
type frameSpans [3]span

// FrameBytes is the room for the frames of n positions.
func FrameBytes(n int) int { return n * 24 }

type windowFrameArgs struct {
	WindowIndex
	Frame WindowFrame
	At    int64
	Out   device.Ptr
}

var windowFrames = &device.Kernel[windowFrameArgs]{Name: "window_frames", Steps: windowFrameSteps, Host: windowFramesHost, Split: 1 << 13}

// Frames writes the frames of n positions from at to out, for Pick and the
// aggregates.
func (x WindowIndex) Frames(s device.Stream, f WindowFrame, at, n int, out device.Ptr) error {
	return device.Launch(s, windowFrames, n, windowFrameArgs{WindowIndex: x, Frame: f, At: int64(at), Out: out})
}

func windowFramesHost(a *windowFrameArgs, from, n int) {
	out := device.View[frameSpans](a.Out, n)
	for k := from; k < n; k++ {
		i := int(a.At) + k
		start, end := int64(atRow[uint32](a.Start, i)), int64(atRow[uint32](a.End, i))
		lo := min(max(a.bound(&a.Frame.Start, i, false), start), end)
		hi := min(max(a.bound(&a.Frame.End, i, true), lo), end)
		out[k] = a.exclude(i, span{uint32(lo), uint32(hi)})
	}
}

// bound is a frame's begin, or the position past its end.
func (a *windowFrameArgs) bound(b *FrameBound, i int, isEnd bool) int64 {
	start, end := int64(atRow[uint32](a.Start, i)), int64(atRow[uint32](a.End, i))
	switch b.Kind {
	case BoundFirst:
		return start
	case BoundLast:
		return end
	}
	offset := b.Offset
	switch b.Kind {
	case BoundPreceding:
		offset = -offset
	case BoundCurrent:
		offset = 0
	}
	past := int64(0)
	if isEnd {
		past = 1
	}
	switch a.Frame.Unit {
	case FrameRows:
		offset = min(max(offset, start-end), end-start) // no overflow
		return int64(i) + offset + past
	case FrameGroups:
		g, first, last := int64(atRow[uint32](a.Group, i)), int64(atRow[uint32](a.Group, int(start))), int64(atRow[uint32](a.Group, int(end-1)))
		offset = min(max(offset, first-g-1), last-g+1)
		g += offset + past
		switch {
		case g < first:
			return start
		case g > last:
			return end
		}
		return int64(atRow[uint32](a.Groups, int(g)))
	case FrameRange:
		if b.Kind == BoundCurrent {
			return int64(atRow[uint32](a.Groups, int(atRow[uint32](a.Group, i))+int(past)))
		}
		return a.reach(b, i, start, end, isEnd)
	default:
		panic(fmt.Sprintf("kernels: frame of unit %d", a.Frame.Unit))
	}
}

// reach finds a bound by value: the first position whose key is not before
// Value, or at the end, the first that is after it. Peers of a NULL are NULLs.
func (a *windowFrameArgs) reach(b *FrameBound, i int, start, end int64, isEnd bool) int64 {
	row := int(atRow[uint32](a.Rows, i))
	if b.Value.isNull(row) {
		g := int(atRow[uint32](a.Group, i))
		if isEnd {
			g++
		}
		return int64(atRow[uint32](a.Groups, g))
	}
	v := loadCell(b.Key.Phys, &b.Value, row)
	at := sort.Search(int(end-start), func(k int) bool {
		r := int(atRow[uint32](a.Rows, int(start)+k))
		if b.Key.Vec.isNull(r) {
			return !b.Key.NullsFirst
		}
		c := compareCell(b.Key.Phys, loadCell(b.Key.Phys, &b.Key.Vec, r), v)
		if b.Key.Desc {
			c = -c
		}
		return c > 0 || c == 0 && !isEnd
	})
	return start + int64(at)
}

func (a *windowFrameArgs) exclude(i int, f span) frameSpans {
	g := int(atRow[uint32](a.Group, i))
	first, past := atRow[uint32](a.Groups, g), atRow[uint32](a.Groups, g+1)
	here := span{uint32(i), uint32(i) + 1}
	var out, keep span
	switch a.Frame.Exclude {
	case ExcludeNone:
		return frameSpans{f}
	case ExcludeRow:
		out = here
	case ExcludeGroup:
		out = span{first, past}
	case ExcludeTies:
		out, keep = span{first, past}, here
	default:
		panic(fmt.Sprintf("kernels: exclusion %d", a.Frame.Exclude))
	}
	s := frameSpans{f.cut(span{0, out.Lo}), f.cut(keep), f.cut(span{out.Hi, ^uint32(0)})}
	return s
}

// cut is the common part of two runs.
func (f span) cut(o span) span {
	lo, hi := max(f.Lo, o.Lo), min(f.Hi, o.Hi)
	return span{lo, max(lo, hi)}
}

// PickOp is a window function that gives the argument of another row.
//
//gpu:layout
type PickOp uint8

// The functions that pick a row.
//
//gpu:layout
const (
	PickLag PickOp = iota
	PickLead
	PickFirst
	PickLast
	PickNth
)

// WindowPick is what such a function reads, by row number. Offset (BIGINT) is
// of PickLag, PickLead and PickNth, a Data of 0 meaning 1 everywhere; Default
// is what PickLag and PickLead give outside of the partition.
type WindowPick struct {
	Op                   PickOp
	SkipNulls            bool // IGNORE NULLS
	Phys                 sqltype.Phys
	Src, Offset, Default Vec
}

type windowPickArgs struct {
	WindowIndex
	WindowPick
	Frames device.Ptr
	At     int64
	Dst    Vec
	Fail   *error
}

var windowPick = &device.Kernel[windowPickArgs]{Name: "window_pick", Steps: windowPickSteps, Host: windowPickHost}

// Pick writes p for n positions from at to dst, which has a bitmap. Strings
// view the bytes of the source. frames are of PickFirst, PickLast and PickNth.
func (x WindowIndex) Pick(s device.Stream, p WindowPick, frames device.Ptr, at, n int, dst Vec) error {
	var fail error
	err := device.Launch(s, windowPick, n, windowPickArgs{WindowIndex: x, WindowPick: p, Frames: frames, At: int64(at), Dst: dst, Fail: &fail})
	if err == nil {
		err = fail
	}
	return err
}

func windowPickHost(a *windowPickArgs, lo, n int) {
	valid := device.View[uint64](a.Dst.Valid, (n+63)/64)
	clear(valid)
	for k := range n {
		i := int(a.At) + k
		src, row := &a.Src, Missing
		switch a.Op {
		case PickLag, PickLead:
			src, row = a.shifted(i)
		default:
			row = a.framed(i, &device.View[frameSpans](a.Frames, n)[k])
		}
		if *a.Fail != nil {
			return
		}
		var v [2]uint64
		if row != Missing && !src.isNull(int(row)) {
			v = loadCell(a.Phys, src, int(row))
			valid[k>>6] |= 1 << (k & 63)
		}
		storeCell(a.Phys, a.Dst.Data, k, v)
	}
}

// offset is the row's second argument, 1 without one.
func (a *windowPickArgs) offset(i int) (int64, bool) {
	if a.Offset.Data == 0 {
		return 1, true
	}
	row := int(atRow[uint32](a.Rows, i))
	if a.Offset.isNull(row) {
		return 0, false
	}
	return atRow[int64](a.Offset.Data, row), true
}

// shifted is the row that lag and lead name, or the default.
func (a *windowPickArgs) shifted(i int) (*Vec, uint32) {
	off, ok := a.offset(i)
	if !ok {
		return &a.Src, Missing
	}
	start, end := int64(atRow[uint32](a.Start, i)), int64(atRow[uint32](a.End, i))
	off = min(max(off, start-end), end-start)
	if a.Op == PickLag {
		off = -off
	}
	if a.SkipNulls {
		off = a.passing(i, off, start, end)
	}
	if to := int64(i) + off; to >= start && to < end {
		return &a.Src, atRow[uint32](a.Rows, int(to))
	}
	if a.Default.Data == 0 {
		return &a.Src, Missing
	}
	return &a.Default, atRow[uint32](a.Rows, i)
}

// passing is the offset to the row that is off rows away when NULLs are not
// counted.
func (a *windowPickArgs) passing(i int, off, start, end int64) int64 {
	step, left := int64(1), off
	if off < 0 {
		step, left = -1, -off
	}
	to := int64(i)
	for left > 0 {
		to += step
		if to < start || to >= end {
			break
		}
		if !a.Src.isNull(int(atRow[uint32](a.Rows, int(to)))) {
			left--
		}
	}
	return to - int64(i)
}

// framed is the row that first_value, last_value and nth_value name.
func (a *windowPickArgs) framed(i int, f *frameSpans) uint32 {
	if a.SkipNulls {
		return a.framedPassing(i, f)
	}
	if a.Op == PickLast {
		for s := len(f) - 1; s >= 0; s-- {
			if f[s].Lo < f[s].Hi {
				return atRow[uint32](a.Rows, int(f[s].Hi-1))
			}
		}
		return Missing
	}
	nth := int64(1)
	if a.Op == PickNth {
		var ok bool
		if nth, ok = a.offset(i); !ok {
			return Missing
		}
		if nth <= 0 {
			*a.Fail = badNth()
			return Missing
		}
	}
	for _, s := range f {
		if size := int64(s.Hi - s.Lo); nth <= size {
			return atRow[uint32](a.Rows, int(s.Lo)+int(nth)-1)
		} else {
			nth -= size
		}
	}
	return Missing
}

func badNth() error {
	return sqltype.Errorf(sqltype.CodeInvalidParameter, "argument of nth_value must be greater than zero")
}

// framedPassing is framed when NULLs do not count.
func (a *windowPickArgs) framedPassing(i int, f *frameSpans) uint32 {
	nth := int64(1)
	if a.Op == PickNth {
		var ok bool
		if nth, ok = a.offset(i); !ok {
			return Missing
		}
	}
	found := Missing
	for _, s := range f {
		for at := s.Lo; at < s.Hi; at++ {
			row := atRow[uint32](a.Rows, int(at))
			if a.Src.isNull(int(row)) {
				continue
			}
			if found = row; a.Op == PickLast {
				continue
			}
			if nth--; nth == 0 {
				return row
			}
			found = Missing
		}
	}
	return found
}
