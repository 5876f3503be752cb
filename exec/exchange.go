package exec

import (
	"context"
	"sync"

	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// exchange gives what several workers' operators of one node give, in any
// order. A worker waits until its batch was used up before it makes another,
// so batches are handed over and never copied.
type exchange struct {
	w       *worker
	n       planner.Node
	started bool
	cancel  context.CancelFunc
	full    chan handed
	wait    sync.WaitGroup
	errs    []error
	last    chan<- struct{} // tells the worker of the last batch that it was used
}

// handed is a batch and how to say that it was used.
type handed struct {
	b    *arrow.Batch
	used chan<- struct{}
}

func newExchange(w *worker, n planner.Node) *exchange { return &exchange{w: w, n: n} }

func (x *exchange) start(ctx context.Context) {
	x.started = true
	width := x.w.q.width(x.n)
	ctx, x.cancel = context.WithCancel(ctx)
	x.full = make(chan handed)
	x.errs = make([]error, width)
	for i := range width {
		x.wait.Add(1)
		go func() {
			defer x.wait.Done()
			if x.errs[i] = x.w.q.runOne(ctx, x.n, x.give); x.errs[i] != nil {
				x.cancel()
			}
		}()
	}
	go func() {
		x.wait.Wait()
		close(x.full)
	}()
}

// give hands over a worker's batches.
func (x *exchange) give(ctx context.Context, _ *worker, op Operator) error {
	used := make(chan struct{}, 1)
	for {
		b, err := op.Next(ctx)
		if b == nil || err != nil {
			return err
		}
		select {
		case x.full <- handed{b, used}:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-used:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Next implements Operator.
func (x *exchange) Next(ctx context.Context) (*arrow.Batch, error) {
	if !x.started {
		x.start(ctx)
	}
	if x.last != nil {
		x.last <- struct{}{}
		x.last = nil
	}
	select {
	case h, ok := <-x.full:
		if !ok {
			return nil, firstError(x.errs)
		}
		x.last = h.used
		return h.b, nil
	case <-ctx.Done(): // not always the context of the workers: that of the first call
		return nil, ctx.Err()
	}
}

// Close implements Operator.
func (x *exchange) Close() error {
	if x.started {
		x.cancel()
		for range x.full { // a worker may be handing over
		}
		x.started = false
		x.last = nil
	}
	return nil
}
