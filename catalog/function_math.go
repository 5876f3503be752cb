package catalog

import "github.com/gpusql/gpusql/sqltype"

// mathFamilies are the functions over numbers.
func mathFamilies() []family {
	i64, f64, boolean := sqltype.Int64, sqltype.Float64, sqltype.Bool
	ofDouble := func(id FuncID, aliases ...string) family {
		return family{Func: Func{ID: id}, aliases: aliases, signatures: []signature{on(f64, f64)}}
	}
	ofDoubles := func(id FuncID, aliases ...string) family {
		return family{Func: Func{ID: id}, aliases: aliases, signatures: []signature{on(f64, f64, f64)}}
	}
	return []family{
		{Func: Func{ID: FuncAbs}, signatures: []signature{by(sameNumber)}},
		{Func: Func{ID: FuncSign}, signatures: []signature{by(signOf)}},
		{Func: Func{ID: FuncCeil}, aliases: []string{"ceiling"}, signatures: []signature{by(wholeNumber)}},
		{Func: Func{ID: FuncFloor}, signatures: []signature{by(wholeNumber)}},
		{Func: Func{ID: FuncRound}, signatures: []signature{by(wholeNumber), by(roundedNumber).refinedBy(refineRound)}},
		{Func: Func{ID: FuncTrunc}, aliases: []string{"truncate"},
			signatures: []signature{by(wholeNumber), by(roundedNumber).refinedBy(refineRound)}},
		ofDouble(FuncSqrt), ofDouble(FuncCbrt), ofDouble(FuncExp), ofDouble(FuncLn),
		ofDouble(FuncLog10), ofDouble(FuncLog2),
		// log(x) has base 10; log(b, x) base b.
		{Func: Func{ID: FuncLog}, signatures: []signature{on(f64, f64), on(f64, f64, f64)}},
		ofDoubles(FuncPower, "pow", "^", "**"),
		{Func: Func{ID: FuncGcd}, aliases: []string{"greatest_common_divisor"}, signatures: []signature{by(pairOf(signedIntegers)), by(pairOf(wholeDecimals))}},
		{Func: Func{ID: FuncLcm}, aliases: []string{"least_common_multiple"},
			signatures: []signature{by(pairOf(signedIntegers)), by(pairOf(wholeDecimals))}},
		{Func: Func{ID: FuncFactorial}, signatures: []signature{on(sqltype.Decimal(sqltype.MaxPrecision, 0), i64)}},
		{Func: Func{ID: FuncPi}, signatures: []signature{on(f64)}},
		ofDouble(FuncSin), ofDouble(FuncCos), ofDouble(FuncTan), ofDouble(FuncCot),
		ofDouble(FuncAsin), ofDouble(FuncAcos), ofDouble(FuncAtan), ofDoubles(FuncAtan2),
		ofDouble(FuncSinh), ofDouble(FuncCosh), ofDouble(FuncTanh),
		ofDouble(FuncAsinh), ofDouble(FuncAcosh), ofDouble(FuncAtanh),
		ofDouble(FuncDegrees), ofDouble(FuncRadians),
		{Func: Func{ID: FuncRandom, Volatile: true}, aliases: []string{"rand"}, signatures: []signature{on(f64)}},
		{Func: Func{ID: FuncIsNaN}, signatures: []signature{on(boolean, f64)}},
		{Func: Func{ID: FuncIsInf}, signatures: []signature{on(boolean, f64)}},
		{Func: Func{ID: FuncIsFinite}, signatures: []signature{on(boolean, f64)}},
		{Func: Func{ID: FuncWidthBucket}, signatures: []signature{on(sqltype.Int32, f64, f64, f64, sqltype.Int32)}},
		{Func: Func{ID: FuncBitCount}, signatures: []signature{on(i64, i64), on(i64, sqltype.Bit)}},
		{Func: Func{ID: FuncGreatest, NullIn: true}, signatures: []signature{by(common)}},
		{Func: Func{ID: FuncLeast, NullIn: true}, signatures: []signature{by(common)}},
		ofDouble(FuncSinD), ofDouble(FuncCosD), ofDouble(FuncTanD), ofDouble(FuncCotD),
		ofDouble(FuncAsinD), ofDouble(FuncAcosD), ofDouble(FuncAtanD), ofDoubles(FuncAtan2D),
		{Func: Func{ID: FuncScale}, signatures: []signature{on(sqltype.Int32, anyDecimal)}},
		{Func: Func{ID: FuncMinScale}, signatures: []signature{on(sqltype.Int32, anyDecimal)}},
		ofDouble(FuncGamma), ofDouble(FuncLogGamma), ofDouble(FuncEven), ofDoubles(FuncNextAfter),
		{Func: Func{ID: FuncSignBit}, signatures: []signature{on(boolean, f64)}},
		{Func: Func{ID: FuncNumNulls, NullIn: true}, signatures: []signature{on(sqltype.Int32, anyType).repeating()}},
		{Func: Func{ID: FuncNumNonNulls, NullIn: true}, signatures: []signature{on(sqltype.Int32, anyType).repeating()}},
		{Func: Func{ID: FuncEnumFirst, NullIn: true}, signatures: []signature{by(ofEnum(1, sqltype.Varchar))}},
		{Func: Func{ID: FuncEnumLast, NullIn: true}, signatures: []signature{by(ofEnum(1, sqltype.Varchar))}},
		{Func: Func{ID: FuncEnumRange, NullIn: true}, aliases: []string{"enum_range_boundary"},
			signatures: []signature{by(ofEnum(1, sqltype.ListOf(sqltype.Varchar))), by(ofEnum(2, sqltype.ListOf(sqltype.Varchar)))}},
		{Func: Func{ID: FuncEnumCode}, signatures: []signature{by(ofEnum(1, sqltype.Int32))}},
	}
}

// ofEnum takes n values of one ENUM.
func ofEnum(n int, result sqltype.Type) rule {
	return func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
		t := sqltype.Null
		for _, a := range args {
			c, ok := sqltype.CommonType(t, a)
			if !ok {
				return nil, sqltype.Null, false
			}
			t = c
		}
		return repeated(t, len(args)), result, len(args) == n && t.Kind == sqltype.KindEnum
	}
}

// pairOf holds a rule to two arguments.
func pairOf(r rule) rule {
	return func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
		if len(args) != 2 {
			return nil, sqltype.Null, false
		}
		return r(args)
	}
}

// signedIntegers is integers in a signed type.
func signedIntegers(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	_, t, ok := integers(args)
	if t.Kind.IsUnsigned() {
		t, _ = sqltype.CommonType(t, sqltype.Int8)
	}
	return repeated(t, len(args)), t, ok && t.Kind.IsSigned()
}

// wholeDecimals is DECIMALs without digits after the point, in one of 38 digits.
func wholeDecimals(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	for _, a := range args {
		if !a.Kind.IsInteger() && a.Kind != sqltype.KindNull && (a.Kind != sqltype.KindDecimal || a.Scale != 0) {
			return nil, sqltype.Null, false
		}
	}
	t := sqltype.Decimal(sqltype.MaxPrecision, 0)
	return repeated(t, len(args)), t, true
}

// oneNumber is the type of a single numeric argument; a bare NULL is a DOUBLE.
func oneNumber(args []sqltype.Type) (sqltype.Type, bool) {
	if len(args) != 1 {
		return sqltype.Null, false
	}
	if args[0].Kind == sqltype.KindNull {
		return sqltype.Float64, true
	}
	return args[0], args[0].Kind.IsNumeric()
}

// sameNumber takes and gives one numeric type.
func sameNumber(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	t, ok := oneNumber(args)
	return []sqltype.Type{t}, t, ok
}

// signOf gives -1, 0 or 1: a DOUBLE of a float, an INTEGER otherwise.
func signOf(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	t, ok := oneNumber(args)
	if t.Kind.IsFloat() {
		return []sqltype.Type{sqltype.Float64}, sqltype.Float64, ok
	}
	return []sqltype.Type{t}, sqltype.Int32, ok
}

// wholeNumber is for rounding to an integer: integers stay what they are,
// floats DOUBLE; a DECIMAL loses its scale and may gain a digit.
func wholeNumber(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	t, ok := oneNumber(args)
	switch {
	case t.Kind == sqltype.KindDecimal:
		return []sqltype.Type{t}, rescaled(t, 0), ok
	case t.Kind.IsFloat():
		t = sqltype.Float64
	}
	return []sqltype.Type{t}, t, ok
}

// roundedNumber is for rounding to n digits. How many digits a DECIMAL keeps
// is in the value of n; without it the scale stays. See refineRound.
func roundedNumber(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) != 2 || args[1].Kind != sqltype.KindNull && castCost(args[1], sqltype.Int64) == noCast {
		return nil, sqltype.Null, false
	}
	t, ok := oneNumber(args[:1])
	result := t
	switch {
	case t.Kind.IsFloat():
		t = sqltype.Float64
		result = t
	case t.Kind == sqltype.KindDecimal:
		result = rescaled(t, int(t.Scale))
	}
	return []sqltype.Type{t, sqltype.Int64}, result, ok
}

// rescaled is the DECIMAL that holds every value of t rounded to a scale.
func rescaled(t sqltype.Type, scale int) sqltype.Type {
	whole := int(t.Precision-t.Scale) + 1 // 9.9 rounds to 10
	return sqltype.Decimal(min(whole+scale, sqltype.MaxPrecision), scale)
}

func refineRound(r *Resolved, consts []*sqltype.Datum) {
	n := consts[1]
	if n == nil || n.Null || r.Result.Kind != sqltype.KindDecimal {
		return
	}
	r.Result = rescaled(r.Args[0], int(min(max(n.I, 0), int64(sqltype.MaxPrecision))))
}

// common brings all arguments to one type, which is the result.
func common(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	t := sqltype.Null
	for _, a := range args {
		c, ok := sqltype.CommonType(t, a)
		if !ok {
			return nil, sqltype.Null, false
		}
		t = c
	}
	return repeated(t, len(args)), t, len(args) > 0
}
