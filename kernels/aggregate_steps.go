package kernels

import (
	"errors"
	"math"

	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// aggLike is what the states of a launch are like.
//
//gpu:layout
type aggLike struct{ Kind, Form uint32 }

//gpu:layout
type aggLaunch struct {
	Src, Second Vec
	IDs         device.Ptr
	State, From device.Ptr
	Rows        device.Ptr
	Groups      uint64
	Like        aggLike
}

//gpu:layout
type aggFinalLaunch struct {
	State   device.Ptr
	Dst     Vec
	Status  device.Ptr // of a sum that is out of range
	Divisor float64
	Kind    uint32
	Form    uint32 // of the argument
	Width   uint32 // of the result
	Float   uint32 // of a sum: it becomes a double
	Average uint32
	Total   uint32
	Real    uint32    // the result is a REAL
	Op      uint32    // of moments and pairs
	Type    [3]uint32 // of the result: kind, digits, scale
	_       uint32
}

//gpu:layout
type aggOwnLaunch struct {
	IDs, State device.Ptr
	Rows       device.Ptr // a bitmap: whose group has a string that is to be copied
	Base, Size device.Ptr
}

// aggCodes is the code of the states, to update and to merge; see Agg.code.
var aggCodes = [numAggs][2]*device.Code{
	AggCount:    {codeAggCount, codeAggMergeCount},
	AggSum:      {codeAggSum, codeAggMergeSum},
	AggSumFloat: {codeAggFloat, codeAggMergeFloat},
	AggProduct:  {codeAggProduct, codeAggMergeProduct},
	AggMin:      {codeAggBest, codeAggMergeBest},
	AggMax:      {codeAggBest, codeAggMergeBest},
	AggFirst:    {codeAggAny, codeAggMergeAny},
	AggBitAnd:   {codeAggBits, codeAggMergeBits},
	AggBitOr:    {codeAggBits, codeAggMergeBits},
	AggBitXor:   {codeAggBits, codeAggMergeBits},
	AggMoments:  {codeAggMoments, codeAggMergeMoments},
	AggPairs:    {codeAggPairs, codeAggMergePairs},
}

// wide reports a state of a value that an atomic does not compare.
func (a Agg) wide() bool {
	switch a.Kind {
	case AggMin, AggMax:
		return a.Phys >= sqltype.PhysI128
	case AggFirst:
		return a.Phys == sqltype.PhysStr
	}
	return false
}

// code is a GPU's for the state.
func (a Agg) code() [2]*device.Code {
	if a.wide() {
		return [2]*device.Code{codeAggCell, codeAggMergeCell}
	}
	return aggCodes[a.Kind]
}

// aggSteps updates states, or merges them.
func aggSteps(which int) func(device.Stream, *aggArgs, int) error {
	return func(s device.Stream, a *aggArgs, n int) error {
		l := aggLaunch{Src: a.Src, IDs: a.IDs, State: a.State, From: a.From, Rows: a.Rows, Groups: math.MaxUint64,
			Like: aggLike{uint32(a.Op), uint32(a.Phys)}}
		if a.Op == AggPairs {
			l.Second = a.Second
		}
		if a.Groups > 0 {
			l.Groups = uint64(a.Groups)
		}
		c := Agg{a.Op, a.Phys}.code()[which]
		if err := device.Launch(s, &device.Kernel[aggLaunch]{Name: c.Entry, Code: boundGrid(c)}, n, l); err != nil {
			return err
		}
		if a.Heap == nil || a.Phys != sqltype.PhysStr || a.Op == AggCount {
			return nil
		}
		return a.own(s, n)
	}
}

var (
	aggBorrowed = &device.Kernel[aggOwnLaunch]{Name: "agg_borrowed", Code: codeAggBorrowed}
	aggOwn      = &device.Kernel[aggOwnLaunch]{Name: "agg_own", Code: codeAggOwn}
)

// own copies the strings that the launch before brought into states.
func (a *aggArgs) own(s device.Stream, n int) error {
	b, err := device.Scratch(s, BitmapBytes(n)+8)
	if err != nil {
		return err
	}
	defer b.Release()
	l := aggOwnLaunch{IDs: a.IDs, State: a.State, Rows: b.Ptr(), Size: b.Ptr() + device.Ptr(BitmapBytes(n))}
	if err := Zero(s, l.Size, 8); err != nil {
		return err
	}
	if err := device.Launch(s, aggBorrowed, n, l); err != nil {
		return err
	}
	var size [1]uint64
	if err := s.Download(rawOf(size[:]), l.Size); err != nil || size[0] == 0 {
		return err
	}
	if l.Base, err = a.Heap.Room(int(size[0])); err != nil {
		return err
	}
	if err := Zero(s, l.Size, 8); err != nil {
		return err
	}
	return device.Launch(s, aggOwn, n, l)
}

// finalSteps makes results. Nobody waits for them to say whether a sum is out of
// range: the stream's next wait has that error (see OutOfRange).
func finalSteps(s device.Stream, a *finalArgs, n int) error {
	t := a.Final.Type
	l := aggFinalLaunch{State: a.State, Dst: a.Dst, Status: s.Status(), Divisor: math.Pow10(a.Final.Scale), Kind: uint32(a.Agg.Kind),
		Form: uint32(a.Agg.Phys), Width: uint32(t.Phys().Width()), Float: uint32(b2u(t.Kind.IsFloat())),
		Average: uint32(b2u(a.Final.Op == FinalAvg)), Total: uint32(b2u(a.Final.Op == FinalTotal)), Real: uint32(b2u(t.Phys() == sqltype.PhysF32)),
		Op: uint32(a.Final.Op), Type: [3]uint32{uint32(t.Kind), uint32(t.Precision), uint32(t.Scale)}}
	return device.Launch(s, aggFinalCode, n, l)
}

// OutOfRange is the error of a sum that a kernel found to be out of range of its
// type; nil: err is not of that kind.
func OutOfRange(err error) error {
	var failed *device.StatusError
	if !errors.As(err, &failed) || failed.Status.Code != device.StatusRange {
		return nil
	}
	d := failed.Status.Detail
	return sumOutOfRange(sqltype.Type{Kind: sqltype.Kind(d[0]), Precision: uint8(d[1]), Scale: uint8(d[2])})
}

var aggFinalCode = &device.Kernel[aggFinalLaunch]{Name: "agg_final", Code: codeAggFinal}

func sumOutOfRange(t sqltype.Type) error {
	return sqltype.Errorf(sqltype.CodeOutOfRange, "the sum is out of range of %s", t)
}
