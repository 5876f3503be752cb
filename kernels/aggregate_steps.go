package kernels

import (
	"fmt"
	"math"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

//gpu:layout
type aggLaunch struct {
	Src         Vec
	IDs         device.Ptr
	State, From device.Ptr
	Rows        device.Ptr
	Groups      uint64
	Form        uint32
	Least       uint32 // 1: the best is the least
}

//gpu:layout
type aggFinalLaunch struct {
	State   device.Ptr
	Dst     Vec
	Bad     device.Ptr
	Divisor float64
	Kind    uint32
	Form    uint32 // of the argument
	Width   uint32 // of the result
	Float   uint32 // of a sum: it becomes a double
	Average uint32
	Total   uint32
	Real    uint32 // the result is a REAL
	_       uint32
}

// aggCodes is the code of the states that a GPU has: to update, and to merge.
var aggCodes = map[AggKind][2]*device.Code{
	AggCount:    {codeAggCount, codeAggMergeCount},
	AggSum:      {codeAggSum, codeAggMergeSum},
	AggSumFloat: {codeAggFloat, codeAggMergeFloat},
	AggMin:      {codeAggBest, codeAggMergeBest},
	AggMax:      {codeAggBest, codeAggMergeBest},
	AggFirst:    {codeAggAny, codeAggMergeAny},
}

// CheckDevice reports a state that has no code for a device with memory of its
// own: a *NotOnDeviceError, or nil. What is compared is a word there, and a
// string is not kept beyond its batch.
func (a Agg) CheckDevice() error {
	if _, ok := aggCodes[a.Kind]; !ok {
		return &NotOnDeviceError{fmt.Sprintf("aggregate state %d", a.Kind)}
	}
	switch a.Kind {
	case AggMin, AggMax:
		if a.Phys.Width() > 8 {
			return &NotOnDeviceError{"the least or greatest value of form " + a.Phys.String()}
		}
	case AggFirst:
		if a.Phys == sqltype.PhysStr {
			return &NotOnDeviceError{"a string of a group"}
		}
	}
	return nil
}

// CheckDevice reports a result that has no code, likewise.
func (f Final) CheckDevice() error {
	if f.Op > FinalTotal {
		return &NotOnDeviceError{fmt.Sprintf("aggregate result %d", f.Op)}
	}
	return nil
}

// aggSteps updates states, or merges them.
func aggSteps(which int) func(device.Stream, *aggArgs, int) error {
	return func(s device.Stream, a *aggArgs, n int) error {
		if err := (Agg{a.Op, a.Phys}).CheckDevice(); err != nil {
			return fmt.Errorf("%w on %s: %w", err, s.Device().Name(), device.ErrNoCode)
		}
		l := aggLaunch{Src: a.Src, IDs: a.IDs, State: a.State, From: a.From, Rows: a.Rows, Form: uint32(a.Phys), Groups: math.MaxUint64}
		if a.Groups > 0 {
			l.Groups = uint64(a.Groups)
		}
		if a.Op == AggMin {
			l.Least = 1
		}
		c := aggCodes[a.Op][which]
		return device.Launch(s, &device.Kernel[aggLaunch]{Name: c.Entry, Code: boundGrid(c)}, n, l)
	}
}

// finalSteps makes results.
func finalSteps(s device.Stream, a *finalArgs, n int) error {
	err := a.Agg.CheckDevice()
	if err == nil {
		err = a.Final.CheckDevice()
	}
	if err != nil {
		return fmt.Errorf("%w on %s: %w", err, s.Device().Name(), device.ErrNoCode)
	}
	bad, err := s.Device().Alloc(8)
	if err != nil {
		return err
	}
	defer bad.Release()
	if err := Zero(s, bad.Ptr(), 8); err != nil {
		return err
	}
	t := a.Final.Type
	l := aggFinalLaunch{State: a.State, Dst: a.Dst, Bad: bad.Ptr(), Divisor: math.Pow10(a.Final.Scale), Kind: uint32(a.Agg.Kind),
		Form: uint32(a.Agg.Phys), Width: uint32(t.Phys().Width()), Float: uint32(b2u(t.Kind.IsFloat())),
		Average: uint32(b2u(a.Final.Op == FinalAvg)), Total: uint32(b2u(a.Final.Op == FinalTotal)), Real: uint32(b2u(t.Phys() == sqltype.PhysF32))}
	if err := device.Launch(s, aggFinalCode, n, l); err != nil {
		return err
	}
	var found [8]byte
	if err := s.Download(found[:], bad.Ptr()); err != nil {
		return err
	}
	if found[0] != 0 {
		*a.Fail = sumOutOfRange(t)
	}
	return nil
}

var aggFinalCode = &device.Kernel[aggFinalLaunch]{Name: "agg_final", Code: codeAggFinal}

func sumOutOfRange(t sqltype.Type) error {
	return sqltype.Errorf(sqltype.CodeOutOfRange, "the sum is out of range of %s", t)
}
