package kernels

import (
	"fmt"

	"github.com/gpusql/gpusql/sqltype"
)

// bindStep finds the code of an instruction.
func bindStep(p *Program, in *Instr) stepFunc {
	var f stepFunc
	switch {
	case in.Op.IsCompare():
		f = compareStep(in)
	case in.Op.IsMask():
		f = maskStep
	case in.Op <= OpShr:
		f = arithStep(in.Op, in.Phys)
	default:
		f = otherStep(p, in)
	}
	if f == nil {
		panic(fmt.Sprintf("kernels: no step for %s.%s", in.Op, in.Phys))
	}
	return f
}

func otherStep(p *Program, in *Instr) stepFunc {
	switch in.Op {
	case OpMulWide:
		return mulWideStep
	case OpDivDec:
		return divDecStep
	case OpScale:
		if in.Phys == sqltype.PhysI64 {
			return scaleI64Step
		}
		return scaleI128Step
	case OpAnd:
		return andStep
	case OpOr:
		return orStep
	case OpNot:
		return notStep
	case OpIsNull:
		return isNullStep
	case OpIn:
		return inStep(in.Phys)
	case OpCase:
		return caseStep(in.Phys)
	case OpCast:
		return castStep(p.Types[in.Args[0]], p.Types[in.Dst])
	case OpFits:
		if in.Phys == sqltype.PhysI64 {
			return fitsI64Step
		}
		return fitsI128Step
	case OpCall:
		return callStep
	}
	return nil
}

// arithStep is the code of an arithmetic instruction.
func arithStep(op Op, p sqltype.Phys) stepFunc {
	switch p {
	case sqltype.PhysI8:
		return signedStep[int8](op)
	case sqltype.PhysI16:
		return signedStep[int16](op)
	case sqltype.PhysI32:
		return signedStep[int32](op)
	case sqltype.PhysI64:
		if op == OpMul {
			return mulI64Step
		}
		return signedStep[int64](op)
	case sqltype.PhysU8:
		return unsignedStep[uint8](op)
	case sqltype.PhysU16:
		return unsignedStep[uint16](op)
	case sqltype.PhysU32:
		return unsignedStep[uint32](op)
	case sqltype.PhysU64:
		return unsignedStep[uint64](op)
	case sqltype.PhysF32:
		return floatStep[float32](op)
	case sqltype.PhysF64:
		return floatStep[float64](op)
	case sqltype.PhysI128:
		return int128Step(op)
	}
	return nil
}

func signedStep[T signed](op Op) stepFunc {
	switch op {
	case OpAdd:
		return addSignedStep[T]
	case OpSub:
		return subSignedStep[T]
	case OpMul:
		return mulNarrowStep[T]
	case OpNeg:
		return negStep[T]
	}
	return integerStep[T](op)
}

func unsignedStep[T unsigned](op Op) stepFunc {
	switch op {
	case OpAdd:
		return addUnsignedStep[T]
	case OpSub:
		return subUnsignedStep[T]
	case OpMul:
		return mulUnsignedStep[T]
	case OpNeg:
		return negStep[T]
	}
	return integerStep[T](op)
}

func integerStep[T integer](op Op) stepFunc {
	switch op {
	case OpDiv:
		return divIntStep[T]
	case OpMod:
		return modIntStep[T]
	case OpBitAnd, OpBitOr, OpBitXor, OpShl, OpShr:
		return bitStep[T]
	case OpBitNot:
		return bitNotStep[T]
	}
	return nil
}

func floatStep[T float](op Op) stepFunc {
	switch op {
	case OpAdd, OpSub, OpMul:
		return floatArithStep[T]
	case OpDiv:
		return divFloatStep[T]
	case OpMod:
		return modFloatStep[T]
	case OpNeg:
		return negFloatStep[T]
	}
	return nil
}

func int128Step(op Op) stepFunc {
	switch op {
	case OpAdd:
		return addI128Step
	case OpSub:
		return subI128Step
	case OpMul:
		return mulI128Step
	case OpMod:
		return modI128Step
	case OpNeg:
		return negI128Step
	}
	return nil
}

// inStep is the code of OpIn.
func inStep(p sqltype.Phys) stepFunc {
	switch p {
	case sqltype.PhysBool, sqltype.PhysU8:
		return inIntStep[uint8]
	case sqltype.PhysI8:
		return inIntStep[int8]
	case sqltype.PhysI16:
		return inIntStep[int16]
	case sqltype.PhysI32:
		return inIntStep[int32]
	case sqltype.PhysI64:
		return inIntStep[int64]
	case sqltype.PhysU16:
		return inIntStep[uint16]
	case sqltype.PhysU32:
		return inIntStep[uint32]
	case sqltype.PhysU64:
		return inIntStep[uint64]
	case sqltype.PhysF32:
		return inPlainStep(func(a, b float32) bool { return sqltype.CompareFloat(float64(a), float64(b)) == 0 })
	case sqltype.PhysF64:
		return inPlainStep(func(a, b float64) bool { return sqltype.CompareFloat(a, b) == 0 })
	case sqltype.PhysI128:
		return inPlainStep(func(a, b sqltype.Int128) bool { return a == b })
	case sqltype.PhysSpan:
		return inPlainStep(func(a, b sqltype.Span) bool { return a.Compare(b) == 0 })
	case sqltype.PhysStr:
		return inStringStep
	}
	return nil
}

// caseStep is the code of OpCase: values move by their width.
func caseStep(p sqltype.Phys) stepFunc {
	switch p.Width() {
	case 1:
		return chooseStep[uint8]
	case 2:
		return chooseStep[uint16]
	case 4:
		return chooseStep[uint32]
	case 8:
		return chooseStep[uint64]
	}
	return chooseStep[View]
}
