package exec

import (
	"context"

	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// A query on a device that does not see the host's memory has two sides. Each
// node runs on one, and where a node and its input are on different ones their
// batches are carried over:
//
//	host      Rows ◀─ bringing            uploading ◀─ fileScan, values, indexScan
//	─────────────────────│────────────────────│─────────────────────────────────────
//	device           aggregate ◀─ join ◀──────┘
//	                               └──── scan of mirrored columns
//
// The sides are two queries: each has workers, streams and memory of its own.

// runsOnHost reports a node that reads what lies in the host's memory, or
// changes it.
func runsOnHost(n planner.Node) bool {
	switch n := n.(type) {
	case *planner.Scan:
		return n.Access != nil
	case *planner.FileScan, *planner.Values, *planner.TableFunc, *planner.Insert, *planner.Update, *planner.Delete, *planner.Merge:
		return true
	case *planner.Join:
		return n.Lookup
	case *planner.With:
		return runsOnHost(n.Body)
	}
	return false
}

// hostRows is the rows of a batch on the host side: a batch is carried over by
// itself, and a device likes large ones.
const hostRows = 1 << 17

// host is the host's side of a query on a device.
func (q *query) host() *query {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.hostSide == nil {
		env := q.env.Host
		h := &query{env: env, workers: env.Workers, batchRows: env.BatchRows, device: q}
		if h.workers <= 0 {
			h.workers = max(1, env.Device.Traits().Streams)
		}
		if q.sequential {
			h.workers = 1
		}
		if h.batchRows <= 0 {
			h.batchRows = max(hostRows, env.Device.Traits().BatchRows)
		}
		q.hostSide = h
	}
	return q.hostSide
}

// whole is the side of a query where what its nodes share across sides is kept.
func (q *query) whole() *query {
	if q.device != nil {
		return q.device
	}
	return q
}

// crosses reports that a node runs on the other side.
func (q *query) crosses(n planner.Node) bool {
	if q.device == nil && q.env.Host == nil {
		return false
	}
	return runsOnHost(n) == (q.device == nil)
}

// crossing makes the operator of a node of the other side.
func (w *worker) crossing(n planner.Node) (_ Operator, err error) {
	other := w.q.device
	if other == nil {
		other = w.q.host()
	}
	far, err := other.newWorker(func() error {
		if w.stream.Ask == nil {
			return nil
		}
		return w.stream.Ask()
	})
	if err != nil {
		return nil, err
	}
	in, err := far.buildTop(n)
	if err != nil {
		other.release(far)
		return nil, err
	}
	c := crossed{in: in, far: far}
	if w.q.device != nil {
		return &bringing{crossed: c, bring: arrow.Bringer{Stream: far.stream, Memory: other.env.Memory, Host: w.q.env.Memory}}, nil
	}
	return &uploading{crossed: c, w: w}, nil
}

// crossed is an operator of the other side, with its worker.
type crossed struct {
	in  Operator
	far *worker
}

func (c *crossed) close() error {
	if c.far == nil {
		return nil
	}
	err := c.in.Close()
	c.far.q.release(c.far)
	c.far = nil
	return err
}

// bringing gives a device's batches in the host's memory.
type bringing struct {
	crossed
	bring arrow.Bringer
	begun bool
}

// Next implements Operator.
func (o *bringing) Next(ctx context.Context) (*arrow.Batch, error) {
	if !o.begun {
		o.begun = true
		if f := o.far.q.env.Canary; f != nil {
			if err := f(o.far.stream); err != nil {
				return nil, err
			}
		}
	}
	b, err := o.in.Next(ctx)
	if err != nil {
		return nil, err
	}
	if b == nil { // a kernel may have failed that nobody has waited for
		return nil, o.far.stream.Wait(ctx)
	}
	return o.bring.Bring(b)
}

// Close implements Operator.
func (o *bringing) Close() error {
	o.bring.Release()
	return o.close()
}

// uploading gives the host's batches in a device's memory.
type uploading struct {
	crossed
	w    *worker
	cols []*arrow.Carried
	out  arrow.Batch
}

// Next implements Operator.
func (o *uploading) Next(ctx context.Context) (*arrow.Batch, error) {
	b, err := o.in.Next(ctx)
	if b == nil || err != nil {
		return nil, err
	}
	o.release()
	o.out.Rows = b.Rows
	for _, c := range b.Columns {
		up, err := arrow.Carry(o.w.stream, o.w.q.env.Memory, []arrow.Part{{Column: c, Rows: b.Rows}})
		if err != nil {
			return nil, err
		}
		o.cols = append(o.cols, up)
		o.out.Columns = append(o.out.Columns, up.Column)
	}
	return &o.out, nil
}

func (o *uploading) release() {
	for _, c := range o.cols {
		c.Release()
	}
	o.cols, o.out.Columns = o.cols[:0], o.out.Columns[:0]
}

// Close implements Operator.
func (o *uploading) Close() error {
	o.release()
	return o.close()
}
