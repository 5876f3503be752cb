package kernels

import (
	"math"

	"github.com/gpusql/gpusql/sqltype"
)

// moreDoubleFuncs are the functions of one DOUBLE over angles in degrees, and
// those that few ask for.
func moreDoubleFuncs(name string) (ScalarFunc, bool) {
	const degree = math.Pi / 180
	switch name {
	case "sind":
		return Func1(ofAngle(func(f float64) float64 { s, _ := sincosd(f); return s })), true
	case "cosd":
		return Func1(ofAngle(func(f float64) float64 { _, c := sincosd(f); return c })), true
	case "tand":
		return Func1(ofAngle(func(f float64) float64 { s, c := sincosd(f); return s / c })), true
	case "cotd":
		return Func1(ofAngle(func(f float64) float64 { s, c := sincosd(f); return c / s })), true
	case "asind":
		return Func1(within(-1, 1, func(f float64) float64 { return nearWhole(math.Asin(f) / degree) })), true
	case "acosd":
		return Func1(within(-1, 1, func(f float64) float64 { return nearWhole(math.Acos(f) / degree) })), true
	case "atand":
		return Pure1(func(f float64) float64 { return nearWhole(math.Atan(f) / degree) }), true
	case "gamma":
		return Func1(checked(func(f float64) float64 {
			if f == 0 {
				return math.Inf(1) // a pole, as all whole numbers below are
			}
			return math.Gamma(f)
		})), true
	case "lgamma":
		return Func1(checked(func(f float64) float64 { v, _ := math.Lgamma(f); return v })), true
	case "even":
		return Pure1(func(f float64) float64 {
			up := math.Ceil(math.Abs(f)/2) * 2
			return math.Copysign(up, f)
		}), true
	}
	return nil, false
}

// sincosd is exact at multiples of 30 degrees where the value is 0, 1/2 or 1:
// the remainder by 360 is, and the special angles are told by name.
func sincosd(f float64) (sin, cos float64) {
	f = math.Mod(f, 360)
	sin, cos = math.Sincos(f * (math.Pi / 180))
	for _, v := range [...]float64{-1, -0.5, 0, 0.5, 1} {
		if math.Abs(sin-v) < 1e-15 {
			sin = v
		}
		if math.Abs(cos-v) < 1e-15 {
			cos = v
		}
	}
	return sin, cos
}

// nearWhole is f, or the whole number of degrees that rounding lost.
func nearWhole(f float64) float64 {
	if r := math.Round(f); math.Abs(f-r) < 1e-13 {
		return r
	}
	return f
}

// decimal is a DECIMAL argument's unscaled value at row i.
func (a *Arg) decimal(i int) sqltype.Int128 { d := a.datum(i); return d.Int128() }

// scaleOf is the digits after the point of a DECIMAL: those that its type has,
// or the least that its value needs.
func scaleOf(t sqltype.Type, least bool) ScalarFunc {
	return FuncRow(func(c *Call, i int) (int32, error) {
		scale := int(t.Scale)
		if !least {
			return int32(scale), nil
		}
		v := c.Args[0].decimal(i)
		for ; scale > 0; scale-- {
			q, rest, _ := v.QuoRem(sqltype.Int128Of(10))
			if rest.Sign() != 0 {
				break
			}
			v = q
		}
		return int32(scale), nil
	})
}
