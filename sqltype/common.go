package sqltype

// CommonType is the type that values of both types are brought to where they
// meet: a comparison, UNION, CASE, an arithmetic operator's sides. False means
// that there is none and the statement is wrong.
//
//	NULL with anything          the other
//	integers                    the narrowest that holds both; UBIGINT with a
//	                            signed type is DECIMAL(20,0)
//	integer with DECIMAL        a DECIMAL that holds both
//	number with REAL or DOUBLE  DOUBLE, or REAL when the number has 16 bits or less
//	DATE, TIMESTAMP and ..TZ    the later in this list
//	LIST, STRUCT and MAP        part by part
//	JSON with VARCHAR           VARCHAR
//
// A string meets only a string here. See CommonTypeLoose for literals.
func CommonType(a, b Type) (Type, bool) {
	if a.Kind.IsNested() && a.Kind == b.Kind {
		if a == b {
			return a, true
		}
		return mapParts(a, b, CommonType)
	}
	if a.Kind == b.Kind {
		return commonSameKind(a, b), a.Enum == b.Enum
	}
	if a.Kind == KindVarchar && b.Kind == KindJSON || a.Kind == KindJSON && b.Kind == KindVarchar {
		return Varchar, true
	}
	if a.Kind > b.Kind {
		a, b = b, a // the set is in an order that makes the rules one-sided
	}
	switch {
	case a.Kind == KindNull:
		return b, true
	case a.Kind.IsInteger() && b.Kind.IsInteger():
		return commonInteger(a, b), true
	case a.Kind.IsInteger() && b.Kind == KindDecimal:
		return commonDecimal(Decimal(integerDigits(a.Kind), 0), b), true
	case a.Kind.IsNumeric() && b.Kind == KindFloat32:
		if a.Kind.IsInteger() && a.Phys().Width() <= 2 {
			return Float32, true
		}
		return Float64, true
	case a.Kind.IsNumeric() && b.Kind == KindFloat64:
		return Float64, true
	case a.Kind == KindTime && b.Kind == KindTimeTZ:
		return b, true
	case a.Kind == KindDate && (b.Kind == KindTimestamp || b.Kind == KindTimestampTZ),
		a.Kind == KindTimestamp && b.Kind == KindTimestampTZ:
		return b, true
	}
	return Null, false
}

// CommonTypeLoose is CommonType where a VARCHAR may stand for a value not yet
// read: a string literal, which takes the other side's type.
func CommonTypeLoose(a, b Type) (Type, bool) {
	if a.Kind == KindVarchar && b.Kind != KindNull {
		return b, true
	}
	if b.Kind == KindVarchar && a.Kind != KindNull {
		return a, true
	}
	return CommonType(a, b)
}

func commonSameKind(a, b Type) Type {
	switch a.Kind {
	case KindDecimal:
		return commonDecimal(a, b)
	case KindVarchar:
		if a.Length == 0 || b.Length == 0 {
			return Varchar
		}
		a.Length = max(a.Length, b.Length)
	}
	return a
}

// commonInteger expects a signed before an unsigned, as the order of kinds is.
func commonInteger(a, b Type) Type {
	if a.Kind.IsSigned() == b.Kind.IsSigned() {
		return b // the wider
	}
	switch b.Kind {
	case KindUint8:
		b = Int16
	case KindUint16:
		b = Int32
	case KindUint32:
		b = Int64
	default:
		return Decimal(20, 0)
	}
	if a.Kind > b.Kind {
		return a
	}
	return b
}

// commonDecimal keeps both the digits before and after the point; at the
// greatest precision the digits before it give way, and a value that needs
// them is an error when it comes.
func commonDecimal(a, b Type) Type {
	scale := max(a.Scale, b.Scale)
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	return Decimal(min(int(whole)+int(scale), MaxPrecision), int(scale))
}

// integerDigits is the most decimal digits of an integer kind.
func integerDigits(k Kind) int {
	return [...]int{3, 5, 10, 19, 3, 5, 10, 20}[k-KindInt8]
}

// DecimalFor is the narrowest DECIMAL that holds every value of a numeric type
// exactly; false for REAL and DOUBLE, which have none.
func DecimalFor(t Type) (Type, bool) {
	switch {
	case t.Kind == KindDecimal:
		return t, true
	case t.Kind.IsInteger():
		return Decimal(integerDigits(t.Kind), 0), true
	}
	return Null, false
}
