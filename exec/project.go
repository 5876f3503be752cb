package exec

import (
	"context"
	"slices"

	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/storage/arrow"
)

// project computes expressions for each row.
type project struct {
	in    Operator
	exprs *expressions
	pass  []int // when all expressions are columns: which
	out   arrow.Batch
}

func newProject(w *worker, n *planner.Project) (Operator, error) {
	in, err := w.build(n.Input)
	if err != nil {
		return nil, err
	}
	p := &project{in: in}
	if p.pass = columnsOnly(n); p.pass != nil {
		p.out.Columns = make([]arrow.Column, len(p.pass))
		return p, nil
	}
	exprs := make([]planner.Expr, len(n.Exprs))
	for i, e := range n.Exprs {
		exprs[i] = e.Expr
	}
	if p.exprs, err = w.compile(exprs, n.Input.Cols()); err != nil {
		in.Close() //nolint:errcheck // nothing was read
		return nil, err
	}
	return p, nil
}

// columnsOnly gives the input columns that a projection consists of, nil when
// it computes anything.
func columnsOnly(n *planner.Project) []int {
	cols := n.Input.Cols()
	pass := make([]int, 0, len(n.Exprs))
	for _, e := range n.Exprs {
		c, ok := e.Expr.(*planner.Col)
		if !ok {
			return nil
		}
		at := slices.IndexFunc(cols, func(d planner.ColDef) bool { return d.ID == c.ID })
		if at < 0 {
			return nil
		}
		pass = append(pass, at)
	}
	return pass
}

// Next implements Operator.
func (p *project) Next(ctx context.Context) (*arrow.Batch, error) {
	b, err := p.in.Next(ctx)
	if b == nil || err != nil {
		return nil, err
	}
	if p.exprs != nil {
		return p.exprs.run(b)
	}
	p.out.Rows = b.Rows
	for i, at := range p.pass {
		p.out.Columns[i] = b.Columns[at]
	}
	return &p.out, nil
}

// Close implements Operator.
func (p *project) Close() error {
	p.exprs.close()
	return p.in.Close()
}
