package kernels

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/gpusql/gpusql/sqltype"
)

// SQLSTATEs of mathematics.
const (
	codeLogArgument   = "2201E"
	codePowerArgument = "2201F"
	codeWidthBucket   = "2201G"
)

// mathFuncs are the functions over numbers.
func mathFuncs(name string, args []sqltype.Type, result sqltype.Type, _ []*sqltype.Datum) (ScalarFunc, bool) {
	switch name {
	case "abs":
		return absOf(args[0].Phys())
	case "sign":
		return signOf(args[0].Phys())
	case "ceil", "floor", "round", "trunc":
		return rounded(name, args, result)
	case "gcd", "lcm":
		return divisorFuncs(name, args[0].Phys())
	case "scale", "min_scale":
		return scaleOf(args[0], name == "min_scale"), true
	case "nextafter":
		return Pure2(math.Nextafter), true
	case "signbit":
		return Pure1(math.Signbit), true
	case "atan2d":
		return Pure2(func(y, x float64) float64 { return math.Atan2(y, x) * (180 / math.Pi) }), true
	case "factorial":
		return Func1(factorial), true
	case "pi":
		return Func0(func(*Heap) (float64, error) { return math.Pi, nil }), true
	case "random":
		return Func0(func(*Heap) (float64, error) { return rand.Float64(), nil }), true
	case "isnan":
		return Pure1(math.IsNaN), true
	case "isinf":
		return Pure1(func(f float64) bool { return math.IsInf(f, 0) }), true
	case "isfinite":
		return Pure1(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }), true
	case "bit_count":
		return Pure1(func(v int64) int64 { return int64(bits.OnesCount64(uint64(v))) }), true
	case "width_bucket":
		return widthBucket, true
	case "log":
		if len(args) == 2 {
			return Func2(logBase), true
		}
		return Func1(logarithm(math.Log10)), true
	case "power":
		return Func2(power), true
	case "atan2":
		return Pure2(math.Atan2), true
	}
	return doubleFuncs(name)
}

// doubleFuncs are the functions of one DOUBLE.
func doubleFuncs(name string) (ScalarFunc, bool) {
	switch name {
	case "sqrt":
		return Func1(func(_ *Heap, f float64) (float64, error) {
			if f < 0 {
				return 0, sqltype.Errorf(codePowerArgument, "cannot take square root of a negative number")
			}
			return math.Sqrt(f), nil
		}), true
	case "cbrt":
		return Pure1(math.Cbrt), true
	case "exp":
		return Func1(checked(math.Exp)), true
	case "ln":
		return Func1(logarithm(math.Log)), true
	case "log10":
		return Func1(logarithm(math.Log10)), true
	case "log2":
		return Func1(logarithm(math.Log2)), true
	case "sin":
		return Func1(ofAngle(math.Sin)), true
	case "cos":
		return Func1(ofAngle(math.Cos)), true
	case "tan":
		return Func1(ofAngle(math.Tan)), true
	case "cot":
		return Func1(ofAngle(func(f float64) float64 { return 1 / math.Tan(f) })), true
	case "asin":
		return Func1(within(-1, 1, math.Asin)), true
	case "acos":
		return Func1(within(-1, 1, math.Acos)), true
	case "atan":
		return Pure1(math.Atan), true
	case "sinh":
		return Pure1(math.Sinh), true
	case "cosh":
		return Pure1(math.Cosh), true
	case "tanh":
		return Pure1(math.Tanh), true
	case "asinh":
		return Pure1(math.Asinh), true
	case "acosh":
		return Func1(within(1, math.Inf(1), math.Acosh)), true
	case "atanh":
		return Func1(within(-1, 1, math.Atanh)), true
	case "degrees":
		return Pure1(func(f float64) float64 { return f * (180 / math.Pi) }), true
	case "radians":
		return Pure1(func(f float64) float64 { return f * (math.Pi / 180) }), true
	}
	return moreDoubleFuncs(name)
}

func errInputRange() error {
	return sqltype.Errorf(sqltype.CodeOutOfRange, "input is out of range")
}

// checked is f where a finite argument must not give an infinite result.
func checked(f func(float64) float64) func(*Heap, float64) (float64, error) {
	return func(_ *Heap, x float64) (float64, error) { return finite(f(x), x) }
}

// finite refuses an infinite r of finite arguments.
func finite(r float64, args ...float64) (float64, error) {
	if math.IsInf(r, 0) {
		for _, x := range args {
			if math.IsInf(x, 0) {
				return r, nil
			}
		}
		return 0, sqltype.Errorf(sqltype.CodeOutOfRange, "value out of range: overflow")
	}
	return r, nil
}

// ofAngle is f of a finite number or NaN.
func ofAngle(f func(float64) float64) func(*Heap, float64) (float64, error) {
	return func(_ *Heap, x float64) (float64, error) {
		if math.IsInf(x, 0) {
			return 0, errInputRange()
		}
		return f(x), nil
	}
}

// within is f of a number from lo to hi, or NaN.
func within(lo, hi float64, f func(float64) float64) func(*Heap, float64) (float64, error) {
	return func(_ *Heap, x float64) (float64, error) {
		if x < lo || x > hi {
			return 0, errInputRange()
		}
		return f(x), nil
	}
}

func logarithm(f func(float64) float64) func(*Heap, float64) (float64, error) {
	return func(_ *Heap, x float64) (float64, error) {
		switch {
		case x == 0:
			return 0, sqltype.Errorf(codeLogArgument, "cannot take logarithm of zero")
		case x < 0:
			return 0, sqltype.Errorf(codeLogArgument, "cannot take logarithm of a negative number")
		}
		return f(x), nil
	}
}

func logBase(h *Heap, base, x float64) (float64, error) {
	ln := logarithm(math.Log)
	b, err := ln(h, base)
	if err != nil {
		return 0, err
	}
	v, err := ln(h, x)
	switch {
	case err != nil:
		return 0, err
	case b == 0:
		return 0, divisionByZero(0)
	}
	return v / b, nil
}

func power(_ *Heap, x, y float64) (float64, error) {
	switch {
	case x == 0 && y < 0:
		return 0, sqltype.Errorf(codePowerArgument, "zero raised to a negative power is undefined")
	case x < 0 && y != math.Trunc(y) && !math.IsNaN(y):
		return 0, sqltype.Errorf(codePowerArgument, "a negative number raised to a non-integer power yields a complex result")
	}
	return finite(math.Pow(x, y), x, y)
}

func factorial(_ *Heap, n int64) (sqltype.Int128, error) {
	if n < 0 {
		return sqltype.Int128{}, sqltype.Errorf(sqltype.CodeOutOfRange, "factorial of a negative number is undefined")
	}
	v := sqltype.Int128Of(1)
	for k := int64(2); k <= n; k++ {
		var ok bool
		if v, ok = v.Mul(sqltype.Int128Of(k)); !ok || !v.Fits(sqltype.MaxPrecision) {
			return v, sqltype.Errorf(sqltype.CodeOutOfRange, "value out of range: overflow")
		}
	}
	return v, nil
}

// widthBucket is the bucket, of count of one width from low to high, that a
// value falls in: 0 below them, count+1 above.
var widthBucket = FuncRow(func(c *Call, i int) (int32, error) {
	x, low, high := ArgAt[float64](c, 0, i), ArgAt[float64](c, 1, i), ArgAt[float64](c, 2, i)
	count := ArgAt[int32](c, 3, i)
	switch {
	case count <= 0:
		return 0, sqltype.Errorf(codeWidthBucket, "count must be greater than zero")
	case math.IsNaN(x) || math.IsNaN(low) || math.IsNaN(high):
		return 0, sqltype.Errorf(codeWidthBucket, "operand, lower bound, and upper bound cannot be NaN")
	case math.IsInf(low, 0) || math.IsInf(high, 0):
		return 0, sqltype.Errorf(codeWidthBucket, "lower and upper bounds must be finite")
	case low == high:
		return 0, sqltype.Errorf(codeWidthBucket, "lower bound cannot equal upper bound")
	}
	at := (x - low) / (high - low)
	switch {
	case at < 0:
		return 0, nil
	case at < 1:
		return int32(at*float64(count)) + 1, nil
	case count == math.MaxInt32:
		return 0, sqltype.Errorf(sqltype.CodeOutOfRange, "integer out of range")
	}
	return count + 1, nil
})

// signedInt are the Go types of signed integers.
type signedInt interface{ int8 | int16 | int32 | int64 }

// absInt fails for the least value, which has no opposite.
func absInt[T signedInt](_ *Heap, v T) (T, error) {
	if v < 0 {
		v = -v
		if v < 0 {
			return 0, errOverflow[T]()
		}
	}
	return v, nil
}

// errOverflow names the integer type that was too small.
func errOverflow[T signedInt]() error {
	name := "bigint"
	switch any(T(0)).(type) {
	case int8:
		name = "tinyint"
	case int16:
		name = "smallint"
	case int32:
		name = "integer"
	}
	return sqltype.Errorf(sqltype.CodeOutOfRange, "%s out of range", name)
}

func same[T Value](v T) T { return v }

func absOf(p sqltype.Phys) (ScalarFunc, bool) {
	switch p {
	case sqltype.PhysI8:
		return Func1(absInt[int8]), true
	case sqltype.PhysI16:
		return Func1(absInt[int16]), true
	case sqltype.PhysI32:
		return Func1(absInt[int32]), true
	case sqltype.PhysI64:
		return Func1(absInt[int64]), true
	case sqltype.PhysU8:
		return Pure1(same[uint8]), true
	case sqltype.PhysU16:
		return Pure1(same[uint16]), true
	case sqltype.PhysU32:
		return Pure1(same[uint32]), true
	case sqltype.PhysU64:
		return Pure1(same[uint64]), true
	case sqltype.PhysF32:
		return Pure1(func(f float32) float32 { return float32(math.Abs(float64(f))) }), true
	case sqltype.PhysF64:
		return Pure1(math.Abs), true
	case sqltype.PhysI128:
		return Pure1(func(v sqltype.Int128) sqltype.Int128 {
			if v.Sign() < 0 {
				v, _ = v.Neg() // 38 digits are far from the end of the range
			}
			return v
		}), true
	}
	return nil, false
}

func signInt[T signedInt | uint8 | uint16 | uint32 | uint64](v T) int32 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

func signOf(p sqltype.Phys) (ScalarFunc, bool) {
	switch p {
	case sqltype.PhysI8:
		return Pure1(signInt[int8]), true
	case sqltype.PhysI16:
		return Pure1(signInt[int16]), true
	case sqltype.PhysI32:
		return Pure1(signInt[int32]), true
	case sqltype.PhysI64:
		return Pure1(signInt[int64]), true
	case sqltype.PhysU8:
		return Pure1(signInt[uint8]), true
	case sqltype.PhysU16:
		return Pure1(signInt[uint16]), true
	case sqltype.PhysU32:
		return Pure1(signInt[uint32]), true
	case sqltype.PhysU64:
		return Pure1(signInt[uint64]), true
	case sqltype.PhysI128:
		return Pure1(func(v sqltype.Int128) int32 { return int32(v.Sign()) }), true
	case sqltype.PhysF64:
		return Pure1(func(f float64) float64 {
			switch {
			case f > 0:
				return 1
			case f < 0:
				return -1
			}
			return 0 // -0 and NaN too
		}), true
	}
	return nil, false
}

func gcdInt[T signedInt](_ *Heap, a, b T) (T, error) {
	for b != 0 {
		if b == -1 { // the least value by -1 has no quotient
			return 1, nil
		}
		a, b = b, a%b
	}
	if a < 0 {
		if a = -a; a < 0 {
			return 0, errOverflow[T]()
		}
	}
	return a, nil
}

func lcmInt[T signedInt](h *Heap, a, b T) (T, error) {
	if a == 0 || b == 0 {
		return 0, nil
	}
	g, err := gcdInt(h, a, b)
	if err != nil {
		return 0, err
	}
	a /= g
	r := a * b
	if r/b != a || r < 0 && -r < 0 {
		return 0, errOverflow[T]()
	}
	return max(r, -r), nil
}

func divisors[T signedInt](name string) ScalarFunc {
	if name == "gcd" {
		return Func2(gcdInt[T])
	}
	return Func2(lcmInt[T])
}

func divisorFuncs(name string, p sqltype.Phys) (ScalarFunc, bool) {
	switch p {
	case sqltype.PhysI8:
		return divisors[int8](name), true
	case sqltype.PhysI16:
		return divisors[int16](name), true
	case sqltype.PhysI32:
		return divisors[int32](name), true
	case sqltype.PhysI64:
		return divisors[int64](name), true
	case sqltype.PhysI128:
		if name == "gcd" {
			return Pure2(gcd128), true
		}
		return Func2(lcm128), true
	}
	return nil, false
}

// gcd128 is of numbers of 38 digits, whose opposites there are.
func gcd128(a, b sqltype.Int128) sqltype.Int128 {
	for b.Sign() != 0 {
		_, rest, _ := a.QuoRem(b)
		a, b = b, rest
	}
	if a.Sign() < 0 {
		a, _ = a.Neg()
	}
	return a
}

func lcm128(_ *Heap, a, b sqltype.Int128) (sqltype.Int128, error) {
	if a.Sign() == 0 || b.Sign() == 0 {
		return sqltype.Int128{}, nil
	}
	q, _, _ := a.QuoRem(gcd128(a, b))
	v, ok := q.Mul(b)
	if !ok || !v.Fits(sqltype.MaxPrecision) {
		return v, sqltype.Errorf(sqltype.CodeOutOfRange, "value out of range: overflow")
	}
	if v.Sign() < 0 {
		v, _ = v.Neg()
	}
	return v, nil
}
