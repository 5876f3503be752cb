package exec_test

import (
	"errors"
	"math"
	"math/big"

	"github.com/gpusql/gpusql/catalog"
	"github.com/gpusql/gpusql/planner"
	"github.com/gpusql/gpusql/sqltype"
)

// reference evaluates an expression on one row, by Datums and math/big.
func reference(e planner.Expr, tab *table, r int) (sqltype.Datum, error) {
	val := func(x planner.Expr) (sqltype.Datum, error) { return reference(x, tab, r) }
	switch e := e.(type) {
	case *planner.Const:
		return e.Value, nil
	case *planner.Col:
		return tab.rows[e.ID-1][r], nil
	case *planner.Cast:
		x, err := val(e.X)
		if err != nil {
			return x, err
		}
		d, err := sqltype.CastDatum(x, e.To)
		if err != nil && e.Try {
			return sqltype.NullOf(e.To), nil
		}
		return d, err
	case *planner.Cmp:
		l, err := val(e.L)
		if err != nil {
			return l, err
		}
		rt, err := val(e.R)
		if err != nil {
			return rt, err
		}
		if e.Op == planner.Distinct || e.Op == planner.NotDistinct {
			return sqltype.NewBool((sqltype.Compare(l, rt) == 0) == (e.Op == planner.NotDistinct)), nil
		}
		if l.Null || rt.Null {
			return sqltype.NullOf(sqltype.Bool), nil
		}
		c := sqltype.Compare(l, rt)
		return sqltype.NewBool([...]bool{c == 0, c != 0, c < 0, c <= 0, c > 0, c >= 0}[e.Op]), nil
	case *planner.And:
		return logic(e.Args, tab, r, 0)
	case *planner.Or:
		return logic(e.Args, tab, r, 1)
	case *planner.Not:
		x, err := val(e.X)
		if err != nil || x.Null {
			return x, err
		}
		return sqltype.NewBool(x.I == 0), nil
	case *planner.IsNull:
		x, err := val(e.X)
		return sqltype.NewBool(x.Null), err
	case *planner.In:
		x, err := val(e.X)
		if err != nil {
			return x, err
		}
		unknown := x.Null
		for _, item := range e.List {
			d, err := val(item)
			if err != nil {
				return d, err
			}
			unknown = unknown || d.Null
			if !x.Null && !d.Null && sqltype.Compare(x, d) == 0 {
				return sqltype.NewBool(true), nil
			}
		}
		if unknown {
			return sqltype.NullOf(sqltype.Bool), nil
		}
		return sqltype.NewBool(false), nil
	case *planner.Case:
		for _, w := range e.Whens {
			c, err := val(w.Cond)
			if err != nil {
				return c, err
			}
			if !c.Null && c.I != 0 {
				return val(w.Then)
			}
		}
		return val(e.Else)
	case *planner.Call:
		args := make([]sqltype.Datum, len(e.Args))
		for i, a := range e.Args {
			d, err := val(a)
			if err != nil {
				return d, err
			}
			args[i] = d
		}
		for _, d := range args {
			if d.Null {
				return sqltype.NullOf(e.T), nil
			}
		}
		for _, a := range append(args, sqltype.Datum{Type: e.T}) {
			if !a.Type.Kind.IsNumeric() {
				return refTemporal(e, args)
			}
		}
		return refCall(e, args)
	}
	return sqltype.Datum{}, errors.New("no reference")
}

// logic is AND (deciding 0) and OR (deciding 1), left to right: what is decided
// is not evaluated further.
func logic(args []planner.Expr, tab *table, r int, deciding int64) (sqltype.Datum, error) {
	unknown := false
	for _, a := range args {
		d, err := reference(a, tab, r)
		if err != nil {
			return d, err
		}
		if !d.Null && d.I == deciding {
			return sqltype.NewBool(deciding == 1), nil
		}
		unknown = unknown || d.Null
	}
	if unknown {
		return sqltype.NullOf(sqltype.Bool), nil
	}
	return sqltype.NewBool(deciding == 0), nil
}

var errRange = sqltype.Errorf(sqltype.CodeOutOfRange, "out of range")

func refCall(e *planner.Call, args []sqltype.Datum) (sqltype.Datum, error) {
	zero := sqltype.Errorf(sqltype.CodeDivisionByZero, "division by zero")
	if e.T.Kind.IsFloat() {
		a := args[0].F
		b := 0.0
		if len(args) > 1 {
			b = args[1].F
		}
		round := func(f float64) float64 {
			if e.T.Kind == sqltype.KindFloat32 {
				return float64(float32(f))
			}
			return f
		}
		var f float64
		switch e.Func.ID {
		case catalog.FuncAdd:
			f = round(a + b)
		case catalog.FuncSub:
			f = round(a - b)
		case catalog.FuncMul:
			f = round(a * b)
		case catalog.FuncDiv:
			if b == 0 && a == a {
				return sqltype.Datum{}, zero
			}
			f = round(a / b)
		case catalog.FuncMod:
			if b == 0 && a == a {
				return sqltype.Datum{}, zero
			}
			f = round(math.Mod(a, b))
		case catalog.FuncNeg:
			f = -a
		}
		if math.IsInf(f, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
			return sqltype.Datum{}, errRange
		}
		return sqltype.Datum{Type: e.T, F: f}, nil
	}
	a, b := bigOf(args[0]), new(big.Int)
	if len(args) > 1 {
		b = bigOf(args[1])
	}
	v := new(big.Int)
	switch e.Func.ID {
	case catalog.FuncAdd:
		v.Add(a, b)
	case catalog.FuncSub:
		v.Sub(a, b)
	case catalog.FuncMul:
		v.Mul(a, b)
	case catalog.FuncNeg:
		v.Neg(a)
	case catalog.FuncBitAnd:
		v.And(a, b)
	case catalog.FuncBitOr:
		v.Or(a, b)
	case catalog.FuncBitXor:
		v.Xor(a, b)
	case catalog.FuncMod:
		if b.Sign() == 0 {
			return sqltype.Datum{}, zero
		}
		v.Rem(a, b)
	case catalog.FuncDiv, catalog.FuncIntDiv:
		if b.Sign() == 0 {
			return sqltype.Datum{}, zero
		}
		if e.T.Kind != sqltype.KindDecimal {
			v.Quo(a, b)
			break
		}
		shift := int64(e.T.Scale) - int64(args[0].Type.Scale) + int64(args[1].Type.Scale)
		a.Mul(a, new(big.Int).Exp(big.NewInt(10), big.NewInt(shift), nil))
		a.Mul(a, big.NewInt(2)) // halves away from zero: (2a +- b) / 2b
		neg := a.Sign()*b.Sign() < 0
		a.Abs(a)
		b.Abs(b)
		v.Quo(a.Add(a, b), new(big.Int).Mul(b, big.NewInt(2)))
		if neg {
			v.Neg(v)
		}
	}
	return bigDatum(v, e.T)
}

// refTemporal is + and - over dates, times and intervals, by way of timestamps.
func refTemporal(e *planner.Call, args []sqltype.Datum) (sqltype.Datum, error) {
	a := args[0]
	if len(args) == 1 {
		v, err := a.Span().Neg()
		return sqltype.NewInterval(v), err
	}
	b := args[1]
	if e.Func.ID != catalog.FuncSub && (a.Type.Kind == sqltype.KindInterval && b.Type.Kind != sqltype.KindFloat64 ||
		a.Type.Kind.IsNumeric() || a.Type.Kind == sqltype.KindTime && b.Type.Kind == sqltype.KindDate) {
		a, b = b, a
	}
	span := b.Span()
	switch b.Type.Kind {
	case sqltype.KindInt32:
		span = sqltype.Span{Days: int32(b.I)}
	case sqltype.KindTime:
		span = sqltype.Span{Micros: b.I}
	}
	stamp := func(d sqltype.Datum) int64 {
		if d.Type.Kind == sqltype.KindDate {
			return d.I * sqltype.MicrosPerDay
		}
		return d.I
	}
	var err error
	d := sqltype.Datum{Type: e.T}
	switch {
	case e.Func.ID == catalog.FuncMul:
		span, err = a.Span().Mul(b.F)
		return sqltype.NewInterval(span), err
	case e.Func.ID == catalog.FuncDiv:
		if b.F == 0 {
			return d, sqltype.Errorf(sqltype.CodeDivisionByZero, "division by zero")
		}
		span, err = a.Span().Mul(1 / b.F)
		return sqltype.NewInterval(span), err
	case e.T.Kind == sqltype.KindInt32:
		d.I = a.I - b.I
		return d, nil
	case e.T.Kind == sqltype.KindInterval && a.Type.Kind != sqltype.KindInterval:
		v := stamp(a) - stamp(b)
		return sqltype.NewInterval(sqltype.Span{Days: int32(v / sqltype.MicrosPerDay), Micros: v % sqltype.MicrosPerDay}), nil
	}
	if e.Func.ID == catalog.FuncSub {
		if span, err = span.Neg(); err != nil {
			return d, err
		}
	}
	switch e.T.Kind {
	case sqltype.KindInterval:
		span, err = a.Span().Add(span)
		return sqltype.NewInterval(span), err
	case sqltype.KindTime:
		d.I = ((a.I+span.Micros)%sqltype.MicrosPerDay + sqltype.MicrosPerDay) % sqltype.MicrosPerDay
		return d, nil
	}
	d.I, err = sqltype.AddInterval(stamp(a), span)
	if e.T.Kind == sqltype.KindDate {
		d.I /= sqltype.MicrosPerDay
	}
	return d, err
}

func bigOf(d sqltype.Datum) *big.Int {
	v, ok := new(big.Int).SetString(d.Int128().String(), 10)
	if !ok {
		panic("no number")
	}
	return v
}

// bigDatum brings v into t or fails.
func bigDatum(v *big.Int, t sqltype.Type) (sqltype.Datum, error) {
	x, ok := sqltype.ParseInt128(v.String())
	if !ok {
		return sqltype.Datum{}, errRange
	}
	if t.Kind == sqltype.KindDecimal {
		if !x.Fits(int(t.Precision)) {
			return sqltype.Datum{}, errRange
		}
		return sqltype.NewDecimal(x, t), nil
	}
	i, err := sqltype.NarrowInt(x, t.Kind)
	return sqltype.Datum{Type: t, I: i}, err
}
