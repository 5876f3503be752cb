package exec

import (
	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/kernels"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// Sequences are the sequences of the session that runs a query, by name as SQL
// writes it. A plan that uses them is run by one worker.
type Sequences interface {
	// Next takes the next number; it stays taken.
	Next(name string) (int64, error)
	// Current is the number that the session was given last.
	Current(name string) (int64, error)
	// Last is the number that the session was given last of any sequence.
	Last() (int64, error)
	// Set makes value the number given last, or without called the next one.
	Set(name string, value int64, called bool) error
}

// sequenceCode is the code of nextval and its kin.
func (c *compiler) sequenceCode(e *planner.Call) (kernels.ScalarFunc, error) {
	s := c.sequences
	if s == nil {
		return nil, placed(sqltype.Errorf(sqltype.CodeNotSupported, "%s cannot be called here", e.Func.Name), e.Pos)
	}
	switch e.Func.ID {
	case catalog.FuncNextval:
		return kernels.Func1(func(_ *kernels.Heap, name string) (int64, error) { return s.Next(name) }), nil
	case catalog.FuncCurrval:
		return kernels.Func1(func(_ *kernels.Heap, name string) (int64, error) { return s.Current(name) }), nil
	case catalog.FuncLastval:
		return kernels.Func0(func(*kernels.Heap) (int64, error) { return s.Last() }), nil
	case catalog.FuncSetval:
		if len(e.Args) == 2 {
			return kernels.Func2(func(_ *kernels.Heap, name string, v int64) (int64, error) { return v, s.Set(name, v, true) }), nil
		}
		return kernels.Func3(func(_ *kernels.Heap, name string, v int64, called bool) (int64, error) {
			return v, s.Set(name, v, called)
		}), nil
	default:
		panic("exec: no sequence in " + e.Func.Name)
	}
}
