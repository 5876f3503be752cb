package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/exec/spill"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// query is one execution of a plan: what its workers share.
type query struct {
	env       *Env
	workers   int
	batchRows int

	mu      sync.Mutex
	states  map[any]any // by node: what the operators of a node share, see shared
	closers []func()
	idle    []device.Stream // streams that no worker has at present
	parent  *query          // of a round of a recursive query
	ctes    map[int]*planner.With
	cteRows map[*planner.With]int64 // see withRows

	// Of a query with two sides, see crossing.go: of the device's side, the
	// host's, made when it is needed; of the host's, the device's.
	hostSide   *query
	device     *query
	sequential bool
}

// worker is one of the goroutines that run a query: a stream and what only it
// may touch. The stream watches the context that the worker runs under, so that
// every step sees its end.
type worker struct {
	q      *query
	stream *device.Watched
}

// Open makes the operator that runs a plan. It reads nothing: the first Next
// does. Closing it ends the query, and must be done before env's memory goes.
func Open(env *Env, p *planner.Plan) (_ Operator, err error) {
	q := &query{env: env, workers: env.Workers, batchRows: env.BatchRows}
	traits := env.Device.Traits()
	if q.workers <= 0 {
		q.workers = max(1, traits.Streams)
	}
	if p.Sequential {
		q.workers, q.sequential = 1, true
	}
	if q.batchRows <= 0 {
		q.batchRows = q.fewerRows(traits.BatchRows)
	}
	defer recoverTo(&err)
	side := q
	if env.Host != nil {
		side = q.host()
	}
	w, err := side.newWorker(nil) // Next knows the context
	if err != nil {
		return nil, err
	}
	op, err := w.buildTop(unshared(p.Root, map[planner.Node]bool{}))
	if err != nil {
		side.release(w)
		q.close()
		return nil, err
	}
	return &root{q: q, w: w, op: op}, nil
}

// root is the operator that the caller holds.
type root struct {
	q      *query
	w      *worker
	op     Operator
	closed bool
}

// Next implements Operator. A panic below is this query's error.
func (r *root) Next(ctx context.Context) (b *arrow.Batch, err error) {
	defer recoverTo(&err)
	if err := ctx.Err(); err != nil {
		return nil, coded(err)
	}
	r.w.stream.Ask = ctx.Err
	b, err = r.op.Next(ctx)
	return b, coded(err)
}

// Close implements Operator.
func (r *root) Close() (err error) {
	if r.closed {
		return nil
	}
	r.closed = true
	defer r.q.close()
	defer r.w.q.release(r.w)
	defer recoverTo(&err)
	return r.op.Close()
}

// coded gives a cancellation and a lack of memory their SQLSTATE. What comes
// back is a *sqltype.Error, and still the error that it was.
func coded(err error) error {
	var e *sqltype.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	if sum := kernels.OutOfRange(err); sum != nil {
		return sum
	}
	var short *device.NoMemoryError
	var failed *device.StatusError
	var file *spill.Error
	switch {
	case errors.As(err, &file):
		code := sqltype.CodeIO
		if file.Full() {
			code = sqltype.CodeDiskFull
		}
		return &codedError{err, sqltype.Errorf(code, "%v", err)}
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return &codedError{err, sqltype.Errorf(sqltype.CodeCanceled, "the query was canceled: %v", err)}
	case errors.As(err, &short):
		all := *short
		if len(all.Users) == 0 { // the full scope is the query's own
			all.Users = []device.Use{{Name: "this query", Bytes: all.Used}}
		}
		code := sqltype.CodeOutOfMemory
		if all.Tier == spill.Tier {
			code = sqltype.CodeDiskFull
		}
		e := sqltype.Errorf(code, "%v", &all)
		if all.Limit == 0 {
			e.Hint = "a lower memory_limit makes a query fail before the machine's memory is used up"
		}
		return &codedError{err, e}
	case errors.Is(err, device.ErrNoMemory):
		return &codedError{err, sqltype.Errorf(sqltype.CodeOutOfMemory, "%v", err)}
	case errors.Is(err, device.ErrLost), errors.Is(err, device.ErrNoCode), errors.As(err, &failed):
		return &codedError{err, sqltype.Errorf(sqltype.CodeDevice, "%v", err)}
	}
	return err
}

// codedError is a *sqltype.Error that is still its cause.
type codedError struct {
	cause error
	as    *sqltype.Error
}

func (e *codedError) Error() string   { return e.as.Error() }
func (e *codedError) Unwrap() []error { return []error{e.cause, e.as} }

// recoverTo turns a panic into an error.
func recoverTo(err *error) {
	if r := recover(); r != nil {
		*err = sqltype.Errorf(sqltype.CodeInternal, "internal error: %v\n%s", r, debug.Stack())
	}
}

// newWorker takes a stream that is idle, or opens one. ask tells it to stop.
func (q *query) newWorker(ask func() error) (*worker, error) {
	s, err := q.stream()
	if err != nil {
		return nil, err
	}
	w := &worker{q: q, stream: &device.Watched{Stream: s, Ask: ask, Memory: q.env.Memory}}
	if q.env.Stats != nil && q.env.Host != nil {
		w.stream.Traffic = &q.env.Stats.Device
	}
	return w, nil
}

func (q *query) stream() (device.Stream, error) {
	top := q.top()
	top.mu.Lock()
	defer top.mu.Unlock()
	if n := len(top.idle); n > 0 {
		s := top.idle[n-1]
		top.idle = top.idle[:n-1]
		return s, nil
	}
	if s := q.env.Stream; s != nil && !top.lent() {
		top.states[lentStream{}] = true
		return s, nil
	}
	return q.env.Device.NewStream()
}

// lentStream keys the note that the caller's stream was taken.
type lentStream struct{}

func (q *query) lent() bool {
	if q.states == nil {
		q.states = map[any]any{}
	}
	return q.states[lentStream{}] != nil
}

// top is the query that the statement began with.
func (q *query) top() *query {
	for q.parent != nil {
		q = q.parent
	}
	return q
}

// release gives a worker's stream up for another.
func (q *query) release(w *worker) {
	top := q.top()
	top.mu.Lock()
	defer top.mu.Unlock()
	top.idle = append(top.idle, w.stream.Stream)
}

// onClose has f run when the query ends.
func (q *query) onClose(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closers = append(q.closers, f)
}

// close ends the query; its operators are closed.
func (q *query) close() {
	for i := len(q.closers) - 1; i >= 0; i-- {
		q.closers[i]()
	}
	q.closers = nil
	for _, s := range q.idle {
		if s != q.env.Stream {
			s.Close() //nolint:errcheck // nothing is under way on an idle stream
		}
	}
	q.idle = nil
	if q.hostSide != nil {
		q.hostSide.close()
	}
}

// shared is the state that the operators of a node share, one an execution:
// made by the first that asks. The key is the node, or has it.
func shared[T any](q *query, key any, make func() T) T {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.states == nil {
		q.states = map[any]any{}
	}
	if s, ok := q.states[key]; ok {
		return s.(T)
	}
	s := make()
	q.states[key] = s
	return s
}

// claimed keys the operator that gives the rows of a node for all workers.
type claimed struct{ n planner.Node }

// claim reports whether op, of all workers' operators of node n, is the one to
// give its rows: the first that asked.
func (q *query) claim(n planner.Node, op Operator) bool {
	return shared(q, claimed{n}, func() Operator { return op }) == op
}

// once runs f at the first call; every caller gets its error. Unlike
// sync.Once it may be asked whether it is done.
type once struct {
	mu   sync.Mutex
	done bool
	err  error
}

func (o *once) do(f func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.done {
		o.done = true
		func() {
			defer recoverTo(&o.err)
			o.err = f()
		}()
	}
	return o.err
}

// run has the plan n read to its end by as many workers as pay, each with
// operators of its own: body drains one. It returns when all have ended, with
// the first error; the others are told to stop by their context. A small input
// is read by the caller alone.
func (w *worker) run(ctx context.Context, n planner.Node, body func(ctx context.Context, w *worker, op Operator) error) error {
	return w.runWide(ctx, n, w.q.width(n), body)
}

// runWide is run by that many workers: one reads the rows in their order.
func (w *worker) runWide(ctx context.Context, n planner.Node, width int, body func(ctx context.Context, w *worker, op Operator) error) error {
	if width <= 1 {
		return w.drain(ctx, n, body)
	}
	return w.share(ctx, width, func(ctx context.Context, w *worker, _ int) error { return w.drain(ctx, n, body) })
}

// share has body run by several workers, which it tells apart by number. It
// returns when all have ended, as run does.
func (w *worker) share(ctx context.Context, width int, body func(ctx context.Context, w *worker, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, width)
	var wg sync.WaitGroup
	for i := range width {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = w.q.work(ctx, func(w *worker) error { return body(ctx, w, i) })
			if errs[i] != nil {
				cancel()
			}
		}()
	}
	wg.Wait()
	return firstError(errs)
}

// runOne is one worker's share of run.
func (q *query) runOne(ctx context.Context, n planner.Node, body func(context.Context, *worker, Operator) error) error {
	return q.work(ctx, func(w *worker) error { return w.drain(ctx, n, body) })
}

// work has body run by a new worker. A panic in it is its error.
func (q *query) work(ctx context.Context, body func(*worker) error) (err error) {
	defer recoverTo(&err)
	w, err := q.newWorker(ctx.Err)
	if err != nil {
		return err
	}
	defer q.release(w)
	if err := body(w); err != nil || q.env.Host == nil {
		return err
	}
	return w.stream.Wait(ctx) // another stream reads what this one wrote
}

// drain makes a worker's operator for n, has body read it, and closes it, even
// when body panics: goroutines may be below.
func (w *worker) drain(ctx context.Context, n planner.Node, body func(context.Context, *worker, Operator) error) (err error) {
	op, err := w.build(n)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := op.Close(); err == nil {
			err = cerr
		}
	}()
	return body(ctx, w, op)
}

// firstError is an error that is the cause, not the cancellation that it led to.
func firstError(errs []error) error {
	var first error
	for _, err := range errs {
		if err == nil {
			continue
		}
		if !errors.Is(err, context.Canceled) {
			return err
		}
		first = err
	}
	return first
}

// counted counts what an operator gives, for EXPLAIN ANALYZE.
type counted struct {
	Operator
	stats *NodeStats
}

// Next implements Operator.
func (c *counted) Next(ctx context.Context) (*arrow.Batch, error) {
	start := time.Now()
	b, err := c.Operator.Next(ctx)
	c.stats.Time.Add(int64(time.Since(start)))
	if b != nil {
		c.stats.Batches.Add(1)
		c.stats.Rows.Add(int64(b.Rows))
		c.stats.Bytes.Add(batchBytes(b))
	}
	return b, err
}

// batchBytes is the size of a batch without what its strings and dictionaries
// have elsewhere.
func batchBytes(b *arrow.Batch) int64 {
	row, bitmaps := 0, 0
	for i := range b.Columns {
		c := &b.Columns[i]
		if c.Vec.Dict != 0 {
			row += 4
		} else {
			row += c.Type.Phys().Width()
		}
		if c.Vec.Valid != 0 {
			bitmaps += kernels.BitmapBytes(b.Rows)
		}
	}
	return int64(b.Rows*row + bitmaps)
}

// notSupported is the error for a node that this executor has no operator for yet.
func notSupported(what string, args ...any) error {
	return sqltype.Errorf(sqltype.CodeNotSupported, "%s is not supported yet", fmt.Sprintf(what, args...))
}
