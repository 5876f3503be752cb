package exec

import (
	"context"
	"math"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
	"github.com/gpusql/gpusql/storage/arrow"
)

// values gives a list of rows: constants as they are, a batch at a time, and else each
// computed as a row of one batch.
type values struct {
	w    *worker
	n    *planner.Values
	at   int // the next row
	rows *rowStore
	slab arrow.Slab // of constants
	out  arrow.Batch
}

func newValues(w *worker, n *planner.Values) (Operator, error) {
	return &values{w: w, n: n}, nil
}

// Next implements Operator.
func (v *values) Next(ctx context.Context) (*arrow.Batch, error) {
	if v.at >= len(v.n.Rows) || !v.w.q.claim(v.n, v) {
		return nil, nil
	}
	if len(v.n.Columns) == 0 {
		v.out.Rows = min(len(v.n.Rows)-v.at, v.w.q.batchRows)
		v.at += v.out.Rows
		return &v.out, nil
	}
	end := min(v.at+v.w.q.batchRows, len(v.n.Rows))
	if rows := v.constants(end); len(rows)*constantPart >= end-v.at {
		v.at += len(rows)
		return v.written(rows)
	}
	if v.rows != nil {
		v.rows.release()
	}
	v.rows = newRowStore(v.w.q.env.Memory, v.n.Columns)
	for ; v.at < end; v.at++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := v.row(v.n.Rows[v.at]); err != nil {
			return nil, err
		}
	}
	return v.rows.all(), nil
}

// constantPart is the part of the rows of a batch that have to be constants, from the
// first on, to be given as a batch of fewer rows.
const constantPart = 4

// constants are the next rows up to end, as far as nothing in them is to be computed.
func (v *values) constants(end int) [][]sqltype.Datum {
	rows := make([][]sqltype.Datum, 0, end-v.at)
	width := len(v.n.Columns)
	all := make([]sqltype.Datum, (end-v.at)*width)
	for _, exprs := range v.n.Rows[v.at:end] {
		row := all[:width:width]
		for i, e := range exprs {
			d, ok := value(e, v.w.q.env.Params)
			if !ok || !d.Null && d.Type != v.n.Columns[i].Type {
				return rows
			}
			row[i] = d
		}
		rows, all = append(rows, row), all[width:]
	}
	return rows
}

// written is constants as a batch.
func (v *values) written(rows [][]sqltype.Datum) (*arrow.Batch, error) {
	valid := kernels.BitmapBytes(len(rows))
	size := 0
	for i, c := range v.n.Columns {
		size += (len(rows)*c.Type.Phys().Width()+15)&^15 + (valid+15)&^15
		for _, row := range rows {
			if c.Type.Phys() == sqltype.PhysStr {
				size += len(row[i].S)
			}
		}
	}
	p, err := v.slab.Reserve(v.w.q.env.Memory, size)
	if err != nil {
		return nil, err
	}
	clear(device.View[byte](p, size))
	v.out = arrow.Batch{Rows: len(rows), Columns: make([]arrow.Column, len(v.n.Columns))}
	texts := p
	for _, c := range v.n.Columns {
		texts += device.Ptr((len(rows)*c.Type.Phys().Width()+15)&^15 + (valid+15)&^15)
	}
	for i, c := range v.n.Columns {
		data, bits := p, p+device.Ptr((len(rows)*c.Type.Phys().Width()+15)&^15)
		p = bits + device.Ptr((valid+15)&^15)
		words, nulls := device.View[uint64](bits, valid/8), false
		for k, row := range rows {
			if row[i].Null {
				nulls = true
				continue
			}
			words[k/64] |= 1 << (k % 64)
			arrow.PutDatum(c.Type, data, k, row[i], texts)
			if c.Type.Phys() == sqltype.PhysStr {
				texts += device.Ptr(len(row[i].S))
			}
		}
		v.out.Columns[i] = arrow.Column{Type: c.Type, Vec: kernels.Vec{Data: data}}
		if nulls {
			v.out.Columns[i].Vec.Valid = bits
		}
	}
	return &v.out, nil
}

// row computes one row.
func (v *values) row(exprs []planner.Expr) error {
	x, err := v.w.compile(exprs, nil)
	if err != nil {
		return err
	}
	defer x.close()
	b, err := x.run(&arrow.Batch{Rows: 1})
	if err != nil {
		return err
	}
	return v.rows.add(v.w.stream, b)
}

// Close implements Operator.
func (v *values) Close() error {
	if v.rows != nil {
		v.rows.release()
		v.rows = nil
	}
	v.slab.Release()
	return nil
}

// series gives generate_series and range of integers.
type series struct {
	w          *worker
	n          *planner.TableFunc
	next, last int64
	step       int64
	left       uint64
	ready      bool
	slab       arrow.Slab
	out        arrow.Batch
}

func newTableFunc(w *worker, n *planner.TableFunc) (Operator, error) {
	switch n.Name {
	case "generate_series", "range":
		if n.Columns[0].Type.Kind.IsTemporal() {
			return &timeSeries{w: w, n: n}, nil
		}
		return &series{w: w, n: n}, nil
	}
	return nil, notSupported("table function %s", n.Name)
}

// start computes the arguments.
func (s *series) start() error {
	x, err := s.w.compile(s.n.Args, nil)
	if err != nil {
		return err
	}
	defer x.close()
	b, err := x.run(&arrow.Batch{Rows: 1})
	if err != nil {
		return err
	}
	args := [3]int64{0, 0, 1}
	for i := range b.Columns {
		d, err := s.w.datum(&b.Columns[i])
		if err != nil {
			return err
		}
		if d.Null {
			return nil
		}
		if !d.Type.Kind.IsInteger() {
			return notSupported("%s over %s", s.n.Name, d.Type)
		}
		args[i] = d.I
	}
	if len(b.Columns) == 1 {
		args = [3]int64{0, args[0], 1}
	}
	if args[2] == 0 {
		return sqltype.Errorf(sqltype.CodeInvalidParameter, "step size cannot equal zero")
	}
	s.next, s.last, s.step = args[0], args[1], args[2]
	if s.n.Name == "range" { // the end is not of it
		if s.next == s.last {
			return nil
		}
		if s.step > 0 && s.last > math.MinInt64 {
			s.last--
		} else if s.step < 0 && s.last < math.MaxInt64 {
			s.last++
		}
	}
	if s.step > 0 && s.next <= s.last {
		s.left = steps(s.next, s.last, uint64(s.step))
	} else if s.step < 0 && s.next >= s.last {
		s.left = steps(s.last, s.next, uint64(-s.step))
	}
	return nil
}

// steps is how many numbers there are from lo to hi, both of them counted. All
// of 2^64 are one too many for the result, and for who counts them.
func steps(lo, hi int64, step uint64) uint64 {
	n := (uint64(hi) - uint64(lo)) / step
	return max(n, n+1)
}

// Next implements Operator.
func (s *series) Next(ctx context.Context) (*arrow.Batch, error) {
	if !s.ready {
		s.ready = true
		if !s.w.q.claim(s.n, s) {
			return nil, nil
		}
		if err := s.start(); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := int(min(s.left, uint64(s.w.q.batchRows)))
	if n == 0 {
		return nil, nil
	}
	p, err := s.slab.Reserve(s.w.q.env.Memory, 8*n)
	if err != nil {
		return nil, err
	}
	if err := kernels.Sequence(s.w.stream, p, s.next, s.step, n); err != nil {
		return nil, err
	}
	s.left -= uint64(n)
	s.next += int64(n) * s.step
	s.out = arrow.Batch{Rows: n, Columns: []arrow.Column{{Type: sqltype.Int64, Vec: kernels.Vec{Data: p}}}}
	return &s.out, nil
}

// Close implements Operator.
func (s *series) Close() error {
	s.slab.Release()
	return nil
}
