package exec

import (
	"errors"
	"sync/atomic"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec/spill"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// ground is where rows grow that must be reached by number as long as the query
// runs, and so cannot be put aside in frames: the query's memory, until that has
// no room for more, and from then on files that are mapped. What lies in memory
// by then moves when it grows.
type ground struct {
	w      *worker
	node   planner.Node // on whose account
	claim  claim
	mapped device.Allocator // nil: in memory
}

func (w *worker) ground(n planner.Node) ground {
	g := ground{w: w, node: n}
	if w.q.env.Spill != nil {
		g.claim = w.claim()
	}
	return g
}

// under is where what holds held bytes takes need more.
func (g *ground) under(held, need int64) device.Allocator {
	env := g.w.q.env
	if g.mapped == nil && !g.claim.ask(held, need) {
		g.leave()
	}
	if g.mapped != nil {
		return g.mapped
	}
	return env.Memory
}

// leave has all that is taken from now on be mapped.
func (g *ground) leave() {
	g.mapped = mapped{Area: g.w.q.env.Spill.Area, spilt: g.w.q.spilt(g.node)}
}

// full reports that what holds held bytes and takes need more should be followed
// by another on this ground: it is the last in memory, or large enough.
func (g *ground) full(held, need int64) bool {
	was := g.mapped
	g.under(held, need)
	return g.mapped != nil && (was == nil || held > mappedStore)
}

// mappedStore is how much one store in mapped memory has where there may be several.
const mappedStore = 16 << 20

// drop ends the claim.
func (g *ground) drop() { g.claim.drop() }

// mapped is memory that is a file, counted for EXPLAIN ANALYZE.
type mapped struct {
	*spill.Area
	spilt *atomic.Int64
}

// Alloc implements device.Allocator.
func (m mapped) Alloc(n int) (*device.Buffer, error) {
	b, err := m.Area.Alloc(n)
	if err == nil && m.spilt != nil {
		m.spilt.Add(int64(n))
	}
	return b, err
}

// keep adds a batch to a store, a piece at a time: an array may double more than
// once on the way.
func (g *ground) keep(rows *rowStore, b *arrow.Batch) error {
	if b.Rows > kernels.PieceItems(g.w.stream) {
		cut := slicer{mem: g.w.q.env.Memory}
		defer cut.release()
		return kernels.Pieces(g.w.stream, b.Rows, func(lo, hi int) error {
			piece, err := cut.batch(g.w.stream, b, lo, hi)
			if err != nil {
				return err
			}
			return g.keep(rows, piece)
		})
	}
	rows.use(g.under(rows.held(), rows.grows(b.Rows)))
	err := rows.add(g.w.stream, b)
	if errors.Is(err, device.ErrNoMemory) && g.mapped == nil && g.w.q.env.Spill != nil {
		// The texts were longer than those before, by which the need is judged.
		g.leave()
		rows.use(g.mapped)
		err = rows.add(g.w.stream, b)
	}
	return err
}
