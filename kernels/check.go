package kernels

import (
	"github.com/gpusql/gpusql/device"
	"github.com/gpusql/gpusql/sqltype"
)

// What a device with memory of its own cannot run is said before a query starts
// there: for each thing that operators do, whether all its kernels have code.

// checker is a kernel of any argument.
type checker interface{ CheckCode() error }

// check is the first error of kernels without code.
func check(kernels ...checker) error {
	for _, k := range kernels {
		if err := k.CheckCode(); err != nil {
			return err
		}
	}
	return nil
}

// checkByForm is check for kernels of which there is one a form of values.
func checkByForm[A any](kernels [sqltype.NumPhys]*device.Kernel[A], p sqltype.Phys) error {
	if kernels[p] == nil {
		return nil
	}
	return check(kernels[p])
}

// CheckGroups reports what Groups lacks for keys of a layout.
func CheckGroups(l KeyLayout) error {
	switch l.Form {
	case KeyWord:
		return check(findWord, slotWord)
	case KeyPair:
		return check(findPair, slotPair)
	default:
		return check(findColumns, slotColumns)
	}
}

// CheckAggregates reports what aggregates over groups lack.
func CheckAggregates() error { return check(aggUpdate, aggMerge, aggFinal) }

// CheckSetOps reports what is lacking to pick rows by what was seen before.
func CheckSetOps() error { return check(countGroups, pickGroups) }

// CheckJoin reports what JoinTable lacks for keys of a layout.
func CheckJoin(l KeyLayout) error {
	if err := check(joinPairs); err != nil {
		return err
	}
	if len(l.Phys) == 1 {
		for _, k := range [][sqltype.NumPhys]*device.Kernel[joinArgs]{rangeKernels, directBuildKernels, directProbeKernels} {
			if err := checkByForm(k, l.Phys[0]); err != nil {
				return err
			}
		}
	}
	switch l.Form {
	case KeyWord:
		return check(joinBuildWord, joinProbeWord)
	case KeyPair:
		return check(joinBuildPair, joinProbePair)
	default:
		return check(joinBuildColumns, joinProbeColumns)
	}
}

// CheckWindow reports what window functions lack.
func CheckWindow() error {
	return check(windowMark, windowRank, windowRun, windowTree, windowLast, windowMerge,
		windowFrames, windowPick, windowNumber, windowList)
}

// CheckUnnest reports what the rows of lists lack.
func CheckUnnest() error { return check(unnestStep) }
