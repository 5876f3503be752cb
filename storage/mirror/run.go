package mirror

import (
	"math/bits"
	"slices"

	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/storage/arrow"
)

// Run is segments of a table that follow each other, mirrored as one.
type Run struct {
	Segments []*arrow.Segment
	Starts   []int // the first row of each, and the end of the last
	settled  bool
}

// Rows is how many rows the run has.
func (r *Run) Rows() int { return r.Starts[len(r.Starts)-1] }

// Runs are the runs of a snapshot's segments, of at most most rows where a
// segment has no more. The last segment, which may grow, and those whose rows
// may change, are runs of their own.
//
// Runs of full length begin at multiples of their number of segments, by id, so
// that they stay the same when others come behind them or go.
func Runs(snap *arrow.Snap, most int) []Run {
	b := runs{most: most}
	for i, g := range snap.Segments {
		rows, settled := g.Settled()
		b.rows = append(b.rows, rows)
		b.alone = append(b.alone, !settled || i == len(snap.Segments)-1)
		b.settled = append(b.settled, settled)
	}
	b.segments = snap.Segments
	if n := len(b.segments); n > 0 {
		// The smallest block of ids from 0 that has them all.
		b.block(0, n, bits.Len32(b.segments[n-1].ID()))
	}
	return b.out
}

type runs struct {
	most     int
	segments []*arrow.Segment
	rows     []int
	alone    []bool
	settled  []bool
	out      []Run
}

// block makes runs of segments lo to hi, whose ids are a block of 2^level.
func (b *runs) block(lo, hi, level int) {
	rows, alone := 0, false
	for i := lo; i < hi; i++ {
		rows += b.rows[i]
		alone = alone || b.alone[i]
	}
	if hi-lo == 1 || hi > lo && rows <= b.most && !alone {
		r := Run{Segments: b.segments[lo:hi:hi], Starts: []int{0}, settled: b.settled[lo]}
		for i := lo; i < hi; i++ {
			r.Starts = append(r.Starts, r.Starts[i-lo]+b.rows[i])
		}
		b.out = append(b.out, r)
		return
	}
	if hi == lo {
		return
	}
	half := b.segments[lo].ID()>>level<<level | 1<<(level-1)
	mid, _ := slices.BinarySearchFunc(b.segments[lo:hi], half, func(g *arrow.Segment, id uint32) int { return int(g.ID()) - int(id) })
	b.block(lo, lo+mid, level-1)
	b.block(lo+mid, hi, level-1)
}

// Visible says which of the rows lo to hi the snapshot sees, and how many they
// are: bit i of the words is row lo+i. When that is all, or none, there are no
// words.
func (r *Run) Visible(p arrow.Snap, lo, hi int) (seen int, words []uint64) {
	var part []uint64
	for i, g := range r.Segments {
		from, to := max(lo, r.Starts[i]), min(hi, r.Starts[i+1])
		if from >= to {
			continue
		}
		n, k := to-from, to-from
		if !g.SeenWhole(&p) {
			if need := (n + 63) / 64; len(part) < need {
				part = make([]uint64, need)
			}
			k = g.VisibleBits(p, from-r.Starts[i], to-r.Starts[i], part)
		}
		if k < n && words == nil {
			words = make([]uint64, kernels.BitmapBytes(hi-lo)/8)
			arrow.PutBits(words, 0, nil, from-lo)
		}
		seen += k
		switch {
		case words == nil || k == 0:
		case k == n:
			arrow.PutBits(words, from-lo, nil, n)
		default:
			arrow.PutBits(words, from-lo, part, n)
		}
	}
	if seen == 0 {
		words = nil
	}
	return seen, words
}
