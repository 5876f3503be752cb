package exec

import (
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// expressions is a program with its evaluator, for one worker.
type expressions struct {
	w    *worker
	eval *kernels.Evaluator
	vecs []kernels.Vec
	out  arrow.Batch
	defs []planner.Expr
}

// compile makes a worker's evaluator of exprs over columns cols.
func (w *worker) compile(exprs []planner.Expr, cols []planner.ColDef) (*expressions, error) {
	p, err := w.q.env.Compile(exprs, cols)
	if err != nil {
		return nil, err
	}
	return &expressions{w: w, eval: kernels.NewEvaluator(p, w.q.env.Memory), defs: exprs,
		out: arrow.Batch{Columns: make([]arrow.Column, len(exprs))}}, nil
}

// run evaluates over a batch; the result is valid until the next run and no
// longer than the batch.
func (e *expressions) run(b *arrow.Batch) (*arrow.Batch, error) {
	e.vecs = e.vecs[:0]
	for i := range b.Columns {
		e.vecs = append(e.vecs, b.Columns[i].Vec)
	}
	vecs, err := e.eval.Run(e.w.stream, e.vecs, b.Rows)
	if err != nil {
		return nil, err
	}
	e.out.Rows = b.Rows
	for i, v := range vecs {
		e.out.Columns[i] = arrow.Column{Type: e.defs[i].Type(), Vec: v, Lasts: e.lasts(b, v)}
	}
	return &e.out, nil
}

// lasts reports that a result is an input as it is, whose bytes last.
func (e *expressions) lasts(b *arrow.Batch, v kernels.Vec) bool {
	for i := range b.Columns {
		if b.Columns[i].Lasts && b.Columns[i].Vec == v {
			return true
		}
	}
	return false
}

func (e *expressions) close() {
	if e != nil {
		e.eval.Close()
	}
}

// predicate picks the rows of a batch for which an expression is true.
type predicate struct {
	*expressions
	index arrow.Slab // the rows' numbers
}

func (w *worker) compilePredicate(e planner.Expr, cols []planner.ColDef) (*predicate, error) {
	x, err := w.compile([]planner.Expr{e}, cols)
	if err != nil {
		return nil, err
	}
	return &predicate{expressions: x}, nil
}

// pick writes the numbers of the rows to p.index, and gives how many they are.
func (p *predicate) pick(b *arrow.Batch) (int, error) {
	r, err := p.run(b)
	if err != nil {
		return 0, err
	}
	idx, err := p.index.Reserve(p.w.q.env.Memory, kernels.SelectBytes(b.Rows))
	if err != nil {
		return 0, err
	}
	return kernels.Select(p.w.stream, r.Columns[0].Vec, b.Rows, idx)
}

func (p *predicate) close() {
	if p != nil {
		p.expressions.close()
		p.index.Release()
	}
}
