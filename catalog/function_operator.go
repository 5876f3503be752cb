package catalog

import "github.com/gpusql/gpusql/sqltype"

// operatorFamilies are the operators that are calls.
//
// What the code of the arithmetic operators may rely on, by the result:
//
//	integer, REAL, DOUBLE   both arguments have the result's type
//	DECIMAL + - %           both arguments have the result's scale and physical form
//	DECIMAL *               the scales add up; two arguments of at most 18 digits
//	                        each, or two of 19 or more
//	DECIMAL /               as *, with any scales
//	BIGINT of DECIMAL //    both arguments have one type
func operatorFamilies() []family {
	date, tm, ts, tz, iv := sqltype.Date, sqltype.Time, sqltype.Timestamp, sqltype.TimestampTZ, sqltype.Interval
	i32, f64, str, blob, bit, zoned := sqltype.Int32, sqltype.Float64, sqltype.Varchar, sqltype.Blob, sqltype.Bit, sqltype.TimeTZ
	return []family{
		{Func: Func{ID: FuncAdd}, aliases: []string{"add"}, signatures: []signature{
			by(numeric(sum)),
			on(date, date, i32), on(date, i32, date),
			on(ts, date, iv), on(ts, iv, date), on(ts, date, tm), on(ts, tm, date),
			on(ts, ts, iv), on(ts, iv, ts), on(tz, tz, iv), on(tz, iv, tz),
			on(tm, tm, iv), on(tm, iv, tm), on(iv, iv, iv),
			on(zoned, zoned, iv), on(zoned, iv, zoned), on(tz, date, zoned), on(tz, zoned, date),
		}},
		{Func: Func{ID: FuncSub}, aliases: []string{"subtract"}, signatures: []signature{
			by(numeric(sum)),
			on(date, date, i32), on(i32, date, date),
			on(ts, date, iv), on(ts, ts, iv), on(tz, tz, iv), on(tm, tm, iv), on(iv, iv, iv), on(ts, date, tm),
			on(iv, ts, ts), on(iv, tz, tz), on(iv, tm, tm), on(zoned, zoned, iv),
		}},
		{Func: Func{ID: FuncMul}, aliases: []string{"multiply"}, signatures: []signature{
			by(numeric(product)), on(iv, iv, f64), on(iv, f64, iv),
		}},
		{Func: Func{ID: FuncDiv}, aliases: []string{"divide"}, signatures: []signature{
			by(numeric(quotient)), on(iv, iv, f64),
		}},
		{Func: Func{ID: FuncMod}, aliases: []string{"mod", "fmod"}, signatures: []signature{by(numeric(remainder))}},
		{Func: Func{ID: FuncIntDiv}, aliases: []string{"div"}, signatures: []signature{by(integerQuotient)}},
		{Func: Func{ID: FuncNeg}, signatures: []signature{by(negated), on(iv, iv)}},
		{Func: Func{ID: FuncConcatOp}, signatures: []signature{
			on(str, str, str), on(blob, blob, blob), on(bit, bit, bit), by(concatenated),
		}},
		{Func: Func{ID: FuncBitAnd}, signatures: []signature{by(pairOf(integers)), on(bit, bit, bit)}},
		{Func: Func{ID: FuncBitOr}, signatures: []signature{by(pairOf(integers)), on(bit, bit, bit)}},
		{Func: Func{ID: FuncBitXor}, aliases: []string{"xor"}, signatures: []signature{by(pairOf(integers)), on(bit, bit, bit)}},
		{Func: Func{ID: FuncBitNot}, signatures: []signature{by(oneOf(integers)), on(bit, bit)}},
		{Func: Func{ID: FuncShiftLeft}, signatures: []signature{by(pairOf(integers)), on(bit, bit, sqltype.Int64)}},
		{Func: Func{ID: FuncShiftRight}, signatures: []signature{by(pairOf(integers)), on(bit, bit, sqltype.Int64)}},
	}
}

// decimalOp gives the types of an operator over two DECIMALs.
type decimalOp func(a, b sqltype.Type) (params []sqltype.Type, result sqltype.Type)

// numeric is the rule of an arithmetic operator over two numbers: integers and
// floats work in their common type, everything else in DECIMAL by op.
func numeric(op decimalOp) rule {
	return func(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
		a, b, ok := numberPair(args)
		if !ok {
			return nil, sqltype.Null, false
		}
		t, _ := sqltype.CommonType(a, b) // numbers always have one
		if t.Kind != sqltype.KindDecimal {
			return []sqltype.Type{t, t}, t, true
		}
		// Of floats there are none here.
		a, _ = sqltype.DecimalFor(a)
		b, _ = sqltype.DecimalFor(b)
		params, result := op(a, b)
		return params, result, true
	}
}

// numberPair checks for two numbers. A bare NULL takes the other's type, and
// two of them are INTEGER.
func numberPair(args []sqltype.Type) (a, b sqltype.Type, ok bool) {
	if len(args) != 2 {
		return a, b, false
	}
	a, b = args[0], args[1]
	if a.Kind == sqltype.KindNull {
		a = b
	}
	if b.Kind == sqltype.KindNull {
		b = a
	}
	if a.Kind == sqltype.KindNull {
		a, b = sqltype.Int32, sqltype.Int32
	}
	return a, b, a.Kind.IsNumeric() && b.Kind.IsNumeric()
}

// sum is for + and -: one more digit before the point.
func sum(a, b sqltype.Type) ([]sqltype.Type, sqltype.Type) {
	t, _ := sqltype.CommonType(a, b)
	t.Precision = min(t.Precision+1, sqltype.MaxPrecision)
	return []sqltype.Type{t, t}, t
}

// product is for *: digits add up on both sides of the point. The scale is
// held to 38 with a loss only where both arguments have more than 19.
func product(a, b sqltype.Type) ([]sqltype.Type, sqltype.Type) {
	if a.Scale+b.Scale > sqltype.MaxPrecision {
		a.Scale = min(a.Scale, sqltype.MaxPrecision/2)
		b.Scale = min(b.Scale, sqltype.MaxPrecision/2)
	}
	precision := min(int(a.Precision)+int(b.Precision), sqltype.MaxPrecision)
	result := sqltype.Decimal(precision, int(a.Scale+b.Scale))
	a, b = sameForm(a, b)
	return []sqltype.Type{a, b}, result
}

// quotientScale is the fewest digits after the point of a quotient:
// PostgreSQL gives at least 16 that count.
const quotientScale = 16

func quotient(a, b sqltype.Type) ([]sqltype.Type, sqltype.Type) {
	scale := max(int(a.Scale), int(b.Scale), quotientScale)
	a, b = sameForm(a, b)
	return []sqltype.Type{a, b}, sqltype.Decimal(sqltype.MaxPrecision, scale)
}

func remainder(a, b sqltype.Type) ([]sqltype.Type, sqltype.Type) {
	t, _ := sqltype.CommonType(a, b)
	return []sqltype.Type{t, t}, t
}

// sameForm widens the narrower of two decimals if only the other needs 128 bits.
func sameForm(a, b sqltype.Type) (sqltype.Type, sqltype.Type) {
	if a.Phys() != b.Phys() {
		const wide = 19 // digits, the fewest of that form
		a.Precision = max(a.Precision, wide)
		b.Precision = max(b.Precision, wide)
	}
	return a, b
}

// integerQuotient is the rule of //, MySQL's DIV: the quotient truncated, a
// BIGINT unless both sides are integers.
func integerQuotient(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	a, b, ok := numberPair(args)
	if !ok {
		return nil, sqltype.Null, false
	}
	t, _ := sqltype.CommonType(a, b)
	switch {
	case t.Kind.IsInteger():
		return []sqltype.Type{t, t}, t, true
	case t.Kind.IsFloat():
		t = sqltype.Float64
	}
	return []sqltype.Type{t, t}, sqltype.Int64, true
}

// negated is the rule of unary minus: an unsigned number takes the next signed
// type, since its opposite has no room in its own.
func negated(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) != 1 {
		return nil, sqltype.Null, false
	}
	t := args[0]
	switch {
	case t.Kind == sqltype.KindNull:
		t = sqltype.Int32
	case t.Kind.IsUnsigned():
		t, _ = sqltype.CommonType(t, sqltype.Int8)
	case !t.Kind.IsNumeric():
		return nil, sqltype.Null, false
	}
	return []sqltype.Type{t}, t, true
}

// concatenated is || where one side is a string: the other becomes one.
func concatenated(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	if len(args) != 2 || args[0].Kind != sqltype.KindVarchar && args[1].Kind != sqltype.KindVarchar {
		return nil, sqltype.Null, false
	}
	return []sqltype.Type{sqltype.Varchar, sqltype.Varchar}, sqltype.Varchar, true
}

// integers is the rule of the bit operators and of gcd: all arguments and the
// result are of the common integer type.
func integers(args []sqltype.Type) ([]sqltype.Type, sqltype.Type, bool) {
	t := sqltype.Null
	for _, a := range args {
		c, ok := sqltype.CommonType(t, a)
		if !ok || c.Kind != sqltype.KindNull && !c.Kind.IsInteger() {
			return nil, sqltype.Null, false
		}
		t = c
	}
	if t.Kind == sqltype.KindNull {
		t = sqltype.Int32
	}
	return repeated(t, len(args)), t, len(args) > 0
}

func repeated(t sqltype.Type, n int) []sqltype.Type {
	ts := make([]sqltype.Type, n)
	for i := range ts {
		ts[i] = t
	}
	return ts
}
