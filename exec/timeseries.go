package exec

import (
	"context"
	"unsafe"

	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// timeSeries gives generate_series and range of timestamps: each is the one
// before it and the step, so that a month's end, once it is a 28th, stays one.
type timeSeries struct {
	w        *worker
	n        *planner.TableFunc
	next     int64
	last     int64
	step     sqltype.Span
	backward bool
	ready    bool
	done     bool
	values   []int64
	slab     arrow.Slab
	out      arrow.Batch
}

// start computes the arguments; a NULL among them makes the series empty.
func (s *timeSeries) start() error {
	x, err := s.w.compile(s.n.Args, nil)
	if err != nil {
		return err
	}
	defer x.close()
	b, err := x.run(&arrow.Batch{Rows: 1})
	if err != nil {
		return err
	}
	var args [3]sqltype.Datum
	for i := range b.Columns {
		if args[i], err = s.w.datum(&b.Columns[i]); err != nil {
			return err
		}
		s.done = s.done || args[i].Null
	}
	if s.done {
		return nil
	}
	s.next, s.last, s.step = args[0].I, args[1].I, args[2].Span()
	sign := s.step.Compare(sqltype.Span{})
	if sign == 0 {
		return sqltype.Errorf(sqltype.CodeInvalidParameter, "step size cannot equal zero")
	}
	s.backward = sign < 0
	return nil
}

// beyond reports a time after the end.
func (s *timeSeries) beyond(t int64) bool {
	switch {
	case t == s.last:
		return s.n.Name == "range"
	case s.backward:
		return t < s.last
	}
	return t > s.last
}

// Next implements Operator.
func (s *timeSeries) Next(ctx context.Context) (*arrow.Batch, error) {
	if !s.ready {
		s.ready = true
		if !s.w.q.claim(s.n, s) {
			s.done = true
		} else if err := s.start(); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.values = s.values[:0]
	for !s.done && len(s.values) < s.w.q.batchRows {
		if s.beyond(s.next) {
			s.done = true
			break
		}
		s.values = append(s.values, s.next)
		next, err := sqltype.AddInterval(s.next, s.step)
		switch {
		case err != nil:
			return nil, err
		case s.backward == (next > s.next) || next == s.next:
			s.done = true // a step of days up and months down may turn back
		}
		s.next = next
	}
	n := len(s.values)
	if n == 0 {
		return nil, nil
	}
	p, err := s.slab.Reserve(s.w.q.env.Memory, 8*n)
	if err != nil {
		return nil, err
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s.values))), 8*n)
	if err := s.w.stream.Upload(p, raw); err != nil {
		return nil, err
	}
	s.out = arrow.Batch{Rows: n, Columns: []arrow.Column{{Type: s.n.Columns[0].Type, Vec: kernels.Vec{Data: p}}}}
	return &s.out, nil
}

// Close implements Operator.
func (s *timeSeries) Close() error {
	s.slab.Release()
	return nil
}
