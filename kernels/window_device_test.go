package kernels

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// window is an index of n rows in partitions of some rows, ordered by a number
// that may be NULL.
type window struct {
	*memory
	n    int
	x    WindowIndex
	part Vec
	key  SortColumn
}

func newWindow(m *memory, n int) *window {
	parts, keys := make([]int32, n), make([]int64, n)
	for i := range parts {
		parts[i], keys[i] = int32(m.IntN(n/50+1)), int64(m.IntN(20))
	}
	w := &window{memory: m, n: n, part: Vec{Data: upload(m, parts), Valid: m.bitmap(n)}}
	w.key = SortColumn{Vec: Vec{Data: upload(m, keys), Valid: m.bitmap(n)}, Phys: sqltype.PhysI64, Desc: n%2 == 0, NullsFirst: n%3 == 0}
	for _, p := range []*device.Ptr{&w.x.Rows, &w.x.Start, &w.x.End, &w.x.Group, &w.x.Groups} {
		*p = m.room(WindowIndexBytes(n))
	}
	by := []SortColumn{{Vec: w.part, Phys: sqltype.PhysI32}, w.key}
	m.ok(Sort(m.s, by, n, w.x.Rows, m.room(SortBytes(n))))
	half := min(n, 64)
	m.ok(w.x.Mark(m.s, by[:1], by[1:], 0, half))
	m.ok(w.x.Mark(m.s, by[:1], by[1:], half, n-half))
	m.ok(w.x.Index(m.s, n))
	return w
}

// frames is the frames of all rows, with bounds that reach so far.
func (w *window) frames(unit FrameUnit, start, end BoundKind, exclude FrameExclude, offset int64) device.Ptr {
	bound := func(kind BoundKind) FrameBound {
		b := FrameBound{Kind: kind, Offset: offset, Key: w.key}
		if unit == FrameRange {
			if kind == BoundPreceding {
				offset = -offset
			}
			if w.key.Desc {
				offset = -offset
			}
			values := download[int64](w.memory, w.key.Vec.Data, w.n)
			for i := range values {
				values[i] += offset
			}
			b.Value = Vec{Data: upload(w.memory, values), Valid: w.key.Vec.Valid}
		}
		return b
	}
	out := w.room(FrameBytes(w.n))
	w.ok(w.x.Frames(w.s, WindowFrame{Unit: unit, Start: bound(start), End: bound(end), Exclude: exclude}, 0, w.n, out))
	return out
}

var windowRows = []int{1, 2, 64, 65, 300, 2500}

func TestWindowIndex(t *testing.T) {
	agree(t, windowRows, func(m *memory, n int) []any {
		w := newWindow(m, n)
		group := download[uint32](m, w.x.Group, n)
		all := []any{group, download[uint32](m, w.x.Start, n), download[uint32](m, w.x.End, n), download[uint32](m, w.x.Groups, int(group[n-1])+2)}
		for op := RankRowNumber; op <= RankCumeDist; op++ {
			dst := Vec{Data: m.room(8 * n)}
			m.ok(w.x.Rank(m.s, op, Vec{}, 0, n, dst))
			all = append(all, download[uint64](m, dst.Data, n))
		}
		buckets := make([]int64, n)
		for i := range buckets {
			buckets[i] = 1 + int64(m.IntN(9))
		}
		arg, dst := Vec{Data: upload(m, buckets), Valid: m.bitmap(n)}, Vec{Data: upload(m, make([]int32, n)), Valid: m.room(BitmapBytes(n))}
		m.ok(w.x.Rank(m.s, RankNtile, arg, 0, n, dst))
		all = append(all, download[int32](m, dst.Data, n), m.downloadBits(dst.Valid, n))
		arg = Vec{Data: upload(m, make([]int64, n))}
		require.ErrorContains(m, w.x.Rank(m.s, RankNtile, arg, 0, n, dst), "argument of ntile must be greater than zero")
		return all
	})
}

func TestWindowFrames(t *testing.T) {
	for _, unit := range []FrameUnit{FrameRows, FrameGroups, FrameRange} {
		t.Run(fmt.Sprint("unit ", unit), func(t *testing.T) {
			agree(t, windowRows, func(m *memory, n int) []any {
				w := newWindow(m, n)
				var all []any
				for start := BoundFirst; start <= BoundLast; start++ {
					for end := max(start, BoundPreceding); end <= BoundLast; end++ {
						frames := w.frames(unit, start, end, FrameExclude(start+end)%4, int64(m.IntN(5)))
						all = append(all, download[frameSpans](m, frames, n))
						ids := m.room(4*n + 24)
						groups, rows, err := w.x.NumberFrames(m.s, frames, n, ids)
						m.ok(err)
						list, listIDs := m.room(4*rows), m.room(4*rows)
						m.ok(w.x.ListFrames(m.s, frames, ids, n, list, listIDs))
						all = append(all, groups, rows, download[uint32](m, ids, n), download[uint32](m, list, rows), download[uint32](m, listIDs, rows))
					}
				}
				far := w.frames(unit, BoundPreceding, BoundFollowing, ExcludeNone, math.MaxInt64/2)
				return append(all, download[frameSpans](m, far, n))
			})
		})
	}
}

func TestWindowPick(t *testing.T) {
	for _, p := range []sqltype.Phys{sqltype.PhysBool, sqltype.PhysI16, sqltype.PhysF32, sqltype.PhysF64, sqltype.PhysI128, sqltype.PhysStr} {
		t.Run(p.String(), func(t *testing.T) {
			agree(t, windowRows, func(m *memory, n int) []any {
				w := newWindow(m, n)
				offsets, src, other := make([]int64, n), m.column(p, n), m.column(p, n)
				for i := range offsets {
					offsets[i] = 1 + int64(m.IntN(4))
				}
				src.Valid, other.Valid = m.bitmap(n), m.bitmap(n)
				frames := w.frames(FrameRows, BoundPreceding, BoundFollowing, ExcludeGroup, 3)
				var all []any
				for op := PickLag; op <= PickNth; op++ {
					for _, skip := range []bool{false, true} {
						pick := WindowPick{Op: op, SkipNulls: skip, Phys: p, Src: src, Default: other, Offset: Vec{Data: upload(m, offsets), Valid: m.bitmap(n)}}
						if skip {
							pick.Default = Vec{}
						}
						dst := Vec{Data: m.room(n * p.Width()), Valid: m.room(BitmapBytes(n))}
						m.ok(w.x.Pick(m.s, pick, frames, 0, n, dst))
						valid := m.downloadBits(dst.Valid, n)
						all = append(all, valid)
						for i, text := range m.text(p, dst, n) {
							if valid[i] {
								all = append(all, text)
							}
						}
					}
				}
				zeros := WindowPick{Op: PickNth, Phys: p, Src: src, Offset: Vec{Data: upload(m, make([]int64, n))}}
				dst := Vec{Data: m.room(n * p.Width()), Valid: m.room(BitmapBytes(n))}
				require.ErrorContains(m, w.x.Pick(m.s, zeros, frames, 0, n, dst), "argument of nth_value must be greater than zero")
				return all
			})
		})
	}
}

// TestWindowAggregates computes an aggregate of each size of state over frames,
// by running states and by the tree.
func TestWindowAggregates(t *testing.T) {
	double, big := sqltype.Float64, sqltype.Int64
	for _, r := range []struct {
		agg   Agg
		final Final
	}{
		{Agg{AggCount, sqltype.PhysI64}, Final{Type: big}},
		{Agg{AggSum, sqltype.PhysI64}, Final{Type: sqltype.Decimal(38, 0)}},
		{Agg{AggSumFloat, sqltype.PhysF64}, Final{Op: FinalAvg, Type: double}},
		{Agg{AggProduct, sqltype.PhysF64}, Final{Type: double}},
		{Agg{AggBitXor, sqltype.PhysI64}, Final{Type: big}},
		{Agg{AggMin, sqltype.PhysI64}, Final{Type: big}},
		{Agg{AggMax, sqltype.PhysStr}, Final{Type: sqltype.Varchar}},
		{Agg{AggFirst, sqltype.PhysI64}, Final{Type: big}},
		{Agg{AggFirst, sqltype.PhysStr}, Final{Type: sqltype.Varchar}},
		{Agg{AggMoments, sqltype.PhysF64}, Final{Op: FinalStddevSamp, Type: double}},
		{Agg{AggPairs, sqltype.PhysF64}, Final{Op: FinalRegrSXX, Type: double}},
	} {
		t.Run(fmt.Sprintf("%v", r.agg), func(t *testing.T) {
			agree(t, windowRows, func(m *memory, n int) []any {
				w, size := newWindow(m, n), r.agg.Bytes()
				ids := m.room(4 * n)
				m.ok(Numbers(m.s, ids, n))
				values := m.rareValues(r.agg.Phys, n)
				if r.agg.Phys == sqltype.PhysI64 {
					values = upload(m, mapped(make([]int64, n), func(int64) int64 { return int64(m.IntN(1000)) - 500 }))
				}
				in := AggInput{Src: Vec{Data: values, Valid: m.bitmap(n)}, Second: Vec{Data: m.rareValues(sqltype.PhysF64, n)}, IDs: ids, Groups: n}
				states := m.room(2 * n * size)
				leaves := states + device.Ptr(n*size)
				m.ok(Zero(m.s, states, 2*n*size))
				m.ok(r.agg.Update(m.s, leaves, in, n))
				run, out := m.room(n*size), m.room(n*size)
				m.ok(Copy(m.s, run, leaves, n*size))
				var all []any
				result := func() {
					dst := Vec{Data: m.room(n * 16), Valid: m.room(BitmapBytes(n))}
					m.ok(r.agg.Final(m.s, out, r.final, n, dst))
					text, valid := m.text(r.final.Type.Phys(), dst, n), m.downloadBits(dst.Valid, n)
					for i := range text {
						if !valid[i] || text[i] == "NaN" {
							text[i] = "NULL"
						}
					}
					all = append(all, text)
				}
				half := min(n, 64*(n/100))
				m.ok(w.x.Run(m.s, r.agg, run, 0, half))
				m.ok(w.x.Run(m.s, r.agg, run, half, n-half))
				m.ok(w.x.Last(m.s, r.agg, run, w.frames(FrameRows, BoundFirst, BoundFollowing, ExcludeNone, 2), n, out))
				result()
				cut := min(n-1, 70)
				m.ok(w.x.Tree(m.s, r.agg, states, cut+1, n-1-cut))
				m.ok(w.x.Tree(m.s, r.agg, states, 1, cut))
				for _, exclude := range []FrameExclude{ExcludeNone, ExcludeTies} {
					m.ok(w.x.Merged(m.s, r.agg, states, w.frames(FrameRows, BoundPreceding, BoundLast, exclude, 17), n, n, out))
					result()
				}
				return slices.Clip(all)
			})
		})
	}
}
