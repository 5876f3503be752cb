package exec

import (
	"context"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec/spill"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// What has to be together to be computed, because its keys are equal, is put on
// disk by hash, in parts that are then computed one by one. A part that memory
// has no room for is split again, by a hash of the hash:
//
//	rows ──▶ 32 parts ──▶ each in memory ──▶ result
//	              └─ too large ──▶ 32 parts ── ...
//
// What does not become smaller, because most of its keys are one, or their
// hashes are, is computed in mapped memory (spill.Area).

const (
	partBits = 5
	numParts = 1 << partBits
	// maxLevel is how often a part is split: thirty million parts are no parts.
	maxLevel = 5
)

// deepest is whether parts of this level are not split.
func (q *query) deepest(level int) bool {
	return level >= maxLevel || level >= 2 && q.room().always
}

// onDisk is the environment of what is kept in mapped memory.
func (e *Env) onDisk() *Env {
	c := *e
	c.Memory = e.Spill.Area
	return &c
}

// splitter says which part each row of a batch is in, for one worker.
type splitter struct {
	w      *worker
	phys   []sqltype.Phys
	level  int
	hashes arrow.Slab
	rows   [numParts][]uint32
}

// split is the rows of each part, by n keys. Without keys all are in one.
func (p *splitter) split(keys []kernels.Vec, n int) (*[numParts][]uint32, error) {
	env := p.w.q.env
	hashes, err := p.hashes.Reserve(env.Memory, 8*n)
	if err != nil {
		return nil, err
	}
	if env.HashZero || len(keys) == 0 {
		err = kernels.HashZero(p.w.stream, n, hashes)
	} else {
		err = kernels.Hash(p.w.stream, keys, p.phys, n, hashes)
	}
	if err != nil {
		return nil, err
	}
	for i := range p.rows {
		p.rows[i] = p.rows[i][:0]
	}
	for i, h := range device.View[uint64](hashes, n) {
		part := kernels.HashWord(h+uint64(p.level)) >> (64 - partBits)
		p.rows[part] = append(p.rows[part], uint32(i))
	}
	return &p.rows, nil
}

func (p *splitter) release() { p.hashes.Release() }

// partWriter writes rows of one form to parts, for one worker.
type partWriter struct {
	w     *worker
	file  *spill.File
	out   *spill.Scratch
	forms []spill.Column
	parts [numParts]*spill.Writer
}

func (p *partWriter) add(ctx context.Context, cols []kernels.Vec, rows *[numParts][]uint32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q := p.w.q
	for i, pick := range rows {
		if len(pick) == 0 {
			continue
		}
		if p.parts[i] == nil {
			p.parts[i] = spill.NewWriter(p.file, q.env.Memory, p.out, p.forms, q.frameBytes(), q.batchRows)
		}
		if err := p.parts[i].Add(cols, pick, 0); err != nil {
			return err
		}
	}
	return nil
}

// finish appends what was written to the runs of each part.
func (p *partWriter) finish(to *[numParts][]*spill.Run) error {
	for i, w := range p.parts {
		if w == nil {
			continue
		}
		run, err := w.Finish()
		if err != nil {
			return err
		}
		p.parts[i] = nil
		to[i] = append(to[i], run)
	}
	return nil
}

func (p *partWriter) release() {
	for _, w := range p.parts {
		if w != nil {
			w.Release()
		}
	}
}

// rowsIn is how many rows runs have.
func rowsIn(runs []*spill.Run) int64 {
	var n int64
	for _, r := range runs {
		n += r.Rows
	}
	return n
}

// eachFrame calls f for the frames of runs, one after the other.
func (w *worker) eachFrame(ctx context.Context, runs []*spill.Run, f func(cols []kernels.Vec, n int) error) error {
	for _, run := range runs {
		r := spill.NewReader(run, w.q.env.Memory)
		for {
			if err := ctx.Err(); err != nil {
				r.Release()
				return err
			}
			cols, n, err := r.Next()
			if err == nil && n > 0 {
				err = f(cols, n)
			}
			if err != nil || n == 0 {
				r.Release()
				if err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// batchOf is columns as a batch.
func batchOf(cols []planner.ColDef, vecs []kernels.Vec, n int) *arrow.Batch {
	b := &arrow.Batch{Rows: n, Columns: make([]arrow.Column, len(cols))}
	for i, c := range cols {
		b.Columns[i] = arrow.Column{Type: c.Type, Vec: vecs[i]}
	}
	return b
}
