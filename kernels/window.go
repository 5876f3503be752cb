package kernels

import (
	"fmt"
	"unsafe"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// WindowIndex describes rows in the order of a window: positions, one after
// the other, in partitions, and in these in groups of peers (rows that the
// order does not tell apart). All are arrays of uint32.
//
//	Rows    [position]  the row's number
//	Start   [position]  where the position's partition begins
//	End     [position]  where it ends (exclusive)
//	Group   [position]  the number of its group of peers, over all partitions
//	Groups  [group]     where the group begins; one more for the end
//
//gpu:layout
type WindowIndex struct {
	Rows, Start, End, Group, Groups device.Ptr
}

// WindowIndexBytes is the room for each array of an index of n rows.
func WindowIndexBytes(n int) int { return 4 * (n + 1) }

type windowBoundsArgs struct {
	WindowIndex
	Parts, Keys []SortColumn
	From        int64
	N           int64
}

var (
	windowMark  = &device.Kernel[windowBoundsArgs]{Name: "window_mark", Steps: windowMarkSteps, Host: windowMarkHost, Split: 1 << 14}
	windowIndex = &device.Kernel[windowBoundsArgs]{Name: "window_index", Host: windowIndexHost}
	windowEnds  = &device.Kernel[windowBoundsArgs]{Name: "window_ends", Host: windowEndsHost}
)

// What Mark notes for a position, in Group.
//
//gpu:layout
const (
	markPeer = iota
	markGroup
	markPartition
)

// Mark compares positions from to from+n with the one before each: the first
// half of making an index, whose Rows are set.
func (x WindowIndex) Mark(s device.Stream, parts, keys []SortColumn, from, n int) error {
	return device.Launch(s, windowMark, n, windowBoundsArgs{WindowIndex: x, Parts: parts, Keys: keys, From: int64(from)})
}

// LastStart is the last of n positions that were marked where a partition begins.
func (x WindowIndex) LastStart(s device.Stream, n int) (int, error) {
	marks := make([]uint32, n)
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(marks))), 4*n)
	if err := s.Download(raw, x.Group); err != nil {
		return 0, err
	}
	for at := n - 1; at > 0; at-- {
		if marks[at] == markPartition {
			return at, nil
		}
	}
	return 0, nil
}

// Index makes the other arrays of n positions that are marked.
func (x WindowIndex) Index(s device.Stream, n int) error {
	if !s.Device().Traits().HostBytes {
		return x.indexDevice(s, n)
	}
	err := Pieces(s, n, func(lo, hi int) error {
		return device.Launch(s, windowIndex, hi-lo, windowBoundsArgs{WindowIndex: x, From: int64(lo)})
	})
	if err != nil {
		return err
	}
	return PiecesBack(s, n, func(lo, hi int) error {
		return device.Launch(s, windowEnds, hi-lo, windowBoundsArgs{WindowIndex: x, From: int64(lo), N: int64(n)})
	})
}

func windowMarkHost(a *windowBoundsArgs, lo, hi int) {
	end := int(a.From) + hi
	rows, marks := device.View[uint32](a.Rows, end), device.View[uint32](a.Group, end)
	for i := int(a.From) + lo; i < end; i++ {
		switch {
		case i == 0 || compareRows(a.Parts, int(rows[i-1]), int(rows[i])) != 0:
			marks[i] = markPartition
		case compareRows(a.Keys, int(rows[i-1]), int(rows[i])) != 0:
			marks[i] = markGroup
		default:
			marks[i] = markPeer
		}
	}
}

// windowIndexHost goes on behind the positions before From. The end of the last
// group is noted as if it ended here.
func windowIndexHost(a *windowBoundsArgs, _, n int) {
	from, to := int(a.From), int(a.From)+n
	group, groups := device.View[uint32](a.Group, to), device.View[uint32](a.Groups, to+1)
	start := device.View[uint32](a.Start, to)
	var next, part uint32
	if from > 0 {
		next, part = group[from-1]+1, start[from-1]
	}
	for i := from; i < to; i++ {
		m := group[i]
		if m == markPartition {
			part = uint32(i)
		}
		if m != markPeer {
			groups[next] = uint32(i)
			next++
		}
		start[i], group[i] = part, next-1
	}
	groups[next] = uint32(to)
}

// windowEndsHost goes on before the positions from From+n.
func windowEndsHost(a *windowBoundsArgs, _, n int) {
	from, to, all := int(a.From), int(a.From)+n, int(a.N)
	start, end := device.View[uint32](a.Start, all), device.View[uint32](a.End, all)
	last := uint32(to)
	if to < all && start[to] != last {
		last = end[to]
	}
	for i := to - 1; i >= from; i-- {
		end[i] = last
		if start[i] == uint32(i) {
			last = uint32(i)
		}
	}
}

// RankOp is a window function of a row's place alone.
//
//gpu:layout
type RankOp uint8

// The functions of the place.
//
//gpu:layout
const (
	RankRowNumber RankOp = iota
	RankRank
	RankDense
	RankPercent
	RankCumeDist
	RankNtile
)

type windowRankArgs struct {
	WindowIndex
	Op   RankOp
	At   int64
	Arg  Vec // RankNtile: BIGINT, by row number
	Dst  Vec
	Fail *error
}

var windowRank = &device.Kernel[windowRankArgs]{Name: "window_rank", Steps: windowRankSteps, Host: windowRankHost}

// Rank writes op for the n positions from at to dst: BIGINT, DOUBLE of
// RankPercent and RankCumeDist, or INTEGER of RankNtile. arg is the number of buckets of RankNtile, by
// row; that of a partition's first row counts. dst has a bitmap for RankNtile.
func (x WindowIndex) Rank(s device.Stream, op RankOp, arg Vec, at, n int, dst Vec) error {
	var fail error
	err := device.Launch(s, windowRank, n, windowRankArgs{WindowIndex: x, Op: op, At: int64(at), Arg: arg, Dst: dst, Fail: &fail})
	if err == nil {
		err = fail
	}
	return err
}

func windowRankHost(a *windowRankArgs, lo, n int) {
	at := int(a.At)
	start, end := device.View[uint32](a.Start, at+n), device.View[uint32](a.End, at+n)
	group, groups := device.View[uint32](a.Group, at+n), device.View[uint32](a.Groups, maxRows)
	ints, floats := device.View[int64](a.Dst.Data, n), device.View[float64](a.Dst.Data, n)
	for k := range n {
		i := at + k
		from, size := int64(start[i]), int64(end[i]-start[i])
		first, past := int64(groups[group[i]]), int64(groups[group[i]+1])
		switch a.Op {
		case RankRowNumber:
			ints[k] = int64(i) - from + 1
		case RankRank:
			ints[k] = first - from + 1
		case RankDense:
			ints[k] = int64(group[i]-group[from]) + 1
		case RankPercent:
			floats[k] = 0
			if size > 1 {
				floats[k] = float64(first-from) / float64(size-1)
			}
		case RankCumeDist:
			floats[k] = float64(past-from) / float64(size)
		case RankNtile:
			if !a.ntile(k, int64(i)-from, size, int(from)) {
				return
			}
		default:
			panic(fmt.Sprintf("kernels: rank %d", a.Op))
		}
	}
}

// ntile writes the bucket of the row at offset of a partition of size rows:
// the first size%buckets buckets have one row more than the others.
func (a *windowRankArgs) ntile(k int, offset, size int64, from int) bool {
	row := int(atRow[uint32](a.Rows, from))
	valid := &device.View[uint64](a.Dst.Valid, k>>6+1)[k>>6]
	if k&63 == 0 {
		*valid = 0
	}
	if a.Arg.isNull(row) {
		return true
	}
	buckets := atRow[int64](a.Arg.Data, row)
	if buckets <= 0 {
		*a.Fail = badNtile()
		return false
	}
	*valid |= 1 << (k & 63)
	each, more := size/buckets, size%buckets
	var bucket int64
	if offset < more*(each+1) {
		bucket = offset / (each + 1)
	} else {
		bucket = more + (offset-more*(each+1))/each
	}
	device.View[int32](a.Dst.Data, k+1)[k] = int32(bucket + 1)
	return true
}

func badNtile() error {
	return sqltype.Errorf(sqltype.CodeInvalidParameter, "argument of ntile must be greater than zero")
}

var numbers = &device.Kernel[addArgs]{Name: "numbers", Code: codeNumbers, Host: func(a *addArgs, lo, hi int) {
	rows := device.View[uint32](a.Rows, hi)
	for i := lo; i < hi; i++ {
		rows[i] = uint32(i)
	}
}, Split: 1 << 16}

// Numbers writes the row numbers 0 to n-1.
func Numbers(s device.Stream, rows device.Ptr, n int) error {
	return device.Launch(s, numbers, n, addArgs{Rows: rows})
}
